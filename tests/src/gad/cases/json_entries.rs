//! J.* of witness entries: the closed tables of their payloads.

use serde_json::{Value as Json, json};

use crate::gad::Case;
use crate::gad::Level::{C, E, Nobody};
use crate::gad::base::gates::gated_node;
use crate::gad::base::runs::{crashed, minimal, probed};
use crate::gad::base::sessions::{flag_then_succession, flagged};
use crate::gad::case::case;
use crate::gad::record::Record;

const TABLE: &str = "gad-formats 5 payloads";

type Row = (&'static str, fn() -> Record, &'static str, &'static str, Json, &'static str);

pub(super) fn cases() -> Vec<Case> {
    let mut list = members();
    list.extend(times());
    list.extend(wrappers());
    list.extend(absences());
    list
}

/// One member of one payload set to another value.
fn members() -> Vec<Case> {
    let rows: Vec<Row> = vec![
        ("j-exit-status", minimal, "x-s", "/status", json!("bored"), "J.ENUM"),
        ("j-exit-code-range", crashed, "x-s", "/exit_code", json!(256), "J.ENUM"),
        ("j-exit-code-type", minimal, "x-s", "/exit_code", json!("0"), "J.TYPE"),
        ("j-exit-output-half", crashed, "x-s", "/available_output_digest", json!(null), "J.ENUM"),
        ("j-result-quiescence", minimal, "r-s", "/quiescence/outcome", json!("loud"), "J.ENUM"),
        ("j-result-status", minimal, "r-s", "/output_status", json!("lost"), "J.ENUM"),
        ("j-result-unknown", minimal, "r-s", "/cost", json!(3), "J.UNKNOWN_FIELD"),
        ("j-dispatch-session", minimal, "d-s", "/session_id", json!("-s"), "J.ENUM"),
        ("j-dispatch-executor", minimal, "d-s", "/executor_identity/model", json!(""), "J.ENUM"),
        (
            "j-dispatch-executor-unknown",
            minimal,
            "d-s",
            "/executor_identity/host",
            json!("x"),
            "J.UNKNOWN_FIELD",
        ),
        (
            "j-dispatch-digest",
            minimal,
            "d-s",
            "/instruction_digest",
            json!("sha256:xyz"),
            "J.DIGEST_FORM",
        ),
        ("j-dispatch-input-order", minimal, "d-s", "/input", json!([]), "J.ENUM"),
        ("j-dispatch-unknown", minimal, "d-s", "/priority", json!(1), "J.UNKNOWN_FIELD"),
        ("j-claim-text", minimal, "said", "/text", json!(7), "J.TYPE"),
        ("j-flag-paths-empty", flagged, "flag", "/paths", json!([]), "J.ENUM"),
        (
            "j-flag-paths-order",
            flagged,
            "flag",
            "/paths",
            json!(["docs/z", "docs/notes.md"]),
            "J.ENUM",
        ),
        ("j-probe-time", probed, "probe", "/t", json!("2025-06-01 09:00:30Z"), "J.TIME_FORM"),
        ("j-probe-restoration", probed, "probe", "/restoration", json!("hoped"), "J.ENUM"),
        ("j-probe-spawned", probed, "probe", "/spawned", json!("yes"), "J.TYPE"),
        ("j-verdict-digest", minimal, "v", "/stdout_digest", json!("sha1:00"), "J.DIGEST_FORM"),
        ("j-verdict-exit", minimal, "v", "/exit_code", json!(-256), "J.ENUM"),
        ("j-verdict-unknown", minimal, "v", "/confidence", json!(99), "J.UNKNOWN_FIELD"),
        ("j-approval-who", gated_node, "yes", "/who", json!("approver"), "J.DIGEST_FORM"),
        ("j-approval-findings-order", gated_node, "yes", "/findings_ref", json!([5, 3]), "J.ENUM"),
        ("j-approval-unknown", gated_node, "yes", "/comment", json!("lgtm"), "J.UNKNOWN_FIELD"),
        ("j-closed-verdict", flagged, "closed", "/verdict", json!("maybe"), "J.ENUM"),
        (
            "j-superseded-disposition",
            flag_then_succession,
            "done",
            "/obligation_map/0/disposition",
            json!("lost"),
            "J.ENUM",
        ),
        ("j-completed-unknown", minimal, "done", "/score", json!(10), "J.UNKNOWN_FIELD"),
        ("j-entry-name-form", minimal, "said", "/tëxt", json!("x"), "J.NAME_FORM"),
    ];
    rows.into_iter()
        .map(|(name, base, label, pointer, value, code)| {
            case(name, base, E, TABLE, "a member outside its table")
                .change(|r| r.set(label, pointer, value))
                .invalid(&[code])
        })
        .collect()
}

fn times() -> Vec<Case> {
    [
        ("j-time-offset", "2025-06-01T09:04:00+00:00"),
        ("j-time-fraction", "2025-06-01T09:04:00.0Z"),
        ("j-time-lower", "2025-06-01t09:04:00z"),
        ("j-time-february", "2025-02-29T09:04:00Z"),
        ("j-time-leap-second", "2025-06-30T23:59:60Z"),
        ("j-time-hour", "2025-06-01T24:00:00Z"),
    ]
    .into_iter()
    .map(|(name, time)| {
        case(name, minimal, E, "gad-formats 1 time", "not a time of this form")
            .change(|r| r.entry("said").t = Some(time.into()))
            .invalid(&["J.TIME_FORM"])
    })
    .collect()
}

fn wrappers() -> Vec<Case> {
    let signature = |name, why, change: fn(&mut Json)| {
        case(name, minimal, E, "gad-formats 2 signature", why)
            .change(|r| r.entry("v").payload = Some(change))
            .invalid(&["J.B64_FORM"])
    };
    let line = |name, from: &'static str, to: &'static str, code, why| {
        case(name, minimal, C, "gad-formats 1", why)
            .change(|r| r.entry("said").edit(move |line| line.replacen(from, to, 1)))
            .invalid(&[code])
    };
    vec![
        signature("j-signature-unpadded", "no padding", |p| {
            let text = p["signature"].as_str().expect("text").trim_end_matches('=').to_owned();
            p["signature"] = text.into();
        }),
        signature("j-signature-whitespace", "a line break inside", |p| {
            let text = format!("{}\n", p["signature"].as_str().expect("text"));
            p["signature"] = text.into();
        }),
        signature("j-signature-url", "the URL alphabet", |p| {
            let text = p["signature"].as_str().expect("text").replace('/', "_").replace('+', "-");
            p["signature"] =
                if text.contains(['-', '_']) { text } else { format!("-{}", &text[1..]) }.into();
        }),
        signature("j-signature-short", "63 bytes", |p| {
            p["signature"] = anchorlog_proto::encoding::base64_encode(&[0; 63]).into();
        }),
        line("j-line-syntax", "{\"body\"", "{body", "J.SYNTAX", "a line that is no JSON"),
        line(
            "j-line-dup",
            "{\"body\"",
            "{\"h\":1,\"body\"",
            "J.DUP_KEY",
            "a line with a name twice",
        ),
        line("j-line-unknown", ",\"h\":", ",\"a\":0,\"h\":", "J.UNKNOWN_FIELD", "a third member"),
        line("j-line-no-h", ",\"h\":", ",\"H\":", "J.MISSING_FIELD", "a line without h"),
        line(
            "j-line-h-form",
            "\"h\":\"sha256:",
            "\"h\":\"sha-256:",
            "J.DIGEST_FORM",
            "h is no digest",
        ),
        line(
            "j-line-seq-float",
            "\"seq\":4",
            "\"seq\":4.0",
            "J.NON_INTEGER",
            "seq with a fraction",
        ),
        line("j-line-seq-text", "\"seq\":4", "\"seq\":\"4\"", "J.TYPE", "seq as a text"),
        case("j-body-unknown", minimal, E, "gad-formats 5", "a fifth member of the body")
            .change(|r| r.entry("said").body = Some(|body| body["note"] = "x".into()))
            .invalid(&["J.UNKNOWN_FIELD"]),
        case("j-payload-array", minimal, E, "gad-formats 5", "a payload that is no object")
            .change(|r| r.entry("said").body = Some(|body| body["p"] = json!([])))
            .invalid(&["J.TYPE"]),
        case("j-ext-not-object", minimal, E, "gad-formats 1 ext", "ext is an object or absent")
            .change(|r| r.set("said", "/ext", json!([1])))
            .invalid(&["J.TYPE"]),
        case("j-ext-in-wrapper", minimal, E, "gad-formats 1 ext", "a wrapper takes no ext")
            .change(|r| r.entry("said").body = Some(|body| body["ext"] = json!({})))
            .invalid(&["J.UNKNOWN_FIELD"]),
        case("j-text-any-script", minimal, Nobody, "gad-formats 1 text", "values may be any UTF-8")
            .change(|r| r.set("said", "/text", "完了。\u{1f389}\u{0}"))
            .holds(&[])
            .without(&["J.NAME_FORM", "J.UTF8", "J.SYNTAX"]),
    ]
}

fn absences() -> Vec<Case> {
    [
        ("j-missing-exit-status", "x-s", "/status"),
        ("j-missing-quiescence", "r-s", "/quiescence"),
        ("j-missing-instruction", "d-s", "/instruction_ref"),
        ("j-missing-executor", "d-s", "/executor_identity"),
        ("j-missing-claim-text", "said", "/text"),
        ("j-missing-verdict-node", "v", "/node"),
    ]
    .into_iter()
    .map(|(name, label, pointer)| {
        case(name, minimal, E, TABLE, "a required member is absent")
            .change(|r| r.unset(label, pointer))
            .invalid(&["J.MISSING_FIELD"])
    })
    .collect()
}
