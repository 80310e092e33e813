//! The log as C2SP tlog-tiles: the checkpoint, tiles of hashes, bundles of entries.
//!
//! Paths, media types and caching are those of c2sp.org/tlog-tiles. Every tile of every published size is
//! there, full or partial; a partial tile is never answered with more than was asked for, because clients
//! check the length. What isn't there yet must not be remembered as missing, so a 404 isn't cached.

use std::sync::Arc;

use anchorlog_proto::tile::TilePath;
use anchorlog_proto::tlog_witness::write_cosignatures;
use axum::extract::State;
use axum::http::Uri;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use super::problem::{Code, Problem, ProblemBody};
use super::query::Query;
use super::{App, IMMUTABLE, VOLATILE, off_thread, read_failed};

/// The newest checkpoint, a signed note; with the cosignatures that witnesses have given to exactly this one.
#[utoipa::path(
    get,
    path = "/checkpoint",
    tag = "tiles",
    responses((status = 200, description = "The checkpoint.", body = String, content_type = "text/plain; charset=utf-8")),
)]
pub(super) async fn checkpoint(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    let snapshot = app.log.snapshot();
    let mut note = snapshot.note().to_vec();
    // Clients ignore lines by keys that they don't know, and those who know them see them at once.
    let lines = app.log.cosignatures().lines_of_newest(snapshot.size().get());
    note.extend_from_slice(write_cosignatures(&lines).as_bytes());
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, VOLATILE)];
    Ok((headers, note).into_response())
}

/// A tile of hashes.
#[utoipa::path(
    get,
    path = "/tile/{level}/{index}",
    tag = "tiles",
    params(
        ("level" = u8, Path, description = "Tile level, 0 to 63."),
        ("index" = String, Path, description = "Tile index in groups of three digits, all but the last with an `x` before it and a `/` after it (`x001/x234/067`), then for a partial tile `.p/` and its width."),
    ),
    responses(
        (status = 200, description = "32 bytes per hash.", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 400, description = "Not a tile path.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "The log has no such tile (yet).", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn tile(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    slice(&app, &uri).await
}

/// A bundle of entries, each as its length in two bytes, most significant first, and its leaf bytes.
#[utoipa::path(
    get,
    path = "/tile/entries/{index}",
    tag = "tiles",
    params(("index" = String, Path, description = "Bundle index and width, written as for tiles.")),
    responses(
        (status = 200, description = "The entries; compressed for clients that accept gzip.", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 400, description = "Not a bundle path.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "The log has no such bundle (yet).", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn bundle(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    slice(&app, &uri).await
}

async fn slice(app: &Arc<App>, uri: &Uri) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    let path = uri.path().strip_prefix('/').unwrap_or_default();
    let path: TilePath = path.parse().map_err(|_| {
        let detail = "Not a path of c2sp.org/tlog-tiles: tile/<level>/<index>[.p/<width>] or \
                      tile/entries/<index>[.p/<width>], with the index as in x001/x234/067.";
        Problem::new(Code::BadParameter, detail)
    })?;
    let found = off_thread(app, move |app| {
        let found = match path {
            TilePath::Entries(id) => app.log.entries(id),
            TilePath::Tile(id) => app.log.tile(id),
        };
        found.map_err(|error| read_failed(&error))
    });
    let bytes = found.await?.ok_or_else(|| {
        let size = app.log.snapshot().size();
        let detail =
            format!("A tree of {size} entries, which is the present size, has no such tile.");
        Problem::new(Code::NotFound, detail)
    })?;
    let headers = [(CONTENT_TYPE, "application/octet-stream"), (CACHE_CONTROL, IMMUTABLE)];
    Ok((headers, bytes).into_response())
}
