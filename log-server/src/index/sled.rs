//! The index on sled 0.34, behind the cargo feature `sled`.
//!
//! One tree holds everything: the tag of the table, then the key; the state is under the tag zero. A batch
//! is atomic in a tree, and only there.

use core::time::Duration;
use std::thread;
use std::time::Instant;

use sled::{Config, Db, Mode};

use super::store::{State, Store, Visit};
use super::{Damage, IndexError, Options, Row, Table};

/// Rows in sled's default tree.
pub(super) struct SledStore {
    database: Db,
}

impl SledStore {
    /// Opens or creates the engine's files in the directory of `options`.
    ///
    /// sled's threads give the lock up some time after the last handle was dropped, so a lock that is held
    /// is asked for again for a while.
    pub(super) fn open(options: &Options) -> Result<Self, IndexError> {
        let config = Config::new()
            .path(&options.directory)
            .cache_capacity(options.memory / 4)
            .mode(Mode::HighThroughput);
        let start = Instant::now();
        loop {
            match config.open().map_err(IndexError::from) {
                Err(IndexError::Locked) if start.elapsed() < LOCK_WAIT => thread::sleep(LOCK_POLL),
                opened => return Ok(Self { database: opened? }),
            }
        }
    }
}

impl Store for SledStore {
    fn state(&self) -> Result<Option<State>, IndexError> {
        self.database.get(STATE_KEY)?.map(|bytes| State::read(&bytes)).transpose()
    }

    fn commit(&self, rows: &[Row], state: State) -> Result<(), IndexError> {
        let mut batch = sled::Batch::default();
        for row in rows {
            batch.insert(tagged(row.table(), row.key()), row.value());
        }
        batch.insert(STATE_KEY, &state.to_bytes());
        Ok(self.database.apply_batch(batch)?)
    }

    fn leaf(&self, key: &[u8; 65]) -> Result<Option<[u8; 8]>, IndexError> {
        let Some(value) = self.database.get(tagged(Table::Leaf, key))? else {
            return Ok(None);
        };
        let index = value.as_ref().try_into();
        Ok(Some(index.map_err(|_| IndexError::Damaged(Damage::Row(Table::Leaf)))?))
    }

    fn holds(&self, row: &Row) -> Result<bool, IndexError> {
        let value = self.database.get(tagged(row.table(), row.key()))?;
        Ok(value.is_some_and(|value| value.as_ref() == row.value()))
    }

    fn walk(
        &self,
        table: Table,
        from: &[u8],
        to: &[u8],
        visit: &mut Visit<'_>,
    ) -> Result<(), IndexError> {
        for row in self.database.range(tagged(table, from)..=tagged(table, to)) {
            let (key, value) = row?;
            if visit(key.get(1..).unwrap_or_default(), &value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), IndexError> {
        self.database.flush()?;
        Ok(())
    }

    /// Not known without reading every row; `fsck` does that.
    fn count(&self) -> Result<Option<u64>, IndexError> {
        Ok(None)
    }
}

impl From<sled::Error> for IndexError {
    fn from(error: sled::Error) -> Self {
        match error {
            // sled passes a lock that is held on as an error without a number.
            sled::Error::Io(error)
                if error.kind() == std::io::ErrorKind::Other
                    && error.to_string().contains("could not acquire lock") =>
            {
                Self::Locked
            }
            sled::Error::Io(error) => Self::Io(error),
            sled::Error::Corruption { .. } => Self::Damaged(Damage::Engine),
            other => Self::Engine(Box::new(other)),
        }
    }
}

fn tagged(table: Table, key: &[u8]) -> Vec<u8> {
    let mut tagged = Vec::with_capacity(key.len().saturating_add(1));
    tagged.push(table.tag());
    tagged.extend_from_slice(key);
    tagged
}

const STATE_KEY: &[u8] = &[0];

const LOCK_WAIT: Duration = Duration::from_secs(2);

const LOCK_POLL: Duration = Duration::from_millis(20);
