//! Remembered checkpoints: round trips and refusals.

use super::*;
use crate::gad::changes::{changes, shown, with};

fn full() -> KnownCheckpoints {
    let checkpoint = |size, consistency| KnownCheckpoint {
        origin: "log.example/gad".parse().unwrap(),
        size: TreeSize::new(size).unwrap(),
        root: Digest::from_bytes([1; 32]),
        consistency,
    };
    let hashes = vec![Digest::from_bytes([2; 32]); MAX_CONSISTENCY_HASHES];
    let most = (1 << 53) - 1;
    KnownCheckpoints {
        checkpoints: vec![
            checkpoint(9, None),
            checkpoint(0, Some(Vec::new())),
            checkpoint(most, Some(hashes)),
        ],
    }
}

fn read(value: &Value<'_>) -> (Option<KnownCheckpoints>, Vec<String>) {
    let mut defects = Defects::new();
    let known = KnownCheckpoints::read(value, &mut defects);
    (known, shown(&defects))
}

#[test]
fn what_is_written_reads_back() {
    assert_eq!(read(&full().to_value()), (Some(full()), Vec::new()));
    let empty = KnownCheckpoints::default();
    assert_eq!(read(&empty.to_value()), (Some(empty), Vec::new()));
}

#[test]
fn every_change_of_one_place_is_refused() {
    for change in changes(&full().to_value()) {
        let (known, defects) = read(&change.value);
        if change.what.starts_with("removed") && change.what.ends_with("/consistency") {
            assert!(known.is_some() && defects.is_empty(), "{}: may be absent", change.what);
        } else {
            assert!(known.is_none() && !defects.is_empty(), "{}", change.what);
        }
    }
}

#[test]
fn forms() {
    let mut hashes = full();
    let last = hashes.checkpoints.last_mut().unwrap();
    last.consistency.as_mut().unwrap().push(Digest::from_bytes([2; 32]));
    assert_eq!(read(&hashes.to_value()).1, ["IN.LIMIT_COUNT /checkpoints/2/consistency"]);
    for (pointer, replacement, code) in [
        ("/schema", "\"gad.known-checkpoints/2\"", "J.ENUM"),
        ("/checkpoints/0/origin", "\"\"", "J.ENUM"),
        ("/checkpoints/0/size", "-1", "J.ENUM"),
        ("/checkpoints/0/root", "\"AA==\"", "J.B64_FORM"),
        ("/checkpoints/2/consistency/0", "\"AA==\"", "J.B64_FORM"),
        ("/checkpoints/0/ext", "{}", "J.UNKNOWN_FIELD"),
    ] {
        let (known, defects) = read(&with(&full().to_value(), pointer, replacement));
        assert_eq!((known, defects), (None, vec![format!("{code} {pointer}")]));
    }
}
