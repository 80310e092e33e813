//! Whole directories: filled under a name that nobody reads, and there under their own in one step.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::Ordering;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::error::{Context, DurableError, Operation};
use super::lock::hold;
use super::{TEMPORARY_COUNT, TEMPORARY_MARK, parent_of, rename_new, sync_directory, sync_parent};

/// A directory being filled. A reader, and whoever comes after a crash, finds it whole under its name or
/// not at all.
///
/// While it is filled it is called `.<name>.tmp-<pid>-<n>`, beside its target; a process that is killed
/// leaves that behind, and nobody reads it. Dropped without being published, it is removed.
#[derive(Debug)]
pub struct StagedDirectory {
    target: PathBuf,
    path: PathBuf,
    /// Every directory below it, each to be synced before the whole is published.
    below: BTreeSet<PathBuf>,
    published: bool,
}

impl StagedDirectory {
    /// Starts a directory that is to be called `target`.
    ///
    /// 1. `mkdir(.<name>.tmp-<pid>-<n>, 0777 & ~umask)` beside it
    pub fn beside(target: &Path) -> Result<Self, DurableError> {
        let Some(name) = target.file_name() else {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name");
            return Err(DurableError::new(target, Operation::CreateDirectory, source));
        };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        let count = TEMPORARY_COUNT.fetch_add(1, Ordering::Relaxed);
        hidden.push(format!("{TEMPORARY_MARK}{}-{count}", process::id()));
        let path = parent_of(target).join(hidden);
        match fs::create_dir(&path) {
            // Our process id and count: only a crashed process that had the same id can have left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_dir_all(&path).and_then(|()| fs::create_dir(&path))
            }
            result => result,
        }
        .context(target, Operation::CreateDirectory)?;
        Ok(Self { target: target.to_path_buf(), path, below: BTreeSet::new(), published: false })
    }

    /// Where it lies while it is filled.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file into it, `relative` with forward slashes and in path form; the number of bytes.
    ///
    /// 1. `mkdir` for every directory that is missing
    /// 2. `open(O_WRONLY|O_CREAT|O_EXCL, 0666 & ~umask)`
    /// 3. `write` until `content` ends
    /// 4. `fsync(file)`, `close`
    pub fn write(&mut self, relative: &str, content: &mut dyn Read) -> Result<u64, DurableError> {
        let path = self.path.join(relative);
        let named = self.target.join(relative);
        let parents = path.ancestors().skip(1).take_while(|one| *one != self.path);
        let missing: Vec<PathBuf> =
            parents.filter(|one| !self.below.contains(*one)).map(Path::to_path_buf).collect();
        for directory in missing.into_iter().rev() {
            fs::create_dir(&directory).context(&named, Operation::CreateDirectory)?;
            self.below.insert(directory);
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .context(&named, Operation::Create)?;
        let mut buffer = vec![0; PIECE];
        let mut written = 0_u64;
        loop {
            let read = match content.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(DurableError::new(&named, Operation::Read, error)),
            };
            // `read` never says more than the buffer holds.
            let piece = buffer.get(..read).unwrap_or_default();
            file.write_all(piece).context(&named, Operation::Write)?;
            written = written.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        }
        file.sync_all().context(&named, Operation::Sync)?;
        Ok(written)
    }

    /// Gives it its name, where nothing has that name: else the error's source has the kind
    /// [`io::ErrorKind::AlreadyExists`] or [`io::ErrorKind::DirectoryNotEmpty`].
    ///
    /// 1. `fsync` of every directory in it, the deepest first, and of itself
    /// 2. as [`rename_new`]
    pub fn publish(mut self) -> Result<(), DurableError> {
        self.sync()?;
        let renamed = rename_new(&self.path, &self.target);
        // What was renamed and not synced is no temporary directory any more.
        self.published = renamed.as_ref().map_or_else(DurableError::is_sync_failure, |()| true);
        renamed
    }

    /// Takes the place of the directory that has its name, and removes that one, provided that it is `unchanged`
    /// then; whether it was. A reader finds the old one or the new one, each whole. A file system that can't
    /// exchange two names says so, and nothing has changed then.
    ///
    /// 1. `fsync` of every directory in it, the deepest first, and of itself
    /// 2. `open(parent)`, `flock(LOCK_EX)`: two that exchange at the same time do it one after the other
    /// 3. `unchanged`; where it isn't, nothing more is done
    /// 4. `renameat2(temporary, target, RENAME_EXCHANGE)`
    /// 5. `open(parent)`, `fsync`, `close`; the lock is released
    /// 6. the old one, which has the temporary name now, is removed
    pub fn exchange_if(mut self, unchanged: impl FnOnce() -> bool) -> Result<bool, DurableError> {
        self.sync()?;
        let held = hold(parent_of(&self.target))?;
        if !unchanged() {
            return Ok(false);
        }
        renameat_with(CWD, &self.path, CWD, &self.target, RenameFlags::EXCHANGE)
            .context(&self.target, Operation::Rename)?;
        self.published = true;
        sync_parent(&self.target)?;
        drop(held);
        fs::remove_dir_all(&self.path).context(&self.target, Operation::Remove)?;
        Ok(true)
    }

    fn sync(&self) -> Result<(), DurableError> {
        // Descending: what lies deeper in a directory comes after it.
        self.below.iter().rev().try_for_each(|directory| sync_directory(directory))?;
        sync_directory(&self.path)
    }
}

impl Drop for StagedDirectory {
    fn drop(&mut self) {
        if !self.published {
            // A name nobody reads: failing to remove it harms nobody, and there is no one to tell.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

const PIECE: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn staged(target: &Path, text: &str) -> StagedDirectory {
        let mut staged = StagedDirectory::beside(target).unwrap();
        staged.write("a/b/c", &mut text.as_bytes()).unwrap();
        staged.write("a/d", &mut &b""[..]).unwrap();
        staged
    }

    fn names(directory: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        fs::read_dir(directory).unwrap().map(|one| name(one).into_string().unwrap()).collect()
    }

    #[test]
    fn it_is_there_whole_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("it");
        let staging = staged(&target, "one");
        assert!(!target.exists());
        assert!(super::super::is_temporary_name(staging.path().file_name().unwrap()));
        drop(staging);
        assert!(names(root.path()).is_empty());
        staged(&target, "one").publish().unwrap();
        assert_eq!(fs::read(target.join("a/b/c")).unwrap(), b"one");
        assert_eq!(names(root.path()), ["it"]);
        let error = staged(&target, "two").publish().unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(target.join("a/b/c")).unwrap(), b"one");
        assert_eq!(names(root.path()), ["it"]);
    }

    #[test]
    fn it_takes_the_place_of_another() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("it");
        assert!(staged(&target, "one").exchange_if(|| true).is_err());
        assert!(names(root.path()).is_empty());
        staged(&target, "one").publish().unwrap();
        assert!(!staged(&target, "two").exchange_if(|| false).unwrap());
        assert_eq!(fs::read(target.join("a/b/c")).unwrap(), b"one");
        assert!(staged(&target, "two").exchange_if(|| true).unwrap());
        assert_eq!(fs::read(target.join("a/b/c")).unwrap(), b"two");
        assert_eq!(names(root.path()), ["it"]);
    }

    #[test]
    fn nothing_is_written_twice() {
        let root = tempfile::tempdir().unwrap();
        let mut staged = staged(&root.path().join("it"), "one");
        for taken in ["a/b/c", "a/b"] {
            let error = staged.write(taken, &mut &b"x"[..]).unwrap_err();
            assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists, "{taken}");
        }
        // A file is no directory.
        assert!(staged.write("a/d/e", &mut &b"x"[..]).is_err());
    }
}
