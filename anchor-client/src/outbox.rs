//! Statements on their way: written before they are sent, removed after their receipts are kept.
//!
//! So a log that is down, or a client that is killed at any moment, loses nothing: what has no receipt yet
//! is still here and is sent again. Sending twice is harmless, because the same leaf bytes always get the
//! same index; that is also why the outbox keeps leaf bytes, and not what they were made from. Signing again
//! or reading a file again could make other bytes, and those would get another index.
//!
//! ```text
//! outbox/<H(address)>/
//!   log                        the address
//!   <time>-<pid>-<n>.jsonl     one submission of up to 1,000 statements, a canonical leaf a line
//!   refused/<same name>        submissions from earlier runs that the log refused
//! ```
//!
//! Several clients may use an outbox at once without a lock: names are unique, files appear and go whole,
//! and two that send the same file get the same receipts.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anchorlog_proto::statement::{LogEntry, MAX_LEAF_BYTES, StatementError};

use crate::address::LogUrl;
use crate::durable::{self, DurableError, MODE_PRIVATE, Operation};
use crate::log_client::MAX_BATCH;
use crate::state::{StateDir, read_file};

/// The outbox for one log.
#[derive(Clone, Debug)]
pub struct Outbox {
    state: StateDir,
    log: LogUrl,
}

/// A submission in the outbox.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pending {
    /// The file it is in.
    pub path: PathBuf,
}

impl Outbox {
    /// The outbox for a log within a state directory. Nothing is created yet.
    #[must_use]
    pub fn new(state: StateDir, log: LogUrl) -> Self {
        Self { state, log }
    }

    /// Every log that has an outbox in this state directory, in the order of their addresses.
    pub fn all(state: &StateDir) -> Result<Vec<Self>, OutboxError> {
        let mut all = Vec::new();
        for name in list(&state.path(OUTBOX))? {
            let path = name.join(ADDRESS);
            let Some(text) = read_file(&path, MAX_ADDRESS_BYTES)? else { continue };
            let log = str::from_utf8(&text).ok().and_then(|text| text.trim_end().parse().ok());
            all.push(Self::new(state.clone(), log.ok_or(OutboxError::Address { path })?));
        }
        all.sort_by(|one: &Self, other| one.log.cmp(&other.log));
        Ok(all)
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &LogUrl {
        &self.log
    }

    /// Writes one submission of 1 to [`MAX_BATCH`] statements; durable on return. Only then may it be sent.
    pub fn put(&self, entries: &[LogEntry]) -> Result<Pending, OutboxError> {
        if entries.is_empty() || entries.len() > MAX_BATCH {
            return Err(OutboxError::Count { count: entries.len() });
        }
        let directory = self.state.directory(self.relative())?;
        let address = directory.join(ADDRESS);
        if !address.exists() {
            durable::write_replace(&address, format!("{}\n", self.log).as_bytes())?;
        }
        let mut lines = Vec::new();
        for entry in entries {
            // Canonical JSON escapes control characters, so a leaf never contains a newline.
            lines.extend_from_slice(entry.leaf_bytes());
            lines.push(b'\n');
        }
        let path = directory.join(unique_name());
        durable::write_new(&path, &lines, MODE_PRIVATE)?;
        Ok(Pending { path })
    }

    /// What has no receipts yet, oldest first.
    pub fn pending(&self) -> Result<Vec<Pending>, OutboxError> {
        submissions(&self.state.path(self.relative()))
    }

    /// What the log refused in earlier runs, oldest first.
    pub fn refused(&self) -> Result<Vec<Pending>, OutboxError> {
        submissions(&self.state.path(self.relative()).join(REFUSED))
    }

    /// Reads a submission back; `None` if another client has settled it meanwhile.
    pub fn read(&self, pending: &Pending) -> Result<Option<Vec<LogEntry>>, OutboxError> {
        let path = &pending.path;
        let Some(bytes) = read_file(path, MAX_SUBMISSION_BYTES)? else { return Ok(None) };
        let mut entries = Vec::new();
        // Files appear whole, so a missing last newline is damage like any other.
        let lines = bytes.strip_suffix(b"\n").unwrap_or(&bytes).split(|byte| *byte == b'\n');
        for (line, leaf) in (1..).zip(lines) {
            let entry = LogEntry::from_leaf(leaf).map_err(|source| OutboxError::Damaged {
                path: path.clone(),
                line,
                source,
            })?;
            entries.push(entry);
        }
        if entries.len() > MAX_BATCH {
            return Err(OutboxError::Count { count: entries.len() });
        }
        Ok(Some(entries))
    }

    /// Removes a submission whose receipts are kept, durably. One that is gone already is fine.
    pub fn settle(&self, pending: &Pending) -> Result<(), OutboxError> {
        match durable::remove_file(&pending.path) {
            Err(error) if error.source.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Puts a submission aside that the log refused, durably, and says where: its lines are what
    /// `anchor submit -` reads, once the refused one is out.
    pub fn set_aside(&self, pending: &Pending) -> Result<PathBuf, OutboxError> {
        let directory = self.state.directory(self.relative().join(REFUSED))?;
        let target = directory.join(pending.path.file_name().unwrap_or(OsStr::new("unnamed")));
        match durable::rename(&pending.path, &target) {
            Err(error) if error.source.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(target),
        }
    }

    fn relative(&self) -> PathBuf {
        Path::new(OUTBOX).join(self.log.file_stem())
    }
}

/// Why the outbox can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutboxError {
    /// A directory in the outbox doesn't say which log it is for.
    #[error("{}: is not the address of a log; restore it or move its directory away", path.display())]
    Address {
        /// The file.
        path: PathBuf,
    },
    /// More or fewer statements than a submission can have.
    #[error("a submission of {count} statements, where 1 to {MAX_BATCH} are possible")]
    Count {
        /// How many there are.
        count: usize,
    },
    /// A line that isn't a leaf.
    #[error(
        "{}: line {line}: not a statement: {source}; \
         correct or remove the line, or move the file away",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        source: StatementError,
    },
    /// The operating system says no.
    #[error(transparent)]
    File(#[from] DurableError),
}

impl OutboxError {
    /// The stable code of the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "CLIENT.OUTBOX"
    }
}

/// Names sort by age; process and counter tell those of one moment apart.
fn unique_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{now:020}-{}-{count}.{EXTENSION}", process::id())
}

fn submissions(directory: &Path) -> Result<Vec<Pending>, OutboxError> {
    let is_submission = |path: &PathBuf| {
        path.extension() == Some(OsStr::new(EXTENSION))
            && path.file_name().is_some_and(|name| !durable::is_temporary_name(name))
    };
    let mut paths: Vec<_> = list(directory)?.into_iter().filter(is_submission).collect();
    paths.sort();
    Ok(paths.into_iter().map(|path| Pending { path }).collect())
}

fn list(directory: &Path) -> Result<Vec<PathBuf>, OutboxError> {
    let fail = |source| DurableError::new(directory, Operation::Read, source);
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fail(error).into()),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(fail));
    Ok(paths.collect::<Result<_, _>>()?)
}

const ADDRESS: &str = "log";
const EXTENSION: &str = "jsonl";
const MAX_ADDRESS_BYTES: u64 = 8192;
const MAX_SUBMISSION_BYTES: u64 = 1000 * (MAX_LEAF_BYTES_U64 + 1);
const MAX_LEAF_BYTES_U64: u64 = 4096;
const _: () = assert!(MAX_BATCH == 1000 && MAX_LEAF_BYTES == 4096, "the two lines above");
const OUTBOX: &str = "outbox";
const REFUSED: &str = "refused";

#[cfg(test)]
mod tests {
    use anchorlog_proto::Digest;
    use anchorlog_proto::statement::{Statement, StatementKind};

    use super::*;

    fn entry(number: u8) -> LogEntry {
        let statement = Statement::new(StatementKind::Digest, Digest::of(&[number]));
        LogEntry::unsigned(statement).unwrap()
    }

    fn outbox(root: &Path, log: &str) -> Outbox {
        Outbox::new(StateDir::at(root), log.parse().unwrap())
    }

    #[test]
    fn what_is_put_in_comes_out_the_same_and_in_order() {
        let root = tempfile::tempdir().unwrap();
        let outbox = outbox(root.path(), "http://log.example");
        assert_eq!(outbox.pending().unwrap(), []);
        let first = outbox.put(&[entry(1), entry(2)]).unwrap();
        let second = outbox.put(&[entry(3)]).unwrap();
        assert_eq!(outbox.pending().unwrap(), [first.clone(), second.clone()]);
        assert_eq!(outbox.read(&first).unwrap().unwrap(), [entry(1), entry(2)]);
        assert_eq!(outbox.read(&second).unwrap().unwrap(), [entry(3)]);

        outbox.settle(&first).unwrap();
        outbox.settle(&first).unwrap();
        assert_eq!(outbox.pending().unwrap(), [second]);
        assert_eq!(outbox.read(&first).unwrap(), None);
    }

    #[test]
    fn refused_submissions_are_put_aside() {
        let root = tempfile::tempdir().unwrap();
        let outbox = outbox(root.path(), "http://log.example");
        let pending = outbox.put(&[entry(1)]).unwrap();
        let aside = outbox.set_aside(&pending).unwrap();
        assert_eq!(outbox.pending().unwrap(), []);
        let refused = outbox.refused().unwrap();
        assert_eq!(refused, [Pending { path: aside }]);
        assert_eq!(outbox.read(&refused[0]).unwrap().unwrap(), [entry(1)]);
    }

    #[test]
    fn every_log_has_its_own() {
        let root = tempfile::tempdir().unwrap();
        let (one, other) = (
            outbox(root.path(), "http://one.example"),
            outbox(root.path(), "http://other.example"),
        );
        assert!(Outbox::all(&StateDir::at(root.path())).unwrap().is_empty());
        other.put(&[entry(1)]).unwrap();
        one.put(&[entry(2)]).unwrap();
        let all = Outbox::all(&StateDir::at(root.path())).unwrap();
        let logs: Vec<_> = all.iter().map(|outbox| outbox.log().as_str()).collect();
        assert_eq!(logs, ["http://one.example", "http://other.example"]);
        assert_eq!(one.pending().unwrap().len(), 1);
    }

    #[test]
    fn limits_and_damage_are_named() {
        let root = tempfile::tempdir().unwrap();
        let outbox = outbox(root.path(), "http://log.example");
        assert!(matches!(outbox.put(&[]), Err(OutboxError::Count { count: 0 })));
        let many = vec![entry(1); MAX_BATCH + 1];
        assert!(matches!(outbox.put(&many), Err(OutboxError::Count { count: 1001 })));

        let pending = outbox.put(&[entry(1), entry(2)]).unwrap();
        let mut lines = fs::read(&pending.path).unwrap();
        lines.truncate(lines.len() - 20);
        durable::write_replace(&pending.path, &lines).unwrap();
        let error = outbox.read(&pending).unwrap_err();
        assert!(matches!(error, OutboxError::Damaged { line: 2, .. }), "{error}");
        durable::write_replace(&pending.path, b"").unwrap();
        assert!(matches!(outbox.read(&pending), Err(OutboxError::Damaged { line: 1, .. })));
    }
}
