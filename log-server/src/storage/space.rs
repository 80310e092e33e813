//! How much room there is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that can still be written to the file system of `path`. One that can't be asked is not therefore
/// full: the write itself will tell.
pub(crate) fn free_bytes(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(u64::MAX, |stat| stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Refuses writes while there is still room for what is already promised: the index and the files behind
/// it need some to catch up.
#[derive(Clone, Debug)]
pub(crate) struct SpaceGuard {
    directory: PathBuf,
    min_free: u64,
    /// Bytes that the index has yet to write, see [`Self::owe`].
    owed: Arc<AtomicU64>,
    /// What was free when it began to write them; 0 when it isn't writing.
    free_before: Arc<AtomicU64>,
}

impl SpaceGuard {
    /// Guards `min_free` bytes of the file system of `directory`, or a twentieth of it when it is small.
    pub(crate) fn new(directory: &Path, min_free: u64) -> Self {
        let total = rustix::fs::statvfs(directory)
            .map_or(u64::MAX, |stat| stat.f_blocks.saturating_mul(stat.f_frsize));
        Self {
            directory: directory.to_path_buf(),
            min_free: min_free.min(total / 20),
            owed: Arc::default(),
            free_before: Arc::default(),
        }
    }

    /// Keeps room for what the index has in memory and will write: without, a disk would fill twice.
    pub(crate) fn owe(&self, bytes: u64) {
        self.owed.store(bytes, Ordering::Release);
        self.free_before.store(0, Ordering::Release);
    }

    /// The index begins to write what is owed: what goes from the free space until the next [`Self::owe`] is
    /// owed no more.
    pub(crate) fn pay(&self) {
        self.free_before.store(free_bytes(&self.directory), Ordering::Release);
    }

    /// Whether less than that is free, for a log of which so many entries wait for the index.
    pub(crate) fn is_low(&self, waiting: usize) -> bool {
        let free = free_bytes(&self.directory);
        let waiting = u64::try_from(waiting).unwrap_or(u64::MAX).saturating_mul(INDEXED_BYTES);
        let paid = self.free_before.load(Ordering::Acquire).saturating_sub(free);
        let owed = self.owed.load(Ordering::Acquire).saturating_sub(paid).saturating_add(waiting);
        free < self.min_free.saturating_add(owed)
    }
}

/// What the index takes for an entry, at most.
const INDEXED_BYTES: u64 = 512;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use super::*;

    #[test]
    fn room_is_kept_for_what_the_index_will_write() {
        let directory = tempfile::tempdir().unwrap();
        let guard = SpaceGuard::new(directory.path(), 0);
        assert!(!guard.is_low(0));
        guard.owe(u64::MAX);
        assert!(guard.is_low(0));
        // Nothing has gone yet of what was free.
        guard.pay();
        assert!(guard.is_low(0));
        // All of it has.
        guard.free_before.store(u64::MAX, Ordering::Release);
        guard.owed.store(u64::MAX - free_bytes(directory.path()) - (1 << 40), Ordering::Release);
        assert!(!guard.is_low(0));
        guard.owe(0);
        assert!(!guard.is_low(0));
        assert!(guard.is_low(usize::MAX), "entries that wait are owed for as well");
    }
}
