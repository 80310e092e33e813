//! A log that is anchored by authorities that do as they are told; below, by one that is real.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that meets something unexpected may stop where it stands"
)]

mod development;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, SignedCheckpoint};
use anchorlog_proto::merkle::{TreeSize, inclusion};
use anchorlog_proto::note::{KeyName, NoteSigner};
use anchorlog_proto::receipt::{Receipt, ReceiptState};
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_proto::timestamp::GenTime;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::testing::{Answer, GOOD, Scripted};
use super::*;
use crate::checkpoints::StoredToken;
use crate::clock::Clock;
use crate::error::Error;
use crate::index::Engine;
use crate::log::{Log, LogOptions, Running};
use crate::metrics::{Format, Metrics};

const INTERVAL: Duration = Duration::from_millis(30);
const PATIENCE: Duration = Duration::from_secs(30);

fn signer() -> NoteSigner {
    NoteSigner::from_seed(KeyName::new("log.example/anchoring").unwrap(), [5; 32])
}

async fn open(directory: &Path, quorum: usize) -> (Log, Running) {
    let options = LogOptions {
        engine: Engine::Redb,
        min_free_bytes: 0,
        anchor_quorum: quorum,
        ..LogOptions::default()
    };
    let (log, running) = Log::open(directory, signer(), &options, Metrics::new()).unwrap();
    while !log.is_ready() {
        sleep(Duration::from_millis(1)).await;
    }
    (log, running)
}

fn options() -> Options {
    let rules =
        Rules { interval: INTERVAL, after_entries: 0, renew_before: Duration::from_hours(1) };
    Options {
        rules,
        timeout: Duration::from_millis(300),
        clock_skew: Duration::from_mins(1),
        clock: Clock::system(),
    }
}

/// A log with its anchoring task.
struct World {
    log: Log,
    handle: Handle,
    metrics: Metrics,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    running: Running,
}

impl World {
    async fn open(directory: &TempDir, quorum: usize, authorities: &[&Arc<Scripted>]) -> Self {
        Self::with(directory, quorum, authorities, options()).await
    }

    async fn with<A: Authority + 'static>(
        directory: &TempDir,
        quorum: usize,
        authorities: &[&Arc<A>],
        options: Options,
    ) -> Self {
        let (log, running) = open(directory.path(), quorum).await;
        Self::of(log, running, authorities, options)
    }

    fn of<A: Authority + 'static>(
        log: Log,
        running: Running,
        authorities: &[&Arc<A>],
        options: Options,
    ) -> Self {
        let metrics = Metrics::new();
        let asked = authorities.iter().map(|one| -> Arc<dyn Authority> { Arc::<A>::clone(one) });
        let asked = asked.collect();
        let made = Anchoring::new(log.clone(), asked, options, metrics.clone());
        let (anchoring, handle) = made.unwrap();
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(anchoring.run(stopped));
        Self { log, handle, metrics, stop, task, running }
    }

    async fn anchored(&self, index: u64) {
        timeout(PATIENCE, self.log.anchored(index)).await.unwrap();
    }

    async fn close(self) {
        self.stop.send_replace(true);
        timeout(PATIENCE, self.task).await.unwrap().unwrap();
        self.running.shut_down().unwrap();
    }

    fn size(&self) -> u64 {
        self.log.snapshot().size().get()
    }

    /// The number behind `name` in the metrics.
    fn measured(&self, name: &str) -> Option<u64> {
        let text = self.metrics.encode(Format::Prometheus);
        text.lines().find_map(|line| line.strip_prefix(name))?.parse().ok()
    }

    fn measures(&self, line: &str) -> bool {
        self.metrics.encode(Format::Prometheus).lines().any(|known| known == line)
    }
}

async fn submit(log: &Log, range: std::ops::Range<u64>) {
    let entries: Vec<_> = range.map(entry).collect();
    log.submit(entries).await.unwrap();
}

fn entry(number: u64) -> LogEntry {
    let digest = Digest::of(&number.to_be_bytes());
    LogEntry::unsigned(Statement::new(StatementKind::Digest, digest)).unwrap()
}

/// The anchored receipt of an entry at a time, checked as far as the log's own signature and tree go.
fn receipt(log: &Log, index: u64, now: i64) -> Receipt {
    let found = log.checkpoints().anchored(index, now).unwrap().unwrap();
    let receipt = log.anchored_receipt(index, found).unwrap().unwrap();
    assert_eq!(receipt.state, ReceiptState::Anchored);
    let verified = receipt.proof.checkpoint().verify(log.key()).unwrap();
    let checkpoint = verified.checkpoint();
    let hashes = receipt.proof.hashes();
    inclusion::verify(index, checkpoint.size, &receipt.leaf_hash, hashes, &checkpoint.root)
        .unwrap();
    assert_eq!(Receipt::parse(&receipt.to_json().unwrap()).unwrap(), receipt);
    receipt
}

fn size_of(receipt: &Receipt) -> u64 {
    receipt.proof.checkpoint().checkpoint().size.get()
}

async fn until(what: impl Fn() -> bool) {
    let patience = Instant::now() + PATIENCE;
    while !what() {
        assert!(Instant::now() < patience, "it doesn't happen");
        sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn one_token_anchors_ten_thousand_entries_and_an_idle_log_rests() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path(), 1).await;
    for first in (0..10_000).step_by(1_000) {
        submit(&log, first..first + 1_000).await;
    }
    let authority = Scripted::new("a", [GOOD]);
    let world = World::of(log, running, &[&authority], options());
    world.anchored(9_999).await;
    let now = Clock::system().unix_seconds();
    let first = receipt(&world.log, 0, now);
    assert_eq!((size_of(&first), first.timestamps.len()), (10_000, 1));
    // The token stamps the very note that the receipt carries.
    let note = first.proof.checkpoint().to_bytes();
    let stamped =
        format!("over sha256:{}", Digest::of(&note).to_string().trim_start_matches("sha256:"));
    assert!(String::from_utf8_lossy(&first.timestamps[0]).ends_with(&stamped), "{stamped}");
    for index in 1..10_000 {
        let receipt = receipt(&world.log, index, now);
        assert_eq!(receipt.proof.checkpoint(), first.proof.checkpoint());
        assert_eq!(receipt.timestamps, first.timestamps);
    }
    // The token's digest is an entry, and no reason to stamp again.
    until(|| world.size() == 10_001).await;
    let statement = world.log.entry(10_000).unwrap().unwrap().statement().clone();
    assert_eq!(statement, Statement::new(StatementKind::Anchor, Digest::of(&first.timestamps[0])));
    sleep(INTERVAL * 10).await;
    assert_eq!((authority.asked(), world.size()), (1, 10_001));
    assert_eq!(world.handle.status.waited(), Duration::ZERO);
    world.close().await;

    // Nor is a restart one.
    let world = World::open(&directory, 1, &[&authority]).await;
    sleep(INTERVAL * 10).await;
    assert_eq!((authority.asked(), world.size()), (1, 10_001));
    // The next entry is, and it takes the statement with it.
    submit(&world.log, 10_000..10_001).await;
    world.anchored(10_001).await;
    assert_eq!(authority.asked(), 2);
    assert_eq!(size_of(&receipt(&world.log, 10_000, now)), 10_002);
    assert_eq!(size_of(&receipt(&world.log, 9_999, now)), 10_000);
    world.close().await;
}

#[tokio::test]
async fn what_a_crash_left_out_is_made_up_for_once() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path(), 1).await;
    submit(&log, 0..3).await;
    // Durable, and then the power goes before the statement is in the log.
    let token = stored(&log, 3, b"the token");
    log.store_token(&token).unwrap();
    running.shut_down().unwrap();
    let authority = Scripted::new("a", [GOOD]);
    for _ in 0..3 {
        let world = World::open(&directory, 1, &[&authority]).await;
        until(|| world.size() == 4).await;
        sleep(INTERVAL * 3).await;
        let statement = world.log.entry(3).unwrap().unwrap().statement().clone();
        assert_eq!(statement, Statement::new(StatementKind::Anchor, Digest::of(b"the token")));
        assert_eq!((authority.asked(), world.size()), (0, 4));
        assert!(world.log.checkpoints().unlogged().is_empty());
        world.close().await;
    }
}

/// A token over the checkpoint that the log has at `size`, which must be the newest.
fn stored(log: &Log, size: u64, token: &[u8]) -> StoredToken {
    let snapshot = log.snapshot();
    assert_eq!(snapshot.size().get(), size);
    StoredToken {
        size,
        note: log.note_to_stamp(&snapshot).unwrap(),
        operator: "a".to_owned(),
        received: 0,
        expires: i64::MAX,
        gen_time: GenTime::from_unix(0),
        token: token.to_vec(),
    }
}

#[tokio::test]
async fn a_log_that_lost_what_was_countersigned_does_not_start() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path(), 1).await;
    submit(&log, 0..3).await;
    let token = stored(&log, 3, b"the token");
    let foreign = NoteSigner::from_seed(KeyName::new("log.example/anchoring").unwrap(), [6; 32]);
    let note = |size: u64, signer: &NoteSigner| {
        let origin = log.origin().clone();
        let size = TreeSize::new(size).unwrap();
        let checkpoint = Checkpoint::new(origin, size, Digest::of(b"another root"));
        SignedCheckpoint::sign(&checkpoint, signer).unwrap().to_bytes()
    };
    let ahead = StoredToken { size: 4, note: note(4, &signer()), ..token.clone() };
    let forked = StoredToken { note: note(3, &signer()), ..token.clone() };
    let strange = StoredToken { note: note(3, &foreign), ..token.clone() };
    running.shut_down().unwrap();
    let folder = directory.path().join("checkpoints");
    for wrong in [ahead, forked, strange] {
        let store = crate::checkpoints::CheckpointStore::open(directory.path(), 1).unwrap();
        store.append(&wrong).unwrap();
        drop(store);
        let options = LogOptions { engine: Engine::Redb, ..LogOptions::default() };
        let opened = Log::open(directory.path(), signer(), &options, Metrics::new());
        let Err(error) = opened else { unreachable!("it started") };
        let as_expected = matches!(
            error,
            Error::BehindCheckpoint { stored: 4, size: 3 }
                | Error::RootMismatch { size: 3 }
                | Error::ForeignLog { .. }
        );
        assert!(as_expected, "{error}");
        anchorlog_client::durable::remove_dir_all(&folder).unwrap();
    }
    let (_, running) = open(directory.path(), 1).await;
    running.shut_down().unwrap();
}

#[tokio::test]
async fn an_authority_that_hangs_holds_nobody_up() {
    let directory = tempfile::tempdir().unwrap();
    let hanging = Scripted::new("hanging", [Answer::Hang]);
    let good = Scripted::new("good", [GOOD]);
    let patient = Options { timeout: Duration::from_hours(1), ..options() };
    let world = World::with(&directory, 1, &[&hanging, &good], patient).await;
    submit(&world.log, 0..1).await;
    world.anchored(0).await;
    // The round still waits for the one that hangs; the log doesn't.
    for number in 1..20 {
        submit(&world.log, number..number + 1).await;
    }
    assert_eq!(hanging.asked(), 1);
    let states = || world.handle.status.authorities();
    until(|| states()[1].last_token.is_some()).await;
    assert!(states().iter().all(|state| state.failures == 0));
    assert!(states()[0].last_token.is_none());
    world.close().await;
}

#[tokio::test]
async fn authorities_that_hang_fail_or_break_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let hanging = Scripted::new("hanging", [Answer::Hang]);
    let lying = Scripted::new("lying", [Answer::Refuse("TSA.IMPRINT")]);
    let broken = Scripted::new("broken", [Answer::Panic]);
    let good = Scripted::new("good", [GOOD]);
    let world = World::open(&directory, 1, &[&hanging, &lying, &broken, &good]).await;
    submit(&world.log, 0..1).await;
    world.anchored(0).await;
    let failing = || {
        let states = world.handle.status.authorities();
        states[..3].iter().all(|state| state.failures > 0) && states[3].last_token.is_some()
    };
    until(failing).await;
    let states = world.handle.status.authorities();
    let codes: Vec<_> = states.iter().map(|state| state.error.as_deref()).collect();
    assert_eq!(codes, [Some(LATE), Some("TSA.IMPRINT"), Some("ANCHOR.INTERNAL"), None]);
    assert!(states[..3].iter().all(|state| state.last_token.is_none()));
    let attempts = |operator, outcome| {
        world.measured(&format!(
            "anchorlog_anchor_attempts_total{{operator=\"{operator}\",outcome=\"{outcome}\"}} "
        ))
    };
    assert!(attempts("lying", "failed").is_some_and(|times| times > 0));
    assert!(attempts("good", "stored").is_some_and(|times| times > 0));
    assert_eq!(attempts("good", "failed").unwrap_or_default(), 0);
    world.close().await;
}

#[tokio::test]
async fn gaps_close_with_a_checkpoint_that_comes_later() {
    let directory = tempfile::tempdir().unwrap();
    let hanging = Scripted::new("hanging", [Answer::Hang, GOOD]);
    let lying = Scripted::new("lying", [Answer::Refuse("TSA.IMPRINT"), GOOD]);
    let broken = Scripted::new("broken", [Answer::Panic, GOOD]);
    let world = World::open(&directory, 1, &[&hanging, &lying, &broken]).await;
    let begun = Instant::now();
    for number in 0.. {
        submit(&world.log, number..number + 1).await;
        sleep(INTERVAL).await;
        let states = world.handle.status.authorities();
        if states.iter().all(|state| state.failures == 0 && state.last_token.is_some()) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE);
    }
    world.close().await;
}

#[tokio::test]
async fn an_authority_that_stays_down_is_left_alone_ever_longer() {
    let directory = tempfile::tempdir().unwrap();
    let down = Scripted::new("down", [Answer::Refuse("TSA.STATUS")]);
    let world = World::open(&directory, 1, &[&down]).await;
    submit(&world.log, 0..1).await;
    sleep(INTERVAL * 32).await;
    // 30, 30, 60, 120, 240, 480 ms: far fewer than 31 rounds.
    assert!((2..=7).contains(&down.asked()), "{}", down.asked());
    assert!(world.handle.status.waited() >= INTERVAL * 31);
    assert_eq!(world.size(), 1);
    assert_eq!(world.log.checkpoints().at(1).unwrap(), None);
    // Whoever insists is obeyed.
    let round = world.handle.renew().await.unwrap();
    assert_eq!((round.size, round.anchored, round.stored.len()), (1, false, 0));
    assert_eq!(round.failed[0].1.code, "TSA.STATUS");
    world.close().await;
}

#[tokio::test]
async fn a_quorum_is_of_distinct_operators() {
    let directory = tempfile::tempdir().unwrap();
    let first = Scripted::new("a", [GOOD]);
    let second_chance = Scripted::new("a", [GOOD]);
    let other = Scripted::new("b", [Answer::Refuse("x"), GOOD]);
    let world = World::open(&directory, 2, &[&first, &second_chance, &other]).await;
    submit(&world.log, 0..1).await;
    let too_few = world.log.checkpoints().newest();
    until(|| first.asked() == 1 && world.size() > 1).await;
    assert_eq!(*too_few.borrow(), None);
    // Its tokens are shown, but nothing is anchored by them.
    assert_eq!(world.log.checkpoints().at(1).unwrap().unwrap().tokens.len(), 2);
    world.anchored(0).await;
    let receipt = receipt(&world.log, 0, Clock::system().unix_seconds());
    assert_eq!(receipt.timestamps.len(), 2);
    assert!(size_of(&receipt) > 1);
    world.close().await;
}

#[tokio::test]
async fn a_clock_that_differs_is_an_alarm_and_its_token_kept() {
    let directory = tempfile::tempdir().unwrap();
    let slow = Scripted::new("slow", [Answer::Token { good_for: 100_000, clock_off: -7_200 }]);
    let right = Scripted::new("right", [GOOD]);
    let world = World::open(&directory, 2, &[&slow, &right]).await;
    submit(&world.log, 0..1).await;
    world.anchored(0).await;
    until(|| world.measures("anchorlog_anchor_clock_alarms_total{operator=\"slow\"} 1")).await;
    assert!(world.measures("anchorlog_anchor_clock_alarms_total{operator=\"right\"} 0"));
    let offsets: Vec<_> =
        world.handle.status.authorities().iter().map(|state| state.clock_offset_ms).collect();
    assert!((-7_201_000..-7_190_000).contains(&offsets[0]), "{offsets:?}");
    assert!(offsets[1].abs() < 1_000, "{offsets:?}");
    world.close().await;
}

#[tokio::test]
async fn a_token_is_renewed_before_it_runs_out() {
    let directory = tempfile::tempdir().unwrap();
    let short = Answer::Token { good_for: 3, clock_off: 0 };
    let authority = Scripted::new("a", [short, GOOD]);
    let world = World::open(&directory, 1, &[&authority]).await;
    let now = Clock::system().unix_seconds();
    submit(&world.log, 0..1).await;
    world.anchored(0).await;
    // Nobody submits anything, and yet:
    until(|| authority.asked() == 2 && world.size() == 3).await;
    sleep(INTERVAL * 5).await;
    assert_eq!(authority.asked(), 2);
    // As long as the first token is good it bounds the time best; then the entry is proved in the tree that
    // was stamped anew.
    let before = receipt(&world.log, 0, now);
    let after = receipt(&world.log, 0, now + 10);
    assert_eq!((size_of(&before), size_of(&after)), (1, 2));
    assert_ne!(before.timestamps, after.timestamps);
    // The smaller tree is the beginning of the larger one.
    let size = |size| TreeSize::new(size).unwrap();
    let proof = world.log.consistency_proof(size(1), size(2)).unwrap();
    let root = |receipt: &Receipt| receipt.proof.checkpoint().checkpoint().root;
    let (old, new) = (root(&before), root(&after));
    anchorlog_proto::merkle::consistency::verify(size(1), size(2), &old, &new, &proof).unwrap();
    world.close().await;
}

#[tokio::test]
async fn renewing_on_demand_stamps_what_is_newest() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Scripted::new("a", [GOOD]);
    let slow = Options {
        rules: Rules { interval: Duration::from_hours(1), ..options().rules },
        ..options()
    };
    let world = World::with(&directory, 1, &[&authority], slow).await;
    let round = world.handle.renew().await.unwrap();
    assert_eq!((round.size, round.anchored, authority.asked()), (0, false, 0));
    submit(&world.log, 0..7).await;
    let round = world.handle.renew().await.unwrap();
    assert_eq!((round.size, round.anchored, round.stored.len()), (7, true, 1));
    assert_eq!(world.size(), 8);
    let round = world.handle.renew().await.unwrap();
    assert_eq!((round.size, world.size()), (8, 9));
    let handle = world.handle.clone();
    world.close().await;
    assert_eq!(handle.renew().await, None);
}

#[tokio::test]
async fn stopping_waits_for_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let hanging = Scripted::new("hanging", [Answer::Hang]);
    let patient = Options { timeout: PATIENCE * 2, ..options() };
    let world = World::with(&directory, 1, &[&hanging], patient).await;
    submit(&world.log, 0..1).await;
    until(|| hanging.asked() == 1).await;
    let begun = Instant::now();
    world.close().await;
    assert!(begun.elapsed() < PATIENCE / 2);
}
