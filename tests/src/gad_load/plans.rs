//! Plans to record.

use anchorlog_proto::gad::names::{
    Capture, EvidenceClass, ObservableKind, ObservationLayer, Risk, Role, SignalKind,
};
use anchorlog_proto::gad::plan::{ClockPolicy, Fence, Node, Plan, Principal, Test, TestSpec};

use super::record::key;

/// The id of a node.
pub(super) fn id(node: usize) -> String {
    format!("n{node:05}")
}

/// A node with these tests, which the engine observes directly; its fence is a folder of its own.
pub(super) fn node(number: usize, tests: usize) -> Node {
    let id = id(number);
    Node {
        desc: format!("implement part {number} and whatever its tests ask for").into(),
        fence: Fence::new(vec![format!("src/{id}/").into()]).unwrap(),
        tests: (0..tests).map(|test| direct(&id, test)).collect(),
        c_min: EvidenceClass::EngineObserved,
        risk: Risk::Normal,
        retries: 1_000,
        testimony: false,
        id: id.into(),
    }
}

fn direct(node: &str, test: usize) -> Test {
    let spec = TestSpec {
        kind: ObservableKind::Command,
        run: format!("make -C src/{node} check-{test}").into(),
        capture: Capture::EngineCapture,
        layers: vec![ObservationLayer::AuthenticatedEngineObservation],
        signal: SignalKind::DirectObservable,
        replay: false,
        expect_exit_code: 0,
    };
    Test::new(format!("t{test}"), spec)
}

/// The same node, whose tests the worker writes.
pub(super) fn proxy(mut node: Node) -> Node {
    for test in &mut node.tests {
        let spec = TestSpec { signal: SignalKind::WorkerAuthoredProxy, ..test.spec.clone() };
        *test = Test::new(test.id.clone(), spec);
    }
    Node { c_min: EvidenceClass::Proxy, ..node }
}

/// The plan of these nodes, with an engine and an approver.
pub(super) fn plan(nodes: Vec<Node>, edges: Vec<(Box<str>, Box<str>)>) -> Plan {
    let principal = |name: &str, role| {
        let key = key(name);
        Principal {
            key_id: key.id(),
            key: key.public_key(),
            custody: "a file of the benchmark".into(),
            roles: vec![role],
            party: None,
        }
    };
    Plan {
        nodes,
        edges,
        principals: vec![principal("engine", Role::Engine), principal("approver", Role::Approver)],
        clock: Some(ClockPolicy { max_backstep_s: 5, max_future_skew_s: 300 }),
    }
}
