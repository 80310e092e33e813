//! Files that are written in place: by position ([`WritableFile`]) or at their end ([`AppendFile`]).
//!
//! Neither locks anything: a directory has one writer, the holder of its [`DirectoryLock`](super::DirectoryLock).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::error::{Context, DurableError, Operation};
use super::sync_parent;

/// A file open for reading and writing at any position, with explicit syncs.
///
/// Writes are visible to readers at once and durable only after [`Self::sync_data`] or
/// [`Self::sync_all`] returned `Ok`. The calls take `&self`: positions are arguments, never a hidden
/// cursor.
#[derive(Debug)]
pub struct WritableFile {
    file: File,
    path: PathBuf,
}

impl WritableFile {
    /// Opens a file, creating it empty if it isn't there; the name of a new file is durable on return.
    ///
    /// 1. `open(path, O_RDWR|O_CREAT|O_EXCL, 0666 & ~umask)`; if it exists: `open(path, O_RDWR)`
    /// 2. only if it was created: `open(directory)`, `fsync`, `close`
    pub fn open_or_create(path: &Path) -> Result<Self, DurableError> {
        match OpenOptions::new().read(true).write(true).create_new(true).open(path) {
            Ok(file) => {
                sync_parent(path)?;
                Ok(Self { file, path: path.to_path_buf() })
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::open(path),
            Err(error) => Err(DurableError::new(path, Operation::Create, error)),
        }
    }

    /// Opens a file that exists.
    ///
    /// 1. `open(path, O_RDWR)`
    pub fn open(path: &Path) -> Result<Self, DurableError> {
        let file =
            OpenOptions::new().read(true).write(true).open(path).context(path, Operation::Open)?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// The path it was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The length in bytes.
    ///
    /// 1. `fstat`
    pub fn len(&self) -> Result<u64, DurableError> {
        Ok(self.file.metadata().context(&self.path, Operation::Metadata)?.len())
    }

    /// Whether the length is zero.
    pub fn is_empty(&self) -> Result<bool, DurableError> {
        Ok(self.len()? == 0)
    }

    /// Writes all bytes at `offset`, growing the file if needed. After an error any part of the range may
    /// have been written.
    ///
    /// 1. `pwrite` until done
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), DurableError> {
        self.file.write_all_at(bytes, offset).context(&self.path, Operation::Write)
    }

    /// Fills `buffer` from `offset`; a file that ends before is an error of kind
    /// [`io::ErrorKind::UnexpectedEof`].
    ///
    /// 1. `pread` until done
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), DurableError> {
        self.file.read_exact_at(buffer, offset).context(&self.path, Operation::Read)
    }

    /// Reserves disk blocks for `length` bytes from `offset` without changing the file's length, so that
    /// a full disk shows here and not in the middle of a commit. Writing into the range later needs no new
    /// data blocks on file systems that overwrite in place; copy-on-write ones promise less.
    ///
    /// 1. `fallocate(FALLOC_FL_KEEP_SIZE, offset, length)`, again after `EINTR`
    pub fn allocate(&self, offset: u64, length: u64) -> Result<Allocation, DurableError> {
        loop {
            return match fallocate(&self.file, FallocateFlags::KEEP_SIZE, offset, length) {
                Ok(()) => Ok(Allocation::Reserved),
                Err(Errno::INTR) => continue,
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(Allocation::Unsupported),
                Err(errno) => Err(DurableError::new(&self.path, Operation::Allocate, errno.into())),
            };
        }
    }

    /// Cuts or extends (with zeros) the file to `length` bytes; durable after the next sync.
    ///
    /// 1. `ftruncate(length)`
    pub fn set_len(&self, length: u64) -> Result<(), DurableError> {
        self.file.set_len(length).context(&self.path, Operation::Truncate)
    }

    /// Makes content and length durable, but not time stamps. A failure is fatal (see the module).
    ///
    /// 1. `fdatasync`
    pub fn sync_data(&self) -> Result<(), DurableError> {
        self.file.sync_data().context(&self.path, Operation::Sync)
    }

    /// Makes content, length and all other metadata durable. A failure is fatal (see the module).
    ///
    /// 1. `fsync`
    pub fn sync_all(&self) -> Result<(), DurableError> {
        self.file.sync_all().context(&self.path, Operation::Sync)
    }
}

/// What became of a wish to reserve disk blocks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use = "an unsupported reservation means that a full disk can show at any write"]
pub enum Allocation {
    /// The blocks are reserved.
    Reserved,
    /// The file system can't reserve blocks; a full disk will show when writing.
    Unsupported,
}

/// A file that only grows at its end.
///
/// It has one writer, which therefore knows the end: an append that fails half-way is cut off again, so
/// what lies before the end is always whole appends (as far as the operating system did what it said; a
/// power cut can still tear whatever wasn't synced).
#[derive(Debug)]
pub struct AppendFile {
    file: WritableFile,
    end: u64,
}

impl AppendFile {
    /// Opens a file at its present end, creating it empty if it isn't there.
    ///
    /// 1. as [`WritableFile::open_or_create`]
    /// 2. `fstat`
    pub fn open_or_create(path: &Path) -> Result<Self, DurableError> {
        let file = WritableFile::open_or_create(path)?;
        let end = file.len()?;
        Ok(Self { file, end })
    }

    /// The path it was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The length in bytes, and the offset of the next append.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.end
    }

    /// Whether nothing was appended yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Appends all bytes and returns the offset at which they start.
    ///
    /// 1. `pwrite` at the end until done
    /// 2. only if that failed: `ftruncate` to the former end
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64, DurableError> {
        let start = self.end;
        if let Err(error) = self.file.write_all_at(bytes, start) {
            // Best effort: if the cut fails too, the next append overwrites the torn bytes, and whoever
            // opens the file after a crash has to check its tail in any case.
            let _ = self.file.set_len(start);
            return Err(error);
        }
        // A slice is shorter than 2^63 bytes and so is every file: the sum stays below 2^64.
        self.end = start.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(start)
    }

    /// Makes room for `bytes` more, so that a full disk shows before they are written. A file system that
    /// can't do that does nothing.
    ///
    /// 1. `fallocate(FALLOC_FL_KEEP_SIZE)` behind the end
    pub fn reserve(&self, bytes: u64) -> Result<(), DurableError> {
        self.file.allocate(self.end, bytes).map(|_| ())
    }

    /// Fills `buffer` from `offset`.
    ///
    /// 1. `pread` until done
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), DurableError> {
        self.file.read_exact_at(buffer, offset)
    }

    /// Cuts the file back to `length` bytes: what recovery does with a torn tail. A length beyond the end
    /// is refused, since it would invent zeros.
    ///
    /// 1. `ftruncate(length)`
    pub fn truncate(&mut self, length: u64) -> Result<(), DurableError> {
        if length > self.end {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "longer than the file");
            return Err(DurableError::new(self.path(), Operation::Truncate, source));
        }
        self.file.set_len(length)?;
        self.end = length;
        Ok(())
    }

    /// Makes everything appended so far durable. A failure is fatal (see the module).
    ///
    /// 1. `fdatasync`
    pub fn sync_data(&self) -> Result<(), DurableError> {
        self.file.sync_data()
    }
}
