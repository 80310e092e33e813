//! `anchor envelope new`: E_0 of an exported core.

use std::path::PathBuf;

use anchorlog_proto::gad::names::ProvenanceLayer;
use anchorlog_proto::json::format_utc_seconds;
use serde_json::{Value, json};

use super::{LIMITS, MetadataArgs, check_free, one_of};
use crate::cli::report::Report;
use crate::envelope::{Created, Head, NewEnvelope, create, describe};
use crate::error::ClientError;
use crate::keys::read_signing_key;

/// Package an exported core as its first envelope, E_0.
///
/// The core is evaluated first, alone, and its bytes are copied as they are. Nothing is written if it is no
/// valid record, unless that is asked for.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor envelope new core --out e0 --layers signed_entries_and_checkpoints
  anchor envelope new core --out e0 --layers pre_dispatch_commitment,witnessed_checkpoints \\
      --head last --seal-key operator.pem --producer 'Example Works, lane 4'")]
pub(in crate::cli) struct Args {
    /// The core: the directory that was exported.
    #[arg(value_name = "CORE_DIR")]
    core: PathBuf,
    /// New directory for the envelope.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[arg(long, value_name = "LAYER,…", required = true, value_delimiter = ',', value_parser = layer, help = layers())]
    layers: Vec<ProvenanceLayer>,
    /// Declare the chain's head at this entry, by number or `last`, so that it can be anchored; best that of a
    /// checkpoint. Can be given several times.
    #[arg(long, value_name = "SEQ", value_parser = head)]
    head: Vec<Head>,
    /// Seal root_core with the operator's key (Ed25519, PKCS#8 PEM), which has to be the operator_credential.
    #[arg(long, value_name = "OPERATOR_KEY")]
    seal_key: Option<PathBuf>,
    /// Package the core although it is no valid record, and say so.
    #[arg(long)]
    allow_invalid: bool,
    #[command(flatten)]
    words: MetadataArgs,
}

pub(super) fn run(args: &Args) -> Report {
    let mut report = Report::new("envelope new");
    match new(args) {
        Ok(created) => show(&mut report, args, &created),
        Err(error) => report.error(&error),
    }
    report
}

fn new(args: &Args) -> Result<Created, ClientError> {
    check_free(&args.out)?;
    let seal = args.seal_key.as_deref().map(read_signing_key).transpose()?;
    let words = args.words.read();
    let request = NewEnvelope {
        layers: args.layers.clone(),
        producer: &words.producer,
        created: words.created,
        heads: args.head.clone(),
        seal: seal.as_ref(),
        allow_invalid: args.allow_invalid,
    };
    Ok(create(&args.core, &args.out, &request, &LIMITS)?)
}

fn show(report: &mut Report, args: &Args, created: &Created) {
    let manifest = &created.manifest;
    report.line(format!("{}", args.out.display()));
    for (name, value) in [
        ("root_envelope", created.root_envelope),
        ("root_core", created.root_core),
        ("plan_hash", created.plan_hash),
    ] {
        report.line(format!("{name:<14} {value}"));
        report.member(name, value.to_string());
    }
    let mut heads: Vec<Value> = Vec::new();
    for declared in manifest.heads.iter().flatten() {
        report.line(format!("head {:<9} {}", declared.seq, declared.head));
        heads.push(json!({"seq": declared.seq, "head": declared.head.to_string()}));
    }
    let created_at = manifest.metadata.as_ref().map(|words| format_utc_seconds(words.created));
    report.member("path", args.out.display().to_string());
    report.member("declared_heads", heads);
    report.member("created", created_at);
    report.member("sealed", manifest.operator_seal.is_some());
    report.member("valid", created.invalid.is_empty());
    let codes: Vec<_> = created.invalid.iter().map(|one| one.code.as_str()).collect();
    report.member("against", codes);
    if !created.invalid.is_empty() {
        report.line(format!("NOT A VALID RECORD: {}", describe(&created.invalid)));
    }
}

fn layer(text: &str) -> Result<ProvenanceLayer, String> {
    ProvenanceLayer::from_name(text)
        .ok_or_else(|| one_of(ProvenanceLayer::ALL, ProvenanceLayer::as_str))
}

fn layers() -> String {
    let all = one_of(ProvenanceLayer::ALL, ProvenanceLayer::as_str);
    format!("The layers of provenance that are claimed: {}", all.replacen("one of ", "", 1))
}

fn head(text: &str) -> Result<Head, String> {
    if text == "last" {
        return Ok(Head::Last);
    }
    text.parse().map(Head::At).map_err(|_| "the number of an entry, or `last`".to_owned())
}
