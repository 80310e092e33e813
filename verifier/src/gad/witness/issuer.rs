//! R1.ISSUER: who may issue an entry, and whether that is who did.
//!
//! Every signature is verified by itself. Batch verification is faster and is not used: it checks a random
//! combination of many equations, which holds for signatures that the strict rules refuse (a batch needs
//! the cofactored equation to be sound), so that whether an entry is authentic would depend on its
//! neighbours. The registered keys are decompressed once, when the plan is read.

use anchorlog_proto::gad::entry::{Entry, EntryType};
use anchorlog_proto::gad::signed::Signed;
use anchorlog_proto::signed_object::SignerId;

use crate::codes::gad::r1::{
    ISSUER_BODY_TYPE, ISSUER_KEY_UNREGISTERED, ISSUER_RUN_BINDING, ISSUER_SIG, ISSUER_UNSIGNED,
    ISSUER_WRONG_ROLE,
};
use crate::gad::{GadFinding, PlanIndex, Where};

/// Checks the issuer of an entry, in the order of the formats' section 2, all that apply. True when the
/// entry is authenticated by itself, or isn't to be signed by anybody.
///
/// Without a plan there is no registry and no h(P): what can be told without them is.
pub(super) fn check(
    entry: &Entry<'_>,
    plan: Option<&PlanIndex>,
    findings: &mut Vec<GadFinding>,
) -> bool {
    let Some(role) = entry.entry_type.required_role() else { return true };
    let place = |pointer: &str| Where::entry(entry.seq).at(format!("/body/p{pointer}"));
    let Some(signed) = &entry.signed else {
        findings.push(GadFinding::new(ISSUER_UNSIGNED, place("")).expected("{body, signature}"));
        return false;
    };
    let before = findings.len();
    if !signed.type_agrees {
        findings.push(
            GadFinding::new(ISSUER_BODY_TYPE, place("/body/type")).expected(entry.entry_type),
        );
    }
    let Some(plan) = plan else { return false };
    if let Some(hash) = signed.plan_hash.filter(|hash| *hash != plan.hash()) {
        findings.push(
            GadFinding::new(ISSUER_RUN_BINDING, place("/body/plan_hash"))
                .expected(plan.hash())
                .actual(hash),
        );
    }
    let Some(key_id) = signed.key_id else { return false };
    let Some(principal) = plan.principal(key_id) else {
        findings
            .push(GadFinding::new(ISSUER_KEY_UNREGISTERED, place("/body/key_id")).actual(key_id));
        return false;
    };
    if !principal.roles.contains(&role) {
        findings.push(
            GadFinding::new(ISSUER_WRONG_ROLE, place("/body/key_id")).expected(role).actual(key_id),
        );
    }
    // A signature whose form was refused has its own finding.
    let Some(signature) = &signed.signature else { return false };
    if principal.key.verify(&signed.message, signature).is_err() {
        findings.push(GadFinding::new(ISSUER_SIG, place("/signature")).expected(key_id));
    }
    findings.len() == before && signed.plan_hash.is_some()
}

/// Whether anybody signs entries of this type; the others are authenticated by a checkpoint over them.
pub(super) const fn needs_coverage(entry_type: EntryType) -> bool {
    !entry_type.is_signed()
}

/// Whether a signed body verifies under the key registered for `who`, whomever it names itself.
pub(crate) fn verifies_under(signed: &Signed, plan: &PlanIndex, who: SignerId) -> bool {
    let (Some(principal), Some(signature)) = (plan.principal(who), &signed.signature) else {
        return false;
    };
    principal.key.verify(&signed.message, signature).is_ok()
}
