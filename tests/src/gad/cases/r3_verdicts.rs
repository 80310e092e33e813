//! R3: verdicts, probes, retries and trips.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{E, Nobody};
use crate::gad::base::gates::gated_node;
use crate::gad::base::runs::{crashed, minimal, probed, retried, tripped};
use crate::gad::base::sessions::{excluded, flagged, three_nodes, two_nodes};
use crate::gad::case::case;
use crate::gad::entries::{fail, notice, probe, retry, session, trip, verdict};
use crate::gad::plans::spec;

const VERDICT: &str = "A1 verdict, REG-54";
const RETRY: &str = "A1 retry: diagnosis, not reroll";
const TRIP: &str = "A1 trip";

pub(super) fn cases() -> Vec<Case> {
    let mut list = verdicts();
    list.extend(windows());
    list.extend(retries());
    list.extend(trips());
    list
}

fn verdicts() -> Vec<Case> {
    vec![
        case(
            "r3-verdict-open-session",
            minimal,
            E,
            "A1 between sessions",
            "judged while the session is open",
        )
        .change(|r| {
            r.move_before("v", "r-s");
        })
        .invalid(&["R3.VERDICT.OPEN_SESSION"]),
        case(
            "r3-verdict-other-open",
            two_nodes,
            E,
            "A1 between sessions",
            "judged while another session is open",
        )
        .change(|r| {
            r.plan("/D", json!([]));
            r.move_before("va", "x-s2");
        })
        .invalid(&["R3.VERDICT.OPEN_SESSION"]),
        case(
            "r3-verdict-failed-session",
            crashed,
            E,
            "A1 abnormal exit",
            "a verdict for a crashed session",
        )
        .change(|r| r.behind("r-s", [verdict("early", "s", "n")]))
        .invalid(&["R3.VERDICT.FAILED_SESSION"]),
        case("r3-verdict-not-commissioned", two_nodes, E, "REG-61", "a node outside the session")
            .change(|r| r.set("va", "/node", "b"))
            .invalid(&["R3.VERDICT.NOT_COMMISSIONED"]),
        case("r3-verdict-no-session", minimal, E, "REG-61", "a session nobody dispatched")
            .change(|r| r.set("v", "/session_id", "ghost"))
            .invalid(&["R3.VERDICT.NOT_COMMISSIONED"]),
        case("r3-verdict-unknown-node", minimal, E, "REG-61", "a node the plan doesn't have")
            .change(|r| r.set("v", "/node", "m"))
            .invalid(&["R3.VERDICT.NOT_COMMISSIONED"]),
        case("r3-verdict-unknown-test", minimal, E, "A1", "a test the plan doesn't have")
            .change(|r| r.set("v", "/test_id", "smoke"))
            .invalid(&["R3.VERDICT.UNKNOWN_TEST"]),
        case("r3-verdict-dup", three_nodes, E, "I3 first capture wins", "a test judged twice")
            .change(|r| r.behind("vb", [verdict("again", "s", "a")]))
            .invalid(&["R3.VERDICT.DUP"]),
        case(
            "r3-verdict-dup-fail",
            retried,
            E,
            "I3 first capture wins",
            "pass after fail in one attempt",
        )
        .change(|r| r.behind("v", [verdict("reroll", "s", "n")]))
        .invalid(&["R3.VERDICT.DUP"]),
        case("r3-verdict-open-flag", flagged, E, "A1", "judged with a flag open")
            .change(|r| r.move_before("v", "removal"))
            .invalid(&["R3.VERDICT.OPEN_FLAG"]),
        case(
            "r3-verdict-incomplete-gate",
            gated_node,
            E,
            "A1",
            "a gate is asked before every test is judged",
        )
        .change(|r| r.plan("/N/0/T/-", json!({"test_id": "lint", "spec": spec()})))
        .invalid(&["R3.VERDICT.INCOMPLETE"]),
        case(
            "r3-verdict-incomplete-retry",
            retried,
            E,
            "A1",
            "a retry before every test is judged",
        )
        .change(|r| r.plan("/N/0/T/-", json!({"test_id": "lint", "spec": spec()})))
        .invalid(&["R3.VERDICT.INCOMPLETE"]),
        case("r3-verdict-two-tests", minimal, Nobody, "A1", "tests are judged in any order")
            .change(|r| {
                r.plan("/N/0/T/-", json!({"test_id": "lint", "spec": spec()}));
                let lint = verdict("lint", "s", "n").with("/test_id", "lint");
                r.before("v", [lint.with("/test_spec_digest", "@spec:n/lint")]);
            })
            .holds(&[])
            .without(&["R3.VERDICT.INCOMPLETE", "R3.VERDICT.DUP"]),
    ]
}

fn windows() -> Vec<Case> {
    vec![
        case(
            "r3-verdict-window-old-session",
            retried,
            E,
            VERDICT,
            "a verdict for the session before",
        )
        .change(|r| {
            r.set("v2", "/session_id", "s");
            r.set("v2", "/execution_result_seq", "@seq:r-s");
        })
        .invalid(&["R3.VERDICT.WINDOW"]),
        case("r3-verdict-window-result", retried, E, VERDICT, "the result of the session before")
            .change(|r| r.set("v2", "/execution_result_seq", "@seq:r-s"))
            .invalid(&["R3.VERDICT.WINDOW"]),
        case("r3-verdict-window-not-result", minimal, E, VERDICT, "the number of something else")
            .change(|r| r.set("v", "/execution_result_seq", "@seq:x-s"))
            .invalid(&["R3.VERDICT.WINDOW"]),
        case("r3-verdict-window-after-retry", excluded, E, VERDICT, "a verdict after the retry")
            .change(|r| r.behind("again", [verdict("late", "s", "b")]))
            .invalid(&["R3.VERDICT.WINDOW"]),
        case("r3-probe-in-session", probed, E, "gap 3", "a probe while a session is open")
            .change(|r| r.move_before("probe", "r-s"))
            .invalid(&["R3.PROBE.POSITION"]),
        case("r3-probe-after-end", minimal, E, "gap 3", "a probe after the terminal")
            .change(|r| r.behind("done", [probe("probe")]))
            .invalid(&["R3.PROBE.POSITION"]),
        case("r3-notice-early", minimal, E, "S3", "a notice before the terminal")
            .change(|r| r.before("done", [notice("notice")]))
            .invalid(&["R3.NOTICE.POSITION"]),
    ]
}

fn retries() -> Vec<Case> {
    let shown = |name, label: &'static [&'static str], why| {
        case(name, retried, E, RETRY, why)
            .change(|r| {
                r.drop(&["again"]);
                r.behind("v", [retry("again", "n", "verdict_failed", label)]);
            })
            .invalid(&["R3.RETRY.NO_DIAGNOSIS"])
    };
    vec![
        case("r3-retry-not-failed", minimal, E, "A1", "a verified node is retried")
            .change(|r| r.behind("v", [retry("again", "n", "verdict_failed", &["v"])]))
            .invalid(&["R3.RETRY.NOT_FAILED"]),
        case("r3-retry-pending", minimal, E, "A1", "a node nobody dispatched is retried")
            .change(|r| r.behind("freeze", [retry("again", "n", "session_failed", &["freeze"])]))
            .invalid(&["R3.RETRY.NOT_FAILED"]),
        case("r3-retry-unknown-node", retried, E, "A1", "a node the plan doesn't have is retried")
            .change(|r| r.behind("again", [retry("more", "m", "verdict_failed", &["v"])]))
            .invalid(&["R3.RETRY.NOT_FAILED"]),
        case(
            "r3-retry-captured",
            minimal,
            E,
            "A1 U_s",
            "an unjudged node is retried for a failed verdict",
        )
        .change(|r| r.before("v", [retry("again", "n", "verdict_failed", &["r-s"])]))
        .invalid(&["R3.RETRY.NOT_FAILED"]),
        shown("r3-retry-empty", &[], "no diagnosis"),
        shown("r3-retry-other-entry", &["d-s"], "an entry that shows no failure"),
        case("r3-retry-absent", retried, E, RETRY, "no input_ref")
            .change(|r| r.unset("again", "/input_ref"))
            .invalid(&["R3.RETRY.NO_DIAGNOSIS"]),
        case("r3-retry-pass", retried, E, RETRY, "a passing verdict is no diagnosis")
            .change(|r| {
                r.plan("/N/0/T/-", json!({"test_id": "lint", "spec": spec()}));
                let lint = |label, session| {
                    verdict(label, session, "n")
                        .with("/test_id", "lint")
                        .with("/test_spec_digest", "@spec:n/lint")
                };
                r.behind("v", [lint("ok", "s")]);
                r.behind("v2", [lint("ok2", "s2")]);
                r.set("again", "/input_ref", json!(["@seq:v", "@seq:ok"]));
            })
            .invalid(&["R3.RETRY.NO_DIAGNOSIS"]),
        case("r3-retry-older-attempt", retried, E, RETRY, "a failure of the attempt before")
            .change(|r| {
                r.plan("/N/0/B", 2);
                r.drop(&["v2"]);
                r.behind(
                    "r-s2",
                    [fail("v2", "s2", "n"), retry("again2", "n", "verdict_failed", &["v"])],
                );
                r.behind("again2", session("s3", "n", &["src/lib.rs"]));
                r.behind("r-s3", [verdict("v3", "s3", "n")]);
            })
            .invalid(&["R3.RETRY.NO_DIAGNOSIS"]),
        case("r3-retry-later-entry", retried, E, RETRY, "a failure that is still to come")
            .change(|r| r.set("again", "/input_ref", json!(["@seq:v", "@seq:d-s2"])))
            .invalid(&["R3.RETRY.NO_DIAGNOSIS"]),
    ]
}

fn trips() -> Vec<Case> {
    vec![
        case("r3-trip-not-failed", minimal, E, TRIP, "a verified node trips")
            .change(|r| {
                r.plan("/N/0/B", 0);
                r.behind("v", [trip("trip", "n", "verdict_failed", &["v"])]);
            })
            .invalid(&["R3.TRIP.NOT_FAILED"]),
        case("r3-trip-unknown-node", tripped, E, TRIP, "a node the plan doesn't have trips")
            .change(|r| r.behind("trip", [trip("more", "m", "verdict_failed", &["v"])]))
            .invalid(&["R3.TRIP.NOT_FAILED"]),
        case("r3-trip-early", tripped, E, TRIP, "a trip with a retry left")
            .change(|r| r.plan("/N/0/B", 1))
            .invalid(&["R3.TRIP.EARLY"]),
        case("r3-trip-twice", tripped, E, TRIP, "a tripped node trips again")
            .change(|r| r.behind("trip", [trip("more", "n", "verdict_failed", &["v"])]))
            .invalid(&["R3.TRIP.NOT_FAILED"]),
    ]
}
