//! Reading N, its tests, and the clock policy.

use std::collections::BTreeSet;

use super::registry;
use super::{ClockPolicy, Fence, Node, Plan, Test, TestSpec, graph, test_spec_digest};
use crate::gad::code::{
    PLAN_BOUND, PLAN_CMIN, PLAN_EMPTY, PLAN_FENCE_FORM, PLAN_NODE_DUP, PLAN_RISK, PLAN_TEST_DUP,
    PLAN_TESTS_EMPTY, R2_CLOCK_UNDECLARED,
};
use crate::gad::form::{Cell, Reader};
use crate::gad::limits::{Limits, most};
use crate::gad::names::{
    Capture, EvidenceClass, ObservableKind, ObservationLayer, Risk, SignalKind, is_id,
};
use crate::json::JsonCode;

/// The longest description of a node, in bytes.
pub(in crate::gad) const MAX_DESC_BYTES: usize = 65_536;

/// The most retries a node can have.
pub(in crate::gad) const MAX_RETRIES: u32 = 1000;

/// The longest text of what a test runs, in bytes.
pub(in crate::gad) const MAX_RUN_BYTES: usize = 4096;

/// The most seconds a clock policy can allow.
pub(in crate::gad) const MAX_CLOCK_S: u32 = 86_400;

pub(super) fn plan(reader: &mut Reader<'_, '_>, limits: &Limits) -> Option<Plan> {
    reader.raw("schema");
    reader.allow_ext();
    let mut ids = BTreeSet::new();
    let nodes = reader.required("N", |cell| {
        if cell.value().as_array().is_some_and(<[_]>::is_empty) {
            cell.refuse::<()>(PLAN_EMPTY);
            return Some(Vec::new());
        }
        // What is wrong with one node is noted and doesn't take the others away.
        cell.list(most(limits.nodes), |cell| {
            Some(cell.object(|reader| node(reader, &mut ids, limits)))
        })
    });
    let nodes: Option<Vec<Node>> = nodes.map(|nodes| nodes.into_iter().flatten().collect());
    let edges = graph::edges(reader, nodes.as_deref().unwrap_or_default(), limits);
    let gated = nodes.iter().flatten().any(|node| node.risk == Risk::Gated);
    let principals = registry::principals(reader, gated, limits);
    let clock = reader.required("meta", |cell| {
        cell.object(|meta| {
            meta.allow_ext();
            meta.declared("clock_policy", R2_CLOCK_UNDECLARED, |cell| cell.object(clock))
        })
    });
    if !reader.has("meta") {
        reader.defect(R2_CLOCK_UNDECLARED, "meta");
    }
    Some(Plan { nodes: nodes?, edges, principals, clock })
}

fn clock(reader: &mut Reader<'_, '_>) -> Option<ClockPolicy> {
    let mut seconds = |name| {
        let seconds = |cell: Cell<'_, '_>| cell.integer(0..=MAX_CLOCK_S.into());
        let seconds = reader.declared(name, R2_CLOCK_UNDECLARED, seconds);
        seconds.and_then(|seconds| u32::try_from(seconds).ok())
    };
    let (max_backstep_s, max_future_skew_s) =
        (seconds("max_backstep_s"), seconds("max_future_skew_s"));
    Some(ClockPolicy { max_backstep_s: max_backstep_s?, max_future_skew_s: max_future_skew_s? })
}

/// A node; `None` when it has no id of its own. Everything else that is wrong reads as the strictest value.
fn node<'v>(
    reader: &mut Reader<'v, '_>,
    ids: &mut BTreeSet<&'v str>,
    limits: &Limits,
) -> Option<Node> {
    reader.allow_ext();
    let id = reader.required(("node", PLAN_NODE_DUP), |cell| own_id(cell, ids));
    let desc = reader.text("desc", 1..=MAX_DESC_BYTES).unwrap_or_default();
    let fence = reader
        .required(("fence", PLAN_FENCE_FORM), |cell| Fence::read(cell, most(limits.elements)));
    let tests = reader.required(("T", PLAN_TESTS_EMPTY), |cell| {
        if cell.value().as_array().is_none_or(<[_]>::is_empty) {
            return cell.refuse(PLAN_TESTS_EMPTY);
        }
        let mut ids = BTreeSet::new();
        cell.uncoded().list(most(limits.tests), |cell| {
            Some(cell.object(|reader| test(reader, &mut ids, limits)))
        })
    });
    let c_min = reader.required(("c_min", PLAN_CMIN), |c| c.one_of(EvidenceClass::from_name));
    let risk = reader.required(("risk", PLAN_RISK), |c| c.one_of(Risk::from_name));
    let bound = reader.required(("B", PLAN_BOUND), |c| c.integer(0..=MAX_RETRIES.into()));
    let testimony = reader.optional("testimony", |cell| match cell.value().as_bool() {
        Some(true) => Some(()),
        Some(false) => cell.refuse(JsonCode::Enum),
        None => cell.refuse(JsonCode::Type),
    });
    Some(Node {
        id: id?.into(),
        desc: desc.into(),
        fence: fence.unwrap_or_default(),
        tests: tests.unwrap_or_default().into_iter().flatten().collect(),
        c_min: c_min.unwrap_or(EvidenceClass::EngineObserved),
        risk: risk.unwrap_or(Risk::Gated),
        retries: bound.and_then(|bound| u32::try_from(bound).ok()).unwrap_or(0),
        testimony: matches!(testimony, Some(Some(()))),
    })
}

/// A test; `None` when it has no id of its own in its node.
fn test<'v>(
    reader: &mut Reader<'v, '_>,
    ids: &mut BTreeSet<&'v str>,
    limits: &Limits,
) -> Option<Test> {
    let id = reader.required(("test_id", PLAN_TEST_DUP), |cell| own_id(cell, ids));
    let digest = reader.raw("spec").map(test_spec_digest);
    let spec = reader.required("spec", |cell| cell.object(|reader| Some(spec(reader, limits))));
    Some(Test { id: id?.into(), spec: spec?, digest: digest? })
}

/// An id that isn't among `ids` yet.
fn own_id<'v>(cell: Cell<'v, '_>, ids: &mut BTreeSet<&'v str>) -> Option<&'v str> {
    cell.one_of(|text| (is_id(text) && ids.insert(text)).then_some(text))
}

/// A specification. What is wrong reads as what credits least.
fn spec(reader: &mut Reader<'_, '_>, limits: &Limits) -> TestSpec {
    reader.allow_ext();
    let kind = reader.required("kind", |cell| cell.one_of(ObservableKind::from_name));
    let run = reader.text("run", 1..=MAX_RUN_BYTES);
    let capture = reader.required("capture", |cell| cell.one_of(Capture::from_name));
    let layers = reader.required("observation_layers", |cell| {
        cell.set(most(limits.elements), |cell| cell.one_of(ObservationLayer::from_name))
    });
    let signal = reader.required("signal_kind", |cell| cell.one_of(SignalKind::from_name));
    let replay = reader.boolean("replay");
    let expect = reader.required("expect", |cell| {
        cell.object(|expect| expect.required("exit_code", |cell| cell.integer(0..=u8::MAX.into())))
    });
    TestSpec {
        kind: kind.unwrap_or(ObservableKind::Command),
        run: run.unwrap_or_default().into(),
        capture: capture.unwrap_or(Capture::AttestedCapture),
        layers: layers.unwrap_or_default(),
        signal: signal.unwrap_or(SignalKind::WorkerAuthoredProxy),
        replay: replay.unwrap_or(false),
        expect_exit_code: expect.and_then(|code| u8::try_from(code).ok()).unwrap_or(0),
    }
}
