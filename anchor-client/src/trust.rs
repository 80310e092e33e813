//! Whose signature counts: the keys of a log, and how this client came to know them.
//!
//! A key comes from the command line, from a policy file, or, if there is neither, from the log itself on
//! first use: then it is stored beside the address and never changes again unnoticed. What a log says about
//! its key later is not asked for.

use std::path::{Path, PathBuf};

use anchorlog_proto::note::VerifierKey;
use anchorlog_verifier::finding::Finding;
use anchorlog_verifier::trust::Trust;
use serde::{Deserialize, Serialize};

use crate::address::LogUrl;
use crate::durable::{self, DurableError, MODE_PRIVATE};
use crate::state::{StateDir, read_file};

/// The keys that may sign for a log, and the policy its evidence is judged by.
#[derive(Clone, Debug)]
pub struct LogTrust {
    keys: Vec<VerifierKey>,
    trust: Trust,
    source: TrustSource,
}

/// Where a key is from.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TrustSource {
    /// Given by the caller.
    Given,
    /// Shown by the log now, for the first time, and pinned.
    FirstUse(PathBuf),
    /// Pinned when the log was first used.
    Pinned(PathBuf),
}

impl LogTrust {
    /// Trusts one key, without asking for witnesses.
    pub fn from_vkey(key: &VerifierKey, source: TrustSource) -> Result<Self, TrustError> {
        let trust = Trust::from_vkey(&key.to_string()).map_err(TrustError::policy)?;
        Ok(Self { keys: vec![key.clone()], trust, source })
    }

    /// Trusts the logs and witnesses of a C2SP tlog-policy file.
    pub fn from_policy_file(path: &Path) -> Result<Self, TrustError> {
        let text = read_file(path, MAX_POLICY_BYTES)?
            .ok_or_else(|| TrustError::NoPolicyFile { path: path.to_path_buf() })?;
        Self::from_policy_text(&text, path)
    }

    /// The same from the text of such a file; `path` is what errors call it.
    pub(crate) fn from_policy_text(text: &[u8], path: &Path) -> Result<Self, TrustError> {
        let trust = Trust::from_policy(text).map_err(|finding| TrustError::PolicyFile {
            path: path.to_path_buf(),
            finding: Box::new(finding),
        })?;
        let keys: Vec<_> = trust.policy.logs().iter().map(|log| log.key().clone()).collect();
        if keys.is_empty() {
            return Err(TrustError::NoLog { path: path.to_path_buf() });
        }
        Ok(Self { keys, trust, source: TrustSource::Given })
    }

    /// The keys of the log.
    #[must_use]
    pub fn keys(&self) -> &[VerifierKey] {
        &self.keys
    }

    /// What the verifier judges by.
    #[must_use]
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// How the keys came to be known.
    #[must_use]
    pub fn source(&self) -> &TrustSource {
        &self.source
    }
}

/// The keys shown on first use, one file per address.
#[derive(Clone, Debug)]
pub struct Pins {
    state: StateDir,
}

impl Pins {
    /// The pins within a state directory.
    #[must_use]
    pub fn new(state: StateDir) -> Self {
        Self { state }
    }

    /// The key pinned for an address, and the file it is in.
    pub fn get(&self, log: &LogUrl) -> Result<Option<(VerifierKey, PathBuf)>, TrustError> {
        let path = self.path(log);
        let Some(bytes) = read_file(&path, MAX_PIN_BYTES)? else { return Ok(None) };
        let damaged = || TrustError::DamagedPin { path: path.clone() };
        let pin: Pin = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
        if pin.log != log.as_str() {
            return Err(damaged());
        }
        let key = pin.vkey.parse().map_err(|_| damaged())?;
        Ok(Some((key, path)))
    }

    /// Pins a key, unless somebody else was faster: then theirs is returned. Durable on return.
    pub fn set(
        &self,
        log: &LogUrl,
        key: &VerifierKey,
    ) -> Result<(VerifierKey, PathBuf), TrustError> {
        self.state.directory(PINS)?;
        let path = self.path(log);
        let pin = Pin { log: log.as_str().to_owned(), vkey: key.to_string() };
        let bytes = serde_json::to_vec_pretty(&pin).unwrap_or_default();
        match durable::write_new(&path, &bytes, MODE_PRIVATE) {
            Ok(()) => Ok((key.clone(), path)),
            Err(error) if error.source.kind() == std::io::ErrorKind::AlreadyExists => {
                self.get(log)?.ok_or(TrustError::DamagedPin { path })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn path(&self, log: &LogUrl) -> PathBuf {
        self.state.path(PINS).join(format!("{}.json", log.file_stem()))
    }
}

/// Why it isn't known whom to trust.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// A pin file doesn't say what this client wrote into it.
    #[error("{}: the pinned key is damaged; pass --vkey, or move the file away", path.display())]
    DamagedPin {
        /// The file.
        path: PathBuf,
    },
    /// The operating system says no.
    #[error(transparent)]
    File(#[from] DurableError),
    /// A policy without `log` lines.
    #[error("{}: the policy names no log", path.display())]
    NoLog {
        /// The policy file.
        path: PathBuf,
    },
    /// A policy for several logs where one is meant.
    #[error("{}: the policy names {logs}; --origin NAME says which log is meant", path.display())]
    SeveralLogs {
        /// The policy file.
        path: PathBuf,
        /// The logs, for people.
        logs: String,
    },
    /// No policy where one was named.
    #[error("{}: there is no such file", path.display())]
    NoPolicyFile {
        /// The policy file.
        path: PathBuf,
    },
    /// The policy made from a key is refused: the key can't sign checkpoints.
    #[error("the verifier key can't be used: {}", finding.detail)]
    Policy {
        /// What is wrong.
        finding: Box<Finding>,
    },
    /// A policy file that can't be used.
    #[error("{}: {}", path.display(), finding.detail)]
    PolicyFile {
        /// The policy file.
        path: PathBuf,
        /// What is wrong.
        finding: Box<Finding>,
    },
}

impl TrustError {
    /// The stable code of the failure.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::DamagedPin { .. } | Self::File(_) => "CLIENT.STATE",
            Self::NoLog { .. } | Self::NoPolicyFile { .. } | Self::SeveralLogs { .. } => {
                "CLIENT.POLICY"
            }
            Self::Policy { finding } | Self::PolicyFile { finding, .. } => finding.code.as_str(),
        }
    }

    fn policy(finding: Finding) -> Self {
        Self::Policy { finding: Box::new(finding) }
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    log: String,
    vkey: String,
}

const MAX_PIN_BYTES: u64 = 4096;
const MAX_POLICY_BYTES: u64 = 256 * 1024;
const PINS: &str = "pins";

#[cfg(test)]
mod tests {
    use anchorlog_proto::note::{KeyName, NoteSigner};

    use super::*;

    fn key(seed: u8) -> VerifierKey {
        let name = KeyName::new("log.example").unwrap();
        NoteSigner::from_seed(name, [seed; 32]).verifier_key().clone()
    }

    #[test]
    fn the_first_pin_stays() {
        let root = tempfile::tempdir().unwrap();
        let pins = Pins::new(StateDir::at(root.path()));
        let log: LogUrl = "http://log.example".parse().unwrap();
        assert_eq!(pins.get(&log).unwrap(), None);
        let (pinned, path) = pins.set(&log, &key(1)).unwrap();
        assert_eq!(pinned, key(1));
        assert_eq!(pins.set(&log, &key(2)).unwrap(), (key(1), path.clone()));
        assert_eq!(pins.get(&log).unwrap(), Some((key(1), path)));
        assert_eq!(pins.get(&"http://other.example".parse().unwrap()).unwrap(), None);
    }

    #[test]
    fn a_damaged_pin_is_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        let pins = Pins::new(StateDir::at(root.path()));
        let log: LogUrl = "http://log.example".parse().unwrap();
        let (_, path) = pins.set(&log, &key(1)).unwrap();
        let moved =
            r#"{"log":"http://other.example","vkey":"VKEY"}"#.replace("VKEY", &key(1).to_string());
        for content in ["", "{}", r#"{"log":"http://log.example","vkey":"x"}"#, &moved] {
            durable::write_replace(&path, content.as_bytes()).unwrap();
            assert!(matches!(pins.get(&log), Err(TrustError::DamagedPin { .. })), "{content}");
            assert!(pins.set(&log, &key(2)).is_err(), "{content}");
        }
    }

    #[test]
    fn policies_are_read_from_files() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("policy");
        let policy = format!("log {}\nlog {}\nquorum none\n", key(1), key(2));
        durable::write_replace(&path, policy.as_bytes()).unwrap();
        let trust = LogTrust::from_policy_file(&path).unwrap();
        assert_eq!(trust.keys(), [key(1), key(2)]);
        assert_eq!(trust.source(), &TrustSource::Given);

        durable::write_replace(&path, b"quorum none\n").unwrap();
        assert!(LogTrust::from_policy_file(&path).is_err());
        durable::write_replace(&path, b"nonsense\n").unwrap();
        let error = LogTrust::from_policy_file(&path).unwrap_err();
        assert!(error.to_string().contains("policy"), "{error}");
        assert!(LogTrust::from_policy_file(&root.path().join("missing")).is_err());
    }
}
