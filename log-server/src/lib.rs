//! The scribe: admits statements, sequences, commits, signs and publishes them.
//!
//! The life of an entry is the order of the modules: [`http`] and [`access`] admit it, [`pool`] queues it,
//! the sequencer gives it an index and commits it to the journal of [`storage`], [`snapshot`] is what is
//! then published, [`tree`] proves from it, and [`index`] finds it again. [`log`] puts these together;
//! [`fsck`], [`export`] and [`rebuild`] work on the directory of a log that is not running.
//!
//! What it never does: it signs nothing that is not durable, and returns nothing that the verifier would
//! refuse.

pub mod access;
pub mod anchoring;
pub mod bearer;
pub mod checkpoint_witness;
pub mod checkpoints;
pub mod cli;
mod clock;
pub mod config;
pub mod dev_tsa;
mod error;
pub mod export;
mod feeder;
mod filter;
pub mod finder;
pub mod frozen;
pub mod fsck;
pub mod http;
pub mod index;
mod keeper;
pub mod keys;
mod leaf_map;
pub mod log;
pub mod log_keys;
pub mod metrics;
pub mod pool;
pub mod rebuild;
mod recovery;
pub mod rollback;
mod sequencer;
pub mod snapshot;
pub mod standing;
pub mod storage;
pub mod tree;
pub mod witness;
pub mod witnessing;

pub use error::Error;
