//! `anchor envelope`: a core and what others said about it, version by version.
#![allow(clippy::doc_markdown, reason = "help texts name things as people type them")]

mod add;
mod anchor;
mod archive;
mod new;
mod show;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::envelope::Metadata;
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::json::parse_utc_seconds;
use serde_json::{Value, json};

use super::report::{Form, Report};
use crate::durable::{DurableError, Operation};
use crate::envelope::{EnvelopeError, Extended, Place};
use crate::state::read_file;

/// Make evidence envelopes, and put anchors and attestations into them.
///
/// An envelope is a directory (or its archive) with a core, anchors over it, and attestations of its
/// evaluations. E_0 packages an exported core and its anchors; E_(k+1) is E_k with an attestation, and names
/// E_k as its predecessor. An envelope that carries an attestation is never changed. `verifier envelope`
/// judges them.
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "\
Examples:
  anchor envelope new core --out e0 --layers pre_dispatch_commitment,signed_entries_and_checkpoints
  anchor envelope add-anchor e0 --kind plan_commitment commitment/*
  anchor envelope anchor e0 --log http://127.0.0.1:7390 --policy policy.json
  verifier attest e0 --policy policy.json --trust trust --key evaluator.pem --identity 'Example Audit' > q.json
  anchor envelope add-attestation e0 q.json --out e1
  anchor envelope pack e1 e1.tar")]
#[allow(clippy::large_enum_variant, reason = "one of them is made in the life of the program")]
pub(super) enum Command {
    New(new::Args),
    AddAnchor(add::AnchorArgs),
    AddAttestation(add::AttestationArgs),
    Anchor(anchor::Args),
    Pack(archive::PackArgs),
    Unpack(archive::UnpackArgs),
    Show(show::Args),
}

pub(super) async fn run(command: Command, form: Form) -> Report {
    match command {
        Command::New(args) => new::run(&args),
        Command::AddAnchor(args) => add::anchors(&args),
        Command::AddAttestation(args) => add::attestation(&args, form).await,
        Command::Anchor(args) => anchor::run(&args, form).await,
        Command::Pack(args) => archive::pack(&args),
        Command::Unpack(args) => archive::unpack(&args),
        Command::Show(args) => show::run(&args),
    }
}

/// Where an extended envelope goes, and what it says about itself.
#[derive(Clone, Debug, clap::Args)]
struct PlaceArgs {
    /// New directory for the result. Without it an envelope without attestations is extended in place, in one
    /// step; one that carries attestations is never changed, and its successor needs a directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Make a successor, with the envelope as its predecessor, where an extension would do.
    #[arg(long, requires = "out")]
    successor: bool,
    #[command(flatten)]
    words: MetadataArgs,
}

/// What an envelope says about itself, unsigned.
#[derive(Clone, Debug, clap::Args)]
struct MetadataArgs {
    /// Who makes the envelope: unsigned words.
    #[arg(long, value_name = "NAME", default_value = PRODUCER)]
    producer: String,
    /// When it is made, as 2026-07-20T10:00:00Z; without it, now. Unsigned. Equal inputs and equal times
    /// make equal bytes.
    #[arg(long, value_name = "TIME", value_parser = time)]
    created: Option<i64>,
}

impl MetadataArgs {
    fn read(&self) -> Metadata {
        let created = self.created.unwrap_or_else(now);
        Metadata { producer: self.producer.as_str().into(), created }
    }
}

impl PlaceArgs {
    fn place(&self) -> Place<'_> {
        Place { out: self.out.as_deref(), successor: self.successor, metadata: self.words.read() }
    }
}

/// A file of the caller, whole.
pub(super) fn read_input(path: &Path, limit: usize) -> Result<Vec<u8>, EnvelopeError> {
    let failure = |source| EnvelopeError::Read { path: path.to_path_buf(), source };
    match read_file(path, u64::try_from(limit).unwrap_or(u64::MAX)) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(failure(std::io::ErrorKind::NotFound.into())),
        Err(error) => Err(failure(error.source)),
    }
}

/// Whether nothing is at a path yet: asked before there is work for it.
fn check_free(path: &Path) -> Result<(), EnvelopeError> {
    if path.symlink_metadata().is_ok() {
        let source = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "something is there");
        return Err(DurableError::new(path, Operation::Create, source).into());
    }
    Ok(())
}

/// Says what came of extending an envelope.
fn show_extended(report: &mut Report, extended: &Extended) {
    let predecessor = extended.manifest.predecessor.ok().flatten();
    report.member("path", extended.path.display().to_string());
    report.member("step", extended.step.as_str());
    report.member("root_envelope", extended.root_envelope.to_string());
    report.member("predecessor", predecessor.map(|root| root.to_string()));
    report.member("added", extended.added.iter().map(ToString::to_string).collect::<Vec<_>>());
    report.member("items", items(extended));
    report.line(format!("{} ({})", extended.path.display(), extended.step.as_str()));
    report.line(format!("root_envelope  {}", extended.root_envelope));
    if let Some(root) = predecessor {
        report.line(format!("predecessor    {root}"));
    }
    for path in &extended.added {
        report.line(format!("added          {path}"));
    }
}

fn items(extended: &Extended) -> Value {
    json!({
        "anchors": extended.manifest.anchors.len(),
        "attestations": extended.manifest.attestations.len(),
    })
}

fn kind(text: &str) -> Result<AnchorKind, String> {
    AnchorKind::from_name(text).ok_or_else(|| one_of(AnchorKind::ALL, AnchorKind::as_str))
}

fn time(text: &str) -> Result<i64, String> {
    parse_utc_seconds(text).ok_or_else(|| "a time looks like 2026-07-20T10:00:00Z".to_owned())
}

fn one_of<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> String {
    format!("one of {}", all.iter().map(|one| word(*one)).collect::<Vec<_>>().join(", "))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

const LIMITS: Limits = Limits::DEFAULT;

const PRODUCER: &str = concat!("anchor ", env!("CARGO_PKG_VERSION"));
