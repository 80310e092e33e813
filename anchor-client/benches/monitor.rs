//! How fast a monitor reads a log from local tiles: signature, consistency, every leaf hash, every tile,
//! every entry parsed as a statement; beside the bare SHA-256 of the same bytes.
//!
//! `ANCHORLOG_BENCH_ENTRIES` is the number of entries (default 1,000,000), `ANCHORLOG_BENCH_DIR` where the
//! log goes (default: the temporary directory). One thread reads; the figures are per second of the processor
//! time that it took, which is what one core does, and per second of the clock.

#![allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a benchmark builds its own inputs, prints its figures and fails by panicking"
)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use anchorlog_client::follow::{FollowOptions, TileLocation};
use anchorlog_client::monitor::{Limits, Monitor, MonitorOptions, Watches};
use anchorlog_client::record::SystemClock;
use anchorlog_client::state::StateDir;
use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, Origin, SignedCheckpoint};
use anchorlog_proto::merkle::{Frontier, TreeSize, leaf_hash};
use anchorlog_proto::note::{KeyName, NoteSigner};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_proto::tile::{EntriesId, LevelShape, TILE_HEIGHT, TileId, Width, push_entry};
use anchorlog_proto::tlog_policy::TlogPolicy;

const ROUNDS: usize = 5;

fn main() {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let entries = variable("ANCHORLOG_BENCH_ENTRIES").map_or(1_000_000, |n| n.parse().unwrap());
    let home = match variable("ANCHORLOG_BENCH_DIR") {
        Some(directory) => tempfile::tempdir_in(directory).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    for form in ["plain", "signed"] {
        let log = home.path().join(form);
        let (bytes, vkey) = write_log(&log, entries, form == "signed");
        let mut runs: Vec<Run> =
            (0..ROUNDS).map(|_| measure(&log, home.path(), &vkey, entries)).collect();
        runs.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
        let run = &runs[ROUNDS / 2];
        println!(
            "monitor_{form} entries={entries} bytes_per_entry={:.0} entries_per_core_second={:.0} \
             entries_per_second={:.0} bare_sha256_entries_per_second={:.0} ratio={:.2}",
            bytes as f64 / entries as f64,
            entries as f64 / run.processor,
            entries as f64 / run.clock,
            entries as f64 / run.bare,
            run.ratio(),
        );
        fs::remove_dir_all(&log).unwrap();
    }
}

/// One reading of the whole log beside one hashing of the same files, in seconds.
struct Run {
    processor: f64,
    clock: f64,
    bare: f64,
}

impl Run {
    fn ratio(&self) -> f64 {
        self.processor / self.bare
    }
}

fn measure(log: &Path, home: &Path, vkey: &str, entries: u64) -> Run {
    let bare = {
        // Read before the clock starts: what is measured is hashing.
        let size = TreeSize::new(entries).unwrap();
        let bundles: Vec<Vec<u8>> = LevelShape::of(0, size)
            .tiles()
            .map(|(index, width)| fs::read(log.join(EntriesId { index, width }.path())).unwrap())
            .collect();
        let start = processor_seconds();
        for bundle in &bundles {
            black_box(Digest::of(black_box(bundle)));
        }
        processor_seconds() - start
    };
    let state = home.join("state");
    let options = MonitorOptions {
        log: TileLocation::Directory(log.to_owned()),
        keys: vec![vkey.parse().unwrap()],
        policy: TlogPolicy::parse(format!("log {vkey}\nquorum none\n").as_bytes()).unwrap(),
        authorities: Vec::new(),
        watches: Watches {
            trails: ["never-there".parse().unwrap()].into(),
            digests: [Digest::of(b"never there")].into(),
            ..Watches::default()
        },
        limits: Limits::default(),
        follow: FollowOptions::default(),
        from_now: false,
    };
    let mut monitor =
        Monitor::open(options, &StateDir::at(&state), Vec::new(), SystemClock).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (clock, processor) = (Instant::now(), processor_seconds());
    let round = runtime.block_on(monitor.round()).unwrap();
    let run = Run {
        processor: processor_seconds() - processor,
        clock: clock.elapsed().as_secs_f64(),
        bare,
    };
    assert_eq!(round.read, entries);
    assert!(monitor.alarms().is_empty(), "{:?}", monitor.alarms());
    drop(monitor);
    fs::remove_dir_all(state).unwrap();
    run
}

/// Processor time of this process so far: user and system, in the kernel's ticks of 10 ms.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let fields: Vec<f64> = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse().unwrap())
        .collect();
    (fields[0] + fields[1]) / 100.0
}

/// Writes a log as tiles; the bytes of its entries, and its key.
fn write_log(root: &Path, entries: u64, by_submitter: bool) -> (u64, String) {
    let signer = NoteSigner::from_seed(KeyName::new("bench.example").unwrap(), [1; 32]);
    let key = SigningKey::from_seed(&[2; 32]);
    let mut edge = Frontier::new();
    let mut levels: Vec<Vec<u8>> = vec![Vec::new(); 8];
    let (mut bundle, mut bytes) = (Vec::new(), 0);
    let write = |path: String, bytes: &[u8]| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    for number in 0..entries {
        let statement = Statement::new(StatementKind::Digest, Digest::of(&number.to_be_bytes()));
        let entry = if by_submitter {
            LogEntry::signed(statement, &key).unwrap()
        } else {
            LogEntry::unsigned(statement).unwrap()
        };
        let leaf = entry.leaf_bytes();
        bytes += u64::try_from(leaf.len()).unwrap();
        push_entry(&mut bundle, leaf).unwrap();
        edge.push_with(leaf_hash(leaf), |node, hash| {
            if node.level % TILE_HEIGHT == 0 {
                levels[usize::from(node.level / TILE_HEIGHT)].extend_from_slice(hash.as_bytes());
            }
        })
        .unwrap();
        let (index, within) = (number / 256, number % 256);
        if within == 255 || number + 1 == entries {
            let width = Width::new(u16::try_from(within + 1).unwrap()).unwrap();
            write(EntriesId { index, width }.path(), &bundle);
            bundle.clear();
        }
    }
    for level in 0..8_u8 {
        for (index, width) in LevelShape::of(level, edge.size()).tiles() {
            let first = usize::try_from(index).unwrap() * 256 * 32;
            let hashes = &levels[usize::from(level)][first..][..usize::from(width.get()) * 32];
            write(TileId { level, index, width }.path(), hashes);
        }
    }
    let checkpoint =
        Checkpoint::new(Origin::from(signer.verifier_key().name()), edge.size(), edge.root());
    let note = SignedCheckpoint::sign(&checkpoint, &signer).unwrap();
    write("checkpoint".to_owned(), &note.to_bytes());
    (bytes, signer.verifier_key().to_string())
}
