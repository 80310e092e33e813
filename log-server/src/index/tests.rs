//! The conformance suite over every engine of the build, and what only whole processes and full disks show.

#![allow(clippy::disallowed_methods, reason = "tests build and break directories of their own")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use super::conformance::{self, Place, compare, distinct_entry, hostile_entry};
use super::*;

/// Engines that keep what they are given.
fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| *engine != Engine::Memory)
}

struct Directory {
    engine: Engine,
    root: TempDir,
}

impl Directory {
    fn new(engine: Engine) -> Self {
        Self { engine, root: tempfile::tempdir().unwrap() }
    }

    fn options(&self) -> Options {
        Options { directory: self.root.path().join("index"), memory: MIN_MEMORY }
    }
}

impl Place for Directory {
    fn open(&self) -> Result<Box<dyn Index>, IndexError> {
        open(self.engine, &self.options())
    }

    fn keeps(&self) -> bool {
        self.engine != Engine::Memory
    }
}

#[test]
fn memory_conforms() {
    conformance::run(&|| Box::new(Directory::new(Engine::Memory)));
}

#[test]
fn fjall_conforms() {
    conformance::run(&|| Box::new(Directory::new(Engine::Fjall)));
}

#[test]
fn redb_conforms() {
    conformance::run(&|| Box::new(Directory::new(Engine::Redb)));
}

#[cfg(feature = "sled")]
#[test]
fn sled_conforms() {
    conformance::run(&|| Box::new(Directory::new(Engine::Sled)));
}

#[test]
fn engines_have_names_and_options_have_defaults() {
    for engine in Engine::ALL {
        assert_eq!(engine.as_str().parse::<Engine>().unwrap(), *engine);
    }
    assert!(matches!("rocksdb".parse::<Engine>(), Err(IndexError::UnknownEngine)));
    assert_eq!(Engine::default(), Engine::Fjall);
    assert_eq!(Options::new("x").memory, DEFAULT_MEMORY);
}

/// What a history does between batches.
#[derive(Clone, Copy, Debug)]
enum Step {
    Append(u8),
    Copy,
    Reopen,
    Sync,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any::<u8>().prop_map(Step::Append),
        1 => Just(Step::Copy),
        1 => Just(Step::Reopen),
        2 => Just(Step::Sync),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// Any history of batches, syncs, reopenings and crashes leaves an index that answers like plain maps
    /// over the log's first `indexed_size` entries, and that never falls behind a sync. A copy of the
    /// directory of an open index stands for what a killed process leaves.
    #[test]
    fn histories_agree_with_the_model(seed in any::<u64>(), steps in vec(step(), 1..25)) {
        for engine in engines() {
            history(engine, seed, &steps);
        }
    }

    /// Every row reads back as itself, and no other length or kind reads at all.
    #[test]
    fn rows_survive_their_bytes(index in 0_u64..1 << 53, seed in any::<u64>()) {
        let entry = hostile_entry(index, seed);
        let mut seen = Vec::new();
        for row in key::rows(&entry) {
            prop_assert_eq!(Row::read(row.table(), row.key(), row.value()).unwrap(), row);
            prop_assert_eq!(row.index(), index);
            prop_assert!(row.kind().unwrap().is_none_or(|kind| kind == entry.kind));
            let mut long = row.key().to_vec();
            long.push(0);
            prop_assert!(Row::read(row.table(), &long, row.value()).is_err());
            prop_assert!(Row::read(row.table(), &row.key()[1..], row.value()).is_err());
            prop_assert!(Row::read(row.table(), row.key(), &row.value()[1..]).is_err());
            seen.push(row.table());
        }
        prop_assert_eq!(seen.contains(&Table::Trail), entry.trail.is_some());
        prop_assert_eq!(seen.contains(&Table::Sequence), entry.sequence.is_some());
        prop_assert_eq!(seen.contains(&Table::Signer), entry.signer.is_some());
    }
}

fn history(engine: Engine, seed: u64, steps: &[Step]) {
    let mut place = Directory::new(engine);
    let mut index = place.open().unwrap();
    let mut log: Vec<IndexedEntry> = Vec::new();
    let mut synced = 0;
    for step in steps {
        match step {
            Step::Append(count) => {
                let size = index.indexed_size();
                let batch: Vec<_> = (size..size + u64::from(*count))
                    .map(|index| hostile_entry(index, seed))
                    .collect();
                index.append(size, &batch).unwrap();
                log.extend(batch);
            }
            Step::Copy => {
                let copy = Directory::new(engine);
                copy_directory(&place.options().directory, &copy.options().directory);
                drop(index);
                place = copy;
                index = place.open().unwrap();
                truncate(&*index, &mut log, synced);
            }
            Step::Reopen => {
                drop(index);
                index = place.open().unwrap();
                truncate(&*index, &mut log, synced);
            }
            Step::Sync => {
                index.sync().unwrap();
                synced = log.len();
            }
        }
    }
    compare(&*index, &log);
}

/// What a crash took away was not synced and is gone from the end.
fn truncate(index: &dyn Index, log: &mut Vec<IndexedEntry>, synced: usize) {
    let size = usize::try_from(index.indexed_size()).unwrap();
    assert!((synced..=log.len()).contains(&size), "{synced} <= {size} <= {}", log.len());
    log.truncate(size);
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_directory(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

const CHILD_DIRECTORY: &str = "ANCHORLOG_TEST_INDEX_DIRECTORY";
const CHILD_ENGINE: &str = "ANCHORLOG_TEST_INDEX_ENGINE";

/// Not a test of its own: the process that [`killed_writers_leave_a_prefix`] kills.
#[test]
#[ignore = "run by killed_writers_leave_a_prefix in a process of its own"]
fn writer_to_be_killed() {
    let Some(directory) = std::env::var_os(CHILD_DIRECTORY) else {
        return;
    };
    let engine = std::env::var(CHILD_ENGINE).unwrap().parse().unwrap();
    let options = Options { directory: directory.into(), memory: MIN_MEMORY };
    let index = open(engine, &options).unwrap();
    println!("\nwriting");
    for round in 0_u64.. {
        let size = index.indexed_size();
        let batch: Vec<_> = (size..size + 1 + (size * 31) % 800).map(distinct_entry).collect();
        index.append(size, &batch).unwrap();
        if round % 16 == 0 {
            index.sync().unwrap();
            println!("synced {}", index.indexed_size());
        }
    }
}

/// kill -9 in the middle of writing, again and again on the same directory.
#[test]
fn killed_writers_leave_a_prefix() {
    for engine in engines() {
        let place = Directory::new(engine);
        let mut floor = 0;
        for round in 0..5 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "index::tests::writer_to_be_killed", "--ignored", "--nocapture"])
                .env(CHILD_DIRECTORY, place.options().directory)
                .env(CHILD_ENGINE, engine.as_str())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines =
                BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
            assert!(lines.any(|line| line == "writing"));
            std::thread::sleep(Duration::from_millis(60 + 110 * round));
            child.kill().unwrap();
            child.wait().unwrap();
            let synced = lines.filter_map(|line| line.strip_prefix("synced ")?.parse::<u64>().ok());
            floor = synced.max().unwrap_or(0).max(floor);

            let index = place.open().unwrap();
            let size = index.indexed_size();
            assert!(size >= floor, "{engine}: {floor} were synced, {size} are there");
            assert_eq!(index.fingerprint().unwrap(), sum_below(size), "{engine} at {size}");
            floor = size;
        }
        assert!(floor > 0, "{engine} was killed before it wrote anything");
    }
}

/// What the first `size` entries of a log of distinct entries add up to.
fn sum_below(size: u64) -> Fingerprint {
    let mut sum = Fingerprint::default();
    for entry in (0..size).map(distinct_entry) {
        sum.merge(&expected_fingerprint(&entry));
    }
    sum
}

/// A tmpfs that is unmounted at the end.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// `None` where mounting isn't allowed.
    fn mount(size: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(directory.path())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success()).then_some(Self(directory))
    }

    fn resize(&self, size: &str) {
        let status = Command::new("mount")
            .args(["-o", &format!("remount,size={size}")])
            .arg(self.0.path())
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// A full disk: the batch that doesn't fit is an error and so is every later one; reads go on or say that
/// they can't. With space the same directory opens at a consistent size and takes the rest of the log.
#[test]
fn a_full_disk_is_an_error_and_not_the_end() {
    for engine in engines() {
        let Some(disk) = SmallDisk::mount("16m") else {
            println!("skipped: mounting a tmpfs is not allowed here");
            return;
        };
        let options = Options { directory: disk.0.path().join("index"), memory: MIN_MEMORY };
        let index = open(engine, &options).unwrap();
        let mut synced = 0;
        let error = loop {
            let size = index.indexed_size();
            assert!(size < 1 << 20, "{engine} fits anything into 16 MiB");
            let batch: Vec<_> = (size..size + 2_000).map(distinct_entry).collect();
            if let Err(error) = index.append(size, &batch).and_then(|()| index.sync()) {
                break error;
            }
            synced = index.indexed_size();
        };
        assert!(
            error.is_no_space() || matches!(error, IndexError::Poisoned),
            "{engine}: {error:?}"
        );
        assert_eq!(error.remedy(), Remedy::Reopen, "{engine}");
        assert!(synced > 0, "{engine} takes not even one batch");
        let size = index.indexed_size();
        let batch: Vec<_> = (size..=size).map(distinct_entry).collect();
        assert!(matches!(index.append(size, &batch), Err(IndexError::Poisoned)), "{engine}");
        assert!(matches!(index.sync(), Err(IndexError::Poisoned)), "{engine}");
        for entry in (0..synced).step_by(997).map(distinct_entry) {
            match index.find_leaf(entry.kind, &entry.digest, &entry.leaf_hash) {
                Ok(found) => assert_eq!(found, Some(entry.index), "{engine} reads on"),
                // The others can refuse to read, but not take to answering "not found".
                Err(error) => assert_ne!(engine, Engine::Fjall, "{error:?}"),
            }
        }
        drop(index);

        disk.resize("256m");
        let index = open(engine, &options).unwrap();
        assert!(index.indexed_size() >= synced, "{engine} lost what was synced");
        let mut size = index.indexed_size();
        for _ in 0..10 {
            let batch: Vec<_> = (size..size + 1_000).map(distinct_entry).collect();
            index.append(size, &batch).unwrap();
            size = index.indexed_size();
        }
        index.sync().unwrap();
        assert_eq!(index.fingerprint().unwrap(), sum_below(size), "{engine}");
    }
}

/// A new index has to begin on a small disk, whatever its engine would like to allocate ahead.
#[test]
fn an_index_begins_on_a_small_disk() {
    for engine in engines() {
        let Some(disk) = SmallDisk::mount("4m") else {
            println!("skipped: mounting a tmpfs is not allowed here");
            return;
        };
        let options = Options { directory: disk.0.path().join("index"), memory: DEFAULT_MEMORY };
        let log: Vec<_> = (0..500).map(distinct_entry).collect();
        let index = open(engine, &options).unwrap();
        index.append(0, &log).unwrap();
        index.sync().unwrap();
        drop(index);
        compare(&*open(engine, &options).unwrap(), &log);
    }
}

/// Files that were cut off, emptied or overwritten are found at opening or at reading; never does an
/// index with other contents pass `fsck`'s comparison.
#[test]
fn damage_is_never_taken_for_contents() {
    let log: Vec<_> = (0..3_000).map(distinct_entry).collect();
    let sum = sum_below(3_000);
    for engine in [Engine::Fjall, Engine::Redb] {
        let original = Directory::new(engine);
        let index = original.open().unwrap();
        index.append(0, &log).unwrap();
        index.sync().unwrap();
        drop(index);
        let files = files_below(&original.options().directory);
        assert!(!files.is_empty());
        for file in files {
            let relative = file.strip_prefix(&original.options().directory).unwrap().to_owned();
            let length = fs::metadata(&file).unwrap().len().min(1 << 20);
            for at in [0, length / 3, length / 2] {
                let copy = Directory::new(engine);
                copy_directory(&original.options().directory, &copy.options().directory);
                let victim = copy.options().directory.join(&relative);
                let mut bytes = fs::read(&victim).unwrap();
                if bytes.is_empty() {
                    continue;
                }
                let at = usize::try_from(at).unwrap().min(bytes.len() - 1);
                bytes[at] ^= 0x55;
                fs::write(&victim, bytes).unwrap();
                let Ok(index) = copy.open() else {
                    continue;
                };
                let summed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    index.quick_sum(&|_| true)
                }));
                let passed = matches!(summed, Ok(Ok(Some(found))) if found == sum);
                let reading =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| index.fingerprint()));
                let Ok(Ok(found)) = reading else {
                    assert!(!passed, "{engine}: {} at {at}", relative.display());
                    continue;
                };
                assert!(!passed || found == sum, "{engine}: {} at {at}", relative.display());
                if index.indexed_size() == 3_000 && found == sum {
                    continue; // the byte meant nothing
                }
                // Set back or altered: the log's own sum for this size tells.
                let size = usize::try_from(index.indexed_size()).unwrap();
                assert!(size < 3_000 || found != sum, "{engine}: {} at {at}", relative.display());
            }
        }
    }
}

/// A directory with something else in it, or in another format, is made anew; a locked one is not.
#[test]
fn what_can_not_be_used_is_recreated() {
    for engine in [Engine::Fjall, Engine::Redb] {
        let place = Directory::new(engine);
        let options = place.options();
        let (index, opened) = open_or_recreate(engine, &options).unwrap();
        assert!(matches!(opened, Opened::AsItWas));
        index.append(0, &[distinct_entry(0)]).unwrap();
        index.sync().unwrap();
        let locked = open_or_recreate(engine, &options);
        assert!(matches!(locked, Err(IndexError::Locked)), "an index in use is not deleted");
        drop(index);
        for file in files_below(&options.directory) {
            fs::write(file, b"not what was written").unwrap();
        }
        let (index, opened) = open_or_recreate(engine, &options).unwrap();
        assert!(matches!(opened, Opened::Recreated(_)), "{engine}");
        assert_eq!(index.indexed_size(), 0);
        drop(index);
        delete(&options.directory).unwrap();
        delete(&options.directory).unwrap();
        assert!(!options.directory.exists());
    }
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}
