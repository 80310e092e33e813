//! C2SP log proofs: everything that shows, offline, that an entry is in a log.
//!
//! What it is: the strict codec of [c2sp.org/tlog-proof] and the check of the inclusion proof in it. Every
//! accepted proof is written back byte for byte. What it is not: the entry is not in it, so its leaf hash
//! comes from the caller; and whether the log and its witnesses are to be believed, a policy says
//! ([`crate::tlog_policy`]). [`TlogProof::verify`] does all of it in the specified order.
//!
//! ```text
//! c2sp.org/tlog-proof@v1
//! [extra <base64>]
//! index <decimal>
//! <base64 of a sibling hash>       0 to 63 of them, the leaf's sibling first
//!
//! <signed checkpoint>
//! ```
//!
//! [c2sp.org/tlog-proof]: https://c2sp.org/tlog-proof

use crate::checkpoint::{CheckpointError, DecimalError, SignedCheckpoint, parse_decimal};
use crate::digest::Digest;
use crate::encoding;
use crate::merkle::{MAX_PROOF_HASHES, ProofError, inclusion};
use crate::tlog_policy::{PolicyError, TlogPolicy, VerifiedByPolicy};

/// The longest proof, in bytes.
pub const MAX_TLOG_PROOF_BYTES: usize = 128 << 10;

/// The most extra data, in bytes before base64: the reference implementation reads lines of less than
/// 64 KiB, and this much makes the longest such line.
pub const MAX_EXTRA_BYTES: usize = 49_146;

/// The first line.
const HEADER: &[u8] = b"c2sp.org/tlog-proof@v1";

/// A well-formed proof, with an index below its checkpoint's tree size. Nothing is verified.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlogProof {
    extra: Option<Vec<u8>>,
    index: u64,
    hashes: Vec<Digest>,
    checkpoint: SignedCheckpoint,
}

impl TlogProof {
    /// Reads a proof.
    pub fn parse(bytes: &[u8]) -> Result<Self, TlogProofError> {
        if bytes.len() > MAX_TLOG_PROOF_BYTES {
            return Err(TlogProofError::TooLarge { bytes: bytes.len() });
        }
        let mut lines = Lines { rest: bytes };
        if lines.next()? != HEADER {
            return Err(TlogProofError::Header);
        }
        let mut line = lines.next()?;
        let mut extra = None;
        if let Some(base64) = line.strip_prefix(b"extra ") {
            extra = Some(parse_extra(base64)?);
            line = lines.next()?;
        }
        let index = parse_index(line)?;
        let mut hashes = Vec::new();
        loop {
            let line = lines.next()?;
            if line.is_empty() {
                break;
            }
            if hashes.len() == MAX_PROOF_HASHES {
                return Err(TlogProofError::TooManyHashes);
            }
            let number = hashes.len() + 1;
            hashes.push(parse_hash(line).ok_or(TlogProofError::Hash { number })?);
        }
        let checkpoint = SignedCheckpoint::parse(lines.rest)?;
        Self { extra, index, hashes, checkpoint }.within_limits()
    }

    /// Puts a proof together, without extra data.
    ///
    /// `hashes` is the inclusion proof of the entry at `index` in the checkpoint's tree; whether it holds
    /// is not looked at.
    pub fn new(
        index: u64,
        hashes: Vec<Digest>,
        checkpoint: SignedCheckpoint,
    ) -> Result<Self, TlogProofError> {
        Self { extra: None, index, hashes, checkpoint }.within_limits()
    }

    /// This proof with opaque data, which nothing in it authenticates; at most [`MAX_EXTRA_BYTES`].
    pub fn with_extra(mut self, extra: Vec<u8>) -> Result<Self, TlogProofError> {
        self.extra = Some(extra);
        self.within_limits()
    }

    /// The text: exactly the bytes it was parsed from.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::from("c2sp.org/tlog-proof@v1\n");
        if let Some(extra) = &self.extra {
            text.push_str("extra ");
            encoding::base64_encode_into(extra, &mut text);
            text.push('\n');
        }
        text.push_str("index ");
        text.push_str(&self.index.to_string());
        text.push('\n');
        for hash in &self.hashes {
            text.push_str(&hash.to_base64());
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&self.checkpoint.note().to_text());
        text
    }

    /// Opaque data that nothing in the proof authenticates: not to be trusted for being here.
    #[must_use]
    pub fn extra(&self) -> Option<&[u8]> {
        self.extra.as_deref()
    }

    /// The entry's index, counted from 0 and below the checkpoint's tree size.
    #[must_use]
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// The inclusion proof, the leaf's sibling first.
    #[must_use]
    pub fn hashes(&self) -> &[Digest] {
        &self.hashes
    }

    /// The checkpoint the inclusion proof leads to.
    #[must_use]
    pub const fn checkpoint(&self) -> &SignedCheckpoint {
        &self.checkpoint
    }

    /// Verifies that the entry with this leaf hash is at the index, in the tree that `policy` believes in:
    /// first the checkpoint's signatures, then the quorum, then the inclusion proof.
    pub fn verify(
        &self,
        leaf_hash: &Digest,
        policy: &TlogPolicy,
    ) -> Result<VerifiedByPolicy, TlogProofError> {
        let verified = policy.verify(&self.checkpoint)?;
        self.verify_inclusion(leaf_hash)?;
        Ok(verified)
    }

    /// Verifies the inclusion proof alone. Says nothing as long as the checkpoint is not verified.
    pub fn verify_inclusion(&self, leaf_hash: &Digest) -> Result<(), TlogProofError> {
        let tree = self.checkpoint.checkpoint();
        Ok(inclusion::verify(self.index, tree.size, leaf_hash, &self.hashes, &tree.root)?)
    }

    fn within_limits(self) -> Result<Self, TlogProofError> {
        let extra = self.extra.as_ref().map_or(0, Vec::len);
        if extra > MAX_EXTRA_BYTES {
            return Err(TlogProofError::ExtraTooLarge);
        }
        if self.hashes.len() > MAX_PROOF_HASHES {
            return Err(TlogProofError::TooManyHashes);
        }
        let size = self.checkpoint.checkpoint().size.get();
        if self.index >= size {
            return Err(ProofError::IndexOutOfRange { index: self.index, size }.into());
        }
        let bytes = self.to_text().len();
        if bytes > MAX_TLOG_PROOF_BYTES {
            return Err(TlogProofError::TooLarge { bytes });
        }
        Ok(self)
    }
}

/// Why a proof is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TlogProofError {
    /// The proof is longer than [`MAX_TLOG_PROOF_BYTES`].
    #[error("a proof of {bytes} bytes is over the limit of {MAX_TLOG_PROOF_BYTES}")]
    TooLarge {
        /// Length of the proof.
        bytes: usize,
    },
    /// The first line is not that of a proof of version 1.
    #[error("the first line is not \"c2sp.org/tlog-proof@v1\"")]
    Header,
    /// The proof ends before the blank line in front of the checkpoint.
    #[error("the proof ends within its lines")]
    Truncated,
    /// The extra data is not canonical base64.
    #[error("the extra data is not canonical standard base64 with padding")]
    ExtraBase64,
    /// More extra data than [`MAX_EXTRA_BYTES`].
    #[error("more than {MAX_EXTRA_BYTES} bytes of extra data")]
    ExtraTooLarge,
    /// There is no index line where it belongs, or its number is not canonical decimal.
    #[error("no line \"index\" with a decimal number without sign or leading zero")]
    IndexForm,
    /// The index is over 2^63-1.
    #[error("the index is over 2^63-1")]
    IndexRange,
    /// A hash is not the canonical base64 of 32 bytes.
    #[error("hash {number} is not the canonical base64 of 32 bytes")]
    Hash {
        /// Which one, counted from 1.
        number: usize,
    },
    /// More hashes than [`MAX_PROOF_HASHES`].
    #[error("more than {MAX_PROOF_HASHES} hashes")]
    TooManyHashes,
    /// The checkpoint is refused.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The inclusion proof does not hold, or can't: its index is not below the tree size.
    #[error(transparent)]
    Inclusion(#[from] ProofError),
    /// The checkpoint does not satisfy the policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl TlogProofError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "TLOGPROOF.TOO_LARGE",
            Self::Header => "TLOGPROOF.HEADER",
            Self::Truncated => "TLOGPROOF.TRUNCATED",
            Self::ExtraBase64 => "TLOGPROOF.EXTRA_BASE64",
            Self::ExtraTooLarge => "TLOGPROOF.EXTRA_LENGTH",
            Self::IndexForm => "TLOGPROOF.INDEX_FORM",
            Self::IndexRange => "TLOGPROOF.INDEX_RANGE",
            Self::Hash { .. } => "TLOGPROOF.HASH",
            Self::TooManyHashes => "TLOGPROOF.HASHES",
            Self::Checkpoint(error) => error.code(),
            Self::Inclusion(error) => error.code(),
            Self::Policy(error) => error.code(),
        }
    }
}

/// The lines in front of the checkpoint, each ended by a newline.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Result<&'a [u8], TlogProofError> {
        let mut parts = self.rest.splitn(2, |&byte| byte == b'\n');
        let (Some(line), Some(rest)) = (parts.next(), parts.next()) else {
            return Err(TlogProofError::Truncated);
        };
        self.rest = rest;
        Ok(line)
    }
}

fn parse_extra(base64: &[u8]) -> Result<Vec<u8>, TlogProofError> {
    // Before decoding: four characters carry three bytes.
    if base64.len() > MAX_EXTRA_BYTES.div_ceil(3) * 4 {
        return Err(TlogProofError::ExtraTooLarge);
    }
    let base64 = str::from_utf8(base64).map_err(|_| TlogProofError::ExtraBase64)?;
    encoding::base64_decode(base64).map_err(|_| TlogProofError::ExtraBase64)
}

fn parse_index(line: &[u8]) -> Result<u64, TlogProofError> {
    let number = line.strip_prefix(b"index ").and_then(|number| str::from_utf8(number).ok());
    parse_decimal(number.ok_or(TlogProofError::IndexForm)?).map_err(|error| match error {
        DecimalError::Form => TlogProofError::IndexForm,
        DecimalError::Range => TlogProofError::IndexRange,
    })
}

fn parse_hash(line: &[u8]) -> Option<Digest> {
    Digest::from_base64(str::from_utf8(line).ok()?).ok()
}

#[cfg(test)]
mod tests;
