//! gad.table/1: for every entry type its guards, each with its code, and its effects.
//!
//! The rows stand in the order of the companion definitions, section 3, and say the same. A guard that
//! another rule judges is here with that rule's code, so that the table is whole; the machine passes over
//! it. `docs/transition-table.md` is this table, printed.

use anchorlog_proto::gad::entry::EntryType;

use super::{Condition, Effect};
use crate::codes::Code;
use crate::codes::gad::r3::{
    CLAIM_ABNORMAL, CLAIM_NODE, CLAIM_POSITION, COMPLETED_UNSATISFIED, DISPATCH_BASELINE,
    DISPATCH_DEPS, DISPATCH_NO_RETRY, DISPATCH_NODES, DISPATCH_NOT_READY, DISPATCH_OPEN_SESSION,
    DISPATCH_RESOLVED, DISPATCH_SCALAR, DISPATCH_SESSION_REUSED, EXIT_COMPLETED_NONZERO, EXIT_DUP,
    EXIT_MISSING, EXIT_NODE_NULLITY, EXIT_ORPHAN, GATE_NO_REQUEST, GATE_NORMAL_NODE,
    GATE_PREMATURE, HALT_PENDING_HUMAN, HALT_READY, HALT_UNRESOLVED, NOTICE_POSITION,
    PHASE_AFTER_TERMINAL, PHASE_MULTI_TERMINAL, PROBE_POSITION, REFUSED_REENTRY,
    RESULT_BEFORE_EXIT, RESULT_DELTA_FORM, RESULT_DUP, RESULT_MISSING, RESULT_NODE_NULLITY,
    RESULT_ORPHAN, RESULT_SURFACE_FORM, RETRY_NO_DIAGNOSIS, RETRY_NOT_FAILED, REVISED_NO_CHANGE,
    REVISED_NO_REFUSAL, SUPERSEDE_AUTHORITY, SUPERSEDE_DELTA, SUPERSEDE_OBLIGATIONS,
    SUPERSEDE_PREDECESSOR, SUPERSEDE_SUCCESSOR, TERMINAL_OPEN_SESSION, TRIP_EARLY, TRIP_NOT_FAILED,
    VERDICT_DUP, VERDICT_FAILED_SESSION, VERDICT_INCOMPLETE, VERDICT_NOT_COMMISSIONED,
    VERDICT_OPEN_FLAG, VERDICT_OPEN_SESSION, VERDICT_UNKNOWN_TEST, VERDICT_WINDOW,
};
use crate::codes::gad::r8::{BOUND, TRIP_EXIT};

/// The transitions of one entry type.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The entry type.
    pub entry: EntryType,
    /// Its guards, in the order they are examined.
    pub guards: &'static [Guard],
    /// What is raised when the plan doesn't have the node it names: such a node is in no state, so the
    /// guard of the node's state fails.
    pub unknown_node: Option<Raises>,
    /// What follows from it.
    pub effects: &'static [Effect],
}

/// One guard.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Guard {
    /// What is asked for.
    pub condition: Condition,
    /// Whether once, or of each node named.
    pub over: Over,
    /// What is found when it doesn't hold.
    pub raises: Raises,
    /// The member that is wrong then: a pointer into the payload.
    pub at: &'static str,
    /// How it goes on then.
    pub otherwise: Otherwise,
    /// Not raised beside one of these.
    pub unless: &'static [Code],
}

/// What a guard is asked of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "gad.table/1 is closed")]
pub enum Over {
    /// The entry.
    Entry,
    /// Each node it names.
    Node,
}

/// Who raises what.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "gad.table/1 is closed")]
pub enum Raises {
    /// The machine, this code.
    Here(Code),
    /// Another rule, the code with this text.
    Elsewhere(&'static str),
}

impl Raises {
    /// The text of the code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Here(code) => code.as_str(),
            Self::Elsewhere(code) => code,
        }
    }
}

/// How it goes on after a guard that doesn't hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "gad.table/1 is closed")]
pub enum Otherwise {
    /// The effects are applied all the same.
    Apply,
    /// No effect is applied.
    Ignore,
    /// No effect is applied, and no further guard is examined.
    Stop,
}

/// What has to hold after the last entry, of every session.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Closing {
    /// In words.
    pub words: &'static str,
    /// What is found at its dispatch when it doesn't.
    pub code: Code,
}

const fn once(condition: Condition, code: Code) -> Guard {
    Guard {
        condition,
        over: Over::Entry,
        raises: Raises::Here(code),
        at: "",
        otherwise: Otherwise::Apply,
        unless: &[],
    }
}

const fn each(condition: Condition, code: Code) -> Guard {
    Guard { over: Over::Node, ..once(condition, code) }.at("/node")
}

/// A guard that another rule judges.
const fn elsewhere(condition: Condition, code: &'static str) -> Guard {
    Guard {
        condition,
        over: Over::Node,
        raises: Raises::Elsewhere(code),
        at: "",
        otherwise: Otherwise::Apply,
        unless: &[],
    }
}

impl Guard {
    const fn at(mut self, at: &'static str) -> Self {
        self.at = at;
        self
    }

    const fn ignore(mut self) -> Self {
        self.otherwise = Otherwise::Ignore;
        self
    }

    const fn stop(mut self) -> Self {
        self.otherwise = Otherwise::Stop;
        self
    }

    const fn unless(mut self, unless: &'static [Code]) -> Self {
        self.unless = unless;
        self
    }
}

/// After a terminal: only checkpoint and nonconformance_notice. Anything else is ignored.
const BEFORE_TERMINAL: Guard = once(Condition::NotTerminated, PHASE_AFTER_TERMINAL).stop();
/// One terminal entry.
const ONE_TERMINAL: Guard = once(Condition::NotTerminated, PHASE_MULTI_TERMINAL);
/// Terminals stand between sessions.
const BETWEEN: Guard = once(Condition::NoOpenSession, TERMINAL_OPEN_SESSION);

const fn row(
    entry: EntryType,
    guards: &'static [Guard],
    unknown_node: Option<Raises>,
    effects: &'static [Effect],
) -> Row {
    Row { entry, guards, unknown_node, effects }
}

/// gad.table/1.
pub const TABLE: &[Row] = {
    use Condition as C;
    use Effect as E;
    use Raises::{Elsewhere, Here};
    &[
        row(
            EntryType::Freeze,
            &[
                BEFORE_TERMINAL,
                elsewhere(C::IsFirst, "R2.FREEZE.NOT_FIRST"),
                elsewhere(C::IsOnlyFreeze, "R2.FREEZE.DUP"),
            ],
            None,
            &[E::Freeze],
        ),
        row(
            EntryType::Dispatch,
            &[
                BEFORE_TERMINAL,
                once(C::NoOpenSession, DISPATCH_OPEN_SESSION),
                once(C::SessionFresh, DISPATCH_SESSION_REUSED).at("/session_id"),
                once(C::NodesOfPlan, DISPATCH_NODES).at("/nodes"),
                once(C::NotScalar, DISPATCH_SCALAR).at("/node"),
                once(C::BaselineStated, DISPATCH_BASELINE).at("/workspace_baseline_digest"),
                each(C::NotResolved, DISPATCH_RESOLVED).at("/nodes"),
                each(C::NotRefused, REFUSED_REENTRY).at("/nodes"),
                each(C::NeverTripped, TRIP_EXIT).at("/nodes"),
                each(C::NotFailed, DISPATCH_NO_RETRY).at("/nodes"),
                each(C::NotInFlight, DISPATCH_NOT_READY).at("/nodes"),
                each(C::PredecessorsGood, DISPATCH_DEPS).at("/nodes"),
            ],
            None,
            &[E::OpenSession],
        ),
        row(
            EntryType::ExecutorExit,
            &[
                BEFORE_TERMINAL,
                once(C::SessionKnown, EXIT_ORPHAN).at("/session_id").stop(),
                once(C::NoExitYet, EXIT_DUP).at("/session_id").stop(),
                once(C::NoResultYet, RESULT_BEFORE_EXIT),
                once(C::CompletedMeansZero, EXIT_COMPLETED_NONZERO).at("/exit_code"),
                once(C::NodeNamesSession, EXIT_NODE_NULLITY).at("/node"),
            ],
            None,
            &[E::RecordExit],
        ),
        row(
            EntryType::ExecutionResult,
            &[
                BEFORE_TERMINAL,
                once(C::SessionKnown, RESULT_ORPHAN).at("/session_id").stop(),
                once(C::NoResultYet, RESULT_DUP).at("/session_id").stop(),
                once(C::NodeNamesSession, RESULT_NODE_NULLITY).at("/node"),
                once(C::DeltaFitsStatus, RESULT_DELTA_FORM).at("/delta_ref"),
                once(C::SurfaceSorted, RESULT_SURFACE_FORM).at("/touched_surface"),
            ],
            None,
            &[E::CloseSession],
        ),
        row(
            EntryType::Claim,
            &[
                BEFORE_TERMINAL,
                once(C::OnlyTestimonySince, CLAIM_POSITION).at("/session_id"),
                once(C::SessionNotFailed, CLAIM_ABNORMAL).at("/session_id"),
                each(C::NodeOfSession, CLAIM_NODE),
            ],
            Some(Here(CLAIM_NODE)),
            &[E::Testify],
        ),
        row(
            EntryType::Probe,
            &[
                once(C::NotTerminated, PROBE_POSITION),
                BEFORE_TERMINAL,
                once(C::NoOpenSession, PROBE_POSITION),
            ],
            None,
            &[E::NoteProbe],
        ),
        row(
            EntryType::Flag,
            &[
                BEFORE_TERMINAL,
                elsewhere(C::IsCaptured, "R6.FLAG.REF"),
                elsewhere(C::NoVerdictYet, "R6.FLAG.REF"),
                elsewhere(C::FlagIsMechanical, "R6.FLAG.NOT_TOUCHED"),
            ],
            Some(Elsewhere("R6.FLAG.REF")),
            &[E::OpenFlag],
        ),
        row(
            EntryType::Remediation,
            &[BEFORE_TERMINAL, elsewhere(C::HasOpenFlagOrRefused, "R6.REMEDIATION.NO_FLAG")],
            Some(Elsewhere("R6.REMEDIATION.NO_FLAG")),
            &[E::RecordRemoval, E::RecordChange],
        ),
        row(
            EntryType::ScopeClosed,
            &[
                BEFORE_TERMINAL,
                elsewhere(C::HasOpenFlag, "R6.CLOSE.NO_FLAG"),
                elsewhere(C::RemovalSinceFlag, "R6.CLOSE.NO_REMEDIATION"),
                elsewhere(C::EngineSigned, "R6.CLOSE.SIG"),
            ],
            Some(Elsewhere("R6.CLOSE.NO_FLAG")),
            &[E::CloseFlags, E::RecordChange],
        ),
        row(
            EntryType::Verdict,
            &[
                BEFORE_TERMINAL,
                each(C::TestOfNode, VERDICT_UNKNOWN_TEST).at("/test_id"),
                once(C::NoOpenSession, VERDICT_OPEN_SESSION),
                each(C::NodeOfSession, VERDICT_NOT_COMMISSIONED),
                once(C::SessionNotFailed, VERDICT_FAILED_SESSION).at("/session_id"),
                each(C::NotJudgedYet, VERDICT_DUP).at("/test_id").ignore(),
                each(C::InWindow, VERDICT_WINDOW).unless(&[
                    VERDICT_DUP,
                    VERDICT_NOT_COMMISSIONED,
                    VERDICT_FAILED_SESSION,
                ]),
                each(C::NoOpenFlag, VERDICT_OPEN_FLAG),
                each(C::NeverTripped, TRIP_EXIT),
                elsewhere(C::EvidenceSound, "R4.RESULT"),
            ],
            Some(Here(VERDICT_NOT_COMMISSIONED)),
            &[E::RecordChange, E::Judge],
        ),
        row(
            EntryType::GateRequest,
            &[
                BEFORE_TERMINAL,
                each(C::IsGated, GATE_NORMAL_NODE),
                each(C::NotRefused, REFUSED_REENTRY),
                each(C::NotHalfJudged, VERDICT_INCOMPLETE),
                each(C::AwaitsGate, GATE_PREMATURE).unless(&[REFUSED_REENTRY, GATE_NORMAL_NODE]),
                each(C::NeverTripped, TRIP_EXIT),
                elsewhere(C::FindingsSound, "R7.FINDINGS_EMPTY"),
            ],
            Some(Here(GATE_PREMATURE)),
            &[E::AskHuman],
        ),
        row(
            EntryType::Approval,
            &[
                BEFORE_TERMINAL,
                each(C::AwaitsApproval, GATE_NO_REQUEST),
                each(C::NeverTripped, TRIP_EXIT),
                elsewhere(C::ApproverSigned, "R7.SIG"),
                elsewhere(C::FindingsSound, "R7.FINDINGS_REF"),
            ],
            Some(Here(GATE_NO_REQUEST)),
            &[E::Approve],
        ),
        row(
            EntryType::Refusal,
            &[
                BEFORE_TERMINAL,
                each(C::AwaitsApproval, GATE_NO_REQUEST),
                elsewhere(C::ApproverSigned, "R7.SIG"),
                elsewhere(C::FindingsSound, "R7.FINDINGS_REF"),
            ],
            Some(Here(GATE_NO_REQUEST)),
            &[E::Refuse],
        ),
        row(
            EntryType::RevisedApprovalRequest,
            &[
                BEFORE_TERMINAL,
                each(C::IsRefused, REVISED_NO_REFUSAL),
                each(C::ChangeRecorded, REVISED_NO_CHANGE).at("/change_ref"),
                elsewhere(C::FindingsSound, "R7.FINDINGS_REF"),
            ],
            Some(Here(REVISED_NO_REFUSAL)),
            &[E::AskHuman],
        ),
        row(
            EntryType::Retry,
            &[
                BEFORE_TERMINAL,
                each(C::NotHalfJudged, VERDICT_INCOMPLETE),
                each(C::HasFailed, RETRY_NOT_FAILED),
                each(C::NotRefused, REFUSED_REENTRY),
                each(C::NeverTripped, TRIP_EXIT),
                each(C::RetriesLeft, BOUND),
                each(C::InputShowsFailure, RETRY_NO_DIAGNOSIS).at("/input_ref"),
            ],
            Some(Here(RETRY_NOT_FAILED)),
            &[E::Grant],
        ),
        row(
            EntryType::Trip,
            &[
                BEFORE_TERMINAL,
                each(C::NotHalfJudged, VERDICT_INCOMPLETE),
                each(C::HasFailed, TRIP_NOT_FAILED),
                each(C::RetriesSpent, TRIP_EARLY),
            ],
            Some(Here(TRIP_NOT_FAILED)),
            &[E::Trip],
        ),
        row(EntryType::Checkpoint, &[], None, &[E::Cover]),
        row(
            EntryType::PlanCompleted,
            &[ONE_TERMINAL, BEFORE_TERMINAL, BETWEEN, once(C::AllGood, COMPLETED_UNSATISFIED)],
            None,
            &[E::Terminate],
        ),
        row(
            EntryType::PlanHalted,
            &[
                ONE_TERMINAL,
                BEFORE_TERMINAL,
                BETWEEN,
                once(C::NothingReady, HALT_READY),
                once(C::NobodyAwaited, HALT_PENDING_HUMAN),
                once(C::UnresolvedNamed, HALT_UNRESOLVED).at("/unresolved"),
            ],
            None,
            &[E::Terminate],
        ),
        row(
            EntryType::PlanSuperseded,
            &[
                ONE_TERMINAL,
                BEFORE_TERMINAL,
                BETWEEN,
                once(C::DeltaStated, SUPERSEDE_DELTA),
                once(C::PredecessorIsThis, SUPERSEDE_PREDECESSOR).at("/predecessor"),
                once(C::SuccessorIsOther, SUPERSEDE_SUCCESSOR).at("/successor"),
                once(C::AuthoritySigned, SUPERSEDE_AUTHORITY).at("/named_authority"),
                once(C::ObligationsCovered, SUPERSEDE_OBLIGATIONS).at("/obligation_map"),
            ],
            None,
            &[E::Terminate],
        ),
        row(
            EntryType::NonconformanceNotice,
            &[once(C::Terminated, NOTICE_POSITION)],
            None,
            &[E::Disclose],
        ),
    ]
};

/// What has to hold of every session after the last entry; the open session of a snapshot is exempt.
pub const CLOSING: &[Closing] = &[
    Closing { words: "it has its executor_exit", code: EXIT_MISSING },
    Closing { words: "it has its execution_result", code: RESULT_MISSING },
];

/// The row of an entry type.
#[must_use]
pub fn row_of(entry: EntryType) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.entry == entry)
}
