//! Algorithm 2, R4: "for v in verdict entries: require SIG_verify(engine_key, v); v.result ∈ {pass, fail};
//! v.capture, v.observation_layers, v.signal_kind declared; v carries test_spec_digest,
//! signal_artifact_digest, subject_digest, env_digest, output digests; eff(v) ← min(observation_assurance(v),
//! signal_strength(v))".
//!
//! Each verdict by itself, relied on or not. That the tests of a good node passed at their class is
//! [`super::reliance`]. A verdict's signature is judged here and nowhere else: what it says counts for the
//! trace all the same, or one bad signature would raise a finding for everything that follows.

use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::names::{ObservationLayer, PassFail, Role, SignalKind};
use anchorlog_proto::gad::payload::Verdict;
use anchorlog_proto::gad::plan::Test;
use anchorlog_proto::signed_object::SignerId;

use super::class::{Observation, Signal, effective_class};
use super::r5::R5;
use crate::codes::Code;
use crate::codes::gad::r4::{
    CAPTURE, CLASS_DECLARED, CONTRADICTION, CUSTODY, DIGESTS, ENGINE_IDENTITY, LAYERS,
    REPLAY_FAILED, REPLAY_UNAVAILABLE, RESULT, SIG, SIGNAL, SIGNAL_FROZEN, SPEC_DIGEST,
};
use crate::gad::replay::{ReplayOutcome, ReplayRequest, ReplayRule, ReplaySummary};
use crate::gad::trace::{Judged, Machine};
use crate::gad::{Event, Findings, GadFinding, NodeIx, PlanIndex};

/// The observer of verdicts and probes.
#[derive(Clone, Debug)]
pub struct R4 {
    plan: Arc<PlanIndex>,
    probes: R5,
    replay: ReplayRule,
    replayed: ReplaySummary,
}

/// A verdict's test, where the plan has it.
#[derive(Clone, Copy)]
struct Judges<'p> {
    node: NodeIx,
    position: usize,
    test: &'p Test,
}

impl R4 {
    /// Before the first entry.
    #[must_use]
    pub fn new(plan: Arc<PlanIndex>, replay: ReplayRule) -> Self {
        Self { plan, probes: R5::new(), replay, replayed: ReplaySummary::default() }
    }

    /// One entry, in order, before the machine steps over it. Of a verdict whose form isn't refused, what
    /// the machine has to know.
    pub fn observe(
        &mut self,
        event: &Event<'_>,
        machine: &Machine,
        findings: &mut Findings,
    ) -> Option<Judged> {
        self.probes.observe(event, findings);
        if event.entry.entry_type != EntryType::Verdict {
            return None;
        }
        if !event.authentic {
            findings.push(GadFinding::new(SIG, event.place()));
        }
        let Some(Payload::Verdict(verdict)) = event.payload() else { return None };
        let plan = Arc::clone(&self.plan);
        let judges = plan.find(verdict.node).and_then(|node| {
            let (position, test) = plan.test(node, verdict.test_id)?;
            Some(Judges { node, position, test })
        });
        declarations(event, verdict, findings);
        digests(event, verdict, findings);
        if let Some(judges) = judges {
            held_against(judges.test, event, verdict, findings);
        }
        let custody = self.custody(event, verdict, findings);
        let replayed = judges
            .filter(|judges| self.credits_completion(*judges, verdict, machine))
            .is_some_and(|judges| self.replay(judges.test, event, verdict, findings));
        let declares =
            |layer| verdict.layers.as_ref().is_some_and(|layers| layers.contains(&layer));
        let observation = Observation {
            capture: verdict.capture,
            authenticated: declares(ObservationLayer::AuthenticatedEngineObservation) && custody,
            replayed: declares(ObservationLayer::IndependentlyReplayable) && replayed,
        };
        let probed = verdict.signal == Some(SignalKind::WorkerAuthoredProxy)
            && self.probes.is_probed(event, verdict.signal_artifact, verdict.environment);
        let signal = Signal { kind: verdict.signal, probed };
        Some(Judged {
            seq: event.entry.seq,
            pass: verdict.result == Some(PassFail::Pass),
            class: effective_class(observation, signal),
        })
    }

    /// After the last entry.
    pub fn finish(&self, findings: &mut Findings) {
        self.probes.finish(findings);
    }

    /// What was done again.
    #[must_use]
    pub const fn replayed(&self) -> ReplaySummary {
        self.replayed
    }

    /// Whether authenticated_engine_observation can hold: the custody of the signing engine's key is
    /// disclosed. A key that is no engine's is the issuer table's affair.
    fn custody(&self, event: &Event<'_>, verdict: &Verdict<'_>, findings: &mut Findings) -> bool {
        let layer = ObservationLayer::AuthenticatedEngineObservation;
        let signer = event.entry.signed.as_ref().and_then(|signed| signed.key_id);
        let engine = signer
            .and_then(|signer| self.plan.principal(signer))
            .filter(|principal| principal.roles.contains(&Role::Engine));
        let disclosed = engine.is_none_or(|engine| !engine.custody.is_empty());
        if !disclosed && verdict.layers.as_ref().is_some_and(|layers| layers.contains(&layer)) {
            findings.push(
                GadFinding::new(CUSTODY, event.member("/observation_layers"))
                    .expected("a custody statement of the engine's key")
                    .actual("none"),
            );
        }
        disclosed
    }

    /// A verdict that can credit the completion of its node: the first one of its test in this attempt, a
    /// pass, and the node records more than testimony.
    fn credits_completion(
        &self,
        judges: Judges<'_>,
        verdict: &Verdict<'_>,
        machine: &Machine,
    ) -> bool {
        verdict.result == Some(PassFail::Pass)
            && !self.plan.node(judges.node).testimony
            && machine.judged(judges.node, judges.position).is_none()
    }

    /// Whether a replay was asked for, was done and agreed.
    fn replay(
        &mut self,
        test: &Test,
        event: &Event<'_>,
        verdict: &Verdict<'_>,
        findings: &mut Findings,
    ) -> bool {
        let seq = event.entry.seq;
        if !self.replay.asks(&test.spec, seq) {
            return false;
        }
        let request = ReplayRequest { plan_hash: self.plan.hash(), test, seq, verdict };
        let outcome = self.replay.outcome(&request);
        self.replayed.add(outcome);
        let refused = match outcome {
            ReplayOutcome::Agreed => return true,
            ReplayOutcome::Disagreed => GadFinding::new(REPLAY_FAILED, event.member("/result"))
                .expected("pass")
                .actual("fail"),
            ReplayOutcome::Unavailable => {
                GadFinding::new(REPLAY_UNAVAILABLE, event.place()).expected("a replay that agrees")
            }
        };
        findings.push(refused);
        false
    }
}

/// What a verdict has to say of itself, and what it must not say.
fn declarations(event: &Event<'_>, verdict: &Verdict<'_>, findings: &mut Findings) {
    for (declared, code, member) in [
        (verdict.result.is_some(), RESULT, "/result"),
        (verdict.capture.is_some(), CAPTURE, "/capture"),
        (verdict.layers.is_some(), LAYERS, "/observation_layers"),
        (verdict.signal.is_some(), SIGNAL, "/signal_kind"),
    ] {
        if !declared {
            findings.push(GadFinding::new(code, event.member(member)));
        }
    }
    let signer = event.entry.signed.as_ref().and_then(|signed| signed.key_id);
    let stated = verdict.engine_identity;
    if signer.is_none() || stated.and_then(|stated| stated.parse::<SignerId>().ok()) != signer {
        let mut finding = GadFinding::new(ENGINE_IDENTITY, event.member("/engine_identity"));
        if let Some(signer) = signer {
            finding = finding.expected(signer);
        }
        findings.push(match stated {
            Some(stated) => finding.actual(stated),
            None => finding,
        });
    }
    if verdict.declares_class {
        findings.push(
            GadFinding::new(CLASS_DECLARED, event.place())
                .expected("a class that is computed")
                .actual("a class that is declared"),
        );
    }
}

fn digests(event: &Event<'_>, verdict: &Verdict<'_>, findings: &mut Findings) {
    for (digest, member) in [
        (verdict.test_spec, "/test_spec_digest"),
        (verdict.signal_artifact, "/signal_artifact_digest"),
        (verdict.subject_artifact, "/subject_artifact_digest"),
        (verdict.environment, "/environment_digest"),
        (verdict.stdout, "/stdout_digest"),
        (verdict.stderr, "/stderr_digest"),
    ] {
        if digest.is_none() {
            findings.push(GadFinding::new(DIGESTS, event.member(member)));
        }
    }
}

/// A verdict against its frozen test. What it doesn't declare is reported as that.
fn held_against(test: &Test, event: &Event<'_>, verdict: &Verdict<'_>, findings: &mut Findings) {
    let spec = &test.spec;
    let differs = |code: Code, member: &str, expected: &str, actual: &str| {
        GadFinding::new(code, event.member(member)).expected(expected).actual(actual)
    };
    if let Some(capture) = verdict.capture
        && capture != spec.capture
    {
        let (expected, actual) = (spec.capture.as_str(), capture.as_str());
        findings.push(differs(SIGNAL_FROZEN, "/capture", expected, actual));
    }
    if let Some(layers) = &verdict.layers
        && *layers != spec.layers
    {
        let (expected, actual) = (names(&spec.layers), names(layers));
        findings.push(differs(SIGNAL_FROZEN, "/observation_layers", &expected, &actual));
    }
    if let Some(signal) = verdict.signal
        && signal != spec.signal
    {
        let (expected, actual) = (spec.signal.as_str(), signal.as_str());
        findings.push(differs(SIGNAL_FROZEN, "/signal_kind", expected, actual));
    }
    if let Some(digest) = verdict.test_spec
        && digest != test.digest
    {
        findings.push(mismatch(event, test.digest, digest));
    }
    let expected = i32::from(spec.expect_exit_code);
    if verdict.result == Some(PassFail::Pass) && verdict.exit_code != Some(expected) {
        let actual = verdict.exit_code.map_or_else(|| "null".to_owned(), |code| code.to_string());
        findings.push(differs(CONTRADICTION, "/exit_code", &expected.to_string(), &actual));
    }
}

fn mismatch(event: &Event<'_>, expected: Digest, actual: Digest) -> GadFinding {
    GadFinding::new(SPEC_DIGEST, event.member("/test_spec_digest"))
        .expected(expected)
        .actual(actual)
}

fn names(layers: &[ObservationLayer]) -> String {
    let names: Vec<_> = layers.iter().map(|layer| layer.as_str()).collect();
    format!("[{}]", names.join(", "))
}

#[cfg(test)]
#[path = "r4_tests.rs"]
mod tests;
