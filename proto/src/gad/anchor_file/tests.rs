//! Anchor files: round trips, limits, and which part is at fault.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use super::*;
use crate::checkpoint::{Checkpoint, SignedCheckpoint};
use crate::digest::Digest;
use crate::gad::changes::{changes, json, text, with};
use crate::merkle::{TreeSize, node_hash};
use crate::note::{KeyName, NoteSigner};
use crate::receipt::ReceiptState;
use crate::signed_object::SigningKey;
use crate::statement::{Statement, StatementKind};

const LOG: &str = "log.example/test";

fn anchor(signed: bool) -> TlogAnchor {
    let statement = Statement::new(StatementKind::CoreRoot, Digest::of(b"root"));
    let entry = if signed {
        LogEntry::signed(statement, &SigningKey::from_seed(&[1; 32])).unwrap()
    } else {
        LogEntry::unsigned(statement).unwrap()
    };
    let sibling = Digest::of(b"sibling");
    let root = node_hash(&sibling, &entry.leaf_hash());
    let checkpoint = Checkpoint::new(LOG.parse().unwrap(), TreeSize::new(2).unwrap(), root);
    let log_key = NoteSigner::from_seed(KeyName::new(LOG).unwrap(), [2; 32]);
    let checkpoint = SignedCheckpoint::sign(&checkpoint, &log_key).unwrap();
    let proof = TlogProof::new(1, vec![sibling], checkpoint).unwrap();
    TlogAnchor { entry, proof, timestamps: vec![vec![0x30, 0x00], vec![7; 300]] }
}

fn value() -> Value<'static> {
    json(&String::from_utf8(anchor(false).to_bytes().unwrap()).unwrap())
}

fn refusal(value: &Value<'_>) -> (&'static str, AnchorPart) {
    let error = TlogAnchor::parse(text(value).as_bytes()).unwrap_err();
    (error.code(), error.part())
}

#[test]
fn what_is_written_reads_back() {
    for signed in [false, true] {
        let anchor = anchor(signed);
        let bytes = anchor.to_bytes().unwrap();
        assert_eq!(TlogAnchor::parse(&bytes), Ok(anchor));
    }
    let bare = TlogAnchor { timestamps: Vec::new(), ..anchor(false) };
    assert_eq!(TlogAnchor::parse(&bare.to_bytes().unwrap()), Ok(bare));
}

#[test]
fn every_change_of_one_place_is_refused_with_its_part() {
    for change in changes(&value()) {
        let (_, part) = refusal(&change.value);
        let expected = match change.what.split('/').nth(1) {
            Some("statement") => AnchorPart::Statement,
            Some("proof") => AnchorPart::Proof,
            Some("timestamps") => AnchorPart::Timestamps,
            _ => AnchorPart::File,
        };
        assert_eq!(part, expected, "{}", change.what);
    }
}

#[test]
fn parts_are_told_apart() {
    let refusal = |pointer, replacement| refusal(&with(&value(), pointer, replacement));
    assert_eq!(refusal("/schema", "\"anchorlog.anchor/2\""), ("J.ENUM", AnchorPart::File));
    assert_eq!(refusal("/type", "\"rfc3161\""), ("J.ENUM", AnchorPart::File));
    assert_eq!(refusal("/statement/kind", "\"x\""), ("STM.KIND", AnchorPart::Statement));
    assert_eq!(refusal("/proof", "\"\""), ("TLOGPROOF.TRUNCATED", AnchorPart::Proof));
    assert_eq!(refusal("/timestamps/0", "\"A\""), ("J.B64_FORM", AnchorPart::Timestamps));
    assert_eq!(
        refusal("/timestamps/1", "\"\""),
        ("ANCHOR.TIMESTAMP_LENGTH", AnchorPart::Timestamps)
    );
    let error = TlogAnchor::parse(b"{").unwrap_err();
    assert_eq!((error.code(), error.part()), ("J.SYNTAX", AnchorPart::File));
    assert_eq!(TlogAnchor::parse(b"1").unwrap_err().part(), AnchorPart::File);
}

#[test]
fn bytes_that_are_not_canonical_are_refused_where_they_depart() {
    let good = text(&value());
    let statement = good.split_once("\"statement\":").unwrap().1.split_once('}').unwrap().0;
    let kind = "\"kind\":\"core_root\"";
    let (before, after) = statement.split_once(',').unwrap();
    let reordered = format!("{{{after},{}", before.strip_prefix('{').unwrap());
    assert!(before.contains("digest") && after.starts_with(kind));
    for (wrong, part) in [
        (format!("{good}\n"), AnchorPart::File),
        (format!(" {good}"), AnchorPart::File),
        (good.replace("\"statement\":", "\"statement\": "), AnchorPart::File),
        (good.replace("},\"timestamps\"", "} ,\"timestamps\""), AnchorPart::File),
        (good.replace("\"tlog\"", "\"\\u0074log\""), AnchorPart::File),
        (good.replace(kind, &kind.replace(':', ": ")), AnchorPart::Statement),
        (good.replace("},\"timestamps\"", " },\"timestamps\""), AnchorPart::Statement),
        (good.replace("core_root", "core\\u005froot"), AnchorPart::Statement),
        (good.replace(statement, &reordered), AnchorPart::Statement),
    ] {
        let error = TlogAnchor::parse(wrong.as_bytes()).unwrap_err();
        assert!(matches!(error, AnchorFileError::Noncanonical { .. }), "{wrong}");
        assert_eq!((error.code(), error.part()), ("J.NONCANONICAL", part), "{wrong}");
    }
}

#[test]
fn limits_hold_in_both_directions() {
    let refused = |anchor: &TlogAnchor, bytes: &str, code| {
        assert_eq!(anchor.to_bytes().unwrap_err().code(), code);
        assert_eq!(TlogAnchor::parse(bytes.as_bytes()).unwrap_err().code(), code);
    };
    let token = vec![7; MAX_TIMESTAMP_BYTES];
    let most = TlogAnchor { timestamps: vec![token; MAX_ANCHOR_TIMESTAMPS], ..anchor(false) };
    assert_eq!(TlogAnchor::parse(&most.to_bytes().unwrap()).as_ref(), Ok(&most));

    let over = TlogAnchor { timestamps: vec![vec![1]; MAX_ANCHOR_TIMESTAMPS + 1], ..most.clone() };
    let list = format!("[{}]", vec!["\"AQ==\""; MAX_ANCHOR_TIMESTAMPS + 1].join(","));
    refused(&over, &text(&with(&value(), "/timestamps", &list)), "ANCHOR.TIMESTAMPS");

    let long = vec![7; MAX_TIMESTAMP_BYTES + 1];
    let list = format!("[\"{}\"]", base64_encode(&long));
    let over = TlogAnchor { timestamps: vec![long], ..most.clone() };
    refused(&over, &text(&with(&value(), "/timestamps", &list)), "ANCHOR.TIMESTAMP_LENGTH");

    // Extra data up to the limit of the proof's text, and one more.
    let room = MAX_PROOF_TEXT_BYTES - most.proof.to_text().len() - "extra \n".len();
    let padded = |groups: usize| {
        let proof = most.proof.clone().with_extra(vec![0; groups * 3]).unwrap();
        TlogAnchor { proof, timestamps: Vec::new(), ..most.clone() }
    };
    let fits = padded(room / 4);
    assert_eq!(TlogAnchor::parse(&fits.to_bytes().unwrap()), Ok(fits));
    let over = padded(room / 4 + 1);
    let proof = text(&Value::from(over.proof.to_text()));
    refused(&over, &text(&with(&value(), "/proof", &proof)), "ANCHOR.PROOF_LENGTH");

    let huge = " ".repeat(MAX_ANCHOR_FILE_BYTES + 1);
    assert_eq!(TlogAnchor::parse(huge.as_bytes()).unwrap_err().code(), "IN.LIMIT_BYTES");
}

#[test]
fn a_receipt_makes_one() {
    let anchor = anchor(true);
    let mut receipt = Receipt {
        log: LOG.parse().unwrap(),
        index: 1,
        leaf_hash: anchor.entry.leaf_hash(),
        entry: anchor.entry.clone(),
        proof: anchor.proof.clone(),
        timestamps: anchor.timestamps.clone(),
        state: ReceiptState::Anchored,
        conflicts: Vec::new(),
    };
    assert_eq!(TlogAnchor::from_receipt(&receipt), Ok(anchor.clone()));
    receipt.proof = anchor.proof.with_extra(vec![0; crate::tlog_proof::MAX_EXTRA_BYTES]).unwrap();
    let error = TlogAnchor::from_receipt(&receipt).unwrap_err();
    assert_eq!(error.code(), "ANCHOR.PROOF_LENGTH");
}
