//! The holder of audit trails' checkpoints: lines as a Runtime or a Runner prints them, kept by somebody else.
//!
//! What it is: the counterpart of whoever hands the checkpoint lines of their trail to another party. Each
//! line becomes a statement of kind `checkpoint` about its SHA-256, with the line's own trail and sequence,
//! and a line whose place is held with another digest is kept as well and answered with both. What it isn't:
//! a witness. Nothing here signs a statement about a trail, and nobody is asked whose the trail is; the log
//! holds digests, and its signed checkpoints say that it does.

use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{AuditCheckpoint, LineError, LinesError, read_lines};
use anchorlog_proto::statement::{LogEntry, StatementKind, Trail};
use axum::extract::{Request, State};
use axum::response::Response;

use super::body;
use super::claims::{MAX_COMPARED, claims};
use super::problem::{Code, Problem, ProblemBody};
use super::query::Query;
use super::submit::{
    count_refusal, not_admitted_because, not_committed, outcome, sentence, write_batch,
};
use super::wire::{BatchPlace, BatchReceipt, HeldConflict, HeldLine, StateSchema};
use super::{App, VOLATILE, json, off_thread, read_failed};
use crate::bearer::{BearerError, Principal};
use crate::pool::Place;
use crate::snapshot::Snapshot;

/// Hold the checkpoint lines of audit trails.
///
/// The lines of one or several trails, exactly as they are printed, each ended by a newline; each becomes a
/// statement of kind `checkpoint`. An answer of status 200 moves the sender's cursor. A line is known by its
/// SHA-256, so sending it again changes nothing. More lines than the log takes in a batch go in one batch after
/// another: when one of them can't, those before it are in, and sending the same again finds them.
#[utoipa::path(
    post,
    path = "/v1/trails:checkpoints",
    tag = "submit",
    request_body(content = String, content_type = "application/jsonl", description = "Checkpoint lines, each at most 4,096 bytes; 1 MiB at most."),
    responses(
        (status = 200, description = "The places of the lines, in their order.", body = BatchReceipt),
        (status = 400, description = "Not checkpoint lines in the form in which they are printed; nothing was taken.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "This log takes lines only with a token, or doesn't know the one that is sent.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 408, description = "The body didn't arrive in time.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "A line's place was held with another digest before. All lines are in the log, as evidence; `conflicts` and `committed` say where.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Over a size limit, or more lines than this sender may send at once.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "Not declared as `application/jsonl`, or compressed.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "The sender's rate is used up; see `Retry-After`.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Overloaded, stopping or read-only; see `Retry-After`.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 507, description = "The disk is full.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn hold(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let mut refused = 1;
    let held = take(&app, request, &mut refused).await;
    let held = held.inspect_err(|problem| count_refusal(&app, problem, refused))?;
    answer(&app, held).await
}

/// Lines that are in the log.
struct Held {
    sender: Option<Principal>,
    lines: Vec<AuditCheckpoint>,
    places: Vec<Place>,
    /// Covers every place.
    snapshot: Arc<Snapshot>,
}

/// Reads, admits and commits the lines. `refused` becomes the number of lines that an error keeps out.
async fn take(app: &Arc<App>, request: Request, refused: &mut u64) -> Result<Held, Problem> {
    let (head, body) = request.into_parts();
    Query::read(head.uri.query(), &[])?;
    body::require_plain(&head.headers, MEDIA_TYPE, NOT_JSONL)?;
    let bytes = body::read(body, app.lines_body).await?;
    // Some thousand lines are milliseconds of work.
    let read = off_thread(app, move |app| {
        let bearer = app.access.bearers().identify(&head.headers).map_err(not_a_bearer)?;
        let lines = read_lines(&bytes, usize::MAX).map_err(not_lines)?;
        let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        app.access.admit_lines(bearer, count).map_err(|reason| not_admitted_because(&reason))?;
        let entries = lines.iter().map(|line| LogEntry::unsigned(line.statement()));
        let entries = entries.collect::<Result<Vec<_>, _>>();
        let entries = entries.map_err(|error| Problem::internal(&error))?;
        Ok((bearer.map(|bearer| bearer.principal().clone()), lines, entries))
    });
    let (sender, lines, mut entries) = read.await?;
    let mut places: Vec<Place> = Vec::with_capacity(entries.len());
    let mut snapshot = app.log.snapshot();
    while !entries.is_empty() {
        let rest = entries.split_off(entries.len().min(app.batch));
        *refused = u64::try_from(entries.len() + rest.len()).unwrap_or(u64::MAX);
        let committed = app.log.submit(entries).await.map_err(|error| {
            let problem = not_committed(error);
            if places.is_empty() { problem } else { broken_off(problem, places.len()) }
        })?;
        for place in &committed.places {
            app.metrics.submitted(outcome(place), 1);
        }
        places.extend(committed.places);
        if committed.snapshot.size() > snapshot.size() {
            snapshot = committed.snapshot;
        }
        entries = rest;
    }
    Ok(Held { sender, lines, places, snapshot })
}

/// Says where the lines are, and which of them disagree with what was held before.
async fn answer(app: &Arc<App>, held: Held) -> Result<Response, Problem> {
    off_thread(app, move |app| {
        let Held { sender, lines, places, snapshot } = held;
        let mut conflicts = Vec::new();
        for (line, place) in lines.iter().zip(&places) {
            conflicts.extend(conflict(app, line, place)?);
        }
        let Some(first) = conflicts.first() else {
            return Ok(json(write_batch(app, &snapshot, &places), VOLATILE));
        };
        let sender = sender.map_or("nobody in particular".to_owned(), |sender| sender.to_string());
        let (trail, sequence, count) = (&first.trail, first.sequence, conflicts.len());
        let (earlier, later) = (first.held.index, first.offered.index);
        tracing::warn!(sender, trail, sequence, earlier, later, count, "conflicting checkpoints");
        let detail = format!(
            "The log held other checkpoints before: of trail {trail} at sequence {sequence}{}. Both are kept as \
             evidence. The trail was rewritten, or somebody else has written under its name; sending the \
             lines again changes nothing.",
            if count > 1 { format!(", and of {} more places", count - 1) } else { String::new() }
        );
        let problem = Problem::new(Code::TrailConflict, detail);
        Err(problem.with_conflicts(conflicts, committed(app, &snapshot, &places)))
    })
    .await
}

/// The line's disagreement with the first checkpoint of its place, if there is one.
///
/// What was first stays first, so a line gets the same answer whenever it is sent. Statements of other kinds
/// about the same place don't count, unless there are [`MAX_COMPARED`] of them with other digests.
fn conflict(
    app: &App,
    line: &AuditCheckpoint,
    place: &Place,
) -> Result<Option<HeldConflict>, Problem> {
    let digest = line.line_digest();
    let mut others = 0;
    for claim in claims(app, &Trail::from(line.trail), line.sequence) {
        let claim = claim.map_err(in_but_unknown)?;
        if claim.digest == digest {
            // The same digest in another kind of statement is another claim, but it disagrees with nothing.
            if claim.index == place.index {
                return Ok(None);
            }
            continue;
        }
        let entry = app.log.entry(claim.index);
        let entry = entry.map_err(|error| in_but_unknown(read_failed(&error)))?;
        others += 1;
        if entry.is_some_and(|entry| entry.statement().kind == StatementKind::Checkpoint)
            || others == MAX_COMPARED
        {
            return Ok(Some(HeldConflict {
                held: held_line(&claim.digest, claim.index),
                offered: held_line(&digest, place.index),
                sequence: line.sequence,
                trail: line.trail.to_string(),
            }));
        }
    }
    Ok(None)
}

fn held_line(digest: &Digest, index: u64) -> HeldLine {
    HeldLine { digest: digest.to_string(), index }
}

fn committed(app: &App, snapshot: &Snapshot, places: &[Place]) -> BatchReceipt {
    let place = |place: &Place| BatchPlace {
        duplicate: place.duplicate,
        index: place.index,
        leaf_hash: place.leaf_hash.to_string(),
        state: StateSchema::Published,
    };
    BatchReceipt {
        checkpoint: String::from_utf8_lossy(snapshot.note()).into_owned(),
        log: app.log.origin().as_str().to_owned(),
        receipts: places.iter().map(place).collect(),
    }
}

pub(super) fn not_a_bearer(error: BearerError) -> Problem {
    let is_missing = error == BearerError::Missing;
    let code = if is_missing { Code::TokenRequired } else { Code::BadToken };
    Problem::new(code, sentence(&error))
}

fn not_lines(error: LinesError) -> Problem {
    let (line, code) = match error {
        LinesError::Line { line, error: LineError::TooLong } => (line, Code::StatementTooLarge),
        LinesError::Line { line, .. } | LinesError::Unterminated { line } => {
            (line, Code::MalformedStatement)
        }
        _ => return Problem::new(Code::MalformedStatement, sentence(&error)),
    };
    let detail =
        format!("{} Send the lines as they were printed; nothing was taken.", sentence(&error));
    Problem::new(code, detail).at_line(line)
}

/// A later batch of the body didn't come in.
fn broken_off(problem: Problem, lines: usize) -> Problem {
    let why = problem.code().title();
    let detail = format!(
        "{why}: the first {lines} lines are in the log and the others are not. Send the same again later; \
         what is in will be found."
    );
    problem.with_detail(detail)
}

/// The lines are in, but whether they disagree with others couldn't be seen.
fn in_but_unknown(problem: Problem) -> Problem {
    problem.with_detail(
        "The lines are in the log, but what it held before can't be looked up now; send the same again.",
    )
}

/// The media type of JSON lines.
pub const MEDIA_TYPE: &str = "application/jsonl";

const NOT_JSONL: &str =
    "The body must be checkpoint lines and be declared with `Content-Type: application/jsonl`.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::SubmitError;

    #[test]
    fn what_breaks_off_says_what_is_in() {
        let problem = broken_off(not_committed(SubmitError::DiskFull), 2000);
        assert_eq!(problem.code(), Code::DiskFull);
        assert!(problem.detail().starts_with("Disk full: the first 2000 lines are in the log"));
        assert!(problem.render("r").headers().contains_key("retry-after"));
    }

    #[test]
    fn what_cannot_be_looked_up_is_not_said_to_be_out() {
        let problem = in_but_unknown(crate::http::index_not_ready());
        assert_eq!(problem.code(), Code::IndexNotReady);
        assert!(problem.detail().starts_with("The lines are in the log"));
    }
}
