//! Evaluation attestations: AttestationValid(root_core, Q), for each Q of an envelope or beside it.
//!
//! A Q counts when it says exactly what this evaluation found, under this policy or one that this policy
//! accepts, by an implementation and a key that the policy accepts. Each Q is judged on its own; the
//! predicate holds when one Q passes everything, independence included ([`super::independence`]), and the
//! findings of every Q are reported all the same.
//!
//! What it isn't: trust in Q in place of an evaluation. Everything it says is recomputed first.

mod attest;
#[cfg(test)]
mod tests;

use core::fmt;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::attestation::Attestation;
use anchorlog_proto::gad::names::RunOutcome;
use anchorlog_proto::gad::operator::Operator;
use anchorlog_proto::gad::plan::Principal;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{self, ReadLimits};
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::timestamp::GenTime;

use crate::codes::Code;
use crate::codes::gad::Affect;
use crate::codes::gad::attestation::{
    DIVERGES, FORM, IMPLEMENTATION, IN_CORE, KEY_REVOKED, MISSING, NEGATIVE, POLICY, REPLAY_LAYERS,
    ROOT_CORE, SIG, SPEC_VERSION, TIME_FUTURE, TIME_ORDER, UNTRUSTED,
};

use super::finding::{Findings, GadFinding, Where};
use super::independence::{self, Independent};
use super::policy::PolicyContext;

pub use attest::{AttestError, Evaluator, attest};

/// The member name of an attestation that was given beside the envelope, in findings.
pub const ATTESTATION_INPUT: &str = "<attestation>";

/// The longest attestation that is read, in bytes.
pub const MAX_ATTESTATION_BYTES: usize = 1 << 20;

/// One attestation as it came.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "filled in by the evaluation and by tests")]
pub struct AttestationFile<'a> {
    /// Its path in the bundle, or [`ATTESTATION_INPUT`].
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether it was given beside the envelope.
    pub beside: bool,
}

/// What attestations are held against: what this evaluation found.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "filled in by the evaluation and by tests")]
pub struct AttestationFacts<'a> {
    /// The recomputed root_core.
    pub root_core: Option<Digest>,
    /// h(P).
    pub plan_hash: Option<Digest>,
    /// VALID_RECORD.
    pub valid: bool,
    /// OUTCOME.
    pub outcome: RunOutcome,
    /// CONTRACT_SATISFIED.
    pub satisfied: bool,
    /// The version of the specification that the record names.
    pub spec_version: Option<&'a str>,
    /// The canonicalization that the record names.
    pub canonicalization: Option<&'a str>,
    /// The predicate registry that the record names, or the one in use where it has no claims.
    pub registry: Option<&'a str>,
    /// root_envelope of the envelope before, as the envelope states it.
    pub predecessor: Option<Digest>,
    /// The latest trusted time of a verified anchor.
    pub latest_anchor: Option<GenTime>,
    /// Whether the policy asks for the replay of any evidence in this record.
    pub replay_asked: bool,
    /// Core artifacts that parse as attestations, by path.
    pub in_core: &'a [Box<str>],
    /// The operator record, where it could be read.
    pub operator: Option<&'a Operator>,
    /// The keys the plan registers.
    pub principals: &'a [Principal],
}

/// AttestationValid(root_core, Q) holds. Only [`judge`] makes one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ValidAttestation(());

/// What became of the attestations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AttestationsOutcome {
    both: Option<(ValidAttestation, Independent)>,
}

impl AttestationsOutcome {
    /// AttestationValid and IndependentUnder, if both hold for one and the same Q and none stands in the
    /// core.
    #[must_use]
    pub const fn holds(&self) -> Option<(ValidAttestation, Independent)> {
        self.both
    }
}

/// Judges every attestation: `ATT.*`, `IND.*`.
///
/// A Q that isn't of its form gives `ATT.FORM` and nothing else. Findings of one Q stay when another one
/// passes, and are notes then: they make nothing false. An attestation inside the core (`ATT.IN_CORE`)
/// fails DEFENSIBLE whatever else there is.
#[must_use]
pub fn judge(
    files: &[AttestationFile<'_>],
    facts: &AttestationFacts<'_>,
    context: &PolicyContext,
    limits: &Limits,
    findings: &mut Findings,
) -> AttestationsOutcome {
    let mut both = None;
    let mut of_each = Findings::new();
    for file in files {
        let mut found = Findings::new();
        if let Some(attestation) = read(file, limits, &mut found) {
            let place = |pointer: &str| Where::member(file.name).at(pointer);
            check(&attestation, file.beside, facts, context, &place, &mut found);
            let valid = (!found.affects(Affect::Defensible)).then_some(ValidAttestation(()));
            let independent = independence::judge(
                &attestation,
                facts.operator,
                facts.principals,
                context.policy(),
                &place,
                &mut found,
            );
            if let (Some(valid), Some(independent)) = (valid, independent) {
                both = both.or(Some((valid, independent)));
            }
        }
        of_each.append(found);
    }
    if files.is_empty() {
        of_each.push(GadFinding::new(MISSING, Where::nowhere()).expected("an attestation"));
    }
    if both.is_some() {
        findings.append(of_each.into_notes());
    } else {
        findings.append(of_each);
    }
    for path in facts.in_core {
        findings.push(GadFinding::new(IN_CORE, Where::member(path.clone())));
    }
    AttestationsOutcome { both: both.filter(|_| facts.in_core.is_empty()) }
}

/// Reads an attestation file: a canonical signed object of the closed form.
fn read(
    file: &AttestationFile<'_>,
    limits: &Limits,
    findings: &mut Findings,
) -> Option<Attestation> {
    let mut refuse = |pointer: &str, actual: &str| {
        let finding = GadFinding::new(FORM, Where::member(file.name).at(pointer));
        findings.push(finding.expected("an attestation in canonical form").actual(actual));
    };
    let depth = usize::try_from(limits.depth).unwrap_or(usize::MAX);
    let form = ReadLimits::DEFAULT.with_bytes(MAX_ATTESTATION_BYTES).with_depth(depth);
    let value = match json::parse_canonical(file.bytes, &form) {
        Ok(value) => value,
        Err(error) => {
            refuse(&error.pointer, &error.to_string());
            return None;
        }
    };
    let mut defects = Defects::new();
    let attestation = Attestation::read(&value, limits, &mut defects);
    for defect in defects.list() {
        refuse(&defect.pointer, defect.code.as_str());
    }
    match attestation {
        Some(attestation) if defects.is_empty() => Some(attestation),
        _ => {
            if defects.is_empty() {
                refuse("", "not an attestation");
            }
            None
        }
    }
}

/// Holds one attestation against the evaluation and the policy; everything that applies.
fn check(
    q: &Attestation,
    beside: bool,
    facts: &AttestationFacts<'_>,
    context: &PolicyContext,
    place: &dyn Fn(&str) -> Where,
    findings: &mut Findings,
) {
    let key = q.credential.key.id();
    let verify = |signature| q.credential.key.verify(&q.signed.message, &signature).is_ok();
    let signed = q.signed.signature.is_some_and(verify);
    if !signed {
        findings.push(GadFinding::new(SIG, place("/signature")));
    }
    credentials(key, context, place, findings);

    if facts.root_core != Some(q.body.root_core) {
        let at = place("/body/root_core");
        findings.push(differs(ROOT_CORE, at, shown(facts.root_core), q.body.root_core));
    }
    if facts.plan_hash != Some(q.body.plan_hash) {
        let at = place("/body/plan_hash");
        findings.push(differs(ROOT_CORE, at, shown(facts.plan_hash), q.body.plan_hash));
    }
    if !q.body.valid {
        findings.push(GadFinding::new(NEGATIVE, place("/body/predicate_results/valid")));
    }
    let stated = (q.body.valid, q.body.outcome, q.body.satisfied);
    let recomputed = (facts.valid, facts.outcome, facts.satisfied);
    if stated != recomputed {
        let words = |(valid, outcome, satisfied): (bool, RunOutcome, bool)| {
            format!("valid {valid}, outcome {outcome}, satisfied {satisfied}")
        };
        let at = place("/body/predicate_results");
        findings.push(differs(DIVERGES, at, words(recomputed), words(stated)));
    }
    for (member, expected, actual) in [
        ("/body/spec_version", facts.spec_version, &q.body.spec_version),
        ("/body/canonicalization_version", facts.canonicalization, &q.body.canonicalization),
        ("/body/predicate_registry_version", facts.registry, &q.body.registry),
    ] {
        if expected != Some(&**actual) {
            let expected = expected.unwrap_or("a version that the record names");
            findings.push(differs(SPEC_VERSION, place(member), expected, actual));
        }
    }
    accepted(q, facts, context, place, findings);
    times(q, beside, facts, context, place, findings);
}

/// The signer's key is under an authority of the policy, and isn't revoked by now. What the attestation
/// says about its time proves nothing.
fn credentials(
    key: SignerId,
    context: &PolicyContext,
    place: &dyn Fn(&str) -> Where,
    findings: &mut Findings,
) {
    let policy = context.policy();
    let at = "/body/evaluator_credential";
    let trusted = policy.credential_authorities.iter().any(|one| one.keys.contains(&key));
    if !trusted {
        findings.push(
            GadFinding::new(UNTRUSTED, place(at))
                .expected("a key under a credential authority of the policy")
                .actual(key),
        );
    }
    let revoked = policy.revoked_keys.iter().filter(|(revoked, _)| *revoked == key);
    if let Some(from) = revoked.map(|(_, from)| *from).min().filter(|from| *from <= context.at()) {
        findings.push(
            GadFinding::new(KEY_REVOKED, place(at))
                .actual(format_args!("revoked from {}", GenTime::from_unix(from))),
        );
    }
}

/// What the policy has to accept: its own hash or another's, the implementation, the replays.
fn accepted(
    q: &Attestation,
    facts: &AttestationFacts<'_>,
    context: &PolicyContext,
    place: &dyn Fn(&str) -> Where,
    findings: &mut Findings,
) {
    let policy = context.policy();
    let named = q.body.policy.hash;
    if named != context.hash() && !policy.accept_attestations_under.contains(&named) {
        findings.push(differs(POLICY, place("/body/policy/hash"), context.hash(), named));
    }
    if !policy.accepted_evaluators.contains(&q.body.implementation) {
        let implementation = &q.body.implementation;
        findings.push(
            GadFinding::new(IMPLEMENTATION, place("/body/evaluator_implementation"))
                .expected("an implementation that the policy accepts")
                .actual(format_args!(
                    "{} {} {}",
                    implementation.name, implementation.version, implementation.hash
                )),
        );
    }
    if facts.replay_asked {
        for layer in
            context.replay_layers().iter().filter(|one| !q.body.replay_layers.contains(one))
        {
            let at = place("/body/replay_layers_exercised");
            findings.push(GadFinding::new(REPLAY_LAYERS, at).expected(layer));
        }
    }
}

/// Its time isn't ahead of the evaluation's, nor before an anchor that it has to have seen.
fn times(
    q: &Attestation,
    beside: bool,
    facts: &AttestationFacts<'_>,
    context: &PolicyContext,
    place: &dyn Fn(&str) -> Where,
    findings: &mut Findings,
) {
    let at = "/body/evaluation_time";
    let stated = GenTime::from_unix(q.body.evaluation_time);
    let skew_s = i64::from(context.policy().skew_s);
    let latest = GenTime::from_unix(context.at().saturating_add(skew_s));
    if stated > latest {
        let finding = GadFinding::new(TIME_FUTURE, place(at));
        findings.push(finding.expected(format_args!("not after {latest}")).actual(stated));
    }
    let saw_the_anchors =
        beside || (q.body.root_envelope.is_some() && q.body.root_envelope == facts.predecessor);
    let bound = GenTime::from_unix(q.body.evaluation_time.saturating_add(skew_s));
    if let (true, Some(anchored)) = (saw_the_anchors, facts.latest_anchor)
        && anchored > bound
    {
        findings.push(
            GadFinding::new(TIME_ORDER, place(at))
                .expected(format_args!("not before {anchored} less {skew_s} s"))
                .actual(stated),
        );
    }
}

fn differs(
    code: Code,
    place: Where,
    expected: impl fmt::Display,
    actual: impl fmt::Display,
) -> GadFinding {
    GadFinding::new(code, place).expected(expected).actual(actual)
}

fn shown(digest: Option<Digest>) -> String {
    digest
        .map_or_else(|| "a value that could be recomputed".to_owned(), |digest| digest.to_string())
}
