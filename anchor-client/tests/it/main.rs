//! The client against a log that tells the truth, and against one that doesn't.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "tests build their own worlds and fail by panicking"
)]

mod command;
mod commit;
mod core;
mod envelope;
mod envelope_archive;
mod envelope_killed;
mod fake_log;
mod honest;
mod killed;
mod lies;
mod network;
mod outbox;
mod record;
mod record_command;
mod record_faults;
mod record_story;
mod record_walk;
mod stamp;
mod stamp_command;
mod stamp_faults;
mod tsa;

use std::path::Path;
use std::time::Duration;

use anchorlog_client::error::ClientError;
use anchorlog_client::log::{KeySource, Log, LogOptions};
use anchorlog_client::retry::RetryPolicy;
use anchorlog_client::state::StateDir;
use anchorlog_proto::Digest;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};

use fake_log::FakeLog;

/// The statement with this number.
fn entry(number: u64) -> LogEntry {
    let digest = Digest::of(&number.to_be_bytes());
    LogEntry::unsigned(Statement::new(StatementKind::Digest, digest)).unwrap()
}

fn entries(numbers: std::ops::Range<u64>) -> Vec<LogEntry> {
    numbers.map(entry).collect()
}

/// A client that knows the log's key and tries once.
fn client(log: &FakeLog, state: &Path) -> Log {
    client_with(log, state, RetryPolicy::NEVER, Duration::from_secs(10))
}

fn client_with(log: &FakeLog, state: &Path, retry: RetryPolicy, timeout: Duration) -> Log {
    Log::new(LogOptions {
        address: log.url().parse().unwrap(),
        keys: KeySource::Vkey(log.vkey().parse().unwrap()),
        state: StateDir::at(state),
        timeout,
        retry,
    })
    .unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn code(error: &ClientError) -> &str {
    error.code()
}
