//! `verifier proof`: Merkle proofs, with roots given or taken from signed checkpoints.

mod consistency;
mod inclusion;

use std::path::Path;

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::TreeSize;

use super::input::{Inputs, MAX_EVIDENCE_BYTES};
use super::output::Answer;
use crate::checkpoint::{CheckpointExam, examine_checkpoint};
use crate::codes::log::PROOF_SIZE;
use crate::finding::Finding;
use crate::report::{Facts, Report};
use crate::trust::Trust;

/// Check a Merkle proof.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    Inclusion(inclusion::Args),
    Consistency(consistency::Args),
}

pub(super) fn run(command: &Command) -> Answer {
    let mut inputs = Inputs::default();
    let (name, outcome) = match command {
        Command::Inclusion(args) => (INCLUSION, inclusion::evaluate(args, &mut inputs)),
        Command::Consistency(args) => (CONSISTENCY, consistency::evaluate(args, &mut inputs)),
    };
    let report = match outcome {
        Ok((facts, findings)) => Report::evaluated(name, facts, findings),
        Err(finding) => Report::not_evaluated(name, vec![finding]),
    };
    Answer::Report { report: Box::new(report), files: inputs.into_files() }
}

/// What a proof command finds out, or why it could not.
type Outcome = Result<(Facts, Vec<Finding>), Finding>;

/// Reads a checkpoint and examines it under the policy.
fn checkpoint(
    role: &'static str,
    path: &Path,
    trust: &Trust,
    inputs: &mut Inputs,
) -> Result<CheckpointExam, Finding> {
    let bytes = inputs.read(role, path, MAX_EVIDENCE_BYTES)?;
    let signed = SignedCheckpoint::parse(&bytes)
        .map_err(|error| Finding::of_format(error.code(), &error).in_input(role))?;
    let mut exam = examine_checkpoint(&signed, &trust.policy);
    exam.findings = exam.findings.into_iter().map(|finding| finding.in_input(role)).collect();
    Ok(exam)
}

/// A size from the command line.
fn tree_size(text: &str) -> Result<TreeSize, String> {
    let size: u64 = text.parse().map_err(|_| "expected a decimal number".to_owned())?;
    TreeSize::new(size).map_err(|error| error.to_string())
}

/// The finding when a proof says it is for another size than the tree has.
fn same_size(
    role: &'static str,
    member: &str,
    tree: TreeSize,
    stated: TreeSize,
) -> Option<Finding> {
    (tree != stated).then(|| {
        Finding::new(PROOF_SIZE, "the proof is for another tree size than the checkpoint's")
            .in_input(role)
            .at(format!("/{member}"))
            .compared(tree, stated)
    })
}

const INCLUSION: &str = "proof inclusion";
const CONSISTENCY: &str = "proof consistency";

/// Roles of inputs in findings.
const PROOF: &str = "proof";
const CHECKPOINT: &str = "checkpoint";
const ENTRY: &str = "entry";
const OLD_CHECKPOINT: &str = "old checkpoint";
const NEW_CHECKPOINT: &str = "new checkpoint";
