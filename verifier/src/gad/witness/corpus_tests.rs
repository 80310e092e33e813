//! The witness, scope and gates of the published records.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anchorlog_proto::gad::core_manifest::{CoreManifest, CoreRole};
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{ReadLimits, Value, canonical, parse};

use super::{Artifacts, Stated, WitnessContext};
use crate::gad::testing::{plan, read_and_judge};
use crate::gad::{Findings, PlanIndex};

/// Families that the witness reader, R6 and R7 raise, as far as they don't depend on reliance.
const OURS: [&str; 9] = [
    "R1.CHAIN.",
    "R1.ISSUER.",
    "R1.CKPT.",
    "R1.SEAL.",
    "R1.ARTIFACT.",
    "R6.",
    "R7.",
    "IN.LIMIT_LINE",
    "IN.LIMIT_COUNT",
];

/// Of those, what is raised elsewhere: by reading the plan and the manifest, and by reliance.
const ELSEWHERE: [&str; 8] = [
    "R1.CKPT.POLICY",
    "R1.ISSUER.ALG",
    "R1.ISSUER.KEY_ID",
    "R1.ISSUER.WEAK_KEY",
    "R6.OPEN_AT_GOOD",
    "R7.CONSEQUENCE",
    "R7.NO_REQUEST",
    "R7.ORDER",
];

/// Every vector that is a directory.
fn vectors() -> Vec<(String, PathBuf)> {
    let required = std::env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    let Some(corpus) = std::env::var_os("ANCHORLOG_CORPUS").map(PathBuf::from) else {
        assert!(!required, "ANCHORLOG_CORPUS is not set");
        println!("skipped: ANCHORLOG_CORPUS is not set");
        return Vec::new();
    };
    let mut found: Vec<_> = fs::read_dir(corpus.join("gad"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("bundle/core/witness.jsonl").is_file())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path))
        .collect();
    found.sort();
    assert!(found.len() > 200);
    found
}

fn value_of(path: &Path) -> Option<Value<'static>> {
    let bytes = fs::read(path).ok()?;
    Some(parse(&bytes, &ReadLimits::DEFAULT).ok()?.into_owned())
}

/// What is found in a vector.
fn found(directory: &Path, limits: &Limits) -> BTreeSet<String> {
    let core = directory.join("bundle/core");
    let mut defects = Defects::new();
    let manifest = value_of(&core.join("manifest.json"))
        .and_then(|value| CoreManifest::read(&value, limits, &mut defects));
    let plan_value = value_of(&core.join("plan.json"));
    let read = plan_value.as_ref().and_then(|value| Plan::read(value, limits, &mut defects));
    let hash = plan_value.as_ref().map(|value| plan_hash(&canonical(value)));
    let index = read.zip(hash).map(|(plan, hash)| PlanIndex::new(plan, hash));
    let members = manifest.iter().flat_map(|manifest| &manifest.members);
    let artifacts = members
        .filter(|member| member.role == CoreRole::Artifact)
        .map(|member| (&*member.path, member.digest));
    let artifacts = Artifacts::new(artifacts);
    if let Some(plan) = &plan_value {
        artifacts.bind(plan);
    }
    let cx = WitnessContext {
        plan: index.as_ref(),
        stated: manifest.as_ref().map(Stated::from),
        artifacts: &artifacts,
        limits,
        threads: WitnessContext::all_cores(),
        batch_bytes: 2000,
    };
    let mut findings = Findings::new();
    let bytes = fs::read(core.join("witness.jsonl")).unwrap();
    // Without a plan there are no rules; any plan will do to observe by.
    let observed = index.clone().unwrap_or_else(|| plan(&[("n", "normal", &[])]));
    let _over_a_limit = read_and_judge(&bytes, &cx, &observed, &mut findings);
    let mut codes: BTreeSet<_> =
        findings.list().iter().map(|finding| finding.code.to_string()).collect();
    if !artifacts.unbound().is_empty() {
        codes.insert("R1.ARTIFACT.UNBOUND".to_owned());
    }
    codes
}

fn ours(code: &str) -> bool {
    OURS.iter().any(|family| code.starts_with(family)) && !ELSEWHERE.contains(&code)
}

#[test]
fn base_records_have_no_finding() {
    for (name, directory) in vectors().iter().filter(|(name, _)| name.starts_with('V')) {
        let found = found(directory, &Limits::DEFAULT);
        assert_eq!(found, BTreeSet::new(), "{name}");
    }
}

#[test]
fn vectors_give_the_codes_they_demand_and_none_they_forbid() {
    let mut demanded = BTreeSet::new();
    for (name, directory) in vectors() {
        let vector = value_of(&directory.join("vector.json")).unwrap();
        let object = |name: &str| vector.as_object().unwrap().get(name)?.as_object();
        let list = |member: &str| -> BTreeSet<String> {
            let codes = object("expected").unwrap().get(member).and_then(Value::as_array);
            let codes = codes.into_iter().flatten().map(|code| code.as_str().unwrap().to_owned());
            codes.filter(|code| ours(code)).collect()
        };
        let mut limits = Limits::DEFAULT;
        let stated = object("inputs").unwrap().get("limits").and_then(Value::as_object);
        for (limit, value) in stated.iter().flat_map(|stated| stated.iter()) {
            let value = u64::try_from(value.as_integer().unwrap()).unwrap();
            assert!(limits.set(limit, value), "{limit}");
        }
        // Members are counted by the container.
        if stated.is_some_and(|stated| stated.contains("members")) {
            continue;
        }
        let found = found(&directory, &limits);
        let must = list("must_codes");
        assert!(must.is_subset(&found), "{name} must give {must:?}, and gives {found:?}");
        let must_not = list("must_not_codes");
        assert!(must_not.is_disjoint(&found), "{name} gives {found:?}");
        demanded.extend(must);
    }
    if std::env::var_os("ANCHORLOG_CORPUS").is_some() {
        assert!(demanded.len() >= 30, "{demanded:?}");
    }
}
