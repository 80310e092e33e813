//! The monitor against an honest log and every lie, with a clock of its own.
#![allow(clippy::disallowed_methods, reason = "tests build their own worlds")]

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::note::KeyName;
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use serde_json::Value;

use super::*;
use crate::follow::testing::MemoryLog;

/// A stream that remembers.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Heard {
    /// The events since the last call.
    fn events(&self) -> Vec<Value> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The same, as `type code` or `type index`.
    fn told(&self) -> Vec<String> {
        let name = |event: &Value| {
            let what = event["code"].as_str().map_or(event["index"].to_string(), str::to_owned);
            format!("{} {what}", event["type"].as_str().unwrap())
        };
        self.events().iter().map(name).collect()
    }
}

struct World {
    root: tempfile::TempDir,
    now: Arc<AtomicI64>,
    heard: Heard,
    policy: String,
    watches: Watches,
    hook: Option<String>,
    from_now: bool,
}

type Watcher = Monitor<Box<dyn Fn() -> i64 + Send>>;

impl World {
    fn new(log: &MemoryLog) -> Self {
        Self {
            root: tempfile::tempdir().unwrap(),
            now: Arc::new(AtomicI64::new(1_000_000)),
            heard: Heard::default(),
            policy: format!("log {}\nquorum none\n", log.signer.verifier_key()),
            watches: Watches::default(),
            hook: None,
            from_now: false,
        }
    }

    fn serve(&self, log: &MemoryLog) {
        let path = self.log();
        if path.exists() {
            fs::remove_dir_all(&path).unwrap();
        }
        log.publish_to(&path);
    }

    fn log(&self) -> PathBuf {
        self.root.path().join("log")
    }

    fn open(&self) -> Watcher {
        let mut outputs = vec![Output::Lines(Lines::new(Box::new(self.heard.clone())))];
        if let Some(script) = &self.hook {
            let arguments = vec!["-c".to_owned(), script.clone()];
            let timeout = std::time::Duration::from_secs(30);
            outputs.push(Output::Hook(Hook { program: "sh".into(), arguments, timeout }));
        }
        let options = MonitorOptions {
            log: TileLocation::Directory(self.log()),
            keys: vec![MemoryLog::new(1).signer.verifier_key().clone()],
            policy: TlogPolicy::parse(self.policy.as_bytes()).unwrap(),
            authorities: Vec::new(),
            watches: self.watches.clone(),
            limits: Limits { no_answer: 60, silence: 1000, witness_lag: 100, clock: 5 },
            follow: FollowOptions::default(),
            from_now: self.from_now,
        };
        let now = Arc::clone(&self.now);
        let clock: Box<dyn Fn() -> i64 + Send> = Box::new(move || now.load(Ordering::Relaxed));
        let state = StateDir::at(self.root.path().join("state"));
        Monitor::open(options, &state, outputs, clock).unwrap()
    }

    fn wait(&self, seconds: i64) {
        self.now.fetch_add(seconds, Ordering::Relaxed);
    }

    async fn round(&self) -> (Round, Vec<String>) {
        let round = self.open().round().await.unwrap();
        (round, self.heard.told())
    }
}

fn entry(number: u64, trail: Option<&str>) -> LogEntry {
    let statement = Statement::new(StatementKind::Digest, Digest::of(&number.to_be_bytes()));
    LogEntry::unsigned(match trail {
        Some(trail) => statement.in_trail(trail.parse().unwrap(), Some(number)),
        None => statement,
    })
    .unwrap()
}

fn statements(count: u64, trail: impl Fn(u64) -> Option<&'static str>) -> MemoryLog {
    let mut log = MemoryLog::new(1);
    for number in 0..count {
        log.push(entry(number, trail(number)).leaf_bytes().to_vec());
    }
    log
}

fn plain(count: u64) -> MemoryLog {
    statements(count, |_| None)
}

#[tokio::test]
async fn what_is_watched_is_told_of_once_in_order() {
    let mut log = statements(700, |number| (number % 300 == 7).then_some("run-1"));
    let key = SigningKey::from_seed(&[9; 32]);
    let signed =
        LogEntry::signed(Statement::new(StatementKind::Digest, Digest::of(b"x")), &key).unwrap();
    log.push(signed.leaf_bytes().to_vec());
    let mut world = World::new(&log);
    world.watches.trails.insert("run-1".parse().unwrap());
    world.watches.keys.insert(signed.signer().unwrap());
    world.watches.digests.insert(Digest::of(&500_u64.to_be_bytes()));
    world.serve(&log);
    let (round, told) = world.round().await;
    assert_eq!((round.size, round.read), (701, 701));
    assert_eq!(told, ["entry 7", "entry 307", "entry 500", "entry 607", "entry 700"]);
    // Not again, not by another process either; and what is new is.
    assert!(world.round().await.1.is_empty());
    log.push(entry(9000, Some("run-1")).leaf_bytes().to_vec());
    world.serve(&log);
    world.open().round().await.unwrap();
    let events = world.heard.events();
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!(event["index"], 701);
    assert_eq!(event["watch"], serde_json::json!(["trail:run-1"]));
    assert_eq!(event["statement"]["sequence"], 9000);
    assert_eq!(event["schema"], SCHEMA);
    assert_eq!(event["number"], 5);
    assert_eq!(event["log"], "log.example");
}

#[tokio::test]
async fn an_output_that_fails_is_told_again_and_the_others_are_not() {
    let log = statements(300, |number| (number > 297).then_some("run-1"));
    let mut world = World::new(&log);
    world.watches.trails.insert("run-1".parse().unwrap());
    world.serve(&log);
    let (out, broken) = (world.root.path().join("out"), world.root.path().join("broken"));
    fs::write(&broken, b"").unwrap();
    world.hook = Some(format!("test ! -e {} && cat >> {}", broken.display(), out.display()));
    let (round, told) = world.round().await;
    assert!(matches!(round.undelivered, Some(OutputError::Ended { code: Some(1), .. })));
    assert_eq!(told, ["entry 298", "entry 299"]);
    let (round, told) = world.round().await;
    assert!(round.undelivered.is_some() && told.is_empty());
    fs::remove_file(&broken).unwrap();
    let (round, told) = world.round().await;
    assert!(round.undelivered.is_none() && told.is_empty());
    let lines = fs::read_to_string(&out).unwrap();
    let ids: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["index"].clone())
        .collect();
    assert_eq!(ids, [298, 299]);
}

async fn alarmed(world: &World, code: &str) {
    let (_, told) = world.round().await;
    assert_eq!(told, [format!("alarm {code}")]);
    assert!(world.round().await.1.is_empty(), "{code} is told once");
    assert_eq!(
        world.open().alarms().iter().map(|one| one.code.as_str()).collect::<Vec<_>>(),
        [code]
    );
}

#[tokio::test]
async fn a_split_view_lasts_until_somebody_has_seen_to_it() {
    let log = plain(700);
    let world = World::new(&log);
    world.serve(&log);
    assert!(world.round().await.1.is_empty());
    world.serve(&statements(700, |_| Some("other")));
    alarmed(&world, "LOG.SPLIT_VIEW").await;
    // Both notes are kept.
    let evidence = world.open().alarms()[0].evidence.clone().unwrap();
    for note in ["seen.note", "shown.note", "report.json"] {
        assert!(Path::new(&evidence).join(note).exists(), "{note}");
    }
    world.serve(&log);
    assert!(world.round().await.1.is_empty(), "what was signed stays");
    let mut monitor = world.open();
    assert_eq!(monitor.acknowledge("LOG.ROLLBACK").unwrap(), 0);
    assert_eq!(monitor.acknowledge("LOG.SPLIT_VIEW").unwrap(), 1);
    monitor.round().await.unwrap();
    assert_eq!(world.heard.told(), ["clear LOG.SPLIT_VIEW"]);
    assert!(monitor.alarms().is_empty());
}

#[tokio::test]
async fn a_fork_at_a_later_size() {
    let log = plain(700);
    let world = World::new(&log);
    world.serve(&log);
    world.round().await;
    let mut fork = plain(699);
    fork.push(entry(5, Some("forked")).leaf_bytes().to_vec());
    fork.grow("later", 0);
    fork.push(entry(6, Some("forked")).leaf_bytes().to_vec());
    world.serve(&fork);
    alarmed(&world, "LOG.CONSISTENCY").await;
}

#[tokio::test]
async fn a_rollback_or_a_stale_checkpoint_is_over_when_the_log_is_back() {
    let log = plain(700);
    let world = World::new(&log);
    world.serve(&log);
    world.round().await;
    world.serve(&plain(300));
    alarmed(&world, "LOG.ROLLBACK").await;
    world.serve(&log);
    assert_eq!(world.round().await.1, ["clear LOG.ROLLBACK"]);
}

#[tokio::test]
async fn wrong_entries_tiles_and_signatures_each_have_a_name() {
    let log = plain(700);
    let world = World::new(&log);
    let mut swapped = plain(700);
    swapped.entries.swap(300, 301);
    let mut wrong = plain(700);
    wrong.entries[600] = entry(600, Some("wrong")).leaf_bytes().to_vec();
    for (lie, code) in [(&swapped, "LOG.ENTRY_INDEX"), (&wrong, "LOG.ENTRY")] {
        world.serve(lie);
        alarmed(&world, code).await;
        world.serve(&log);
        assert_eq!(world.round().await.1, [format!("clear {code}")]);
        fs::remove_dir_all(world.root.path().join("state")).unwrap();
    }
    let tile = world.log().join("tile/0/001");
    let bytes = fs::read(&tile).unwrap();
    fs::write(&tile, [&[bytes[0] ^ 1], &bytes[1..]].concat()).unwrap();
    alarmed(&world, "LOG.TILE").await;
    fs::remove_file(&tile).unwrap();
    assert_eq!(world.round().await.1, ["alarm LOG.MISSING"]);
    fs::write(&tile, bytes).unwrap();
    assert_eq!(world.round().await.1, ["clear LOG.TILE", "clear LOG.MISSING"]);
    let stranger = MemoryLog::new(2);
    fs::write(world.log().join("checkpoint"), stranger.checkpoint().to_bytes()).unwrap();
    alarmed(&world, "LOG.SIG").await;
}

#[tokio::test]
async fn what_is_no_statement_is_malformed_unless_the_log_is_foreign() {
    let mut log = plain(300);
    log.grow("not a statement", 2);
    let mut world = World::new(&log);
    world.serve(&log);
    alarmed(&world, "LOG.MALFORMED").await;
    assert!(world.open().alarms()[0].detail.contains("entry 300"));

    fs::remove_dir_all(world.root.path().join("state")).unwrap();
    world.watches.foreign = true;
    world.watches.digests.insert(Digest::of(b"not a statement 301"));
    assert_eq!(world.round().await.1, ["entry 301"]);
}

#[tokio::test]
async fn a_silent_log() {
    let log = plain(5);
    let world = World::new(&log);
    world.serve(&log);
    world.round().await;
    world.wait(1001);
    alarmed(&world, "LOG.SILENT").await;
    world.serve(&plain(6));
    assert_eq!(world.round().await.1, ["clear LOG.SILENT"]);
    fs::remove_dir_all(world.log()).unwrap();
    let (_, told) = world.round().await;
    assert_eq!(told, ["alarm LOG.MISSING"]);
    world.wait(61);
    assert_eq!(world.round().await.1, ["alarm LOG.SILENT"]);
    world.serve(&plain(6));
    assert_eq!(world.round().await.1, ["clear LOG.MISSING", "clear LOG.SILENT"]);
}

#[tokio::test]
async fn witnesses_that_are_missing_late_or_wrong() {
    let log = plain(5);
    let mut world = World::new(&log);
    let witness = CosignerKey::from_seed(KeyName::new("w.example").unwrap(), [7; 32]);
    let key = witness.verifier_key();
    world.policy = format!("log {}\nwitness W {key}\nquorum W\n", log.signer.verifier_key());
    let serve = |log: &MemoryLog, time: Option<u64>| {
        world.serve(log);
        let Some(time) = time else { return };
        let note = log.checkpoint();
        let line = witness.cosign(&note.checkpoint().to_text(), time).unwrap();
        let note = note.with_signature(line).unwrap();
        fs::write(world.log().join("checkpoint"), note.to_bytes()).unwrap();
    };
    serve(&log, None);
    assert!(world.round().await.1.is_empty());
    world.wait(101);
    alarmed(&world, "LOG.QUORUM").await;
    serve(&log, Some(1_000_101));
    assert_eq!(world.round().await.1, ["clear LOG.QUORUM"]);
    // A clock that is ahead of ours, until ours is there.
    serve(&log, Some(1_000_110));
    alarmed(&world, "LOG.CLOCK").await;
    world.wait(10);
    assert_eq!(world.round().await.1, ["clear LOG.CLOCK"]);
    // A line of the witness' name and key that isn't its own.
    let note = log.checkpoint();
    let line = witness.cosign(&plain(6).checkpoint().checkpoint().to_text(), 1_000_111).unwrap();
    fs::write(world.log().join("checkpoint"), note.with_signature(line).unwrap().to_bytes())
        .unwrap();
    alarmed(&world, "LOG.COSIGNATURE").await;
    serve(&log, Some(1_000_111));
    assert_eq!(world.round().await.1, ["clear LOG.COSIGNATURE"]);
}

#[tokio::test]
async fn it_can_begin_at_the_end() {
    let mut log = plain(700);
    log.grow("not a statement", 1);
    let mut world = World::new(&log);
    world.from_now = true;
    world.serve(&log);
    let (round, told) = world.round().await;
    assert_eq!((round.size, round.read), (701, 0));
    assert!(told.is_empty());
    log.push(entry(1, None).leaf_bytes().to_vec());
    world.serve(&log);
    assert_eq!(world.round().await.0.read, 1);
}

#[tokio::test]
async fn one_state_has_one_monitor() {
    let log = plain(5);
    let world = World::new(&log);
    let held = world.open();
    let state = StateDir::at(world.root.path().join("state"));
    let options = held.options.clone();
    let second = Monitor::open(options, &state, Vec::new(), crate::record::SystemClock);
    assert!(matches!(second, Err(MonitorError::Lock(_))));
}
