//! The table against the sources: nothing raised unexplained, nothing explained unraised.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{Code, markdown};

#[test]
fn codes_are_unique_well_formed_and_complete() {
    let all = Code::all();
    let names: BTreeSet<_> = all.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), all.len());
    for code in all {
        assert!(is_code(code.as_str()), "{code}");
        assert_eq!(Code::lookup(code.as_str()), Some(code));
        for text in [code.title(), code.explanation(), code.action(), code.clause()] {
            assert!(!text.is_empty() && text.trim() == text, "{code}: {text:?}");
            assert!(!text.contains("  "), "{code}: {text:?}");
        }
        assert!(!code.title().ends_with('.'), "{code}");
        assert!(code.explanation().ends_with('.') && code.action().ends_with('.'), "{code}");
    }
    assert_eq!(Code::lookup("LOG.NOPE"), None);
}

#[test]
fn reasons_lead_to_their_code() {
    let code = |reason: &str| Code::with_reason(reason).map(|code| code.to_string());
    assert_eq!(code("ess.missing").as_deref(), Some("TSA.ESS"));
    assert_eq!(code("signer.is-ca").as_deref(), Some("TSA.CA_LEAF"));
    assert_eq!(code("note.ber").as_deref(), Some("TSA.NOTE"));
    for no_reason in ["", ".", "ess", "ess.nope", "TSA.ESS", "authority."] {
        assert_eq!(code(no_reason), None, "{no_reason}");
    }
}

#[test]
fn every_code_in_the_sources_is_explained_and_every_explained_code_is_raised() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut formats = BTreeSet::new();
    literals(&root.join("../proto/src"), &mut formats);
    let explained: BTreeSet<String> = Code::all().iter().map(ToString::to_string).collect();
    let unexplained: Vec<_> = formats.difference(&explained).collect();
    assert!(unexplained.is_empty(), "raised by proto, not explained: {unexplained:?}");

    // Codes of this crate are raised through their constants: `log::SIG`.
    let sources = sources(&root.join("src"));
    for code in Code::all() {
        if formats.contains(code.as_str()) {
            continue;
        }
        let (module, name) = constant(code);
        let raised = sources.iter().any(|text| imports(text, &module, &name));
        assert!(raised, "{code} is explained and raised nowhere");
    }
}

#[test]
fn the_committed_document_is_the_generated_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/codes.md");
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == markdown(),
        "docs/codes.md is out of date: \
         `cargo run --bin verifier -- explain --markdown > docs/codes.md` writes it anew"
    );
}

/// The module and the constant that declare a code, found in the table's own sources.
fn constant(code: Code) -> (String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codes");
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let needle = format!(": \"{code}\", ");
        if let Some(line) = text.lines().find(|line| line.contains(&needle)) {
            let name = line.split(':').next().unwrap().trim().to_owned();
            return (path.file_stem().unwrap().to_str().unwrap().to_owned(), name);
        }
    }
    panic!("{code} is declared nowhere")
}

/// Whether a source imports the constant `name` of the table `module`.
fn imports(text: &str, module: &str, name: &str) -> bool {
    text.split(&format!("codes::{module}::")).skip(1).any(|rest| {
        let names = rest.split(';').next().unwrap();
        names.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
    })
}

/// The text of every source file below `folder` but the tables and the tests.
fn sources(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("codes") {
                texts.extend(sources(&path));
            }
        } else if !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            texts.push(text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned());
        }
    }
    texts
}

/// Every string literal that has the form of a code, below `folder`, tests apart.
fn literals(folder: &Path, found: &mut BTreeSet<String>) {
    for text in sources(folder) {
        for literal in text.split('"') {
            if is_code(literal) {
                found.insert(literal.to_owned());
            }
        }
    }
}

/// `FAMILY.NAME` of upper-case letters, digits and underscores.
fn is_code(text: &str) -> bool {
    let word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    text.split_once('.').is_some_and(|(family, name)| word(family) && word(name))
}
