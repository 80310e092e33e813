//! Files of one kind cut into numbered segments, with a bounded set of open handles.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use anchorlog_client::durable::{self, DurableError, WritableFile};

/// Entries, or hashes of one level, in a segment.
pub(super) const SEGMENT_ITEMS: u64 = 1 << 20;

/// Open handles kept. Three files grow at a time; the rest serve reads of older segments.
const MAX_OPEN: usize = 256;

/// Which file of the object store.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Kind {
    /// Offsets of every 256th entry.
    Bundles,
    /// Entries behind their lengths.
    Entries,
    /// Hashes of a tile level.
    Level(u8),
}

/// One segment file.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct FileKey {
    pub(super) kind: Kind,
    pub(super) segment: u64,
}

impl FileKey {
    /// The file's path below the store's directory.
    pub(super) fn path(self) -> PathBuf {
        let folder = match self.kind {
            Kind::Bundles => "bundles".to_owned(),
            Kind::Entries => "entries".to_owned(),
            Kind::Level(level) => format!("level{level}"),
        };
        Path::new(&folder).join(format!("{:010}", self.segment))
    }
}

/// The open segment files below one directory.
#[derive(Debug)]
pub(super) struct SegmentFiles {
    directory: PathBuf,
    open: RwLock<HashMap<FileKey, Arc<WritableFile>>>,
}

impl SegmentFiles {
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_path_buf(), open: RwLock::default() }
    }

    /// Where they are.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The full path of a file.
    pub(super) fn path(&self, key: FileKey) -> PathBuf {
        self.directory.join(key.path())
    }

    /// A file that must exist.
    pub(super) fn existing(&self, key: FileKey) -> Result<Arc<WritableFile>, DurableError> {
        self.handle(key, WritableFile::open)
    }

    /// A file that is created, durably, when it is not there.
    pub(super) fn create(&self, key: FileKey) -> Result<Arc<WritableFile>, DurableError> {
        self.handle(key, |path| {
            if let Some(parent) = path.parent() {
                durable::create_dir_all(parent)?;
            }
            WritableFile::open_or_create(path)
        })
    }

    fn handle(
        &self,
        key: FileKey,
        open: impl FnOnce(&Path) -> Result<WritableFile, DurableError>,
    ) -> Result<Arc<WritableFile>, DurableError> {
        // The map holds no invariant that a panic elsewhere could have broken.
        if let Some(file) = self.open.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(open(&self.path(key))?);
        let mut handles = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if handles.len() >= MAX_OPEN {
            // Readers in the middle of something hold their own reference.
            handles.clear();
        }
        Ok(Arc::clone(handles.entry(key).or_insert(file)))
    }
}
