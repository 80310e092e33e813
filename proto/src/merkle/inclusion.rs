//! Inclusion proofs: this leaf is the one at this index of the tree with this root.

use super::node::{NodeReader, subtree_root};
use super::{ProofError, TreeSize, node_hash, split_point};
use crate::digest::Digest;

/// Makes the proof of RFC 6962 section 2.1.1, PATH(index, D\[size\]): the leaf's sibling first, the root's
/// child last.
///
/// The outer error is the reader's; the inner one says that there is no such leaf.
pub fn prove<R: NodeReader>(
    reader: &R,
    index: u64,
    size: TreeSize,
) -> Result<Result<Vec<Digest>, ProofError>, R::Error> {
    if index >= size.get() {
        return Ok(Err(ProofError::IndexOutOfRange { index, size: size.get() }));
    }
    let (mut start, mut end) = (0, size.get());
    let mut siblings = Vec::new();
    while end - start > 1 {
        let middle = start + split_point(end - start);
        if index < middle {
            siblings.push(subtree_root(reader, middle, end)?);
            end = middle;
        } else {
            siblings.push(subtree_root(reader, start, middle)?);
            start = middle;
        }
    }
    siblings.reverse();
    Ok(Ok(siblings))
}

/// Checks a proof: RFC 9162 section 2.1.3.2.
pub fn verify(
    index: u64,
    size: TreeSize,
    leaf_hash: &Digest,
    proof: &[Digest],
    root: &Digest,
) -> Result<(), ProofError> {
    if root_from_proof(index, size, leaf_hash, proof)? == *root {
        Ok(())
    } else {
        Err(ProofError::Root)
    }
}

/// The root that a proof leads to: for callers that hold the root in another form.
///
/// A proof of the wrong length leads nowhere. Nothing is said about the root itself.
pub fn root_from_proof(
    index: u64,
    size: TreeSize,
    leaf_hash: &Digest,
    proof: &[Digest],
) -> Result<Digest, ProofError> {
    if index >= size.get() {
        return Err(ProofError::IndexOutOfRange { index, size: size.get() });
    }
    let expected = proof_length(index, size);
    if proof.len() != expected {
        return Err(ProofError::Length { expected, actual: proof.len() });
    }
    let mut fn_ = index;
    let mut sn = size.get() - 1;
    let mut hash = *leaf_hash;
    for sibling in proof {
        if fn_ & 1 == 1 || fn_ == sn {
            hash = node_hash(sibling, &hash);
            // At the right edge the levels without a sibling are skipped.
            while fn_ & 1 == 0 && fn_ != 0 {
                fn_ >>= 1;
                sn >>= 1;
            }
        } else {
            hash = node_hash(&hash, sibling);
        }
        fn_ >>= 1;
        sn >>= 1;
    }
    Ok(hash)
}

/// The number of hashes in the proof of a leaf: one per level below the point where the paths to the
/// leaf and to the last leaf part, then one per left sibling of the right edge.
fn proof_length(index: u64, size: TreeSize) -> usize {
    let last = size.get() - 1;
    let inner = 64 - (index ^ last).leading_zeros();
    let border = index.checked_shr(inner).unwrap_or(0).count_ones();
    usize::try_from(inner + border).unwrap_or(usize::MAX)
}
