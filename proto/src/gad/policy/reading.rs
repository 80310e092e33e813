//! Reading a policy. Every defect is one of the policy as a whole, so nothing is kept of a defective one.

use core::ops::RangeInclusive;

use crate::json::Value;

use super::{
    ACCEPTABLE_OUTCOMES, CredentialAuthority, LOG_POLICY_FORMAT, POLICY_SCHEMA, Party, Policy,
    PrecommitRule, ReplayPolicy, ReplayRule, RequiredAnchor, RequiredTarget, RequiredWhen,
    TimeSource, TsaEntry, TsaRevocation,
};
use crate::digest::Digest;
use crate::gad::attestation::Implementation;
use crate::gad::envelope::AnchorType;
use crate::gad::form::{At, Cell, Defects, MAX_ELEMENTS, Reader};
use crate::gad::names::{AnchorKind, ObservableKind, ProvenanceLayer, RunOutcome};
use crate::json::JsonCode;
use crate::signed_object::SignerId;

/// A rate of one: every verdict.
const MILLION: i64 = 1_000_000;

impl Policy {
    /// Reads a policy to its end. `None` with any defect at all.
    pub fn read(value: &Value<'_>, defects: &mut Defects) -> Option<Self> {
        let before = (defects.list().len(), defects.omitted());
        let policy = Cell::new(value, &At::root(""), defects).object(read_policy)?;
        let whole = before == (defects.list().len(), defects.omitted());
        whole.then_some(policy)
    }
}

fn read_policy(reader: &mut Reader<'_, '_>) -> Option<Policy> {
    let schema = reader.literal("schema", POLICY_SCHEMA);
    let id = reader.required("id", |cell| cell.one_of(|text| is_policy_id(text).then_some(text)));
    let skew_s =
        reader.required("clock", |cell| cell.object(|reader| number(reader, "skew_s", 0..=86_400)));
    let required_anchors = list(reader, "required_anchors", RequiredAnchor::read);
    let tsa = list(reader, "tsa", TsaEntry::read);
    let logs = reader.required("logs", |cell| cell.nullable(|cell| cell.object(read_logs)));
    let time_sources = set(reader, "time_sources", |cell| cell.one_of(TimeSource::from_name));
    let revocation = reader.required("revocation", |cell| cell.object(read_revocation));
    let parties = list(reader, "parties", Party::read);
    let related_groups =
        reader.required("related_groups", |cell| cell.list(MAX_ELEMENTS, read_group));
    let independence = reader.required("independence", |cell| {
        cell.object(|reader| reader.required("rule", |cell| cell.string()))
    });
    let credential_authorities = list(reader, "credential_authorities", CredentialAuthority::read);
    let accepted_layers =
        set(reader, "accepted_layers", |cell| cell.one_of(ProvenanceLayer::from_name));
    let accepted_evaluators = reader
        .required("accepted_evaluators", |cell| cell.list(MAX_ELEMENTS, Implementation::read));
    let accept_attestations_under = digests(reader, "accept_attestations_under");
    let replay = reader.required("replay", read_replay);
    let accept_outcomes = set(reader, "accept_outcomes", |cell| {
        cell.one_of(|word| {
            RunOutcome::from_name(word).filter(|outcome| ACCEPTABLE_OUTCOMES.contains(outcome))
        })
    });
    let require_single_node_sessions = reader.boolean("require_single_node_sessions");
    let require_bound_artifacts = reader.boolean("require_bound_artifacts");
    let reject_with_notice = reader.boolean("reject_with_notice");
    let require_operator_seal = reader.boolean("require_operator_seal");
    let ((), (tsa_revocation, revoked_keys)) = (schema?, revocation?);
    Some(Policy {
        id: id?.into(),
        skew_s: skew_s?,
        required_anchors: required_anchors?,
        tsa: tsa?,
        logs: logs?,
        time_sources: time_sources?,
        tsa_revocation,
        revoked_keys,
        parties: parties?,
        related_groups: related_groups?,
        independence: independence?.into(),
        credential_authorities: credential_authorities?,
        accepted_layers: accepted_layers?,
        accepted_evaluators: accepted_evaluators?,
        accept_attestations_under: accept_attestations_under?,
        replay: replay?,
        accept_outcomes: accept_outcomes?,
        require_single_node_sessions: require_single_node_sessions?,
        require_bound_artifacts: require_bound_artifacts?,
        reject_with_notice: reject_with_notice?,
        require_operator_seal: require_operator_seal?,
    })
}

impl RequiredAnchor {
    fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let kind = reader.required("kind", |cell| cell.one_of(AnchorKind::from_name));
        let types = set(reader, "types", |cell| cell.one_of(AnchorType::from_name));
        if types.as_ref().is_some_and(Vec::is_empty) {
            reader.defect(JsonCode::Enum, "types");
        }
        let min_distinct_operators = number(reader, "min_distinct_operators", 1..=16);
        let when = reader.required("when", |cell| cell.one_of(RequiredWhen::from_name));
        let target = read_target(reader, kind);
        Some(Self {
            target: target?,
            types: types?,
            min_distinct_operators: min_distinct_operators?,
            when: when?,
        })
    }
}

fn read_target(reader: &mut Reader<'_, '_>, kind: Option<AnchorKind>) -> Option<RequiredTarget> {
    match kind {
        None => skip(reader, ["max_delay_s", "rule"]),
        Some(AnchorKind::CoreRoot) => {
            reader.seq("max_delay_s").map(|max_delay_s| RequiredTarget::CoreRoot { max_delay_s })
        }
        Some(AnchorKind::ChainHead) => {
            reader.seq("max_delay_s").map(|max_delay_s| RequiredTarget::ChainHead { max_delay_s })
        }
        Some(AnchorKind::PlanCommitment) => {
            let rule = reader.required("rule", |cell| cell.one_of(PrecommitRule::from_name));
            rule.map(|rule| RequiredTarget::PlanCommitment { rule })
        }
    }
}

/// Leaves members unread of which it can't be said whether they belong here.
fn skip<T>(reader: &mut Reader<'_, '_>, names: [&str; 2]) -> Option<T> {
    for name in names {
        reader.raw(name);
    }
    None
}

impl TsaEntry {
    fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let operator = reader.id("operator");
        let roots = digests(reader, "roots");
        let window = reader.required("window", |cell| {
            cell.object(|reader| {
                let start = reader.time("start");
                let end = reader.required("end", |cell| cell.nullable(|cell| cell.time()));
                Some((start?, end?))
            })
        });
        let policies = reader.required("policies", |cell| {
            cell.list(MAX_ELEMENTS, |cell| cell.one_of(|text| text.parse().ok()))
        });
        let require_accuracy_s = reader.required("require_accuracy_s", |cell| {
            cell.nullable(|cell| cell.integer(0..=u32::MAX.into()))
        });
        let (start, end) = window?;
        Some(Self {
            operator: operator?.into(),
            roots: roots?,
            start,
            end,
            policies: policies?,
            require_accuracy_s: require_accuracy_s?.and_then(|seconds| u32::try_from(seconds).ok()),
        })
    }
}

fn read_logs(reader: &mut Reader<'_, '_>) -> Option<Digest> {
    let format = reader.literal("format", LOG_POLICY_FORMAT);
    let digest = reader.digest("text_digest");
    format.and(digest)
}

fn read_revocation(reader: &mut Reader<'_, '_>) -> Option<(TsaRevocation, Vec<(SignerId, i64)>)> {
    let tsa = reader.required("tsa", |cell| cell.one_of(TsaRevocation::from_name));
    let keys = list(reader, "keys", |reader| {
        let key_id = reader.key_id("key_id");
        let from = reader.time("from");
        Some((key_id?, from?))
    });
    Some((tsa?, keys?))
}

impl Party {
    fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let id = reader.id("id");
        let names = reader
            .required("names", |cell| cell.list(MAX_ELEMENTS, |cell| cell.string().map(Box::from)));
        let keys = key_ids(reader);
        Some(Self { id: id?.into(), names: names?, keys: keys? })
    }
}

fn read_group(cell: Cell<'_, '_>) -> Option<Vec<Box<str>>> {
    cell.list(MAX_ELEMENTS, |cell| cell.id().map(Box::from))
}

impl CredentialAuthority {
    fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let id = reader.id("id");
        let keys = key_ids(reader);
        let roots = digests(reader, "roots");
        Some(Self { id: id?.into(), keys: keys?, roots: roots? })
    }
}

fn read_replay(cell: Cell<'_, '_>) -> Option<ReplayPolicy> {
    if cell.value().as_object().is_none() {
        return cell.literal("none").map(|()| ReplayPolicy::None);
    }
    cell.object(|reader| match reader.required("rule", |cell| cell.one_of(ReplayRule::from_name)) {
        None => skip(reader, ["kinds", "per_million"]),
        Some(ReplayRule::RequiredForAll) => Some(ReplayPolicy::RequiredForAll),
        Some(ReplayRule::RequiredFor) => {
            let kinds = reader.required("kinds", |cell| {
                cell.list(MAX_ELEMENTS, |cell| cell.one_of(ObservableKind::from_name))
            });
            kinds.map(ReplayPolicy::RequiredFor)
        }
        Some(ReplayRule::Sampled) => {
            let per_million = number(reader, "per_million", 0..=MILLION)?;
            Some(ReplayPolicy::Sampled { per_million })
        }
    })
}

fn is_policy_id(text: &str) -> bool {
    let body = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'/' | b'-');
    text.len() <= 128
        && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && text.bytes().all(body)
}

fn number(
    reader: &mut Reader<'_, '_>,
    name: &'static str,
    range: RangeInclusive<i64>,
) -> Option<u32> {
    reader.required(name, |cell| cell.integer(range)).and_then(|number| u32::try_from(number).ok())
}

fn list<'v, T>(
    reader: &mut Reader<'v, '_>,
    name: &'static str,
    read: impl Fn(&mut Reader<'v, '_>) -> Option<T>,
) -> Option<Vec<T>> {
    reader.required(name, |cell| cell.list(MAX_ELEMENTS, |cell| cell.object(&read)))
}

fn set<'v, T: Ord>(
    reader: &mut Reader<'v, '_>,
    name: &'static str,
    read: impl FnMut(Cell<'v, '_>) -> Option<T>,
) -> Option<Vec<T>> {
    reader.required(name, |cell| cell.set(MAX_ELEMENTS, read))
}

fn digests(reader: &mut Reader<'_, '_>, name: &'static str) -> Option<Vec<Digest>> {
    reader.required(name, |cell| cell.list(MAX_ELEMENTS, |cell| cell.digest()))
}

fn key_ids(reader: &mut Reader<'_, '_>) -> Option<Vec<SignerId>> {
    reader.required("keys", |cell| cell.list(MAX_ELEMENTS, |cell| cell.key_id()))
}
