//! The codec refusal by refusal, verification in its order, and the anchors of the corpus.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::checkpoint::{Checkpoint, Origin};
use crate::merkle::{TreeSize, empty_root, leaf_hash, node_hash};
use crate::note::{KeyName, NoteError, NoteSigner};

fn log() -> NoteSigner {
    NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [1; 32])
}

fn checkpoint(size: u64, root: Digest) -> SignedCheckpoint {
    let origin = Origin::from(log().verifier_key().name());
    let size = TreeSize::new(size).unwrap();
    SignedCheckpoint::sign(&Checkpoint::new(origin, size, root), &log()).unwrap()
}

fn policy(quorum: &str) -> TlogPolicy {
    TlogPolicy::parse(format!("log {}\n{quorum}\n", log().verifier_key()).as_bytes()).unwrap()
}

/// Entry 1 of the tree of "a", "b" and "c".
fn proof() -> TlogProof {
    let [a, b, c] = [b"a", b"b", b"c"].map(|entry| leaf_hash(entry));
    let root = node_hash(&node_hash(&a, &b), &c);
    TlogProof::new(1, vec![a, c], checkpoint(3, root)).unwrap()
}

#[test]
fn the_text_is_the_specified_one() {
    let proof = proof();
    let note = String::from_utf8(proof.checkpoint().to_bytes()).unwrap();
    let [a, c] = [b"a", b"c"].map(|entry| leaf_hash(entry).to_base64());
    assert_eq!(proof.to_text(), format!("c2sp.org/tlog-proof@v1\nindex 1\n{a}\n{c}\n\n{note}"));
    assert_eq!(TlogProof::parse(proof.to_text().as_bytes()), Ok(proof.clone()));
    assert_eq!(proof.extra(), None);

    let with_extra = proof.clone().with_extra(b"\0\xff".to_vec()).unwrap();
    assert!(with_extra.to_text().starts_with("c2sp.org/tlog-proof@v1\nextra AP8=\nindex 1\n"));
    assert_eq!(TlogProof::parse(with_extra.to_text().as_bytes()), Ok(with_extra.clone()));
    assert_eq!(with_extra.extra(), Some(&b"\0\xff"[..]));

    // Data of no bytes is not the same as no data; the reference implementation writes both.
    let empty = proof.clone().with_extra(vec![]).unwrap();
    assert!(empty.to_text().contains("@v1\nextra \nindex 1\n"));
    assert_eq!(TlogProof::parse(empty.to_text().as_bytes()).unwrap().extra(), Some(&[][..]));

    // A tree of one entry has nothing to prove.
    let root = leaf_hash(b"a");
    let single = TlogProof::new(0, vec![], checkpoint(1, root)).unwrap();
    assert!(single.to_text().starts_with("c2sp.org/tlog-proof@v1\nindex 0\n\nlog.example\n1\n"));
    assert_eq!(TlogProof::parse(single.to_text().as_bytes()), Ok(single.clone()));
    single.verify(&root, &policy("quorum none")).unwrap();
}

#[test]
fn malformed_proofs_are_refused() {
    let good = proof().to_text();
    let a = leaf_hash(b"a").to_base64();
    let extra = |line: &str| good.replace("index 1", &format!("{line}\nindex 1"));
    let index = |number: &str| good.replace("index 1", &format!("index {number}"));
    let outside = |index| ProofError::IndexOutOfRange { index, size: 3 }.into();
    for (text, error) in [
        (String::new(), TlogProofError::Truncated),
        ("\n".to_owned(), TlogProofError::Header),
        (good.replace("@v1", "@v2"), TlogProofError::Header),
        (good.replace("@v1", "@v1 "), TlogProofError::Header),
        (good.replace('\n', "\r\n"), TlogProofError::Header),
        (format!("\u{feff}{good}"), TlogProofError::Header),
        ("c2sp.org/tlog-proof@v1\n".to_owned(), TlogProofError::Truncated),
        ("c2sp.org/tlog-proof@v1\nindex 1\n".to_owned(), TlogProofError::Truncated),
        ("c2sp.org/tlog-proof@v1\nindex 1".to_owned(), TlogProofError::Truncated),
        (extra("extra AP9="), TlogProofError::ExtraBase64),
        (extra("extra AP8"), TlogProofError::ExtraBase64),
        (extra("extra  AP8="), TlogProofError::ExtraBase64),
        (extra("extra \u{e9}"), TlogProofError::ExtraBase64),
        (extra("extra"), TlogProofError::IndexForm),
        (extra("Extra AP8="), TlogProofError::IndexForm),
        (extra("extra AP8=\nextra AP8="), TlogProofError::IndexForm),
        (good.replace("index 1\n", ""), TlogProofError::IndexForm),
        (index("notanumber"), TlogProofError::IndexForm),
        (index("-5"), TlogProofError::IndexForm),
        (index("+1"), TlogProofError::IndexForm),
        (index("01"), TlogProofError::IndexForm),
        (index(""), TlogProofError::IndexForm),
        (index(" 1"), TlogProofError::IndexForm),
        (index("1 "), TlogProofError::IndexForm),
        (index("9223372036854775808"), TlogProofError::IndexRange),
        (index("99999999999999999999"), TlogProofError::IndexRange),
        (index("3"), outside(3)),
        (index("9223372036854775807"), outside(9_223_372_036_854_775_807)),
        (good.replace(&a, &encoding::base64_encode(&[0; 64])), TlogProofError::Hash { number: 1 }),
        (good.replace(&a, &encoding::base64_encode(&[0; 31])), TlogProofError::Hash { number: 1 }),
        (good.replace(&a, &format!("{a}\n {a}")), TlogProofError::Hash { number: 2 }),
        // What follows the first blank line is the note.
        (good.replace(&a, ""), CheckpointError::SizeForm.into()),
    ] {
        assert_eq!(TlogProof::parse(text.as_bytes()), Err(error), "{text}");
    }
    let unsigned = "c2sp.org/tlog-proof@v1\nindex 0\n\ncheckpoint\n";
    let error = TlogProof::parse(unsigned.as_bytes()).unwrap_err();
    assert_eq!(error, CheckpointError::Note(NoteError::NoBlankLine).into());
    assert_eq!(error.code(), "NOTE.SYNTAX");
}

#[test]
fn limits_hold_at_their_edges() {
    let hashes = |count| vec![leaf_hash(b""); count];
    let tree = || checkpoint(u64::MAX >> 1, leaf_hash(b""));
    let longest = TlogProof::new(5, hashes(63), tree()).unwrap();
    assert_eq!(TlogProof::parse(longest.to_text().as_bytes()), Ok(longest.clone()));
    assert_eq!(TlogProof::new(5, hashes(64), tree()), Err(TlogProofError::TooManyHashes));
    let line = format!("{}\n", leaf_hash(b"").to_base64());
    let one_more = longest.to_text().replacen(&line, &line.repeat(2), 1);
    assert_eq!(TlogProof::parse(one_more.as_bytes()), Err(TlogProofError::TooManyHashes));

    let full = longest.clone().with_extra(vec![7; MAX_EXTRA_BYTES]).unwrap();
    assert_eq!(TlogProof::parse(full.to_text().as_bytes()), Ok(full.clone()));
    // The reference implementation reads lines of less than 64 KiB.
    assert!(full.to_text().lines().all(|line| line.len() < 64 << 10));
    assert!(full.to_text().lines().any(|line| line.len() + 4 >= 64 << 10));
    let over = longest.with_extra(vec![7; MAX_EXTRA_BYTES + 1]);
    assert_eq!(over, Err(TlogProofError::ExtraTooLarge));
    let bigger = full.to_text().replace("extra ", "extra BwcH");
    assert_eq!(TlogProof::parse(bigger.as_bytes()), Err(TlogProofError::ExtraTooLarge));

    let huge = vec![b'a'; MAX_TLOG_PROOF_BYTES + 1];
    let too_large = TlogProofError::TooLarge { bytes: huge.len() };
    assert_eq!(TlogProof::parse(&huge), Err(too_large));
    // The whole is limited where it is put together, too: a checkpoint may be larger than a proof.
    let text = format!("log.example\n0\n{}\n{}\n", empty_root().to_base64(), "x".repeat(130_000));
    let text = text.replacen("\n0\n", "\n9\n", 1);
    let note = crate::note::SignedNote::new(text.clone(), vec![log().sign(&text)]).unwrap();
    let large = SignedCheckpoint::from_note(note).unwrap();
    TlogProof::new(0, vec![], large.clone()).unwrap();
    let error = TlogProof::new(0, hashes(40), large).unwrap_err();
    assert_eq!(error.code(), "TLOGPROOF.TOO_LARGE");

    let empty = checkpoint(0, empty_root());
    let outside = ProofError::IndexOutOfRange { index: 0, size: 0 };
    assert_eq!(TlogProof::new(0, vec![], empty), Err(outside.into()));
}

#[test]
fn verification_wants_signature_quorum_and_inclusion() {
    let proof = proof();
    let b = leaf_hash(b"b");
    let none = policy("quorum none");
    assert_eq!(proof.verify(&b, &none).unwrap().checkpoint().signed(), proof.checkpoint());
    proof.verify_inclusion(&b).unwrap();

    let refused = |proof: &TlogProof, leaf: &Digest, policy: &TlogPolicy| {
        proof.verify(leaf, policy).unwrap_err()
    };
    assert_eq!(refused(&proof, &leaf_hash(b"a"), &none), ProofError::Root.into());
    let other_index = proof.to_text().replace("index 1", "index 0");
    let other_index = TlogProof::parse(other_index.as_bytes()).unwrap();
    assert_eq!(refused(&other_index, &b, &none), ProofError::Root.into());
    let c = proof.hashes()[1].to_base64();
    let shorter = proof.to_text().replace(&format!("{c}\n"), "");
    let shorter = TlogProof::parse(shorter.as_bytes()).unwrap();
    assert_eq!(refused(&shorter, &b, &none).code(), "PROOF.LENGTH");

    // Signatures come first: a wrong leaf of a wrong log is a wrong log.
    let stranger = TlogPolicy::parse(b"quorum none\n").unwrap();
    assert_eq!(refused(&proof, &leaf_hash(b"a"), &stranger).code(), "LOG.UNKNOWN");
    let witness =
        "witness w witness1.example+7b0bebb9+BBFDovhb1X3AQmjKku6E/zMteS09Shjwi3adxaj0L2wi";
    let demanding = policy(&format!("{witness}\nquorum w"));
    assert_eq!(refused(&proof, &b, &demanding).code(), "LOG.QUORUM");
}

proptest! {
    #[test]
    fn proofs_round_trip(
        size in 1..=u64::MAX >> 1,
        at in any::<u64>(),
        hashes in prop::collection::vec(any::<[u8; 32]>(), 0..=63),
        extra in prop::option::of(prop::collection::vec(any::<u8>(), 0..100)),
    ) {
        let hashes = hashes.into_iter().map(Digest::from_bytes).collect();
        let mut proof = TlogProof::new(at % size, hashes, checkpoint(size, leaf_hash(b""))).unwrap();
        if let Some(extra) = extra {
            proof = proof.with_extra(extra).unwrap();
        }
        prop_assert_eq!(TlogProof::parse(proof.to_text().as_bytes()), Ok(proof));
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = TlogProof::parse(&bytes);
        let _ = TlogProof::parse(&[HEADER, b"\nindex 0\n\n", &bytes].concat());
    }

    /// Whatever is accepted of what is nearly a proof is written back as it came.
    #[test]
    fn nearly_a_proof(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = proof().to_text().into_bytes();
        for (position, byte) in edits {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        if let Ok(proof) = TlogProof::parse(&bytes) {
            prop_assert_eq!(proof.to_text().into_bytes(), bytes);
            let _ = proof.verify(&leaf_hash(b"b"), &policy("quorum none"));
        }
    }
}

/// Every log anchor of the conformance corpus, under the corpus' own policy.
#[test]
fn corpus_anchors() {
    let Some(gad) = corpus().map(|corpus| corpus.join("gad")) else { return };
    let policy = std::fs::read(gad.join("_shared/trust/log-policy.txt")).unwrap();
    let policy = TlogPolicy::parse(&policy).unwrap();
    assert_eq!((policy.logs().len(), policy.witnesses().len()), (1, 3));

    // What is wrong with the vectors that are wrong in what this module looks at.
    let wrong = BTreeMap::from([
        ("X178a", "LOG.SIG"),
        ("X178b", "LOG.SIG"),
        ("X178c", "LOG.SIG"),
        ("X178d", "LOG.UNKNOWN"),
        ("X331b", "PROOF.ROOT"),
        ("X331c", "LOG.QUORUM"),
        ("X331d", "LOG.QUORUM"),
        ("X331f", "CKPT.ROOT_LENGTH"),
        ("X331g", "TLOGPROOF.HEADER"),
    ]);
    let (mut verified, mut refused) = (0, 0);
    for (name, anchor) in log_anchors(&gad) {
        let text = anchor["proof"].as_str().unwrap();
        // The members of a statement are strings and stand in canonical order.
        let leaf = leaf_hash(serde_json::to_string(&anchor["statement"]).unwrap().as_bytes());
        let result = TlogProof::parse(text.as_bytes()).and_then(|proof| {
            assert_eq!(proof.to_text(), text, "{name}");
            proof.verify(&leaf, &policy)
        });
        match (result, wrong.get(name.as_str())) {
            (Ok(result), None) => {
                // The second of two witnesses, of which the policy wants two.
                assert_eq!(result.verdict().witnesses().len(), 2, "{name}");
                assert_eq!(result.verdict().quorum_time(), Some(1_784_542_261), "{name}");
                verified += 1;
            }
            (Err(error), Some(&code)) => {
                assert_eq!(error.code(), code, "{name}: {error}");
                refused += 1;
            }
            (Ok(_), Some(code)) => panic!("{name} verifies, but is refused with {code}"),
            (Err(error), None) => panic!("{name} is refused: {error}"),
        }
    }
    assert_eq!(refused, wrong.len());
    assert!(verified >= 9, "{verified} anchors verified");
}

/// Where the corpus is; none, which skips the test, unless it is said to be required.
fn corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("ANCHORLOG_CORPUS").map(PathBuf::from);
    let required = std::env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    match corpus {
        Some(corpus) if corpus.is_dir() => Some(corpus),
        Some(corpus) => panic!("ANCHORLOG_CORPUS is {}, which is no directory", corpus.display()),
        None if required => panic!("the corpus is required, but ANCHORLOG_CORPUS is not set"),
        None => {
            println!("skipped: ANCHORLOG_CORPUS is not set");
            None
        }
    }
}

/// The anchor files of all vectors that are log anchors, by the vector's name.
fn log_anchors(gad: &Path) -> Vec<(String, serde_json::Value)> {
    let mut anchors = Vec::new();
    for vector in std::fs::read_dir(gad).unwrap().map(Result::unwrap) {
        let Ok(files) = std::fs::read_dir(vector.path().join("bundle/anchors")) else { continue };
        for file in files.map(|file| file.unwrap().path()) {
            if file.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let Ok(anchor) = serde_json::from_slice(&std::fs::read(file).unwrap()) else {
                continue;
            };
            let anchor: serde_json::Value = anchor;
            if anchor["type"] == "tlog" {
                anchors.push((vector.file_name().into_string().unwrap(), anchor));
            }
        }
    }
    anchors
}
