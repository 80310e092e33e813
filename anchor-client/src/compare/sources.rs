//! What holds checkpoints: files of many forms, envelopes, tile trees, addresses.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anchorlog_proto::audit::Audit;
use anchorlog_proto::checkpoint::{CheckpointError, Origin, SignedCheckpoint};
use anchorlog_proto::gad::Defects;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::anchor_file::TlogAnchor;
use anchorlog_proto::gad::envelope::{AnchorType, EnvelopeManifest};
use anchorlog_proto::gad::known_checkpoints::{KNOWN_CHECKPOINTS_SCHEMA, KnownCheckpoint};
use anchorlog_proto::json::{self, ReadLimits};
use anchorlog_proto::receipt::Receipt;
use anchorlog_proto::tlog_proof::TlogProof;
use anchorlog_verifier::gad::container::Bundle;
use anchorlog_verifier::gad::evaluate::read_known_checkpoints;
use anchorlog_verifier::gad::rules::r1_envelope::ENVELOPE;

use crate::follow::{FetchError, FollowOptions, MAX_CHECKPOINT_BYTES, TileLocation, open_files};

/// What one place says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Found {
    /// A checkpoint with its signatures, unverified.
    Signed(Box<SignedCheckpoint>),
    /// One that somebody remembers.
    Remembered(Box<KnownCheckpoint>),
}

/// Why a place says nothing that could be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// No checkpoint, and nothing that holds one.
    #[error("it is no checkpoint, proof, receipt, anchor, audit or memory of checkpoints: {0}")]
    Form(CheckpointError),
    /// JSON of a form that holds no checkpoint, or that isn't whole.
    #[error("{code}: {detail}")]
    Json {
        /// The code of what is wrong with it.
        code: String,
        /// In words.
        detail: String,
    },
    /// The file can't be read.
    #[error("{0}")]
    File(std::io::Error),
    /// Nobody answers.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A directory or archive that isn't an envelope, nor a tile tree.
    #[error("it is neither an envelope nor the tiles of a log")]
    NoEnvelope,
    /// An envelope without anchors in logs.
    #[error("the envelope has no anchor in a log")]
    NoAnchor,
    /// There is no checkpoint at the address.
    #[error("there is no checkpoint at this address")]
    NoCheckpoint,
}

/// Reads everything that a place has: with what distinguishes one from the other, where there are several.
///
/// An address is asked for `checkpoint` below it, unless it ends so; and, where there is none, for the
/// checkpoint of each of the `origins` as witnesses serve them to monitors: below the SHA-256 of the origin.
pub async fn read(
    place: &TileLocation,
    origins: &[Origin],
    options: &FollowOptions,
) -> Result<Vec<(String, Found)>, SourceError> {
    match place {
        TileLocation::Url(_) => address(place, origins, options).await,
        TileLocation::Directory(path) if path.is_dir() => directory(path),
        TileLocation::Directory(path) => file(path),
    }
}

async fn address(
    place: &TileLocation,
    origins: &[Origin],
    options: &FollowOptions,
) -> Result<Vec<(String, Found)>, SourceError> {
    let text = place.to_string();
    let below = text.strip_suffix("/checkpoint").unwrap_or(&text).to_owned();
    let place = below.parse().unwrap_or_else(|_| place.clone());
    let files = open_files(&place, options.timeout, options.retry, 1)?;
    let mut paths = vec!["checkpoint".to_owned()];
    paths.extend(origins.iter().map(|origin| {
        let hash = anchorlog_proto::Digest::of(origin.as_str().as_bytes());
        format!("{}/checkpoint", hash.to_hex())
    }));
    let mut found = Vec::new();
    for path in &paths {
        if let Some(bytes) = files.get(path, MAX_CHECKPOINT_BYTES).await? {
            let signed = SignedCheckpoint::parse(&bytes).map_err(SourceError::Form)?;
            let name = format!("{below}/{path}");
            found.push((name, Found::Signed(Box::new(signed))));
            // A log answers for itself.
            if path == "checkpoint" {
                break;
            }
        }
    }
    if found.is_empty() { Err(SourceError::NoCheckpoint) } else { Ok(found) }
}

fn directory(path: &Path) -> Result<Vec<(String, Found)>, SourceError> {
    let checkpoint = path.join("checkpoint");
    if !path.join(ENVELOPE).is_file() && checkpoint.is_file() {
        return file(&checkpoint);
    }
    envelope(path)
}

fn envelope(path: &Path) -> Result<Vec<(String, Found)>, SourceError> {
    let limits = Limits::DEFAULT;
    let none = |_| SourceError::NoEnvelope;
    let bundle = Bundle::open(path, &limits).map_err(none)?;
    if !bundle.contains(ENVELOPE) {
        return Err(SourceError::NoEnvelope);
    }
    let bytes = bundle.read_whole(ENVELOPE).map_err(none)?;
    let value = json::parse(&bytes, &ReadLimits::DEFAULT.with_bytes(bytes.len()))
        .map_err(|error| of_json(error.code(), &error))?;
    let manifest = EnvelopeManifest::read(&value, &limits, &mut Defects::new());
    let Some(manifest) = manifest else { return Err(SourceError::NoEnvelope) };
    let mut found = Vec::new();
    for row in manifest.anchors.iter().filter(|row| row.anchor_type == Some(AnchorType::Tlog)) {
        let member = &row.item.path;
        let size = bundle.size(member).unwrap_or(u64::MAX);
        if size > MAX_FILE_BYTES {
            continue;
        }
        let bytes = bundle.read_whole(member).map_err(none)?;
        let name = format!("{}/{member}", path.display());
        let anchor = TlogAnchor::parse(&bytes).map_err(|error| of_json(error.code(), &error))?;
        found.push((name, signed(anchor.proof.checkpoint())));
    }
    if found.is_empty() { Err(SourceError::NoAnchor) } else { Ok(found) }
}

fn file(path: &PathBuf) -> Result<Vec<(String, Found)>, SourceError> {
    if path.extension().is_some_and(|extension| extension == "tar") {
        return envelope(path);
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(SourceError::File)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
        return Err(SourceError::File(std::io::ErrorKind::FileTooLarge.into()));
    }
    let name = path.display().to_string();
    Ok(parse(&bytes)?.into_iter().map(|found| (name.clone(), found)).collect())
}

/// Reads the checkpoints in a file: a signed note, a tlog-proof, a receipt or a line of receipts each, an
/// anchor, an audit, a memory of checkpoints.
pub fn parse(bytes: &[u8]) -> Result<Vec<Found>, SourceError> {
    if bytes.starts_with(b"c2sp.org/tlog-proof@") {
        let proof = TlogProof::parse(bytes).map_err(|error| of_json(error.code(), &error))?;
        return Ok(vec![signed(proof.checkpoint())]);
    }
    if bytes.first() != Some(&b'{') {
        let note = SignedCheckpoint::parse(bytes).map_err(SourceError::Form)?;
        return Ok(vec![Found::Signed(Box::new(note))]);
    }
    let limits = ReadLimits::DEFAULT.with_bytes(bytes.len());
    match json::parse(bytes, &limits) {
        Ok(value) => {
            let text = |name: &str| {
                value.as_object().and_then(|object| object.get(name)).and_then(|one| one.as_str())
            };
            match text("schema") {
                Some("anchorlog.receipt/1") => receipt(bytes).map(|one| vec![one]),
                Some("anchorlog.anchor/1") => {
                    let anchor =
                        TlogAnchor::parse(bytes).map_err(|error| of_json(error.code(), &error))?;
                    Ok(vec![signed(anchor.proof.checkpoint())])
                }
                Some(KNOWN_CHECKPOINTS_SCHEMA) => memory(bytes),
                // An audit says its schema in its body.
                _ => {
                    let audit =
                        Audit::parse(bytes).map_err(|error| of_json(error.code(), &error))?;
                    Ok(vec![signed(&audit.body().checkpoint)])
                }
            }
        }
        // A store of receipts has one a line.
        Err(error) => {
            let lines: Vec<_> =
                bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
            if lines.len() < 2 {
                return Err(of_json(error.code(), &error));
            }
            lines.into_iter().map(receipt).collect()
        }
    }
}

fn receipt(bytes: &[u8]) -> Result<Found, SourceError> {
    let receipt = Receipt::parse(bytes).map_err(|error| of_json(error.code(), &error))?;
    Ok(signed(receipt.proof.checkpoint()))
}

fn memory(bytes: &[u8]) -> Result<Vec<Found>, SourceError> {
    let known = read_known_checkpoints(bytes, &Limits::DEFAULT).map_err(|findings| {
        let first = findings.list().first();
        let code = first.map_or("J.TYPE", |finding| finding.code.as_str());
        of_json(code, &"the memory of checkpoints can't be read")
    })?;
    Ok(known.checkpoints.into_iter().map(|one| Found::Remembered(Box::new(one))).collect())
}

fn signed(checkpoint: &SignedCheckpoint) -> Found {
    Found::Signed(Box::new(checkpoint.clone()))
}

fn of_json(code: &str, error: &impl std::fmt::Display) -> SourceError {
    SourceError::Json { code: code.to_owned(), detail: error.to_string() }
}

impl SourceError {
    /// The stable code of the failure.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Form(error) => error.code(),
            Self::Json { code, .. } => code,
            Self::Fetch(error) => error.code(),
            Self::File(_) | Self::NoEnvelope | Self::NoAnchor | Self::NoCheckpoint => {
                "CLIENT.SOURCE"
            }
        }
    }
}

/// The largest file that is read: an audit, or a store of receipts.
const MAX_FILE_BYTES: u64 = 16 << 20;
