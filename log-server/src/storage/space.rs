//! How much room there is.

use std::path::Path;

/// Bytes that can still be written to the file system of `path`. One that can't be asked is not therefore
/// full: the write itself will tell.
pub(crate) fn free_bytes(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(u64::MAX, |stat| stat.f_bavail.saturating_mul(stat.f_frsize))
}
