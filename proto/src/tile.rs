//! C2SP tlog-tiles: the tree cut into files, and the entries in bundles.
//!
//! A tile of level `L` holds up to 256 hashes, each the root of a complete subtree of 256^`L` leaves; an
//! entry bundle holds the entries of one tile of level 0. Here are their coordinates, their paths below a
//! log's prefix and their bytes. Where they come from is the caller's business.

use core::fmt;
use core::str::FromStr;

use crate::merkle::{MAX_TREE_SIZE, TreeSize};

mod contents;
mod nodes;
#[cfg(test)]
mod tests;

pub use contents::{parse_bundle, parse_tile, push_entry};
pub use nodes::{TileHashes, TileNodes};

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
