//! The follower: newest checkpoint, consistency, entries.

use std::sync::Arc;
use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_proto::merkle::{TreeSize, leaf_hash};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tile::{EntriesId, TILE_WIDTH, TileId, parse_bundle};

use super::error::{FollowError, TileFault, TwoNotes};
use super::files::{self, MAX_CHECKPOINT_BYTES, TileFiles};
use super::location::TileLocation;
use super::position::{Position, verify_any};
use super::prefetch::Prefetch;
use super::sink::EntrySink;
use super::tree::{Bundle, Tree, tile_root};
use crate::retry::RetryPolicy;

/// How to follow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FollowOptions {
    /// Read the level-0 tile of every bundle too and compare it. What is handed out is verified without it;
    /// whoever watches a log wants to know that it serves its tiles rightly.
    pub leaf_tiles: bool,
    /// Bundles asked for at the same time over HTTP: 1 to 64. A bundle of a log of others can be 16 MiB.
    pub parallel: usize,
    /// About how many entries one [`Follower::advance`] reads at most; it stops after a whole bundle.
    pub step: u64,
    /// How long one try of one request may take.
    pub timeout: Duration,
    /// How often to try.
    pub retry: RetryPolicy,
}

impl Default for FollowOptions {
    fn default() -> Self {
        Self {
            leaf_tiles: false,
            parallel: 8,
            step: u64::MAX,
            timeout: Duration::from_secs(30),
            retry: RetryPolicy::default(),
        }
    }
}

/// Reads one log.
#[derive(Debug)]
pub struct Follower {
    files: Arc<dyn TileFiles>,
    keys: Vec<VerifierKey>,
    position: Option<Position>,
    options: FollowOptions,
}

/// A tree that the log signed, that extends everything known before, and whose right edge is verified.
#[derive(Clone, Debug)]
pub struct Target {
    checkpoint: VerifiedCheckpoint,
    tree: Tree,
}

impl Target {
    /// The checkpoint as it was served, with all its lines.
    #[must_use]
    pub const fn checkpoint(&self) -> &VerifiedCheckpoint {
        &self.checkpoint
    }

    /// The root of the first `size` entries of this tree, as its tiles show it, and the consistency proof
    /// from there to the signed root; `None` if the tree has fewer. A smaller signed tree with another root
    /// is no prefix of this one, and the proof shows that to whoever has only the two notes.
    pub async fn prefix(
        &self,
        size: TreeSize,
    ) -> Result<Option<(Digest, Vec<Digest>)>, FollowError> {
        if size > self.signed_tree().size {
            return Ok(None);
        }
        self.tree.clone().prefix(size).await.map(Some)
    }

    /// The hashes of a tile of this tree, as wide as the tree has it, verified.
    pub async fn tile(&mut self, level: u8, index: u64) -> Result<Arc<[Digest]>, FollowError> {
        self.tree.tile(level, index).await
    }

    fn signed_tree(&self) -> &Checkpoint {
        self.checkpoint.checkpoint()
    }
}

/// How far one [`Follower::advance`] came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress {
    /// Index of the first entry it handed out.
    pub first: u64,
    /// Index after the last one.
    pub next: u64,
    /// Size of the tree that is read.
    pub size: u64,
}

impl Progress {
    /// Whether every entry of the tree has been handed out.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.next == self.size
    }
}

impl Follower {
    /// Prepares to follow the log whose checkpoints one of `log_keys` signs, from `position` on. Nothing is
    /// read yet.
    pub fn new(
        location: &TileLocation,
        log_keys: Vec<VerifierKey>,
        position: Option<Position>,
        options: FollowOptions,
    ) -> Result<Self, FollowError> {
        let parallel = options.parallel.clamp(1, MAX_PARALLEL);
        let files = files::open(location, options.timeout, options.retry, parallel)?;
        Self::with_files(files, log_keys, position, options)
    }

    /// The same over any source of files.
    pub fn with_files(
        files: Arc<dyn TileFiles>,
        log_keys: Vec<VerifierKey>,
        position: Option<Position>,
        options: FollowOptions,
    ) -> Result<Self, FollowError> {
        if log_keys.is_empty() {
            return Err(FollowError::NoKeys);
        }
        Ok(Self { files, keys: log_keys, position, options })
    }

    /// How far the log has been read; `None` before the first [`Follower::poll`]. This is what to keep.
    #[must_use]
    pub const fn position(&self) -> Option<&Position> {
        self.position.as_ref()
    }

    /// Goes back to a position: one that is durable, after what was handed out was lost.
    pub fn restart(&mut self, position: Option<Position>) {
        self.position = position;
    }

    /// Reads the log's newest checkpoint, verifies it, and holds it against the one known: same size and
    /// another root is [`FollowError::SplitView`], a tree that doesn't contain the known one
    /// [`FollowError::Inconsistent`], a smaller one [`FollowError::Rollback`] (or `Inconsistent`, if the
    /// tiles show that it is no prefix either).
    ///
    /// On success the position holds the new checkpoint; on failure it is what it was.
    pub async fn poll(&mut self) -> Result<Target, FollowError> {
        let bytes = self.files.get(CHECKPOINT, MAX_CHECKPOINT_BYTES).await?;
        let missing = || FollowError::Missing { path: CHECKPOINT.to_owned(), size: 0 };
        let signed = SignedCheckpoint::parse(&bytes.ok_or_else(missing)?)
            .map_err(FollowError::Checkpoint)?;
        self.take(&signed).await
    }

    /// As [`Follower::poll`], with a checkpoint that came another way.
    pub async fn take(&mut self, signed: &SignedCheckpoint) -> Result<Target, FollowError> {
        let shown = verify_any(signed, &self.keys)
            .map_err(FollowError::Checkpoint)?
            .ok_or(FollowError::NoKeys)?;
        let seen = self.position.as_ref().map(|position| position.checkpoint().clone());
        let files = Arc::clone(&self.files);
        let target = if let Some(seen) = seen {
            extend(files, &seen, shown).await?
        } else {
            let tree = Tree::open(files, shown.checkpoint()).await?;
            Target { checkpoint: shown, tree }
        };
        let next = self.position.as_ref().map_or(0, Position::next);
        // The tree isn't smaller than the one known, so the index is within it.
        self.position = Position::new(target.checkpoint.clone(), next).or(self.position.take());
        Ok(target)
    }

    /// Hands out the entries of `target` that haven't been handed out yet, in order, up to
    /// [`FollowOptions::step`] of them; the position moves with every bundle that the sink took.
    ///
    /// `target` must come from this follower's [`Follower::poll`], and the latest one is the one to use:
    /// one that is smaller than the position says is complete already.
    pub async fn advance(
        &mut self,
        target: &Target,
        sink: &mut dyn EntrySink,
    ) -> Result<Progress, FollowError> {
        let size = target.signed_tree().size.get();
        let first = self.position.as_ref().map_or(0, Position::next);
        let mut next = first;
        let stop = first.saturating_add(self.options.step).min(size);
        let mut tree = target.tree.clone();
        let width = u64::from(TILE_WIDTH);
        let mut bundles = Prefetch::new(
            Arc::clone(&self.files),
            tree.size(),
            first / width,
            if first < stop { stop.div_ceil(width) } else { 0 },
        );
        while let Some((id, bundle)) = bundles.next().await? {
            let entries = entries_of(id, &bundle)?;
            let hashes: Vec<Digest> = entries.iter().map(|entry| leaf_hash(entry)).collect();
            self.check(&mut tree, id, &hashes).await?;
            let skip = usize::try_from(next - id.first_entry()).unwrap_or(usize::MAX);
            sink.entries(next, entries.get(skip..).unwrap_or_default())?;
            let length = entries.iter().map(|entry| entry.len() + 2).sum();
            let bytes = bundle.bytes.get(..length).unwrap_or_default();
            sink.bundle(id.first_entry(), bytes, &hashes)?;
            next = id.first_entry().saturating_add(u64::from(id.width.get()));
            if let Some(position) = self.position.take() {
                let checkpoint = position.checkpoint().clone();
                self.position = Position::new(checkpoint, next);
            }
        }
        if next >= size {
            sink.confirmed(&target.checkpoint)?;
        }
        Ok(Progress { first, next, size })
    }

    /// Compares the hashes of a bundle's leaves with the tree.
    async fn check(
        &self,
        tree: &mut Tree,
        id: EntriesId,
        hashes: &[Digest],
    ) -> Result<(), FollowError> {
        let leaves = TileId { level: 0, index: id.index, width: id.width };
        if !id.width.is_full() {
            // Part of the right edge, which is verified.
            let expected = tree.tile(0, id.index).await?;
            return compare(id, hashes, &expected);
        }
        let above = tree.tile(1, id.index / u64::from(TILE_WIDTH)).await?;
        let position = usize::try_from(id.index % u64::from(TILE_WIDTH)).unwrap_or(usize::MAX);
        if tile_root(hashes) != above.get(position).copied() {
            // Something is wrong; the tile, which must lead to the root, tells which entry it is.
            let expected = tree.tile(0, id.index).await?;
            compare(id, hashes, &expected)?;
        }
        if self.options.leaf_tiles {
            let served = tree.fetch(leaves).await?;
            let wrong = served.iter().zip(hashes).zip(leaves.first_hash()..);
            if let Some((_, position)) = wrong.into_iter().find(|((one, other), _)| one != other) {
                let fault = TileFault::Hash { position };
                return Err(FollowError::Tile { path: leaves.path(), fault });
            }
        }
        Ok(())
    }
}

/// Verifies that `shown` and `seen` go together.
async fn extend(
    files: Arc<dyn TileFiles>,
    seen: &VerifiedCheckpoint,
    shown: VerifiedCheckpoint,
) -> Result<Target, FollowError> {
    let (old, new) = (seen.checkpoint().clone(), shown.checkpoint().clone());
    let notes =
        |shown: VerifiedCheckpoint, proof| Box::new(TwoNotes { seen: seen.clone(), shown, proof });
    if old.size == new.size && old.root != new.root {
        return Err(FollowError::SplitView { notes: notes(shown, None) });
    }
    if new.size < old.size {
        // An old answer out of some cache, or another history? The tiles of the known tree tell, if they
        // are still there.
        if let Ok(mut tree) = Tree::open(files, &old).await
            && let Ok((root, proof)) = tree.prefix(new.size).await
            && root != new.root
        {
            return Err(FollowError::Inconsistent { notes: notes(shown, Some(proof)) });
        }
        return Err(FollowError::Rollback { notes: notes(shown, None) });
    }
    let mut tree = Tree::open(files, &new).await?;
    let (root, proof) = tree.prefix(old.size).await?;
    if root != old.root {
        return Err(FollowError::Inconsistent { notes: notes(shown, Some(proof)) });
    }
    Ok(Target { checkpoint: shown, tree })
}

/// The entries of a bundle that are in the tree.
fn entries_of(id: EntriesId, bundle: &Bundle) -> Result<Vec<&[u8]>, FollowError> {
    let mut entries = parse_bundle(&bundle.bytes, bundle.width).map_err(|error| {
        FollowError::Tile { path: bundle.path.clone(), fault: TileFault::Form(error) }
    })?;
    entries.truncate(usize::from(id.width.get()));
    Ok(entries)
}

/// Names the first entry that isn't the one of the tree.
fn compare(id: EntriesId, hashes: &[Digest], expected: &[Digest]) -> Result<(), FollowError> {
    for ((hash, right), index) in hashes.iter().zip(expected).zip(id.first_entry()..) {
        if hash != right {
            let found = (id.first_entry()..).zip(expected).find(|(_, other)| *other == hash);
            return Err(FollowError::Leaf { index, found_at: found.map(|(index, _)| index) });
        }
    }
    Ok(())
}

const CHECKPOINT: &str = "checkpoint";

/// The most bundles that are asked for at the same time.
const MAX_PARALLEL: usize = 64;
