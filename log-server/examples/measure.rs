//! The measurements behind `scripts/bench` that need more than a client: baselines and bulk.
//!
//! - `measure bare ADDRESS`: an axum handler that parses the JSON of a statement and answers, and nothing
//!   else. What a log over HTTP costs is measured against it.
//! - `measure fdatasync DIRECTORY`: one `fdatasync` after overwriting 512 bytes of a prepared file.
//! - `measure fill DIRECTORY COUNT plain|trails`: founds a log and submits statements in process, 1,000 at a
//!   time; with `trails` each has a place in a trail, which is three rows in the index instead of one.
//! - `measure proofs DIRECTORY`: inclusion proofs of random entries at the newest size, in process.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a program for measuring prints, and stops at the first surprise"
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anchorlog_client::durable::{self, WritableFile};
use anchorlog_proto::Digest;
use anchorlog_proto::note::{KeyName, NoteSigner};
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_server::log::{Log, LogOptions, Running};
use anchorlog_server::metrics::Metrics;
use anchorlog_server::pool::SubmitError;
use axum::routing::post;
use axum::{Json, Router};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bare", address] => bare(address),
        ["fdatasync", directory] => fdatasync(Path::new(directory)),
        ["fill", directory, count, form] => {
            fill(Path::new(directory), count.parse().unwrap(), *form == "trails");
        }
        ["proofs", directory] => proofs(Path::new(directory)),
        _ => println!("see the first lines of this program's source"),
    }
}

/// What the bare handler reads: the members of a statement.
#[derive(serde::Deserialize)]
struct Bare {
    schema: String,
    kind: String,
    digest: String,
    trail: Option<String>,
    sequence: Option<u64>,
}

fn bare(address: &str) {
    let handler = post(|Json(body): Json<Bare>| async move {
        let length = body.schema.len() + body.kind.len() + body.digest.len();
        let place = body.trail.is_some().then_some(body.sequence);
        Json(serde_json::json!({ "length": length, "place": place }))
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        axum::serve(listener, Router::new().route("/", handler)).await.unwrap();
    });
}

fn fdatasync(directory: &Path) {
    let path: PathBuf = directory.join("fdatasync-probe");
    let file = WritableFile::open_or_create(&path).unwrap();
    file.write_all_at(&vec![0; 1 << 20], 0).unwrap();
    file.sync_all().unwrap();
    let times = (0..2_000_u64).map(|round| {
        let started = Instant::now();
        file.write_all_at(&[1; 512], round % 2_048 * 512).unwrap();
        file.sync_data().unwrap();
        started.elapsed()
    });
    report("fdatasync", times.collect());
    durable::remove_file(&path).unwrap();
}

fn open(directory: &Path) -> (Log, Running) {
    let signer = NoteSigner::from_seed(KeyName::new("measure.example").unwrap(), [1; 32]);
    Log::open(directory, signer, &LogOptions::default(), Metrics::new()).unwrap()
}

async fn ready(log: &Log) {
    while !log.is_ready() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn entry(number: u64, in_trail: bool) -> LogEntry {
    let digest = Digest::of(&number.to_be_bytes());
    let statement = Statement::new(StatementKind::ChainHead, digest);
    let trail = format!("run:{}", number / 10).parse().unwrap();
    let statement = if in_trail { statement.in_trail(trail, Some(number % 10)) } else { statement };
    LogEntry::unsigned(statement).unwrap()
}

fn fill(directory: &Path, count: u64, in_trail: bool) {
    const BATCH: u64 = 1_000;
    /// Entries between two lines of progress.
    const LAP: u64 = 1_000_000;
    let (log, running) = open(directory);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let started = Instant::now();
    runtime.block_on(async {
        ready(&log).await;
        let mut bytes = 0;
        let mut waiting = std::collections::VecDeque::new();
        let mut lap = Instant::now();
        for first in (0..count).step_by(usize::try_from(BATCH).unwrap()) {
            let entries: Vec<LogEntry> =
                (first..count.min(first + BATCH)).map(|number| entry(number, in_trail)).collect();
            bytes += entries.iter().map(|entry| entry.leaf_bytes().len()).sum::<usize>();
            let submitter = log.clone();
            waiting.push_back(tokio::spawn(async move { submit(submitter, entries).await }));
            if waiting.len() == 8 {
                waiting.pop_front().unwrap().await.unwrap();
            }
            let done = first + BATCH;
            if done.is_multiple_of(LAP) {
                println!("fill_at {done} entries_per_second {:.0}", rate(LAP, lap.elapsed()));
                lap = Instant::now();
            }
        }
        for submission in waiting {
            submission.await.unwrap();
        }
        println!("entry_bytes_mean {}", bytes / usize::try_from(count).unwrap());
    });
    println!("fill_entries_per_second {:.0}", rate(count, started.elapsed()));
    running.shut_down().unwrap();
    println!("fill_and_index_entries_per_second {:.0}", rate(count, started.elapsed()));
}

/// Submits until the log takes it: a log far ahead of its index asks to wait.
async fn submit(log: Log, entries: Vec<LogEntry>) {
    while let Err(error) = log.submit(entries.clone()).await {
        assert_eq!(error, SubmitError::Overloaded);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn proofs(directory: &Path) {
    let (log, running) = open(directory);
    let size = log.snapshot().size();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % size.get()
    };
    for _ in 0..1_000 {
        log.inclusion_proof(next(), size).unwrap();
    }
    let times = (0..20_000).map(|_| {
        let index = next();
        let started = Instant::now();
        log.inclusion_proof(index, size).unwrap();
        started.elapsed()
    });
    report("inclusion_proof", times.collect());
    running.shut_down().unwrap();
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 1_000].as_nanos();
    println!("{name}_ns min {} p50 {} p99 {}", at(0), at(500), at(990));
}

fn rate(count: u64, elapsed: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap()) / elapsed.as_secs_f64()
}
