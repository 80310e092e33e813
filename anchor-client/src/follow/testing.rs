//! A log in memory whose files tests can falsify.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_proto::merkle::{Frontier, TreeSize, leaf_hash};
use anchorlog_proto::note::{KeyName, NoteSigner};
use anchorlog_proto::tile::{
    EntriesId, LevelShape, TILE_HEIGHT, TileId, hashes_in_level, push_entry,
};

use super::error::FollowError;
use super::files::{FileFuture, TileFiles};
use super::sink::EntrySink;
use crate::durable;

/// The files of one log, as somebody who may lie serves them.
#[derive(Debug, Default)]
pub(crate) struct MemoryFiles {
    pub(crate) files: Mutex<BTreeMap<String, Vec<u8>>>,
    pub(crate) parallel: usize,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl MemoryFiles {
    pub(crate) fn set(&self, path: &str, bytes: Vec<u8>) {
        self.files.lock().unwrap().insert(path.to_owned(), bytes);
    }

    pub(crate) fn edit(&self, path: &str, edit: impl FnOnce(&mut Vec<u8>)) {
        edit(self.files.lock().unwrap().get_mut(path).unwrap());
    }

    pub(crate) fn remove(&self, path: &str) {
        self.files.lock().unwrap().remove(path).unwrap();
    }
}

impl TileFiles for MemoryFiles {
    fn get<'a>(&'a self, path: &'a str, limit: usize) -> FileFuture<'a> {
        self.asked.lock().unwrap().push(path.to_owned());
        let bytes = self.files.lock().unwrap().get(path).cloned();
        assert!(bytes.as_ref().is_none_or(|bytes| bytes.len() <= limit));
        Box::pin(async move {
            // Give the others their turn, as a network would.
            tokio::task::yield_now().await;
            Ok(bytes)
        })
    }

    fn parallel(&self) -> usize {
        self.parallel
    }
}

/// A log that grows.
pub(crate) struct MemoryLog {
    pub(crate) signer: NoteSigner,
    pub(crate) entries: Vec<Vec<u8>>,
    edge: Frontier,
    levels: Vec<Vec<Digest>>,
}

impl MemoryLog {
    pub(crate) fn new(seed: u8) -> Self {
        Self {
            signer: NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [seed; 32]),
            entries: Vec::new(),
            edge: Frontier::new(),
            levels: vec![Vec::new(); 8],
        }
    }

    /// With entries `name 0`, `name 1`, ….
    pub(crate) fn of(name: &str, count: u64) -> Self {
        let mut log = Self::new(1);
        log.grow(name, count);
        log
    }

    pub(crate) fn grow(&mut self, name: &str, count: u64) {
        for _ in 0..count {
            let entry = format!("{name} {}", self.entries.len()).into_bytes();
            self.push(entry);
        }
    }

    pub(crate) fn push(&mut self, entry: Vec<u8>) {
        let levels = &mut self.levels;
        let note = |node: anchorlog_proto::merkle::Node, hash: &Digest| {
            if node.level.is_multiple_of(TILE_HEIGHT) {
                levels[usize::from(node.level / TILE_HEIGHT)].push(*hash);
            }
        };
        self.edge.push_with(leaf_hash(&entry), note).unwrap();
        self.entries.push(entry);
    }

    pub(crate) fn size(&self) -> TreeSize {
        self.edge.size()
    }

    pub(crate) fn checkpoint(&self) -> SignedCheckpoint {
        let origin = "log.example".parse().unwrap();
        let checkpoint = Checkpoint::new(origin, self.edge.size(), self.edge.root());
        SignedCheckpoint::sign(&checkpoint, &self.signer).unwrap()
    }

    pub(crate) fn verified(&self) -> VerifiedCheckpoint {
        self.checkpoint().verify(self.signer.verifier_key()).unwrap()
    }

    /// Serves the log as it is now; partial tiles of before stay.
    pub(crate) fn publish(&self, files: &MemoryFiles) {
        self.publish_tiles(files);
        files.set("checkpoint", self.checkpoint().to_bytes());
    }

    pub(crate) fn publish_tiles(&self, files: &MemoryFiles) {
        for level in 0..8 {
            if hashes_in_level(level, self.size()) == 0 {
                break;
            }
            for (index, width) in LevelShape::of(level, self.size()).tiles() {
                let id = TileId { level, index, width };
                let first = usize::try_from(id.first_hash()).unwrap();
                let hashes =
                    &self.levels[usize::from(level)][first..first + usize::from(width.get())];
                let bytes = hashes.iter().flat_map(|hash| *hash.as_bytes()).collect();
                files.set(&id.path(), bytes);
            }
        }
        for (index, width) in LevelShape::of(0, self.size()).tiles() {
            let id = EntriesId { index, width };
            let first = usize::try_from(id.first_entry()).unwrap();
            let mut bundle = Vec::new();
            for entry in &self.entries[first..first + usize::from(width.get())] {
                push_entry(&mut bundle, entry).unwrap();
            }
            files.set(&id.path(), bundle);
        }
    }

    /// Serves the log from a directory.
    pub(crate) fn publish_to(&self, root: &Path) {
        for (path, bytes) in &*self.files(1).files.lock().unwrap() {
            let path = root.join(path);
            durable::create_dir_all(path.parent().unwrap()).unwrap();
            durable::write_replace(&path, bytes).unwrap();
        }
    }

    pub(crate) fn files(&self, parallel: usize) -> Arc<MemoryFiles> {
        let files = Arc::new(MemoryFiles { parallel, ..MemoryFiles::default() });
        self.publish(&files);
        files
    }
}

/// Collects what it is given.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) entries: Vec<Vec<u8>>,
    pub(crate) confirmed: Vec<u64>,
    pub(crate) first: u64,
}

impl Collected {
    pub(crate) fn from(first: u64) -> Self {
        Self { first, ..Self::default() }
    }
}

impl EntrySink for Collected {
    fn entries(&mut self, first: u64, entries: &[&[u8]]) -> Result<(), FollowError> {
        assert_eq!(first, self.first + u64::try_from(self.entries.len()).unwrap());
        self.entries.extend(entries.iter().map(|entry| entry.to_vec()));
        Ok(())
    }

    fn bundle(
        &mut self,
        first: u64,
        bytes: &[u8],
        leaf_hashes: &[Digest],
    ) -> Result<(), FollowError> {
        let width = anchorlog_proto::tile::Width::new(leaf_hashes.len().try_into().unwrap());
        let entries = anchorlog_proto::tile::parse_bundle(bytes, width.unwrap()).unwrap();
        assert_eq!(first % 256, 0);
        assert!(entries.iter().zip(leaf_hashes).all(|(entry, hash)| leaf_hash(entry) == *hash));
        Ok(())
    }

    fn confirmed(&mut self, checkpoint: &VerifiedCheckpoint) -> Result<(), FollowError> {
        self.confirmed.push(checkpoint.checkpoint().size.get());
        Ok(())
    }
}
