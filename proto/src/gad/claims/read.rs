//! Reading claims.

use super::{
    ASPECTS, CLAIM_TYPE, CLAIMS_SCHEMA, Claims, EvidenceKind, EvidenceRef, IssuerType, Noncoverage,
    REGISTRY, Subject, TypedClaim,
};
use crate::gad::code::FormCode;
use crate::gad::form::{At, Cell, Defects, Reader, read_closed};
use crate::gad::limits::{Limits, most};
use crate::gad::names::{AnchorKind, EvidenceClass};
use crate::gad::signed::Signed;
use crate::json::{JsonCode, Value};

/// The longest predicate id, in bytes.
pub(in crate::gad) const MAX_PREDICATE_BYTES: usize = 128;

/// The longest text of a noncoverage, in bytes.
pub(in crate::gad) const MAX_NONCOVERAGE_BYTES: usize = 4096;

pub(super) fn claims(value: &Value<'_>, limits: &Limits, defects: &mut Defects) -> Option<Claims> {
    Cell::new(value, &At::root(""), defects).object(|reader| {
        reader.allow_ext();
        reader.literal("schema", CLAIMS_SCHEMA);
        let registry = reader.raw("registry").and_then(Value::as_str);
        let claims = reader.required("claims", |cell| {
            cell.list(most(limits.elements), |cell| Some(element(cell, most(limits.elements))))
        });
        Some(Claims { registry_known: registry == Some(REGISTRY), claims: claims? })
    })
}

/// One element of `claims`.
fn element(mut cell: Cell<'_, '_>, most: usize) -> Option<TypedClaim> {
    let mut found = Defects::new();
    let claim = typed_claim(cell.value(), cell.at(), &mut found, most);
    // R9.FORM says that a claim isn't of its form; it needs no second code for a member that is absent or
    // wrong. What stands beside its members, breaks a limit or isn't base64 has no other code.
    for defect in found.list() {
        if matches!(
            defect.code,
            FormCode::Json(JsonCode::UnknownField | JsonCode::LimitCount | JsonCode::B64Form)
        ) {
            cell.pass_on(defect);
        }
    }
    let of_the_form = |code| code == FormCode::Json(JsonCode::B64Form);
    claim.filter(|_| found.list().iter().all(|defect| of_the_form(defect.code)))
}

fn typed_claim(
    value: &Value<'_>,
    at: &At<'_>,
    defects: &mut Defects,
    most: usize,
) -> Option<TypedClaim> {
    if let Some((signed, body)) = Signed::read(value, CLAIM_TYPE, at, defects) {
        let at = at.member("body");
        return read_closed(body, &at, defects, |reader| {
            Signed::skip_members(reader);
            tuple(reader, Some(signed), most)
        });
    }
    Cell::new(value, at, defects).object(|reader| tuple(reader, None, most))
}

fn tuple(reader: &mut Reader<'_, '_>, signed: Option<Signed>, most: usize) -> Option<TypedClaim> {
    reader.allow_ext();
    let predicate = reader.text("predicate_id", 1..=MAX_PREDICATE_BYTES);
    let subject = reader.required("subject_ref", |cell| cell.object(subject));
    let evidence =
        reader.required("evidence_refs", |cell| cell.list(most, |cell| cell.object(evidence)));
    let class = reader.required("evidence_class", |cell| cell.one_of(EvidenceClass::from_name));
    let issuer = reader.required("issuer_type", |cell| cell.one_of(IssuerType::from_name));
    let noncoverage = reader.raw("noncoverage").and_then(|value| {
        // Whatever is wrong with it has the one code R9.NONCOVERAGE.
        let mut found = Defects::new();
        let at = At::root("");
        let list = Cell::new(value, &at, &mut found)
            .list(most, |cell| cell.object(noncoverage))
            .filter(|_| found.is_empty());
        if found.list().iter().any(|defect| defect.code == JsonCode::LimitCount.into()) {
            reader.defect(JsonCode::LimitCount, "noncoverage");
        }
        list
    });
    Some(TypedClaim {
        predicate: predicate?.into(),
        subject: subject?,
        evidence: evidence?,
        class: class?,
        noncoverage,
        issuer: issuer?,
        signed,
    })
}

fn subject(reader: &mut Reader<'_, '_>) -> Option<Subject> {
    let plan_hash = reader.digest("plan_hash");
    let node = reader.required("node", |cell| cell.nullable(|cell| cell.id()));
    let test_id = reader.required("test_id", |cell| cell.nullable(|cell| cell.id()));
    Some(Subject {
        plan_hash: plan_hash?,
        node: node?.map(Into::into),
        test_id: test_id?.map(Into::into),
    })
}

fn evidence(reader: &mut Reader<'_, '_>) -> Option<EvidenceRef> {
    let kind = reader.required("kind", |cell| cell.one_of(EvidenceKind::from_name));
    let Some(kind) = kind else {
        // It can't be told which of the two would be the wrong one.
        reader.raw("seq");
        reader.raw("target");
        return None;
    };
    match kind {
        EvidenceKind::Entry => reader.seq("seq").map(EvidenceRef::Entry),
        EvidenceKind::Anchor => {
            let target = reader.required("target", |cell| cell.one_of(AnchorKind::from_name));
            target.map(EvidenceRef::Anchor)
        }
    }
}

fn noncoverage(reader: &mut Reader<'_, '_>) -> Option<Noncoverage> {
    let aspect = reader.required("aspect", |cell| {
        cell.one_of(|aspect| ASPECTS.contains(&aspect).then_some(aspect))
    });
    let text = reader.text("text", 1..=MAX_NONCOVERAGE_BYTES);
    Some(Noncoverage { aspect: aspect?.into(), text: text?.into() })
}
