//! What the log answers to a request, whoever carries it.

use anchorlog_proto::Digest;
use anchorlog_proto::statement::LogEntry;
use anchorlog_proto::tile::TilePath;
use serde_json::{Value, json};

use super::{Lie, LyingLog, View, made_up};

/// Status, media type and body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The media type.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl LyingLog {
    /// Answers `GET path?query`.
    #[must_use]
    pub fn get(&self, path: &str, query: &str) -> Answer {
        self.find(path, query).unwrap_or_else(|| problem(404, "NOT_FOUND"))
    }

    /// Answers `POST path` with this body.
    #[must_use]
    pub fn post(&self, path: &str, body: &[u8]) -> Answer {
        let answer = match path {
            "/v1/entries" => LogEntry::read(body).ok().map(|entry| {
                let (index, _) = self.admit(&entry);
                self.receipt(index, Some(&entry))
            }),
            "/v1/entries:batch" => self.batch(body),
            _ => return problem(404, "NOT_FOUND"),
        };
        answer.map_or_else(|| problem(400, "MALFORMED"), |value| json_answer(&value))
    }

    fn find(&self, path: &str, query: &str) -> Option<Answer> {
        let view = self.view();
        if path == "/checkpoint" {
            let body = view.checkpoint(&self.signer).to_bytes();
            return Some(Answer { status: 200, content_type: "text/plain; charset=utf-8", body });
        }
        if let Some(path) = path.strip_prefix("/tile/") {
            let body = match format!("tile/{path}").parse().ok()? {
                TilePath::Tile(id) => view.tree.tile(id)?,
                TilePath::Entries(id) => view.tree.bundle(id)?,
            };
            return Some(Answer { status: 200, content_type: "application/octet-stream", body });
        }
        let number = |name: &str| parameter(query, name)?.parse::<u64>().ok();
        let value = match path {
            "/v1/log" => json!({"origin": self.origin().as_str(), "vkey": self.vkey().to_string()}),
            "/v1/lookup" => lookup(&view, parameter(query, "digest")?.parse().ok()?),
            "/v1/proof/consistency" => {
                let (from, to) = (number("from")?, number("to")?);
                json!({"from": from, "to": to, "hashes": base64_all(&view.tree.consistency(from, to)?)})
            }
            "/v1/proof/inclusion" => {
                let (index, size) = (number("index")?, number("size").unwrap_or(view.signed));
                json!({
                    "index": index, "size": size,
                    "hashes": base64_all(&view.tree.inclusion(index, size)?),
                })
            }
            _ => {
                let (kind, index) = path.strip_prefix("/v1/")?.split_once('/')?;
                let index = index.parse().ok()?;
                let entry = LogEntry::from_leaf(view.tree.entry(index)?).ok()?;
                match kind {
                    "receipts" => self.receipt(index, None),
                    "entries" => json!({
                        "index": index, "leaf_hash": entry.leaf_hash().to_string(),
                        "statement": statement(&entry),
                    }),
                    _ => return None,
                }
            }
        };
        Some(json_answer(&value))
    }

    fn batch(&self, body: &[u8]) -> Option<Value> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let statements = body["statements"].as_array()?.iter();
        let entries: Option<Vec<_>> =
            statements.map(|one| LogEntry::read(one.to_string().as_bytes()).ok()).collect();
        let places: Vec<Value> = entries?
            .iter()
            .map(|entry| {
                let (index, duplicate) = self.admit(entry);
                let leaf_hash = entry.leaf_hash().to_string();
                json!({"index": index, "leaf_hash": leaf_hash, "state": "published", "duplicate": duplicate})
            })
            .collect();
        let checkpoint = String::from_utf8(self.checkpoint().to_bytes()).ok()?;
        Some(json!({"log": self.origin().as_str(), "checkpoint": checkpoint, "receipts": places}))
    }

    /// The receipt of an index, for a statement that was just submitted or for what the view has there. It is
    /// written by hand: what `proto` makes would be right.
    fn receipt(&self, index: u64, submitted: Option<&LogEntry>) -> Value {
        let view = self.view();
        let shown = view.tree.entry(index).and_then(|leaf| LogEntry::from_leaf(leaf).ok());
        let entry = submitted.or(shown.as_ref()).expect("an entry that was admitted");
        let stated = match self.state().lie {
            Lie::WrongEntry { index } if submitted.is_some() => {
                LogEntry::from_leaf(&made_up(index)).expect("a statement")
            }
            _ => entry.clone(),
        };
        // A checkpoint that is too old proves nothing about the index; the path is then the newest tree's.
        let size = if index < view.signed { view.signed } else { view.tree.size() };
        let hashes = view.tree.inclusion(index, size).unwrap_or_default();
        let hashes: String =
            hashes.iter().flat_map(|hash| [hash.to_base64(), "\n".into()]).collect();
        let note = String::from_utf8(view.checkpoint(&self.signer).to_bytes()).unwrap();
        json!({
            "schema": "anchorlog.receipt/1", "log": self.origin().as_str(), "index": index,
            "leaf_hash": entry.leaf_hash().to_string(), "statement": statement(&stated),
            "proof": format!("c2sp.org/tlog-proof@v1\nindex {index}\n{hashes}\n{note}"),
            "timestamps": [], "state": "published",
        })
    }
}

fn lookup(view: &View, digest: Digest) -> Value {
    let entries: Vec<Value> = (0_u64..)
        .zip(view.tree.entries())
        .take_while(|(index, _)| *index < view.signed)
        .filter_map(|(index, leaf)| Some((index, LogEntry::from_leaf(leaf).ok()?)))
        .filter(|(_, entry)| entry.statement().digest == digest)
        .map(|(index, entry)| json!({"index": index, "kind": entry.statement().kind.as_str()}))
        .collect();
    json!({ "entries": entries })
}

fn statement(entry: &LogEntry) -> Value {
    serde_json::from_slice(entry.leaf_bytes()).expect("leaves are JSON")
}

fn json_answer(value: &Value) -> Answer {
    Answer { status: 200, content_type: "application/json", body: value.to_string().into_bytes() }
}

fn problem(status: u16, code: &str) -> Answer {
    let body = json!({
        "type": "about:blank", "title": code, "status": status, "code": code,
        "detail": "the log has nothing to say about that", "instance": "urn:anchorlog:request:0",
    });
    Answer { status, content_type: "application/problem+json", body: body.to_string().into_bytes() }
}

fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn base64_all(hashes: &[Digest]) -> Vec<String> {
    hashes.iter().map(Digest::to_base64).collect()
}
