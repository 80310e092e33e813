//! The report as an unsigned in-toto Statement: a Simple Verification Result, or a SLSA Verification
//! Summary.
//!
//! Derived outputs for supply-chain tools; Q is the attestation of the specification. Neither says why.

use anchorlog_proto::Digest;
use anchorlog_proto::json::{Object, Value, canonical};
use anchorlog_proto::timestamp::GenTime;

use super::{Asked, Report};

/// The Simple Verification Result v0.1: which properties hold. It has no failed form: what doesn't hold
/// isn't listed. `None` when root_core is unknown, since there is no subject then.
#[must_use]
pub fn simple_verification_result(report: &Report) -> Option<Vec<u8>> {
    let mut properties = Vec::new();
    for (asked, name) in [
        (Asked::Valid, "GAD_VALID_RECORD"),
        (Asked::Satisfied, "GAD_CONTRACT_SATISFIED"),
        (Asked::Defensible, "GAD_DEFENSIBLE"),
    ] {
        if report.holds(asked) {
            properties.push(Value::from(name));
        }
    }
    let statuses = &report.statuses;
    for level in 1..=statuses.level() {
        properties.push(Value::from(format!("GAD_LEVEL_{level}")));
    }
    if statuses.valid() {
        properties.push(Value::from(format!("GAD_OUTCOME_{}", statuses.outcome())));
    }
    let verifier = Object::from([("id", verifier_id(report)), ("policy", policy(report))]);
    let predicate = Object::from([
        ("verifier", Value::from(verifier)),
        ("timeCreated", time(report)),
        ("properties", properties.into()),
    ]);
    statement(report, "https://in-toto.io/attestation/svr/v0.1", predicate)
}

/// The SLSA Verification Summary v1: whether the status that was asked for holds. `None` when root_core
/// is unknown, since there is no subject then.
#[must_use]
pub fn verification_summary(report: &Report, asked: Asked) -> Option<Vec<u8>> {
    let result = if report.holds(asked) { "PASSED" } else { "FAILED" };
    let level = report.statuses.level();
    let levels: Vec<_> =
        (1..=level).map(|level| Value::from(format!("GAD_LEVEL_{level}"))).collect();
    let version =
        Object::from([(&*report.evaluator.name, Value::from(&*report.evaluator.version))]);
    let verifier = Object::from([("id", verifier_id(report)), ("version", version.into())]);
    let root = report.root_core?;
    let predicate = Object::from([
        ("verifier", Value::from(verifier)),
        ("timeVerified", time(report)),
        ("resourceUri", format!("urn:gad:root_core:{root}").into()),
        ("policy", policy(report)),
        ("verificationResult", result.into()),
        ("verifiedLevels", levels.into()),
    ]);
    statement(report, "https://slsa.dev/verification_summary/v1", predicate)
}

fn statement(report: &Report, predicate_type: &str, predicate: Object<'_>) -> Option<Vec<u8>> {
    let mut subjects = vec![subject("root_core", report.root_core?)];
    subjects.extend(report.root_envelope.map(|root| subject("root_envelope", root)));
    let statement = Object::from([
        ("_type", Value::from("https://in-toto.io/Statement/v1")),
        ("subject", subjects.into()),
        ("predicateType", predicate_type.into()),
        ("predicate", predicate.into()),
    ]);
    Some(canonical(&statement.into()))
}

fn subject(name: &str, digest: Digest) -> Value<'_> {
    let digest = Object::from([("sha256", digest.to_hex())]);
    Object::from([("name", Value::from(name)), ("digest", digest.into())]).into()
}

fn policy(report: &Report) -> Value<'_> {
    let digest = Object::from([("sha256", report.policy.hash.to_hex())]);
    Object::from([
        ("uri", Value::from(format!("urn:gad:policy:{}", report.policy.id))),
        ("digest", digest.into()),
    ])
    .into()
}

fn verifier_id(report: &Report) -> Value<'static> {
    format!("urn:gad:evaluator:{}:{}", report.evaluator.name, report.evaluator.hash).into()
}

fn time(report: &Report) -> Value<'static> {
    GenTime::from_unix(report.evaluation_time).to_string().into()
}
