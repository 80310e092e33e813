//! The answers of a log's JSON interface, read and bounded.
//!
//! What it is not: verified. A listing says what a log claims; [`crate::log::Log`] checks the claims
//! against a checkpoint before it hands them on. Members this version doesn't know are passed over, since
//! logs may say more than they are asked.

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Origin, SignedCheckpoint};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::receipt::ReceiptState;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{StatementKind, Trail};
use anchorlog_verifier::proof::hash_from_text;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use crate::problem::printable;

/// `GET /v1/log`: how a log introduces itself. To be believed once at most, and loudly.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct LogInfo {
    /// The log's name.
    #[serde(deserialize_with = "parsed")]
    pub origin: Origin,
    /// The key it says it signs with.
    #[serde(deserialize_with = "parsed")]
    pub vkey: VerifierKey,
    /// What it runs, for people.
    #[serde(default)]
    pub software: Option<Software>,
}

/// A program and its version.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub struct Software {
    /// The program.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// `POST /v1/entries:batch`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct BatchAnswer {
    /// The log's name.
    #[serde(deserialize_with = "parsed")]
    pub log: Origin,
    /// A checkpoint over everything in the batch.
    #[serde(deserialize_with = "checkpoint")]
    pub checkpoint: SignedCheckpoint,
    /// One for each statement, in their order.
    pub receipts: Vec<BatchReceipt>,
}

/// What a batch answer says about one statement.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
pub struct BatchReceipt {
    /// Index of the entry.
    pub index: u64,
    /// Its leaf hash.
    #[serde(deserialize_with = "parsed")]
    pub leaf_hash: Digest,
    /// How far its evidence has grown.
    #[serde(deserialize_with = "parsed")]
    pub state: ReceiptState,
    /// Whether it was in the log already.
    pub duplicate: bool,
}

/// What comes with status 409 of `POST /v1/trails:checkpoints`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct ConflictAnswer {
    /// The places that are held with another digest.
    pub conflicts: Vec<HeldConflict>,
    /// Where all that was sent is in the log.
    pub committed: BatchAnswer,
}

/// A checkpoint line that disagrees with the first one of its place, as the log reports it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub struct HeldConflict {
    /// What the log held first.
    pub held: HeldLine,
    /// What was sent.
    pub offered: HeldLine,
    /// The place in the trail.
    pub sequence: u64,
    /// The trail.
    #[serde(deserialize_with = "parsed")]
    pub trail: Trail,
}

/// A checkpoint line that is in the log.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
pub struct HeldLine {
    /// The SHA-256 of the line without its newline.
    #[serde(deserialize_with = "parsed")]
    pub digest: Digest,
    /// Index of the entry.
    pub index: u64,
}

/// An entry as listings name it: a claim to be checked against the entry itself.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub struct ListedEntry {
    /// Index of the entry.
    pub index: u64,
    /// What the digest is a digest of.
    #[serde(deserialize_with = "parsed")]
    pub kind: StatementKind,
    /// The digest.
    #[serde(default, deserialize_with = "optional")]
    pub digest: Option<Digest>,
    /// What the statement belongs to.
    #[serde(default, deserialize_with = "optional")]
    pub trail: Option<Trail>,
    /// Its position within the trail.
    #[serde(default)]
    pub sequence: Option<u64>,
    /// Whose key signed it.
    #[serde(default, deserialize_with = "optional")]
    pub key_id: Option<SignerId>,
}

/// A position of a trail that entries claim with different digests, as the log reports it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Conflict {
    /// The position.
    pub sequence: u64,
    /// The entries that claim it.
    pub indexes: Vec<u64>,
}

/// `GET /v1/lookup`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub struct LookupAnswer {
    /// The entries with the digest.
    pub entries: Vec<ListedEntry>,
    /// Whether there are more than fit into one answer.
    #[serde(default)]
    pub truncated: bool,
}

/// `GET /v1/trails/{trail}` and `GET /v1/submitters/{key_id}`: one page.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct ListingPage {
    /// The entries of this page, by ascending index.
    pub entries: Vec<ListedEntry>,
    /// Where the next page starts; `None` on the last one.
    pub next: Option<u64>,
    /// Positions of a trail that entries of this page claim with different digests.
    #[serde(default)]
    pub conflicts: Vec<Conflict>,
}

/// `GET /v1/entries/{index}`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct EntryAnswer {
    /// Index of the entry.
    pub index: u64,
    /// Its leaf hash.
    #[serde(deserialize_with = "parsed")]
    pub leaf_hash: Digest,
    /// The statement or signed statement.
    pub statement: serde_json::Value,
}

/// `GET /v1/proof/inclusion`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub struct InclusionAnswer {
    /// Index of the entry.
    pub index: u64,
    /// Size of the tree it is proved in.
    pub size: u64,
    /// The proof, leaf's sibling first.
    #[serde(deserialize_with = "hashes")]
    pub hashes: Vec<Digest>,
}

/// `GET /v1/proof/consistency`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub struct ConsistencyAnswer {
    /// Size of the older tree.
    pub from: u64,
    /// Size of the newer tree.
    pub to: u64,
    /// The proof.
    #[serde(deserialize_with = "hashes")]
    pub hashes: Vec<Digest>,
}

/// `GET /v1/checkpoints/{size}`: a checkpoint that third parties have countersigned.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct CountersignedCheckpoint {
    /// The note with the log's signature and the cosignatures.
    #[serde(deserialize_with = "checkpoint")]
    pub checkpoint: SignedCheckpoint,
    /// Number of entries.
    pub size: u64,
    /// RFC 3161 tokens over it, DER in base64.
    pub timestamps: Vec<String>,
}

/// An answer that isn't what the interface says.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct AnswerError {
    /// Line of the answer, from 1.
    pub line: usize,
    /// Column of the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub reason: String,
}

/// Reads an answer.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, AnswerError> {
    serde_json::from_slice(body).map_err(|error| AnswerError {
        line: error.line(),
        column: error.column(),
        reason: printable(&error.to_string()),
    })
}

fn parsed<'de, D: Deserializer<'de>, T: std::str::FromStr>(from: D) -> Result<T, D::Error>
where
    T::Err: std::fmt::Display,
{
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

fn optional<'de, D: Deserializer<'de>, T: std::str::FromStr>(from: D) -> Result<Option<T>, D::Error>
where
    T::Err: std::fmt::Display,
{
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| text.parse()).transpose().map_err(D::Error::custom)
}

fn checkpoint<'de, D: Deserializer<'de>>(from: D) -> Result<SignedCheckpoint, D::Error> {
    SignedCheckpoint::parse(String::deserialize(from)?.as_bytes()).map_err(D::Error::custom)
}

fn hashes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Digest>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let read = |text: &String| {
        hash_from_text(text).ok_or_else(|| D::Error::custom("a hash in a proof is malformed"))
    };
    texts.iter().map(read).collect()
}
