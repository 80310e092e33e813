//! `verifier workflow drift`.

use std::path::PathBuf;

use anchorlog_proto::jp::attribution::{Drift, Projection, Summary, wire};

use super::accounting::{answer, limit, packs, projection};
use crate::cli::input::Inputs;
use crate::cli::output::Answer;
use crate::codes::attribution::BOUND;
use crate::codes::input::INTERNAL;
use crate::finding::Finding;
use crate::jp::attribution::{
    DRIFT, Packs, Report, ReportResult, account, compare_drift, refusal, within_total,
};

/// Compute how contributors differ between two executions (RFC 0028, a draft): after minus before.
///
/// Both sides are counted from their own outputs, under the same checks as `attribution`. Exit code 0 says that
/// both are consistent, and the stated drift if one is given; not that nothing differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 bulk-consistency, 1 a finding, 2 a refusal, 3 internal error.
Examples:
  verifier workflow drift before.json after.json --pack pack.json
  verifier workflow drift before.json after.json --pack old.json --pack new.json --drift drift.json
  verifier workflow drift before.json after.json --pack pack.json --as drift > drift.json")]
pub(in crate::cli) struct Args {
    /// The projection of the execution before (anchorlog.projection/1); - for standard input.
    before: PathBuf,
    /// The projection of the execution after.
    after: PathBuf,
    /// A pack's exact bytes; once for each pack that a stage of either side pins.
    #[arg(long = "pack", value_name = "FILE", required = true)]
    packs: Vec<PathBuf>,
    /// The stated drift (anchorlog.drift/1), to be compared with what is computed.
    #[arg(long, value_name = "FILE")]
    drift: Option<PathBuf>,
    /// What to print: the report, or the canonical drift that was computed.
    #[arg(long = "as", value_enum, default_value_t = Output::Report, value_name = "FORM")]
    output: Output,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Output {
    /// anchorlog.bulk-report/1, as text or, with --json, as JSON.
    Report,
    /// anchorlog.drift/1, its exact canonical bytes.
    Drift,
}

pub(super) fn run(args: &Args) -> Answer {
    let mut inputs = Inputs::default();
    let report =
        evaluate(args, &mut inputs).unwrap_or_else(|finding| Report::refused(COMMAND, finding));
    match (args.output, &report.document, report.result) {
        (Output::Drift, Some(bytes), ReportResult::BulkConsistency) => {
            Answer::Exact { bytes: bytes.clone(), code: 0 }
        }
        _ => answer(report, inputs),
    }
}

fn evaluate(args: &Args, inputs: &mut Inputs) -> Result<Report, Finding> {
    let before = projection(BEFORE, &args.before, inputs)?;
    let after = projection(AFTER, &args.after, inputs)?;
    let packs = packs(&args.packs, inputs)?;
    within_total([before.canonical_bytes, after.canonical_bytes, packs.bytes()])?;
    let stated = match &args.drift {
        Some(path) => {
            let bytes = inputs.read(DRIFT, path, limit(wire::MAX_WIRE_BYTES))?;
            Some(Drift::read(&bytes).map_err(|fault| refusal(&fault, DRIFT))?)
        }
        None => None,
    };
    let mut report = Report::new(COMMAND);
    let before = side(BEFORE, &before, &packs, &mut report)?;
    let after = side(AFTER, &after, &packs, &mut report)?;
    if report.result != ReportResult::BulkConsistency {
        // Counts of outputs that don't hold have no difference worth telling.
        return Ok(report);
    }
    let drift = Drift::between(&before, &after)
        .map_err(|error| Finding::new(BOUND, error.to_string()).in_input(AFTER))?;
    let bytes = drift.to_canonical();
    report.document = Some(bytes.map_err(|error| Finding::new(INTERNAL, error.to_string()))?);
    if let Some(stated) = &stated {
        report.stated = true;
        report.add(&compare_drift(stated, &drift));
    }
    Ok(report)
}

/// Counts one side; what is found is about that input.
fn side(
    role: &'static str,
    projection: &Projection,
    packs: &Packs,
    report: &mut Report,
) -> Result<Summary, Finding> {
    let accounted = account(projection, packs).map_err(|finding| finding.in_input(role))?;
    report.omitted += accounted.found.omitted();
    let findings = accounted.found.list().iter().cloned();
    findings.for_each(|finding| report.push(finding.in_input(role)));
    Ok(accounted.summary)
}

const COMMAND: &str = "workflow drift";
const BEFORE: &str = "before";
const AFTER: &str = "after";
