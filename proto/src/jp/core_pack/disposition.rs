//! The portable disposition (Core section 8.3): the one result of an evaluation.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::id::CoreId;
use crate::json::{Object, Value, canonical};

/// Why an evaluation has no outcome. The derived order is the code-point order of the words, in which a
/// disposition lists them.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "Core section 8.3 admits no other value")]
pub enum Reason {
    /// Outcomes contradict each other.
    Conflict,
    /// A true exception with effect `escalate`.
    ExceptionEscalation,
    /// Required evidence is absent.
    MissingRequiredEvidence,
    /// No rule is true and there is no fallback.
    NoMatch,
    /// The pack does not apply.
    NotApplicable,
    /// Something that matters is not known.
    Unknown,
}

impl Reason {
    /// Every reason, in order.
    pub const ALL: [Self; 6] = [
        Self::Conflict,
        Self::ExceptionEscalation,
        Self::MissingRequiredEvidence,
        Self::NoMatch,
        Self::NotApplicable,
        Self::Unknown,
    ];

    /// The word of Core.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::ExceptionEscalation => "exception-escalation",
            Self::MissingRequiredEvidence => "missing-required-evidence",
            Self::NoMatch => "no-match",
            Self::NotApplicable => "not-applicable",
            Self::Unknown => "unknown",
        }
    }

    /// Whether a pack's `escalation.triggers` may name it.
    #[must_use]
    pub const fn is_trigger(self) -> bool {
        !matches!(self, Self::ExceptionEscalation)
    }
}

impl FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text).ok_or(UnknownReason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// None of the six reasons.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a reason of Core")]
pub struct UnknownReason;

/// The result of one evaluation. What Core forbids can't be built: an outcome has no reasons and requests
/// no handoff, `not-applicable` has that one reason, and what triggers a handoff is among the reasons.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Disposition {
    result: Result_,
    /// Empty when no handoff is requested.
    triggered_by: BTreeSet<Reason>,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Result_ {
    Outcome(CoreId),
    NotApplicable,
    Unresolved(BTreeSet<Reason>),
}

/// The kind of a disposition.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "Core section 8 produces one of three kinds")]
pub enum DispositionKind {
    /// Exactly one declared outcome.
    Outcome,
    /// The pack does not apply.
    NotApplicable,
    /// No outcome, for the reasons given.
    Unresolved,
}

impl DispositionKind {
    /// The word of Core.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Outcome => "outcome",
            Self::NotApplicable => "not-applicable",
            Self::Unresolved => "unresolved",
        }
    }
}

impl fmt::Display for DispositionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why members don't make a disposition.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DispositionError {
    /// An unresolved result without a reason.
    #[error("an unresolved result has a reason")]
    NoReason,
    /// `not-applicable` is a kind of its own.
    #[error("an unresolved result is not not-applicable")]
    NotApplicable,
    /// A handoff is triggered by something that is not among the reasons.
    #[error("what triggers a handoff is one of the reasons")]
    Trigger,
}

impl Disposition {
    /// The outcome with this id.
    #[must_use]
    pub const fn outcome(id: CoreId) -> Self {
        Self { result: Result_::Outcome(id), triggered_by: BTreeSet::new() }
    }

    /// `not-applicable`; whether that requests a handoff.
    #[must_use]
    pub fn not_applicable(handoff: bool) -> Self {
        let triggered_by = handoff.then_some(Reason::NotApplicable).into_iter().collect();
        Self { result: Result_::NotApplicable, triggered_by }
    }

    /// `unresolved` for these reasons, some of which may request a handoff.
    pub fn unresolved(
        reasons: BTreeSet<Reason>,
        triggered_by: BTreeSet<Reason>,
    ) -> Result<Self, DispositionError> {
        if reasons.is_empty() {
            Err(DispositionError::NoReason)
        } else if reasons.contains(&Reason::NotApplicable) {
            Err(DispositionError::NotApplicable)
        } else if !triggered_by.is_subset(&reasons) {
            Err(DispositionError::Trigger)
        } else {
            Ok(Self { result: Result_::Unresolved(reasons), triggered_by })
        }
    }

    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> DispositionKind {
        match self.result {
            Result_::Outcome(_) => DispositionKind::Outcome,
            Result_::NotApplicable => DispositionKind::NotApplicable,
            Result_::Unresolved(_) => DispositionKind::Unresolved,
        }
    }

    /// The outcome, where there is one.
    #[must_use]
    pub const fn outcome_id(&self) -> Option<&CoreId> {
        match &self.result {
            Result_::Outcome(id) => Some(id),
            Result_::NotApplicable | Result_::Unresolved(_) => None,
        }
    }

    /// The retained reasons, ascending; none for an outcome.
    #[must_use]
    pub fn reasons(&self) -> Vec<Reason> {
        match &self.result {
            Result_::Outcome(_) => Vec::new(),
            Result_::NotApplicable => vec![Reason::NotApplicable],
            Result_::Unresolved(reasons) => reasons.iter().copied().collect(),
        }
    }

    /// The reasons that request a handoff, ascending; empty where none is requested.
    #[must_use]
    pub fn triggered_by(&self) -> impl ExactSizeIterator<Item = Reason> {
        self.triggered_by.iter().copied()
    }

    /// The JSON form.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        let words = |reasons: &mut dyn Iterator<Item = Reason>| -> Value<'static> {
            reasons.map(|reason| Value::from(reason.as_str())).collect::<Vec<_>>().into()
        };
        let mut handoff = Object::new();
        let requested = !self.triggered_by.is_empty();
        handoff.insert("state", Value::from(if requested { "requested" } else { "none" }));
        if requested {
            handoff.insert("triggeredBy", words(&mut self.triggered_by()));
        }
        let mut object = Object::new();
        object.insert("kind", Value::from(self.kind().as_str()));
        if let Some(id) = self.outcome_id() {
            object.insert("outcomeId", Value::from(id.as_str().to_owned()));
        }
        object.insert("reasons", words(&mut self.reasons().into_iter()));
        object.insert("handoff", Value::from(handoff));
        object.into()
    }

    /// The bytes by which Core compares dispositions: RFC 8785, where no number ever engages its rules.
    #[must_use]
    pub fn to_canonical(&self) -> Vec<u8> {
        canonical(&self.to_value())
    }
}

impl fmt::Display for Disposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.result {
            Result_::Outcome(id) => write!(f, "outcome {id}")?,
            Result_::NotApplicable => f.write_str("not-applicable")?,
            Result_::Unresolved(reasons) => {
                f.write_str("unresolved")?;
                for reason in reasons {
                    write!(f, " {reason}")?;
                }
            }
        }
        for (position, reason) in self.triggered_by.iter().enumerate() {
            write!(f, "{} {reason}", if position == 0 { ", handoff requested by" } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn text(disposition: &Disposition) -> String {
        String::from_utf8(disposition.to_canonical()).unwrap()
    }

    #[test]
    fn the_bytes_are_those_of_cores_illustrations() {
        assert_eq!(
            text(&Disposition::outcome("proceed".parse().unwrap())),
            r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"proceed","reasons":[]}"#
        );
        let missing = BTreeSet::from([Reason::MissingRequiredEvidence]);
        assert_eq!(
            text(&Disposition::unresolved(missing.clone(), missing).unwrap()),
            r#"{"handoff":{"state":"requested","triggeredBy":["missing-required-evidence"]},"kind":"unresolved","reasons":["missing-required-evidence"]}"#
        );
        assert_eq!(
            text(&Disposition::not_applicable(false)),
            r#"{"handoff":{"state":"none"},"kind":"not-applicable","reasons":["not-applicable"]}"#
        );
    }

    #[test]
    fn what_core_forbids_cannot_be_built() {
        let set = |reasons: &[Reason]| reasons.iter().copied().collect::<BTreeSet<_>>();
        let make =
            |reasons: &[Reason], by: &[Reason]| Disposition::unresolved(set(reasons), set(by));
        assert_eq!(make(&[], &[]), Err(DispositionError::NoReason));
        assert_eq!(make(&[Reason::NotApplicable], &[]), Err(DispositionError::NotApplicable));
        assert_eq!(make(&[Reason::Conflict], &[Reason::Unknown]), Err(DispositionError::Trigger));
        assert!(make(&[Reason::Conflict, Reason::Unknown], &[Reason::Conflict]).is_ok());
    }

    #[test]
    fn the_order_of_reasons_is_that_of_their_words() {
        assert!(Reason::ALL.is_sorted_by_key(|reason| reason.as_str()) && Reason::ALL.is_sorted());
        for reason in Reason::ALL {
            assert_eq!(reason.as_str().parse(), Ok(reason));
        }
        assert!("none".parse::<Reason>().is_err());
    }
}
