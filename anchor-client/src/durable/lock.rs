//! One writer per directory: a lock that dies with its process and names its holder.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::error::{Context, DurableError, Operation, is_out_of_space};

/// An exclusive lock on a directory, held until dropped or until the process ends, however it ends.
///
/// The lock is `flock` on a file inside the directory that is never unlinked: unlinking it would let two
/// processes hold "the" lock on two files of the same name. There is nothing to clean up after a crash and
/// no reason ever to remove the file by hand. It excludes processes of one machine; on network file
/// systems it promises nothing.
#[derive(Debug)]
pub struct DirectoryLock {
    path: PathBuf,
    /// Closing it releases the lock. Opened close-on-exec, so children don't inherit it.
    _file: File,
}

impl DirectoryLock {
    /// Takes the lock on the file `path` (conventionally `<directory>/LOCK`), or says at once who holds
    /// it. Never waits.
    ///
    /// 1. `open(path, O_RDWR|O_CREAT, 0666 & ~umask)`
    /// 2. `flock(LOCK_EX|LOCK_NB)`; if it is held: `pread` the holder, `close`
    /// 3. `pwrite` "pid=… started=…" (Unix seconds), `ftruncate` to its length
    ///
    /// Nothing is synced: after a power cut nobody holds the lock.
    pub fn acquire(path: &Path) -> Result<Self, LockError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .context(path, Operation::Open)?;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => {
                    return Err(LockError::Held {
                        path: path.to_path_buf(),
                        holder: read_holder(&file),
                    });
                }
                Err(errno) => {
                    return Err(DurableError::new(path, Operation::Lock, errno.into()).into());
                }
            }
        }
        match write_holder(&file) {
            // The lock is ours; that its label doesn't fit on a full disk must not keep readers away.
            Err(error) if !is_out_of_space(&error) => {
                return Err(DurableError::new(path, Operation::Write, error).into());
            }
            _ => {}
        }
        Ok(Self { path: path.to_path_buf(), _file: file })
    }

    /// The lock file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Keeps everybody else who asks out of a directory until the handle is dropped; waits for whoever is in it, which
/// is for a moment. Nothing is created: the lock is on the directory itself.
///
/// 1. `open(directory, O_RDONLY)`
/// 2. `flock(LOCK_EX)`, again after `EINTR`
pub(super) fn hold(directory: &Path) -> Result<File, DurableError> {
    let handle = File::open(directory).context(directory, Operation::Open)?;
    loop {
        match flock(&handle, FlockOperation::LockExclusive) {
            Ok(()) => return Ok(handle),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(DurableError::new(directory, Operation::Lock, errno.into())),
        }
    }
}

/// Why a lock could not be taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another process (or another handle in this one) has it.
    #[error("{}: in use by another process ({holder})", path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
        /// What the holder wrote into it: `pid=<id> started=<Unix seconds>`, or `unknown` in the instant
        /// before it has.
        holder: String,
    },
    /// The lock file can't be opened, locked or written.
    #[error(transparent)]
    File(#[from] DurableError),
}

fn write_holder(file: &File) -> io::Result<()> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let label = format!("pid={} started={started}\n", process::id());
    file.write_all_at(label.as_bytes(), 0)?;
    file.set_len(u64::try_from(label.len()).unwrap_or(u64::MAX))
}

/// The holder's label, as far as it can be shown safely: printable ASCII, at most 100 bytes.
fn read_holder(file: &File) -> String {
    let mut bytes = [0_u8; 100];
    let read = file.read_at(&mut bytes, 0).unwrap_or(0);
    let label: String = bytes
        .iter()
        .take(read)
        .take_while(|&&byte| byte != b'\n')
        .map(|&byte| if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '?' })
        .collect();
    if label.is_empty() { "unknown".to_owned() } else { label }
}
