//! One entry of the list: where it is, its leaf's hash, and what it says.

use crate::digest::Digest;
use crate::json::{Fields, JsonCode, JsonError, MAX_UNSIGNED, Object, Value};
use crate::signed_object::SignerId;
use crate::statement::{LogEntry, Statement};

/// An entry of the log, without its signature: its leaf hash stands for the whole.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct AuditedEntry {
    /// Its index, counted from 0.
    pub index: u64,
    /// The RFC 6962 hash of its leaf.
    pub leaf_hash: Digest,
    /// What it says.
    pub statement: Statement,
    /// Who it says signed it.
    pub signer: Option<SignerId>,
}

impl AuditedEntry {
    /// The row of an entry.
    #[must_use]
    pub fn of(index: u64, entry: &LogEntry) -> Self {
        Self {
            index,
            leaf_hash: entry.leaf_hash(),
            statement: entry.statement().clone(),
            signer: entry.signer(),
        }
    }

    pub(super) fn read(mut fields: Fields<'_>) -> Result<Self, JsonError> {
        let index = fields.unsigned("index")?;
        let leaf_hash = fields.digest("leaf_hash")?;
        let kind = fields.one_of("kind", |text| text.parse().ok())?;
        let digest = fields.digest("digest")?;
        let trail = match fields.optional_string("trail")? {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| fields.error(JsonCode::Enum, "trail"))?),
        };
        let sequence = fields.optional_unsigned("sequence")?;
        if sequence.is_some() && trail.is_none() {
            return Err(fields.error(JsonCode::Enum, "sequence"));
        }
        let signer = match fields.optional_string("key_id")? {
            None => None,
            Some(text) => {
                Some(text.parse().map_err(|_| fields.error(JsonCode::DigestForm, "key_id"))?)
            }
        };
        fields.finish()?;
        Ok(Self {
            index,
            leaf_hash,
            statement: Statement { kind, digest, trail, sequence },
            signer,
        })
    }

    pub(super) fn to_value(&self) -> Result<Value<'_>, JsonError> {
        let statement = &self.statement;
        let mut object = Object::from([
            ("index", integer(self.index)?),
            ("leaf_hash", self.leaf_hash.to_string().into()),
            ("kind", statement.kind.as_str().into()),
            ("digest", statement.digest.to_string().into()),
        ]);
        if let Some(trail) = &statement.trail {
            object.insert("trail", trail.as_str());
        }
        if let Some(sequence) = statement.sequence {
            object.insert("sequence", integer(sequence)?);
        }
        if let Some(signer) = self.signer {
            object.insert("key_id", signer.to_string());
        }
        Ok(object.into())
    }
}

/// An integer of the format, at most 2^53-1.
pub(super) fn integer(number: u64) -> Result<Value<'static>, JsonError> {
    if number > MAX_UNSIGNED {
        return Err(JsonError::at(JsonCode::IntRange, "/body"));
    }
    Value::try_from(number).map_err(|_| JsonError::at(JsonCode::IntRange, "/body"))
}
