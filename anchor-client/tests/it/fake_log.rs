//! A small log in memory behind axum. Left alone it is honest; tests make it lie.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, SignedCheckpoint};
use anchorlog_proto::merkle::{
    Node, NodeReader, TreeSize, consistency, inclusion, node_hash, root,
};
use anchorlog_proto::note::{KeyName, NoteSigner};
use anchorlog_proto::receipt::{Receipt, ReceiptState};
use anchorlog_proto::statement::LogEntry;
use anchorlog_proto::tile::{TilePath, push_entry};
use anchorlog_proto::tlog_proof::TlogProof;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// What the log holds and how it misbehaves.
pub struct World {
    pub signer: NoteSigner,
    pub entries: Vec<LogEntry>,
    /// Answers for requests; the first that answers wins, and without one the log is honest.
    pub hook: Hook,
    /// Every request, as method and path with query.
    pub requests: Vec<String>,
    /// How long to think before answering.
    pub delay: Duration,
}

pub type Hook = Box<dyn FnMut(&mut World, &str) -> Option<Response> + Send>;

/// A running log.
pub struct FakeLog {
    world: Arc<Mutex<World>>,
    address: SocketAddr,
    // Dropped last: ends the server.
    _runtime: Runtime,
}

impl FakeLog {
    pub fn start() -> Self {
        let world = Arc::new(Mutex::new(World {
            signer: signer(1),
            entries: Vec::new(),
            hook: Box::new(|_, _| None),
            requests: Vec::new(),
            delay: Duration::ZERO,
        }));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let state = world.clone();
        let router = Router::new().fallback(move |request| handle(state.clone(), request));
        runtime.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { world, address, _runtime: runtime }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Installs a lie.
    pub fn hook(&self, hook: impl FnMut(&mut World, &str) -> Option<Response> + Send + 'static) {
        self.world().hook = Box::new(hook);
    }

    pub fn honest(&self) {
        self.hook(|_, _| None);
    }

    pub fn vkey(&self) -> String {
        self.world().signer.verifier_key().to_string()
    }
}

impl World {
    pub fn append(&mut self, entries: impl IntoIterator<Item = LogEntry>) {
        for entry in entries {
            self.place(&entry);
        }
    }

    /// The index of an entry, new or old.
    pub fn place(&mut self, entry: &LogEntry) -> usize {
        self.entries.iter().position(|known| known == entry).unwrap_or_else(|| {
            self.entries.push(entry.clone());
            self.entries.len() - 1
        })
    }

    pub fn checkpoint(&self) -> SignedCheckpoint {
        let size = self.size();
        let root = root(self, size).unwrap();
        let checkpoint = Checkpoint::new("log.example".parse().unwrap(), size, root);
        SignedCheckpoint::sign(&checkpoint, &self.signer).unwrap()
    }

    pub fn receipt(&self, index: u64) -> Receipt {
        let hashes = inclusion::prove(self, index, self.size()).unwrap().unwrap();
        let entry = self.entries[usize::try_from(index).unwrap()].clone();
        Receipt {
            log: "log.example".parse().unwrap(),
            index,
            leaf_hash: entry.leaf_hash(),
            entry,
            proof: TlogProof::new(index, hashes, self.checkpoint()).unwrap(),
            timestamps: Vec::new(),
            state: ReceiptState::Published,
            conflicts: Vec::new(),
        }
    }

    fn size(&self) -> TreeSize {
        TreeSize::new(u64::try_from(self.entries.len()).unwrap()).unwrap()
    }

    fn answer(&mut self, method: &str, path: &str, query: &str, body: &[u8]) -> Response {
        let parameter = |name: &str| {
            query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
        };
        let number = |name: &str| parameter(name).map(|text| text.parse::<u64>().unwrap());
        match (method, path) {
            ("GET", "/v1/log") => ok(&json!({
                "origin": "log.example", "vkey": self.signer.verifier_key().to_string(), "size": 1,
                "software": {"name": "fake", "version": "0"},
            })),
            ("GET", "/checkpoint") => self.checkpoint().to_bytes().into_response(),
            ("POST", "/v1/entries") => match LogEntry::read(body) {
                Ok(entry) => {
                    let index = u64::try_from(self.place(&entry)).unwrap();
                    receipt_response(&self.receipt(index))
                }
                Err(error) => problem(400, error.code(), &error.to_string()),
            },
            ("POST", "/v1/entries:batch") => {
                let body: Value = serde_json::from_slice(body).unwrap();
                let statements = body["statements"].as_array().unwrap();
                let entries: Vec<_> = statements
                    .iter()
                    .map(|statement| LogEntry::read(statement.to_string().as_bytes()).unwrap())
                    .collect();
                let known = self.entries.len();
                let places: Vec<_> = entries.iter().map(|entry| self.place(entry)).collect();
                let receipts: Vec<_> = places
                    .iter()
                    .zip(&entries)
                    .map(|(index, entry)| {
                        json!({"index": index, "leaf_hash": entry.leaf_hash().to_string(),
                            "state": "published", "duplicate": *index < known})
                    })
                    .collect();
                let note = String::from_utf8(self.checkpoint().to_bytes()).unwrap();
                ok(&json!({"log": "log.example", "checkpoint": note, "receipts": receipts}))
            }
            ("GET", "/v1/proof/consistency") => {
                let (from, to) = (number("from").unwrap(), number("to").unwrap());
                if to > self.size().get() {
                    return problem(404, "NOT_FOUND", "the log is not that large");
                }
                let [older, newer] = [from, to].map(|size| TreeSize::new(size).unwrap());
                let hashes = consistency::prove(self, older, newer).unwrap().unwrap();
                ok(&json!({"from": from, "to": to, "hashes": base64(&hashes)}))
            }
            ("GET", "/v1/lookup") => {
                let digest = parameter("digest").unwrap();
                self.listing(|entry| entry.statement().digest.to_string() == digest)
            }
            _ => {
                if let Some(index) = path.strip_prefix("/v1/receipts/") {
                    let index: u64 = index.parse().unwrap();
                    return if index < self.size().get() {
                        receipt_response(&self.receipt(index))
                    } else {
                        problem(404, "NOT_FOUND", "there is no such entry")
                    };
                }
                if let Some(trail) = path.strip_prefix("/v1/trails/") {
                    return self.listing(|entry| {
                        entry.statement().trail.as_ref().is_some_and(|t| t.as_str() == trail)
                    });
                }
                if let Some(id) = path.strip_prefix("/v1/submitters/") {
                    return self
                        .listing(|entry| entry.signer().is_some_and(|s| s.to_string() == id));
                }
                if path.starts_with("/tile/") {
                    return self.tile(path.trim_start_matches('/'));
                }
                problem(404, "NOT_FOUND", "there is no such path")
            }
        }
    }

    fn listing(&self, wanted: impl Fn(&LogEntry) -> bool) -> Response {
        let entries: Vec<_> = self
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| wanted(entry))
            .map(|(index, entry)| listed(index, entry))
            .collect();
        ok(&json!({"entries": entries, "next": null, "conflicts": [], "truncated": false}))
    }

    fn tile(&self, path: &str) -> Response {
        let mut bytes = Vec::new();
        match path.parse().unwrap() {
            TilePath::Entries(id) => {
                for index in id.first_entry()..id.first_entry() + u64::from(id.width.get()) {
                    let Some(entry) = self.entries.get(usize::try_from(index).unwrap()) else {
                        return problem(404, "NOT_FOUND", "not that large");
                    };
                    push_entry(&mut bytes, entry.leaf_bytes()).unwrap();
                }
            }
            TilePath::Tile(id) => {
                for index in id.first_hash()..id.first_hash() + u64::from(id.width.get()) {
                    let node = Node { level: 8 * id.level, index };
                    if (index + 1) << node.level > self.size().get() {
                        return problem(404, "NOT_FOUND", "not that large");
                    }
                    bytes.extend_from_slice(self.node(node).unwrap().as_bytes());
                }
            }
        }
        bytes.into_response()
    }
}

impl NodeReader for World {
    type Error = std::convert::Infallible;

    fn node(&self, node: Node) -> Result<Digest, Self::Error> {
        if node.level == 0 {
            return Ok(self.entries[usize::try_from(node.index).unwrap()].leaf_hash());
        }
        let below = |index| self.node(Node { level: node.level - 1, index });
        Ok(node_hash(&below(2 * node.index)?, &below(2 * node.index + 1)?))
    }
}

pub fn signer(seed: u8) -> NoteSigner {
    NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [seed; 32])
}

pub fn listed(index: usize, entry: &LogEntry) -> Value {
    let statement = entry.statement();
    json!({
        "index": index,
        "kind": statement.kind.as_str(),
        "digest": statement.digest.to_string(),
        "trail": statement.trail.as_ref().map(ToString::to_string),
        "sequence": statement.sequence,
        "key_id": entry.signer().map(|signer| signer.to_string()),
    })
}

pub fn receipt_response(receipt: &Receipt) -> Response {
    json_response(receipt.to_json().unwrap())
}

pub fn ok(value: &Value) -> Response {
    json_response(value.to_string().into_bytes())
}

pub fn problem(status: u16, code: &str, detail: &str) -> Response {
    let body = json!({"type": "about:blank", "title": "No", "status": status, "code": code,
        "detail": detail});
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/problem+json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

pub fn retry_later(seconds: u64) -> Response {
    let mut response = problem(503, "OVERLOADED", "too much to do");
    response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    response
}

fn json_response(body: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn base64(hashes: &[Digest]) -> Vec<String> {
    hashes.iter().map(Digest::to_base64).collect()
}

async fn handle(world: Arc<Mutex<World>>, request: Request<Body>) -> Response {
    let method = request.method().to_string();
    let uri = request.uri().clone();
    let delay = world.lock().unwrap().delay;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let Ok(body) = to_bytes(request.into_body(), 64 << 20).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let mut world = world.lock().unwrap();
    let line = format!("{method} {uri}");
    world.requests.push(line.clone());
    let mut hook = std::mem::replace(&mut world.hook, Box::new(|_, _| None));
    let untrue = hook(&mut world, &line);
    world.hook = hook;
    untrue.unwrap_or_else(|| {
        world.answer(&method, uri.path(), uri.query().unwrap_or_default(), &body)
    })
}
