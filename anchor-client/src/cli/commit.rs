//! `anchor commit`: a plan is committed to before anything is dispatched.
#![allow(clippy::doc_markdown, reason = "help texts name things as people type them")]

use std::path::PathBuf;

use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::envelope::AnchorType;
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::receipt::ReceiptState;
use serde_json::{Value, json};

use super::envelope::read_input;
use super::report::{Form, Report};
use super::source_args::{self, SourceArgs};
use crate::envelope::Targets;
use crate::envelope::commitment::{MAX_DOCUMENT_BYTES, keep, read_plan, read_policy};
use crate::envelope::needs::{Need, state_for};
use crate::error::ClientError;

/// Commit to a plan before its first dispatch.
///
/// h(P), the hash of the plan, is submitted to logs and stamped by authorities; what they give is written
/// to files of --out, each an anchor over h(P). The SHA-256 of such a file is a precommit_digest: a first
/// dispatch that carries it shows that the commitment was there before, whatever the clocks say. Afterwards
/// `anchor envelope add-anchor --kind plan_commitment` puts the files into the envelope.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor commit plan.json --log http://127.0.0.1:7390 --out commitment/
  anchor commit plan.json --tsa http://timestamp.example/tsr --roots root.pem --out commitment/
  anchor commit plan.json --log http://127.0.0.1:7390 --policy policy.json --out commitment/ --json \\
      | jq -r .precommit_digest")]
pub(super) struct Args {
    /// The plan (gad.plan/1).
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    #[command(flatten)]
    sources: SourceArgs,
    /// A trust policy (gad.policy/1): receipts have to grow until it finds a time in them. Without it and
    /// without --wait, until they are anchored.
    #[arg(long, value_name = "PI.json")]
    policy: Option<PathBuf>,
    /// Directory for the anchors, created if needed.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) async fn run(args: Args, _form: Form) -> Report {
    let mut report = Report::new("commit");
    if let Err(error) = commit(&args, &mut report).await {
        report.error(&error);
    }
    report
}

async fn commit(args: &Args, report: &mut Report) -> Result<(), ClientError> {
    let plan = read_input(&args.plan, MAX_DOCUMENT_BYTES)?;
    let plan_hash = read_plan(&args.plan, &plan, &Limits::DEFAULT)?;
    report.member("plan_hash", plan_hash.to_string());
    let wait = match (args.sources.wait(), &args.policy) {
        (Some(state), _) => state,
        (None, Some(path)) => {
            state_for(&read_policy(path, &read_input(path, MAX_DOCUMENT_BYTES)?)?)
        }
        (None, None) => ReceiptState::Anchored,
    };
    let Some(sources) = args.sources.open(wait, report)? else { return Ok(()) };
    let targets = Targets::of_plan(plan_hash);
    let needs = Need::of_kinds(&[AnchorKind::PlanCommitment], sources.offer());
    let anchors = sources.fetch(&needs, &targets).await;
    source_args::announce(&sources);
    let anchors = anchors?;
    let paths = keep(&args.out, &anchors)?;
    report.line(format!("plan_hash         {plan_hash}"));
    let mut values: Vec<Value> = Vec::new();
    for (anchor, path) in anchors.iter().zip(&paths) {
        let digest = anchor.digest().to_string();
        report.line(format!("precommit_digest  {digest}  {}", path.display()));
        values.push(json!({
            "file": path.display().to_string(),
            "type": anchor.row().anchor_type.map(AnchorType::as_str),
            "precommit_digest": digest,
        }));
    }
    if anchors.len() > 1 {
        report.line("a dispatch carries one of them");
    }
    report.member("precommit_digest", anchors.first().map(|one| one.digest().to_string()));
    report.member("anchors", values);
    Ok(())
}
