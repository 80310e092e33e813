//! `[witness]`: this program as a witness for other logs.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{ConfigError, DEFAULT_KEY_FILE, bounded};
use crate::witness::{MAX_KEYS, MAX_LOGS};

/// The name of a witness that nobody named: good for trying it out on one machine, and for nothing else.
pub const DEFAULT_WITNESS: &str = "localhost/anchorlog-witness";

/// `[witness]`: identity and place of the witness, and the logs it knows.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WitnessConfig {
    /// The name of the witness' key.
    pub name: String,
    /// The data directory; none but the witness uses it.
    pub data: PathBuf,
    /// Where HTTP is served.
    pub listen: SocketAddr,
    /// The private key file; empty means [`DEFAULT_KEY_FILE`] in the data directory.
    pub key_file: PathBuf,
    /// The file of a second key, of type 0x06 (ML-DSA-44); empty means none. Only in builds with the feature.
    pub ml_dsa_key_file: PathBuf,
    /// The logs it cosigns.
    pub logs: Vec<WitnessedLogConfig>,
}

/// `[[witness.logs]]`: one log.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WitnessedLogConfig {
    /// The first line of its checkpoints; empty means the name of the first key.
    #[serde(default)]
    pub origin: String,
    /// Its verifier keys, one of which has to have signed.
    pub keys: Vec<String>,
}

impl WitnessConfig {
    /// Returns the private key file, with the default filled in.
    #[must_use]
    pub fn key_path(&self) -> PathBuf {
        if self.key_file.as_os_str().is_empty() {
            self.data.join(DEFAULT_KEY_FILE)
        } else {
            self.key_file.clone()
        }
    }

    /// Checks every value against its bounds.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if !self.ml_dsa_key_file.as_os_str().is_empty() && !cfg!(feature = "ml-dsa") {
            return Err(ConfigError::NoMlDsa);
        }
        bounded("witness.logs (length)", &self.logs.len(), &0, &MAX_LOGS)?;
        for log in &self.logs {
            bounded("witness.logs.keys (length)", &log.keys.len(), &1, &MAX_KEYS)?;
        }
        Ok(())
    }
}

impl Default for WitnessConfig {
    fn default() -> Self {
        Self {
            name: DEFAULT_WITNESS.to_owned(),
            data: PathBuf::from("witness-data"),
            listen: SocketAddr::from(([127, 0, 0, 1], 7393)),
            key_file: PathBuf::new(),
            ml_dsa_key_file: PathBuf::new(),
            logs: Vec::new(),
        }
    }
}
