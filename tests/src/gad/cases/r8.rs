//! R8: bounded persistence.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{E, Nobody};
use crate::gad::base::runs::{retried, tripped};
use crate::gad::case::case;
use crate::gad::entries::{fail, request, retry, session, verdict};

const RULE: &str = "A2 R8";

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("r8-bound", retried, E, RULE, "a retry where none may be")
            .change(|r| r.plan("/N/0/B", 0))
            .invalid(&["R8.BOUND"]),
        case("r8-bound-second", retried, E, RULE, "two retries where one may be")
            .change(|r| {
                r.drop(&["v2"]);
                r.behind(
                    "r-s2",
                    [fail("v2", "s2", "n"), retry("again2", "n", "verdict_failed", &["v2"])],
                );
                r.behind("again2", session("s3", "n", &["src/lib.rs"]));
                r.behind("r-s3", [verdict("v3", "s3", "n")]);
            })
            .invalid(&["R8.BOUND"]),
        case("r8-bound-met", retried, Nobody, RULE, "as many retries as may be")
            .change(|r| {
                r.plan("/N/0/B", 2);
                r.drop(&["v2"]);
                r.behind(
                    "r-s2",
                    [fail("v2", "s2", "n"), retry("again2", "n", "verdict_failed", &["v2"])],
                );
                r.behind("again2", session("s3", "n", &["src/lib.rs"]));
                r.behind("r-s3", [verdict("v3", "s3", "n")]);
            })
            .holds(&[])
            .without(&["R8.BOUND"]),
        case("r8-trip-retry", tripped, E, RULE, "a tripped node is retried")
            .change(|r| r.behind("trip", [retry("again", "n", "verdict_failed", &["v"])]))
            .invalid(&["R8.TRIP_EXIT"]),
        case("r8-trip-dispatch", tripped, E, RULE, "a tripped node is dispatched")
            .change(|r| r.behind("trip", session("s2", "n", &["src/lib.rs"])))
            .invalid(&["R8.TRIP_EXIT"]),
        case("r8-trip-verdict", tripped, E, RULE, "a tripped node is judged")
            .change(|r| {
                r.plan("/N/0/T/-", json!({"test_id": "lint", "spec": crate::gad::plans::spec()}));
                let lint = |label| {
                    verdict(label, "s", "n")
                        .with("/test_id", "lint")
                        .with("/test_spec_digest", "@spec:n/lint")
                };
                r.behind("trip", [lint("late")]);
                r.before("trip", [lint("lint")]);
            })
            .invalid(&["R8.TRIP_EXIT"]),
        case("r8-trip-gate", tripped, E, RULE, "a gate is asked for a tripped node")
            .change(|r| {
                r.plan("/N/0/risk", "gated");
                r.behind("trip", [request("ask", "n", &["v"])]);
            })
            .invalid(&["R8.TRIP_EXIT"]),
    ]
}
