//! R1: who signs what.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{A, C, E, Nobody};
use crate::gad::base::gates::gated_node;
use crate::gad::base::runs::{minimal, noticed, probed};
use crate::gad::base::sessions::{flag_then_succession, flagged};
use crate::gad::case::case;
use crate::gad::plans::principal;
use crate::gad::record::Record;

const TABLE: &str = "S2 issuer table";
const SIGNED: &str = "gad-formats 2 signed objects";

/// Every individually signed type: a base, the label of such an entry, and what its rule says in addition.
const TYPES: [(&str, fn() -> Record, &str, &[&str]); 7] = [
    ("verdict", minimal, "v", &["R4.SIG"]),
    ("checkpoint", minimal, "seal", &[]),
    ("probe", probed, "probe", &[]),
    ("scope-closed", flagged, "closed", &["R6.CLOSE.SIG"]),
    ("approval", gated_node, "yes", &["R7.SIG"]),
    ("superseded", flag_then_succession, "done", &[]),
    ("notice", noticed, "notice", &[]),
];

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    for (kind, base, label, also) in TYPES {
        let name = |what: &str| format!("r1-issuer-{kind}-{what}");
        let role = if kind == "approval" { "engine" } else { "approver" };
        list.extend([
            case(
                &name("unsigned"),
                base,
                C,
                TABLE,
                "an individually signed type without a signature",
            )
            .change(|r| r.entry(label).signer = None)
            .invalid(&["R1.ISSUER.UNSIGNED"]),
            case(&name("unregistered"), base, C, TABLE, "signed by a key that isn't registered")
                .change(|r| r.entry(label).signer = Some("stranger"))
                .invalid(&["R1.ISSUER.KEY_UNREGISTERED"])
                .invalid(also),
            case(&name("wrong-role"), base, A, TABLE, "signed by a registered key of another role")
                .change(|r| r.entry(label).signer = Some(role))
                .invalid(&["R1.ISSUER.WRONG_ROLE"])
                .invalid(also),
            case(&name("signature"), base, C, SIGNED, "the signature is another key's")
                .change(|r| {
                    let signer = r.entry(label).signer.expect("a signer");
                    r.set(label, "/key_id", format!("@key:{signer}"));
                    r.entry(label).signer = Some("stranger");
                })
                .invalid(&["R1.ISSUER.SIG"])
                .invalid(also),
            case(&name("body-type"), base, A, SIGNED, "the body says it is of another type")
                .change(|r| r.set(label, "/type", "statement"))
                .invalid(&["R1.ISSUER.BODY_TYPE"]),
            case(&name("run-binding"), base, A, SIGNED, "the body is about another run")
                .change(|r| r.set(label, "/plan_hash", "@sha256:another plan"))
                .invalid(&["R1.ISSUER.RUN_BINDING"]),
        ]);
    }
    list.extend(signatures());
    list.extend(registry());
    list
}

fn signatures() -> Vec<Case> {
    let spoil = |name, why, change: fn(&mut serde_json::Value)| {
        case(name, minimal, C, "gad-definitions 2.11 Ed25519", why)
            .change(|r| r.entry("v").payload = Some(change))
            .invalid(&["R1.ISSUER.SIG", "R4.SIG"])
    };
    vec![
        spoil("r1-issuer-sig-bit", "one bit of the signature is flipped", |p| spoiled(p, flip)),
        spoil("r1-issuer-sig-s-range", "S + L verifies without the range check", |p| {
            spoiled(p, add_order);
        }),
        spoil("r1-issuer-sig-zero", "a signature of zeros", |p| spoiled(p, zero)),
        case("r1-issuer-signed-unsigned", minimal, E, TABLE, "a type that nobody signs, signed")
            .change(|r| r.entry("said").signer = Some("engine"))
            .invalid(&["J.UNKNOWN_FIELD"]),
        case("r1-issuer-wrapper-more", minimal, E, SIGNED, "a third member of the wrapper")
            .change(|r| r.entry("v").payload = Some(|p| p["alg"] = "ed25519".into()))
            .invalid(&["R1.ISSUER.UNSIGNED"]),
    ]
}

fn spoiled(p: &mut serde_json::Value, change: fn(&mut [u8])) {
    let text = p["signature"].as_str().expect("a signature");
    let mut bytes = anchorlog_proto::encoding::base64_decode(text).expect("base64");
    change(&mut bytes);
    p["signature"] = anchorlog_proto::encoding::base64_encode(&bytes).into();
}

fn flip(bytes: &mut [u8]) {
    bytes[0] ^= 1;
}

fn zero(bytes: &mut [u8]) {
    bytes.fill(0);
}

/// Adds L, the order of the base point, to S.
fn add_order(bytes: &mut [u8]) {
    const L: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut carry = 0;
    for (byte, order) in bytes[32..].iter_mut().zip(L) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        *byte = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
}

fn registry() -> Vec<Case> {
    let key = |name, pointer: &'static str, value: serde_json::Value, code, why| {
        case(name, minimal, E, "S12A key lifecycle", why)
            .change(|r| r.plan(pointer, value))
            .invalid(&[code])
    };
    let weak = |name, bytes: [u8; 32], why| {
        let text = anchorlog_proto::encoding::base64_encode(&bytes);
        let id = anchorlog_proto::signed_object::SignerId::of_bytes(&bytes).to_string();
        case(name, minimal, E, "gad-definitions 2.11 Ed25519", why)
            .change(|r| {
                r.plan("/authorized_principals/1/public_key", text);
                r.plan("/authorized_principals/1/key_id", id);
            })
            .invalid(&["R1.ISSUER.WEAK_KEY"])
    };
    let mut identity = [0; 32];
    identity[0] = 1;
    let mut not_canonical = [0xff; 32];
    not_canonical[0] = 0xee;
    not_canonical[31] = 0x7f;
    vec![
        key(
            "r1-issuer-alg",
            "/authorized_principals/1/algorithm",
            json!("ed448"),
            "R1.ISSUER.ALG",
            "another algorithm",
        ),
        key(
            "r1-issuer-key-id",
            "/authorized_principals/1/key_id",
            json!("@key:stranger"),
            "R1.ISSUER.KEY_ID",
            "an id of another key",
        ),
        weak("r1-issuer-weak-identity", identity, "the identity"),
        weak("r1-issuer-weak-zero", [0; 32], "a point of order four"),
        weak("r1-issuer-weak-encoding", not_canonical, "an encoding that isn't canonical"),
        case(
            "r1-issuer-two-roles",
            minimal,
            Nobody,
            TABLE,
            "engine and succession authority may be one key",
        )
        .change(|r| {
            r.plan(
                "/authorized_principals/0",
                principal("engine", &["engine", "succession_authority"]),
            );
        })
        .holds(&[])
        .without(&["PLAN.ROLE_CONFLICT", "R1.ISSUER.WRONG_ROLE"]),
        case(
            "r1-issuer-second-engine",
            minimal,
            Nobody,
            TABLE,
            "any registered engine key may sign",
        )
        .change(|r| {
            r.plan("/authorized_principals/-", principal("engine two", &["engine"]));
            r.entry("seal").signer = Some("engine two");
        })
        .holds(&[])
        .without(&["R1.ISSUER.KEY_UNREGISTERED"]),
    ]
}
