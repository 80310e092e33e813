//! Writing payloads: the inverse of reading, member by member.
//!
//! A payload is written as it is: lists keep their order, and a member that a rule would refuse as absent
//! or malformed is left out, so that defective records can be written too. Numbers beyond 2^53-1 become
//! one that every reader refuses.

use crate::digest::Digest;
use crate::json::{Object, Value, format_utc_seconds};
use crate::signed_object::Domain;

use super::super::entry::{EntryType, Payload};
use super::super::plan::Fence;
use super::{
    ArtifactRef, Change, Delta, Dispatch, DispatchNodes, ExecutionResult, ExecutorExit, GateAnswer,
    NodeOrNull, PlanSuperseded, Probe, Verdict,
};

impl<'v> Payload<'v> {
    /// The payload that freezes this plan.
    #[must_use]
    pub fn freeze(plan: &'v Object<'v>) -> Self {
        let hash = Some(Domain::Plan.hash(&[&plan.to_canonical()]));
        Self::Freeze { hash, embedded: hash, plan: Some(plan) }
    }

    /// The type of the entry that has this payload.
    #[must_use]
    pub const fn entry_type(&self) -> EntryType {
        match self {
            Self::Freeze { .. } => EntryType::Freeze,
            Self::Dispatch(_) => EntryType::Dispatch,
            Self::ExecutorExit(_) => EntryType::ExecutorExit,
            Self::ExecutionResult(_) => EntryType::ExecutionResult,
            Self::Claim(_) => EntryType::Claim,
            Self::Flag(_) => EntryType::Flag,
            Self::Remediation(_) => EntryType::Remediation,
            Self::ScopeClosed(_) => EntryType::ScopeClosed,
            Self::Verdict(_) => EntryType::Verdict,
            Self::Probe(_) => EntryType::Probe,
            Self::GateRequest(_) => EntryType::GateRequest,
            Self::Approval(_) => EntryType::Approval,
            Self::Refusal(_) => EntryType::Refusal,
            Self::RevisedApprovalRequest(_) => EntryType::RevisedApprovalRequest,
            Self::Retry(_) => EntryType::Retry,
            Self::Trip(_) => EntryType::Trip,
            Self::Checkpoint(_) => EntryType::Checkpoint,
            Self::PlanCompleted => EntryType::PlanCompleted,
            Self::PlanHalted(_) => EntryType::PlanHalted,
            Self::PlanSuperseded(_) => EntryType::PlanSuperseded,
            Self::NonconformanceNotice(_) => EntryType::NonconformanceNotice,
        }
    }

    /// The members of its table: `p`, or of an individually signed type the body without `type`, `key_id`
    /// and `plan_hash`.
    #[must_use]
    pub fn to_object(&self) -> Object<'v> {
        match self {
            Self::Freeze { hash, plan, .. } => members([
                ("hash", hash.map(digest)),
                ("plan", plan.map(|plan| Value::Object(plan.clone()))),
            ]),
            Self::Dispatch(dispatch) => write_dispatch(dispatch),
            Self::ExecutorExit(exit) => write_exit(exit),
            Self::ExecutionResult(result) => write_result(result),
            Self::Claim(claim) => Object::from([
                ("session_id", Value::from(claim.session_id)),
                ("node", claim.node.into()),
                ("text", claim.text.into()),
            ]),
            Self::Flag(flag) => Object::from([
                ("node", Value::from(flag.node)),
                ("execution_result_seq", seq(flag.execution_result_seq)),
                ("paths", texts(&flag.paths)),
            ]),
            Self::Remediation(remediation) => members([
                ("node", Some(remediation.node.into())),
                ("action", remediation.action.map(|action| action.as_str().into())),
            ]),
            Self::ScopeClosed(closed) => Object::from([
                ("node", Value::from(closed.node)),
                ("verdict", closed.verdict.as_str().into()),
            ]),
            Self::Verdict(verdict) => write_verdict(verdict),
            Self::Probe(probe) => write_probe(probe),
            Self::GateRequest(request) => Object::from([
                ("node", Value::from(request.node)),
                ("findings", seqs(&request.findings)),
            ]),
            Self::Approval(answer) | Self::Refusal(answer) => write_answer(answer),
            Self::RevisedApprovalRequest(request) => Object::from([
                ("node", Value::from(request.node)),
                ("findings", seqs(&request.findings)),
                ("change_ref", seq(request.change_ref)),
            ]),
            Self::Retry(retry) => members([
                ("node", Some(retry.node.into())),
                ("reason", Some(retry.reason.as_str().into())),
                ("input_ref", retry.input_ref.as_deref().map(seqs)),
            ]),
            Self::Trip(trip) => Object::from([
                ("node", Value::from(trip.node)),
                ("reason", trip.reason.as_str().into()),
                ("history", seqs(&trip.history)),
            ]),
            Self::Checkpoint(checkpoint) => members([
                ("range", checkpoint.range.map(|(first, last)| seqs(&[first, last]))),
                ("digest_over_range", Some(digest(checkpoint.digest))),
                ("head", Some(digest(checkpoint.head))),
            ]),
            Self::PlanCompleted => Object::new(),
            Self::PlanHalted(unresolved) => Object::from([("unresolved", texts(unresolved))]),
            Self::PlanSuperseded(superseded) => write_superseded(superseded),
            Self::NonconformanceNotice(defects) => Object::from([("defects", texts(defects))]),
        }
    }

    /// [`Payload::to_object`] as a value.
    #[must_use]
    pub fn to_value(&self) -> Value<'v> {
        Value::Object(self.to_object())
    }
}

/// An object of the members that there are.
fn members<'v, const N: usize>(members: [(&'static str, Option<Value<'v>>); N]) -> Object<'v> {
    members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn digest(digest: Digest) -> Value<'static> {
    digest.to_string().into()
}

fn seq(seq: u64) -> Value<'static> {
    Value::Integer(i64::try_from(seq).unwrap_or(i64::MAX))
}

fn seqs(list: &[u64]) -> Value<'static> {
    Value::Array(list.iter().copied().map(seq).collect())
}

fn texts<'v>(list: &[&'v str]) -> Value<'v> {
    Value::Array(list.iter().copied().map(Value::from).collect())
}

fn or_null<'v, T>(value: Option<T>, write: impl FnOnce(T) -> Value<'v>) -> Value<'v> {
    value.map_or(Value::Null, write)
}

fn node_or_null<'v>(node: &NodeOrNull<'v>) -> Option<Value<'v>> {
    match node {
        NodeOrNull::Node(node) => Some((*node).into()),
        NodeOrNull::Null => Some(Value::Null),
        NodeOrNull::Malformed => None,
    }
}

fn artifact(artifact: Option<ArtifactRef<'_>>) -> (Value<'_>, Value<'_>) {
    match artifact {
        Some(artifact) => (artifact.path.into(), digest(artifact.digest)),
        None => (Value::Null, Value::Null),
    }
}

fn write_dispatch<'v>(dispatch: &Dispatch<'v>) -> Object<'v> {
    let rows = dispatch.input.iter().map(|row| {
        Value::from(Object::from([
            ("node", Value::from(row.node)),
            ("desc", row.desc.into()),
            ("prior_failure", or_null(row.prior_failure.as_deref(), seqs)),
        ]))
    });
    let (nodes, node) = match &dispatch.nodes {
        DispatchNodes::Set(nodes) => (Some(texts(nodes)), None),
        DispatchNodes::Scalar(node) => (None, Some((*node).into())),
        DispatchNodes::Malformed => (None, None),
    };
    let executor = Object::from([
        ("model", dispatch.executor.model),
        ("version", dispatch.executor.version),
        ("provider", dispatch.executor.provider),
    ]);
    members([
        ("session_id", Some(dispatch.session_id.into())),
        ("nodes", nodes),
        ("node", node),
        ("executor_identity", Some(executor.into())),
        ("instruction_ref", Some(dispatch.instruction.path.into())),
        ("instruction_digest", Some(digest(dispatch.instruction.digest))),
        ("workspace_baseline_digest", dispatch.baseline.map(digest)),
        ("input", Some(Value::Array(rows.collect()))),
        ("precommit_digest", dispatch.precommit.map(digest)),
    ])
}

fn write_exit<'v>(exit: &ExecutorExit<'v>) -> Object<'v> {
    let (path, output) = artifact(exit.output);
    members([
        ("session_id", Some(exit.session_id.into())),
        ("node", node_or_null(&exit.node)),
        ("status", Some(exit.status.as_str().into())),
        ("exit_code", Some(or_null(exit.exit_code, Value::from))),
        ("available_output_ref", Some(path)),
        ("available_output_digest", Some(output)),
    ])
}

fn write_result<'v>(result: &ExecutionResult<'v>) -> Object<'v> {
    let (path, delta) = result.delta.map(artifact).ok().unzip();
    let quiescence = Object::from([("outcome", result.quiescence.as_str())]);
    members([
        ("session_id", Some(result.session_id.into())),
        ("node", node_or_null(&result.node)),
        ("delta_ref", path),
        ("delta_digest", delta),
        ("touched_surface", result.touched.as_deref().ok().map(texts)),
        ("output_status", Some(result.output_status.as_str().into())),
        ("quiescence", Some(quiescence.into())),
    ])
}

fn write_verdict<'v>(verdict: &Verdict<'v>) -> Object<'v> {
    let layers = verdict.layers.as_deref().map(|layers| {
        Value::Array(layers.iter().map(|layer| Value::from(layer.as_str())).collect())
    });
    members([
        ("session_id", Some(verdict.session_id.into())),
        ("execution_result_seq", Some(seq(verdict.execution_result_seq))),
        ("node", Some(verdict.node.into())),
        ("test_id", Some(verdict.test_id.into())),
        ("capture", verdict.capture.map(|capture| capture.as_str().into())),
        ("observation_layers", layers),
        ("signal_kind", verdict.signal.map(|signal| signal.as_str().into())),
        ("test_spec_digest", verdict.test_spec.map(digest)),
        ("signal_artifact_digest", verdict.signal_artifact.map(digest)),
        ("subject_artifact_digest", verdict.subject_artifact.map(digest)),
        ("environment_digest", verdict.environment.map(digest)),
        ("stdout_digest", verdict.stdout.map(digest)),
        ("stderr_digest", verdict.stderr.map(digest)),
        ("result", verdict.result.map(|result| result.as_str().into())),
        ("exit_code", Some(or_null(verdict.exit_code, Value::from))),
        ("engine_identity", verdict.engine_identity.map(Value::from)),
    ])
}

fn write_probe<'v>(probe: &Probe<'v>) -> Object<'v> {
    Object::from([
        ("signal_artifact_digest", digest(probe.signal_artifact)),
        ("environment_digest", digest(probe.environment)),
        ("induced_defect", probe.induced_defect.into()),
        ("demonstrated_result", probe.demonstrated.as_str().into()),
        ("restoration", probe.restoration.as_str().into()),
        ("t", format_utc_seconds(probe.time).into()),
        ("spawned", probe.spawned.into()),
        ("exit_code", or_null(probe.exit_code, Value::Integer)),
        ("output_digest", or_null(probe.output, digest)),
    ])
}

fn write_answer<'v>(answer: &GateAnswer<'v>) -> Object<'v> {
    members([
        ("node", Some(answer.node.into())),
        ("who", Some(answer.who.to_string().into())),
        ("decision", answer.decision.map(|decision| decision.as_str().into())),
        ("findings_ref", Some(seqs(&answer.findings))),
        ("request_h", Some(digest(answer.request_h))),
    ])
}

fn write_superseded<'v>(superseded: &PlanSuperseded<'v>) -> Object<'v> {
    let mut object = match &superseded.delta {
        Some(delta) => write_delta(delta),
        None => Object::new(),
    };
    object.insert("predecessor", digest(superseded.predecessor));
    object.insert("successor", digest(superseded.successor));
    object.insert("named_authority", superseded.named_authority.to_string());
    object
}

fn write_delta<'v>(delta: &Delta<'v>) -> Object<'v> {
    let obligations = delta.obligations.iter().map(|(node, disposition)| {
        Value::from(Object::from([("node", *node), ("disposition", disposition.as_str())]))
    });
    Object::from([
        ("reason", Value::from(delta.reason)),
        ("obligation_map", Value::Array(obligations.collect())),
        ("changed_class_floors", changes(&delta.class_floors, |class| class.as_str().into())),
        ("changed_fences", changes(&delta.fences, write_fence)),
        ("changed_tests", changes(&delta.tests, |spec| digest(*spec))),
    ])
}

fn changes<'v, T>(list: &[Change<'v, T>], write: impl Fn(&T) -> Value<'v>) -> Value<'v> {
    let rows = list.iter().map(|change| {
        Value::from(members([
            ("node", Some(change.node.into())),
            ("test_id", change.test_id.map(Value::from)),
            ("from", Some(or_null(change.from.as_ref(), &write))),
            ("to", Some(or_null(change.to.as_ref(), &write))),
        ]))
    });
    Value::Array(rows.collect())
}

fn write_fence<'v>(fence: &Fence) -> Value<'v> {
    let allow = fence.allow().iter().map(|entry| Value::from(entry.to_string()));
    let allow = Value::Array(allow.collect());
    Object::from([("kind", Value::from("paths")), ("allow", allow)]).into()
}
