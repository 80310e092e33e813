//! C2SP tlog-tiles: the tree cut into files, and the entries in bundles.
//!
//! A tile of level `L` holds up to 256 hashes, each the root of a complete subtree of 256^`L` leaves; an
//! entry bundle holds the entries of one tile of level 0. Here are their coordinates, their paths below a
//! log's prefix and their bytes. Where they come from is the caller's business.

use core::fmt;
use core::str::FromStr;

use crate::digest::Digest;
use crate::merkle::{MAX_TREE_SIZE, Node, NodeReader, TreeSize, node_hash};

/// Hashes in a full tile, entries in a full bundle.
pub const TILE_WIDTH: u16 = 256;

/// Levels of the binary tree that one tile spans.
pub const TILE_HEIGHT: u8 = 8;

/// The highest tile level a path can name (C2SP tlog-tiles).
pub const MAX_TILE_LEVEL: u8 = 63;

/// The longest entry a bundle can hold: its length is a big-endian `u16`.
pub const MAX_ENTRY_BYTES: usize = 65_535;

/// Why a path or a bundle is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TileError {
    /// The path is not in the canonical form of C2SP tlog-tiles.
    #[error("not a tile path")]
    Path,
    /// A bundle ends within an entry.
    #[error("the bundle ends within entry {entry}")]
    BundleTruncated {
        /// Position of the entry within the bundle.
        entry: usize,
    },
    /// A bundle holds another number of entries than its width.
    #[error("the bundle holds {actual} entries or more bytes than its {expected} entries take")]
    BundleCount {
        /// Entries that the width promises.
        expected: usize,
        /// Entries that were read before the mismatch.
        actual: usize,
    },
    /// An entry is too long for a bundle.
    #[error("an entry of {length} bytes is over the limit of 65535")]
    EntryTooLong {
        /// Bytes of the entry.
        length: usize,
    },
    /// A tile is not a whole number of hashes, or not as many as its width.
    #[error("the tile holds {actual} bytes where {expected} are expected")]
    TileLength {
        /// Bytes that the width promises.
        expected: usize,
        /// Bytes given.
        actual: usize,
    },
}

impl TileError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Path => "TILE.PATH",
            Self::BundleTruncated { .. } => "TILE.BUNDLE_TRUNCATED",
            Self::BundleCount { .. } => "TILE.BUNDLE_COUNT",
            Self::EntryTooLong { .. } => "TILE.ENTRY_TOO_LONG",
            Self::TileLength { .. } => "TILE.LENGTH",
        }
    }
}

/// How much of a tile or bundle is there: 1 to 256.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Width(u16);

impl Width {
    /// A full tile or bundle.
    pub const FULL: Self = Self(TILE_WIDTH);

    /// A width of 1 to 256.
    #[must_use]
    pub const fn new(width: u16) -> Option<Self> {
        if 1 <= width && width <= TILE_WIDTH { Some(Self(width)) } else { None }
    }

    /// The number of hashes or entries.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// True when nothing can be added any more.
    #[must_use]
    pub const fn is_full(self) -> bool {
        self.0 == TILE_WIDTH
    }
}

/// Coordinates of a tile of hashes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TileId {
    /// Tile level, 0 to 63.
    pub level: u8,
    /// Position among the tiles of its level.
    pub index: u64,
    /// Hashes in it.
    pub width: Width,
}

impl TileId {
    /// The path below the log's prefix.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = format!("tile/{}/", self.level);
        push_index(&mut path, self.index, self.width);
        path
    }

    /// Index, within its level, of the first hash.
    #[must_use]
    pub const fn first_hash(&self) -> u64 {
        self.index.saturating_mul(256)
    }
}

/// Coordinates of an entry bundle.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EntriesId {
    /// Position among the bundles.
    pub index: u64,
    /// Entries in it.
    pub width: Width,
}

impl EntriesId {
    /// The path below the log's prefix.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = String::from("tile/entries/");
        push_index(&mut path, self.index, self.width);
        path
    }

    /// Index of the first entry.
    #[must_use]
    pub const fn first_entry(&self) -> u64 {
        self.index.saturating_mul(256)
    }
}

impl fmt::Display for TileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())
    }
}

impl fmt::Display for EntriesId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())
    }
}

/// A path of C2SP tlog-tiles below `tile/`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TilePath {
    /// A bundle of entries.
    Entries(EntriesId),
    /// A tile of hashes.
    Tile(TileId),
}

impl FromStr for TilePath {
    type Err = TileError;

    fn from_str(path: &str) -> Result<Self, TileError> {
        let rest = path.strip_prefix("tile/").ok_or(TileError::Path)?;
        let (kind, rest) = rest.split_once('/').ok_or(TileError::Path)?;
        let (index, width) = parse_index(rest).ok_or(TileError::Path)?;
        if kind == "entries" {
            return Ok(Self::Entries(EntriesId { index, width }));
        }
        let level = kind.parse().ok().filter(|level| *level <= MAX_TILE_LEVEL);
        let level = level.filter(|level: &u8| level.to_string() == kind).ok_or(TileError::Path)?;
        Ok(Self::Tile(TileId { level, index, width }))
    }
}

/// The tiles that make up one level of a tree: `full` of 256 hashes, then perhaps a partial one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LevelShape {
    /// Number of full tiles.
    pub full: u64,
    /// Width of the partial tile after them.
    pub partial: Option<Width>,
}

impl LevelShape {
    /// The shape of `level` in a tree of `size` leaves.
    #[must_use]
    pub fn of(level: u8, size: TreeSize) -> Self {
        let hashes = hashes_in_level(level, size);
        // The remainder of a division by 256 fits in sixteen bits.
        let partial = u16::try_from(hashes % 256).ok().and_then(Width::new);
        Self { full: hashes / 256, partial }
    }

    /// The tiles in order, as (index, width).
    pub fn tiles(self) -> impl Iterator<Item = (u64, Width)> {
        let partial = self.partial.map(|width| (self.full, width));
        (0..self.full).map(|index| (index, Width::FULL)).chain(partial)
    }
}

/// Number of hashes that `level` holds in a tree of `size` leaves: one per complete subtree of 256^`level`.
#[must_use]
pub const fn hashes_in_level(level: u8, size: TreeSize) -> u64 {
    // Eight binary levels per tile level; from level 8 on no tree is large enough.
    if level >= 8 { 0 } else { size.get() >> (8 * level) }
}

/// A stored tree, as tiles keep it: the hashes of every eighth level.
pub trait TileHashes {
    /// What can go wrong when hashes are read.
    type Error;

    /// Reads the hashes of tile level `level` from `first` on, as many as `out` holds. They lie within one
    /// tile.
    fn read_hashes(&self, level: u8, first: u64, out: &mut [Digest]) -> Result<(), Self::Error>;
}

impl<T: TileHashes + ?Sized> TileHashes for &T {
    type Error = T::Error;

    fn read_hashes(&self, level: u8, first: u64, out: &mut [Digest]) -> Result<(), T::Error> {
        (**self).read_hashes(level, first, out)
    }
}

/// Every complete subtree of a tree that is stored as tiles: the levels between are hashed when asked for.
#[derive(Clone, Copy, Debug)]
pub struct TileNodes<T>(pub T);

impl<T: TileHashes> NodeReader for TileNodes<T> {
    type Error = T::Error;

    fn node(&self, node: Node) -> Result<Digest, T::Error> {
        let height = node.level % TILE_HEIGHT;
        let mut hashes = [Digest::from_bytes([0; 32]); 128];
        let (mut row, _) = hashes.split_at_mut(1 << height);
        self.0.read_hashes(node.level / TILE_HEIGHT, node.index << height, row)?;
        while row.len() > 1 {
            row = fold_row(row);
        }
        // A row is never empty: it starts with a power of two and is halved down to one.
        Ok(row.first().copied().unwrap_or_else(crate::merkle::empty_root))
    }
}

/// Replaces a row of hashes by the row above it, in place, and returns that.
fn fold_row(row: &mut [Digest]) -> &mut [Digest] {
    let half = row.len() / 2;
    for parent in 0..half {
        if let Some([left, right]) = row.get(2 * parent..2 * parent + 2) {
            let hash = node_hash(left, right);
            if let Some(slot) = row.get_mut(parent) {
                *slot = hash;
            }
        }
    }
    row.split_at_mut(half).0
}

/// Reads the bytes of a tile.
pub fn parse_tile(bytes: &[u8], width: Width) -> Result<Vec<Digest>, TileError> {
    let expected = usize::from(width.get()) * 32;
    if bytes.len() != expected {
        return Err(TileError::TileLength { expected, actual: bytes.len() });
    }
    let (hashes, _) = bytes.as_chunks::<32>();
    Ok(hashes.iter().map(|hash| Digest::from_bytes(*hash)).collect())
}

/// Appends one entry to a bundle: big-endian `u16` length, then the bytes.
pub fn push_entry(bundle: &mut Vec<u8>, entry: &[u8]) -> Result<(), TileError> {
    let length =
        u16::try_from(entry.len()).map_err(|_| TileError::EntryTooLong { length: entry.len() })?;
    bundle.extend_from_slice(&length.to_be_bytes());
    bundle.extend_from_slice(entry);
    Ok(())
}

/// Reads a bundle of exactly `width` entries.
pub fn parse_bundle(bytes: &[u8], width: Width) -> Result<Vec<&[u8]>, TileError> {
    let expected = usize::from(width.get());
    let mut entries = Vec::with_capacity(expected);
    let mut rest = bytes;
    while !rest.is_empty() {
        if entries.len() == expected {
            return Err(TileError::BundleCount { expected, actual: expected });
        }
        let entry = entries.len();
        let (length, after) =
            rest.split_first_chunk::<2>().ok_or(TileError::BundleTruncated { entry })?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (bytes, after) =
            after.split_at_checked(length).ok_or(TileError::BundleTruncated { entry })?;
        entries.push(bytes);
        rest = after;
    }
    if entries.len() == expected {
        Ok(entries)
    } else {
        Err(TileError::BundleCount { expected, actual: entries.len() })
    }
}

/// Appends the three-digit groups of an index: all but the last are marked with an `x`.
fn push_index(path: &mut String, index: u64, width: Width) {
    let digits = index.to_string();
    let padded = format!("{digits:0>length$}", length = digits.len().div_ceil(3) * 3);
    let groups = padded.len() / 3;
    for (position, group) in padded.as_bytes().chunks(3).enumerate() {
        if position > 0 {
            path.push('/');
        }
        if position + 1 < groups {
            path.push('x');
        }
        path.extend(group.iter().map(|digit| char::from(*digit)));
    }
    if !width.is_full() {
        path.push_str(".p/");
        path.push_str(&width.get().to_string());
    }
}

/// Reads what [`push_index`] writes, and nothing else.
fn parse_index(text: &str) -> Option<(u64, Width)> {
    let (groups, width) = match text.split_once(".p/") {
        Some((groups, width)) => {
            (groups, Width::new(width.parse().ok()?).filter(|width| !width.is_full())?)
        }
        None => (text, Width::FULL),
    };
    let digits: String =
        groups.split('/').map(|group| group.strip_prefix('x').unwrap_or(group)).collect();
    let index: u64 = digits.parse().ok()?;
    // No tree has an entry at 2^63 or beyond; the rest of the form is whatever the writer would write.
    let mut canonical = String::new();
    push_index(&mut canonical, index, width);
    (index <= MAX_TREE_SIZE / 256 && canonical == text).then_some((index, width))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::merkle::{Frontier, leaf_hash, root};

    fn tile(level: u8, index: u64, width: u16) -> TilePath {
        TilePath::Tile(TileId { level, index, width: Width::new(width).unwrap() })
    }

    #[test]
    fn paths_round_trip() {
        let cases = [
            ("tile/0/000", tile(0, 0, 256)),
            ("tile/0/255", tile(0, 255, 256)),
            ("tile/1/999.p/1", tile(1, 999, 1)),
            ("tile/2/x001/000", tile(2, 1000, 256)),
            ("tile/63/x001/x234/067.p/255", tile(63, 1_234_067, 255)),
            ("tile/0/x001/x000/x000/000", tile(0, 1_000_000_000, 256)),
        ];
        for (text, path) in cases {
            assert_eq!(text.parse(), Ok(path));
            let TilePath::Tile(id) = path else { unreachable!() };
            assert_eq!(id.path(), text);
        }
        let entries = EntriesId { index: 1_234_067, width: Width::new(8).unwrap() };
        assert_eq!(entries.path(), "tile/entries/x001/x234/067.p/8");
        assert_eq!(entries.path().parse(), Ok(TilePath::Entries(entries)));
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in [
            "tile/0/0",
            "tile/0/00",
            "tile/0/x000/000",
            "tile/0/001.p/0",
            "tile/0/001.p/256",
            "tile/0/001.p/01",
            "tile/0/001.p/",
            "tile/0/001.p/+1",
            "tile/00/000",
            "tile/64/000",
            "tile/+1/000",
            "tile/0/001/002",
            "tile/0/x001",
            "tile/0/x001/0000",
            "tile/0/",
            "tile/0",
            "tile//000",
            "/tile/0/000",
            "tile/0/000/",
            "tile/entries/1",
            "tile/data/000",
            "tile/0/x036/x028/x797/x018/x963/x968",
            "tile/0/x036/x028/x797/x018/x963/968",
            "tile/0/x999/x999/x999/x999/x999/x999/x999/999",
        ] {
            assert_eq!(text.parse::<TilePath>(), Err(TileError::Path), "{text}");
        }
    }

    #[test]
    fn level_shapes_follow_the_standard() {
        let shape = |level, size| {
            let shape = LevelShape::of(level, TreeSize::new(size).unwrap());
            (shape.full, shape.partial.map_or(0, Width::get))
        };
        assert_eq!([shape(0, 1), shape(1, 1)], [(0, 1), (0, 0)]);
        assert_eq!([shape(0, 255), shape(1, 255)], [(0, 255), (0, 0)]);
        assert_eq!([shape(0, 256), shape(1, 256)], [(1, 0), (0, 1)]);
        assert_eq!(
            [shape(0, 65_537), shape(1, 65_537), shape(2, 65_537)],
            [(256, 1), (1, 0), (0, 1)]
        );
        assert_eq!(
            [shape(0, 70_000), shape(1, 70_000), shape(2, 70_000)],
            [(273, 112), (1, 17), (0, 1)]
        );
        assert_eq!([shape(7, MAX_TREE_SIZE), shape(8, MAX_TREE_SIZE)], [(0, 127), (0, 0)]);
        let two_and_a_bit = LevelShape::of(0, TreeSize::new(513).unwrap());
        assert_eq!(two_and_a_bit.tiles().last(), Some((2, Width::new(1).unwrap())));
    }

    #[test]
    fn bundles_hold_exactly_their_width() {
        let mut bytes = Vec::new();
        for entry in [b"one".as_slice(), b"", b"three"] {
            push_entry(&mut bytes, entry).unwrap();
        }
        let width = |width| Width::new(width).unwrap();
        assert_eq!(parse_bundle(&bytes, width(3)).unwrap(), [b"one".as_slice(), b"", b"three"]);
        let count = |expected, actual| Err(TileError::BundleCount { expected, actual });
        assert_eq!(parse_bundle(&bytes, width(2)), count(2, 2));
        assert_eq!(parse_bundle(&bytes, width(4)), count(4, 3));
        assert_eq!(
            parse_bundle(&bytes[..bytes.len() - 1], width(3)),
            Err(TileError::BundleTruncated { entry: 2 })
        );
        assert_eq!(
            parse_bundle(&bytes[..6], width(2)),
            Err(TileError::BundleTruncated { entry: 1 })
        );
        assert_eq!(
            push_entry(&mut bytes, &[0; MAX_ENTRY_BYTES + 1]),
            Err(TileError::EntryTooLong { length: 65_536 })
        );
        assert_eq!(
            parse_tile(&[0; 33], width(1)),
            Err(TileError::TileLength { expected: 32, actual: 33 })
        );
    }

    /// The levels of a small tree, as a log stores them.
    struct Stored(Vec<Vec<Digest>>);

    impl TileHashes for Stored {
        type Error = ();

        fn read_hashes(&self, level: u8, first: u64, out: &mut [Digest]) -> Result<(), ()> {
            let first = usize::try_from(first).map_err(|_| ())?;
            let level = self.0.get(usize::from(level)).ok_or(())?;
            out.copy_from_slice(level.get(first..first + out.len()).ok_or(())?);
            Ok(())
        }
    }

    #[test]
    fn nodes_between_tile_levels_are_hashed() {
        let mut frontier = Frontier::new();
        let mut levels = vec![Vec::new(), Vec::new()];
        for index in 0_u32..1_000 {
            frontier
                .push_with(leaf_hash(&index.to_be_bytes()), |node, hash| {
                    if node.level % TILE_HEIGHT == 0 {
                        levels[usize::from(node.level / TILE_HEIGHT)].push(*hash);
                    }
                })
                .unwrap();
        }
        let nodes = TileNodes(Stored(levels));
        assert_eq!(root(&nodes, frontier.size()), Ok(frontier.root()));
        assert_eq!(Frontier::from_reader(&nodes, frontier.size()), Ok(frontier));
    }
}
