//! What others have said about the log: its countersigned checkpoints, and whoever waits for one.

use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use tokio::sync::watch;

use super::Log;
use crate::checkpoints::{CheckpointStore, CosignatureStore, Cosignatures, StoredToken};
use crate::error::Error;
use crate::pool::SubmitError;
use crate::snapshot::Snapshot;
use crate::standing::Standing;
use crate::storage::StorageError;

impl Log {
    /// The countersigned checkpoints.
    #[must_use]
    pub fn checkpoints(&self) -> &Arc<CheckpointStore> {
        &self.0.checkpoints
    }

    /// What witnesses have said.
    #[must_use]
    pub fn cosignatures(&self) -> &Arc<CosignatureStore> {
        &self.0.cosignatures
    }

    /// Waits until a witnessed checkpoint covers the entry at `index`.
    pub async fn witnessed(&self, index: u64) {
        let mut newest = self.0.cosignatures.newest();
        // The sender lives as long as this handle.
        let _ = newest.wait_for(|newest| newest.is_some_and(|newest| newest.size > index)).await;
    }

    /// Follows which checkpoints time-stamping authorities are asked about: one that is both witnessed and
    /// stamped says more in one receipt than two that are one of it each.
    #[must_use]
    pub fn stamping(&self) -> watch::Receiver<Option<Arc<Snapshot>>> {
        self.0.stamping.subscribe()
    }

    /// Tells whoever follows that a checkpoint is about to be stamped.
    pub(crate) fn announce_stamping(&self, snapshot: &Arc<Snapshot>) {
        self.0.stamping.send_replace(Some(Arc::clone(snapshot)));
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

    /// What a token over the published checkpoint stamps: the note with only the line of the log's primary
    /// key.
    pub fn note_to_stamp(&self, snapshot: &Snapshot) -> Result<Vec<u8>, Error> {
        Ok(snapshot.checkpoint().log_note_bytes(self.key())?)
    }

    /// Makes a token durable; from then on it is shown. A sync that fails is fatal for the log.
    pub(crate) fn store_token(&self, token: &StoredToken) -> Result<(), StorageError> {
        self.fail_unless_synced(self.0.checkpoints.append(token))
    }

    /// Makes lines of witnesses durable, which were verified under `keys`; from then on they are shown. A
    /// sync that fails is fatal for the log.
    pub(crate) fn store_cosignatures(
        &self,
        cosigned: &Cosignatures,
        keys: &[VerifierKey],
    ) -> Result<(), StorageError> {
        self.fail_unless_synced(self.0.cosignatures.append(cosigned, keys))
    }

    fn fail_unless_synced(&self, stored: Result<(), StorageError>) -> Result<(), StorageError> {
        if let Err(StorageError::Durable(error)) = &stored
            && error.is_sync_failure()
        {
            tracing::error!(%error, "a countersignature could not be made durable; the log takes nothing more");
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

    /// Refuses to go on from a log that has less, or something else, than was countersigned or than it has
    /// said itself: it would sign a second history. One that signs nothing is only reported.
    pub(super) fn check_countersigned(&self) -> Result<(), Error> {
        let found = self.compare_countersigned();
        match found {
            Err(error) if self.standing() == Standing::ReadOnly => {
                tracing::warn!(%error, "this is not the log's newest state");
                Ok(())
            }
            found => found,
        }
    }

    fn compare_countersigned(&self) -> Result<(), Error> {
        let size = self.snapshot().size().get();
        // A statement about a token is noted only when it is durable.
        if let Some((digest, index)) = self.0.checkpoints.last_logged() {
            if index >= size {
                return Err(Error::BehindCheckpoint { stored: index.saturating_add(1), size });
            }
            let entry = self.entry(index)?;
            if entry.is_none_or(|entry| entry.statement().digest != digest) {
                return Err(Error::RootMismatch { size });
            }
        }
        if let Some(stored) = self.0.checkpoints.last_size() {
            self.compare_countersigned_at(stored, || {
                Ok(self.0.checkpoints.at(stored)?.map(|countersigned| countersigned.note))
            })?;
        }
        if let Some(stored) = self.0.cosignatures.last_size() {
            self.compare_countersigned_at(stored, || {
                Ok(self.0.cosignatures.at(stored)?.map(|cosigned| cosigned.note))
            })?;
        }
        Ok(())
    }

    fn compare_countersigned_at(
        &self,
        stored: u64,
        note: impl FnOnce() -> Result<Option<Vec<u8>>, StorageError>,
    ) -> Result<(), Error> {
        let size = self.snapshot().size().get();
        if stored > size {
            return Err(Error::BehindCheckpoint { stored, size });
        }
        let Some(note) = note()? else { return Ok(()) };
        let signed = SignedCheckpoint::parse(&note)?;
        let verified = signed
            .verify_any(&self.0.keys.known())
            .map_err(|source| Error::ForeignLog { source })?;
        if verified.checkpoint().root != self.root(TreeSize::new(stored)?)? {
            return Err(Error::RootMismatch { size: stored });
        }
        Ok(())
    }
}
