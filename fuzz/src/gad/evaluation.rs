//! What must hold for every report, whatever was evaluated.

use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::names::RunOutcome;
use anchorlog_proto::json::{ReadLimits, canonical, parse, parse_canonical};
use anchorlog_verifier::codes::gad::Affect;
use anchorlog_verifier::gad::Findings;
use anchorlog_verifier::gad::attestation::{Evaluator, attest};
use anchorlog_verifier::gad::container::{Bundle, Form};
use anchorlog_verifier::gad::evaluate::{Request, evaluate};
use anchorlog_verifier::gad::report::diff::diff;
use anchorlog_verifier::gad::report::{Asked, RULES, Report, RuleState};
use anchorlog_verifier::gad::rules::r1_envelope::Predecessor;
use anchorlog_verifier::gad::trust::TrustMaterial;

use crate::gad_world::{AT, implementation, key, policy, trust};

/// Members of a report; every one of them is always there.
const MEMBERS: [&str; 28] = [
    "anchors",
    "audits",
    "byte_profile",
    "claims_not_evaluated",
    "defensible",
    "evaluation_time",
    "evaluator",
    "findings",
    "findings_omitted",
    "input",
    "level",
    "limits",
    "outcome",
    "plan_hash",
    "policy",
    "precedence",
    "registry",
    "replay_layers_exercised",
    "root_core",
    "root_envelope",
    "rules",
    "satisfied",
    "schema",
    "spec_version",
    "table",
    "unsigned_metadata",
    "vacuous_anchors",
    "valid",
];

/// Archives of any bytes, under a policy.
pub fn bundle(bytes: &[u8]) {
    let bundle = Bundle::from_tar(bytes, &Limits::DEFAULT);
    let policy = canonical(&policy().to_value());
    examine(&bundle, Some(&policy), &[], Asked::Defensible);
}

/// Evaluates a bundle and looks whether its report can be.
pub(super) fn examine(
    bundle: &Result<Bundle, Findings>,
    policy: Option<&[u8]>,
    predecessors: &[Predecessor],
    asked: Asked,
) -> Report {
    let trust = trust();
    let report = run(bundle, policy, predecessors, asked, &trust, 1);
    let json = report.to_json();
    assert_eq!(run(bundle, policy, predecessors, asked, &trust, 3).to_json(), json);
    assert_eq!(report.to_json(), json);
    statuses(&report, policy.is_some(), asked);
    findings(&report);
    outputs(&report, &json, asked);
    report
}

fn run(
    bundle: &Result<Bundle, Findings>,
    policy: Option<&[u8]>,
    predecessors: &[Predecessor],
    asked: Asked,
    trust: &TrustMaterial,
    threads: usize,
) -> Report {
    let known = KnownCheckpoints::default();
    let request = Request {
        policy,
        predecessors,
        asked,
        threads: threads.try_into().expect("some"),
        ..Request::new(trust, &known, implementation(), AT)
    };
    evaluate(bundle, &request).expect("no successor plan was given")
}

fn statuses(report: &Report, policy_given: bool, asked: Asked) {
    let statuses = &report.statuses;
    let (valid, outcome, level) = (statuses.valid(), statuses.outcome(), statuses.level());
    assert_eq!(statuses.satisfied(), valid && outcome == RunOutcome::Completed);
    assert_eq!(valid, outcome != RunOutcome::Invalid);
    let defensible = statuses.defensible() == Some(true);
    assert!(!defensible || (valid && policy_given));
    let judged = policy_given || matches!(asked, Asked::Defensible | Asked::Gad4);
    assert_eq!(statuses.defensible().is_some(), judged);
    assert!(level <= 4 && (level < 3 || valid) && (level < 4 || defensible));
    let core = report.input.form == Form::Core.as_str();
    for (rule, state) in RULES.iter().zip(statuses.rules()) {
        assert!(!valid || *state == RuleState::Pass || (core && *rule == Affect::R1e));
        let fails = report.findings.affects(*rule);
        assert!(statuses.unevaluable() || (*state == RuleState::Fail) == fails, "{rule:?}");
    }
    let ended = report.findings.end_evaluation();
    assert!(!ended || statuses.unevaluable());
    assert!(!(ended && valid));
    assert!(!defensible || !report.findings.affects(Affect::Defensible));
    let exit = report.exit_code(asked);
    assert_eq!(exit == 2, statuses.unevaluable());
    assert!(exit == 2 || (exit == 0) == report.holds(asked));
    assert!(exit <= 2);
}

fn findings(report: &Report) {
    let omitted: usize = report.findings.omitted().map(|(_, count)| count).sum();
    assert!(!report.findings.is_empty() || omitted == 0);
    let paths = |path: &str| !path.is_empty();
    for finding in report.findings.list() {
        assert!(!finding.affects.is_empty(), "{finding:?}");
        assert!(finding.affects.is_sorted(), "{finding:?}");
        assert!(finding.place.member.as_deref().is_none_or(paths), "{finding:?}");
        let pointer = finding.place.pointer.as_deref();
        assert!(pointer.is_none_or(|pointer| pointer.starts_with('/')), "{finding:?}");
        assert!(!finding.code.clause().is_empty() && !finding.code.action().is_empty());
        assert_ne!(finding.code.as_str(), "INTERNAL", "{finding:?}");
    }
}

fn outputs(report: &Report, json: &[u8], asked: Asked) {
    use anchorlog_verifier::gad::report::{sarif, statement, text};
    use anchorlog_verifier::report::text::Style;

    let limits = ReadLimits::DEFAULT.with_bytes(json.len()).with_values(usize::MAX);
    let value = parse_canonical(json, &limits).expect("a report is canonical JSON");
    let object = value.as_object().expect("an object");
    let names: Vec<_> = object.iter().map(|(name, _)| name).collect();
    assert_eq!(names, MEMBERS);
    assert!(diff(json, json).expect("two reports").is_empty());
    let _ = text::render(report, asked, Style::Plain);
    let sarif = sarif::write(report);
    let limits = ReadLimits::DEFAULT.with_bytes(usize::MAX).with_values(usize::MAX);
    assert!(parse(&sarif, &limits).is_ok(), "SARIF is JSON");
    for json in [
        statement::simple_verification_result(report),
        statement::verification_summary(report, asked),
    ] {
        assert!(json.is_none_or(|json| parse(&json, &limits).is_ok()));
    }
    let key = key("evaluator");
    let evaluator = Evaluator { identity: "Evaluator", key: &key, suite_version: "1" };
    if let Ok(attestation) = attest(report, &evaluator) {
        super::attestation(&attestation);
    }
}
