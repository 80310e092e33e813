//! Bundles read ahead: several at a time, handed out in order.

use std::collections::VecDeque;
use std::sync::Arc;

use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tile::{EntriesId, LevelShape, Width};
use tokio::task::JoinHandle;

use super::error::FollowError;
use super::files::TileFiles;
use super::tree::{Bundle, fetch_bundle};

/// The bundles from one index on, up to another one.
#[derive(Debug)]
pub(super) struct Prefetch {
    files: Arc<dyn TileFiles>,
    size: TreeSize,
    shape: LevelShape,
    next: u64,
    end: u64,
    waiting: VecDeque<(EntriesId, Task)>,
}

impl Prefetch {
    /// The bundles `first..end` of a tree.
    pub(super) fn new(files: Arc<dyn TileFiles>, size: TreeSize, first: u64, end: u64) -> Self {
        let shape = LevelShape::of(0, size);
        Self { files, size, shape, next: first, end, waiting: VecDeque::new() }
    }

    /// The next bundle, unverified; `None` after the last one.
    pub(super) async fn next(&mut self) -> Result<Option<(EntriesId, Bundle)>, FollowError> {
        let parallel = self.files.parallel();
        if parallel <= 1 {
            let Some(id) = self.advance() else { return Ok(None) };
            let bundle = fetch_bundle(&*self.files, id, self.size).await?;
            return Ok(Some((id, bundle)));
        }
        while self.waiting.len() < parallel
            && let Some(id) = self.advance()
        {
            let (files, size) = (Arc::clone(&self.files), self.size);
            let task = tokio::spawn(async move { fetch_bundle(&*files, id, size).await });
            self.waiting.push_back((id, Task(task)));
        }
        let Some((id, mut task)) = self.waiting.pop_front() else { return Ok(None) };
        let bundle = (&mut task.0).await.map_err(FollowError::sink)??;
        Ok(Some((id, bundle)))
    }

    fn advance(&mut self) -> Option<EntriesId> {
        let index = (self.next < self.end).then_some(self.next)?;
        self.next += 1;
        let width = if index < self.shape.full { Width::FULL } else { self.shape.partial? };
        Some(EntriesId { index, width })
    }
}

/// A request under way that is given up with whoever waits for it.
#[derive(Debug)]
struct Task(JoinHandle<Result<Bundle, FollowError>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
