//! Holding what a log signs now against what it signed before.

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::VerifiedCheckpoint;
use anchorlog_verifier::codes::log::{CONSISTENCY, ROLLBACK};
use anchorlog_verifier::proof::{Tree, check_consistency};

use super::Log;
use crate::error::ClientError;
use crate::evidence::{Contradiction, Finding};
use crate::log_client::CallError;
use crate::seen::Remembered;

/// What a checkpoint claims to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Freshness<'a> {
    /// Any checkpoint of the log, an old one perhaps.
    Any,
    /// The log's newest one, asked for when `before` had been seen already.
    Current {
        /// What had been seen, under each key.
        before: &'a [VerifiedCheckpoint],
    },
}

impl Log {
    /// The last checkpoint seen under each of the log's keys.
    pub(super) async fn last_seen(&self) -> Result<Vec<VerifiedCheckpoint>, ClientError> {
        let keys = self.trust().await?.keys();
        let seen = keys.iter().filter_map(|key| self.seen.last(key).transpose());
        Ok(seen.collect::<Result<_, _>>()?)
    }

    /// Compares a checkpoint with the last one seen under its key, in this order:
    ///
    /// 1. none seen: it is remembered.
    /// 2. of equal size: the roots must be equal, else it is a split view.
    /// 3. of another size: the log must prove that the smaller tree is a prefix of the larger one, else it is
    ///    an inconsistency.
    /// 4. smaller although it is the log's current one: a rollback, even if it is consistent.
    /// 5. larger: it is remembered.
    ///
    /// What was seen under another of the log's keys is compared in the same way before: a log that changes its
    /// key stays the log it was, and what it has signed with the old one stays said.
    ///
    /// A log that refuses the proof of 3 is asked for its current checkpoint: one that is smaller than what
    /// was seen is the reason, and a rollback.
    pub(super) async fn reconcile(
        &self,
        shown: &VerifiedCheckpoint,
        freshness: Freshness<'_>,
    ) -> Result<(), ClientError> {
        self.compare_other_keys(shown).await?;
        let mut seen = self.seen.last(shown.log_key())?;
        // Each round, another client has remembered something newer meanwhile.
        loop {
            if let Some(seen) = &seen {
                self.compare(seen, shown).await?;
            }
            if let Freshness::Current { before } = freshness {
                self.refuse_rollback(before, shown)?;
            }
            if seen.as_ref().is_some_and(|seen| size(seen) >= size(shown)) {
                return Ok(());
            }
            match self.seen.remember(shown, seen.as_ref())? {
                Remembered::Stored => return Ok(()),
                Remembered::Changed(newer) => seen = Some(*newer),
            }
        }
    }

    /// While a log changes its key it has two of them, and one history: what was seen under the other one
    /// binds it too.
    async fn compare_other_keys(&self, shown: &VerifiedCheckpoint) -> Result<(), ClientError> {
        for seen in self.last_seen().await? {
            let same_log = seen.checkpoint().origin == shown.checkpoint().origin;
            if same_log && seen.log_key() != shown.log_key() {
                self.compare(&seen, shown).await?;
            }
        }
        Ok(())
    }

    async fn compare(
        &self,
        seen: &VerifiedCheckpoint,
        shown: &VerifiedCheckpoint,
    ) -> Result<(), ClientError> {
        let (older, newer) = if size(seen) <= size(shown) { (seen, shown) } else { (shown, seen) };
        let (from, to) = (size(older), size(newer));
        // Every tree extends the empty one, and a tree is consistent with itself: nothing to ask for.
        let proof = if from == 0 || from == to {
            Vec::new()
        } else {
            match self.client.consistency_proof(from, to).await {
                Ok(answer) => answer.hashes,
                Err(CallError::Transport(error)) if error.refusal().is_some() => {
                    return Err(self.unproved(seen, shown, &error.to_string()).await);
                }
                Err(error) => return Err(error.into()),
            }
        };
        check_consistency(&tree(older), &tree(newer), &proof).map_err(|finding| {
            // Whatever is wrong with the proof: these two trees are not shown to be one log's.
            let code = if from == to { finding.code } else { CONSISTENCY };
            let detail = if from == to {
                finding.detail.to_string()
            } else {
                format!(
                    "the log's proof does not show that its tree of size {to} extends the one of size \
                     {from}: {}",
                    finding.detail
                )
            };
            self.contradiction(code, &detail, Some(&proof), seen, shown)
        })
    }

    /// The log refuses to prove that two trees it signed are consistent.
    async fn unproved(
        &self,
        seen: &VerifiedCheckpoint,
        shown: &VerifiedCheckpoint,
        refusal: &str,
    ) -> ClientError {
        if let Ok(current) = self.client.checkpoint().await
            && let Ok(current) = self.verified(&current).await
            && size(&current) < size(seen)
        {
            return self.rolled_back(seen, &current);
        }
        let detail = format!(
            "the log refuses to prove that its trees of size {} and {} are consistent: {refusal}",
            size(seen),
            size(shown),
        );
        self.contradiction(CONSISTENCY, &detail, None, seen, shown)
    }

    fn refuse_rollback(
        &self,
        before: &[VerifiedCheckpoint],
        shown: &VerifiedCheckpoint,
    ) -> Result<(), ClientError> {
        let same_log = before.iter().filter(|seen| seen.log_key().name() == shown.log_key().name());
        match same_log.max_by_key(|seen| size(seen)) {
            Some(seen) if size(shown) < size(seen) => Err(self.rolled_back(seen, shown)),
            _ => Ok(()),
        }
    }

    fn rolled_back(&self, seen: &VerifiedCheckpoint, current: &VerifiedCheckpoint) -> ClientError {
        let detail = format!(
            "the log's current checkpoint is of size {}, and one of size {} was seen before; \
             entries from {} on are gone or hidden",
            size(current),
            size(seen),
            size(current),
        );
        self.contradiction(ROLLBACK, &detail, None, seen, current)
    }

    fn contradiction(
        &self,
        code: anchorlog_verifier::codes::Code,
        detail: &str,
        proof: Option<&[Digest]>,
        seen: &VerifiedCheckpoint,
        shown: &VerifiedCheckpoint,
    ) -> ClientError {
        let finding = Finding { code, detail, proof };
        let contradiction = Contradiction::keep(&self.state, self.address(), finding, seen, shown);
        Box::new(contradiction).into()
    }
}

fn size(checkpoint: &VerifiedCheckpoint) -> u64 {
    checkpoint.checkpoint().size.get()
}

fn tree(checkpoint: &VerifiedCheckpoint) -> Tree {
    Tree { size: checkpoint.checkpoint().size, root: checkpoint.checkpoint().root }
}
