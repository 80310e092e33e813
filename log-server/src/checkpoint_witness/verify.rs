//! The start-up checks over a copy of a witness' files, for whoever has one.

use std::path::Path;

use anchorlog_proto::jp::witness::WitnessKey;

use super::book::Limits;
use super::disk::part;
use super::error::CheckpointWitnessError;
use super::examine::{Part, Sources, examine};
use super::finding::{Finding, Outcome};

/// What the checks found in a copy. That the copy is what the witness serves now it doesn't say.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Verified {
    /// What follows.
    pub outcome: Outcome,
    /// What was found, as far as it is named.
    pub findings: Vec<Finding>,
    /// How much was found.
    pub finding_count: u64,
    /// Statements that continue their chains.
    pub statements: u64,
    /// Trails of these.
    pub trails: usize,
    /// Marks, if they were looked at.
    pub marks: Option<u64>,
}

/// Checks statements under a key and, if they are given, against marks and registrations. The statements have
/// to be there.
pub fn verify(
    statements: &Path,
    marks: Option<&Path>,
    registrations: Option<&Path>,
    key: &WitnessKey,
    limits: Limits,
) -> Result<Verified, CheckpointWitnessError> {
    let Part::There(log) = part(statements)? else {
        let source = std::io::ErrorKind::NotFound.into();
        return Err(CheckpointWitnessError::Read { path: statements.to_path_buf(), source });
    };
    let beside = |path: Option<&Path>| path.map_or(Ok(Part::Ignored), part);
    let sources = Sources { log, marks: beside(marks)?, registrations: beside(registrations)? };
    let read = |source| CheckpointWitnessError::Read { path: statements.to_path_buf(), source };
    let examined = examine(sources, key, limits).map_err(read)?;
    Ok(Verified {
        outcome: examined.outcome,
        findings: examined.findings,
        finding_count: examined.finding_count,
        statements: examined.book.statements(),
        trails: examined.book.trail_count(),
        marks: marks.map(|_| examined.marks),
    })
}
