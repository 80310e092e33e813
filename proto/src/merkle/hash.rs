//! RFC 6962 section 2.1: leaves and nodes are hashed apart, so that neither can stand for the other.

use crate::digest::Digest;

/// Hash of a leaf: SHA-256(0x00 || entry).
#[must_use]
pub fn leaf_hash(entry: &[u8]) -> Digest {
    Digest::of_parts(&[&[0x00], entry])
}

/// Hash of an inner node: SHA-256(0x01 || left || right).
#[must_use]
pub fn node_hash(left: &Digest, right: &Digest) -> Digest {
    // One update over one buffer: the two compressions are all the work there is.
    let mut input = [0x01; 65];
    input[1..33].copy_from_slice(left.as_bytes());
    input[33..].copy_from_slice(right.as_bytes());
    Digest::of(&input)
}

/// Root of the empty tree: SHA-256 of nothing.
#[must_use]
pub fn empty_root() -> Digest {
    Digest::of(&[])
}
