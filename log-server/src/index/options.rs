//! Opening an index: which engine, where, with how much memory, and what to do when it won't open.

use core::fmt;
use core::str::FromStr;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::fjall::FjallStore;
use super::redb::RedbStore;
#[cfg(feature = "sled")]
use super::sled::SledStore;
use super::store::Store;
use super::{Damage, Index, IndexError, KeyedIndex, MemoryIndex, Remedy};

/// Memory an index takes when nothing else is asked for, in bytes.
pub const DEFAULT_MEMORY: u64 = 256 << 20;

/// The least memory an index makes do with, in bytes; less is taken for this.
pub const MIN_MEMORY: u64 = 16 << 20;

/// Where an index lives and how much it may use.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Options {
    /// A directory of its own; created when it is missing. Nothing else may be kept there.
    pub directory: PathBuf,
    /// Bytes for caches and write buffers together. An aim, not a wall: see the measured figures in
    /// `docs/decisions/0002-index-engine.md`.
    pub memory: u64,
}

impl Options {
    /// The default amount of memory in `directory`.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), memory: DEFAULT_MEMORY }
    }
}

/// What keeps the rows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Engine {
    /// A log-structured merge tree; the default.
    #[default]
    Fjall,
    /// Maps in memory, gone with the process: for tests and for logs of a few thousand entries.
    Memory,
    /// A copy-on-write B-tree.
    Redb,
    /// sled 0.34, in builds with the feature `sled`.
    #[cfg(feature = "sled")]
    Sled,
}

impl Engine {
    /// The engines of this build.
    pub const ALL: &[Self] = &[
        Self::Fjall,
        Self::Memory,
        Self::Redb,
        #[cfg(feature = "sled")]
        Self::Sled,
    ];

    /// The name in configuration files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Memory => "memory",
            Self::Redb => "redb",
            #[cfg(feature = "sled")]
            Self::Sled => "sled",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Engine {
    type Err = IndexError;

    fn from_str(name: &str) -> Result<Self, IndexError> {
        let engine = Self::ALL.iter().find(|engine| engine.as_str() == name);
        engine.copied().ok_or(IndexError::UnknownEngine)
    }
}

/// Opens the index in a directory, or makes a new one there.
///
/// # Errors
///
/// [`IndexError::remedy`] tells whether to rebuild, to remove the cause and try again, or to mend the call.
pub fn open(engine: Engine, options: &Options) -> Result<Box<dyn Index>, IndexError> {
    let options =
        Options { directory: options.directory.clone(), memory: options.memory.max(MIN_MEMORY) };
    match engine {
        Engine::Memory => Ok(Box::new(MemoryIndex::new())),
        Engine::Fjall => open_store(&options, FjallStore::open),
        Engine::Redb => open_store(&options, RedbStore::open),
        #[cfg(feature = "sled")]
        Engine::Sled => open_store(&options, SledStore::open),
    }
}

/// How [`open_or_recreate`] came by its index.
#[derive(Debug)]
pub enum Opened {
    /// It was there, or the directory was empty.
    AsItWas,
    /// It could not be used for the reason given, was deleted and made anew: it is empty and has to be fed
    /// from the start of the log.
    Recreated(IndexError),
}

/// Opens the index in a directory; one that calls for a rebuild is deleted and begun anew.
///
/// # Errors
///
/// Whatever a rebuild can't help with.
pub fn open_or_recreate(
    engine: Engine,
    options: &Options,
) -> Result<(Box<dyn Index>, Opened), IndexError> {
    match open(engine, options) {
        Ok(index) => Ok((index, Opened::AsItWas)),
        Err(error) if error.remedy() == Remedy::Rebuild => {
            delete(&options.directory)?;
            Ok((open(engine, options)?, Opened::Recreated(error)))
        }
        Err(error) => Err(error),
    }
}

/// Deletes an index with its directory; none there is fine.
///
/// # Errors
///
/// [`IndexError::Io`].
#[expect(
    clippy::disallowed_methods,
    reason = "derived data: an index that comes back after a power cut is as good as one that is gone"
)]
pub fn delete(directory: &Path) -> Result<(), IndexError> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "derived data: a directory that a power cut takes away is rebuilt"
)]
fn open_store<S: Store + 'static>(
    options: &Options,
    open: impl FnOnce(&Options) -> Result<S, IndexError>,
) -> Result<Box<dyn Index>, IndexError> {
    std::fs::create_dir_all(&options.directory)?;
    let index = contained(|| open(options).and_then(KeyedIndex::new))?;
    Ok(Box::new(index))
}

/// Work of an engine. Engines meet some damaged files with a panic. It must lead to a rebuild like any other
/// damage, not to a server that can't start, or a thread that is gone and leaves the index behind for good.
pub(crate) fn contained<T>(work: impl FnOnce() -> Result<T, IndexError>) -> Result<T, IndexError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(IndexError::Damaged(Damage::Engine)))
}
