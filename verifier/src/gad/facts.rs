//! What the witness says, as the steps after it need it: times, heads, the first dispatch.

use anchorlog_proto::Digest;

/// The facts of one core, whether or not it is valid.
#[derive(Clone, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "filled in by the evaluation and by tests")]
pub struct RecordFacts {
    /// The recomputed root_core; `None` when the manifest can't be read.
    pub root_core: Option<Digest>,
    /// h(P); `None` when the plan can't be read.
    pub plan_hash: Option<Digest>,
    /// h_i as stated, by position.
    pub heads: Vec<Digest>,
    /// The latest t of the entries up to each position, in seconds since 1970.
    pub latest: Vec<i64>,
    /// t of the terminal entry; of the last entry where there is none.
    pub end_time: Option<i64>,
    /// The first dispatch.
    pub first_dispatch: Option<FirstDispatch>,
    /// Whether claims.json holds a gad/precedence_bounded claim.
    pub claims_bounded: bool,
    /// max_future_skew_s of the plan's clock policy; 0 where none is declared.
    pub max_future_skew_s: u32,
}

/// The first dispatch of a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "filled in by the evaluation and by tests")]
pub struct FirstDispatch {
    /// seq of the entry.
    pub seq: u64,
    /// Its t, in seconds since 1970.
    pub time: i64,
    /// Its precommit_digest.
    pub precommit: Option<Digest>,
}

impl RecordFacts {
    /// Whether the record claims that its plan predates its work to outsiders: bounded precedence.
    #[must_use]
    pub fn bounded_precedence_claimed(&self) -> bool {
        self.claims_bounded || self.first_dispatch.is_some_and(|first| first.precommit.is_some())
    }
}
