//! The description of the interface, generated from the handlers.
//!
//! `openapi/log-server.json` in the repository is this document; a test fails when they differ, and
//! `log-server openapi` prints it anew.

use std::sync::LazyLock;

use axum::http::Uri;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use utoipa::OpenApi;

use super::problem::{Problem, ProblemBody};
use super::query::Query;
use super::wire::{
    BatchPlace, BatchReceipt, BatchSchema, EntrySchema, KindSchema, ReceiptSchema,
    SignedBodySchema, SignedStatementSchema, StateSchema, StatementSchema, SubmissionSchema,
};

/// Returns the description as pretty-printed JSON with a final newline.
#[must_use]
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let (_, description) = super::routed().split_for_parts();
        // The document is made of strings and maps: serialising it can't fail.
        let mut text = description.to_pretty_json().unwrap_or_default();
        text.push('\n');
        text
    });
    &TEXT
}

/// This description.
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "operate",
    responses((status = 200, description = "An OpenAPI 3.1 document.", body = Object, content_type = "application/json")),
)]
pub(super) async fn document(uri: Uri) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "public, max-age=300")];
    Ok((headers, text()).into_response())
}

/// The part of the description that doesn't come from a single handler.
pub(super) fn base() -> utoipa::openapi::OpenApi {
    Base::openapi()
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Anchorlog log server",
        description = "A transparency log for digests: every statement gets a receipt after one fsync. Errors are RFC 9457 problem details with a stable `code`; besides the statuses listed, any call may answer 400 (unknown query parameter), 500 or 503.",
        license(name = "Apache-2.0 OR MIT", identifier = "Apache-2.0 OR MIT"),
    ),
    paths(super::tiles::tile, super::tiles::bundle),
    components(schemas(
        BatchPlace,
        BatchReceipt,
        BatchSchema,
        EntrySchema,
        KindSchema,
        ProblemBody,
        ReceiptSchema,
        SignedBodySchema,
        SignedStatementSchema,
        StateSchema,
        StatementSchema,
        SubmissionSchema,
    )),
    tags(
        (name = "submit", description = "Adding statements."),
        (name = "read", description = "JSON for people who want an answer in one call."),
        (name = "tiles", description = "C2SP tlog-tiles, the primary read interface."),
        (name = "witness", description = "Witnessed checkpoints of audit trails, where the log is such a witness."),
        (name = "operate", description = "Running the server."),
    ),
)]
struct Base;
