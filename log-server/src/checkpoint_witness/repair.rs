//! Repair: what the three rules allow, and nothing else.
//!
//! A step is done, made durable, and everything is examined again; a crash in between leaves what the next
//! repair takes up. A mark line is never removed, a whole line never either, and what is cut off is kept.

use std::path::{Path, PathBuf};

use anchorlog_client::durable::{self, AppendFile, DurableError};
use anchorlog_proto::jp::witness::WitnessKey;

use super::book::Limits;
use super::disk::{Paths, Reader};
use super::error::CheckpointWitnessError;
use super::examine::{Ending, Examined};
use super::finding::{Finding, Outcome};

/// What repair did, and how it is now.
#[derive(Debug)]
#[non_exhaustive]
pub struct Repaired {
    /// The steps.
    pub steps: Vec<Step>,
    /// What follows from what is found now.
    pub outcome: Outcome,
    /// What is found now.
    pub findings: Vec<Finding>,
}

/// One step of a repair.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// What was done.
    pub outcome: Outcome,
    /// Where bytes are kept that were cut off.
    pub kept: Option<PathBuf>,
}

/// Repairs the files of a witness that is not running.
pub fn repair(
    paths: &Paths,
    key: &WitnessKey,
    limits: Limits,
) -> Result<Repaired, CheckpointWitnessError> {
    let _lock = paths.lock()?;
    let mut steps = Vec::new();
    loop {
        let examined = paths.examine(key, limits)?;
        // Each kind of step is needed once at most.
        if !examined.outcome.is_repairable() || steps.len() > 3 {
            let Examined { outcome, findings, .. } = examined;
            return Ok(Repaired { steps, outcome, findings });
        }
        let kept = step(paths, &examined)?;
        steps.push(Step { outcome: examined.outcome, kept });
    }
}

fn step(paths: &Paths, examined: &Examined) -> Result<Option<PathBuf>, CheckpointWitnessError> {
    match examined.outcome {
        Outcome::SetAside => cut(paths, &paths.statements(), examined.log).map(Some),
        Outcome::RegistrationSetAside => {
            cut(paths, &paths.registrations(), examined.registrations).map(Some)
        }
        Outcome::NewlineAndMarkCompleted => {
            append(&paths.statements(), b"\n")?;
            mark(paths, examined)
        }
        Outcome::MarkCompleted => mark(paths, examined),
        Outcome::Start | Outcome::Refused | Outcome::NewKey => Ok(None),
    }
}

fn mark(paths: &Paths, examined: &Examined) -> Result<Option<PathBuf>, CheckpointWitnessError> {
    if let Some(mark) = examined.unmarked {
        // Whoever was killed before the mark may not have come to the sync either.
        AppendFile::open_or_create(&paths.statements())?.sync_data()?;
        append(&paths.marks, format!("{}\n", mark.to_line()).as_bytes())?;
    }
    Ok(None)
}

fn append(path: &Path, bytes: &[u8]) -> Result<(), DurableError> {
    let mut file = AppendFile::open_or_create(path)?;
    file.append(bytes)?;
    file.sync_data()
}

/// Keeps what lies behind the last line in a file of its own, and then cuts it off.
fn cut(paths: &Paths, path: &Path, ending: Ending) -> Result<PathBuf, CheckpointWitnessError> {
    let end = ending.whole.saturating_add(ending.tail);
    let read = |source| CheckpointWitnessError::Read { path: path.to_path_buf(), source };
    let bytes = Reader::open(path)?.range(ending.whole, end, usize::MAX).map_err(read)?;
    durable::create_dir_all_with_mode(&paths.set_aside(), 0o700)?;
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or("file");
    let kept = (0_u32..).map(|count| {
        let again = if count == 0 { String::new() } else { format!("-{count}") };
        paths.set_aside().join(format!("{name}-at-{}{again}.torn", ending.whole))
    });
    for kept in kept {
        match std::fs::read(&kept) {
            // A repair that was killed behind this line did it already.
            Ok(there) if there == bytes => {}
            Ok(_) => continue,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                durable::write_new(&kept, &bytes, durable::MODE_PRIVATE)?;
            }
            Err(source) => return Err(CheckpointWitnessError::Read { path: kept, source }),
        }
        let mut file = AppendFile::open_or_create(path)?;
        file.truncate(ending.whole)?;
        file.sync_data()?;
        return Ok(kept);
    }
    // The numbers don't end before the names of a directory do.
    Err(CheckpointWitnessError::Read {
        path: paths.set_aside(),
        source: std::io::ErrorKind::Other.into(),
    })
}
