//! Submissions on their way to the sequencer: a bounded queue, and whoever waits for an answer.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::Extension;
use anchorlog_proto::statement::LogEntry;
use tokio::sync::oneshot;

use crate::snapshot::Snapshot;

/// Why a submission was not committed. Nothing of it is in the log, but for [`SubmitError::Failed`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// The disk is full. The log goes on reading, and writing once there is room.
    #[error("the disk is full")]
    DiskFull,
    /// The log failed and stopped. Whether the submission is in it shows after a restart: submit it again
    /// and see.
    #[error("the log stopped because of a failure")]
    Failed,
    /// Duplicates can't be told from new entries while the index is not there.
    #[error("the index is not ready")]
    IndexNotReady,
    /// The log is frozen: it has ended.
    #[error("the log is frozen")]
    Frozen,
    /// The log has as many entries as a tree can have.
    #[error("the log is full")]
    LogFull,
    /// Too much is waiting already.
    #[error("too many submissions are waiting")]
    Overloaded,
    /// The log was opened to be read.
    #[error("the log is open for reading alone")]
    ReadOnly,
    /// The log is being shut down.
    #[error("the log is shutting down")]
    ShuttingDown,
}

/// Limits of the queue and of what is taken from it at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PoolLimits {
    /// Entries that may wait.
    pub queue_entries: usize,
    /// Bytes of entries that may wait.
    pub queue_bytes: usize,
    /// Entries of one batch.
    pub batch_entries: usize,
    /// Bytes of entries of one batch.
    pub batch_bytes: usize,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self {
            queue_entries: 65_536,
            queue_bytes: 64 << 20,
            batch_entries: 8_192,
            batch_bytes: 2 << 20,
        }
    }
}

/// Where an entry is in the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    /// Its index.
    pub index: u64,
    /// Its leaf hash.
    pub leaf_hash: Digest,
    /// Whether it was there before this submission.
    pub duplicate: bool,
}

/// The answer to a submission: its places, in order, in a state of the log that has them all.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The state that covers every place.
    pub snapshot: Arc<Snapshot>,
    /// The batch that brought the log to that state, for the proofs of its own entries.
    pub extension: Option<Arc<Extension>>,
    /// What was submitted, as it was.
    pub entries: Vec<LogEntry>,
    /// One place per entry.
    pub places: Vec<Place>,
}

/// Entries that come in together or not at all.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) entries: Vec<LogEntry>,
    bytes: usize,
    answer: oneshot::Sender<Result<Committed, SubmitError>>,
}

impl Submission {
    /// Answers whoever waits. That they may have gone away is their business: the entries are committed.
    ///
    /// The entries go back to where they came from: whoever made them also frees them, not the sequencer.
    pub(crate) fn committed(
        self,
        snapshot: Arc<Snapshot>,
        extension: Option<Arc<Extension>>,
        places: Vec<Place>,
    ) {
        let Self { entries, answer, .. } = self;
        let _ = answer.send(Ok(Committed { snapshot, extension, entries, places }));
    }

    /// Tells whoever waits that nothing of it is committed, or that nobody knows.
    pub(crate) fn refuse(self, reason: SubmitError) {
        let _ = self.answer.send(Err(reason));
    }

    /// Bytes of the entries, lengths included.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The queue between the request handlers and the sequencer.
#[derive(Debug)]
pub(crate) struct Pool {
    limits: PoolLimits,
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Submission>,
    entries: usize,
    bytes: usize,
    /// Why nothing is taken any more.
    closed: Option<SubmitError>,
}

impl Pool {
    pub(crate) fn new(limits: PoolLimits) -> Self {
        Self { limits, state: Mutex::default(), filled: Condvar::new() }
    }

    /// Puts entries into the queue; the receiver gets the answer.
    pub(crate) fn submit(
        &self,
        entries: Vec<LogEntry>,
    ) -> Result<oneshot::Receiver<Result<Committed, SubmitError>>, SubmitError> {
        let bytes = entries.iter().map(|entry| entry.leaf_bytes().len() + 2).sum::<usize>();
        let (answer, receiver) = oneshot::channel();
        let mut state = lock(&self.state);
        if let Some(reason) = state.closed {
            return Err(reason);
        }
        if state.entries + entries.len() > self.limits.queue_entries
            || state.bytes + bytes > self.limits.queue_bytes
        {
            return Err(SubmitError::Overloaded);
        }
        state.entries += entries.len();
        state.bytes += bytes;
        state.queue.push_back(Submission { entries, bytes, answer });
        drop(state);
        self.filled.notify_one();
        Ok(receiver)
    }

    /// Waits for submissions and takes as many as make one batch. Nothing is taken once the pool is closed
    /// and empty.
    pub(crate) fn take(&self) -> Option<Vec<Submission>> {
        let mut state = lock(&self.state);
        while state.queue.is_empty() {
            if state.closed.is_some() {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let mut batch: Vec<Submission> = Vec::new();
        let (mut entries, mut bytes) = (0, 0);
        while let Some(next) = state.queue.front() {
            entries += next.entries.len();
            bytes += next.bytes;
            let fits = entries <= self.limits.batch_entries && bytes <= self.limits.batch_bytes;
            if !fits && !batch.is_empty() {
                break;
            }
            let Some(next) = state.queue.pop_front() else { break };
            state.entries -= next.entries.len();
            state.bytes -= next.bytes;
            batch.push(next);
        }
        Some(batch)
    }

    /// Takes no more submissions, and says why. What waits is still committed, unless the log failed.
    ///
    /// A log that has ended, or ends, does so whatever else happens to it, short of a failure.
    pub(crate) fn close(&self, reason: SubmitError) {
        let mut state = lock(&self.state);
        let stays = reason == SubmitError::ShuttingDown
            && matches!(state.closed, Some(SubmitError::Frozen | SubmitError::ReadOnly));
        if !stays {
            state.closed = Some(reason);
        }
        let abandoned = if reason == SubmitError::Failed {
            state.entries = 0;
            state.bytes = 0;
            std::mem::take(&mut state.queue)
        } else {
            VecDeque::new()
        };
        drop(state);
        for submission in abandoned {
            submission.refuse(reason);
        }
        self.filled.notify_all();
    }

    /// Why nothing is taken any more, if that is so.
    pub(crate) fn closed(&self) -> Option<SubmitError> {
        lock(&self.state).closed
    }

    /// Entries that wait.
    pub(crate) fn depth(&self) -> usize {
        lock(&self.state).entries
    }
}

/// How long a client is asked to wait after [`SubmitError::Overloaded`].
pub const RETRY_AFTER: Duration = Duration::from_secs(1);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the lock guards is whole after every statement under it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
