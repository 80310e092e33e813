//! One trail's chain as its witness keeps it, and what the witness answers to a submission (section 8.5).
//!
//! What it is: the rules of a chain, statement by statement, and the one decision they lead to. What it isn't:
//! a reading of a chain that somebody presents (section 8.6), which is the verifier's, or anything that is
//! written or signed. [`Chain::push`] takes only what continues the chain, [`Chain::decide`] changes nothing.

use std::collections::BTreeMap;

use super::checkpoint::{AuditCheckpoint, Submission, TrailId};
use super::key::Signature;
use super::statement::{
    MAX_INDEX, Statement, StatementKind, Unsigned, VerifiedStatement, WitnessedAt,
};
use crate::Digest;

/// What a witness knows of its chain for one trail. Without a statement it is of no trail yet.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Chain {
    /// The `checkpoint` statements, their sequences strictly increasing.
    held: Vec<Held>,
    /// The first conflict's index, by sequence.
    conflicts: BTreeMap<u64, u64>,
    head: Option<Head>,
    retired: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Held {
    sequence: u64,
    digest: Digest,
    index: u64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Head {
    trail: TrailId,
    index: u64,
    signature: Signature,
    witnessed_at: WitnessedAt,
}

/// What a witness answers to a submission.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "whoever answers has to have an answer to each")]
pub enum Decision {
    /// The trail is retired, by the statement of this index.
    Retired {
        /// The retirement's index.
        index: u64,
    },
    /// A line names another record for a sequence that is held.
    Conflict {
        /// The index of the `checkpoint` statement that holds the sequence.
        held: u64,
        /// The statement about it.
        conflict: ConflictStatement,
    },
    /// The last line is held, by the statement of this index.
    Held {
        /// The `checkpoint` statement's index.
        index: u64,
    },
    /// The last line's sequence is not held, and below the latest one that is.
    BelowHead {
        /// The head's index.
        head: u64,
    },
    /// A statement about the last line is to be signed.
    Sign,
}

/// The statement that records a conflict: the first offer for a sequence, and no later one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "there is one or there is none")]
pub enum ConflictStatement {
    /// It is there.
    Kept {
        /// Its index.
        index: u64,
    },
    /// It is to be signed, about this checkpoint.
    First(AuditCheckpoint),
}

/// Why a statement does not continue a chain.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainBreak {
    /// Another trail's.
    #[error("the statement is of another trail")]
    Trail,
    /// After a retirement.
    #[error("a statement after the trail's retirement")]
    AfterRetirement,
    /// Not the next index.
    #[error("index {actual}, where {expected} comes next")]
    Index {
        /// The index that continues the chain.
        expected: u64,
        /// The statement's.
        actual: u64,
    },
    /// `prevSignature` is not the signature of the statement before.
    #[error("prevSignature is not the signature of the statement before")]
    Link,
    /// A checkpoint's sequence that does not exceed the latest.
    #[error("the checkpoint's sequence does not exceed the latest before it")]
    Sequence,
    /// A conflict above the latest checkpoint, or before any.
    #[error("a conflict above the latest checkpoint before it")]
    Conflict,
    /// A retirement that does not repeat the latest checkpoint.
    #[error("a retirement that does not repeat the latest checkpoint")]
    Retirement,
}

impl Chain {
    /// A chain of no statement.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many statements there are, which is the next one's index.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.head.map_or(0, |head| head.index.saturating_add(1))
    }

    /// Whether there is no statement.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Whether it ends with a retirement.
    #[must_use]
    pub const fn is_retired(&self) -> bool {
        self.retired
    }

    /// The latest witnessed checkpoint's sequence.
    #[must_use]
    pub fn latest_sequence(&self) -> Option<u64> {
        self.held.last().map(|held| held.sequence)
    }

    /// Conflicts on record.
    #[must_use]
    pub fn conflicts(&self) -> usize {
        self.conflicts.len()
    }

    /// Takes the next statement, if it continues the chain; else nothing changes.
    pub fn push(&mut self, statement: &VerifiedStatement) -> Result<(), ChainBreak> {
        self.check(statement)?;
        let body = statement.body();
        let AuditCheckpoint { trail, sequence, record_digest } = body.checkpoint;
        match body.kind {
            StatementKind::Checkpoint => {
                self.held.push(Held { sequence, digest: record_digest, index: body.index });
            }
            StatementKind::Conflict => {
                self.conflicts.entry(sequence).or_insert(body.index);
            }
            StatementKind::Retirement => self.retired = true,
        }
        self.head = Some(Head {
            trail,
            index: body.index,
            signature: *statement.signature(),
            witnessed_at: body.witnessed_at,
        });
        Ok(())
    }

    /// Decides about a submission for this chain's trail: a retirement first, then the first line in conflict
    /// with what is held, then the last line.
    #[must_use]
    pub fn decide(&self, submission: &Submission) -> Decision {
        if let (true, Some(head)) = (self.retired, self.head) {
            return Decision::Retired { index: head.index };
        }
        for line in submission.lines() {
            let Some(held) = self.held(line.sequence) else { continue };
            if held.digest != line.record_digest {
                let kept = self.conflicts.get(&line.sequence);
                let conflict = kept.map_or(ConflictStatement::First(*line), |index| {
                    ConflictStatement::Kept { index: *index }
                });
                return Decision::Conflict { held: held.index, conflict };
            }
        }
        let last = submission.last();
        if let Some(held) = self.held(last.sequence) {
            return Decision::Held { index: held.index };
        }
        match (self.head, self.latest_sequence()) {
            (Some(head), Some(latest)) if last.sequence < latest => {
                Decision::BelowHead { head: head.index }
            }
            _ => Decision::Sign,
        }
    }

    /// What the witness signs next: the next index, linked to the head, at the later of `now` and the head's
    /// time. None when a chain can't be longer.
    #[must_use]
    pub fn next(
        &self,
        kind: StatementKind,
        checkpoint: AuditCheckpoint,
        now: WitnessedAt,
    ) -> Option<Unsigned> {
        let index = self.len();
        let previous = self.head.map(|head| head.signature);
        let witnessed_at = self.head.map_or(now, |head| head.witnessed_at.max(now));
        let fits = index <= MAX_INDEX;
        fits.then_some(Unsigned { kind, checkpoint, index, previous, witnessed_at })
    }

    /// What a retirement repeats: the latest witnessed checkpoint. None when there is nothing to retire.
    #[must_use]
    pub fn latest(&self) -> Option<AuditCheckpoint> {
        let (latest, end) = (self.held.last()?, self.head?);
        AuditCheckpoint::new(end.trail, latest.sequence, latest.digest)
    }

    fn check(&self, statement: &Statement) -> Result<(), ChainBreak> {
        let body = statement.body();
        if self.head.is_some_and(|head| head.trail != body.checkpoint.trail) {
            return Err(ChainBreak::Trail);
        }
        if self.retired {
            return Err(ChainBreak::AfterRetirement);
        }
        let expected = self.len();
        if body.index != expected {
            return Err(ChainBreak::Index { expected, actual: body.index });
        }
        if body.previous != self.head.map(|head| head.signature) {
            return Err(ChainBreak::Link);
        }
        let (sequence, latest) = (body.checkpoint.sequence, self.latest_sequence());
        match body.kind {
            StatementKind::Checkpoint if latest.is_some_and(|latest| sequence <= latest) => {
                Err(ChainBreak::Sequence)
            }
            StatementKind::Conflict if latest.is_none_or(|latest| sequence > latest) => {
                Err(ChainBreak::Conflict)
            }
            StatementKind::Retirement if self.latest() != Some(body.checkpoint) => {
                Err(ChainBreak::Retirement)
            }
            _ => Ok(()),
        }
    }

    fn held(&self, sequence: u64) -> Option<&Held> {
        let at = self.held.binary_search_by_key(&sequence, |held| held.sequence).ok()?;
        self.held.get(at)
    }
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
