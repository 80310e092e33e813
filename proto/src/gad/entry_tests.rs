//! Entries: what a line can be, and those of the published records read, written and chained.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::borrow::Cow;
use std::path::Path;

use super::chain::{Chain, chain_hash, genesis};
use super::entry::{Entry, EntryReading, EntryType};
use super::form::Defects;
use super::limits::Limits;
use super::line::{LineDocument, read_line};
use crate::digest::Digest;
use crate::json::corpus_tests::{base_records, corpus_directory};
use crate::json::{Object, Value, canonical};

const H: &str = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

/// A line with `body` and `rest` in it.
fn line(body: &str, rest: &str) -> String {
    format!(r#"{{"body":{body},"h":"{H}"{rest}}}"#)
}

fn codes(defects: &Defects) -> Vec<(&'static str, &str)> {
    defects.list().iter().map(|defect| (defect.code.as_str(), &*defect.pointer)).collect()
}

/// Reads a line: the reading's kind, number, and defects.
fn check(text: &str, kind: &str, expected: &[(&str, &str)]) {
    let document = read_line(text.as_bytes(), &Limits::DEFAULT).unwrap();
    let mut defects = Defects::new();
    let reading = document.entry(&Limits::DEFAULT, &mut defects);
    assert_eq!(codes(&defects), expected, "{text}");
    let found = match &reading {
        EntryReading::Entry(entry) if entry.payload.is_some() => "whole",
        EntryReading::Entry(_) => "bare",
        EntryReading::UnknownType(_) => "unknown",
        EntryReading::Unreadable => "unreadable",
    };
    assert_eq!(found, kind, "{text}");
    let link = (kind != "unreadable").then(|| (4, H.parse().unwrap()));
    assert_eq!(reading.link(), link, "{text}");
    assert_eq!(reading.entry().is_some(), kind == "whole" || kind == "bare");
}

#[test]
fn what_a_line_can_be() {
    const T: &str = r#""t":"2026-07-20T10:00:00Z""#;
    let body = |rest: &str| format!(r#"{{"p":{{}},"seq":4,{T},"type":"plan_completed"{rest}}}"#);
    check(&line(&body(""), ""), "whole", &[]);
    // What nobody knows in a wrapper is a defect of the line, which is an entry all the same.
    check(&line(&body(r#","x":1"#), ""), "whole", &[("J.UNKNOWN_FIELD", "/body/x")]);
    check(&line(&body(r#","ext":{}"#), ""), "whole", &[("J.UNKNOWN_FIELD", "/body/ext")]);
    check(&line(&body(""), r#","ext":{}"#), "whole", &[("J.UNKNOWN_FIELD", "/ext")]);

    let body = |p: &str, name: &str| format!(r#"{{{p}"seq":4,{T},"type":"{name}"}}"#);
    check(&line(&body("", "claim"), ""), "bare", &[("J.MISSING_FIELD", "/body/p")]);
    check(&line(&body(r#""p":[],"#, "claim"), ""), "bare", &[("J.TYPE", "/body/p")]);
    check(&line(&body(r#""p":[],"#, "key_rotation"), ""), "unknown", &[]);
    check(&line(&body(r#""p":[],"#, ""), ""), "unknown", &[]);
    // An individually signed type that isn't signed is no defect of form.
    for p in ["[]", "{}", r#"{"body":{}}"#, r#"{"body":[],"signature":""}"#] {
        check(&line(&body(&format!(r#""p":{p},"#), "verdict"), ""), "bare", &[]);
    }

    check("[]", "unreadable", &[("J.TYPE", "")]);
    check("{}", "unreadable", &[("J.MISSING_FIELD", "/body"), ("J.MISSING_FIELD", "/h")]);
    check(&line("7", ""), "unreadable", &[("J.TYPE", "/body")]);
    let all = ["/body/p", "/body/seq", "/body/t", "/body/type"];
    check(&line("{}", ""), "unreadable", &all.map(|at| ("J.MISSING_FIELD", at)));
    let wrong = r#"{"p":{},"seq":-1,"t":"2026-07-20T10:00:60Z","type":7}"#;
    let expected = [("J.ENUM", "/body/seq"), ("J.TIME_FORM", "/body/t"), ("J.TYPE", "/body/type")];
    check(&line(wrong, ""), "unreadable", &expected);
    let whole = line(r#"{"p":{},"seq":4,"t":"2026-07-20T10:00:00Z","type":"plan_completed"}"#, "");
    check(&whole.replace("sha256:", "sha256:0"), "unreadable", &[("J.DIGEST_FORM", "/h")]);
}

#[test]
fn signed_bodies() {
    let signature = format!("{}==", "A".repeat(86));
    let plan = format!(r#""plan_hash":"{H}""#);
    let key = format!(r#""key_id":"{}""#, H.replace("sha256", "gadk1"));
    let entry = |body: &str, signature: &str| {
        let p = format!(r#"{{"body":{{"defects":["d"]{body}}},"signature":{signature}}}"#);
        line(
            &format!(
                r#"{{"p":{p},"seq":4,"t":"2026-07-20T10:00:00Z","type":"nonconformance_notice"}}"#
            ),
            "",
        )
    };
    let read = |text: &str| {
        let document = read_line(text.as_bytes(), &Limits::DEFAULT).unwrap();
        let mut defects = Defects::new();
        let EntryReading::Entry(entry) = document.entry(&Limits::DEFAULT, &mut defects) else {
            panic!("{defects:?}")
        };
        let list = codes(&defects).iter().map(|(code, at)| format!("{code} {at}")).collect();
        let refused: Vec<String> = list;
        assert_eq!(entry.payload.is_none(), !refused.is_empty());
        (entry.signed.unwrap(), refused)
    };
    let quoted = format!("\"{signature}\"");
    let body = format!(r#",{key},{plan},"type":"nonconformance_notice""#);
    let (signed, defects) = read(&entry(&body, &quoted));
    assert_eq!(defects, Vec::<String>::new());
    assert!(signed.type_agrees && signed.signature.is_some());
    assert_eq!(signed.plan_hash, Some(H.parse().unwrap()));
    assert_eq!(signed.key_id.unwrap().to_string(), H.replace("sha256", "gadk1"));
    assert_eq!(signed.message, format!(r#"{{"defects":["d"]{body}}}"#).into_bytes());

    let (signed, defects) = read(&entry(&body.replace("nonconformance_", ""), &quoted));
    assert!(!signed.type_agrees && defects.is_empty());
    let wrong = ["7", "\"\"", "null", &format!("\"{}\"", "A".repeat(88))];
    for wrong in wrong {
        let (signed, defects) = read(&entry(&body, wrong));
        assert_eq!(defects, ["J.B64_FORM /body/p/signature"], "{wrong}");
        assert_eq!(signed.signature, None);
    }
    let (signed, defects) = read(&entry("", &quoted));
    let expected = ["type", "plan_hash", "key_id"];
    assert_eq!(defects, expected.map(|name| format!("J.MISSING_FIELD /body/p/body/{name}")));
    assert!(!signed.type_agrees);
    let (signed, defects) = read(&entry(r#","key_id":"x","plan_hash":1,"type":null"#, &quoted));
    let expected = ["J.TYPE /body/p/body/type", "J.TYPE /body/p/body/plan_hash"];
    assert_eq!(defects[..2], expected);
    assert_eq!(defects[2..], ["J.DIGEST_FORM /body/p/body/key_id"]);
    assert_eq!((signed.plan_hash, signed.key_id), (None, None));
}

#[test]
fn slices_of_a_line_are_what_would_be_written() {
    let bodies = [
        r#"{"p":{},"seq":4,"t":"x","type":"y"}"#,
        r#"{"p":{"body":{"h":"\",\"h\":\""},"signature":"s\",\"signature\":\""},"seq":4,"t":"x","type":"y"}"#,
        r#"{"p":{"body":{},"signature":"é"},"seq":-9007199254740991,"t":"","type":"type"}"#,
        r#"{"p":{"body":{"type":"t"},"signature":"s"},"seq":0,"t":"","type":"\n"}"#,
        r#"{"a":1,"p":{"body":{},"signature":"s"},"seq":0,"t":"","type":""}"#,
        "[]",
        "7",
    ];
    for body in bodies {
        let lines = [
            (line(body, ""), true),
            (line(body, r#","x":1"#), false),
            (line(body, "").replace(r#","h":"#, r#", "h":"#), false),
            (line(body, "").replace("sha256:", r"\"), false),
            (line(body, "").replace("sha256:", r"\u0073"), false),
            (format!(r#"{{"h":"","body":{body}}}"#), false),
            (format!(r#"{{"a":"","body":{body}}}"#), false),
        ];
        for (text, stored) in lines {
            let Ok(document) = read_line(text.as_bytes(), &Limits::DEFAULT) else { continue };
            let found = document.body_bytes().unwrap();
            assert_eq!(found, body.as_bytes(), "{text}");
            assert_eq!(matches!(found, Cow::Borrowed(_)), stored, "{text}");
            check_message(&document);
        }
    }
    let none = read_line(b"{}", &Limits::DEFAULT).unwrap();
    assert_eq!((none.body_bytes(), none.is_canonical()), (None, true));
    assert!(!read_line(b"{} ", &Limits::DEFAULT).unwrap().is_canonical());
}

/// A stored message is the canonical form of the signed body.
fn check_message(document: &LineDocument<'_>) {
    if let Some(message) = document.stored_message() {
        let line = document.value().as_object().unwrap();
        let p = line.get("body").unwrap().as_object().unwrap().get("p").unwrap();
        let body = p.as_object().unwrap().get("body").unwrap();
        assert_eq!(message, canonical(body));
    }
}

#[test]
fn lines_have_limits() {
    let limits = Limits { line_bytes: 5, depth: 2, ..Limits::DEFAULT };
    assert!(read_line(b"[[]]", &limits).is_ok());
    assert_eq!(read_line(b"[[] ]", &limits).unwrap_err().code(), "IN.LIMIT_BYTES");
    let limits = Limits { depth: 1, ..Limits::DEFAULT };
    assert_eq!(read_line(b"[[]]", &limits).unwrap_err().code(), "J.DEPTH");
}

#[test]
fn base_records_are_read_written_and_chained() {
    let Some(corpus) = corpus_directory() else { return };
    let mut types = Vec::new();
    for record in base_records(&corpus) {
        let hashes = check_record(&record, &mut types);
        if record.ends_with("V01/bundle") {
            let known = [
                "sha256:29f5b49892e83bf0e5a306028e93353edd79ec105d12e73df61c29dcea6eb4ab",
                "sha256:7c4c9898d20b20df1953793de2f217f53b8a41db67ac39896a57fb75f150e68b",
            ];
            let ends = [hashes.first().unwrap(), hashes.last().unwrap()];
            assert_eq!(ends.map(Digest::to_string), known);
        }
    }
    assert!(types.len() > 100, "{}", types.len());
    types.sort_unstable();
    types.dedup();
    types.push(EntryType::NonconformanceNotice);
    assert_eq!(types, EntryType::ALL, "every type but the notice is in a base record");
}

/// Reads every line of a record and writes it again: its chain hashes.
fn check_record(record: &Path, types: &mut Vec<EntryType>) -> Vec<Digest> {
    let witness = std::fs::read(record.join("core/witness.jsonl")).unwrap();
    let mut chain = Chain::new();
    let mut hashes = vec![genesis()];
    for bytes in witness.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n') {
        let document = read_line(bytes, &Limits::DEFAULT).unwrap();
        let body = document.body_bytes().unwrap();
        assert!(document.is_canonical() && matches!(body, Cow::Borrowed(_)));
        let mut defects = Defects::new();
        let reading = document.entry(&Limits::DEFAULT, &mut defects);
        assert!(defects.is_empty(), "{} {defects:?}", record.display());
        assert_eq!(reading, Entry::read(document.value(), &Limits::DEFAULT, &mut defects));
        let EntryReading::Entry(entry) = reading else { panic!("{reading:?}") };
        assert_eq!(chain_hash(hashes.last().unwrap(), &body), entry.h);

        assert_eq!(entry.signed.is_some(), entry.entry_type.is_signed());
        assert_eq!(document.stored_message().is_some(), entry.entry_type.is_signed());
        let payload = entry.payload.as_ref().unwrap();
        assert_eq!(payload.entry_type(), entry.entry_type);
        let mut p = payload.to_object();
        if let Some(signed) = &entry.signed {
            assert!(signed.type_agrees);
            p.insert("type", entry.entry_type.as_str());
            p.insert("key_id", signed.key_id.unwrap().to_string());
            p.insert("plan_hash", signed.plan_hash.unwrap().to_string());
            assert_eq!(signed.message, p.to_canonical());
            p = Object::from([
                ("body", Value::Object(p)),
                ("signature", signed.signature.unwrap().to_base64().into()),
            ]);
        }
        let time = crate::json::format_utc_seconds(entry.time);
        let line = chain.append_raw(&time, entry.entry_type.as_str(), Value::Object(p));
        assert_eq!(line.bytes.strip_suffix(b"\n").unwrap(), bytes);
        assert_eq!((line.seq, line.h), (entry.seq, entry.h));
        hashes.push(entry.h);
        types.push(entry.entry_type);
    }
    hashes.split_off(1)
}

#[test]
fn defective_records_have_the_defects_they_are_made_for() {
    let Some(corpus) = corpus_directory() else { return };
    for (name, code, pointer) in [
        ("X063", "J.UNKNOWN_FIELD", "/body/p/Node"),
        ("X272", "J.TIME_FORM", "/body/t"),
        ("X272b", "J.TIME_FORM", "/body/t"),
        ("X274", "J.ENUM", "/body/p/status"),
        ("X335a", "J.UNKNOWN_FIELD", "/ext"),
        ("X335d", "J.UNKNOWN_FIELD", "/body/p/executor_identity/ext"),
        // Refused by rules, not by the form.
        ("X117", "", ""),
        ("X133", "", ""),
        ("X139", "", ""),
        ("X207", "", ""),
        ("X209", "", ""),
        ("X225a", "", ""),
        ("X225d", "", ""),
        ("X268", "", ""),
        ("X335c", "", ""),
    ] {
        let witness = corpus.join("gad").join(name).join("bundle/core/witness.jsonl");
        let witness = std::fs::read(witness).unwrap();
        let mut defects = Defects::new();
        for bytes in witness.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n') {
            let document = read_line(bytes, &Limits::DEFAULT).unwrap();
            let _reading = document.entry(&Limits::DEFAULT, &mut defects);
        }
        let found = codes(&defects);
        assert_eq!(found.len(), usize::from(!code.is_empty()), "{name} {found:?}");
        for found in found {
            assert!(found.0 == code && found.1.starts_with(pointer), "{name} {found:?}");
        }
    }
}
