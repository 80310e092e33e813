//! What a witness' chain and a copy of the trail came to together.

use anchorlog_proto::jp::witness::{Continuation, KeyId, TrailId};

use super::RECORDS;
use super::reader::Outcome;
use super::records::Held;
use crate::codes::input::INTERNAL;
use crate::codes::trail::COVERAGE;
use crate::finding::Finding;
use crate::report::Verdict;

/// How far something covers the records of a trail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the runtime's report knows these four")]
pub enum Coverage {
    /// There was nothing to check, or no copy to check it with.
    NotChecked,
    /// The chain of the witness has a finding, so nothing of it counts.
    Failed,
    /// No line.
    None,
    /// Lines 1 to this one.
    Through(u64),
}

impl Coverage {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotChecked => "not-checked",
            Self::Failed => "failed",
            Self::None => "none",
            Self::Through(_) => "through",
        }
    }

    /// The last line that is covered.
    #[must_use]
    pub const fn through(self) -> Option<u64> {
        if let Self::Through(line) = self { Some(line) } else { None }
    }

    const fn of(line: Option<u64>) -> Self {
        match line {
            Some(line) => Self::Through(line),
            None => Self::None,
        }
    }
}

/// The report of one reading: a chain, a copy held to it, or both.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The trail that was asked for.
    pub trail: TrailId,
    /// The keys that were trusted, in their order. None are given where no witness is asked.
    pub keys: Vec<KeyId>,
    /// Why nothing was read, where nothing was.
    pub refusal: Option<Finding>,
    /// What the chain came to.
    pub chain: Option<Outcome>,
    /// What the copy came to.
    pub records: Option<Held>,
    /// How many checkpoint lines of a holder the copy was held to, if there is one.
    pub holder: Option<usize>,
    /// Up to which line coverage was asked for.
    pub required: Option<u64>,
}

impl Report {
    /// A report of nothing yet.
    #[must_use]
    pub const fn new(trail: TrailId) -> Self {
        Self {
            trail,
            keys: Vec::new(),
            refusal: None,
            chain: None,
            records: None,
            holder: None,
            required: None,
        }
    }

    /// How far the witness' signature reaches over the copy.
    #[must_use]
    pub fn countersigned(&self) -> Coverage {
        match (&self.chain, &self.records) {
            (Some(chain), _) if chain.reading.is_none() => Coverage::Failed,
            (Some(_), Some(records)) => Coverage::of(records.witnessed),
            _ => Coverage::NotChecked,
        }
    }

    /// How far checkpoints of anybody reach over the copy. Those of a witness count where its chain is read
    /// without a finding.
    #[must_use]
    pub fn witnessed(&self) -> Coverage {
        let Some(records) = &self.records else { return Coverage::NotChecked };
        match self.countersigned() {
            Coverage::Failed => Coverage::of(records.held),
            _ => Coverage::of(records.witnessed.max(records.held)),
        }
    }

    /// Every finding: those of the chain, those of the copy, then a gap in the coverage asked for.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let chain = self.chain.iter().flat_map(|chain| chain.found.list());
        let records = self.records.iter().flat_map(|records| records.found.list());
        let mut all: Vec<_> = self.refusal.iter().chain(chain).chain(records).cloned().collect();
        all.extend(self.gap());
        all
    }

    /// How many findings were not kept.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        let chain = self.chain.as_ref().map_or(0, |chain| chain.found.omitted());
        let records = self.records.as_ref().map_or(0, |records| records.found.omitted());
        chain.saturating_add(records)
    }

    /// What became of it: exit code 0, 1, 2 or 3.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let findings = self.findings();
        if findings.iter().any(|finding| finding.code == INTERNAL) {
            Verdict::Failed
        } else if self.refusal.is_some() {
            Verdict::NotEvaluated
        } else if findings.iter().any(Finding::fails) {
            Verdict::DoesNotHold
        } else {
            Verdict::Holds
        }
    }

    /// Whether nothing was found in chain and copy, whatever coverage was asked for.
    pub(super) fn is_clean(&self) -> bool {
        let chain = self.chain.as_ref().is_none_or(|chain| chain.faults.is_empty());
        let records = self.records.as_ref().is_none_or(|records| records.faults.is_empty());
        self.refusal.is_none() && chain && records
    }

    /// What a later reading can go on from: there is one only where nothing at all was found.
    #[must_use]
    pub fn continuation(&self) -> Option<Continuation> {
        let reading = self.chain.as_ref()?.reading.as_ref()?;
        (self.verdict() == Verdict::Holds).then(|| reading.continuation())
    }

    /// The finding for lines that were asked for and are not covered. Where a witness is asked, its signature
    /// has to reach them; otherwise a holder's checkpoint has to.
    fn gap(&self) -> Option<Finding> {
        let required = self.required.filter(|_| self.refusal.is_none())?;
        let (coverage, reason) = match self.chain {
            Some(_) => (self.countersigned(), "countersigned-coverage-missing"),
            None => (self.witnessed(), "checkpoint-coverage-missing"),
        };
        let through = coverage.through().unwrap_or(0);
        if through >= required {
            return None;
        }
        let what = match through {
            0 => format!("lines 1 to {required} were asked for, and none is covered"),
            _ => format!(
                "lines 1 to {required} were asked for, and lines 1 to {through} are covered"
            ),
        };
        let finding = Finding::new(COVERAGE, what).because(reason).in_input(RECORDS);
        Some(finding.compared(required, through))
    }
}
