//! Evidence of governed runs: the whole way from a plan to a verdict, and the conformance suite of EVALUATE:
//! that it is what the generator writes, that the evaluator agrees with it, and that it would notice an
//! evaluator that overlooks something.

#[cfg(feature = "adequacy")]
mod adequacy;
mod conformance;
mod coverage;
mod people;
mod policy;
mod program;
mod story;

use std::path::PathBuf;

/// The committed suite.
fn suite() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors/gad")
}
