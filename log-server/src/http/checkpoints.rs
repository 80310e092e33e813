//! Countersigned checkpoints: what witnesses and time-stamping authorities have said about the log, and about
//! which tree of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::note::NoteSignature;
use anchorlog_proto::timestamp::GenTime;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use super::problem::{Code, Problem, ProblemBody};
use super::query::Query;
use super::read::{last_number, published_size};
use super::wire::{CheckpointsAnswer, CountersignedCheckpoint, TimestampAnswer};
use super::{App, VOLATILE, json_of, off_thread, read_failed};
use crate::checkpoints::{Cosigned, Countersigned};
use crate::error::Error;
use crate::storage::StorageError;

/// A countersigned checkpoint, with cosignatures and time-stamp tokens.
#[utoipa::path(
    get,
    path = "/v1/checkpoints/{size}",
    tag = "read",
    params(("size" = u64, Path, description = "The tree size of the checkpoint.")),
    responses(
        (status = 200, description = "The checkpoint.", body = CountersignedCheckpoint),
        (status = 400, description = "The size isn't a number.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No checkpoint of that size has been countersigned.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn countersigned(
    State(app): State<Arc<App>>,
    uri: Uri,
) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    let size = published_size(&app, "size", last_number(&uri, "size")?)?.get();
    let found = off_thread(&app, move |app| {
        at(app, size).map_err(|error| read_failed(&Error::Storage(error)))
    });
    let found = found.await?.ok_or_else(|| {
        let detail = format!(
            "No third party has countersigned a checkpoint of size {size}. /v1/checkpoints lists those \
             that were; the newest of all, with the log's own signature, is at /checkpoint."
        );
        Problem::new(Code::NotFound, detail)
    })?;
    Ok(json_of(&found, VOLATILE))
}

/// The countersigned checkpoints, newest first.
#[utoipa::path(
    get,
    path = "/v1/checkpoints",
    tag = "read",
    params(
        ("below" = Option<u64>, Query, description = "Only checkpoints of smaller sizes."),
        ("limit" = Option<u64>, Query, description = "How many at most; 10 by default.", minimum = 1, maximum = 100),
    ),
    responses(
        (status = 200, description = "The checkpoints.", body = CheckpointsAnswer),
        (status = 400, description = "An unusable parameter.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn list(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let (below, limit) = {
        let query = Query::read(uri.query(), &["below", "limit"])?;
        (
            query.number("below")?.unwrap_or(u64::MAX),
            query.number("limit")?.unwrap_or(DEFAULT_LIMIT),
        )
    };
    let limit = usize::try_from(limit).ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
    let Some(limit) = limit else {
        let detail = format!("`limit` must be a whole number from 1 to {MAX_LIMIT}.");
        return Err(Problem::new(Code::BadParameter, detail));
    };
    let found = off_thread(&app, move |app| {
        // One more, to know whether there are more.
        newest(app, below, limit + 1).map_err(|error| read_failed(&Error::Storage(error)))
    });
    let mut checkpoints = found.await?;
    let more = checkpoints.len() > limit;
    checkpoints.truncate(limit);
    let next = checkpoints.last().filter(|_| more).map(|last| last.size);
    Ok(json_of(&CheckpointsAnswer { checkpoints, next }, VOLATILE))
}

/// What was said about the checkpoint of exactly `size`.
fn at(app: &App, size: u64) -> Result<Option<CountersignedCheckpoint>, StorageError> {
    let cosigned = app.log.cosignatures().at(size)?;
    let stamped = app.log.checkpoints().at(size)?;
    Ok(answer(size, stamped, cosigned))
}

/// The newest checkpoints that anybody has countersigned, newest first.
fn newest(
    app: &App,
    below: u64,
    limit: usize,
) -> Result<Vec<CountersignedCheckpoint>, StorageError> {
    let mut found: BTreeMap<u64, (Option<Countersigned>, Option<Cosigned>)> = BTreeMap::new();
    for stamped in app.log.checkpoints().list(below, limit)? {
        let size = stamped.size;
        found.entry(size).or_default().0 = Some(stamped);
    }
    for cosigned in app.log.cosignatures().list(below, limit)? {
        let size = cosigned.size;
        found.entry(size).or_default().1 = Some(cosigned);
    }
    let newest = found.into_iter().rev().take(limit);
    Ok(newest.filter_map(|(size, (stamped, cosigned))| answer(size, stamped, cosigned)).collect())
}

fn answer(
    size: u64,
    stamped: Option<Countersigned>,
    cosigned: Option<Cosigned>,
) -> Option<CountersignedCheckpoint> {
    let timestamp = |token: crate::checkpoints::StoredToken| TimestampAnswer {
        expires: GenTime::from_unix(token.expires).to_string(),
        gen_time: token.gen_time.to_string(),
        operator: token.operator,
        received: GenTime::from_unix(token.received).to_string(),
        token: base64_encode(&token.token),
    };
    let (stamped_note, tokens) = stamped.map(|stamped| (stamped.note, stamped.tokens)).unzip();
    let (cosigned_note, lines) = cosigned.map(|cosigned| (cosigned.note, cosigned.lines)).unzip();
    let lines: Option<Vec<NoteSignature>> = lines;
    Some(CountersignedCheckpoint {
        // Notes are UTF-8 by construction.
        checkpoint: String::from_utf8(stamped_note.or(cosigned_note)?).unwrap_or_default(),
        cosignatures: lines.unwrap_or_default().iter().map(ToString::to_string).collect(),
        size,
        timestamps: tokens.unwrap_or_default().into_iter().map(timestamp).collect(),
    })
}

/// Checkpoints of one answer when the client doesn't say how many.
const DEFAULT_LIMIT: u64 = 10;

/// The most checkpoints of one answer.
const MAX_LIMIT: usize = 100;
