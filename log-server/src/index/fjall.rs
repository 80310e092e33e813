//! The index on fjall, a log-structured merge tree: the default engine.
//!
//! Layout: keyspace `leaf` holds [`Table::Leaf`] alone, with Bloom filters, because every submission looks
//! up a leaf that isn't there; `list` holds the other tables behind their tag, without filters, because
//! they are only walked; `meta` holds the state.
//!
//! A commit puts its rows into memory, see [`recent`]. From there they go on one of two ways:
//!
//! * Many of them become tables at once. The state is one of the rows of `list`, behind the tag 0 and its number of
//!   entries, so with the tables of `list` everything is there. If a crash leaves only those of `leaf`, which come
//!   first, leaves are there that the state doesn't count. They are passed over until their entries are fed again,
//!   and then not written again: no row is ever written twice.
//! * Few of them go through the engine's journal when the store is synced. It spans the three keyspaces, so a batch
//!   is in all of them or in none.
//!
//! The newest of the states that are found is the state.
//!
//! Four things are done differently from the engine's defaults, each for a reason that was measured or read
//! in its source:
//!
//! * One background thread instead of one per core. With two or more, the first refuses every compaction and
//!   puts it back into the queue, which keeps it spinning for as long as another thread compacts.
//! * The first level is about as large as what is merged into it at a time. Our keys are hashes, so every such
//!   merge rewrites the whole of it; the engine's default rewrites five times as much as it adds.
//! * Full memtables are sealed here, not by the background thread: while that compacts, nothing would be
//!   sealed and the memtable would grow with the load.
//! * The background thread ends for good at its first error, and the engine's own back-pressure would then
//!   wait for it for ever. [`FjallStore::make_room`] keeps every write away from that point, and waits with
//!   a limit and an eye on the engine's health.

mod checksums;
mod recent;
mod tables;

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use fjall::compaction::Leveled;
use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use fjall::{AbstractTree as _, Database, Keyspace, KeyspaceCreateOptions, LsmError, PersistMode};

use self::recent::{Recent, between};
use super::store::{State, Store, Visit, Wanted};
use super::{Damage, Fingerprint, IndexError, MAX_BATCH, Options, Row, STALL_LIMIT, Table};

/// Rows in fjall keyspaces.
pub(super) struct FjallStore {
    database: Database,
    leaf: Keyspace,
    list: Keyspace,
    meta: Keyspace,
    /// Rows the engine does not have yet.
    recent: Recent,
    /// The state of the last commit.
    state: Mutex<Option<State>>,
    /// Its entries, for readers.
    entries: AtomicU64,
    /// Entries whose row of [`Table::Leaf`] the engine has. More than there are by the state only after a crash
    /// between two tables: these rows are there for nobody until their entries come again.
    leaves: AtomicU64,
    /// Bytes at which a memtable is sealed.
    memtable: u64,
    /// Recent rows that are worth tables of their own.
    bulk: usize,
}

impl FjallStore {
    /// Opens or creates the engine's files in the directory of `options`.
    pub(super) fn open(options: &Options) -> Result<Self, IndexError> {
        checksums::check_before_opening(&options.directory)?;
        let budget = Budget::new(options.memory);
        let database = Database::builder(&options.directory)
            .cache_size(budget.cache)
            .max_journaling_size(JOURNAL_BYTES)
            .max_cached_files(Some(OPEN_FILES))
            .worker_threads(WORKERS)
            .open()?;
        let leaf = database.keyspace("leaf", || {
            keyspace_options().filter_policy(FilterPolicy::new([
                FilterPolicyEntry::Bloom(BloomConstructionPolicy::FalsePositiveRate(0.000_1)),
                FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(10.0)),
            ]))
        })?;
        let list = database
            .keyspace("list", || keyspace_options().filter_policy(FilterPolicy::disabled()))?;
        let meta = database.keyspace("meta", keyspace_options)?;
        let store = Self {
            state: Mutex::new(stored_state(&list, &meta)?),
            recent: Recent::default(),
            entries: AtomicU64::default(),
            leaves: AtomicU64::new(count(leaf.approximate_len())),
            memtable: budget.memtable,
            bulk: budget.bulk,
            database,
            leaf,
            list,
            meta,
        };
        store.entries.store(store.newest().unwrap_or_default().entries, Ordering::Release);
        Ok(store)
    }

    fn newest(&self) -> Option<State> {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the recent rows into new tables, past journal and memtable.
    ///
    /// The tables of a keyspace come into it all at once, those with leaves first. The state is among the rows of
    /// the others: with it everything is there, and without it the leaves are too many and wait.
    fn ingest(&self, state: State) -> Result<(), IndexError> {
        self.make_room()?;
        self.ingest_leaves(state)?;
        self.ingest_lists(state)?;
        self.recent.clear();
        Ok(())
    }

    fn ingest_leaves(&self, state: State) -> Result<(), IndexError> {
        let recent = self.recent.read();
        let known = self.leaves.load(Ordering::Acquire);
        let there = self.leaves_there(&recent, known)?;
        let is_leaf = |row: &&Row| row.table() == Table::Leaf;
        let mut rows = recent.iter().take_while(is_leaf).peekable();
        let mut tables = self.leaf.start_ingestion()?;
        while let Some(row) = rows.next() {
            // As in a memtable, the later one of two rows with one key stays.
            let hidden = rows.peek().is_some_and(|next| next.key() == row.key());
            if !there.contains(&row.index()) && !hidden {
                tables.write(row.key(), row.value())?;
            }
        }
        tables.finish()?;
        self.leaves.store(known.max(state.entries), Ordering::Release);
        Ok(())
    }

    fn ingest_lists(&self, state: State) -> Result<(), IndexError> {
        let recent = self.recent.read();
        let mut tables = self.list.start_ingestion()?;
        tables.write(run_key(state), state.to_bytes())?;
        for row in recent.iter().filter(|row| row.table() != Table::Leaf) {
            tables.write(tagged(row.table(), row.key()), row.value())?;
        }
        Ok(tables.finish()?)
    }

    /// Hands the recent rows to the engine's journal and memtables.
    fn write(&self, state: State) -> Result<(), IndexError> {
        self.make_room()?;
        let recent = self.recent.read();
        let known = self.leaves.load(Ordering::Acquire);
        let there = self.leaves_there(&recent, known)?;
        let mut batch =
            fjall::OwnedWriteBatch::with_capacity(self.database.clone(), recent.len() + 1)
                .durability(Some(PersistMode::Buffer));
        for row in recent.iter() {
            match row.table() {
                Table::Leaf if there.contains(&row.index()) => {}
                Table::Leaf => batch.insert(&self.leaf, row.key(), row.value()),
                table => batch.insert(&self.list, tagged(table, row.key()), row.value()),
            }
        }
        batch.insert(&self.meta, STATE_KEY, state.to_bytes());
        batch.commit()?;
        self.leaves.store(known.max(state.entries), Ordering::Release);
        drop(recent);
        self.recent.clear();
        Ok(())
    }

    /// The entries among `recent` whose leaves the engine has already, see [`Self::leaves`]. The engine's count of
    /// them only says where to look: a leaf that was counted and is not there has to be written.
    fn leaves_there(&self, recent: &BTreeSet<Row>, known: u64) -> Result<HashSet<u64>, IndexError> {
        let mut there = HashSet::new();
        for row in recent.iter().take_while(|row| row.table() == Table::Leaf) {
            if row.index() < known
                && self.leaf.get(row.key())?.is_some_and(|value| value.as_ref() == row.value())
            {
                there.insert(row.index());
            }
        }
        Ok(there)
    }

    /// Whether a row is there for nobody yet: see [`Self::leaves`].
    fn is_ahead(&self, row: &Row) -> bool {
        row.table() == Table::Leaf
            && row.index() >= self.entries.load(Ordering::Acquire)
            && row.index() < self.leaves.load(Ordering::Acquire)
    }

    /// Seals full memtables and waits until a commit can't meet the engine's own, unlimited, waiting.
    ///
    /// That begins at four sealed memtables or thirty runs in the top level. The commit may have another
    /// memtable sealed, so one may stand here.
    fn make_room(&self) -> Result<(), IndexError> {
        for keyspace in self.keyspaces() {
            if keyspace.tree.active_memtable().size() >= self.memtable {
                keyspace.rotate_memtable()?;
            }
        }
        let start = Instant::now();
        while self.is_behind() {
            if start.elapsed() > STALL_LIMIT {
                return Err(IndexError::Stalled { seconds: STALL_LIMIT.as_secs() });
            }
            thread::sleep(POLL);
            // Tells whether the background thread has failed; what it writes is at most what a commit
            // would have written.
            self.database.persist(PersistMode::Buffer)?;
        }
        Ok(())
    }

    fn is_behind(&self) -> bool {
        self.keyspaces().into_iter().any(|keyspace| {
            keyspace.sealed_memtable_count() > 1 || keyspace.l0_table_count() > MAX_TOP_TABLES
        })
    }

    const fn keyspaces(&self) -> [&Keyspace; 3] {
        [&self.leaf, &self.list, &self.meta]
    }
}

impl Store for FjallStore {
    fn state(&self) -> Result<Option<State>, IndexError> {
        Ok(self.newest())
    }

    fn commit(&self, rows: &[Row], state: State) -> Result<(), IndexError> {
        self.recent.extend(rows);
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
        self.entries.store(state.entries, Ordering::Release);
        if self.recent.len() >= self.bulk { self.ingest(state) } else { Ok(()) }
    }

    fn leaf(&self, key: &[u8; 65]) -> Result<Option<[u8; 8]>, IndexError> {
        if let Some(row) = between(&self.recent.read(), Table::Leaf, key, key).last() {
            return Ok(row.value().try_into().ok());
        }
        let Some(value) = self.leaf.get(key)? else {
            return Ok(None);
        };
        let index = value.as_ref().try_into();
        Ok(Some(index.map_err(|_| IndexError::Damaged(Damage::Row(Table::Leaf)))?))
    }

    fn holds(&self, row: &Row) -> Result<bool, IndexError> {
        if self.recent.read().contains(row) {
            return Ok(true);
        }
        let value = match row.table() {
            Table::Leaf => self.leaf.get(row.key())?,
            table => self.list.get(tagged(table, row.key()))?,
        };
        Ok(value.is_some_and(|value| value.as_ref() == row.value()))
    }

    fn walk(
        &self,
        table: Table,
        from: &[u8],
        to: &[u8],
        visit: &mut Visit<'_>,
    ) -> Result<(), IndexError> {
        // Held to the end: a row that moves into a table in between is met here or there.
        let recent = self.recent.read();
        let mut recent = between(&recent, table, from, to).peekable();
        let (range, prefix) = match table {
            Table::Leaf => (self.leaf.range(from..=to), 0),
            _ => (self.list.range(tagged(table, from)..=tagged(table, to)), 1),
        };
        for item in range {
            let (key, value) = item.into_inner()?;
            let key = key.get(prefix..).unwrap_or_default();
            while let Some(row) = recent.next_if(|row| row.key() < key) {
                if visit(row.key(), row.value()).is_break() {
                    return Ok(());
                }
            }
            let newer = recent.peek().is_some_and(|row| row.key() == key);
            let ahead = table == Table::Leaf
                && Row::read(table, key, &value).is_ok_and(|row| self.is_ahead(&row));
            if !newer && !ahead && visit(key, &value).is_break() {
                return Ok(());
            }
        }
        let _ = recent.try_for_each(|row| visit(row.key(), row.value()));
        Ok(())
    }

    fn check_files(&self) -> Result<(), IndexError> {
        self.keyspaces()
            .into_iter()
            .try_for_each(|keyspace| checksums::check_tables(&keyspace.tree))
    }

    fn quick_sum(&self, wanted: &Wanted<'_>) -> Result<Option<Fingerprint>, IndexError> {
        checksums::check_tables(&self.meta.tree)?;
        tables::sum(&self.leaf, &self.list, &self.recent.read(), &|row| {
            !self.is_ahead(row) && wanted(row)
        })
    }

    fn unwritten_bytes(&self) -> u64 {
        count(self.recent.len()).saturating_mul(RECENT_BYTES)
    }

    fn sync(&self) -> Result<(), IndexError> {
        if let Some(state) = self.newest() {
            match self.recent.len() {
                0 => {}
                some if some >= self.bulk / 8 => self.ingest(state)?,
                _ => self.write(state)?,
            }
        }
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    /// Exact when the store was just opened, as no row is ever written twice or removed.
    fn count(&self) -> Result<Option<u64>, IndexError> {
        let leaves = count(self.leaf.approximate_len());
        let ahead = leaves.saturating_sub(self.entries.load(Ordering::Acquire));
        // At most what one turn puts into tables, which ends with the batch that makes it enough.
        let ahead = if ahead <= count(self.bulk + MAX_BATCH) { ahead } else { 0 };
        let mut runs = 0;
        for item in self.list.prefix([RUN_TAG]) {
            item.key()?;
            runs += 1;
        }
        let lists = count(self.list.approximate_len()).saturating_sub(runs);
        Ok(Some(leaves.saturating_sub(ahead).saturating_add(lists)))
    }
}

impl From<fjall::Error> for IndexError {
    fn from(error: fjall::Error) -> Self {
        use fjall::Error;
        match error {
            Error::Io(error) | Error::Storage(LsmError::Io(error)) => Self::Io(error),
            Error::Locked => Self::Locked,
            Error::Poisoned => Self::Poisoned,
            Error::Decompress(_)
            | Error::InvalidTag(_)
            | Error::InvalidTrailer
            | Error::InvalidVersion(_)
            | Error::JournalRecovery(_)
            | Error::KeyspaceDeleted
            | Error::Storage(_)
            | Error::Unrecoverable => Self::Damaged(Damage::Engine),
            other => Self::Engine(Box::new(other)),
        }
    }
}

/// How the memory of [`Options::memory`] is divided.
///
/// A quarter each for the cache and for recent rows. At the worst two keyspaces have an active and two sealed
/// memtables each, which is three eighths. Pinned filters and table indexes, and what a compaction holds, come on
/// top.
struct Budget {
    memtable: u64,
    cache: u64,
    bulk: usize,
}

impl Budget {
    fn new(memory: u64) -> Self {
        Self {
            memtable: (memory / 16).clamp(1 << 20, MAX_MEMTABLE),
            cache: memory / 4,
            bulk: usize::try_from(memory / 4 / RECENT_BYTES).unwrap_or(usize::MAX),
        }
    }
}

fn keyspace_options() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        // A backstop, kept with the keyspace for ever; what counts is the budget of the day.
        .max_memtable_size(MAX_MEMTABLE)
        .data_block_size_policy(BlockSizePolicy::all(4_096))
        .compaction_strategy(Arc::new(
            Leveled::default()
                .with_l0_threshold(TOP_TABLES)
                .with_table_target_size(TABLE_BYTES)
                .with_level_ratio_policy(vec![LEVEL_RATIO]),
        ))
        // Hashes don't compress.
        .data_block_compression_policy(CompressionPolicy::disabled())
}

/// The newest state that came with its rows, through the journal or in tables.
fn stored_state(list: &Keyspace, meta: &Keyspace) -> Result<Option<State>, IndexError> {
    let journal = meta.get(STATE_KEY)?.map(|bytes| State::read(&bytes)).transpose()?;
    let tables = match list.prefix([RUN_TAG]).next_back() {
        Some(run) => Some(State::read(&run.value()?)?),
        None => None,
    };
    Ok([journal, tables].into_iter().flatten().max_by_key(|state| state.entries))
}

/// Where the state stands in the tables it came with: before all rows, and every one in a place of its own.
fn run_key(state: State) -> [u8; 9] {
    let mut key = [RUN_TAG; 9];
    let (_, entries) = key.split_at_mut(1);
    entries.copy_from_slice(&state.entries.to_be_bytes());
    key
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn tagged(table: Table, key: &[u8]) -> Vec<u8> {
    let mut tagged = Vec::with_capacity(key.len().saturating_add(1));
    tagged.push(table.tag());
    tagged.extend_from_slice(key);
    tagged
}

const STATE_KEY: &[u8] = b"state";

/// What stands in front of a state in `list`: the tag of no table.
const RUN_TAG: u8 = 0;

/// The least the engine allows: journals beyond it make the laggards flush. It bounds both the disk the
/// journals take and what a reopening has to read again.
const JOURNAL_BYTES: u64 = 64 << 20;

/// The most a memtable may grow to, whatever the budget.
const MAX_MEMTABLE: u64 = 64 << 20;

/// Table files kept open.
const OPEN_FILES: usize = 256;

/// Bytes that a recent row takes in memory, and at most in the files it goes into.
const RECENT_BYTES: u64 = 128;

/// See the head of this file.
const WORKERS: usize = 1;

/// Tables in the top level before they are merged into the first.
const TOP_TABLES: u8 = 8;

/// Tables in the top level at which a commit waits; the engine's own waiting begins at 20.
const MAX_TOP_TABLES: usize = 16;

/// With [`TOP_TABLES`] of them the first level is full: 256 MiB.
const TABLE_BYTES: u64 = 32 << 20;

/// How much larger each further level is.
const LEVEL_RATIO: f32 = 8.0;

/// How often a waiting commit looks again.
const POLL: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests;
