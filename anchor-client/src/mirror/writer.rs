//! The files of a tree, made of its verified entries.

use anchorlog_proto::Digest;
use anchorlog_proto::tile::{EntriesId, LevelShape, TILE_WIDTH, TileId, Width, hashes_in_level};

use crate::follow::{EntrySink, FollowError, Target, tile_root};

/// One file: path below the directory of the copy, and bytes.
pub(super) type File = (String, Vec<u8>);

/// Makes full tiles and bundles of what it is given, and the partial ones at the end.
#[derive(Debug)]
pub(super) struct Writer {
    files: Vec<File>,
    /// Of each level above the leaves, the hashes of the tile that isn't full yet, and its index.
    levels: Vec<(u64, Vec<Digest>)>,
    /// The bundle at the end, if it isn't full.
    partial: Option<File>,
}

impl Writer {
    /// Goes on at entry `first` of the tree: what is to the left of it in tiles that aren't full yet is
    /// taken from the tree, verified.
    pub(super) async fn begin(target: &mut Target, first: u64) -> Result<Self, FollowError> {
        let width = u64::from(TILE_WIDTH);
        // Whole bundles; the entries of one that was partial come again.
        let mut before = first / width;
        let mut levels = Vec::new();
        for level in 1..LEVELS {
            let (index, have) = (before / width, usize::try_from(before % width).unwrap_or(0));
            let hashes = if have == 0 {
                Vec::new()
            } else {
                let tile = target.tile(level, index).await?;
                tile.get(..have).unwrap_or_default().to_vec()
            };
            levels.push((index, hashes));
            before = index;
        }
        Ok(Self { files: Vec::new(), levels, partial: None })
    }

    /// The full files that were made since the last call.
    pub(super) fn take(&mut self) -> Vec<File> {
        std::mem::take(&mut self.files)
    }

    /// The partial files at the right edge of the tree.
    pub(super) async fn edge(&mut self, target: &mut Target) -> Result<Vec<File>, FollowError> {
        let mut files: Vec<File> = self.partial.take().into_iter().collect();
        let size = target.checkpoint().checkpoint().size;
        for level in 0..LEVELS {
            if hashes_in_level(level, size) == 0 {
                break;
            }
            let shape = LevelShape::of(level, size);
            if let Some(width) = shape.partial {
                let id = TileId { level, index: shape.full, width };
                files.push((id.path(), bytes(&target.tile(level, shape.full).await?)));
            }
        }
        Ok(files)
    }

    fn push(&mut self, root: Digest) {
        let mut root = root;
        for ((index, hashes), level) in self.levels.iter_mut().zip(1..) {
            hashes.push(root);
            let Some(above) = tile_root(hashes) else { return };
            let id = TileId { level, index: *index, width: Width::FULL };
            self.files.push((id.path(), bytes(hashes)));
            hashes.clear();
            *index += 1;
            root = above;
        }
    }
}

impl EntrySink for Writer {
    fn entries(&mut self, _first: u64, _entries: &[&[u8]]) -> Result<(), FollowError> {
        Ok(())
    }

    fn bundle(
        &mut self,
        first: u64,
        bundle: &[u8],
        leaf_hashes: &[Digest],
    ) -> Result<(), FollowError> {
        let width = u16::try_from(leaf_hashes.len()).ok().and_then(Width::new);
        let Some(width) = width else { return Ok(()) };
        let index = first / u64::from(TILE_WIDTH);
        let entries = (EntriesId { index, width }.path(), bundle.to_vec());
        let Some(root) = tile_root(leaf_hashes) else {
            self.partial = Some(entries);
            return Ok(());
        };
        self.files.push((TileId { level: 0, index, width }.path(), bytes(leaf_hashes)));
        self.files.push(entries);
        self.push(root);
        Ok(())
    }
}

fn bytes(hashes: &[Digest]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| *hash.as_bytes()).collect()
}

/// Levels of the largest tree.
const LEVELS: u8 = 8;
