//! The tree held against `rs_merkle`, which shares no code with ours: roots and inclusion paths of every size
//! to 1,025. And the reasons why it is no more than that: claims that it accepts and that we refuse.
//!
//! See `docs/decisions/0001-rs-merkle.md`.

use std::panic::catch_unwind;

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{
    Extension, Frontier, ProofError, TreeSize, inclusion, leaf_hash, node_hash, root,
};
use rs_merkle::{Hasher, MerkleProof, MerkleTree};

/// RFC 6962 for `rs_merkle`: leaves come in hashed, and a node without a right child is that child.
#[derive(Clone)]
struct Rfc6962;

impl Hasher for Rfc6962 {
    type Hash = [u8; 32];

    fn hash(leaf_hash: &[u8]) -> [u8; 32] {
        *Digest::of(leaf_hash).as_bytes()
    }

    fn concat_and_hash(left: &[u8; 32], right: Option<&[u8; 32]>) -> [u8; 32] {
        right.map_or(*left, |right| {
            *node_hash(&Digest::from_bytes(*left), &Digest::from_bytes(*right)).as_bytes()
        })
    }
}

const LARGEST: u32 = 1025;

fn leaves(count: u32) -> Vec<Digest> {
    (0..count).map(|index| leaf_hash(&index.to_be_bytes())).collect()
}

fn raw(hashes: &[Digest]) -> Vec<[u8; 32]> {
    hashes.iter().map(|hash| *hash.as_bytes()).collect()
}

fn size(leaves: usize) -> TreeSize {
    TreeSize::new(leaves.try_into().unwrap()).unwrap()
}

/// Compares every size from `first` on in steps of `step`.
fn compare(first: usize, step: usize) {
    let leaves = leaves(LARGEST);
    let ours = Extension::new(Frontier::new(), leaves.iter().copied()).unwrap();
    let mut frontier = Frontier::new();
    let mut compared = 0_u32;
    for count in (first..=leaves.len()).step_by(step) {
        let theirs = MerkleTree::<Rfc6962>::from_leaves(&raw(&leaves[..count]));
        let expected = theirs.root().map(Digest::from_bytes).unwrap();
        for leaf in &leaves[usize::try_from(frontier.size().get()).unwrap()..count] {
            frontier.push(*leaf).unwrap();
        }
        assert_eq!(frontier.root(), expected, "frontier of {count}");
        assert_eq!(root(&ours, size(count)).unwrap(), expected, "root of {count}");
        for index in 0..count {
            let path = theirs.proof(&[index]);
            let expected_path: Vec<Digest> =
                path.proof_hashes().iter().copied().map(Digest::from_bytes).collect();
            let index = index.try_into().unwrap();
            let proof = inclusion::prove(&ours, index, size(count)).unwrap().unwrap();
            assert_eq!(proof, expected_path, "path of {index} in {count}");
            compared += 1;
        }
    }
    assert!(compared > 100_000, "only {compared} paths were compared");
}

#[test]
fn roots_and_paths_of_odd_sizes_are_the_same() {
    compare(1, 2);
}

#[test]
fn roots_and_paths_of_even_sizes_are_the_same() {
    compare(2, 2);
}

/// A tree of 13 leaves: its hashes, its root and `rs_merkle`'s proof of leaf 5.
fn thirteen() -> (Vec<Digest>, Digest, Vec<[u8; 32]>) {
    let leaves = leaves(13);
    let tree = MerkleTree::<Rfc6962>::from_leaves(&raw(&leaves));
    (leaves, Digest::from_bytes(tree.root().unwrap()), tree.proof(&[5]).proof_hashes().to_vec())
}

/// Whether `rs_merkle` takes the proof for the leaf at `index`. A panic is a refusal.
fn they_accept(proof: &[[u8; 32]], index: usize, leaf: Digest, root: Digest) -> bool {
    let proof = proof.to_vec();
    catch_unwind(|| {
        MerkleProof::<Rfc6962>::new(proof).verify(
            *root.as_bytes(),
            &[index],
            &[*leaf.as_bytes()],
            13,
        )
    })
    .unwrap_or(false)
}

fn we_accept(proof: &[[u8; 32]], index: u64, leaf: Digest, root: Digest) -> bool {
    let proof: Vec<Digest> = proof.iter().copied().map(Digest::from_bytes).collect();
    inclusion::verify(index, size(13), &leaf, &proof, &root).is_ok()
}

#[test]
fn both_accept_the_true_proof() {
    let (leaves, root, proof) = thirteen();
    assert!(they_accept(&proof, 5, leaves[5], root));
    assert!(we_accept(&proof, 5, leaves[5], root));
}

#[test]
fn a_hash_behind_the_proof_is_refused_by_us_alone() {
    let (leaves, root, mut proof) = thirteen();
    proof.push([7; 32]);
    assert!(they_accept(&proof, 5, leaves[5], root));
    assert!(!we_accept(&proof, 5, leaves[5], root));
}

#[test]
fn an_index_beyond_the_tree_is_refused_by_us_alone() {
    let (leaves, root, proof) = thirteen();
    assert!(they_accept(&proof, 21, leaves[5], root));
    for index in [13, 21, 37] {
        assert!(!we_accept(&proof, index, leaves[5], root), "index {index}");
    }
}

/// The weightiest: a hash that was never in the tree is "proved" beside a real one of the same index. Our
/// proofs are about one leaf each, so there is nothing to smuggle it into.
#[test]
fn they_accept_a_forged_leaf_beside_a_real_one() {
    let leaves = leaves(4);
    let tree = MerkleTree::<Rfc6962>::from_leaves(&raw(&leaves));
    let forged = leaf_hash(b"never logged");
    let proof = MerkleProof::<Rfc6962>::new(tree.proof(&[0, 1]).proof_hashes().to_vec());
    let claimed = raw(&[leaves[0], leaves[1], forged]);
    assert!(proof.verify(tree.root().unwrap(), &[0, 1, 1], &claimed, 4));
    let root = Digest::from_bytes(tree.root().unwrap());
    let judge = |leaf: &Digest| {
        let path: Vec<Digest> =
            tree.proof(&[1]).proof_hashes().iter().copied().map(Digest::from_bytes).collect();
        inclusion::verify(1, size(4), leaf, &path, &root)
    };
    assert_eq!((judge(&leaves[1]), judge(&forged)), (Ok(()), Err(ProofError::Root)));
}
