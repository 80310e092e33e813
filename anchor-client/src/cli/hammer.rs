//! `anchor hammer`: how much a log takes.

use std::time::Duration;

use anchorlog_proto::receipt::Receipt;
use anchorlog_verifier::report::Verdict;
use serde_json::json;

use super::log_args::{LogArgs, announce_first_use};
use super::report::{Form, Report};
use crate::api;
use crate::error::ClientError;
use crate::hammer::{self, HammerOptions, HammerOutcome, MAX_CONNECTIONS, Sample};
use crate::log::Log;
use crate::log_client::{CallError, MAX_BATCH};

/// Measure how many statements a log takes, and how fast.
///
/// Each connection sends statements with new random digests, one after the other. They are REALLY LOGGED
/// and stay: never point this at a log that matters. A sample of the answers is verified like any
/// receipt after the clock has stopped. Exit code 1 if an answer does not hold or none came.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor hammer --log http://127.0.0.1:7390 --connections 64 --duration 30
  anchor hammer --log http://127.0.0.1:7390 --connections 8 --batch 1000
  anchor hammer --log http://127.0.0.1:8080 --raw --url-path /bare")]
pub(super) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// Connections that send at the same time.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = connections)]
    connections: usize,
    /// Seconds to measure.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    duration: u64,
    /// Seconds to send before measuring.
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=3600))]
    warmup: u64,
    /// Statements in a request; without it they are sent one by one.
    #[arg(long, value_name = "N", value_parser = batch)]
    batch: Option<usize>,
    /// How many answers to verify.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16))]
    sample: u16,
    /// Count answers and verify none: for a server that isn't a log.
    #[arg(long)]
    raw: bool,
    /// Path to send to, instead of the log's own.
    #[arg(long, value_name = "PATH", requires = "raw")]
    url_path: Option<String>,
}

pub(super) async fn run(args: Args, _form: Form) -> Report {
    let mut report = Report::new("hammer");
    report.member("log", args.log.log.as_str());
    report.member("connections", args.connections);
    report.member("batch", args.batch);
    let options = HammerOptions {
        connections: args.connections,
        duration: Duration::from_secs(args.duration),
        warmup: Duration::from_secs(args.warmup),
        batch: args.batch,
        path: args.url_path.clone(),
        sample: if args.raw { 0 } else { usize::from(args.sample) },
    };
    // Known before the load: what comes back must be verifiable.
    let log = if args.raw { None } else { Some(known_log(&args).await) };
    let log = match log.transpose() {
        Ok(log) => log,
        Err(error) => {
            report.error(&error);
            return report;
        }
    };
    match hammer::run(&args.log.log, &options).await {
        Ok(outcome) => {
            describe(&mut report, &outcome);
            if let Some(log) = log {
                verify(&mut report, &log, outcome.samples).await;
            }
        }
        Err(error) => {
            report.fail(Verdict::NotEvaluated, "CLIENT.HAMMER", &error.to_string());
        }
    }
    report
}

async fn known_log(args: &Args) -> Result<Log, ClientError> {
    let log = args.log.open()?;
    log.trust().await?;
    announce_first_use(&log);
    Ok(log)
}

fn describe(report: &mut Report, outcome: &HammerOutcome) {
    let micros = |per_mille| outcome.latencies.quantile(per_mille).as_micros().to_string();
    let rate = outcome.statements_per_second();
    report.line(format!(
        "{rate:.0} statements/s ({:.0} requests/s) over {} s",
        outcome.requests_per_second(),
        outcome.elapsed.as_secs()
    ));
    report.line(format!(
        "latency in microseconds: p50 {}  p90 {}  p99 {}  p999 {}  max {}",
        micros(500),
        micros(900),
        micros(990),
        micros(999),
        outcome.latencies.max().as_micros()
    ));
    let failed: u64 = outcome.errors.values().sum();
    report.line(format!("{} answers, {failed} failures", outcome.requests));
    for (error, count) in &outcome.errors {
        report.line(format!("  {count} x {error}"));
    }
    let number = |per_mille| u64::try_from(outcome.latencies.quantile(per_mille).as_micros()).ok();
    report.member("elapsed_seconds", outcome.elapsed.as_secs());
    report.member("requests", outcome.requests);
    report.member("statements", outcome.statements);
    report.member("statements_per_second", rate);
    report.member("requests_per_second", outcome.requests_per_second());
    report.member(
        "latency_microseconds",
        json!({
            "p50": number(500),
            "p90": number(900),
            "p99": number(990),
            "p999": number(999),
            "max": u64::try_from(outcome.latencies.max().as_micros()).ok(),
        }),
    );
    report.member("failures", json!(outcome.errors));
    if outcome.requests == 0 {
        report.fail(Verdict::DoesNotHold, "CLIENT.HAMMER", "no request was answered with success");
    }
}

/// Verifies the sample, one after the other.
async fn verify(report: &mut Report, log: &Log, samples: Vec<Sample>) {
    let mut holding = 0_u64;
    for sample in samples {
        match verify_one(log, &sample).await {
            Ok(()) => holding += 1,
            Err(error) => {
                report.error(&error);
                break;
            }
        }
    }
    report.line(format!("{holding} answers verified"));
    report.member("verified", holding);
}

async fn verify_one(log: &Log, sample: &Sample) -> Result<(), ClientError> {
    let url = || log.address().to_string();
    if let [entry] = sample.entries.as_slice() {
        // A batch of one is answered as a batch.
        if let Ok(receipt) = Receipt::parse(&sample.body) {
            log.accept(receipt, Some(entry)).await?;
            return Ok(());
        }
    }
    let answer =
        api::read(&sample.body).map_err(|source| CallError::Answer { url: url(), source })?;
    log.accept_batch(&sample.entries, answer).await?;
    Ok(())
}

fn connections(text: &str) -> Result<usize, String> {
    within(text, MAX_CONNECTIONS)
}

fn batch(text: &str) -> Result<usize, String> {
    within(text, MAX_BATCH)
}

fn within(text: &str, limit: usize) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=limit).contains(number));
    number.ok_or_else(|| format!("a number from 1 to {limit} is expected"))
}
