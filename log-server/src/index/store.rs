//! What an engine has to offer to carry the index: ordered bytes, atomic batches, honest errors.

use core::ops::ControlFlow;

use super::key::FORMAT;
use super::{Damage, Fingerprint, IndexError, Row, Table};

/// A visitor of rows; [`ControlFlow::Break`] ends the walk.
pub(super) type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// Says which rows count.
pub(super) type Wanted<'a> = dyn Fn(&Row) -> bool + Sync + 'a;

/// An ordered key-value engine under [`super::KeyedIndex`].
///
/// Contract, held by [`super::conformance`]:
///
/// * [`Store::commit`] makes all rows and the state visible and, after a crash, either keeps all of them or
///   none. If it keeps a batch it keeps all batches before it.
/// * A commit returns before the data is durable; [`Store::sync`] makes it so.
/// * Once `commit` has returned, every later read sees its rows. While it runs, reads may see some of them.
/// * Absent means looked up and not there. Everything else is an error.
/// * One thread commits; any number read meanwhile.
pub(super) trait Store: Send + Sync {
    /// The state of the last commit; `None` in a new store.
    fn state(&self) -> Result<Option<State>, IndexError>;

    /// Adds rows, sorted by table and key, and replaces the state.
    fn commit(&self, rows: &[Row], state: State) -> Result<(), IndexError>;

    /// The index in the value of a row of [`Table::Leaf`].
    fn leaf(&self, key: &[u8; 65]) -> Result<Option<[u8; 8]>, IndexError>;

    /// Whether exactly this row is there.
    fn holds(&self, row: &Row) -> Result<bool, IndexError>;

    /// Visits the rows of a table with `from <= key <= to` in the order of keys. The visitor doesn't come back to
    /// the store: it may be called under a lock.
    fn walk(
        &self,
        table: Table,
        from: &[u8],
        to: &[u8],
        visit: &mut Visit<'_>,
    ) -> Result<(), IndexError>;

    /// Makes every commit so far durable.
    fn sync(&self) -> Result<(), IndexError>;

    /// See [`super::Index::unwritten_bytes`].
    fn unwritten_bytes(&self) -> u64 {
        0
    }

    /// Compares files with checksums, as far as the engine has some that reading all rows doesn't compare.
    fn check_files(&self) -> Result<(), IndexError> {
        Ok(())
    }

    /// See [`super::Index::quick_sum`].
    fn quick_sum(&self, _wanted: &Wanted<'_>) -> Result<Option<Fingerprint>, IndexError> {
        Ok(None)
    }

    /// The number of rows by the engine's own count, where it knows it without reading them.
    fn count(&self) -> Result<Option<u64>, IndexError>;
}

/// The record that is replaced with every batch.
///
/// Stored as format (1), entries (8), rows (8); numbers big-endian.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct State {
    /// Entries of the log that are in the index: the next one to be appended.
    pub(super) entries: u64,
    /// Rows written for them.
    pub(super) rows: u64,
}

impl State {
    pub(super) fn to_bytes(self) -> [u8; 17] {
        let mut bytes = [0; 17];
        let (format, rest) = bytes.split_at_mut(1);
        format.copy_from_slice(&[FORMAT]);
        let (entries, rows) = rest.split_at_mut(8);
        entries.copy_from_slice(&self.entries.to_be_bytes());
        rows.copy_from_slice(&self.rows.to_be_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, IndexError> {
        let damaged = IndexError::Damaged(Damage::State);
        let Some((&format, rest)) = bytes.split_first() else {
            return Err(damaged);
        };
        if format != FORMAT {
            return Err(IndexError::Format { found: format, expected: FORMAT });
        }
        let Some((entries, rows)) = rest.split_first_chunk() else {
            return Err(damaged);
        };
        let Ok(rows) = rows.try_into() else {
            return Err(damaged);
        };
        Ok(Self { entries: u64::from_be_bytes(*entries), rows: u64::from_be_bytes(rows) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_survives_its_bytes_and_nothing_else_reads() {
        let state = State { entries: 1 << 40, rows: u64::MAX };
        let bytes = state.to_bytes();
        assert_eq!(State::read(&bytes).unwrap(), state);
        for length in 0..bytes.len() {
            assert!(State::read(&bytes[..length]).is_err(), "{length}");
        }
        let mut long = bytes.to_vec();
        long.push(0);
        assert!(matches!(State::read(&long), Err(IndexError::Damaged(Damage::State))));
        let mut other = bytes;
        other[0] = FORMAT + 1;
        assert!(matches!(
            State::read(&other),
            Err(IndexError::Format { found, expected: FORMAT }) if found == FORMAT + 1
        ));
    }
}
