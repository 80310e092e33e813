//! The proofs against a tree that is built the slow and obvious way, and against sizes no tree can be
//! built for.
#![allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and its sizes are small"
)]

use std::convert::Infallible;

use proptest::prelude::*;

use super::*;
use crate::digest::Digest;

/// RFC 6962 section 2.1 word for word, over the hashes of the leaves.
fn naive_root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            node_hash(&naive_root(left), &naive_root(right))
        }
    }
}

/// A tree that holds its leaves and hashes everything anew.
struct Naive(Vec<Digest>);

impl Naive {
    fn of(size: usize) -> Self {
        Self((0..size).map(|leaf| leaf_hash(&leaf.to_be_bytes())).collect())
    }
}

impl NodeReader for Naive {
    type Error = Infallible;

    fn node(&self, node: Node) -> Result<Digest, Infallible> {
        let start = usize::try_from(node.index << node.level).unwrap();
        Ok(naive_root(&self.0[start..start + (1 << node.level)]))
    }
}

/// A tree of any size whose leaves are all the same: a node's hash depends on its level alone.
struct Uniform;

impl NodeReader for Uniform {
    type Error = Infallible;

    fn node(&self, node: Node) -> Result<Digest, Infallible> {
        let leaf = leaf_hash(b"same");
        Ok((0..node.level).fold(leaf, |hash, _| node_hash(&hash, &hash)))
    }
}

fn size(size: u64) -> TreeSize {
    TreeSize::new(size).unwrap()
}

#[test]
fn every_proof_of_every_pair_verifies() {
    const LARGEST: usize = 130;
    let tree = Naive::of(LARGEST);
    let roots: Vec<Digest> = (0..=LARGEST).map(|n| naive_root(&tree.0[..n])).collect();
    for newer in 0..=LARGEST as u64 {
        let newer_root = &roots[newer as usize];
        assert_eq!(root(&tree, size(newer)), Ok(*newer_root));
        for index in 0..newer {
            let proof = inclusion::prove(&tree, index, size(newer)).unwrap().unwrap();
            let leaf = &tree.0[index as usize];
            assert_eq!(inclusion::verify(index, size(newer), leaf, &proof, newer_root), Ok(()));
        }
        for older in 0..=newer {
            let proof = consistency::prove(&tree, size(older), size(newer)).unwrap().unwrap();
            let older_root = &roots[older as usize];
            let verdict =
                consistency::verify(size(older), size(newer), older_root, newer_root, &proof);
            assert_eq!(verdict, Ok(()), "{older} to {newer}");
        }
    }
}

/// What one change of a proof can be: no such change may leave it standing.
fn mutations(proof: &[Digest], strange: Digest) -> Vec<Vec<Digest>> {
    let mut all = Vec::new();
    for position in 0..proof.len() {
        let mut changed = proof.to_vec();
        changed[position] = strange;
        all.push(changed);
        let mut removed = proof.to_vec();
        removed.remove(position);
        all.push(removed);
        let mut doubled = proof.to_vec();
        doubled.insert(position, proof[position]);
        all.push(doubled);
        for other in 0..position {
            if proof[other] != proof[position] {
                let mut swapped = proof.to_vec();
                swapped.swap(other, position);
                all.push(swapped);
            }
        }
    }
    for end in [0, proof.len()] {
        let mut longer = proof.to_vec();
        longer.insert(end, strange);
        all.push(longer);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_mutation_of_an_inclusion_proof_fails(
        newer in 1_u64..300, pick in any::<prop::sample::Index>(), strange in any::<[u8; 32]>(),
    ) {
        let tree = Naive::of(newer as usize);
        let index = pick.index(newer as usize) as u64;
        let leaf = tree.0[index as usize];
        let root = naive_root(&tree.0);
        let proof = inclusion::prove(&tree, index, size(newer)).unwrap().unwrap();
        let strange = Digest::from_bytes(strange);
        for mutated in mutations(&proof, strange) {
            prop_assert!(inclusion::verify(index, size(newer), &leaf, &mutated, &root).is_err());
        }
        prop_assert!(inclusion::verify(index, size(newer), &strange, &proof, &root).is_err());
        prop_assert!(inclusion::verify(index, size(newer), &leaf, &proof, &strange).is_err());
        for other in (0..newer + 2).filter(|other| *other != index) {
            prop_assert!(inclusion::verify(other, size(newer), &leaf, &proof, &root).is_err());
        }
    }

    #[test]
    fn every_mutation_of_a_consistency_proof_fails(
        newer in 2_u64..300, pick in any::<prop::sample::Index>(), strange in any::<[u8; 32]>(),
    ) {
        let older = 1 + pick.index(newer as usize - 1) as u64;
        let tree = Naive::of(newer as usize);
        let roots = [naive_root(&tree.0[..older as usize]), naive_root(&tree.0)];
        let proof = consistency::prove(&tree, size(older), size(newer)).unwrap().unwrap();
        let strange = Digest::from_bytes(strange);
        let verify = |proof: &[Digest], old: &Digest, new: &Digest| {
            consistency::verify(size(older), size(newer), old, new, proof)
        };
        for mutated in mutations(&proof, strange) {
            prop_assert!(verify(&mutated, &roots[0], &roots[1]).is_err());
        }
        prop_assert!(verify(&proof, &strange, &roots[1]).is_err());
        prop_assert!(verify(&proof, &roots[0], &strange).is_err());
        prop_assert!(verify(&proof, &roots[1], &roots[0]).is_err());
    }

    #[test]
    fn an_extension_proves_all_of_its_batch(before in 0_usize..600, batch in 1_usize..300) {
        let tree = Naive::of(before + batch);
        let mut frontier = Frontier::new();
        for leaf in &tree.0[..before] {
            frontier.push(*leaf).unwrap();
        }
        let extension =
            Extension::new(frontier.clone(), tree.0[before..].iter().copied()).unwrap();
        prop_assert_eq!(extension.size(), size((before + batch) as u64));
        let root = extension.after().root();
        prop_assert_eq!(root, naive_root(&tree.0));
        for index in before..before + batch {
            let proof = inclusion::prove(&extension, index as u64, extension.size());
            let proof = proof.unwrap().unwrap();
            let leaf = &tree.0[index];
            let verdict = inclusion::verify(index as u64, extension.size(), leaf, &proof, &root);
            prop_assert_eq!(verdict, Ok(()));
        }
        let grown = consistency::prove(&extension, frontier.size(), extension.size());
        let verdict = consistency::verify(
            frontier.size(), extension.size(), &frontier.root(), &root, &grown.unwrap().unwrap(),
        );
        prop_assert_eq!(verdict, Ok(()));
        let (first, leaves) = extension.completed(0).unwrap();
        prop_assert_eq!((first, leaves), (before as u64, &tree.0[before..]));
    }
}

#[test]
fn proofs_hold_at_sizes_no_tree_can_be_built_for() {
    let sizes = [32_u32, 62]
        .into_iter()
        .flat_map(|exponent| {
            [-2_i64, -1, 0, 1, 2].map(|off| (1_u64 << exponent).strict_add_signed(off))
        })
        .chain([MAX_TREE_SIZE - 2, MAX_TREE_SIZE - 1, MAX_TREE_SIZE])
        .collect::<Vec<u64>>();
    let leaf = leaf_hash(b"same");
    for &newer in &sizes {
        let newer_root = root(&Uniform, size(newer)).unwrap();
        assert_eq!(Frontier::from_reader(&Uniform, size(newer)).unwrap().root(), newer_root);
        for index in [0, 1, newer / 2 - 1, newer / 2, newer / 2 + 1, newer - 2, newer - 1] {
            let proof = inclusion::prove(&Uniform, index, size(newer)).unwrap().unwrap();
            assert!(proof.len() <= MAX_PROOF_HASHES);
            assert_eq!(inclusion::verify(index, size(newer), &leaf, &proof, &newer_root), Ok(()));
            let cut = &proof[..proof.len() - 1];
            assert!(inclusion::verify(index, size(newer), &leaf, cut, &newer_root).is_err());
        }
        for &older in sizes.iter().chain(&[1, 2, 3, 255, 256, 257]) {
            let proof = consistency::prove(&Uniform, size(older), size(newer)).unwrap();
            if older > newer {
                assert_eq!(proof, Err(ProofError::SizesReversed { from: older, to: newer }));
                continue;
            }
            let proof = proof.unwrap();
            assert!(proof.len() <= MAX_PROOF_HASHES + 1);
            let older_root = root(&Uniform, size(older)).unwrap();
            let verdict =
                consistency::verify(size(older), size(newer), &older_root, &newer_root, &proof);
            assert_eq!(verdict, Ok(()), "{older} to {newer}");
        }
    }
}

#[test]
fn proofs_outside_the_tree_are_refused() {
    let leaf = leaf_hash(b"only");
    let out = |index, size| ProofError::IndexOutOfRange { index, size };
    assert_eq!(inclusion::verify(0, TreeSize::ZERO, &leaf, &[], &empty_root()), Err(out(0, 0)));
    assert_eq!(inclusion::verify(1, size(1), &leaf, &[], &leaf), Err(out(1, 1)));
    assert_eq!(
        inclusion::verify(u64::MAX, TreeSize::MAX, &leaf, &[], &leaf),
        Err(out(u64::MAX, MAX_TREE_SIZE))
    );
    assert_eq!(inclusion::prove(&Uniform, 5, size(5)), Ok(Err(out(5, 5))));
    assert_eq!(inclusion::verify(0, size(1), &leaf, &[], &leaf), Ok(()));

    let reversed = ProofError::SizesReversed { from: 2, to: 1 };
    assert_eq!(consistency::verify(size(2), size(1), &leaf, &leaf, &[]), Err(reversed));
    let empty = empty_root();
    assert_eq!(consistency::verify(size(0), size(1), &empty, &leaf, &[]), Ok(()));
    assert_eq!(
        consistency::verify(size(0), size(1), &leaf, &leaf, &[]),
        Err(ProofError::OldRoot),
        "the empty tree has one root"
    );
    assert_eq!(
        consistency::verify(size(1), size(1), &leaf, &leaf, &[leaf]),
        Err(ProofError::Length { expected: 0, actual: 1 })
    );
    assert_eq!(
        consistency::verify(size(1), size(2), &leaf, &leaf, &[]),
        Err(ProofError::Length { expected: 1, actual: 0 })
    );
    assert_eq!(consistency::verify(size(1), size(1), &leaf, &empty, &[]), Err(ProofError::Root));
}

#[test]
fn sizes_stop_at_the_limit() {
    assert_eq!(TreeSize::new(MAX_TREE_SIZE), Ok(TreeSize::MAX));
    assert_eq!(TreeSize::new(1 << 63), Err(SizeError { size: 1 << 63 }));
    assert!(TreeSize::MAX.plus(1).is_err());
    assert!(TreeSize::MAX.plus(u64::MAX).is_err());
    assert_eq!(TreeSize::ZERO.plus(7).map(TreeSize::get), Ok(7));
}

#[test]
fn split_point_is_the_power_of_two_below() {
    for (size, split) in [(2, 1), (3, 2), (4, 2), (5, 4), (8, 4), (9, 8)] {
        assert_eq!(split_point(size), split);
    }
    assert_eq!(split_point(MAX_TREE_SIZE), 1 << 62);
    assert_eq!(split_point((1 << 62) + 1), 1 << 62);
}
