//! The form of a problem on the wire.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::{BatchReceipt, HeldConflict};

/// The members of a problem as they are written, RFC 9457 section 3 with nine of our own.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// `urn:anchorlog:problem:` and the general code.
    #[schema(example = "urn:anchorlog:problem:request.unknown-parameter")]
    pub r#type: String,
    /// The same for every problem of this type.
    #[schema(example = "Unknown parameter")]
    pub title: String,
    /// The HTTP status again.
    #[schema(example = 400, minimum = 400, maximum = 599)]
    pub status: u16,
    /// A stable code to branch on. For malformed statements the code of the violated format rule, as `J.SYNTAX`.
    #[schema(example = "request.unknown-parameter")]
    pub code: String,
    /// What is wrong with this request and what to do about it.
    pub detail: String,
    /// `urn:anchorlog:request:` and the request's id, which is also in the header `x-request-id`.
    pub instance: String,
    /// JSON pointer of the offending member of the body.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Which statement of a batch is refused, from 0.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// With `trail.conflict`: the places of trails that the log holds with another digest than was offered.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicts: Option<Vec<HeldConflict>>,
    /// With `trail.conflict`: where everything that was sent is in the log, as in an answer of status 200.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed: Option<BatchReceipt>,
    /// Of the checkpoint witness: the detail again.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Of the checkpoint witness: `conflict`, `below-head` or `retired`.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Of the checkpoint witness: the exact lines of the statements that show it, without newlines.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statements: Option<Vec<String>>,
}
