//! The bytes of tiles and entry bundles.

use super::{TileError, Width};
use crate::digest::Digest;

/// Reads the bytes of a tile.
pub fn parse_tile(bytes: &[u8], width: Width) -> Result<Vec<Digest>, TileError> {
    let expected = usize::from(width.get()) * 32;
    if bytes.len() != expected {
        return Err(TileError::TileLength { expected, actual: bytes.len() });
    }
    let (hashes, _) = bytes.as_chunks::<32>();
    Ok(hashes.iter().map(|hash| Digest::from_bytes(*hash)).collect())
}

/// Appends one entry to a bundle: big-endian `u16` length, then the bytes.
pub fn push_entry(bundle: &mut Vec<u8>, entry: &[u8]) -> Result<(), TileError> {
    let length =
        u16::try_from(entry.len()).map_err(|_| TileError::EntryTooLong { length: entry.len() })?;
    bundle.extend_from_slice(&length.to_be_bytes());
    bundle.extend_from_slice(entry);
    Ok(())
}

/// Reads a bundle of exactly `width` entries.
pub fn parse_bundle(bytes: &[u8], width: Width) -> Result<Vec<&[u8]>, TileError> {
    let expected = usize::from(width.get());
    let mut entries = Vec::with_capacity(expected);
    let mut rest = bytes;
    while !rest.is_empty() {
        if entries.len() == expected {
            return Err(TileError::BundleCount { expected, actual: expected });
        }
        let entry = entries.len();
        let (length, after) =
            rest.split_first_chunk::<2>().ok_or(TileError::BundleTruncated { entry })?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (bytes, after) =
            after.split_at_checked(length).ok_or(TileError::BundleTruncated { entry })?;
        entries.push(bytes);
        rest = after;
    }
    if entries.len() == expected {
        Ok(entries)
    } else {
        Err(TileError::BundleCount { expected, actual: entries.len() })
    }
}
