//! `verifier diff`: what changed between two reports.

use std::path::PathBuf;

use crate::cli::input::Inputs;
use crate::cli::output::{Answer, Evaluation};
use crate::finding::Finding;
use crate::gad::report::diff::{MAX_REPORT_BYTES, diff};

/// Compare two reports of `verifier envelope --json`: statuses, rules, inputs, findings.
///
/// Exit code 0: they say the same; 1: they differ.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  verifier diff before.json after.json
  verifier diff --json before.json after.json")]
pub(in crate::cli) struct Args {
    /// The older report.
    old: PathBuf,
    /// The newer report; - for standard input.
    new: PathBuf,
}

pub(in crate::cli) fn run(args: &Args) -> Answer {
    let mut inputs = Inputs::default();
    compare(args, &mut inputs).unwrap_or_else(|finding| Answer::refused("diff", finding, inputs))
}

fn compare(args: &Args, inputs: &mut Inputs) -> Result<Answer, Finding> {
    let limit = u64::try_from(MAX_REPORT_BYTES).unwrap_or(u64::MAX);
    let old = inputs.read("old report", &args.old, limit)?;
    let new = inputs.read("new report", &args.new, limit)?;
    let trim = |bytes: Vec<u8>| match bytes.strip_suffix(b"\n") {
        Some(trimmed) => trimmed.to_vec(),
        None => bytes,
    };
    let difference = diff(&trim(old), &trim(new)).map_err(|error| Finding::of_json(&error))?;
    let code = u8::from(!difference.is_empty());
    let text = difference.to_text();
    Ok(Answer::Evaluation(Box::new(Evaluation {
        json: difference.to_json(),
        text: Box::new(move |_| text),
        code,
    })))
}
