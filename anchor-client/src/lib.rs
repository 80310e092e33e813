//! The messenger of Anchorlog: carries statements to logs, brings receipts back, remembers what logs said.
//!
//! What it is: the client of a log's interface ([`log_client`]), with everything it answers verified and held
//! against what the log signed before ([`log`], [`seen`]); logs read whole through their tiles ([`follow`]),
//! copied ([`mirror`]) and watched ([`monitor`]); an [`outbox`] that loses nothing; time stamps of
//! RFC 3161 authorities ([`stamp`]); exchanges with witnesses ([`witness`]); records of governed runs
//! ([`record`]); evidence envelopes
//! ([`envelope`]); the program `anchor` ([`cli`]) with its load generator ([`hammer`]); and [`durable`],
//! through which everything that writes to disk goes, the log's server included.
//!
//! What it is not: a judge. Whether a receipt holds is decided by `anchorlog-verifier`, whom this crate
//! calls before it believes anything. Where the data comes from: statements of `anchorlog-proto`. Where it
//! goes next: receipts to whoever needs to show them, and to `verifier receipt`.

pub mod address;
mod alone;
pub mod api;
pub mod audit;
pub mod checkpoint_witness;
#[doc(hidden)]
pub mod cli;
pub mod compare;
pub mod durable;
pub mod envelope;
pub mod error;
pub mod evidence;
pub mod file_digest;
pub mod follow;
pub mod hammer;
pub mod log;
pub mod log_client;
pub mod mirror;
pub mod monitor;
pub mod outbox;
pub mod problem;
pub mod receipt_store;
pub mod record;
pub mod retry;
pub mod seen;
pub mod stamp;
pub mod state;
pub mod submit;
mod tiles;
pub mod token;
pub mod transport;
pub mod trust;
pub mod witness;

pub use anchorlog_verifier::keys;
