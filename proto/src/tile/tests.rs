//! Paths, shapes and bytes of tiles.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::digest::Digest;
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
    assert_eq!([shape(0, 65_537), shape(1, 65_537), shape(2, 65_537)], [(256, 1), (1, 0), (0, 1)]);
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
    assert_eq!(parse_bundle(&bytes[..6], width(2)), Err(TileError::BundleTruncated { entry: 1 }));
    assert_eq!(
        push_entry(&mut bytes, &vec![0; MAX_ENTRY_BYTES + 1]),
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
