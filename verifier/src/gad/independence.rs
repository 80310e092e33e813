//! IndependentUnder(e, op, Π), rule `distinct_unrelated/1`: is the evaluator somebody else.
//!
//! Both resolve to exactly one party of the policy, to different ones that no group relates, and no key is
//! shared. What it doesn't show: ties that the policy doesn't name.

use anchorlog_proto::gad::attestation::Attestation;
use anchorlog_proto::gad::operator::Operator;
use anchorlog_proto::gad::plan::Principal;
use anchorlog_proto::gad::policy::{Party, Policy};

use crate::codes::gad::independence::{
    EVALUATOR_UNRESOLVED, OPERATOR_MISSING, OPERATOR_UNRESOLVED, RELATED, RULE, SAME_PARTY,
    SHARED_KEY,
};

use super::finding::{Findings, GadFinding, Where};
use super::policy::POLICY_INPUT;

/// The only rule there is.
pub const DISTINCT_UNRELATED: &str = "distinct_unrelated/1";

/// Member name of the operator record.
const OPERATOR: &str = "core/operator.json";

/// IndependentUnder holds for one attestation. Only [`judge`] makes one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Independent(());

/// `IND.OPERATOR_MISSING` of a core that has no operator record. A record that lacks a member has the
/// code from reading it.
#[must_use]
pub fn no_operator_record() -> GadFinding {
    GadFinding::new(OPERATOR_MISSING, Where::member(OPERATOR)).expected("an operator record")
}

/// Judges the evaluator of one attestation against the operator of the record: `IND.*`. Whatever can't be
/// resolved isn't independent. `place` makes places in the attestation.
pub fn judge(
    attestation: &Attestation,
    operator: Option<&Operator>,
    principals: &[Principal],
    policy: &Policy,
    place: &dyn Fn(&str) -> Where,
    findings: &mut Findings,
) -> Option<Independent> {
    let mut independent = true;
    let mut found = |finding| {
        findings.push(finding);
        independent = false;
    };
    if &*policy.independence != DISTINCT_UNRELATED {
        found(
            GadFinding::new(RULE, Where::member(POLICY_INPUT).at("/independence/rule"))
                .expected(DISTINCT_UNRELATED)
                .actual(&policy.independence),
        );
    }
    let operated = operator.and_then(|operator| resolve_operator(operator, policy));
    if operated.is_none() {
        let named = operator.map_or("no operator record", |operator| &*operator.identity);
        found(
            GadFinding::new(
                OPERATOR_UNRESOLVED,
                Where::member(OPERATOR).at("/legal_or_organizational_identity"),
            )
            .expected("the name of exactly one party of the policy, and no key of another one")
            .actual(named),
        );
    }
    let evaluated = resolve_evaluator(attestation, policy);
    if evaluated.is_none() {
        found(
            GadFinding::new(EVALUATOR_UNRESOLVED, place("/body/evaluator_identity"))
                .expected("name and key of exactly one party of the policy")
                .actual(format_args!(
                    "{}, {}",
                    attestation.body.evaluator,
                    attestation.credential.key.id()
                )),
        );
    }
    if let (Some(operated), Some(evaluated)) = (operated, evaluated) {
        if operated.id == evaluated.id {
            found(
                GadFinding::new(SAME_PARTY, place("/body/evaluator_identity"))
                    .actual(&evaluated.id),
            );
        }
        let related =
            |group: &Vec<Box<str>>| group.contains(&operated.id) && group.contains(&evaluated.id);
        if operated.id != evaluated.id && policy.related_groups.iter().any(related) {
            found(
                GadFinding::new(RELATED, place("/body/evaluator_identity"))
                    .actual(format_args!("{} and {}", operated.id, evaluated.id)),
            );
        }
    }
    // The keys themselves: an identifier is only a name.
    let key = &attestation.credential.key;
    let whose = if operator.is_some_and(|operator| operator.credential.key == *key) {
        Some("the operator's key".to_owned())
    } else {
        let same = principals.iter().find(|principal| principal.key == *key);
        same.map(|principal| format!("a registered key of the plan, {}", principal.key.id()))
    };
    if let Some(whose) = whose {
        found(
            GadFinding::new(SHARED_KEY, place("/body/evaluator_credential/public_key"))
                .expected("a key of the evaluator's own")
                .actual(whose),
        );
    }
    independent.then_some(Independent(()))
}

/// The one party that goes by the operator's name, byte for byte. Its key need not be listed; where another
/// party lists it, the record states that party's key under this one's name, and it can't be told who it is.
fn resolve_operator<'p>(operator: &Operator, policy: &'p Policy) -> Option<&'p Party> {
    let key = operator.credential.key.id();
    let named = |party: &&Party| party.names.contains(&operator.identity);
    let keyed = |party: &&Party| party.keys.contains(&key);
    let party = only(policy.parties.iter().filter(|party| named(party) || keyed(party)))?;
    named(&party).then_some(party)
}

/// The one party that has the evaluator's name and key. A party that has one of the two without the other
/// makes it more than one: it can't be told who it is.
fn resolve_evaluator<'p>(attestation: &Attestation, policy: &'p Policy) -> Option<&'p Party> {
    let key = attestation.credential.key.id();
    let named = |party: &&Party| party.names.contains(&attestation.body.evaluator);
    let keyed = |party: &&Party| party.keys.contains(&key);
    let party = only(policy.parties.iter().filter(|party| named(party) || keyed(party)))?;
    (named(&party) && keyed(&party)).then_some(party)
}

fn only<'p>(mut parties: impl Iterator<Item = &'p Party>) -> Option<&'p Party> {
    let first = parties.next()?;
    parties.next().is_none().then_some(first)
}
