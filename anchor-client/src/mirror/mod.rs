//! A verified copy of a log: the files of C2SP tlog-tiles in a directory that any static server can serve.
//!
//! What it is: everything the followed log's newest checkpoint covers, read and verified by
//! [`crate::follow`], written in an order that makes the copy whole at any moment: full tiles and bundles
//! first, the partial ones of the new size next, the checkpoint last. A copy that was killed goes on where it
//! was; a file that is there is never replaced by other bytes; a log that contradicts itself is refused, and
//! both its notes are kept.
//!
//! ```text
//! DIR/checkpoint             the log's own note, with the lines of its witnesses
//! DIR/tile/<L>/…             hashes
//! DIR/tile/entries/…         entries
//! DIR/.mirror/position.json  how far it is; without it everything is read and compared anew
//! DIR/.mirror/LOCK           one writer at a time
//! DIR/.mirror/evidence/…     the notes of a contradiction
//! ```
//!
//! What it is not: a mirror of C2SP tlog-mirror, which is pushed to and cosigns. This one signs nothing.

mod error;
mod store;
mod writer;

use std::path::PathBuf;

use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::VerifierKey;

pub use error::MirrorError;

use crate::follow::{FollowOptions, Follower, TileLocation};
use crate::state::StateDir;
use store::Store;
use writer::Writer;

/// What to copy where.
#[derive(Clone, Debug)]
pub struct MirrorOptions {
    /// The log.
    pub from: TileLocation,
    /// The keys of which one signs its checkpoints.
    pub keys: Vec<VerifierKey>,
    /// The directory of the copy.
    pub to: PathBuf,
    /// How to read. `step` is ignored: the mirror reads in pieces of its own.
    pub follow: FollowOptions,
}

/// What one round did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Round {
    /// Entries of the copy.
    pub size: u64,
    /// Entries read and verified in this round.
    pub read: u64,
    /// Files written.
    pub written: u64,
    /// Files that were there already, with the same bytes.
    pub kept: u64,
}

/// A copy with its lock.
#[derive(Debug)]
pub struct Mirror {
    from: TileLocation,
    keys: Vec<VerifierKey>,
    follower: Follower,
    store: Store,
}

impl Mirror {
    /// Opens a copy, or begins one. Nothing is asked of the log yet.
    pub fn open(options: MirrorOptions) -> Result<Self, MirrorError> {
        let store = Store::open(&options.to)?;
        let position = store.position(&options.keys)?;
        let follow = FollowOptions { step: PIECE, ..options.follow };
        let follower = Follower::new(&options.from, options.keys.clone(), position, follow)?;
        Ok(Self { from: options.from, keys: options.keys, follower, store })
    }

    /// Copies what is new, up to the log's newest checkpoint. `progress` is told of (entries done, entries
    /// of the log) now and then.
    pub async fn round(
        &mut self,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Round, MirrorError> {
        let result = self.copy(progress).await;
        if result.is_err() {
            // What was read and not written has to be read again.
            self.follower.restart(self.store.position(&self.keys)?);
        }
        if let Err(MirrorError::Follow { source, evidence }) = result {
            let state = StateDir::at(self.store.state_directory());
            let kept = source.keep_evidence(&state, &self.from);
            let kept = kept.map(|kept| kept.map_err(Box::new));
            return Err(MirrorError::Follow { source, evidence: evidence.or(kept) });
        }
        result
    }

    async fn copy(
        &mut self,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Round, MirrorError> {
        let before = self.store.published(self.follower.position());
        let mut target = self.follower.poll().await?;
        // From now on the log is held to this one, whatever becomes of the copy.
        self.store.save(self.follower.position())?;
        let first = self.follower.position().map_or(0, crate::follow::Position::next);
        let mut writer = Writer::begin(&mut target, first).await?;
        let mut round = Round::default();
        loop {
            let step = self.follower.advance(&target, &mut writer).await?;
            let files = if step.is_complete() {
                let mut files = writer.take();
                files.extend(writer.edge(&mut target).await?);
                files
            } else {
                writer.take()
            };
            let counts = self.store.write(files)?;
            round.written += counts.written;
            round.kept += counts.kept;
            round.read += step.next - step.first;
            progress(step.next, step.size);
            if step.is_complete() {
                round.size = step.size;
                break;
            }
            self.store.save(self.follower.position())?;
        }
        // Now that everything below it is durable.
        self.store.publish(target.checkpoint())?;
        self.store.save(self.follower.position())?;
        self.store.prune(before, target.checkpoint().checkpoint().size)?;
        Ok(round)
    }

    /// Entries of the copy that is served now.
    #[must_use]
    pub fn size(&self) -> TreeSize {
        self.store.published(self.follower.position())
    }
}

/// Entries between two points from which an interrupted copy goes on: 256 bundles and as many tiles.
const PIECE: u64 = 65_536;

#[cfg(test)]
mod tests;
