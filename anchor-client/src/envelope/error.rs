//! Why an envelope can't be read, made or extended.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::gad::tar::TarWriteError;
use anchorlog_proto::json::JsonError;
use anchorlog_proto::receipt::ReceiptState;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::timestamp::Imprint;
use anchorlog_verifier::gad::finding::GadFinding;
use anchorlog_verifier::report::Verdict;

use super::anchor::AnchorError;
use super::attestation::AttestationRefusal;
use super::needs::NeedError;
use crate::durable::DurableError;
use crate::stamp::{ExchangeError, StampError};

/// Any failure about envelopes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// A file isn't an anchor of this envelope.
    #[error("{name}: {source}")]
    Anchor {
        /// The file.
        name: String,
        /// Why.
        source: Box<AnchorError>,
    },
    /// A file isn't an attestation of this envelope's record.
    #[error("{name}: {source}")]
    Attestation {
        /// The file.
        name: String,
        /// Why.
        source: Box<AttestationRefusal>,
    },
    /// An envelope that carries attestations was to be changed.
    #[error(
        "{}: carries attestations, and an attested envelope is never changed; \
         --out DIR makes its successor", path.display()
    )]
    Attested {
        /// The envelope.
        path: PathBuf,
    },
    /// An archive was to be changed.
    #[error("{}: is an archive, which is never changed; give --out DIR", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
    },
    /// Another envelope lies in the place of the one that was to be extended.
    #[error("{}: is another envelope than it was before; nothing was changed", path.display())]
    Changed {
        /// Its place.
        path: PathBuf,
    },
    /// The core is no valid record.
    #[error(
        "{}: is no valid record: {}; `verifier envelope` says where, and --allow-invalid packages \
         it all the same", path.display(), describe(findings)
    )]
    CoreInvalid {
        /// The core.
        path: PathBuf,
        /// What stands against it.
        findings: Vec<GadFinding>,
    },
    /// The manifest has an extension that an extended one would have to carry.
    #[error(
        "{}: its manifest has an `ext`, which a changed manifest would lose; give --out DIR and \
         --successor, which doesn't inherit it", path.display()
    )]
    Extension {
        /// The envelope.
        path: PathBuf,
    },
    /// Something can't be read or written.
    #[error(transparent)]
    File(#[from] DurableError),
    /// The witness has no such entry to declare the head of.
    #[error("--head {seq}: the witness has {entries} entries, numbered from 0")]
    Head {
        /// The number asked for.
        seq: u64,
        /// How many there are.
        entries: u64,
    },
    /// An entry of the witness states no chain hash.
    #[error("--head {seq}: the entry can't be read: {source}")]
    HeadUnreadable {
        /// The number asked for.
        seq: u64,
        /// Why.
        source: JsonError,
    },
    /// The item is there already.
    #[error("{path}: the envelope has this already")]
    Known {
        /// Its path in the envelope.
        path: Box<str>,
    },
    /// What the policy asks for can't be had.
    #[error(transparent)]
    Need(#[from] NeedError),
    /// Not a core of its own.
    #[error(
        "{}: is no exported core: a directory with manifest.json, plan.json and witness.jsonl",
        path.display()
    )]
    NoCore {
        /// The path.
        path: PathBuf,
    },
    /// Not an envelope.
    #[error("{}: is no envelope: it has no envelope.json beside its core", path.display())]
    NoEnvelope {
        /// The path.
        path: PathBuf,
    },
    /// No provenance layer was declared.
    #[error("an envelope declares at least one provenance layer: --layers")]
    NoLayers,
    /// Neither a log nor an authority was named.
    #[error("nobody to ask: give --log URL or --tsa URL")]
    NoSource,
    /// A log did not get as far as it was asked to in time. Nothing was added.
    #[error(
        "{log}: the receipt of {kind} is {reached}, not {wanted} yet; nothing was added. Run this \
         again later, or with a longer --wait-timeout: the log gives the same entry again"
    )]
    NotYet {
        /// The log.
        log: String,
        /// What was submitted.
        kind: AnchorKind,
        /// What was waited for.
        wanted: ReceiptState,
        /// How far it is.
        reached: ReceiptState,
    },
    /// The operator's record of the core can't be read.
    #[error("{}: core/operator.json is no operator record: {code}", path.display())]
    Operator {
        /// The envelope or core.
        path: PathBuf,
        /// The code of what is wrong.
        code: &'static str,
    },
    /// An archive can't be written.
    #[error("{}: {source}", path.display())]
    Pack {
        /// The archive.
        path: PathBuf,
        /// Why.
        source: TarWriteError,
    },
    /// A plan that can't be read as one.
    #[error("{}: is no plan: {code} at {pointer:?}", path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        code: &'static str,
        /// Where, as a JSON pointer.
        pointer: String,
    },
    /// A trust policy that can't be read.
    #[error("{}: is no trust policy: {code} at {pointer:?}", path.display())]
    Policy {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        code: &'static str,
        /// Where, as a JSON pointer.
        pointer: String,
    },
    /// A producer's name that doesn't fit the manifest.
    #[error("--producer: 1 to 256 bytes, not {bytes}")]
    Producer {
        /// Its length.
        bytes: usize,
    },
    /// A file of the caller can't be read.
    #[error("{}: can't be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The seal's key isn't the operator's.
    #[error("--seal-key: the operator's credential is {expected}, and this key is {actual}")]
    SealKey {
        /// The operator's.
        expected: SignerId,
        /// That of the key given.
        actual: SignerId,
    },
    /// Too few authorities gave a token.
    #[error(
        "{imprint}: tokens of {reached} operators hold, {needed} are needed{}",
        reasons(failures)
    )]
    Stamps {
        /// What was to be stamped.
        imprint: Imprint,
        /// Operators that are needed.
        needed: usize,
        /// Operators whose tokens hold.
        reached: usize,
        /// Who gave none, and why.
        failures: Vec<(String, StampError)>,
    },
    /// Time stamps can't be asked for on this machine.
    #[error(transparent)]
    Stamper(#[from] ExchangeError),
    /// The manifest lists an anchor of a type that is unknown here.
    #[error("{path}: an anchor of a type that is unknown here; it can't be carried on")]
    TypeUnknown {
        /// The anchor.
        path: Box<str>,
    },
    /// A bundle that can't be read.
    #[error("{}: can't be read as a bundle: {}", path.display(), describe(findings))]
    Unreadable {
        /// The bundle.
        path: PathBuf,
        /// What stands against it.
        findings: Vec<GadFinding>,
    },
    /// An envelope that doesn't hold together (R1e).
    #[error("{}: the envelope doesn't hold together: {}", path.display(), describe(findings))]
    Unsound {
        /// The envelope.
        path: PathBuf,
        /// What stands against it.
        findings: Vec<GadFinding>,
    },
}

impl EnvelopeError {
    /// The stable code of the failure; the verifier's own where it is the verifier's refusal.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Anchor { source, .. } => source.code(),
            Self::Attestation { source, .. } => source.code(),
            Self::Attested { .. } | Self::Archive { .. } => "CLIENT.ENVELOPE_FIXED",
            Self::Changed { .. } => "CLIENT.ENVELOPE_CHANGED",
            Self::CoreInvalid { findings, .. } => first_code(findings, "R1.MANIFEST.MISSING"),
            Self::Unsound { findings, .. } => first_code(findings, "R1.ENV.MISSING"),
            Self::Unreadable { findings, .. } => first_code(findings, "IN.OPEN"),
            Self::Extension { .. } => "CLIENT.ENVELOPE_EXT",
            Self::File(error) if error.source.kind() == io::ErrorKind::AlreadyExists => {
                "CLIENT.EXISTS"
            }
            Self::File(_) => "CLIENT.STATE",
            Self::Head { .. } => "ANC.HEAD_NOT_IN_CHAIN",
            Self::HeadUnreadable { source, .. } => source.code(),
            Self::Known { .. } => "CLIENT.EXISTS",
            Self::Need(error) => error.code(),
            Self::NoCore { .. } => "R1.MANIFEST.MISSING",
            Self::NoEnvelope { .. } => "R1.ENV.MISSING",
            Self::NoLayers => "R1.ENV.LAYERS_UNDECLARED",
            Self::NoSource | Self::Producer { .. } => "CLIENT.USAGE",
            Self::NotYet { .. } => "CLIENT.NOT_YET",
            Self::Operator { code, .. } | Self::Plan { code, .. } | Self::Policy { code, .. } => {
                code
            }
            Self::Pack { .. } => "CLIENT.PACK",
            Self::Read { .. } => "CLIENT.INPUT",
            Self::SealKey { .. } => "CLIENT.SEAL_KEY",
            Self::Stamps { .. } => "CLIENT.QUORUM",
            Self::Stamper(error) => error.code(),
            Self::TypeUnknown { .. } => "ANC.TYPE_UNKNOWN",
        }
    }

    /// What the failure says about the thing asked: evaluated and not so, or not evaluated.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Anchor { source, .. } if source.is_about_the_value() => Verdict::DoesNotHold,
            Self::Attestation { source, .. } if source.is_about_the_record() => {
                Verdict::DoesNotHold
            }
            Self::CoreInvalid { .. }
            | Self::NotYet { .. }
            | Self::SealKey { .. }
            | Self::Unsound { .. } => Verdict::DoesNotHold,
            Self::Stamps { failures, .. }
                if failures.iter().any(|(_, one)| one.verdict() == Verdict::DoesNotHold) =>
            {
                Verdict::DoesNotHold
            }
            _ => Verdict::NotEvaluated,
        }
    }
}

/// Findings in one line: the first few, with their places.
#[must_use]
pub fn describe(findings: &[GadFinding]) -> String {
    const SHOWN: usize = 3;
    let mut parts: Vec<String> = findings
        .iter()
        .take(SHOWN)
        .map(|finding| {
            let mut text = finding.code.as_str().to_owned();
            if let Some(member) = &finding.place.member {
                text.push_str(" in ");
                text.push_str(member);
            }
            if let Some(seq) = finding.place.seq {
                // A String takes everything.
                let _ = write!(text, " entry {seq}");
            }
            text
        })
        .collect();
    if findings.len() > SHOWN {
        parts.push(format!("and {} more", findings.len().saturating_sub(SHOWN)));
    }
    parts.join(", ")
}

fn first_code(findings: &[GadFinding], otherwise: &'static str) -> &'static str {
    findings.first().map_or(otherwise, |finding| finding.code.as_str())
}

fn reasons(failures: &[(String, StampError)]) -> String {
    let mut text = String::new();
    for (who, error) in failures {
        // A String takes everything.
        let _ = write!(text, "; {who}: {error}");
    }
    text
}
