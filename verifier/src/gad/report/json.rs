//! The JSON form of a report: every member is always there.

use anchorlog_proto::Digest;
use anchorlog_proto::audit::AuditBody;
use anchorlog_proto::json::{Object, Value, canonical};
use anchorlog_proto::timestamp::GenTime;

use super::{AnchorReport, AuditReport, REPORT_SCHEMA, RULES, Report, UnsignedMetadata};
use crate::gad::finding::{GadFinding, Where};

/// Writes a report in canonical form.
pub(super) fn write(report: &Report) -> Vec<u8> {
    let statuses = &report.statuses;
    let evaluator = Object::from([
        ("name", Value::from(&*report.evaluator.name)),
        ("version", (&*report.evaluator.version).into()),
        ("hash", report.evaluator.hash.to_string().into()),
    ]);
    let input = Object::from([
        ("form", Value::from(report.input.form)),
        ("sha256", digest(report.input.sha256)),
    ]);
    let policy = Object::from([
        ("id", Value::from(&*report.policy.id)),
        ("hash", report.policy.hash.to_string().into()),
    ]);
    let mut rules = Object::new();
    for (rule, state) in RULES.iter().zip(statuses.rules()) {
        rules.insert(rule.as_str(), state.as_str());
    }
    let mut limits = Object::new();
    for (name, value) in report.limits.list() {
        limits.insert(name, unsigned(value));
    }
    let mut omitted = Object::new();
    for (code, count) in report.findings.omitted() {
        omitted.insert(code.as_str(), unsigned(u64::try_from(count).unwrap_or(u64::MAX)));
    }
    let sorted = report.findings.sorted();
    let findings: Vec<_> = sorted.into_iter().map(finding).collect();
    let claims: Vec<_> = report
        .claims_not_evaluated
        .iter()
        .map(|position| unsigned(u64::try_from(*position).unwrap_or(u64::MAX)))
        .collect();
    let layers: Vec<_> =
        report.replay_layers.iter().map(|layer| Value::from(layer.as_str())).collect();
    let anchors: Vec<_> = report.anchors.iter().map(anchor).collect();
    let audits: Vec<_> = report.audits.iter().map(audit).collect();
    let object = Object::from([
        ("schema", Value::from(REPORT_SCHEMA)),
        ("evaluator", evaluator.into()),
        ("input", input.into()),
        ("root_core", digest(report.root_core)),
        ("root_envelope", digest(report.root_envelope)),
        ("plan_hash", digest(report.plan_hash)),
        ("spec_version", text(report.versions.spec.as_deref())),
        ("byte_profile", text(report.versions.byte_profile)),
        ("table", text(report.versions.table)),
        ("registry", text(report.versions.registry)),
        ("valid", statuses.valid().into()),
        ("outcome", statuses.outcome().as_str().into()),
        ("satisfied", statuses.satisfied().into()),
        ("defensible", statuses.defensible().map_or(Value::Null, Value::from)),
        ("level", u32::from(statuses.level()).into()),
        ("rules", rules.into()),
        ("anchors", anchors.into()),
        ("audits", audits.into()),
        (
            "unsigned_metadata",
            report.unsigned_metadata.as_ref().map_or(Value::Null, unsigned_words),
        ),
        ("claims_not_evaluated", claims.into()),
        ("replay_layers_exercised", layers.into()),
        ("vacuous_anchors", report.vacuous_anchors.into()),
        ("precedence", report.precedence.as_str().into()),
        ("policy", policy.into()),
        ("limits", limits.into()),
        ("evaluation_time", utc(report.evaluation_time)),
        ("findings", findings.into()),
        ("findings_omitted", omitted.into()),
    ]);
    canonical(&object.into())
}

fn finding(finding: &GadFinding) -> Value<'_> {
    let affects: Vec<_> =
        finding.affects.iter().map(|affect| Value::from(affect.as_str())).collect();
    Object::from([
        ("code", Value::from(finding.code.as_str())),
        ("affects", affects.into()),
        ("class", finding.class().as_str().into()),
        ("where", place(&finding.place)),
        ("expected", text(finding.expected.as_deref())),
        ("actual", text(finding.actual.as_deref())),
        ("clause", finding.code.clause().into()),
        ("hint", finding.code.action().into()),
    ])
    .into()
}

fn place(place: &Where) -> Value<'_> {
    Object::from([
        ("member", text(place.member.as_deref())),
        ("seq", place.seq.map_or(Value::Null, unsigned)),
        ("pointer", text(place.pointer.as_deref())),
    ])
    .into()
}

fn anchor(anchor: &AnchorReport) -> Value<'_> {
    let time = anchor.time.map_or(Value::Null, utc);
    Object::from([
        ("path", Value::from(&*anchor.path)),
        ("kind", anchor.kind.as_str().into()),
        ("state", anchor.state.as_str().into()),
        ("time", time),
        ("operator", text(anchor.operator.as_deref())),
    ])
    .into()
}

fn audit(audit: &AuditReport) -> Value<'_> {
    let claims = audit.claims.as_ref();
    let subject = claims.map(|body| {
        let (kind, value) = (body.subject.kind(), body.subject.value());
        Object::from([("kind", Value::from(kind)), ("value", value.into())])
    });
    let listed = |body: &AuditBody| u64::try_from(body.entries.len()).unwrap_or(u64::MAX);
    let number =
        |read: &dyn Fn(&AuditBody) -> u64| claims.map_or(Value::Null, |body| unsigned(read(body)));
    let findings: Vec<_> = audit.findings.iter().map(finding).collect();
    Object::from([
        ("sha256", Value::from(audit.sha256.to_string())),
        ("state", audit.state.as_str().into()),
        ("auditor", audit.auditor.map_or(Value::Null, |key| key.to_string().into())),
        ("log", text(claims.map(|body| body.origin().as_str()))),
        ("subject", subject.map_or(Value::Null, Value::from)),
        ("from", number(&|body| body.from.size.get())),
        ("size", number(&|body| body.size().get())),
        ("root", digest(claims.map(AuditBody::root))),
        ("entries", number(&listed)),
        ("entries_omitted", number(&|body| body.entries_omitted)),
        ("time", claims.map_or(Value::Null, |body| utc(body.time))),
        ("findings", findings.into()),
    ])
    .into()
}

fn unsigned_words(words: &UnsignedMetadata) -> Value<'_> {
    let metadata = words.metadata.as_ref();
    Object::from([
        ("producer", text(metadata.map(|metadata| &*metadata.producer))),
        ("created", metadata.map_or(Value::Null, |metadata| utc(metadata.created))),
        ("ext", words.ext.into()),
    ])
    .into()
}

fn digest(digest: Option<Digest>) -> Value<'static> {
    digest.map_or(Value::Null, |digest| digest.to_string().into())
}

fn text(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Null, Value::from)
}

/// A number of the report; none of them comes near 2^53.
fn unsigned(number: u64) -> Value<'static> {
    Value::try_from(number).unwrap_or(Value::Null)
}

fn utc(seconds: i64) -> Value<'static> {
    GenTime::from_unix(seconds).to_string().into()
}
