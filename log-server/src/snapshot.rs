//! What the log has published: one immutable object that a proof and its head both come from.

use std::time::SystemTime;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{Frontier, TreeSize};

/// A published state of the log. Everything in it is durable.
#[derive(Clone, Debug)]
pub struct Snapshot {
    checkpoint: SignedCheckpoint,
    note: Vec<u8>,
    edge: Frontier,
    published: SystemTime,
}

impl Snapshot {
    /// A snapshot of the tree of `edge`, which `checkpoint` signs.
    pub(crate) fn new(checkpoint: SignedCheckpoint, edge: Frontier) -> Self {
        let note = checkpoint.to_bytes();
        Self { checkpoint, note, edge, published: SystemTime::now() }
    }

    /// The signed checkpoint.
    #[must_use]
    pub const fn checkpoint(&self) -> &SignedCheckpoint {
        &self.checkpoint
    }

    /// The signed checkpoint as the note that is served.
    #[must_use]
    pub fn note(&self) -> &[u8] {
        &self.note
    }

    /// Number of entries.
    #[must_use]
    pub const fn size(&self) -> TreeSize {
        self.edge.size()
    }

    /// Root of the tree.
    #[must_use]
    pub const fn root(&self) -> &Digest {
        &self.checkpoint.checkpoint().root
    }

    /// The right edge of the tree.
    #[must_use]
    pub const fn edge(&self) -> &Frontier {
        &self.edge
    }

    /// When this process published it, by its own clock.
    #[must_use]
    pub const fn published(&self) -> SystemTime {
        self.published
    }
}
