//! The conformance vectors whose point is policy, anchors, attestation or independence: judged over facts
//! that are taken from the record here, by a few lines that trust everything in it. Whether the record is
//! valid, and how the run ended, is what the vector says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::core_manifest::root_core;
use anchorlog_proto::gad::envelope::EnvelopeManifest;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::names::{AnchorKind, RunOutcome};
use anchorlog_proto::gad::operator::Operator;
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{ReadLimits, Value, parse, parse_utc_seconds};
use anchorlog_verifier::codes::gad::Affect;
use anchorlog_verifier::gad::anchors::{self, AnchorInput};
use anchorlog_verifier::gad::attestation::{
    self, ATTESTATION_INPUT, AttestationFacts, AttestationFile,
};
use anchorlog_verifier::gad::policy::{self, PolicyContext, PolicyFacts, PolicyInput};
use anchorlog_verifier::gad::trust::TrustMaterial;
use anchorlog_verifier::gad::{Findings, FirstDispatch, RecordFacts};

use crate::corpus::corpus_folder;

/// Families of codes that are raised by what is tested here.
const FAMILIES: [&str; 8] =
    ["ANC.", "TSA.", "LOG.", "ATT.", "IND.", "POL.", "R2.LABEL.", "R2.CLOCK.ANCHOR_"];

/// Codes of these families that need more of the evaluation than is here.
const ELSEWHERE: [&str; 2] = ["IND.OPERATOR_MISSING", "ATT.IN_CORE"];

#[test]
fn vectors_of_policy_anchors_and_attestation() {
    let Some(gad) = corpus_folder("gad") else { return };
    let mut judged = 0;
    let mut demanded = BTreeSet::new();
    for folder in fs::read_dir(&gad).unwrap() {
        let folder = folder.unwrap().path();
        let Ok(vector) = fs::read(folder.join("vector.json")) else { continue };
        let vector = json(&vector);
        if !folder.join("bundle/envelope.json").is_file() {
            continue;
        }
        let expected = get(&vector, "expected");
        let must = strings(expected, "must_codes");
        let must: BTreeSet<_> = must.into_iter().filter(|code| here(code)).collect();
        let must_not: BTreeSet<_> = strings(expected, "must_not_codes").into_iter().collect();
        let defensible = get(expected, "defensible").as_bool();
        if must.is_empty() && defensible != Some(true) {
            continue;
        }
        judged += 1;
        let name = get(&vector, "name").as_str().unwrap().to_owned();
        let findings = judge(&folder, &vector);
        let found: BTreeSet<_> =
            findings.list().iter().map(|finding| finding.code.as_str().to_owned()).collect();
        let missing: Vec<_> = must.difference(&found).collect();
        assert!(missing.is_empty(), "{name}: {missing:?} not in {found:?}");
        let wrong: Vec<_> = must_not.intersection(&found).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        match defensible {
            Some(true) => assert!(!findings.affects(Affect::Defensible), "{name}: {findings:?}"),
            Some(false) => assert!(findings.affects(Affect::Defensible), "{name}: {found:?}"),
            None => {}
        }
        demanded.extend(must);
    }
    assert!(judged >= 60, "{judged} vectors");
    assert!(demanded.len() >= 40, "{demanded:?}");
}

fn here(code: &str) -> bool {
    FAMILIES.iter().any(|family| code.starts_with(family)) && !ELSEWHERE.contains(&code)
}

/// Policy, anchors, attestations and independence of one vector.
fn judge(folder: &Path, vector: &Value<'_>) -> Findings {
    let limits = Limits::DEFAULT;
    let inputs = get(vector, "inputs");
    let beside =
        |name: &str| optional(inputs, name).map(|file| folder.join(file.as_str().unwrap()));
    let at = parse_utc_seconds(get(inputs, "evaluation_time").as_str().unwrap()).unwrap();
    let mut findings = Findings::new();

    let trust = beside("trust").map_or_else(Vec::new, |trust| {
        let files = fs::read_dir(trust).unwrap().map(|file| file.unwrap().path());
        files.map(|path| (path.display().to_string(), fs::read(path).unwrap())).collect()
    });
    let trust = TrustMaterial::from_files(trust);
    assert!(trust.ignored().is_empty());
    let policy = optional(vector, "policy").map(|path| path.as_str().unwrap());
    let policy = policy.map(|path| fs::read(folder.join(path)).unwrap());
    let required = optional(inputs, "require").and_then(|one| one.as_str().map(str::to_owned));
    let context = PolicyContext::load(
        &PolicyInput {
            bytes: policy.as_deref(),
            expected_hash: optional(inputs, "policy_hash")
                .map(|hash| hash.as_str().unwrap().parse().unwrap()),
            defensible_asked: required.as_deref() == Some("defensible"),
            replay_runner: false,
            at,
            limits,
        },
        &trust,
        &mut findings,
    );

    let bundle = folder.join("bundle");
    let read = |path: &str| fs::read(bundle.join(path)).unwrap();
    let record = facts(&bundle);
    let envelope = read("envelope.json");
    let mut defects = Defects::new();
    let envelope = EnvelopeManifest::read(&json(&envelope), &limits, &mut defects).unwrap();
    let files: BTreeMap<Box<str>, Vec<u8>> =
        envelope.anchors.iter().map(|row| (row.item.path.clone(), read(&row.item.path))).collect();
    let known = beside("known_checkpoints").map_or_else(KnownCheckpoints::default, |path| {
        let bytes = fs::read(path).unwrap();
        KnownCheckpoints::read(&json(&bytes), &mut Defects::new()).unwrap()
    });
    let input = AnchorInput {
        envelope: &envelope,
        files: &files,
        record: &record.facts,
        policy: &context,
        known: &known,
        predecessors: &[],
    };
    let mut of_anchors = Findings::new();
    let outcome = anchors::judge(&input, &mut of_anchors);
    let holds = !of_anchors.affects(Affect::Defensible) && context.sound();
    assert_eq!(outcome.required().is_some(), holds);
    findings.append(of_anchors);

    let expected = get(vector, "expected");
    let word = get(expected, "outcome");
    let operator = fs::read(bundle.join("core/operator.json"))
        .ok()
        .and_then(|bytes| Operator::read(&json(&bytes), &mut Defects::new()));
    let plan = Plan::read(&json(&read("core/plan.json")), &limits, &mut Defects::new()).unwrap();
    let given = beside("attestation").map(|path| fs::read(path).unwrap());
    let inside: Vec<_> =
        envelope.attestations.iter().map(|row| (row.path.clone(), read(&row.path))).collect();
    let mut attestations: Vec<_> = inside
        .iter()
        .map(|(path, bytes)| AttestationFile { name: path, bytes, beside: false })
        .collect();
    attestations.extend(given.as_ref().map(|bytes| AttestationFile {
        name: ATTESTATION_INPUT,
        bytes,
        beside: true,
    }));
    let facts = AttestationFacts {
        root_core: record.facts.root_core,
        plan_hash: record.facts.plan_hash,
        valid: get(expected, "valid").as_bool().unwrap(),
        outcome: RunOutcome::from_name(word.as_str().unwrap()).unwrap(),
        satisfied: get(expected, "satisfied").as_bool().unwrap(),
        spec_version: Some(&record.spec_version),
        canonicalization: Some("jcs-int/1"),
        registry: Some("gad.registry/1"),
        predecessor: envelope.predecessor.unwrap(),
        latest_anchor: outcome.latest(),
        replay_asked: true,
        in_core: &[],
        operator: operator.as_ref(),
        principals: &plan.principals,
    };
    if context.given() {
        let judged = attestation::judge(&attestations, &facts, &context, &limits, &mut findings);
        if get(expected, "defensible").as_bool() == Some(true) {
            assert!(judged.holds().is_some() && outcome.required().is_some());
            let anchored = outcome.verified(AnchorKind::CoreRoot);
            assert!(anchored || outcome.vacuous());
        }
    }
    policy::judge(
        &PolicyFacts {
            outcome: facts.outcome,
            notice: record.notice,
            several_nodes: record.several_nodes,
            unbound: None,
            layers: Some(&envelope.layers),
            seal: envelope.operator_seal.as_ref(),
            operator: operator.as_ref().map(|operator| &operator.credential),
            root_core: facts.root_core,
            plan_hash: facts.plan_hash,
        },
        &context,
        &mut findings,
    );
    findings
}

struct Record {
    facts: RecordFacts,
    spec_version: String,
    notice: Option<u64>,
    several_nodes: Option<u64>,
}

fn facts(bundle: &Path) -> Record {
    let read = |path: &str| fs::read(bundle.join("core").join(path)).unwrap();
    let (manifest, plan) = (read("manifest.json"), read("plan.json"));
    let witness = read("witness.jsonl");
    let mut facts = RecordFacts {
        root_core: Some(root_core(&manifest)),
        plan_hash: Some(plan_hash(&plan)),
        ..RecordFacts::default()
    };
    let (mut notice, mut several_nodes, mut terminal) = (None, None, None);
    for line in witness.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let entry = json(line);
        let body = get(&entry, "body");
        let seq = u64::try_from(get(body, "seq").as_integer().unwrap()).unwrap();
        let time = parse_utc_seconds(get(body, "t").as_str().unwrap()).unwrap();
        facts.heads.push(get(&entry, "h").as_str().unwrap().parse().unwrap());
        let latest = facts.latest.last().copied().unwrap_or(time);
        facts.latest.push(latest.max(time));
        facts.end_time = Some(terminal.unwrap_or(time));
        let payload = get(body, "p");
        match get(body, "type").as_str().unwrap() {
            "dispatch" => {
                let precommit = optional(payload, "precommit_digest");
                let first = FirstDispatch {
                    seq,
                    time,
                    precommit: precommit.map(|digest| digest.as_str().unwrap().parse().unwrap()),
                };
                facts.first_dispatch.get_or_insert(first);
                if optional(payload, "nodes").is_some_and(|all| all.as_array().unwrap().len() > 1) {
                    several_nodes.get_or_insert(seq);
                }
            }
            "nonconformance_notice" => notice = notice.or(Some(seq)),
            "plan_completed" | "plan_halted" | "plan_superseded" => {
                terminal = terminal.or(Some(time));
                facts.end_time = terminal;
            }
            _ => {}
        }
    }
    if let Ok(claims) = fs::read_to_string(bundle.join("core/claims.json")) {
        facts.claims_bounded = claims.contains("\"gad/precedence_bounded\"");
    }
    let clock = json(&plan);
    let clock = optional(&clock, "meta").and_then(|meta| optional(meta, "clock_policy"));
    let skew = clock.and_then(|clock| optional(clock, "max_future_skew_s"));
    facts.max_future_skew_s = skew.map_or(0, |skew| skew.as_integer().unwrap().try_into().unwrap());
    let spec_version = get(&json(&manifest), "spec_version").as_str().unwrap().to_owned();
    Record { facts, spec_version, notice, several_nodes }
}

fn json(bytes: &[u8]) -> Value<'_> {
    parse(bytes, &ReadLimits::DEFAULT).unwrap()
}

fn optional<'v>(value: &'v Value<'v>, name: &str) -> Option<&'v Value<'v>> {
    value.as_object().unwrap().get(name).filter(|value| !value.is_null())
}

fn get<'v>(value: &'v Value<'v>, name: &str) -> &'v Value<'v> {
    value.as_object().unwrap().get(name).unwrap_or_else(|| panic!("no {name}"))
}

fn strings(value: &Value<'_>, name: &str) -> Vec<String> {
    let list = optional(value, name).map_or(&[][..], |list| list.as_array().unwrap());
    list.iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_policy_of_nobody_has_its_known_hash() {
    let input = PolicyInput {
        bytes: None,
        expected_hash: None,
        defensible_asked: true,
        replay_runner: false,
        at: 0,
        limits: Limits::DEFAULT,
    };
    let mut findings = Findings::new();
    let context = PolicyContext::load(&input, &TrustMaterial::default(), &mut findings);
    let known: Digest =
        "sha256:c9351ac82c1e42426a742378d22b681d6d400fc6cf6bc9efc5f99bfecdbe4c30".parse().unwrap();
    assert_eq!(context.hash(), known);
    assert_eq!(findings.list()[0].code.as_str(), "POL.UNNAMED");
}
