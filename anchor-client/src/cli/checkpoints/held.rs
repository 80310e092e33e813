//! `anchor checkpoints held`: what a log holds of an audit trail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{AuditCheckpoint, TrailId};
use anchorlog_proto::statement::{StatementKind, Trail};
use anchorlog_verifier::report::Verdict;
use serde_json::{Value, json};

use super::lines;
use crate::cli::log_args::{LogArgs, announce_first_use};
use crate::cli::report::{Report, announce, count};
use crate::durable;
use crate::error::ClientError;
use crate::log::ProvenEntry;

/// List the checkpoints that a log holds of an audit trail, each proved to be in the log, as JSON lines.
///
/// A log holds digests of lines and not the lines. With --lines it is told lines, by whoever has them, and
/// writes those that it holds: the file for `--expect` of a verifier of the trail. A held checkpoint whose line
/// isn't among them is reported, with exit code 1: without it the file says less than the log does. Exit code 1 also when there is none.
/// That a log holds a checkpoint and leaves it out here can only be found by reading the whole log.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor checkpoints held --log https://log.example --trail 3c5e1a7f9b2d4c6e8a0f1b3d5c7e9a2b
  anchor checkpoints held --log https://log.example --trail 3c5e1a7f9b2d4c6e8a0f1b3d5c7e9a2b \\
      --lines checkpoints.jsonl --out expect.jsonl")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// The trail: 32 hexadecimal digits.
    #[arg(long, value_name = "HEX")]
    trail: TrailId,
    /// Checkpoint lines as they were printed; - for standard input.
    #[arg(long, value_name = "FILE")]
    lines: Option<PathBuf>,
    /// File for the lines that are held; without it they are printed.
    #[arg(long, value_name = "FILE", requires = "lines")]
    out: Option<PathBuf>,
    /// First index to list.
    #[arg(long, value_name = "INDEX", default_value_t = 0)]
    from: u64,
    /// The most entries to list.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    limit: u64,
}

pub(super) async fn run(args: Args) -> Report {
    let mut report = Report::new("checkpoints held");
    report.member("log", args.log.log.as_str());
    report.member("trail", args.trail.to_string());
    let lines = match args.lines.as_deref().map(lines).transpose() {
        Ok(lines) => lines,
        Err(error) => {
            error.report(&mut report);
            return report;
        }
    };
    if let Err(error) = held(&args, lines.as_deref(), &mut report).await {
        report.error(&error);
    }
    report
}

async fn held(
    args: &Args,
    lines: Option<&[AuditCheckpoint]>,
    report: &mut Report,
) -> Result<(), ClientError> {
    let log = args.log.open()?;
    let listing = log.trail(&Trail::from(args.trail), args.from, args.limit).await;
    announce_first_use(&log);
    let listing = listing?;
    let is_checkpoint =
        |entry: &&ProvenEntry| entry.entry.statement().kind == StatementKind::Checkpoint;
    let held: Vec<&ProvenEntry> = listing.entries.iter().filter(is_checkpoint).collect();
    report.member("entries", held.iter().map(|entry| value_of(entry)).collect::<Vec<_>>());
    report.member("next", listing.next);
    report.member("tree_size", listing.size);
    let conflicts = conflicts(&held);
    for sequence in &conflicts {
        announce(&format!(
            "warning: sequence {sequence} is held with more than one digest: the trail was rewritten, or \
             somebody else has written under its name"
        ));
    }
    report.member("conflicts", conflicts.into_iter().collect::<Vec<_>>());
    if let Some(next) = listing.next {
        let detail = format!("the log has more of the trail: --from {next} goes on there");
        report.fail(Verdict::NotEvaluated, "CLIENT.MORE", &detail);
    }
    if held.is_empty() {
        let detail = format!("the log names no checkpoint of trail {}", args.trail);
        report.fail(Verdict::DoesNotHold, "CLIENT.NOT_LOGGED", &detail);
    }
    match lines {
        None => held.iter().for_each(|entry| report.line(value_of(entry).to_string())),
        Some(lines) => expect(args, lines, &held, report)?,
    }
    Ok(())
}

/// Writes the lines that are held, and reports what is held without a line.
fn expect(
    args: &Args,
    lines: &[AuditCheckpoint],
    held: &[&ProvenEntry],
    report: &mut Report,
) -> Result<(), ClientError> {
    let digests: BTreeSet<Digest> =
        held.iter().map(|entry| entry.entry.statement().digest).collect();
    let given: BTreeSet<Digest> = lines.iter().map(AuditCheckpoint::line_digest).collect();
    let kept: Vec<String> = lines
        .iter()
        .filter(|line| digests.contains(&line.line_digest()))
        .map(AuditCheckpoint::to_line)
        .collect();
    match &args.out {
        Some(path) => {
            let text: String = kept.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            durable::write_replace(path, text.as_bytes())?;
            report.line(format!("{} held: {}", count(kept.len(), "line"), path.display()));
            report.member("lines_file", path.display().to_string());
        }
        None => kept.iter().for_each(|line| report.line(line)),
    }
    report.member("lines_held", kept.len());
    report.member("lines_not_held", lines.len() - kept.len());
    let missing: Vec<Value> = held
        .iter()
        .filter(|entry| !given.contains(&entry.entry.statement().digest))
        .map(|entry| value_of(entry))
        .collect();
    if !missing.is_empty() {
        let detail = format!(
            "{} held without a line among those given: whoever keeps the trail has left them out, or never \
             printed them",
            count(missing.len(), "checkpoint")
        );
        report.fail(Verdict::DoesNotHold, "CLIENT.LINES_MISSING", &detail);
    }
    report.member("without_line", missing);
    Ok(())
}

/// The places that are held with more than one digest.
fn conflicts(held: &[&ProvenEntry]) -> BTreeSet<u64> {
    let mut first: BTreeMap<u64, Digest> = BTreeMap::new();
    let mut conflicts = BTreeSet::new();
    for entry in held {
        let statement = entry.entry.statement();
        let Some(sequence) = statement.sequence else { continue };
        if *first.entry(sequence).or_insert(statement.digest) != statement.digest {
            conflicts.insert(sequence);
        }
    }
    conflicts
}

fn value_of(entry: &ProvenEntry) -> Value {
    let statement = entry.entry.statement();
    json!({
        "digest": statement.digest.to_string(),
        "index": entry.index,
        "sequence": statement.sequence,
    })
}
