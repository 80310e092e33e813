//! Contradictions: two notes under one key that one honest log can't both have signed.
//!
//! A contradiction is worth more than the failed command that found it: both notes carry the log's
//! signature, so anybody can check them. They are written down before the error is reported, in a directory
//! named after their content, so that the same contradiction found again is kept once.

use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::VerifiedCheckpoint;
use anchorlog_verifier::codes::Code;
use serde_json::json;

use crate::address::LogUrl;
use crate::durable::{self, DurableError};
use crate::problem::printable;
use crate::state::StateDir;

/// Two signed checkpoints that don't go together.
#[derive(Debug, thiserror::Error)]
#[error("{}: {detail}{}", log, Self::place(evidence))]
pub struct Contradiction {
    /// The address that was asked.
    pub log: LogUrl,
    /// What it is: `LOG.SPLIT_VIEW`, `LOG.ROLLBACK` or `LOG.CONSISTENCY`.
    pub code: Code,
    /// What was found, in a sentence.
    pub detail: String,
    /// The checkpoint seen before.
    pub seen: Box<VerifiedCheckpoint>,
    /// The checkpoint shown now.
    pub shown: Box<VerifiedCheckpoint>,
    /// Where both notes are kept, or why they could not be.
    pub evidence: Result<PathBuf, DurableError>,
}

impl Contradiction {
    /// Describes a contradiction and keeps both notes under the state directory.
    pub(crate) fn keep(
        state: &StateDir,
        log: &LogUrl,
        finding: Finding<'_>,
        seen: &VerifiedCheckpoint,
        shown: &VerifiedCheckpoint,
    ) -> Self {
        let evidence = keep_notes(state, log.as_str(), finding, seen, shown);
        Self {
            log: log.clone(),
            code: finding.code,
            detail: printable(finding.detail),
            seen: Box::new(seen.clone()),
            shown: Box::new(shown.clone()),
            evidence,
        }
    }

    fn place(evidence: &Result<PathBuf, DurableError>) -> String {
        match evidence {
            Ok(path) => format!("; both signed notes are kept in {}", path.display()),
            Err(error) => format!("; the signed notes could NOT be kept: {error}"),
        }
    }
}

/// Keeps both notes of a contradiction under a state directory, with a report beside them; returns where.
pub(crate) fn keep_notes(
    state: &StateDir,
    log: &str,
    finding: Finding<'_>,
    seen: &VerifiedCheckpoint,
    shown: &VerifiedCheckpoint,
) -> Result<PathBuf, DurableError> {
    let notes = [seen.signed().to_bytes(), shown.signed().to_bytes()];
    let [seen_note, shown_note] = &notes;
    let name = format!(
        "{}-{}",
        finding.code.as_str().to_lowercase().replace('.', "-"),
        Digest::of_parts(&[seen_note, shown_note]).to_hex().get(..16).unwrap_or_default()
    );
    let report = json!({
        "code": finding.code.as_str(),
        "detail": printable(finding.detail),
        "log": log,
        "vkey": shown.log_key().to_string(),
        "seen": {"file": SEEN, "size": seen.checkpoint().size.get(),
            "root": seen.checkpoint().root.to_string()},
        "shown": {"file": SHOWN, "size": shown.checkpoint().size.get(),
            "root": shown.checkpoint().root.to_string()},
        "proof": finding.proof.map(|hashes| {
            hashes.iter().map(ToString::to_string).collect::<Vec<_>>()
        }),
    });
    let directory = state.directory(Path::new("evidence").join(name))?;
    durable::write_replace(&directory.join(SEEN), seen_note)?;
    durable::write_replace(&directory.join(SHOWN), shown_note)?;
    let report = format!("{report:#}\n");
    // Last: a directory with a report is complete.
    durable::write_replace(&directory.join("report.json"), report.as_bytes())?;
    Ok(directory)
}

/// What the verifier has to say about two checkpoints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding<'a> {
    pub(crate) code: Code,
    pub(crate) detail: &'a str,
    /// The proof that was offered, if one was.
    pub(crate) proof: Option<&'a [Digest]>,
}

const SEEN: &str = "seen.note";
const SHOWN: &str = "shown.note";
