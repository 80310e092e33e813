//! What all worlds share: the log's key, and every checkpoint it has ever signed in any of them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, Origin, SignedCheckpoint};
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::{KeyName, NoteSigner, VerifierKey};

use crate::lying_log::Branch;

/// The log's key and what was signed with it. Signing and verifying are functions: doing each once for the
/// same tree changes nothing but the time it takes.
#[derive(Debug)]
pub struct Universe {
    signer: NoteSigner,
    signed: HashMap<(u64, Digest), Rc<SignedCheckpoint>>,
    verified: HashSet<(u64, Digest)>,
}

/// A checkpoint, and the entries its tree has: what the log showed, and what only the model knows.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What was signed.
    pub note: Rc<SignedCheckpoint>,
    /// Exactly the entries of its tree.
    pub tree: Rc<Branch>,
}

impl Default for Universe {
    fn default() -> Self {
        Self::new()
    }
}

impl Universe {
    /// A key, and nothing signed.
    #[must_use]
    pub fn new() -> Self {
        let name = KeyName::new("simulated.example/log").expect("a key name");
        let signer = NoteSigner::from_seed(name, [0x51; 32]);
        Self { signer, signed: HashMap::new(), verified: HashSet::new() }
    }

    /// The log's key.
    #[must_use]
    pub fn vkey(&self) -> &VerifierKey {
        self.signer.verifier_key()
    }

    /// Signs the tree of a branch's first `size` entries.
    pub fn sign(&mut self, branch: &Branch, size: u64) -> Shown {
        let tree = Rc::new(branch.prefix(size));
        let root = tree.root(size);
        let signer = &self.signer;
        let note = self.signed.entry((size, root)).or_insert_with(|| {
            let origin = Origin::from(signer.verifier_key().name());
            let size = TreeSize::new(size).expect("small");
            let checkpoint = Checkpoint::new(origin, size, root);
            Rc::new(SignedCheckpoint::sign(&checkpoint, signer).expect("a checkpoint"))
        });
        Shown { note: Rc::clone(note), tree }
    }

    /// Whether the log has signed this.
    pub fn verifies(&mut self, note: &SignedCheckpoint) -> bool {
        let checkpoint = note.checkpoint();
        let tree = (checkpoint.size.get(), checkpoint.root);
        // Only what was signed here is remembered: another note of the same tree is verified itself.
        let ours = self.signed.get(&tree).is_some_and(|known| **known == *note);
        if ours && self.verified.contains(&tree) {
            return true;
        }
        let verifies = note.verify(self.signer.verifier_key()).is_ok();
        if ours && verifies {
            self.verified.insert(tree);
        }
        verifies
    }
}

impl Shown {
    /// Size and root: what there can be one of.
    #[must_use]
    pub fn head(&self) -> (u64, Digest) {
        let checkpoint = self.note.checkpoint();
        (checkpoint.size.get(), checkpoint.root)
    }

    /// The truth: whether one of the two trees is the beginning of the other.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        self.tree.entries().iter().zip(other.tree.entries()).all(|(one, other)| one == other)
    }
}
