//! The published vectors: base records hold, and what a vector demands of R3 and R8 is found.
//!
//! Verdicts are judged by equation (3) without its fine print, so that the machine can be run alone.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchorlog_proto::gad::entry::{Entry, EntryReading, Payload};
use anchorlog_proto::gad::names::{
    Capture, EvidenceClass, ObservationLayer, PassFail, Role, SignalKind,
};
use anchorlog_proto::gad::payload::{Probe, Restoration, Verdict};
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{ReadLimits, Value, parse};

use crate::codes::gad::Affect;
use crate::gad::trace::{Judged, Machine, check_delta};
use crate::gad::{Event, Findings, PlanIndex};

#[test]
fn the_corpus_holds_and_its_breaches_are_found() {
    let (mut held, mut demanded) = (0, BTreeSet::new());
    for directory in vectors() {
        let name = directory.file_name().unwrap().to_string_lossy().into_owned();
        let vector = fs::read(directory.join("vector.json")).unwrap();
        let vector = parse(&vector, &ReadLimits::DEFAULT).unwrap();
        let expected = member(&vector, "expected").unwrap();
        let Some(findings) = run(&directory, &vector) else { continue };
        let found: BTreeSet<_> =
            findings.list().iter().map(|finding| finding.code.as_str().to_owned()).collect();
        if member(expected, "valid") == Some(&Value::Bool(true)) {
            assert!(!findings.affects(Affect::R3), "{name}: {found:?}");
            assert!(!findings.affects(Affect::R8), "{name}: {found:?}");
            held += 1;
        }
        for code in member(expected, "must_codes").unwrap().as_array().unwrap() {
            let code = code.as_str().unwrap();
            if code.starts_with("R3.") || code.starts_with("R8.") {
                assert!(found.contains(code), "{name}: {code} not in {found:?}");
                demanded.insert(code.to_owned());
            }
        }
    }
    if held > 0 {
        println!("{held} records hold; demanded and found: {demanded:?}");
        assert!(held >= 40 && demanded.len() >= 25, "{held}, {demanded:?}");
    }
}

/// Directories of the vectors, ascending.
fn vectors() -> Vec<PathBuf> {
    let Some(corpus) = env::var_os("ANCHORLOG_CORPUS").map(|path| PathBuf::from(path).join("gad"))
    else {
        assert!(env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_none(), "ANCHORLOG_CORPUS is not set");
        eprintln!("skipped: ANCHORLOG_CORPUS is not set");
        return Vec::new();
    };
    let entries = fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
    let mut vectors: Vec<_> = entries.filter(|path| path.join("vector.json").is_file()).collect();
    vectors.sort();
    vectors
}

/// Runs the machine over a vector; `None` where its record can't be read: other rules say so.
fn run(directory: &Path, vector: &Value<'_>) -> Option<Findings> {
    let core = directory.join("bundle/core");
    let bytes = fs::read(core.join("plan.json")).ok()?;
    let plan = read_plan(&bytes)?;
    let manifest = fs::read(core.join("manifest.json")).ok()?;
    let manifest = parse(&manifest, &ReadLimits::DEFAULT).ok()?;
    let scalar = member(&manifest, "spec_version").and_then(Value::as_str) == Some("0.6");
    let snapshot = member(&manifest, "seal").and_then(Value::as_str) == Some("snapshot");
    let successor = member(member(vector, "inputs")?, "successor_plan").and_then(Value::as_str);
    let successor =
        successor.map(|path| read_plan(&fs::read(directory.join(path)).unwrap()).unwrap());

    let plan = Arc::new(PlanIndex::new(plan, plan_hash(&bytes)));
    let mut machine = Machine::new(Arc::clone(&plan), scalar);
    let mut findings = Findings::new();
    let mut probes = Vec::new();
    let witness = fs::read(core.join("witness.jsonl")).ok()?;
    for (index, line) in (0..).zip(witness.split(|byte| *byte == b'\n')) {
        if line.is_empty() {
            continue;
        }
        let value = parse(line, &ReadLimits::DEFAULT).ok()?;
        let mut defects = Defects::new();
        let EntryReading::Entry(entry) = Entry::read(&value, &Limits::DEFAULT, &mut defects) else {
            return None;
        };
        let event = Event { index, entry: &entry, authentic: true };
        let judged = match &entry.payload {
            Some(Payload::Verdict(verdict)) => {
                let class = class(verdict, &probes);
                let pass = verdict.result == Some(PassFail::Pass);
                Some(Judged { seq: entry.seq, pass, class })
            }
            Some(Payload::Probe(probe)) => {
                let signer = entry.signed.as_ref().and_then(|signed| signed.key_id);
                if signer.is_some_and(|signer| plan.has_role(signer, Role::Engine)) {
                    probes.extend(shows(probe));
                }
                None
            }
            _ => None,
        };
        machine.step(&event, judged, &mut findings);
        if let Some(successor) = &successor {
            check_delta(&plan, successor, &event, true, &mut findings);
        }
    }
    machine.finish(snapshot, &mut findings);
    Some(findings)
}

type Shown = (anchorlog_proto::Digest, anchorlog_proto::Digest);

/// What a probe that fired has shown able to fail.
fn shows(probe: &Probe<'_>) -> Option<Shown> {
    let fired = probe.spawned
        && probe.exit_code.is_some_and(|code| code != 0)
        && probe.output.is_some()
        && probe.demonstrated == PassFail::Fail
        && probe.restoration == Restoration::Verified;
    fired.then_some((probe.signal_artifact, probe.environment))
}

fn class(verdict: &Verdict<'_>, probes: &[Shown]) -> EvidenceClass {
    let authenticated = ObservationLayer::AuthenticatedEngineObservation;
    let observed = verdict.capture == Some(Capture::EngineCapture)
        && verdict.layers.as_ref().is_some_and(|layers| layers.contains(&authenticated));
    let shown = verdict.signal_artifact.zip(verdict.environment);
    let signal = match verdict.signal {
        Some(SignalKind::DirectObservable) => EvidenceClass::EngineObserved,
        Some(SignalKind::WorkerAuthoredProxy)
            if shown.is_some_and(|shown| probes.contains(&shown)) =>
        {
            EvidenceClass::Proxy
        }
        _ => EvidenceClass::Attested,
    };
    if observed { signal } else { EvidenceClass::Attested }
}

fn read_plan(bytes: &[u8]) -> Option<Plan> {
    let value = parse(bytes, &ReadLimits::DEFAULT).ok()?;
    Plan::read(&value, &Limits::DEFAULT, &mut Defects::new())
}

fn member<'v>(value: &'v Value<'v>, name: &str) -> Option<&'v Value<'v>> {
    value.as_object()?.get(name)
}
