//! `verifier witness`: chains of checkpoint witnesses, and copies of audit trails held to them.

mod evaluate;
mod keys;
mod save;

use std::path::PathBuf;

use anchorlog_proto::jp::witness::TrailId;

use super::input::Inputs;
use super::output::{Answer, Evaluation};
use crate::jp::witness::{COMMAND, Report};
use crate::report::text::render;
use crate::report::{Facts, Report as HouseReport, Verdict};

/// Read what a checkpoint witness signed for an audit trail, and hold a copy of the trail to it.
///
/// The statements are read from the first one on (or on from --resume), each under a key you trust; a head you
/// fetched from the witness says how far they reach. With --records every checkpoint is held to the copy's exact
/// lines. Another holder's checkpoints are held to it with --expect, with or without a witness.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 holds, 1 a finding, 2 refused or unreadable, 3 internal error.
Examples:
  verifier witness --trail 3c5e… --key witness.pub --statements chain.jsonl --head head.jsonl
  verifier witness --trail 3c5e… --key witness.pub --statements chain.jsonl --head head.jsonl \\
      --records evaluations.jsonl --require-through 120
  verifier witness --trail 3c5e… --key witness.pub --statements new.jsonl --head head.jsonl \\
      --resume read.json --save read.json
  verifier witness --trail 3c5e… --records evaluations.jsonl --expect held.jsonl")]
pub(super) struct Args {
    /// The trail: the 32 hexadecimal digits that its chained records carry.
    #[arg(long, value_name = "HEX", value_parser = trail)]
    trail: TrailId,
    /// A witness' public key that you trust: 64 hexadecimal digits, or a file with them, PEM or 32 bytes.
    #[arg(long = "key", value_name = "KEYFILE|HEX", required_unless_present = "expect")]
    keys: Vec<String>,
    /// Statements as the witness serves them, one a line; - for standard input.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "keys")]
    statements: Vec<PathBuf>,
    /// The head that you fetched from the witness: one statement.
    #[arg(long, value_name = "FILE", requires = "keys")]
    head: Option<PathBuf>,
    /// A copy of the trail, its exact bytes: one record a line.
    #[arg(long, value_name = "JSONL")]
    records: Option<PathBuf>,
    /// Checkpoint lines that somebody holds, as they were handed over; at most 16 MiB.
    #[arg(long, value_name = "FILE", requires = "records")]
    expect: Option<PathBuf>,
    /// Records 1 to this one have to be covered: by the witness, or without one by --expect.
    #[arg(long, value_name = "N", requires = "records", value_parser = clap::value_parser!(u64).range(1..))]
    require_through: Option<u64>,
    /// Go on from what your own earlier reading of this trail saved.
    #[arg(long, value_name = "FILE", requires = "keys")]
    resume: Option<PathBuf>,
    /// Where to save the end of this reading, if nothing at all is found. May be the file of --resume.
    #[arg(long, value_name = "FILE", requires = "keys")]
    save: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Answer {
    let mut inputs = Inputs::default();
    let mut report = Report::new(args.trail);
    if let Err(refusal) = evaluate::evaluate(args, &mut inputs, &mut report) {
        report.refusal = Some(*refusal);
    }
    if let Some((path, continuation)) = args.save.as_deref().zip(report.continuation())
        && let Err(error) = save::replace(path, &(continuation.to_line() + "\n"))
    {
        report.refusal = Some(save::finding(path, &error));
    }
    answer(report, inputs)
}

fn answer(report: Report, inputs: Inputs) -> Answer {
    let verdict = report.verdict();
    let json = report.to_json();
    let files = inputs.into_files();
    Answer::Evaluation(Box::new(Evaluation {
        json,
        text: Box::new(move |style| {
            let shown = match verdict {
                Verdict::NotEvaluated => HouseReport::not_evaluated(COMMAND, report.findings()),
                _ => HouseReport::evaluated(COMMAND, Facts::default(), report.findings()),
            };
            render(&shown, &files, style) + &report.to_text()
        }),
        code: verdict.exit_code(),
    }))
}

fn trail(text: &str) -> Result<TrailId, String> {
    text.parse().map_err(|_| "a trail is 32 hexadecimal digits, lower case".to_owned())
}
