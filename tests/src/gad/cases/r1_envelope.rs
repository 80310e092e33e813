//! R1e: the envelope's half of R1.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{N, Nobody};
use crate::gad::base::envelopes::defensible;
use crate::gad::base::runs::minimal;
use crate::gad::case::case;

const LISTS: &str = "A2 R1 M_envelope";

pub(super) fn cases() -> Vec<Case> {
    let mut list = items();
    list.extend(lineage());
    list.extend(members());
    list
}

fn items() -> Vec<Case> {
    let gone = |name, path: &'static str| {
        case(name, defensible, N, LISTS, "a listed item is gone")
            .change(|r| {
                r.outside(move |files| {
                    files.remove(path);
                });
            })
            .invalid(&["R1.ENV.ITEM_ABSENT"])
    };
    let unlisted = |name, path: &'static str| {
        case(name, minimal, N, LISTS, "an item that nobody lists")
            .change(|r| {
                r.outside(move |files| {
                    files.insert(path.to_owned(), b"x".to_vec());
                });
            })
            .invalid(&["R1.ENV.ITEM_UNLISTED"])
    };
    let hash = |name, path: &'static str| {
        case(name, defensible, N, LISTS, "a listed item was changed in place")
            .change(|r| {
                r.outside(move |files| {
                    files.get_mut(path).expect("there").push(b' ');
                });
            })
            .invalid(&["R1.ENV.ITEM_HASH"])
    };
    vec![
        case("r1e-missing", minimal, N, LISTS, "no envelope manifest")
            .change(|r| {
                r.outside(|files| {
                    files.remove("envelope.json");
                });
            })
            .invalid(&["R1.ENV.MISSING"]),
        case("r1e-self", minimal, N, LISTS, "M_envelope lists itself")
            .change(|r| {
                r.envelope(|envelope| {
                    envelope["attestations"] =
                        json!([{"path": "envelope.json", "digest": "@sha256:x"}]);
                });
            })
            .invalid(&["R1.ENV.SELF"]),
        gone("r1e-item-absent-anchor", "anchors/root.tsr"),
        gone("r1e-item-absent-attestation", "attestations/q1.json"),
        unlisted("r1e-item-unlisted-anchor", "anchors/more.tsr"),
        unlisted("r1e-item-unlisted-elsewhere", "README.txt"),
        hash("r1e-item-hash-anchor", "anchors/root.tsr"),
        hash("r1e-item-hash-attestation", "attestations/q1.json"),
    ]
}

fn lineage() -> Vec<Case> {
    vec![
        case("r1e-root-core", minimal, N, LISTS, "the envelope names another core")
            .change(|r| r.envelope(|e| e["root_core"] = "@sha256:another core".into()))
            .invalid(&["R1.ENV.ROOT_CORE"]),
        case("r1e-root-envelope", minimal, N, LISTS, "the caller knows another envelope")
            .change(|r| r.inputs.root_envelope = Some("@sha256:another envelope"))
            .invalid(&["R1.ENV.ROOT_ENVELOPE"]),
        case("r1e-root-envelope-met", defensible, Nobody, LISTS, "the caller knows this envelope")
            .change(|r| r.inputs.root_envelope = Some("@last-envelope"))
            .holds(&[])
            .without(&["R1.ENV.ROOT_ENVELOPE"]),
        case("r1e-predecessor-form", defensible, N, LISTS, "a predecessor that is no digest")
            .change(|r| r.envelope(|e| e["predecessor"] = "the first one".into()))
            .invalid(&["R1.ENV.PREDECESSOR_FORM"]),
        case("r1e-predecessor-absent", minimal, N, LISTS, "no predecessor, not even null")
            .change(|r| r.envelope(|e| crate::gad::record::take(e, "/predecessor")))
            .invalid(&["R1.ENV.PREDECESSOR_FORM"]),
        case("r1e-predecessor-mismatch", defensible, N, LISTS, "another predecessor is supplied")
            .change(|r| {
                r.edit("input:predecessor.json", |bytes| {
                    crate::gad::record::replace_once(bytes, "anchorlog-tests", "somebody-else")
                });
            })
            .invalid(&["R1.ENV.PREDECESSOR_MISMATCH"]),
        case(
            "r1e-lineage-dropped",
            defensible,
            N,
            "E_(k+1) = E_k + Q",
            "the successor drops the anchor",
        )
        .change(|r| {
            r.envelope(|e| {
                if e["predecessor"].is_string() {
                    e["anchors"] = json!([]);
                }
            });
            r.outside(|files| {
                files.remove("anchors/root.tsr");
            });
        })
        .invalid(&["R1.ENV.LINEAGE_DROPPED"]),
        case(
            "r1e-lineage-changed",
            defensible,
            N,
            "E_(k+1) = E_k + Q",
            "the successor has another anchor there",
        )
        .change(|r| {
            r.envelope(|e| {
                if e["predecessor"].is_string() {
                    e["anchors"][0]["path"] = "anchors/other.tsr".into();
                }
            });
            r.outside(|files| {
                let bytes = files.remove("anchors/root.tsr").expect("there");
                files.insert("anchors/other.tsr".into(), bytes);
            });
        })
        .invalid(&["R1.ENV.LINEAGE_DROPPED"]),
        case(
            "r1e-predecessor-not-given",
            defensible,
            Nobody,
            LISTS,
            "nobody has to supply predecessors",
        )
        .change(|r| r.inputs.predecessor = false)
        .holds(&[])
        .without(&["R1.ENV.PREDECESSOR_MISMATCH", "R1.ENV.LINEAGE_DROPPED"]),
    ]
}

fn members() -> Vec<Case> {
    let layers = |name, layers: serde_json::Value, why| {
        case(name, minimal, N, "S1 boundary", why)
            .change(|r| r.layers = layers)
            .invalid(&["R1.ENV.LAYERS_UNDECLARED"])
    };
    let form = |name, pointer: &'static str, value: serde_json::Value, code, why| {
        case(name, minimal, N, "gad-formats 6", why)
            .change(|r| {
                r.envelope(move |e| crate::gad::record::put(e, pointer, value.clone()));
            })
            .invalid(&[code])
    };
    let scalar = json!("signed_entries_and_checkpoints");
    vec![
        layers("r1e-layers-absent", json!("@absent"), "no declared layers"),
        layers("r1e-layers-empty", json!([]), "an empty list of layers"),
        form(
            "r1e-layers-unknown",
            "/provenance_layers/0",
            json!("notarized"),
            "J.ENUM",
            "no such layer",
        ),
        form(
            "r1e-layers-scalar",
            "/provenance_layers",
            scalar,
            "J.TYPE",
            "a text where a set belongs",
        ),
        form("r1e-unknown-field", "/note", json!("x"), "J.UNKNOWN_FIELD", "closed: M_envelope"),
        form("r1e-metadata-time", "/metadata/created", json!("today"), "J.TIME_FORM", "no time"),
        case(
            "r1e-metadata",
            minimal,
            Nobody,
            "gad-formats 6 metadata",
            "metadata is signed by nobody",
        )
        .change(|r| {
            r.envelope(|e| {
                e["metadata"] = json!(
                        {"producer": "anybody at all", "created": "2030-01-01T00:00:00Z"});
            });
        })
        .holds(&[])
        .without(&["R1.ENV.ROOT_CORE"]),
    ]
}
