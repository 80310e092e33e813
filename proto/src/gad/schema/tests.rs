//! Schemas and readers say the same.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::Path;

use super::Schema;
use super::check::Checker;
use super::samples::{accepts, samples};
use crate::gad::corpus_tests::vectors;
use crate::json::corpus_tests::corpus_directory;
use crate::json::{Object, ReadLimits, Value, canonical, parse};

fn checkers() -> BTreeMap<&'static str, Checker> {
    Schema::ALL.iter().map(|schema| (schema.name, Checker::new(schema.to_value()))).collect()
}

/// Set this variable to write the committed files anew.
const WRITE: &str = "ANCHORLOG_WRITE_SCHEMAS";

#[test]
#[allow(clippy::disallowed_methods, reason = "a test that writes the repository's own files")]
fn the_committed_schemas_are_the_generated_ones() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/gad");
    let mut stale = Vec::new();
    for schema in Schema::ALL {
        let path = directory.join(schema.name).with_extension("json");
        if std::env::var_os(WRITE).is_some() {
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(&path, schema.to_text()).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != schema.to_text() {
            stale.push(schema.name);
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} are not what the readers say; run\n{WRITE}=1 cargo test -p anchorlog-proto schema"
    );
    let files = std::fs::read_dir(directory).unwrap().count();
    assert_eq!(files, Schema::ALL.len(), "a file that belongs to no form");
}

#[test]
fn schemas_are_listed_by_name_and_all_have_samples() {
    let names: Vec<_> = Schema::ALL.iter().map(|schema| schema.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b));
    let samples = samples();
    assert!(names.iter().all(|name| samples.iter().any(|(sample, _)| sample == name)));
}

/// One change of a document: where, and to what (`None`: the member is taken out).
struct Change {
    path: Vec<String>,
    to: Option<Value<'static>>,
    /// The value is one of several elements, which may have to be in order.
    among_others: bool,
}

fn changes(value: &Value<'static>, path: &[String], among_others: bool, changes: &mut Vec<Change>) {
    let mut change = |path: Vec<String>, to: Option<Value<'static>>| {
        changes.push(Change { path, to, among_others });
    };
    for other in [
        Value::Null,
        true.into(),
        (-1).into(),
        7_u32.into(),
        "".into(),
        "x".into(),
        Value::Array(vec![]),
        Object::new().into(),
    ] {
        if other != *value {
            change(path.to_vec(), Some(other));
        }
    }
    let below = |step: String| path.iter().cloned().chain([step]).collect::<Vec<_>>();
    match value {
        Value::Object(object) => {
            change(below("zz".into()), Some(7_u32.into()));
            change(below("ext".into()), Some(Object::new().into()));
            change(below("ext".into()), Some(7_u32.into()));
            for (name, member) in object.iter() {
                changes.push(Change { path: below(name.into()), to: None, among_others: false });
                self::changes(member, &below(name.into()), false, changes);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                let several = elements.len() > 1;
                self::changes(element, &below(index.to_string()), several, changes);
            }
        }
        _ => {}
    }
}

fn apply(value: &Value<'static>, path: &[String], to: Option<Value<'static>>) -> Value<'static> {
    let Some((step, rest)) = path.split_first() else { return to.unwrap() };
    match value.clone() {
        Value::Object(mut object) => {
            let old = object.remove(step).unwrap_or(Value::Null);
            let new = if rest.is_empty() { to } else { Some(apply(&old, rest, to)) };
            if let Some(new) = new {
                object.insert(step.clone(), new);
            }
            Value::Object(object)
        }
        Value::Array(mut elements) => {
            let index: usize = step.parse().unwrap();
            elements[index] = apply(&elements[index], rest, to);
            Value::Array(elements)
        }
        _ => panic!("no {step}"),
    }
}

/// What only the reader can refuse, by form and the end of the pointer: members that have to agree with
/// others, and grammars of their own.
const BEYOND: &[(&str, &str)] = &[
    // A proof is a text with a grammar of its own.
    ("anchor-file", "/proof"),
    // The checkpoint is a note signed by the key, over a tree that the start and the entries lie in; entries
    // are about the subject; nothing is omitted from a list that has room.
    ("audit", "/body/checkpoint"),
    ("audit", "/body/entries/0/trail"),
    ("audit", "/body/entries_omitted"),
    ("audit", "/body/findings_omitted"),
    ("audit", "/body/from/size"),
    ("audit", "/body/log_key"),
    ("audit", "/body/origin"),
    ("audit", "/body/subject/value"),
    // Edges name nodes.
    ("plan", "/N/0/node"),
    ("plan", "/N/1/node"),
    // Both members of a pair are null, or neither.
    ("witness-entry", "/body/p/available_output_digest"),
    ("witness-entry", "/body/p/available_output_ref"),
    ("witness-entry", "/body/p/delta_digest"),
    ("witness-entry", "/body/p/delta_ref"),
    // One row of input per node, in their order.
    ("witness-entry", "/body/p/input"),
    ("witness-entry", "/body/p/input/0/node"),
    ("witness-entry", "/body/p/input/1/node"),
    ("witness-entry", "/body/p/node"),
];

#[test]
fn schema_and_reader_agree_on_every_change_of_every_sample() {
    let checkers = checkers();
    let (mut made, mut refused) = (0_usize, 0_usize);
    let mut beyond: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for (name, sample) in samples() {
        let checker = &checkers[name];
        assert_eq!(checker.check(&sample), Ok(()), "{name}");
        assert!(accepts(name, &sample), "{name}: {}", show(&sample));
        let mut all = Vec::new();
        changes(&sample, &[], false, &mut all);
        for Change { path, to, among_others } in all {
            let pointer = format!("/{}", path.join("/"));
            let changed = apply(&sample, &path, to);
            let (fits, reads) = (checker.check(&changed), accepts(name, &changed));
            made += 1;
            refused += usize::from(!reads);
            if fits.is_ok() == reads || (among_others && fits.is_ok()) {
                continue;
            }
            // A schema that refuses what is read is wrong, whatever the list says.
            assert!(fits.is_ok(), "{name} {pointer}: {fits:?}: {}", show(&changed));
            *beyond.entry((name, pointer)).or_default() += 1;
        }
    }
    assert!(made > 5000 && refused > 4000, "{made} {refused}");
    let used: Vec<_> = beyond.keys().map(|(name, pointer)| (*name, pointer.as_str())).collect();
    let mut listed = BEYOND.to_vec();
    listed.sort_unstable();
    assert_eq!(used, listed, "what the reader alone refuses");
}

fn show(value: &Value<'_>) -> String {
    String::from_utf8(canonical(value)).unwrap()
}

/// The form of a member of a vector.
fn form_of(path: &str) -> Option<&'static str> {
    Some(match path {
        "core/plan.json" => "plan",
        "core/operator.json" => "operator",
        "core/manifest.json" => "core-manifest",
        "core/claims.json" => "claims",
        "envelope.json" => "envelope-manifest",
        _ if path.starts_with("anchors/") => "anchor-file",
        _ if path.starts_with("attestations/") => "attestation",
        _ => return None,
    })
}

#[test]
fn every_document_of_the_corpus_that_is_read_fits_its_schema() {
    let checkers = checkers();
    let mut fitting: BTreeMap<&str, usize> = BTreeMap::new();
    let mut check = |name: &'static str, bytes: &[u8], path: &Path| {
        let Ok(value) = parse(bytes, &ReadLimits::DEFAULT) else { return };
        if accepts(name, &value) {
            let fits = checkers[name].check(&value);
            assert_eq!(fits, Ok(()), "{}", path.display());
            *fitting.entry(name).or_default() += 1;
        }
    };
    for (_, directory) in vectors("V").into_iter().chain(vectors("X")) {
        let bundle = directory.join("bundle");
        for folder in ["", "core", "anchors", "attestations"] {
            let Ok(files) = std::fs::read_dir(bundle.join(folder)) else { continue };
            for path in files.map(|file| file.unwrap().path()) {
                let member = path.strip_prefix(&bundle).unwrap().to_string_lossy().into_owned();
                let json = path.extension().is_some_and(|extension| extension == "json");
                if let Some(name) = form_of(&member).filter(|_| json) {
                    check(name, &std::fs::read(&path).unwrap(), &path);
                }
            }
        }
        let path = bundle.join("core/witness.jsonl");
        for line in std::fs::read(&path).unwrap_or_default().split(|byte| *byte == b'\n') {
            check("witness-entry", line, &path);
        }
    }
    if let Some(corpus) = corpus_directory() {
        for file in std::fs::read_dir(corpus.join("gad/_shared/policies")).unwrap() {
            let path = file.unwrap().path();
            check("trust-policy", &std::fs::read(&path).unwrap(), &path);
        }
        for (name, least) in [
            ("anchor-file", 10),
            ("attestation", 10),
            ("claims", 5),
            ("core-manifest", 100),
            ("envelope-manifest", 100),
            ("operator", 100),
            ("plan", 100),
            ("trust-policy", 5),
            ("witness-entry", 1000),
        ] {
            let found = fitting.get(name).copied().unwrap_or_default();
            assert!(found >= least, "{name}: {found}");
        }
    }
}

/// Patterns against what they have to tell apart.
#[test]
fn patterns_are_those_of_the_forms() {
    use super::parts::{base64, common, document};
    let texts = [
        "",
        ".",
        "..",
        "...",
        "a",
        "a.",
        ".a",
        "..a",
        "a..",
        "a/b",
        "a/",
        "/a",
        "a//b",
        "a/./b",
        "a/../b",
        "a/.../b",
        "a/.b",
        "a/..b",
        "-",
        "é",
        "a b",
        "a\n",
        "x:y",
        "A_b-c.9/z",
        "n1",
        "_a",
    ];
    let long: Vec<_> = [64, 65, 255, 256, 257].iter().map(|length| "a".repeat(*length)).collect();
    let with_slash: Vec<_> = long.iter().map(|text| format!("{text}/")).collect();
    let all: Vec<&str> =
        texts.into_iter().chain(long.iter().chain(&with_slash).map(String::as_str)).collect();
    let checker = |name: &str| Checker::new(document(common(name)));
    let (id, path, entry) = (checker("id"), checker("path"), checker("fence_entry"));
    let fits = |checker: &Checker, text: &str| checker.check(&Value::from(text)).is_ok();
    for text in all {
        assert_eq!(fits(&id, text), crate::gad::names::is_id(text), "{text:?}");
        assert_eq!(fits(&path, text), crate::gad::names::is_path(text), "{text:?}");
        let fence = crate::gad::plan::Fence::new(vec![text.into()]).is_some();
        assert_eq!(fits(&entry, text), fence, "{text:?}");
    }
    let key = Checker::new(document(base64(32)));
    for last in ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/', '=']) {
        let text = format!("{}{last}=", "A".repeat(42));
        let read = crate::encoding::base64_decode(&text).is_ok_and(|bytes| bytes.len() == 32);
        assert_eq!(fits(&key, &text), read, "{text}");
    }
}
