//! Records for tests, written below every rule so that they can be defective, and what is found in them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::{EvidenceClass, PassFail};
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{Object, ReadLimits, Value, canonical, parse};
use anchorlog_proto::signed_object::{Domain, SignedObject, SigningKey};

use super::rules::{R6, R7};
use super::trace::{Judged, Machine};
use super::witness::{Artifacts, Stated, WitnessContext, WitnessError, read_witness};
use super::{Event, Findings, GadFinding, Ledger, PlanIndex};

/// The engine's key, and others.
pub(crate) fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

pub(crate) const ENGINE: u8 = 1;
pub(crate) const APPROVER: u8 = 2;
pub(crate) const SECOND_APPROVER: u8 = 3;
pub(crate) const STRANGER: u8 = 9;

/// A plan of these nodes: id, risk, fence. Each has the one test `t1`.
pub(crate) fn plan(nodes: &[(&str, &str, &[&str])]) -> PlanIndex {
    let principal = |seed, role: &str| {
        let key = key(seed);
        format!(
            r#"{{"algorithm":"ed25519","custody_statement":"test","key_id":"{}","public_key":"{}","roles":["{role}"]}}"#,
            key.id(),
            key.public_key().to_base64()
        )
    };
    let nodes: Vec<_> = nodes
        .iter()
        .map(|(id, risk, allow)| {
            format!(
                r#"{{"B":1,"T":[{{"spec":{{"capture":"engine_capture","expect":{{"exit_code":0}},"kind":"command","observation_layers":["authenticated_engine_observation"],"replay":false,"run":"make","signal_kind":"direct_observable"}},"test_id":"t1"}}],"c_min":"engine_observed","desc":"d","fence":{{"allow":{allow:?},"kind":"paths"}},"node":"{id}","risk":"{risk}"}}"#
            )
        })
        .collect();
    let text = format!(
        r#"{{"D":[],"N":[{}],"authorized_principals":[{},{},{}],"meta":{{"clock_policy":{{"max_backstep_s":0,"max_future_skew_s":0}}}},"schema":"gad.plan/1"}}"#,
        nodes.join(","),
        principal(ENGINE, "engine"),
        principal(APPROVER, "approver"),
        principal(SECOND_APPROVER, "approver"),
    );
    let value = parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap();
    let mut defects = Defects::new();
    let plan = Plan::read(&value, &Limits::DEFAULT, &mut defects);
    assert!(defects.is_empty(), "{defects:?}");
    PlanIndex::new(plan.unwrap(), plan_hash(&canonical(&value)))
}

/// A record being written.
pub(crate) struct Record {
    pub(crate) lines: Vec<Vec<u8>>,
    pub(crate) heads: Vec<Digest>,
    plan_hash: Digest,
    /// Where the next checkpoint's range starts.
    start: usize,
}

impl Record {
    pub(crate) fn new(plan: &PlanIndex) -> Self {
        Self { lines: Vec::new(), heads: Vec::new(), plan_hash: plan.hash(), start: 0 }
    }

    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.lines.len()).unwrap()
    }

    pub(crate) fn head(&self) -> Digest {
        self.heads.last().copied().unwrap_or_else(|| Domain::Genesis.hash(&[]))
    }

    /// Appends an entry whose payload is this JSON text; its position.
    pub(crate) fn push(&mut self, type_name: &str, payload: &str) -> u64 {
        self.push_numbered(self.len(), type_name, payload)
    }

    /// The same, stating another number.
    pub(crate) fn push_numbered(&mut self, seq: u64, type_name: &str, payload: &str) -> u64 {
        let text = format!(
            r#"{{"p":{payload},"seq":{seq},"t":"2026-07-20T10:00:00Z","type":"{type_name}"}}"#
        );
        let body = canonical(&parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap());
        let h = Domain::Chain.hash(&[self.head().as_bytes(), &body]);
        self.push_line(&body, h)
    }

    /// Appends a line of this canonical body and this h.
    pub(crate) fn push_line(&mut self, body: &[u8], h: Digest) -> u64 {
        let end = format!(",\"h\":\"{h}\"}}\n");
        self.lines.push([b"{\"body\":", body, end.as_bytes()].concat());
        self.heads.push(h);
        self.len() - 1
    }

    /// Appends a signed entry; `members` are those of the body beside type, key_id and plan_hash.
    pub(crate) fn sign(&mut self, type_name: &str, members: &str, seed: u8) -> u64 {
        let payload = self.signed(type_name, members, seed);
        self.push(type_name, &payload)
    }

    /// {body, signature} as text.
    pub(crate) fn signed(&self, type_name: &str, members: &str, seed: u8) -> String {
        let value = parse(members.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        let Value::Object(mut body) = value.into_owned() else { panic!("an object") };
        if !body.contains("plan_hash") {
            body.insert("plan_hash", self.plan_hash.to_string());
        }
        let object: Object<'_> = SignedObject::sign(type_name, body, &key(seed));
        String::from_utf8(object.to_canonical()).unwrap()
    }

    /// Appends a checkpoint over everything since the last one.
    pub(crate) fn checkpoint(&mut self) -> u64 {
        let members = self.checkpoint_members(self.start, self.lines.len() - 1);
        self.start = self.lines.len();
        self.sign("checkpoint", &members, ENGINE)
    }

    /// The members of a checkpoint over this range.
    pub(crate) fn checkpoint_members(&self, first: usize, last: usize) -> String {
        let heads: Vec<_> =
            self.heads[first..=last].iter().map(|head| &head.as_bytes()[..]).collect();
        let digest = Domain::CheckpointRange.hash(&heads);
        let head = self.heads[last];
        format!(r#"{{"digest_over_range":"{digest}","head":"{head}","range":[{first},{last}]}}"#)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.lines.concat()
    }

    pub(crate) fn stated(&self, seal: Seal) -> Stated {
        Stated { count: self.len(), head: self.head(), seal }
    }
}

/// The payload of a dispatch whose instruction is this artifact.
pub(crate) fn dispatch(session: &str, nodes: &[&str], path: &str, digest: &Digest) -> String {
    let input: Vec<_> = nodes
        .iter()
        .map(|node| format!(r#"{{"desc":"d","node":"{node}","prior_failure":null}}"#))
        .collect();
    format!(
        r#"{{"executor_identity":{{"model":"m","provider":"p","version":"1"}},"input":[{}],"instruction_digest":"{digest}","instruction_ref":"{path}","nodes":{nodes:?},"session_id":"{session}","workspace_baseline_digest":"{digest}"}}"#,
        input.join(",")
    )
}

/// The payload of an exit; `node` is JSON text.
pub(crate) fn exit(session: &str, node: &str, completed: bool) -> String {
    let (status, code) = if completed { ("completed", 0) } else { ("crashed", 1) };
    format!(
        r#"{{"available_output_digest":null,"available_output_ref":null,"exit_code":{code},"node":{node},"session_id":"{session}","status":"{status}"}}"#
    )
}

/// The payload of a result; `node` is JSON text.
pub(crate) fn result(session: &str, node: &str, touched: &[&str]) -> String {
    format!(
        r#"{{"delta_digest":null,"delta_ref":null,"node":{node},"output_status":"not_recorded","quiescence":{{"outcome":"quiesced"}},"session_id":"{session}","touched_surface":{touched:?}}}"#
    )
}

/// The members of a verdict on the test `t1`.
pub(crate) fn verdict(session: &str, result: u64, node: &str, says: &str) -> String {
    let digest = Digest::of(b"x");
    let engine = key(ENGINE).id();
    format!(
        r#"{{"capture":"engine_capture","engine_identity":"{engine}","environment_digest":"{digest}","execution_result_seq":{result},"exit_code":0,"node":"{node}","observation_layers":["authenticated_engine_observation"],"result":"{says}","session_id":"{session}","signal_artifact_digest":"{digest}","signal_kind":"direct_observable","stderr_digest":"{digest}","stdout_digest":"{digest}","subject_artifact_digest":"{digest}","test_id":"t1","test_spec_digest":"{digest}"}}"#
    )
}

/// What R6 and R7 find in these bytes, beside what the reader finds.
pub(crate) fn judge(bytes: &[u8], plan: &PlanIndex) -> Findings {
    let artifacts = Artifacts::default();
    let cx = WitnessContext {
        plan: Some(plan),
        stated: None,
        artifacts: &artifacts,
        limits: &Limits::DEFAULT,
        threads: WitnessContext::all_cores(),
        batch_bytes: WitnessContext::BATCH_BYTES,
    };
    let mut findings = Findings::new();
    read_and_judge(bytes, &cx, plan, &mut findings).unwrap();
    findings
}

/// Reads a witness, and observes it by R6 and R7; an authentic pass counts at the top class.
pub(crate) fn read_and_judge(
    bytes: &[u8],
    cx: &WitnessContext<'_>,
    plan: &PlanIndex,
    findings: &mut Findings,
) -> Result<(), WitnessError> {
    let mut machine = Machine::new(Arc::new(plan.clone()), false);
    let mut ledger = Ledger::new();
    let (mut r6, mut r7) = (R6::new(plan), R7::new());
    let mut observer = |event: &Event<'_>, findings: &mut Findings| {
        r6.observe(event, &machine, &ledger, findings);
        r7.observe(event, &machine, &ledger, findings);
        let judged = match event.payload() {
            Some(Payload::Verdict(verdict)) => Some(Judged {
                seq: event.entry.seq,
                pass: event.authentic && verdict.result == Some(PassFail::Pass),
                class: EvidenceClass::EngineObserved,
            }),
            _ => None,
        };
        machine.step(event, judged, findings);
        ledger.push(event, &machine, judged);
    };
    let summary = read_witness(bytes, cx, &mut observer, findings)?;
    r6.finish(&machine, summary.coverage(), findings);
    machine.finish(true, findings);
    Ok(())
}

/// Those codes of a rule that are found, with the seq of each.
pub(crate) fn codes_of(rule: &str, findings: &Findings) -> Vec<String> {
    let mut codes = codes(findings);
    codes.retain(|code| code.split(' ').any(|word| word.starts_with(rule)));
    codes
}

/// The codes found, with the seq of each, in the order they were found.
pub(crate) fn codes(findings: &Findings) -> Vec<String> {
    let of = |finding: &GadFinding| match finding.place.seq {
        Some(seq) => format!("{seq} {}", finding.code),
        None => finding.code.to_string(),
    };
    findings.list().iter().map(of).collect()
}
