//! From the configuration to what a witness is opened with.

use std::num::NonZeroU32;

use super::answer::{Options, RegistrationMode};
use super::book::Limits;
use super::disk::Paths;
use super::key::KeyFiles;

use crate::bearer::Principal;
use crate::config::{Config, PrincipalConfig, TrailRegistration};

/// Where the files are; none if the configuration names no marks.
#[must_use]
pub fn paths(config: &Config) -> Option<Paths> {
    let section = &config.checkpoint_witness;
    let directory = section.directory(&config.log.data);
    section.is_on().then(|| Paths { directory, marks: section.marks.clone() })
}

/// Where the key is.
#[must_use]
pub fn key_files(config: &Config) -> KeyFiles {
    let (section, data) = (&config.checkpoint_witness, &config.log.data);
    let public = section.directory(data).join("key.pub");
    KeyFiles { private: section.key_path(data), public }
}

/// How the witness works.
#[must_use]
pub fn options(config: &Config) -> Options {
    let section = &config.checkpoint_witness;
    let principal = |PrincipalConfig { issuer, subject }: &PrincipalConfig| {
        let issuer = if issuer.is_empty() { &config.log.origin } else { issuer };
        Principal { issuer: issuer.clone(), subject: subject.clone() }
    };
    Options {
        registration: match section.registration {
            TrailRegistration::Operator => RegistrationMode::Operator,
            TrailRegistration::FirstSubmission => RegistrationMode::FirstSubmission,
        },
        submitters: section.submitters.as_ref().map(|all| all.iter().map(principal).collect()),
        submissions_per_minute: NonZeroU32::new(section.submissions_per_minute)
            .unwrap_or(NonZeroU32::MIN),
        trails_per_submitter: usize::try_from(section.trails_per_submitter).unwrap_or(usize::MAX),
        limits: Limits::DEFAULT,
    }
}
