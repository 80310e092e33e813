//! The checkpoint witness over HTTP: submissions under a token, reads for everybody.

use std::sync::Arc;

use anchorlog_proto::jp::witness::{
    LineError, LinesError, MAX_LINE_BYTES, Submission, SubmissionError, TrailId,
};
use axum::extract::{Path, Request, State};
use axum::http::Uri;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use super::holder::not_a_bearer;
use super::problem::{Code, Problem, ProblemBody, WitnessCode};
use super::query::{MAX_PAGE, Part, Query};
use super::submit::not_admitted_because;
use super::{App, IMMUTABLE, VOLATILE, body, disk_full};
use crate::checkpoint_witness::{Answer, CheckpointWitness, Disagreement, Refusal};
use crate::standing::Standing;

/// Have the last of these checkpoints of an audit trail witnessed.
///
/// The body is one or more checkpoint lines, as they are printed, all of one trail, their sequences strictly
/// increasing. Only the last line is signed; the earlier ones are compared with what is held, for conflicts.
/// Sending a checkpoint again gives the same statement.
#[utoipa::path(
    post,
    path = "/witness/checkpoints",
    tag = "witness",
    request_body(content = String, content_type = "application/jsonl", description = "Checkpoint lines, each ended by a newline; 1 MiB at most, 4,096 bytes a line."),
    responses(
        (status = 200, description = "The statement about the last line, durable and marked.", body = String, content_type = "application/jsonl"),
        (status = 400, description = "Not checkpoint lines of one trail in increasing order.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No token, or not one this server knows.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The trail is not registered, or not to this token's holder.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "This log is no checkpoint witness.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 408, description = "The body didn't arrive in time.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The witness holds something else: `reason` is `conflict`, `below-head` or `retired`, and `statements` has the lines that show it.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Over 1 MiB, or a line over 4,096 bytes.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "Not declared as `application/jsonl`, or compressed.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Over the submitter's rate, or over its number of trails.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Nothing is signed now: the log takes nothing, or a statement could not be kept.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 507, description = "The disk is full; nothing was signed.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn submit(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let answer = take(&app, request).await;
    let code = answer.as_ref().map_or_else(Problem::code_str, |_| "statement");
    app.metrics.checkpoint_witness().answered(code);
    answer
}

/// The last statement of a trail.
#[utoipa::path(
    get,
    path = "/witness/trails/{trail}/head",
    tag = "witness",
    params(("trail" = String, Path, description = "32 lower-case hexadecimal digits.")),
    responses(
        (status = 200, description = "The statement's line, exactly as it is kept.", body = String, content_type = "application/jsonl"),
        (status = 400, description = "Not a trail's identity.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "The witness holds nothing for the trail, or this log is no witness.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn head(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, axum::extract::rejection::PathRejection>,
    uri: Uri,
) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    let witness = witness(&app)?;
    let trail = trail(path)?;
    let head = off_thread(move || witness.head(trail)).await?;
    Ok(jsonl(head.ok_or_else(nothing)?, VOLATILE))
}

/// The statements of a trail, in the order of their indexes.
///
/// Ask again from the next index until the head's is reached; a chain is read from index 0.
#[utoipa::path(
    get,
    path = "/witness/trails/{trail}/statements",
    tag = "witness",
    params(
        ("trail" = String, Path, description = "32 lower-case hexadecimal digits."),
        ("from" = Option<u64>, Query, description = "The first index wanted; 0 by default."),
        ("limit" = Option<u64>, Query, description = "Statements wanted, 1 to 1000; 1000 by default.", minimum = 1, maximum = 1000),
    ),
    responses(
        (status = 200, description = "The statements' lines, exactly as they are kept; none beyond the head.", body = String, content_type = "application/jsonl"),
        (status = 400, description = "An unusable parameter.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "The witness holds nothing for the trail, or this log is no witness.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn statements(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, axum::extract::rejection::PathRejection>,
    uri: Uri,
) -> Result<Response, Problem> {
    let part = Part::read(&Query::read(uri.query(), &Part::PARAMETERS)?, MAX_PAGE)?;
    let witness = witness(&app)?;
    let trail = trail(path)?;
    let page = off_thread(move || witness.page(trail, part.from, part.limit)).await?;
    let page = page.ok_or_else(nothing)?;
    Ok(jsonl(page.lines, if page.is_settled { IMMUTABLE } else { VOLATILE }))
}

async fn take(app: &Arc<App>, request: Request) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    Query::read(head.uri.query(), &[])?;
    let witness = witness(app)?;
    let principal = {
        let bearer = app.access.bearers().require(&head.headers);
        let bearer = bearer.map_err(not_a_bearer)?;
        bearer.take(1).map_err(|reason| not_admitted_because(&reason))?;
        bearer.principal().clone()
    };
    witness.admit(&principal).map_err(refused)?;
    let detail =
        "The body must be checkpoint lines and be declared with `Content-Type: application/jsonl`.";
    body::require_plain(&head.headers, "application/jsonl", detail)?;
    let bytes = body::read(body, app.lines_body).await?;
    let submission = Submission::read(&bytes).map_err(|error| malformed(&error))?;
    drop(bytes);
    if app.is_stopping() {
        let detail = "The server is stopping; nothing was changed. Send it again in a moment.";
        return Err(Problem::new(Code::Stopping, detail));
    }
    if app.log.standing() != Standing::Open {
        return Err(refused(Refusal::ReadOnly));
    }
    let answer = off_thread(move || witness.submit(&principal, &submission)).await?;
    match answer {
        Answer::Statement(line) => Ok(jsonl(line, VOLATILE)),
        Answer::Disagreement(disagreement) => Err(disagrees(disagreement)),
    }
}

fn witness(app: &App) -> Result<Arc<CheckpointWitness>, Problem> {
    app.checkpoint_witness.clone().ok_or_else(|| {
        let detail = "This log is no witness of audit trails' checkpoints.";
        Problem::new(Code::UnknownPath, detail)
    })
}

fn trail(
    path: Result<Path<String>, axum::extract::rejection::PathRejection>,
) -> Result<TrailId, Problem> {
    let trail = path.ok().and_then(|Path(text)| text.parse().ok());
    trail.ok_or_else(|| {
        let detail = "A trail is named by 32 lower-case hexadecimal digits.";
        Problem::new(Code::BadParameter, detail)
    })
}

fn nothing() -> Problem {
    Problem::new(Code::NotFound, "The witness holds no statement for this trail.")
}

fn malformed(error: &SubmissionError) -> Problem {
    if let SubmissionError::Lines(LinesError::Line { line, error: LineError::TooLong }) = error {
        let detail =
            format!("Line {line} is longer than the {MAX_LINE_BYTES} bytes a checkpoint line has.");
        return Problem::new(Code::Witness(WitnessCode::LineTooLong), detail);
    }
    let detail = format!("No submission: {error}. Nothing was changed.");
    Problem::new(Code::Witness(WitnessCode::Malformed), detail)
}

fn disagrees(disagreement: Disagreement) -> Problem {
    let (code, detail, statements) = match disagreement {
        Disagreement::Conflict(statements) => (
            WitnessCode::Conflict,
            "The witness holds another record for a sequence of these lines. `statements` has the statement \
             that it holds and the one that records the first other offer.",
            statements.to_vec(),
        ),
        Disagreement::BelowHead(head) => (
            WitnessCode::BelowHead,
            "The last line is below the trail's latest witnessed checkpoint and is not held. `statements` has \
             the head; go on above it.",
            vec![head],
        ),
        Disagreement::Retired(retirement) => (
            WitnessCode::Retired,
            "The trail is retired: nothing more is taken for it. `statements` has the retirement.",
            vec![retirement],
        ),
    };
    Problem::new(Code::Witness(code), detail).with_statements(statements)
}

fn refused(refusal: Refusal) -> Problem {
    let detail = format!("Nothing was signed: {refusal}.");
    let of = |code| Problem::new(Code::Witness(code), detail.clone());
    match refusal {
        Refusal::NotASubmitter => of(WitnessCode::NotASubmitter),
        Refusal::Unregistered => of(WitnessCode::NotRegistered),
        Refusal::RegisteredToAnother => of(WitnessCode::OfAnother),
        Refusal::TooManyTrails { .. } => of(WitnessCode::TooManyTrails),
        Refusal::RateLimited { wait } => {
            Problem::new(Code::RateLimited, detail.clone()).retry_after(wait)
        }
        Refusal::OutOfSpace => disk_full(),
        Refusal::ReadOnly => {
            let detail = "The log and its witness are open for reading alone; nothing was signed.";
            Problem::new(Code::ReadOnly, detail)
        }
        Refusal::Read => Problem::internal(&refusal),
        Refusal::Clock | Refusal::Full | Refusal::Stopped => of(WitnessCode::Stopped),
    }
}

/// Runs what may touch the disk where it doesn't hold up other requests.
async fn off_thread<T, F>(work: F) -> Result<T, Problem>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Refusal> + Send + 'static,
{
    // A join error means that the work panicked; the panic hook has reported where.
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(refused),
        Err(error) => Err(Problem::internal(&error)),
    }
}

fn jsonl(lines: Vec<u8>, cache: &'static str) -> Response {
    ([(CONTENT_TYPE, "application/jsonl"), (CACHE_CONTROL, cache)], lines).into_response()
}
