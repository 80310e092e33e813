//! The trust policy.

use super::core::count;
use super::envelope::implementation;
use super::parts::{
    Closed, Part, array, boolean, constant, digest, id, integer, key_id, nullable, one_of, pattern,
    seq, set, string, time, titled, words,
};
use crate::gad::envelope::AnchorType;
use crate::gad::limits::Limits;
use crate::gad::names::{AnchorKind, ObservableKind, ProvenanceLayer};
use crate::gad::policy::{
    ACCEPTABLE_OUTCOMES, LOG_POLICY_FORMAT, POLICY_SCHEMA, PrecommitRule, ReplayRule, RequiredWhen,
    TimeSource, TsaRevocation,
};

const MOST: u64 = Limits::DEFAULT.elements;

pub(super) fn policy() -> Part {
    let clock = Closed::new().with("skew_s", integer(0..=86_400));
    let logs =
        Closed::new().with("format", constant(LOG_POLICY_FORMAT)).with("text_digest", digest());
    let revoked = Closed::new().with("key_id", key_id()).with("from", time());
    let revocation =
        Closed::new().with("tsa", words(TsaRevocation::ALL)).with("keys", many(revoked.part()));
    let party =
        Closed::new().with("id", id()).with("names", many(string())).with("keys", many(key_id()));
    let authority =
        Closed::new().with("id", id()).with("keys", many(key_id())).with("roots", many(digest()));
    let policy = Closed::new()
        .with("schema", constant(POLICY_SCHEMA))
        .with("id", pattern("^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$"))
        .with("clock", clock.part())
        .with("required_anchors", many(required_anchor()))
        .with("tsa", many(tsa()))
        .with("logs", nullable(logs.part()))
        .with("time_sources", set(words(TimeSource::ALL), 0..=count(TimeSource::ALL)))
        .with("revocation", revocation.part())
        .with("parties", many(party.part()))
        .with("related_groups", many(many(id())))
        .with("independence", Closed::new().with("rule", string()).part())
        .with("credential_authorities", many(authority.part()))
        .with("accepted_layers", set(words(ProvenanceLayer::ALL), 0..=count(ProvenanceLayer::ALL)))
        .with("accepted_evaluators", many(implementation()))
        .with("accept_attestations_under", many(digest()))
        .with("replay", replay())
        .with("accept_outcomes", set(words(&ACCEPTABLE_OUTCOMES), 0..=count(&ACCEPTABLE_OUTCOMES)))
        .with("require_single_node_sessions", boolean())
        .with("require_bound_artifacts", boolean())
        .with("reject_with_notice", boolean())
        .with("require_operator_seal", boolean());
    titled(policy.part(), POLICY_SCHEMA)
}

fn many(element: Part) -> Part {
    array(element, 0..=MOST)
}

fn required_anchor() -> Part {
    let common = |kinds: &[AnchorKind]| {
        Closed::new()
            .with("kind", words(kinds))
            .with("types", set(words(AnchorType::ALL), 1..=count(AnchorType::ALL)))
            .with("min_distinct_operators", integer(1..=16))
            .with("when", words(RequiredWhen::ALL))
    };
    let root = common(&[AnchorKind::CoreRoot, AnchorKind::ChainHead]).with("max_delay_s", seq());
    let commitment = common(&[AnchorKind::PlanCommitment]).with("rule", words(PrecommitRule::ALL));
    one_of([root.part(), commitment.part()])
}

fn tsa() -> Part {
    let window = Closed::new().with("start", time()).with("end", nullable(time()));
    Closed::new()
        .with("operator", id())
        .with("roots", many(digest()))
        .with("window", window.part())
        .with("policies", many(pattern(r"^[0-2](\.(0|[1-9][0-9]*))+$")))
        .with("require_accuracy_s", nullable(integer(0..=u32::MAX.into())))
        .part()
}

fn replay() -> Part {
    let rule = |rule: ReplayRule| Closed::new().with("rule", constant(rule.as_str()));
    one_of([
        constant("none"),
        rule(ReplayRule::RequiredForAll).part(),
        rule(ReplayRule::RequiredFor).with("kinds", many(words(ObservableKind::ALL))).part(),
        rule(ReplayRule::Sampled).with("per_million", integer(0..=1_000_000)).part(),
    ])
}
