//! Submissions, one statement or many.
//!
//! The path from body to receipt is the server's hot one: the body is parsed once, hashed once (that is what
//! [`LogEntry`] is), admitted, and handed to the sequencer; what comes back is written straight into the
//! answer. Parsing, signatures and proofs run on the request's own thread, so that the one sequencer does
//! nothing but its own work.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use anchorlog_proto::json::{self, Fields, JsonError, ReadLimits};
use anchorlog_proto::receipt::ReceiptState;
use anchorlog_proto::statement::{ErrorClass, LogEntry, StatementError};
use axum::extract::{Request, State};
use axum::response::Response;

use super::problem::{Code, Problem, ProblemBody, WitnessCode};
use super::query::Query;
use super::read::grown_receipt;
use super::receipt::{self, Parts};
use super::wait::Wait;
use super::wire::{BatchReceipt, BatchSchema, ReceiptSchema, StateSchema, SubmissionSchema};
use super::{App, VOLATILE, body, disk_full, index_not_ready, json, off_thread, read_failed};
use crate::access::{Reason, Refusal};
use crate::checkpoint_witness::ledger::TRAIL_PREFIX;
use crate::metrics::Outcome;
use crate::pool::{Committed, Place, RETRY_AFTER, SubmitError};
use crate::snapshot::Snapshot;

/// Submit one statement.
///
/// The answer comes when the statement is durable and covered by a published checkpoint. Submitting the same
/// statement again returns the receipt of the first time, never a second entry.
#[utoipa::path(
    post,
    path = "/v1/entries",
    tag = "submit",
    params(
        ("wait" = Option<StateSchema>, Query, description = "The state to wait for; `published` by default."),
        ("timeout" = Option<u64>, Query, description = "Seconds to wait at most, up to 60; 10 by default. When they are over, the receipt comes with the state it has reached.", maximum = 60),
    ),
    request_body = SubmissionSchema,
    responses(
        (status = 200, description = "The receipt.", body = ReceiptSchema),
        (status = 400, description = "Malformed: not strict JSON, not the form of a statement, or an unusable parameter.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "This log takes signed statements only.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Unknown key, or a signature that doesn't verify.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 408, description = "The body didn't arrive in time.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Over a size limit.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "Not declared as JSON, or compressed.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Well-formed, but says something no statement can say.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "The submitter's rate is used up; see `Retry-After`.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Overloaded, stopping or read-only; see `Retry-After`.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 507, description = "The disk is full.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn submit(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    take_one(&app, request).await.inspect_err(|problem| count_refusal(&app, problem, 1))
}

/// Submit up to 1,000 statements.
///
/// All or nothing: one refused statement refuses the batch, and the problem names its position.
#[utoipa::path(
    post,
    path = "/v1/entries:batch",
    tag = "submit",
    request_body = BatchSchema,
    responses(
        (status = 200, description = "The places of the statements, in their order.", body = BatchReceipt),
        (status = 400, description = "Malformed; nothing was taken.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "This log takes signed statements only.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Unknown key, or a signature that doesn't verify.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 408, description = "The body didn't arrive in time.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Over a size limit, or too many statements.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "Not declared as JSON, or compressed.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A statement says something no statement can say.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "The submitter's rate is used up; see `Retry-After`.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Overloaded, stopping or read-only; see `Retry-After`.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 507, description = "The disk is full.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn submit_batch(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let mut statements = 1;
    take_batch(&app, request, &mut statements)
        .await
        .inspect_err(|problem| count_refusal(&app, problem, statements))
}

async fn take_one(app: &Arc<App>, request: Request) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let wait = Wait::read(&Query::read(head.uri.query(), &Wait::PARAMETERS)?)?;
    body::require_json(&head.headers)?;
    let bytes = body::read(body, app.statement_body).await?;
    let entry = LogEntry::read(&bytes).map_err(|error| refused_statement(&error))?;
    drop(bytes);
    not_reserved(app, std::slice::from_ref(&entry))?;
    app.access.admit(std::slice::from_ref(&entry)).map_err(|refusal| not_admitted(&refusal))?;
    let mut committed = app.log.submit(vec![entry]).await.map_err(not_committed)?;
    let (Some(place), Some(entry)) = (committed.places.pop(), committed.entries.pop()) else {
        return Err(Problem::internal(&"the log answered a submission without a place"));
    };
    app.metrics.submitted(outcome(&place), 1);
    if wait.state > ReceiptState::Published {
        wait.from(app, place.index).await;
        let grown = off_thread(app, move |app| grown_receipt(app, place.index, wait.state)).await?;
        return Ok(json(grown.0, VOLATILE));
    }
    let receipt = if place.duplicate || receipt::claims_a_place(&entry) {
        // Both need look-ups outside the committed batch.
        off_thread(app, move |app| write_receipt(app, &committed, &place, &entry)).await?
    } else {
        write_receipt(app, &committed, &place, &entry)?
    };
    Ok(json(receipt, VOLATILE))
}

fn write_receipt(
    app: &App,
    committed: &Committed,
    place: &Place,
    entry: &LogEntry,
) -> Result<Vec<u8>, Problem> {
    let hashes = receipt::prove(&app.log, committed, place).map_err(|error| read_failed(&error))?;
    let conflicts = receipt::conflicts(app, entry.statement())?;
    let parts = Parts {
        conflicts: &conflicts,
        hashes: &hashes,
        leaf: entry.leaf_bytes(),
        place,
        snapshot: &committed.snapshot,
        state: ReceiptState::Published,
    };
    Ok(parts.write(&app.origin_json))
}

async fn take_batch(
    app: &Arc<App>,
    request: Request,
    statements: &mut u64,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    Query::read(head.uri.query(), &[])?;
    body::require_json(&head.headers)?;
    let bytes = body::read(body, app.batch_body).await?;
    // A thousand statements, perhaps signed, are milliseconds of work.
    let entries = off_thread(app, move |app| {
        let entries = read_batch(&bytes, app.batch)?;
        not_reserved(app, &entries)?;
        app.access.admit(&entries).map_err(|refusal| not_admitted(&refusal))?;
        Ok(entries)
    });
    let entries = entries.await?;
    *statements = u64::try_from(entries.len()).unwrap_or(u64::MAX);
    let committed = app.log.submit(entries).await.map_err(not_committed)?;
    for place in &committed.places {
        app.metrics.submitted(outcome(place), 1);
    }
    Ok(json(write_batch(app, &committed.snapshot, &committed.places), VOLATILE))
}

/// Reads `{"statements":[…]}`; the first statement that can't be read refuses them all.
fn read_batch(bytes: &[u8], most: usize) -> Result<Vec<LogEntry>, Problem> {
    let malformed = |error: JsonError| refused_statement(&StatementError::Json(error));
    // The size is bounded already, by the body's limit.
    let value =
        json::parse(bytes, &ReadLimits::DEFAULT.with_bytes(bytes.len())).map_err(malformed)?;
    let mut fields = Fields::new(&value, "").map_err(malformed)?;
    let statements = fields.array("statements").map_err(malformed)?;
    fields.finish().map_err(malformed)?;
    if statements.is_empty() {
        let detail = "`statements` is empty; a batch has at least one statement.";
        return Err(Problem::new(Code::MalformedStatement, detail).with_pointer("/statements"));
    }
    if statements.len() > most {
        let detail = format!(
            "The batch has {} statements; this log takes at most {most} in one request.",
            statements.len()
        );
        return Err(Problem::new(Code::BatchTooLarge, detail).with_pointer("/statements"));
    }
    let entry = |(position, statement)| {
        let pointer = format!("/statements/{position}");
        LogEntry::from_value(statement, &pointer).map_err(|error| {
            let problem = refused_statement(&error).at_position(position);
            if matches!(error, StatementError::Json(_)) {
                problem
            } else {
                problem.with_pointer(pointer)
            }
        })
    };
    statements.iter().enumerate().map(entry).collect()
}

/// Writes the places of a batch; `snapshot` covers them all.
pub(super) fn write_batch(app: &App, snapshot: &Snapshot, places: &[Place]) -> Vec<u8> {
    let note = str::from_utf8(snapshot.note()).unwrap_or_default();
    let mut out = String::with_capacity(1024 + 160 * places.len());
    out.push_str(r#"{"checkpoint":""#);
    receipt::push_escaped(note, &mut out);
    // Writing into a String can't fail.
    let _ = write!(out, r#"","log":{},"receipts":["#, app.origin_json);
    let mut comma = "";
    for Place { index, leaf_hash, duplicate } in places {
        let _ = write!(
            out,
            r#"{comma}{{"duplicate":{duplicate},"index":{index},"leaf_hash":"{leaf_hash}","state":"published"}}"#
        );
        comma = ",";
    }
    out.push_str("]}");
    out.into_bytes()
}

/// What a statement that can't be read is to the client.
fn refused_statement(error: &StatementError) -> Problem {
    let code = match error.class() {
        ErrorClass::Malformed => Code::MalformedStatement,
        ErrorClass::TooLarge => Code::StatementTooLarge,
        ErrorClass::Semantic => Code::UnprocessableStatement,
        ErrorClass::Signature => Code::BadSignature,
    };
    let problem = Problem::new(code, sentence(error)).with_format_code(error.code());
    match error {
        StatementError::Json(error) => problem.with_pointer(error.pointer.as_str()),
        _ => problem,
    }
}

/// Whether no entry is of a trail that is the checkpoint witness' own.
fn not_reserved(app: &App, entries: &[LogEntry]) -> Result<(), Problem> {
    if app.checkpoint_witness.is_none() {
        return Ok(());
    }
    let is_reserved = |entry: &LogEntry| {
        let trail = entry.statement().trail.as_ref();
        trail.is_some_and(|trail| trail.as_str().starts_with(TRAIL_PREFIX))
    };
    let Some(position) = entries.iter().position(is_reserved) else { return Ok(()) };
    let detail =
        format!("Trails that begin with `{TRAIL_PREFIX}` are this log's checkpoint witness' own.");
    let problem = Problem::new(Code::Witness(WitnessCode::ReservedTrail), detail);
    Err(if entries.len() > 1 { problem.at_position(position) } else { problem })
}

/// What a submission that isn't admitted is to the client.
fn not_admitted(refusal: &Refusal) -> Problem {
    let problem = not_admitted_because(&refusal.reason);
    match refusal.position {
        Some(position) if refusal.of > 1 => {
            problem.at_position(position).with_pointer(format!("/statements/{position}"))
        }
        _ => problem,
    }
}

/// The same, of the request as a whole.
pub(super) fn not_admitted_because(reason: &Reason) -> Problem {
    match reason {
        Reason::BadSignature { .. } => Problem::new(Code::BadSignature, sentence(reason)),
        Reason::OverBurst { .. } => Problem::new(Code::BatchTooLarge, sentence(reason)),
        Reason::RateLimited { wait } => {
            Problem::new(Code::RateLimited, sentence(reason)).retry_after(*wait)
        }
        Reason::SignatureRequired => Problem::new(Code::SignatureRequired, sentence(reason)),
        Reason::TokenRequired => Problem::new(Code::TokenRequired, sentence(reason)),
        Reason::UnknownKey { .. } => Problem::new(Code::UnknownKey, sentence(reason)),
    }
}

/// What a submission that wasn't committed is to the client.
pub(super) fn not_committed(error: SubmitError) -> Problem {
    match error {
        SubmitError::DiskFull => disk_full(),
        SubmitError::IndexNotReady => index_not_ready(),
        SubmitError::Overloaded => {
            let detail = "Too many statements are waiting to be committed; nothing was changed. Try again \
                          shortly.";
            Problem::new(Code::Overloaded, detail).retry_after(RETRY_AFTER)
        }
        SubmitError::ShuttingDown => {
            let detail = "The server is stopping; nothing was changed. Try again when it is back.";
            Problem::new(Code::Stopping, detail).retry_after(Duration::from_secs(5))
        }
        SubmitError::Frozen => {
            let detail = "This log is frozen: it has ended and takes nothing any more. What is in it can be \
                          read for ever; a statement's receipt is at /v1/receipts/{index}.";
            Problem::new(Code::ReadOnly, detail)
        }
        SubmitError::ReadOnly => {
            let detail = "This server has opened the log for reading alone. It may be taken up again \
                          elsewhere; ask its operator.";
            Problem::new(Code::ReadOnly, detail)
        }
        SubmitError::LogFull => {
            Problem::new(Code::ReadOnly, "The log has as many entries as a tree can have.")
        }
        _ => {
            let detail = "The log has failed and takes nothing until it is restarted. Whether the statement \
                          is in it shows then: submit it again, the same statement is never logged twice.";
            Problem::new(Code::ReadOnly, detail)
                .retry_after(Duration::from_secs(30))
                .caused_by(&error)
        }
    }
}

pub(super) fn outcome(place: &Place) -> Outcome {
    if place.duplicate { Outcome::Duplicate } else { Outcome::Accepted }
}

pub(super) fn count_refusal(app: &App, problem: &Problem, statements: u64) {
    let outcome = match problem.code() {
        Code::SignatureRequired
        | Code::TokenRequired
        | Code::BadToken
        | Code::UnknownKey
        | Code::BadSignature => Outcome::Forbidden,
        Code::BodyTooLarge | Code::StatementTooLarge | Code::BatchTooLarge => Outcome::TooLarge,
        Code::RateLimited => Outcome::RateLimited,
        Code::Overloaded | Code::Stopping | Code::IndexNotReady | Code::ReadOnly => {
            Outcome::Overloaded
        }
        Code::DiskFull => Outcome::DiskFull,
        Code::Internal => Outcome::Failed,
        _ => Outcome::Malformed,
    };
    app.metrics.submitted(outcome, statements);
}

/// An error's text as a sentence for people.
pub(super) fn sentence(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str().trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_keeps_a_submission_out_has_its_status() {
        for (error, status, code, waits) in [
            (SubmitError::DiskFull, 507, "server.disk-full", true),
            (SubmitError::Failed, 503, "server.read-only", true),
            (SubmitError::Frozen, 503, "server.read-only", false),
            (SubmitError::ReadOnly, 503, "server.read-only", false),
            (SubmitError::IndexNotReady, 503, "server.index-not-ready", true),
            (SubmitError::LogFull, 503, "server.read-only", false),
            (SubmitError::Overloaded, 503, "server.overloaded", true),
            (SubmitError::ShuttingDown, 503, "server.stopping", true),
        ] {
            let problem = not_committed(error);
            let response = problem.render("r");
            assert_eq!(response.status().as_u16(), status, "{error}");
            assert_eq!(problem.code_str(), code);
            assert_eq!(response.headers().contains_key("retry-after"), waits, "{error}");
        }
    }

    #[test]
    fn refusals_are_sentences() {
        assert_eq!(sentence(&"the key is unknown"), "The key is unknown.");
        assert_eq!(sentence(&"`kind` is none. Sorry."), "`kind` is none. Sorry.");
        assert_eq!(sentence(&""), ".");
    }
}
