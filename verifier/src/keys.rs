//! Private key files: PKCS#8 PEM with an Ed25519 key, for its owner's eyes only.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anchorlog_proto::signed_object::SigningKey;
use ed25519_dalek::pkcs8::DecodePrivateKey;
use zeroize::Zeroizing;

/// Reads a private key in the form that `openssl genpkey -algorithm ed25519` and `log-server keygen`
/// write. A file that group or others can read or write is refused: such a key is no longer its owner's.
pub fn read_signing_key(path: &Path) -> Result<SigningKey, KeyFileError> {
    let seed = read_ed25519_seed(path)?;
    Ok(SigningKey::from_seed(&seed))
}

/// As [`read_signing_key`], but the 32 secret bytes themselves, for keys of another type. They are wiped
/// when dropped.
pub fn read_ed25519_seed(path: &Path) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
    let at = || path.to_path_buf();
    let mut file = File::open(path).map_err(|source| KeyFileError::Read { path: at(), source })?;
    // Of the open file, not of the name: the name could be switched in between.
    let metadata = file.metadata().map_err(|source| KeyFileError::Read { path: at(), source })?;
    if !metadata.is_file() {
        return Err(KeyFileError::NotAFile { path: at() });
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::Exposed { path: at(), mode });
    }
    let mut text = Zeroizing::new(String::with_capacity(MAX_KEY_FILE_BYTES));
    let limit = u64::try_from(MAX_KEY_FILE_BYTES).unwrap_or(u64::MAX);
    match file.by_ref().take(limit).read_to_string(&mut text) {
        Ok(length) if length >= MAX_KEY_FILE_BYTES => {
            return Err(KeyFileError::Syntax { path: at() });
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(KeyFileError::Syntax { path: at() });
        }
        Err(source) => return Err(KeyFileError::Read { path: at(), source }),
    }
    let key = ed25519_dalek::SigningKey::from_pkcs8_pem(&text)
        .map_err(|_| KeyFileError::Syntax { path: at() })?;
    Ok(Zeroizing::new(key.to_bytes()))
}

/// Why a key file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// Others can read or write it.
    #[error(
        "{}: others can read or change this private key (mode {mode:03o}); \
         run `chmod 600` on it, and replace the key if it may have been seen",
        path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A directory or device.
    #[error("{}: is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The operating system says no.
    #[error("{}: can't be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Not a PKCS#8 PEM file with an Ed25519 key. The content is never quoted.
    #[error(
        "{}: is not an Ed25519 private key in PKCS#8 PEM; \
         `openssl genpkey -algorithm ed25519 -out FILE` makes one",
        path.display()
    )]
    Syntax {
        /// The file.
        path: PathBuf,
    },
}

impl KeyFileError {
    /// The stable code of the refusal.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Exposed { .. } => "CLIENT.KEY_EXPOSED",
            Self::NotAFile { .. } | Self::Read { .. } => "CLIENT.KEY_FILE",
            Self::Syntax { .. } => "CLIENT.KEY_SYNTAX",
        }
    }
}

/// A key takes 119 bytes; whatever is longer than this is something else.
const MAX_KEY_FILE_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        clippy::unwrap_used,
        reason = "a test makes its own files and fails by panicking"
    )]

    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// RFC 8410 section 10.3.
    const PEM: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
        -----END PRIVATE KEY-----\n";

    fn read(content: &[u8], mode: u32) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key.pem");
        fs::write(&path, content).unwrap();
        // Not through the umask.
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        read_ed25519_seed(&path)
    }

    #[test]
    fn reads_the_example_of_rfc_8410() {
        let seed = read(PEM.as_bytes(), 0o600).unwrap();
        assert_eq!(
            anchorlog_proto::encoding::hex_encode(&*seed),
            "d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842"
        );
        assert!(read(PEM.as_bytes(), 0o400).is_ok());
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        for mode in [0o640, 0o604, 0o620, 0o601] {
            let error = read(PEM.as_bytes(), mode).unwrap_err();
            assert_eq!(error.code(), "CLIENT.KEY_EXPOSED", "{mode:o}");
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
    }

    #[test]
    fn other_contents_are_refused_without_quoting_them() {
        let public = "-----BEGIN PUBLIC KEY-----\n\
            MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
            -----END PUBLIC KEY-----\n";
        let long = "A".repeat(5000);
        for content in [public, "", "hunter2", &PEM[..80], &long] {
            let error = read(content.as_bytes(), 0o600).unwrap_err();
            assert_eq!(error.code(), "CLIENT.KEY_SYNTAX");
            assert!(!error.to_string().contains("hunter2"));
        }
        assert_eq!(read(b"\xff\xfe", 0o600).unwrap_err().code(), "CLIENT.KEY_SYNTAX");
    }

    #[test]
    fn directories_and_missing_files_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = read_ed25519_seed(directory.path()).unwrap_err();
        assert!(matches!(error, KeyFileError::NotAFile { .. }));
        let missing = directory.path().join("missing.pem");
        let error = read_ed25519_seed(&missing).unwrap_err();
        assert!(error.to_string().contains("missing.pem"), "{error}");
        assert!(fs::read_dir(directory.path()).unwrap().next().is_none());
    }
}
