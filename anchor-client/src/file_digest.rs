//! Digests of files of any size, read once in pieces.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::{HashAlgorithm, Imprint, ImprintHasher};
use sha2::{Digest as _, Sha256};

/// Hashes everything a file holds with SHA-256; `progress` is told of every piece, in bytes.
pub fn digest_file(path: &Path, progress: impl FnMut(u64)) -> io::Result<Digest> {
    let mut hasher = Sha256::new();
    read_pieces(path, progress, |piece| hasher.update(piece))?;
    Ok(Digest::from_bytes(hasher.finalize().into()))
}

/// Hashes everything a file holds, for a time stamp.
pub fn imprint_file(
    path: &Path,
    algorithm: HashAlgorithm,
    progress: impl FnMut(u64),
) -> io::Result<Imprint> {
    let mut hasher = ImprintHasher::new(algorithm);
    read_pieces(path, progress, |piece| hasher.update(piece))?;
    Ok(hasher.finish())
}

fn read_pieces(
    path: &Path,
    mut progress: impl FnMut(u64),
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    let mut buffer = vec![0_u8; PIECE];
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        // `read` never says more than the buffer holds.
        take(buffer.get(..read).unwrap_or_default());
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
            for algorithm in HashAlgorithm::ALL {
                let imprint = imprint_file(&path, algorithm, |_| {}).unwrap();
                assert_eq!(imprint, Imprint::of_data(algorithm, &bytes));
            }
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
