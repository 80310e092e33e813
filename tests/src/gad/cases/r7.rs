//! R7: gates.

use serde_json::{Value as Json, json};

use crate::gad::Case;
use crate::gad::Level::{A, C, E, Nobody};
use crate::gad::base::gates::{gated_node, refused, revised_after_refusal};
use crate::gad::base::sessions::{dag, flag_then_succession};
use crate::gad::case::case;
use crate::gad::entries::{approval, claim, end};
use crate::gad::plans::principal;
use crate::gad::record::Record;

const RULE: &str = "A2 R7";
const FINDINGS: &str = "A2 R7 findings";

pub(super) fn cases() -> Vec<Case> {
    let mut list = people();
    list.extend(order());
    list.extend(findings());
    list.extend(controls());
    list
}

fn people() -> Vec<Case> {
    vec![
        case("r7-who", gated_node, A, RULE, "the approver isn't in the registry")
            .change(|r| {
                r.set("yes", "/who", "@key:stranger");
                r.entry("yes").signer = Some("stranger");
            })
            .invalid(&["R7.WHO"]),
        case(
            "r7-who-named",
            gated_node,
            A,
            RULE,
            "somebody who isn't registered is named, the approver signs",
        )
        .change(|r| r.set("yes", "/who", "@key:stranger"))
        .invalid(&["R7.WHO"]),
        case("r7-role", gated_node, A, RULE, "the succession authority approves")
            .change(|r| {
                r.set("yes", "/who", "@key:authority");
                r.entry("yes").signer = Some("authority");
            })
            .invalid(&["R7.ROLE"]),
        case("r7-role-engine", gated_node, E, "I2", "the engine approves")
            .change(|r| {
                r.set("yes", "/who", "@key:engine");
                r.entry("yes").signer = Some("engine");
            })
            .invalid(&["R7.ROLE"]),
        case("r7-sig-other-approver", gated_node, A, RULE, "one approver is named, another signs")
            .change(|r| {
                r.plan("/authorized_principals/-", principal("approver two", &["approver"]));
                r.entry("yes").signer = Some("approver two");
            })
            .invalid(&["R7.SIG"]),
        case("r7-sig-refusal", refused, C, RULE, "a refusal by a stranger")
            .change(|r| r.entry("no").signer = Some("stranger"))
            .invalid(&["R7.SIG"]),
        case("r7-decision-approval", gated_node, A, RULE, "an approval that refuses")
            .change(|r| r.set("yes", "/decision", "refuse"))
            .invalid(&["R7.DECISION"]),
        case("r7-decision-refusal", refused, A, RULE, "a refusal that proceeds")
            .change(|r| r.set("no", "/decision", "proceed"))
            .invalid(&["R7.DECISION"]),
        case("r7-decision-other", gated_node, A, RULE, "no decision at all")
            .change(|r| r.set("yes", "/decision", "perhaps"))
            .invalid(&["R7.DECISION"]),
        case("r7-replay-plan", gated_node, A, "gad-definitions 1.8", "an approval of another run")
            .change(|r| r.set("yes", "/request_h", "@sha256:another request"))
            .invalid(&["R7.REPLAY"]),
        case(
            "r7-replay-request",
            revised_after_refusal,
            A,
            "gad-definitions 1.8",
            "an answer to the request before",
        )
        .change(|r| r.set("yes", "/request_h", "@h:ask"))
        .invalid(&["R7.REPLAY"]),
    ]
}

fn order() -> Vec<Case> {
    vec![
        case("r7-no-request", gated_node, A, RULE, "approved and completed without a request")
            .change(|r| {
                r.drop(&["ask"]);
                r.set("yes", "/request_h", "@h:v");
            })
            .invalid(&["R7.NO_REQUEST"]),
        case("r7-order", gated_node, A, RULE, "approved before anybody asked")
            .change(|r| {
                r.set("yes", "/request_h", "@h:v");
                r.move_before("yes", "ask");
            })
            .invalid(&["R7.ORDER"]),
        case("r7-consequence", dag, A, RULE, "the next session before the approval")
            .change(|r| r.move_before("yes", "vd"))
            .invalid(&["R7.CONSEQUENCE"]),
        case("r7-refusal-then-approval", refused, A, RULE, "approved after the refusal")
            .change(|r| {
                r.end("done", [approval("yes", "n", "ask", &["v"])]);
                r.push(end());
            })
            .invalid(&["R7.REFUSAL"]),
        case("r7-refusal-approved-by-second", refused, A, RULE, "another approver overrules")
            .change(|r| {
                r.plan("/authorized_principals/-", principal("approver two", &["approver"]));
                let mut yes = approval("yes", "n", "ask", &["v"]).with("/who", "@key:approver two");
                yes.signer = Some("approver two");
                r.end("done", [yes]);
                r.push(end());
            })
            .invalid(&["R7.REFUSAL"]),
    ]
}

fn findings() -> Vec<Case> {
    let asked = |name, base: fn() -> Record, value: Json, code, why| {
        case(name, base, E, FINDINGS, why)
            .change(|r| {
                r.set("ask", "/findings", value.clone());
                r.set("yes", "/findings_ref", value);
            })
            .invalid(&[code])
    };
    vec![
        asked(
            "r7-findings-empty",
            gated_node,
            json!([]),
            "R7.FINDINGS_EMPTY",
            "nothing found, nothing asked",
        ),
        case("r7-findings-empty-approval", gated_node, A, FINDINGS, "an approval on nothing")
            .change(|r| r.set("yes", "/findings_ref", json!([])))
            .invalid(&["R7.FINDINGS_EMPTY"]),
        asked(
            "r7-findings-ref",
            gated_node,
            json!(["@seq:v", 999]),
            "R7.FINDINGS_REF",
            "an entry that isn't there",
        ),
        case("r7-findings-later", gated_node, E, FINDINGS, "an entry still to come")
            .change(|r| r.set("ask", "/findings", json!(["@seq:v", "@seq:done"])))
            .invalid(&["R7.FINDINGS_REF"]),
        case(
            "r7-findings-not-asked",
            gated_node,
            A,
            FINDINGS,
            "approved on what wasn't asked about",
        )
        .change(|r| r.set("yes", "/findings_ref", json!(["@seq:d-s", "@seq:v"])))
        .invalid(&["R7.FINDINGS_REF"]),
        case("r7-findings-claim", gated_node, E, FINDINGS, "what the executor said is no finding")
            .change(|r| {
                r.behind("r-s", [claim("said", "s", "n")]);
                r.set("ask", "/findings", json!(["@seq:said", "@seq:v"]));
            })
            .invalid(&["R7.FINDINGS_NOT_ENGINE"]),
        case("r7-findings-refusal", revised_after_refusal, E, FINDINGS, "a refusal is no finding")
            .change(|r| r.set("ask2", "/findings", json!(["@seq:v", "@seq:no"])))
            .invalid(&["R7.FINDINGS_NOT_ENGINE"]),
        asked(
            "r7-findings-node",
            dag,
            json!(["@seq:vb", "@seq:vc"]),
            "R7.FINDINGS_NODE",
            "a finding about another node",
        ),
        asked(
            "r7-findings-no-node",
            gated_node,
            json!(["@seq:freeze", "@seq:v"]),
            "R7.FINDINGS_NODE",
            "an entry about no node",
        ),
    ]
}

fn controls() -> Vec<Case> {
    vec![
        case(
            "r7-findings-subset",
            gated_node,
            Nobody,
            FINDINGS,
            "an approval may rest on some of what was asked",
        )
        .change(|r| r.set("yes", "/findings_ref", json!(["@seq:r-s"])))
        .holds(&[])
        .without(&["R7.FINDINGS_REF"]),
        case(
            "r7-findings-session",
            gated_node,
            Nobody,
            FINDINGS,
            "dispatch, exit and result are findings about their node",
        )
        .change(|r| {
            r.set("ask", "/findings", json!(["@seq:d-s", "@seq:x-s", "@seq:r-s", "@seq:v"]));
        })
        .holds(&[])
        .without(&["R7.FINDINGS_NODE", "R7.FINDINGS_NOT_ENGINE"]),
        case("r7-second-approver", gated_node, Nobody, RULE, "any registered approver may answer")
            .change(|r| {
                r.plan("/authorized_principals/-", principal("approver two", &["approver"]));
                r.set("yes", "/who", "@key:approver two");
                r.entry("yes").signer = Some("approver two");
            })
            .holds(&[])
            .without(&["R7.WHO", "R7.SIG"]),
        case(
            "r7-unapproved-succession",
            flag_then_succession,
            Nobody,
            RULE,
            "a succession is no consequence of a gate",
        )
        .change(|r| r.plan("/N/0/risk", "gated"))
        .holds(&[])
        .without(&["R7.CONSEQUENCE", "R7.NO_REQUEST"]),
    ]
}
