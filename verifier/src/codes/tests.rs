//! The table against the sources: nothing raised unexplained, nothing explained unraised.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod sources;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::families::FAMILIES;
use super::gad::Affect;
use super::{Code, affected, markdown};
use crate::finding::Class;
use sources::{Declared, declared, raised_by_proto, raises, sources};

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
            // The specification's symbols are for those who have it open.
            assert!(code.affects().is_empty() || text.is_ascii(), "{code}: {text:?}");
        }
        let title = code.title();
        assert!(!title.ends_with('.') && title.len() <= 72, "{code}");
        assert!(code.explanation().ends_with('.') && code.action().ends_with('.'), "{code}");
        // It says more than the title, and the title can stand in documentation.
        assert!(!code.explanation().starts_with(title), "{code}");
        assert!(!title.contains(['[', ']', '<', '>', '*', '`']), "{code}");
        assert!(!code.action().contains("TODO"), "{code}");
    }
    assert_eq!(Code::lookup("LOG.NOPE"), None);
}

#[test]
fn titles_tell_codes_of_the_evaluation_apart() {
    let mut titles = BTreeSet::new();
    for code in Code::all() {
        if !code.affects().is_empty() {
            assert!(titles.insert(code.title()), "{code}: {}", code.title());
        }
    }
}

#[test]
fn a_code_has_up_to_three_parts() {
    for code in ["LOG.SIG", "R1.ROOT_CORE", "R3.VERDICT.DUP", "LVL.GAD4_NO_POST_RUN"] {
        assert!(is_code(code), "{code}");
    }
    for text in ["", "LOG", "LOG.", ".SIG", "R1..SIG", "A.B.C.D", "log.sig", "1R.SIG", "LOG.S IG"] {
        assert!(!is_code(text), "{text}");
    }
}

#[test]
fn headings_name_the_families_beneath_them() {
    for family in FAMILIES {
        let (words, _) = family.title.split_once(": ").unwrap();
        let expected: BTreeSet<_> = words.split(", ").collect();
        let first = |code: &Code| code.as_str().split_once('.').unwrap().0;
        let found: BTreeSet<_> = family.codes().iter().map(first).collect();
        assert_eq!(found, expected);
        assert!(expected.iter().copied().eq(words.split(", ")), "{words}");
    }
}

#[test]
fn what_codes_make_false_is_what_their_families_are_about() {
    use Affect::{
        Defensible, Level, Note, Outcome, R1, R1e, R2, R3, R4, R5, R6, R7, R8, R9, Satisfied,
    };
    for code in Code::all() {
        let affects = code.affects();
        if affects.is_empty() {
            continue;
        }
        assert!(affects.is_sorted_by(|a, b| a < b), "{code}");
        // A note fails nothing, and only a note does.
        assert_eq!(affects == [Note], code.class() == Class::Note, "{code}");
        assert!(affects == [Note] || !affects.contains(&Note), "{code}");
        let expected: &[Affect] = match code.as_str() {
            "R2.CLOCK.ANCHOR_CONTRADICTION" | "R3.SUPERSEDE.DELTA_FALSE" => &[Defensible],
            "R2.LABEL.BOUNDED" => &[R9, Defensible],
            "R3.COMPLETED.UNSATISFIED" | "R3.SUPERSEDE.DELTA" => &[R3, Outcome],
            "R3.GATE.NO_REQUEST" => &[R3, R7],
            "R3.VERDICT.OPEN_FLAG" => &[R3, R6],
            "R4.REPLAY_FAILED" | "R4.REPLAY_UNAVAILABLE" => &[R4, Defensible],
            "IND.OPERATOR_MISSING" => &[R1, Defensible],
            _ if affects == [Note] => &[Note],
            text if text.starts_with("R1.ENV.") => &[R1e],
            text => match text.split_once('.').unwrap().0 {
                "IN" => &[R1, R2, R3, R4, R5, R6, R7, R8, R9, R1e, Outcome, Satisfied, Defensible],
                "R1" => &[R1],
                "PLAN" | "R2" => &[R2],
                "R3" => &[R3],
                "R4" => &[R4],
                "R6" => &[R6],
                "R7" => &[R7],
                "R8" => &[R8],
                "R9" => &[R9],
                "OUT" => &[Outcome],
                "SAT" => &[Satisfied],
                "LVL" => &[Level],
                "ANC" | "ATT" | "HYG" | "IND" | "LOG" | "POL" => &[Defensible],
                // R5 lowers a class, and nothing else.
                _ => panic!("{code} affects {affects:?}"),
            },
        };
        assert_eq!(affects, expected, "{code}");
    }
}

#[test]
fn what_codes_make_false_is_said_in_words() {
    let words = |code| affected(Code::lookup(code).unwrap());
    assert_eq!(words("R3.GATE.NO_REQUEST").as_deref(), Some("R3, R7"));
    assert_eq!(words("R1.ENV.SELF").as_deref(), Some("R1 (envelope)"));
    assert_eq!(words("IN.NOT_REGULAR").as_deref(), Some("everything"));
    assert_eq!(words("R5.ORDER"), None);
    assert_eq!(words("LOG.SIG"), None);
}

#[test]
fn what_somebody_may_have_meant() {
    let near =
        |text: &str| -> Vec<_> { Code::near(text).iter().map(|code| code.as_str()).collect() };
    assert_eq!(near("r8"), ["R8.BOUND", "R8.TRIP_EXIT"]);
    assert!(near("R3.VERDICT").iter().all(|code| code.starts_with("R3.VERDICT.")));
    assert_eq!(near("R3.VERDICT").len(), 8);
    assert_eq!(near("R3.VERDICT.NOPE"), near("R3.VERDICT."));
    assert_eq!(near("R3.HALT.READ"), ["R3.HALT.READY"]);
    assert_eq!(near("R8.NOPE.NOPE"), near("R8"));
    assert_eq!(near("backstep"), ["R2.CLOCK.BACKSTEP"]);
    assert_eq!(near(""), [""; 0]);
    assert_eq!(near("."), [""; 0]);
    assert_eq!(near("nothing like it"), [""; 0]);
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
    let formats = raised_by_proto(&root.join("../proto/src"));
    let explained: BTreeSet<String> = Code::all().iter().map(ToString::to_string).collect();
    let unexplained: Vec<_> = formats.difference(&explained).collect();
    assert!(unexplained.is_empty(), "raised by proto, not explained: {unexplained:?}");

    // Codes of this crate are raised through their constants: `log::SIG`.
    let mut texts = sources(&root.join("src"));
    // What is found by watching a log is raised where it is watched.
    texts.extend(sources(&root.join("../anchor-client/src")));
    let tables = declared(&root.join("src/codes"));
    let mut unraised = Vec::new();
    for code in Code::all() {
        let one: &Declared = &tables[code.as_str()];
        let here = || texts.iter().any(|text| raises(text, &one.module, &one.name));
        if !formats.contains(code.as_str()) && !here() {
            unraised.push(code);
        }
    }
    assert!(unraised.is_empty(), "explained and raised nowhere: {unraised:?}");
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

/// `FAMILY.NAME` or `FAMILY.OBJECT.NAME` of upper-case letters, digits and underscores.
fn is_code(text: &str) -> bool {
    let word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    let parts = text.split('.').count();
    (2..=3).contains(&parts) && text.split('.').all(word)
}
