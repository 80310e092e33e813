//! The whole router against a real log in a temporary directory: every status, every header that matters.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that meets something unexpected may stop where it stands"
)]

mod access;
mod anchored;
mod checkpoint_witness;
mod edge;
mod holder;
mod lists;
mod openapi;
mod proofs;
mod submit;
mod tiles;
mod witnessed;

use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::note::{KeyName, NoteSigner};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::header::HeaderMap;
use axum::http::{HeaderName, Method};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::*;
use crate::anchoring::testing::Scripted;
use crate::anchoring::{Anchoring, Authority, options as anchoring_options};
use crate::bearer::Bearers;
use crate::config::SubmitterConfig;
use crate::index::Engine;
use crate::log::{LogOptions, Running};
use crate::witnessing::{NamedWitness, Witnessing, options as witnessing_options};

/// A running log and the router in front of it.
struct World {
    router: Router,
    log: Log,
    stop: watch::Sender<bool>,
    running: Option<Running>,
    _directory: TempDir,
}

impl World {
    async fn new() -> Self {
        Self::with(|_, _| {}).await
    }

    /// A world with a changed configuration.
    async fn with(change: impl FnOnce(&mut Config, &mut LogOptions)) -> Self {
        Self::stamped(change, &[]).await
    }

    /// A world with a changed configuration, whose checkpoints these authorities stamp.
    async fn stamped(
        change: impl FnOnce(&mut Config, &mut LogOptions),
        authorities: &[Arc<Scripted>],
    ) -> Self {
        Self::countersigned(change, authorities, Vec::new()).await
    }

    /// The same, and these witnesses cosign them.
    async fn countersigned(
        change: impl FnOnce(&mut Config, &mut LogOptions),
        authorities: &[Arc<Scripted>],
        witnesses: Vec<NamedWitness>,
    ) -> Self {
        let mut config = Config::default();
        let mut options = LogOptions { engine: Engine::Memory, ..LogOptions::default() };
        change(&mut config, &mut options);
        let directory = tempfile::tempdir().unwrap();
        let signer = NoteSigner::from_seed(KeyName::new(ORIGIN).unwrap(), [7; 32]);
        let metrics = Metrics::new();
        let (log, running) =
            Log::open(directory.path(), signer, &options, metrics.clone()).unwrap();
        while !log.is_ready() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let (stop, stopped) = watch::channel(false);
        let access = Access::new(&config.access).unwrap();
        let bearers = Bearers::new(&config.tokens, ORIGIN).unwrap();
        let access = access.with_bearers(bearers);
        let policy = options.witness_policy.clone();
        let mut app = App::new(log.clone(), access, metrics.clone(), &config, stopped.clone());
        if !authorities.is_empty() {
            let asked = authorities
                .iter()
                .map(|one| -> Arc<dyn Authority> { Arc::<Scripted>::clone(one) })
                .collect();
            let options = anchoring_options(&config.anchoring);
            let metrics = metrics.clone();
            let (task, handle) = Anchoring::new(log.clone(), asked, options, metrics).unwrap();
            app = app.with_anchoring(handle.status);
            tokio::spawn(task.run(stopped.clone()));
        }
        if let Some(policy) = policy {
            let options = witnessing_options(&config.witnessing);
            let (task, status) = Witnessing::new(log.clone(), policy, witnesses, options, metrics);
            app = app.with_witnessing(status);
            tokio::spawn(task.run(stopped));
        }
        Self {
            router: router(Arc::new(app)),
            log,
            stop,
            running: Some(running),
            _directory: directory,
        }
    }

    async fn send(&self, request: Request) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path, &[], "")).await
    }

    async fn post(&self, path: &str, body: impl Into<String>) -> Answer {
        self.send(request(Method::POST, path, &[("content-type", "application/json")], body)).await
    }

    /// Submits `count` numbered statements in batches.
    async fn fill(&self, count: u64) {
        let numbers: Vec<u64> = (0..count).collect();
        for chunk in numbers.chunks(1000) {
            let statements: Vec<_> = chunk.iter().map(|number| text(*number)).collect();
            let answer = self.post("/v1/entries:batch", batch(&statements)).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
    }

    /// Adds entries past the HTTP interface.
    async fn commit(&self, entries: Vec<LogEntry>) {
        for batch in entries.chunks(1_000) {
            self.log.submit(batch.to_vec()).await.unwrap();
        }
    }

    fn size(&self) -> u64 {
        self.log.snapshot().size().get()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.shut_down().unwrap();
        }
    }
}

/// One answer, taken apart.
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    fn header(&self, name: impl Into<Name>) -> Option<&str> {
        self.headers.get(name.into().0).map(|value| value.to_str().unwrap())
    }

    /// The answer is a complete problem document with this status and code; returns its body.
    fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.header("cache-control"), Some("no-store"));
        let body = self.json();
        assert_eq!(body["status"], status);
        assert_eq!(body["code"], code, "{body}");
        assert!(body["type"].as_str().unwrap().starts_with("urn:anchorlog:problem:"));
        assert!(!body["title"].as_str().unwrap().is_empty());
        let detail = body["detail"].as_str().unwrap();
        assert!(detail.ends_with('.') && detail.len() > 10, "{detail}");
        let id = self.header("x-request-id").unwrap();
        assert_eq!(body["instance"], format!("urn:anchorlog:request:{id}"));
        body
    }
}

/// A header's name, given as text or as the constant.
struct Name(HeaderName);

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Self {
        Self(HeaderName::from_static(name))
    }
}

impl From<HeaderName> for Name {
    fn from(name: HeaderName) -> Self {
        Self(name)
    }
}

/// Asks until the answer is as it must become.
async fn until(ask: impl AsyncFn() -> Answer, is: impl Fn(&Answer) -> bool) -> Answer {
    let patience = std::time::Instant::now() + Duration::from_secs(30);
    loop {
        let answer = ask().await;
        if is(&answer) {
            return answer;
        }
        assert!(std::time::Instant::now() < patience, "never: {}", answer.text());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn request(
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<String>,
) -> Request {
    let mut builder = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(axum::body::Body::from(body.into())).unwrap()
}

fn digest(number: u64) -> Digest {
    Digest::of(&number.to_be_bytes())
}

fn statement(number: u64) -> Statement {
    Statement::new(StatementKind::Digest, digest(number))
}

fn entry(statement: Statement) -> LogEntry {
    LogEntry::unsigned(statement).unwrap()
}

/// The JSON of a numbered statement.
fn text(number: u64) -> String {
    leaf(&entry(statement(number)))
}

/// The JSON of a numbered statement at a place of a trail.
fn placed(number: u64, trail: &str, sequence: u64) -> String {
    leaf(&entry(statement(number).in_trail(trail.parse().unwrap(), Some(sequence))))
}

/// The JSON of a numbered statement signed by the key of a seed.
fn signed(number: u64, seed: u8) -> String {
    leaf(&LogEntry::signed(statement(number), &key(seed)).unwrap())
}

fn leaf(entry: &LogEntry) -> String {
    String::from_utf8(entry.leaf_bytes().to_vec()).unwrap()
}

fn batch(statements: &[String]) -> String {
    format!(r#"{{"statements":[{}]}}"#, statements.join(","))
}

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

fn submitter(seed: u8, rate: u32, burst: u32) -> SubmitterConfig {
    let key = key(seed).public_key().to_base64();
    SubmitterConfig { name: format!("key {seed}"), key, rate, burst }
}

/// With characters that JSON escapes.
const ORIGIN: &str = r#"example.com/"test"\log"#;
