//! Everything that a log has said, held against everything it says later.
//!
//! What it is: the client who forgets nothing. It keeps every acknowledged entry with its index and every
//! checkpoint, verifies each as it comes, and [`audit`](Ledger::audit)s the log against all of them. What it
//! isn't: part of the server. It reads what the server publishes and computes the rest with `proto`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a log that doesn't keep its word fails the test"
)]

use std::collections::{BTreeMap, HashMap};

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{Frontier, TreeSize, leaf_hash};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::receipt::Receipt;
use anchorlog_proto::statement::LogEntry;
use anchorlog_proto::tile::{EntriesId, LevelShape, parse_bundle};
use anchorlog_verifier::proof::{Tree, check_consistency, hash_from_text};
use anchorlog_verifier::receipt::{Expectations, verify_receipt};
use anchorlog_verifier::trust::Trust;
use serde_json::Value;

use crate::process::Connection;

/// What one log has promised.
#[derive(Debug)]
pub struct Ledger {
    trust: Trust,
    key: VerifierKey,
    /// Acknowledged entries by index.
    entries: BTreeMap<u64, LogEntry>,
    /// The root of every size that was signed, as far as anybody has seen it.
    roots: BTreeMap<u64, Digest>,
}

impl Ledger {
    /// An empty one for the log with this key.
    #[must_use]
    pub fn new(vkey: &str) -> Self {
        Self {
            trust: Trust::from_vkey(vkey).expect("a vkey"),
            key: vkey.parse().expect("a vkey"),
            entries: BTreeMap::new(),
            roots: BTreeMap::new(),
        }
    }

    /// How many entries were acknowledged.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was acknowledged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many checkpoints of different sizes were seen.
    #[must_use]
    pub fn checkpoints(&self) -> usize {
        self.roots.len()
    }

    /// The acknowledged entry number `n` modulo their number.
    #[must_use]
    pub fn pick(&self, n: u64) -> (u64, &LogEntry) {
        let count = u64::try_from(self.len()).expect("few entries");
        let nth = usize::try_from(n % count).expect("few entries");
        let (index, entry) = self.entries.iter().nth(nth).expect("there are that many");
        (*index, entry)
    }

    /// Takes the receipt of `sent`, verifies it and returns its index.
    pub fn receipt(&mut self, sent: &LogEntry, body: &[u8]) -> u64 {
        let receipt = Receipt::parse(body).expect("a receipt");
        let expect = Expectations {
            digest: Some(sent.statement().digest),
            kind: Some(sent.statement().kind),
            ..Expectations::default()
        };
        verify_receipt(&receipt, &self.trust.policy, &expect).expect("a receipt that verifies");
        assert_eq!(receipt.entry, *sent, "the receipt is for what was sent");
        self.see(receipt.proof.checkpoint());
        self.acknowledge(receipt.index, sent);
        receipt.index
    }

    /// Takes the answer to a batch.
    pub fn batch(&mut self, sent: &[LogEntry], body: &[u8]) {
        let answer: Value = serde_json::from_slice(body).expect("JSON");
        let size = self.checkpoint(answer["checkpoint"].as_str().expect("a note").as_bytes());
        let receipts = answer["receipts"].as_array().expect("a list");
        assert_eq!(receipts.len(), sent.len());
        for (place, entry) in receipts.iter().zip(sent) {
            let index = place["index"].as_u64().expect("an index");
            assert_eq!(place["leaf_hash"], entry.leaf_hash().to_string());
            assert!(index < size.size.get(), "the checkpoint covers every entry of the batch");
            self.acknowledge(index, entry);
        }
    }

    /// Takes a checkpoint from anywhere.
    pub fn checkpoint(&mut self, note: &[u8]) -> Tree {
        let signed = SignedCheckpoint::parse(note).expect("a checkpoint");
        self.see(&signed)
    }

    /// Reads the whole log again and holds it against every promise: all acknowledged entries at their
    /// indexes, every root that was ever signed, no statement twice. `proofs` of the entries and
    /// checkpoints are asked for one by one as well. Returns the log's tree.
    pub fn audit(&mut self, connection: &mut Connection, proofs: usize) -> Tree {
        let mut get = |path: &str| {
            let reply = connection.get(path).expect("an answer");
            assert_eq!(reply.status, 200, "{path}: {}", reply.text());
            reply.body
        };
        let tree = self.checkpoint(&get("/checkpoint"));
        let mut edge = Frontier::new();
        let mut leaves = HashMap::new();
        self.compare_root(&edge);
        for (index, width) in LevelShape::of(0, tree.size).tiles() {
            let id = EntriesId { index, width };
            let bundle = get(&format!("/{}", id.path()));
            let entries = parse_bundle(&bundle, width).expect("a bundle");
            for (index, bytes) in (id.first_entry()..).zip(entries) {
                if let Some(acknowledged) = self.entries.get(&index) {
                    assert_eq!(bytes, acknowledged.leaf_bytes(), "entry {index} is another one");
                }
                let hash = leaf_hash(bytes);
                if let Some(first) = leaves.insert(hash, index) {
                    panic!("one statement has the indexes {first} and {index}");
                }
                edge.push(hash).expect("a small log");
                self.compare_root(&edge);
            }
        }
        assert_eq!(edge.root(), tree.root, "the entries lead to the signed root");
        let newest = self.roots.last_key_value().map(|(size, _)| *size);
        assert_eq!(newest, Some(tree.size.get()), "the log is shorter than it was");
        let last = self.entries.last_key_value().map_or(0, |(index, _)| index + 1);
        assert!(last <= tree.size.get(), "entry {} is lost", last.saturating_sub(1));

        let newest_first = self.entries.iter().rev().take(proofs);
        let samples: Vec<(u64, LogEntry)> =
            newest_first.map(|(index, entry)| (*index, entry.clone())).collect();
        for (index, entry) in samples {
            let body = get(&format!("/v1/receipts/{index}"));
            assert_eq!(self.receipt(&entry, &body), index, "another index than promised");
        }
        for (size, root) in self.roots.iter().rev().take(proofs) {
            let older = Tree { size: TreeSize::new(*size).expect("a size"), root: *root };
            let to = tree.size;
            let answer = get(&format!("/v1/proof/consistency?from={size}&to={to}"));
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            let hashes = answer["hashes"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|hash| hash_from_text(hash.as_str().expect("a text")).expect("a hash"));
            let hashes: Vec<Digest> = hashes.collect();
            check_consistency(&older, &tree, &hashes).expect("a tree that continues");
        }
        tree
    }

    fn acknowledge(&mut self, index: u64, entry: &LogEntry) {
        if let Some(other) = self.entries.insert(index, entry.clone()) {
            assert_eq!(other, *entry, "index {index} was promised twice");
        }
    }

    fn see(&mut self, signed: &SignedCheckpoint) -> Tree {
        let verified = signed.verify(&self.key).expect("a checkpoint that the log has signed");
        let checkpoint = verified.checkpoint();
        let tree = Tree { size: checkpoint.size, root: checkpoint.root };
        if let Some(other) = self.roots.insert(tree.size.get(), tree.root) {
            assert_eq!(other, tree.root, "size {} was signed with two roots", tree.size);
        }
        tree
    }

    fn compare_root(&self, edge: &Frontier) {
        if let Some(root) = self.roots.get(&edge.size().get()) {
            assert_eq!(*root, edge.root(), "size {} was signed with two roots", edge.size());
        }
    }
}
