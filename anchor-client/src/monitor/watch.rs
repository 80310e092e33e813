//! What is looked for in a log, and the sink that finds it.

use std::collections::HashSet;

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::leaf_hash;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{LogEntry, StatementKind, Trail};
use serde_json::{Value, json};

use super::event::{Draft, MAX_EVENT_BYTES};
use crate::follow::{EntrySink, FollowError};

/// What is looked for: an entry that meets any of these is told of.
#[derive(Clone, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Watches {
    /// Entries of these trails.
    pub trails: HashSet<Trail>,
    /// Entries signed by these keys, as the entries name them.
    pub keys: HashSet<SignerId>,
    /// Entries with these digests. In a log of others: entries whose bytes have this SHA-256.
    pub digests: HashSet<Digest>,
    /// Whether the log holds other entries than statements: then nothing is malformed, and only digests
    /// can be looked for.
    pub foreign: bool,
}

/// Reads every entry, keeps what is looked for, and what no statement is.
#[derive(Debug)]
pub(super) struct WatchSink<'w> {
    watches: &'w Watches,
    /// The events to tell.
    pub(super) found: Vec<Draft>,
    /// The first entry that isn't a statement, and why.
    pub(super) malformed: Option<(u64, String)>,
    /// Entries of kind `anchor`: the log has then seen a time stamp with this digest.
    pub(super) anchors: Vec<(u64, Digest)>,
}

impl<'w> WatchSink<'w> {
    pub(super) fn new(watches: &'w Watches) -> Self {
        Self { watches, found: Vec::new(), malformed: None, anchors: Vec::new() }
    }

    fn statement(&mut self, index: u64, leaf: &[u8]) {
        let entry = match LogEntry::from_leaf(leaf) {
            Ok(entry) => entry,
            Err(error) => {
                if self.malformed.is_none() {
                    self.malformed = Some((index, error.to_string()));
                }
                return;
            }
        };
        let statement = entry.statement();
        if statement.kind == StatementKind::Anchor {
            self.anchors.push((index, statement.digest));
        }
        let watches = self.watches;
        let mut met = Vec::new();
        if let Some(trail) = statement.trail.as_ref().filter(|one| watches.trails.contains(one)) {
            met.push(format!("trail:{trail}"));
        }
        if let Some(signer) = entry.signer().filter(|one| watches.keys.contains(one)) {
            met.push(format!("key:{signer}"));
        }
        if watches.digests.contains(&statement.digest) {
            met.push(format!("digest:{}", statement.digest));
        }
        if met.is_empty() {
            return;
        }
        // A leaf is canonical JSON.
        let text: Value = serde_json::from_slice(leaf).unwrap_or_default();
        let members = json!({
            "kind": statement.kind.as_str(),
            "digest": statement.digest.to_string(),
            "trail": statement.trail.as_ref().map(Trail::as_str),
            "sequence": statement.sequence,
            "key_id": entry.signer().map(|signer| signer.to_string()),
            "statement": text,
        });
        self.find(index, &entry.leaf_hash(), &met, members);
    }

    fn bytes(&mut self, index: u64, bytes: &[u8]) {
        if self.watches.digests.is_empty() {
            return;
        }
        let digest = Digest::of(bytes);
        if self.watches.digests.contains(&digest) {
            let members = json!({"digest": digest.to_string(), "bytes": bytes.len()});
            self.find(index, &leaf_hash(bytes), &[format!("digest:{digest}")], members);
        }
    }

    fn find(&mut self, index: u64, leaf_hash: &Digest, met: &[String], mut members: Value) {
        if let Some(object) = members.as_object_mut() {
            object.insert("type".to_owned(), "entry".into());
            object.insert("index".to_owned(), index.into());
            object.insert("leaf_hash".to_owned(), leaf_hash.to_string().into());
            object.insert("watch".to_owned(), met.into());
        }
        debug_assert!(members.to_string().len() < MAX_EVENT_BYTES, "a leaf has a limit");
        let short = leaf_hash.to_hex();
        let id = format!("entry:{index}:{}", short.get(..16).unwrap_or_default());
        self.found.push(Draft { id, members });
    }
}

impl EntrySink for WatchSink<'_> {
    fn entries(&mut self, first: u64, entries: &[&[u8]]) -> Result<(), FollowError> {
        for (index, entry) in (first..).zip(entries) {
            if self.watches.foreign {
                self.bytes(index, entry);
            } else {
                self.statement(index, entry);
            }
        }
        Ok(())
    }
}
