//! Asking the verifier about a bundle before it is used, and before it is published.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_verifier::codes::gad::Affect;
use anchorlog_verifier::gad::container::Bundle;
use anchorlog_verifier::gad::finding::{Findings, GadFinding};
use anchorlog_verifier::gad::report::{RULES, Report, RuleState};

use crate::alone;

/// Evaluates a bundle without a policy: what doesn't depend on whom one trusts.
///
/// Time counts for nothing without a policy; it is given as the start of 1970, so that equal bundles give
/// equal answers. `None` only for a request that can't be one, which this isn't.
pub(super) fn evaluate_alone(bundle: &Result<Bundle, Findings>, limits: &Limits) -> Option<Report> {
    // Goes into reports alone, and this one isn't shown.
    let evaluator = Implementation {
        name: env!("CARGO_PKG_NAME").into(),
        version: env!("CARGO_PKG_VERSION").into(),
        hash: Digest::of(b""),
    };
    alone::evaluate(bundle, limits, evaluator, 0).ok()
}

/// Whether the envelope's half of R1 holds.
pub(super) fn holds_together(report: &Report) -> bool {
    let rules = RULES.iter().zip(report.statuses.rules());
    rules.into_iter().any(|(rule, state)| *rule == Affect::R1e && *state == RuleState::Pass)
}

/// The findings that make one of these false, in the order of the report.
pub(super) fn against(report: &Report, concerned: &[Affect]) -> Vec<GadFinding> {
    let concerns =
        |finding: &&GadFinding| finding.affects.iter().any(|affected| concerned.contains(affected));
    report.findings.sorted().into_iter().filter(concerns).cloned().collect()
}
