//! The index over any ordered key-value engine.

use core::ops::ControlFlow;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{StatementKind, Trail};

use super::key::{self, list_key, sequence_key, signer_name, trail_name};
use super::options::contained;
use super::store::{State, Store, Wanted};
use super::{
    Claim, Damage, DigestCursor, Fingerprint, Index, IndexError, IndexedEntry, MAX_PAGE, Page,
    Posting, Row, Table, check_batch,
};

/// [`Index`] over a [`Store`].
///
/// Readers take no lock. Rows carry their index and never change, so a reader loads the published size
/// first and then leaves out what lies at or above it: whatever the engine shows of a batch in progress,
/// the reader sees all of it or nothing.
pub(super) struct KeyedIndex<S> {
    pub(super) store: S,
    /// The writer's state; the lock is what makes it one writer.
    state: Mutex<State>,
    /// `state.entries` and `state.rows` for readers, set after the commit.
    entries: AtomicU64,
    rows: AtomicU64,
    /// Set by the first failed write and never cleared.
    poisoned: AtomicBool,
}

impl<S: Store> KeyedIndex<S> {
    /// Takes an opened store over, after a look at what it says about itself.
    ///
    /// # Errors
    ///
    /// [`IndexError::Damaged`] when the engine counts other rows than the last commit recorded,
    /// [`IndexError::Format`] for rows of another format.
    pub(super) fn new(store: S) -> Result<Self, IndexError> {
        let state = store.state()?.unwrap_or_default();
        if let Some(found) = store.count()?
            && found != state.rows
        {
            return Err(IndexError::Damaged(Damage::RowCount { recorded: state.rows, found }));
        }
        Ok(Self {
            store,
            entries: AtomicU64::new(state.entries),
            rows: AtomicU64::new(state.rows),
            state: Mutex::new(state),
            poisoned: AtomicBool::new(false),
        })
    }

    /// The writer's state, unless an earlier write failed.
    fn write_access(&self) -> Result<MutexGuard<'_, State>, IndexError> {
        // A writer that panicked is a failed write as well; the flag below covers what it left.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.poisoned.load(Ordering::Acquire) {
            return Err(IndexError::Poisoned);
        }
        Ok(state)
    }

    /// Runs a write of the engine; until it has returned well, nothing may be written after it.
    pub(super) fn write(
        &self,
        write: impl FnOnce(&S) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        self.poisoned.store(true, Ordering::Release);
        contained(|| write(&self.store))?;
        self.poisoned.store(false, Ordering::Release);
        Ok(())
    }

    /// The rows from key `from` to key `to` below the published size, `limit` of them, as `item` sees them.
    fn page<T>(
        &self,
        table: Table,
        from: &[u8],
        to: &[u8],
        limit: usize,
        item: impl Fn(&Row) -> Result<T, IndexError>,
    ) -> Result<(Vec<T>, Option<Row>), IndexError> {
        let size = self.indexed_size();
        let limit = limit.clamp(1, MAX_PAGE);
        let mut items = Vec::new();
        let mut last = None;
        let mut more = false;
        let mut failure = None;
        self.store.walk(table, from, to, &mut |key, value| {
            let step = Row::read(table, key, value).and_then(|row| {
                if row.index() >= size {
                    return Ok(ControlFlow::Continue(()));
                }
                if items.len() == limit {
                    more = true;
                    return Ok(ControlFlow::Break(()));
                }
                items.push(item(&row)?);
                last = Some(row);
                Ok(ControlFlow::Continue(()))
            });
            step.unwrap_or_else(|error| {
                failure = Some(error);
                ControlFlow::Break(())
            })
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        Ok((items, last.filter(|_| more)))
    }

    /// A page of rows that stand in the order of the log.
    fn list<T>(
        &self,
        table: Table,
        from: &[u8],
        to: &[u8],
        limit: usize,
        item: impl Fn(&Row) -> Result<T, IndexError>,
    ) -> Result<Page<T, u64>, IndexError> {
        let (items, last) = self.page(table, from, to, limit, item)?;
        Ok(Page { items, next: last.map(|row| row.index().saturating_add(1)) })
    }
}

impl<S: Store> Index for KeyedIndex<S> {
    fn indexed_size(&self) -> u64 {
        self.entries.load(Ordering::Acquire)
    }

    fn row_count(&self) -> u64 {
        self.rows.load(Ordering::Acquire)
    }

    fn append(&self, first: u64, entries: &[IndexedEntry]) -> Result<(), IndexError> {
        let mut state = self.write_access()?;
        check_batch(state.entries, first, entries)?;
        if entries.is_empty() {
            return Ok(());
        }
        let mut rows: Vec<Row> = Vec::with_capacity(entries.len().saturating_mul(4));
        rows.extend(entries.iter().flat_map(key::rows));
        // In order, neighbours meet the same pages and the same part of a memtable.
        rows.sort_unstable();
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let next = State {
            entries: state.entries.saturating_add(count(entries.len())),
            rows: state.rows.saturating_add(count(rows.len())),
        };
        self.write(|store| store.commit(&rows, next))?;
        *state = next;
        self.rows.store(next.rows, Ordering::Release);
        self.entries.store(next.entries, Ordering::Release);
        Ok(())
    }

    fn find_leaf(
        &self,
        kind: StatementKind,
        digest: &Digest,
        leaf_hash: &Digest,
    ) -> Result<Option<u64>, IndexError> {
        let size = self.indexed_size();
        let value = self.store.leaf(&key::leaf_key(digest, kind, leaf_hash))?;
        Ok(value.map(u64::from_be_bytes).filter(|&index| index < size))
    }

    fn by_digest(
        &self,
        digest: &Digest,
        kind: Option<StatementKind>,
        after: Option<&DigestCursor>,
        limit: usize,
    ) -> Result<Page<Posting, DigestCursor>, IndexError> {
        let (mut from, to) = key::leaf_range(digest, kind);
        if let Some(cursor) = after {
            // The key behind the cursor's. A cursor of another kind than the one that is asked for
            // starts before or behind the range, as its order says.
            let behind = key::leaf_key(digest, cursor.kind, &cursor.leaf_hash);
            from = from.max(key::successor(behind));
        }
        if from > to {
            return Ok(Page { items: Vec::new(), next: None });
        }
        let (items, last) = self.page(Table::Leaf, &from, &to, limit, posting)?;
        let next = match last {
            Some(row) => Some(key::digest_cursor(&row)?),
            None => None,
        };
        Ok(Page { items, next })
    }

    fn by_trail(
        &self,
        trail: &Trail,
        from: u64,
        limit: usize,
    ) -> Result<Page<Posting, u64>, IndexError> {
        let name = trail_name(trail);
        self.list(Table::Trail, &list_key(&name, from), &list_key(&name, u64::MAX), limit, posting)
    }

    fn by_trail_sequence(
        &self,
        trail: &Trail,
        sequence: u64,
        from: u64,
        limit: usize,
    ) -> Result<Page<Claim, u64>, IndexError> {
        let name = trail_name(trail);
        self.list(
            Table::Sequence,
            &sequence_key(&name, sequence, from),
            &sequence_key(&name, sequence, u64::MAX),
            limit,
            claim,
        )
    }

    fn by_submitter(
        &self,
        signer: &SignerId,
        from: u64,
        limit: usize,
    ) -> Result<Page<Posting, u64>, IndexError> {
        let name = signer_name(signer);
        self.list(Table::Signer, &list_key(&name, from), &list_key(&name, u64::MAX), limit, posting)
    }

    fn unwritten_bytes(&self) -> u64 {
        self.store.unwritten_bytes()
    }

    fn sync(&self) -> Result<(), IndexError> {
        let _writer = self.write_access()?;
        self.write(Store::sync)
    }

    fn check_files(&self) -> Result<(), IndexError> {
        self.store.check_files()
    }

    fn quick_sum(&self, wanted: &Wanted<'_>) -> Result<Option<Fingerprint>, IndexError> {
        self.store.quick_sum(wanted)
    }

    fn scan(&self, visit: &mut dyn FnMut(&Row) -> ControlFlow<()>) -> Result<(), IndexError> {
        // Longer than every key, so that it ends every table.
        let end = [0xff; 80];
        for table in Table::ALL {
            let mut outcome = Ok(ControlFlow::Continue(()));
            self.store.walk(table, &[], &end, &mut |key, value| {
                outcome = Row::read(table, key, value).map(|row| visit(&row));
                match outcome {
                    Ok(flow) => flow,
                    Err(_) => ControlFlow::Break(()),
                }
            })?;
            if outcome?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn missing(&self, entry: &IndexedEntry) -> Result<Vec<Row>, IndexError> {
        let mut missing = Vec::new();
        for row in key::rows(entry) {
            if !self.store.holds(&row)? {
                missing.push(row);
            }
        }
        Ok(missing)
    }
}

fn posting(row: &Row) -> Result<Posting, IndexError> {
    let kind = row.kind()?.ok_or(IndexError::Damaged(Damage::Row(row.table())))?;
    Ok(Posting { index: row.index(), kind })
}

fn claim(row: &Row) -> Result<Claim, IndexError> {
    match row {
        Row::Sequence { value, .. } => {
            Ok(Claim { index: row.index(), digest: Digest::from_bytes(*value) })
        }
        _ => Err(IndexError::Damaged(Damage::Row(row.table()))),
    }
}
