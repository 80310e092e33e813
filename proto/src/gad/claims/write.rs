//! Writing claims.

use super::{CLAIMS_SCHEMA, Claims, EvidenceKind, EvidenceRef, Noncoverage, REGISTRY, TypedClaim};
use crate::gad::emit::{self, integer, list, nullable, object, text};
use crate::json::{Object, Value};

pub(super) fn claims(claims: &Claims) -> Value<'static> {
    let whole: Vec<_> = claims.claims.iter().flatten().collect();
    object([
        ("claims", list(&whole, |claim| self::claim(claim))),
        ("registry", text(REGISTRY)),
        ("schema", text(CLAIMS_SCHEMA)),
    ])
}

fn claim(claim: &TypedClaim) -> Value<'static> {
    match &claim.signed {
        Some(signed) => emit::signed(signed),
        None => Value::Object(tuple(claim)),
    }
}

/// The tuple without its signature.
pub(super) fn tuple(claim: &TypedClaim) -> Object<'static> {
    let subject = object([
        ("node", nullable(claim.subject.node.as_ref(), text)),
        ("plan_hash", text(claim.subject.plan_hash)),
        ("test_id", nullable(claim.subject.test_id.as_ref(), text)),
    ]);
    let mut members = Object::from([
        ("evidence_class", text(claim.class)),
        ("evidence_refs", list(&claim.evidence, evidence)),
        ("issuer_type", text(claim.issuer)),
        ("predicate_id", text(&claim.predicate)),
        ("subject_ref", subject),
    ]);
    if let Some(rows) = &claim.noncoverage {
        members.insert("noncoverage", list(rows, noncoverage));
    }
    members
}

fn evidence(evidence: &EvidenceRef) -> Value<'static> {
    match evidence {
        EvidenceRef::Entry(seq) => {
            object([("kind", text(EvidenceKind::Entry)), ("seq", integer(*seq))])
        }
        EvidenceRef::Anchor(target) => {
            object([("kind", text(EvidenceKind::Anchor)), ("target", text(target))])
        }
    }
}

fn noncoverage(row: &Noncoverage) -> Value<'static> {
    object([("aspect", text(&row.aspect)), ("text", text(&row.text))])
}
