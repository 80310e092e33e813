//! Records made to cost more than their size: what a rule might look for again and again, kept over or
//! multiplied. None of them is complete; all have to be judged in time that grows with their bytes.

use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::{PassFail, Risk, SignalKind};
use anchorlog_proto::gad::payload::{
    Checkpoint, Claim, Dispatch, DispatchInput, DispatchNodes, ExecutionResult, ExecutorExit,
    ExecutorIdentity, ExitStatus, FailureReason, Flag, GateRequest, NodeOrNull, OutputStatus,
    Probe, Quiescence, Restoration, Retry, Verdict,
};
use anchorlog_proto::gad::plan::{Fence, Node};
use anchorlog_proto::json::{Object, Value};

use super::plans::{id, node, plan, proxy};
use super::{Record, Written};

/// One way to ask for too much.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "a row of the list")]
pub struct Case {
    /// What it is called.
    pub name: &'static str,
    /// What its size counts.
    pub unit: &'static str,
    /// The larger of the two sizes that are compared; the smaller is a tenth.
    pub size: u64,
    /// Writes a record of this size into a folder; where its plan is a large one, of so many nodes.
    pub write: fn(&Path, u64, usize) -> Written,
}

/// All of them.
pub const CASES: &[Case] = &[
    case("completed-again", "entries", 1_000_000, completed_again),
    case("halted-again", "entries", 1_000_000, halted_again),
    case("tiny-entries", "entries", 1_000_000, tiny_entries),
    case("unknown-types", "entries", 1_000_000, unknown_types),
    case("probes-and-proxies", "entries", 200_000, probes_and_proxies),
    case("unprobed-proxies", "entries", 200_000, unprobed_proxies),
    case("retries-of-one-node", "entries", 1_000_000, retries_of_one_node),
    case("failures-of-a-retry", "references", 1_000_000, failures_of_a_retry),
    case("flags-of-a-surface", "paths", 1_000_000, flags_of_a_surface),
    case("surfaces-kept", "paths", 2_000_000, surfaces_kept),
    case("surface-of-many-nodes", "paths", 100_000, surface_of_many_nodes),
    case("findings-of-requests", "references", 2_000_000, findings_of_requests),
    case("overlapping-checkpoints", "entries", 100_000, overlapping_checkpoints),
    case("sessions-left-open", "entries", 1_000_000, sessions_left_open),
    case("dispatches-of-all-nodes", "nodes", 1_000_000, dispatches_of_all_nodes),
    case("nodes-lost-again", "entries", 100_000, nodes_lost_again),
    case("tests-of-a-plan", "tests", 200_000, tests_of_a_plan),
    case("deep-values", "entries", 200_000, deep_values),
    case("unknown-members", "members", 2_000_000, unknown_members),
    case("long-ids", "entries", 500_000, long_ids),
];

const fn case(
    name: &'static str,
    unit: &'static str,
    size: u64,
    write: fn(&Path, u64, usize) -> Written,
) -> Case {
    Case { name, unit, size, write }
}

/// How many nodes the largest plan has.
pub const MAX_NODES: usize = 10_000;

/// How many elements of an array stand in one line.
const PER_LINE: u64 = 5_000;

/// Room enough between checkpoints that they don't count.
const SELDOM: u64 = 10_000;

/// A record of a plan of so many nodes without an edge.
fn record(folder: &Path, nodes: Vec<Node>) -> Record {
    Record::create(folder, &plan(nodes, Vec::new()), SELDOM)
}

fn of_one(folder: &Path) -> Record {
    record(folder, vec![node(0, 1)])
}

fn of_many(folder: &Path, nodes: usize) -> Record {
    record(folder, (0..nodes).map(|number| node(number, 1)).collect())
}

fn completed_again(folder: &Path, size: u64, nodes: usize) -> Written {
    let mut record = of_many(folder, nodes);
    (0..size).for_each(|_| _ = record.write(&Payload::PlanCompleted));
    record.finish(Seal::Final)
}

fn halted_again(folder: &Path, size: u64, nodes: usize) -> Written {
    let mut record = of_many(folder, nodes);
    (0..size).for_each(|_| _ = record.write(&Payload::PlanHalted(Vec::new())));
    record.finish(Seal::Final)
}

fn tiny_entries(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = of_one(folder);
    let claim = Claim { session_id: "s", node: "n", text: "" };
    (0..size).for_each(|_| _ = record.write(&Payload::Claim(claim)));
    record.finish(Seal::Snapshot)
}

fn unknown_types(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = of_one(folder);
    (0..size).for_each(|_| _ = record.append_raw("x", Value::Null));
    record.finish(Seal::Snapshot)
}

fn long_ids(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = of_one(folder);
    for number in 0..size {
        let id = format!("{number:064}");
        record.write(&Payload::Claim(Claim { session_id: &id, node: &id, text: "" }));
    }
    record.finish(Seal::Snapshot)
}

/// Probes that match no verdict, each of its own artifact, and as many verdicts.
fn probes_and_proxies(folder: &Path, size: u64, _: usize) -> Written {
    proxies(folder, size / 2, size / 2)
}

fn unprobed_proxies(folder: &Path, size: u64, _: usize) -> Written {
    proxies(folder, 0, size)
}

fn proxies(folder: &Path, probes: u64, verdicts: u64) -> Written {
    let mut record = record(folder, vec![proxy(node(0, 1))]);
    let digest = |kind: u8, number: u64| Digest::of_parts(&[&[kind], &number.to_be_bytes()]);
    for number in 0..probes {
        let probe = Probe {
            signal_artifact: digest(0, number),
            environment: digest(1, number / 2),
            induced_defect: "x",
            demonstrated: PassFail::Fail,
            restoration: Restoration::Unverified,
            time: record.time(),
            spawned: true,
            exit_code: Some(1),
            output: None,
        };
        record.write(&Payload::Probe(probe));
    }
    let (engine, test) = (record.engine_identity(), node(0, 1).tests.remove(0));
    for number in 0..verdicts {
        let verdict = Verdict {
            session_id: "s",
            execution_result_seq: 0,
            node: "n00000",
            test_id: "t0",
            capture: Some(test.spec.capture),
            layers: Some(test.spec.layers.clone()),
            signal: Some(SignalKind::WorkerAuthoredProxy),
            test_spec: Some(test.digest),
            signal_artifact: Some(digest(0, number / 2)),
            subject_artifact: Some(digest(3, 0)),
            environment: Some(digest(1, number)),
            stdout: Some(digest(4, 0)),
            stderr: Some(digest(4, 0)),
            result: Some(PassFail::Pass),
            exit_code: Some(0),
            engine_identity: Some(&engine),
            declares_class: false,
        };
        record.write(&Payload::Verdict(verdict));
    }
    record.finish(Seal::Snapshot)
}

fn retries_of_one_node(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = of_one(folder);
    for number in 0..size {
        let input_ref = Some(vec![number]);
        let reason = FailureReason::SessionFailed;
        record.write(&Payload::Retry(Retry { node: "n00000", reason, input_ref }));
    }
    record.finish(Seal::Snapshot)
}

/// Retries that name thousands of entries each.
fn failures_of_a_retry(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = of_one(folder);
    session(&mut record, "s", &["n00000"], &[], ExitStatus::Crashed);
    for _ in 0..size.div_ceil(PER_LINE) {
        let input_ref = Some((0..PER_LINE).collect());
        let reason = FailureReason::SessionFailed;
        record.write(&Payload::Retry(Retry { node: "n00000", reason, input_ref }));
    }
    record.finish(Seal::Snapshot)
}

/// Dispatch to result; the number of the result.
fn session(
    record: &mut Record,
    session_id: &str,
    nodes: &[&str],
    touched: &[&str],
    status: ExitStatus,
) -> u64 {
    dispatch(record, session_id, nodes);
    let node = if let [node] = *nodes { NodeOrNull::Node(node) } else { NodeOrNull::Null };
    let exit_code = Some(i32::from(status != ExitStatus::Completed));
    let exit = ExecutorExit { session_id, node, status, exit_code, output: None };
    record.write(&Payload::ExecutorExit(exit));
    let result = ExecutionResult {
        session_id,
        node,
        delta: Ok(None),
        touched: Ok(touched.to_vec()),
        output_status: OutputStatus::NotRecorded,
        quiescence: Quiescence::Quiesced,
    };
    record.write(&Payload::ExecutionResult(result))
}

fn dispatch(record: &mut Record, session_id: &str, nodes: &[&str]) {
    let dispatch = Dispatch {
        session_id,
        nodes: DispatchNodes::Set(nodes.to_vec()),
        executor: ExecutorIdentity { model: "m", version: "1", provider: "p" },
        instruction: record.artifact("artifacts/i"),
        baseline: Some(Digest::of(b"")),
        input: nodes
            .iter()
            .map(|node| DispatchInput { node, desc: "", prior_failure: None })
            .collect(),
        precommit: None,
    };
    record.write(&Payload::Dispatch(dispatch));
}

fn paths(prefix: &str, count: u64) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}{number:05}")).collect()
}

fn borrowed(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// A large surface, flagged whole again and again.
fn flags_of_a_surface(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = of_one(folder);
    let paths = paths("a/b/c/", PER_LINE);
    let paths = borrowed(&paths);
    let result = session(&mut record, "s", &["n00000"], &paths, ExitStatus::Completed);
    for _ in 0..size.div_ceil(PER_LINE) {
        let (node, paths) = ("n00000", paths.clone());
        record.write(&Payload::Flag(Flag { node, execution_result_seq: result, paths }));
    }
    record.finish(Seal::Snapshot)
}

/// Surfaces of which each may still be flagged: a node each, never judged.
fn surfaces_kept(folder: &Path, size: u64, nodes: usize) -> Written {
    let mut record = of_many(folder, nodes);
    let paths = paths("", PER_LINE);
    let paths = borrowed(&paths);
    for number in 0..size.div_ceil(PER_LINE) {
        let node = id(usize::try_from(number).unwrap() % nodes);
        session(&mut record, &format!("s{number}"), &[&node], &paths, ExitStatus::Completed);
    }
    record.finish(Seal::Snapshot)
}

/// One session over the largest plan, whose fences all have to be asked about deep paths.
fn surface_of_many_nodes(folder: &Path, size: u64, nodes: usize) -> Written {
    let fence = |number: usize| {
        let entries = (0..10).map(|entry| format!("{}{number}-{entry}/", "a/".repeat(60)).into());
        Fence::new(entries.collect()).unwrap()
    };
    let nodes = (0..nodes).map(|number| Node { fence: fence(number), ..node(number, 1) });
    let nodes: Vec<_> = nodes.collect();
    let names: Vec<_> = nodes.iter().map(|node| node.id.to_string()).collect();
    let mut record = record(folder, nodes);
    let paths = paths(&"a/".repeat(100), PER_LINE);
    let (names, paths) = (borrowed(&names), borrowed(&paths));
    for number in 0..size.div_ceil(PER_LINE) {
        session(&mut record, &format!("s{number}"), &names, &paths, ExitStatus::Completed);
        verdict(&mut record, &format!("s{number}"), names[0], true);
    }
    record.finish(Seal::Snapshot)
}

fn verdict(record: &mut Record, session_id: &str, node_id: &str, passes: bool) {
    let (engine, result) = (record.engine_identity(), record.next_seq().saturating_sub(1));
    let number = node_id.trim_start_matches('n').parse().unwrap_or(0);
    let test = node(number, 1).tests.remove(0);
    let digest = Some(Digest::of(b"x"));
    let verdict = Verdict {
        session_id,
        execution_result_seq: result,
        node: node_id,
        test_id: "t0",
        capture: Some(test.spec.capture),
        layers: Some(test.spec.layers.clone()),
        signal: Some(test.spec.signal),
        test_spec: Some(test.digest),
        signal_artifact: digest,
        subject_artifact: digest,
        environment: digest,
        stdout: digest,
        stderr: digest,
        result: Some(if passes { PassFail::Pass } else { PassFail::Fail }),
        exit_code: Some(i32::from(!passes)),
        engine_identity: Some(&engine),
        declares_class: false,
    };
    record.write(&Payload::Verdict(verdict));
}

/// Requests that stand on thousands of entries each, none of them about the node.
fn findings_of_requests(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = record(folder, vec![Node { risk: Risk::Gated, ..node(0, 1) }]);
    let claim = Claim { session_id: "s", node: "n", text: "" };
    (0..PER_LINE).for_each(|_| _ = record.write(&Payload::Claim(claim)));
    for _ in 0..size.div_ceil(PER_LINE) {
        let findings = (0..PER_LINE).collect();
        record.write(&Payload::GateRequest(GateRequest { node: "n00000", findings }));
    }
    record.finish(Seal::Snapshot)
}

/// Checkpoints that each cover everything before them.
fn overlapping_checkpoints(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = of_one(folder);
    let mut head = Digest::of(b"");
    for _ in 0..size {
        let range = Some((0, record.next_seq() - 1));
        let checkpoint = Checkpoint { range, digest: head, head };
        head = record.append(&Payload::Checkpoint(checkpoint)).h;
    }
    record.end(Seal::Snapshot)
}

fn sessions_left_open(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = of_one(folder);
    for number in 0..size {
        dispatch(&mut record, &format!("s{number:06}"), &["n00000"]);
    }
    record.finish(Seal::Snapshot)
}

fn dispatches_of_all_nodes(folder: &Path, size: u64, nodes: usize) -> Written {
    let mut record = of_many(folder, nodes);
    let names: Vec<_> = (0..nodes).map(id).collect();
    for number in 0..size.div_ceil(u64::try_from(nodes).unwrap()) {
        dispatch(&mut record, &format!("s{number}"), &borrowed(&names));
    }
    record.finish(Seal::Snapshot)
}

/// A node on which all others wait, verified and dispatched again in turns.
fn nodes_lost_again(folder: &Path, size: u64, nodes: usize) -> Written {
    let edges = (1..nodes).map(|to| (id(0).into(), id(to).into())).collect();
    let nodes = (0..nodes).map(|number| node(number, 1)).collect();
    let mut record = Record::create(folder, &plan(nodes, edges), SELDOM);
    for number in 0..size / 4 {
        let session_id = format!("s{number}");
        session(&mut record, &session_id, &["n00000"], &[], ExitStatus::Completed);
        verdict(&mut record, &session_id, "n00000", true);
    }
    record.finish(Seal::Snapshot)
}

/// A plan of nodes with a thousand tests each, of which a terminal relies on all.
fn tests_of_a_plan(folder: &Path, size: u64, _: usize) -> Written {
    let nodes = usize::try_from(size.div_ceil(1_000)).unwrap();
    let mut record = record(folder, (0..nodes).map(|number| node(number, 1_000)).collect());
    record.write(&Payload::PlanCompleted);
    record.finish(Seal::Final)
}

fn deep_values(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = of_one(folder);
    let value = (0..60).fold(Value::Null, |value, _| Value::Array(vec![value]));
    (0..size).for_each(|_| _ = record.append_raw("claim", value.clone()));
    record.finish(Seal::Snapshot)
}

fn unknown_members(folder: &Path, size: u64, _: usize) -> Written {
    let mut record = of_one(folder);
    let members: Object<'_> = (0..1_000_u32).map(|number| (format!("m{number}"), number)).collect();
    for _ in 0..size.div_ceil(1_000) {
        record.append_raw("claim", Value::Object(members.clone()));
    }
    record.finish(Seal::Snapshot)
}
