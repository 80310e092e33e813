//! Against a cosignature by another implementation, and refusal by refusal.

use super::*;
use crate::checkpoint::SignedCheckpoint;
use crate::cosignature::verify;
use crate::note::{NoteSigner, SignedNote};
use crate::tlog_policy::{PolicyError, PolicyLineError, TlogPolicy};

const CHECKPOINT: &str = "log.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";

/// A private key, its public key and a note cosigned with it, written by the Go packages
/// `transparency-dev/formats` and `filippo.io/mldsa` for the seed of 32 sevens.
const VECTOR: &str = include_str!("vector.txt");

fn vector() -> (&'static str, &'static str, &'static str) {
    let mut parts = VECTOR.splitn(3, '\n');
    (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap())
}

fn witness() -> MlDsaCosigner {
    MlDsaCosigner::from_seed(KeyName::new("witness.example").unwrap(), &[7; 32])
}

#[test]
fn another_implementation_makes_the_same_key_and_a_cosignature_that_verifies() {
    let (skey, vkey, note) = vector();
    let key: VerifierKey = vkey.parse().unwrap();
    assert_eq!(key.to_string(), vkey);
    assert_eq!(key.algorithm(), SignatureAlgorithm::MlDsa44);
    assert_eq!(key.public_key().as_bytes().len(), ML_DSA_44_KEY_BYTES);
    assert_eq!(&key, witness().verifier_key());
    assert_eq!(skey.parse::<MlDsaCosigner>().unwrap().verifier_key(), &key);
    assert_eq!(witness().to_skey().as_str(), skey);

    let note = SignedNote::parse(note.as_bytes()).unwrap();
    assert_eq!(note.text(), CHECKPOINT);
    let verified = note.verify(std::slice::from_ref(&key)).unwrap();
    let time = verified.signatures()[0].unix_seconds().unwrap();
    assert_eq!(verify(&key, CHECKPOINT, &note.signatures()[0]), Ok(time));
    assert_eq!(note.signatures()[0].bytes()[..8], time.to_be_bytes());
}

#[test]
fn what_is_cosigned_verifies_and_nothing_else_does() {
    let witness = witness();
    let key = witness.verifier_key();
    let line = witness.cosign(CHECKPOINT, 5).unwrap();
    assert_eq!(line.bytes().len(), BLOB_BYTES);
    assert_eq!(verify(key, CHECKPOINT, &line), Ok(5));
    // Deterministic: the same again.
    assert_eq!(witness.cosign(CHECKPOINT, 5).unwrap(), line);

    let mismatch = Err(CosignatureError::Signature(SignatureFault::Mismatch));
    assert_eq!(verify(key, &CHECKPOINT.replace("log", "lag"), &line), mismatch);
    let root = CHECKPOINT.replace("\n0\n", "\n1\n");
    assert_eq!(verify(key, &root, &line), mismatch);
    // The name is part of what is signed, unlike with type 0x04.
    let other = MlDsaCosigner::from_seed(KeyName::new("else.example").unwrap(), &[7; 32]);
    let other = other.verifier_key();
    let renamed =
        NoteSignature::new(other.name().clone(), other.key_id(), line.bytes().to_vec()).unwrap();
    assert_eq!(verify(other, CHECKPOINT, &renamed), mismatch);
    // Every part of the line matters; a bit in each of some bytes.
    for at in (0..BLOB_BYTES).step_by(97) {
        let mut bytes = line.bytes().to_vec();
        bytes[at] ^= 1;
        let line = NoteSignature::new(key.name().clone(), key.key_id(), bytes).unwrap();
        assert!(verify(key, CHECKPOINT, &line).is_err(), "byte {at}");
    }
    for length in [1, 8, 72, BLOB_BYTES - 1, BLOB_BYTES + 1] {
        let line = NoteSignature::new(key.name().clone(), key.key_id(), vec![0; length]).unwrap();
        let fault = SignatureFault::Length { expected: BLOB_BYTES, actual: length };
        assert_eq!(verify(key, CHECKPOINT, &line), Err(fault.into()));
    }
}

#[test]
fn extension_lines_are_not_covered_and_therefore_refused() {
    let witness = witness();
    let extended = format!("{CHECKPOINT}more\n");
    assert_eq!(witness.cosign(&extended, 5), Err(CosignatureError::Extensions));
    let line = witness.cosign(CHECKPOINT, 5).unwrap();
    let fault = CosignatureError::Signature(SignatureFault::Mismatch);
    assert_eq!(verify(witness.verifier_key(), &extended, &line), Err(fault));
    assert!(matches!(witness.cosign("text\n", 5), Err(CosignatureError::Checkpoint(_))));
}

#[test]
fn times_are_from_one_to_two_to_the_sixty_three() {
    let witness = witness();
    let key = witness.verifier_key();
    for time in [1, MAX_UNIX_SECONDS] {
        let line = witness.cosign(CHECKPOINT, time).unwrap();
        assert_eq!(verify(key, CHECKPOINT, &line), Ok(time));
    }
    for unix_seconds in [0, 1 << 63, u64::MAX] {
        let refused = CosignatureError::Signature(SignatureFault::Timestamp { unix_seconds });
        assert_eq!(witness.cosign(CHECKPOINT, unix_seconds), Err(refused.clone()));
        // Right in all but the time.
        let checkpoint = Checkpoint::parse(CHECKPOINT).unwrap();
        let message = message(key.name(), unix_seconds, &checkpoint);
        let signature = witness.key.try_sign(&message).unwrap();
        let blob = [&unix_seconds.to_be_bytes()[..], signature.to_bytes().as_slice()].concat();
        let line = NoteSignature::new(key.name().clone(), key.key_id(), blob).unwrap();
        assert_eq!(verify(key, CHECKPOINT, &line), Err(refused));
    }
}

#[test]
fn the_message_is_the_specified_one() {
    let checkpoint = Checkpoint::parse(CHECKPOINT).unwrap();
    let name = KeyName::new("w").unwrap();
    let expected = [
        b"subtree/v1\n\0\x01w".as_slice(),
        &[0, 0, 0, 0, 0x64, 0x18, 0x50, 0xcb],
        b"\x0blog.example",
        &[0; 8],
        &[0; 8],
        checkpoint.root.as_bytes(),
    ]
    .concat();
    assert_eq!(message(&name, 1_679_315_147, &checkpoint), expected);
}

#[test]
fn private_keys_of_other_types_are_refused() {
    let ed25519 = NoteSigner::from_seed(KeyName::new("witness.example").unwrap(), [7; 32]);
    let refused = ed25519.to_skey().parse::<MlDsaCosigner>().unwrap_err();
    assert_eq!(refused, KeyError::Algorithm { type_byte: 1 });
    let refused = witness().to_skey().parse::<NoteSigner>().unwrap_err();
    assert_eq!(refused, KeyError::Algorithm { type_byte: 6 });
    let (skey, ..) = vector();
    let renamed = skey.replace("witness.example", "else.example").parse::<MlDsaCosigner>();
    assert!(matches!(renamed, Err(KeyError::KeyIdMismatch { .. })));
    assert!(!format!("{:?}", witness()).contains("BwcHBwc"));
}

#[test]
fn a_policy_counts_witnesses_of_this_type_and_logs_of_none() {
    let log = NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [1; 32]);
    let vkey = witness().verifier_key().to_string();
    let text = format!("log {}\nwitness w {vkey}\nquorum w\n", log.verifier_key());
    let policy = TlogPolicy::parse(text.as_bytes()).unwrap();
    let signed = SignedCheckpoint::sign(&Checkpoint::parse(CHECKPOINT).unwrap(), &log).unwrap();
    assert!(matches!(policy.verify(&signed), Err(PolicyError::QuorumNotMet { cosigned: 0 })));
    let cosigned = signed.with_signature(witness().cosign(CHECKPOINT, 9).unwrap()).unwrap();
    assert_eq!(policy.verify(&cosigned).unwrap().verdict().quorum_time(), Some(9));
    // Twice the same key is one witness.
    let twice = text.replace("quorum", &format!("witness v {vkey}\nquorum"));
    let error = TlogPolicy::parse(twice.as_bytes()).unwrap_err();
    assert!(matches!(error, PolicyError::Line { reason: PolicyLineError::DuplicateWitness, .. }));
    // A log signs with type 0x01.
    let error = TlogPolicy::parse(format!("log {vkey}\nquorum none\n").as_bytes()).unwrap_err();
    assert!(matches!(error, PolicyError::Line { reason: PolicyLineError::KeyAlgorithm, .. }));
}
