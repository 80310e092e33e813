//! Who contributed, read off a trace.

use core::fmt;

use super::{RecordedTrace, RuleVerdict, TracedEffect, Verdict};
use crate::jp::attribution::{ContributorKind, Contributors, ContributorsError, Credit};
use crate::jp::core_pack::{CoreId, Disposition, DispositionKind, OnUnknown};

/// A trace that can't have led to the disposition it stands beside.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{what}")]
pub struct Contradiction {
    /// The pointer of the entry that contradicts, below that of the trace; empty for the trace as a whole.
    pub at: String,
    what: What,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum What {
    NotReached,
    Applies,
    DoesNotApply,
    OtherOutcome(CoreId),
    Blocks,
    Forces,
    NobodyForces,
    SkippedUnresolved,
    Collection(ContributorsError),
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotReached => "the trace ends before the rules, and there is an outcome",
            Self::Applies => "the pack applies by the trace, and the result is not-applicable",
            Self::DoesNotApply => "the pack doesn't apply by the trace, and the result is another",
            Self::OtherOutcome(outcome) => {
                return write!(f, "a true entry leads to {outcome}, which is not the outcome");
            }
            Self::Blocks => "this entry keeps an outcome from coming about, and there is one",
            Self::Forces => "this exception forces an outcome, and rules were evaluated",
            Self::NobodyForces => "the rules were skipped, and no exception forces the outcome",
            Self::SkippedUnresolved => "the rules were skipped, and the result is no outcome",
            Self::Collection(error) => return error.fmt(f),
        })
    }
}

impl RecordedTrace {
    /// Whom this trace credits with a disposition.
    ///
    /// After skipped rules every true exception that forces the outcome; after evaluated ones every true rule that
    /// names it; where there is an outcome and neither, the fallback.
    ///
    /// # Errors
    ///
    /// The trace can't have led there. Not every such trace is found: missing evidence has no entry.
    pub fn credit(&self, disposition: &Disposition) -> Result<Credit, Contradiction> {
        match disposition.outcome_id() {
            Some(outcome) => self.of_outcome(outcome),
            None => self.of_none(disposition.kind()).map(|()| Credit::NonOutcome),
        }
    }

    fn of_none(&self, kind: DispositionKind) -> Result<(), Contradiction> {
        let says_not = matches!(self.applicability, Some(Verdict::False));
        match (says_not, kind == DispositionKind::NotApplicable) {
            (true, false) => Err(Contradiction::whole(What::DoesNotApply)),
            (false, true) => Err(Contradiction::whole(What::Applies)),
            _ if self.skipped() => {
                Err(Contradiction { at: self.rule_at(0), what: What::SkippedUnresolved })
            }
            _ => Ok(()),
        }
    }

    fn of_outcome(&self, outcome: &CoreId) -> Result<Credit, Contradiction> {
        if !matches!(self.applicability, None | Some(Verdict::True(()))) {
            return Err(Contradiction::whole(What::DoesNotApply));
        }
        if self.rules.is_empty() {
            return Err(Contradiction::whole(What::NotReached));
        }
        let forcing = self.forcing(outcome)?;
        if self.skipped() {
            return match Contributors::new(ContributorKind::ForcingException, forcing) {
                Ok(contributors) => Ok(Credit::Contributors(contributors)),
                Err(ContributorsError::Empty) => Err(Contradiction::whole(What::NobodyForces)),
                Err(error) => Err(Contradiction::whole(What::Collection(error))),
            };
        }
        match Contributors::new(ContributorKind::Rule, self.naming(outcome)?) {
            Ok(contributors) => Ok(Credit::Contributors(contributors)),
            Err(ContributorsError::Empty) => Ok(Credit::Fallback),
            Err(error) => Err(Contradiction::whole(What::Collection(error))),
        }
    }

    /// The exceptions that force this outcome.
    fn forcing(&self, outcome: &CoreId) -> Result<Vec<CoreId>, Contradiction> {
        let mut forcing = Vec::new();
        for (position, exception) in self.exceptions.iter().enumerate() {
            let what = match &exception.verdict {
                Verdict::True(TracedEffect::ForceOutcome(_)) if !self.skipped() => What::Forces,
                Verdict::True(TracedEffect::ForceOutcome(forced)) if forced == outcome => {
                    forcing.push(exception.id.clone());
                    continue;
                }
                Verdict::True(TracedEffect::ForceOutcome(other)) => {
                    What::OtherOutcome(other.clone())
                }
                Verdict::True(TracedEffect::Escalate)
                | Verdict::Unknown(Some(OnUnknown::Escalate)) => What::Blocks,
                Verdict::True(TracedEffect::SuppressRule)
                | Verdict::False
                | Verdict::Unknown(_) => continue,
            };
            return Err(Contradiction { at: self.exception_at(position), what });
        }
        Ok(forcing)
    }

    /// The rules that name this outcome.
    fn naming(&self, outcome: &CoreId) -> Result<Vec<CoreId>, Contradiction> {
        let mut naming = Vec::new();
        for (position, rule) in self.rules.iter().enumerate() {
            let what = match &rule.verdict {
                RuleVerdict::Evaluated(Verdict::True(own)) if own == outcome => {
                    naming.push(rule.id.clone());
                    continue;
                }
                RuleVerdict::Evaluated(Verdict::True(other)) => What::OtherOutcome(other.clone()),
                RuleVerdict::Evaluated(Verdict::Unknown(Some(OnUnknown::Escalate))) => What::Blocks,
                _ => continue,
            };
            return Err(Contradiction { at: self.rule_at(position), what });
        }
        Ok(naming)
    }

    fn skipped(&self) -> bool {
        self.rules.first().is_some_and(|rule| rule.verdict == RuleVerdict::Skipped)
    }
}

impl Contradiction {
    const fn whole(what: What) -> Self {
        Self { at: String::new(), what }
    }
}
