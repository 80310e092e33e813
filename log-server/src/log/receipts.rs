//! Receipts: what the log says about one entry, in the tree of one checkpoint.

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{TreeSize, inclusion};
use anchorlog_proto::note::NoteSignature;
use anchorlog_proto::receipt::{Receipt, ReceiptState};
use anchorlog_proto::statement::LogEntry;
use anchorlog_proto::tlog_proof::TlogProof;

use super::Log;
use crate::checkpoints::{Cosigned, Countersigned};
use crate::error::Error;
use crate::pool::{Committed, Place};
use crate::snapshot::Snapshot;

impl Log {
    /// The receipt of an entry that was just committed.
    pub fn receipt_of(
        &self,
        committed: &Committed,
        place: &Place,
        entry: LogEntry,
    ) -> Result<Receipt, Error> {
        let snapshot = &committed.snapshot;
        let size = snapshot.size();
        let extension = committed
            .extension
            .as_deref()
            .filter(|extension| place.index >= extension.before().size().get());
        let hashes = match extension {
            Some(extension) => match inclusion::prove(extension, place.index, size) {
                Ok(proof) => proof?,
                // An extension has every node that its own leaves need; were it not so, the tree has.
                Err(_) => self.prove_inclusion(snapshot, place.index, size)?,
            },
            None => self.prove_inclusion(snapshot, place.index, size)?,
        };
        self.make_receipt(snapshot.checkpoint().clone(), place.index, entry, hashes)
    }

    /// The receipt of the entry at `index`, as of now. None when the log is not that long.
    pub fn receipt(&self, index: u64) -> Result<Option<Receipt>, Error> {
        let snapshot = self.snapshot();
        if index >= snapshot.size().get() {
            return Ok(None);
        }
        let Some(entry) = self.entry(index)? else { return Ok(None) };
        let hashes = self.prove_inclusion(&snapshot, index, snapshot.size())?;
        self.make_receipt(snapshot.checkpoint().clone(), index, entry, hashes).map(Some)
    }

    pub(super) fn prove_inclusion(
        &self,
        snapshot: &Snapshot,
        index: u64,
        size: TreeSize,
    ) -> Result<Vec<Digest>, Error> {
        Ok(inclusion::prove(&self.0.tree.at(snapshot.edge()), index, size)??)
    }

    /// The receipt of the entry at `index` in the tree of a checkpoint that was stamped, with its tokens, and
    /// with the cosignatures that it has. None when the log is not that long.
    pub fn anchored_receipt(
        &self,
        index: u64,
        countersigned: Countersigned,
    ) -> Result<Option<Receipt>, Error> {
        let lines = match self.0.cosignatures.at(countersigned.size)? {
            Some(cosigned) => cosigned.first_lines(),
            None => Vec::new(),
        };
        let receipt = self.countersigned_receipt(index, &countersigned.note, lines)?;
        Ok(receipt.map(|mut receipt| {
            receipt.timestamps =
                countersigned.tokens.into_iter().map(|token| token.token).collect();
            receipt.state = ReceiptState::Anchored;
            receipt
        }))
    }

    /// The receipt of the entry at `index` in the tree of a checkpoint that was witnessed, with the first
    /// cosignature of every witness. None when the log is not that long.
    pub fn witnessed_receipt(
        &self,
        index: u64,
        cosigned: &Cosigned,
    ) -> Result<Option<Receipt>, Error> {
        let receipt = self.countersigned_receipt(index, &cosigned.note, cosigned.first_lines())?;
        Ok(receipt.map(|receipt| Receipt { state: ReceiptState::Witnessed, ..receipt }))
    }

    fn countersigned_receipt(
        &self,
        index: u64,
        note: &[u8],
        lines: Vec<NoteSignature>,
    ) -> Result<Option<Receipt>, Error> {
        let Some(entry) = self.entry(index)? else { return Ok(None) };
        // What was stamped before a key was added gets the line by which its readers know the log.
        let mut checkpoint = self.0.keys.complete(SignedCheckpoint::parse(note)?)?;
        for line in lines {
            checkpoint = checkpoint.with_signature(line)?;
        }
        let size = checkpoint.checkpoint().size;
        let hashes = self.inclusion_proof(index, size)?;
        self.make_receipt(checkpoint, index, entry, hashes).map(Some)
    }

    /// Puts a receipt together, and checks its proof before anybody else does.
    fn make_receipt(
        &self,
        signed: SignedCheckpoint,
        index: u64,
        entry: LogEntry,
        hashes: Vec<Digest>,
    ) -> Result<Receipt, Error> {
        let leaf_hash = entry.leaf_hash();
        let checkpoint = signed.checkpoint();
        inclusion::verify(index, checkpoint.size, &leaf_hash, &hashes, &checkpoint.root)?;
        Ok(Receipt {
            log: self.0.origin.clone(),
            index,
            leaf_hash,
            entry,
            proof: TlogProof::new(index, hashes, signed)?,
            timestamps: Vec::new(),
            state: ReceiptState::Published,
            conflicts: Vec::new(),
        })
    }
}
