//! Plans in the making.

use serde_json::{Value as Json, json};

/// A plan of these nodes and edges, with the suite's keys registered.
#[must_use]
pub fn plan(nodes: &[Json], edges: &[(&str, &str)]) -> Json {
    let edges: Vec<_> = edges.iter().map(|(from, to)| json!([from, to])).collect();
    json!({
        "schema": "gad.plan/1",
        "N": nodes,
        "D": edges,
        "authorized_principals": [
            principal("engine", &["engine"]),
            principal("approver", &["approver"]),
            principal("authority", &["succession_authority"]),
        ],
        "meta": {"clock_policy": {"max_backstep_s": 5, "max_future_skew_s": 120}},
    })
}

/// A registered key.
#[must_use]
pub fn principal(label: &str, roles: &[&str]) -> Json {
    json!({
        "key_id": format!("@key:{label}"), "algorithm": "ed25519",
        "public_key": format!("@pub:{label}"), "custody_statement": "kept in a module",
        "roles": roles,
    })
}

/// A node with one direct, engine-captured test, whose fence is `src/`.
#[must_use]
pub fn node(id: &str) -> Json {
    json!({
        "node": id, "desc": format!("what {id} is about"),
        "fence": {"kind": "paths", "allow": ["src/"]},
        "T": [{"test_id": "unit", "spec": spec()}],
        "c_min": "engine_observed", "risk": "normal", "B": 1,
    })
}

/// The same, gated.
#[must_use]
pub fn gated(id: &str) -> Json {
    with(node(id), "/risk", "gated")
}

/// A changed node.
#[must_use]
pub fn with(mut node: Json, pointer: &str, value: impl Into<Json>) -> Json {
    super::record::put(&mut node, pointer, value.into());
    node
}

/// The specification of a direct test that the engine captures.
#[must_use]
pub fn spec() -> Json {
    json!({
        "kind": "command", "run": "make check", "capture": "engine_capture",
        "observation_layers": ["authenticated_engine_observation"],
        "signal_kind": "direct_observable", "replay": false, "expect": {"exit_code": 0},
    })
}

/// The specification of a test that the worker wrote.
#[must_use]
pub fn proxy_spec() -> Json {
    with(spec(), "/signal_kind", "worker_authored_proxy")
}
