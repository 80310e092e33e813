//! Reports: everything one command found, complete whatever the verdict.
//!
//! A [`Report`] is data. [`Report::to_json`] writes it in canonical form under the schema
//! `anchorlog.verifier-report/1`, so equal inputs give equal bytes: there are no times of
//! evaluation, host names or file paths in it. [`text::render`] writes the short form for people.

pub(crate) mod json;
pub mod text;
mod timestamp;

pub use timestamp::{Timestamp, TimestampOutcome};

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::Origin;
use anchorlog_proto::receipt::ReceiptState;
use anchorlog_proto::statement::LogEntry;

use crate::checkpoint::WitnessTime;
use crate::codes::input::INTERNAL;
use crate::finding::Finding;
use crate::proof::Tree;

/// The schema name of the JSON form.
pub const SCHEMA: &str = "anchorlog.verifier-report/1";

/// What became of the thing that was asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the exit codes 0, 1, 2 and 3 are these four, fixed")]
pub enum Verdict {
    /// Evaluated, and it holds.
    Holds,
    /// Evaluated, and it does not hold.
    DoesNotHold,
    /// Could not be evaluated: unreadable input, bad arguments, bad policy.
    NotEvaluated,
    /// The verifier itself failed.
    Failed,
}

impl Verdict {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does_not_hold",
            Self::NotEvaluated => "could_not_evaluate",
            Self::Failed => "failed",
        }
    }

    /// The exit code of a program that was asked for this.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::DoesNotHold => 1,
            Self::NotEvaluated => 2,
            Self::Failed => 3,
        }
    }
}

/// What the inputs say. Only under [`Verdict::Holds`] is it shown to be so; otherwise it is what
/// was claimed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Facts {
    /// Origin of the log.
    pub log: Option<Origin>,
    /// Index of the entry.
    pub index: Option<u64>,
    /// Leaf hash of the entry.
    pub leaf_hash: Option<Digest>,
    /// The tree: for a consistency proof the newer one.
    pub tree: Option<Tree>,
    /// The older tree of a consistency proof.
    pub older: Option<Tree>,
    /// The logged statement.
    pub statement: Option<LogEntry>,
    /// The state the receipt claims.
    pub stated: Option<ReceiptState>,
    /// The state that is shown under the policy.
    pub shown: Option<ReceiptState>,
    /// Witnesses of the policy whose cosignatures verify.
    pub witnesses: Vec<WitnessTime>,
    /// The time stamps a receipt carries.
    pub timestamps: Vec<Timestamp>,
    /// The policy.
    pub policy: Option<PolicyFacts>,
    /// Where several receipts were examined: what each says, in their order.
    pub receipts: Vec<Facts>,
}

/// Which policy was used, and what is in it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PolicyFacts {
    /// SHA-256 of the policy text.
    pub digest: Digest,
    /// Name of the quorum, `none` where no witness is asked.
    pub quorum: String,
    /// Logs, witnesses and groups; only where the policy itself was asked about.
    pub contents: Option<PolicyContents>,
}

/// The entries of a policy, in the policy's order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct PolicyContents {
    /// The logs.
    pub logs: Vec<PolicyKey>,
    /// The witnesses.
    pub witnesses: Vec<PolicyKey>,
    /// The groups.
    pub groups: Vec<PolicyGroup>,
}

/// A key of a policy.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PolicyKey {
    /// The name the policy uses: a log's origin, a witness's name.
    pub name: String,
    /// The verifier key.
    pub vkey: String,
    /// The URL, where the policy gives one.
    pub url: Option<String>,
}

/// A group of a policy.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PolicyGroup {
    /// Its name.
    pub name: String,
    /// How many members must hold.
    pub threshold: u64,
    /// Names of the members.
    pub members: Vec<String>,
}

/// Everything one command found.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The command: `receipt`, `proof inclusion`.
    pub command: &'static str,
    /// What became of it.
    pub verdict: Verdict,
    /// The findings, ascending by place and code.
    pub findings: Vec<Finding>,
    /// What the inputs say.
    pub facts: Facts,
}

impl Report {
    /// The report of checks that were all made: holds, unless a finding fails them.
    #[must_use]
    pub fn evaluated(command: &'static str, facts: Facts, findings: Vec<Finding>) -> Self {
        let verdict =
            if findings.iter().any(Finding::fails) { Verdict::DoesNotHold } else { Verdict::Holds };
        Self::new(command, verdict, facts, findings)
    }

    /// The report of a command that could not be evaluated. The findings say why.
    #[must_use]
    pub fn not_evaluated(command: &'static str, findings: Vec<Finding>) -> Self {
        Self::new(command, Verdict::NotEvaluated, Facts::default(), findings)
    }

    fn new(
        command: &'static str,
        verdict: Verdict,
        facts: Facts,
        mut findings: Vec<Finding>,
    ) -> Self {
        findings.sort();
        let failed = findings.iter().any(|finding| finding.code == INTERNAL);
        let verdict = if failed { Verdict::Failed } else { verdict };
        Self { command, verdict, findings, facts }
    }

    /// The canonical JSON form, without a newline at its end.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        json::write(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::log::{SIG, UNKNOWN};
    use crate::codes::policy::UNWITNESSED;

    #[test]
    fn the_findings_make_the_verdict() {
        let verdict = |codes: &[crate::codes::Code]| {
            let findings = codes.iter().map(|&code| Finding::new(code, "")).collect();
            Report::evaluated("receipt", Facts::default(), findings).verdict
        };
        assert_eq!(verdict(&[]), Verdict::Holds);
        assert_eq!(verdict(&[UNWITNESSED]), Verdict::Holds);
        assert_eq!(verdict(&[UNWITNESSED, SIG]), Verdict::DoesNotHold);
        // What can't be told does not hold.
        assert_eq!(verdict(&[UNKNOWN]), Verdict::DoesNotHold);
        // A failure of the verifier says nothing about the evidence.
        assert_eq!(verdict(&[SIG, INTERNAL]), Verdict::Failed);
        let report = Report::not_evaluated("receipt", vec![Finding::new(INTERNAL, "")]);
        assert_eq!(report.verdict.exit_code(), 3);
    }
}
