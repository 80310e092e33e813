//! Running an evaluator on the suite, or on any directory of vectors in its format.
//!
//! What it is: the reading of `vector.json`, the library as an evaluator, the command line of any other one,
//! and the comparison of what it says with what is expected. What it isn't: a generator.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::json::parse_utc_seconds;
use anchorlog_verifier::gad::container::Bundle;
use anchorlog_verifier::gad::evaluate::{
    Request, evaluate, read_known_checkpoints, read_predecessor, read_successor_plan,
};
use anchorlog_verifier::gad::replay::{Replay, ReplayOutcome, ReplayRequest};
use anchorlog_verifier::gad::report::{Asked, RULES, RuleState};
use anchorlog_verifier::gad::trust::TrustMaterial;
use serde_json::Value as Json;

/// A vector as it lies there.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its directory.
    pub directory: PathBuf,
    /// `vector.json`.
    pub document: Json,
}

/// What an evaluator says of a vector, as far as it is compared.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Said {
    /// VALID_RECORD.
    pub valid: bool,
    /// OUTCOME.
    pub outcome: String,
    /// CONTRACT_SATISFIED.
    pub satisfied: bool,
    /// DEFENSIBLE, where it was asked.
    pub defensible: Option<bool>,
    /// The level.
    pub level: u64,
    /// The exit code.
    pub exit: i64,
    /// The codes found.
    pub codes: BTreeSet<String>,
    /// The rules that fail, where it says so.
    pub failing: BTreeSet<String>,
}

/// Every vector of a directory, by name.
///
/// # Panics
/// When the directory isn't one of vectors.
#[must_use]
pub fn load(directory: &Path) -> Vec<Stored> {
    let mut list: Vec<_> = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .filter_map(|entry| {
            let directory = entry.expect("a directory entry").path();
            let bytes = fs::read(directory.join("vector.json")).ok()?;
            let document = serde_json::from_slice(&bytes).expect("vector.json is JSON");
            Some(Stored { directory, document })
        })
        .collect();
    list.sort_by(|one, other| one.directory.cmp(&other.directory));
    list
}

impl Stored {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.document["name"].as_str().unwrap_or_default()
    }

    /// The codes that have to be found.
    #[must_use]
    pub fn must_codes(&self) -> Vec<&str> {
        texts(&self.document["expected"]["must_codes"])
    }

    fn input(&self, name: &str) -> Option<&str> {
        self.document["inputs"][name].as_str()
    }

    /// The path that a member of `inputs`, or `policy`, names.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let relative =
            if name == "policy" { self.document[name].as_str() } else { self.input(name) };
        Some(self.directory.join(relative?))
    }

    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let path = self.path(name)?;
        Some(fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits::DEFAULT;
        for (name, value) in self.document["inputs"]["limits"].as_object().into_iter().flatten() {
            assert!(limits.set(name, value.as_u64().expect("a number")), "no limit {name}");
        }
        limits
    }

    fn trust(&self) -> TrustMaterial {
        let Some(path) = self.path("trust") else { return TrustMaterial::default() };
        let files = fs::read_dir(path).expect("the trust directory").map(|entry| {
            let path = entry.expect("a directory entry").path();
            (path.display().to_string(), fs::read(path).expect("a trust file"))
        });
        TrustMaterial::from_files(files.collect())
    }

    /// What is wrong with what an evaluator said: nothing, hopefully.
    #[must_use]
    pub fn complaints(&self, said: &Said) -> Vec<String> {
        let mut complaints = self.status_complaints(said);
        let expected = &self.document["expected"];
        for code in texts(&expected["must_codes"]) {
            if !said.codes.contains(code) {
                complaints.push(format!("{code} isn't found"));
            }
        }
        for code in texts(&expected["must_not_codes"]) {
            if said.codes.contains(code) {
                complaints.push(format!("{code} is found"));
            }
        }
        complaints
    }

    /// The same for the statuses alone.
    #[must_use]
    pub fn status_complaints(&self, said: &Said) -> Vec<String> {
        let expected = &self.document["expected"];
        let stated = [
            ("valid", said.valid.into()),
            ("outcome", said.outcome.clone().into()),
            ("satisfied", said.satisfied.into()),
            ("defensible", said.defensible.map_or(Json::Null, Json::Bool)),
            ("level", said.level.into()),
            ("exit", said.exit.into()),
        ];
        stated
            .into_iter()
            .filter_map(|(name, said): (_, Json)| {
                let wanted = expected.get(name)?;
                (*wanted != said).then(|| format!("{name} is {said}, not {wanted}"))
            })
            .collect()
    }
}

fn texts(list: &Json) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).collect()
}

/// A replay runner that says the same of everything.
#[derive(Debug)]
struct Says(ReplayOutcome);

impl Replay for Says {
    fn outcome(&self, _: &ReplayRequest<'_>) -> ReplayOutcome {
        self.0
    }
}

/// What the library says.
///
/// # Panics
/// When an input beside the bundle can't be read.
#[must_use]
pub fn by_library(vector: &Stored) -> Said {
    let limits = vector.limits();
    let asked = match vector.input("require") {
        Some("satisfied") => Asked::Satisfied,
        Some("defensible") => Asked::Defensible,
        Some("gad4") => Asked::Gad4,
        _ => Asked::Valid,
    };
    let digest = |name| vector.input(name).map(|text| text.parse::<Digest>().expect("a digest"));
    let policy = vector.bytes("policy");
    let trust = vector.trust();
    let attestations: Vec<_> = vector.bytes("attestation").into_iter().collect();
    let predecessors: Vec<_> = vector
        .bytes("predecessor")
        .map(|bytes| read_predecessor(&bytes, &limits).expect("a predecessor"))
        .into_iter()
        .collect();
    let successor = vector
        .bytes("successor_plan")
        .map(|bytes| read_successor_plan(&bytes, &limits).expect("a successor plan"));
    let known = vector.bytes("known_checkpoints").map_or_else(KnownCheckpoints::default, |bytes| {
        read_known_checkpoints(&bytes, &limits).expect("known checkpoints")
    });
    let replay = vector.input("replay").map(|says| -> Arc<dyn Replay> {
        Arc::new(Says(match says {
            "agrees" => ReplayOutcome::Agreed,
            "disagrees" => ReplayOutcome::Disagreed,
            _ => ReplayOutcome::Unavailable,
        }))
    });
    let request = Request {
        policy: policy.as_deref(),
        policy_hash: digest("policy_hash"),
        trust: &trust,
        attestations: &attestations,
        audits: &[],
        auditors: &[],
        predecessors: &predecessors,
        successor: successor.as_ref(),
        expect_root_core: digest("expected_root_core"),
        expect_root_envelope: digest("expected_root_envelope"),
        known_checkpoints: &known,
        limits,
        replay,
        asked,
        evaluation_time: vector
            .input("evaluation_time")
            .and_then(parse_utc_seconds)
            .expect("an evaluation time"),
        evaluator: Implementation {
            name: "suite".into(),
            version: "0".into(),
            hash: Digest::of(b"suite"),
        },
        // One, so that what is muted for a test is muted for all of the evaluation.
        threads: NonZeroUsize::MIN,
    };
    let bundle = Bundle::open(&vector.path("bundle").expect("a bundle"), &limits);
    let report = evaluate(&bundle, &request).expect("inputs that fit the record");
    let statuses = &report.statuses;
    Said {
        valid: statuses.valid(),
        outcome: statuses.outcome().to_string(),
        satisfied: statuses.satisfied(),
        defensible: statuses.defensible(),
        level: statuses.level().into(),
        exit: report.exit_code(asked).into(),
        codes: report.findings.list().iter().map(|found| found.code.to_string()).collect(),
        failing: RULES
            .iter()
            .zip(statuses.rules())
            .filter(|(_, state)| **state == RuleState::Fail)
            .map(|(rule, _)| rule.to_string())
            .collect(),
    }
}

/// The arguments by which a command evaluates the vector: the protocol of the suite.
///
/// # Panics
/// When the vector names no bundle.
#[must_use]
pub fn arguments(vector: &Stored, runners: Option<&Path>) -> Vec<String> {
    let shown = |path: PathBuf| path.display().to_string();
    let mut arguments = vec![shown(vector.path("bundle").expect("a bundle")), "--json".to_owned()];
    let mut option = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    for (name, flag) in [
        ("policy", "--policy"),
        ("trust", "--trust"),
        ("attestation", "--attestation"),
        ("predecessor", "--predecessor"),
        ("successor_plan", "--successor-plan"),
        ("known_checkpoints", "--known-checkpoints"),
    ] {
        if let Some(path) = vector.path(name) {
            option(flag, shown(path));
        }
    }
    for (name, flag) in [
        ("policy_hash", "--policy-hash"),
        ("expected_root_core", "--expect-root-core"),
        ("expected_root_envelope", "--expect-root-envelope"),
        ("require", "--require"),
        ("evaluation_time", "--at"),
    ] {
        if let Some(value) = vector.input(name) {
            option(flag, value.to_owned());
        }
    }
    for (name, value) in vector.document["inputs"]["limits"].as_object().into_iter().flatten() {
        option("--limit", format!("{name}={value}"));
    }
    if let (Some(says), Some(runners)) = (vector.input("replay"), runners) {
        option("--replay-runner", shown(runners.join(says)));
    }
    arguments
}

/// What a command says: it prints a gad.report/1, or the members of one that are compared.
///
/// # Errors
/// Why that can't be told.
pub fn by_command(
    vector: &Stored,
    command: &[String],
    runners: Option<&Path>,
) -> Result<Said, String> {
    let (program, first) = command.split_first().ok_or("no command")?;
    let output = Command::new(program)
        .args(first)
        .args(arguments(vector, runners))
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    let exit = output.status.code().ok_or("it was killed")?;
    let report: Json = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!("no JSON: {error}; {}", String::from_utf8_lossy(&output.stderr))
    })?;
    let truth = |name: &str| report[name].as_bool().ok_or(format!("{name} isn't there"));
    let findings = report["findings"].as_array().ok_or("findings aren't there")?;
    Ok(Said {
        valid: truth("valid")?,
        outcome: report["outcome"].as_str().ok_or("outcome isn't there")?.to_owned(),
        satisfied: truth("satisfied")?,
        defensible: report["defensible"].as_bool(),
        level: report["level"].as_u64().ok_or("level isn't there")?,
        exit: exit.into(),
        codes: findings
            .iter()
            .filter_map(|found| found["code"].as_str())
            .map(str::to_owned)
            .collect(),
        failing: report["rules"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, state)| *state == "fail")
            .map(|(rule, _)| rule.clone())
            .collect(),
    })
}
