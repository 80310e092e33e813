//! Who takes the entries.

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::VerifiedCheckpoint;

use super::error::FollowError;

/// Takes the entries of a log in their order, each once and none left out.
///
/// All calls within one [`Follower::advance`](super::Follower::advance) come from one task, one after the
/// other. An error ends the reading; [`FollowError::sink`] makes one of any other error.
pub trait EntrySink {
    /// Entries `first`, `first + 1`, … of the tree that the log signed; at most 256, all of one bundle.
    /// They are verified to be exactly those.
    fn entries(&mut self, first: u64, entries: &[&[u8]]) -> Result<(), FollowError>;

    /// The whole bundle that the entries just handed out are part of, as it stands in the tree read: the
    /// index of its first entry, its bytes, and the hashes of its leaves. Called after
    /// [`EntrySink::entries`]; for those who copy files.
    fn bundle(
        &mut self,
        _first: u64,
        _bytes: &[u8],
        _leaf_hashes: &[Digest],
    ) -> Result<(), FollowError> {
        Ok(())
    }

    /// All entries of this checkpoint's tree have been handed out, by this call of `advance` or before.
    fn confirmed(&mut self, _checkpoint: &VerifiedCheckpoint) -> Result<(), FollowError> {
        Ok(())
    }
}
