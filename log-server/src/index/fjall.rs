//! The index on fjall, a log-structured merge tree: the default engine.
//!
//! Layout: keyspace `leaf` holds [`Table::Leaf`] alone, with Bloom filters, because every submission looks
//! up a leaf that isn't there; `list` holds the other tables behind their tag, without filters, because
//! they are only walked; `meta` holds the state. One journal spans the three, so a batch is in all of them
//! or in none.
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
//!   wait for it for ever. [`FjallStore::make_room`] keeps every commit away from that point, and waits with
//!   a limit and an eye on the engine's health.

mod checksums;

use core::time::Duration;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use fjall::compaction::Leveled;
use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use fjall::{AbstractTree as _, Database, Keyspace, KeyspaceCreateOptions, LsmError, PersistMode};

use super::store::{State, Store, Visit};
use super::{Damage, IndexError, Options, Row, STALL_LIMIT, Table};

/// Rows in fjall keyspaces.
pub(super) struct FjallStore {
    database: Database,
    leaf: Keyspace,
    list: Keyspace,
    meta: Keyspace,
    /// Bytes at which a memtable is sealed.
    memtable: u64,
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
        Ok(Self { database, leaf, list, meta, memtable: budget.memtable })
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

    fn walk_keyspace(
        keyspace: &Keyspace,
        prefix: usize,
        from: &[u8],
        to: &[u8],
        visit: &mut Visit<'_>,
    ) -> Result<(), IndexError> {
        for item in keyspace.range(from..=to) {
            let (key, value) = item.into_inner()?;
            if visit(key.get(prefix..).unwrap_or_default(), &value).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Store for FjallStore {
    fn state(&self) -> Result<Option<State>, IndexError> {
        self.meta.get(STATE_KEY)?.map(|bytes| State::read(&bytes)).transpose()
    }

    fn commit(&self, rows: &[Row], state: State) -> Result<(), IndexError> {
        self.make_room()?;
        let mut batch =
            fjall::OwnedWriteBatch::with_capacity(self.database.clone(), rows.len() + 1)
                .durability(Some(PersistMode::Buffer));
        for row in rows {
            match row.table() {
                Table::Leaf => batch.insert(&self.leaf, row.key(), row.value()),
                table => batch.insert(&self.list, tagged(table, row.key()), row.value()),
            }
        }
        batch.insert(&self.meta, STATE_KEY, state.to_bytes());
        Ok(batch.commit()?)
    }

    fn leaf(&self, key: &[u8; 65]) -> Result<Option<[u8; 8]>, IndexError> {
        let Some(value) = self.leaf.get(key)? else {
            return Ok(None);
        };
        let index = value.as_ref().try_into();
        Ok(Some(index.map_err(|_| IndexError::Damaged(Damage::Row(Table::Leaf)))?))
    }

    fn holds(&self, row: &Row) -> Result<bool, IndexError> {
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
        match table {
            Table::Leaf => Self::walk_keyspace(&self.leaf, 0, from, to, visit),
            _ => {
                Self::walk_keyspace(&self.list, 1, &tagged(table, from), &tagged(table, to), visit)
            }
        }
    }

    fn check_files(&self) -> Result<(), IndexError> {
        self.keyspaces()
            .into_iter()
            .try_for_each(|keyspace| checksums::check_tables(&keyspace.tree))
    }

    fn sync(&self) -> Result<(), IndexError> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    /// Exact, as no row is ever written twice or removed.
    fn count(&self) -> Result<Option<u64>, IndexError> {
        let rows = self.leaf.approximate_len().saturating_add(self.list.approximate_len());
        Ok(u64::try_from(rows).ok())
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
/// At the worst two keyspaces have an active and two sealed memtables each, which is three quarters; the
/// cache has the last. Pinned filters and table indexes, and what a compaction holds, come on top.
struct Budget {
    memtable: u64,
    cache: u64,
}

impl Budget {
    fn new(memory: u64) -> Self {
        Self { memtable: (memory / 8).clamp(1 << 20, MAX_MEMTABLE), cache: memory / 4 }
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

fn tagged(table: Table, key: &[u8]) -> Vec<u8> {
    let mut tagged = Vec::with_capacity(key.len().saturating_add(1));
    tagged.push(table.tag());
    tagged.extend_from_slice(key);
    tagged
}

const STATE_KEY: &[u8] = b"state";

/// The least the engine allows: journals beyond it make the laggards flush. It bounds both the disk the
/// journals take and what a reopening has to read again.
const JOURNAL_BYTES: u64 = 64 << 20;

/// The most a memtable may grow to, whatever the budget.
const MAX_MEMTABLE: u64 = 64 << 20;

/// Table files kept open.
const OPEN_FILES: usize = 256;

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
