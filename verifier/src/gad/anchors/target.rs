//! What an anchor is over: root_core, a declared head of the chain, or h(P).

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::envelope::AnchorRow;
use anchorlog_proto::gad::names::AnchorKind;

use crate::codes::gad::anchor::{HEAD_NOT_IN_CHAIN, HEAD_UNDECLARED, TARGET};
use crate::gad::facts::RecordFacts;
use crate::gad::finding::{Findings, GadFinding, Where};

use super::{AnchorInput, ENVELOPE};

/// The heads an envelope declares: each with the position of its entry, if it is in the chain.
pub(super) struct DeclaredHeads(BTreeMap<Digest, Option<usize>>);

impl DeclaredHeads {
    /// Compares the declared heads with the chain: `ANC.HEAD_NOT_IN_CHAIN`, whether anchored or not.
    pub(super) fn check(input: &AnchorInput<'_>, findings: &mut Findings) -> Self {
        let mut heads = BTreeMap::new();
        let Some(declared) = &input.envelope.heads else {
            let place = Where::member(ENVELOPE).at("/declared_heads");
            findings.push(GadFinding::new(HEAD_NOT_IN_CHAIN, place).expected("a list of heads"));
            return Self(heads);
        };
        for (index, row) in declared.iter().enumerate() {
            let position = usize::try_from(row.seq).unwrap_or(usize::MAX);
            let actual = input.record.heads.get(position);
            let in_chain = actual == Some(&row.head);
            if !in_chain {
                let place = Where::member(ENVELOPE).at(format!("/declared_heads/{index}"));
                let finding = GadFinding::new(HEAD_NOT_IN_CHAIN, place).actual(row.head);
                findings.push(match actual {
                    Some(head) => finding.expected(head),
                    None => finding.expected("an entry of the witness"),
                });
            }
            let known = heads.entry(row.head).or_insert(None);
            *known = known.or(in_chain.then_some(position));
        }
        Self(heads)
    }
}

/// An anchor is over something else than it says; found and reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrongTarget;

/// Compares an anchor's target with the value of its kind: `ANC.TARGET`, `ANC.HEAD_UNDECLARED`.
///
/// Gives the position of the last entry that it covers, if it covers any.
pub(super) fn check(
    position: usize,
    row: &AnchorRow,
    heads: &DeclaredHeads,
    record: &RecordFacts,
    findings: &mut Findings,
) -> Result<Option<usize>, WrongTarget> {
    let place = || Where::member(ENVELOPE).at(format!("/anchors/{position}/target"));
    let (value, covers) = match row.kind {
        AnchorKind::ChainHead => {
            let Some(known) = heads.0.get(&row.target) else {
                findings.push(
                    GadFinding::new(HEAD_UNDECLARED, place())
                        .expected("a declared head")
                        .actual(row.target),
                );
                return Err(WrongTarget);
            };
            // A declared head that isn't in the chain was reported with the declaration.
            return if known.is_some() { Ok(*known) } else { Err(WrongTarget) };
        }
        AnchorKind::CoreRoot => (record.root_core, record.latest.len().checked_sub(1)),
        AnchorKind::PlanCommitment => (record.plan_hash, None),
    };
    if value == Some(row.target) {
        return Ok(covers);
    }
    let finding = GadFinding::new(TARGET, place()).actual(row.target);
    findings.push(match value {
        Some(value) => finding.expected(value),
        None => finding.expected("a value that could be recomputed"),
    });
    Err(WrongTarget)
}
