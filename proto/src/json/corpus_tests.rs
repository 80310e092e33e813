//! The reader and writer on the published corpus.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failing test may panic"
)]

use std::path::{Path, PathBuf};

use super::*;

/// The corpus directory, or `None` with a note when it isn't at hand and needn't be.
pub(crate) fn corpus_directory() -> Option<PathBuf> {
    let required = std::env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    let directory = std::env::var_os("ANCHORLOG_CORPUS").map(PathBuf::from);
    match directory {
        Some(directory) if directory.is_dir() => Some(directory),
        Some(directory) if required => panic!("no corpus at {}", directory.display()),
        None if required => panic!("ANCHORLOG_REQUIRE_CORPUS=1, but ANCHORLOG_CORPUS is not set"),
        Some(directory) => {
            eprintln!("skipped: there is no directory {}", directory.display());
            None
        }
        None => {
            eprintln!("skipped: ANCHORLOG_CORPUS is not set");
            None
        }
    }
}

/// One file of the corpus; it must be there when the corpus is.
pub(crate) fn corpus_file(path: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(corpus_directory()?.join(path)).unwrap())
}

const ANY_NAMES: ReadLimits = ReadLimits::DEFAULT.with_names(MemberNames::Any);

fn check_rfc_8785(name: &str, limits: &ReadLimits) {
    let Some(input) = corpus_file(&format!("jcs/input/{name}.json")) else { return };
    let output = corpus_file(&format!("jcs/output/{name}.json")).unwrap();
    let value = parse(&input, limits).unwrap();
    assert_eq!(
        String::from_utf8(canonical(&value)).unwrap(),
        String::from_utf8(output.clone()).unwrap()
    );
    assert_eq!(parse_canonical(&output, limits).unwrap(), value);
}

fn refusal(name: &str, limits: &ReadLimits) -> Option<(&'static str, String)> {
    let input = corpus_file(&format!("jcs/input/{name}.json"))?;
    let error = parse(&input, limits).unwrap_err();
    Some((error.code(), error.pointer))
}

#[test]
fn rfc_8785_samples_of_ascii_names() {
    check_rfc_8785("arrays", &ReadLimits::DEFAULT);
    check_rfc_8785("unicode", &ReadLimits::DEFAULT);
}

#[test]
fn rfc_8785_samples_of_other_names() {
    if let Some(found) = refusal("french", &ReadLimits::DEFAULT) {
        assert_eq!(found, ("J.NAME_FORM", "/péché".to_owned()));
    }
    check_rfc_8785("french", &ANY_NAMES);
}

#[test]
fn rfc_8785_samples_with_fractions_are_refused() {
    let Some(found) = refusal("structures", &ANY_NAMES) else { return };
    assert_eq!(found, ("J.NON_INTEGER", "/1/\n".to_owned()));
    assert_eq!(refusal("values", &ANY_NAMES).unwrap(), ("J.NON_INTEGER", "/numbers/0".to_owned()));
}

/// The one sample where RFC 8785's UTF-16 order and code-point order part: U+1F602 is D83D DE02 in
/// UTF-16 and so sorts before U+FB33 there, after it here. The members are the same.
#[test]
fn rfc_8785_sample_where_the_two_orders_differ() {
    let Some(found) = refusal("weird", &ReadLimits::DEFAULT) else { return };
    assert_eq!(found, ("J.NAME_FORM", "/€".to_owned()));

    let input = corpus_file("jcs/input/weird.json").unwrap();
    let output = String::from_utf8(corpus_file("jcs/output/weird.json").unwrap()).unwrap();
    let smiley = "\"\u{1f602}\":\"Smiley\"";
    let dalet = "\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"";
    let utf16_order = format!("{smiley},{dalet}");
    assert!(output.contains(&utf16_order));
    let expected = output.replace(&utf16_order, &format!("{dalet},{smiley}"));
    let value = parse(&input, &ANY_NAMES).unwrap();
    assert_eq!(String::from_utf8(canonical(&value)).unwrap(), expected);
    assert_eq!(parse(output.as_bytes(), &ANY_NAMES).unwrap(), value);
}

#[test]
fn stored_objects_of_gad_base_records_are_canonical() {
    let Some(corpus) = corpus_directory() else { return };
    let limits = ReadLimits::DEFAULT.with_bytes(256 << 20);
    let mut documents = 0;
    let mut entries = 0;
    for file in base_records(&corpus).iter().flat_map(|record| files_below(record)) {
        let bytes = std::fs::read(&file).unwrap();
        let check = |bytes: &[u8], place: &str| {
            let value = parse_canonical(bytes, &limits)
                .unwrap_or_else(|error| panic!("{}{place}: {error}", file.display()));
            assert_eq!(canonical(&value), bytes, "{}{place}", file.display());
        };
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("json") => {
                check(&bytes, "");
                documents += 1;
            }
            Some("jsonl") => {
                let lines = bytes.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n');
                for (number, line) in lines.enumerate() {
                    check(line, &format!(":{}", number + 1));
                    entries += 1;
                }
            }
            _ => {}
        }
    }
    assert!(documents >= 80 && entries >= 100, "{documents} documents, {entries} entries");
}

#[test]
fn gad_vectors_are_refused_with_their_code() {
    let Some(corpus) = corpus_directory() else { return };
    for (vector, code) in [
        ("X054d", JsonCode::Depth),
        ("X054e", JsonCode::Depth),
        ("X056", JsonCode::DupKey),
        ("X058", JsonCode::IntRange),
        ("X061a", JsonCode::Bom),
        ("X277", JsonCode::LoneSurrogate),
    ] {
        let found = refusals_below(&corpus.join("gad").join(vector).join("bundle"));
        assert!(!found.is_empty() && found.iter().all(|it| *it == code), "{vector}: {found:?}");
    }
    assert_eq!(refusals_below(&corpus.join("gad/X054f/bundle")), []);
}

/// What the reader refuses in the documents and witness lines of a bundle.
fn refusals_below(bundle: &Path) -> Vec<JsonCode> {
    let mut refusals = Vec::new();
    for file in files_below(bundle) {
        let bytes = std::fs::read(&file).unwrap();
        let mut check = |bytes: &[u8]| {
            refusals.extend(parse(bytes, &ReadLimits::DEFAULT).err().map(|error| error.code));
        };
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("json") => check(&bytes),
            Some("jsonl") => {
                bytes.strip_suffix(b"\n").unwrap().split(|it| *it == b'\n').for_each(check);
            }
            _ => {}
        }
    }
    refusals
}

/// The bundle directories of the base records, `gad/V*/bundle`.
pub(crate) fn base_records(corpus: &Path) -> Vec<PathBuf> {
    list(&corpus.join("gad"))
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('V')))
        .map(|vector| vector.join("bundle"))
        .filter(|bundle| bundle.is_dir())
        .collect()
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut pending = vec![directory.to_owned()];
    let mut files = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(list(&path));
        } else {
            files.push(path);
        }
    }
    files
}

fn list(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}
