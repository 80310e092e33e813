//! `anchor envelope anchor`: anchors from logs and authorities, into the envelope.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::gad::policy::Policy;
use anchorlog_proto::receipt::ReceiptState;

use super::{LIMITS, PlaceArgs, kind, read_input, show_extended};
use crate::cli::report::{Form, Report};
use crate::cli::source_args::{self, SourceArgs};
use crate::envelope::commitment::{MAX_DOCUMENT_BYTES, read_policy};
use crate::envelope::needs::{Need, Offer, state_for};
use crate::envelope::{Addition, Envelope};
use crate::error::ClientError;

/// Have an envelope anchored: its root_core, its declared heads, its plan.
///
/// Values are submitted to the logs, as statements in the plan's trail, and stamped by the authorities; when
/// everything has come as far as is needed, it goes into the envelope, all of it or nothing. Run again after
/// a failure it finds what the logs have already.
///
/// What is anchored: the --kind given; else what --policy asks for and the envelope doesn't have; else
/// root_core and the declared heads.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor envelope anchor e0 --log http://127.0.0.1:7390 --policy policy.json
  anchor envelope anchor e0 --log http://127.0.0.1:7390 --wait anchored --wait-timeout 300
  anchor envelope anchor e0 --kind core_root --tsa alpha=http://a.example/tsr --roots alpha=alpha.pem \\
      --tsa beta=https://b.example/tsa --roots beta=beta.pem")]
pub(in crate::cli) struct Args {
    /// The envelope: a directory, or with --out an archive.
    #[arg(value_name = "ENVELOPE")]
    envelope: PathBuf,
    #[command(flatten)]
    sources: SourceArgs,
    /// What to anchor: core_root, chain_head or plan_commitment. Can be given several times.
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Vec<AnchorKind>,
    /// A trust policy (gad.policy/1): what it asks for is anchored, and receipts have to grow until it finds
    /// a time in them.
    #[arg(long, value_name = "PI.json")]
    policy: Option<PathBuf>,
    #[command(flatten)]
    place: PlaceArgs,
}

pub(super) async fn run(args: &Args, _form: Form) -> Report {
    let mut report = Report::new("envelope anchor");
    if let Err(error) = anchor(args, &mut report).await {
        report.error(&error);
    }
    report
}

async fn anchor(args: &Args, report: &mut Report) -> Result<(), ClientError> {
    let policy = match &args.policy {
        Some(path) => Some(read_policy(path, &read_input(path, MAX_DOCUMENT_BYTES)?)?),
        None => None,
    };
    let envelope = Envelope::open(&args.envelope, &LIMITS)?;
    let place = args.place.place();
    envelope.check_place(envelope.step(&[], place.successor), &place)?;
    let wait = args
        .sources
        .wait()
        .unwrap_or_else(|| policy.as_ref().map_or(ReceiptState::Published, state_for));
    let Some(sources) = args.sources.open(wait, report)? else { return Ok(()) };
    let needs = needs(&envelope, args, policy.as_ref(), sources.offer())?;
    if needs.is_empty() {
        report.member("added", Vec::<String>::new());
        report.line("the envelope has an anchor of every kind that the policy asks for");
        return Ok(());
    }
    if needs.iter().any(|need| need.kind == AnchorKind::PlanCommitment) {
        report.line("note: a commitment made now shows nothing about what came before the run");
    }
    let anchors = sources.fetch(&needs, envelope.targets()).await;
    source_args::announce(&sources);
    let additions: Vec<_> = anchors?.into_iter().map(Addition::Anchor).collect();
    let extended = envelope.extend(&additions, &place, &LIMITS)?;
    show_extended(report, &extended);
    Ok(())
}

fn needs(
    envelope: &Envelope,
    args: &Args,
    policy: Option<&Policy>,
    offer: Offer,
) -> Result<Vec<Need>, ClientError> {
    if !args.kind.is_empty() {
        return Ok(Need::of_kinds(&args.kind, offer));
    }
    if let Some(policy) = policy {
        let present: BTreeSet<_> = envelope.manifest().anchors.iter().map(|row| row.kind).collect();
        let needs = Need::of_policy(policy, &present, offer);
        return Ok(needs.map_err(crate::envelope::EnvelopeError::from)?);
    }
    let mut kinds = vec![AnchorKind::CoreRoot];
    if !envelope.targets().heads.is_empty() {
        kinds.push(AnchorKind::ChainHead);
    }
    Ok(Need::of_kinds(&kinds, offer))
}
