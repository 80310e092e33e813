//! `verifier workflow commitment`.

use std::path::PathBuf;

use super::Answer;
use crate::cli::input::{Inputs, MAX_EVIDENCE_BYTES};
use crate::cli::trust::TrustArgs;
use crate::cli::usage;
use crate::codes::input::{OPEN, USAGE};
use crate::finding::Finding;
use crate::receipt::{RECEIPT, ReadFailure, examine_receipt, read_receipt};
use crate::report::{Facts, Report};
use crate::workflow::Place;
use crate::workflow::commitment::CommitmentError;

/// Check offline that a log holds this bundle's execution digest, by a receipt and the keys of a policy.
///
/// Reads workflow and execution record strictly, takes the execution digest, and checks the receipt for the
/// statement `execution_digest` of it under the execution's id. It exits like `verifier receipt`: 0 holds, 1 does
/// not hold, 2 could not be evaluated. It shows that this record was committed to, not that it is consistent:
/// that is `verifier workflow check`.
#[derive(Debug, clap::Args)]
#[command(
    mut_group("trust", |group| group.required(true)),
    after_help = "\
Example:
  verifier workflow commitment bundle/ --policy logs.policy
  verifier workflow commitment bundle/ --receipt kept/receipt.json --policy logs.policy"
)]
pub(in crate::cli) struct Args {
    /// The bundle: a directory with workflow.json and execution.json. Or an execution record alone.
    #[arg(value_name = "DIR|EXECUTION")]
    dir: PathBuf,
    /// The receipt; - for standard input. By default the one that lies beside the bundle, as `anchor workflow
    /// commit` leaves it: DIR.receipt.json.
    #[arg(long, value_name = "FILE")]
    receipt: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustArgs,
}

pub(super) fn run(args: &Args) -> Answer {
    let mut inputs = Inputs::default();
    let report = evaluate(args, &mut inputs)
        .unwrap_or_else(|finding| Report::not_evaluated(COMMAND, vec![finding]));
    Answer::Report { report: Box::new(report), files: inputs.into_files() }
}

fn evaluate(args: &Args, inputs: &mut Inputs) -> Result<Report, Finding> {
    let trust = args.trust.load(inputs)?.ok_or_else(|| usage("give --policy or --vkey"))?;
    let place = Place::of(&args.dir).map_err(|error| unreadable(&error.into()))?;
    let commitment = place.commitment().map_err(|error| unreadable(&error))?;
    let receipt = args.receipt.clone().or_else(|| place.receipt());
    let receipt = receipt.ok_or_else(|| usage("give --receipt: this directory has no name"))?;
    let bytes = inputs.read(RECEIPT, &receipt, MAX_EVIDENCE_BYTES)?;
    let policy = Some(trust.facts());
    let receipt = match read_receipt(&bytes) {
        Ok(receipt) => receipt,
        Err(ReadFailure::Contradiction(finding)) => {
            let facts = Facts { policy, ..Facts::default() };
            return Ok(Report::evaluated(COMMAND, facts, vec![finding]));
        }
        Err(ReadFailure::Unreadable(finding)) => return Err(finding),
    };
    let exam = examine_receipt(&receipt, &trust.policy, &commitment.expectations());
    let facts = Facts { policy, ..exam.facts() };
    Ok(Report::evaluated(COMMAND, facts, exam.findings().to_vec()))
}

/// A bundle without a digest: its documents have codes of their own, which the detail names.
fn unreadable(error: &CommitmentError) -> Finding {
    let code = match error {
        CommitmentError::CouldNotRun(_) => OPEN,
        CommitmentError::Beside { .. } | CommitmentError::Fault(_) => USAGE,
    };
    Finding::new(code, error.to_string())
}

const COMMAND: &str = "workflow commitment";
