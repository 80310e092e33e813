//! J.*: strict JSON and canonical form, document by document.

use serde_json::{Value as Json, json};

use crate::gad::Case;
use crate::gad::Level::{C, E, Nobody};
use crate::gad::base::gates::claimed;
use crate::gad::base::runs::minimal;
use crate::gad::case::case;

const STRICT: &str = "gad-definitions 2.4 canon()";
const STORED: &str = "gad-definitions 2.5 storage";
const FORMS: &str = "gad-formats 1 forms";

const PLAN: &str = "core/plan.json";
const OPERATOR: &str = "core/operator.json";
const CLAIMS: &str = "core/claims.json";
const MANIFEST: &str = "core/manifest.json";
const ENVELOPE: &str = "envelope.json";

pub(super) fn cases() -> Vec<Case> {
    let mut list = texts();
    list.extend(bytes());
    list.extend(forms());
    list.extend(depths());
    list
}

/// One text of one document replaced.
fn texts() -> Vec<Case> {
    let surrogate = r#""n is \ud800""#;
    [
        ("j-syntax-plan", PLAN, "{\"D\"", "{,\"D\"", "J.SYNTAX", "a comma too many"),
        ("j-syntax-comment", OPERATOR, "{", "{/**/", "J.SYNTAX", "a comment"),
        ("j-syntax-leading-zero", PLAN, "\"B\":1", "\"B\":01", "J.SYNTAX", "a leading zero"),
        ("j-syntax-plus", PLAN, "\"B\":1", "\"B\":+1", "J.SYNTAX", "a plus sign"),
        (
            "j-syntax-control",
            OPERATOR,
            "Delivery",
            "Deli\tvery",
            "J.SYNTAX",
            "a raw control character",
        ),
        ("j-syntax-manifest", MANIFEST, "{\"byte", "{{\"byte", "J.SYNTAX", "two braces"),
        ("j-syntax-envelope", ENVELOPE, "{\"anchors\"", "[\"anchors\"", "J.SYNTAX", "a bracket"),
        ("j-syntax-claims", CLAIMS, "}]", "},]", "J.SYNTAX", "a trailing comma"),
        ("j-dup-key-plan", PLAN, "\"B\":1", "\"B\":1,\"B\":1", "J.DUP_KEY", "a name twice"),
        (
            "j-dup-key-escaped",
            OPERATOR,
            "{\"eng",
            "{\"sch\\u0065ma\":1,\"eng",
            "J.DUP_KEY",
            "twice after unescaping",
        ),
        (
            "j-dup-key-claims",
            CLAIMS,
            "{\"claims\"",
            "{\"claims\":[],\"claims\"",
            "J.DUP_KEY",
            "claims twice",
        ),
        (
            "j-dup-key-manifest",
            MANIFEST,
            "\"seal\":",
            "\"seal\":\"snapshot\",\"seal\":",
            "J.DUP_KEY",
            "two seals",
        ),
        ("j-non-integer-fraction", PLAN, "\"B\":1", "\"B\":1.0", "J.NON_INTEGER", "a fraction"),
        ("j-non-integer-exponent", PLAN, "\"B\":1", "\"B\":1e0", "J.NON_INTEGER", "an exponent"),
        ("j-neg-zero", PLAN, "\"B\":1", "\"B\":-0", "J.NEG_ZERO", "minus zero"),
        ("j-int-range", PLAN, "\"B\":1", "\"B\":9007199254740992", "J.INT_RANGE", "2^53"),
        (
            "j-int-range-negative",
            PLAN,
            "\"B\":1",
            "\"B\":-9007199254740992",
            "J.INT_RANGE",
            "-2^53",
        ),
        (
            "j-lone-surrogate",
            PLAN,
            "\"what n is about\"",
            surrogate,
            "J.LONE_SURROGATE",
            "half a pair",
        ),
        ("j-noncanonical-space", PLAN, "{", "{ ", "J.NONCANONICAL", "a space"),
        (
            "j-noncanonical-escape",
            OPERATOR,
            "Delivery",
            "Deliver\\u0079",
            "J.NONCANONICAL",
            "an escape nobody needs",
        ),
        ("j-noncanonical-manifest", MANIFEST, "{", "{\n", "J.NONCANONICAL", "a line break"),
        ("j-noncanonical-envelope", ENVELOPE, "{", "{ ", "J.NONCANONICAL", "a space"),
        ("j-noncanonical-claims", CLAIMS, "{", "{ ", "J.NONCANONICAL", "a space"),
        (
            "j-name-form",
            OPERATOR,
            "{\"eng",
            "{\"é\":1,\"eng",
            "J.NAME_FORM",
            "a name that isn't ASCII, outside ext",
        ),
    ]
    .into_iter()
    .map(|(name, path, from, to, code, why)| {
        let clause = if code == "J.NONCANONICAL" { STORED } else { STRICT };
        let base = if path == CLAIMS { claimed } else { minimal };
        case(name, base, C, clause, why).change(|r| r.replace(path, from, to)).invalid(&[code])
    })
    .collect()
}

fn bytes() -> Vec<Case> {
    let edit = |name, path, code, why, change: fn(Vec<u8>) -> Vec<u8>| {
        case(name, minimal, C, STRICT, why).change(|r| r.edit(path, change)).invalid(&[code])
    };
    let bom = |bytes: Vec<u8>| [b"\xef\xbb\xbf", &bytes[..]].concat();
    let overlong = |bytes| {
        let mut bytes = crate::gad::record::replace_once(bytes, "Delivery", "Deliver?");
        let at = bytes.windows(8).position(|w| w == b"Deliver?").expect("there") + 7;
        bytes[at] = 0xff;
        bytes
    };
    vec![
        edit("j-bom", OPERATOR, "J.BOM", "a byte order mark", bom),
        edit("j-bom-plan", PLAN, "J.BOM", "a byte order mark", bom),
        edit("j-utf8", OPERATOR, "J.UTF8", "a byte that is no UTF-8", overlong),
        edit("j-noncanonical-lf", OPERATOR, "J.NONCANONICAL", "a final line break", |mut bytes| {
            bytes.push(b'\n');
            bytes
        }),
        edit("j-syntax-second", PLAN, "J.SYNTAX", "a second value", |bytes| {
            [&bytes[..], b"{}"].concat()
        }),
        edit("j-syntax-empty", PLAN, "J.SYNTAX", "an empty plan file", |_| Vec::new()),
    ]
}

fn forms() -> Vec<Case> {
    let plan = |name, pointer, value: Json, code, why| {
        case(name, minimal, E, FORMS, why).change(|r| r.plan(pointer, value)).invalid(&[code])
    };
    let manifest = |name, pointer: &'static str, value: Json, code, why| {
        case(name, minimal, C, FORMS, why)
            .change(|r| {
                r.manifest(move |manifest| {
                    crate::gad::record::put(manifest, pointer, value.clone());
                });
            })
            .invalid(&[code])
    };
    let operator = |name, pointer: &'static str, value: Json, code, why| {
        case(name, minimal, C, FORMS, why)
            .change(|r| {
                crate::gad::record::put(r.operator.as_mut().expect("one"), pointer, value);
            })
            .invalid(&[code])
    };
    let long = "x".repeat(65_537);
    vec![
        plan("j-unknown-field-node", "/N/0/owner", json!("x"), "J.UNKNOWN_FIELD", "closed: node"),
        plan(
            "j-unknown-field-spec",
            "/N/0/T/0/spec/cwd",
            json!("/"),
            "J.UNKNOWN_FIELD",
            "closed: spec",
        ),
        plan("j-unknown-field-meta", "/meta/by", json!("x"), "J.UNKNOWN_FIELD", "closed: meta"),
        plan("j-type-desc", "/N/0/desc", json!(7), "J.TYPE", "a number where a text belongs"),
        plan("j-enum-desc-empty", "/N/0/desc", json!(""), "J.ENUM", "an empty description"),
        plan("j-enum-desc-long", "/N/0/desc", json!(long), "J.ENUM", "65,537 bytes of description"),
        plan(
            "j-enum-testimony",
            "/N/0/testimony",
            json!(false),
            "J.ENUM",
            "testimony is true or absent",
        ),
        plan(
            "j-enum-kind",
            "/N/0/T/0/spec/kind",
            json!("telepathy"),
            "J.ENUM",
            "no such observable",
        ),
        plan(
            "j-enum-exit",
            "/N/0/T/0/spec/expect/exit_code",
            json!(256),
            "J.ENUM",
            "256 is no exit code",
        ),
        plan(
            "j-enum-layers-order",
            "/N/0/T/0/spec/observation_layers",
            json!(["independently_replayable", "authenticated_engine_observation"]),
            "J.ENUM",
            "a set out of order",
        ),
        plan("j-enum-edge-twice", "/D", json!([["n", "n"], ["n", "n"]]), "J.ENUM", "an edge twice"),
        plan("j-type-edges", "/D", json!({}), "J.TYPE", "an object where edges belong"),
        plan(
            "j-enum-roles",
            "/authorized_principals/1/roles",
            json!([]),
            "J.ENUM",
            "a key without a role",
        ),
        plan(
            "j-enum-clock",
            "/meta/clock_policy/max_backstep_s",
            json!(86_401),
            "J.ENUM",
            "over a day",
        ),
        manifest("j-enum-seal", "/seal", json!("wax"), "J.ENUM", "no such seal"),
        manifest(
            "j-type-count",
            "/witness/count",
            json!("8"),
            "J.TYPE",
            "a text where a number belongs",
        ),
        manifest(
            "j-digest-form-upper",
            "/witness/head",
            json!(format!("sha256:{}", "A".repeat(64))),
            "J.DIGEST_FORM",
            "upper-case hexadecimal",
        ),
        manifest(
            "j-digest-form-short",
            "/members/0/digest",
            json!("sha256:00"),
            "J.DIGEST_FORM",
            "too short",
        ),
        manifest("j-enum-role", "/members/0/role", json!("binary"), "J.ENUM", "no such role"),
        manifest(
            "j-unknown-field-manifest",
            "/created",
            json!("x"),
            "J.UNKNOWN_FIELD",
            "closed: M_core",
        ),
        operator(
            "j-unknown-field-operator",
            "/phone",
            json!("1"),
            "J.UNKNOWN_FIELD",
            "closed: operator",
        ),
        operator(
            "j-enum-operator-alg",
            "/operator_credential/alg",
            json!("rsa"),
            "J.ENUM",
            "no such algorithm",
        ),
        operator(
            "j-b64-form-short",
            "/operator_credential/public_key",
            json!("AAAA"),
            "J.B64_FORM",
            "three bytes where 32 belong",
        ),
        operator(
            "j-type-unit",
            "/organizational_unit",
            json!(null),
            "J.TYPE",
            "null where a text belongs",
        ),
        case("j-missing-field-manifest", minimal, C, FORMS, "M_core without its members")
            .change(|r| {
                r.manifest(|manifest| {
                    crate::gad::record::take(manifest, "/members");
                });
            })
            .invalid(&["J.MISSING_FIELD"]),
        case("j-missing-field-plan", minimal, E, FORMS, "a node without a description")
            .change(|r| crate::gad::record::take(&mut r.plan, "/N/0/desc"))
            .invalid(&["J.MISSING_FIELD"]),
        case("j-manifest-order", minimal, C, "gad-formats 4 members", "rows out of order")
            .change(|r| {
                r.manifest(|manifest| {
                    manifest["members"].as_array_mut().expect("rows").swap(0, 1);
                });
            })
            .invalid(&["J.NONCANONICAL"]),
    ]
}

fn nested(depth: usize) -> Json {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

fn depths() -> Vec<Case> {
    // The document and ext are two levels of their own.
    vec![
        case("j-depth", minimal, C, STRICT, "65 levels")
            .change(|r| r.operator.as_mut().expect("one")["ext"] = json!({"a": nested(63)}))
            .invalid(&["J.DEPTH"]),
        case("j-depth-met", minimal, Nobody, STRICT, "64 levels")
            .change(|r| r.operator.as_mut().expect("one")["ext"] = json!({"a": nested(62)}))
            .holds(&[])
            .without(&["J.DEPTH"]),
        case("j-int-range-met", minimal, Nobody, STRICT, "2^53-1 and its negative are integers")
            .change(|r| {
                let limits = json!([9_007_199_254_740_991_i64, -9_007_199_254_740_991_i64]);
                r.operator.as_mut().expect("one")["ext"] = json!({"limits": limits});
            })
            .holds(&[])
            .without(&["J.INT_RANGE"]),
    ]
}
