//! Evaluation of Judgment Pack Core `0.2.0-draft` (sections 7 and 8), which also returns contributors.
//!
//! What it is: [`evaluate`], from a pack, facts and evidence availability to one [`Evaluation`]: the portable
//! disposition of section 8.3 and, outside of it, the [`Credit`](anchorlog_proto::jp::attribution::Credit) for it and a trace. It is the independent
//! source of true membership that attribution is compared with. It is deterministic: no clock, no I/O, and no
//! order of rules, exceptions or conditions changes any result, the limits included.
//!
//! What it is not: an evaluator-conformance claim (section 3.4.1). It passes the evaluation corpus of
//! `0.2.0-draft`, and its own vectors for what that corpus leaves out; nothing more is said.
//!
//! # Limits (section 10)
//!
//! Of admission ([`PackLimits`](anchorlog_proto::jp::core_pack::PackLimits)): 8 MiB, 64 container levels, strings of 65,536 bytes and numbers of 4,096
//! characters, for each document; over one of them the error is `malformed-input`. Of evaluation
//! ([`Limits`]): 4,096 elements in a collection, 10 million units of work; over one of them it is
//! `resource-exhaustion`. JSON numbers are compared exactly while exponents are within ±10^18; beyond that
//! equality is unknown, the one seam that section 8.3 leaves.

mod error;
mod inputs;
mod meter;
mod resolution;
mod truth;

pub use error::{ErrorClass, EvaluationError, Phase};
pub use inputs::{Availability, Presence, evaluate};
pub use meter::Limits;
pub use resolution::{Evaluation, Trace, TraceStep, evaluate_admitted};
pub use truth::Truth;
