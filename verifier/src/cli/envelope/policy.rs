//! `verifier policy check` of a trust policy for envelopes.

use core::fmt::Write as _;
use std::path::Path;

use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::policy::RequiredTarget;
use anchorlog_proto::json::{Object, Value, canonical};

use super::args::{no_trust, trust};
use crate::cli::output::{Answer, Evaluation};
use crate::codes::gad::Affect;
use crate::finding::Finding;
use crate::gad::Findings;
use crate::gad::policy::{PolicyContext, PolicyInput};
use crate::report::text::printable;

/// Reads the policy and finds what it names. Exit code 0: it can be used as it is; 1: something it names
/// isn't in the trust directory, or nothing can be defensible under it; 2: it is no policy.
pub(in crate::cli) fn check(bytes: &[u8], directory: Option<&Path>) -> Result<Answer, Finding> {
    let material = directory.map_or_else(|| Ok(no_trust()), trust)?;
    let mut findings = Findings::new();
    let input = PolicyInput {
        bytes: Some(bytes),
        expected_hash: None,
        defensible_asked: true,
        // Whether a runner is at hand is a matter of each evaluation.
        replay_runner: true,
        at: 0,
        limits: Limits::DEFAULT,
    };
    let context = PolicyContext::load(&input, &material, &mut findings);
    let code = if context.readable() {
        u8::from(findings.affects(Affect::Defensible) || !context.missing().is_empty())
    } else {
        2
    };
    let text = text(&context, &findings);
    Ok(Answer::Evaluation(Box::new(Evaluation {
        json: json(&context, &findings),
        text: Box::new(move |_| text),
        code,
    })))
}

fn json(context: &PolicyContext, findings: &Findings) -> Vec<u8> {
    let missing: Vec<_> =
        context.missing().iter().map(|digest| Value::from(digest.to_string())).collect();
    let found: Vec<_> = findings
        .sorted()
        .into_iter()
        .map(|finding| {
            let pointer = finding.place.pointer.as_deref();
            let actual = finding.actual.as_deref();
            Value::from(Object::from([
                ("code", Value::from(finding.code.as_str())),
                ("class", finding.class().as_str().into()),
                ("pointer", pointer.map_or(Value::Null, Value::from)),
                ("actual", actual.map_or(Value::Null, Value::from)),
                ("hint", finding.code.action().into()),
            ]))
        })
        .collect();
    let readable = context.readable();
    let id = &*context.policy().id;
    let object = Object::from([
        ("schema", Value::from("gad.policy-check/1")),
        ("readable", readable.into()),
        ("id", if readable { id.into() } else { Value::Null }),
        ("hash", if readable { context.hash().to_string().into() } else { Value::Null }),
        ("missing", missing.into()),
        ("findings", found.into()),
    ]);
    canonical(&object.into())
}

fn text(context: &PolicyContext, findings: &Findings) -> String {
    let mut out = String::new();
    // Writing to a String can't fail.
    let mut line = |label: &str, value: &dyn core::fmt::Display| {
        let _ = writeln!(out, "  {label:<12}{value}");
    };
    let policy = context.policy();
    if context.readable() {
        line("policy", &policy.id);
        line("hash", &context.hash());
        for required in &policy.required_anchors {
            let target = match required.target {
                RequiredTarget::CoreRoot { max_delay_s } => format!("core_root in {max_delay_s} s"),
                RequiredTarget::ChainHead { max_delay_s } => {
                    format!("chain_head in {max_delay_s} s")
                }
                RequiredTarget::PlanCommitment { rule } => format!("plan_commitment, {rule}"),
            };
            let types: Vec<_> = required.types.iter().map(|one| one.as_str()).collect();
            let types = types.join(" or ");
            let operators = required.min_distinct_operators;
            line(
                "requires",
                &format!("{target}: {types}, {operators} operator(s), {}", required.when),
            );
        }
        for entry in &policy.tsa {
            line("authority", &format!("{} with {} root(s)", entry.operator, entry.roots.len()));
        }
        if let Some(digest) = policy.logs {
            line("logs", &digest);
        }
        for party in &policy.parties {
            line("party", &format!("{}: {}", party.id, party.names.join(", ")));
        }
        for one in &policy.accepted_evaluators {
            line("evaluator", &format!("{} {} {}", one.name, one.version, one.hash));
        }
        let outcomes: Vec<_> = policy.accept_outcomes.iter().map(|one| one.as_str()).collect();
        line("accepts", &outcomes.join(", "));
        for digest in context.missing() {
            line("missing", &format!("{digest} is not in the trust directory"));
        }
    }
    for finding in findings.sorted() {
        let pointer = finding.place.pointer.as_deref().unwrap_or_default();
        let actual = finding.actual.as_deref().map(|actual| format!(", found {actual}"));
        let _ = writeln!(
            out,
            "\n{} {}: {}{}{}\n  what to do  {}",
            finding.class(),
            finding.code,
            finding.code.title(),
            if pointer.is_empty() { String::new() } else { format!(" at {pointer}") },
            actual.unwrap_or_default(),
            finding.code.action()
        );
    }
    printable(&out)
}
