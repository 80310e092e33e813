//! A verifier's memory of logs (`gad.known-checkpoints/1`): checkpoints it has seen, which a log can't
//! contradict any more.
//!
//! What it is: the closed object `{schema, checkpoints: [{origin, size, root, consistency}]}`, which the
//! caller brings. What it isn't: part of any envelope, or anything signed; whoever keeps the file
//! vouches for it.

use crate::checkpoint::Origin;
use crate::digest::Digest;
use crate::json::{Object, Value};
use crate::merkle::{MAX_PROOF_HASHES, TreeSize};

use super::emit;
use super::form::{At, Cell, Defects, MAX_ELEMENTS, Reader};

/// The schema name.
pub const KNOWN_CHECKPOINTS_SCHEMA: &str = "gad.known-checkpoints/1";

/// The most hashes of a consistency proof: one more than an inclusion proof in the largest tree.
pub const MAX_CONSISTENCY_HASHES: usize = MAX_PROOF_HASHES + 1;

/// The checkpoints a verifier remembers, in the order of the file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct KnownCheckpoints {
    /// The checkpoints.
    pub checkpoints: Vec<KnownCheckpoint>,
}

/// One remembered checkpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct KnownCheckpoint {
    /// The log.
    pub origin: Origin,
    /// The size of its tree then, at most 2^53-1.
    pub size: TreeSize,
    /// The root of its tree then.
    pub root: Digest,
    /// The RFC 9162 proof between this checkpoint and the one it is compared with, where there is one.
    pub consistency: Option<Vec<Digest>>,
}

impl KnownCheckpoints {
    /// Reads such a file. `None` with any defect at all.
    pub fn read(value: &Value<'_>, defects: &mut Defects) -> Option<Self> {
        let before = (defects.list().len(), defects.omitted());
        let checkpoints = Cell::new(value, &At::root(""), defects).object(|reader| {
            let schema = reader.literal("schema", KNOWN_CHECKPOINTS_SCHEMA);
            let checkpoints = reader.required("checkpoints", |cell| {
                cell.list(MAX_ELEMENTS, |cell| cell.object(KnownCheckpoint::read))
            });
            schema.and(checkpoints)
        })?;
        let whole = before == (defects.list().len(), defects.omitted());
        whole.then_some(Self { checkpoints })
    }

    /// The file as it is written.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        Object::from([
            ("schema", KNOWN_CHECKPOINTS_SCHEMA.into()),
            ("checkpoints", emit::list(&self.checkpoints, KnownCheckpoint::to_value)),
        ])
        .into()
    }
}

impl KnownCheckpoint {
    fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let origin = reader.required("origin", |cell| cell.one_of(|text| text.parse().ok()));
        let size = reader.seq("size");
        let root = reader.required("root", hash);
        let consistency = reader.optional("consistency", |cell| {
            cell.nullable(|cell| cell.list(MAX_CONSISTENCY_HASHES, hash))
        });
        Some(Self {
            origin: origin?,
            size: TreeSize::new(size?).ok()?,
            root: root?,
            consistency: consistency?.flatten(),
        })
    }

    fn to_value(&self) -> Value<'static> {
        let base64 = |hash: &Digest| Value::from(hash.to_base64());
        Object::from([
            ("origin", emit::text(&self.origin)),
            ("size", emit::integer(self.size.get())),
            ("root", base64(&self.root)),
            (
                "consistency",
                emit::nullable(self.consistency.as_deref(), |hashes| emit::list(hashes, base64)),
            ),
        ])
        .into()
    }
}

fn hash(cell: Cell<'_, '_>) -> Option<Digest> {
    cell.base64::<32>().map(Digest::from_bytes)
}

#[cfg(test)]
mod tests;
