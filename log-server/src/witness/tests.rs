//! The witness behind its router, in a temporary directory: every status, and what is on disk when.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that meets something unexpected may stop where it stands"
)]

mod concurrent;
mod disk;
#[cfg(feature = "ml-dsa")]
mod ml_dsa;
mod requests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use anchorlog_proto::checkpoint::{Checkpoint, SignedCheckpoint};
use anchorlog_proto::merkle::{Extension, Frontier, consistency, leaf_hash, root};
use anchorlog_proto::note::{KeyName, NoteSigner, VerifierKey};
use anchorlog_proto::tlog_witness::parse_cosignatures;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request};
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::*;
use crate::config::{HttpConfig, TelemetryConfig};
use crate::keys::LogKey;

const LOG: &str = "log.example";
const WITNESS: &str = "witness.example";
const TIME: u64 = 1_800_000_000;

/// A log that tells the truth up to entry `fork` and then one of many stories.
struct Story {
    log: NoteSigner,
    tree: Extension,
}

impl Story {
    fn new(name: &str, entries: u64, fork: u64, story: u8) -> Self {
        let leaf = |index: u64| {
            let told = if index < fork { 0 } else { story };
            leaf_hash(&[&index.to_be_bytes()[..], &[told]].concat())
        };
        let tree = Extension::new(Frontier::new(), (0..entries).map(leaf)).unwrap();
        Self { log: NoteSigner::from_seed(KeyName::new(name).unwrap(), [1; 32]), tree }
    }

    fn true_one() -> Self {
        Self::new(LOG, 20, 20, 0)
    }

    fn checkpoint(&self, at: u64) -> Checkpoint {
        let size = TreeSize::new(at).unwrap();
        let root = root(&self.tree, size).unwrap();
        Checkpoint::new(Origin::from(self.log.verifier_key().name()), size, root)
    }

    fn request(&self, old: u64, at: u64) -> AddCheckpoint {
        let [from, to] = [old, at].map(|size| TreeSize::new(size).unwrap());
        let proof = consistency::prove(&self.tree, from, to).unwrap().unwrap();
        let checkpoint = SignedCheckpoint::sign(&self.checkpoint(at), &self.log).unwrap();
        AddCheckpoint { old: from, proof, checkpoint }
    }

    fn body(&self, old: u64, at: u64) -> Vec<u8> {
        self.request(old, at).to_bytes()
    }

    fn spec(&self) -> LogSpec {
        let key = self.log.verifier_key().clone();
        LogSpec { origin: Origin::from(key.name()), keys: vec![key] }
    }

    fn path(&self) -> String {
        let origin = self.log.verifier_key().name().as_str();
        format!("/{}/checkpoint", Digest::of(origin.as_bytes()).to_hex())
    }
}

fn cosigner() -> Cosigner {
    let (_, key) = LogKey::from_note_key(
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
    )
    .unwrap();
    Cosigner::new(key.cosigner(&KeyName::new(WITNESS).unwrap()))
}

fn own_key() -> VerifierKey {
    cosigner().key().clone()
}

/// A witness with a clock of its own.
struct World {
    witness: Arc<Witness>,
    router: Router,
    clock: Arc<AtomicU64>,
    stop: watch::Sender<bool>,
}

impl World {
    fn open(directory: &TempDir, logs: Vec<LogSpec>) -> Self {
        Self::try_open(directory, logs).unwrap()
    }

    fn try_open(directory: &TempDir, logs: Vec<LogSpec>) -> Result<Self, WitnessError> {
        let (clock, witness) = open(directory, logs)?;
        Ok(Self::of(clock, witness))
    }

    fn of(clock: Arc<AtomicU64>, witness: Witness) -> Self {
        let witness = Arc::new(witness);
        let (stop, stopped) = watch::channel(false);
        let (http, telemetry) = (HttpConfig::default(), TelemetryConfig::default());
        let router = http::router(Arc::clone(&witness), &http, &telemetry, stopped);
        Self { witness, router, clock, stop }
    }

    fn set_clock(&self, seconds: u64) {
        self.clock.store(seconds, Ordering::Relaxed);
    }

    async fn send(&self, method: Method, path: &str, body: Vec<u8>) -> Answer {
        let request = Request::builder().method(method).uri(path).body(Body::from(body)).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    async fn add(&self, body: Vec<u8>) -> Answer {
        self.send(Method::POST, http::ADD_CHECKPOINT, body).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, Vec::new()).await
    }
}

fn open(
    directory: &TempDir,
    logs: Vec<LogSpec>,
) -> Result<(Arc<AtomicU64>, Witness), WitnessError> {
    let seconds = Arc::new(AtomicU64::new(TIME));
    let read = Arc::clone(&seconds);
    let clock = Clock::of(move || {
        SystemTime::UNIX_EPOCH + Duration::from_secs(read.load(Ordering::Relaxed))
    });
    let metrics = WitnessMetrics::new();
    Ok((seconds, Witness::open(directory.path(), cosigner(), logs, clock, metrics)?))
}

/// One answer, taken apart.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    fn header(&self, name: &'static str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// It is a cosignature of ours over this checkpoint; its time.
    #[track_caller]
    fn cosigned(&self, checkpoint: &Checkpoint) -> u64 {
        assert_eq!(self.status, 200, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("text/plain; charset=utf-8"));
        let lines = parse_cosignatures(&self.body).unwrap();
        assert_eq!(lines.len(), 1);
        anchorlog_proto::cosignature::verify(&own_key(), &checkpoint.to_text(), &lines[0]).unwrap()
    }

    /// It says that the witness has this size.
    #[track_caller]
    fn conflict(&self, size: u64) {
        assert_eq!(self.status, 409, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("text/x.tlog.size"));
        assert_eq!(self.text(), format!("{size}\n"));
    }

    /// It is a problem document with this status and code.
    #[track_caller]
    fn refused(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(body["status"], status);
        let id = self.header("x-request-id").unwrap();
        assert_eq!(body["instance"], format!("urn:anchorlog:request:{id}"));
        let detail = body["detail"].as_str().unwrap();
        assert!(detail.ends_with('.') && !detail.contains(".."), "{detail}");
    }
}
