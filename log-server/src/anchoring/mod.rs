//! Anchoring: having the newest checkpoint stamped by time-stamping authorities, again and again.
//!
//! What it is: step 6 in the life of an entry. One task beside the log decides when a checkpoint is worth a
//! token ([`Rules`]), asks all authorities at once, stores each token the moment it was verified, and
//! commits the statements about them like any other submission. One token vouches for the time of every
//! entry before it, however many they are.
//!
//! What it never does: hold up the log. Nothing of steps 1 to 5 waits for this task, and an authority that
//! is down, slow or lying costs nobody anything: it is asked again later, and the next checkpoint covers
//! what the last would have. Nor does it show anything that isn't durable.
//!
//! ```text
//! newest checkpoint ──▶ log's note ──▶ imprint ──▶ authority, authority, … ──▶ verified token
//!                                                                                  │
//!        entry in the log ◀── anchor statement ◀── receipts, /v1/checkpoints ◀── durable
//! ```
//!
//! What stamps is behind the trait [`Authority`], so that tests can script it and the development
//! authority can sit in the same process.

pub mod admin;
mod authority;
mod development;
mod remote;
mod schedule;
mod setup;
mod status;
mod task;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use authority::{Authority, INTERNAL, LATE, StampFailure, Stamped, Stamping};
pub use development::Development;
pub use remote::Remote;
pub use schedule::Rules;
pub use setup::{Authorities, SetupError, authorities, check, options};
pub use status::{AuthorityStatus, Status};
pub use task::{Anchoring, Handle, Options, Round, STORE_FAILED};
