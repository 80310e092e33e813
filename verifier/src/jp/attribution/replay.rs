//! Replay: the pinned pack, evaluated again on the inputs of the pinned audit record.
//!
//! It shows who contributes by *this* evaluator, which is no part of the evidence and no claim of conformance.
//! What ties the inputs to an output is the digest of the audit record in its lineage.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::attribution::{AuditRecord, Credit, Output, Projection};
use anchorlog_proto::jp::core_pack::Pack;

use super::{Found, PROJECTION, Packs};
use crate::codes::Code;
use crate::codes::attribution::{AUDIT, REPLAY, REPLAY_INPUT};
use crate::finding::Finding;
use crate::jp::core::{Availability, Evaluation, EvaluationError, Limits, evaluate_admitted};

/// Audit records by their digest.
pub type Audits<'a> = BTreeMap<Digest, AuditRecord<'a>>;

/// What a replay came to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// Outputs of which the disposition and the contributors are the same again.
    pub agree: u64,
    /// Outputs of which they are not, or that could not be evaluated again.
    pub differ: u64,
    /// What is wrong, in the order of stages and outputs.
    pub found: Found,
}

/// Evaluates every output's case again. The packs are those that accounting found.
#[must_use]
pub fn replay(projection: &Projection, packs: &Packs, audits: &Audits<'_>) -> Replayed {
    let mut replayed = Replayed::default();
    for (at, stage) in projection.stages.iter().enumerate() {
        let Some(pack) = packs.get(&stage.pack) else { continue };
        for (position, output) in stage.outputs.iter().enumerate() {
            let place = format!("/stages/{at}/outputs/{position}");
            let wrong = again(output, pack, &stage.pack, audits);
            let count = if wrong.is_empty() { &mut replayed.agree } else { &mut replayed.differ };
            *count += 1;
            for (code, member, detail, compared) in wrong {
                let finding = Finding::new(code, detail).in_input(PROJECTION);
                let mut finding = finding.at(format!("{place}{member}"));
                if let Some((expected, actual)) = compared {
                    finding = finding.compared(expected, actual);
                }
                replayed.found.push(finding);
            }
        }
    }
    replayed
}

type Wrong = (Code, &'static str, String, Option<(String, String)>);

/// What is wrong with one output; nothing when it is the same again.
fn again(output: &Output, pack: &Pack, digest: &Digest, audits: &Audits<'_>) -> Vec<Wrong> {
    let Some(audit) = audits.get(&output.lineage.audit_digest) else {
        let detail = "the audit record that its lineage pins was not given".to_owned();
        return vec![(REPLAY_INPUT, "/envelope/lineage/auditDigest", detail, None)];
    };
    if audit.pack != *digest {
        let detail = "the audit record is of an evaluation of another pack".to_owned();
        let compared = (digest.to_string(), audit.pack.to_string());
        return vec![(AUDIT, "/envelope/lineage/auditDigest", detail, Some(compared))];
    }
    let mut wrong = Vec::new();
    if audit.disposition != output.disposition {
        let detail = "the audit record has another disposition".to_owned();
        let compared = (audit.disposition.to_string(), output.disposition.to_string());
        wrong.push((AUDIT, "/disposition", detail, Some(compared)));
    }
    match evaluate(audit, pack) {
        Err(error) => {
            let detail = format!("its inputs can't be evaluated: {error} ({})", error.class());
            wrong.push((REPLAY_INPUT, "", detail, None));
        }
        Ok(evaluation) => {
            if evaluation.disposition != output.disposition {
                let detail = "evaluated again it has another disposition".to_owned();
                let compared = (evaluation.disposition.to_string(), output.disposition.to_string());
                wrong.push((REPLAY, "/disposition", detail, Some(compared)));
            }
            if evaluation.credit.contributors() != output.contributors.as_ref() {
                let named = output.contributors.clone().map(Credit::Contributors);
                let named = named.map_or("none".to_owned(), |credit| credit.to_string());
                let compared = Some((evaluation.credit.to_string(), named));
                let detail = "evaluated again it has other contributors".to_owned();
                wrong.push((REPLAY, "/envelope/contributors", detail, compared));
            }
        }
    }
    wrong
}

/// Evaluates a pack on the inputs of an audit record.
pub(super) fn evaluate(
    audit: &AuditRecord<'_>,
    pack: &Pack,
) -> Result<Evaluation, EvaluationError> {
    let evidence = match &audit.evidence {
        Some(value) => Availability::read(value, pack)?,
        None => Availability::default(),
    };
    // Extensions are inert in evaluation; one that is required is not interpreted here and refused.
    evaluate_admitted(pack, &audit.facts, &evidence, &[], &Limits::DEFAULT)
}
