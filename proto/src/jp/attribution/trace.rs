//! The trace that the Runtime prints beside a disposition, and which a run export keeps in `run.result`.
//!
//! What it is: informative. The Runtime's trace contract has it deterministic and complete for the way the
//! evaluation went, so contributors can be read off it. What it isn't: evidence. No signature, no audit record and
//! no digest of an output's lineage covers it, and what it says is what somebody wrote.
//!
//! The result is another product's format (output version 2): its members are read by name. Entries have the
//! shapes of the contract; members beside those, which a minor version may add, are passed over.

mod credit;
mod read;

pub use credit::Contradiction;

use crate::jp::core_pack::{CoreId, Disposition, Effect, OnUnknown};

/// A trace and the disposition it stands beside.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TracedResult {
    /// The recorded disposition.
    pub disposition: Disposition,
    /// The recorded trace.
    pub trace: RecordedTrace,
}

/// The conditions of one evaluation, in the order of the pack.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct RecordedTrace {
    /// The applicability; `None` where the pack states none.
    pub applicability: Option<Verdict<()>>,
    /// The exceptions; empty where the evaluation ended before them.
    pub exceptions: Vec<Traced<Verdict<TracedEffect>>>,
    /// The rules; empty where the evaluation ended before them.
    pub rules: Vec<Traced<RuleVerdict>>,
}

/// What the trace says of the exception or rule with an id.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a name and what is said of it")]
pub struct Traced<T> {
    /// The id.
    pub id: CoreId,
    /// What is said of it.
    pub verdict: T,
}

/// What a condition was.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "Core's logic has three values")]
pub enum Verdict<T> {
    /// True, and what follows.
    True(T),
    /// False.
    False,
    /// Unknown, and what the pack does about that; `None` for the applicability.
    Unknown(Option<OnUnknown>),
}

/// What a rule was.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the trace contract has these three shapes of a rule")]
pub enum RuleVerdict {
    /// It was evaluated; where it is true, for this outcome.
    Evaluated(Verdict<CoreId>),
    /// A forced outcome ended the evaluation before it.
    Skipped,
    /// A true exception suppressed it.
    Suppressed,
}

/// What a true exception does, as far as the trace says.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the schema of this version of Core has these")]
pub enum TracedEffect {
    /// This is the outcome.
    ForceOutcome(CoreId),
    /// Some rule is suppressed.
    SuppressRule,
    /// A handoff is requested.
    Escalate,
}

impl TracedEffect {
    /// What the trace says of this effect.
    #[must_use]
    pub fn of(effect: &Effect) -> Self {
        match effect {
            Effect::ForceOutcome(outcome) => Self::ForceOutcome(outcome.clone()),
            Effect::SuppressRule(_) => Self::SuppressRule,
            Effect::Escalate => Self::Escalate,
        }
    }
}

impl RecordedTrace {
    /// The pointer of an exception's entry, below that of the trace.
    #[must_use]
    pub fn exception_at(&self, position: usize) -> String {
        format!("/{}", usize::from(self.applicability.is_some()) + position)
    }

    /// The pointer of a rule's entry, below that of the trace.
    #[must_use]
    pub fn rule_at(&self, position: usize) -> String {
        self.exception_at(self.exceptions.len() + position)
    }
}
