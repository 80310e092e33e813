//! The conditions guards are made of, by name.

/// What a guard asks for. Whether it holds is told by the state of the machine before the entry.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "gad.table/1 is closed")]
pub enum Condition {
    // Of the plan and its sessions.
    /// No terminal entry so far.
    NotTerminated,
    /// A terminal entry stands before.
    Terminated,
    /// No session is open.
    NoOpenSession,
    /// Its seq is 0.
    IsFirst,
    /// No freeze so far.
    IsOnlyFreeze,

    // Of a dispatch.
    /// No dispatch so far used its session_id.
    SessionFresh,
    /// `nodes` is a non-empty list of ids of the plan, none twice.
    NodesOfPlan,
    /// The set spelling, or a record of a version that had the scalar one.
    NotScalar,
    /// It carries workspace_baseline_digest.
    BaselineStated,

    // Of the session an entry names.
    /// A dispatch so far has its session_id.
    SessionKnown,
    /// The session has no exit yet.
    NoExitYet,
    /// The session has no result yet.
    NoResultYet,
    /// The session is not known to have failed.
    SessionNotFailed,
    /// `completed` comes with exit code 0.
    CompletedMeansZero,
    /// `node` is the only node of the session, or null where it has several.
    NodeNamesSession,
    /// delta_ref and delta_digest are there exactly when output was recorded.
    DeltaFitsStatus,
    /// touched_surface is a sorted set of its path forms.
    SurfaceSorted,
    /// The node is in N_s.
    NodeOfSession,
    /// The session has its result, and nothing but claims, probes and checkpoints stands since.
    OnlyTestimonySince,

    // Of the node an entry names, or of each node of a dispatch.
    /// It is not VERIFIED, APPROVED, TRIPPED, REFUSED or AWAIT_*.
    NotResolved,
    /// It is not FAILED.
    NotFailed,
    /// It is not OPEN or CAPTURED.
    NotInFlight,
    /// It is not REFUSED.
    NotRefused,
    /// No trip of it so far.
    NeverTripped,
    /// Every direct predecessor is good.
    PredecessorsGood,
    /// It is CAPTURED.
    IsCaptured,
    /// It has no verdict in this attempt.
    NoVerdictYet,
    /// It has an open flag.
    HasOpenFlag,
    /// It has no open flag.
    NoOpenFlag,
    /// It has an open flag, or is REFUSED.
    HasOpenFlagOrRefused,
    /// A removal was recorded since its latest flag.
    RemovalSinceFlag,
    /// The test is in T_n.
    TestOfNode,
    /// The test has no verdict in this attempt.
    NotJudgedYet,
    /// It is CAPTURED for the session named, and execution_result_seq is that session's result.
    InWindow,
    /// It is gated.
    IsGated,
    /// It is not CAPTURED with some of its tests judged.
    NotHalfJudged,
    /// It is AWAIT_GATE.
    AwaitsGate,
    /// It is AWAIT_APPROVAL.
    AwaitsApproval,
    /// It is REFUSED.
    IsRefused,
    /// change_ref names a remediation, scope_closed or verdict of it since the refusal.
    ChangeRecorded,
    /// It is FAILED; or CAPTURED without a verdict, and the reason is insufficient_bound_evidence.
    HasFailed,
    /// Fewer than B retries so far.
    RetriesLeft,
    /// B retries so far.
    RetriesSpent,
    /// input_ref is not empty and every entry in it shows this attempt's failure.
    InputShowsFailure,

    // Of the whole plan.
    /// Every node is good.
    AllGood,
    /// No node is AWAIT_APPROVAL.
    NobodyAwaited,
    /// READY is empty, or some node is FAILED, TRIPPED, REFUSED or CAPTURED without a verdict.
    NothingReady,
    /// `unresolved` is the set of nodes that are not good.
    UnresolvedNamed,
    /// Every member of the delta is there.
    DeltaStated,
    /// predecessor = h(P_frozen).
    PredecessorIsThis,
    /// successor is another plan.
    SuccessorIsOther,
    /// named_authority is the signer, and registered as succession authority.
    AuthoritySigned,
    /// obligation_map names every node that is not good once, and no other.
    ObligationsCovered,

    // Of what other rules read.
    /// Its paths are touched, and outside the fence.
    FlagIsMechanical,
    /// Its evidence is sound.
    EvidenceSound,
    /// Its findings are engine entries about this attempt.
    FindingsSound,
    /// A registered approver signed it for this request.
    ApproverSigned,
    /// The engine signed it.
    EngineSigned,
}

impl Condition {
    /// The condition in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotTerminated => "no terminal entry so far",
            Self::Terminated => "a terminal entry stands before",
            Self::NoOpenSession => "no session is open",
            Self::IsFirst => "seq 0",
            Self::IsOnlyFreeze => "no freeze so far",
            Self::SessionFresh => "session_id is fresh",
            Self::NodesOfPlan => "nodes: not empty, no repeats, all in N",
            Self::NotScalar => "the set spelling (scalar only in records of 0.6)",
            Self::BaselineStated => "workspace_baseline_digest is stated",
            Self::SessionKnown => "a dispatch has this session_id",
            Self::NoExitYet => "the session has no exit yet",
            Self::NoResultYet => "the session has no result yet",
            Self::SessionNotFailed => "the session completed",
            Self::CompletedMeansZero => "completed only with exit code 0",
            Self::NodeNamesSession => "node is the one node of N_s; null where it has several",
            Self::DeltaFitsStatus => "delta_ref and delta_digest: null exactly when not_recorded",
            Self::SurfaceSorted => "touched_surface is a sorted set in path form",
            Self::NodeOfSession => "n in N_s",
            Self::OnlyTestimonySince => {
                "the session has its result; only claims, probes and checkpoints since"
            }
            Self::NotResolved => "n not VERIFIED, APPROVED, TRIPPED, REFUSED or AWAIT_*",
            Self::NotFailed => "n not FAILED",
            Self::NotInFlight => "n not OPEN or CAPTURED",
            Self::NotRefused => "n not REFUSED",
            Self::NeverTripped => "n never tripped",
            Self::PredecessorsGood => "every direct predecessor of n good",
            Self::IsCaptured => "n CAPTURED",
            Self::NoVerdictYet => "no verdict of n in this attempt",
            Self::HasOpenFlag => "n has an open flag",
            Self::NoOpenFlag => "n has no open flag",
            Self::HasOpenFlagOrRefused => "removal: n has an open flag; revision: n REFUSED",
            Self::RemovalSinceFlag => "a removal since n's latest flag",
            Self::TestOfNode => "test in T_n",
            Self::NotJudgedYet => "no verdict of n and the test in this attempt",
            Self::InWindow => "n CAPTURED for this session; execution_result_seq is its result",
            Self::IsGated => "n gated",
            Self::NotHalfJudged => "n not CAPTURED with some verdicts and not all",
            Self::AwaitsGate => "n AWAIT_GATE",
            Self::AwaitsApproval => "n AWAIT_APPROVAL",
            Self::IsRefused => "n REFUSED",
            Self::ChangeRecorded => {
                "change_ref: a remediation, scope_closed or verdict of n since the refusal"
            }
            Self::HasFailed => {
                "n FAILED; or CAPTURED without a verdict and reason insufficient_bound_evidence"
            }
            Self::RetriesLeft => "retries(n) < B",
            Self::RetriesSpent => "retries(n) = B",
            Self::InputShowsFailure => {
                "input_ref: not empty, each shows the failure of this attempt"
            }
            Self::AllGood => "every node good",
            Self::NobodyAwaited => "no node AWAIT_APPROVAL",
            Self::NothingReady => {
                "READY empty, or some node FAILED, TRIPPED, REFUSED or CAPTURED without a verdict"
            }
            Self::UnresolvedNamed => "unresolved = {n not good}",
            Self::DeltaStated => "every member of the delta stated",
            Self::PredecessorIsThis => "predecessor = h(P)",
            Self::SuccessorIsOther => "successor differs from predecessor",
            Self::AuthoritySigned => "named_authority signed and is a succession authority",
            Self::ObligationsCovered => "obligation_map: each node not good once, no other",
            Self::FlagIsMechanical => "paths touched, outside the fence, of this session's result",
            Self::EvidenceSound => "evidence sound",
            Self::FindingsSound => "findings: engine entries about this attempt",
            Self::ApproverSigned => "a registered approver signed for this request",
            Self::EngineSigned => "signed by the engine",
        }
    }
}
