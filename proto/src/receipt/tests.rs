//! Receipts: round trips, limits, and parts that contradict each other.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failing test may panic")]

use proptest::prelude::*;

use super::*;
use crate::checkpoint::{Checkpoint, SignedCheckpoint};
use crate::merkle::{TreeSize, node_hash};
use crate::note::{KeyName, NoteSigner};
use crate::signed_object::SigningKey;
use crate::statement::{Statement, StatementKind};

const LOG: &str = "log.example/test";

fn entry(signed: bool) -> LogEntry {
    let statement = Statement::new(StatementKind::Digest, Digest::of(b"hello"));
    if signed {
        LogEntry::signed(statement, &SigningKey::from_seed(&[1; 32])).unwrap()
    } else {
        LogEntry::unsigned(statement).unwrap()
    }
}

/// A proof for the second of two entries.
fn proof(entry: &LogEntry, origin: &str) -> TlogProof {
    let sibling = Digest::of(b"sibling");
    let checkpoint = Checkpoint {
        origin: origin.parse().unwrap(),
        size: TreeSize::new(2).unwrap(),
        root: node_hash(&sibling, &entry.leaf_hash()),
        extensions: Vec::new(),
    };
    let signer = NoteSigner::from_seed(KeyName::new(origin).unwrap(), [2; 32]);
    let checkpoint = SignedCheckpoint::sign(&checkpoint, &signer).unwrap();
    TlogProof::new(1, vec![sibling], checkpoint).unwrap()
}

fn receipt(signed: bool) -> Receipt {
    let entry = entry(signed);
    Receipt {
        log: LOG.parse().unwrap(),
        index: 1,
        leaf_hash: entry.leaf_hash(),
        proof: proof(&entry, LOG),
        entry,
        timestamps: vec![vec![0x30, 0x00], vec![7; 300]],
        state: ReceiptState::Anchored,
        conflicts: vec![0, 5],
    }
}

fn text(receipt: &Receipt) -> String {
    String::from_utf8(receipt.to_json().unwrap()).unwrap()
}

#[track_caller]
fn refused(text: &str, code: &str) {
    assert_eq!(Receipt::parse(text.as_bytes()).unwrap_err().code(), code, "{text}");
}

/// The receipt is refused alike when it is written and when it is read.
#[track_caller]
fn refused_both_ways(receipt: &Receipt, text: &str, code: &str) {
    assert_eq!(receipt.to_json().unwrap_err().code(), code);
    refused(text, code);
}

#[test]
fn what_is_written_reads_back() {
    for signed in [false, true] {
        let receipt = receipt(signed);
        let written = receipt.to_json().unwrap();
        assert_eq!(Receipt::parse(&written).unwrap(), receipt);
        assert!(json::parse_canonical(&written, &ReadLimits::DEFAULT).is_ok());
        receipt.proof.verify_inclusion(&receipt.leaf_hash).unwrap();
    }
}

#[test]
fn members_are_those_of_the_format() {
    let names = |receipt: &Receipt| {
        let bytes = receipt.to_json().unwrap();
        let value = json::parse(&bytes, &ReadLimits::DEFAULT).unwrap();
        value.as_object().unwrap().iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
    };
    let plain = Receipt { conflicts: Vec::new(), ..receipt(false) };
    let expected =
        ["index", "leaf_hash", "log", "proof", "schema", "state", "statement", "timestamps"];
    assert_eq!(names(&plain), expected);
    assert_eq!(names(&receipt(false))[0], "conflicts");
    let value = text(&plain);
    assert!(value.contains(r#""schema":"anchorlog.receipt/1""#));
    assert!(value.contains(r#""proof":"c2sp.org/tlog-proof@v1\nindex 1\n"#));
    assert!(value.contains(r#""timestamps":["MAA=","BwcH"#));
}

#[test]
fn other_spellings_are_read_too() {
    let receipt = receipt(true);
    let spelled = text(&receipt).replace("\"state\":", "\n  \"st\\u0061te\": ");
    assert_eq!(Receipt::parse(spelled.as_bytes()).unwrap(), receipt);
}

#[test]
fn the_form_is_closed() {
    let good = text(&receipt(false));
    refused("", "J.SYNTAX");
    refused("[]", "J.TYPE");
    refused(&good.replacen('{', r#"{"ext":{},"#, 1), "J.UNKNOWN_FIELD");
    for name in ["index", "leaf_hash", "log", "proof", "schema", "state", "statement", "timestamps"]
    {
        let value = json::parse(good.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        let mut object = value.as_object().unwrap().clone();
        object.insert(name, Value::Null);
        refused(&String::from_utf8(object.to_canonical()).unwrap(), "J.TYPE");
        object.remove(name);
        refused(&String::from_utf8(object.to_canonical()).unwrap(), "J.MISSING_FIELD");
    }
    refused(&good.replace("receipt/1", "receipt/2"), "J.ENUM");
    refused(&good.replace("\"anchored\"", "\"ok\""), "J.ENUM");
    refused(&good.replace("\"index\":1", "\"index\":-1"), "J.ENUM");
    refused(&good.replace("\"MAA=\"", "\"MAB=\""), "J.B64_FORM");
    refused(&good.replace("\"MAA=\"", "1"), "J.TYPE");
    refused(&good.replace("[0,5]", "[0,\"5\"]"), "J.TYPE");
    refused(&good.replace("[0,5]", "[-1,5]"), "J.ENUM");
    refused(&good.replace(&format!("\"log\":\"{LOG}\""), "\"log\":\"\""), "CKPT.ORIGIN");
    refused(&good.replace("tlog-proof@v1", "tlog-proof@v2"), "TLOGPROOF.HEADER");
    refused(&good.replace("\"kind\":\"digest\"", "\"kind\":\"x\""), "STM.KIND");
    refused(&good.replace("\"kind\":\"digest\"", "\"kind\":1"), "J.TYPE");
    let misshapen = good.replace("\"kind\":\"digest\"", "\"kind\":1");
    let error = Receipt::parse(misshapen.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "`statement`: wrong JSON type (at /statement/kind)");
}

#[test]
fn contradictions_are_noticed() {
    let good = receipt(false);
    let good_text = text(&good);

    let other = Digest::of(b"other");
    let wrong = Receipt { leaf_hash: other, ..good.clone() };
    let wrong_text = good_text.replace(&good.leaf_hash.to_string(), &other.to_string());
    refused_both_ways(&wrong, &wrong_text, "RCT.LEAF_HASH");

    let wrong = Receipt { index: 2, ..good.clone() };
    let wrong_text = good_text.replace("\"index\":1", "\"index\":2");
    refused_both_ways(&wrong, &wrong_text, "RCT.INDEX");

    let wrong = Receipt { log: "log.example/other".parse().unwrap(), ..good.clone() };
    let wrong_text =
        good_text.replace(&format!("\"log\":\"{LOG}\""), "\"log\":\"log.example/other\"");
    refused_both_ways(&wrong, &wrong_text, "RCT.ORIGIN");

    let wrong = Receipt { timestamps: Vec::new(), ..good.clone() };
    let witnessed = Receipt { state: ReceiptState::Witnessed, ..wrong.clone() };
    let wrong_text = text(&witnessed).replace("\"witnessed\"", "\"anchored\"");
    refused_both_ways(&wrong, &wrong_text, "RCT.ANCHORED_WITHOUT_TIMESTAMP");

    // Another statement under the same hash.
    let moved = good_text.replace("\"kind\":\"digest\"", "\"kind\":\"policy\"");
    refused(&moved, "RCT.LEAF_HASH");
}

#[test]
fn conflicts_have_one_spelling() {
    let good = receipt(false);
    let with = |conflicts: &str| text(&good).replace("[0,5]", conflicts);
    refused(&with("[]"), "RCT.CONFLICTS");
    for (conflicts, list) in [(vec![5, 0], "[5,0]"), (vec![0, 0], "[0,0]"), (vec![0, 1], "[0,1]")] {
        let wrong = Receipt { conflicts, ..good.clone() };
        refused_both_ways(&wrong, &with(list), "RCT.CONFLICTS");
    }
    let many: Vec<u64> = (2..).take(MAX_CONFLICTS).collect();
    let most = Receipt { conflicts: many.clone(), ..good.clone() };
    assert_eq!(Receipt::parse(&most.to_json().unwrap()).unwrap(), most);
    let too_many: Vec<u64> = (2..).take(MAX_CONFLICTS + 1).collect();
    let list = format!("{too_many:?}").replace(' ', "");
    let wrong = Receipt { conflicts: too_many, ..good.clone() };
    refused_both_ways(&wrong, &with(&list), "RCT.CONFLICTS");
}

#[test]
fn tokens_are_bounded() {
    let good = receipt(false);
    let with = |tokens: &[Vec<u8>]| {
        let list: Vec<_> =
            tokens.iter().map(|token| format!("\"{}\"", base64_encode(token))).collect();
        let current: Vec<_> =
            good.timestamps.iter().map(|token| format!("\"{}\"", base64_encode(token))).collect();
        text(&good).replace(&current.join(","), &list.join(","))
    };
    for (timestamps, code) in [
        (vec![vec![1]; MAX_TIMESTAMPS + 1], "RCT.TIMESTAMP_COUNT"),
        (vec![vec![1], Vec::new()], "RCT.TIMESTAMP_LENGTH"),
        (vec![vec![1; MAX_TIMESTAMP_BYTES + 1]], "RCT.TIMESTAMP_LENGTH"),
    ] {
        let wrong_text = with(&timestamps);
        let wrong = Receipt { timestamps, ..good.clone() };
        refused_both_ways(&wrong, &wrong_text, code);
    }
    let most = Receipt { timestamps: vec![vec![1]; MAX_TIMESTAMPS], ..good.clone() };
    assert_eq!(Receipt::parse(&most.to_json().unwrap()).unwrap(), most);
    let longest = Receipt { timestamps: vec![vec![1; MAX_TIMESTAMP_BYTES]; 11], ..good.clone() };
    assert_eq!(Receipt::parse(&longest.to_json().unwrap()).unwrap(), longest);
    // Each token within its limit, but all together over that of the receipt.
    let timestamps = vec![vec![1; MAX_TIMESTAMP_BYTES]; MAX_TIMESTAMPS];
    let wrong_text = with(&timestamps);
    assert!(wrong_text.len() > MAX_RECEIPT_BYTES);
    refused_both_ways(&Receipt { timestamps, ..good }, &wrong_text, "IN.LIMIT_BYTES");
}

#[test]
fn states_have_names_and_an_order() {
    for state in ReceiptState::ALL {
        assert_eq!(state.to_string().parse(), Ok(state));
    }
    assert!("ok".parse::<ReceiptState>().is_err());
    assert!(ReceiptState::Published < ReceiptState::Witnessed);
    assert!(ReceiptState::Witnessed < ReceiptState::Anchored);
}

proptest! {
    #[test]
    fn damaged_receipts_are_read_or_refused(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut bytes = receipt(true).to_json().unwrap();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        if let Ok(read) = Receipt::parse(&bytes) {
            let written = read.to_json().unwrap();
            prop_assert_eq!(Receipt::parse(&written).unwrap(), read);
        }
    }
}
