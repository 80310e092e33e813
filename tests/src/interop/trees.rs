//! Roots, proofs and tiles as `proto` computes them.

use anchorlog_proto::Digest;
use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::merkle::{
    TreeSize, consistency as consistency_proof, inclusion as inclusion_proof, root,
};
use anchorlog_proto::tile::{EntriesId, LevelShape, TileId, Width, hashes_in_level, push_entry};
use serde_json::{Value, json};

use super::random::Random;
use super::{Failure, World};

/// Roots of all small sizes, of those around powers of two, and of some others.
pub(super) fn roots(world: &World, random: &mut Random) -> Result<Vec<Value>, Failure> {
    let mut sizes: Vec<u64> = (0..=65).collect();
    for exponent in 7..=16 {
        sizes.extend([(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1]);
    }
    sizes.push(world.size());
    for _ in 0..40 {
        sizes.push(world.any_size(random)?.get());
    }
    sizes
        .into_iter()
        .map(|size| {
            Ok(json!({"size": size, "root": root(&world.tree, TreeSize::new(size)?)?.to_base64()}))
        })
        .collect()
}

pub(super) fn inclusion(world: &World, random: &mut Random) -> Result<Vec<Value>, Failure> {
    let mut vectors = Vec::new();
    for round in 0..300 {
        let size = world.any_size(random)?;
        let index = match round % 4 {
            0 => 0,
            1 => size.get() - 1,
            _ => random.below(size.get()),
        };
        let hashes = inclusion_proof::prove(&world.tree, index, size)??;
        vectors.push(json!({"index": index, "size": size.get(), "hashes": base64_all(&hashes)}));
    }
    Ok(vectors)
}

pub(super) fn consistency(world: &World, random: &mut Random) -> Result<Vec<Value>, Failure> {
    let mut vectors = Vec::new();
    for _ in 0..300 {
        let to = world.any_size(random)?;
        let from = TreeSize::new(1 + random.below(to.get()))?;
        let hashes = consistency_proof::prove(&world.tree, from, to)??;
        vectors.push(json!({"from": from.get(), "to": to.get(), "hashes": base64_all(&hashes)}));
    }
    Ok(vectors)
}

/// All tiles and bundles of some sizes: around the width of a tile, and the whole tree.
pub(super) fn tiles(world: &World, random: &mut Random) -> Result<Vec<Value>, Failure> {
    let some = 258 + random.below(3_000);
    [1, 255, 256, 257, some, world.size()]
        .into_iter()
        .map(|size| tiles_of(world, TreeSize::new(size)?))
        .collect()
}

fn tiles_of(world: &World, size: TreeSize) -> Result<Value, Failure> {
    let mut files = Vec::new();
    for level in (0..8).take_while(|level| hashes_in_level(*level, size) > 0) {
        let (_, hashes) = world.tree.completed(level * 8).ok_or("a level without hashes")?;
        for (index, width) in LevelShape::of(level, size).tiles() {
            let id = TileId { level, index, width };
            let first = usize::try_from(id.first_hash())?;
            let tile = hashes
                .get(first..first + usize::from(width.get()))
                .ok_or("a tile past the level")?;
            let bytes: Vec<u8> = tile.iter().flat_map(|hash| *hash.as_bytes()).collect();
            files.push(json!({"path": id.path(), "bytes": base64_encode(&bytes)}));
            if level == 0 {
                files.push(bundle(world, index, width)?);
            }
        }
    }
    Ok(json!({"size": size.get(), "files": files}))
}

fn bundle(world: &World, index: u64, width: Width) -> Result<Value, Failure> {
    let id = EntriesId { index, width };
    let mut bytes = Vec::new();
    for entry in 0..u64::from(width.get()) {
        push_entry(&mut bytes, world.entry(id.first_entry() + entry)?)?;
    }
    Ok(json!({"path": id.path(), "bytes": base64_encode(&bytes)}))
}

pub(super) fn base64_all(hashes: &[Digest]) -> Vec<String> {
    hashes.iter().map(Digest::to_base64).collect()
}
