//! A scripted checkpoint witness: it signs what it is given, or serves what a test says.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;

use anchorlog_proto::jp::witness::{
    AuditCheckpoint, Statement, StatementKind, Submission, Unsigned, WitnessSigner, WitnessedAt,
};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::json;

/// What it has and how it behaves.
#[derive(Default)]
pub(super) struct Script {
    /// One trail's statements.
    pub(super) chain: Vec<Statement>,
    /// The bodies it was sent.
    pub(super) bodies: Vec<String>,
    /// The token it wants.
    pub(super) token: Option<String>,
    /// Statements that it doesn't serve in the list, though the head counts them.
    pub(super) hidden: usize,
    /// The head is another one than the last of the list.
    pub(super) second_head: bool,
}

impl Script {
    fn sign(&mut self, kind: StatementKind, checkpoint: AuditCheckpoint) -> Statement {
        let index = u64::try_from(self.chain.len()).unwrap();
        let previous = self.chain.last().map(|last| *last.signature());
        let statement = statement(kind, checkpoint, index, previous, 1_760_000_000 + index);
        self.chain.push(statement);
        statement
    }
}

fn statement(
    kind: StatementKind,
    checkpoint: AuditCheckpoint,
    index: u64,
    previous: Option<anchorlog_proto::jp::witness::Signature>,
    at: u64,
) -> Statement {
    let witnessed_at = WitnessedAt::from_unix_seconds(at).unwrap();
    let unsigned = Unsigned { kind, checkpoint, index, previous, witnessed_at };
    *unsigned.sign(&WitnessSigner::from_seed(&[9; 32])).statement()
}

type Shared = Arc<Mutex<Script>>;

/// Starts it; it lives as long as the test.
pub(super) fn start(script: Script) -> (SocketAddr, Shared) {
    let shared: Shared = Arc::new(Mutex::new(script));
    let state = Arc::clone(&shared);
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            let router = Router::new()
                .route("/witness/checkpoints", post(submit))
                .route("/witness/trails/{trail}/head", get(head))
                .route("/witness/trails/{trail}/statements", get(page))
                .with_state(state);
            axum::serve(listener, router).await.unwrap();
        });
    });
    (told.recv().unwrap(), shared)
}

fn lines(statements: &[Statement]) -> Response {
    let text: String = statements.iter().map(|statement| statement.to_line() + "\n").collect();
    ([("content-type", "application/jsonl")], text).into_response()
}

async fn submit(State(script): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let mut script = script.lock().unwrap();
    script.bodies.push(String::from_utf8(body.to_vec()).unwrap());
    let authorized = script.token.as_ref().is_none_or(|token| {
        headers.get("authorization").is_some_and(|value| value == &format!("Bearer {token}"))
    });
    if !authorized {
        let body = json!({"error": "no token", "reason": "unauthorized"}).to_string();
        let headers = [("content-type", "application/json")];
        return (StatusCode::UNAUTHORIZED, headers, body).into_response();
    }
    assert_eq!(headers["content-type"], "application/jsonl");
    let submission = Submission::read(&body).unwrap();
    let last = *submission.last();
    let known = |statement: &&Statement| {
        let held = statement.body();
        held.kind == StatementKind::Checkpoint
            && held.checkpoint.sequence == last.sequence
            && held.checkpoint.trail == last.trail
    };
    let held = script.chain.iter().find(known).copied();
    match held {
        Some(held) if held.body().checkpoint == last => lines(&[held]),
        Some(held) => {
            let conflict = script.sign(StatementKind::Conflict, last);
            // One as an object, one as the text of its line: both are to be read.
            let held: serde_json::Value = serde_json::from_str(&held.to_line()).unwrap();
            let statements = json!([held, conflict.to_line()]);
            let error = "another record is held";
            let body = json!({"error": error, "reason": "conflict", "statements": statements});
            let body = body.to_string();
            (StatusCode::CONFLICT, [("content-type", "application/json")], body).into_response()
        }
        None => lines(&[script.sign(StatementKind::Checkpoint, last)]),
    }
}

async fn head(State(script): State<Shared>) -> Response {
    let script = script.lock().unwrap();
    match script.chain.last() {
        None => StatusCode::NOT_FOUND.into_response(),
        Some(last) if script.second_head => {
            let body = last.body();
            lines(&[statement(body.kind, body.checkpoint, body.index, body.previous, 1)])
        }
        Some(last) => lines(&[*last]),
    }
}

async fn page(
    State(script): State<Shared>,
    Query(query): Query<HashMap<String, usize>>,
) -> Response {
    let script = script.lock().unwrap();
    let served = &script.chain[..script.chain.len() - script.hidden];
    let page: Vec<Statement> =
        served.iter().skip(query["from"]).take(query["limit"]).copied().collect();
    lines(&page)
}
