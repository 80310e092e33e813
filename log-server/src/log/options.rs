//! How a log is run, and whether it goes on.

use std::sync::Arc;

use anchorlog_proto::tlog_policy::TlogPolicy;

use crate::filter;
use crate::index::{self, Engine};
use crate::pool::PoolLimits;
use crate::storage::wal::WalOptions;

/// How a log is run.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// Limits of the submission queue.
    pub pool: PoolLimits,
    /// What keeps the index.
    pub engine: Engine,
    /// Bytes the index may use for caches and buffers.
    pub index_memory: u64,
    /// Bytes the filter in front of the index may use, for telling most new statements from duplicates.
    pub filter_memory: u64,
    /// How the journal is cut.
    pub wal: WalOptions,
    /// Bytes that stay free on the disk: below, submissions are refused.
    pub min_free_bytes: u64,
    /// Operators of time-stamping authorities that have to stamp a checkpoint before it is anchored.
    pub anchor_quorum: usize,
    /// The witnesses and the quorum of them that has to cosign a checkpoint before it is witnessed; without
    /// it none is.
    pub witness_policy: Option<Arc<TlogPolicy>>,
    /// Whether the log is opened to be read, and signs nothing.
    pub read_only: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            pool: PoolLimits::default(),
            engine: Engine::default(),
            index_memory: index::DEFAULT_MEMORY,
            filter_memory: filter::DEFAULT_MEMORY,
            wal: WalOptions::default(),
            min_free_bytes: 64 << 20,
            anchor_quorum: 1,
            witness_policy: None,
            read_only: false,
        }
    }
}
