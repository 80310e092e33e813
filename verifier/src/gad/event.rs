//! A witness entry as the rules see it.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{Entry, Payload};

use super::finding::Where;

/// One entry on its way through the rules.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by the witness reader, the recorder and tests")]
pub struct Event<'e> {
    /// Its position: the number of its line, from 0. This is idx(e), whatever `seq` says.
    pub index: u64,
    /// The entry.
    pub entry: &'e Entry<'e>,
    /// For individually signed types: whether no R1.ISSUER finding stands against it. True for others.
    pub authentic: bool,
}

impl<'e> Event<'e> {
    /// The payload, where its form isn't refused.
    #[must_use]
    pub const fn payload(&self) -> Option<&'e Payload<'e>> {
        self.entry.payload.as_ref()
    }

    /// Its chain hash as stated.
    #[must_use]
    pub const fn h(&self) -> Digest {
        self.entry.h
    }

    /// The place of the whole entry in findings.
    #[must_use]
    pub fn place(&self) -> Where {
        Where::entry(self.entry.seq)
    }

    /// The place of a member of its payload, or of the signed body inside: `member` starts with `/`.
    #[must_use]
    pub fn member(&self, member: &str) -> Where {
        let body = if self.entry.signed.is_some() { "/body/p/body" } else { "/body/p" };
        Where::entry(self.entry.seq).at(format!("{body}{member}"))
    }
}
