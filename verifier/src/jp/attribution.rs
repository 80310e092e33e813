//! Accounting for the contributors of a workflow's outputs (RFC 0028, a draft).
//!
//! What it is: [`account`] checks every output of a projection against its pin and its pack and counts
//! memberships anew; [`compare_summary`] and [`compare_drift`] hold what was stated against that;
//! [`replay`](replay::replay) evaluates the pack again on the facts of the pinned audit records, as an
//! independent source of true membership; [`traces`] reads membership off the traces of run exports, which
//! are informative and unsigned.
//!
//! What it is not: a reading of a workflow. `bulk-consistency`, which is what [`Report`] calls agreement, says
//! that retained evidence is consistent with itself. A contributor that was left out of output, pins and
//! summary alike leaves nothing inconsistent behind: it takes a digest that somebody holds independently, or a
//! replay, to show that.

mod account;
mod compare;
pub mod replay;
mod report;
pub mod traces;

pub use account::{Accounted, Packs, account};
pub use compare::{compare_drift, compare_execution, compare_summary};
pub use report::{Expectation, Report, ReportResult, rfc_code};

use anchorlog_proto::jp::fault::{Fault, RefusalCode};

use crate::codes::attribution::{ABSENT, BOUND, MALFORMED, VERSION};
use crate::finding::Finding;

/// The most bytes of projections in canonical form and packs together, over both sides of a drift. A local
/// limit, no part of any format.
pub const MAX_TOTAL_BYTES: usize = 33_554_432;

/// The most findings that are kept; the rest are counted.
pub const MAX_FINDINGS: usize = 256;

/// Role of the projection in findings.
pub const PROJECTION: &str = "projection";
/// Role of the stated summary in findings.
pub const SUMMARY: &str = "summary";
/// Role of the stated drift in findings.
pub const DRIFT: &str = "drift";
/// Role of the execution record in findings.
pub const EXECUTION: &str = "execution";
/// Role of packs in findings.
pub const PACK: &str = "pack";
/// Role of audit records in findings.
pub const AUDIT: &str = "audit";
/// Role of run exports in findings.
pub const EXPORT: &str = "export";

/// The finding for a document that was refused.
#[must_use]
pub fn refusal(fault: &Fault, input: &'static str) -> Finding {
    let code = match fault.code() {
        RefusalCode::InputOverBound => BOUND,
        RefusalCode::VersionUnread | RefusalCode::KindUnread => VERSION,
        RefusalCode::InventoryMismatch => ABSENT,
        _ => MALFORMED,
    };
    Finding::new(code, fault.detail.as_str()).in_input(input)
}

/// Refuses inputs that are together over [`MAX_TOTAL_BYTES`].
pub fn within_total(bytes: impl IntoIterator<Item = usize>) -> Result<(), Finding> {
    let total = bytes.into_iter().fold(0_usize, usize::saturating_add);
    if total > MAX_TOTAL_BYTES {
        let what = "projections in canonical form and packs together";
        let finding = Finding::new(BOUND, format!("{what} have more than {MAX_TOTAL_BYTES} bytes"));
        return Err(finding.compared(MAX_TOTAL_BYTES, total));
    }
    Ok(())
}

/// Findings up to a number, in the order of the checks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Found {
    list: Vec<Finding>,
    omitted: u64,
}

impl Found {
    /// Keeps a finding, or counts it.
    pub fn push(&mut self, finding: Finding) {
        if self.list.len() < MAX_FINDINGS {
            self.list.push(finding);
        } else {
            self.omitted += 1;
        }
    }

    /// Those that are kept.
    #[must_use]
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// How many more there were.
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl Extend<Finding> for Found {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }
}
