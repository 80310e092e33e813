//! The sources as text: which codes are declared where, and which are raised.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::is_code;

/// Where the table declares a code.
pub(super) struct Declared {
    /// `gad::r1`.
    pub(super) module: String,
    /// `CHAIN_HASH`.
    pub(super) name: String,
}

/// Every code that the tables below `folder` declare: `NAME: "CODE", `.
pub(super) fn declared(folder: &Path) -> BTreeMap<String, Declared> {
    let mut found = BTreeMap::new();
    for path in files(folder) {
        let inside = path.strip_prefix(folder).unwrap().with_extension("");
        let module = inside.to_str().unwrap().replace('/', "::");
        for line in fs::read_to_string(&path).unwrap().lines() {
            let Some((name, rest)) = line.trim().split_once(": \"") else { continue };
            let Some((code, _)) = rest.split_once("\", ") else { continue };
            if is_code(code) && is_constant(name) {
                let one = Declared { module: module.clone(), name: name.to_owned() };
                assert!(found.insert(code.to_owned(), one).is_none(), "{code} is declared twice");
            }
        }
    }
    found
}

/// The text of every source file below `folder` but the tables and the tests.
pub(super) fn sources(folder: &Path) -> Vec<String> {
    let tables = folder.join("codes");
    files(folder).iter().filter(|path| !path.starts_with(&tables)).map(|path| text(path)).collect()
}

/// Every code that the formats raise: those that stand there as a literal, and of the rules' codes, which
/// one file declares, those that another one uses.
pub(super) fn raised_by_proto(folder: &Path) -> BTreeSet<String> {
    let rules = folder.join("gad/code.rs");
    let texts: Vec<_> =
        files(folder).iter().filter(|path| **path != rules).map(|path| text(path)).collect();
    let literals = texts.iter().flat_map(|text| text.split('"')).filter(|text| is_code(text));
    let mut found: BTreeSet<String> = literals.map(ToOwned::to_owned).collect();
    for line in text(&rules).lines() {
        let Some((name, code)) = line.trim().split_once(" = \"") else { continue };
        let code = code.trim_end_matches("\";");
        let used = |text: &String| uses(text, name) > 0;
        if is_code(code) && texts.iter().any(used) {
            found.insert(code.to_owned());
        }
    }
    found
}

/// Whether a source raises the constant `name` of the table `module`: imports it, perhaps under another
/// name, and does more with it than ask whether it was raised; or names it by its path.
pub(super) fn raises(text: &str, module: &str, name: &str) -> bool {
    let path = format!("codes::{module}::");
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&path) {
        let line = before.rsplit('\n').next().unwrap();
        let is_import = line.trim_start_matches("pub(crate) ").starts_with("use ");
        if !is_import {
            if first_word(after) == name && !asks(before, after, name) {
                return true;
            }
        } else if let Some(alias) = imported(after, name)
            && uses(&without_imports(text), alias) > 0
        {
            return true;
        }
        rest = after;
    }
    false
}

/// What an import calls `name`; `after` is what follows the module's path.
fn imported<'t>(after: &'t str, name: &str) -> Option<&'t str> {
    let names = match after.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap(),
        None => after.split(';').next().unwrap(),
    };
    let find = |item: &'t str| {
        let mut words = item.split_whitespace();
        (words.next() == Some(name)).then(|| words.last().unwrap_or(item.trim()))
    };
    names.split(',').find_map(find)
}

/// How often a source uses a name for more than asking about it.
fn uses(text: &str, name: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name)
        .filter(|(at, _)| {
            let (before, from) = text.split_at(*at);
            let after = from.strip_prefix(name).unwrap();
            !before.ends_with(is_part)
                && !after.starts_with(is_part)
                && !asks(before, from, name)
                && !before.rsplit('\n').next().unwrap().trim_start().starts_with("//")
        })
        .count()
}

/// Whether `name`, with which `from` begins after `before`, is only compared with what was found.
fn asks(before: &str, from: &str, name: &str) -> bool {
    let after = from.strip_prefix(name).unwrap_or(from).trim_start();
    let before = before.trim_end_matches("crate::").trim_end();
    before.ends_with("has(")
        || before.ends_with("==")
        || before.ends_with("!=")
        || after.starts_with("==")
        || after.starts_with("!=")
}

fn without_imports(text: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in text.lines() {
        inside |= line.starts_with("use ") || line.starts_with("pub use ");
        if !inside {
            kept.push_str(line);
            kept.push('\n');
        }
        inside &= !line.ends_with(';');
    }
    kept
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap()
}

fn is_constant(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The source without the tests at its end.
fn text(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned()
}

/// Every source file below `folder`, tests apart.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if stem.ends_with("tests") || stem == "testing" {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn importing_is_not_raising() {
    let raises = |text: &str| raises(text, "gad::r1", "CHAIN_HASH");
    let import = "use crate::codes::gad::r1::{CHAIN_GAP, CHAIN_HASH};\n";
    assert!(raises(&format!("{import}fn f() {{ push(CHAIN_HASH) }}")));
    assert!(raises("use crate::codes::gad::r1::CHAIN_HASH;\nlet x = [CHAIN_HASH];"));
    assert!(raises("use crate::codes::gad::r1::CHAIN_HASH as X;\nlet x = new(X);"));
    assert!(raises("let x = new(crate::codes::gad::r1::CHAIN_HASH);"));
    for text in [
        import,
        &format!("{import}fn f() {{ findings.has(CHAIN_HASH) || code == CHAIN_HASH }}"),
        &format!("{import}// CHAIN_HASH\nlet x = CHAIN_HASH_2;"),
        "use crate::codes::gad::r1::CHAIN_HASH as X;\nlet x = CHAIN_HASH;",
        "use crate::codes::gad::r2::CHAIN_HASH;\nlet x = CHAIN_HASH;",
        "let x = findings.has(crate::codes::gad::r1::CHAIN_HASH);",
        "let x = CHAIN_HASH;",
    ] {
        assert!(!raises(text), "{text}");
    }
}
