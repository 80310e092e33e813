//! The index on redb, a copy-on-write B-tree in one file.
//!
//! Commits between two durable ones cost no sync; a crash takes the store back to the last durable one. So
//! that it never has to go far back, and because pages freed meanwhile can't be used again, every
//! [`DURABLE_ROWS`] rows one commit is made durable.

use core::sync::atomic::{AtomicU64, Ordering};

use redb::{Database, Durability, ReadableDatabase, ReadableTableMetadata, TableDefinition};

use super::store::{State, Store, Visit};
use super::{Damage, IndexError, Options, Row, Table};

/// Rows in the tables of one redb file.
pub(super) struct RedbStore {
    database: Database,
    /// Rows committed since the last durable commit; the writer's alone.
    undurable: AtomicU64,
}

impl RedbStore {
    /// Opens or creates the file in the directory of `options`.
    pub(super) fn open(options: &Options) -> Result<Self, IndexError> {
        let cache = usize::try_from(options.memory / 2).unwrap_or(usize::MAX);
        let database = Database::builder()
            .set_cache_size(cache)
            .create(options.directory.join(FILE))
            .map_err(redb::Error::from)?;
        let store = Self { database, undurable: AtomicU64::new(0) };
        // Tables are made once, so that no reader meets their absence.
        store.transact(Durability::Immediate, |transaction| {
            transaction.open_table(META)?;
            for table in Table::ALL {
                transaction.open_table(definition(table))?;
            }
            Ok(())
        })?;
        Ok(store)
    }

    fn transact(
        &self,
        durability: Durability,
        work: impl FnOnce(&redb::WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), redb::Error> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(durability)?;
        work(&transaction)?;
        Ok(transaction.commit()?)
    }

    fn value<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, redb::Error> {
        let rows = self.database.begin_read()?.open_table(definition(table))?;
        Ok(rows.get(key)?.map(|value| read(value.value())))
    }
}

impl Store for RedbStore {
    fn state(&self) -> Result<Option<State>, IndexError> {
        let read = || -> Result<_, redb::Error> {
            let meta = self.database.begin_read()?.open_table(META)?;
            Ok(meta.get(STATE_KEY)?.map(|value| State::read(value.value())))
        };
        read()?.transpose()
    }

    fn commit(&self, rows: &[Row], state: State) -> Result<(), IndexError> {
        let count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        let undurable = self.undurable.load(Ordering::Relaxed).saturating_add(count);
        let durability =
            if undurable >= DURABLE_ROWS { Durability::Immediate } else { Durability::None };
        self.transact(durability, |transaction| {
            for part in rows.chunk_by(|a, b| a.table() == b.table()) {
                let Some(first) = part.first() else {
                    continue;
                };
                let mut table = transaction.open_table(definition(first.table()))?;
                for row in part {
                    table.insert(row.key(), row.value())?;
                }
            }
            transaction.open_table(META)?.insert(STATE_KEY, state.to_bytes().as_slice())?;
            Ok(())
        })?;
        self.undurable
            .store(if undurable >= DURABLE_ROWS { 0 } else { undurable }, Ordering::Relaxed);
        Ok(())
    }

    fn leaf(&self, key: &[u8; 65]) -> Result<Option<[u8; 8]>, IndexError> {
        let index = self.value(Table::Leaf, key, |value| value.try_into())?;
        index.transpose().map_err(|_| IndexError::Damaged(Damage::Row(Table::Leaf)))
    }

    fn holds(&self, row: &Row) -> Result<bool, IndexError> {
        let same = self.value(row.table(), row.key(), |value| value == row.value())?;
        Ok(same.unwrap_or(false))
    }

    fn walk(
        &self,
        table: Table,
        from: &[u8],
        to: &[u8],
        visit: &mut Visit<'_>,
    ) -> Result<(), IndexError> {
        let mut walk = || -> Result<(), redb::Error> {
            let rows = self.database.begin_read()?.open_table(definition(table))?;
            for row in rows.range(from..=to)? {
                let (key, value) = row?;
                if visit(key.value(), value.value()).is_break() {
                    break;
                }
            }
            Ok(())
        };
        Ok(walk()?)
    }

    fn sync(&self) -> Result<(), IndexError> {
        self.transact(Durability::Immediate, |_| Ok(()))?;
        self.undurable.store(0, Ordering::Relaxed);
        Ok(())
    }

    fn count(&self) -> Result<Option<u64>, IndexError> {
        let count = || -> Result<u64, redb::Error> {
            let transaction = self.database.begin_read()?;
            let mut rows = 0_u64;
            for table in Table::ALL {
                rows = rows.saturating_add(transaction.open_table(definition(table))?.len()?);
            }
            Ok(rows)
        };
        Ok(Some(count()?))
    }
}

impl From<redb::Error> for IndexError {
    fn from(error: redb::Error) -> Self {
        use redb::Error;
        match error {
            Error::Io(error) => Self::Io(error),
            Error::DatabaseAlreadyOpen => Self::Locked,
            Error::PreviousIo => Self::Poisoned,
            Error::Corrupted(_)
            | Error::TableDoesNotExist(_)
            | Error::TableTypeMismatch { .. }
            | Error::TypeDefinitionChanged { .. }
            | Error::UpgradeRequired(_) => Self::Damaged(Damage::Engine),
            other => Self::Engine(Box::new(other)),
        }
    }
}

type Bytes = &'static [u8];

const fn definition(table: Table) -> TableDefinition<'static, Bytes, Bytes> {
    TableDefinition::new(table.as_str())
}

const FILE: &str = "index.redb";

const META: TableDefinition<'static, Bytes, Bytes> = TableDefinition::new("meta");

const STATE_KEY: &[u8] = b"state";

const DURABLE_ROWS: u64 = 1 << 18;
