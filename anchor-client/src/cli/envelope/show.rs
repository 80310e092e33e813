//! `anchor envelope show`: what is in an envelope, and no word about whether it holds.

use std::path::PathBuf;

use anchorlog_proto::encoding::hex_encode;
use anchorlog_proto::gad::Defects;
use anchorlog_proto::gad::anchor_file::TlogAnchor;
use anchorlog_proto::gad::attestation::Attestation;
use anchorlog_proto::gad::envelope::{AnchorRow, AnchorType};
use anchorlog_proto::json::{self, ReadLimits, format_utc_seconds};
use anchorlog_proto::timestamp::{TimestampResponse, Token};
use serde_json::{Value, json};

use super::LIMITS;
use crate::cli::report::Report;
use crate::envelope::Envelope;
use crate::error::ClientError;
use crate::problem::printable;

/// Show what is in an envelope: its roots, its anchors, its attestations.
///
/// The roots are recomputed; everything else is what the files say. Nothing of it is judged: that is
/// `verifier envelope`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  anchor envelope show e1.tar")]
pub(in crate::cli) struct Args {
    /// The envelope: a directory or an archive.
    #[arg(value_name = "ENVELOPE")]
    envelope: PathBuf,
}

pub(super) fn run(args: &Args) -> Report {
    let mut report = Report::new("envelope show");
    match Envelope::open(&args.envelope, &LIMITS) {
        Ok(envelope) => show(&mut report, &envelope),
        Err(error) => report.error(&ClientError::from(error)),
    }
    report
}

fn show(report: &mut Report, envelope: &Envelope) {
    let manifest = envelope.manifest();
    let predecessor = manifest.predecessor.ok().flatten().map(|root| root.to_string());
    for (name, value) in [
        ("root_envelope", Some(envelope.root_envelope().to_string())),
        ("predecessor", predecessor),
        ("root_core", Some(envelope.root_core().to_string())),
        ("plan_hash", Some(envelope.plan_hash().to_string())),
    ] {
        report.line(format!("{name:<14} {}", value.as_deref().unwrap_or("none")));
        report.member(name, value);
    }
    let layers: Vec<_> = manifest.layers.iter().map(|layer| layer.as_str()).collect();
    report.line(format!("layers         {}", layers.join(", ")));
    report.member("provenance_layers", layers);
    if let Some(words) = &manifest.metadata {
        let created = format_utc_seconds(words.created);
        let producer = printable(&words.producer);
        report.line(format!("made by        {producer}, {created} (unsigned)"));
        report.member("metadata", json!({"producer": &*words.producer, "created": created}));
    }
    report.member("sealed", manifest.operator_seal.is_some());
    report.line(format!(
        "operator seal  {}",
        if manifest.operator_seal.is_some() { "there" } else { "none" }
    ));
    let mut heads = Vec::new();
    for declared in manifest.heads.iter().flatten() {
        report.line(format!("head {:<9} {}", declared.seq, declared.head));
        heads.push(json!({"seq": declared.seq, "head": declared.head.to_string()}));
    }
    report.member("declared_heads", heads);
    let anchors: Vec<Value> =
        manifest.anchors.iter().map(|row| anchor(report, envelope, row)).collect();
    report.member("anchors", anchors);
    let attestations: Vec<Value> =
        manifest.attestations.iter().map(|row| attestation(report, envelope, &row.path)).collect();
    report.member("attestations", attestations);
    report.line("nothing here is a verdict: `verifier envelope` gives one");
}

fn anchor(report: &mut Report, envelope: &Envelope, row: &AnchorRow) -> Value {
    let bytes = envelope.bundle().read_whole(&row.item.path).unwrap_or_default();
    let (says, value) = match row.anchor_type {
        Some(AnchorType::Tlog) => tlog(&bytes),
        Some(AnchorType::Rfc3161) => token(&row.item.path, &bytes),
        None => None,
    }
    .unwrap_or_else(|| ("can't be read".to_owned(), Value::Null));
    report.line(format!("anchor         {}", row.item.path));
    report.line(format!("  over {} {}", row.kind, row.target));
    report.line(format!("  says {says}"));
    json!({
        "path": &*row.item.path,
        "digest": row.item.digest.to_string(),
        "type": row.anchor_type.map(AnchorType::as_str),
        "kind": row.kind.as_str(),
        "target": row.target.to_string(),
        "says": value,
    })
}

fn tlog(bytes: &[u8]) -> Option<(String, Value)> {
    let anchor = TlogAnchor::parse(bytes).ok()?;
    let checkpoint = anchor.proof.checkpoint().checkpoint();
    let (origin, index) = (checkpoint.origin.to_string(), anchor.proof.index());
    let stamps = anchor.timestamps.len();
    let signatures = anchor.proof.checkpoint().note().signatures().len();
    let text = format!(
        "entry {index} of {} at size {}, {signatures} signatures, {stamps} time stamps",
        printable(&origin),
        checkpoint.size
    );
    let value = json!({
        "log": origin,
        "index": index,
        "tree_size": checkpoint.size.get(),
        "signatures": signatures,
        "timestamps": stamps,
    });
    Some((text, value))
}

fn token(path: &str, bytes: &[u8]) -> Option<(String, Value)> {
    let response = path
        .rsplit_once('.')
        .is_some_and(|(_, extension)| extension == "tsr")
        .then(|| TimestampResponse::parse(bytes));
    let token = match &response {
        Some(response) => response.as_ref().ok()?.granted().ok()?,
        None => bytes,
    };
    let token = Token::parse(token).ok()?;
    let time = token.info.gen_time.to_string();
    let policy = token.info.policy.to_string();
    let value = json!({
        "gen_time": time, "policy": policy, "serial": hex_encode(token.info.serial),
    });
    Some((format!("{time} under policy {policy}"), value))
}

fn attestation(report: &mut Report, envelope: &Envelope, path: &str) -> Value {
    report.line(format!("attestation    {path}"));
    let bytes = envelope.bundle().read_whole(path).unwrap_or_default();
    let value = json::parse(&bytes, &ReadLimits::DEFAULT).ok();
    let read = value.and_then(|value| Attestation::read(&value, &LIMITS, &mut Defects::new()));
    let Some(read) = read else {
        report.line("  can't be read");
        return json!({"path": path, "says": null});
    };
    let stated = &read.body;
    let about = stated.root_envelope.map(|root| root.to_string());
    let at = format_utc_seconds(stated.evaluation_time);
    report.line(format!(
        "  {} at {at}: valid {}, outcome {}, satisfied {}",
        printable(&stated.evaluator),
        stated.valid,
        stated.outcome,
        stated.satisfied
    ));
    report.line(format!("  under {} {}", printable(&stated.policy.id), stated.policy.hash));
    report.line(format!("  of {}", about.as_deref().unwrap_or("the core alone")));
    json!({
        "path": path,
        "digest": anchorlog_proto::Digest::of(&bytes).to_string(),
        "says": {
            "evaluator": &*stated.evaluator,
            "key_id": read.credential.key_id.to_string(),
            "implementation": {
                "name": &*stated.implementation.name,
                "version": &*stated.implementation.version,
                "hash": stated.implementation.hash.to_string(),
            },
            "policy": {"id": &*stated.policy.id, "hash": stated.policy.hash.to_string()},
            "root_envelope": about,
            "valid": stated.valid,
            "outcome": stated.outcome.as_str(),
            "satisfied": stated.satisfied,
            "evaluation_time": at,
        },
    })
}
