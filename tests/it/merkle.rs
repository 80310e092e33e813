//! The Merkle vectors of the conformance corpus, each read from its file and judged as the file says.
//!
//! They know proofs from size 0 only as errors. We have a rule there instead, that of C2SP: every tree
//! extends the empty one, so a proof from size 0 holds if it is empty and the older root is the empty root,
//! and equal sizes need equal roots. The vectors with size 0 are held to that rule, and what it accepts is
//! written down below, so that a vector that agrees by accident counts for nothing.
//!
//! Where a vector says that a hash doesn't matter, it has a few letters for one. A digest of those letters
//! takes their place: equal ones stay equal, and no proof leads there.

use std::fs;
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::encoding::base64_decode;
use anchorlog_proto::merkle::{
    ProofError, TreeSize, consistency, empty_root, inclusion, leaf_hash,
};
use anchorlog_tests::world::corpus;
use serde_json::Value;

#[test]
fn inclusion_vectors_are_judged_as_they_say() {
    let Some(folder) = corpus::folder("merkle") else { return };
    let mut counted = Counted::default();
    for path in corpus::files(&folder.join("testdata/inclusion"), ".json") {
        let vector = read(&path);
        let holds = check_inclusion(&vector);
        counted.add(&path, &vector, holds);
    }
    assert_eq!((counted.vectors, counted.holding), (98, 6));
    // The others lack leaf or root, or have a number that no index or size can be.
    assert_eq!(counted.judged, 87);
}

#[test]
fn consistency_vectors_are_judged_as_they_say() {
    let Some(folder) = corpus::folder("merkle") else { return };
    let mut counted = Counted::default();
    for path in corpus::files(&folder.join("testdata/consistency"), ".json") {
        let vector = read(&path);
        let holds = check_consistency(&vector);
        if vector["size1"] == 0 {
            // Judged by our own rule, below.
            continue;
        }
        counted.add(&path, &vector, holds);
    }
    assert_eq!((counted.vectors, counted.holding), (89, 6));
    assert_eq!(counted.judged, 89);
}

#[test]
fn consistency_vectors_from_size_zero_are_judged_by_our_rule() {
    let Some(folder) = corpus::folder("merkle") else { return };
    let mut seen = 0;
    for path in corpus::files(&folder.join("testdata/consistency"), ".json") {
        let vector = read(&path);
        if vector["size1"] != 0 {
            continue;
        }
        seen += 1;
        let (older, newer) = (digest(&vector["root1"]), digest(&vector["root2"]));
        let by_our_rule = hashes(&vector).is_empty()
            && older == empty_root()
            && (vector["size2"] != 0 || newer == older);
        let holds = check_consistency(&vector) == Some(true);
        assert_eq!(holds, by_our_rule, "{}", path.display());
    }
    assert_eq!(seen, 9);
}

/// The rule itself, where the vectors' roots are no digests and so say little.
#[test]
fn from_size_zero_the_proof_is_empty_and_the_older_root_the_empty_one() {
    let size = |size| TreeSize::new(size).unwrap();
    let (empty, other) = (empty_root(), leaf_hash(b"x"));
    let judge = |to, from_root: &Digest, to_root: &Digest, proof: &[Digest]| {
        consistency::verify(TreeSize::ZERO, size(to), from_root, to_root, proof)
    };
    assert_eq!(judge(1, &empty, &other, &[]), Ok(()));
    assert_eq!(judge(u64::MAX >> 1, &empty, &other, &[]), Ok(()));
    assert_eq!(judge(0, &empty, &empty, &[]), Ok(()));
    assert_eq!(judge(1, &other, &other, &[]), Err(ProofError::OldRoot));
    assert_eq!(judge(0, &other, &other, &[]), Err(ProofError::OldRoot));
    assert_eq!(judge(0, &empty, &other, &[]), Err(ProofError::Root));
    for to in [0, 1, 5] {
        let garbage = Err(ProofError::Length { expected: 0, actual: 1 });
        assert_eq!(judge(to, &empty, &empty, &[empty]), garbage, "to {to}");
    }
}

#[derive(Debug, Default)]
struct Counted {
    vectors: u32,
    /// Proofs that hold.
    holding: u32,
    /// Vectors whose proof was judged.
    judged: u32,
}

impl Counted {
    #[track_caller]
    fn add(&mut self, path: &Path, vector: &Value, holds: Option<bool>) {
        let wanted = !vector["wantErr"].as_bool().expect("a vector says what it wants");
        assert_eq!(holds == Some(true), wanted, "{}", path.display());
        self.vectors += 1;
        self.holding += u32::from(wanted);
        self.judged += u32::from(holds.is_some());
    }
}

/// Whether a vector's proof holds; `None` when a number is no index or size, or a leaf or root is missing.
fn check_inclusion(vector: &Value) -> Option<bool> {
    let size = TreeSize::new(vector["treeSize"].as_u64()?).ok()?;
    let index = vector["leafIdx"].as_u64()?;
    let (leaf, root) = (present(&vector["leafHash"])?, present(&vector["root"])?);
    Some(inclusion::verify(index, size, &leaf, &hashes(vector), &root).is_ok())
}

fn check_consistency(vector: &Value) -> Option<bool> {
    let size = |name: &str| TreeSize::new(vector[name].as_u64()?).ok();
    let (older, newer) = (present(&vector["root1"])?, present(&vector["root2"])?);
    let proof = hashes(vector);
    Some(consistency::verify(size("size1")?, size("size2")?, &older, &newer, &proof).is_ok())
}

fn hashes(vector: &Value) -> Vec<Digest> {
    match &vector["proof"] {
        Value::Null => Vec::new(),
        proof => proof.as_array().expect("a list of hashes").iter().map(digest).collect(),
    }
}

fn present(value: &Value) -> Option<Digest> {
    (value != "").then(|| digest(value))
}

/// A hash, or what takes the place of some letters.
fn digest(value: &Value) -> Digest {
    let bytes = base64_decode(value.as_str().expect("a hash in base64")).expect("strict base64");
    <[u8; 32]>::try_from(bytes)
        .map_or_else(|letters| Digest::of_parts(&[b"letters", &letters]), Digest::from_bytes)
}

fn read(path: &Path) -> Value {
    let text = fs::read(path).expect("the corpus can be read");
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
