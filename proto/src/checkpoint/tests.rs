//! Refusals one by one, the gotchas of other implementations, and what must hold for any bytes.

use proptest::prelude::*;

use super::*;
use crate::cosignature::CosignerKey;
use crate::note::{KeyId, NearMiss, SignatureFault, SignatureLineError};

const EMPTY_ROOT: &str = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
const ROOT: &str = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";

fn log() -> NoteSigner {
    NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [1; 32])
}

fn log_key() -> VerifierKey {
    log().verifier_key().clone()
}

fn witness() -> CosignerKey {
    CosignerKey::from_seed(KeyName::new("witness.example").unwrap(), [2; 32])
}

fn checkpoint() -> Checkpoint {
    Checkpoint::parse(&text("7", ROOT)).unwrap()
}

fn text(size: &str, root: &str) -> String {
    format!("log.example\n{size}\n{root}\n")
}

/// The bytes of a note with any text, signed by the log: what only the checkpoint's own rules can refuse.
fn signed_text(text: &str) -> Vec<u8> {
    format!("{text}\n{}\n", log().sign(text)).into_bytes()
}

fn refused(bytes: &[u8]) -> CheckpointError {
    SignedCheckpoint::parse(bytes).and_then(|signed| signed.verify(&log_key())).unwrap_err()
}

#[test]
fn example_of_the_specification() {
    let text = format!("example.com/behind-the-sofa\n20852163\n{ROOT}\n");
    let checkpoint = Checkpoint::parse(&text).unwrap();
    assert_eq!(checkpoint.origin.as_str(), "example.com/behind-the-sofa");
    assert_eq!(checkpoint.size.get(), 20_852_163);
    assert_eq!(checkpoint.root.to_base64(), ROOT);
    assert!(checkpoint.extensions.is_empty());
    assert_eq!(checkpoint.to_text(), text);
}

/// C2SP formats, section 11 of our summary: what implementations of the field disagree about. Each is
/// refused, and each refusal says what it is about.
#[test]
#[allow(clippy::too_many_lines, reason = "one table")]
fn section_11_cross_implementation_gotchas() {
    let good = text("7", ROOT);
    let signed = SignedCheckpoint::sign(&checkpoint(), &log()).unwrap();
    let note = String::from_utf8(signed.to_bytes()).unwrap();
    let line = log().sign(&good);
    let key_id = log_key().key_id();
    let with_line = |line: &str| format!("{good}\n{line}\n").into_bytes();
    let relabelled = |name: &str, id| {
        let name = KeyName::new(name).unwrap();
        with_line(&NoteSignature::new(name, id, line.bytes().to_vec()).unwrap().to_string())
    };
    let signature_line =
        |line, reason| CheckpointError::Note(NoteError::SignatureLine { line, reason });
    let control =
        |offset, byte| CheckpointError::Note(NoteError::ControlCharacter { offset, byte });
    let unknown = |near| CheckpointError::Note(NoteError::UnknownKeys { near: Some(near) });
    let bad = |name: &str, key_id, repeated, fault| {
        let name = KeyName::new(name).unwrap();
        CheckpointError::Note(NoteError::BadSignature { name, key_id, repeated, fault })
    };

    let line_text = line.to_string();
    let (head, tail) = line_text.split_at(line_text.len() - 4);
    // "xQA=" and "xQB=" decode alike where unused bits are not looked at.
    let last = line_text.len() - 2;
    let loose = char::from(line_text.as_bytes()[last] + 1);
    let trailing_bits = format!("{}{loose}=", &line_text[..last]);
    let empty = |root: &str| signed_text(&text("0", root));
    let zeros = Digest::from_bytes([0; 32]);
    let bytes_of = |length: usize| encoding::base64_encode(&vec![9; length]);

    let witness_key = witness().verifier_key().clone();
    let mut future = witness().cosign(&good, 0).unwrap().bytes().to_vec();
    future[0] = 0x80;
    let future =
        NoteSignature::new(witness_key.name().clone(), witness_key.key_id(), future).unwrap();
    let future = format!("{note}{future}\n");
    let future =
        SignedNote::parse(future.as_bytes()).unwrap().verify(std::slice::from_ref(&witness_key));
    assert_eq!(
        CheckpointError::from(future.unwrap_err()),
        bad(
            "witness.example",
            witness_key.key_id(),
            false,
            SignatureFault::Timestamp { unix_seconds: 1 << 63 }
        ),
        "13. cosignature timestamp 2^63"
    );

    let table: Vec<(&str, Vec<u8>, CheckpointError)> = vec![
        ("1. size +1", signed_text(&text("+1", ROOT)), CheckpointError::SizeForm),
        (
            "1. size over 2^63-1",
            signed_text(&text("9223372036854775808", ROOT)),
            CheckpointError::SizeRange,
        ),
        ("2. CRLF", note.replace('\n', "\r\n").into_bytes(), control(11, b'\r')),
        ("3. no trailing newline", note.trim_end().into(), NoteError::NoFinalNewline.into()),
        (
            "4. two blank lines",
            signed_text(&format!("{good}\n")),
            CheckpointError::TrailingBlankLine,
        ),
        ("5. blank line in the text", signed_text(&note), CheckpointError::BlankLine { line: 4 }),
        (
            "6. repeated line of a key, the second one wrong",
            format!("{note}{}\n", log().sign("other\n")).into_bytes(),
            bad("log.example", key_id, true, SignatureFault::Mismatch),
        ),
        (
            "7. same name, other key ID",
            relabelled("log.example", KeyId::from_bytes([0; 4])),
            unknown(NearMiss::SameName),
        ),
        (
            "8. same key ID, other name",
            relabelled("else.example", key_id),
            unknown(NearMiss::SameKeyId),
        ),
        (
            "9. trailing bits",
            with_line(&trailing_bits),
            signature_line(1, SignatureLineError::Base64),
        ),
        (
            "9. newline in base64",
            with_line(&format!("{head}\n{tail}")),
            signature_line(2, SignatureLineError::Syntax),
        ),
        (
            "10. signature of 3 bytes",
            with_line("\u{2014} log.example AAAA"),
            signature_line(1, SignatureLineError::TooShort { bytes: 3 }),
        ),
        (
            "11. root of 31 bytes",
            signed_text(&text("7", &bytes_of(31))),
            CheckpointError::RootLength { bytes: 31 },
        ),
        (
            "11. root of 33 bytes",
            signed_text(&text("7", &bytes_of(33))),
            CheckpointError::RootLength { bytes: 33 },
        ),
        (
            "12. size 0, another root",
            empty(ROOT),
            CheckpointError::EmptyRoot { root: checkpoint().root },
        ),
        (
            "14. more than 100 signature lines",
            [note.as_bytes(), format!("{line_text}\n").repeat(100).as_bytes()].concat(),
            NoteError::TooManySignatures.into(),
        ),
        ("15. not UTF-8", [b"\xff", note.as_bytes()].concat(), NoteError::NotUtf8.into()),
        ("15. NUL", note.replacen("log", "l\0g", 1).into_bytes(), control(1, 0)),
        ("15. TAB", note.replacen("log", "l\tg", 1).into_bytes(), control(1, b'\t')),
        (
            "16. size 0, root of zeros",
            empty(&zeros.to_base64()),
            CheckpointError::EmptyRoot { root: zeros },
        ),
    ];
    for (what, bytes, error) in &table {
        assert_eq!(refused(bytes), *error, "{what}");
    }
    for (i, (what, _, error)) in table.iter().enumerate() {
        for (other, _, other_error) in &table[i + 1..] {
            assert_ne!(error, other_error, "{what} and {other} are refused alike");
            assert_ne!(error.to_string(), other_error.to_string(), "{what} and {other}");
        }
    }
    // And the one they are all made from is good.
    SignedCheckpoint::parse(note.as_bytes()).unwrap().verify(&log_key()).unwrap();
}

#[test]
fn sizes_have_one_spelling() {
    for size in
        ["+1", "01", "", "-1", "1 ", " 1", "00", "-0", "0x1", "1e3", "1.0", "1_000", "\u{661}"]
    {
        let result = Checkpoint::parse(&text(size, ROOT));
        assert_eq!(result, Err(CheckpointError::SizeForm), "{size:?}");
    }
    for size in
        ["9223372036854775808", "18446744073709551615", "18446744073709551616", &"9".repeat(400)]
    {
        let result = Checkpoint::parse(&text(size, ROOT));
        assert_eq!(result, Err(CheckpointError::SizeRange), "{size:?}");
    }
    for (size, number) in [("1", 1), ("10", 10), ("9223372036854775807", MAX_TREE_SIZE)] {
        assert_eq!(Checkpoint::parse(&text(size, ROOT)).unwrap().size.get(), number);
    }
    assert_eq!(Checkpoint::parse(&text("0", EMPTY_ROOT)).unwrap().size, TreeSize::ZERO);
}

#[test]
fn malformed_texts_are_refused() {
    let good = text("7", ROOT);
    let extended = |lines: &str| format!("{good}{lines}");
    let long = "o".repeat(MAX_ORIGIN_BYTES);
    for (text, error) in [
        (String::new(), CheckpointError::NoFinalNewline),
        (good.trim_end().to_owned(), CheckpointError::NoFinalNewline),
        ("\n".to_owned(), CheckpointError::Lines),
        ("log.example\n7\n".to_owned(), CheckpointError::Lines),
        (good.replace("log.example", ""), CheckpointError::Origin),
        (good.replace("log.example", &format!("{long}o")), CheckpointError::Origin),
        (good.replace("log.example", "log\texample"), CheckpointError::Origin),
        (text("7", ""), CheckpointError::RootLength { bytes: 0 }),
        (text("7", "CsUYapGGPo4dkMgIAUqom_Xajj7h2fB2MPA3j2jxq2I="), CheckpointError::RootBase64),
        (text("7", ROOT.trim_end_matches('=')), CheckpointError::RootBase64),
        (text("7", &ROOT.replace("2I=", "2J=")), CheckpointError::RootBase64),
        (text("7", &format!("{ROOT} ")), CheckpointError::RootBase64),
        (text("7", &encoding::base64_encode(&[0; 64])), CheckpointError::RootLength { bytes: 64 }),
        (extended("\n"), CheckpointError::TrailingBlankLine),
        (extended("\n\n"), CheckpointError::TrailingBlankLine),
        (extended("a\n\nb\n"), CheckpointError::BlankLine { line: 5 }),
        (extended("a\rb\n"), CheckpointError::ExtensionForm),
        (extended(&"x\n".repeat(MAX_EXTENSION_LINES + 1)), CheckpointError::TooManyExtensions),
    ] {
        assert_eq!(Checkpoint::parse(&text), Err(error), "{text:?}");
    }
    for text in [
        good.replace("log.example", &long),
        good.replace("log.example", "rekor.sigstore.dev - 2605736670972794746"),
        extended(&"x\n".repeat(MAX_EXTENSION_LINES)),
    ] {
        assert_eq!(Checkpoint::parse(&text).unwrap().to_text(), text);
    }
    assert_eq!(ExtensionLine::new(""), Err(CheckpointError::ExtensionForm));
    assert_eq!(ExtensionLine::new("a\nb"), Err(CheckpointError::ExtensionForm));
    assert_eq!(ExtensionLine::new("a b").unwrap().as_str(), "a b");
}

#[test]
fn a_log_signs_only_under_its_own_name_and_only_what_can_be_read() {
    let checkpoint = checkpoint();
    let signed = SignedCheckpoint::sign(&checkpoint, &log()).unwrap();
    assert_eq!(SignedCheckpoint::parse(&signed.to_bytes()), Ok(signed.clone()));
    let verified = signed.verify(&log_key()).unwrap();
    assert_eq!(verified.checkpoint(), &checkpoint);
    assert_eq!(verified.log_key(), &log_key());
    assert_eq!(verified.signed(), &signed);

    let other = NoteSigner::from_seed(KeyName::new("other.example").unwrap(), [1; 32]);
    let expected = Origin::new("other.example").unwrap();
    let mismatch = CheckpointError::OriginMismatch { expected: expected.clone() };
    assert_eq!(SignedCheckpoint::sign(&checkpoint, &other), Err(mismatch.clone()));
    assert_eq!(signed.verify(other.verifier_key()), Err(mismatch.clone()));

    let empty = Checkpoint { size: TreeSize::ZERO, ..checkpoint.clone() };
    assert_eq!(
        SignedCheckpoint::sign(&empty, &log()),
        Err(CheckpointError::EmptyRoot { root: checkpoint.root })
    );

    // A log called otherwise than its key verifies only when the caller says so.
    let text = checkpoint.to_text();
    let note = SignedNote::new(text.clone(), vec![other.sign(&text)]).unwrap();
    let signed = SignedCheckpoint::from_note(note).unwrap();
    assert_eq!(signed.verify(other.verifier_key()), Err(mismatch.clone()));
    signed.verify_with_origin(other.verifier_key(), &checkpoint.origin).unwrap();
    assert_eq!(signed.verify_with_origin(other.verifier_key(), &expected), Err(mismatch));
}

#[test]
fn a_witness_key_is_no_log_key() {
    let log_as_witness = CosignerKey::from_seed(KeyName::new("log.example").unwrap(), [1; 32]);
    let text = checkpoint().to_text();
    let line = log_as_witness.cosign(&text, 1).unwrap();
    let note = SignedNote::new(text, vec![line]).unwrap();
    let signed = SignedCheckpoint::from_note(note).unwrap();
    assert_eq!(signed.verify(log_as_witness.verifier_key()), Err(CheckpointError::KeyAlgorithm));
}

#[test]
fn any_key_of_a_log_verifies_and_a_failing_one_refuses() {
    let other = NoteSigner::from_seed(log_key().name().clone(), [77; 32]);
    let (old, new) = (log_key(), other.verifier_key().clone());
    let text = checkpoint().to_text();
    let both = SignedCheckpoint::sign(&checkpoint(), &log()).unwrap();
    let both = both.with_signature(other.sign(&text)).unwrap();
    let by =
        |keys: &[VerifierKey]| both.verify_any(keys).map(|verified| verified.log_key().clone());
    assert_eq!(by(std::slice::from_ref(&old)), Ok(old.clone()));
    assert_eq!(by(&[new.clone(), old.clone()]), Ok(new.clone()));
    // Keys of other names are somebody else's, whatever they are.
    let stranger = NoteSigner::from_seed(KeyName::new("other").unwrap(), [1; 32]);
    let stranger = stranger.verifier_key().clone();
    assert_eq!(by(&[stranger.clone(), old.clone()]), Ok(old.clone()));
    assert_eq!(by(&[stranger]).unwrap_err().code(), "CKPT.ORIGIN_MISMATCH");
    assert_eq!(by(&[]).unwrap_err().code(), "NOTE.UNKNOWN_KEYS");
    let unknown = NoteSigner::from_seed(log_key().name().clone(), [78; 32]);
    let unknown = unknown.verifier_key().clone();
    assert_eq!(by(&[unknown]).unwrap_err().code(), "NOTE.UNKNOWN_KEYS");
    let cosigner = crate::cosignature::cosigner_from_note_key(&old);
    assert_eq!(by(&[old.clone(), cosigner]), Err(CheckpointError::KeyAlgorithm));
    // A line of one of them that fails is never outvoted.
    let forged = SignedCheckpoint::sign(&checkpoint(), &log()).unwrap();
    let forged = forged.with_signature(other.sign("other\n")).unwrap();
    assert_eq!(forged.verify_any(&[old, new]).unwrap_err().code(), "NOTE.BAD_SIGNATURE");
}

#[test]
fn stamped_bytes_are_the_logs_line_alone() {
    let signed = SignedCheckpoint::sign(&checkpoint(), &log()).unwrap();
    let alone = signed.to_bytes();
    let text = checkpoint().to_text();
    let unknown = NoteSignature::new(
        KeyName::new("log.example").unwrap(),
        KeyId::from_bytes([9; 4]),
        vec![1; 64],
    )
    .unwrap();
    let cosigned = signed
        .with_signature(witness().cosign(&text, 5).unwrap())
        .and_then(|signed| signed.with_signature(unknown))
        .unwrap();
    assert_eq!(cosigned.log_note_bytes(&log_key()), Ok(alone.clone()));
    // The order of lines doesn't matter, nor does a line that stands there twice.
    let mut lines = cosigned.note().signatures().to_vec();
    lines.reverse();
    lines.push(log().sign(&text));
    let reversed = SignedNote::new(text.clone(), lines).unwrap();
    let reversed = SignedCheckpoint::from_note(reversed).unwrap();
    assert_eq!(reversed.log_note_bytes(&log_key()), Ok(alone.clone()));
    // Unverified bytes are never handed out.
    let note = SignedNote::new(text.clone(), vec![log().sign("other\n")]).unwrap();
    let forged = SignedCheckpoint::from_note(note).unwrap();
    assert_eq!(forged.log_note_bytes(&log_key()).unwrap_err().code(), "NOTE.BAD_SIGNATURE");
    // A marker whose note has two different lines of the key, as a randomised signer could make them.
    let note =
        SignedNote::new(text.clone(), vec![log().sign(&text), log().sign("other\n")]).unwrap();
    let twice = VerifiedCheckpoint {
        signed: SignedCheckpoint::from_note(note).unwrap(),
        log_key: log_key(),
    };
    assert_eq!(twice.log_note_bytes(), Err(CheckpointError::SignaturesDiffer));
}

fn any_checkpoint() -> impl Strategy<Value = Checkpoint> {
    let extensions = prop::collection::vec("[^\\x00-\\x1f]{1,20}", 0..4);
    (0..=MAX_TREE_SIZE, any::<[u8; 32]>(), extensions).prop_map(|(size, root, extensions)| {
        let root = if size == 0 { empty_root() } else { Digest::from_bytes(root) };
        let extensions = extensions.iter().map(|line| ExtensionLine::new(line).unwrap()).collect();
        let size = TreeSize::new(size).unwrap();
        Checkpoint { origin: Origin::from(log_key().name()), size, root, extensions }
    })
}

proptest! {
    #[test]
    fn checkpoints_round_trip(checkpoint in any_checkpoint()) {
        let signed = SignedCheckpoint::sign(&checkpoint, &log()).unwrap();
        let read = SignedCheckpoint::parse(&signed.to_bytes()).unwrap();
        prop_assert_eq!(read.checkpoint(), &checkpoint);
        prop_assert_eq!(read.to_bytes(), signed.to_bytes());
        prop_assert!(read.verify(&log_key()).is_ok());
    }

    #[test]
    fn any_text(text in "(log\n)?[0-9+\\- ]{0,3}\n[A-Za-z0-9+/]{43}=\n([a-z]{0,3}\n){0,3}") {
        if let Ok(checkpoint) = Checkpoint::parse(&text) {
            prop_assert_eq!(checkpoint.to_text(), text);
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = SignedCheckpoint::parse(&bytes);
        let _ = Checkpoint::parse(&String::from_utf8_lossy(&bytes));
    }
}
