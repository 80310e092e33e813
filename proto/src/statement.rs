//! Statements: what a log entry says, `anchorlog.statement/1`.
//!
//! What it is: the closed object `{schema, kind, digest, trail?, sequence?}`, plain or signed, and the
//! leaf bytes that go into the tree: the canonical form of the whole. The kind is part of the leaf,
//! so a leaf of one kind can't stand for another. What it isn't: admission. Who may submit what, and
//! whether a signature is required, is the log's policy; a [`LogEntry`] with a signer has a
//! well-formed signature, which only [`LogEntry::verify_signature`] shows to be valid.

mod entry;
mod error;
mod kind;
#[cfg(test)]
mod tests;
mod trail;

pub use entry::{LogEntry, MAX_INPUT_BYTES, MAX_LEAF_BYTES};
pub use error::{ErrorClass, StatementError};
pub use kind::StatementKind;
pub use trail::Trail;

use crate::digest::Digest;
use crate::json::{Fields, MAX_UNSIGNED, Object, Value};

/// The `schema` member of every statement.
pub const SCHEMA: &str = "anchorlog.statement/1";

/// What one log entry says: this digest, of this kind, perhaps at this place of this trail.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Statement {
    /// What the digest is a digest of.
    pub kind: StatementKind,
    /// The 32 bytes that are committed.
    pub digest: Digest,
    /// What the statement belongs to.
    pub trail: Option<Trail>,
    /// The position within the trail, as its owner numbers it: at most 2^53-1, and only with a
    /// trail. [`LogEntry::unsigned`] and [`LogEntry::signed`] refuse anything else.
    pub sequence: Option<u64>,
}

impl Statement {
    /// A statement that belongs to no trail.
    #[must_use]
    pub const fn new(kind: StatementKind, digest: Digest) -> Self {
        Self { kind, digest, trail: None, sequence: None }
    }

    /// The same statement within a trail, at a position if its owner numbers them.
    #[must_use]
    pub fn in_trail(self, trail: Trail, sequence: Option<u64>) -> Self {
        Self { trail: Some(trail), sequence, ..self }
    }

    /// Reads the members of a statement and ends the reading. Wrong shapes come before wrong
    /// contents.
    fn read(mut fields: Fields<'_>) -> Result<Self, StatementError> {
        let schema = fields.string("schema")?;
        let kind = fields.string("kind")?;
        let digest = fields.digest("digest")?;
        let trail = fields.optional_string("trail")?;
        let sequence =
            if fields.has("sequence") { Some(fields.integer("sequence")?) } else { None };
        fields.finish()?;
        if schema != SCHEMA {
            return Err(StatementError::Schema);
        }
        let statement = Self {
            kind: kind.parse()?,
            digest,
            trail: trail.map(str::parse).transpose()?,
            sequence: sequence
                .map(u64::try_from)
                .transpose()
                .map_err(|_| StatementError::SequenceRange)?,
        };
        statement.check()?;
        Ok(statement)
    }

    /// What the types alone don't guarantee.
    fn check(&self) -> Result<(), StatementError> {
        if self.sequence.is_some() && self.trail.is_none() {
            return Err(StatementError::SequenceWithoutTrail);
        }
        if self.sequence.is_some_and(|sequence| sequence > MAX_UNSIGNED) {
            return Err(StatementError::SequenceRange);
        }
        Ok(())
    }

    /// The statement as a JSON object.
    fn to_object(&self) -> Result<Object<'_>, StatementError> {
        self.check()?;
        let mut object = Object::from([
            ("digest", Value::from(self.digest.to_string())),
            ("kind", self.kind.as_str().into()),
            ("schema", SCHEMA.into()),
        ]);
        if let Some(trail) = &self.trail {
            object.insert("trail", trail.as_str());
        }
        if let Some(sequence) = self.sequence {
            let sequence = Value::try_from(sequence).map_err(|_| StatementError::SequenceRange)?;
            object.insert("sequence", sequence);
        }
        Ok(object)
    }
}
