//! What a witness does with a request: a function of what it has, what it is asked and whom it knows.
//!
//! What it is: the checks of [c2sp.org/tlog-witness] in the order that clients of other witnesses expect.
//! What it is not: an [`Accepted`] is no promise yet. A witness keeps it on disk first, in place of exactly
//! the checkpoint that was decided against, and cosigns then.
//!
//! | refusal | status | when |
//! | --- | --- | --- |
//! | [`Refused::BadRequest`] | 400 | the request could not have been read from bytes |
//! | [`Refused::UnknownOrigin`] | 404 | no key is known for this origin |
//! | [`Refused::NotSigned`] | 403 | no known key signed, or a known key's line fails |
//! | [`Refused::EmptyTreeRoot`] | 422 | size 0 with another root than the empty tree's |
//! | [`Refused::Stale`] | 409 | `old` is not the size the witness has |
//! | [`Refused::Inconsistent`] | 422 | the proof does not hold, or another root at the same size |
//!
//! [c2sp.org/tlog-witness]: https://c2sp.org/tlog-witness

use super::{AddCheckpoint, EmptyTreeRoot, MAX_PROOF_LINES};
use crate::checkpoint::{Checkpoint, SignedCheckpoint};
use crate::merkle::{TreeSize, consistency, empty_root};
use crate::note::{NoteSignature, SignatureAlgorithm, SignedNote, VerifierKey};

/// Decides about `request`, for a witness whose newest checkpoint of that log is `latest` and who knows
/// `log_keys` as the keys of the log with the request's origin.
///
/// No keys means that the origin is unknown. Keys of other types than 0x01 are no log's and don't count;
/// what a key is called doesn't matter here, the caller has said whose it is. A first checkpoint is
/// accepted as it is: there is nothing yet that it could contradict.
pub fn decide(
    latest: Option<&Checkpoint>,
    request: &AddCheckpoint,
    log_keys: &[VerifierKey],
) -> Result<Accepted, Refused> {
    let checkpoint = request.checkpoint.checkpoint();
    if request.old > checkpoint.size || request.proof.len() > MAX_PROOF_LINES {
        return Err(Refused::BadRequest);
    }
    if latest.is_some_and(|latest| latest.origin != checkpoint.origin) {
        return Err(Refused::UnknownOrigin);
    }
    let signed = signed_by_log(request.checkpoint.note(), log_keys)?;
    let signed = SignedCheckpoint::from_note(signed).map_err(|_| Refused::BadRequest)?;
    let recorded = latest.map_or(TreeSize::ZERO, |latest| latest.size);
    if request.old != recorded {
        return Err(Refused::Stale { recorded });
    }
    let root = latest.map_or_else(empty_root, |latest| latest.root);
    consistency::verify(recorded, checkpoint.size, &root, &checkpoint.root, &request.proof)
        .map_err(|_| Refused::Inconsistent)?;
    Ok(Accepted { signed, previous: latest.map(|latest| latest.size) })
}

/// How a request is refused whose checkpoint has size 0 and not the empty tree's root: in the order of
/// [`decide`], so that nobody learns more than from another request.
#[must_use]
pub fn refuse_empty_tree_root(request: &EmptyTreeRoot, log_keys: &[VerifierKey]) -> Refused {
    match signed_by_log(&request.note, log_keys) {
        Ok(_) => Refused::EmptyTreeRoot,
        Err(refused) => refused,
    }
}

/// The note with nothing but one line of each known key that signed, in the order of the keys; all lines
/// of known keys verify.
fn signed_by_log(note: &SignedNote, log_keys: &[VerifierKey]) -> Result<SignedNote, Refused> {
    let of_logs = |key: &&VerifierKey| key.algorithm() == SignatureAlgorithm::Ed25519;
    let keys: Vec<VerifierKey> = log_keys.iter().filter(of_logs).cloned().collect();
    if keys.is_empty() {
        return Err(Refused::UnknownOrigin);
    }
    let verified = note.verify(&keys).map_err(|_| Refused::NotSigned)?;
    let line_of = |key: &VerifierKey| {
        let line = verified.signatures().iter().find(|line| line.key() == key)?;
        Some(line.signature().clone())
    };
    let mut lines: Vec<NoteSignature> = Vec::new();
    for line in keys.iter().filter_map(line_of) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    SignedNote::new(note.text().to_owned(), lines).map_err(|_| Refused::NotSigned)
}

/// A checkpoint that a witness may keep and, once it is kept, cosign. Comes into being in [`decide`] and
/// nowhere else.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct Accepted {
    signed: SignedCheckpoint,
    previous: Option<TreeSize>,
}

impl Accepted {
    /// What the log says.
    #[must_use]
    pub const fn checkpoint(&self) -> &Checkpoint {
        self.signed.checkpoint()
    }

    /// The checkpoint with one line of each known key of the log that signed, in the order of the keys, and
    /// no others. Its text is what is cosigned.
    #[must_use]
    pub const fn signed(&self) -> &SignedCheckpoint {
        &self.signed
    }

    /// The size of the checkpoint that this one takes the place of; none for the first of a log.
    #[must_use]
    pub const fn previous(&self) -> Option<TreeSize> {
        self.previous
    }

    /// Whether the tree is the same as before, so that nothing but the time of the cosignature is new.
    #[must_use]
    pub fn is_refresh(&self) -> bool {
        self.previous == Some(self.checkpoint().size)
    }
}

/// Why a witness does not cosign.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The witness knows no log of this origin.
    #[error("no log of this origin is known")]
    UnknownOrigin,
    /// The request is not one.
    #[error("the request is malformed")]
    BadRequest,
    /// No known key of the log signed the checkpoint, or the line of one fails.
    #[error("the checkpoint has no valid signature by a known key of its log")]
    NotSigned,
    /// The request starts from another size than the witness has.
    #[error("the witness has a checkpoint of size {recorded}")]
    Stale {
        /// The size the witness has, 0 for none.
        recorded: TreeSize,
    },
    /// A tree of size 0 has another root than the empty tree.
    #[error("the checkpoint is of size 0 and does not have the empty tree's root")]
    EmptyTreeRoot,
    /// The proof does not hold, or the tree has the same size and another root.
    #[error("the checkpoint is not shown to be consistent with the one the witness has")]
    Inconsistent,
}

impl Refused {
    /// The HTTP status of the answer.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::NotSigned => 403,
            Self::UnknownOrigin => 404,
            Self::Stale { .. } => 409,
            Self::EmptyTreeRoot | Self::Inconsistent => 422,
        }
    }

    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownOrigin => "TLOGWITNESS.UNKNOWN_ORIGIN",
            Self::BadRequest => "TLOGWITNESS.BAD_REQUEST",
            Self::NotSigned => "TLOGWITNESS.NOT_SIGNED",
            Self::Stale { .. } => "TLOGWITNESS.STALE",
            Self::EmptyTreeRoot => "TLOGWITNESS.EMPTY_TREE_ROOT",
            Self::Inconsistent => "TLOGWITNESS.INCONSISTENT",
        }
    }
}

#[cfg(test)]
mod tests;
