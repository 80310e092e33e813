//! `verifier receipt`.

use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::signed_object::PublicKey;
use anchorlog_proto::statement::{StatementKind, Trail};

use super::authorities::{EvidenceArgs, Roots, load_trust};
use super::digests;
use super::envelope::unreadable;
use super::input::{Inputs, MAX_EVIDENCE_BYTES};
use super::output::Answer;
use super::trust::TrustArgs;
use super::usage;
use crate::finding::Finding;
use crate::gad::evaluate::read_known_checkpoints;
use crate::receipt::{
    Expectations, KNOWN, RECEIPT, ReadFailure, TimePolicy, compare_views, examine_receipt,
    examine_timed_receipt, read_receipt,
};
use crate::report::{Facts, Report};

/// Check receipts: that a log holds these statements, by the keys of a policy.
///
/// Give the digest you expect: without it a receipt is only shown to be a good one of some
/// statement. Two receipts, or a receipt and what you remember, in which one log signed different trees of
/// one size, are evidence against the log: `LOG.SPLIT_VIEW`.
#[derive(Debug, clap::Args)]
#[command(
    mut_group("trust", |group| group.required(true)),
    after_help = "\
Examples:
  verifier receipt receipt.json --policy logs.policy --digest sha256:2cf24dba…
  verifier receipt receipt.json --policy logs.policy --tsa-roots tsa.pem
  verifier receipt one.json other.json --policy logs.policy --known-checkpoints known.json
  verifier receipt receipt.json --vkey log.example+c0e67a31+AcDR… --kind core_root --json
  anchor receipt --log https://log.example 17 | verifier receipt - --policy logs.policy"
)]
pub(super) struct Args {
    /// The receipts; - for standard input. What one log signed in several of them has to go together.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
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
    /// Checkpoints of logs that you remember, which the receipts' must not contradict:
    /// gad.known-checkpoints/1.
    #[arg(long, value_name = "FILE")]
    known_checkpoints: Option<PathBuf>,
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
    let several = args.files.len() > 1;
    let mut receipts = Vec::with_capacity(args.files.len());
    for path in &args.files {
        receipts.push(inputs.read(RECEIPT, path, MAX_EVIDENCE_BYTES)?);
    }
    let trust = args.trust.load(inputs)?.ok_or_else(|| usage("give --policy or --vkey"))?;
    let known = known_checkpoints(args, inputs)?;
    let time = if args.tsa_roots.is_empty() { None } else { Some(time_policy(args, inputs)?) };
    let expect = Expectations {
        digest: args.digest,
        kind: args.kind,
        trail: args.trail.clone(),
        submitter: args.submitter,
    };
    let numbered = |finding: Finding, position: usize| {
        let number = u32::try_from(position).unwrap_or(u32::MAX).saturating_add(1);
        // A finding about another input, such as the memory, has no number among the receipts.
        let of_receipt = finding.place.input == Some(RECEIPT);
        if several && of_receipt { finding.numbered(number) } else { finding }
    };
    let mut findings = Vec::new();
    let mut rows = Vec::new();
    let mut exams = Vec::new();
    let mut places = Vec::new();
    for (position, bytes) in receipts.iter().enumerate() {
        match read_receipt(bytes) {
            Ok(receipt) => {
                let exam = match &time {
                    None => examine_receipt(&receipt, &trust.policy, &expect),
                    Some(time) => examine_timed_receipt(&receipt, &trust.policy, time, &expect),
                };
                let found = exam.findings().iter().cloned();
                findings.extend(found.map(|finding| numbered(finding, position)));
                rows.push(exam.facts());
                places.push(position);
                exams.push(exam);
            }
            Err(ReadFailure::Contradiction(finding)) => {
                findings.push(numbered(finding, position));
                rows.push(Facts::default());
            }
            Err(ReadFailure::Unreadable(finding)) => return Err(numbered(finding, position)),
        }
    }
    for (which, finding) in compare_views(&exams, &known) {
        let Some(position) = places.get(which).copied() else { continue };
        // A state is shown only by a receipt that holds.
        if let Some(row) = rows.get_mut(position) {
            row.shown = None;
        }
        let about = if finding.place.input.is_some() { finding } else { finding.in_input(RECEIPT) };
        findings.push(numbered(about, position));
    }
    let policy = Some(trust.facts());
    let facts = match rows.pop() {
        Some(row) if !several => Facts { policy, ..row },
        last => {
            rows.extend(last);
            Facts { policy, receipts: rows, ..Facts::default() }
        }
    };
    Ok(Report::evaluated(COMMAND, facts, findings))
}

fn known_checkpoints(args: &Args, inputs: &mut Inputs) -> Result<KnownCheckpoints, Finding> {
    let Some(path) = &args.known_checkpoints else { return Ok(KnownCheckpoints::default()) };
    let bytes = inputs.read(KNOWN, path, MAX_EVIDENCE_BYTES)?;
    read_known_checkpoints(&bytes, &Limits::DEFAULT)
        .map_err(|found| unreadable(&found).in_input(KNOWN))
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
