//! This log as a witness of audit trails' checkpoints (the Judgment Pack gateway's sections 6 and 8).
//!
//! What it is: submitters hand over checkpoint lines of their trails; the witness signs a statement about the
//! last line of each submission, chains the statements of a trail, and serves them to whoever names the trail.
//! What it promises: no two statements of one trail and one index, whatever is submitted, in whatever order,
//! and whenever the process is killed. What it is not: [`crate::witness`], which cosigns other logs'
//! checkpoints, or a judge of trails, which it never sees.
//!
//! The way of a submission: `http` reads it, the proto crate's [`Chain`](anchorlog_proto::jp::witness::Chain)
//! decides, and the one `writer` signs, makes the statement durable, marks it and only then publishes it.
//! Before a start `examine` holds the files to the checks; [`repair`] does what three rules allow.
//!
//! | file | what it is |
//! |---|---|
//! | `statements.jsonl` | the statements, one canonical line each, in the order in which they were signed |
//! | the marks, elsewhere | a line for each statement that may have been published; never restored from a backup |
//! | `registrations.jsonl` | whose a trail is; the last line of a trail counts |
//! | `set-aside/` | torn bytes that a repair cut off |
//! | `key.pem`, `key.pub` | the private key, unless configured otherwise, and the public one |
//! | `entered` | how far the statements are in the log, see [`ledger`] |
//! | `LOCK` | held by the one process that uses the files |

mod allowance;
mod answer;
mod book;
mod disk;
mod error;
mod examine;
mod finding;
mod key;
pub mod ledger;
mod lines;
mod repair;
mod service;
mod setup;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

pub use self::answer::{
    Activity, Answer, Disagreement, MAX_PAGE, Opening, Options, Page, RegistrationMode,
};
pub use self::book::Limits;
pub use self::disk::Paths;
pub use self::error::{CheckpointWitnessError, Refusal};
pub use self::examine::MAX_NAMED;
pub use self::finding::{Finding, FindingCode, Outcome};
pub use self::key::{KeyFiles, read_public_key};
pub use self::repair::{Repaired, Step, repair};
pub use self::service::CheckpointWitness;
pub use self::setup::{key_files, options, paths};
pub use self::verify::{Verified, verify};
