//! C2SP tlog-witness: how a log asks a witness for its cosignature, and what the witness may answer.
//!
//! What it is: the strict codec of the `add-checkpoint` request and of the two answers that have a body, of
//! [c2sp.org/tlog-witness], and the pure decision that a witness takes ([`decide()`]). Every accepted request
//! is written back byte for byte. What it is not: there is no HTTP here, no clock and no storage; that a
//! decision is kept before anybody hears of it is the server's business.
//!
//! ```text
//! old <decimal>                    the size of the newest checkpoint the witness has, 0 for none
//! <base64 of a hash>               0 to 63 of them, the consistency proof from there
//!
//! <signed checkpoint>
//! ```
//!
//! [c2sp.org/tlog-witness]: https://c2sp.org/tlog-witness

mod decide;
mod error;

pub use decide::{Accepted, Refused, decide, refuse_empty_tree_root};
pub use error::{EmptyTreeRoot, TlogWitnessError};

use crate::checkpoint::{CheckpointError, DecimalError, Origin, SignedCheckpoint, parse_decimal};
use crate::digest::Digest;
use crate::merkle::{MAX_PROOF_HASHES, TreeSize};
use crate::note::{NoteSignature, SignedNote};

/// The longest request, in bytes. Other witnesses read between 16 KiB and 1 MiB.
pub const MAX_REQUEST_BYTES: usize = 128 << 10;

/// The largest number of hashes in a request.
pub const MAX_PROOF_LINES: usize = MAX_PROOF_HASHES;

/// The longest answer with cosignatures, in bytes: room for [`MAX_COSIGNATURES`] of ML-DSA-44.
pub const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// The largest number of cosignature lines in an answer; a witness has one or two keys.
pub const MAX_COSIGNATURES: usize = 16;

/// The media type of the answer that tells which size the witness has (status 409).
pub const SIZE_CONTENT_TYPE: &str = "text/x.tlog.size";

/// The longest size and its newline.
const MAX_SIZE_BYTES: usize = "9223372036854775807\n".len();

/// A log's request. Well-formed, and from no size larger than that of its checkpoint; nothing is verified,
/// and one put together by hand is not even that: [`decide()`] looks again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddCheckpoint {
    /// The size that the log takes the witness to have: 0 if it has none, or to find out.
    pub old: TreeSize,
    /// The consistency proof from that size to the checkpoint's.
    pub proof: Vec<Digest>,
    /// The checkpoint to be cosigned.
    pub checkpoint: SignedCheckpoint,
}

impl AddCheckpoint {
    /// Reads the body of a request.
    ///
    /// A tree of size 0 with another root than the empty tree's can't be a [`SignedCheckpoint`]. Because a
    /// witness answers it differently, it is an error of its own that carries the note
    /// ([`TlogWitnessError::EmptyTreeRoot`]).
    pub fn parse(bytes: &[u8]) -> Result<Self, TlogWitnessError> {
        if bytes.len() > MAX_REQUEST_BYTES {
            return Err(TlogWitnessError::TooLarge { bytes: bytes.len() });
        }
        let mut lines = Lines { rest: bytes };
        let old = parse_old(lines.next()?)?;
        let mut proof = Vec::new();
        loop {
            let line = lines.next()?;
            if line.is_empty() {
                break;
            }
            if proof.len() == MAX_PROOF_LINES {
                return Err(TlogWitnessError::TooManyHashes);
            }
            let number = proof.len() + 1;
            proof.push(parse_hash(line).ok_or(TlogWitnessError::Hash { number })?);
        }
        let checkpoint = parse_checkpoint(old, lines.rest)?;
        let size = checkpoint.checkpoint().size;
        if old > size {
            return Err(TlogWitnessError::OldOverSize { old, size });
        }
        Ok(Self { old, proof, checkpoint })
    }

    /// The body of the request: exactly the bytes it was parsed from.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("old {}\n", self.old);
        for hash in &self.proof {
            text.push_str(&hash.to_base64());
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&self.checkpoint.note().to_text());
        text.into_bytes()
    }
}

/// The body by which a witness tells its size (status 409, type [`SIZE_CONTENT_TYPE`]).
#[must_use]
pub fn write_size(size: TreeSize) -> String {
    format!("{size}\n")
}

/// Reads the body by which a witness tells its size.
pub fn parse_size(bytes: &[u8]) -> Result<TreeSize, TlogWitnessError> {
    if bytes.len() > MAX_SIZE_BYTES {
        return Err(TlogWitnessError::SizeForm);
    }
    let line = bytes.strip_suffix(b"\n").ok_or(TlogWitnessError::SizeForm)?;
    parse_number(line, TlogWitnessError::SizeForm)
}

/// The body by which a witness hands out cosignatures (status 200).
#[must_use]
pub fn write_cosignatures(lines: &[NoteSignature]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&line.to_string());
        text.push('\n');
    }
    text
}

/// Reads the body by which a witness hands out cosignatures: one to [`MAX_COSIGNATURES`] signature lines,
/// by whatever keys. Nothing is verified.
pub fn parse_cosignatures(bytes: &[u8]) -> Result<Vec<NoteSignature>, TlogWitnessError> {
    if bytes.len() > MAX_RESPONSE_BYTES {
        return Err(TlogWitnessError::TooLarge { bytes: bytes.len() });
    }
    if bytes.is_empty() {
        return Err(TlogWitnessError::NoCosignatures);
    }
    let text = str::from_utf8(bytes).map_err(|_| TlogWitnessError::NotUtf8)?;
    let body = text.strip_suffix('\n').ok_or(TlogWitnessError::Truncated)?;
    let mut lines = Vec::new();
    for (line, number) in body.split('\n').zip(1..) {
        if number > MAX_COSIGNATURES {
            return Err(TlogWitnessError::TooManyCosignatures);
        }
        let read = line.parse();
        lines.push(read.map_err(|reason| TlogWitnessError::Cosignature { line: number, reason })?);
    }
    Ok(lines)
}

/// The lines in front of the checkpoint, each ended by a newline.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Result<&'a [u8], TlogWitnessError> {
        let mut parts = self.rest.splitn(2, |&byte| byte == b'\n');
        let (Some(line), Some(rest)) = (parts.next(), parts.next()) else {
            return Err(TlogWitnessError::Truncated);
        };
        self.rest = rest;
        Ok(line)
    }
}

fn parse_old(line: &[u8]) -> Result<TreeSize, TlogWitnessError> {
    let number = line.strip_prefix(b"old ").ok_or(TlogWitnessError::OldForm)?;
    parse_number(number, TlogWitnessError::OldForm)
}

fn parse_number(text: &[u8], form: TlogWitnessError) -> Result<TreeSize, TlogWitnessError> {
    let Ok(text) = str::from_utf8(text) else { return Err(form) };
    let number = parse_decimal(text).map_err(|error| match error {
        DecimalError::Form => form,
        DecimalError::Range => TlogWitnessError::SizeRange,
    })?;
    TreeSize::new(number).map_err(|_| TlogWitnessError::SizeRange)
}

fn parse_hash(line: &[u8]) -> Option<Digest> {
    Digest::from_base64(str::from_utf8(line).ok()?).ok()
}

fn parse_checkpoint(old: TreeSize, bytes: &[u8]) -> Result<SignedCheckpoint, TlogWitnessError> {
    let note = SignedNote::parse(bytes).map_err(CheckpointError::from)?;
    let read = SignedCheckpoint::from_note(note.clone());
    let Err(CheckpointError::EmptyRoot { root }) = read else { return Ok(read?) };
    if old > TreeSize::ZERO {
        return Err(TlogWitnessError::OldOverSize { old, size: TreeSize::ZERO });
    }
    // What was read is a checkpoint in all but its root, so its first line is an origin.
    let origin = Origin::new(note.text().lines().next().unwrap_or_default())?;
    Err(TlogWitnessError::EmptyTreeRoot(Box::new(EmptyTreeRoot { note, origin, root })))
}

#[cfg(test)]
mod tests;
