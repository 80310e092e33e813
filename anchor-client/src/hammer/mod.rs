//! A load generator: many connections, each sending the next statement when the last one is answered.
//!
//! What it measures is what a client sees: the time from the first byte of a request to the last byte of its
//! answer. What it is not: polite. It writes to the log as much as the log takes, and what is logged stays.
//! Everything a connection sends is prepared once, answers are only counted, and a random
//! sample of them is kept to be verified after the clock has stopped.

mod connection;
mod histogram;
mod load;
mod payload;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anchorlog_proto::statement::{LogEntry, StatementError};
use tokio::task::JoinSet;

pub use histogram::Histogram;

use crate::address::LogUrl;
use connection::Connection;
use load::{Clock, Worker, WorkerReport};
use payload::{Payload, RunId};

/// What to do, and for how long.
#[derive(Clone, Debug)]
pub struct HammerOptions {
    /// Connections that send at the same time, 1 to [`MAX_CONNECTIONS`].
    pub connections: usize,
    /// How long to measure.
    pub duration: Duration,
    /// How long to send before measuring.
    pub warmup: Duration,
    /// Statements in a request; `None` sends single ones.
    pub batch: Option<usize>,
    /// Path below the log's address; `None` is the path of the log's interface for what is sent.
    pub path: Option<String>,
    /// How many answers to keep for verification, at most.
    pub sample: usize,
}

/// The most connections of one hammer.
pub const MAX_CONNECTIONS: usize = 4096;

/// What came of it.
#[derive(Clone, Debug)]
pub struct HammerOutcome {
    /// How long was measured.
    pub elapsed: Duration,
    /// Answers with status 200.
    pub requests: u64,
    /// Statements in those.
    pub statements: u64,
    /// Everything else, by what it was.
    pub errors: BTreeMap<String, u64>,
    /// Latencies of the answers with status 200.
    pub latencies: Histogram,
    /// Answers to verify.
    pub samples: Vec<Sample>,
}

impl HammerOutcome {
    /// Answered statements a second.
    #[must_use]
    pub fn statements_per_second(&self) -> f64 {
        per_second(self.statements, self.elapsed)
    }

    /// Answered requests a second.
    #[must_use]
    pub fn requests_per_second(&self) -> f64 {
        per_second(self.requests, self.elapsed)
    }
}

/// An answer that was kept, with what was sent for it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The statements of the request.
    pub entries: Vec<LogEntry>,
    /// The body of the answer.
    pub body: Vec<u8>,
}

/// Sends statements with new random digests until the time is up.
pub async fn run(log: &LogUrl, options: &HammerOptions) -> Result<HammerOutcome, HammerError> {
    let target = Target::of(log, options)?;
    if options.connections == 0 || options.connections > MAX_CONNECTIONS {
        return Err(HammerError::Connections { given: options.connections });
    }
    let run = RunId::random().map_err(|_| HammerError::Randomness)?;
    let payload = Payload::new(&target.authority, &target.path, options.batch, run)?;

    // All connections stand before the clock starts: what is measured is not how fast they are made.
    let mut connections = Vec::with_capacity(options.connections);
    for _ in 0..options.connections {
        let opened =
            tokio::time::timeout(CONNECT_TIMEOUT, Connection::open(&target.host, target.port));
        let opened = opened.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        connections
            .push(opened.map_err(|source| HammerError::Connect { log: log.clone(), source })?);
    }
    let target = Arc::new(target);
    let numbers = Arc::new(AtomicU64::new(0));
    let measure_from = Instant::now() + options.warmup;
    let clock = Clock { measure_from, end: measure_from + options.duration };
    // Every connection keeps its share, rounded up, so that small samples aren't empty.
    let share = options.sample.div_ceil(options.connections);
    let stopped = Arc::new(AtomicBool::new(false));
    let mut workers = JoinSet::new();
    for (seed, connection) in (1..).zip(connections) {
        let worker = Worker::new(connection, target.clone(), payload.clone(), share, seed);
        workers.spawn(worker.run(clock, numbers.clone(), stopped.clone()));
    }

    let mut total = WorkerReport::default();
    let give_up = tokio::time::Instant::from_std(clock.end + GRACE);
    loop {
        match tokio::time::timeout_at(give_up, workers.join_next()).await {
            Ok(Some(Ok(report))) => total.merge(report),
            Ok(Some(Err(_))) => total.count_error("worker failed"),
            Ok(None) => break,
            Err(_) => {
                // What is still waiting for an answer half a minute after the end gets none.
                for _ in 0..workers.len() {
                    total.count_error("no answer");
                }
                stopped.store(true, Ordering::Relaxed);
                break;
            }
        }
    }
    total.samples.truncate(options.sample);
    let samples = total
        .samples
        .into_iter()
        .map(|(first, body)| Ok(Sample { entries: payload.entries(first)?, body }));
    Ok(HammerOutcome {
        elapsed: options.duration,
        requests: total.latencies.count(),
        statements: total.latencies.count().saturating_mul(payload.statements()),
        errors: total.errors,
        samples: samples.collect::<Result<_, StatementError>>()?,
        latencies: total.latencies,
    })
}

/// Why the hammer could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HammerError {
    /// No connection.
    #[error("{log}: can't be reached: {source}")]
    Connect {
        /// The log.
        log: LogUrl,
        /// The reason.
        source: io::Error,
    },
    /// Too many connections, or none.
    #[error("{given} connections, where 1 to {MAX_CONNECTIONS} are possible")]
    Connections {
        /// The number asked for.
        given: usize,
    },
    /// The path can't stand in a request.
    #[error("`{path}`: a path begins with a slash and holds no spaces or control characters")]
    Path {
        /// The path.
        path: String,
    },
    /// The operating system gives no random numbers.
    #[error("the operating system gives no random numbers")]
    Randomness,
    /// The hammer speaks plain HTTP only.
    #[error("{log}: the hammer speaks plain http:// only; point it at the server behind the proxy")]
    Scheme {
        /// The log.
        log: LogUrl,
    },
    /// A statement can't be made.
    #[error(transparent)]
    Statement(#[from] StatementError),
}

/// Where connections go and what requests name.
#[derive(Debug)]
struct Target {
    host: String,
    port: u16,
    authority: String,
    path: String,
}

impl Target {
    fn of(log: &LogUrl, options: &HammerOptions) -> Result<Self, HammerError> {
        let scheme = || HammerError::Scheme { log: log.clone() };
        if log.is_https() {
            return Err(scheme());
        }
        let default = if options.batch.is_some() { "/v1/entries:batch" } else { "/v1/entries" };
        let path = options.path.as_deref().unwrap_or(default);
        if !path.starts_with('/') || path.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(HammerError::Path { path: path.to_owned() });
        }
        let url = log.join(path).map_err(|_| HammerError::Path { path: path.to_owned() })?;
        let host = url.host_str().ok_or_else(scheme)?;
        let port = url.port_or_known_default().ok_or_else(scheme)?;
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        Ok(Self {
            // A resolver wants an IPv6 address without its brackets.
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            authority: format!("{host}:{port}"),
            path: format!("{}{query}", url.path()),
        })
    }
}

fn per_second(count: u64, elapsed: Duration) -> f64 {
    let count = u32::try_from(count).map_or_else(
        // Counts above 2^32 lose digits nobody reads.
        |_| f64::from(u32::try_from(count >> 16).unwrap_or(u32::MAX)) * 65536.0,
        f64::from,
    );
    if elapsed.is_zero() { 0.0 } else { count / elapsed.as_secs_f64() }
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests;
