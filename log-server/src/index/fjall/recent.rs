//! The newest rows, in memory, until they are worth a table of their own.
//!
//! Through the engine's journal and memtable a row costs several times what it costs to write it into a table.
//! The index needs neither to be safe, because the log feeds it again: so rows gather here, and go into tables in
//! one piece when there are many of them. When there are few by the time the index is made durable, the journal
//! takes them, which spares the disk small tables.

use core::ops::Bound;
use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::index::{Row, Table};

/// Rows in their order, for one writer and any number of readers.
#[derive(Debug, Default)]
pub(super) struct Recent(RwLock<BTreeSet<Row>>);

impl Recent {
    /// Takes rows in. Readers may see some of them before all.
    pub(super) fn extend(&self, rows: &[Row]) {
        // Not all at once, so that no reader waits for long.
        for part in rows.chunks(256) {
            self.write(|recent| recent.extend(part));
        }
    }

    /// Forgets all rows: the engine has them.
    pub(super) fn clear(&self) {
        // They are freed when nobody waits for it.
        drop(self.write(std::mem::take));
    }

    pub(super) fn len(&self) -> usize {
        self.read().len()
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, BTreeSet<Row>> {
        // A set is whole after every change.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, change: impl FnOnce(&mut BTreeSet<Row>) -> T) -> T {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The rows of a table with `from <= key <= to`, in order.
pub(super) fn between<'a>(
    rows: &'a BTreeSet<Row>,
    table: Table,
    from: &[u8],
    to: &'a [u8],
) -> impl Iterator<Item = &'a Row> {
    rows.range((Bound::Included(least(table, from)), Bound::Unbounded))
        .take_while(move |row| row.table() == table && row.key() <= to)
}

/// The least row of a table whose key is not below `from`.
fn least(table: Table, from: &[u8]) -> Row {
    // A key that is shorter is the beginning of those behind it, and zeros are the least of these.
    fn key<const N: usize>(from: &[u8]) -> [u8; N] {
        let mut key = [0; N];
        for (byte, from) in key.iter_mut().zip(from) {
            *byte = *from;
        }
        key
    }
    match table {
        Table::Leaf => Row::Leaf { key: key(from), value: [0; 8] },
        Table::Trail => Row::Trail { key: key(from), value: [0] },
        Table::Sequence => Row::Sequence { key: key(from), value: [0; 32] },
        Table::Signer => Row::Signer { key: key(from), value: [0] },
    }
}
