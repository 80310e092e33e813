//! The log as a whole, in one process: what it promises, and that it keeps it over restarts and faults.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and damages files on purpose"
)]

use std::fs;
use std::path::Path;

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{empty_root, inclusion, leaf_hash};
use anchorlog_proto::note::{KeyName, NoteSigner};
use anchorlog_proto::receipt::Receipt;
use anchorlog_proto::statement::Statement;
use anchorlog_proto::tile::TilePath;

use super::*;
use crate::fsck::{self, Fault, Note};
use crate::index::Engine;
use crate::pool::PoolLimits;
use crate::sequencer::found_log;
use crate::storage::memory::{Fault as JournalFault, MemoryJournal, MemoryObjects};

const ORIGIN: &str = "log.example/test";

pub(super) fn signer() -> NoteSigner {
    NoteSigner::from_seed(KeyName::new(ORIGIN).unwrap(), [7; 32])
}

pub(super) fn options() -> LogOptions {
    LogOptions { engine: Engine::Redb, min_free_bytes: 0, ..LogOptions::default() }
}

pub(super) fn open(directory: &Path) -> (Log, Running) {
    Log::open(directory, signer(), &options(), Metrics::new()).unwrap()
}

pub(super) fn entry(number: u64) -> LogEntry {
    let digest = Digest::of(&number.to_be_bytes());
    let trail = format!("trail:{}", number % 3).parse().unwrap();
    let statement = Statement::new(StatementKind::Digest, digest).in_trail(trail, Some(number / 3));
    LogEntry::unsigned(statement).unwrap()
}

pub(super) async fn ready(log: &Log) {
    while !log.is_ready() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}

pub(super) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Submits entries `range` one after the other and checks every receipt.
pub(super) async fn submit_all(log: &Log, range: std::ops::Range<u64>) {
    for number in range {
        let committed = log.submit(vec![entry(number)]).await.unwrap();
        let receipt = log.receipt_of(&committed, &committed.places[0], entry(number)).unwrap();
        assert_eq!(receipt.index, number);
        check_receipt(log, &receipt);
    }
}

fn check_receipt(log: &Log, receipt: &Receipt) {
    let verified = receipt.proof.checkpoint().verify(log.key()).unwrap();
    let checkpoint = verified.checkpoint();
    let hashes = receipt.proof.hashes();
    let leaf = leaf_hash(receipt.entry.leaf_bytes());
    inclusion::verify(receipt.index, checkpoint.size, &leaf, hashes, &checkpoint.root).unwrap();
    // What leaves the log reads back as what it was.
    assert_eq!(Receipt::parse(&receipt.to_json().unwrap()).unwrap(), *receipt);
}

#[test]
fn a_new_log_is_empty_and_signed() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path());
    let snapshot = log.snapshot();
    assert_eq!((snapshot.size(), *snapshot.root()), (TreeSize::ZERO, empty_root()));
    snapshot.checkpoint().verify(log.key()).unwrap();
    assert_eq!(log.receipt(0).unwrap(), None);
    assert_eq!(log.entry(0).unwrap(), None);
    running.shut_down().unwrap();
    let report = check(directory.path());
    assert!(report.is_clean(), "{:?}", report.problems);
}

#[test]
fn receipts_hold_and_survive_restarts() {
    let directory = tempfile::tempdir().unwrap();
    let mut checkpoints = Vec::new();
    for round in 0..4_u64 {
        let (log, running) = open(directory.path());
        run(async {
            ready(&log).await;
            assert_eq!(log.snapshot().size().get(), round * 150);
            submit_all(&log, round * 150..(round + 1) * 150).await;
            for number in (0..(round + 1) * 150).step_by(37) {
                let receipt = log.receipt(number).unwrap().unwrap();
                assert_eq!(receipt.entry, entry(number));
                check_receipt(&log, &receipt);
            }
        });
        let snapshot = log.snapshot();
        checkpoints.push((snapshot.size(), *snapshot.root()));
        for (from, from_root) in &checkpoints {
            let proof = log.consistency_proof(*from, snapshot.size()).unwrap();
            let verdict =
                consistency::verify(*from, snapshot.size(), from_root, snapshot.root(), &proof);
            assert_eq!(verdict, Ok(()));
            assert_eq!(log.root(*from).unwrap(), *from_root);
            let proof = log.inclusion_proof(0, *from).unwrap();
            let leaf = entry(0).leaf_hash();
            assert_eq!(inclusion::verify(0, *from, &leaf, &proof, from_root), Ok(()));
        }
        running.shut_down().unwrap();
    }
    let report = check(directory.path());
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!((report.entries, report.notes.len()), (600, 0));
}

#[test]
fn duplicates_keep_their_first_place() {
    let directory = tempfile::tempdir().unwrap();
    for restart in [false, true] {
        let (log, running) = open(directory.path());
        run(async {
            ready(&log).await;
            let before = log.snapshot().size().get();
            let committed = log.submit(vec![entry(1), entry(2), entry(1)]).await.unwrap();
            let places: Vec<_> = committed.places.iter().map(|p| (p.index, p.duplicate)).collect();
            assert_eq!(places, [(0, restart), (1, restart), (0, true)]);
            let again = log.submit(vec![entry(2)]).await.unwrap();
            assert_eq!((again.places[0].index, again.places[0].duplicate), (1, true));
            let receipt = log.receipt_of(&again, &again.places[0], entry(2)).unwrap();
            check_receipt(&log, &receipt);
            assert_eq!(log.snapshot().size().get(), if restart { before } else { 2 });
        });
        running.shut_down().unwrap();
    }
}

#[test]
fn a_lookup_right_after_a_receipt_finds_the_entry() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path());
    run(async {
        ready(&log).await;
        for number in 0..300 {
            log.submit(vec![entry(number)]).await.unwrap();
            let digest = entry(number).statement().digest;
            let page = log.lookup(&digest, None, None, 10).unwrap();
            let found: Vec<u64> = page.items.iter().map(|posting| posting.index).collect();
            assert_eq!(found, [number]);
            let other = Some(StatementKind::CoreRoot);
            assert!(log.lookup(&digest, other, None, 10).unwrap().items.is_empty());
        }
        let trail = "trail:1".parse().unwrap();
        let (mut from, mut listed) = (0, Vec::new());
        loop {
            let page = log.trail(&trail, from, 7).unwrap();
            listed.extend(page.items.iter().map(|posting| posting.index));
            let Some(next) = page.next else { break };
            from = next;
        }
        assert_eq!(listed, (0..300).filter(|number| number % 3 == 1).collect::<Vec<_>>());

        let rival = Statement::new(StatementKind::Digest, Digest::of(b"rival"))
            .in_trail("trail:1".parse().unwrap(), Some(5));
        log.submit(vec![LogEntry::unsigned(rival).unwrap()]).await.unwrap();
        let claims = log.claims(&trail, 5, 0, 10).unwrap().items;
        assert_eq!(claims.iter().map(|claim| claim.index).collect::<Vec<_>>(), [16, 300]);
    });
    running.shut_down().unwrap();
}

#[test]
fn many_submitters_get_distinct_places_in_one_tree() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        ready(&log).await;
        let tasks: Vec<_> = (0..16_u64)
            .map(|task| {
                let log = log.clone();
                tokio::spawn(async move {
                    for number in (task * 50..).take(50) {
                        let committed = log.submit(vec![entry(number)]).await.unwrap();
                        let place = committed.places[0];
                        let receipt = log.receipt_of(&committed, &place, entry(number)).unwrap();
                        check_receipt(&log, &receipt);
                        assert_eq!(log.entry(place.index).unwrap().unwrap(), entry(number));
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(log.snapshot().size().get(), 800);
    running.shut_down().unwrap();
}

#[test]
fn tiles_of_every_published_width_are_slices() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path());
    run(async {
        ready(&log).await;
        log.submit((0..700).map(entry).collect()).await.unwrap();
    });
    for id in tiles(log.snapshot().size()) {
        let bytes = log.tile(id).unwrap().unwrap();
        assert_eq!(bytes.len(), usize::from(id.width.get()) * 32, "{id}");
        for width in 1..id.width.get() {
            let narrower = TileId { width: Width::new(width).unwrap(), ..id };
            let part = log.tile(narrower).unwrap().unwrap();
            assert_eq!(part, bytes[..part.len()]);
        }
    }
    for path in ["tile/0/002.p/189", "tile/0/003", "tile/1/000.p/3", "tile/2/000.p/1"] {
        let TilePath::Tile(id) = path.parse().unwrap() else { panic!() };
        assert_eq!(log.tile(id).unwrap(), None, "{path}");
    }
    let TilePath::Entries(id) = "tile/entries/002.p/188".parse().unwrap() else { panic!() };
    let bundle = log.entries(id).unwrap().unwrap();
    let entries = anchorlog_proto::tile::parse_bundle(&bundle, id.width).unwrap();
    assert_eq!(entries[187], entry(699).leaf_bytes());
    running.shut_down().unwrap();
}

#[test]
fn a_directory_has_one_log_with_one_key() {
    let directory = tempfile::tempdir().unwrap();
    let (_log, running) = open(directory.path());
    let second = Log::open(directory.path(), signer(), &options(), Metrics::new());
    assert!(matches!(second.err(), Some(Error::Lock(_))));
    running.shut_down().unwrap();

    let stranger = NoteSigner::from_seed(KeyName::new(ORIGIN).unwrap(), [8; 32]);
    let second = Log::open(directory.path(), stranger, &options(), Metrics::new());
    assert!(matches!(second.err(), Some(Error::ForeignLog { .. })));
}

#[test]
fn what_was_promised_is_never_dropped_for_a_torn_record() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path());
    run(async {
        ready(&log).await;
        submit_all(&log, 0..5).await;
    });
    running.shut_down().unwrap();
    let wal = directory.path().join("wal").join(format!("{:020}.wal", 0));
    let mut bytes = fs::read(&wal).unwrap();
    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[last] ^= 1;
    fs::write(&wal, bytes).unwrap();
    // By itself the journal looks as after a crash; the stored entries say that it is not.
    let report = check(directory.path());
    assert!(
        report.problems.iter().any(|p| matches!(p.fault, Fault::JournalBehind { .. })),
        "{report:?}"
    );
    let reopened = Log::open(directory.path(), signer(), &options(), Metrics::new());
    assert!(matches!(reopened.err(), Some(Error::JournalBehind { journal: 4, stored: 5 })));

    fs::remove_dir_all(directory.path().join("wal")).unwrap();
    let reopened = Log::open(directory.path(), signer(), &options(), Metrics::new());
    assert!(matches!(reopened.err(), Some(Error::JournalMissing)));
}

#[test]
fn entries_that_were_not_stored_yet_come_back_from_the_journal() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path());
    run(async {
        ready(&log).await;
        submit_all(&log, 0..300).await;
    });
    let root = *log.snapshot().root();
    running.shut_down().unwrap();
    // As after a loss of power before anything was synced but the journal.
    fs::remove_dir_all(directory.path().join("log")).unwrap();
    fs::remove_dir_all(directory.path().join("index")).unwrap();
    let report = check(directory.path());
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!(report.notes, [Note::NotStoredYet { entries: 300 }, Note::NoIndex]);
    let (log, running) = open(directory.path());
    assert_eq!(*log.snapshot().root(), root);
    run(async {
        ready(&log).await;
        assert_eq!(
            log.lookup(&entry(299).statement().digest, None, None, 1).unwrap().items.len(),
            1
        );
        submit_all(&log, 300..310).await;
    });
    running.shut_down().unwrap();
    assert!(check(directory.path()).is_clean());
}

#[test]
fn an_export_is_a_log_that_checks() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path());
    run(async {
        ready(&log).await;
        log.submit((0..600).map(entry).collect()).await.unwrap();
    });
    running.shut_down().unwrap();
    let to = tempfile::tempdir().unwrap();
    let key = signer().verifier_key().clone();
    let first =
        crate::export::export(directory.path(), std::slice::from_ref(&key), to.path()).unwrap();
    assert_eq!((first.size, first.kept), (600, 0));
    let again =
        crate::export::export(directory.path(), std::slice::from_ref(&key), to.path()).unwrap();
    assert_eq!(again.kept, 4, "two full tiles and two full bundles stay");

    let check = || {
        let mut source = fsck::DirectorySource::new(to.path().to_path_buf());
        fsck::check_tiles(&mut source, std::slice::from_ref(&key), true, |_, _| {})
    };
    let report = check();
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!((report.size, report.entries), (600, 600));
    for file in
        ["tile/0/001", "tile/0/002.p/88", "tile/1/000.p/2", "tile/entries/001", "checkpoint"]
    {
        let path = to.path().join(file);
        let good = fs::read(&path).unwrap();
        let mut bad = good.clone();
        let middle = bad.len() / 2;
        bad[middle] ^= 4;
        fs::write(&path, bad).unwrap();
        assert!(!check().is_clean(), "{file}");
        fs::write(&path, good).unwrap();
    }
}

pub(super) fn check(directory: &Path) -> fsck::Report {
    let key = signer().verifier_key().clone();
    fsck::check_directory(
        directory,
        std::slice::from_ref(&key),
        Engine::Redb,
        index::DEFAULT_MEMORY,
        |_, _| {},
    )
    .unwrap()
}

/// A sequencer over stores in memory, and what it works with.
struct InMemory {
    journal: Arc<MemoryJournal>,
    objects: Arc<MemoryObjects>,
    pool: Arc<Pool>,
    finder: Arc<Finder>,
    seen: watch::Receiver<Arc<Snapshot>>,
    sequencer: Sequencer,
}

impl InMemory {
    fn new() -> Self {
        let journal = Arc::new(MemoryJournal::default());
        let objects = Arc::new(MemoryObjects::default());
        let pool = Arc::new(Pool::new(PoolLimits::default()));
        let finder = Arc::new(Finder::new());
        finder.ready(Arc::new(index::MemoryIndex::new()));
        let origin = Origin::new(ORIGIN).unwrap();
        let founded = found_log(&origin, &signer().into(), &*journal).unwrap();
        let (published, seen) = watch::channel(Arc::new(founded));
        let sequencer = Sequencer {
            origin,
            keys: signer().into(),
            directory: PathBuf::new(),
            standing: watch::channel(Standing::Open).0,
            pool: pool.clone(),
            journal: journal.clone(),
            objects: objects.clone(),
            finder: finder.clone(),
            filter: LeafFilter::new(0, 0).unwrap().0,
            published: Arc::new(published),
            metrics: Metrics::new(),
            space: None,
        };
        Self { journal, objects, pool, finder, seen, sequencer }
    }
}

fn submit_to(pool: &Pool, number: u64) -> Result<Committed, SubmitError> {
    let receiver = pool.submit(vec![entry(number)]);
    run(async { receiver?.await.unwrap_or(Err(SubmitError::Failed)) })
}

#[test]
fn a_log_far_ahead_of_its_index_takes_nothing_new() {
    let InMemory { pool, finder, sequencer, .. } = InMemory::new();
    let thread = thread::spawn(move || sequencer.run());
    submit_to(&pool, 0).unwrap();
    let waiting = index::IndexedEntry::new(1_000, &entry(1_000));
    finder.hold(Arc::new(vec![waiting; crate::sequencer::MAX_INDEX_LAG]), || ());
    assert_eq!(submit_to(&pool, 1).map(|_| ()), Err(SubmitError::Overloaded));
    assert!(submit_to(&pool, 0).unwrap().places[0].duplicate, "what is known is still answered");
    finder.release(2);
    submit_to(&pool, 1).unwrap();
    pool.close(SubmitError::ShuttingDown);
    thread.join().unwrap().unwrap();
}

/// Every step of a commit broken in every way, over stores in memory: what is answered, what is kept, and
/// whether the log goes on.
#[test]
fn broken_steps() {
    for (fault, answer, goes_on, kept) in [
        (JournalFault::None, Ok(()), true, 2),
        (JournalFault::OutOfSpace, Err(SubmitError::DiskFull), true, 1),
        (JournalFault::Lost, Err(SubmitError::Failed), false, 1),
        (JournalFault::Kept, Err(SubmitError::Failed), false, 2),
    ] {
        let InMemory { journal, objects, pool, seen, sequencer, .. } = InMemory::new();
        let thread = thread::spawn(move || sequencer.run());
        let submit = |number| submit_to(&pool, number);
        submit(0).unwrap();
        journal.fail_next(fault);
        assert_eq!(submit(1).map(|_| ()), answer, "{fault:?}");
        let published = if answer.is_ok() { 2 } else { 1 };
        assert_eq!(seen.borrow().size().get(), published, "nothing undurable is published");
        if goes_on {
            // A duplicate needs no space; a full disk refuses what is new and nothing else.
            objects.set_full(true);
            assert!(submit(0).unwrap().places[0].duplicate);
            assert_eq!(submit(7).map(|_| ()), Err(SubmitError::DiskFull));
            objects.set_full(false);
            submit(2).unwrap();
        }
        pool.close(SubmitError::ShuttingDown);
        assert_eq!(thread.join().unwrap().is_ok(), goes_on);
        let recorded = journal.size().get() - u64::from(goes_on);
        assert_eq!(recorded, kept, "{fault:?}");
        // Whatever happened, no size was signed with two roots.
        let mut signed = std::collections::BTreeMap::new();
        for batch in journal.batches() {
            let checkpoint = SignedCheckpoint::parse(&batch.checkpoint);
            let checkpoint = checkpoint.unwrap().checkpoint().clone();
            assert_eq!(signed.insert(checkpoint.size, checkpoint.root), None);
        }
    }
}

#[test]
fn the_queue_is_bounded_and_says_so() {
    let pool = Pool::new(PoolLimits { queue_entries: 3, ..PoolLimits::default() });
    let _first = pool.submit(vec![entry(0), entry(1)]).unwrap();
    assert_eq!(pool.submit(vec![entry(2), entry(3)]).unwrap_err(), SubmitError::Overloaded);
    let _second = pool.submit(vec![entry(2)]).unwrap();
    assert_eq!(pool.take().unwrap().len(), 2);
    let third = pool.submit(vec![entry(3)]).unwrap();
    pool.close(SubmitError::ShuttingDown);
    assert_eq!(pool.submit(vec![entry(4)]).unwrap_err(), SubmitError::ShuttingDown);
    assert_eq!(pool.take().unwrap().len(), 1, "what was accepted is still committed");
    assert!(pool.take().is_none());
    pool.close(SubmitError::Failed);
    drop(third);

    let pool = Pool::new(PoolLimits { queue_bytes: 300, ..PoolLimits::default() });
    let _fits = pool.submit(vec![entry(0)]).unwrap();
    assert_eq!(pool.submit(vec![entry(1)]).unwrap_err(), SubmitError::Overloaded);
}
