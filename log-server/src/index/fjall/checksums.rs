//! Compares the engine's files with checksums that the engine writes and doesn't look at.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use fjall::AbstractTree;
use lsm_tree::Table;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use crate::index::{Damage, IndexError};

/// Bytes of the trailer of a table.
const TRAILER_BYTES: u64 = 38;

/// The longest table of contents that is read. It names some ten sections.
const MAX_CONTENTS_BYTES: u64 = 64 << 10;

/// Refuses a directory that the engine can't open without ending the whole process. Damage must lead to a
/// rebuild instead.
///
/// A manifest (`keyspaces/<n>/v<id>`) names the tables of a keyspace; its checksum is in
/// `keyspaces/<n>/current`. The engine asserts what it reads from one, with its locks held. A table
/// (`keyspaces/<n>/tables/<id>`) ends with its table of contents and a trailer with the checksum of that. The
/// engine takes memory for as many entries as it announces, and then looks at the checksum.
pub(super) fn check_before_opening(directory: &Path) -> Result<(), IndexError> {
    for keyspace in entries(&directory.join("keyspaces"))? {
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
        for table in entries(&keyspace.join("tables"))? {
            check_contents(&File::open(table)?)?;
        }
    }
    Ok(())
}

/// What is in a directory; nothing when it isn't there.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, IndexError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// Refuses a table whose table of contents is not the one that its trailer has a checksum of. One without a
/// trailer is left to the engine: a crash may have come before it was written.
fn check_contents(table: &File) -> Result<(), IndexError> {
    let damaged = || IndexError::Damaged(Damage::Engine);
    let Some(end) = table.metadata()?.len().checked_sub(TRAILER_BYTES) else { return Ok(()) };
    let mut trailer = [0; 38];
    table.read_exact_at(&mut trailer, end)?;
    // Magic, version, kind of checksum, checksum, position, length; numbers little-endian.
    let Some((checksum, rest)) =
        trailer.strip_prefix(b"SFA!\x01\0").and_then(<[u8]>::split_first_chunk)
    else {
        return Ok(());
    };
    let (start, _) = rest.split_first_chunk().ok_or_else(damaged)?;
    let start = u64::from_le_bytes(*start);
    let length = end.checked_sub(start).filter(|length| *length <= MAX_CONTENTS_BYTES);
    let length = usize::try_from(length.ok_or_else(damaged)?).map_err(|_| damaged())?;
    let mut contents = vec![0; length];
    table.read_exact_at(&mut contents, start)?;
    if xxh3_128(&contents) == u128::from_le_bytes(*checksum) { Ok(()) } else { Err(damaged()) }
}

/// Refuses a tree in which a table is not the one whose checksum is in the manifest. This reads all of them.
///
/// The engine checks the blocks that it reads; walking over the rows, it reads no filters.
pub(super) fn check_tables(tree: &impl AbstractTree) -> Result<(), IndexError> {
    tree.current_version().iter_tables().try_for_each(check_table)
}

/// Refuses a table that is not the one whose checksum is in the manifest. This reads all of it.
pub(super) fn check_table(table: &Table) -> Result<(), IndexError> {
    let mut buffer = vec![0; 1 << 20];
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
    Ok(())
}

/// The number of the newest manifest and its checksum: eight and sixteen bytes, little-endian, and a zero
/// that says which checksum it is.
fn read_current(bytes: &[u8]) -> Option<(u64, u128)> {
    let (id, rest) = bytes.split_first_chunk::<8>()?;
    let (checksum, rest) = rest.split_first_chunk::<16>()?;
    (rest == [0]).then(|| (u64::from_le_bytes(*id), u128::from_le_bytes(*checksum)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "the test damages files on purpose")]

    use super::*;
    use crate::index::{Engine, Options, open};

    #[test]
    fn what_would_end_the_process_is_refused_before() {
        let directory = tempfile::tempdir().unwrap();
        drop(open(Engine::Fjall, &Options::new(directory.path())).unwrap());
        check_before_opening(directory.path()).unwrap();

        let keyspace = directory.path().join("keyspaces/0");
        let (id, _) = read_current(&fs::read(keyspace.join("current")).unwrap()).unwrap();
        let table = fs::read_dir(keyspace.join("tables")).unwrap().next().unwrap().unwrap().path();
        let length = fs::read(&table).unwrap().len();
        let contents = {
            let bytes = fs::read(&table).unwrap();
            let start: [u8; 8] = bytes[length - 16..length - 8].try_into().unwrap();
            usize::try_from(u64::from_le_bytes(start)).unwrap()
        };
        // Of the trailer: the checksum and the position.
        let of_table = (contents..length - 38).chain(length - 32..length - 8);
        for (path, positions) in [
            (keyspace.join("current"), (0..25).collect::<Vec<_>>()),
            (keyspace.join(format!("v{id}")), (0..300).collect()),
            (table, of_table.collect()),
        ] {
            let original = fs::read(&path).unwrap();
            for position in positions {
                let mut damaged = original.clone();
                damaged[position] ^= 0xff;
                fs::write(&path, damaged).unwrap();
                let refused = check_before_opening(directory.path());
                assert!(refused.is_err(), "{}: {position}", path.display());
            }
            fs::write(&path, original).unwrap();
        }
        check_before_opening(directory.path()).unwrap();
    }
}
