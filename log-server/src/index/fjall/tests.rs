//! Rows on their three ways into tables, and what a crash leaves of them.

use super::*;
use crate::index::conformance::{compare, distinct_entry};
use crate::index::key::rows;
use crate::index::{Fingerprint, Index as _, IndexedEntry, KeyedIndex, MIN_MEMORY};
use tempfile::TempDir;

fn open(directory: &TempDir) -> Result<KeyedIndex<FjallStore>, IndexError> {
    KeyedIndex::new(store(directory))
}

fn store(directory: &TempDir) -> FjallStore {
    let options = Options { directory: directory.path().to_path_buf(), memory: MIN_MEMORY };
    FjallStore::open(&options).unwrap()
}

fn log(count: u64) -> Vec<IndexedEntry> {
    (0..count).map(distinct_entry).collect()
}

fn rows_of(log: &[IndexedEntry]) -> Vec<Row> {
    let mut rows: Vec<Row> = log.iter().flat_map(rows).collect();
    rows.sort_unstable();
    rows
}

fn state(entries: usize) -> State {
    State { entries: count(entries), rows: count(entries * 4) }
}

fn sum(rows: &[Row]) -> Fingerprint {
    let mut sum = Fingerprint::default();
    for row in rows {
        sum.add(row);
    }
    sum
}

/// More rows than memory is for: they are found in memory, in tables and in the journal, now and later.
#[test]
fn many_rows_go_into_tables_and_few_into_the_journal() {
    let directory = tempfile::tempdir().unwrap();
    let log = log(13_000);
    let index = open(&directory).unwrap();
    for (number, part) in log.chunks(500).enumerate() {
        index.append(part[0].index, part).unwrap();
        assert!(index.store.recent.len() < index.store.bulk);
        if number == 3 {
            index.sync().unwrap();
        }
    }
    assert!(index.store.leaf.table_count() > 0, "nothing was put into tables");
    assert!(index.store.recent.len() > 2_000, "nothing is in memory");
    compare(&index, &log);
    drop(index);
    // Not synced: what is in tables is there, and it goes on from there.
    let index = open(&directory).unwrap();
    let size = usize::try_from(index.indexed_size()).unwrap();
    assert!((2_000..13_000).contains(&size), "{size}");
    compare(&index, &log[..size]);
    index.append(count(size), &log[size..size + 500]).unwrap();
    index.sync().unwrap();
    assert_eq!(index.store.recent.len(), 0);
    drop(index);
    let index = open(&directory).unwrap();
    compare(&index, &log[..size + 500]);
}

/// The tables with leaves are there, and a crash keeps the others out: nobody sees those leaves until their
/// entries come again, and then they are not written twice.
#[test]
fn leaves_that_came_alone_wait_for_their_entries() {
    for journal in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let log = log(900);
        let store = store(&directory);
        store.commit(&rows_of(&log[..300]), state(300)).unwrap();
        if journal {
            store.sync().unwrap();
        } else {
            store.ingest(state(300)).unwrap();
        }
        store.commit(&rows_of(&log[300..600]), state(600)).unwrap();
        store.ingest_leaves(state(600)).unwrap();
        drop(store);

        let index = open(&directory).unwrap();
        assert_eq!(index.store.leaves.load(Ordering::Acquire), 600);
        compare(&index, &log[..300]);
        assert_eq!(index.quick_sum(&|_| true).unwrap(), Some(sum(&rows_of(&log[..300]))));
        let waiting = &log[450];
        let found = index.find_leaf(waiting.kind, &waiting.digest, &waiting.leaf_hash);
        assert_eq!(found.unwrap(), None);
        // In pieces that end within and behind them, on both ways.
        index.append(300, &log[300..450]).unwrap();
        if journal {
            index.sync().unwrap();
        } else {
            index.store.ingest(state(450)).unwrap();
        }
        compare(&index, &log[..450]);
        drop(index);
        let index = open(&directory).unwrap();
        compare(&index, &log[..450]);
        index.append(450, &log[450..]).unwrap();
        compare(&index, &log);
        index.sync().unwrap();
        drop(index);
        let index = open(&directory).unwrap();
        compare(&index, &log);
        assert_eq!(index.quick_sum(&|_| true).unwrap(), Some(sum(&rows_of(&log))));
    }
}

/// The engine's count of leaves says where to look for those that came alone, and no more than that.
#[test]
fn leaves_that_are_counted_and_not_there_are_written() {
    for journal in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let log = log(600);
        let store = store(&directory);
        store.commit(&rows_of(&log[..300]), state(300)).unwrap();
        store.ingest(state(300)).unwrap();
        store.leaves.store(500, Ordering::Release);
        store.commit(&rows_of(&log[300..]), state(600)).unwrap();
        if journal { store.write(state(600)) } else { store.ingest(state(600)) }.unwrap();
        store.database.persist(PersistMode::SyncAll).unwrap();
        drop(store);
        compare(&open(&directory).unwrap(), &log);
    }
}

/// Leaves may be ahead as far as a crash can leave them, and nothing else may be.
#[test]
fn rows_that_no_crash_leaves_are_damage() {
    let damaged = |change: fn(&FjallStore)| {
        let directory = tempfile::tempdir().unwrap();
        let store = store(&directory);
        store.commit(&rows_of(&log(300)), state(300)).unwrap();
        store.ingest(state(300)).unwrap();
        change(&store);
        store.database.persist(PersistMode::SyncAll).unwrap();
        drop(store);
        matches!(open(&directory), Err(IndexError::Damaged(Damage::RowCount { .. })))
    };
    assert!(!damaged(|_| ()));
    assert!(damaged(|store| store.list.insert([2; 41], [1]).unwrap()));
    assert!(damaged(|store| {
        let entries: Vec<_> = (300..70_000).map(distinct_entry).collect();
        let leaves: Vec<Row> =
            rows_of(&entries).into_iter().filter(|row| row.table() == Table::Leaf).collect();
        for row in leaves {
            store.leaf.insert(row.key(), row.value()).unwrap();
        }
    }));
}

/// An index whose every row came through the journal, as before there was another way.
#[test]
fn an_index_without_tables_of_its_own_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let log = log(1_200);
    let store = store(&directory);
    for part in log[..600].chunks(100) {
        let entries = usize::try_from(part[99].index).unwrap() + 1;
        store.commit(&rows_of(part), state(entries)).unwrap();
        store.write(state(entries)).unwrap();
    }
    assert_eq!(store.list.prefix([RUN_TAG]).count(), 0);
    drop(store);
    let index = open(&directory).unwrap();
    compare(&index, &log[..600]);
    index.append(600, &log[600..]).unwrap();
    index.store.ingest(state(1_200)).unwrap();
    drop(index);
    compare(&open(&directory).unwrap(), &log);
}

/// Damage that nobody but the engine's own merging meets ends its background thread, whenever it is opened. It
/// says no more than that it failed; the files say why, and only making them anew helps.
#[test]
fn damage_that_a_merge_meets_is_told_from_other_failures() {
    let directory = tempfile::tempdir().unwrap();
    let log = log(3_000);
    let first = store(&directory);
    for (number, part) in (1..).zip(log[..700].chunks(100)) {
        first.commit(&rows_of(part), state(number * 100)).unwrap();
        first.ingest(state(number * 100)).unwrap();
    }
    first.sync().unwrap();
    drop(first);
    flip_a_bit_of_each(&directory.path().join("keyspaces/1/tables"));
    let failed = || IndexError::Poisoned.into();
    let feeder = crate::feeder::Feeder {
        engine: crate::index::Engine::Fjall,
        options: Options::new(directory.path()),
        objects: Arc::new(crate::storage::memory::MemoryObjects::default()),
        finder: Arc::new(crate::finder::Finder::new()),
        metrics: crate::metrics::Metrics::new(),
        space: crate::storage::space::SpaceGuard::new(directory.path(), 0),
    };
    for _ in 0..2 {
        let index = open(&directory).unwrap();
        // A few more runs call for the merge.
        let failed_first = loop {
            let size = usize::try_from(index.indexed_size()).unwrap();
            index.append(count(size), &log[size..size + 100]).unwrap();
            index.store.ingest(state(size + 100)).unwrap();
            thread::sleep(Duration::from_millis(100));
            if let Err(error) = index.sync() {
                break error;
            }
        };
        assert!(matches!(failed_first, IndexError::Poisoned));
        let told = feeder.looked_into(&index, failed());
        assert!(matches!(told, crate::error::Error::Index(IndexError::Damaged(Damage::Engine))));
    }
    let whole = tempfile::tempdir().unwrap();
    let told = feeder.looked_into(&open(&whole).unwrap(), failed());
    assert!(matches!(told, crate::error::Error::Index(IndexError::Poisoned)));
}

#[test]
fn a_write_that_panics_is_damage_and_the_last_one() {
    let directory = tempfile::tempdir().unwrap();
    let index = open(&directory).unwrap();
    let failed = index.write(|_| panic!("an engine"));
    assert!(matches!(failed, Err(IndexError::Damaged(Damage::Engine))));
    assert!(matches!(index.append(0, &log(1)), Err(IndexError::Poisoned)));
}

#[expect(clippy::disallowed_methods, reason = "the test damages files on purpose")]
fn flip_a_bit_of_each(tables: &std::path::Path) {
    for table in std::fs::read_dir(tables).unwrap() {
        let path = table.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[1_000] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
}
