//! The witness' key: a file of its own, and its public half beside the statements.

use std::path::{Path, PathBuf};

use anchorlog_client::durable;
use anchorlog_proto::encoding::{hex_decode_array, hex_encode};
use anchorlog_proto::jp::witness::{WitnessKey, WitnessSigner};

use super::error::CheckpointWitnessError;
use crate::keys::{KeyOrigin, LogKey};

/// Where the key is.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "whoever opens a witness fills it in")]
pub struct KeyFiles {
    /// The private key.
    pub private: PathBuf,
    /// The public key in hexadecimal digits, written once: the statements' own.
    pub public: PathBuf,
}

impl KeyFiles {
    /// Reads the private key. It is made if `may_create` and nothing was ever signed here.
    ///
    /// `log_keys` are the public keys of the log: the witness' own must be none of them.
    pub fn signer(
        &self,
        log_keys: &[[u8; 32]],
        may_create: bool,
    ) -> Result<(WitnessSigner, KeyOrigin), CheckpointWitnessError> {
        let path = self.private.clone();
        if !path.exists() && (self.public.exists() || !may_create) {
            return Err(CheckpointWitnessError::KeyMissing { path });
        }
        let (key, origin) = LogKey::load_or_create(&path)?;
        let signer = key.witness_signer();
        if log_keys.contains(signer.key().as_bytes()) {
            return Err(CheckpointWitnessError::LogKey { path });
        }
        if !self.public.exists() {
            let text = hex_encode(signer.key().as_bytes()) + "\n";
            durable::write_replace(&self.public, text.as_bytes())?;
        } else if self.public_key()? != signer.key() {
            return Err(CheckpointWitnessError::OtherKey { path: self.public.clone() });
        }
        Ok((signer, origin))
    }

    /// The public key that is kept beside the statements.
    pub fn public_key(&self) -> Result<WitnessKey, CheckpointWitnessError> {
        read_public_key(&self.public)
    }
}

/// Reads a public key from a file: 64 hexadecimal digits.
pub fn read_public_key(path: &Path) -> Result<WitnessKey, CheckpointWitnessError> {
    let read = |source| CheckpointWitnessError::Read { path: path.to_path_buf(), source };
    let text = std::fs::read(path).map_err(read)?;
    let text = std::str::from_utf8(text.trim_ascii()).ok();
    let bytes = text.and_then(|text| hex_decode_array::<32>(text).ok());
    let key = bytes.and_then(|bytes| WitnessKey::from_bytes(&bytes).ok());
    key.ok_or_else(|| CheckpointWitnessError::PublicKey { path: path.to_path_buf() })
}
