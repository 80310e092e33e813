//! A document of every form, and what it takes for one to be read with nothing to refuse.

use crate::audit::{Audit, AuditBody, AuditCode, AuditFinding, AuditedEntry, Start, Subject};
use crate::checkpoint::{Checkpoint, SignedCheckpoint};
use crate::digest::Digest;
use crate::encoding::base64_encode;
use crate::gad::anchor_file::TlogAnchor;
use crate::gad::attestation::Attestation;
use crate::gad::chain::sign_body;
use crate::gad::claims::Claims;
use crate::gad::core_manifest::CoreManifest;
use crate::gad::entry::{Entry, EntryReading, EntryType, Payload};
use crate::gad::envelope::EnvelopeManifest;
use crate::gad::form::{At, Defects};
use crate::gad::known_checkpoints::KnownCheckpoints;
use crate::gad::limits::Limits;
use crate::gad::names::is_path;
use crate::gad::operator::Operator;
use crate::gad::payload::table_tests::{json, line};
use crate::gad::payload::tables::TABLES;
use crate::gad::payload::{DispatchNodes, NodeOrNull};
use crate::gad::plan::Plan;
use crate::gad::policy::Policy;
use crate::gad::signed::Signed;
use crate::json::{Object, Value, canonical};
use crate::merkle::TreeSize;
use crate::note::NoteSigner;
use crate::signed_object::{SignerId, SigningKey};

/// The name of a schema with a document of its form.
pub(super) type Sample = (&'static str, Value<'static>);

/// At least one document of every form, and one of every entry type.
pub(super) fn samples() -> Vec<Sample> {
    let mut samples = vec![
        ("plan", text(PLAN)),
        ("operator", text(OPERATOR)),
        ("claims", claims()),
        ("core-manifest", text(CORE_MANIFEST)),
        ("envelope-manifest", envelope()),
        ("attestation", signed("attestation", ATTESTATION)),
        ("signed-object", signed("anything", "{}")),
        ("known-checkpoints", text(KNOWN_CHECKPOINTS)),
        ("trust-policy", text(POLICY)),
        ("anchor-file", anchor_file(text(STATEMENT))),
        ("anchor-file", anchor_file(signed_statement())),
        ("audit", audit()),
    ];
    for replay in [
        r#""replay":{"rule":"required_for_all"}"#,
        r#""replay":{"kinds":["command"],"rule":"required_for"}"#,
        r#""replay":{"per_million":1000,"rule":"sampled"}"#,
    ] {
        samples.push(("trust-policy", text(&POLICY.replace(r#""replay":"none""#, replay))));
    }
    for table in TABLES {
        samples.push(("witness-entry", line(table.entry_type, &json(table.sample))));
    }
    // The spelling of spec_version 0.6.
    let scalar = TABLES[1].sample.replace(r#""nodes":["n1","n0"]"#, r#""node":"n1""#);
    let second = r#",{"desc":"d","node":"n0","prior_failure":null}"#;
    samples.push(("witness-entry", line(EntryType::Dispatch, &json(&scalar.replace(second, "")))));
    samples
}

/// Whether a document of this form is read with nothing to refuse: neither a defect, nor a member whose
/// form some rule refuses later.
pub(super) fn accepts(name: &str, value: &Value<'_>) -> bool {
    let limits = &Limits::DEFAULT;
    let defects = &mut Defects::new();
    let whole = match name {
        "plan" => Plan::read(value, limits, defects).is_some(),
        "operator" => Operator::read(value, defects).is_some(),
        "claims" => Claims::read(value, limits, defects).is_some_and(|claims| {
            let whole = |claim: &Option<crate::gad::claims::TypedClaim>| {
                claim.as_ref().is_some_and(|claim| {
                    let agrees = claim.signed.as_ref().is_none_or(|signed| signed.type_agrees);
                    agrees && claim.noncoverage.is_some()
                })
            };
            claims.registry_known && claims.claims.iter().all(whole)
        }),
        "core-manifest" => CoreManifest::read(value, limits, defects)
            .is_some_and(|manifest| manifest.members.iter().all(|row| is_path(&row.path))),
        "envelope-manifest" => {
            EnvelopeManifest::read(value, limits, defects).is_some_and(|manifest| {
                let rows = manifest.anchors.iter().map(|row| &row.item);
                manifest.root_core.is_some()
                    && manifest.predecessor.is_ok()
                    && !manifest.layers.is_empty()
                    && manifest.heads.is_some()
                    && manifest.anchors.iter().all(|row| row.anchor_type.is_some())
                    && rows.chain(&manifest.attestations).all(|row| is_path(&row.path))
                    && manifest
                        .operator_seal
                        .is_none_or(|seal| seal.root_core.is_some() && seal.signed.type_agrees)
            })
        }
        "attestation" => Attestation::read(value, limits, defects).is_some(),
        "signed-object" => Signed::read(value, "", &At::root(""), defects).is_some(),
        "known-checkpoints" => KnownCheckpoints::read(value, defects).is_some(),
        "trust-policy" => Policy::read(value, defects).is_some(),
        "anchor-file" => TlogAnchor::parse(&canonical(value)).is_ok(),
        "audit" => Audit::parse(&canonical(value)).is_ok(),
        "witness-entry" => match Entry::read(value, limits, defects) {
            EntryReading::Entry(entry) => {
                entry.signed.is_none_or(|signed| signed.type_agrees)
                    && entry.payload.is_some_and(|payload| is_whole(&payload))
            }
            EntryReading::UnknownType(_) | EntryReading::Unreadable => false,
        },
        other => panic!("no reader for {other}"),
    };
    whole && defects.is_empty()
}

/// Whether no member was left out for a rule to refuse.
fn is_whole(payload: &Payload<'_>) -> bool {
    let told = |node: &NodeOrNull<'_>| *node != NodeOrNull::Malformed;
    match payload {
        Payload::Freeze { hash, embedded, .. } => hash.is_some() && embedded.is_some(),
        Payload::Dispatch(it) => it.nodes != DispatchNodes::Malformed && it.baseline.is_some(),
        Payload::ExecutorExit(it) => told(&it.node),
        Payload::ExecutionResult(it) => told(&it.node) && it.delta.is_ok() && it.touched.is_ok(),
        Payload::Remediation(it) => it.action.is_some(),
        Payload::Verdict(it) => {
            let digests = [
                it.test_spec,
                it.signal_artifact,
                it.subject_artifact,
                it.environment,
                it.stdout,
                it.stderr,
            ];
            it.capture.is_some()
                && it.layers.is_some()
                && it.signal.is_some()
                && it.result.is_some()
                && digests.iter().all(Option::is_some)
                && it.engine_identity.is_some_and(|key| key.parse::<SignerId>().is_ok())
                && !it.declares_class
        }
        Payload::Approval(it) | Payload::Refusal(it) => it.decision.is_some(),
        Payload::Retry(it) => it.input_ref.is_some(),
        Payload::Checkpoint(it) => it.range.is_some(),
        Payload::PlanSuperseded(it) => it.delta.is_some(),
        _ => true,
    }
}

/// A document, where `@D`, `@K` and `@P` stand for a digest, a key id and its public key.
fn text(text: &str) -> Value<'static> {
    json(&text.replace("@P", &key().public_key().to_base64()))
}

/// The key of `@K`.
fn key() -> SigningKey {
    SigningKey::from_seed(&[1; 32])
}

fn signed(type_name: &str, body: &str) -> Value<'static> {
    let Value::Object(body) = text(body) else { panic!("a body is an object") };
    let object = sign_body(type_name, body, &Digest::of(b"plan"), &key());
    Value::Object(object).into_owned()
}

fn claims() -> Value<'static> {
    let human = signed("typed_claim", &CLAIM.replace("machine", "human"));
    Value::Object(Object::from([
        ("claims", Value::Array(vec![text(CLAIM), human])),
        ("registry", "gad.registry/1".into()),
        ("schema", "gad.claims/1".into()),
    ]))
}

fn envelope() -> Value<'static> {
    let Value::Object(mut envelope) = text(ENVELOPE) else { panic!("an object") };
    envelope.insert("operator_seal", signed("operator_seal", r#"{"root_core":"@D"}"#));
    Value::Object(envelope)
}

fn signed_statement() -> Value<'static> {
    let Value::Object(statement) = text(STATEMENT) else { panic!("an object") };
    let object = crate::signed_object::SignedObject::sign("statement", statement, &key());
    Value::Object(object.into_owned())
}

fn anchor_file(statement: Value<'static>) -> Value<'static> {
    let signer = NoteSigner::from_seed("log.example".parse().unwrap(), [1; 32]);
    let size = TreeSize::new(1).unwrap();
    let checkpoint = Checkpoint::new("log.example".parse().unwrap(), size, Digest::of(b"root"));
    let checkpoint = SignedCheckpoint::sign(&checkpoint, &signer).unwrap().to_bytes();
    let checkpoint = String::from_utf8(checkpoint).unwrap();
    let proof = format!("c2sp.org/tlog-proof@v1\nindex 0\n\n{checkpoint}");
    Value::Object(Object::from([
        ("proof", Value::from(proof)),
        ("schema", "anchorlog.anchor/1".into()),
        ("statement", statement),
        ("timestamps", Value::Array(vec![base64_encode(b"token").into()])),
        ("type", "tlog".into()),
    ]))
}

/// One entry with every member, and one finding about it.
fn audit() -> Value<'static> {
    let signer = NoteSigner::from_seed("log.example".parse().unwrap(), [1; 32]);
    let size = TreeSize::new(8).unwrap();
    let checkpoint = Checkpoint::new("log.example".parse().unwrap(), size, Digest::of(b"root"));
    let statement = signed_statement();
    let entry = crate::statement::LogEntry::from_value(&statement, "").unwrap();
    let body = AuditBody {
        log_key: signer.verifier_key().clone(),
        checkpoint: SignedCheckpoint::sign(&checkpoint, &signer).unwrap(),
        from: Start { size: TreeSize::new(1).unwrap(), root: Digest::of(b"older root") },
        subject: Subject::Trail("t".parse().unwrap()),
        entries: vec![AuditedEntry::of(5, &entry)],
        entries_omitted: 0,
        findings: vec![AuditFinding { code: AuditCode::SecondCoreRoot, indexes: vec![5, 6] }],
        findings_omitted: 0,
        time: 1_784_541_600,
    };
    let bytes = body.sign(&key()).unwrap();
    let limits = crate::json::ReadLimits::DEFAULT;
    crate::json::parse(&bytes, &limits).unwrap().into_owned()
}

const PLAN: &str = r#"{"D":[["n1","n2"]],"N":[
    {"B":1,"T":[{"spec":{"capture":"engine_capture","expect":{"exit_code":0},"kind":"command",
      "observation_layers":["authenticated_engine_observation"],"replay":false,"run":"make test",
      "signal_kind":"direct_observable"},"test_id":"t1"}],"c_min":"proxy","desc":"d",
     "fence":{"allow":["src/"],"kind":"paths"},"node":"n1","risk":"normal","testimony":true},
    {"B":0,"T":[{"spec":{"capture":"attested_capture","expect":{"exit_code":255},"kind":"page",
      "observation_layers":[],"replay":true,"run":"r","signal_kind":"worker_authored_proxy"},
      "test_id":"t1"}],"c_min":"attested","desc":"d","fence":{"allow":[],"kind":"paths"},"node":"n2",
     "risk":"normal"}],
    "authorized_principals":[{"algorithm":"ed25519","custody_statement":"","key_id":"@K","party":"p",
      "public_key":"@P","roles":["engine"]}],
    "meta":{"clock_policy":{"max_backstep_s":0,"max_future_skew_s":300}},"schema":"gad.plan/1"}"#;

const OPERATOR: &str = r#"{"engagement_or_lane_id":"l","implementation_identity":"i",
    "legal_or_organizational_identity":"o","operator_credential":{"alg":"ed25519","key_id":"@K",
    "public_key":"@P"},"organizational_unit":"u","schema":"gad.operator/1"}"#;

const CLAIM: &str = r#"{"evidence_class":"proxy","evidence_refs":[{"kind":"entry","seq":5},
    {"kind":"anchor","target":"core_root"}],"issuer_type":"machine",
    "noncoverage":[{"aspect":"scope","text":"t"}],"predicate_id":"judgment/x",
    "subject_ref":{"node":"n1","plan_hash":"@D","test_id":null}}"#;

const CORE_MANIFEST: &str = r#"{"byte_profile":"gad-bytes/1","canonicalization":"jcs-int/1",
    "chain_mode":"public","checkpoint_overlap":"none","coverage_scheme":"checkpoint","hash":"sha256",
    "members":[{"digest":"@D","path":"plan.json","role":"plan","size":1}],
    "schema":"gad.core-manifest/1","seal":"final","spec_version":"1.3","table":"gad.table/1",
    "witness":{"count":1,"head":"@D"}}"#;

const ENVELOPE: &str = r#"{"anchors":[{"digest":"@D","kind":"core_root","path":"anchors/a.tsr",
    "target":"@D","type":"rfc3161"}],"attestations":[{"digest":"@D","path":"attestations/q.json"}],
    "declared_heads":[{"head":"@D","seq":6}],"metadata":{"created":"2026-07-20T10:00:00Z",
    "producer":"p"},"predecessor":null,"provenance_layers":["signed_entries_and_checkpoints"],
    "root_core":"@D","schema":"gad.envelope-manifest/1"}"#;

const ATTESTATION: &str = r#"{"canonicalization_version":"c","conformance_suite_version":"s",
    "evaluation_time":"2026-07-20T10:00:00Z","evaluator_credential":{"alg":"ed25519","key_id":"@K",
    "public_key":"@P"},"evaluator_identity":"e","evaluator_implementation":{"hash":"@D","name":"n",
    "version":"v"},"policy":{"hash":"@D","id":"p"},"predicate_registry_version":"r",
    "predicate_results":{"outcome":"COMPLETED","satisfied":true,"valid":true},
    "replay_layers_exercised":["independently_replayable"],"root_core":"@D","root_envelope":null,
    "spec_version":"1.3"}"#;

const STATEMENT: &str = r#"{"digest":"@D","kind":"core_root","schema":"anchorlog.statement/1",
    "sequence":0,"trail":"t"}"#;

const KNOWN_CHECKPOINTS: &str = r#"{"checkpoints":[
    {"consistency":["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],"origin":"log.example",
     "root":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","size":1},
    {"consistency":null,"origin":"o","root":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","size":0}],
    "schema":"gad.known-checkpoints/1"}"#;

const POLICY: &str = r#"{"accept_attestations_under":["@D"],"accept_outcomes":["COMPLETED"],
    "accepted_evaluators":[{"hash":"@D","name":"n","version":"v"}],
    "accepted_layers":["witnessed_checkpoints"],"clock":{"skew_s":300},
    "credential_authorities":[{"id":"a","keys":["@K"],"roots":["@D"]}],"id":"example/1",
    "independence":{"rule":"distinct_unrelated/1"},
    "logs":{"format":"c2sp.org/tlog-policy","text_digest":"@D"},
    "parties":[{"id":"op","keys":["@K"],"names":["Operator"]}],"reject_with_notice":true,
    "related_groups":[["op"]],"replay":"none","require_bound_artifacts":false,
    "require_operator_seal":false,"require_single_node_sessions":false,"required_anchors":[
     {"kind":"core_root","max_delay_s":60,"min_distinct_operators":1,"types":["rfc3161"],
      "when":"always"},
     {"kind":"plan_commitment","min_distinct_operators":1,"rule":"bound_in_dispatch",
      "types":["tlog"],"when":"bounded_precedence_claimed"}],
    "revocation":{"keys":[{"from":"2026-07-20T10:00:00Z","key_id":"@K"}],"tsa":"none"},
    "schema":"gad.policy/1","time_sources":["rfc3161"],"tsa":[{"operator":"tsa","policies":["1.2.3"],
     "require_accuracy_s":60,"roots":["@D"],"window":{"end":null,"start":"2026-07-20T10:00:00Z"}}]}"#;
