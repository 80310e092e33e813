//! The one room of the workspace that writes to disk.
//!
//! What it is: the few ways in which Anchorlog creates, replaces, extends, locks and removes files, each
//! with the exact order of system calls written above it, so that "durable" means the same thing
//! everywhere: after a function returned `Ok`, its effect survives a power cut. clippy's
//! `disallowed_methods` keeps every other module from writing files itself.
//!
//! What it is not: there are no formats here, no retries and no decisions. In particular
//!
//! **a failed fsync is fatal.** After `fsync` or `fdatasync` has failed once, the kernel may have dropped
//! the dirty pages and marked them clean: a second call can succeed although the data is gone. So callers
//! must neither retry nor go on: a long-running program stops and recovers from what is on disk
//! ([`DurableError::is_sync_failure`] tells this case from the others).
//!
//! **A full disk is not fatal.** It shows as an error for which [`DurableError::is_out_of_space`] is true,
//! before anything was replaced; the old content stays as it was.
//!
//! A crash inside [`write_replace`] or [`write_new`] can leave a temporary file behind (its name starts
//! with `.` and contains `.tmp-`); it was never published under the real name, and
//! [`remove_stale_temporaries`] clears it away.
#![allow(clippy::disallowed_methods, reason = "this is the room the other rooms are sent to")]

mod directory;
mod error;
mod file;
mod lock;
mod stream;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

pub use directory::StagedDirectory;
pub use error::{DurableError, Operation, is_out_of_space};
pub use file::{Allocation, AppendFile, WritableFile};
pub use lock::{DirectoryLock, LockError};
pub use stream::{OutputFile, rename_new, write_new_from, write_new_with, write_replace_from};

use error::Context;

/// Permission bits of files that anybody may read, before the umask.
pub const MODE_SHARED: u32 = 0o666;

/// Permission bits of files that only their owner may read: private keys and what belongs to them.
pub const MODE_PRIVATE: u32 = 0o600;

/// Creates a directory and whatever is missing above it, durably. A directory that exists is fine.
///
/// For every missing component, outermost first:
///
/// 1. `mkdir(component, 0777 & ~umask)`
/// 2. `open(parent, O_RDONLY)`, `fsync`, `close`
pub fn create_dir_all(path: &Path) -> Result<(), DurableError> {
    create_dir_all_with_mode(path, 0o777)
}

/// As [`create_dir_all`], with the permission bits (before the umask) of the directories it creates:
/// `0o700` for a place that holds keys.
pub fn create_dir_all_with_mode(path: &Path, mode: u32) -> Result<(), DurableError> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.is_dir())
        .collect();
    for directory in missing.into_iter().rev() {
        match fs::DirBuilder::new().mode(mode).create(directory) {
            Ok(()) => {}
            // Somebody else was faster; their fsync may still be under way, so ours happens all the same.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
            Err(error) => {
                return Err(DurableError::new(directory, Operation::CreateDirectory, error));
            }
        }
        sync_parent(directory)?;
    }
    Ok(())
}

/// Replaces the content of `path` (or creates it) atomically: a reader, and whoever comes after a crash,
/// sees the old bytes or the new ones, whole.
///
/// 1. `open(.<name>.tmp-<pid>-<n>, O_WRONLY|O_CREAT|O_EXCL, 0666 & ~umask)` in the same directory
/// 2. `write` until done
/// 3. `fsync(file)`, `close`
/// 4. `rename(temporary, path)`
/// 5. `open(directory)`, `fsync`, `close`
///
/// A failure in 1 to 4 removes the temporary file and leaves `path` as it was; after a failure in 5 either
/// content may be found after a crash.
pub fn write_replace(path: &Path, bytes: &[u8]) -> Result<(), DurableError> {
    write_replace_with_mode(path, bytes, MODE_SHARED)
}

/// As [`write_replace`], with the permission bits (before the umask) of the new file.
pub fn write_replace_with_mode(path: &Path, bytes: &[u8], mode: u32) -> Result<(), DurableError> {
    let temporary = Temporary::write(path, bytes, mode)?;
    fs::rename(&temporary.path, path).context(path, Operation::Rename)?;
    temporary.keep();
    sync_parent(path)
}

/// As [`write_replace`] for many files of one directory, with one `fsync` of the directory at the end. Each
/// file is replaced atomically; after a failure or a crash some are the new ones and the others as before.
///
/// 1. for each file, steps 1 to 3 of [`write_replace`]; up to eight files at a time, because file systems
///    answer syncs that wait together with one flush
/// 2. for each file, `rename(temporary, path)`
/// 3. `open(directory)`, `fsync`, `close`
pub fn write_replace_in(directory: &Path, files: &[(&OsStr, &[u8])]) -> Result<(), DurableError> {
    let write = |chunk: &[(&OsStr, &[u8])]| {
        let write = |(name, bytes): &(&OsStr, &[u8])| {
            let path = directory.join(name);
            Ok((Temporary::write(&path, bytes, MODE_SHARED)?, path))
        };
        chunk.iter().map(write).collect::<Result<Vec<_>, DurableError>>()
    };
    let chunks: Vec<_> = files.chunks(files.len().div_ceil(SYNCS_AT_A_TIME).max(1)).collect();
    let written: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> =
            chunks.iter().map(|chunk| scope.spawn(move || write(chunk))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect::<Result<_, _>>()
    })?;
    for (temporary, path) in written.into_iter().flatten() {
        fs::rename(&temporary.path, &path).context(&path, Operation::Rename)?;
        temporary.keep();
    }
    sync_directory(directory)
}

/// Creates `path` with these bytes and these permission bits (before the umask), and refuses to touch a
/// file that is already there: the error's source has the kind [`io::ErrorKind::AlreadyExists`]. The file
/// appears whole or not at all, so a crash can't leave half a key behind.
///
/// 1. `open(.<name>.tmp-<pid>-<n>, O_WRONLY|O_CREAT|O_EXCL, mode & ~umask)` in the same directory
/// 2. `write` until done
/// 3. `fsync(file)`, `close`
/// 4. `link(temporary, path)`: fails if `path` exists
/// 5. `unlink(temporary)`
/// 6. `open(directory)`, `fsync`, `close`
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), DurableError> {
    let temporary = Temporary::write(path, bytes, mode)?;
    fs::hard_link(&temporary.path, path).context(path, Operation::Create)?;
    drop(temporary);
    sync_parent(path)
}

/// Removes a file durably. A file that isn't there is an error of kind [`io::ErrorKind::NotFound`].
///
/// 1. `unlink(path)`
/// 2. `open(directory)`, `fsync`, `close`
pub fn remove_file(path: &Path) -> Result<(), DurableError> {
    fs::remove_file(path).context(path, Operation::Remove)?;
    sync_parent(path)
}

/// Removes a directory with everything below it. Not atomic: a crash can leave part of it, so only what
/// can be rebuilt or removed again may go this way.
///
/// 1. `unlinkat` and `rmdir` for everything below, depth first; `rmdir(path)`
/// 2. `open(parent)`, `fsync`, `close`
pub fn remove_dir_all(path: &Path) -> Result<(), DurableError> {
    fs::remove_dir_all(path).context(path, Operation::Remove)?;
    sync_parent(path)
}

/// Renames a file or directory durably and atomically; an existing file at `to` is replaced. The content
/// must have been synced before.
///
/// 1. `rename(from, to)`
/// 2. `open(directory of to)`, `fsync`, `close`
/// 3. the same for the directory of `from`, if it is another one
pub fn rename(from: &Path, to: &Path) -> Result<(), DurableError> {
    fs::rename(from, to).context(to, Operation::Rename)?;
    sync_parent(to)?;
    if parent_of(from) == parent_of(to) { Ok(()) } else { sync_parent(from) }
}

/// Makes the names in a directory durable: files created, renamed or removed in it before the call.
///
/// 1. `open(directory, O_RDONLY)`, `fsync`, `close`
pub fn sync_directory(directory: &Path) -> Result<(), DurableError> {
    File::open(directory)
        .and_then(|handle| handle.sync_all())
        .context(directory, Operation::SyncDirectory)
}

/// Removes temporary files that a crash left in `directory`, and returns how many there were. Only for
/// the holder of the directory's lock: the files of a writer at work look the same.
///
/// 1. `unlink` for each
/// 2. `open(directory)`, `fsync`, `close`, if there was any
pub fn remove_stale_temporaries(directory: &Path) -> Result<usize, DurableError> {
    let mut removed = 0;
    for entry in fs::read_dir(directory).context(directory, Operation::Read)? {
        let entry = entry.context(directory, Operation::Read)?;
        if is_temporary_name(&entry.file_name()) {
            fs::remove_file(entry.path()).context(&entry.path(), Operation::Remove)?;
            removed += 1;
        }
    }
    if removed > 0 {
        sync_directory(directory)?;
    }
    Ok(removed)
}

/// Whether a file name is one that [`write_replace`] and [`write_new`] use before they publish.
#[must_use]
pub fn is_temporary_name(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".")
        && name.windows(TEMPORARY_MARK.len()).any(|w| w == TEMPORARY_MARK.as_bytes())
}

/// The directory that holds the name `path`; `.` for a bare file name.
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn sync_parent(path: &Path) -> Result<(), DurableError> {
    sync_directory(parent_of(path))
}

/// A synced file under a name that nobody reads; unlinked when dropped, unless its name was given away.
struct Temporary {
    path: PathBuf,
    published: bool,
}

impl Temporary {
    fn write(target: &Path, bytes: &[u8], mode: u32) -> Result<Self, DurableError> {
        Self::fill(target, mode, |file| file.write_all(bytes))
    }

    fn fill(
        target: &Path,
        mode: u32,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<Self, DurableError> {
        let (temporary, mut file) = Self::create(target, mode)?;
        write(&mut file).context(target, Operation::Write)?;
        file.sync_all().context(target, Operation::Sync)?;
        Ok(temporary)
    }

    fn create(target: &Path, mode: u32) -> Result<(Self, File), DurableError> {
        let Some(name) = target.file_name() else {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name");
            return Err(DurableError::new(target, Operation::Create, source));
        };
        let mut hidden = OsString::from(".");
        hidden.push(name);
        let count = TEMPORARY_COUNT.fetch_add(1, Ordering::Relaxed);
        hidden.push(format!("{TEMPORARY_MARK}{}-{count}", process::id()));
        let path = parent_of(target).join(hidden);
        let open = || OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
        let file = match open() {
            // Our process id and count: only a crashed process that had the same id can have left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&path).and_then(|()| open())
            }
            result => result,
        }
        .context(target, Operation::Create)?;
        Ok((Self { path, published: false }, file))
    }

    fn keep(mut self) {
        self.published = true;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.published {
            // A name nobody reads: failing to remove it harms nobody, and there is no one to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

const SYNCS_AT_A_TIME: usize = 8;

const TEMPORARY_MARK: &str = ".tmp-";

static TEMPORARY_COUNT: AtomicU64 = AtomicU64::new(0);

#[cfg(test)]
mod tests;
