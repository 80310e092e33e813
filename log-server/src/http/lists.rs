//! Reads that go through the index: by digest, by trail, by submitter.
//!
//! The index only says where to look; what is answered is read from the log itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{LogEntry, StatementKind, Trail};
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use super::claims::{MAX_COMPARED, claims};
use super::problem::{Code, Problem, ProblemBody};
use super::query::{MAX_PAGE, Part, Query, decode};
use super::wire::{
    KindSchema, ListedEntry, LookupAnswer, SubmitterAnswer, TrailAnswer, TrailConflict,
};
use super::{App, VOLATILE, json_of, off_thread, read_failed};
use crate::index::Posting;

/// The entries that commit to a digest.
#[utoipa::path(
    get,
    path = "/v1/lookup",
    tag = "read",
    params(
        ("digest" = String, Query, description = "`sha256:` and 64 hexadecimal digits."),
        ("kind" = Option<KindSchema>, Query, description = "Only entries of this kind."),
    ),
    responses(
        (status = 200, description = "The entries; an empty list when there is none.", body = LookupAnswer),
        (status = 400, description = "A parameter is missing or unusable.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "The index is catching up; see `Retry-After`.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn lookup(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let (digest, kind) = {
        let query = Query::read(uri.query(), &["digest", "kind"])?;
        (digest(query.required("digest")?)?, query.get("kind").map(kind).transpose()?)
    };
    let answer = off_thread(&app, move |app| {
        let page = app.log.lookup(&digest, kind, None, MAX_PAGE);
        let mut page = page.map_err(|error| read_failed(&error))?;
        // The index has them by kind; people expect the order of the log.
        page.items.sort_unstable();
        Ok(LookupAnswer { entries: listed(app, &page.items)?, truncated: page.next.is_some() })
    });
    Ok(json_of(&answer.await?, VOLATILE))
}

/// The entries of a trail, in the order of the log, with the places that are claimed more than once.
#[utoipa::path(
    get,
    path = "/v1/trails/{trail}",
    tag = "read",
    params(
        ("trail" = String, Path, description = "The trail."),
        ("from" = Option<u64>, Query, description = "The first index wanted; 0 by default."),
        ("limit" = Option<u64>, Query, description = "Entries wanted, 1 to 1000; 100 by default.", minimum = 1, maximum = 1000),
    ),
    responses(
        (status = 200, description = "A part of the trail; empty when there is none.", body = TrailAnswer),
        (status = 400, description = "An unusable parameter.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "The index is catching up; see `Retry-After`.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn trail(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let part = Part::read(&Query::read(uri.query(), &Part::PARAMETERS)?, DEFAULT_PAGE)?;
    let trail: Trail = last_segment(&uri)?.parse().map_err(|_| {
        let detail = "A trail is 1 to 128 characters of a-z, 0-9, `:`, `.`, `_`, `-`, the first one a \
                      letter or digit.";
        Problem::new(Code::BadParameter, detail)
    })?;
    let answer = off_thread(&app, move |app| {
        let page = app.log.trail(&trail, part.from, part.limit);
        let page = page.map_err(|error| read_failed(&error))?;
        let entries = listed(app, &page.items)?;
        let places: BTreeSet<u64> = entries.iter().filter_map(|entry| entry.sequence).collect();
        let mut conflicts = Vec::new();
        for sequence in places {
            conflicts.extend(conflict(app, &trail, sequence)?);
        }
        Ok(TrailAnswer { conflicts, entries, next: page.next })
    });
    Ok(json_of(&answer.await?, VOLATILE))
}

/// The entries that a key has signed, in the order of the log.
#[utoipa::path(
    get,
    path = "/v1/submitters/{key_id}",
    tag = "read",
    params(
        ("key_id" = String, Path, description = "`gadk1:` and 64 hexadecimal digits."),
        ("from" = Option<u64>, Query, description = "The first index wanted; 0 by default."),
        ("limit" = Option<u64>, Query, description = "Entries wanted, 1 to 1000; 100 by default.", minimum = 1, maximum = 1000),
    ),
    responses(
        (status = 200, description = "A part of the list; empty when there is none.", body = SubmitterAnswer),
        (status = 400, description = "An unusable parameter.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "The index is catching up; see `Retry-After`.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn submitter(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let part = Part::read(&Query::read(uri.query(), &Part::PARAMETERS)?, DEFAULT_PAGE)?;
    let signer: SignerId = last_segment(&uri)?.parse().map_err(|_| {
        let detail = "A key id is `gadk1:` and 64 lower-case hexadecimal digits.";
        Problem::new(Code::BadParameter, detail)
    })?;
    let answer = off_thread(&app, move |app| {
        let page = app.log.submitter(&signer, part.from, part.limit);
        let page = page.map_err(|error| read_failed(&error))?;
        Ok(SubmitterAnswer { entries: listed(app, &page.items)?, next: page.next })
    });
    Ok(json_of(&answer.await?, VOLATILE))
}

/// Reads what the index points at.
fn listed(app: &App, postings: &[Posting]) -> Result<Vec<ListedEntry>, Problem> {
    let read = |posting: &Posting| {
        let entry = app.log.entry(posting.index).map_err(|error| read_failed(&error))?;
        let entry = entry.ok_or_else(|| {
            let index = posting.index;
            Problem::internal(&format_args!("the index names entry {index}, which is not there"))
        })?;
        Ok(row(posting.index, &entry))
    };
    postings.iter().map(read).collect()
}

fn row(index: u64, entry: &LogEntry) -> ListedEntry {
    let statement = entry.statement();
    ListedEntry {
        digest: statement.digest.to_string(),
        index,
        key_id: entry.signer().map(|signer| signer.to_string()),
        kind: statement.kind.as_str(),
        sequence: statement.sequence,
        trail: statement.trail.as_ref().map(|trail| trail.as_str().to_owned()),
    }
}

/// The first claims on one place of a trail, if they name more than one digest or are too many to compare.
fn conflict(app: &App, trail: &Trail, sequence: u64) -> Result<Option<TrailConflict>, Problem> {
    let mut indexes = Vec::new();
    let mut first = None;
    let mut disputed = false;
    for (before, claim) in claims(app, trail, sequence).enumerate() {
        let claim = claim?;
        disputed |= *first.get_or_insert(claim.digest) != claim.digest || before == MAX_COMPARED;
        if indexes.len() < MAX_LISTED_CLAIMS {
            indexes.push(claim.index);
        } else if disputed {
            break;
        }
    }
    Ok(disputed.then_some(TrailConflict { indexes, sequence }))
}

fn digest(text: &str) -> Result<Digest, Problem> {
    text.parse().map_err(|_| {
        let detail = "`digest` must be `sha256:` and 64 lower-case hexadecimal digits.";
        Problem::new(Code::BadParameter, detail)
    })
}

fn kind(text: &str) -> Result<StatementKind, Problem> {
    text.parse().map_err(|_| {
        let known = StatementKind::ALL.map(StatementKind::as_str).join("`, `");
        Problem::new(Code::BadParameter, format!("`kind` must be one of `{known}`."))
    })
}

/// The last segment of the path, decoded.
fn last_segment(uri: &Uri) -> Result<String, Problem> {
    let (_, last) = uri.path().rsplit_once('/').unwrap_or_default();
    let decoded = decode(last)
        .ok_or_else(|| Problem::new(Code::BadParameter, "The path isn't percent-encoded UTF-8."))?;
    Ok(decoded.into_owned())
}

/// Entries of a list when the client doesn't say.
const DEFAULT_PAGE: usize = 100;

/// Claims on one place that are listed; one disputed place must not make an answer large.
const MAX_LISTED_CLAIMS: usize = 100;
