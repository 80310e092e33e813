//! A log read whole through its tiles, with nothing believed: the verified stream under monitor, mirror,
//! audit and compare.
//!
//! What it is: a [`Follower`] fetches a log's newest checkpoint, verifies its signature and holds it against
//! the one it knows; then it reads the entries that it hasn't read yet and hands them to an [`EntrySink`].
//! It works on everything that serves C2SP tlog-tiles ([`TileLocation`]): ours, a Tessera log, a mirror, a
//! directory. Entries are bytes here; what they mean is the sink's business.
//!
//! What it is not: it judges no witnesses and no times, and raises no alarms: it returns them as
//! [`FollowError`], each with its code, and with both signed notes where two of them don't go together.
//!
//! How it verifies: from the root down. The hashes at the right edge of the tree must lead to the signed
//! root; a full tile counts only when its root is the hash that a tile above it, verified the same way,
//! names. The root of the older tree is computed from tiles of the newer one, so the log has no proof to
//! choose. An entry is handed out after its hash was found in its place of the tree that the log signed, so
//! nothing has to be taken back at the end, and a [`Position`] is no more than the signed checkpoint and an
//! index.

mod error;
mod files;
mod follower;
mod location;
mod position;
mod prefetch;
mod sink;
mod tree;

pub use error::{BoxedError, FollowError, TileFault, TwoNotes};
pub(crate) use files::open as open_files;
pub use files::{FetchError, FileFuture, MAX_BUNDLE_BYTES, MAX_CHECKPOINT_BYTES, TileFiles};
pub use follower::{FollowOptions, Follower, Progress, Target};
pub use location::TileLocation;
pub(crate) use position::verify_any;
pub use position::{Position, PositionError, PositionFault};
pub use sink::EntrySink;
pub(crate) use tree::tile_root;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
