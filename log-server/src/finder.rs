//! Finds entries that are committed, whether the index has them yet or not.
//!
//! The index is fed behind the log. What it does not have yet is held here, so that a look-up right after a
//! receipt finds the entry, and so that the sequencer never takes an entry for new that is on its way into
//! the index. A look-up reads what is held here first and the index second: an entry leaves here only
//! after the index has it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{StatementKind, Trail};

use crate::index::{
    Claim, DigestCursor, Index, IndexError, IndexedEntry, MAX_BATCH, Page, Posting, Remedy,
    contained,
};
use crate::leaf_map::LeafMap;

/// Why a look-up could not be made. Never to be taken for "not found".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// The index is behind the log and being fed; it takes time, not an operator.
    #[error("the index is catching up with the log")]
    CatchingUp,
    /// The index could not be used and is being opened again.
    #[error("the index is not available")]
    Unavailable {
        /// Whether for want of disk space.
        out_of_space: bool,
    },
    /// The index failed to answer.
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl FindError {
    /// Whether the disk is full.
    #[must_use]
    pub fn is_out_of_space(&self) -> bool {
        match self {
            Self::CatchingUp => false,
            Self::Unavailable { out_of_space } => *out_of_space,
            Self::Index(error) => error.is_no_space(),
        }
    }
}

/// The index, and what it does not have yet.
pub struct Finder {
    waiting: RwLock<Waiting>,
    state: RwLock<State>,
    /// Set when something waits, or the feeder has to stop or to look after the index.
    wake: (Mutex<Wake>, Condvar),
}

/// Committed entries that the index does not have yet.
#[derive(Default)]
struct Waiting {
    batches: VecDeque<Arc<Vec<IndexedEntry>>>,
    by_leaf: LeafMap<u64>,
    entries: usize,
}

enum State {
    /// The index has everything that does not wait here.
    Ready(Arc<dyn Index>),
    /// The same, but there was no room to feed it: it answers until it is opened again.
    Starved(Arc<dyn Index>),
    /// The index lacks entries that do not wait here.
    CatchingUp,
    /// There is no index.
    Unavailable { out_of_space: bool },
}

#[derive(Clone, Copy, Default, Eq, PartialEq)]
struct Wake {
    work: bool,
    stop: bool,
    /// A look-up met damage that only a rebuild mends.
    damaged: bool,
}

impl Finder {
    /// A finder whose index lacks everything so far.
    #[must_use]
    pub fn new() -> Self {
        Self {
            waiting: RwLock::default(),
            state: RwLock::new(State::CatchingUp),
            wake: (Mutex::default(), Condvar::new()),
        }
    }

    /// The index of the entry with this leaf, if the log has it.
    pub fn find_leaf(
        &self,
        kind: StatementKind,
        digest: &Digest,
        leaf_hash: &Digest,
    ) -> Result<Option<u64>, FindError> {
        if let Some(index) = self.waiting().by_leaf.get(leaf_hash) {
            return Ok(Some(*index));
        }
        self.read(|index| index.find_leaf(kind, digest, leaf_hash))
    }

    /// Entries that commit to `digest`: see [`Index::by_digest`]. Those that are not indexed yet come with
    /// the first page.
    pub fn by_digest(
        &self,
        digest: &Digest,
        kind: Option<StatementKind>,
        after: Option<&DigestCursor>,
        limit: usize,
    ) -> Result<Page<Posting, DigestCursor>, FindError> {
        let wanted = |entry: &&IndexedEntry| {
            entry.digest == *digest && kind.is_none_or(|kind| kind == entry.kind)
        };
        let waiting =
            if after.is_none() { self.collect(wanted, posting, limit) } else { Vec::new() };
        let mut page = self.read(|index| index.by_digest(digest, kind, after, limit))?;
        page.items.extend(waiting);
        page.items.sort_unstable();
        page.items.dedup();
        Ok(page)
    }

    /// Entries of a trail: see [`Index::by_trail`].
    pub fn by_trail(
        &self,
        trail: &Trail,
        from: u64,
        limit: usize,
    ) -> Result<Page<Posting, u64>, FindError> {
        let wanted =
            |entry: &&IndexedEntry| entry.index >= from && entry.trail.as_ref() == Some(trail);
        let waiting = self.collect(wanted, posting, limit + 1);
        let page = self.read(|index| index.by_trail(trail, from, limit))?;
        Ok(merge(page, waiting, limit, |posting| posting.index))
    }

    /// Entries that claim a place in a trail: see [`Index::by_trail_sequence`].
    pub fn by_trail_sequence(
        &self,
        trail: &Trail,
        sequence: u64,
        from: u64,
        limit: usize,
    ) -> Result<Page<Claim, u64>, FindError> {
        let wanted = |entry: &&IndexedEntry| {
            entry.index >= from
                && entry.sequence == Some(sequence)
                && entry.trail.as_ref() == Some(trail)
        };
        let claim = |entry: &IndexedEntry| Claim { index: entry.index, digest: entry.digest };
        let waiting = self.collect(wanted, claim, limit + 1);
        let page = self.read(|index| index.by_trail_sequence(trail, sequence, from, limit))?;
        Ok(merge(page, waiting, limit, |claim| claim.index))
    }

    /// Entries signed by a submitter: see [`Index::by_submitter`].
    pub fn by_submitter(
        &self,
        signer: &SignerId,
        from: u64,
        limit: usize,
    ) -> Result<Page<Posting, u64>, FindError> {
        let wanted =
            |entry: &&IndexedEntry| entry.index >= from && entry.signer.as_ref() == Some(signer);
        let waiting = self.collect(wanted, posting, limit + 1);
        let page = self.read(|index| index.by_submitter(signer, from, limit))?;
        Ok(merge(page, waiting, limit, |posting| posting.index))
    }

    /// Whether look-ups can be made.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.index().is_ok()
    }

    /// Whether the index can take what is new, and why not.
    pub(crate) fn check_feeding(&self) -> Result<(), FindError> {
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Ready(_) => Ok(()),
            State::Starved(_) => Err(FindError::Unavailable { out_of_space: true }),
            State::CatchingUp => Err(FindError::CatchingUp),
            State::Unavailable { out_of_space } => {
                Err(FindError::Unavailable { out_of_space: *out_of_space })
            }
        }
    }

    /// Entries that wait for the index.
    #[must_use]
    pub fn lag(&self) -> usize {
        self.waiting().entries
    }

    /// Holds a committed batch until the index has it, and publishes it in the same instant: whoever finds an
    /// entry can read it, and whoever sees it published finds it.
    pub fn hold(&self, batch: Arc<Vec<IndexedEntry>>, publish: impl FnOnce()) {
        {
            let mut waiting = write(&self.waiting);
            waiting.entries += batch.len();
            waiting.by_leaf.extend(batch.iter().map(|entry| (entry.leaf_hash, entry.index)));
            waiting.batches.push_back(batch);
            publish();
        }
        self.wake(|wake| wake.work = true);
    }

    /// Lets the feeder end once nothing waits any more.
    pub fn stop(&self) {
        self.wake(|wake| wake.stop = true);
    }

    /// Says that the index has everything that does not wait here.
    pub(crate) fn ready(&self, index: Arc<dyn Index>) {
        // What a look-up met before was met in another one.
        self.take_damage();
        *write(&self.state) = State::Ready(index);
    }

    /// Says that the index lacks entries that do not wait here.
    pub(crate) fn catching_up(&self) {
        *write(&self.state) = State::CatchingUp;
    }

    /// Says that the index could not be fed for want of room. What is new has to wait: when there is room
    /// again the index is opened anew, and until then nobody could look anything up.
    pub(crate) fn starved(&self) {
        let mut state = write(&self.state);
        if let State::Ready(index) = &*state {
            *state = State::Starved(Arc::clone(index));
        }
    }

    /// Says that there is no index.
    pub(crate) fn unavailable(&self, out_of_space: bool) {
        *write(&self.state) = State::Unavailable { out_of_space };
    }

    /// The oldest entries that wait, as many as one append to the index takes, and the number of batches
    /// they are.
    pub(crate) fn oldest(&self) -> (usize, Vec<IndexedEntry>) {
        let waiting = self.waiting();
        let mut entries = Vec::new();
        let mut batches = 0;
        for batch in &waiting.batches {
            if !entries.is_empty() && entries.len() + batch.len() > MAX_BATCH {
                break;
            }
            entries.extend(batch.iter().cloned());
            batches += 1;
        }
        (batches, entries)
    }

    /// Forgets the oldest `batches`: the index has them.
    pub(crate) fn release(&self, batches: usize) {
        let mut guard = write(&self.waiting);
        let waiting = &mut *guard;
        for batch in waiting.batches.drain(..batches) {
            waiting.entries -= batch.len();
            for entry in batch.iter() {
                waiting.by_leaf.remove(&entry.leaf_hash);
            }
        }
    }

    /// Sleeps until something waits, the time is up, or the feeder has to stop. True: stop.
    pub(crate) fn sleep(&self, timeout: Duration) -> bool {
        let (mutex, condition) = &self.wake;
        let guard = lock(mutex);
        let waited = condition
            .wait_timeout_while(guard, timeout, |wake| !wake.work && !wake.stop && !wake.damaged);
        let (mut guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        guard.work = false;
        guard.stop
    }

    /// Lets more come for a while, or until the feeder has to stop. True: stop.
    pub(crate) fn gather(&self, time: Duration) -> bool {
        let (mutex, condition) = &self.wake;
        let waited = condition.wait_timeout_while(lock(mutex), time, |wake| !wake.stop);
        let (mut guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        guard.work = false;
        guard.stop
    }

    /// Whether a look-up has met damage since the index was opened, or since this was asked.
    pub(crate) fn take_damage(&self) -> bool {
        std::mem::take(&mut lock(&self.wake.0).damaged)
    }

    /// Reads from the index. Damage is told to the feeder, who makes the index anew.
    fn read<T>(
        &self,
        read: impl FnOnce(&dyn Index) -> Result<T, IndexError>,
    ) -> Result<T, FindError> {
        let index = self.index()?;
        contained(|| read(&*index)).map_err(|error| {
            if error.remedy() == Remedy::Rebuild {
                self.wake(|wake| wake.damaged = true);
            }
            error.into()
        })
    }

    fn index(&self) -> Result<Arc<dyn Index>, FindError> {
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Ready(index) | State::Starved(index) => Ok(Arc::clone(index)),
            State::CatchingUp => Err(FindError::CatchingUp),
            State::Unavailable { out_of_space } => {
                Err(FindError::Unavailable { out_of_space: *out_of_space })
            }
        }
    }

    fn waiting(&self) -> RwLockReadGuard<'_, Waiting> {
        self.waiting.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first `limit` waiting entries that are wanted, in the order of the log.
    fn collect<T>(
        &self,
        wanted: impl Fn(&&IndexedEntry) -> bool,
        take: impl Fn(&IndexedEntry) -> T,
        limit: usize,
    ) -> Vec<T> {
        let waiting = self.waiting();
        let entries = waiting.batches.iter().flat_map(|batch| batch.iter());
        entries.filter(wanted).take(limit).map(take).collect()
    }

    fn wake(&self, change: impl FnOnce(&mut Wake)) {
        let (mutex, condition) = &self.wake;
        let mut wake = lock(mutex);
        let before = *wake;
        change(&mut wake);
        // Whoever was told of work and has not come for it yet needs not be told again.
        if *wake != before {
            condition.notify_one();
        }
    }
}

impl Default for Finder {
    fn default() -> Self {
        Self::new()
    }
}

fn posting(entry: &IndexedEntry) -> Posting {
    Posting { index: entry.index, kind: entry.kind }
}

/// Puts what waits behind a page of the index, without what came into the index in between.
fn merge<T>(
    mut page: Page<T, u64>,
    waiting: Vec<T>,
    limit: usize,
    index: impl Fn(&T) -> u64,
) -> Page<T, u64> {
    if page.next.is_some() {
        // The index alone fills the page; whatever waits is behind it.
        return page;
    }
    let newest = page.items.last().map(&index);
    let behind = |item: &T| newest.is_none_or(|newest| index(item) > newest);
    page.items.extend(waiting.into_iter().filter(behind));
    page.next = page.items.get(limit).map(&index);
    page.items.truncate(limit);
    page
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    // What these locks guard is whole after every statement under them.
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Damage, MemoryIndex};

    #[test]
    fn an_engine_that_panics_is_a_damaged_one() {
        let finder = Finder::new();
        finder.ready(Arc::new(MemoryIndex::new()));
        let found: Result<(), _> = finder.read(|_| panic!("an engine"));
        assert!(matches!(found, Err(FindError::Index(IndexError::Damaged(Damage::Engine)))));
        assert!(finder.take_damage());
    }
}
