//! The sections of the configuration, one struct each, with their defaults.

use std::net::SocketAddr;
use std::path::PathBuf;

use anchorlog_proto::note::VerifierKey;
use serde::{Deserialize, Serialize};

use super::{
    Bytes, ConfigError, DEFAULT_KEY_FILE, DEFAULT_LOG_FILTER, DEFAULT_ORIGIN, MAX_BATCH, Span,
};
use crate::index::Engine;

/// `[log]`: identity and place of the log.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// The origin line of every checkpoint and the name of the log's key.
    pub origin: String,
    /// The data directory.
    pub data: PathBuf,
    /// Where HTTP is served.
    pub listen: SocketAddr,
    /// The private key file; empty means [`DEFAULT_KEY_FILE`] in the data directory.
    pub key_file: PathBuf,
    /// Private key files of further keys that sign every checkpoint, after the one above.
    pub additional_keys: Vec<PathBuf>,
    /// Verifier keys that the log has signed with and signs with no more.
    pub retired_keys: Vec<String>,
}

impl LogConfig {
    /// Returns the private key file, with the default filled in.
    #[must_use]
    pub fn key_path(&self) -> PathBuf {
        if self.key_file.as_os_str().is_empty() {
            self.data.join(DEFAULT_KEY_FILE)
        } else {
            self.key_file.clone()
        }
    }

    /// Returns the former keys, read.
    pub fn retired(&self) -> Result<Vec<VerifierKey>, ConfigError> {
        let read = |key: &String| {
            key.parse().map_err(|source| ConfigError::RetiredKey { key: key.clone(), source })
        };
        self.retired_keys.iter().map(read).collect()
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            origin: DEFAULT_ORIGIN.to_owned(),
            data: PathBuf::from("data"),
            listen: SocketAddr::from(([127, 0, 0, 1], 7390)),
            key_file: PathBuf::new(),
            additional_keys: Vec::new(),
            retired_keys: Vec::new(),
        }
    }
}

/// `[http]`: what the HTTP server may use, and how long it waits for whom.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpConfig {
    /// Threads of the runtime; 0 means one per processor.
    pub workers: usize,
    /// Connections held at the same time.
    pub max_connections: usize,
    /// Requests in work at the same time.
    pub max_requests: usize,
    /// Requests waiting for a receipt state at the same time.
    pub max_waiting: usize,
    /// Longest wait for a whole request head.
    pub header_timeout: Span,
    /// Longest wait for a whole request body.
    pub body_timeout: Span,
    /// Longest wait for a client to take its answer.
    pub write_timeout: Span,
    /// Longest wait for accepted requests when stopping.
    pub shutdown_grace: Span,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            workers: 0,
            max_connections: 4096,
            max_requests: 4096,
            max_waiting: 1024,
            header_timeout: Span::from_secs(30),
            body_timeout: Span::from_secs(10),
            write_timeout: Span::from_secs(30),
            shutdown_grace: Span::from_secs(30),
        }
    }
}

/// `[limits]`: sizes of what is taken in.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Statements that may wait for the sequencer.
    pub queue: usize,
    /// Statements in one batch request.
    pub batch: usize,
    /// Bytes of a single submission's body.
    pub statement_body: Bytes,
    /// Bytes of a batch submission's body.
    pub batch_body: Bytes,
    /// Bytes that stay free on the disk: with less, submissions are refused.
    pub min_free_disk: Bytes,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            queue: 20_000,
            batch: MAX_BATCH,
            statement_body: Bytes::kib(16),
            batch_body: Bytes::mib(8),
            min_free_disk: Bytes::mib(64),
        }
    }
}

/// `[access]`: who may submit.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessConfig {
    /// Whether unsigned statements are taken.
    pub mode: AccessMode,
    /// Unsigned statements per second, all together; 0 means no limit.
    pub open_rate: u32,
    /// Unsigned statements at once; 0 means the default burst.
    pub open_burst: u32,
    /// The submitters whose signatures are accepted.
    pub keys: Vec<SubmitterConfig>,
}

/// The two access policies.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessMode {
    /// Anybody may submit unsigned statements; signed ones need a configured key.
    #[default]
    Open,
    /// Only statements signed by a configured key are taken.
    Keys,
}

/// `[[access.keys]]`: one submitter.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SubmitterConfig {
    /// A name for people: it appears in the server's own log.
    pub name: String,
    /// The Ed25519 public key: 32 bytes in base64, or an SPKI PEM block.
    pub key: String,
    /// Signed statements per second; 0 means no limit.
    #[serde(default)]
    pub rate: u32,
    /// Signed statements at once; 0 means the default burst.
    #[serde(default)]
    pub burst: u32,
}

/// `[index]`: the derived index.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct IndexConfig {
    /// The engine.
    pub engine: IndexEngine,
    /// Memory for its caches and write buffers.
    pub memory: Bytes,
    /// Memory for the filter in front of it, which tells most new statements from duplicates.
    pub filter_memory: Bytes,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self { engine: IndexEngine::Fjall, memory: Bytes::mib(256), filter_memory: Bytes::mib(128) }
    }
}

/// The engines the derived index can stand on.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "lowercase")]
pub enum IndexEngine {
    /// A log-structured merge tree in pure Rust.
    Fjall,
    /// A copy-on-write B-tree in pure Rust.
    Redb,
    /// The sled engine; only in builds with the feature of that name.
    Sled,
}

impl IndexEngine {
    /// Returns the engine's name as the configuration spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Redb => "redb",
            Self::Sled => "sled",
        }
    }
}

impl From<IndexEngine> for Engine {
    /// The engine itself. One that this build doesn't contain has been refused by [`Config::validate`];
    /// here it becomes the default one.
    ///
    /// [`Config::validate`]: super::Config::validate
    fn from(engine: IndexEngine) -> Self {
        match engine {
            IndexEngine::Fjall => Self::Fjall,
            IndexEngine::Redb => Self::Redb,
            #[cfg(feature = "sled")]
            IndexEngine::Sled => Self::Sled,
            #[cfg(not(feature = "sled"))]
            IndexEngine::Sled => Self::default(),
        }
    }
}

/// `[telemetry]`: the server's own log and metrics.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryConfig {
    /// Form of the log lines.
    pub log_format: LogFormat,
    /// Which lines are written, in the syntax of `tracing-subscriber`'s `EnvFilter`.
    pub log_filter: String,
    /// Whether `/metrics` is served.
    pub metrics: bool,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self {
            log_format: LogFormat::Text,
            log_filter: DEFAULT_LOG_FILTER.to_owned(),
            metrics: true,
        }
    }
}

/// Form of the server's own log lines.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// For people.
    Text,
}
