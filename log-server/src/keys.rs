//! The log's private key: one Ed25519 seed in a PKCS#8 PEM file that nobody but its owner can read.
//!
//! What it is: making, reading, importing and exporting that file, and nothing about when to sign. The file
//! holds the seed alone (RFC 8410, version 1, as OpenSSL writes it); the name that belongs to the key is
//! the log's origin and comes from the configuration. Go's note key form, which carries both, is for moving
//! a key between logs of different makes. Secrets are wiped from memory when they are dropped.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anchorlog_client::durable::{self, DurableError};
use anchorlog_client::keys::{self, KeyFileError as PemFileError};
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::encoding;
use anchorlog_proto::jp::witness::WitnessSigner;
use anchorlog_proto::note::{KeyError as NoteKeyError, KeyName, NoteSigner, VerifierKey};
use anchorlog_proto::signed_object::SigningKey;
use zeroize::{Zeroize, Zeroizing};

/// The private key of a log.
#[derive(Clone)]
pub struct LogKey(Zeroizing<[u8; 32]>);

impl LogKey {
    /// Draws a new key from the system's random source.
    pub fn generate() -> Result<Self, KeyFileError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut_slice()).map_err(|_| KeyFileError::Random)?;
        Ok(Self(seed))
    }

    /// Reads a key file, as the client reads its own: PKCS#8 PEM with one Ed25519 key, in a regular file
    /// that group and others can neither read nor write (what they could read they may have read).
    pub fn load(path: &Path) -> Result<Self, KeyFileError> {
        Ok(Self(keys::read_ed25519_seed(path)?))
    }

    /// Writes the key to a new file, readable and writable by its owner only, durable on return.
    ///
    /// An existing file is never overwritten: it may be the only copy of a log's key.
    pub fn write_new(&self, path: &Path) -> Result<(), KeyFileError> {
        Ok(write_secret(path, &self.to_pem())?)
    }

    /// Reads the key file, or makes a new key and its file if there is no file. Tells which it was.
    pub fn load_or_create(path: &Path) -> Result<(Self, KeyOrigin), KeyFileError> {
        match Self::load(path) {
            Err(error) if error.is_not_found() => {
                let key = Self::generate()?;
                key.write_new(path)?;
                Ok((key, KeyOrigin::Created))
            }
            found => Ok((found?, KeyOrigin::Found)),
        }
    }

    /// Writes PKCS#8 PEM, version 1, as OpenSSL does (RFC 8410 section 7).
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        let mut der = Zeroizing::new([0; PKCS8_HEAD.len() + 32]);
        let (head, seed) = der.split_at_mut(PKCS8_HEAD.len());
        head.copy_from_slice(&PKCS8_HEAD);
        seed.copy_from_slice(self.0.as_slice());
        // Room for everything at once: a string that grows leaves its old bytes behind.
        let mut pem = Zeroizing::new(String::with_capacity(128));
        pem.push_str("-----BEGIN PRIVATE KEY-----\n");
        // 48 bytes make exactly the 64 characters of one line (RFC 7468 section 2).
        encoding::base64_encode_into(der.as_slice(), &mut pem);
        pem.push_str("\n-----END PRIVATE KEY-----\n");
        pem
    }

    /// Reads Go's note key form, `PRIVATE+KEY+<name>+<id>+<base64>`, and returns the name with the key.
    pub fn from_note_key(text: &str) -> Result<(KeyName, Self), NoteKeyError> {
        let signer: NoteSigner = text.parse()?;
        let text = signer.to_skey();
        // The parser has accepted it: five parts, the last of which is the type byte and the seed.
        let encoded = text.splitn(5, '+').nth(4).unwrap_or_default();
        let mut typed: [u8; 33] =
            encoding::base64_decode_array(encoded).map_err(|_| NoteKeyError::Base64)?;
        let mut seed = Zeroizing::new([0; 32]);
        let (_type, bytes) = typed.split_at(1);
        seed.copy_from_slice(bytes);
        typed.zeroize();
        Ok((signer.verifier_key().name().clone(), Self(seed)))
    }

    /// Writes Go's note key form.
    #[must_use]
    pub fn to_note_key(&self, name: &KeyName) -> Zeroizing<String> {
        self.signer(name).to_skey()
    }

    /// Returns the signer of a log of this name.
    #[must_use]
    pub fn signer(&self, name: &KeyName) -> NoteSigner {
        NoteSigner::from_seed(name.clone(), *self.0)
    }

    /// Returns the cosigner of a witness of this name.
    #[must_use]
    pub fn cosigner(&self, name: &KeyName) -> CosignerKey {
        CosignerKey::from_seed(name.clone(), *self.0)
    }

    /// Returns the public half as a log of this name publishes it.
    #[must_use]
    pub fn verifier_key(&self, name: &KeyName) -> VerifierKey {
        self.signer(name).verifier_key().clone()
    }

    /// Returns the signer of a witness of audit trails' checkpoints.
    #[must_use]
    pub fn witness_signer(&self) -> WitnessSigner {
        WitnessSigner::from_seed(&self.0)
    }

    fn public_key(&self) -> [u8; 32] {
        *SigningKey::from_seed(&self.0).public_key().as_bytes()
    }
}

impl fmt::Debug for LogKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogKey({})", encoding::base64_encode(&self.public_key()))
    }
}

/// Where a key came from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyOrigin {
    /// It was made just now.
    Created,
    /// Its file was there.
    Found,
}

/// Reads a file with a key in Go's note form, under the same conditions as [`LogKey::load`].
pub fn read_note_key(path: &Path) -> Result<(KeyName, LogKey), KeyFileError> {
    let text = read_secret(path, MAX_NOTE_KEY)?;
    LogKey::from_note_key(text.trim_end_matches('\n'))
        .map_err(|source| KeyFileError::NoteKey { path: path.into(), source })
}

/// Reads the first `limit` bytes of a text file that only its owner can read or change.
pub(crate) fn read_secret(path: &Path, limit: usize) -> Result<Zeroizing<String>, KeyFileError> {
    let failed = |source| KeyFileError::Read { path: path.into(), source };
    let file = File::open(path).map_err(failed)?;
    // Asked of the open file, not of the path: nothing can be exchanged in between.
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(KeyFileError::NotAFile { path: path.into() });
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::Exposed { path: path.into(), mode });
    }
    let mut text = Zeroizing::new(String::with_capacity(limit));
    let most = u64::try_from(limit).unwrap_or(u64::MAX);
    file.take(most).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// Writes a secret to a new file that only its owner can read.
pub fn write_secret(path: &Path, text: &str) -> Result<(), DurableError> {
    durable::write_new(path, text.as_bytes(), MODE)
}

/// Why a key file can't be used or made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// Others than the owner have permissions on a file with a note key.
    #[error("{}: others can read or change this private key (mode {mode:03o}); run `chmod 600` on it, and replace the key if it may have been seen", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The path of a note key leads to a directory, a device or the like.
    #[error("{}: not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The text isn't a note key.
    #[error("{}: {source}", path.display())]
    NoteKey {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: NoteKeyError,
    },
    /// The PEM file can't be used.
    #[error(transparent)]
    Pem(#[from] PemFileError),
    /// The system gives no random bytes.
    #[error("the system's random source doesn't answer, so no key can be made")]
    Random,
    /// A file with a note key can't be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The file can't be written.
    #[error("the key file can't be written: {0}")]
    Write(#[from] DurableError),
}

impl KeyFileError {
    /// Whether there is no such file.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        let (Self::Read { source, .. } | Self::Pem(PemFileError::Read { source, .. })) = self
        else {
            return false;
        };
        source.kind() == io::ErrorKind::NotFound
    }
}

/// RFC 8410 section 7: everything of the DER before the 32 bytes of the seed; it is always the same.
const PKCS8_HEAD: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// Read and write for the owner, nothing for others.
const MODE: u32 = 0o600;

/// Bytes of the longest note key file read.
const MAX_NOTE_KEY: usize = 4096;

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::disallowed_methods,
        reason = "tests make files and may fail loudly"
    )]

    use std::fs;

    use super::*;

    /// RFC 8410 section 10.3, first example.
    const PEM: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
        -----END PRIVATE KEY-----\n";
    const PUBLIC: &str = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
    /// The signing vector of Go's note package.
    const NOTE_KEY: &str =
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
    const VKEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

    fn name() -> KeyName {
        KeyName::new("example.com/log").unwrap()
    }

    fn file(directory: &tempfile::TempDir, text: &str, mode: u32) -> PathBuf {
        let path = directory.path().join("key");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn pem_is_read_and_written_as_openssl_does() {
        let directory = tempfile::tempdir().unwrap();
        let key = LogKey::load(&file(&directory, PEM, 0o600)).unwrap();
        assert_eq!(encoding::base64_encode(&key.public_key()), PUBLIC);
        assert_eq!(key.to_pem().as_str(), PEM);
        assert_eq!(format!("{key:?}"), format!("LogKey({PUBLIC})"));
    }

    #[test]
    fn the_note_key_form_goes_in_and_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = file(&directory, &format!("{NOTE_KEY}\n"), 0o400);
        let (name, key) = read_note_key(&path).unwrap();
        assert_eq!(name.as_str(), "PeterNeumann");
        assert_eq!(key.verifier_key(&name).to_string(), VKEY);
        assert_eq!(key.to_note_key(&name).as_str(), NOTE_KEY);
        let pem = directory.path().join("key.pem");
        key.write_new(&pem).unwrap();
        assert_eq!(LogKey::load(&pem).unwrap().to_note_key(&name).as_str(), NOTE_KEY);
        let wrong = file(&directory, VKEY, 0o600);
        assert!(matches!(read_note_key(&wrong), Err(KeyFileError::NoteKey { .. })));
    }

    #[test]
    fn a_new_key_is_made_once_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key.pem");
        let (made, origin) = LogKey::load_or_create(&path).unwrap();
        assert_eq!(origin, KeyOrigin::Created);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let (found, origin) = LogKey::load_or_create(&path).unwrap();
        assert_eq!(origin, KeyOrigin::Found);
        assert_eq!(made.public_key(), found.public_key());
        assert!(matches!(found.write_new(&path), Err(KeyFileError::Write(_))));
        let other = LogKey::generate().unwrap();
        assert_ne!(other.public_key(), made.public_key());
        assert_ne!(other.verifier_key(&name()), made.verifier_key(&name()));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        for mode in [0o640, 0o604, 0o620, 0o601] {
            let error = LogKey::load(&file(&directory, PEM, mode)).unwrap_err();
            assert!(matches!(error, KeyFileError::Pem(PemFileError::Exposed { .. })), "{error}");
            let error = read_note_key(&file(&directory, NOTE_KEY, mode)).unwrap_err();
            assert!(matches!(error, KeyFileError::Exposed { mode: m, .. } if m == mode), "{error}");
        }
        let error = read_note_key(directory.path()).unwrap_err();
        assert!(matches!(error, KeyFileError::NotAFile { .. }), "{error}");
    }
}
