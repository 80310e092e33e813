//! What others have said about the log: its countersigned checkpoints, and whoever waits for one.

use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use tokio::sync::watch;

use super::Log;
use crate::checkpoints::{CheckpointStore, StoredToken};
use crate::error::Error;
use crate::pool::SubmitError;
use crate::snapshot::Snapshot;
use crate::storage::StorageError;

impl Log {
    /// The countersigned checkpoints.
    #[must_use]
    pub fn checkpoints(&self) -> &Arc<CheckpointStore> {
        &self.0.checkpoints
    }

    /// Follows what is published.
    #[must_use]
    pub fn published(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.0.published.clone()
    }

    /// Waits until an anchored checkpoint covers the entry at `index`.
    pub async fn anchored(&self, index: u64) {
        let mut newest = self.0.checkpoints.newest();
        // The sender lives as long as this handle.
        let _ = newest.wait_for(|newest| newest.is_some_and(|newest| newest.size > index)).await;
    }

    /// What a token over the published checkpoint stamps: the note with only the log's own signature.
    pub fn note_to_stamp(&self, snapshot: &Snapshot) -> Result<Vec<u8>, Error> {
        Ok(snapshot.checkpoint().log_note_bytes(&self.0.key)?)
    }

    /// Makes a token durable; from then on it is shown. A sync that fails is fatal for the log.
    pub(crate) fn store_token(&self, token: &StoredToken) -> Result<(), StorageError> {
        let stored = self.0.checkpoints.append(token);
        if let Err(StorageError::Durable(error)) = &stored
            && error.is_sync_failure()
        {
            tracing::error!(%error, "a token could not be made durable; the log takes nothing more");
            self.0.pool.close(SubmitError::Failed);
            self.0.fail.send_replace(true);
        }
        stored
    }

    /// Commits the statements about the tokens of these digests and returns their indexes. Statements that
    /// the log has already keep their places.
    pub(crate) async fn log_tokens(&self, tokens: &[Digest]) -> Result<Vec<u64>, SubmitError> {
        let statement = |digest: &Digest| {
            // A statement of a kind and a digest alone is always in form.
            LogEntry::unsigned(Statement::new(StatementKind::Anchor, *digest)).ok()
        };
        let entries = tokens.iter().filter_map(statement).collect();
        let committed = self.submit(entries).await?;
        Ok(committed.places.iter().map(|place| place.index).collect())
    }

    /// Refuses to go on from a log that has less, or something else, than was countersigned: it would sign
    /// a second history.
    pub(super) fn check_countersigned(&self) -> Result<(), Error> {
        let Some(stored) = self.0.checkpoints.last_size() else { return Ok(()) };
        let size = self.snapshot().size().get();
        if stored > size {
            return Err(Error::BehindCheckpoint { stored, size });
        }
        let Some(countersigned) = self.0.checkpoints.at(stored)? else { return Ok(()) };
        let signed = SignedCheckpoint::parse(&countersigned.note)?;
        let verified = signed.verify(&self.0.key).map_err(|source| Error::ForeignLog { source })?;
        if verified.checkpoint().root != self.root(TreeSize::new(stored)?)? {
            return Err(Error::RootMismatch { size: stored });
        }
        Ok(())
    }
}
