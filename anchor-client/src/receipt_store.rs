//! Where verified receipts are kept: in a file, in a directory, or, if nobody says, in the state directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::address::LogUrl;
use crate::durable::{self, DurableError};
use crate::log::Accepted;
use crate::state::StateDir;

/// A place for receipts.
#[derive(Clone, Debug)]
pub enum ReceiptStore {
    /// One receipt, in this file. A file that is there is replaced.
    File(PathBuf),
    /// Each receipt in a file `<index>.json` of this directory, which is created if needed.
    Directory(PathBuf),
    /// All receipts of one submission in one file of the state directory, one a line.
    State {
        /// The state directory.
        state: StateDir,
        /// The log they are from.
        log: LogUrl,
    },
}

impl ReceiptStore {
    /// The place that `--out` names for `count` receipts; without it, the state directory.
    #[must_use]
    pub fn choose(out: Option<&Path>, count: usize, state: &StateDir, log: &LogUrl) -> Self {
        match out {
            Some(path) if count == 1 && !path.is_dir() => Self::File(path.to_path_buf()),
            Some(path) => Self::Directory(path.to_path_buf()),
            None => Self::State { state: state.clone(), log: log.clone() },
        }
    }

    /// Keeps the receipts of one submission durably and says, for each, in which file.
    pub fn keep(&self, receipts: &[Accepted]) -> Result<Vec<PathBuf>, DurableError> {
        match self {
            Self::File(path) => {
                let mut bytes = Vec::new();
                for receipt in receipts {
                    bytes.extend_from_slice(&receipt.json);
                }
                durable::write_replace(path, &bytes)?;
                Ok(vec![path.clone(); receipts.len()])
            }
            Self::Directory(directory) => {
                durable::create_dir_all(directory)?;
                let names: Vec<_> = receipts
                    .iter()
                    .map(|accepted| OsString::from(format!("{}.json", accepted.receipt.index)))
                    .collect();
                let files: Vec<_> = names
                    .iter()
                    .zip(receipts)
                    .map(|(name, accepted)| (name.as_os_str(), accepted.json.as_slice()))
                    .collect();
                durable::write_replace_in(directory, &files)?;
                Ok(names.iter().map(|name| directory.join(name)).collect())
            }
            Self::State { state, log } => {
                let directory = state.directory(Path::new("receipts").join(log.file_stem()))?;
                let path = directory.join(unique_name());
                let mut lines = Vec::new();
                for receipt in receipts {
                    lines.extend_from_slice(&receipt.json);
                    lines.push(b'\n');
                }
                durable::write_new(&path, &lines, durable::MODE_SHARED)?;
                Ok(vec![path; receipts.len()])
            }
        }
    }
}

fn unique_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{now:020}-{}-{count}.jsonl", process::id())
}
