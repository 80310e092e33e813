//! Reading payloads: the tables of section 5 of the formats, member by member.
//!
//! Every reader asks for all its members before it gives up on one, so that all defects are noted.

use crate::json::{JsonCode, Object, Value};
use crate::signed_object::Domain;

use super::super::entry::{EntryType, Payload};
use super::super::form::{At, Cell, Defects, Reader, read_closed};
use super::super::names::{Capture, EvidenceClass, ObservationLayer, PassFail, SignalKind, is_id};
use super::super::plan::Fence;
use super::super::signed::Signed;
use super::cells::is_surface;
use super::{
    ArtifactRef, Change, Checkpoint, Claim, Decision, Delta, Dispatch, DispatchInput,
    DispatchNodes, Disposition, ExecutionResult, ExecutorExit, ExecutorIdentity, ExitStatus,
    FailureReason, Flag, GateAnswer, GateRequest, MAX_CLAIM_BYTES, MAX_DEFECT_BYTES,
    MAX_IDENTITY_BYTES, MAX_REASON_BYTES, Malformed, OutputStatus, PlanSuperseded, Probe,
    Quiescence, Remediation, RemediationAction, Restoration, Retry, RevisedRequest, ScopeClosed,
    Trip, Verdict,
};

/// Reads the payload `value` of an entry, which stands at `at`: the payload, and who signed it.
///
/// `message` is canon(body) of a signed payload, where the caller has it stored.
///
/// No payload when anything of its form is refused; neither when an individually signed type isn't
/// signed.
pub(in super::super) fn payload<'v>(
    entry_type: EntryType,
    value: &'v Value<'v>,
    message: Option<&[u8]>,
    most: usize,
    at: &At<'_>,
    defects: &mut Defects,
) -> (Option<Payload<'v>>, Option<Signed>) {
    let before = (defects.list().len(), defects.omitted());
    let (payload, signed) = if entry_type.is_signed() {
        let Some((signed, body)) =
            Signed::read_stored(value, message, entry_type.as_str(), at, defects)
        else {
            return (None, None);
        };
        let payload = members(entry_type, body, most, &at.member("body"), defects);
        (payload, Some(signed))
    } else if let Some(object) = value.as_object() {
        (members(entry_type, object, most, at, defects), None)
    } else {
        defects.push(JsonCode::Type, at);
        (None, None)
    };
    // Payload tables name no code of a rule: whatever is noted refuses the form.
    let refused = before != (defects.list().len(), defects.omitted());
    (payload.filter(|_| !refused), signed)
}

fn members<'v>(
    entry_type: EntryType,
    object: &'v Object<'v>,
    most: usize,
    at: &At<'_>,
    defects: &mut Defects,
) -> Option<Payload<'v>> {
    read_closed(object, at, defects, |p| {
        p.allow_ext();
        if entry_type.is_signed() {
            Signed::skip_members(p);
        }
        // Hot types ask in canonical order, which spares the reader its searches.
        match entry_type {
            EntryType::Freeze => Some(freeze(p)),
            EntryType::Dispatch => dispatch(p, most).map(Payload::Dispatch),
            EntryType::ExecutorExit => executor_exit(p).map(Payload::ExecutorExit),
            EntryType::ExecutionResult => execution_result(p, most).map(Payload::ExecutionResult),
            EntryType::Claim => claim(p).map(Payload::Claim),
            EntryType::Flag => flag(p, most).map(Payload::Flag),
            EntryType::Remediation => remediation(p).map(Payload::Remediation),
            EntryType::ScopeClosed => scope_closed(p).map(Payload::ScopeClosed),
            EntryType::Verdict => verdict(p, most).map(Payload::Verdict),
            EntryType::Probe => probe(p).map(Payload::Probe),
            EntryType::GateRequest => gate_request(p, most).map(Payload::GateRequest),
            EntryType::Approval => gate_answer(p, most).map(Payload::Approval),
            EntryType::Refusal => gate_answer(p, most).map(Payload::Refusal),
            EntryType::RevisedApprovalRequest => {
                revised_request(p, most).map(Payload::RevisedApprovalRequest)
            }
            EntryType::Retry => retry(p, most).map(Payload::Retry),
            EntryType::Trip => trip(p, most).map(Payload::Trip),
            EntryType::Checkpoint => checkpoint(p).map(Payload::Checkpoint),
            EntryType::PlanCompleted => Some(Payload::PlanCompleted),
            EntryType::PlanHalted => p
                .required("unresolved", |cell| cell.set(most, |cell| cell.id()))
                .map(Payload::PlanHalted),
            EntryType::PlanSuperseded => plan_superseded(p, most).map(Payload::PlanSuperseded),
            EntryType::NonconformanceNotice => {
                let defects = p.required("defects", |cell| {
                    cell.list(most, |cell| cell.text(1..=MAX_DEFECT_BYTES))
                });
                p.not_empty("defects", defects?).map(Payload::NonconformanceNotice)
            }
        }
    })
}

fn freeze<'v>(p: &mut Reader<'v, '_>) -> Payload<'v> {
    let hash = p.unjudged("hash", |text| text.parse().ok());
    let plan = p.raw("plan").and_then(Value::as_object);
    let embedded = plan.map(|plan| Domain::Plan.hash(&[&plan.to_canonical()]));
    Payload::Freeze { hash, embedded, plan }
}

fn dispatch<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<Dispatch<'v>> {
    let executor = p.required("executor_identity", |cell| {
        cell.object(|executor| {
            let model = executor.text("model", 1..=MAX_IDENTITY_BYTES);
            let provider = executor.text("provider", 1..=MAX_IDENTITY_BYTES);
            let version = executor.text("version", 1..=MAX_IDENTITY_BYTES);
            Some(ExecutorIdentity { model: model?, version: version?, provider: provider? })
        })
    });
    let input = p.required("input", |cell| {
        cell.list(most, |cell| cell.object(|row| dispatch_input(row, most)))
    });
    let digest = p.digest("instruction_digest");
    let path = p.required("instruction_ref", |cell| cell.path());
    let nodes = dispatch_nodes(p, most);
    let precommit = p.optional("precommit_digest", |cell| cell.digest());
    let session_id = p.id("session_id");
    let baseline = p.absent_or("workspace_baseline_digest", |cell| cell.digest());
    let input = input?;
    if !agrees(&nodes, &input) {
        p.defect(JsonCode::Enum, "input");
        return None;
    }
    Some(Dispatch {
        session_id: session_id?,
        nodes,
        executor: executor?,
        instruction: ArtifactRef { path: path?, digest: digest? },
        baseline,
        input,
        precommit: precommit?,
    })
}

fn dispatch_nodes<'v>(p: &mut Reader<'v, '_>, most: usize) -> DispatchNodes<'v> {
    if !p.has("nodes") && p.has("node") {
        let node = p.unjudged("node", |text| is_id(text).then_some(text));
        return node.map_or(DispatchNodes::Malformed, DispatchNodes::Scalar);
    }
    p.unjudged_list("nodes", most, |value| value.as_str().filter(|text| is_id(text)))
        .map_or(DispatchNodes::Malformed, DispatchNodes::Set)
}

fn dispatch_input<'v>(row: &mut Reader<'v, '_>, most: usize) -> Option<DispatchInput<'v>> {
    let desc = row.required("desc", |cell| cell.string());
    let node = row.id("node");
    let prior_failure = row
        .required("prior_failure", |cell| cell.nullable(|cell| cell.set(most, |cell| cell.seq())));
    Some(DispatchInput { node: node?, desc: desc?, prior_failure: prior_failure? })
}

/// Whether there is one row of input per node, in the order of the nodes. Nodes that a rule refuses in
/// any case (none, repeats, malformed) have no rows to agree with.
fn agrees(nodes: &DispatchNodes<'_>, input: &[DispatchInput<'_>]) -> bool {
    let nodes = match nodes {
        DispatchNodes::Set(nodes) => nodes.as_slice(),
        DispatchNodes::Scalar(node) => std::slice::from_ref(node),
        DispatchNodes::Malformed => return true,
    };
    if input.iter().map(|row| row.node).eq(nodes.iter().copied()) {
        return true;
    }
    let mut sorted = nodes.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    nodes.is_empty() || sorted.len() < nodes.len()
}

fn executor_exit<'v>(p: &mut Reader<'v, '_>) -> Option<ExecutorExit<'v>> {
    let output = p.artifact_or_null("available_output_ref", "available_output_digest");
    let exit_code = p.exit_code();
    let node = p.node_or_null();
    let session_id = p.id("session_id");
    let status = p.required("status", |cell| cell.one_of(ExitStatus::from_name));
    Some(ExecutorExit {
        session_id: session_id?,
        node,
        status: status?,
        exit_code: exit_code?,
        output: output?,
    })
}

fn execution_result<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<ExecutionResult<'v>> {
    let delta = p.unjudged_artifact("delta_ref", "delta_digest");
    let node = p.node_or_null();
    let output_status = p.required("output_status", |cell| cell.one_of(OutputStatus::from_name));
    let quiescence = p.required("quiescence", |cell| {
        cell.object(|quiescence| {
            quiescence.required("outcome", |cell| cell.one_of(Quiescence::from_name))
        })
    });
    let session_id = p.id("session_id");
    let touched = p
        .unjudged_list("touched_surface", most, |value| {
            value.as_str().filter(|text| is_surface(text))
        })
        .filter(|touched| is_ascending(touched))
        .ok_or(Malformed);
    Some(ExecutionResult {
        session_id: session_id?,
        node,
        delta,
        touched,
        output_status: output_status?,
        quiescence: quiescence?,
    })
}

fn is_ascending<T: Ord>(list: &[T]) -> bool {
    list.windows(2).all(|pair| matches!(pair, [one, two] if one < two))
}

fn claim<'v>(p: &mut Reader<'v, '_>) -> Option<Claim<'v>> {
    let session_id = p.id("session_id");
    let node = p.id("node");
    let text = p.text("text", 0..=MAX_CLAIM_BYTES);
    Some(Claim { session_id: session_id?, node: node?, text: text? })
}

fn flag<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<Flag<'v>> {
    let node = p.id("node");
    let execution_result_seq = p.seq("execution_result_seq");
    let paths = p.required("paths", |cell| {
        cell.set(most, |cell| cell.one_of(|text| is_surface(text).then_some(text)))
    });
    let paths = paths.and_then(|paths| p.not_empty("paths", paths));
    Some(Flag { node: node?, execution_result_seq: execution_result_seq?, paths: paths? })
}

fn remediation<'v>(p: &mut Reader<'v, '_>) -> Option<Remediation<'v>> {
    let action = p.unjudged("action", RemediationAction::from_name);
    Some(Remediation { node: p.id("node")?, action })
}

fn scope_closed<'v>(p: &mut Reader<'v, '_>) -> Option<ScopeClosed<'v>> {
    let node = p.id("node");
    let verdict = p.required("verdict", |cell| cell.one_of(PassFail::from_name));
    Some(ScopeClosed { node: node?, verdict: verdict? })
}

fn verdict<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<Verdict<'v>> {
    let capture = p.unjudged("capture", Capture::from_name);
    let mut declares_class = false;
    for name in ["class", "effective_class", "evidence_class"] {
        declares_class |= p.raw(name).is_some();
    }
    let engine_identity = p.unjudged("engine_identity", Some);
    let environment = p.absent_or("environment_digest", |cell| cell.digest());
    let execution_result_seq = p.seq("execution_result_seq");
    let exit_code = p.exit_code();
    let node = p.id("node");
    let layers = p
        .unjudged_list("observation_layers", most, |value| {
            value.as_str().and_then(ObservationLayer::from_name)
        })
        .filter(|layers| is_ascending(layers));
    let result = p.unjudged("result", PassFail::from_name);
    let session_id = p.id("session_id");
    let signal_artifact = p.absent_or("signal_artifact_digest", |cell| cell.digest());
    let signal = p.unjudged("signal_kind", SignalKind::from_name);
    let stderr = p.absent_or("stderr_digest", |cell| cell.digest());
    let stdout = p.absent_or("stdout_digest", |cell| cell.digest());
    let subject_artifact = p.absent_or("subject_artifact_digest", |cell| cell.digest());
    let test_id = p.id("test_id");
    let test_spec = p.absent_or("test_spec_digest", |cell| cell.digest());
    Some(Verdict {
        session_id: session_id?,
        execution_result_seq: execution_result_seq?,
        node: node?,
        test_id: test_id?,
        capture,
        layers,
        signal,
        test_spec,
        signal_artifact,
        subject_artifact,
        environment,
        stdout,
        stderr,
        result,
        exit_code: exit_code?,
        engine_identity,
        declares_class,
    })
}

fn probe<'v>(p: &mut Reader<'v, '_>) -> Option<Probe<'v>> {
    let signal_artifact = p.digest("signal_artifact_digest");
    let environment = p.digest("environment_digest");
    let induced_defect = p.text("induced_defect", 1..=MAX_DEFECT_BYTES);
    let demonstrated = p.required("demonstrated_result", |cell| cell.one_of(PassFail::from_name));
    let restoration = p.required("restoration", |cell| cell.one_of(Restoration::from_name));
    let time = p.time("t");
    let spawned = p.boolean("spawned");
    let exit_code =
        p.required("exit_code", |cell| cell.nullable(|cell| cell.integer(i64::MIN..=i64::MAX)));
    let output = p.required("output_digest", |cell| cell.nullable(|cell| cell.digest()));
    Some(Probe {
        signal_artifact: signal_artifact?,
        environment: environment?,
        induced_defect: induced_defect?,
        demonstrated: demonstrated?,
        restoration: restoration?,
        time: time?,
        spawned: spawned?,
        exit_code: exit_code?,
        output: output?,
    })
}

fn gate_request<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<GateRequest<'v>> {
    let node = p.id("node");
    let findings = p.refs("findings", most);
    Some(GateRequest { node: node?, findings: findings? })
}

fn gate_answer<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<GateAnswer<'v>> {
    let node = p.id("node");
    let who = p.key_id("who");
    let decision = p.unjudged("decision", Decision::from_name);
    let findings = p.refs("findings_ref", most);
    let request_h = p.digest("request_h");
    Some(GateAnswer {
        node: node?,
        who: who?,
        decision,
        findings: findings?,
        request_h: request_h?,
    })
}

fn revised_request<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<RevisedRequest<'v>> {
    let node = p.id("node");
    let findings = p.refs("findings", most);
    let change_ref = p.seq("change_ref");
    Some(RevisedRequest { node: node?, findings: findings?, change_ref: change_ref? })
}

fn reason(p: &mut Reader<'_, '_>) -> Option<FailureReason> {
    p.required("reason", |cell| cell.one_of(FailureReason::from_name))
}

fn retry<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<Retry<'v>> {
    let node = p.id("node");
    let reason = reason(p);
    let input_ref = p
        .unjudged_list("input_ref", most, |value| {
            value.as_integer().and_then(|seq| u64::try_from(seq).ok())
        })
        .filter(|seqs| is_ascending(seqs));
    Some(Retry { node: node?, reason: reason?, input_ref })
}

fn trip<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<Trip<'v>> {
    let node = p.id("node");
    let reason = reason(p);
    let history = p.some_refs("history", most);
    Some(Trip { node: node?, reason: reason?, history: history? })
}

fn checkpoint(p: &mut Reader<'_, '_>) -> Option<Checkpoint> {
    let digest = p.digest("digest_over_range");
    let head = p.digest("head");
    let seq = |value: &Value<'_>| value.as_integer().and_then(|seq| u64::try_from(seq).ok());
    let range = match p.raw("range").and_then(Value::as_array) {
        Some([first, last]) => seq(first).zip(seq(last)),
        _ => None,
    };
    Some(Checkpoint { range, digest: digest?, head: head? })
}

fn plan_superseded<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<PlanSuperseded<'v>> {
    let predecessor = p.digest("predecessor");
    let successor = p.digest("successor");
    let named_authority = p.key_id("named_authority");
    let delta = delta(p, most);
    Some(PlanSuperseded {
        predecessor: predecessor?,
        successor: successor?,
        named_authority: named_authority?,
        delta,
    })
}

fn delta<'v>(p: &mut Reader<'v, '_>, most: usize) -> Option<Delta<'v>> {
    let reason = p.absent_or("reason", |cell| cell.text(1..=MAX_REASON_BYTES));
    let obligations = p.absent_or("obligation_map", |cell| {
        cell.list(most, |cell| {
            cell.object(|row| {
                let node = row.id("node");
                let disposition =
                    row.required("disposition", |cell| cell.one_of(Disposition::from_name));
                node.zip(disposition)
            })
        })
    });
    let class_floors = p.absent_or("changed_class_floors", |cell| {
        cell.list(most, |cell| {
            change(cell, false, |cell| cell.one_of(EvidenceClass::from_name).map(Some))
        })
    });
    let fences = p.absent_or("changed_fences", |cell| {
        cell.list(most, |cell| {
            change(cell, false, |cell| cell.nullable(|cell| Fence::read(cell, most)))
        })
    });
    let tests = p.absent_or("changed_tests", |cell| {
        cell.list(most, |cell| change(cell, true, |cell| cell.nullable(|cell| cell.digest())))
    });
    Some(Delta {
        reason: reason?,
        obligations: obligations?,
        class_floors: class_floors?,
        fences: fences?,
        tests: tests?,
    })
}

/// One row of a `changed_*` list.
fn change<'v, T>(
    cell: Cell<'v, '_>,
    of_a_test: bool,
    read: impl Fn(Cell<'v, '_>) -> Option<Option<T>>,
) -> Option<Change<'v, T>> {
    cell.object(|row| {
        let node = row.id("node");
        let test_id = if of_a_test { row.id("test_id").map(Some) } else { Some(None) };
        let from = row.required("from", &read);
        let to = row.required("to", &read);
        Some(Change { node: node?, test_id: test_id?, from: from?, to: to? })
    })
}
