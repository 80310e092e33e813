//! Receipts: what a submitter gets from the log, `anchorlog.receipt/1`.
//!
//! What it is: the closed object `{schema, log, index, leaf_hash, statement, proof, timestamps,
//! state, conflicts?}`, and the cheap check that its parts speak of one entry of one log. What it
//! isn't: a verification. No signature, token or inclusion proof is looked at here; a receipt that
//! reads well is a claim, and the verifier judges it under a policy.
//!
//! The `proof` member alone, saved as a file, is a C2SP tlog-proof for any other tool.

mod error;
mod state;
#[cfg(test)]
mod tests;

pub use error::ReceiptError;
pub use state::ReceiptState;

use crate::checkpoint::Origin;
use crate::digest::Digest;
use crate::encoding::{base64_decode, base64_encode};
use crate::json::{self, Fields, JsonCode, JsonError, Object, ReadLimits, Value};
use crate::statement::LogEntry;
use crate::tlog_proof::TlogProof;

/// The `schema` member of every receipt.
pub const SCHEMA: &str = "anchorlog.receipt/1";

/// The longest receipt, in bytes of JSON.
pub const MAX_RECEIPT_BYTES: usize = 1 << 20;

/// The most time-stamp tokens in a receipt.
pub const MAX_TIMESTAMPS: usize = 16;

/// The longest time-stamp token, in bytes of DER.
pub const MAX_TIMESTAMP_BYTES: usize = 64 << 10;

/// The most conflicting entries a receipt names. A log that knows more names the first ones.
pub const MAX_CONFLICTS: usize = 64;

/// A receipt whose parts agree with each other. Nothing in it is verified.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Receipt {
    /// The log that took the entry.
    pub log: Origin,
    /// The entry's index, counted from 0, at most 2^53-1.
    pub index: u64,
    /// The RFC 6962 hash of the entry's leaf.
    pub leaf_hash: Digest,
    /// The entry, which the receipt carries as `statement`.
    pub entry: LogEntry,
    /// The inclusion proof and the checkpoint it leads to.
    pub proof: TlogProof,
    /// RFC 3161 tokens over the checkpoint, in DER, as they were received; at most
    /// [`MAX_TIMESTAMPS`] of 1 to [`MAX_TIMESTAMP_BYTES`] bytes.
    pub timestamps: Vec<Vec<u8>>,
    /// How far the log says the entry has come.
    pub state: ReceiptState,
    /// Indexes of entries of the same trail and sequence with another digest: ascending, at most
    /// [`MAX_CONFLICTS`], never the entry's own. The member is omitted when there are none.
    pub conflicts: Vec<u64>,
}

impl Receipt {
    /// Reads a receipt in any strict JSON spelling and checks that its parts agree.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let value = json::parse(bytes, &LIMITS)?;
        let mut fields = Fields::new(&value, "")?;
        fields.literal("schema", SCHEMA)?;
        let log = fields.string("log")?;
        let index = fields.unsigned("index")?;
        let leaf_hash = fields.digest("leaf_hash")?;
        let statement = fields.required("statement")?;
        let proof = fields.string("proof")?;
        let timestamps = read_timestamps(&mut fields)?;
        let state = fields.one_of("state", |text| text.parse().ok())?;
        let conflicts = read_conflicts(&mut fields)?;
        fields.finish()?;
        let receipt = Self {
            log: log.parse().map_err(ReceiptError::Log)?,
            index,
            leaf_hash,
            entry: LogEntry::from_value(statement, "/statement")
                .map_err(ReceiptError::Statement)?,
            proof: TlogProof::parse(proof.as_bytes()).map_err(ReceiptError::Proof)?,
            timestamps,
            state,
            conflicts,
        };
        receipt.check()?;
        Ok(receipt)
    }

    /// Writes the receipt in canonical form, if it is one that [`Receipt::parse`] would accept.
    pub fn to_json(&self) -> Result<Vec<u8>, ReceiptError> {
        self.check()?;
        let timestamps = self.timestamps.iter().map(|token| base64_encode(token).into());
        let mut object = Object::from([
            ("schema", Value::from(SCHEMA)),
            ("log", self.log.as_str().into()),
            ("index", integer(self.index, "/index")?),
            ("leaf_hash", self.leaf_hash.to_string().into()),
            ("statement", self.entry.to_object().into()),
            ("proof", self.proof.to_text().into()),
            ("timestamps", timestamps.collect::<Vec<_>>().into()),
            ("state", self.state.as_str().into()),
        ]);
        if !self.conflicts.is_empty() {
            let conflicts = self.conflicts.iter().map(|index| integer(*index, "/conflicts"));
            object.insert("conflicts", conflicts.collect::<Result<Vec<_>, _>>()?);
        }
        let bytes = object.to_canonical();
        if bytes.len() > MAX_RECEIPT_BYTES {
            return Err(JsonError::at(JsonCode::LimitBytes, "").into());
        }
        Ok(bytes)
    }

    /// The limits and agreements the types alone don't guarantee.
    fn check(&self) -> Result<(), ReceiptError> {
        let found = self.timestamps.len();
        if found > MAX_TIMESTAMPS {
            return Err(ReceiptError::TooManyTimestamps { found });
        }
        for (position, token) in self.timestamps.iter().enumerate() {
            check_token_length(position, token.len())?;
        }
        let ascending =
            self.conflicts.iter().zip(self.conflicts.iter().skip(1)).all(|(a, b)| a < b);
        if !ascending
            || self.conflicts.len() > MAX_CONFLICTS
            || self.conflicts.contains(&self.index)
        {
            return Err(ReceiptError::Conflicts);
        }
        let computed = self.entry.leaf_hash();
        if self.leaf_hash != computed {
            return Err(ReceiptError::LeafHash { stated: self.leaf_hash, computed });
        }
        if self.index != self.proof.index() {
            return Err(ReceiptError::Index { stated: self.index, proof: self.proof.index() });
        }
        let checkpoint = &self.proof.checkpoint().checkpoint().origin;
        if self.log != *checkpoint {
            return Err(ReceiptError::Origin {
                stated: self.log.clone(),
                checkpoint: checkpoint.clone(),
            });
        }
        if self.state == ReceiptState::Anchored && self.timestamps.is_empty() {
            return Err(ReceiptError::AnchoredWithoutTimestamp);
        }
        Ok(())
    }
}

fn read_timestamps(fields: &mut Fields<'_>) -> Result<Vec<Vec<u8>>, ReceiptError> {
    let elements = fields.array("timestamps")?;
    let found = elements.len();
    if found > MAX_TIMESTAMPS {
        return Err(ReceiptError::TooManyTimestamps { found });
    }
    let mut timestamps = Vec::with_capacity(found);
    for (position, element) in elements.iter().enumerate() {
        let refuse = |code| JsonError::at(code, fields.pointer_to_element("timestamps", position));
        let text = element.as_str().ok_or_else(|| refuse(JsonCode::Type))?;
        let token = base64_decode(text).map_err(|_| refuse(JsonCode::B64Form))?;
        timestamps.push(token);
    }
    Ok(timestamps)
}

fn read_conflicts(fields: &mut Fields<'_>) -> Result<Vec<u64>, ReceiptError> {
    let Some(elements) = fields.optional_array("conflicts")? else { return Ok(Vec::new()) };
    if elements.is_empty() || elements.len() > MAX_CONFLICTS {
        return Err(ReceiptError::Conflicts);
    }
    let mut conflicts = Vec::with_capacity(elements.len());
    for (position, element) in elements.iter().enumerate() {
        let refuse = |code| JsonError::at(code, fields.pointer_to_element("conflicts", position));
        let index = element.as_integer().ok_or_else(|| refuse(JsonCode::Type))?;
        conflicts.push(u64::try_from(index).map_err(|_| refuse(JsonCode::Enum))?);
    }
    Ok(conflicts)
}

fn check_token_length(position: usize, bytes: usize) -> Result<(), ReceiptError> {
    if (1..=MAX_TIMESTAMP_BYTES).contains(&bytes) {
        Ok(())
    } else {
        Err(ReceiptError::TimestampLength { position, bytes })
    }
}

fn integer(number: u64, pointer: &str) -> Result<Value<'static>, JsonError> {
    Value::try_from(number).map_err(|_| JsonError::at(JsonCode::IntRange, pointer))
}

const LIMITS: ReadLimits = ReadLimits::DEFAULT.with_bytes(MAX_RECEIPT_BYTES);
