//! Vectors of other implementations, every refusal, and what must hold for any bytes.

use proptest::prelude::*;

use super::*;

const FOO_VKEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const FOO_NOTE: &str = "This is an example message.\n\n\u{2014} example.com/foo \
    Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";

const NEUMANN_SKEY: &str =
    "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
const NEUMANN_VKEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const NEUMANN_TEXT: &str = "If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n";
const NEUMANN_NOTE: &str = "If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n\n\u{2014} PeterNeumann \
    x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

fn name(text: &str) -> KeyName {
    KeyName::new(text).unwrap()
}

fn signer(text: &str, seed: u8) -> NoteSigner {
    NoteSigner::from_seed(name(text), [seed; 32])
}

/// The two lines by which Sunlight keeps its readers honest: an unknown name, and an unknown key ID under
/// the log's own name.
fn grease(own_name: &str) -> [NoteSignature; 2] {
    let id = KeyId::from_bytes([0xde, 0xad, 0xbe, 0xef]);
    [
        NoteSignature::new(name("grease.invalid"), id, vec![0x5a; 90]).unwrap(),
        NoteSignature::new(name(own_name), id, vec![0xa5; 64]).unwrap(),
    ]
}

#[test]
fn vector_of_the_specification() {
    let note = SignedNote::parse(FOO_NOTE.as_bytes()).unwrap();
    assert_eq!(note.text(), "This is an example message.\n");
    assert_eq!(note.to_text(), FOO_NOTE);
    let key: VerifierKey = FOO_VKEY.parse().unwrap();
    let verified = note.verify(std::slice::from_ref(&key)).unwrap();
    assert!(verified.is_signed_by(&key));
    assert_eq!(verified.signatures()[0].unix_seconds(), None);
}

#[test]
fn vector_of_the_go_implementation_verifies_and_signs_byte_for_byte() {
    let signer: NoteSigner = NEUMANN_SKEY.parse().unwrap();
    let key: VerifierKey = NEUMANN_VKEY.parse().unwrap();
    assert_eq!(signer.verifier_key(), &key);

    let note = SignedNote::new(NEUMANN_TEXT.to_owned(), vec![signer.sign(NEUMANN_TEXT)]).unwrap();
    assert_eq!(note.to_text(), NEUMANN_NOTE);
    assert_eq!(SignedNote::parse(NEUMANN_NOTE.as_bytes()).unwrap(), note);
    assert_eq!(note.verify(&[key]).unwrap().text(), NEUMANN_TEXT);
}

#[test]
fn malformed_notes_are_refused() {
    let line = "\u{2014} n AAECAwQ=\n";
    let signature_line = |line, reason| NoteError::SignatureLine { line, reason };
    let cases: Vec<(Vec<u8>, NoteError)> = vec![
        (vec![], NoteError::NoFinalNewline),
        (b"\n".to_vec(), NoteError::NoBlankLine),
        (b"\n\n".to_vec(), NoteError::NoSignatures),
        (b"text\n".to_vec(), NoteError::NoBlankLine),
        (b"text\n\n".to_vec(), NoteError::NoSignatures),
        (format!("\n{line}").into_bytes(), NoteError::NoBlankLine),
        (format!("text\n{line}").into_bytes(), NoteError::NoBlankLine),
        (format!("text\n\n{line}\n").into_bytes(), NoteError::NoSignatures),
        (format!("text\n\n{}", line.trim_end()).into_bytes(), NoteError::NoFinalNewline),
        (b"t\xff\n\nx\n".to_vec(), NoteError::NotUtf8),
        (b"t\xed\xa0\x80\n\nx\n".to_vec(), NoteError::NotUtf8), // a surrogate
        (b"a\0\n\nx\n".to_vec(), NoteError::ControlCharacter { offset: 1, byte: 0 }),
        (b"a\n\nx\x1f\n".to_vec(), NoteError::ControlCharacter { offset: 4, byte: 0x1f }),
        (
            format!("text\n\n{line}more text\n").into_bytes(),
            signature_line(2, SignatureLineError::Syntax),
        ),
        (vec![b'a'; MAX_NOTE_BYTES + 1], NoteError::TooLarge { bytes: MAX_NOTE_BYTES + 1 }),
    ];
    for (bytes, error) in cases {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        assert_eq!(SignedNote::parse(&bytes), Err(error), "{shown:?}");
    }
}

#[test]
fn the_last_blank_line_ends_the_text() {
    for text in ["\n", "a\n\n", "a\n\nb\n", "\n\n\n", FOO_NOTE] {
        let signer = signer("n", 1);
        let note = SignedNote::new(text.to_owned(), vec![signer.sign(text)]).unwrap();
        let read = SignedNote::parse(&note.to_bytes()).unwrap();
        assert_eq!(read.text(), text);
        assert_eq!(read, note);
        read.verify(std::slice::from_ref(signer.verifier_key())).unwrap();
    }
}

#[test]
fn limits_hold_at_their_edges() {
    let signer = signer("n", 1);
    let at = |lines: usize| {
        let signatures = vec![signer.sign("text\n"); lines];
        let text = format!("text\n\n{}", format!("{}\n", signatures[0]).repeat(lines));
        (SignedNote::new("text\n".to_owned(), signatures), text)
    };
    let (made, text) = at(MAX_SIGNATURES);
    assert_eq!(SignedNote::parse(text.as_bytes()), made);
    made.unwrap().verify(std::slice::from_ref(signer.verifier_key())).unwrap();
    let (made, text) = at(MAX_SIGNATURES + 1);
    assert_eq!(made, Err(NoteError::TooManySignatures));
    assert_eq!(SignedNote::parse(text.as_bytes()), Err(NoteError::TooManySignatures));
    assert_eq!(made.unwrap_err().code(), "NOTE.SIGNATURE_LINES");

    let overhead = FOO_NOTE.len() - "This is an example message.".len();
    let lines = SignedNote::parse(FOO_NOTE.as_bytes()).unwrap().signatures().to_vec();
    let largest = format!("{}\n", "a".repeat(MAX_NOTE_BYTES - overhead));
    let note = SignedNote::new(largest.clone(), lines.clone()).unwrap();
    assert_eq!(SignedNote::parse(&note.to_bytes()), Ok(note.clone()));
    assert_eq!(note.to_bytes().len(), MAX_NOTE_BYTES);
    let over = NoteError::TooLarge { bytes: MAX_NOTE_BYTES + 1 };
    assert_eq!(SignedNote::new(format!("a{largest}"), lines), Err(over));
}

#[test]
fn a_note_is_made_of_a_whole_text_and_signatures() {
    let line = || vec![signer("n", 1).sign("text\n")];
    let made = |text: &str, lines| SignedNote::new(text.to_owned(), lines).unwrap_err();
    assert_eq!(made("text", line()), NoteError::NoFinalNewline);
    assert_eq!(made("", line()), NoteError::NoFinalNewline);
    assert_eq!(made("a\r\n", line()), NoteError::ControlCharacter { offset: 1, byte: b'\r' });
    assert_eq!(made("text\n", vec![]), NoteError::NoSignatures);
}

#[test]
fn grease_survives_in_any_order() {
    let signer = signer("log.example", 1);
    let signature = signer.sign("text\n");
    let [a, b] = grease("log.example");
    let all = [&signature, &a, &b];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let lines = order.map(|i| all[i].clone()).to_vec();
        let note = SignedNote::new("text\n".to_owned(), lines).unwrap();
        let note = SignedNote::parse(&note.to_bytes()).unwrap();
        let verified = note.verify(std::slice::from_ref(signer.verifier_key())).unwrap();
        assert_eq!(verified.signatures().len(), 1);
        assert_eq!(verified.note(), &note);
    }
}

#[test]
fn half_an_identity_is_none() {
    let known = signer("log.example", 1);
    let id = known.verifier_key().key_id();
    let good = known.sign("text\n").bytes().to_vec();
    let verify = |name_: &str, id| {
        let line = NoteSignature::new(name(name_), id, good.clone()).unwrap();
        let note = SignedNote::new("text\n".to_owned(), vec![line]).unwrap();
        note.verify(std::slice::from_ref(known.verifier_key()))
    };
    let other = KeyId::from_bytes([1, 2, 3, 4]);
    verify("log.example", id).unwrap();
    for (result, near) in [
        (verify("log.example", other), Some(NearMiss::SameName)),
        (verify("else.example", id), Some(NearMiss::SameKeyId)),
        (verify("else.example", other), None),
    ] {
        assert_eq!(result, Err(NoteError::UnknownKeys { near }));
    }
    let note = SignedNote::parse(FOO_NOTE.as_bytes()).unwrap();
    assert_eq!(note.verify(&[]), Err(NoteError::UnknownKeys { near: None }));
}

#[test]
fn one_failing_line_of_a_known_key_refuses_the_note() {
    let (a, b) = (signer("a", 1), signer("b", 2));
    let keys = [a.verifier_key().clone(), b.verifier_key().clone()];
    let bad = |repeated| NoteError::BadSignature {
        name: name("b"),
        key_id: b.verifier_key().key_id(),
        repeated,
        fault: SignatureFault::Mismatch,
    };
    let verify = |lines: &[NoteSignature]| {
        SignedNote::new("text\n".to_owned(), lines.to_vec()).unwrap().verify(&keys)
    };
    let (good_a, good_b, bad_b) = (a.sign("text\n"), b.sign("text\n"), b.sign("other\n"));
    assert_eq!(verify(&[good_a.clone(), good_b.clone()]).unwrap().signatures().len(), 2);
    assert_eq!(verify(&[good_a.clone(), bad_b.clone()]), Err(bad(false)));
    assert_eq!(verify(&[bad_b.clone(), good_a.clone()]), Err(bad(false)));
    // Several lines of a key: all of them must verify, wherever the bad one stands.
    assert_eq!(verify(&[good_b.clone(), bad_b.clone(), good_a.clone()]), Err(bad(true)));
    assert_eq!(verify(&[bad_b, good_b.clone()]), Err(bad(true)));
    assert!(verify(&[good_b.clone(), good_b]).unwrap().is_signed_by(&keys[1]));

    let short = NoteSignature::new(name("a"), keys[0].key_id(), vec![0; 63]).unwrap();
    let Err(NoteError::BadSignature { fault, .. }) = verify(&[short]) else {
        panic!("a signature of 63 bytes was accepted");
    };
    assert_eq!(fault, SignatureFault::Length { expected: 64, actual: 63 });
}

#[test]
fn a_signature_with_s_over_the_group_order_is_refused() {
    // The same signature with S + L instead of S satisfies the equation as well.
    const L: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let signer = signer("a", 1);
    let good = signer.sign("text\n");
    let mut bytes = good.bytes().to_vec();
    let mut carry = 0;
    for (byte, order) in bytes[32..].iter_mut().zip(L) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        *byte = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    let line = NoteSignature::new(name("a"), good.key_id(), bytes).unwrap();
    let note = SignedNote::new("text\n".to_owned(), vec![line]).unwrap();
    assert_eq!(
        note.verify(std::slice::from_ref(signer.verifier_key())).unwrap_err().code(),
        "NOTE.BAD_SIGNATURE"
    );
}

#[test]
fn two_keys_of_one_name_and_id_are_ambiguous() {
    // Found by search in a second, as anybody can: the IDs of these two keys are the same.
    let [a, b] = [21_877_u64, 72_346].map(|number| {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        NoteSigner::from_seed(name("n"), seed)
    });
    assert_eq!(a.verifier_key().key_id(), b.verifier_key().key_id());
    let note = SignedNote::new("text\n".to_owned(), vec![a.sign("text\n")]).unwrap();
    let (a, b) = (a.verifier_key().clone(), b.verifier_key().clone());
    note.verify(&[a.clone(), a.clone()]).unwrap();
    let error = NoteError::AmbiguousKeys { name: name("n"), key_id: a.key_id() };
    assert_eq!(note.verify(&[a, b]), Err(error));
}

#[test]
fn a_new_line_of_a_key_takes_the_place_of_the_old_one() {
    let note = SignedNote::parse(FOO_NOTE.as_bytes()).unwrap();
    let [a, b] = grease("example.com/foo");
    let note = note.with_signature(a.clone()).unwrap().with_signature(b).unwrap();
    let renewed = NoteSignature::new(a.name().clone(), a.key_id(), vec![1, 2, 3]).unwrap();
    let note = note.with_signature(renewed.clone()).unwrap();
    assert_eq!(note.signatures().len(), 3);
    assert_eq!(note.signatures().last(), Some(&renewed));
    note.verify(&[FOO_VKEY.parse().unwrap()]).unwrap();
}

#[test]
fn every_flipped_bit_is_refused_or_in_an_unknown_line() {
    let key: VerifierKey = FOO_VKEY.parse().unwrap();
    let good = SignedNote::parse(FOO_NOTE.as_bytes()).unwrap();
    let mut greased = good.clone();
    for line in grease("example.com/foo") {
        greased = greased.with_signature(line).unwrap();
    }
    let bytes = greased.to_bytes();
    let (mut refused, mut harmless) = (0, 0);
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[position] ^= 1 << bit;
            let verified = SignedNote::parse(&flipped)
                .and_then(|note| note.verify(std::slice::from_ref(&key)));
            match verified {
                Err(_) => refused += 1,
                Ok(verified) => {
                    assert!(position >= FOO_NOTE.len(), "bit {bit} of byte {position}");
                    assert_eq!(verified.text(), good.text());
                    assert_eq!(verified.signatures()[0].signature(), &good.signatures()[0]);
                    harmless += 1;
                }
            }
        }
    }
    // Both kinds occur, or the test would not look at what it says.
    assert!(refused >= FOO_NOTE.len() * 8 && harmless > 0, "{refused} refused, {harmless} not");
}

fn any_signature() -> impl Strategy<Value = NoteSignature> {
    let name = "[!-*,-~é—]{1,40}";
    (name, any::<[u8; 4]>(), prop::collection::vec(any::<u8>(), 1..200)).prop_map(
        |(name, id, bytes)| {
            NoteSignature::new(KeyName::new(&name).unwrap(), KeyId::from_bytes(id), bytes).unwrap()
        },
    )
}

proptest! {
    #[test]
    fn notes_round_trip(
        lines in prop::collection::vec("[^\\x00-\\x1f]{0,30}", 1..6),
        signatures in prop::collection::vec(any_signature(), 1..=MAX_SIGNATURES),
    ) {
        let note = SignedNote::new(format!("{}\n", lines.join("\n")), signatures).unwrap();
        prop_assert_eq!(SignedNote::parse(&note.to_bytes()), Ok(note));
    }

    #[test]
    fn keys_round_trip(seed in any::<[u8; 32]>(), key_name in "[!-*,-~é—]{1,80}") {
        let signer = NoteSigner::from_seed(KeyName::new(&key_name).unwrap(), seed);
        let key: VerifierKey = signer.verifier_key().to_string().parse().unwrap();
        prop_assert_eq!(&key, signer.verifier_key());
        let again: NoteSigner = signer.to_skey().parse().unwrap();
        prop_assert_eq!(again.verifier_key(), &key);
    }

    /// Whatever is accepted is written back as it came; nothing panics.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(note) = SignedNote::parse(&bytes) {
            prop_assert_eq!(note.to_bytes(), bytes);
        }
    }

    /// The same for bytes that are nearly a note, which get further in.
    #[test]
    fn nearly_a_note(cuts in prop::collection::vec((0..FOO_NOTE.len(), any::<u8>()), 1..4)) {
        let mut bytes = FOO_NOTE.as_bytes().to_vec();
        for (position, byte) in cuts {
            bytes[position] = byte;
        }
        if let Ok(note) = SignedNote::parse(&bytes) {
            prop_assert_eq!(note.to_bytes(), bytes);
            let _ = note.verify(&[FOO_VKEY.parse().unwrap()]);
        }
    }

    #[test]
    fn any_text_as_a_key(text in ".{0,120}") {
        if let Ok(key) = text.parse::<VerifierKey>() {
            prop_assert_eq!(key.to_string(), text.clone());
        }
        let _ = text.parse::<NoteSigner>();
        let _ = text.parse::<NoteSignature>();
    }
}
