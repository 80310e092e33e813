//! The published GAD vectors: verdicts agree, and the named codes are found.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::json::{ReadLimits, Value, parse, parse_utc_seconds};
use anchorlog_verifier::gad::Findings;
use anchorlog_verifier::gad::container::Bundle;
use anchorlog_verifier::gad::evaluate::{
    Request, evaluate, read_known_checkpoints, read_predecessor, read_successor_plan,
};
use anchorlog_verifier::gad::report::{Asked, Report};
use anchorlog_verifier::gad::trust::TrustMaterial;

use crate::corpus::corpus_folder;

#[test]
fn every_vector_of_the_corpus() {
    let Some(gad) = corpus_folder("gad") else { return };
    let mut wrong = Vec::new();
    let mut seen = 0;
    let mut names: Vec<_> =
        fs::read_dir(&gad).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for vector in names.iter().filter(|path| path.join("vector.json").exists()) {
        seen += 1;
        let differences = differences(vector, 2);
        if !differences.is_empty() {
            wrong.push(format!("{}: {differences:?}", vector.file_name().unwrap().display()));
        }
    }
    assert!(seen >= 257, "{seen} vectors");
    assert!(wrong.is_empty(), "{} of {seen} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn reports_do_not_depend_on_the_number_of_threads() {
    let Some(gad) = corpus_folder("gad") else { return };
    for name in ["V01", "V15", "V17", "V18", "X002", "X061a", "X331a"] {
        let vector = gad.join(name);
        let [one, two, many] = [1, 2, 7].map(|threads| run(&vector, threads).0.to_json());
        assert_eq!(one, two, "{name}");
        assert_eq!(one, many, "{name}");
    }
}

/// What of a vector's expectation isn't met.
fn differences(vector: &Path, threads: usize) -> Vec<String> {
    let (report, asked, expected) = run(vector, threads);
    let mut differences = Vec::new();
    let statuses = &report.statuses;
    let mut compare = |what: &str, expected: Option<String>, actual: String| {
        if let Some(expected) = expected.filter(|expected| *expected != actual) {
            differences.push(format!("{what} {actual}, not {expected}"));
        }
    };
    let text = |name: &str| expected.member(name);
    compare("valid", text("valid"), statuses.valid().to_string());
    compare("outcome", text("outcome"), statuses.outcome().to_string());
    compare("satisfied", text("satisfied"), statuses.satisfied().to_string());
    let defensible =
        statuses.defensible().map_or_else(|| "null".to_owned(), |truth| truth.to_string());
    compare("defensible", text("defensible"), defensible);
    compare("level", text("level"), statuses.level().to_string());
    compare("exit", text("exit"), report.exit_code(asked).to_string());
    let codes: BTreeSet<&str> =
        report.findings.list().iter().map(|finding| finding.code.as_str()).collect();
    for code in expected.list("must_codes") {
        if !codes.contains(code.as_str()) {
            differences.push(format!("no {code}"));
        }
    }
    for code in expected.list("must_not_codes") {
        if codes.contains(code.as_str()) {
            differences.push(format!("has {code}"));
        }
    }
    if !differences.is_empty() {
        differences.push(format!("found {codes:?}"));
    }
    differences
}

/// A JSON object of a vector.
pub struct Json(Vec<u8>, Vec<&'static str>);

impl Json {
    fn with<T>(&self, read: impl FnOnce(Option<&Value<'_>>) -> T) -> T {
        let value = parse(&self.0, &ReadLimits::DEFAULT).unwrap();
        let mut at = Some(&value);
        for name in &self.1 {
            at = at.and_then(|value| value.as_object()).and_then(|object| object.get(name));
        }
        read(at)
    }

    fn below(&self, name: &'static str) -> Self {
        let mut path = self.1.clone();
        path.push(name);
        Self(self.0.clone(), path)
    }

    fn member(&self, name: &str) -> Option<String> {
        self.with(|value| {
            value.and_then(Value::as_object).and_then(|object| object.get(name)).map(shown)
        })
    }

    /// A member that is a string; `null` and absence are none.
    fn string(&self, name: &str) -> Option<String> {
        self.member(name).filter(|text| text != "null")
    }

    fn list(&self, name: &str) -> Vec<String> {
        self.with(|value| {
            let list = value.and_then(Value::as_object).and_then(|object| object.get(name));
            list.and_then(Value::as_array).unwrap_or_default().iter().map(shown).collect()
        })
    }

    fn numbers(&self) -> Vec<(String, u64)> {
        self.with(|value| {
            let object = value.and_then(Value::as_object);
            let number = |value: &Value<'_>| u64::try_from(value.as_integer().unwrap()).unwrap();
            object
                .map(|object| {
                    object.iter().map(|(name, value)| (name.to_owned(), number(value))).collect()
                })
                .unwrap_or_default()
        })
    }
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::String(text) => text.to_string(),
        other => panic!("{other:?}"),
    }
}

fn run(vector: &Path, threads: usize) -> (Report, Asked, Json) {
    run_as(vector, threads, Bundle::open)
}

/// Evaluates what `open` makes of the bundle of a vector, with the other inputs of the vector.
pub fn run_as(
    vector: &Path,
    threads: usize,
    open: impl FnOnce(&Path, &Limits) -> Result<Bundle, Findings>,
) -> (Report, Asked, Json) {
    let json = Json(fs::read(vector.join("vector.json")).unwrap(), Vec::new());
    let inputs = json.below("inputs");
    let file = |name: String| fs::read(vector.join(name)).unwrap();
    let policy = json.string("policy").map(file);
    let trust = inputs.string("trust").map_or_else(
        || TrustMaterial::from_files(Vec::new()),
        |folder| {
            let mut files = Vec::new();
            for entry in fs::read_dir(vector.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                files.push((name, fs::read(path).unwrap()));
            }
            files.sort();
            TrustMaterial::from_files(files)
        },
    );
    let mut limits = Limits::DEFAULT;
    for (name, value) in inputs.below("limits").numbers() {
        assert!(limits.set(&name, value), "{name}");
    }
    let asked = match inputs.string("require").unwrap().as_str() {
        "valid" => Asked::Valid,
        "satisfied" => Asked::Satisfied,
        "defensible" => Asked::Defensible,
        "gad4" => Asked::Gad4,
        other => panic!("{other}"),
    };
    let digest = |name: &str| inputs.string(name).map(|text| text.parse::<Digest>().unwrap());
    let known = inputs.string("known_checkpoints").map_or_else(
        || KnownCheckpoints { checkpoints: Vec::new() },
        |name| read_known_checkpoints(&file(name), &limits).unwrap(),
    );
    let predecessors: Vec<_> = inputs
        .string("predecessor")
        .map(|name| read_predecessor(&file(name), &limits).unwrap())
        .into_iter()
        .collect();
    let successor = inputs
        .string("successor_plan")
        .map(|name| read_successor_plan(&file(name), &limits).unwrap());
    let attestations: Vec<_> = inputs.string("attestation").map(file).into_iter().collect();
    let bundle = open(&vector.join(inputs.string("bundle").unwrap()), &limits);
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
        replay: None::<Arc<_>>,
        asked,
        evaluation_time: parse_utc_seconds(&inputs.string("evaluation_time").unwrap()).unwrap(),
        evaluator: Implementation {
            name: "test".into(),
            version: "0".into(),
            hash: Digest::of(b"test"),
        },
        threads: NonZeroUsize::new(threads).unwrap(),
    };
    let report = evaluate(&bundle, &request).unwrap();
    (report, asked, json.below("expected"))
}
