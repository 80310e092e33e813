//! Step 3: walking a chain whose statements all verified.

use anchorlog_proto::jp::witness::{AuditCheckpoint, Signature, StatementKind, VerifiedStatement};

/// Where a walk begins, and then where it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    /// The index that comes next.
    next: u64,
    /// What the next statement must name.
    previous: Option<Signature>,
    /// The last statement walked.
    pub(super) last: Option<VerifiedStatement>,
    /// The latest checkpoint statement.
    pub(super) latest: Option<VerifiedStatement>,
    /// The sequences of the conflicts walked.
    pub(super) conflicts: Vec<u64>,
}

/// Why statements are no chain.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Broken {
    #[error("there is no statement of index 0 to begin with")]
    Nothing,
    #[error("the statements begin at index {index}; a chain is read from index 0")]
    Late { index: u64 },
    #[error("the statement of index {index} is missing; after the one before it comes {next}")]
    Hole { index: u64, next: u64 },
    #[error("the statement of index {index} does not name the signature of the one before it")]
    Link { index: u64 },
    #[error("the statement of index 0 names a statement before it")]
    FirstLinked,
    #[error(
        "the checkpoint statement of index {index} is of sequence {sequence}, which does not exceed {latest}"
    )]
    NotIncreasing { index: u64, sequence: u64, latest: u64 },
    #[error("the statement of index {index} has no checkpoint statement before it")]
    NoCheckpoint { index: u64 },
    #[error(
        "the conflict of index {index} is of sequence {sequence}, above the latest checkpoint's, {latest}"
    )]
    ConflictAbove { index: u64, sequence: u64, latest: u64 },
    #[error("the retirement of index {index} does not repeat the latest checkpoint")]
    NotRepeating { index: u64 },
    #[error("the statement of index {index} follows a retirement, which ends a chain")]
    AfterRetirement { index: u64 },
    #[error("the continuation's latest checkpoint is not that of its last statement")]
    Continuation,
}

impl Walk {
    /// Goes on after a continuation, whose two statements have to fit.
    pub(super) fn after(
        last: VerifiedStatement,
        latest: VerifiedStatement,
    ) -> Result<Self, Broken> {
        let (end, before) = (last.body(), latest.body());
        let fits = before.kind == StatementKind::Checkpoint
            && match end.kind {
                StatementKind::Checkpoint => last == latest,
                _ if before.index >= end.index => false,
                StatementKind::Conflict => end.checkpoint.sequence <= before.checkpoint.sequence,
                StatementKind::Retirement => end.checkpoint == before.checkpoint,
            };
        if !fits {
            return Err(Broken::Continuation);
        }
        Ok(Self {
            next: end.index.saturating_add(1),
            previous: Some(*last.signature()),
            last: Some(last),
            latest: Some(latest),
            conflicts: Vec::new(),
        })
    }

    /// Takes the next statement.
    pub(super) fn step(&mut self, statement: VerifiedStatement) -> Result<(), Broken> {
        let body = *statement.body();
        let index = body.index;
        if index != self.next {
            let began = self.last.is_some();
            let hole = Broken::Hole { index: self.next, next: index };
            return Err(if began { hole } else { Broken::Late { index } });
        }
        if self.last.is_some_and(|last| last.body().kind == StatementKind::Retirement) {
            return Err(Broken::AfterRetirement { index });
        }
        if body.previous != self.previous {
            return Err(if index == 0 { Broken::FirstLinked } else { Broken::Link { index } });
        }
        self.kind(body.kind, &body.checkpoint, index)?;
        if body.kind == StatementKind::Checkpoint {
            self.latest = Some(statement);
        }
        self.next = index.saturating_add(1);
        self.previous = Some(*statement.signature());
        self.last = Some(statement);
        Ok(())
    }

    /// The end of the walk: something has to have been walked, now or before.
    pub(super) fn finish(self) -> Result<Self, Broken> {
        if self.last.is_some() { Ok(self) } else { Err(Broken::Nothing) }
    }

    /// What the kind of a statement asks of the checkpoints before it.
    fn kind(
        &mut self,
        kind: StatementKind,
        checkpoint: &AuditCheckpoint,
        index: u64,
    ) -> Result<(), Broken> {
        let before = self.latest.map(|latest| latest.body().checkpoint);
        let sequence = checkpoint.sequence;
        match (kind, before) {
            (StatementKind::Checkpoint, Some(latest)) if sequence <= latest.sequence => {
                Err(Broken::NotIncreasing { index, sequence, latest: latest.sequence })
            }
            (StatementKind::Checkpoint, _) => Ok(()),
            (_, None) => Err(Broken::NoCheckpoint { index }),
            (StatementKind::Conflict, Some(latest)) if sequence > latest.sequence => {
                Err(Broken::ConflictAbove { index, sequence, latest: latest.sequence })
            }
            (StatementKind::Conflict, Some(_)) => {
                self.conflicts.push(sequence);
                Ok(())
            }
            (StatementKind::Retirement, Some(latest)) if *checkpoint != latest => {
                Err(Broken::NotRepeating { index })
            }
            (StatementKind::Retirement, Some(_)) => Ok(()),
        }
    }
}
