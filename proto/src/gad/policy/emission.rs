//! Writing a policy.

use super::{
    CredentialAuthority, LOG_POLICY_FORMAT, POLICY_SCHEMA, Party, Policy, ReplayPolicy, ReplayRule,
    RequiredAnchor, RequiredTarget, TsaEntry,
};
use crate::gad::attestation::Implementation;
use crate::gad::emit::{integer, list, nullable, text, time};
use crate::gad::names::AnchorKind;
use crate::json::{Object, Value};

impl Policy {
    /// The policy as it is written.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        let revoked = list(&self.revoked_keys, |(key_id, from)| {
            Object::from([("key_id", text(key_id)), ("from", time(*from))]).into()
        });
        Object::from([
            ("schema", POLICY_SCHEMA.into()),
            ("id", text(&self.id)),
            ("clock", Object::from([("skew_s", self.skew_s)]).into()),
            ("required_anchors", list(&self.required_anchors, RequiredAnchor::to_value)),
            ("tsa", list(&self.tsa, TsaEntry::to_value)),
            (
                "logs",
                nullable(self.logs, |digest| {
                    Object::from([
                        ("format", text(LOG_POLICY_FORMAT)),
                        ("text_digest", text(digest)),
                    ])
                    .into()
                }),
            ),
            ("time_sources", list(&self.time_sources, text)),
            (
                "revocation",
                Object::from([("tsa", text(self.tsa_revocation)), ("keys", revoked)]).into(),
            ),
            ("parties", list(&self.parties, Party::to_value)),
            ("related_groups", list(&self.related_groups, |group| list(group, text))),
            ("independence", Object::from([("rule", text(&self.independence))]).into()),
            (
                "credential_authorities",
                list(&self.credential_authorities, CredentialAuthority::to_value),
            ),
            ("accepted_layers", list(&self.accepted_layers, text)),
            ("accepted_evaluators", list(&self.accepted_evaluators, Implementation::to_value)),
            ("accept_attestations_under", list(&self.accept_attestations_under, text)),
            ("replay", self.replay.to_value()),
            ("accept_outcomes", list(&self.accept_outcomes, text)),
            ("require_single_node_sessions", self.require_single_node_sessions.into()),
            ("require_bound_artifacts", self.require_bound_artifacts.into()),
            ("reject_with_notice", self.reject_with_notice.into()),
            ("require_operator_seal", self.require_operator_seal.into()),
        ])
        .into()
    }
}

impl RequiredAnchor {
    fn to_value(&self) -> Value<'static> {
        let (kind, name, rule) = match self.target {
            RequiredTarget::CoreRoot { max_delay_s } => {
                (AnchorKind::CoreRoot, "max_delay_s", integer(max_delay_s))
            }
            RequiredTarget::ChainHead { max_delay_s } => {
                (AnchorKind::ChainHead, "max_delay_s", integer(max_delay_s))
            }
            RequiredTarget::PlanCommitment { rule } => {
                (AnchorKind::PlanCommitment, "rule", text(rule))
            }
        };
        Object::from([
            ("kind", text(kind)),
            (name, rule),
            ("types", list(&self.types, text)),
            ("min_distinct_operators", self.min_distinct_operators.into()),
            ("when", text(self.when)),
        ])
        .into()
    }
}

impl TsaEntry {
    fn to_value(&self) -> Value<'static> {
        let window = Object::from([("start", time(self.start)), ("end", nullable(self.end, time))]);
        Object::from([
            ("operator", text(&self.operator)),
            ("roots", list(&self.roots, text)),
            ("window", window.into()),
            ("policies", list(&self.policies, text)),
            ("require_accuracy_s", nullable(self.require_accuracy_s, Value::from)),
        ])
        .into()
    }
}

impl Party {
    fn to_value(&self) -> Value<'static> {
        Object::from([
            ("id", text(&self.id)),
            ("names", list(&self.names, text)),
            ("keys", list(&self.keys, text)),
        ])
        .into()
    }
}

impl CredentialAuthority {
    fn to_value(&self) -> Value<'static> {
        Object::from([
            ("id", text(&self.id)),
            ("keys", list(&self.keys, text)),
            ("roots", list(&self.roots, text)),
        ])
        .into()
    }
}

impl ReplayPolicy {
    fn to_value(&self) -> Value<'static> {
        let rule = |rule: ReplayRule| Object::from([("rule", rule.as_str())]);
        let object = match self {
            Self::None => return "none".into(),
            Self::RequiredForAll => rule(ReplayRule::RequiredForAll),
            Self::RequiredFor(kinds) => {
                let mut object = rule(ReplayRule::RequiredFor);
                object.insert("kinds", list(kinds, text));
                object
            }
            Self::Sampled { per_million } => {
                let mut object = rule(ReplayRule::Sampled);
                object.insert("per_million", *per_million);
                object
            }
        };
        object.into()
    }
}
