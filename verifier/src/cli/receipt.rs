//! `verifier receipt`.

use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::PublicKey;
use anchorlog_proto::statement::{StatementKind, Trail};

use super::authorities::{EvidenceArgs, Roots, load_trust};
use super::digests;
use super::input::{Inputs, MAX_EVIDENCE_BYTES};
use super::output::Answer;
use super::trust::TrustArgs;
use super::usage;
use crate::finding::Finding;
use crate::receipt::{
    Expectations, RECEIPT, ReadFailure, TimePolicy, examine_receipt, examine_timed_receipt,
    read_receipt,
};
use crate::report::{Facts, Report};

/// Check a receipt: that a log holds this statement, by the keys of a policy.
///
/// Give the digest you expect: without it the receipt is only shown to be a good one of some
/// statement.
#[derive(Debug, clap::Args)]
#[command(
    mut_group("trust", |group| group.required(true)),
    after_help = "\
Examples:
  verifier receipt receipt.json --policy logs.policy --digest sha256:2cf24dba…
  verifier receipt receipt.json --policy logs.policy --tsa-roots tsa.pem
  verifier receipt receipt.json --vkey log.example+c0e67a31+AcDR… --kind core_root --json
  anchor receipt --log https://log.example 17 | verifier receipt - --policy logs.policy"
)]
pub(super) struct Args {
    /// The receipt; - for standard input.
    file: PathBuf,
    #[command(flatten)]
    trust: TrustArgs,
    /// The digest that should be in the log.
    #[arg(long, value_parser = digests::parse)]
    digest: Option<Digest>,
    /// Roots of the authorities whose time stamps count, PEM or DER; OPERATOR=FILE names them.
    #[arg(long, value_name = "[OPERATOR=]PEM", num_args = 1..)]
    tsa_roots: Vec<Roots>,
    #[command(flatten)]
    evidence: EvidenceArgs,
    /// What it should be a digest of; an unknown kind gets the list of them.
    #[arg(long, value_parser = kind)]
    kind: Option<StatementKind>,
    /// What the statement should belong to.
    #[arg(long, value_parser = trail)]
    trail: Option<Trail>,
    /// Public key of who should have signed the statement, in base64.
    #[arg(long, value_name = "KEY", value_parser = public_key)]
    submitter: Option<PublicKey>,
}

pub(super) fn run(args: &Args) -> Answer {
    let mut inputs = Inputs::default();
    let report = evaluate(args, &mut inputs)
        .unwrap_or_else(|finding| Report::not_evaluated(COMMAND, vec![finding]));
    Answer::Report { report: Box::new(report), files: inputs.into_files() }
}

fn evaluate(args: &Args, inputs: &mut Inputs) -> Result<Report, Finding> {
    let bytes = inputs.read(RECEIPT, &args.file, MAX_EVIDENCE_BYTES)?;
    let trust = args.trust.load(inputs)?.ok_or_else(|| usage("give --policy or --vkey"))?;
    let policy = Some(trust.facts());
    let receipt = match read_receipt(&bytes) {
        Ok(receipt) => receipt,
        Err(ReadFailure::Contradiction(finding)) => {
            let facts = Facts { policy, ..Facts::default() };
            return Ok(Report::evaluated(COMMAND, facts, vec![finding]));
        }
        Err(ReadFailure::Unreadable(finding)) => return Err(finding),
    };
    let expect = Expectations {
        digest: args.digest,
        kind: args.kind,
        trail: args.trail.clone(),
        submitter: args.submitter,
    };
    let exam = if args.tsa_roots.is_empty() {
        examine_receipt(&receipt, &trust.policy, &expect)
    } else {
        examine_timed_receipt(&receipt, &trust.policy, &time_policy(args, inputs)?, &expect)
    };
    let facts = Facts { policy, ..exam.facts() };
    Ok(Report::evaluated(COMMAND, facts, exam.findings().to_vec()))
}

fn time_policy(args: &Args, inputs: &mut Inputs) -> Result<TimePolicy, Finding> {
    let trust = load_trust(&args.tsa_roots, inputs)?;
    let supplied = args.evidence.load(inputs)?;
    Ok(TimePolicy { trust, supplied, rules: args.evidence.rules() })
}

fn kind(text: &str) -> Result<StatementKind, String> {
    text.parse().map_err(|_| {
        let kinds = StatementKind::ALL.map(StatementKind::as_str);
        format!("one of {}", kinds.join(", "))
    })
}

fn trail(text: &str) -> Result<Trail, String> {
    text.parse::<Trail>().map_err(|error| error.to_string())
}

fn public_key(text: &str) -> Result<PublicKey, String> {
    PublicKey::from_base64(text).map_err(|error| error.to_string())
}

const COMMAND: &str = "receipt";
