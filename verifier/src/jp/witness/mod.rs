//! Reading the chain of a checkpoint witness, and holding a copy of an audit trail to it.
//!
//! What it is: [`read_chain`], the reader of the Judgment Pack gateway specification's section 8.6 for
//! statements of `witnessVersion` 1, within the bounds of section 8.7; [`hold_records`], which holds the records
//! of a trail to what a witness signed, and to the checkpoint lines of any other holder; [`Report`], what came of
//! both. A [`Reading`] exists only where a chain was read from its first statement, or from where an earlier
//! reading ended, without a finding.
//!
//! What it is not: a way to obtain statements or keys, or a judgement about the witness. Whether a witness is
//! independent of the trail's operator is for the reader to know; a key is trusted because the reader chose it.
//! There is no clock here: what a witness says of the time is repeated, and compared with nothing.

mod chain;
mod claims;
mod fault;
mod form;
mod keys;
mod lines;
mod reader;
mod reading;
mod record_lines;
mod records;
mod report;
mod trail_fault;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod records_tests;
#[cfg(test)]
mod resume_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use fault::{ChainFault, Refusal};
pub use form::{COMMAND, SCHEMA};
pub use keys::TrustedKeys;
pub use reader::{Outcome, Supplied, read_chain, within_bytes};
pub use reading::{Reading, ReadingKind};
pub use records::{Held, hold_records};
pub use report::{Coverage, Report};
pub use trail_fault::TrailFault;

/// The most keys of one reading.
pub const MAX_KEYS: usize = 16;

/// The most bytes of one reading's files together: statements, head and continuation. 64 MiB.
pub const MAX_BYTES: u64 = 67_108_864;

/// The most statement lines of one reading, the head's and the continuation's two counted.
pub const MAX_STATEMENTS: usize = 110_000;

/// Role of the files of statements in findings.
pub const STATEMENTS: &str = "statements";
/// Role of the head in findings.
pub const HEAD: &str = "head";
/// Role of the continuation in findings.
pub const RESUME: &str = "continuation";
/// Role of the keys in findings.
pub const KEY: &str = "key";
/// Role of a copy of the trail in findings.
pub const RECORDS: &str = "records";
/// Role of a holder's checkpoint lines in findings.
pub const EXPECTED: &str = "expected";
