//! One connection's work: send, wait, count, again.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Target;
use super::connection::Connection;
use super::histogram::Histogram;
use super::payload::Payload;

/// When to count and when to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) measure_from: Instant,
    pub(super) end: Instant,
}

/// What one connection has to report.
#[derive(Debug, Default)]
pub(super) struct WorkerReport {
    pub(super) latencies: Histogram,
    pub(super) errors: BTreeMap<String, u64>,
    /// Number of the first statement and the body of the answer.
    pub(super) samples: Vec<(u64, Vec<u8>)>,
}

impl WorkerReport {
    pub(super) fn merge(&mut self, other: Self) {
        self.latencies.merge(&other.latencies);
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
        self.samples.extend(other.samples);
    }

    pub(super) fn count_error(&mut self, error: &str) {
        *self.errors.entry(error.to_owned()).or_default() += 1;
    }
}

/// One connection with its own request buffer.
#[derive(Debug)]
pub(super) struct Worker {
    connection: Option<Connection>,
    target: Arc<Target>,
    payload: Payload,
    /// How many answers to keep.
    share: usize,
    random: Xorshift,
    report: WorkerReport,
}

impl Worker {
    pub(super) fn new(
        connection: Connection,
        target: Arc<Target>,
        payload: Payload,
        share: usize,
        seed: u64,
    ) -> Self {
        Self {
            connection: Some(connection),
            target,
            payload,
            share,
            random: Xorshift(seed),
            report: WorkerReport::default(),
        }
    }

    pub(super) async fn run(
        mut self,
        clock: Clock,
        numbers: Arc<AtomicU64>,
        stopped: Arc<AtomicBool>,
    ) -> WorkerReport {
        let statements = self.payload.statements();
        loop {
            let start = Instant::now();
            if start >= clock.end || stopped.load(Ordering::Relaxed) {
                return self.report;
            }
            let first = numbers.fetch_add(statements, Ordering::Relaxed);
            let result = self.exchange(first, start, clock).await;
            match result {
                Ok(true) => {}
                Ok(false) => tokio::time::sleep(PAUSE).await,
                Err(error) => {
                    self.connection = None;
                    if start >= clock.measure_from {
                        self.report.count_error(&format!("connection: {}", error.kind()));
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// One request; whether it succeeded.
    async fn exchange(&mut self, first: u64, start: Instant, clock: Clock) -> io::Result<bool> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.target.host, self.target.port).await?,
        };
        let answer = connection.exchange(self.payload.renew(first)).await?;
        let done = Instant::now();
        let succeeded = answer.status == 200;
        // Counted by when it was answered: work begun before and answered within the time is work done.
        if clock.measure_from <= done && done < clock.end {
            if succeeded {
                self.report.latencies.record(done - start);
                let counted = self.report.latencies.count();
                if let Some(slot) = sample_slot(counted, self.share, &mut self.random) {
                    let sample = (first, answer.body.to_vec());
                    match self.report.samples.get_mut(slot) {
                        Some(old) => *old = sample,
                        None => self.report.samples.push(sample),
                    }
                }
            } else {
                self.report.count_error(&format!("HTTP {}", answer.status));
            }
        }
        if !answer.closing {
            self.connection = Some(connection);
        }
        Ok(succeeded)
    }
}

/// Reservoir sampling: where to keep the `counted`-th answer (from 1), if at all. Each answer ends up kept
/// with the same probability.
fn sample_slot(counted: u64, share: usize, random: &mut Xorshift) -> Option<usize> {
    let slot = if counted <= u64::try_from(share).unwrap_or(u64::MAX) {
        counted - 1
    } else {
        random.next() % counted
    };
    usize::try_from(slot).ok().filter(|slot| *slot < share)
}

/// Marsaglia's xorshift64: fast, and random enough to pick samples.
#[derive(Debug)]
struct Xorshift(u64);

impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// How long a connection rests after a refusal, so that an overloaded server isn't asked in a tight loop.
const PAUSE: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_over_the_whole_run() {
        let mut random = Xorshift(7);
        let mut kept = [0_u64; 10];
        for counted in 1..=10_000 {
            if let Some(slot) = sample_slot(counted, 10, &mut random) {
                kept[slot] = counted;
            }
        }
        assert!(kept.iter().all(|counted| *counted > 0), "{kept:?}");
        assert!(kept.iter().any(|counted| *counted > 5000), "{kept:?}");
        assert!((1..100).all(|counted| sample_slot(counted, 0, &mut random).is_none()));
    }
}
