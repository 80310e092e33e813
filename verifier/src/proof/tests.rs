//! Every way a proof can fail, each by its code.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use anchorlog_proto::merkle::{Frontier, leaf_hash, node_hash};

use super::*;

fn size(size: u64) -> TreeSize {
    TreeSize::new(size).unwrap()
}

fn leaf(index: u8) -> Digest {
    leaf_hash(&[index])
}

/// The tree of the leaves 0, 1, ….
fn tree(leaves: u8) -> Tree {
    let mut frontier = Frontier::new();
    for index in 0..leaves {
        frontier.push(leaf(index)).unwrap();
    }
    Tree { size: frontier.size(), root: frontier.root() }
}

/// The inclusion proof of leaf 2 of 3: the root of the first two.
fn proof() -> Vec<Digest> {
    vec![node_hash(&leaf(0), &leaf(1))]
}

fn code(result: Result<(), Finding>) -> &'static str {
    result.map_or_else(|finding| finding.code.as_str(), |()| "holds")
}

#[test]
fn inclusion() {
    let tree = tree(3);
    let (leaf_2, proof) = (leaf(2), proof());
    let long = [proof.clone(), proof.clone()].concat();
    let larger = Tree { size: TreeSize::MAX, ..tree };
    for (index, tree, leaf_hash, hashes, expected) in [
        (2, &tree, &leaf_2, &proof[..], "holds"),
        (3, &tree, &leaf_2, &proof[..], "LOG.INDEX"),
        (u64::MAX, &tree, &leaf_2, &proof[..], "LOG.INDEX"),
        (2, &tree, &leaf_2, &[], "LOG.PROOF_LENGTH"),
        (2, &tree, &leaf_2, &long[..], "LOG.PROOF_LENGTH"),
        (0, &tree, &leaf_2, &proof[..], "LOG.PROOF_LENGTH"),
        (2, &larger, &leaf_2, &proof[..], "LOG.PROOF_LENGTH"),
        (2, &tree, &leaf(1), &proof[..], "LOG.INCLUSION"),
        (2, &tree, &leaf_2, &[leaf_2][..], "LOG.INCLUSION"),
    ] {
        assert_eq!(
            code(check_inclusion(index, tree, leaf_hash, hashes)),
            expected,
            "{index} {tree:?}"
        );
    }
    let wrong = check_inclusion(2, &tree, &leaf(1), &proof).unwrap_err();
    assert_eq!(wrong.expected.as_deref(), Some(&*tree.root.to_string()));
    assert_ne!(wrong.actual, wrong.expected);
}

#[test]
fn consistency() {
    let (one, two, three, empty) = (tree(1), tree(2), tree(3), tree(0));
    let from_two = [leaf(2)];
    let other = Tree { root: leaf(9), ..three };
    for (older, newer, hashes, expected) in [
        (&two, &three, &from_two[..], "holds"),
        (&three, &three, &[], "holds"),
        (&empty, &three, &[], "holds"),
        (&empty, &empty, &[], "holds"),
        (&three, &two, &[], "LOG.ROLLBACK"),
        (&three, &other, &[], "LOG.SPLIT_VIEW"),
        (&three, &other, &from_two[..], "LOG.SPLIT_VIEW"),
        (&empty, &Tree { size: empty.size, ..three }, &[], "LOG.SPLIT_VIEW"),
        (&two, &three, &[], "LOG.PROOF_LENGTH"),
        (&three, &three, &from_two[..], "LOG.PROOF_LENGTH"),
        (&empty, &three, &from_two[..], "LOG.PROOF_LENGTH"),
        (&two, &other, &from_two[..], "LOG.CONSISTENCY"),
        (&Tree { root: one.root, ..two }, &three, &from_two[..], "LOG.CONSISTENCY"),
        (&Tree { root: one.root, ..empty }, &three, &[], "LOG.CONSISTENCY"),
        (&two, &three, &[leaf(1)][..], "LOG.CONSISTENCY"),
        (&Tree { size: size(1), ..two }, &three, &[leaf(2), leaf(2)][..], "LOG.CONSISTENCY"),
    ] {
        assert_eq!(code(check_consistency(older, newer, hashes)), expected, "{older:?} {newer:?}");
    }
}
