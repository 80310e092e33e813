//! Consistency proofs: the older tree is a prefix of the newer one.

use super::node::{NodeReader, subtree_root};
use super::{ProofError, TreeSize, node_hash, split_point};
use crate::digest::Digest;

/// Makes the proof of RFC 6962 section 2.1.2, PROOF(from, D\[to\]). From size 0, and between equal sizes, it
/// is empty.
///
/// The outer error is the reader's; the inner one says that the sizes are the wrong way round.
pub fn prove<R: NodeReader>(
    reader: &R,
    from: TreeSize,
    to: TreeSize,
) -> Result<Result<Vec<Digest>, ProofError>, R::Error> {
    let (older, newer) = (from.get(), to.get());
    if older > newer {
        return Ok(Err(ProofError::SizesReversed { from: older, to: newer }));
    }
    if older == 0 || older == newer {
        return Ok(Ok(Vec::new()));
    }
    let (mut start, mut end) = (0, newer);
    // True while the subtree begins with the first leaf: then a subtree that is complete in the older
    // tree has the older root itself for hash, which the verifier knows.
    let mut known = true;
    let mut hashes = Vec::new();
    while older != end {
        let middle = start + split_point(end - start);
        if older <= middle {
            hashes.push(subtree_root(reader, middle, end)?);
            end = middle;
        } else {
            hashes.push(subtree_root(reader, start, middle)?);
            start = middle;
            known = false;
        }
    }
    if !known {
        hashes.push(subtree_root(reader, start, end)?);
    }
    hashes.reverse();
    Ok(Ok(hashes))
}

/// Checks a proof: RFC 9162 section 2.1.4.2.
///
/// Every tree extends the empty one, so from size 0 only an empty proof is right and nothing is compared
/// but the older root, which must be the empty root. Trees of equal size must have equal roots, empty ones
/// too.
pub fn verify(
    from: TreeSize,
    to: TreeSize,
    from_root: &Digest,
    to_root: &Digest,
    proof: &[Digest],
) -> Result<(), ProofError> {
    let (older, newer) = (from.get(), to.get());
    if older > newer {
        return Err(ProofError::SizesReversed { from: older, to: newer });
    }
    let expected = proof_length(older, newer);
    if proof.len() != expected {
        return Err(ProofError::Length { expected, actual: proof.len() });
    }
    if older == 0 && *from_root != super::empty_root() {
        return Err(ProofError::OldRoot);
    }
    if older == newer && from_root != to_root {
        return Err(ProofError::Root);
    }
    if older == 0 || older == newer {
        return Ok(());
    }
    let mut fn_ = older - 1;
    let mut sn = newer - 1;
    let shift = fn_.trailing_ones();
    fn_ >>= shift;
    sn >>= shift;
    let mut rest = proof.iter();
    // A complete older tree is itself the first hash.
    let first = if older.is_power_of_two() { Some(from_root) } else { rest.next() };
    let Some(first) = first else { return Err(ProofError::Length { expected, actual: 0 }) };
    let (mut old_hash, mut new_hash) = (*first, *first);
    for sibling in rest {
        if fn_ & 1 == 1 || fn_ == sn {
            old_hash = node_hash(sibling, &old_hash);
            new_hash = node_hash(sibling, &new_hash);
            while fn_ & 1 == 0 && fn_ != 0 {
                fn_ >>= 1;
                sn >>= 1;
            }
        } else {
            new_hash = node_hash(&new_hash, sibling);
        }
        fn_ >>= 1;
        sn >>= 1;
    }
    if old_hash != *from_root {
        Err(ProofError::OldRoot)
    } else if new_hash != *to_root {
        Err(ProofError::Root)
    } else {
        Ok(())
    }
}

/// The number of hashes in the proof between two sizes.
fn proof_length(older: u64, newer: u64) -> usize {
    if older == 0 || older == newer {
        return 0;
    }
    // The proof climbs from the last complete subtree of the older tree, the way an inclusion proof
    // climbs from a leaf, and names that subtree first unless it is the whole older tree.
    let shift = older.trailing_zeros();
    let (node, last) = ((older >> shift) - 1, (newer - 1) >> shift);
    let inner = 64 - (node ^ last).leading_zeros();
    let border = node.checked_shr(inner).unwrap_or(0).count_ones();
    let seed = u32::from(!older.is_power_of_two());
    usize::try_from(inner + border + seed).unwrap_or(usize::MAX)
}
