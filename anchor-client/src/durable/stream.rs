//! Files of any size, written once: from a stream, or by a process that is given the file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::error::{Context, DurableError, Operation};
use super::{Temporary, parent_of, sync_parent};

/// As [`write_new`](super::write_new), with everything that `body` gives; returns how many bytes that were.
///
/// A `body` that can't be read is an error of [`Operation::Write`] with its reason, and nothing appears.
pub fn write_new_from(path: &Path, body: &mut dyn Read, mode: u32) -> Result<u64, DurableError> {
    let mut size = 0;
    write_new_with(path, mode, |file| {
        size = io::copy(body, file)?;
        Ok(())
    })?;
    Ok(size)
}

/// As [`write_new`](super::write_new), with what `fill` writes.
pub fn write_new_with(
    path: &Path,
    mode: u32,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), DurableError> {
    let temporary = Temporary::fill(path, mode, fill)?;
    fs::hard_link(&temporary.path, path).context(path, Operation::Create)?;
    drop(temporary);
    sync_parent(path)
}

/// As [`write_replace`](super::write_replace), with everything that `body` gives; returns how many bytes that were.
/// Whoever has the old file open goes on with the old one.
pub fn write_replace_from(
    path: &Path,
    body: &mut dyn Read,
    mode: u32,
) -> Result<u64, DurableError> {
    let mut size = 0;
    let temporary = Temporary::fill(path, mode, |file| {
        size = io::copy(body, file)?;
        Ok(())
    })?;
    fs::rename(&temporary.path, path).context(path, Operation::Rename)?;
    temporary.keep();
    sync_parent(path)?;
    Ok(size)
}

/// Renames a file or directory durably and atomically, and refuses to replace anything: the error's source
/// has the kind [`io::ErrorKind::AlreadyExists`]. The content must have been synced before.
///
/// 1. `renameat2(from, to, RENAME_NOREPLACE)`; where a file system doesn't know that: `lstat(to)`, which
///    has to fail, and `rename(from, to)`
/// 2. `open(directory of to)`, `fsync`, `close`
/// 3. the same for the directory of `from`, if it is another one
pub fn rename_new(from: &Path, to: &Path) -> Result<(), DurableError> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => {
            if fs::symlink_metadata(to).is_ok() {
                let source = io::Error::from(io::ErrorKind::AlreadyExists);
                return Err(DurableError::new(to, Operation::Rename, source));
            }
            fs::rename(from, to).context(to, Operation::Rename)?;
        }
        result => result.context(to, Operation::Rename)?,
    }
    sync_parent(to)?;
    if parent_of(from) == parent_of(to) { Ok(()) } else { sync_parent(from) }
}

/// A new file that another process writes: both its output streams, in the order they were written.
///
/// It lies under its own name from the start, so that what a process wrote is there even when whoever
/// started it is gone. Until [`OutputFile::finish`] nothing of it is durable.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    path: PathBuf,
}

impl OutputFile {
    /// Creates the file; one that is there is refused, with the kind [`io::ErrorKind::AlreadyExists`].
    ///
    /// 1. `open(path, O_WRONLY|O_APPEND|O_CREAT|O_EXCL, 0666 & ~umask)`
    /// 2. `open(directory)`, `fsync`, `close`
    pub fn create(path: &Path) -> Result<Self, DurableError> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .context(path, Operation::Create)?;
        sync_parent(path)?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// A handle for one stream of a process.
    ///
    /// 1. `fcntl(F_DUPFD_CLOEXEC)`
    pub fn stdio(&self) -> Result<Stdio, DurableError> {
        Ok(self.file.try_clone().context(&self.path, Operation::Open)?.into())
    }

    /// The length so far in bytes.
    ///
    /// 1. `fstat`
    pub fn len(&self) -> Result<u64, DurableError> {
        Ok(self.file.metadata().context(&self.path, Operation::Metadata)?.len())
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> Result<bool, DurableError> {
        Ok(self.len()? == 0)
    }

    /// Makes what was written durable. Call it when nobody writes any more.
    ///
    /// 1. `fsync`, `close`
    pub fn finish(self) -> Result<(), DurableError> {
        self.file.sync_all().context(&self.path, Operation::Sync)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::super::{MODE_SHARED, write_new};
    use super::*;

    #[test]
    fn streams_and_renames_never_replace() {
        let directory = tempfile::tempdir().unwrap();
        let (one, two) = (directory.path().join("one"), directory.path().join("two"));
        assert_eq!(write_new_from(&one, &mut &b"bytes"[..], MODE_SHARED).unwrap(), 5);
        write_new(&two, b"other", MODE_SHARED).unwrap();
        let refused = write_new_from(&two, &mut &b"bytes"[..], MODE_SHARED).unwrap_err();
        assert_eq!(refused.source.kind(), io::ErrorKind::AlreadyExists);
        let refused = rename_new(&one, &two).unwrap_err();
        assert_eq!(refused.source.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&two).unwrap(), b"other");
        let mut held = OpenOptions::new().append(true).open(&two).unwrap();
        assert_eq!(write_replace_from(&two, &mut &b"another"[..], MODE_SHARED).unwrap(), 7);
        held.write_all(b" and more").unwrap();
        assert_eq!(fs::read(&two).unwrap(), b"another");
        let three = directory.path().join("three");
        rename_new(&one, &three).unwrap();
        assert_eq!(fs::read(&three).unwrap(), b"bytes");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_stream_that_breaks_leaves_nothing() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let directory = tempfile::tempdir().unwrap();
        let error =
            write_new_from(&directory.path().join("x"), &mut Broken, MODE_SHARED).unwrap_err();
        assert_eq!(error.operation, Operation::Write);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn another_process_writes_both_streams_into_one_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        let output = OutputFile::create(&path).unwrap();
        assert!(output.is_empty().unwrap());
        let status = std::process::Command::new("sh")
            .args(["-c", "echo one; echo two >&2"])
            .stdout(output.stdio().unwrap())
            .stderr(output.stdio().unwrap())
            .status();
        assert!(status.unwrap().success());
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        assert!(OutputFile::create(&path).is_err());
    }
}
