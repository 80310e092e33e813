//! SHA-256 of files of any size, read once in pieces.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anchorlog_proto::Digest;
use sha2::{Digest as _, Sha256};

/// Hashes everything a file holds; `progress` is told of every piece, in bytes.
pub fn digest_file(path: &Path, mut progress: impl FnMut(u64)) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    let mut hasher = Sha256::new();
    let mut buffer = vec![0_u8; PIECE];
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(Digest::from_bytes(hasher.finalize().into())),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        // `read` never says more than the buffer holds.
        hasher.update(buffer.get(..read).unwrap_or_default());
        progress(u64::try_from(read).unwrap_or(u64::MAX));
    }
}

/// Large enough that system calls don't count, small enough for the second-level cache.
const PIECE: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable;

    #[test]
    fn equals_hashing_at_once_and_counts_every_byte() {
        let root = tempfile::tempdir().unwrap();
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7] {
            let bytes: Vec<u8> = (0_u8..=250).cycle().take(length).collect();
            let path = root.path().join("file");
            durable::write_replace(&path, &bytes).unwrap();
            let mut seen = 0;
            assert_eq!(digest_file(&path, |n| seen += n).unwrap(), Digest::of(&bytes));
            assert_eq!(usize::try_from(seen).unwrap(), length);
        }
    }

    #[test]
    fn directories_and_missing_files_are_errors() {
        let root = tempfile::tempdir().unwrap();
        let error = digest_file(root.path(), |_| {}).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        let error = digest_file(&root.path().join("missing"), |_| {}).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
