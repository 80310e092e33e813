//! Digests of files of any size, read once in pieces.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::{HashAlgorithm, Imprint};
use sha2::{Sha256, Sha384, Sha512};

/// Hashes everything a file holds with SHA-256; `progress` is told of every piece, in bytes.
pub fn digest_file(path: &Path, progress: impl FnMut(u64)) -> io::Result<Digest> {
    Ok(Digest::from_bytes(hash_file::<Sha256>(path, progress)?.into()))
}

/// Hashes everything a file holds, for a time stamp. SHA-1 is for what others made, and unsupported here.
pub fn imprint_file(
    path: &Path,
    algorithm: HashAlgorithm,
    progress: impl FnMut(u64),
) -> io::Result<Imprint> {
    let digest = match algorithm {
        HashAlgorithm::Sha256 => hash_file::<Sha256>(path, progress)?.to_vec(),
        HashAlgorithm::Sha384 => hash_file::<Sha384>(path, progress)?.to_vec(),
        HashAlgorithm::Sha512 => hash_file::<Sha512>(path, progress)?.to_vec(),
        _ => return Err(io::Error::from(io::ErrorKind::Unsupported)),
    };
    // The digest has the length of its algorithm.
    Imprint::new(algorithm, digest).map_err(io::Error::other)
}

fn hash_file<H: sha2::Digest>(
    path: &Path,
    mut progress: impl FnMut(u64),
) -> io::Result<sha2::digest::Output<H>> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    let mut hasher = H::new();
    let mut buffer = vec![0_u8; PIECE];
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize()),
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
            for algorithm in [HashAlgorithm::Sha256, HashAlgorithm::Sha384, HashAlgorithm::Sha512] {
                let imprint = imprint_file(&path, algorithm, |_| {}).unwrap();
                assert_eq!(imprint, Imprint::of_data(algorithm, &bytes));
            }
            let error = imprint_file(&path, HashAlgorithm::Sha1, |_| {}).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::Unsupported);
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
