//! `[checkpoint_witness]`: this log as a witness of audit trails' checkpoints.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ConfigError, DEFAULT_KEY_FILE, bounded};
use crate::bearer::MAX_NAME_BYTES;

/// `[checkpoint_witness]`: its files, and who may submit how much.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckpointWitnessConfig {
    /// The marks; empty means that this log is no such witness.
    pub marks: PathBuf,
    /// The directory of the statements; empty means `checkpoint-witness` in the log's data directory.
    pub data: PathBuf,
    /// The private key file; empty means [`DEFAULT_KEY_FILE`] in that directory.
    pub key_file: PathBuf,
    /// How a trail comes to its owner.
    pub registration: TrailRegistration,
    /// Submissions a minute of each submitter.
    pub submissions_per_minute: u32,
    /// Trails that each may submit for.
    pub trails_per_submitter: u32,
    /// Whether every published statement is entered into the log.
    pub log: bool,
    /// Who may submit; none means every holder of a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitters: Option<Vec<PrincipalConfig>>,
}

/// How a trail comes to its owner.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::exhaustive_enums, reason = "the gateway's specification has these two")]
pub enum TrailRegistration {
    /// The witness' operator registers it.
    #[default]
    Operator,
    /// Whoever is the first to submit for it.
    FirstSubmission,
}

/// `[[checkpoint_witness.submitters]]`: a token's holder.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PrincipalConfig {
    /// Who answers for the name; empty means the log's origin.
    #[serde(default)]
    pub issuer: String,
    /// The name.
    pub subject: String,
}

impl CheckpointWitnessConfig {
    /// Whether this log is such a witness.
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.marks.as_os_str().is_empty()
    }

    /// The directory of the statements, with the default filled in.
    #[must_use]
    pub fn directory(&self, log_data: &Path) -> PathBuf {
        let is_default = self.data.as_os_str().is_empty();
        if is_default { log_data.join("checkpoint-witness") } else { self.data.clone() }
    }

    /// The private key file, with the default filled in.
    #[must_use]
    pub fn key_path(&self, log_data: &Path) -> PathBuf {
        let is_default = self.key_file.as_os_str().is_empty();
        if is_default {
            self.directory(log_data).join(DEFAULT_KEY_FILE)
        } else {
            self.key_file.clone()
        }
    }

    /// Checks every value against its bounds.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if !self.is_on() && *self != Self::default() {
            return Err(ConfigError::NoMarks);
        }
        let rate = &self.submissions_per_minute;
        bounded("checkpoint_witness.submissions_per_minute", rate, &1, &6000)?;
        let trails = &self.trails_per_submitter;
        bounded("checkpoint_witness.trails_per_submitter", trails, &1, &100_000)?;
        let submitters = self.submitters.as_deref().unwrap_or_default();
        let length = submitters.len();
        bounded("checkpoint_witness.submitters (length)", &length, &0, &10_000)?;
        for PrincipalConfig { issuer, subject } in submitters {
            let (issuer, subject) = (issuer.len(), subject.len());
            bounded("checkpoint_witness.submitters.issuer (bytes)", &issuer, &0, &MAX_NAME_BYTES)?;
            let key = "checkpoint_witness.submitters.subject (bytes)";
            bounded(key, &subject, &1, &MAX_NAME_BYTES)?;
        }
        Ok(())
    }
}

impl Default for CheckpointWitnessConfig {
    fn default() -> Self {
        Self {
            marks: PathBuf::new(),
            data: PathBuf::new(),
            key_file: PathBuf::new(),
            registration: TrailRegistration::Operator,
            submissions_per_minute: 60,
            trails_per_submitter: 100,
            log: true,
            submitters: None,
        }
    }
}
