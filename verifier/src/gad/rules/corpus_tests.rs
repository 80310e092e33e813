//! The rules of evidence on the published corpus: every base record has nothing of theirs, and every vector
//! that demands one of their codes gets it. What else an envelope needs is judged elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchorlog_proto::gad::claims::Claims;
use anchorlog_proto::gad::envelope::EnvelopeManifest;
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::gad::policy::{Policy, ReplayPolicy};
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{ReadLimits, Value, canonical, parse};

use super::r9::{AnchorState, Record, judge};
use super::testing::kept;
use super::{R2, R4, R6, Reliance};
use crate::codes::Code;
use crate::codes::gad::Affect;
use crate::gad::replay::{NoReplay, ReplayRule};
use crate::gad::trace::Machine;
use crate::gad::witness::{Artifacts, WitnessContext, read_witness};
use crate::gad::{Event, Findings, Ledger, PlanIndex};

/// Codes of these families that other parts raise: the plan's reading, the anchors.
const ELSEWHERE: [&str; 3] =
    ["R2.CLOCK.UNDECLARED", "R2.CLOCK.ANCHOR_CONTRADICTION", "R2.LABEL.BOUNDED"];

/// Codes of other families that are raised where a record relies on a node.
const RELIANCE: [&str; 4] = ["R6.OPEN_AT_GOOD", "R7.CONSEQUENCE", "R7.NO_REQUEST", "R7.ORDER"];

fn is_ours(code: &str) -> bool {
    let family = ["R2.", "R4.", "R5.", "R9."].iter().any(|family| code.starts_with(family));
    (family || RELIANCE.contains(&code)) && !ELSEWHERE.contains(&code)
}

fn json(path: &Path) -> Option<Value<'static>> {
    let bytes = fs::read(path).ok()?;
    parse(&bytes, &ReadLimits::DEFAULT).ok().map(Value::into_owned)
}

fn strings(value: Option<&Value<'_>>) -> BTreeSet<String> {
    let elements = value.and_then(Value::as_array).unwrap_or(&[]);
    elements.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// What the rules find in the vector in this folder; `None` when there is no plan to hold it against.
fn found(folder: &Path, policy: Option<&Policy>) -> Option<Findings> {
    let core = folder.join("bundle/core");
    let value = json(&core.join("plan.json"))?;
    let plan = Plan::read(&value, &Limits::DEFAULT, &mut Defects::new())?;
    let plan = Arc::new(PlanIndex::new(plan, plan_hash(&canonical(&value))));
    let replay = policy.map_or(ReplayPolicy::None, |policy| policy.replay.clone());
    let mut r2 = R2::new(&plan);
    let mut r4 = R4::new(Arc::clone(&plan), ReplayRule::new(replay, None, Arc::new(NoReplay)));
    let mut reliance = Reliance::new(Arc::clone(&plan));
    let mut machine = Machine::new(Arc::clone(&plan), false);
    let (mut ledger, mut findings) = (Ledger::new(), Findings::new());
    let mut r6 = R6::new(&plan);
    let mut observer = |event: &Event<'_>, _: &mut Findings| {
        r2.observe(event, &mut findings);
        let judged = r4.observe(event, &machine, &mut findings);
        r6.observe(event, &machine, &ledger, &mut Findings::new());
        reliance.observe(event, &machine, &mut findings);
        machine.step(event, judged, &mut Findings::new());
        if event.payload().is_some() {
            ledger.keep(event.index, event.entry.seq, kept(event, &machine, judged));
        }
    };
    let artifacts = Artifacts::default();
    let context = WitnessContext {
        plan: Some(&plan),
        stated: None,
        artifacts: &artifacts,
        limits: &Limits::DEFAULT,
        threads: NonZeroUsize::MIN,
        batch_bytes: WitnessContext::BATCH_BYTES,
    };
    let witness = fs::read(core.join("witness.jsonl")).ok()?;
    read_witness(witness.as_slice(), &context, &mut observer, &mut Findings::new()).ok()?;
    r2.finish(&mut findings);
    r4.finish(&mut findings);
    reliance.finish(&mut findings);
    let claims = json(&core.join("claims.json"))
        .and_then(|value| Claims::read(&value, &Limits::DEFAULT, &mut Defects::new()));
    let envelope = json(&folder.join("bundle/envelope.json"))
        .and_then(|value| EnvelopeManifest::read(&value, &Limits::DEFAULT, &mut Defects::new()));
    if let (Some(claims), Some(envelope)) = (claims, envelope) {
        // Anchors aren't judged here; under a policy those of the base records verify.
        let anchors = |kind| {
            let listed = envelope.anchors.iter().any(|row| row.kind == kind);
            AnchorState { listed, verified: listed && policy.is_some() }
        };
        let record = Record { plan: &plan, machine: &machine, ledger: &ledger, scope: &r6 };
        judge(&claims, record, Some(&anchors), &mut findings);
    }
    Some(findings)
}

#[test]
fn the_corpus_agrees() {
    let required = std::env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    let Some(corpus) = std::env::var_os("ANCHORLOG_CORPUS") else {
        assert!(!required, "ANCHORLOG_CORPUS is not set and ANCHORLOG_REQUIRE_CORPUS is");
        println!("skipped: ANCHORLOG_CORPUS is not set");
        return;
    };
    let mut folders: Vec<PathBuf> = fs::read_dir(Path::new(&corpus).join("gad"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("vector.json").is_file())
        .collect();
    folders.sort();
    let (mut driven, mut demanded) = (0, BTreeSet::new());
    let mut disagreements = Vec::new();
    for folder in folders {
        let vector = json(&folder.join("vector.json")).unwrap();
        let vector = vector.as_object().unwrap();
        let policy = vector.get("policy").and_then(Value::as_str).map(|path| folder.join(path));
        let policy = policy
            .and_then(|path| json(&path))
            .and_then(|value| Policy::read(&value, &mut Defects::new()));
        let expected = vector.get("expected").unwrap().as_object().unwrap();
        let valid = expected.get("valid").and_then(Value::as_bool) == Some(true);
        let Some(findings) = found(&folder, policy.as_ref()) else {
            // Packed bundles, and records that are broken further down.
            continue;
        };
        driven += 1;
        let codes: BTreeSet<_> =
            findings.list().iter().map(|finding| finding.code.to_string()).collect();
        let must: BTreeSet<_> =
            strings(expected.get("must_codes")).into_iter().filter(|code| is_ours(code)).collect();
        let must_not = strings(expected.get("must_not_codes"));
        let fails = findings.list().iter().any(|finding| finding.affects != [Affect::Note]);
        if !must.is_subset(&codes) || !must_not.is_disjoint(&codes) || (valid && fails) {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            disagreements.push((name, must.clone(), must_not, codes));
        }
        demanded.extend(must);
    }
    assert!(disagreements.is_empty(), "{disagreements:#?}");
    // What the published part of the corpus demands of these rules, so that a vector less is noticed.
    assert!(driven >= 240, "{driven}");
    assert_eq!(demanded.len(), 29, "{demanded:?}");
    assert!(demanded.iter().all(|code| Code::lookup(code).is_some()));
}
