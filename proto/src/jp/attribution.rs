//! Who contributed to the outputs of a workflow (RFC 0028, a draft): the accounting, and the documents it is
//! done on.
//!
//! What it is, in two halves that are kept apart:
//!
//! * the core, which is the RFC's: [`Contributors`], a homogeneous set that is never empty; [`Credit`];
//!   [`Summary`], the counts N, F and M by outcome with their invariants; [`Drift`], typed and signed;
//! * the forms that carry it, which are *ours*, because the RFC's schema is not public: [`Projection`]
//!   (`anchorlog.projection/1`), and the forms of a summary (`anchorlog.summary/1`) and a drift
//!   (`anchorlog.drift/1`) in [`wire`]. When the RFC's forms are published these change and the core does not.
//!
//! What it is not: `bulk-consistency`, which is what these say when they agree, is no reading of a workflow,
//! and it shows neither that a contributor's condition was true nor that none is missing. No conformance can be
//! claimed.

mod audit;
mod contributors;
mod drift;
mod execution;
mod output;
mod projection;
mod tally;
mod trace;
pub mod wire;

pub use audit::AuditRecord;
pub use contributors::{
    ContributorKind, Contributors, ContributorsError, Credit, MAX_CONTRIBUTORS, MAX_ENVELOPE_BYTES,
    UnknownKind,
};
pub use drift::{Drift, DriftOverflow, OutcomeDrift, Side, SignedMemberships, StageDrift};
pub use execution::{ExecutionPins, RunPin};
pub use output::Output;
pub use projection::{MAX_PROJECTION_BYTES, ProjectedStage, Projection};
pub use tally::{InvariantError, Memberships, OutcomeTally, StageTally, Summary};
pub use trace::{
    Contradiction, RecordedTrace, RuleVerdict, Traced, TracedEffect, TracedResult, Verdict,
};
