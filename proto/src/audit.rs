//! Audits of a log, `anchorlog.audit/1`: everything a log holds about one subject, by the word of whoever
//! read the whole log.
//!
//! What it is: a signed object (`type` is `audit`) whose body is closed. It names the log by its origin and
//! key, carries the signed checkpoint up to which the log was read, the position from which, the subject, the
//! entries about it, and what those entries show by themselves. A listing that a log gives can leave an entry
//! out; one that somebody made by hashing every leaf up to a signed root can't, unless that somebody does.
//! What it isn't: a proof. Whoever relies on an audit relies on its signer, and brings that key.

mod collect;
mod entry;
mod error;
mod finding;
mod read;
mod subject;
#[cfg(test)]
mod tests;
mod write;

pub use collect::{Collected, Collector};
pub use entry::AuditedEntry;
pub use error::{AuditError, EntryProblem};
pub use finding::{AuditCode, AuditFinding};
pub use subject::Subject;

use crate::checkpoint::{Origin, SignedCheckpoint};
use crate::digest::Digest;
use crate::merkle::{TreeSize, empty_root};
use crate::note::VerifierKey;
use crate::signed_object::{self, PublicKey, Signature, SignerId};

/// The `schema` member of every audit.
pub const SCHEMA: &str = "anchorlog.audit/1";

/// The `type` of an audit's body.
pub const TYPE: &str = "audit";

/// The longest audit, in bytes of JSON.
pub const MAX_AUDIT_BYTES: usize = 16 << 20;

/// The most entries an audit lists. What the log has beyond them is counted.
pub const MAX_ENTRIES: usize = 10_000;

/// The most findings an audit lists. What was found beyond them is counted.
pub const MAX_FINDINGS: usize = 1000;

/// The most indexes of one finding: the first ones.
pub const MAX_INDEXES: usize = 64;

/// What an auditor states; [`AuditBody::sign`] makes it an audit of its key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct AuditBody {
    /// The key that signed the checkpoint, as the auditor knows it.
    pub log_key: VerifierKey,
    /// The checkpoint up to which the log was read: signed by `log_key`, and its root that of the entries
    /// read. Its origin is the log.
    pub checkpoint: SignedCheckpoint,
    /// The position from which it was read.
    pub from: Start,
    /// What the entries are about.
    pub subject: Subject,
    /// Every entry about it, by ascending index; of more than [`MAX_ENTRIES`] the first ones.
    pub entries: Vec<AuditedEntry>,
    /// How many more there are; 0 unless the list is full.
    pub entries_omitted: u64,
    /// What the entries show by themselves, the omitted ones included.
    pub findings: Vec<AuditFinding>,
    /// How many more there are; 0 unless the list is full.
    pub findings_omitted: u64,
    /// When the reading ended, in seconds since 1970, by the auditor's clock.
    pub time: i64,
}

/// The position from which a log was read: nothing before it was looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Start {
    /// How many entries lie before it.
    pub size: TreeSize,
    /// The root of the tree of exactly those; of none, the hash of nothing.
    pub root: Digest,
}

impl Start {
    /// The beginning of the log.
    #[must_use]
    pub fn beginning() -> Self {
        Self { size: TreeSize::ZERO, root: empty_root() }
    }
}

impl AuditBody {
    /// The log.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        &self.checkpoint.checkpoint().origin
    }

    /// The size up to which the log was read.
    #[must_use]
    pub const fn size(&self) -> TreeSize {
        self.checkpoint.checkpoint().size
    }

    /// The root of the tree that was read.
    #[must_use]
    pub const fn root(&self) -> Digest {
        self.checkpoint.checkpoint().root
    }

    /// Whether the entry at `index` was read.
    #[must_use]
    pub const fn covers(&self, index: u64) -> bool {
        self.from.size.get() <= index && index < self.size().get()
    }

    /// Whether it is the list of everything in the log: read from its beginning, nothing omitted.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.from.size.get() == 0 && self.entries_omitted == 0
    }

    /// The listed entry at `index`.
    #[must_use]
    pub fn entry(&self, index: u64) -> Option<&AuditedEntry> {
        let position = self.entries.binary_search_by_key(&index, |entry| entry.index).ok()?;
        self.entries.get(position)
    }
}

/// An audit as it was read; nothing about its signature is known until [`Audit::verify`] says so.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Audit {
    body: AuditBody,
    signer: SignerId,
    signature: Signature,
    /// canon(body).
    message: Vec<u8>,
}

impl Audit {
    /// What the auditor states.
    #[must_use]
    pub const fn body(&self) -> &AuditBody {
        &self.body
    }

    /// The key the body says it is signed with.
    #[must_use]
    pub const fn signer(&self) -> SignerId {
        self.signer
    }

    /// Verifies the signature over canon(body) under `key`, whose identifier the body must name.
    pub fn verify(&self, key: &PublicKey) -> Result<(), AuditError> {
        Ok(signed_object::verify(self.signer, &self.message, &self.signature, key)?)
    }
}
