//! One method for each call of a log's interface. The answers are read and bounded, not verified:
//! [`crate::log::Log`] does that.

use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{CheckpointError, SignedCheckpoint};
use anchorlog_proto::jp;
use anchorlog_proto::receipt::{Receipt, ReceiptError, ReceiptState};
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{LogEntry, MAX_LEAF_BYTES, StatementError, StatementKind, Trail};
use anchorlog_proto::tile::{EntriesId, TileError, TileId, Width, parse_bundle, parse_tile};
use serde::de::DeserializeOwned;

use crate::address::LogUrl;
use crate::api::{
    self, AnswerError, BatchAnswer, ConflictAnswer, ConsistencyAnswer, CountersignedCheckpoint,
    EntryAnswer, HeldConflict, InclusionAnswer, ListingPage, LogInfo, LookupAnswer,
};
use crate::retry::RetryPolicy;
use crate::token::Token;
use crate::transport::{Request, Transport, TransportError};

/// The most statements one batch can carry.
pub const MAX_BATCH: usize = 1000;

/// The most entries one page of a listing can hold.
pub const MAX_PAGE: u16 = 1000;

/// How far a receipt shall have grown before the log answers, and how long it may take for that.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Wait {
    /// The state waited for.
    pub state: ReceiptState,
    /// When the time is up, the receipt comes as it is. The log allows at most 60 seconds.
    pub timeout: Duration,
}

impl Wait {
    /// No waiting beyond what every receipt takes.
    pub const PUBLISHED: Self =
        Self { state: ReceiptState::Published, timeout: Duration::from_secs(10) };

    fn query(self) -> String {
        let seconds = self.timeout.as_secs().clamp(1, 60);
        format!("wait={}&timeout={seconds}", self.state)
    }
}

/// A connection to one log.
#[derive(Clone, Debug)]
pub struct LogClient {
    transport: Transport,
}

impl LogClient {
    /// Prepares connections; nothing is sent yet. `timeout` is for one try of one request.
    pub fn new(log: LogUrl, timeout: Duration, retry: RetryPolicy) -> Result<Self, CallError> {
        Ok(Self { transport: Transport::new(log, timeout, retry)? })
    }

    /// The log's address.
    #[must_use]
    pub fn address(&self) -> &LogUrl {
        self.transport.log()
    }

    /// `GET /v1/log`: how the log introduces itself.
    pub async fn info(&self) -> Result<LogInfo, CallError> {
        self.get_json("/v1/log".to_owned(), MAX_SMALL_ANSWER).await
    }

    /// `POST /v1/entries`: one statement.
    pub async fn submit(&self, entry: &LogEntry, wait: Wait) -> Result<Receipt, CallError> {
        let path = format!("/v1/entries?{}", wait.query());
        let request = Request::post(path.clone(), entry.leaf_bytes().to_vec(), MAX_RECEIPT)
            .with_patience(wait.timeout);
        self.receipt_of(&path, &request).await
    }

    /// `POST /v1/entries:batch`: 1 to [`MAX_BATCH`] statements, all or none.
    pub async fn submit_batch(&self, entries: &[LogEntry]) -> Result<BatchAnswer, CallError> {
        let path = "/v1/entries:batch";
        let mut body = br#"{"statements":["#.to_vec();
        for (position, entry) in entries.iter().enumerate() {
            if position > 0 {
                body.push(b',');
            }
            body.extend_from_slice(entry.leaf_bytes());
        }
        body.extend_from_slice(b"]}");
        let answer = self.transport.send(&Request::post(path, body, MAX_LISTING)).await?;
        self.json(path, &answer)
    }

    /// `POST /v1/trails:checkpoints`: lines of audit trails. The second part is empty unless the log answers that
    /// some places are held with another digest.
    pub async fn hold_lines(
        &self,
        body: Vec<u8>,
        token: Option<&Token>,
    ) -> Result<(BatchAnswer, Vec<HeldConflict>), CallError> {
        let path = "/v1/trails:checkpoints";
        let request = Request::post(path, body, MAX_LISTING).of_lines(token).taking_conflicts();
        let (status, answer) = self.transport.send_any(&request).await?;
        if status == 409 {
            let answer: ConflictAnswer = self.json(path, &answer)?;
            return Ok((answer.committed, answer.conflicts));
        }
        Ok((self.json(path, &answer)?, Vec::new()))
    }

    /// `GET /v1/receipts/{index}`.
    pub async fn receipt(&self, index: u64, wait: Wait) -> Result<Receipt, CallError> {
        let path = format!("/v1/receipts/{index}?{}", wait.query());
        let request = Request::get(path.clone(), JSON, MAX_RECEIPT).with_patience(wait.timeout);
        self.receipt_of(&path, &request).await
    }

    /// `GET /v1/entries/{index}`.
    pub async fn entry(&self, index: u64) -> Result<EntryAnswer, CallError> {
        self.get_json(format!("/v1/entries/{index}"), MAX_SMALL_ANSWER).await
    }

    /// `GET /v1/lookup`: the entries with this digest, of one kind or of any.
    pub async fn lookup(
        &self,
        digest: &Digest,
        kind: Option<StatementKind>,
    ) -> Result<LookupAnswer, CallError> {
        let kind = kind.map(|kind| format!("&kind={kind}")).unwrap_or_default();
        self.get_json(format!("/v1/lookup?digest={digest}{kind}"), MAX_LISTING).await
    }

    /// `GET /v1/trails/{trail}`: entries of a trail from index `from` on, at most `limit` (1 to [`MAX_PAGE`]).
    pub async fn trail(
        &self,
        trail: &Trail,
        from: u64,
        limit: u16,
    ) -> Result<ListingPage, CallError> {
        self.get_json(format!("/v1/trails/{trail}?from={from}&limit={limit}"), MAX_LISTING).await
    }

    /// `GET /v1/submitters/{key_id}`: entries signed by a key, as [`Self::trail`].
    pub async fn submitter(
        &self,
        signer: &SignerId,
        from: u64,
        limit: u16,
    ) -> Result<ListingPage, CallError> {
        let path = format!("/v1/submitters/{signer}?from={from}&limit={limit}");
        self.get_json(path, MAX_LISTING).await
    }

    /// `GET /v1/proof/inclusion`.
    pub async fn inclusion_proof(
        &self,
        index: u64,
        size: u64,
    ) -> Result<InclusionAnswer, CallError> {
        let path = format!("/v1/proof/inclusion?index={index}&size={size}");
        self.get_json(path, MAX_SMALL_ANSWER).await
    }

    /// `GET /v1/proof/consistency`.
    pub async fn consistency_proof(
        &self,
        from: u64,
        to: u64,
    ) -> Result<ConsistencyAnswer, CallError> {
        let path = format!("/v1/proof/consistency?from={from}&to={to}");
        self.get_json(path, MAX_SMALL_ANSWER).await
    }

    /// `GET /checkpoint`: the log's current checkpoint.
    pub async fn checkpoint(&self) -> Result<SignedCheckpoint, CallError> {
        let path = "/checkpoint";
        let body = self.transport.send(&Request::get(path, "text/plain", MAX_CHECKPOINT)).await?;
        SignedCheckpoint::parse(&body)
            .map_err(|source| CallError::Checkpoint { url: self.url(path), source })
    }

    /// `GET /v1/checkpoints/{size}`: a past checkpoint with what third parties added, if they did.
    pub async fn countersigned(&self, size: u64) -> Result<CountersignedCheckpoint, CallError> {
        self.get_json(format!("/v1/checkpoints/{size}"), MAX_RECEIPT).await
    }

    /// `GET /tile/…`: the hashes of a tile. Where the partial tile has gone because the full one is there, the
    /// full one is cut to the width asked for (C2SP tlog-tiles).
    pub async fn tile(&self, id: TileId) -> Result<Vec<Digest>, CallError> {
        let (path, width, body) = match self.get_tile_file(&id.path()).await {
            Err(error) if error.is_not_found() && !id.width.is_full() => {
                let path = TileId { width: Width::FULL, ..id }.path();
                let body = self.get_tile_file(&path).await?;
                (path, Width::FULL, body)
            }
            body => (id.path(), id.width, body?),
        };
        let mut hashes = parse_tile(&body, width)
            .map_err(|source| CallError::Tile { url: self.url(&format!("/{path}")), source })?;
        hashes.truncate(usize::from(id.width.get()));
        Ok(hashes)
    }

    /// `GET /tile/entries/…`: the entries of a bundle, as [`Self::tile`].
    pub async fn entries(&self, id: EntriesId) -> Result<Vec<Vec<u8>>, CallError> {
        let (path, width, body) = match self.get_tile_file(&id.path()).await {
            Err(error) if error.is_not_found() && !id.width.is_full() => {
                let path = EntriesId { width: Width::FULL, ..id }.path();
                let body = self.get_tile_file(&path).await?;
                (path, Width::FULL, body)
            }
            body => (id.path(), id.width, body?),
        };
        let entries = parse_bundle(&body, width)
            .map_err(|source| CallError::Tile { url: self.url(&format!("/{path}")), source })?;
        Ok(entries.into_iter().take(usize::from(id.width.get())).map(<[u8]>::to_vec).collect())
    }

    async fn get_tile_file(&self, path: &str) -> Result<Vec<u8>, CallError> {
        let request = Request::get(format!("/{path}"), "application/octet-stream", MAX_BUNDLE);
        Ok(self.transport.send(&request).await?)
    }

    async fn receipt_of(&self, path: &str, request: &Request) -> Result<Receipt, CallError> {
        let body = self.transport.send(request).await?;
        Receipt::parse(&body).map_err(|source| CallError::Receipt { url: self.url(path), source })
    }

    async fn get_json<T: DeserializeOwned>(
        &self,
        path: String,
        limit: usize,
    ) -> Result<T, CallError> {
        let body = self.transport.send(&Request::get(path.clone(), JSON, limit)).await?;
        self.json(&path, &body)
    }

    fn json<T: DeserializeOwned>(&self, path: &str, body: &[u8]) -> Result<T, CallError> {
        api::read(body).map_err(|source| CallError::Answer { url: self.url(path), source })
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address())
    }
}

/// Why a call brought no usable answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The JSON isn't what the interface says.
    #[error("{url}: the answer is not understood: {source}; is this the address of a log?")]
    Answer {
        /// What was asked.
        url: String,
        /// What is wrong, and where.
        source: AnswerError,
    },
    /// No checkpoint.
    #[error("{url}: the answer is not a checkpoint: {source}; is this the address of a log?")]
    Checkpoint {
        /// What was asked.
        url: String,
        /// What is wrong.
        source: CheckpointError,
    },
    /// An entry that is no statement.
    #[error("{url}: the entry is not a statement: {source}")]
    Entry {
        /// What was asked.
        url: String,
        /// What is wrong.
        source: StatementError,
    },
    /// No receipt.
    #[error("{url}: the answer is not a receipt: {source}; is this the address of a log?")]
    Receipt {
        /// What was asked.
        url: String,
        /// What is wrong.
        source: ReceiptError,
    },
    /// No statement of a checkpoint witness.
    #[error(
        "{url}: the answer is not a witness' statement: {source}; is this the address of a witness?"
    )]
    Statement {
        /// What was asked.
        url: String,
        /// What is wrong.
        source: jp::witness::StatementError,
    },
    /// No tile or bundle.
    #[error("{url}: {source}")]
    Tile {
        /// What was asked.
        url: String,
        /// What is wrong.
        source: TileError,
    },
    /// A well-formed answer to another question.
    #[error("{url}: the answer is {what}")]
    Unexpected {
        /// What was asked.
        url: String,
        /// What came.
        what: &'static str,
    },
    /// No successful answer.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

impl CallError {
    /// The stable code of the failure.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Answer { .. } | Self::Statement { .. } | Self::Unexpected { .. } => {
                "CLIENT.ANSWER"
            }
            Self::Checkpoint { source, .. } => source.code(),
            Self::Entry { source, .. } => source.code(),
            Self::Receipt { source, .. } => source.code(),
            Self::Tile { source, .. } => source.code(),
            Self::Transport(error) => error.code(),
        }
    }

    /// Whether the log says that what was asked for doesn't exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Transport(error) if error.is_not_found())
    }
}

const JSON: &str = "application/json";

/// A receipt: an entry, 63 hashes, a checkpoint with up to 100 lines, and time-stamp tokens.
const MAX_RECEIPT: usize = 1024 * 1024;
/// 1,000 listed entries or batch receipts of at most a few hundred bytes each.
const MAX_LISTING: usize = 2 * 1024 * 1024;
const MAX_SMALL_ANSWER: usize = 64 * 1024;
const MAX_CHECKPOINT: usize = 256 * 1024;
/// 256 entries with their lengths.
const MAX_BUNDLE: usize = 256 * (MAX_LEAF_BYTES + 2);
