//! Checkpoint lines of audit trails, handed to a log to hold.

use anchorlog_proto::jp::witness::AuditCheckpoint;
use anchorlog_proto::statement::{LogEntry, StatementKind};
use anchorlog_verifier::codes;
use anchorlog_verifier::finding::Finding;

use super::{Accepted, Log};
use crate::api::{HeldConflict, ListedEntry};
use crate::error::ClientError;
use crate::log_client::CallError;
use crate::token::Token;

/// Lines that a log holds now.
#[derive(Clone, Debug)]
pub struct Holding {
    /// One verified receipt for each line, in order.
    pub accepted: Vec<Accepted>,
    /// The lines whose places the log held with another digest; of each, what was held is proved to be in the
    /// log as well.
    pub conflicts: Vec<HeldConflict>,
}

impl Log {
    /// Hands over 1 to [`MAX_BATCH`](crate::log_client::MAX_BATCH) lines and verifies what comes back. A line that is there already
    /// keeps its index. That a place was held with another digest is no error: both are evidence.
    pub async fn hold(
        &self,
        lines: &[AuditCheckpoint],
        token: Option<&Token>,
    ) -> Result<Holding, ClientError> {
        // The key must be known before anything is sent: what comes back must be verifiable.
        self.trust().await?;
        let entries = lines.iter().map(|line| LogEntry::unsigned(line.statement()));
        let entries = entries
            .collect::<Result<Vec<_>, _>>()
            .map_err(|source| CallError::Entry { url: self.address().to_string(), source })?;
        let body: String = lines.iter().map(|line| line.to_line() + "\n").collect();
        let (answer, conflicts) = self.client.hold_lines(body.into_bytes(), token).await?;
        let accepted = self.accept_batch(&entries, answer).await?;
        for conflict in &conflicts {
            let offered = accepted.iter().any(|accepted| {
                let statement = accepted.receipt.entry.statement();
                accepted.receipt.index == conflict.offered.index
                    && statement.digest == conflict.offered.digest
                    && statement.trail.as_ref() == Some(&conflict.trail)
                    && statement.sequence == Some(conflict.sequence)
            });
            if !offered || conflict.held.digest == conflict.offered.digest {
                let detail = format!(
                    "the log names a conflict of trail {} at sequence {} that nothing sent is part of",
                    conflict.trail, conflict.sequence
                );
                return Err(self.not_holding("the answer", Finding::new(codes::log::LEAF, detail)));
            }
        }
        let held = conflicts.iter().map(|conflict| ListedEntry {
            index: conflict.held.index,
            kind: StatementKind::Checkpoint,
            digest: Some(conflict.held.digest),
            trail: Some(conflict.trail.clone()),
            sequence: Some(conflict.sequence),
            key_id: None,
        });
        self.prove(held.collect(), |_| true).await?;
        Ok(Holding { accepted, conflicts })
    }
}
