//! What the suite covers: kinds of record, codes, and the form of its own statements.

use std::collections::{BTreeMap, BTreeSet};

use anchorlog_tests::gad::suite::{Stored, load};
use anchorlog_verifier::codes::Code;
use serde_json::Value as Json;

use super::suite;

/// Families of codes that EVALUATE raises.
const FAMILIES: [&str; 23] = [
    "ANC", "ATT", "HYG", "IN", "IND", "J", "LOG", "LVL", "NOTE", "OUT", "PLAN", "POL", "R1", "R2",
    "R3", "R4", "R5", "R6", "R7", "R8", "R9", "SAT", "TSA",
];

/// Codes of these families that other checks raise and EVALUATE doesn't, by why.
const OTHER_CHECKS: [(&str, &[&str]); 5] = [
    (
        "of the forms of signed notes and their keys, told by the check of a checkpoint",
        &[
            "NOTE.AMBIGUOUS_KEYS",
            "NOTE.BAD_REPEATED_SIGNATURE",
            "NOTE.BAD_SIGNATURE",
            "NOTE.CONTROL",
            "NOTE.FINAL_NEWLINE",
            "NOTE.KEY_ALGORITHM",
            "NOTE.KEY_BASE64",
            "NOTE.KEY_ID_FORM",
            "NOTE.KEY_ID_MISMATCH",
            "NOTE.KEY_LENGTH",
            "NOTE.KEY_NAME",
            "NOTE.KEY_NON_CANONICAL",
            "NOTE.KEY_SYNTAX",
            "NOTE.KEY_WEAK",
            "NOTE.NO_SIGNATURES",
            "NOTE.SIGNATURE_BASE64",
            "NOTE.SIGNATURE_LINE",
            "NOTE.SIGNATURE_LINES",
            "NOTE.SIGNATURE_SHORT",
            "NOTE.SYNTAX",
            "NOTE.TOO_LARGE",
            "NOTE.UNKNOWN_KEYS",
            "NOTE.UTF8",
        ],
    ),
    ("of the check of a receipt", &["LOG.COSIGNATURE", "LOG.ORIGIN", "LOG.PROOF_SIZE"]),
    (
        "of a log that is followed",
        &[
            "LOG.CLOCK",
            "LOG.ENTRY",
            "LOG.ENTRY_INDEX",
            "LOG.MALFORMED",
            "LOG.MISSING",
            "LOG.SILENT",
            "LOG.TILE",
        ],
    ),
    (
        "of the check of a token against its request, or of its own notes",
        &[
            "TSA.CERTS_UNASKED",
            "TSA.NAME",
            "TSA.NONCE",
            "TSA.NOTE",
            "TSA.NOT_COUNTED",
            "TSA.QUORUM",
            "TSA.UNCHECKED",
        ],
    ),
    ("of the command line", &["IN.CERTIFICATES"]),
];

fn is_evaluates(code: &str) -> bool {
    let family = code.split('.').next().unwrap_or_default();
    FAMILIES.contains(&family) && !OTHER_CHECKS.iter().any(|(_, codes)| codes.contains(&code))
}

fn demanded(vectors: &[Stored]) -> BTreeMap<&str, usize> {
    let mut demanded = BTreeMap::new();
    for code in vectors.iter().flat_map(Stored::must_codes) {
        *demanded.entry(code).or_default() += 1;
    }
    demanded
}

#[test]
fn every_code_of_evaluate_is_demanded() {
    let vectors = load(&suite());
    let demanded = demanded(&vectors);
    let missing: Vec<_> = Code::all()
        .into_iter()
        .map(Code::as_str)
        .filter(|code| is_evaluates(code) && !demanded.contains_key(code))
        .collect();
    assert!(missing.is_empty(), "no vector demands {}", missing.join(", "));
    println!("{} codes are demanded", demanded.len());
}

#[test]
fn no_code_is_demanded_that_there_is_not() {
    let vectors = load(&suite());
    for (code, _) in demanded(&vectors) {
        assert!(Code::lookup(code).is_some(), "{code} is no code");
        assert!(is_evaluates(code), "{code} isn't one of EVALUATE");
    }
}

#[test]
fn there_are_bases_negatives_and_controls() {
    let vectors = load(&suite());
    let bases = vectors.iter().filter(|v| v.document["base"] == v.document["name"]).count();
    let holds = |v: &&Stored| v.document["expected"]["exit"] == 0;
    let controls = vectors.iter().filter(holds).count() - bases;
    let negatives = vectors.iter().filter(|v| v.document["level"] != "-").count();
    println!(
        "{} vectors: {bases} bases, {negatives} negatives, {controls} controls",
        vectors.len()
    );
    assert!(bases >= 26, "{bases} bases");
    assert!(negatives >= 250, "{negatives} negatives");
    assert!(controls >= 50, "{controls} controls");
}

#[test]
fn every_vector_says_what_it_is_about() {
    let vectors = load(&suite());
    let names: BTreeSet<_> = vectors.iter().map(Stored::name).collect();
    assert_eq!(names.len(), vectors.len());
    for vector in &vectors {
        let text = |name: &str| vector.document[name].as_str().unwrap_or_default();
        let name = vector.name();
        assert_eq!(vector.directory.file_name().and_then(|name| name.to_str()), Some(name));
        assert!(names.contains(text("base")), "{name} is based on nothing");
        assert!(["N", "C", "E", "A", "W", "-"].contains(&text("level")), "{name}");
        assert!(!text("clause").is_empty() && !text("why").is_empty(), "{name}");
        let control = text("level") == "-" && text("base") != name;
        let expected = &vector.document["expected"];
        let lists = ["must_codes", "must_not_codes"].map(|list| expected[list].as_array());
        let said = lists.iter().flatten().any(|list| !list.is_empty());
        assert!(said || !control, "{name} says nothing beside its status");
    }
}

#[test]
fn the_index_lists_the_vectors() {
    let index = std::fs::read_to_string(suite().join("INDEX.tsv")).expect("an index");
    let mut listed: Vec<_> =
        index.lines().skip(1).filter_map(|line| line.split('\t').next()).collect();
    listed.sort_unstable();
    let vectors = load(&suite());
    let mut there: Vec<_> = vectors.iter().map(Stored::name).collect();
    there.sort_unstable();
    assert_eq!(listed, there);
    let documents: Vec<&Json> = vectors.iter().map(|vector| &vector.document).collect();
    assert_eq!(documents.len(), listed.len());
}
