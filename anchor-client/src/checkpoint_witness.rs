//! A checkpoint witness of Judgment Pack's gateway, over HTTP.
//!
//! What it is: lines in and statements out (gateway specification, section 8), with bounds on everything that
//! comes back. What it isn't: a verifier. No signature is checked here and no chain judged; `verifier witness`
//! does both with the files that are kept. Nor is it [`crate::witness`], which cosigns the checkpoints of logs.

use std::time::Duration;

use anchorlog_proto::jp::witness::{AuditCheckpoint, Statement, TrailId};
use serde::Deserialize;

use crate::address::LogUrl;
use crate::api;
use crate::log_client::CallError;
use crate::problem::printable;
use crate::retry::RetryPolicy;
use crate::token::Token;
use crate::transport::{Request, Transport};

/// The most statements of one page.
pub const MAX_PAGE: u64 = 1000;

/// The most statements that are fetched at once. Their file stays below 16 MiB, which is what readers of it take.
pub const MAX_STATEMENTS: u64 = 25_000;

/// A connection to one witness.
#[derive(Clone, Debug)]
pub struct CheckpointWitness {
    transport: Transport,
}

/// What a witness answered to lines.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Witnessed {
    /// It signed the last line, now or before.
    Signed(Box<Statement>),
    /// It holds something that speaks against the lines, and signed nothing new for them.
    Refused(Disagreement),
}

/// What a witness holds against lines (HTTP 409).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Disagreement {
    /// `conflict`, `below-head` or `retired`.
    pub reason: String,
    /// The same for people.
    pub error: String,
    /// The statements it is about: with a conflict, the one it holds and the one about the conflict.
    pub statements: Vec<Statement>,
}

/// A trail's statements as a witness serves them.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Fetched {
    /// The head, asked for first.
    pub head: Statement,
    /// Statements from the index asked for on, one after another.
    pub statements: Vec<Statement>,
    /// What is wrong with them, if anything is: fetching stops there.
    pub disorder: Option<Disorder>,
}

/// How a witness' answers contradict one another.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Disorder {
    /// The head says more than is served.
    #[error("the head has index {head}, and there is no statement {missing}")]
    Missing {
        /// Index of the head.
        head: u64,
        /// The statement that isn't served.
        missing: u64,
    },
    /// Another statement than the next.
    #[error("statement {expected} was asked for, and {actual} of trail {trail} came")]
    Order {
        /// The index that is next.
        expected: u64,
        /// What came.
        actual: u64,
        /// Its trail.
        trail: TrailId,
    },
    /// Two statements at the head's index.
    #[error("two different statements are served at index {index}: as the head, and in the list")]
    TwoHeads {
        /// The index.
        index: u64,
    },
}

impl CheckpointWitness {
    /// Prepares connections; nothing is sent yet. `timeout` is for one try of one request.
    pub fn new(address: LogUrl, timeout: Duration, retry: RetryPolicy) -> Result<Self, CallError> {
        Ok(Self { transport: Transport::new(address, timeout, retry)? })
    }

    /// `POST /witness/checkpoints`: lines of one trail, their sequences increasing, of which the last is signed.
    pub async fn submit(
        &self,
        lines: &[AuditCheckpoint],
        token: Option<&Token>,
    ) -> Result<Witnessed, CallError> {
        let path = "/witness/checkpoints";
        let body: String = lines.iter().map(|line| line.to_line() + "\n").collect();
        let request =
            Request::post(path, body.into_bytes(), MAX_ANSWER).of_lines(token).taking_conflicts();
        let (status, answer) = self.transport.send_any(&request).await?;
        if status != 409 {
            let statements = self.statements_in(path, &answer)?;
            let [statement] = statements[..] else {
                return Err(self.unexpected(path, "not one statement"));
            };
            if Some(&statement.body().checkpoint) != lines.last() {
                return Err(self.unexpected(path, "a statement about another line"));
            }
            return Ok(Witnessed::Signed(Box::new(statement)));
        }
        let refusal: Refusal = api::read(&answer)
            .map_err(|source| CallError::Answer { url: self.url(path), source })?;
        let statements = refusal.statements.iter().map(|statement| {
            // The line as a text, or the object itself.
            let line = statement.as_str().map_or_else(|| statement.to_string(), str::to_owned);
            Statement::read(line.as_bytes())
                .map_err(|source| CallError::Statement { url: self.url(path), source })
        });
        Ok(Witnessed::Refused(Disagreement {
            reason: printable(&refusal.reason),
            error: printable(&refusal.error),
            statements: statements.collect::<Result<_, _>>()?,
        }))
    }

    /// `GET /witness/trails/{trail}/head`: the last statement; none if the witness knows nothing of the trail.
    pub async fn head(&self, trail: TrailId) -> Result<Option<Statement>, CallError> {
        let path = format!("/witness/trails/{trail}/head");
        let request = Request::get(path.clone(), JSON_LINES, MAX_ANSWER);
        let body = match self.transport.send(&request).await {
            Err(error) if error.is_not_found() => return Ok(None),
            body => body?,
        };
        match self.statements_in(&path, &body)?[..] {
            [head] if head.body().checkpoint.trail == trail => Ok(Some(head)),
            _ => Err(self.unexpected(&path, "not one statement of the trail")),
        }
    }

    /// `GET /witness/trails/{trail}/statements`: one page, of at most [`MAX_PAGE`].
    pub async fn page(
        &self,
        trail: TrailId,
        from: u64,
        limit: u64,
    ) -> Result<Vec<Statement>, CallError> {
        let path = format!("/witness/trails/{trail}/statements?from={from}&limit={limit}");
        let request = Request::get(path.clone(), JSON_LINES, MAX_PAGE_BYTES);
        let body = self.transport.send(&request).await?;
        let statements = self.statements_in(&path, &body)?;
        if u64::try_from(statements.len()).is_ok_and(|count| count > limit) {
            return Err(self.unexpected(&path, "more statements than were asked for"));
        }
        Ok(statements)
    }

    /// Fetches the head, and then the statements from an index on up to it, at most `most` of them.
    pub async fn fetch(
        &self,
        trail: TrailId,
        from: u64,
        most: u64,
    ) -> Result<Option<Fetched>, CallError> {
        let Some(head) = self.head(trail).await? else { return Ok(None) };
        let mut fetched = Fetched { head, statements: Vec::new(), disorder: None };
        let end = head.body().index.saturating_add(1).min(from.saturating_add(most));
        let mut next = from;
        while next < end {
            let page = self.page(trail, next, MAX_PAGE.min(end - next)).await?;
            if page.is_empty() {
                let head = head.body().index;
                fetched.disorder = Some(Disorder::Missing { head, missing: next });
                return Ok(Some(fetched));
            }
            for statement in page {
                let body = *statement.body();
                fetched.statements.push(statement);
                if body.index != next || body.checkpoint.trail != trail {
                    let (actual, trail) = (body.index, body.checkpoint.trail);
                    fetched.disorder = Some(Disorder::Order { expected: next, actual, trail });
                    return Ok(Some(fetched));
                }
                if next == head.body().index && statement != head {
                    fetched.disorder = Some(Disorder::TwoHeads { index: next });
                    return Ok(Some(fetched));
                }
                next += 1;
            }
        }
        Ok(Some(fetched))
    }

    fn statements_in(&self, path: &str, body: &[u8]) -> Result<Vec<Statement>, CallError> {
        let body = body.strip_suffix(b"\n").unwrap_or(body);
        if body.is_empty() {
            return Ok(Vec::new());
        }
        let read = |line: &[u8]| {
            Statement::read(line)
                .map_err(|source| CallError::Statement { url: self.url(path), source })
        };
        body.split(|byte| *byte == b'\n').map(read).collect()
    }

    fn unexpected(&self, path: &str, what: &'static str) -> CallError {
        CallError::Unexpected { url: self.url(path), what }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.transport.log())
    }
}

/// The body of a 409. Members this version doesn't know are passed over.
#[derive(Deserialize)]
struct Refusal {
    reason: String,
    #[serde(default)]
    error: String,
    #[serde(default)]
    statements: Vec<serde_json::Value>,
}

const JSON_LINES: &str = "application/jsonl";

/// Two statements of at most 4 KiB, and a reason.
const MAX_ANSWER: usize = 16 << 10;

/// A thousand statements; each has about 650 bytes.
const MAX_PAGE_BYTES: usize = 1 << 20;
