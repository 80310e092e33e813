//! Compares the engine's files with checksums that the engine writes and doesn't look at.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use fjall::AbstractTree;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use crate::index::{Damage, IndexError};

/// Refuses a directory in which a manifest is not the one whose checksum stands beside it.
///
/// A manifest (`keyspaces/<n>/v<id>`) names the tables of a keyspace; its checksum is in
/// `keyspaces/<n>/current`. The engine asserts what it reads from one, with its locks held, and that ends the
/// whole process. Damage must lead to a rebuild instead.
pub(super) fn check_manifests(directory: &Path) -> Result<(), IndexError> {
    let keyspaces = match fs::read_dir(directory.join("keyspaces")) {
        Ok(keyspaces) => keyspaces,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for keyspace in keyspaces {
        let keyspace = keyspace?.path();
        let current = match fs::read(keyspace.join("current")) {
            Ok(current) => current,
            // A crash came before the keyspace was finished; the engine drops it.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        let (id, checksum) = read_current(&current).ok_or(IndexError::Damaged(Damage::Engine))?;
        if xxh3_128(&fs::read(keyspace.join(format!("v{id}")))?) != checksum {
            return Err(IndexError::Damaged(Damage::Engine));
        }
    }
    Ok(())
}

/// Refuses a tree in which a table is not the one whose checksum is in the manifest. This reads all of them.
///
/// The engine checks the blocks that it reads; walking over the rows, it reads no filters.
pub(super) fn check_tables(tree: &impl AbstractTree) -> Result<(), IndexError> {
    let mut buffer = vec![0; 1 << 20];
    for table in tree.current_version().iter_tables() {
        let mut file = File::open(&*table.path)?;
        let mut checksum = Xxh3Default::new();
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            checksum.update(buffer.get(..read).unwrap_or_default());
        }
        if checksum.digest128() != table.checksum().into_u128() {
            return Err(IndexError::Damaged(Damage::Engine));
        }
    }
    Ok(())
}

/// The number of the newest manifest and its checksum: eight and sixteen bytes, little-endian, and a zero
/// that says which checksum it is.
fn read_current(bytes: &[u8]) -> Option<(u64, u128)> {
    let (id, rest) = bytes.split_first_chunk::<8>()?;
    let (checksum, rest) = rest.split_first_chunk::<16>()?;
    (rest == [0]).then(|| (u64::from_le_bytes(*id), u128::from_le_bytes(*checksum)))
}
