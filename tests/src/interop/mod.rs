//! Vectors for other implementations: what we compute, and what we refuse, as one JSON file.
//!
//! What it is: the generator behind `interop-vectors`, which `scripts/interop` runs before Go's reference
//! code judges the result. What it isn't: a test of ours. Nothing here knows the right answer; whatever it
//! states about hashes, proofs and notes is what `proto` says, and the other side recomputes all of it.
//!
//! The form of the file, `anchorlog.interop/1`, stands in `tests/interop-go/README.md`. The same seed gives
//! the same file.

mod notes;
pub mod random;
mod refused;
mod trees;

use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize, leaf_hash};
use serde_json::{Value, json};

use random::Random;

/// Why no vectors could be made: `proto` refused something that the generator holds to be right, or
/// accepted what it holds to be wrong.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The largest seed: the other side reads it as a signed integer.
pub const MAX_SEED: u64 = (1 << 53) - 1;

/// Makes the vectors of `seed`.
pub fn export(seed: u64) -> Result<Value, Failure> {
    if seed > MAX_SEED {
        return Err(format!("seed {seed} is over {MAX_SEED}").into());
    }
    let mut random = Random::new(seed);
    let world = World::grow(&mut random)?;
    Ok(json!({
        "schema": "anchorlog.interop/1",
        "seed": seed,
        "entries": world.entries.iter().map(|entry| base64_encode(entry)).collect::<Vec<_>>(),
        "roots": trees::roots(&world, &mut random)?,
        "inclusion": trees::inclusion(&world, &mut random)?,
        "consistency": trees::consistency(&world, &mut random)?,
        "tiles": trees::tiles(&world, &mut random)?,
        "notes": notes::notes(&mut random)?,
        "checkpoints": notes::checkpoints(&world, &mut random)?,
        "cosigned": notes::cosigned(&world, &mut random)?,
        "proofs": notes::proofs(&world, &mut random)?,
        "refused": {
            "inclusion": refused::inclusion(&world, &mut random)?,
            "consistency": refused::consistency(&world, &mut random)?,
            "notes": refused::notes(&mut random)?,
        },
    }))
}

/// One tree, whose prefixes are all the trees of the file.
struct World {
    entries: Vec<Vec<u8>>,
    tree: Extension,
}

impl World {
    /// A tree with a hash on tile level 2 and ragged edges on all levels below.
    fn grow(random: &mut Random) -> Result<Self, Failure> {
        let size = 65_536 + 1 + random.below(4_000);
        let entries: Vec<Vec<u8>> = (0..size)
            .map(|_| {
                let length = random.below(40);
                random.bytes(length)
            })
            .collect();
        let tree = Extension::new(Frontier::new(), entries.iter().map(|entry| leaf_hash(entry)))?;
        Ok(Self { entries, tree })
    }

    /// Number of entries.
    fn size(&self) -> u64 {
        self.tree.after().size().get()
    }

    /// A size from 1 up to that of the tree, small ones as likely as large ones.
    fn any_size(&self, random: &mut Random) -> Result<TreeSize, Failure> {
        let bound = 1 << random.below(18);
        Ok(TreeSize::new((1 + random.below(bound)).min(self.size()))?)
    }

    /// The entry at `index`.
    fn entry(&self, index: u64) -> Result<&[u8], Failure> {
        let entry = usize::try_from(index).ok().and_then(|index| self.entries.get(index));
        Ok(entry.ok_or("no such entry")?)
    }
}
