//! Statements and log entries: round trips, refusals, limits.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failing test may panic")]

use proptest::prelude::*;

use super::*;
use crate::json::{ReadLimits, parse};
use crate::merkle;
use crate::signed_object::SigningKey;

const PLAIN: &str = r#"{"digest":"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","kind":"core_root","schema":"anchorlog.statement/1","sequence":7,"trail":"run-1"}"#;

fn statement() -> Statement {
    Statement::new(StatementKind::CoreRoot, Digest::of(b"hello"))
        .in_trail("run-1".parse().unwrap(), Some(7))
}

fn key() -> SigningKey {
    SigningKey::from_seed(&[3; 32])
}

fn signed() -> LogEntry {
    LogEntry::signed(statement(), &key()).unwrap()
}

fn signed_text() -> String {
    String::from_utf8(signed().leaf_bytes().to_vec()).unwrap()
}

#[track_caller]
fn refused(text: &str, code: &str, class: ErrorClass) {
    let error = LogEntry::read(text.as_bytes()).unwrap_err();
    assert_eq!((error.code(), error.class()), (code, class), "{text}: {error}");
}

#[test]
fn a_plain_statement_is_its_own_leaf() {
    let entry = LogEntry::unsigned(statement()).unwrap();
    assert_eq!(entry.leaf_bytes(), PLAIN.as_bytes());
    assert_eq!(entry.leaf_hash(), merkle::leaf_hash(PLAIN.as_bytes()));
    assert_eq!(entry.statement(), &statement());
    assert_eq!(entry.signer(), None);
    assert_eq!(LogEntry::read(PLAIN.as_bytes()).unwrap(), entry);
    assert_eq!(LogEntry::from_leaf(PLAIN.as_bytes()).unwrap(), entry);
    assert_eq!(entry.to_object().to_canonical(), entry.leaf_bytes());
}

#[test]
fn every_spelling_gives_the_same_entry_but_only_one_is_a_leaf() {
    for (canonical, entry) in
        [(PLAIN.to_owned(), LogEntry::unsigned(statement()).unwrap()), (signed_text(), signed())]
    {
        let spelled = format!(" {}\n", canonical.replace("\"kind\":", "\"\\u006bind\" : "));
        assert_eq!(LogEntry::read(spelled.as_bytes()).unwrap(), entry);
        let error = LogEntry::from_leaf(spelled.as_bytes()).unwrap_err();
        assert_eq!((error.code(), error.class()), ("J.NONCANONICAL", ErrorClass::Malformed));
    }
}

#[test]
fn a_signed_statement_verifies_under_its_key_only() {
    let entry = signed();
    assert_eq!(entry.statement(), &statement());
    assert_eq!(entry.signer(), Some(key().id()));
    assert_eq!(LogEntry::from_leaf(entry.leaf_bytes()).unwrap(), entry);
    assert_eq!(entry.to_object().to_canonical(), entry.leaf_bytes());
    entry.verify_signature(&key().public_key()).unwrap();

    let other = SigningKey::from_seed(&[4; 32]);
    assert_eq!(
        entry.verify_signature(&other.public_key()),
        Err(StatementError::SignatureKey { expected: other.id(), actual: key().id() })
    );
    let altered = signed_text().replace("run-1", "run-2");
    let altered = LogEntry::read(altered.as_bytes()).unwrap();
    let error = altered.verify_signature(&key().public_key()).unwrap_err();
    assert_eq!((error.code(), error.class()), ("STM.SIGNATURE", ErrorClass::Signature));
    let plain = LogEntry::unsigned(statement()).unwrap();
    let error = plain.verify_signature(&key().public_key()).unwrap_err();
    assert_eq!((error.code(), error.class()), ("STM.UNSIGNED", ErrorClass::Signature));
}

#[test]
fn wrong_shapes_are_malformed() {
    use ErrorClass::Malformed;
    refused("", "J.SYNTAX", Malformed);
    refused("[]", "J.TYPE", Malformed);
    refused("{}", "J.MISSING_FIELD", Malformed);
    refused(&PLAIN.replace("\"trail\"", "\"ext\""), "J.UNKNOWN_FIELD", Malformed);
    refused(&PLAIN.replace(":7", ":\"7\""), "J.TYPE", Malformed);
    refused(&PLAIN.replace(":7", ":7.0"), "J.NON_INTEGER", Malformed);
    refused(&PLAIN.replace(":7", ":null"), "J.TYPE", Malformed);
    refused(&PLAIN.replace(":7", ":9007199254740992"), "J.INT_RANGE", Malformed);
    refused(&PLAIN.replace("sha256:2c", "sha256:2C"), "J.DIGEST_FORM", Malformed);
    refused(&PLAIN.replace("\"kind\"", "\"kind\":\"digest\",\"kind\""), "J.DUP_KEY", Malformed);
    refused(&signed_text().replace("\"signature\"", "\"sig\""), "J.MISSING_FIELD", Malformed);
    refused(r#"{"body":1,"signature":""}"#, "J.B64_FORM", Malformed);
    refused(
        &signed_text().replace("\"type\":\"statement\"", "\"ext\":{}"),
        "J.MISSING_FIELD",
        Malformed,
    );
    let with_plan = signed_text().replace("\"trail\"", "\"plan_hash\":\"\",\"trail\"");
    refused(&with_plan, "J.UNKNOWN_FIELD", Malformed);
    // A plain statement has no type and no key, and a signed one nothing beside its body.
    refused(&PLAIN.replace('}', r#","type":"statement"}"#), "J.UNKNOWN_FIELD", Malformed);
    refused(&PLAIN.replace('}', r#","signature":""}"#), "J.MISSING_FIELD", Malformed);
}

#[test]
fn shapes_are_judged_before_contents_and_point_at_the_place() {
    let value = format!(r#"{{"at":{}}}"#, PLAIN.replace("core_root", "x").replace(":7", ":[]"));
    let value = parse(value.as_bytes(), &ReadLimits::DEFAULT).unwrap();
    let inner = value.as_object().unwrap().get("at").unwrap();
    let StatementError::Json(error) = LogEntry::from_value(inner, "/at").unwrap_err() else {
        unreachable!("the sequence has the wrong type")
    };
    assert_eq!((error.code(), error.pointer.as_str()), ("J.TYPE", "/at/sequence"));
}

#[test]
fn wrong_contents_are_semantic() {
    use ErrorClass::Semantic;
    refused(&PLAIN.replace("core_root", "core-root"), "STM.KIND", Semantic);
    refused(&PLAIN.replace("statement/1", "statement/2"), "STM.SCHEMA", Semantic);
    refused(&PLAIN.replace("run-1", "Run-1"), "STM.TRAIL_FORM", Semantic);
    refused(&PLAIN.replace("run-1", ""), "STM.TRAIL_FORM", Semantic);
    refused(&PLAIN.replace(":7", ":-1"), "STM.SEQUENCE_RANGE", Semantic);
    refused(&PLAIN.replace(r#","trail":"run-1""#, ""), "STM.SEQUENCE_WITHOUT_TRAIL", Semantic);
    refused(&signed_text().replace("\"statement\"", "\"verdict\""), "STM.TYPE", Semantic);
}

#[test]
fn what_cannot_be_read_cannot_be_made() {
    let loose =
        Statement { sequence: Some(1), ..Statement::new(StatementKind::Digest, Digest::of(b"")) };
    assert_eq!(LogEntry::unsigned(loose.clone()), Err(StatementError::SequenceWithoutTrail));
    assert_eq!(LogEntry::signed(loose, &key()), Err(StatementError::SequenceWithoutTrail));
    let far = Statement { sequence: Some(1 << 53), ..statement() };
    assert_eq!(LogEntry::unsigned(far), Err(StatementError::SequenceRange));
    let last = Statement { sequence: Some((1 << 53) - 1), ..statement() };
    assert!(LogEntry::unsigned(last).is_ok());
}

#[test]
fn sizes() {
    use ErrorClass::TooLarge;
    // The leaf limit holds before the contents are looked at.
    let padding = MAX_LEAF_BYTES - PLAIN.len();
    let fits = PLAIN.replace("run-1", &format!("run-1{}", "x".repeat(padding)));
    assert_eq!(fits.len(), MAX_LEAF_BYTES);
    refused(&fits, "STM.TRAIL_FORM", ErrorClass::Semantic);
    let over = PLAIN.replace("run-1", &format!("run-1{}", "x".repeat(padding + 1)));
    refused(&over, "STM.TOO_LARGE", TooLarge);
    assert_eq!(
        LogEntry::from_leaf(over.as_bytes()),
        Err(StatementError::TooLarge { bytes: MAX_LEAF_BYTES + 1, limit: MAX_LEAF_BYTES })
    );
    let value = parse(over.as_bytes(), &ReadLimits::DEFAULT).unwrap();
    assert_eq!(LogEntry::from_value(&value, "").unwrap_err().code(), "STM.TOO_LARGE");
    // White space doesn't count towards the leaf, but a document isn't endless.
    let spaces = " ".repeat(MAX_INPUT_BYTES - PLAIN.len());
    assert!(LogEntry::read(format!("{PLAIN}{spaces}").as_bytes()).is_ok());
    refused(&format!("{PLAIN}{spaces} "), "STM.TOO_LARGE", TooLarge);
    // The longest statement there is stays far below the limit.
    let longest = Statement::new(StatementKind::ExecutionDigest, Digest::of(b""))
        .in_trail("t".repeat(Trail::MAX_BYTES).parse().unwrap(), Some((1 << 53) - 1));
    assert!(LogEntry::signed(longest, &key()).unwrap().leaf_bytes().len() < MAX_LEAF_BYTES / 4);
}

proptest! {
    #[test]
    fn made_entries_read_back(
        kind in 0..StatementKind::ALL.len(),
        digest in any::<[u8; 32]>(),
        trail in prop::option::of("[a-z0-9][a-z0-9:._-]{0,127}"),
        sequence in prop::option::of(0_u64..1 << 53),
        seed in any::<[u8; 32]>(),
    ) {
        let mut statement = Statement::new(StatementKind::ALL[kind], Digest::from_bytes(digest));
        if let Some(trail) = trail {
            statement = statement.in_trail(trail.parse().unwrap(), sequence);
        }
        let plain = LogEntry::unsigned(statement.clone()).unwrap();
        prop_assert_eq!(&LogEntry::from_leaf(plain.leaf_bytes()).unwrap(), &plain);
        prop_assert_eq!(plain.statement(), &statement);
        let key = SigningKey::from_seed(&seed);
        let signed = LogEntry::signed(statement.clone(), &key).unwrap();
        prop_assert_eq!(signed.statement(), &statement);
        signed.verify_signature(&key.public_key()).unwrap();
        prop_assert_ne!(signed.leaf_hash(), plain.leaf_hash());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        if let Ok(entry) = LogEntry::read(&bytes) {
            prop_assert_eq!(LogEntry::from_leaf(entry.leaf_bytes()), Ok(entry));
        }
    }

    #[test]
    fn damaged_leaves_are_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut leaf = signed_text().into_bytes();
        let at = at.index(leaf.len());
        let changed = leaf[at] != byte;
        leaf[at] = byte;
        if let Ok(entry) = LogEntry::read(&leaf) {
            prop_assert_eq!(entry.verify_signature(&key().public_key()).is_err(), changed);
        }
    }
}
