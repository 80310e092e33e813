//! One signed tree, verified from its root down.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::Checkpoint;
use anchorlog_proto::merkle::{self, Frontier, TreeSize, node_hash};
use anchorlog_proto::tile::{
    EntriesId, LevelShape, TILE_HEIGHT, TILE_WIDTH, TileHashes, TileId, TileNodes, Width,
    parse_tile,
};

use super::error::{FollowError, TileFault};
use super::files::{MAX_BUNDLE_BYTES, MAX_TILE_BYTES, TileFiles};

/// The tiles of one tree that have been verified to belong to it.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    files: Arc<dyn TileFiles>,
    size: TreeSize,
    /// The last, not full tile of each level: (index, hashes). They are the right edge.
    edge: HashMap<(u8, u64), Arc<[Digest]>>,
    /// Full tiles, the latest few of each level.
    full: HashMap<(u8, u64), Arc<[Digest]>>,
    order: [VecDeque<u64>; LEVELS],
}

impl Tree {
    /// Reads the right edge of the tree and verifies it against the signed root.
    pub(super) async fn open(
        files: Arc<dyn TileFiles>,
        checkpoint: &Checkpoint,
    ) -> Result<Self, FollowError> {
        let size = checkpoint.size;
        let mut tree = Self {
            files,
            size,
            edge: HashMap::new(),
            full: HashMap::new(),
            order: std::array::from_fn(|_| VecDeque::new()),
        };
        let mut last = None;
        for level in 0..=HIGHEST_LEVEL {
            let shape = LevelShape::of(level, size);
            let Some(width) = shape.partial else { continue };
            let id = TileId { level, index: shape.full, width };
            let hashes = tree.fetch(id).await?;
            tree.edge.insert((level, id.index), hashes.into());
            last = Some(id);
        }
        let root = Frontier::from_reader(&TileNodes(Known(&tree)), size).map(|edge| edge.root());
        match (root, last) {
            (Ok(root), _) if root == checkpoint.root => Ok(tree),
            // Every peak lies in a partial tile, so they were all there; which one lies can't be told.
            (_, last) => Err(FollowError::Tile {
                path: last.map_or_else(|| "checkpoint".to_owned(), |id| id.path()),
                fault: TileFault::Edge,
            }),
        }
    }

    /// Number of leaves.
    pub(super) const fn size(&self) -> TreeSize {
        self.size
    }

    /// The hashes of a tile as wide as it is in this tree, verified. The tile must be in the tree.
    pub(super) async fn tile(
        &mut self,
        level: u8,
        index: u64,
    ) -> Result<Arc<[Digest]>, FollowError> {
        let mut missing = Vec::new();
        let mut at = (level, index);
        let mut hashes = loop {
            if let Some(hashes) = self.known(at) {
                break hashes;
            }
            missing.push(at);
            at = (at.0 + 1, at.1 / u64::from(TILE_WIDTH));
            if at.0 > HIGHEST_LEVEL {
                // Whatever is in the tree lies below its edge.
                let path = TileId { level, index, width: Width::FULL }.path();
                return Err(FollowError::Missing { path, size: self.size.get() });
            }
        };
        while let Some((level, index)) = missing.pop() {
            let id = TileId { level, index, width: Width::FULL };
            let position = usize::try_from(index % u64::from(TILE_WIDTH)).unwrap_or(usize::MAX);
            let Some(expected) = hashes.get(position).copied() else {
                return Err(FollowError::Missing { path: id.path(), size: self.size.get() });
            };
            let fetched = self.fetch(id).await?;
            if tile_root(&fetched) != Some(expected) {
                return Err(FollowError::Tile { path: id.path(), fault: TileFault::Root });
            }
            hashes = fetched.into();
            self.keep((level, index), Arc::clone(&hashes));
        }
        Ok(hashes)
    }

    /// The root of the first `size` leaves, and the proof that leads from there to this tree's root. `size`
    /// is not larger than the tree.
    pub(super) async fn prefix(
        &mut self,
        size: TreeSize,
    ) -> Result<(Digest, Vec<Digest>), FollowError> {
        loop {
            let known = TileNodes(Known(self));
            let found = merkle::root(&known, size).and_then(|root| {
                let proof = merkle::consistency::prove(&known, size, self.size)?;
                // The sizes are the right way round.
                Ok((root, proof.unwrap_or_default()))
            });
            match found {
                Ok(found) => return Ok(found),
                // Each round fetches one more of the few tiles at the older edge.
                Err((level, index)) => {
                    self.tile(level, index).await?;
                }
            }
        }
    }

    /// Reads one tile file, unverified.
    pub(super) async fn fetch(&self, id: TileId) -> Result<Vec<Digest>, FollowError> {
        let full = TileId { width: Width::FULL, ..id };
        let (path, width, bytes) = fetch_file(
            &*self.files,
            (id.path(), id.width),
            full.path(),
            MAX_TILE_BYTES,
            self.size.get(),
        )
        .await?;
        let mut hashes = parse_tile(&bytes, width)
            .map_err(|error| FollowError::Tile { path, fault: TileFault::Form(error) })?;
        hashes.truncate(usize::from(id.width.get()));
        Ok(hashes)
    }

    fn known(&self, at: (u8, u64)) -> Option<Arc<[Digest]>> {
        self.edge.get(&at).or_else(|| self.full.get(&at)).map(Arc::clone)
    }

    fn keep(&mut self, at: (u8, u64), hashes: Arc<[Digest]>) {
        let Some(order) = self.order.get_mut(usize::from(at.0)) else { return };
        if self.full.insert(at, hashes).is_some() {
            return;
        }
        order.push_back(at.1);
        if order.len() > KEPT_PER_LEVEL
            && let Some(oldest) = order.pop_front()
        {
            self.full.remove(&(at.0, oldest));
        }
    }
}

/// A bundle of the tree as it was served.
#[derive(Debug)]
pub(super) struct Bundle {
    /// Path it was found at.
    pub(super) path: String,
    /// Entries in the file: more than asked for, if only the full one is there.
    pub(super) width: Width,
    /// The whole file.
    pub(super) bytes: Vec<u8>,
}

/// Reads one bundle file, unverified.
pub(super) async fn fetch_bundle(
    files: &dyn TileFiles,
    id: EntriesId,
    size: TreeSize,
) -> Result<Bundle, FollowError> {
    let full = EntriesId { width: Width::FULL, ..id };
    let (path, width, bytes) =
        fetch_file(files, (id.path(), id.width), full.path(), MAX_BUNDLE_BYTES, size.get()).await?;
    Ok(Bundle { path, width, bytes })
}

/// Reads the file at `path`; where a partial one has gone because the full one is there, that one (C2SP
/// tlog-tiles).
async fn fetch_file(
    files: &dyn TileFiles,
    (path, width): (String, Width),
    full: String,
    limit: usize,
    size: u64,
) -> Result<(String, Width, Vec<u8>), FollowError> {
    if let Some(bytes) = files.get(&path, limit).await? {
        return Ok((path, width, bytes));
    }
    if !width.is_full()
        && let Some(bytes) = files.get(&full, limit).await?
    {
        return Ok((full, Width::FULL, bytes));
    }
    Err(FollowError::Missing { path, size })
}

/// The root of a full tile; `None` of anything else.
pub(crate) fn tile_root(hashes: &[Digest]) -> Option<Digest> {
    if hashes.len() != usize::from(TILE_WIDTH) {
        return None;
    }
    let mut row = hashes.to_vec();
    for _ in 0..TILE_HEIGHT {
        let (pairs, _) = row.as_chunks::<2>();
        row = pairs.iter().map(|[left, right]| node_hash(left, right)).collect();
    }
    row.first().copied()
}

/// The verified tiles as hashes to compute with; what isn't there yet is named.
struct Known<'t>(&'t Tree);

impl TileHashes for Known<'_> {
    type Error = (u8, u64);

    fn read_hashes(&self, level: u8, first: u64, out: &mut [Digest]) -> Result<(), (u8, u64)> {
        let index = first / u64::from(TILE_WIDTH);
        let missing = (level, index);
        let tile = self.0.known(missing).ok_or(missing)?;
        let start = usize::try_from(first % u64::from(TILE_WIDTH)).map_err(|_| missing)?;
        let hashes = tile.get(start..).and_then(|rest| rest.get(..out.len())).ok_or(missing)?;
        out.copy_from_slice(hashes);
        Ok(())
    }
}

/// The highest level that a tree of at most 2^63-1 leaves has tiles on.
const HIGHEST_LEVEL: u8 = 7;
const LEVELS: usize = 8;

/// Full tiles remembered on each level: those on the way up from two places.
const KEPT_PER_LEVEL: usize = 4;
