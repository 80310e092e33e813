//! R1: M_core, its profile, and the artifacts.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{C, E, N, Nobody};
use crate::gad::base::runs::{crashed, minimal};
use crate::gad::case::case;

const LISTS: &str = "A2 R1 M_core";
const PROFILE: &str = "S2, A2 fail closed";
const ARTIFACT: &str = "S2, gad-formats 5 *_ref";

pub(super) fn cases() -> Vec<Case> {
    let mut list = lists();
    list.extend(profiles());
    list.extend(artifacts());
    list.extend(operators());
    list
}

fn lists() -> Vec<Case> {
    let row = |index: usize, name: &'static str, value: serde_json::Value| {
        move |manifest: &mut serde_json::Value| manifest["members"][index][name] = value.clone()
    };
    vec![
        case("r1-manifest-missing", minimal, N, LISTS, "no core manifest")
            .change(|r| {
                r.outside(|files| {
                    files.remove("core/manifest.json");
                });
            })
            .invalid(&["R1.MANIFEST.MISSING"]),
        case("r1-manifest-self", minimal, C, LISTS, "M_core lists itself")
            .change(|r| {
                r.manifest(|manifest| {
                    let row = json!({"path": "manifest.json", "role": "artifact", "size": 1,
                        "digest": "@sha256:x"});
                    manifest["members"].as_array_mut().expect("rows").insert(2, row);
                });
            })
            .invalid(&["R1.MANIFEST.SELF"]),
        case("r1-manifest-absent", minimal, N, LISTS, "a listed artifact is gone")
            .change(|r| {
                r.outside(|files| {
                    files.remove("core/artifacts/delta.patch");
                });
            })
            .invalid(&["R1.MANIFEST.ABSENT_MEMBER"]),
        case("r1-manifest-absent-witness", minimal, N, LISTS, "the witness is gone")
            .change(|r| {
                r.outside(|files| {
                    files.remove("core/witness.jsonl");
                });
            })
            .invalid(&["R1.MANIFEST.ABSENT_MEMBER"]),
        case("r1-manifest-unlisted", minimal, N, LISTS, "a file below core/ that nobody lists")
            .change(|r| {
                r.outside(|files| {
                    files.insert("core/artifacts/extra".into(), b"x".to_vec());
                });
            })
            .invalid(&["R1.MANIFEST.UNLISTED_MEMBER"]),
        case("r1-manifest-dup", minimal, C, LISTS, "a path is listed twice")
            .change(|r| {
                r.manifest(|manifest| {
                    let row = manifest["members"][0].clone();
                    manifest["members"].as_array_mut().expect("rows").insert(0, row);
                });
            })
            .invalid(&["R1.MANIFEST.DUP"]),
        case("r1-manifest-hash", minimal, N, LISTS, "an artifact was changed in place")
            .change(|r| {
                r.outside(|files| {
                    files.insert("core/artifacts/delta.patch".into(), b"- a line\n".to_vec());
                });
            })
            .invalid(&["R1.MANIFEST.HASH"])
            .without(&["R1.MANIFEST.SIZE"]),
        case("r1-manifest-hash-operator", minimal, N, LISTS, "the operator was changed in place")
            .change(|r| {
                r.outside(|files| {
                    let bytes = files.remove("core/operator.json").expect("there");
                    let bytes = crate::gad::record::replace_once(bytes, "lane-7", "lane-8");
                    files.insert("core/operator.json".into(), bytes);
                });
            })
            .invalid(&["R1.MANIFEST.HASH"]),
        case("r1-manifest-size", minimal, C, LISTS, "a size that isn't the member's")
            .change(|r| r.manifest(row(0, "size", json!(3))))
            .invalid(&["R1.MANIFEST.SIZE"])
            .without(&["R1.MANIFEST.HASH"]),
        case("r1-manifest-role-plan", minimal, C, LISTS, "the plan as an artifact")
            .change(|r| r.manifest(row(3, "role", json!("artifact"))))
            .invalid(&["R1.MANIFEST.ROLE_MISSING"]),
        case("r1-manifest-role-twice", minimal, C, LISTS, "an artifact as a second plan")
            .change(|r| r.manifest(row(0, "role", json!("plan"))))
            .invalid(&["R1.MANIFEST.ROLE_MISSING"]),
        case("r1-manifest-role-elsewhere", minimal, C, LISTS, "an artifact outside artifacts/")
            .change(|r| {
                r.files.insert("notes.txt".into(), b"x".to_vec());
            })
            .invalid(&["R1.MANIFEST.ROLE_MISSING"]),
    ]
}

fn profiles() -> Vec<Case> {
    let versions = [
        ("r1-profile-schema", "/schema", "gad.core-manifest/2"),
        ("r1-profile-bytes", "/byte_profile", "gad-bytes/2"),
        ("r1-profile-canon", "/canonicalization", "jcs/1"),
        ("r1-profile-hash", "/hash", "sha512"),
        ("r1-profile-table", "/table", "gad.table/2"),
        ("r1-profile-spec-old", "/spec_version", "0.5"),
        ("r1-profile-spec-new", "/spec_version", "1.4"),
        ("r1-profile-chain", "/chain_mode", "private"),
    ];
    let mut list: Vec<_> = versions
        .into_iter()
        .map(|(name, pointer, value)| {
            case(name, minimal, C, PROFILE, "an unknown version fails closed")
                .change(|r| {
                    r.manifest(move |manifest| {
                        crate::gad::record::put(manifest, pointer, value.into());
                    });
                })
                .invalid(&["R1.PROFILE.UNSUPPORTED"])
        })
        .collect();
    list.extend([
        case(
            "r1-profile-keyed",
            minimal,
            C,
            "eq (1) HMAC mode",
            "a keyed chain claims no integrity",
        )
        .change(|r| r.manifest(|manifest| manifest["chain_mode"] = "keyed".into()))
        .invalid(&["R1.PROFILE.KEYED"]),
        case("r1-profile-plan", minimal, E, PROFILE, "a plan of an unknown schema")
            .change(|r| r.plan("/schema", "gad.plan/2"))
            .invalid(&["R1.PROFILE.UNSUPPORTED"]),
        case("r1-profile-envelope", minimal, N, PROFILE, "an envelope of an unknown schema")
            .change(|r| r.envelope(|e| e["schema"] = "gad.envelope-manifest/2".into()))
            .invalid(&["R1.PROFILE.UNSUPPORTED"]),
        case("r1-root-core", minimal, C, "A2 R1 root_core", "the caller knows another root")
            .change(|r| r.inputs.root_core = Some("@sha256:another root"))
            .invalid(&["R1.ROOT_CORE"]),
        case("r1-root-core-met", minimal, Nobody, "A2 R1 root_core", "the caller knows this root")
            .change(|r| r.inputs.root_core = Some("@core"))
            .holds(&[])
            .without(&["R1.ROOT_CORE"]),
    ]);
    for version in ["0.7", "0.9", "1.0", "1.2"] {
        list.push(
            case(
                &format!("r1-profile-spec-{version}"),
                minimal,
                Nobody,
                PROFILE,
                "a known version",
            )
            .change(|r| r.spec_version = version)
            .holds(&[])
            .without(&["R1.PROFILE.UNSUPPORTED"]),
        );
    }
    list
}

fn artifacts() -> Vec<Case> {
    let unbound = "R1.ARTIFACT.UNBOUND";
    vec![
        case("r1-artifact-ref-absent", minimal, E, ARTIFACT, "a delta_ref names no member")
            .change(|r| r.set("r-s", "/delta_ref", "artifacts/lost.patch"))
            .invalid(&["R1.ARTIFACT.REF_ABSENT"]),
        case(
            "r1-artifact-ref-not-artifact",
            minimal,
            E,
            ARTIFACT,
            "an instruction_ref names nothing",
        )
        .change(|r| r.set("d-s", "/instruction_ref", "artifacts/none.md"))
        .invalid(&["R1.ARTIFACT.REF_ABSENT"]),
        case("r1-artifact-ref-digest", minimal, E, ARTIFACT, "a delta_digest of something else")
            .change(|r| r.set("r-s", "/delta_digest", "@sha:artifacts/instructions.md"))
            .invalid(&["R1.ARTIFACT.REF_DIGEST"]),
        case("r1-artifact-ref-output", crashed, E, ARTIFACT, "an output digest of something else")
            .change(|r| r.set("x-s", "/available_output_digest", "@sha256:something else"))
            .invalid(&["R1.ARTIFACT.REF_DIGEST"]),
        case(
            "r1-artifact-unbound",
            minimal,
            C,
            "gad-definitions 1.14",
            "no entry names an artifact",
        )
        .change(|r| {
            r.files.insert("artifacts/loose.txt".into(), b"loose".to_vec());
        })
        .holds(&[unbound]),
        case("r1-artifact-unbound-ext", minimal, C, "gad-definitions 1.14", "ext binds nothing")
            .change(|r| {
                r.files.insert("artifacts/loose.txt".into(), b"loose".to_vec());
                r.set("r-s", "/ext", json!({"also": "@sha:artifacts/loose.txt"}));
            })
            .holds(&[unbound]),
        case(
            "r1-artifact-bound",
            minimal,
            Nobody,
            "gad-definitions 1.14",
            "a verdict's digest binds",
        )
        .change(|r| {
            r.files.insert("artifacts/out.txt".into(), b"ok".to_vec());
            r.set("v", "/stdout_digest", "@sha:artifacts/out.txt");
        })
        .holds(&[])
        .without(&[unbound]),
    ]
}

fn operators() -> Vec<Case> {
    let mut list: Vec<_> = [
        ("ind-operator-no-identity", "/legal_or_organizational_identity"),
        ("ind-operator-no-unit", "/organizational_unit"),
        ("ind-operator-no-credential", "/operator_credential"),
        ("ind-operator-no-key", "/operator_credential/public_key"),
    ]
    .into_iter()
    .map(|(name, pointer)| {
        case(name, minimal, C, "S2 operator record", "a member of the operator record is absent")
            .change(|r| crate::gad::record::take(r.operator.as_mut().expect("one"), pointer))
            .invalid(&["IND.OPERATOR_MISSING"])
    })
    .collect();
    list.push(
        case("ind-operator-missing", minimal, C, "S2 operator record", "no operator record")
            .change(|r| r.operator = None)
            .invalid(&["IND.OPERATOR_MISSING", "R1.MANIFEST.ROLE_MISSING"]),
    );
    list.push(
        case(
            "ind-operator-key-id",
            minimal,
            Nobody,
            "gad-formats 4 operator",
            "the id is recomputed",
        )
        .change(|r| {
            r.operator.as_mut().expect("one")["operator_credential"]["key_id"] =
                "@key:stranger".into();
        })
        .holds(&[])
        .without(&["IND.OPERATOR_MISSING"]),
    );
    list
}
