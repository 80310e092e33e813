//! A log that lies when it is told to.
//!
//! What it is: a double of a log with one key, an honest tree, and a script: [`LyingLog::tell`] sets the
//! [`Lie`] that everything it shows follows from then on, until it is told another one or none. It is shown
//! over HTTP by a server in this process ([`LyingLog::serve`]; tlog-tiles and the part of `/v1/` that clients
//! ask) or as a directory of tiles ([`LyingLog::write_to`]). What it isn't: a log. It keeps nothing, admits
//! everything, and is built on `proto` alone, so that it can't share a mistake with the server.
//!
//! Each lie is told as well as it can be: signatures, proofs and tiles are right wherever the lie allows it,
//! so whoever notices has noticed the lie itself.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "fixtures fail by panicking; that is the failure of the test that uses them"
)]
#![allow(clippy::disallowed_methods, reason = "scratch files, made again for every test")]

mod answer;
mod branch;
mod directory;
mod lie;
mod server;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anchorlog_proto::checkpoint::{Checkpoint, Origin, SignedCheckpoint};
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::{KeyName, NoteSigner, VerifierKey};
use anchorlog_proto::statement::LogEntry;

pub use answer::Answer;
pub use branch::Branch;
pub use lie::{Lie, View, made_up};
pub use server::Served;

/// A log and what it is told to say. Clones are handles on the same log.
#[derive(Clone, Debug)]
pub struct LyingLog {
    signer: Arc<NoteSigner>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    truth: Branch,
    lie: Lie,
    view: View,
}

impl LyingLog {
    /// An honest log without entries.
    #[must_use]
    pub fn new(origin: &str) -> Self {
        let name = KeyName::new(origin).expect("an origin that can name a key");
        let view = Lie::None.view(&Branch::new());
        Self {
            signer: Arc::new(NoteSigner::from_seed(name, [0x10; 32])),
            state: Arc::new(Mutex::new(State { truth: Branch::new(), lie: Lie::None, view })),
        }
    }

    /// The log's key.
    #[must_use]
    pub fn vkey(&self) -> &VerifierKey {
        self.signer.verifier_key()
    }

    /// The log's name.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin::from(self.vkey().name())
    }

    /// Appends entries to the honest tree. What is shown of them is the lie's affair.
    pub fn append<E: AsRef<[u8]>>(&self, entries: impl IntoIterator<Item = E>) {
        let mut state = self.state();
        for entry in entries {
            state.truth.push(entry.as_ref().to_vec());
        }
        state.refresh();
    }

    /// Tells this lie from now on, about the honest tree as it is now and becomes.
    pub fn tell(&self, lie: Lie) {
        let mut state = self.state();
        state.lie = lie;
        state.refresh();
    }

    /// The honest tree.
    #[must_use]
    pub fn truth(&self) -> Branch {
        self.state().truth.clone()
    }

    /// What is shown at the moment.
    #[must_use]
    pub fn view(&self) -> View {
        self.state().view.clone()
    }

    /// The checkpoint that is shown at the moment.
    #[must_use]
    pub fn checkpoint(&self) -> SignedCheckpoint {
        self.state().view.checkpoint(&self.signer)
    }

    /// The honest tree's checkpoint at a size.
    #[must_use]
    pub fn true_checkpoint(&self, size: u64) -> SignedCheckpoint {
        sign(&self.signer, &self.state().truth, size)
    }

    /// Takes a statement and says where it is and whether it was there already: the truth, or a lie.
    fn admit(&self, entry: &LogEntry) -> (u64, bool) {
        self.state().admit(entry)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn refresh(&mut self) {
        self.view = self.lie.view(&self.truth);
    }

    fn admit(&mut self, entry: &LogEntry) -> (u64, bool) {
        let leaf = entry.leaf_bytes();
        match &self.lie {
            // What is submitted to a fork becomes part of the fork, which the honest tree never hears of.
            Lie::SplitView { index } => {
                self.view.tree = self.view.tree.replaced(*index, leaf.to_vec());
                (*index, false)
            }
            Lie::Rollback { .. } | Lie::Fork { .. } => {
                let index = self.view.tree.size();
                self.view.tree.push(leaf.to_vec());
                self.view.signed = self.view.tree.size();
                (index, false)
            }
            lie => {
                let wrong = match lie {
                    Lie::WrongIndex { one, .. } => Some(*one),
                    _ => None,
                };
                if let Some(index) = self.truth.position(leaf) {
                    return (wrong.unwrap_or(index), true);
                }
                let index = self.truth.size();
                self.truth.push(leaf.to_vec());
                self.refresh();
                (wrong.unwrap_or(index), false)
            }
        }
    }
}

/// The checkpoint of the first `size` entries of a branch.
fn sign(signer: &NoteSigner, branch: &Branch, size: u64) -> SignedCheckpoint {
    let origin = Origin::from(signer.verifier_key().name());
    let tree = TreeSize::new(size).expect("a tree of a test");
    SignedCheckpoint::sign(&Checkpoint::new(origin, tree, branch.root(size)), signer)
        .expect("a checkpoint can be signed")
}
