//! Receipts: accepted only after they were verified.

use anchorlog_proto::receipt::{Receipt, ReceiptError, ReceiptState};
use anchorlog_proto::statement::LogEntry;
use anchorlog_proto::tlog_policy::Quorum;
use anchorlog_proto::tlog_proof::TlogProof;
use anchorlog_verifier::codes;
use anchorlog_verifier::finding::Finding;
use anchorlog_verifier::receipt::{Expectations, examine_receipt};

use super::{Freshness, Log};
use crate::api::BatchAnswer;
use crate::error::ClientError;
use crate::log_client::{CallError, Wait};
use crate::tiles::TileTree;

/// A receipt that holds: the log's signature, the inclusion proof and, where the policy's quorum is met, the
/// witnesses were verified, and its checkpoint agrees with what was seen of the log before.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The receipt.
    pub receipt: Receipt,
    /// Its canonical JSON.
    pub json: Vec<u8>,
    /// How far it is shown to have grown under the policy in use. The receipt itself can claim more: a log
    /// key alone shows no witness, and time stamps are not verified here.
    pub shown: ReceiptState,
    /// Whether the log had the entry before, as far as it says so.
    pub duplicate: Option<bool>,
}

impl Log {
    /// Submits statements and verifies their receipts: a single one as such, up to
    /// [`MAX_BATCH`](crate::log_client::MAX_BATCH) as one batch. All or none are logged; the receipts come in the order of
    /// the statements.
    ///
    /// When `wait` asks for more than `published` and the time is up, the receipts come as they are:
    /// [`Accepted::shown`] tells.
    pub async fn submit(
        &self,
        entries: &[LogEntry],
        wait: Wait,
    ) -> Result<Vec<Accepted>, ClientError> {
        // The key must be known before anything is sent: what comes back must be verifiable.
        self.trust().await?;
        if let [entry] = entries {
            let receipt = self.client.submit(entry, wait).await?;
            return Ok(vec![self.accept(receipt, Some(entry)).await?]);
        }
        let answer = self.client.submit_batch(entries).await?;
        let accepted = self.accept_batch(entries, answer).await?;
        if wait.state == ReceiptState::Published {
            return Ok(accepted);
        }
        let mut grown = Vec::with_capacity(accepted.len());
        for (entry, first) in entries.iter().zip(accepted) {
            let receipt = self.client.receipt(first.receipt.index, wait).await?;
            let later = self.accept(receipt, Some(entry)).await?;
            grown.push(Accepted { duplicate: first.duplicate, ..later });
        }
        Ok(grown)
    }

    /// Fetches and verifies the receipt of the entry at `index`.
    pub async fn receipt(&self, index: u64, wait: Wait) -> Result<Accepted, ClientError> {
        self.trust().await?;
        let receipt = self.client.receipt(index, wait).await?;
        if receipt.index != index {
            let detail = format!("the receipt is for entry {}, not {index}", receipt.index);
            return Err(self.not_holding("the receipt", Finding::new(codes::log::LEAF, detail)));
        }
        self.accept(receipt, None).await
    }

    /// Verifies a receipt, of `expected` if the caller knows what it should be for.
    pub async fn accept(
        &self,
        receipt: Receipt,
        expected: Option<&LogEntry>,
    ) -> Result<Accepted, ClientError> {
        let (checkpoint, accepted) = self.judge(receipt, expected).await?;
        self.reconcile(&checkpoint, Freshness::Any).await?;
        Ok(accepted)
    }

    /// Verifies the answer to a batch. It names places and a checkpoint; the proofs are made from the log's
    /// tiles, which neighbouring entries share, and every one is verified as in any other receipt.
    pub async fn accept_batch(
        &self,
        entries: &[LogEntry],
        answer: BatchAnswer,
    ) -> Result<Vec<Accepted>, ClientError> {
        let checkpoint = self.verified(&answer.checkpoint).await?;
        self.reconcile(&checkpoint, Freshness::Any).await?;
        if answer.receipts.len() != entries.len() {
            let detail = format!(
                "{} statements were sent and {} places came back",
                entries.len(),
                answer.receipts.len()
            );
            return Err(self.not_holding("the answer", Finding::new(codes::log::LEAF, detail)));
        }
        let mut tiles = TileTree::new(&self.client, checkpoint.checkpoint().size);
        let mut accepted = Vec::with_capacity(entries.len());
        for (entry, place) in entries.iter().zip(&answer.receipts) {
            if place.leaf_hash != entry.leaf_hash() {
                let detail = format!("entry {} is not the statement that was sent", place.index);
                let finding = Finding::new(codes::log::LEAF, detail)
                    .compared(entry.leaf_hash(), place.leaf_hash);
                return Err(self.not_holding("the answer", finding));
            }
            let Some(hashes) = tiles.inclusion(place.index).await? else {
                let detail = format!("entry {} is not in the tree of its checkpoint", place.index);
                let finding = Finding::new(codes::log::INDEX, detail)
                    .compared(checkpoint.checkpoint().size, place.index);
                return Err(self.not_holding("the answer", finding));
            };
            let url = || format!("{}/v1/entries:batch", self.address());
            let proof = TlogProof::new(place.index, hashes, answer.checkpoint.clone()).map_err(
                |source| CallError::Receipt { url: url(), source: ReceiptError::Proof(source) },
            )?;
            let receipt = Receipt {
                log: answer.log.clone(),
                index: place.index,
                leaf_hash: place.leaf_hash,
                entry: entry.clone(),
                proof,
                timestamps: Vec::new(),
                // What the parts at hand show; the log's own receipt may have grown beyond it.
                state: ReceiptState::Published,
                conflicts: Vec::new(),
            };
            let (_, one) = self.judge(receipt, Some(entry)).await?;
            accepted.push(Accepted { duplicate: Some(place.duplicate), ..one });
        }
        Ok(accepted)
    }

    /// What the verifier says about a receipt. Witnesses that have not cosigned yet, and a state that this
    /// policy can't show, are no reason to refuse it: the entry is logged, and its receipt can grow.
    async fn judge(
        &self,
        receipt: Receipt,
        expected: Option<&LogEntry>,
    ) -> Result<(anchorlog_proto::checkpoint::VerifiedCheckpoint, Accepted), ClientError> {
        if let Some(expected) = expected
            && receipt.entry != *expected
        {
            let finding = Finding::new(codes::log::LEAF, "it is for another statement")
                .compared(expected.leaf_hash(), receipt.entry.leaf_hash());
            return Err(self.not_holding("the receipt", finding));
        }
        let checkpoint = self.verified(receipt.proof.checkpoint()).await?;
        let policy = &self.trust().await?.trust().policy;
        let exam = examine_receipt(&receipt, policy, &Expectations::default());
        let mut quorum_met = policy.quorum() != Quorum::None;
        for finding in exam.findings().iter().filter(|finding| finding.fails()) {
            if finding.code == codes::log::QUORUM {
                quorum_met = false;
            } else if finding.code != codes::receipt::STATE {
                return Err(self.not_holding("the receipt", finding.clone()));
            }
        }
        let shown = if quorum_met { ReceiptState::Witnessed } else { ReceiptState::Published };
        let json = receipt.to_json().map_err(|source| CallError::Receipt {
            url: format!("{}/v1/receipts/{}", self.address(), receipt.index),
            source,
        })?;
        Ok((checkpoint, Accepted { receipt, json, shown, duplicate: None }))
    }
}
