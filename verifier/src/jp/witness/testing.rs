//! Chains of statements and copies of trails, sound ones, and the means to change them in one thing.
#![allow(clippy::as_conversions, clippy::unwrap_used, reason = "a failing test may panic")]

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{
    AuditCheckpoint, Signature, StatementKind, TrailId, Unsigned, VerifiedStatement, WitnessSigner,
    WitnessedAt,
};

use super::{ChainFault, Outcome, Refusal, Supplied, TrustedKeys, read_chain};

pub(super) const TRAIL: TrailId = TrailId::from_bytes([0x3c; 16]);

pub(super) fn signer() -> WitnessSigner {
    WitnessSigner::from_seed(&[7; 32])
}

pub(super) fn keys() -> TrustedKeys {
    TrustedKeys::new(&[*signer().key().as_bytes()]).unwrap()
}

/// What one statement of a chain is to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Say {
    Checkpoint(u64),
    Conflict(u64),
    Retirement,
}
use Say::{Checkpoint, Conflict, Retirement};

/// The digest of the record at a line; another one for what is offered and refused.
pub(super) fn record(sequence: u64) -> Digest {
    Digest::of(format!("record {sequence}").as_bytes())
}

pub(super) fn checkpoint(sequence: u64) -> AuditCheckpoint {
    AuditCheckpoint::new(TRAIL, sequence, record(sequence)).unwrap()
}

/// A chain as a witness signs it.
pub(super) fn chain(says: &[Say]) -> Vec<VerifiedStatement> {
    let mut all: Vec<VerifiedStatement> = Vec::new();
    let mut latest = checkpoint(1);
    for say in says {
        let (kind, checkpoint) = match say {
            Checkpoint(sequence) => {
                latest = checkpoint(*sequence);
                (StatementKind::Checkpoint, latest)
            }
            Conflict(sequence) => {
                let other = Digest::of(format!("other {sequence}").as_bytes());
                let offered = AuditCheckpoint::new(TRAIL, *sequence, other).unwrap();
                (StatementKind::Conflict, offered)
            }
            Retirement => (StatementKind::Retirement, latest),
        };
        let previous = all.last().map(|last| *last.signature());
        all.push(statement(kind, checkpoint, all.len() as u64, previous));
    }
    all
}

pub(super) fn statement(
    kind: StatementKind,
    checkpoint: AuditCheckpoint,
    index: u64,
    previous: Option<Signature>,
) -> VerifiedStatement {
    let witnessed_at = WitnessedAt::from_unix_seconds(1_790_000_000 + index).unwrap();
    Unsigned { kind, checkpoint, index, previous, witnessed_at }.sign(&signer())
}

/// A chain of every kind.
pub(super) fn long() -> Vec<VerifiedStatement> {
    chain(&[Checkpoint(3), Checkpoint(9), Conflict(3), Checkpoint(12), Conflict(12), Retirement])
}

pub(super) fn lines(statements: &[VerifiedStatement]) -> String {
    statements.iter().map(|statement| statement.to_line() + "\n").collect()
}

/// What a reader is given, in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    pub(super) files: Vec<String>,
    pub(super) head: Option<String>,
    pub(super) resume: Option<String>,
}

impl Given {
    pub(super) fn of(statements: &[VerifiedStatement]) -> Self {
        Self { files: vec![lines(statements)], ..Self::default() }
    }

    pub(super) fn with_head(self, head: &VerifiedStatement) -> Self {
        Self { head: Some(head.to_line() + "\n"), ..self }
    }

    pub(super) fn after(self, outcome: &Outcome) -> Self {
        let reading = outcome.reading.as_ref().unwrap();
        Self { resume: Some(reading.continuation().to_line() + "\n"), ..self }
    }

    pub(super) fn read_by(&self, keys: &TrustedKeys) -> Result<Outcome, Refusal> {
        let files: Vec<_> = self.files.iter().map(String::as_bytes).collect();
        let supplied = Supplied {
            trail: TRAIL,
            statements: &files,
            head: self.head.as_deref().map(str::as_bytes),
            resume: self.resume.as_deref().map(str::as_bytes),
        };
        read_chain(keys, &supplied)
    }

    pub(super) fn read(&self) -> Outcome {
        self.read_by(&keys()).unwrap()
    }

    /// The specification's words for what is found.
    pub(super) fn faults(&self) -> Vec<ChainFault> {
        let outcome = self.read();
        assert_eq!(outcome.reading.is_none(), !outcome.faults.is_empty());
        assert_eq!(outcome.faults.is_empty(), outcome.found.is_empty());
        outcome.faults.into_iter().collect()
    }
}
