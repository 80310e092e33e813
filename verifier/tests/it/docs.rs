//! The pages about evaluation, held against the code: codes, the worked example, the ready policies.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::chain::{Chain, Signer, genesis};
use anchorlog_proto::gad::core_manifest::{CoreManifest, CoreMember, CoreRole, Seal, root_core};
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::envelope::{EnvelopeManifest, Metadata, root_envelope};
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::names::{ProvenanceLayer, RunOutcome};
use anchorlog_proto::gad::operator::Operator;
use anchorlog_proto::gad::payload::Checkpoint;
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::gad::policy::{Policy, policy_hash};
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{ReadLimits, Value, canonical, parse};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_verifier::codes::Code;
use anchorlog_verifier::gad::container::{Bundle, Form};
use anchorlog_verifier::gad::evaluate::{Request, evaluate};
use anchorlog_verifier::gad::report::Asked;
use anchorlog_verifier::gad::trust::TrustMaterial;

/// 2026-07-20T10:00:00Z.
const START: i64 = 1_784_541_600;

#[test]
fn every_code_of_the_evaluation_is_on_its_page_and_no_other() {
    let page = page("evaluate.md");
    let named: BTreeSet<&str> = page.split('`').filter(|text| is_code(text)).collect();
    let unknown: Vec<_> = named.iter().filter(|text| Code::lookup(text).is_none()).collect();
    assert!(unknown.is_empty(), "no codes: {unknown:?}");
    let all = Code::all();
    let of_evaluation = all.iter().filter(|code| !code.affects().is_empty());
    let missing: Vec<_> =
        of_evaluation.map(|code| code.as_str()).filter(|code| !named.contains(code)).collect();
    assert!(missing.is_empty(), "not on the page: {missing:?}");
}

#[test]
fn policies_of_the_page_are_read_without_defects() {
    let page = page("policies.md");
    let policies: Vec<_> =
        blocks(&page).into_iter().filter(|block| schema(block) == "gad.policy/1").collect();
    assert!(policies.len() >= 3, "{} policies", policies.len());
    for text in policies {
        let value = parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        let mut defects = Defects::new();
        let policy = Policy::read(&value, &mut defects);
        assert!(defects.is_empty(), "{defects:?} in {text}");
        let canonical = canonical(&value);
        assert_eq!(canonical, anchorlog_proto::json::canonical(&policy.unwrap().to_value()));
        let hash = policy_hash(&canonical).to_string();
        assert!(page.contains(&hash), "{hash} is not on the page");
    }
}

#[test]
fn the_worked_example_is_what_the_code_computes() {
    let page = page("formats.md");
    let block = |name: &str| {
        let found = blocks(&page).into_iter().find(|block| schema(block) == name);
        canonical_of(&found.unwrap_or_else(|| panic!("no block of {name}")))
    };
    let (plan, operator) = (block("gad.plan/1"), block("gad.operator/1"));
    let record = Example::of(plan, operator);
    let absent: Vec<_> = record.values.iter().filter(|(_, value)| !page.contains(value)).collect();
    assert!(absent.is_empty(), "not on the page: {absent:#?}");
    let (manifest, envelope) =
        (&record.members["core/manifest.json"], &record.members["envelope.json"]);
    for (name, computed) in
        [("gad.core-manifest/1", manifest), ("gad.envelope-manifest/1", envelope)]
    {
        assert_eq!(text(&block(name)), text(computed));
    }

    let members = record.members.into_iter().map(|(path, bytes)| (path.to_owned(), bytes));
    let bundle = Bundle::in_memory(members, Form::Directory, &Limits::DEFAULT);
    let report = evaluate(&bundle, &request(&TrustMaterial::default())).unwrap();
    let found: Vec<_> = report.findings.list().iter().map(|one| one.code.as_str()).collect();
    assert!(report.statuses.valid(), "{found:?}");
    assert_eq!(report.statuses.outcome(), RunOutcome::Incomplete);
}

/// The smallest record there is: a frozen plan, and a checkpoint over it.
struct Example {
    members: std::collections::BTreeMap<&'static str, Vec<u8>>,
    /// What the page states.
    values: Vec<(&'static str, String)>,
}

impl Example {
    fn of(plan: Vec<u8>, operator: Vec<u8>) -> Self {
        let engine = SigningKey::from_seed(&[1; 32]);
        let value = parse(&plan, &ReadLimits::DEFAULT).unwrap();
        let mut defects = Defects::new();
        let read = Plan::read(&value, &Limits::DEFAULT, &mut defects).unwrap();
        let operator_value = parse(&operator, &ReadLimits::DEFAULT).unwrap();
        Operator::read(&operator_value, &mut defects).unwrap();
        assert!(defects.is_empty(), "{defects:?}");
        assert_eq!(read.principals[0].key_id, engine.id());
        let hash = plan_hash(&plan);

        let mut chain = Chain::new();
        let freeze =
            Payload::Freeze { hash: Some(hash), embedded: Some(hash), plan: value.as_object() };
        let first = chain.append(START, &freeze, Signer::None, &hash);
        let over = Checkpoint::over(0, &[first.h]).unwrap();
        let signer = Signer::Key(&engine);
        let second = chain.append(START + 60, &Payload::Checkpoint(over), signer, &hash);
        let witness = [&*first.bytes, &second.bytes].concat();

        let row = |path: &str, role, bytes: &[u8]| CoreMember {
            path: path.into(),
            role,
            size: u64::try_from(bytes.len()).unwrap(),
            digest: Digest::of(bytes),
        };
        let manifest = CoreManifest {
            spec_version: "1.3".into(),
            seal: Seal::Snapshot,
            witness_count: 2,
            witness_head: second.h,
            members: vec![
                row("operator.json", CoreRole::Operator, &operator),
                row("plan.json", CoreRole::Plan, &plan),
                row("witness.jsonl", CoreRole::Witness, &witness),
            ],
        };
        let manifest = canonical(&manifest.to_value());
        let envelope = EnvelopeManifest {
            root_core: Some(root_core(&manifest)),
            predecessor: Ok(None),
            layers: vec![ProvenanceLayer::SignedEntriesAndCheckpoints],
            heads: Some(Vec::new()),
            anchors: Vec::new(),
            attestations: Vec::new(),
            metadata: Some(Metadata { producer: "example".into(), created: START + 120 }),
            operator_seal: None,
        };
        let envelope = canonical(&envelope.to_value());
        let values = vec![
            ("g", genesis().to_string()),
            ("test_spec_digest", read.nodes[0].tests[0].digest.to_string()),
            ("h(P)", hash.to_string()),
            ("h_0", first.h.to_string()),
            ("digest_over_range", over.digest.to_string()),
            ("h_1", second.h.to_string()),
            ("root_core", root_core(&manifest).to_string()),
            ("root_envelope", root_envelope(&envelope).to_string()),
            ("the second line", text(&second.bytes).trim_end().to_owned()),
        ];
        let members = [
            ("core/manifest.json", manifest),
            ("core/operator.json", operator),
            ("core/plan.json", plan),
            ("core/witness.jsonl", witness),
            ("envelope.json", envelope),
        ];
        Self { members: members.into(), values }
    }
}

fn request(trust: &TrustMaterial) -> Request<'_> {
    static NOTHING: KnownCheckpoints = KnownCheckpoints { checkpoints: Vec::new() };
    Request {
        policy: None,
        policy_hash: None,
        trust,
        attestations: &[],
        audits: &[],
        auditors: &[],
        predecessors: &[],
        successor: None,
        expect_root_core: None,
        expect_root_envelope: None,
        known_checkpoints: &NOTHING,
        limits: Limits::DEFAULT,
        replay: None,
        asked: Asked::Valid,
        evaluation_time: START + 600,
        evaluator: Implementation {
            name: "test".into(),
            version: "0".into(),
            hash: Digest::of(b"test"),
        },
        threads: NonZeroUsize::MIN,
    }
}

fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    fs::read_to_string(docs.join(name)).unwrap()
}

/// The JSON blocks of a page.
fn blocks(page: &str) -> Vec<String> {
    let parts = page.split("\n```json\n").skip(1);
    parts.map(|part| part.split_once("\n```").unwrap().0.to_owned()).collect()
}

fn schema(block: &str) -> String {
    let value = parse(block.as_bytes(), &ReadLimits::DEFAULT)
        .unwrap_or_else(|error| panic!("{error}: {block}"));
    let schema = value.as_object().and_then(|object| object.get("schema")).and_then(Value::as_str);
    schema.unwrap_or_default().to_owned()
}

fn canonical_of(block: &str) -> Vec<u8> {
    canonical(&parse(block.as_bytes(), &ReadLimits::DEFAULT).unwrap())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Whether this is written as a code: words in capitals, with a dot between.
fn is_code(text: &str) -> bool {
    let word = |word: &str| {
        let body = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        !word.is_empty() && (word.chars().all(body) || word == "R1e")
    };
    text.contains('.')
        && text.split('.').all(word)
        && text.starts_with(|c: char| c.is_ascii_uppercase())
}
