//! The documents of a core, and signed objects.

use super::parts::{
    Closed, Part, array, base64, boolean, constant, credential, described, digest, fence, id,
    integer, key_id, nullable, object_of_any, one_of, path, seq, set, string, text_of, titled,
    with, words, wrapper,
};
use crate::gad::claims::{
    ASPECTS, CLAIM_TYPE, CLAIMS_SCHEMA, EvidenceKind, IssuerType, MAX_NONCOVERAGE_BYTES,
    MAX_PREDICATE_BYTES, REGISTRY,
};
use crate::gad::core_manifest::{
    CHAIN_MODE, CHECKPOINTS, CORE_MANIFEST_SCHEMA, CoreRole, PROFILE, SPEC_VERSIONS, Seal,
};
use crate::gad::limits::Limits;
use crate::gad::names::{
    AnchorKind, Capture, EvidenceClass, ObservableKind, ObservationLayer, Risk, Role, SignalKind,
};
use crate::gad::operator::{MAX_TEXT_BYTES, OPERATOR_SCHEMA};
use crate::gad::plan::{
    ALGORITHM, MAX_CLOCK_S, MAX_CUSTODY_BYTES, MAX_DESC_BYTES, MAX_PARTY_BYTES, MAX_RETRIES,
    MAX_RUN_BYTES, PLAN_SCHEMA,
};

const LIMITS: Limits = Limits::DEFAULT;

pub(super) fn plan() -> Part {
    let seconds = || integer(0..=MAX_CLOCK_S.into());
    let clock =
        Closed::new().with("max_backstep_s", seconds()).with("max_future_skew_s", seconds());
    let meta = Closed::new().with("clock_policy", clock.part()).ext();
    let edge = described(array(id(), 2..=2), "[from, to]");
    let plan = Closed::new()
        .with("schema", constant(PLAN_SCHEMA))
        .with("N", array(node(), 1..=LIMITS.nodes))
        .with("D", super::parts::unique(array(edge, 0..=LIMITS.edges)))
        .with("authorized_principals", array(principal(), 1..=LIMITS.principals))
        .with("meta", meta.part())
        .ext();
    titled(plan.part(), PLAN_SCHEMA)
}

fn node() -> Part {
    let test = Closed::new().with("test_id", id()).with("spec", test_spec());
    Closed::new()
        .with("node", id())
        .with("desc", text_of(1..=MAX_DESC_BYTES))
        .with("fence", fence())
        .with("T", array(test.part(), 1..=LIMITS.tests))
        .with("c_min", words(EvidenceClass::ALL))
        .with("risk", words(Risk::ALL))
        .with("B", integer(0..=MAX_RETRIES.into()))
        .may("testimony", with(boolean(), "const", true.into()))
        .ext()
        .part()
}

fn test_spec() -> Part {
    let expect = Closed::new().with("exit_code", integer(0..=u8::MAX.into()));
    Closed::new()
        .with("kind", words(ObservableKind::ALL))
        .with("run", text_of(1..=MAX_RUN_BYTES))
        .with("capture", words(Capture::ALL))
        .with("observation_layers", layers())
        .with("signal_kind", words(SignalKind::ALL))
        .with("replay", boolean())
        .with("expect", expect.part())
        .ext()
        .part()
}

/// A set of observation layers.
pub(super) fn layers() -> Part {
    let all = ObservationLayer::ALL;
    set(words(all), 0..=count(all))
}

fn principal() -> Part {
    Closed::new()
        .with("key_id", key_id())
        .with("algorithm", constant(ALGORITHM))
        .with("public_key", base64(32))
        .with("custody_statement", text_of(0..=MAX_CUSTODY_BYTES))
        .with("roles", set(words(Role::ALL), 1..=count(Role::ALL)))
        .may("party", text_of(1..=MAX_PARTY_BYTES))
        .ext()
        .part()
}

pub(super) fn operator() -> Part {
    let text = || text_of(1..=MAX_TEXT_BYTES);
    let operator = Closed::new()
        .with("schema", constant(OPERATOR_SCHEMA))
        .with("legal_or_organizational_identity", text())
        .with("implementation_identity", text())
        .with("organizational_unit", text())
        .with("engagement_or_lane_id", text())
        .with("operator_credential", credential())
        .ext();
    titled(operator.part(), OPERATOR_SCHEMA)
}

pub(super) fn core_manifest() -> Part {
    let witness = Closed::new().with("count", seq()).with("head", digest());
    let member = Closed::new()
        .with("path", path())
        .with("role", words(CoreRole::ALL))
        .with("size", seq())
        .with("digest", digest());
    let members = described(array(member.part(), 0..=LIMITS.members), "Ascending by path.");
    let mut manifest = Closed::new()
        .with("schema", constant(CORE_MANIFEST_SCHEMA))
        .with("spec_version", words(&SPEC_VERSIONS))
        .with("chain_mode", constant(CHAIN_MODE))
        .with("seal", words(Seal::ALL))
        .with("witness", witness.part())
        .with("members", members)
        .ext();
    for (name, value) in PROFILE.into_iter().chain(CHECKPOINTS) {
        manifest = manifest.with(name, constant(value));
    }
    titled(manifest.part(), CORE_MANIFEST_SCHEMA)
}

pub(super) fn claims() -> Part {
    let signed = super::parts::signed(CLAIM_TYPE, tuple());
    let claim = one_of([tuple().part(), signed]);
    let claims = Closed::new()
        .with("schema", constant(CLAIMS_SCHEMA))
        .with("registry", constant(REGISTRY))
        .with("claims", array(claim, 0..=LIMITS.elements))
        .ext();
    titled(claims.part(), CLAIMS_SCHEMA)
}

fn tuple() -> Closed {
    let subject = Closed::new()
        .with("plan_hash", digest())
        .with("node", nullable(id()))
        .with("test_id", nullable(id()));
    let entry =
        Closed::new().with("kind", constant(EvidenceKind::Entry.as_str())).with("seq", seq());
    let anchor = Closed::new()
        .with("kind", constant(EvidenceKind::Anchor.as_str()))
        .with("target", words(AnchorKind::ALL));
    let row = Closed::new()
        .with("aspect", words(&ASPECTS))
        .with("text", text_of(1..=MAX_NONCOVERAGE_BYTES));
    Closed::new()
        .with("predicate_id", text_of(1..=MAX_PREDICATE_BYTES))
        .with("subject_ref", subject.part())
        .with("evidence_refs", array(one_of([entry.part(), anchor.part()]), 0..=LIMITS.elements))
        .with("evidence_class", words(EvidenceClass::ALL))
        .with("noncoverage", array(row.part(), 0..=LIMITS.elements))
        .with("issuer_type", words(IssuerType::ALL))
        .ext()
}

/// Any signed object: what all of them have.
pub(super) fn signed_object() -> Part {
    let body = object_of_any([("type", string()), ("key_id", key_id()), ("plan_hash", digest())]);
    titled(wrapper(body), "signed object")
}

/// The number of words, as a number of elements.
pub(super) fn count<T>(all: &[T]) -> u64 {
    u64::try_from(all.len()).unwrap_or(u64::MAX)
}
