//! A log that is witnessed by witnesses that do as they are told. Time is tokio's own, and passes at once.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that meets something unexpected may stop where it stands"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, Origin};
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::{KeyName, NoteSigner};
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_proto::tlog_policy::QuorumOutcome;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::testing::{Reply, Scripted, policy};
use super::*;
use crate::clock::Clock;
use crate::index::Engine;
use crate::log::{Log, LogOptions, Running};
use crate::metrics::{Format, Metrics};

const S: Duration = Duration::from_secs(1);
const ORIGIN: &str = "log.example/witnessing";

fn signer() -> NoteSigner {
    NoteSigner::from_seed(KeyName::new(ORIGIN).unwrap(), [5; 32])
}

fn options() -> Options {
    Options {
        interval: 10 * S,
        refresh: Duration::ZERO,
        daily_allowance: 1_000_000,
        timeout: 5 * S,
        clock_skew: 60 * S,
        clock: Clock::system(),
    }
}

/// A log with its witnessing task.
struct World {
    log: Log,
    status: Status,
    metrics: Metrics,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    running: Running,
    entries: std::sync::atomic::AtomicU64,
}

impl World {
    fn open(directory: &TempDir, quorum: usize, witnesses: &[&Arc<Scripted>]) -> Self {
        Self::with(directory.path(), quorum, witnesses, options())
    }

    fn with(
        directory: &Path,
        quorum: usize,
        witnesses: &[&Arc<Scripted>],
        options: Options,
    ) -> Self {
        let (policy, named) = policy(signer().verifier_key(), quorum, witnesses);
        let log_options = LogOptions {
            engine: Engine::Redb,
            min_free_bytes: 0,
            witness_policy: Some(Arc::clone(&policy)),
            ..LogOptions::default()
        };
        let metrics = Metrics::new();
        let (log, running) = Log::open(directory, signer(), &log_options, metrics.clone()).unwrap();
        // The threads of the log take real time.
        while !log.is_ready() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let size = log.snapshot().size().get();
        let (task, status) = Witnessing::new(log.clone(), policy, named, options, metrics.clone());
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(task.run(stopped));
        Self { log, status, metrics, stop, task, running, entries: size.into() }
    }

    /// Adds entries of others.
    async fn grow(&self, count: u64) {
        let first = self.entries.fetch_add(count, std::sync::atomic::Ordering::SeqCst);
        let entry = |number: u64| {
            let digest = Digest::of(&number.to_be_bytes());
            LogEntry::unsigned(Statement::new(StatementKind::Digest, digest)).unwrap()
        };
        let entries: Vec<_> = (first..first + count).map(entry).collect();
        // The log's own threads take real time; tokio's stands still while something blocks.
        let (log, runtime) = (self.log.clone(), tokio::runtime::Handle::current());
        let submit = move || runtime.block_on(log.submit(entries)).unwrap();
        tokio::task::spawn_blocking(submit).await.unwrap();
    }

    fn witnessed(&self) -> u64 {
        self.log.cosignatures().newest().borrow().map_or(0, |newest| newest.size)
    }

    fn measures(&self, line: &str) -> bool {
        self.metrics.encode(Format::Prometheus).lines().any(|known| known == line)
    }

    /// The checkpoint of `size` with its first lines, as a receipt carries it, judged by the policy.
    fn quorum(&self, size: u64, quorum: usize, witnesses: &[&Arc<Scripted>]) -> QuorumOutcome {
        let cosigned = self.log.cosignatures().at(size).unwrap().unwrap();
        let receipt = self.log.witnessed_receipt(0, &cosigned).unwrap().unwrap();
        let (policy, _) = policy(self.log.key(), quorum, witnesses);
        policy.check(receipt.proof.checkpoint()).unwrap().quorum()
    }

    async fn close(self) {
        self.stop.send_replace(true);
        self.task.await.unwrap();
        self.running.shut_down().unwrap();
    }
}

/// A checkpoint that the log has never signed, which no witness needs to know.
fn foreign(size: u64) -> Checkpoint {
    let size = TreeSize::new(size).unwrap();
    Checkpoint::new(Origin::new(ORIGIN).unwrap(), size, Digest::of(b"another tree"))
}

/// Waits in steps of tokio's time until something is so, and everything that follows from it too.
async fn until(what: impl Fn() -> bool) {
    for _ in 0..100_000 {
        if what() {
            // Time passes when nobody has anything to do.
            return sleep(Duration::from_millis(1)).await;
        }
        sleep(Duration::from_millis(20)).await;
    }
    panic!("it doesn't happen");
}

fn three() -> [Arc<Scripted>; 3] {
    ["a", "b", "c"].map(|name| Scripted::new(name, [Reply::Honest]))
}

#[tokio::test(start_paused = true)]
async fn a_quorum_makes_a_checkpoint_witnessed_and_an_idle_log_rests() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b, c] = three();
    c.script([Reply::Refuses("WITNESS.UNKNOWN_LOG")]);
    let world = World::open(&directory, 2, &[&a, &b, &c]);
    sleep(60 * S).await;
    // An empty log has nothing to show.
    assert_eq!((a.asked(), world.witnessed()), (0, 0));
    world.grow(3).await;
    until(|| world.witnessed() == 3).await;
    let outcome = world.quorum(3, 2, &[&a, &b, &c]);
    assert!(matches!(outcome, QuorumOutcome::Met { .. }), "{outcome:?}");
    assert_eq!(world.status.waited(), Duration::ZERO);
    // Only the log's own line is ever sent, and nothing is proved to whom nothing is known.
    let first = a.seen()[0].clone();
    assert_eq!((first.old.get(), first.proof.len()), (0, 0));
    assert_eq!(first.checkpoint.note().signatures().len(), 1);
    let (asked, refused) = (a.asked(), c.asked());
    sleep(3600 * S).await;
    assert_eq!((asked, a.asked(), b.asked()), (1, 1, 1));
    // Whoever refuses is asked again, ever less often.
    assert!(c.asked() > refused && c.asked() < 20, "{}", c.asked());
    let states = world.status.witnesses();
    assert_eq!(states[2].error.as_deref(), Some("WITNESS.UNKNOWN_LOG"));
    assert_eq!((states[0].size, states[0].failures), (Some(3), 0));

    // It goes on from what they know, at the interval.
    let begun = Instant::now();
    world.grow(2).await;
    until(|| world.witnessed() == 5).await;
    assert!(begun.elapsed() < 2 * S, "after an idle time at once");
    world.grow(1).await;
    until(|| world.witnessed() == 6).await;
    assert!(begun.elapsed() >= 10 * S, "{:?}", begun.elapsed());
    let last = a.seen().pop().unwrap();
    assert_eq!((last.old.get(), last.proof.is_empty()), (5, false));
    until(|| world.measures("anchorlog_witnessed_size 6")).await;
    assert!(world.measures("anchorlog_witness_requests_total{witness=\"a\"} 3"));
    world.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_witness_knows_is_learnt_from_its_409() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b, _] = three();
    let world = World::open(&directory, 2, &[&a, &b]);
    world.grow(4).await;
    until(|| world.witnessed() == 4).await;
    world.close().await;
    // After a restart the store says what they know. One has lost it all, the other was told elsewhere.
    let [fresh, _, _] = three();
    let world = World::open(&directory, 2, &[&fresh, &b]);
    world.grow(3).await;
    until(|| world.witnessed() == 7).await;
    let sizes = |witness: &Arc<Scripted>| -> Vec<u64> {
        witness.seen().iter().map(|request| request.old.get()).collect()
    };
    assert_eq!(sizes(&fresh), [4, 0, 4]);
    assert_eq!(sizes(&b), [0, 4, 4]);
    // 409 without a size: it is found out.
    b.script([Reply::Stale(None), Reply::Honest]);
    world.grow(1).await;
    until(|| world.witnessed() == 8).await;
    assert_eq!(sizes(&b)[3..], [7, 0, 7]);
    world.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_witness_that_is_ahead_gets_a_later_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b, _] = three();
    let world = World::open(&directory, 2, &[&a, &b]);
    world.grow(2).await;
    until(|| world.witnessed() == 2).await;
    // The next target is of 3; meanwhile somebody brings b the checkpoint of 5.
    a.script([Reply::Slow(3 * S), Reply::Honest]);
    b.script([Reply::Slow(2 * S), Reply::Honest]);
    sleep(20 * S).await;
    world.grow(1).await;
    until(|| a.asked() == 2 && b.asked() == 2).await;
    world.grow(2).await;
    let snapshot = world.log.snapshot();
    b.know(snapshot.checkpoint().checkpoint().clone());
    until(|| world.witnessed() == 5).await;
    assert_eq!(world.status.alarm(), None);
    world.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_witness_that_knows_better_stops_what_is_called_witnessed() {
    let published = 6;
    for (known, reply, expected) in [
        (Some(foreign(9)), Reply::Honest, AlarmCause::LargerSize { known: 9, published }),
        (Some(foreign(2)), Reply::Honest, AlarmCause::Inconsistent { from: 2, to: 6 }),
        (Some(foreign(6)), Reply::Honest, AlarmCause::OtherRoot { size: 6 }),
        (None, Reply::Stale(Some(99)), AlarmCause::LargerSize { known: 99, published }),
        (None, Reply::Inconsistent, AlarmCause::Inconsistent { from: 3, to: 6 }),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let [a, b, c] = three();
        let world = World::open(&directory, 2, &[&a, &b, &c]);
        world.grow(3).await;
        until(|| world.witnessed() == 3 && c.size() == 3).await;
        sleep(20 * S).await;
        // c is the slowest of them, so the others have cosigned before it speaks; it is in time all the
        // same for the one after.
        if let Some(known) = known {
            c.know(known);
        }
        c.script([reply]);
        world.grow(3).await;
        until(|| world.status.alarm().is_some()).await;
        let alarm = world.status.alarm().unwrap();
        assert_eq!((alarm.witness.as_str(), alarm.cause), ("c", expected));
        assert!(world.measures("anchorlog_witness_alarm 1"));
        assert!(world.measures("anchorlog_witness_alarms_total{witness=\"c\"} 1"));
        // Nothing new is witnessed, what is there stays, and nobody is asked any more.
        let (witnessed, asked) = (world.witnessed(), a.asked());
        world.grow(1).await;
        sleep(3600 * S).await;
        assert_eq!((world.witnessed(), a.asked()), (witnessed, asked));
        assert!(matches!(world.quorum(3, 2, &[&a, &b, &c]), QuorumOutcome::Met { .. }));
        world.close().await;

        // The cause isn't gone, so a restart changes nothing: nothing is stored before all were heard.
        let world = World::open(&directory, 2, &[&a, &b, &c]);
        world.grow(1).await;
        until(|| world.status.alarm().is_some()).await;
        sleep(600 * S).await;
        assert_eq!(world.witnessed(), witnessed);
        world.close().await;
        // Gone it is when that witness is no longer asked.
        let world = World::open(&directory, 2, &[&a, &b]);
        let size = world.log.snapshot().size().get();
        until(|| world.witnessed() == size).await;
        world.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn equal_size_with_an_empty_409_is_another_root() {
    let directory = tempfile::tempdir().unwrap();
    let [a, _, _] = three();
    let refreshing = Options { refresh: 100 * S, ..options() };
    let world = World::with(directory.path(), 1, &[&a], refreshing);
    world.grow(1).await;
    until(|| world.witnessed() == 1).await;
    a.script([Reply::Stale(None)]);
    until(|| world.status.alarm().is_some()).await;
    assert_eq!(world.status.alarm().unwrap().cause, AlarmCause::OtherRoot { size: 1 });
    world.close().await;
}

#[tokio::test(start_paused = true)]
async fn nonsense_is_no_alarm() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b, c] = three();
    // 409 with what it was told, 422 where there was no proof, 409 that never tells.
    a.script([Reply::Stale(Some(0))]);
    b.script([Reply::Inconsistent]);
    c.script([Reply::Stale(None)]);
    let world = World::open(&directory, 1, &[&a, &b, &c]);
    world.grow(1).await;
    sleep(600 * S).await;
    assert_eq!((world.status.alarm(), world.witnessed()), (None, 0));
    let codes: Vec<_> =
        world.status.witnesses().into_iter().filter_map(|witness| witness.error).collect();
    assert_eq!(codes, [CONFLICT, REFUSED, CONFLICT]);
    assert!(world.status.waited() > 590 * S);
    // They come to their senses, and so does the log.
    a.script([Reply::Honest]);
    until(|| world.witnessed() == 1).await;
    world.close().await;
}

#[tokio::test(start_paused = true)]
async fn failures_are_retried_a_little_and_then_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b, c] = three();
    a.script([
        Reply::Fails("CLIENT.ANSWER", None),
        Reply::Fails("CLIENT.ANSWER", None),
        Reply::Honest,
    ]);
    b.script([Reply::Fails("WITNESS.TOO_MANY", Some(300 * S)), Reply::Honest]);
    c.script([Reply::Panic, Reply::Honest]);
    let world = World::open(&directory, 3, &[&a, &b, &c]);
    let begun = Instant::now();
    world.grow(1).await;
    until(|| a.size() == 1).await;
    assert!(begun.elapsed() < 5 * S && a.asked() == 3, "{:?} {}", begun.elapsed(), a.asked());
    until(|| c.size() == 1).await;
    assert!(begun.elapsed() >= 5 * S);
    assert_eq!((b.asked(), world.witnessed()), (1, 0));
    // The one that asked for it is left alone for that long.
    until(|| world.witnessed() == 1).await;
    assert!(begun.elapsed() >= 300 * S, "{:?}", begun.elapsed());
    assert!(world.measures("anchorlog_witness_offers_total{witness=\"b\",outcome=\"failed\"} 1"));
    assert!(world.measures("anchorlog_witness_offers_total{witness=\"b\",outcome=\"cosigned\"} 1"));
    world.close().await;
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_one_that_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b, c] = three();
    let fast = Options { interval: S, ..options() };
    let world = World::with(directory.path(), 2, &[&a, &b, &c], fast);
    world.grow(1).await;
    until(|| world.witnessed() == 1).await;
    c.script([Reply::Hang]);
    let begun = Instant::now();
    for size in 2..12 {
        world.grow(1).await;
        until(|| world.witnessed() == size).await;
    }
    assert!(begun.elapsed() < 15 * S, "{:?}", begun.elapsed());
    assert!(c.asked() <= 4, "{}", c.asked());
    until(|| world.status.witnesses()[2].error.as_deref() == Some(LATE)).await;
    // At its start a log waits for all to speak, or to fail, before it stores anything.
    world.close().await;
    let world = World::with(directory.path(), 2, &[&a, &b, &c], options());
    let begun = Instant::now();
    world.grow(1).await;
    until(|| world.witnessed() == 12).await;
    assert!(begun.elapsed() >= 5 * S, "{:?}", begun.elapsed());
    world.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_day_has_no_more_requests_than_the_allowance() {
    let directory = tempfile::tempdir().unwrap();
    let [a, _, _] = three();
    let sparing = Options { daily_allowance: 100, ..options() };
    let world = World::with(directory.path(), 1, &[&a], sparing);
    for _ in 0..24 * 6 {
        world.grow(1).await;
        sleep(600 * S).await;
    }
    assert!((80..=100).contains(&a.asked()), "{}", a.asked());
    world.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_checkpoint_is_cosigned_anew_while_the_log_is_idle() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b, _] = three();
    let refreshing = Options { refresh: 3600 * S, ..options() };
    let world = World::with(directory.path(), 2, &[&a, &b], refreshing);
    world.grow(2).await;
    until(|| world.witnessed() == 2).await;
    // What the receipts carry is the first line, what is served the last.
    let first = world.log.cosignatures().at(2).unwrap().unwrap().first_lines();
    b.script([Reply::ClockOff(5), Reply::Honest]);
    sleep(3700 * S).await;
    until(|| a.asked() == 2 && b.asked() == 2).await;
    let lines = || world.log.cosignatures().at(2).unwrap().unwrap().lines.len();
    until(|| lines() == 4).await;
    let again = a.seen()[1].clone();
    assert_eq!((again.old.get(), again.proof.len()), (2, 0));
    let cosigned = world.log.cosignatures().at(2).unwrap().unwrap();
    assert_eq!(cosigned.first_lines(), first);
    let served = world.log.cosignatures().lines_of_newest(2);
    let of_b = first.iter().find(|line| line.name().as_str() == "b").unwrap();
    assert_eq!((served.len(), served.contains(of_b)), (2, false));
    assert!(matches!(world.quorum(2, 2, &[&a, &b]), QuorumOutcome::Met { .. }));
    world.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_differs_is_an_alarm_and_no_reason_to_refuse() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b, _] = three();
    a.script([Reply::ClockOff(30)]);
    b.script([Reply::ClockOff(-3600)]);
    let world = World::open(&directory, 2, &[&a, &b]);
    world.grow(1).await;
    until(|| world.witnessed() == 1).await;
    assert!(world.measures("anchorlog_witness_clock_alarms_total{witness=\"a\"} 0"));
    assert!(world.measures("anchorlog_witness_clock_alarms_total{witness=\"b\"} 1"));
    let states = world.status.witnesses();
    assert!(states[0].clock_offset_ms > 20_000 && states[1].clock_offset_ms < -3_500_000);
    world.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_stamped_is_offered_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let [a, _, _] = three();
    let slow = Options { interval: 3600 * S, ..options() };
    let world = World::with(directory.path(), 1, &[&a], slow);
    world.grow(1).await;
    until(|| world.witnessed() == 1).await;
    world.grow(1).await;
    sleep(60 * S).await;
    assert_eq!(world.witnessed(), 1);
    world.log.announce_stamping(&world.log.snapshot());
    until(|| world.witnessed() == 2).await;
    world.close().await;
}
