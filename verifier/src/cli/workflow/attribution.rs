//! `verifier workflow attribution`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::attribution::{AuditRecord, ExecutionPins, Projection, Summary, wire};
use anchorlog_proto::jp::json::Bounds;
use anchorlog_proto::statement::StatementKind;

use super::accounting::{answer, limit, packs, projection};
use crate::cli::digests;
use crate::cli::input::{Inputs, MAX_EVIDENCE_BYTES};
use crate::cli::output::Answer;
use crate::cli::trust::TrustArgs;
use crate::cli::usage;
use crate::codes::attribution::EXPECTED;
use crate::codes::input::INTERNAL;
use crate::finding::Finding;
use crate::jp::attribution::replay::{Audits, replay};
use crate::jp::attribution::traces::{TracedExport, compare_traces, read_export, unpinned};
use crate::jp::attribution::{
    AUDIT, EXECUTION, EXPORT, Expectation, MAX_TOTAL_BYTES, PROJECTION, Report, ReportResult,
    SUMMARY, account, compare_execution, compare_summary, refusal, within_total,
};
use crate::receipt::{Expectations, RECEIPT, ReadFailure, examine_receipt, read_receipt};

/// Account for the contributors of a workflow's outputs (RFC 0028, a draft).
///
/// Every output is held against its pin and its pack, and the summary is counted anew. Agreement is
/// `bulk-consistency`: the evidence is consistent with itself. An omission that was made everywhere shows only
/// against a digest you hold independently (--expect-summary, --receipt) or by a replay.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 bulk-consistency, 1 a finding, 2 a refusal, 3 internal error.
Examples:
  verifier workflow attribution projection.json --pack pack.json --summary summary.json
  verifier workflow attribution projection.json --pack pack.json --as summary > summary.json
  verifier workflow attribution projection.json --pack pack.json --expect-summary sha256:2cf24dba…
  verifier workflow attribution projection.json --pack pack.json --receipt r.json --policy logs.policy
  verifier workflow attribution projection.json --pack pack.json --replay --audit trail.jsonl --json
  verifier workflow attribution projection.json --pack pack.json --execution e.json --export run.json")]
pub(in crate::cli) struct Args {
    /// The projection (anchorlog.projection/1); - for standard input.
    projection: PathBuf,
    /// A pack's exact bytes; once for each pack that a stage pins.
    #[arg(long = "pack", value_name = "FILE", required = true)]
    packs: Vec<PathBuf>,
    /// The stated summary (anchorlog.summary/1), to be compared with what is counted.
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// The execution record (version 3), whose pins the projection should have.
    #[arg(long, value_name = "FILE")]
    execution: Option<PathBuf>,
    /// Digest of the canonical summary, from somewhere independent.
    #[arg(long, value_name = "DIGEST", value_parser = digests::parse)]
    expect_summary: Option<Digest>,
    /// Digest of the canonical execution record, from somewhere independent.
    #[arg(long, value_name = "DIGEST", value_parser = digests::parse, requires = "execution")]
    expect_execution: Option<Digest>,
    /// A receipt of a log: of kind digest over the summary, or of kind `execution_digest` over the record.
    #[arg(long, value_name = "FILE", requires = "trust")]
    receipt: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustArgs,
    /// Evaluate the packs again on the inputs of the pinned audit records.
    #[arg(long, requires = "audits")]
    replay: bool,
    /// An audit trail, one record a line; may be given several times.
    #[arg(long = "audit", id = "audits", value_name = "JSONL", requires = "replay")]
    audits: Vec<PathBuf>,
    /// A run export, whose recorded trace tells who contributed; may be given several times. A trace is
    /// informative and unsigned: membership becomes trace-derived by it, never replayed.
    #[arg(long = "export", value_name = "FILE")]
    exports: Vec<PathBuf>,
    /// What to print: the report, or the canonical summary that was counted.
    #[arg(long = "as", value_enum, default_value_t = Output::Report, value_name = "FORM")]
    output: Output,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Output {
    /// anchorlog.bulk-report/1, as text or, with --json, as JSON.
    Report,
    /// anchorlog.summary/1, its exact canonical bytes: what to log and to expect the digest of.
    Summary,
}

pub(super) fn run(args: &Args) -> Answer {
    let mut inputs = Inputs::default();
    let report =
        evaluate(args, &mut inputs).unwrap_or_else(|finding| Report::refused(COMMAND, finding));
    match (args.output, &report.document, report.result) {
        (Output::Summary, Some(bytes), ReportResult::BulkConsistency) => {
            Answer::Exact { bytes: bytes.clone(), code: 0 }
        }
        _ => answer(report, inputs),
    }
}

fn evaluate(args: &Args, inputs: &mut Inputs) -> Result<Report, Finding> {
    let projection = projection(PROJECTION, &args.projection, inputs)?;
    let packs = packs(&args.packs, inputs)?;
    within_total([projection.canonical_bytes, packs.bytes()])?;
    let stated = match &args.summary {
        Some(path) => {
            let bytes = inputs.read(SUMMARY, path, limit(wire::MAX_WIRE_BYTES))?;
            Some(Summary::read(&bytes).map_err(|fault| refusal(&fault, SUMMARY))?)
        }
        None => None,
    };
    let execution = match &args.execution {
        Some(path) => {
            let bytes = inputs.read(EXECUTION, path, limit(Bounds::EXECUTION.bytes))?;
            Some(ExecutionPins::read(&bytes).map_err(|fault| refusal(&fault, EXECUTION))?)
        }
        None => None,
    };
    let accounted = account(&projection, &packs)?;
    let mut report = Report::new(COMMAND);
    report.add(&accounted.found);
    if let Some(execution) = &execution {
        report.add(&compare_execution(execution, &projection));
    }
    if let Some(stated) = &stated {
        report.stated = true;
        report.add(&compare_summary(stated, &accounted.summary));
    }
    let digest = if accounted.found.is_empty() {
        let bytes = accounted.summary.to_canonical();
        let bytes = bytes.map_err(|error| Finding::new(INTERNAL, error.to_string()))?;
        Some(Digest::of(report.document.insert(bytes)))
    } else {
        None
    };
    let record = execution.as_ref().map(|pins| pins.digest);
    let counted = Counted { summary: digest, execution: record };
    expectations(args, &counted, &mut report);
    receipt(args, &counted, &mut report, inputs)?;
    let trails = trails(args, inputs)?;
    let audits = audits(&trails, &pinned_audits(&projection))?;
    if args.replay {
        report.add_replay(&replay(&projection, &packs, &audits));
    }
    if !args.exports.is_empty() {
        let exports = exports(args, &pinned_audits(&projection), &mut report, inputs)?;
        let runs = execution.as_ref().and_then(|pins| pins.runs.as_deref());
        let audits = args.replay.then_some(&audits);
        report.add_traces(&compare_traces(&projection, &packs, &exports, runs, audits));
    }
    Ok(report)
}

/// The digests that there are to compare.
struct Counted {
    /// `None` where the outputs could not be counted.
    summary: Option<Digest>,
    /// `None` where no execution record was given.
    execution: Option<Digest>,
}

fn expectations(args: &Args, counted: &Counted, report: &mut Report) {
    for (of, expected, actual) in [
        ("summary", args.expect_summary, counted.summary),
        ("execution", args.expect_execution, counted.execution),
    ] {
        let Some(digest) = expected else { continue };
        report.expectations.push(Expectation { of, held_by: "caller", digest });
        if actual != Some(digest) {
            let detail = format!("the {of} is not the one that was expected");
            let actual = actual.map_or("not counted".to_owned(), |digest| digest.to_string());
            report.push(Finding::new(EXPECTED, detail).in_input(of).compared(digest, actual));
        }
    }
}

/// Checks the receipt, if there is one: under the policy, and over what was counted.
fn receipt(
    args: &Args,
    counted: &Counted,
    report: &mut Report,
    inputs: &mut Inputs,
) -> Result<(), Finding> {
    let trust = args.trust.load(inputs)?;
    let (path, trust) = match (&args.receipt, trust) {
        (Some(path), Some(trust)) => (path, trust),
        (None, None) => return Ok(()),
        _ => return Err(usage("--receipt goes with --policy or --vkey")),
    };
    let bytes = inputs.read(RECEIPT, path, MAX_EVIDENCE_BYTES)?;
    let receipt = match read_receipt(&bytes) {
        Ok(receipt) => receipt,
        Err(ReadFailure::Contradiction(finding)) => {
            report.push(finding);
            return Ok(());
        }
        Err(ReadFailure::Unreadable(finding)) => return Err(finding),
    };
    let statement = receipt.entry.statement();
    let (of, actual) = match statement.kind {
        StatementKind::Digest => ("summary", counted.summary),
        StatementKind::ExecutionDigest if args.execution.is_none() => {
            return Err(usage("a receipt of kind execution_digest goes with --execution"));
        }
        StatementKind::ExecutionDigest => ("execution", counted.execution),
        _ => return Err(usage("a receipt of kind digest or execution_digest is expected")),
    };
    let logged = statement.digest;
    report.expectations.push(Expectation { of, held_by: "receipt", digest: logged });
    if actual != Some(logged) {
        let detail = format!("the {of} is not the one that was logged");
        let actual = actual.map_or("not counted".to_owned(), |digest| digest.to_string());
        report.push(Finding::new(EXPECTED, detail).in_input(RECEIPT).compared(logged, actual));
    }
    // What it is over was compared above, whether or not there is a digest; the rest is the receipt's own.
    let exam = examine_receipt(&receipt, &trust.policy, &Expectations::default());
    exam.findings().iter().cloned().for_each(|finding| report.push(finding));
    Ok(())
}

/// The audit records that the outputs' lineages pin.
fn pinned_audits(projection: &Projection) -> BTreeSet<Digest> {
    let outputs = projection.stages.iter().flat_map(|stage| &stage.outputs);
    outputs.map(|output| output.lineage.audit_digest).collect()
}

fn trails(args: &Args, inputs: &mut Inputs) -> Result<Vec<Vec<u8>>, Finding> {
    let read = |path: &PathBuf| inputs.read(AUDIT, path, limit(MAX_TOTAL_BYTES));
    args.audits.iter().map(read).collect()
}

/// A trail holds other records too; only those that are pinned are read.
fn audits<'t>(trails: &'t [Vec<u8>], wanted: &BTreeSet<Digest>) -> Result<Audits<'t>, Finding> {
    let lines = trails.iter().flat_map(|trail| trail.split(|byte| *byte == b'\n'));
    let mut audits = Audits::new();
    for line in lines.filter(|line| wanted.contains(&Digest::of(line))) {
        let record = AuditRecord::read(line).map_err(|fault| refusal(&fault, AUDIT))?;
        audits.insert(record.digest, record);
    }
    Ok(audits)
}

/// Reads the run exports, one at a time; those that no output pins are noted.
fn exports(
    args: &Args,
    wanted: &BTreeSet<Digest>,
    report: &mut Report,
    inputs: &mut Inputs,
) -> Result<Vec<TracedExport>, Finding> {
    let several = args.exports.len() > 1;
    let mut exports = Vec::new();
    for (path, number) in args.exports.iter().zip(1..) {
        let number = several.then_some(number);
        let bytes = inputs.read(EXPORT, path, limit(Bounds::EXPORT.bytes))?;
        let read = read_export(&bytes, number, wanted).map_err(|fault| {
            let finding = refusal(&fault, EXPORT);
            number.map_or(finding.clone(), |number| finding.numbered(number))
        })?;
        match read {
            Some(export) => exports.push(export),
            None => report.push(unpinned(number)),
        }
    }
    Ok(exports)
}

const COMMAND: &str = "workflow attribution";
