//! `anchor envelope add-anchor` and `add-attestation`: files that are there already.

use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::anchor_file::MAX_ANCHOR_FILE_BYTES;
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::receipt::ReceiptState;
use anchorlog_proto::statement::StatementKind;
use serde_json::Value;

use super::{LIMITS, MetadataArgs, PlaceArgs, kind, read_input, show_extended};
use crate::cli::report::{Form, Report};
use crate::cli::source_args::{self, SourceArgs};
use crate::cli::submit::summary;
use crate::envelope::{Addition, CheckedAttestation, Envelope, Extended, Place, Step};
use crate::error::ClientError;

/// Put anchors into an envelope that were fetched before.
///
/// Each file is checked first to be over this core's root, a declared head, or this plan. Time stamps
/// (.tsr, .tst) are kept exactly as they were received; a log's receipt (.json) becomes the anchor file it
/// makes. Who signed them is for a policy to weigh.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor envelope add-anchor e0 --kind plan_commitment commitment/plan_commitment-5f0c….json
  anchor envelope add-anchor e0 --kind core_root root_core.tsr receipt.json
  anchor envelope add-anchor e1 --kind core_root later.tsr --out e2")]
pub(in crate::cli) struct AnchorArgs {
    /// The envelope: a directory, or with --out an archive.
    #[arg(value_name = "ENVELOPE")]
    envelope: PathBuf,
    /// What they are over: core_root, chain_head or plan_commitment.
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: AnchorKind,
    /// The anchors.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Put an attestation into the next envelope, E_(k+1).
///
/// The envelope it is an evaluation of stays as it is and becomes the predecessor; everything it holds is
/// kept. With logs, the new root_envelope and the SHA-256 of the attestation are submitted, so that neither
/// can be dropped unnoticed; receipts are kept in the state directory.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor envelope add-attestation e0 q.json --out e1
  anchor envelope add-attestation e0 q.json --out e1 --log http://127.0.0.1:7390")]
pub(in crate::cli) struct AttestationArgs {
    /// The envelope that was evaluated: a directory or an archive.
    #[arg(value_name = "ENVELOPE")]
    envelope: PathBuf,
    /// The attestation, as `verifier attest` wrote it.
    #[arg(value_name = "Q.json")]
    attestation: PathBuf,
    /// New directory for the next envelope.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    words: MetadataArgs,
    #[command(flatten)]
    sources: SourceArgs,
}

pub(super) fn anchors(args: &AnchorArgs) -> Report {
    let mut report = Report::new("envelope add-anchor");
    match add(args) {
        Ok(extended) => show_extended(&mut report, &extended),
        Err(error) => report.error(&error),
    }
    report
}

fn add(args: &AnchorArgs) -> Result<Extended, ClientError> {
    let envelope = Envelope::open(&args.envelope, &LIMITS)?;
    let place = args.place.place();
    envelope.check_place(envelope.step(&[], place.successor), &place)?;
    let mut additions = Vec::with_capacity(args.files.len());
    for file in &args.files {
        let bytes = read_input(file, MAX_ANCHOR_FILE_BYTES)?;
        additions.push(Addition::Anchor(envelope.check_anchor(args.kind, file, &bytes)?));
    }
    Ok(envelope.extend(&additions, &place, &LIMITS)?)
}

pub(super) async fn attestation(args: &AttestationArgs, _form: Form) -> Report {
    let mut report = Report::new("envelope add-attestation");
    if let Err(error) = attest(args, &mut report).await {
        report.error(&error);
    }
    report
}

async fn attest(args: &AttestationArgs, report: &mut Report) -> Result<(), ClientError> {
    let envelope = Envelope::open(&args.envelope, &LIMITS)?;
    let place = Place { out: Some(&args.out), successor: true, metadata: args.words.read() };
    envelope.check_place(Step::Successor, &place)?;
    let bytes = read_input(&args.attestation, crate::envelope::MAX_ATTESTATION_BYTES)?;
    let checked = envelope.check_attestation(&args.attestation, &bytes, &LIMITS)?;
    let sources = if args.sources.is_empty() {
        None
    } else {
        let wait = args.sources.wait().unwrap_or(ReceiptState::Published);
        let Some(sources) = args.sources.open(wait, report)? else { return Ok(()) };
        Some(sources)
    };
    let extended = envelope.extend(&[Addition::Attestation(checked.clone())], &place, &LIMITS)?;
    show_extended(report, &extended);
    show_attestation(report, &envelope, &checked);
    if let Some(sources) = sources {
        let statements = [
            (StatementKind::EnvelopeRoot, extended.root_envelope),
            (StatementKind::Attestation, checked.digest()),
        ];
        submit(&sources, &statements, envelope.plan_hash(), report).await?;
    }
    Ok(())
}

/// Says what the attestation is about, where that needs saying.
fn show_attestation(report: &mut Report, envelope: &Envelope, checked: &CheckedAttestation) {
    let stated = &checked.attestation().body;
    let about = stated.root_envelope;
    let own = envelope.root_envelope();
    report.member("attested_envelope", about.map(|root| root.to_string()));
    report.member("attests_predecessor", about == Some(own));
    match about {
        Some(root) if root == own => {}
        Some(root) => {
            report.line(format!("note: it attests another envelope of this core, {root}"));
        }
        None => report.line("note: it attests the core alone"),
    }
    if !stated.valid {
        report.line("note: it says that the record is not valid");
    }
}

async fn submit(
    sources: &crate::envelope::sources::Sources,
    statements: &[(StatementKind, Digest)],
    plan_hash: Digest,
    report: &mut Report,
) -> Result<(), ClientError> {
    let mut values: Vec<Value> = Vec::new();
    for log in &sources.logs {
        let receipts = sources.submit(log, statements, plan_hash).await;
        source_args::announce(sources);
        for accepted in receipts? {
            let statement = accepted.receipt.entry.statement();
            report.line(format!(
                "logged         {} at {} of {} ({})",
                statement.kind,
                accepted.receipt.index,
                log.address(),
                accepted.receipt.state
            ));
            values.push(summary(&accepted));
        }
    }
    report.member("receipts", values);
    Ok(())
}
