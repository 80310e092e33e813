//! R6: scope.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{C, E, Nobody};
use crate::gad::base::runs::minimal;
use crate::gad::base::sessions::{flag_then_succession, flagged, three_nodes, two_nodes};
use crate::gad::case::case;
use crate::gad::entries::{checkpoint, closed, flag, remediation};

const FLAG: &str = "A2 R6 flags";
const CLOSE: &str = "A2 R6 closure";

pub(super) fn cases() -> Vec<Case> {
    let mut list = flags();
    list.extend(closures());
    list.extend(controls());
    list
}

fn flags() -> Vec<Case> {
    vec![
        case("r6-flag-omitted", minimal, E, FLAG, "a path outside the fence and no flag")
            .change(|r| r.set("r-s", "/touched_surface", json!(["docs/notes.md", "src/lib.rs"])))
            .invalid(&["R6.FLAG.OMITTED"]),
        case("r6-flag-omitted-three", three_nodes, E, FLAG, "outside every fence of the session")
            .change(|r| r.set("r-s", "/touched_surface", json!(["Makefile", "src/a.rs"])))
            .invalid(&["R6.FLAG.OMITTED"]),
        case("r6-flag-omitted-prefix", minimal, E, FLAG, "a directory's name isn't the directory")
            .change(|r| r.set("r-s", "/touched_surface", json!(["src-old/lib.rs", "src/lib.rs"])))
            .invalid(&["R6.FLAG.OMITTED"]),
        case(
            "r6-flag-omitted-exact",
            minimal,
            E,
            "gad-definitions 2.23",
            "an exact entry admits nothing below it",
        )
        .change(|r| r.plan("/N/0/fence/allow", json!(["src"])))
        .invalid(&["R6.FLAG.OMITTED"]),
        case("r6-flag-incomplete", flagged, E, FLAG, "one of two stray paths is flagged")
            .change(|r| {
                let touched = json!(["docs/notes.md", "docs/plan.md", "src/lib.rs"]);
                r.set("r-s", "/touched_surface", touched);
            })
            .invalid(&["R6.FLAG.INCOMPLETE"]),
        case("r6-flag-not-touched", flagged, E, FLAG, "a path that nobody touched")
            .change(|r| r.set("flag", "/paths", json!(["docs/notes.md", "docs/plan.md"])))
            .invalid(&["R6.FLAG.NOT_TOUCHED"]),
        case("r6-flag-in-fence", flagged, E, FLAG, "a path within the fence")
            .change(|r| r.set("flag", "/paths", json!(["docs/notes.md", "src/lib.rs"])))
            .invalid(&["R6.FLAG.IN_FENCE"]),
        case("r6-flag-ref", flagged, E, FLAG, "the flag names no result")
            .change(|r| r.set("flag", "/execution_result_seq", "@seq:x-s"))
            .invalid(&["R6.FLAG.REF"]),
        case("r6-flag-unknown-node", flagged, E, FLAG, "a flag of a node the plan doesn't have")
            .change(|r| r.behind("flag", [flag("more", "s", "m", &["docs/notes.md"])]))
            .invalid(&["R6.FLAG.REF"]),
        case("r6-flag-other-result", two_nodes, E, FLAG, "the result of another node's session")
            .change(|r| {
                r.behind(
                    "r-s2",
                    [
                        flag("flag", "s", "b", &["src/a.rs"]),
                        remediation("removal", "b", "removal"),
                        closed("closed", "b", "pass"),
                    ],
                );
            })
            .invalid(&["R6.FLAG.REF"]),
        case("r6-flag-unauthenticated", flagged, C, FLAG, "the result lies in no sound checkpoint")
            .change(|r| {
                r.behind("r-s", [checkpoint("c1")]);
                r.entry("c1").signer = Some("stranger");
            })
            .invalid(&["R6.FLAG.UNAUTHENTICATED"]),
    ]
}

fn closures() -> Vec<Case> {
    vec![
        case("r6-remediation-no-flag", minimal, E, CLOSE, "a removal and no flag")
            .change(|r| r.behind("said", [remediation("removal", "n", "removal")]))
            .invalid(&["R6.REMEDIATION.NO_FLAG"]),
        case(
            "r6-remediation-unknown-node",
            flagged,
            E,
            CLOSE,
            "a removal for a node the plan doesn't have",
        )
        .change(|r| r.behind("removal", [remediation("more", "m", "removal")]))
        .invalid(&["R6.REMEDIATION.NO_FLAG"]),
        case("r6-remediation-action", flagged, E, CLOSE, "an action that is none")
            .change(|r| r.set("removal", "/action", "apology"))
            .invalid(&["R6.REMEDIATION.ACTION"]),
        case("r6-remediation-absent", flagged, E, CLOSE, "no action")
            .change(|r| r.unset("removal", "/action"))
            .invalid(&["R6.REMEDIATION.ACTION"]),
        case("r6-remediation-revision", flagged, E, CLOSE, "a revision closes no flag")
            .change(|r| r.set("removal", "/action", "revision"))
            .invalid(&["R6.CLOSE.NO_REMEDIATION"]),
        case("r6-succession-close", flagged, E, CLOSE, "a succession closes nothing in place")
            .change(|r| r.set("removal", "/action", "succession"))
            .invalid(&["R6.SUCCESSION_CLOSE"]),
        case("r6-close-no-flag", minimal, E, CLOSE, "closed, and nothing was open")
            .change(|r| r.behind("said", [closed("closed", "n", "pass")]))
            .invalid(&["R6.CLOSE.NO_FLAG"]),
        case("r6-close-unknown-node", flagged, E, CLOSE, "closed for a node the plan doesn't have")
            .change(|r| r.behind("closed", [closed("more", "m", "pass")]))
            .invalid(&["R6.CLOSE.NO_FLAG"]),
        case("r6-close-no-remediation", flagged, E, CLOSE, "closed, and nothing was removed")
            .change(|r| r.drop(&["removal"]))
            .invalid(&["R6.CLOSE.NO_REMEDIATION"]),
        case("r6-close-remediation-before", flagged, E, CLOSE, "the removal came before the flag")
            .change(|r| r.move_before("removal", "flag"))
            .invalid(&["R6.CLOSE.NO_REMEDIATION", "R6.REMEDIATION.NO_FLAG"]),
        case("r6-close-sig", flagged, E, CLOSE, "the approver closes")
            .change(|r| r.entry("closed").signer = Some("approver"))
            .invalid(&["R6.CLOSE.SIG", "R1.ISSUER.WRONG_ROLE"]),
        case("r6-open-at-good", flagged, E, CLOSE, "completed with the closure failed")
            .change(|r| r.set("closed", "/verdict", "fail"))
            .invalid(&["R6.OPEN_AT_GOOD"]),
        case("r6-open-at-good-flag-only", flagged, E, CLOSE, "completed with the flag open")
            .change(|r| r.drop(&["removal", "closed"]))
            .invalid(&["R6.OPEN_AT_GOOD"]),
    ]
}

fn controls() -> Vec<Case> {
    let good = |name, why, change: fn(&mut crate::gad::record::Record)| {
        case(name, flagged, Nobody, "A2 R6", why).change(change).holds(&[]).without(&[
            "R6.FLAG.INCOMPLETE",
            "R6.FLAG.OMITTED",
            "R6.OPEN_AT_GOOD",
        ])
    };
    vec![
        good("r6-flags-in-parts", "two flags that together name every stray path", |r| {
            let touched = json!(["docs/notes.md", "docs/plan.md", "src/lib.rs"]);
            r.set("r-s", "/touched_surface", touched);
            r.behind("flag", [flag("flag2", "s", "n", &["docs/plan.md"])]);
        }),
        good("r6-closed-at-second-try", "a failed closure, another removal, then pass", |r| {
            r.set("closed", "/verdict", "fail");
            r.behind(
                "closed",
                [remediation("removal2", "n", "removal"), closed("closed2", "n", "pass")],
            );
        }),
        case(
            "r6-fence-exact",
            minimal,
            Nobody,
            "gad-definitions 2.23",
            "an exact entry admits exactly that path",
        )
        .change(|r| r.plan("/N/0/fence/allow", json!(["src/lib.rs"])))
        .holds(&[])
        .without(&["R6.FLAG.OMITTED"]),
        case(
            "r6-fence-of-another",
            three_nodes,
            Nobody,
            "gad-definitions 2.25",
            "within the fence of one node of the session",
        )
        .change(|r| {
            r.plan("/N/2/fence/allow", json!(["docs/"]));
            r.set("r-s", "/touched_surface", json!(["docs/a.md", "src/b.rs"]));
        })
        .holds(&[])
        .without(&["R6.FLAG.OMITTED"]),
        case(
            "r6-open-at-succession",
            flag_then_succession,
            Nobody,
            "A1 SUCCEED",
            "a succession may leave a flag open",
        )
        .change(|r| r.behind("flag", [remediation("removal", "n", "removal")]))
        .holds(&[])
        .without(&["R6.OPEN_AT_GOOD", "R6.SUCCESSION_CLOSE"]),
    ]
}
