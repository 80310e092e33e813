//! Anchors, checked to be over the right value before they go into an envelope.
//!
//! What is checked needs no trust: that the file is one, that it is over this core's root, a declared head
//! or this plan, and that a log's proof leads to the checkpoint it comes with. Who signed, and whether that
//! counts, is for a policy to say.

use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::anchor_file::{ANCHOR_SCHEMA, AnchorFileError, TlogAnchor};
use anchorlog_proto::gad::envelope::{AnchorRow, AnchorType, ItemRow};
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::json::{self, JsonError, ReadLimits};
use anchorlog_proto::receipt::{Receipt, ReceiptError};
use anchorlog_proto::statement::{StatementKind, Trail};
use anchorlog_proto::timestamp::{HashAlgorithm, TimestampError, TimestampResponse, Token};
use anchorlog_proto::tlog_proof::TlogProofError;

use super::{ANCHORS, item_path};

/// The values of an envelope that anchors can be over.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the kinds of anchors are these three")]
pub struct Targets {
    /// h(P); the trail of everything that is said about the plan.
    pub plan_hash: Digest,
    /// The recomputed root_core; `None` before there is a core.
    pub root_core: Option<Digest>,
    /// The declared heads.
    pub heads: Vec<Digest>,
}

impl Targets {
    /// The targets of a plan that isn't run yet.
    #[must_use]
    pub const fn of_plan(plan_hash: Digest) -> Self {
        Self { plan_hash, root_core: None, heads: Vec::new() }
    }

    /// The values of a kind.
    #[must_use]
    pub fn of(&self, kind: AnchorKind) -> Vec<Digest> {
        match kind {
            AnchorKind::CoreRoot => self.root_core.into_iter().collect(),
            AnchorKind::ChainHead => self.heads.clone(),
            AnchorKind::PlanCommitment => vec![self.plan_hash],
        }
    }

    fn check(&self, kind: AnchorKind, actual: Digest) -> Result<(), AnchorError> {
        let values = self.of(kind);
        if values.contains(&actual) {
            return Ok(());
        }
        Err(match (kind, values.first()) {
            (AnchorKind::ChainHead, _) | (_, None) => AnchorError::HeadUndeclared { actual },
            (_, Some(expected)) => AnchorError::Target { kind, expected: *expected, actual },
        })
    }
}

/// The kind of statement that anchors this kind of value.
#[must_use]
pub(super) const fn statement_kind(kind: AnchorKind) -> StatementKind {
    match kind {
        AnchorKind::CoreRoot => StatementKind::CoreRoot,
        AnchorKind::ChainHead => StatementKind::ChainHead,
        AnchorKind::PlanCommitment => StatementKind::PlanCommitment,
    }
}

/// The forms in which an anchor comes as a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the format lists exactly these")]
pub enum AnchorForm {
    /// `.tsr`: a TimeStampResp.
    Response,
    /// `.tst`: a TimeStampToken.
    Token,
    /// `.json`: a log's receipt, or the anchor file made of one.
    Log,
}

impl AnchorForm {
    /// The form that a file's name says it has.
    pub fn of(path: &Path) -> Result<Self, AnchorError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("tsr") => Ok(Self::Response),
            Some("tst") => Ok(Self::Token),
            Some("json") => Ok(Self::Log),
            _ => Err(AnchorError::Name),
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Response => "tsr",
            Self::Token => "tst",
            Self::Log => "json",
        }
    }
}

/// An anchor over a value that the envelope has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CheckedAnchor {
    form: AnchorForm,
    kind: AnchorKind,
    target: Digest,
    bytes: Vec<u8>,
}

impl CheckedAnchor {
    /// Checks that `bytes` are an anchor of this kind over one of `targets`.
    ///
    /// Tokens are taken exactly as they were received; a receipt becomes the anchor file it makes.
    pub fn check(
        kind: AnchorKind,
        form: AnchorForm,
        bytes: &[u8],
        targets: &Targets,
    ) -> Result<Self, AnchorError> {
        let (target, bytes) = match form {
            AnchorForm::Response => {
                let response = TimestampResponse::parse(bytes).map_err(AnchorError::Token)?;
                (stamped(response.granted().map_err(AnchorError::Status)?)?, bytes.to_vec())
            }
            AnchorForm::Token => (stamped(bytes)?, bytes.to_vec()),
            AnchorForm::Log => {
                let anchor = read_log_file(bytes)?;
                let statement = anchor.entry.statement();
                if statement.kind != statement_kind(kind) {
                    return Err(AnchorError::Kind { expected: kind, actual: statement.kind });
                }
                targets.check(kind, statement.digest)?;
                let plan = targets.plan_hash.to_string();
                if let Some(trail) = statement.trail.as_ref().filter(|one| one.as_str() != plan) {
                    return Err(AnchorError::Trail { expected: plan, actual: trail.clone() });
                }
                let leaf = anchor.entry.leaf_hash();
                anchor.proof.verify_inclusion(&leaf).map_err(AnchorError::Proof)?;
                let file = anchor.to_bytes().map_err(AnchorError::File)?;
                (statement.digest, file)
            }
        };
        targets.check(kind, target)?;
        Ok(Self { form, kind, target, bytes })
    }

    /// What it is over.
    #[must_use]
    pub const fn kind(&self) -> AnchorKind {
        self.kind
    }

    /// The value it is over.
    #[must_use]
    pub const fn target(&self) -> Digest {
        self.target
    }

    /// The bytes of its file in an envelope.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// SHA-256 of its file: for a commitment, the precommit_digest of the first dispatch.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.bytes)
    }

    /// Its path in an envelope.
    #[must_use]
    pub fn path(&self) -> Box<str> {
        item_path(ANCHORS, self.kind.as_str(), &self.bytes, self.form.extension())
    }

    /// Its row in the manifest.
    #[must_use]
    pub fn row(&self) -> AnchorRow {
        let anchor_type = match self.form {
            AnchorForm::Log => AnchorType::Tlog,
            AnchorForm::Response | AnchorForm::Token => AnchorType::Rfc3161,
        };
        AnchorRow {
            item: ItemRow { path: self.path(), digest: self.digest() },
            anchor_type: Some(anchor_type),
            kind: self.kind,
            target: self.target,
        }
    }
}

/// The value that a token stamps: 32 bytes, said to be of SHA-256.
fn stamped(token: &[u8]) -> Result<Digest, AnchorError> {
    let token = Token::parse(token).map_err(AnchorError::Token)?;
    let info = &token.info;
    let imprint = <[u8; 32]>::try_from(info.imprint).ok();
    match (HashAlgorithm::from_oid(&info.imprint_algorithm.oid), imprint) {
        (Some(HashAlgorithm::Sha256), Some(imprint)) => Ok(Digest::from_bytes(imprint)),
        _ => Err(AnchorError::ImprintAlgorithm),
    }
}

/// A receipt or an anchor file, as its schema says.
fn read_log_file(bytes: &[u8]) -> Result<TlogAnchor, AnchorError> {
    let limits =
        ReadLimits::DEFAULT.with_bytes(anchorlog_proto::gad::anchor_file::MAX_ANCHOR_FILE_BYTES);
    let value = json::parse(bytes, &limits).map_err(AnchorError::Json)?;
    let schema = value.as_object().and_then(|object| object.get("schema"));
    if schema.and_then(json::Value::as_str) == Some(ANCHOR_SCHEMA) {
        return TlogAnchor::parse(bytes).map_err(AnchorError::File);
    }
    let receipt = Receipt::parse(bytes).map_err(AnchorError::Receipt)?;
    TlogAnchor::from_receipt(&receipt).map_err(AnchorError::File)
}

/// Why a file isn't an anchor of an envelope.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnchorError {
    /// Not a usable anchor file.
    #[error(transparent)]
    File(AnchorFileError),
    /// Over a value that the envelope declares as no head of its chain.
    #[error("is over {actual}, which is no declared head of this envelope")]
    HeadUndeclared {
        /// The value.
        actual: Digest,
    },
    /// The token stamps something else than 32 bytes of SHA-256.
    #[error("the token's imprint is not one of SHA-256")]
    ImprintAlgorithm,
    /// Not JSON.
    #[error(transparent)]
    Json(JsonError),
    /// The statement is of another kind.
    #[error("the statement is about a {actual}, not a {expected}")]
    Kind {
        /// The kind asked for.
        expected: AnchorKind,
        /// The statement's.
        actual: StatementKind,
    },
    /// The name says nothing about what is in it.
    #[error(
        "the name of an anchor ends in .tsr (a time-stamp response), .tst (a token) or .json (a \
         log's receipt)"
    )]
    Name,
    /// The proof doesn't lead to its checkpoint.
    #[error("the inclusion proof doesn't lead to its checkpoint: {0}")]
    Proof(TlogProofError),
    /// Not a receipt.
    #[error(transparent)]
    Receipt(ReceiptError),
    /// The authority refused.
    #[error("the authority gave no token: {0}")]
    Status(TimestampError),
    /// Over another value.
    #[error("is over {actual}; the {kind} of this envelope is {expected}")]
    Target {
        /// The kind.
        kind: AnchorKind,
        /// The envelope's value.
        expected: Digest,
        /// The anchor's.
        actual: Digest,
    },
    /// Not a token.
    #[error("is no RFC 3161 time stamp: {0}")]
    Token(TimestampError),
    /// The statement belongs to another plan.
    #[error("the statement's trail is {actual}, not the plan {expected}")]
    Trail {
        /// h(P).
        expected: String,
        /// The statement's.
        actual: Trail,
    },
}

impl AnchorError {
    /// The stable code of this refusal: that of the verifier where it would refuse the same.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::File(error) => error.code(),
            Self::HeadUndeclared { .. } => "ANC.HEAD_UNDECLARED",
            Self::ImprintAlgorithm => "TSA.IMPRINT",
            Self::Json(error) => error.code(),
            Self::Kind { .. } | Self::Trail { .. } => "LOG.LEAF",
            Self::Name => "CLIENT.ANCHOR_NAME",
            Self::Proof(_) => "LOG.INCLUSION",
            Self::Receipt(_) => "LOG.CHECKPOINT",
            Self::Status(_) => "TSA.STATUS",
            Self::Target { .. } => "ANC.TARGET",
            Self::Token(_) => "TSA.PARSE",
        }
    }

    /// Whether the file was read, and is over something else than it should be.
    pub(super) const fn is_about_the_value(&self) -> bool {
        matches!(
            self,
            Self::HeadUndeclared { .. }
                | Self::ImprintAlgorithm
                | Self::Kind { .. }
                | Self::Proof(_)
                | Self::Target { .. }
                | Self::Trail { .. }
        )
    }
}
