//! The codec refusal by refusal, limits at their edges, and what holds for any bytes.

use proptest::prelude::*;

use super::*;
use crate::checkpoint::Checkpoint;
use crate::cosignature::CosignerKey;
use crate::merkle::{MAX_TREE_SIZE, empty_root};
use crate::note::{KeyName, NoteError, NoteSigner, SignatureLineError};

fn log() -> NoteSigner {
    NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [1; 32])
}

fn checkpoint(size: u64) -> SignedCheckpoint {
    let origin = Origin::from(log().verifier_key().name());
    let root = if size == 0 { empty_root() } else { Digest::of(b"root") };
    let size = TreeSize::new(size).unwrap();
    SignedCheckpoint::sign(&Checkpoint::new(origin, size, root), &log()).unwrap()
}

fn note(size: u64) -> String {
    checkpoint(size).note().to_text()
}

fn request(old: u64, hashes: usize, size: u64) -> AddCheckpoint {
    let hash = |number: usize| Digest::of(&number.to_be_bytes());
    let proof = (0..hashes).map(hash).collect();
    AddCheckpoint { old: TreeSize::new(old).unwrap(), proof, checkpoint: checkpoint(size) }
}

fn parse(text: &str) -> Result<AddCheckpoint, TlogWitnessError> {
    AddCheckpoint::parse(text.as_bytes())
}

#[test]
fn the_text_is_the_specified_one() {
    let request = request(3, 2, 5);
    let [a, b] = [0_usize, 1].map(|number| Digest::of(&number.to_be_bytes()).to_base64());
    let text = format!("old 3\n{a}\n{b}\n\n{}", note(5));
    assert_eq!(request.to_bytes(), text.as_bytes());
    assert_eq!(parse(&text), Ok(request));

    let first = format!("old 0\n\n{}", note(0));
    assert_eq!(parse(&first).unwrap().to_bytes(), first.as_bytes());
    let refresh = format!("old 5\n\n{}", note(5));
    assert_eq!(parse(&refresh).unwrap().to_bytes(), refresh.as_bytes());
}

#[test]
fn malformed_requests_are_refused() {
    let note = note(5);
    let hash = Digest::of(b"a").to_base64();
    let old_over = |old, size| TlogWitnessError::OldOverSize {
        old: TreeSize::new(old).unwrap(),
        size: TreeSize::new(size).unwrap(),
    };
    for (text, error) in [
        (String::new(), TlogWitnessError::Truncated),
        ("old 0".to_owned(), TlogWitnessError::Truncated),
        ("old 0\n".to_owned(), TlogWitnessError::Truncated),
        (format!("old 0\n{hash}\n"), TlogWitnessError::Truncated),
        (format!("\n{note}"), TlogWitnessError::OldForm),
        (format!("old\n\n{note}"), TlogWitnessError::OldForm),
        (format!("old  0\n\n{note}"), TlogWitnessError::OldForm),
        (format!("old 0 \n\n{note}"), TlogWitnessError::OldForm),
        (format!("old 0\r\n\n{note}"), TlogWitnessError::OldForm),
        (format!("Old 0\n\n{note}"), TlogWitnessError::OldForm),
        (format!("old 00\n\n{note}"), TlogWitnessError::OldForm),
        (format!("old +1\n\n{note}"), TlogWitnessError::OldForm),
        (format!("old -1\n\n{note}"), TlogWitnessError::OldForm),
        (format!("old 9223372036854775808\n\n{note}"), TlogWitnessError::SizeRange),
        (format!("old 18446744073709551616\n\n{note}"), TlogWitnessError::SizeRange),
        (format!("old 6\n\n{note}"), old_over(6, 5)),
        (format!("old 3\n{hash}\nx\n\n{note}"), TlogWitnessError::Hash { number: 2 }),
        (format!("old 3\n{hash} \n\n{note}"), TlogWitnessError::Hash { number: 1 }),
        (format!("old 3\nAAAA\n\n{note}"), TlogWitnessError::Hash { number: 1 }),
        (format!("old 0\n\n\n{note}"), CheckpointError::Origin.into()),
        (format!("old 0\n\n{note}\n"), CheckpointError::Note(NoteError::NoSignatures).into()),
        ("old 0\n\n".to_owned(), CheckpointError::Note(NoteError::NoFinalNewline).into()),
    ] {
        assert_eq!(parse(&text), Err(error), "{text:?}");
    }
    let mut bytes = format!("old 0\n\n{note}").into_bytes();
    bytes[4] = 0xff;
    assert_eq!(AddCheckpoint::parse(&bytes), Err(TlogWitnessError::OldForm));
}

#[test]
fn limits_hold_at_their_edges() {
    let most = request(3, MAX_PROOF_LINES, 5);
    assert_eq!(AddCheckpoint::parse(&most.to_bytes()), Ok(most));
    let over = request(3, MAX_PROOF_LINES + 1, 5);
    assert_eq!(AddCheckpoint::parse(&over.to_bytes()), Err(TlogWitnessError::TooManyHashes));

    let largest = request(MAX_TREE_SIZE, 0, MAX_TREE_SIZE);
    assert_eq!(AddCheckpoint::parse(&largest.to_bytes()), Ok(largest));

    // A note of exactly the length that is left, made by an extension line.
    let with_line = |length: usize| {
        let text = format!("{}{}\n", checkpoint(5).note().text(), "x".repeat(length));
        let line = log().sign(&text);
        SignedCheckpoint::from_note(SignedNote::new(text, vec![line]).unwrap()).unwrap()
    };
    let bare = AddCheckpoint { checkpoint: with_line(1), ..request(3, 2, 5) }.to_bytes().len();
    let fill = |bytes: usize| {
        AddCheckpoint { checkpoint: with_line(bytes - bare + 1), ..request(3, 2, 5) }.to_bytes()
    };
    let largest = fill(MAX_REQUEST_BYTES);
    assert_eq!(largest.len(), MAX_REQUEST_BYTES);
    assert_eq!(AddCheckpoint::parse(&largest).unwrap().to_bytes(), largest);
    let bytes = MAX_REQUEST_BYTES + 1;
    let over = AddCheckpoint::parse(&fill(bytes));
    assert_eq!(over, Err(TlogWitnessError::TooLarge { bytes }));
}

#[test]
fn an_empty_tree_with_another_root_is_handed_on() {
    let root = Digest::of(b"x");
    let text = format!("log.example\n0\n{}\n", root.to_base64());
    let note = SignedNote::new(text.clone(), vec![log().sign(&text)]).unwrap();
    let body = |old: u64| format!("old {old}\n\n{}", note.to_text());
    let origin = Origin::new("log.example").unwrap();
    let error = TlogWitnessError::EmptyTreeRoot(Box::new(EmptyTreeRoot {
        note: note.clone(),
        origin,
        root,
    }));
    assert_eq!(error.code(), "CKPT.EMPTY_ROOT");
    assert_eq!(parse(&body(0)), Err(error));
    let (old, size) = (TreeSize::new(1).unwrap(), TreeSize::ZERO);
    assert_eq!(parse(&body(1)), Err(TlogWitnessError::OldOverSize { old, size }));
}

#[test]
fn sizes_have_one_spelling() {
    for size in [0, 1, 10, 20_852_163, MAX_TREE_SIZE] {
        let size = TreeSize::new(size).unwrap();
        assert_eq!(write_size(size), format!("{size}\n"));
        assert_eq!(parse_size(write_size(size).as_bytes()), Ok(size));
    }
    for text in ["", "\n", "1", "1\n\n", "01\n", "+1\n", "-1\n", " 1\n", "1 \n", "1\r\n", "x\n"] {
        assert_eq!(parse_size(text.as_bytes()), Err(TlogWitnessError::SizeForm), "{text:?}");
    }
    assert_eq!(parse_size(b"\xff\n"), Err(TlogWitnessError::SizeForm));
    assert_eq!(parse_size(b"9223372036854775808\n"), Err(TlogWitnessError::SizeRange));
    assert_eq!(parse_size(b"18446744073709551616\n"), Err(TlogWitnessError::SizeForm));
}

#[test]
fn cosignatures_are_whole_lines_in_bounds() {
    let witness = CosignerKey::from_seed(KeyName::new("w.example").unwrap(), [2; 32]);
    let line = witness.cosign(checkpoint(5).note().text(), 7).unwrap();
    let text = format!("{line}\n");
    assert_eq!(write_cosignatures(std::slice::from_ref(&line)), text);
    let read = |text: &str| parse_cosignatures(text.as_bytes());
    assert_eq!(read(&text), Ok(vec![line.clone()]));
    let most = vec![line.clone(); MAX_COSIGNATURES];
    assert_eq!(read(&write_cosignatures(&most)), Ok(most));

    let malformed =
        |line, reason| Err::<Vec<NoteSignature>, _>(TlogWitnessError::Cosignature { line, reason });
    assert_eq!(read(""), Err(TlogWitnessError::NoCosignatures));
    assert_eq!(read(text.trim_end()), Err(TlogWitnessError::Truncated));
    assert_eq!(read("\n"), malformed(1, SignatureLineError::Syntax));
    assert_eq!(read(&format!("{text}\n")), malformed(2, SignatureLineError::Syntax));
    assert_eq!(read(&format!("{text}- w AAECAwQ=\n")), malformed(2, SignatureLineError::Syntax));
    assert_eq!(read(&format!("{line}\r\n")), malformed(1, SignatureLineError::Base64));
    assert_eq!(parse_cosignatures(b"\xff\n"), Err(TlogWitnessError::NotUtf8));
    assert_eq!(
        read(&text.repeat(MAX_COSIGNATURES + 1)),
        Err(TlogWitnessError::TooManyCosignatures)
    );
    let bytes = MAX_RESPONSE_BYTES + 1;
    assert_eq!(parse_cosignatures(&vec![b'\n'; bytes]), Err(TlogWitnessError::TooLarge { bytes }));
}

#[test]
fn every_refusal_has_a_code_of_its_own_or_that_of_its_part() {
    let codes = [
        TlogWitnessError::TooLarge { bytes: 1 },
        TlogWitnessError::Truncated,
        TlogWitnessError::OldForm,
        TlogWitnessError::SizeForm,
        TlogWitnessError::SizeRange,
        TlogWitnessError::Hash { number: 1 },
        TlogWitnessError::TooManyHashes,
        TlogWitnessError::OldOverSize { old: TreeSize::MAX, size: TreeSize::ZERO },
        TlogWitnessError::NotUtf8,
        TlogWitnessError::NoCosignatures,
        TlogWitnessError::TooManyCosignatures,
        CheckpointError::Lines.into(),
    ]
    .map(|error| error.code());
    let distinct: std::collections::BTreeSet<_> = codes.iter().collect();
    assert_eq!(distinct.len(), codes.len());
    assert!(codes[..11].iter().all(|code| code.starts_with("TLOGWITNESS.")));
    assert_eq!(codes[11], "CKPT.LINES");
}

proptest! {
    #[test]
    fn requests_round_trip(
        size in 0..=MAX_TREE_SIZE,
        part in 0.0..=1.0_f64,
        hashes in 0..=MAX_PROOF_LINES,
    ) {
        #[allow(clippy::as_conversions, clippy::cast_possible_truncation, clippy::cast_sign_loss,
            clippy::cast_precision_loss, reason = "any size up to the other one")]
        let old = ((size as f64 * part) as u64).min(size);
        let request = request(old, hashes, size);
        prop_assert_eq!(AddCheckpoint::parse(&request.to_bytes()), Ok(request));
    }

    /// Whatever is accepted is written back as it came; nothing panics.
    #[test]
    fn nearly_a_request(cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = request(3, 2, 5).to_bytes();
        for (position, byte) in cuts {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        if let Ok(request) = AddCheckpoint::parse(&bytes) {
            prop_assert_eq!(request.to_bytes(), bytes);
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(request) = AddCheckpoint::parse(&bytes) {
            prop_assert_eq!(request.to_bytes(), bytes.clone());
        }
        if let Ok(size) = parse_size(&bytes) {
            prop_assert_eq!(write_size(size).into_bytes(), bytes.clone());
        }
        if let Ok(lines) = parse_cosignatures(&bytes) {
            prop_assert_eq!(write_cosignatures(&lines).into_bytes(), bytes);
        }
    }
}
