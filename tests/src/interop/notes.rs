//! Notes, checkpoints, cosignatures and tlog-proofs as `proto` writes them.

use anchorlog_proto::checkpoint::{Checkpoint, Origin, SignedCheckpoint};
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::merkle::{TreeSize, inclusion, root};
use anchorlog_proto::note::{KeyName, NoteSigner, SignedNote};
use anchorlog_proto::tlog_proof::TlogProof;
use serde_json::{Value, json};

use super::random::Random;
use super::{Failure, World};

/// Texts that a note may hold: other scripts, blank lines, lines that look like signatures.
const LINES: [&str; 7] = [
    "one line",
    "",
    "zwei W\u{f6}rter",
    "\u{65e5}\u{672c}\u{8a9e}",
    "\u{2014} not.a/signature AAAA",
    "a\u{a0}b",
    " indented ",
];

/// A key from the random numbers.
pub(super) fn signer(name: &str, random: &mut Random) -> Result<NoteSigner, Failure> {
    Ok(NoteSigner::from_seed(KeyName::new(name)?, random.array()))
}

/// A text of one to five lines.
pub(super) fn text(random: &mut Random) -> String {
    let mut text = String::from("a note\n");
    for _ in 0..random.below(5) {
        let line = usize::try_from(random.below(7)).ok().and_then(|index| LINES.get(index));
        text.push_str(line.copied().unwrap_or_default());
        text.push('\n');
    }
    text
}

pub(super) fn notes(random: &mut Random) -> Result<Vec<Value>, Failure> {
    let mut vectors = Vec::new();
    for name in
        ["a", "example.com/log", "\u{43b}\u{43e}\u{433}.example", "PeterNeumann", "x/y/z-0_1.2~"]
    {
        for _ in 0..4 {
            let signer = signer(name, random)?;
            let text = text(random);
            let note = SignedNote::new(text.clone(), vec![signer.sign(&text)])?;
            vectors.push(json!({
                "skey": signer.to_skey().as_str(), "vkey": signer.verifier_key().to_string(),
                "text": text, "note": note.to_text(),
            }));
        }
    }
    Ok(vectors)
}

pub(super) fn checkpoints(world: &World, random: &mut Random) -> Result<Vec<Value>, Failure> {
    let mut vectors = Vec::new();
    for round in 0..12 {
        let log = signer("example.com/log", random)?;
        let size = if round == 0 { TreeSize::ZERO } else { world.any_size(random)? };
        let signed = sign(world, size, &log)?;
        let checkpoint = signed.checkpoint();
        vectors.push(json!({
            "vkey": log.verifier_key().to_string(), "origin": checkpoint.origin.as_str(),
            "size": checkpoint.size.get(), "root": checkpoint.root.to_base64(),
            "note": signed.note().to_text(),
        }));
    }
    Ok(vectors)
}

pub(super) fn cosigned(world: &World, random: &mut Random) -> Result<Vec<Value>, Failure> {
    let mut vectors = Vec::new();
    for _ in 0..6 {
        let log = signer("example.com/log", random)?;
        let witness = CosignerKey::from_seed(KeyName::new("witness.example/w")?, random.array());
        let time = 1_700_000_000 + random.below(100_000_000);
        let signed = sign(world, world.any_size(random)?, &log)?;
        let line = witness.cosign(signed.note().text(), time)?;
        let cosigned = signed.with_signature(line)?;
        vectors.push(json!({
            "log_vkey": log.verifier_key().to_string(), "witness_vkey": witness.verifier_key().to_string(),
            "time": time, "note": cosigned.note().to_text(),
        }));
    }
    Ok(vectors)
}

pub(super) fn proofs(world: &World, random: &mut Random) -> Result<Vec<Value>, Failure> {
    let log = signer("example.com/log", random)?;
    let mut vectors = Vec::new();
    for round in 0..24 {
        let size = if round == 0 { TreeSize::new(1)? } else { world.any_size(random)? };
        let index = random.below(size.get());
        let hashes = inclusion::prove(&world.tree, index, size)??;
        let mut proof = TlogProof::new(index, hashes, sign(world, size, &log)?)?;
        if round % 3 == 1 {
            proof = proof.with_extra(random.bytes(100))?;
        }
        vectors.push(json!({
            "vkey": log.verifier_key().to_string(), "index": index, "text": proof.to_text(),
        }));
    }
    Ok(vectors)
}

/// The checkpoint of a prefix of the tree.
fn sign(world: &World, size: TreeSize, log: &NoteSigner) -> Result<SignedCheckpoint, Failure> {
    let checkpoint = Checkpoint {
        origin: Origin::new(log.verifier_key().name().as_str())?,
        size,
        root: root(&world.tree, size)?,
        extensions: Vec::new(),
    };
    Ok(SignedCheckpoint::sign(&checkpoint, log)?)
}
