//! Our own forms of a summary and a drift, until the RFC's are public.
//!
//! Both are written canonically (form A); the SHA-256 of those bytes is the digest to log and to expect. A
//! summary lists every stage, every declared outcome of its pack, and both kinds, also where they are empty,
//! so that equal counts have equal bytes; an identity without a membership is not listed.

mod counts;
mod drift;
mod summary;
#[cfg(test)]
mod tests;

/// Name of the form of a summary.
pub const SUMMARY_SCHEMA: &str = "anchorlog.summary/1";

/// Name of the form of a drift.
pub const DRIFT_SCHEMA: &str = "anchorlog.drift/1";

/// The largest summary or drift that is read, in bytes.
pub const MAX_WIRE_BYTES: usize = 8_388_608;
