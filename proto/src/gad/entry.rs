//! One witness entry: a line of `witness.jsonl`, `{body: {seq, t, type, p}, h}`.
//!
//! What it is: the entry as a closed type, read to the end, its payload by the table of its type. What it
//! isn't: a rule; whether `h` is the chain hash, whether a signature verifies and what the entry may
//! follow are for the verifier to say. A type nobody knows is told apart from a line that can't be read,
//! since the chain goes on over it.

use crate::digest::Digest;
use crate::json::{JsonCode, Object, Value};

use super::form::{At, Defects, Reader, read_closed};
use super::limits::Limits;
use super::names::words;
use super::payload::{
    Checkpoint, Claim, Dispatch, ExecutionResult, ExecutorExit, Flag, GateAnswer, GateRequest,
    PlanSuperseded, Probe, Remediation, Retry, RevisedRequest, ScopeClosed, Trip, Verdict, read,
};
pub use super::signed::Signed;

words! {
    /// The type of an entry: the issuer table of section 2.
    EntryType {
        /// The plan is frozen.
        Freeze = "freeze",
        /// A session is commissioned.
        Dispatch = "dispatch",
        /// Its executor ended.
        ExecutorExit = "executor_exit",
        /// What the engine observed.
        ExecutionResult = "execution_result",
        /// Testimony.
        Claim = "claim",
        /// Work outside the fence.
        Flag = "flag",
        /// Something was changed.
        Remediation = "remediation",
        /// The scope was looked at again.
        ScopeClosed = "scope_closed",
        /// A test was judged.
        Verdict = "verdict",
        /// A planted defect.
        Probe = "probe",
        /// A human is asked.
        GateRequest = "gate_request",
        /// A human agrees.
        Approval = "approval",
        /// A human refuses.
        Refusal = "refusal",
        /// A human is asked again.
        RevisedApprovalRequest = "revised_approval_request",
        /// A failed node may be dispatched again.
        Retry = "retry",
        /// A failed node has no retry left.
        Trip = "trip",
        /// A range of the chain is signed.
        Checkpoint = "checkpoint",
        /// Everything is done.
        PlanCompleted = "plan_completed",
        /// The run stops.
        PlanHalted = "plan_halted",
        /// Another plan follows.
        PlanSuperseded = "plan_superseded",
        /// A defect is disclosed.
        NonconformanceNotice = "nonconformance_notice",
    }
}

/// One entry as it was read.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Entry<'v> {
    /// Its number as stated.
    pub seq: u64,
    /// Its wall-clock time, in seconds since 1970.
    pub time: i64,
    /// Its type.
    pub entry_type: EntryType,
    /// Its payload; `None` when the payload's form is refused (the defects say why).
    pub payload: Option<Payload<'v>>,
    /// Signer and signature of an individually signed type; `None` for every other type, and when the payload
    /// isn't `{body, signature}` (R1.ISSUER.UNSIGNED).
    pub signed: Option<Signed>,
    /// Its chain hash as stated.
    pub h: Digest,
}

/// The payload of an entry, by its type.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the issuer table lists exactly these")]
pub enum Payload<'v> {
    /// The plan is frozen.
    Freeze {
        /// The stated h(P). `None` when absent or malformed: R2.FREEZE.HASH.
        hash: Option<Digest>,
        /// H(dom(plan), canon(plan)) of the embedded plan. `None` when it is absent or no object:
        /// R2.FREEZE.EMBED.
        embedded: Option<Digest>,
        /// The embedded plan as it stands there, unread.
        plan: Option<&'v Object<'v>>,
    },
    /// A session is commissioned.
    Dispatch(Dispatch<'v>),
    /// Its executor ended.
    ExecutorExit(ExecutorExit<'v>),
    /// What the engine observed.
    ExecutionResult(ExecutionResult<'v>),
    /// Testimony.
    Claim(Claim<'v>),
    /// Work outside the fence.
    Flag(Flag<'v>),
    /// Something was changed.
    Remediation(Remediation<'v>),
    /// The scope was looked at again.
    ScopeClosed(ScopeClosed<'v>),
    /// A test was judged.
    Verdict(Verdict<'v>),
    /// A planted defect.
    Probe(Probe<'v>),
    /// A human is asked.
    GateRequest(GateRequest<'v>),
    /// A human agrees.
    Approval(GateAnswer<'v>),
    /// A human refuses.
    Refusal(GateAnswer<'v>),
    /// A human is asked again.
    RevisedApprovalRequest(RevisedRequest<'v>),
    /// A failed node may be dispatched again.
    Retry(Retry<'v>),
    /// A failed node has no retry left.
    Trip(Trip<'v>),
    /// A range of the chain is signed.
    Checkpoint(Checkpoint),
    /// Everything is done.
    PlanCompleted,
    /// The run stops; these are unresolved, ascending.
    PlanHalted(Vec<&'v str>),
    /// Another plan follows.
    PlanSuperseded(PlanSuperseded<'v>),
    /// Defects are disclosed.
    NonconformanceNotice(Vec<&'v str>),
}

/// What a line turned out to be.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the format's three cases")]
#[allow(clippy::large_enum_variant, reason = "nearly every line is the large one")]
pub enum EntryReading<'v> {
    /// An entry of a known type. Its payload is absent when the payload's form is refused.
    Entry(Entry<'v>),
    /// An entry of a type that the issuer table doesn't list; its payload was not read
    /// (R1.ISSUER.UNKNOWN_TYPE).
    UnknownType(UnknownEntry<'v>),
    /// No entry: one of `seq`, `t`, `type` or `h` can't be told. The defects say why.
    Unreadable,
}

impl<'v> EntryReading<'v> {
    /// The entry, where its type is known.
    #[must_use]
    pub const fn entry(&self) -> Option<&Entry<'v>> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::UnknownType(_) | Self::Unreadable => None,
        }
    }

    /// Stated number and chain hash, wherever there is an entry of any type.
    #[must_use]
    pub const fn link(&self) -> Option<(u64, Digest)> {
        match self {
            Self::Entry(entry) => Some((entry.seq, entry.h)),
            Self::UnknownType(entry) => Some((entry.seq, entry.h)),
            Self::Unreadable => None,
        }
    }
}

/// An entry of a type that the issuer table doesn't list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "what every entry has")]
pub struct UnknownEntry<'v> {
    /// Its number as stated.
    pub seq: u64,
    /// Its wall-clock time, in seconds since 1970.
    pub time: i64,
    /// Its type as stated.
    pub type_name: &'v str,
    /// Its chain hash as stated.
    pub h: Digest,
}

/// The members of an entry's body, `p` unread.
struct Body<'v> {
    seq: u64,
    time: i64,
    type_name: &'v str,
    payload: Option<&'v Value<'v>>,
}

impl<'v> Entry<'v> {
    /// Reads one line. All defects are noted, with pointers into the line.
    ///
    /// Arrays of findings, paths and references hold at most `limits.elements` elements
    /// ([`JsonCode::LimitCount`]).
    pub fn read(value: &'v Value<'v>, limits: &Limits, defects: &mut Defects) -> EntryReading<'v> {
        Self::read_stored(value, None, limits, defects)
    }

    /// Reads one line whose signed body, if it has one, is known to have the canonical bytes `message`.
    pub(super) fn read_stored(
        value: &'v Value<'v>,
        message: Option<&[u8]>,
        limits: &Limits,
        defects: &mut Defects,
    ) -> EntryReading<'v> {
        let at = At::root("");
        let Some(line) = value.as_object() else {
            defects.push(JsonCode::Type, &at);
            return EntryReading::Unreadable;
        };
        let read = read_closed(line, &at, defects, |line| {
            let body = line.required("body", |cell| cell.object(body));
            let h = line.digest("h");
            Some((body?, h?))
        });
        let Some((Body { seq, time, type_name, payload: value }, h)) = read else {
            return EntryReading::Unreadable;
        };
        let Some(entry_type) = EntryType::from_name(type_name) else {
            return EntryReading::UnknownType(UnknownEntry { seq, time, type_name, h });
        };
        let most = usize::try_from(limits.elements).unwrap_or(usize::MAX);
        let (payload, signed) = match value {
            Some(value) => {
                let at = at.member("body");
                read::payload(entry_type, value, message, most, &at.member("p"), defects)
            }
            None => (None, None),
        };
        EntryReading::Entry(Entry { seq, time, entry_type, payload, signed, h })
    }
}

fn body<'v>(body: &mut Reader<'v, '_>) -> Option<Body<'v>> {
    let payload = body.required("p", |cell| Some(cell.value()));
    let seq = body.seq("seq");
    let time = body.time("t");
    let type_name = body.required("type", |cell| cell.string());
    Some(Body { seq: seq?, time: time?, type_name: type_name?, payload })
}
