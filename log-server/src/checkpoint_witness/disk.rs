//! The files of a witness, and how they are opened.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anchorlog_client::durable::{AppendFile, DirectoryLock, DurableError};
use anchorlog_proto::jp::witness::WitnessKey;

use super::book::{Limits, Place};
use super::error::CheckpointWitnessError;
use super::examine::{Examined, Part, Sources, examine};

/// Where the files are.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "whoever opens a witness fills it in")]
pub struct Paths {
    /// The directory of the statements and the registrations.
    pub directory: PathBuf,
    /// The marks.
    pub marks: PathBuf,
}

impl Paths {
    /// The statements.
    #[must_use]
    pub fn statements(&self) -> PathBuf {
        self.directory.join("statements.jsonl")
    }

    /// The registrations.
    #[must_use]
    pub fn registrations(&self) -> PathBuf {
        self.directory.join("registrations.jsonl")
    }

    /// Where torn bytes are kept.
    #[must_use]
    pub fn set_aside(&self) -> PathBuf {
        self.directory.join("set-aside")
    }

    /// How far the statements were entered into the log.
    #[must_use]
    pub fn entered(&self) -> PathBuf {
        self.directory.join("entered")
    }

    /// Takes the one lock there is for all of the files.
    pub(super) fn lock(&self) -> Result<DirectoryLock, CheckpointWitnessError> {
        Ok(DirectoryLock::acquire(&self.directory.join("LOCK"))?)
    }

    /// Whether the marks are on the same device as the statements, where one disk's loss takes both.
    pub(super) fn share_a_device(&self) -> bool {
        let device = |path: &Path| fs::metadata(path).map(|metadata| metadata.dev()).ok();
        let marks = device(parent(&self.marks));
        marks.is_some() && marks == device(&self.directory)
    }

    /// Whether there is a place for the marks: it is never made, for it may be a volume that is not mounted.
    pub(super) fn check_marks_directory(&self) -> Result<(), CheckpointWitnessError> {
        let directory = parent(&self.marks);
        if directory.is_dir() {
            return Ok(());
        }
        Err(CheckpointWitnessError::NoMarksDirectory { directory: directory.to_path_buf() })
    }

    /// Applies the start-up checks to the files.
    pub(super) fn examine(
        &self,
        key: &WitnessKey,
        limits: Limits,
    ) -> Result<Examined, CheckpointWitnessError> {
        let log: Box<dyn io::BufRead> = match part(&self.statements())? {
            Part::There(log) => log,
            Part::Missing | Part::Ignored => Box::new(io::empty()),
        };
        let marks = part(&self.marks)?;
        let registrations = part(&self.registrations())?;
        let read = |source| self.unreadable(source);
        examine(Sources { log, marks, registrations }, key, limits).map_err(read)
    }

    fn unreadable(&self, source: io::Error) -> CheckpointWitnessError {
        CheckpointWitnessError::Read { path: self.directory.clone(), source }
    }
}

/// Opens a file to be examined.
pub(super) fn part(path: &Path) -> Result<Part<Box<dyn io::BufRead>>, CheckpointWitnessError> {
    match File::open(path) {
        Ok(file) => Ok(Part::There(Box::new(BufReader::with_capacity(BUFFER, file)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Part::Missing),
        Err(source) => Err(CheckpointWitnessError::Read { path: path.to_path_buf(), source }),
    }
}

/// Reads lines from where the book says they are.
pub(super) struct Reader(File);

impl Reader {
    pub(super) fn open(path: &Path) -> Result<Self, CheckpointWitnessError> {
        let read = |source| CheckpointWitnessError::Read { path: path.to_path_buf(), source };
        Ok(Self(File::open(path).map_err(read)?))
    }

    /// A statement's bytes as they are kept, and the newline.
    pub(super) fn line(&self, place: Place) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::from(place.length).saturating_add(1)];
        self.0.read_exact_at(&mut bytes, place.offset)?;
        if bytes.last() == Some(&b'\n') {
            Ok(bytes)
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    }

    /// Bytes from `offset` on, `end` excluded, at most `most` of them.
    pub(super) fn range(&self, offset: u64, end: u64, most: usize) -> io::Result<Vec<u8>> {
        let wanted = usize::try_from(end.saturating_sub(offset)).unwrap_or(most).min(most);
        let mut bytes = vec![0; wanted];
        self.0.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

/// A file that lines are appended to; a test's may fail.
pub(super) trait Tape: Send {
    /// Makes room for so many bytes, so that a full disk shows before anything is signed.
    fn reserve(&mut self, bytes: u64) -> Result<(), DurableError>;

    /// Appends, and returns where.
    fn append(&mut self, bytes: &[u8]) -> Result<u64, DurableError>;

    /// Makes what was appended durable.
    fn sync(&mut self) -> Result<(), DurableError>;
}

impl Tape for AppendFile {
    fn reserve(&mut self, bytes: u64) -> Result<(), DurableError> {
        Self::reserve(self, bytes)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<u64, DurableError> {
        Self::append(self, bytes)
    }

    fn sync(&mut self) -> Result<(), DurableError> {
        self.sync_data()
    }
}

pub(super) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Bytes read at once.
const BUFFER: usize = 1 << 18;
