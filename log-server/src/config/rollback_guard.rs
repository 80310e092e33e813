//! `[rollback_guard]`: who is asked, before the log signs, whether they know more of it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{ConfigError, Span, bounded};
use crate::rollback::{Place, Source, Sources};

/// The most mirrors.
const MAX_MIRRORS: usize = 32;

/// `[rollback_guard]`: mirrors, a pinned state, and how many of the sources have to answer.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RollbackGuardConfig {
    /// Directories with an export and URLs of mirrors.
    pub mirrors: Vec<String>,
    /// A C2SP tlog-policy file, whose witnesses are asked; empty for those of `[witnessing]`.
    pub witnesses: PathBuf,
    /// A file with a signed checkpoint that the log must not be behind; empty for none.
    pub checkpoint_file: PathBuf,
    /// Entries that the log must have.
    pub min_size: u64,
    /// Mirrors and witnesses that have to show a checkpoint of the log that counts.
    pub require: usize,
    /// How long each may take.
    pub timeout: Span,
}

impl RollbackGuardConfig {
    /// Whom the guard asks.
    pub fn sources(&self) -> Result<Sources, ConfigError> {
        let mirror = |text: &String| match text.parse::<Place>() {
            Ok(place) => Ok(Source::Mirror(place)),
            Err(source) => Err(ConfigError::Mirror { mirror: text.clone(), source }),
        };
        let given = |file: &PathBuf| (!file.as_os_str().is_empty()).then(|| file.clone());
        Ok(Sources {
            asked: self.mirrors.iter().map(mirror).collect::<Result<_, _>>()?,
            witnesses: given(&self.witnesses),
            checkpoint_file: given(&self.checkpoint_file),
            min_size: self.min_size,
            require: self.require,
            timeout: self.timeout.get(),
        })
    }

    /// Checks every value against its bounds.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let (least, most) = (Span::from_millis(100), Span::from_secs(600));
        bounded("rollback_guard.timeout", &self.timeout, &least, &most)?;
        bounded("rollback_guard.mirrors (length)", &self.mirrors.len(), &0, &MAX_MIRRORS)?;
        bounded("rollback_guard.require", &self.require, &0, &(2 * MAX_MIRRORS))?;
        self.sources().map(|_| ())
    }
}

impl Default for RollbackGuardConfig {
    fn default() -> Self {
        Self {
            mirrors: Vec::new(),
            witnesses: PathBuf::new(),
            checkpoint_file: PathBuf::new(),
            min_size: 0,
            require: 0,
            timeout: Span::from_secs(5),
        }
    }
}
