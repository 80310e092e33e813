//! A stopped log with something of everything, and what it answers.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::{KeyName, VerifierKey};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_proto::tile::{EntriesId, LevelShape};
use anchorlog_server::Error;
use anchorlog_server::index::{Engine, Posting};
use anchorlog_server::keys::LogKey;
use anchorlog_server::log::{Log, LogOptions, Running, tiles};
use anchorlog_server::metrics::Metrics;
use anchorlog_server::storage::wal::WalOptions;

use super::PATIENCE;
use super::copies::{Image, Scratch};

/// Memory of the index: the least it takes.
pub(super) const INDEX_MEMORY: u64 = 16 << 20;

const ORIGIN: &str = "log.example/tampered";

/// A log that was built and stopped.
pub(super) struct LogFixture {
    image: Image,
    key: VerifierKey,
    answers: Answers,
}

impl LogFixture {
    /// One with so many entries: plain ones, some in trails, some of these in conflict, some signed.
    pub(super) fn of(size: u64) -> Self {
        let scratch = Scratch::new();
        let data = scratch.path().join("data");
        fs::create_dir(&data).unwrap();
        LogKey::load_or_create(&data.join("key.pem")).unwrap();
        let (log, running) = open(&data).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut next = 0;
        // Records of many sizes, the last one of a single entry.
        for batch in (1..=500).cycle().step_by(23) {
            let end = (size - 1).min(next + batch);
            runtime.block_on(log.submit((next..end).map(entry).collect())).unwrap();
            next = end;
            if next == size - 1 {
                break;
            }
        }
        runtime.block_on(log.submit(vec![entry(size - 1)])).unwrap();
        let key = log.key().clone();
        let answers = Answers::of(&log).unwrap();
        running.shut_down().unwrap();
        Self { image: Image::of(&data), key, answers }
    }

    pub(super) fn image(&self) -> &Image {
        &self.image
    }

    pub(super) fn key(&self) -> &VerifierKey {
        &self.key
    }

    pub(super) fn answers(&self) -> &Answers {
        &self.answers
    }
}

/// Everything that a log of these entries says.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Answers {
    checkpoint: Vec<u8>,
    bundles: Vec<Vec<u8>>,
    tiles: Vec<Vec<u8>>,
    found: Vec<Vec<Posting>>,
    /// Where the log says it has a statement that is submitted again.
    known: Vec<u64>,
}

impl Answers {
    /// Opens the log of a directory, asks, and closes it.
    pub(super) fn of_directory(directory: &Path) -> Result<Self, String> {
        let (log, running) = open(directory).map_err(|error| error.to_string())?;
        let answers = Self::of(&log);
        running.shut_down().map_err(|error| error.to_string())?;
        answers
    }

    fn of(log: &Log) -> Result<Self, String> {
        let snapshot = log.snapshot();
        let size: TreeSize = snapshot.size();
        let bundles = LevelShape::of(0, size).tiles();
        let bundles = bundles.map(|(index, width)| EntriesId { index, width });
        let failed = |error: Error| error.to_string();
        let (mut found, mut known) = (Vec::new(), Vec::new());
        for number in (0..size.get()).step_by(3) {
            let entry = log.entry(number).unwrap().unwrap();
            let statement = entry.statement();
            found.push(log.lookup(&statement.digest, None, None, 100).map_err(failed)?.items);
            if let Some(trail) = &statement.trail {
                found.push(log.trail(trail, number, 10).map_err(failed)?.items);
            }
            if let Some(signer) = entry.signer() {
                found.push(log.submitter(&signer, number, 10).map_err(failed)?.items);
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let numbers: Vec<u64> = (0..size.get()).collect();
        for numbers in numbers.chunks(500) {
            let again = log.submit(numbers.iter().copied().map(entry).collect());
            let committed = runtime.block_on(again).map_err(|error| error.to_string())?;
            known.extend(committed.places.iter().map(|place| place.index));
        }
        Ok(Self {
            checkpoint: snapshot.note().to_vec(),
            bundles: bundles.map(|id| log.entries(id).unwrap().unwrap()).collect(),
            tiles: tiles(size).map(|id| log.tile(id).unwrap().unwrap()).collect(),
            found,
            known,
        })
    }
}

fn open(data: &Path) -> Result<(Log, Running), Error> {
    let name = KeyName::new(ORIGIN).unwrap();
    let key = LogKey::load(&data.join("key.pem")).unwrap();
    let options = LogOptions {
        engine: Engine::Fjall,
        index_memory: INDEX_MEMORY,
        wal: WalOptions { segment_bytes: 256 << 10 },
        min_free_bytes: 0,
        ..LogOptions::default()
    };
    let patience = Instant::now() + PATIENCE;
    let (log, running) = loop {
        match Log::open(data, key.signer(&name), &options, Metrics::new()) {
            // As in `undisturbed`.
            Err(Error::Lock(_)) if Instant::now() < patience => {
                thread::sleep(Duration::from_millis(1));
            }
            opened => break opened?,
        }
    };
    while !log.is_ready() {
        assert!(Instant::now() < patience, "the log is never ready");
        thread::sleep(Duration::from_millis(2));
    }
    Ok((log, running))
}

fn entry(number: u64) -> LogEntry {
    let digest = Digest::of(&number.to_be_bytes());
    let trail = |name: u64| format!("trail:{name}").parse().unwrap();
    match number % 4 {
        0 => LogEntry::unsigned(Statement::new(StatementKind::Digest, digest)),
        1 => LogEntry::unsigned(
            Statement::new(StatementKind::Checkpoint, digest)
                .in_trail(trail(number % 5), Some(number / 9)),
        ),
        2 => LogEntry::unsigned(
            Statement::new(StatementKind::ChainHead, digest).in_trail(trail(number % 3), None),
        ),
        _ => LogEntry::signed(
            Statement::new(StatementKind::Attestation, digest),
            &SigningKey::from_seed(&[u8::try_from(number % 7).unwrap(); 32]),
        ),
    }
    .unwrap()
}
