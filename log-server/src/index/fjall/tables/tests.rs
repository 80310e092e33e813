//! A sum over files is the sum of the walk, or there is none.
#![allow(clippy::disallowed_methods, reason = "the test damages files on purpose")]

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::index::conformance::{distinct_entry, hostile_entry};
use crate::index::fjall::{FjallStore, count};
use crate::index::key::rows;
use crate::index::store::{State, Store as _};
use crate::index::{IndexedEntry, MIN_MEMORY, Options};

/// Rows of hostile entries in several runs of tables, some of them merged already, and in the memtables.
fn store() -> (TempDir, FjallStore, Vec<Row>) {
    let directory = tempfile::tempdir().unwrap();
    let options = Options { directory: directory.path().to_path_buf(), memory: MIN_MEMORY };
    let store = FjallStore::open(&options).unwrap();
    let mut all = Vec::new();
    for batch in 0..15_u64 {
        let entries = batch * 400..(batch + 1) * 400;
        let mut new: Vec<Row> = entries.flat_map(|index| rows(&hostile_entry(index, 5))).collect();
        new.sort_unstable();
        all.extend(&new);
        let state = State { entries: (batch + 1) * 400, rows: count(all.len()) };
        store.commit(&new, state).unwrap();
        match batch {
            // Tables without a journal, tables that were memtables, a memtable, and rows that are in neither.
            0..7 => store.ingest(state).unwrap(),
            7..13 => {
                store.sync().unwrap();
                seal(&store);
            }
            13 => store.sync().unwrap(),
            _ => {}
        }
    }
    assert!(store.leaf.table_count() > 1 && store.list.table_count() > 1);
    assert!(!store.leaf.tree.active_memtable().is_empty() && store.recent.len() > 400);
    (directory, store, all)
}

/// Writes rows through the journal that are no business of a commit.
fn commit(store: &FjallStore, rows: &[Row]) {
    store.commit(rows, store.state().unwrap().unwrap()).unwrap();
    store.sync().unwrap();
}

fn seal(store: &FjallStore) {
    for keyspace in store.keyspaces() {
        keyspace.rotate_memtable_and_wait().unwrap();
    }
}

fn sum_of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Fingerprint {
    let mut sum = Fingerprint::default();
    rows.into_iter().for_each(|row| sum.add(row));
    sum
}

fn quick(store: &FjallStore) -> Option<Fingerprint> {
    store.quick_sum(&|_| true).unwrap()
}

/// Nothing is said, or what the walk says: sealing lets the engine drop rows that others hide.
fn assert_unclear(store: &FjallStore, sealed: bool) {
    let Some(found) = quick(store) else { return };
    assert!(sealed, "a sum, though not everything is a row of its own");
    let mut walked = Fingerprint::default();
    for table in Table::ALL {
        let visit = &mut |key: &[u8], value: &[u8]| {
            walked.add(&Row::read(table, key, value).unwrap());
            core::ops::ControlFlow::Continue(())
        };
        store.walk(table, &[], &[0xff; 80], visit).unwrap();
    }
    assert_eq!(found, walked);
}

/// A row of each of the engine's keyspaces.
fn leaf_and_listed(all: &[Row]) -> [Row; 2] {
    [Table::Leaf, Table::Sequence]
        .map(|table| *all.iter().find(|row| row.table() == table).unwrap())
}

#[test]
fn every_wanted_row_is_counted_once() {
    let (directory, store, all) = store();
    assert_eq!(quick(&store), Some(sum_of(&all)));
    let some = |row: &Row| !(100..900).contains(&row.index());
    let wanted = all.iter().filter(|row| some(row));
    assert_eq!(store.quick_sum(&some).unwrap(), Some(sum_of(wanted)));
    // What the journal brings back is in memtables again.
    store.sync().unwrap();
    drop(store);
    let options = Options { directory: directory.path().to_path_buf(), memory: MIN_MEMORY };
    let store = FjallStore::open(&options).unwrap();
    assert_eq!(quick(&store), Some(sum_of(&all)));
    seal(&store);
    assert_eq!(quick(&store), Some(sum_of(&all)));
}

/// Two entries with one leaf ask for two rows with one key. All sums of the rows are right then, and only one of
/// the rows is ever found.
#[test]
fn of_a_leaf_that_is_there_twice_nothing_is_said() {
    for sealed in [false, true] {
        let (_directory, store, all) = store();
        let [leaf, _] = leaf_and_listed(&all);
        let twice = Row::read(Table::Leaf, leaf.key(), &77_777_u64.to_be_bytes()).unwrap();
        commit(&store, &[twice]);
        if sealed {
            seal(&store);
        }
        assert_unclear(&store, sealed);
    }
    // In one memtable.
    let (_directory, store, _) = store();
    for index in [70_001_u64, 70_002] {
        let entry = IndexedEntry { index, ..distinct_entry(90_000) };
        let leaf = rows(&entry).find(|row| row.table() == Table::Leaf).unwrap();
        commit(&store, &[leaf]);
    }
    assert_unclear(&store, false);
    seal(&store);
    assert_unclear(&store, true);
}

#[test]
fn a_row_that_hides_another_is_no_part_of_a_right_sum() {
    for sealed in [false, true] {
        let (_directory, store, all) = store();
        let [_, listed] = leaf_and_listed(&all);
        commit(&store, &[Row::read(listed.table(), listed.key(), &[9; 32]).unwrap()]);
        if sealed {
            seal(&store);
        }
        assert_ne!(quick(&store), Some(sum_of(&all)), "{sealed}");
    }
}

#[test]
fn of_what_is_not_a_row_nothing_is_said() {
    for sealed in [false, true] {
        let strange: [fn(&FjallStore, &[Row]); 4] = [
            |store, all| store.leaf.remove(leaf_and_listed(all)[0].key()).unwrap(),
            |store, all| {
                let [_, listed] = leaf_and_listed(all);
                let key = crate::index::fjall::tagged(listed.table(), listed.key());
                store.list.remove(key).unwrap();
            },
            |store, _| store.list.insert([9; 40], [1]).unwrap(),
            |store, _| store.list.insert([2; 90], [1]).unwrap(),
        ];
        for (number, strange) in strange.into_iter().enumerate() {
            let (_directory, store, all) = store();
            strange(&store, &all);
            if sealed {
                seal(&store);
            }
            // Only what removes anything can be dropped by the engine.
            assert_unclear(&store, sealed && number < 2);
        }
    }
    let (_directory, store, _) = store();
    store.leaf.insert([3; 64], [0; 8]).unwrap();
    let refused = store.quick_sum(&|_| true);
    assert!(matches!(refused, Err(IndexError::Damaged(Damage::Row(Table::Leaf)))), "{refused:?}");
}

#[test]
fn a_table_with_another_checksum_is_not_read() {
    let (directory, store, all) = store();
    assert_eq!(quick(&store), Some(sum_of(&all)));
    for keyspace in store.keyspaces() {
        let version = keyspace.tree.current_version();
        let Some(table) = version.iter_tables().next() else { continue };
        assert!(table.path.starts_with(directory.path()));
        let original = fs::read(&*table.path).unwrap();
        for at in [10, original.len() / 2, original.len() - 10] {
            let mut damaged = original.clone();
            damaged[at] ^= 1;
            fs::write(&*table.path, damaged).unwrap();
            let refused = store.quick_sum(&|_| true);
            assert!(matches!(refused, Err(IndexError::Damaged(Damage::Engine))), "{at}");
        }
        fs::write(&*table.path, original).unwrap();
    }
    assert_eq!(quick(&store), Some(sum_of(&all)));
}
