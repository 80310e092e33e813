//! Where a bundle lies, and where the receipt of its commitment lies beside it.

use std::fs;
use std::path::{Path, PathBuf};

use anchorlog_proto::jp::json::Bounds;

use super::commitment::{Commitment, CommitmentError};
use super::files::{CouldNotRun, Directory, Files};

/// A bundle, or an execution record without its workflow.
#[derive(Clone, Debug)]
pub struct Place {
    directory: PathBuf,
    /// The file of the execution record.
    execution: String,
    /// Whether workflow.json lies beside it.
    whole: bool,
}

impl Place {
    /// What is meant by a path: a bundle's directory, or an execution record. A record that lies beside a
    /// workflow.json is its bundle's.
    pub fn of(path: &Path) -> Result<Self, CouldNotRun> {
        let failed = |error| CouldNotRun(format!("{} can't be read: {error}", path.display()));
        let path = fs::canonicalize(path).map_err(failed)?;
        if path.is_dir() {
            return Ok(Self { directory: path, execution: EXECUTION.to_owned(), whole: true });
        }
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let (Some(directory), Some(execution)) = (path.parent(), name) else {
            return Err(CouldNotRun(format!("{} names no file", path.display())));
        };
        let whole = directory.join(WORKFLOW).exists();
        Ok(Self { directory: directory.to_path_buf(), execution, whole })
    }

    /// Reads the documents strictly and takes their digests.
    pub fn commitment(&self) -> Result<Commitment, CommitmentError> {
        let files = Directory::new(&self.directory);
        let execution = files.read(&self.execution, Bounds::EXECUTION.bytes)?;
        let workflow =
            if self.whole { Some(files.read(WORKFLOW, Bounds::WORKFLOW.bytes)?) } else { None };
        Ok(Commitment::of_documents(workflow.as_deref(), &execution)?)
    }

    /// Holds the digests against the side files workflow.sha256 and execution.sha256, where they are there.
    pub fn compare_beside(&self, commitment: &Commitment) -> Result<(), CommitmentError> {
        let files = Directory::new(&self.directory);
        let execution = Path::new(&self.execution).with_extension("sha256");
        let execution = execution.to_string_lossy().into_owned();
        let digests = [
            (WORKFLOW_BESIDE.to_owned(), commitment.workflow_digest),
            (execution, commitment.execution_digest),
        ];
        for (file, digest) in digests {
            if self.directory.join(&file).symlink_metadata().is_err() {
                continue;
            }
            let stated = files.read(&file, MAX_BESIDE)?;
            if stated.trim_ascii() != digest.to_string().as_bytes() {
                return Err(CommitmentError::Beside { file, digest });
            }
        }
        Ok(())
    }

    /// The file of the execution record.
    #[must_use]
    pub fn execution(&self) -> PathBuf {
        self.directory.join(&self.execution)
    }

    /// Where the receipt lies unless told otherwise: beside the bundle, or beside a record that stands alone,
    /// under its name and `.receipt.json`. None for the root of the file system.
    #[must_use]
    pub fn receipt(&self) -> Option<PathBuf> {
        let of = if self.whole { self.directory.clone() } else { self.execution() };
        let mut name = of.file_name()?.to_os_string();
        if !self.whole {
            name = Path::new(&name).file_stem()?.to_os_string();
        }
        name.push(".receipt.json");
        Some(of.with_file_name(name))
    }
}

const WORKFLOW: &str = "workflow.json";
const EXECUTION: &str = "execution.json";
const WORKFLOW_BESIDE: &str = "workflow.sha256";

/// Bytes of a side file at most.
const MAX_BESIDE: usize = 4096;

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        clippy::unwrap_used,
        reason = "tests make files and may fail loudly"
    )]

    use super::*;

    #[test]
    fn the_receipt_lies_beside_and_not_inside() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let bundle = root.join("run.1");
        fs::create_dir(&bundle).unwrap();
        fs::write(bundle.join(EXECUTION), "{}").unwrap();
        let expected = Some(root.join("run.1.receipt.json"));
        let alone = Some(bundle.join("execution.receipt.json"));
        assert_eq!(Place::of(&bundle).unwrap().receipt(), expected);
        assert_eq!(Place::of(&bundle.join("../run.1/.")).unwrap().receipt(), expected);
        assert_eq!(Place::of(&bundle.join(EXECUTION)).unwrap().receipt(), alone);
        fs::write(bundle.join(WORKFLOW), "{}").unwrap();
        assert_eq!(Place::of(&bundle.join(EXECUTION)).unwrap().receipt(), expected);
        assert_eq!(Place::of(Path::new("/")).unwrap().receipt(), None);
        assert!(Place::of(&root.join("none")).is_err());
    }
}
