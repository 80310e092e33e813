//! Writing a plan.

use super::registry::ALGORITHM;
use super::{Node, PLAN_SCHEMA, Plan, Principal, Test, TestSpec};
use crate::gad::emit::{list, object, text};
use crate::json::{Object, Value};

pub(super) fn plan(plan: &Plan) -> Value<'static> {
    let meta = plan.clock.map(|clock| {
        let clock = object([
            ("max_backstep_s", clock.max_backstep_s.into()),
            ("max_future_skew_s", clock.max_future_skew_s.into()),
        ]);
        Object::from([("clock_policy", clock)])
    });
    object([
        ("D", list(&plan.edges, |(from, to)| list(&[from, to], text))),
        ("N", list(&plan.nodes, node)),
        ("authorized_principals", list(&plan.principals, principal)),
        ("meta", Value::Object(meta.unwrap_or_default())),
        ("schema", text(PLAN_SCHEMA)),
    ])
}

fn node(node: &Node) -> Value<'static> {
    let mut members = Object::from([
        ("B", Value::from(node.retries)),
        ("T", list(&node.tests, test)),
        ("c_min", text(node.c_min)),
        ("desc", text(&node.desc)),
        ("fence", node.fence.to_value()),
        ("node", text(&node.id)),
        ("risk", text(node.risk)),
    ]);
    if node.testimony {
        members.insert("testimony", true);
    }
    Value::Object(members)
}

fn test(test: &Test) -> Value<'static> {
    object([("spec", spec(&test.spec)), ("test_id", text(&test.id))])
}

pub(super) fn spec(spec: &TestSpec) -> Value<'static> {
    object([
        ("capture", text(spec.capture)),
        ("expect", object([("exit_code", u32::from(spec.expect_exit_code).into())])),
        ("kind", text(spec.kind)),
        ("observation_layers", list(&spec.layers, text)),
        ("replay", spec.replay.into()),
        ("run", text(&spec.run)),
        ("signal_kind", text(spec.signal)),
    ])
}

fn principal(principal: &Principal) -> Value<'static> {
    let mut members = Object::from([
        ("algorithm", text(ALGORITHM)),
        ("custody_statement", text(&principal.custody)),
        ("key_id", text(principal.key_id)),
        ("public_key", text(principal.key.to_base64())),
        ("roles", list(&principal.roles, text)),
    ]);
    if let Some(party) = &principal.party {
        members.insert("party", text(party));
    }
    Value::Object(members)
}
