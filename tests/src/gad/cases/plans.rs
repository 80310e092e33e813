//! PLAN.*: wellformed(P).

use serde_json::{Value as Json, json};

use crate::gad::Case;
use crate::gad::Level::{E, Nobody};
use crate::gad::base::gates::gated_node;
use crate::gad::base::runs::minimal;
use crate::gad::base::sessions::{dag, two_nodes};
use crate::gad::case::case;
use crate::gad::plans::principal;
use crate::gad::record::{Record, take};

const RULE: &str = "A1 wellformed, S2 plan";

pub(super) fn cases() -> Vec<Case> {
    let set = |name, base: fn() -> Record, pointer: &str, value: Json, code, why| {
        case(name, base, E, RULE, why).change(|r| r.plan(pointer, value)).invalid(&[code])
    };
    let gone = |name, pointer, code, why| {
        case(name, minimal, E, RULE, why).change(|r| take(&mut r.plan, pointer)).invalid(&[code])
    };
    let fence = |name, allow: Json, why| {
        case(name, minimal, E, "S2 node fence", why)
            .change(|r| r.plan("/N/0/fence", allow))
            .invalid(&["PLAN.FENCE_FORM"])
    };
    let paths = |allow: &[&str]| json!({"kind": "paths", "allow": allow});
    vec![
        set(
            "plan-empty",
            minimal,
            "/N",
            json!([]),
            "PLAN.EMPTY",
            "a plan without nodes is met by nothing",
        ),
        set("plan-node-dup", two_nodes, "/N/1/node", json!("a"), "PLAN.NODE_DUP", "an id twice"),
        set(
            "plan-node-form",
            two_nodes,
            "/N/1/node",
            json!("b c"),
            "PLAN.NODE_DUP",
            "an id with a space",
        ),
        set(
            "plan-edge-dangling",
            two_nodes,
            "/D/0/0",
            json!("z"),
            "PLAN.EDGE_DANGLING",
            "an edge from nowhere",
        ),
        set(
            "plan-cycle",
            two_nodes,
            "/D",
            json!([["a", "b"], ["b", "a"]]),
            "PLAN.CYCLE",
            "a depends on b on a",
        ),
        set(
            "plan-self-edge",
            two_nodes,
            "/D",
            json!([["a", "a"]]),
            "PLAN.CYCLE",
            "a depends on itself",
        ),
        set(
            "plan-tests-empty",
            minimal,
            "/N/0/T",
            json!([]),
            "PLAN.TESTS_EMPTY",
            "no test, so nothing to fail",
        ),
        case("plan-test-dup", minimal, E, RULE, "a test id twice")
            .change(|r| {
                let again = r.plan["N"][0]["T"][0].clone();
                r.plan("/N/0/T/-", again);
            })
            .invalid(&["PLAN.TEST_DUP"]),
        fence(
            "plan-fence-kind",
            json!({"kind": "glob", "allow": ["src/*"]}),
            "another kind of fence",
        ),
        fence("plan-fence-parent", paths(&["src/../etc"]), "an entry that leaves"),
        fence("plan-fence-absolute", paths(&["/etc/"]), "an absolute entry"),
        fence("plan-fence-glob", paths(&["src/*.rs"]), "a star isn't of the path form"),
        fence("plan-fence-twice", paths(&["src/", "src/"]), "an entry twice"),
        fence("plan-fence-text", json!("src/"), "a text where an object belongs"),
        gone("plan-fence-absent", "/N/0/fence", "PLAN.FENCE_FORM", "no fence"),
        set("plan-cmin", minimal, "/N/0/c_min", json!("certain"), "PLAN.CMIN", "no such class"),
        gone("plan-cmin-absent", "/N/0/c_min", "PLAN.CMIN", "no class floor"),
        set("plan-risk", minimal, "/N/0/risk", json!("low"), "PLAN.RISK", "no such risk"),
        gone("plan-risk-absent", "/N/0/risk", "PLAN.RISK", "no risk"),
        set("plan-bound-negative", minimal, "/N/0/B", json!(-1), "PLAN.BOUND", "below zero"),
        set("plan-bound-large", minimal, "/N/0/B", json!(1001), "PLAN.BOUND", "over a thousand"),
        set("plan-bound-text", minimal, "/N/0/B", json!("1"), "PLAN.BOUND", "a text"),
        gone("plan-bound-absent", "/N/0/B", "PLAN.BOUND", "no bound"),
        case("plan-registry-no-engine", minimal, E, RULE, "no engine key")
            .change(|r| r.plan("/authorized_principals/0/roles", json!(["approver"])))
            .invalid(&["PLAN.REGISTRY_EMPTY"]),
        case("plan-registry-no-approver", gated_node, E, RULE, "a gated node and no approver")
            .change(|r| r.plan("/authorized_principals/1/roles", json!(["succession_authority"])))
            .invalid(&["PLAN.REGISTRY_EMPTY"]),
        case("plan-key-dup", minimal, E, RULE, "one key registered twice")
            .change(|r| r.plan("/authorized_principals/-", principal("authority", &["approver"])))
            .invalid(&["PLAN.KEY_DUP"]),
        gone(
            "plan-key-no-custody",
            "/authorized_principals/1/custody_statement",
            "PLAN.KEY_INCOMPLETE",
            "custody isn't stated, not even as undisclosed",
        ),
        gone(
            "plan-key-no-algorithm",
            "/authorized_principals/1/algorithm",
            "PLAN.KEY_INCOMPLETE",
            "no algorithm",
        ),
        gone("plan-key-no-id", "/authorized_principals/1/key_id", "PLAN.KEY_INCOMPLETE", "no id"),
        gone(
            "plan-key-no-key",
            "/authorized_principals/1/public_key",
            "PLAN.KEY_INCOMPLETE",
            "no key",
        ),
        case("plan-role-conflict", minimal, E, "I2, I4", "one key is engine and approver")
            .change(|r| r.plan("/authorized_principals/0/roles", json!(["approver", "engine"])))
            .invalid(&["PLAN.ROLE_CONFLICT"]),
        case("plan-role-conflict-rows", minimal, E, "I2, I4", "engine and approver in two rows")
            .change(|r| r.plan("/authorized_principals/1", principal("engine", &["approver"])))
            .invalid(&["PLAN.ROLE_CONFLICT", "PLAN.KEY_DUP"]),
        case(
            "plan-fence-empty",
            minimal,
            Nobody,
            "S2 node fence",
            "an empty fence admits nothing, and nothing is touched",
        )
        .change(|r| {
            r.plan("/N/0/fence/allow", json!([]));
            r.set("r-s", "/touched_surface", json!([]));
        })
        .holds(&[])
        .without(&["PLAN.FENCE_FORM", "R6.FLAG.OMITTED"]),
        case("plan-bound-met", minimal, Nobody, RULE, "a thousand retries may be planned")
            .change(|r| r.plan("/N/0/B", 1000))
            .holds(&[])
            .without(&["PLAN.BOUND"]),
        case("plan-diamond", dag, Nobody, RULE, "two ways to one node are no cycle")
            .change(|r| r.plan("/D/-", json!(["a", "d"])))
            .holds(&[])
            .without(&["PLAN.CYCLE", "J.ENUM"]),
    ]
}
