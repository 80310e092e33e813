//! What the log holds about the record's plan, against what the record and its envelope hold.

use std::collections::BTreeSet;

use anchorlog_proto::Digest;
use anchorlog_proto::audit::{AuditBody, AuditCode};
use anchorlog_proto::statement::StatementKind;

use crate::codes::gad::audit::{
    ATTESTATION_LEFT_OUT, COMMITMENT_CONFLICT, LATER_HEAD, NO_CORE_ROOT, SECOND_CORE_ROOT,
    SEQUENCE_CONFLICT,
};
use crate::gad::finding::GadFinding;

use super::{AuditInput, Notes, at, entry_at};

pub(super) fn compare(body: &AuditBody, plan: &Digest, input: &AuditInput<'_>, notes: &mut Notes) {
    let record = input.record;
    let heads: BTreeSet<_> = record.heads.iter().collect();
    let attestations: Option<BTreeSet<_>> =
        input.envelope.map(|envelope| envelope.attestations.iter().map(|row| row.digest).collect());
    for (position, entry) in body.entries.iter().enumerate() {
        let digest = entry.statement.digest;
        let found = match entry.statement.kind {
            StatementKind::PlanCommitment if digest != *plan => {
                Some((COMMITMENT_CONFLICT, Some(*plan)))
            }
            StatementKind::CoreRoot if record.root_core.is_some_and(|root| root != digest) => {
                Some((SECOND_CORE_ROOT, record.root_core))
            }
            StatementKind::ChainHead if !heads.contains(&digest) => {
                Some((LATER_HEAD, record.heads.last().copied()))
            }
            StatementKind::Attestation
                if attestations.as_ref().is_some_and(|listed| !listed.contains(&digest)) =>
            {
                Some((ATTESTATION_LEFT_OUT, None))
            }
            _ => None,
        };
        if let Some((code, expected)) = found {
            let actual = format!("entry {}: {digest}", entry.index);
            let finding = GadFinding::new(code, entry_at(position)).actual(actual);
            notes.push(match expected {
                Some(expected) => finding.expected(expected),
                None => finding,
            });
        }
    }
    // What takes the whole list to tell, the omitted entries included.
    for (position, finding) in body.findings.iter().enumerate() {
        let code = match finding.code {
            AuditCode::NoCoreRoot => NO_CORE_ROOT,
            AuditCode::SequenceConflict => SEQUENCE_CONFLICT,
            // Told above, against the record; or nothing against anybody.
            _ => continue,
        };
        let indexes: Vec<_> = finding.indexes.iter().map(ToString::to_string).collect();
        let place = at(format!("/body/findings/{position}"));
        notes.push(
            GadFinding::new(code, place).actual(format_args!("entries {}", indexes.join(", "))),
        );
    }
}
