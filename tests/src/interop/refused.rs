//! Damaged proofs and notes. Each is refused by `proto` before it goes into the file.

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{
    TreeSize, consistency as consistency_proof, inclusion as inclusion_proof, leaf_hash, root,
};
use anchorlog_proto::note::SignedNote;
use serde_json::{Value, json};

use super::random::Random;
use super::trees::base64_all;
use super::{Failure, World, notes as good_notes};

/// An inclusion claim: index, size, leaf hash, path, root.
#[derive(Clone)]
struct Inclusion {
    index: u64,
    size: TreeSize,
    leaf: Digest,
    hashes: Vec<Digest>,
    root: Digest,
}

pub(super) fn inclusion(world: &World, random: &mut Random) -> Result<Vec<Value>, Failure> {
    let mut vectors = Vec::new();
    for _ in 0..30 {
        let size = world.any_size(random)?;
        let index = random.below(size.get());
        let good = Inclusion {
            index,
            size,
            leaf: leaf_hash(world.entry(index)?),
            hashes: inclusion_proof::prove(&world.tree, index, size)??,
            root: root(&world.tree, size)?,
        };
        let mut add = |why: &str, bad: Inclusion| -> Result<(), Failure> {
            if inclusion_proof::verify(bad.index, bad.size, &bad.leaf, &bad.hashes, &bad.root)
                .is_ok()
            {
                return Err(format!("inclusion of {index} in {size}: we accept: {why}").into());
            }
            vectors.push(json!({
                "why": why, "index": bad.index, "size": bad.size.get(), "leaf_hash": bad.leaf.to_base64(),
                "root": bad.root.to_base64(), "hashes": base64_all(&bad.hashes),
            }));
            Ok(())
        };
        add("another leaf", Inclusion { leaf: flip(&good.leaf, random), ..good.clone() })?;
        add("another root", Inclusion { root: flip(&good.root, random), ..good.clone() })?;
        add("index of the size", Inclusion { index: size.get(), ..good.clone() })?;
        if size.get() > 1 {
            add("the next index", Inclusion { index: (index + 1) % size.get(), ..good.clone() })?;
        }
        for (why, hashes) in damaged_paths(&good.hashes, random) {
            add(why, Inclusion { hashes, ..good.clone() })?;
        }
    }
    Ok(vectors)
}

/// A consistency claim: two sizes, two roots, path.
#[derive(Clone)]
struct Consistency {
    from: TreeSize,
    to: TreeSize,
    from_root: Digest,
    to_root: Digest,
    hashes: Vec<Digest>,
}

pub(super) fn consistency(world: &World, random: &mut Random) -> Result<Vec<Value>, Failure> {
    let mut vectors = Vec::new();
    for _ in 0..30 {
        let to = world.any_size(random)?;
        let from = TreeSize::new(1 + random.below(to.get()))?;
        let good = Consistency {
            from,
            to,
            from_root: root(&world.tree, from)?,
            to_root: root(&world.tree, to)?,
            hashes: consistency_proof::prove(&world.tree, from, to)??,
        };
        let mut add = |why: &str, bad: Consistency| -> Result<(), Failure> {
            let Consistency { from, to, from_root, to_root, hashes } = bad;
            if consistency_proof::verify(from, to, &from_root, &to_root, &hashes).is_ok() {
                return Err(format!("consistency of {from} with {to}: we accept: {why}").into());
            }
            vectors.push(json!({
                "why": why, "from": from.get(), "to": to.get(), "from_root": from_root.to_base64(),
                "to_root": to_root.to_base64(), "hashes": base64_all(&hashes),
            }));
            Ok(())
        };
        add(
            "another old root",
            Consistency { from_root: flip(&good.from_root, random), ..good.clone() },
        )?;
        add(
            "another new root",
            Consistency { to_root: flip(&good.to_root, random), ..good.clone() },
        )?;
        if from < to {
            add("sizes exchanged", Consistency { from: to, to: from, ..good.clone() })?;
            let (from_root, to_root) = (good.to_root, good.from_root);
            add("roots exchanged", Consistency { from_root, to_root, ..good.clone() })?;
        }
        for (why, hashes) in damaged_paths(&good.hashes, random) {
            add(why, Consistency { hashes, ..good.clone() })?;
        }
    }
    Ok(vectors)
}

pub(super) fn notes(random: &mut Random) -> Result<Vec<Value>, Failure> {
    let mut vectors = Vec::new();
    for _ in 0..8 {
        let signer = good_notes::signer("refused.example", random)?;
        let stranger = good_notes::signer("refused.example", random)?;
        let text = good_notes::text(random);
        let line = signer.sign(&text);
        let note = SignedNote::new(text.clone(), vec![line.clone()])?.to_text();
        let foreign = SignedNote::new(text.clone(), vec![stranger.sign(&text)])?.to_text();
        for (why, bad) in [
            ("another text", format!("x{note}")),
            (
                "a line break less before the signatures",
                note.replacen("\n\n\u{2014}", "\n\u{2014}", 1),
            ),
            ("carriage returns", note.replace('\n', "\r\n")),
            ("no final newline", note.trim_end().to_owned()),
            ("a NUL in the text", format!("\0{note}")),
            ("a tab in the text", format!("\t{note}")),
            ("only the signature of another key of the same name", foreign),
            ("no signature", format!("{text}\n")),
            ("the signature of another text", {
                let other = signer.sign(&format!("other {text}"));
                SignedNote::new(text.clone(), vec![other])?.to_text()
            }),
        ] {
            let keys = [signer.verifier_key().clone()];
            if SignedNote::parse(bad.as_bytes()).is_ok_and(|note| note.verify(&keys).is_ok()) {
                return Err(format!("we open a note with {why}").into());
            }
            vectors
                .push(json!({"why": why, "vkey": signer.verifier_key().to_string(), "note": bad}));
        }
    }
    Ok(vectors)
}

/// What can be done to a path so that it no longer leads to the root.
fn damaged_paths(hashes: &[Digest], random: &mut Random) -> Vec<(&'static str, Vec<Digest>)> {
    let mut damaged = vec![
        ("a hash behind the last", [hashes, &[Digest::from_bytes(random.array())]].concat()),
        ("a hash before the first", [&[Digest::from_bytes(random.array())], hashes].concat()),
    ];
    if let [first, .., last] = hashes {
        let mut ends = hashes.to_vec();
        if let [a, .., z] = ends.as_mut_slice() {
            (*a, *z) = (*last, *first);
        }
        damaged.push(("the ends exchanged", ends));
    }
    if let [but_last @ .., last] = hashes {
        damaged.push(("the last hash missing", but_last.to_vec()));
        damaged.push(("a bit flipped", [but_last, &[flip(last, random)]].concat()));
    }
    damaged
}

/// The digest with one bit turned round.
fn flip(digest: &Digest, random: &mut Random) -> Digest {
    let mut bytes = *digest.as_bytes();
    let (byte, bit) = (random.below(32), random.below(8));
    for (index, slot) in (0..).zip(bytes.iter_mut()) {
        if index == byte {
            *slot ^= 1 << bit;
        }
    }
    Digest::from_bytes(bytes)
}
