//! LOG.*: log inclusions as anchors.

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize, consistency, leaf_hash};
use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{Nobody, W};
use crate::gad::anchors::{Anchor, Logged, known};
use crate::gad::base::envelopes::{cosigned, logged};
use crate::gad::case::case;
use crate::gad::record::Files;
use crate::gad::trust::{LOG, OTHER_LOG, WITNESSES, doubled_log_policy};

const NOTE: &str = "C2SP signed-note, tlog-checkpoint";
const PROOF: &str = "RFC 9162 2.1.3";

pub(super) fn cases() -> Vec<Case> {
    let mut list = notes();
    list.extend(proofs());
    list.extend(witnesses());
    list.extend(memory());
    list
}

fn bad(
    name: &str,
    clause: &'static str,
    code: &'static str,
    why: &'static str,
    change: fn(&mut Logged),
) -> Case {
    case(name, logged, W, clause, why)
        .change(|r| r.anchor("root").logged(change))
        .indefensible(&[code])
}

fn notes() -> Vec<Case> {
    vec![
        bad(
            "log-unknown",
            "gad-formats 7",
            "LOG.UNKNOWN",
            "a log that the policy doesn't know",
            |logged| {
                logged.origin = OTHER_LOG;
                logged.key = OTHER_LOG;
            },
        ),
        bad("log-sig", NOTE, "LOG.SIG", "the log's name, another's key", |logged| {
            logged.key = OTHER_LOG;
        }),
        bad("log-sig-gone", NOTE, "LOG.SIG", "only the witnesses signed", |logged| {
            logged.proof = |text| {
                let kept =
                    text.lines().filter(|line| !line.starts_with(&format!("\u{2014} {LOG} ")));
                kept.map(|line| format!("{line}\n")).collect()
            };
        }),
        bad(
            "log-checkpoint-size",
            NOTE,
            "LOG.CHECKPOINT",
            "a size with a leading zero",
            |logged| {
                logged.note = |text| text.replacen("\n7\n", "\n07\n", 1);
                logged.cosigned.clear();
            },
        ),
        bad("log-checkpoint-root", NOTE, "LOG.CHECKPOINT", "a root that is no base64", |logged| {
            logged.note = |text| text.replacen("=\n", "\n", 1);
            logged.cosigned.clear();
        }),
        bad(
            "log-checkpoint-file",
            "statements-and-anchors anchor file",
            "LOG.CHECKPOINT",
            "an unknown member of the file",
            |logged| {
                logged.file = |file| file["more"] = json!(1);
            },
        ),
        bad(
            "log-checkpoint-bytes",
            "statements-and-anchors anchor file",
            "LOG.CHECKPOINT",
            "a file that is no JSON",
            |logged| {
                logged.bytes = |_| b"{".to_vec();
            },
        ),
        bad(
            "log-leaf-kind",
            "statements-and-anchors statement",
            "LOG.LEAF",
            "a statement of another kind",
            |logged| {
                logged.statement["kind"] = "chain_head".into();
            },
        ),
        bad(
            "log-leaf-digest",
            "statements-and-anchors statement",
            "LOG.LEAF",
            "a statement about something else",
            |logged| {
                logged.statement["digest"] = Digest::of(b"something else").to_string().into();
            },
        ),
        bad(
            "log-leaf-trail",
            "statements-and-anchors statement",
            "LOG.LEAF",
            "a statement in another trail",
            |logged| {
                logged.statement["trail"] = Digest::of(b"another plan").to_string().into();
            },
        ),
        bad(
            "log-leaf-closed",
            "statements-and-anchors statement",
            "LOG.LEAF",
            "a statement with one member more",
            |logged| {
                logged.statement["note"] = "x".into();
            },
        ),
    ]
}

fn proofs() -> Vec<Case> {
    vec![
        bad("log-index-over", "RFC 6962", "LOG.INDEX", "an index as large as the tree", |logged| {
            logged.index = Some("7".into());
        }),
        bad(
            "log-index-form",
            "C2SP tlog-proof",
            "LOG.INDEX",
            "an index with a leading zero",
            |logged| {
                logged.index = Some("03".into());
            },
        ),
        bad("log-proof-short", PROOF, "LOG.PROOF_LENGTH", "a hash too few", |logged| {
            logged.hashes = |hashes| {
                hashes.pop();
            };
        }),
        bad("log-proof-long", PROOF, "LOG.PROOF_LENGTH", "a hash too many", |logged| {
            logged.hashes = |hashes| hashes.push(Digest::of(b"more"));
        }),
        bad("log-inclusion-hash", PROOF, "LOG.INCLUSION", "a wrong hash", |logged| {
            logged.hashes = |hashes| hashes[0] = Digest::of(b"another");
        }),
        bad("log-inclusion-index", PROOF, "LOG.INCLUSION", "another index", |logged| {
            logged.index = Some("2".into());
        }),
        bad(
            "log-inclusion-root",
            PROOF,
            "LOG.INCLUSION",
            "a checkpoint of another tree",
            |logged| {
                logged.root = Some(Digest::of(b"another tree"));
            },
        ),
        bad(
            "log-inclusion-leaf",
            PROOF,
            "LOG.INCLUSION",
            "the log has another leaf there",
            |logged| {
                let mut other = logged.statement.clone();
                other["digest"] = Digest::of(b"another leaf").to_string().into();
                logged.leaf = Some(other);
            },
        ),
        bad(
            "log-token",
            "gad-formats 7",
            "TSA.IMPRINT",
            "the token is over another checkpoint",
            |logged| {
                logged.tokens = vec![Box::new(|stamp| {
                    stamp.token.info.imprint = crate::forge::token::imprint(
                        &crate::forge::keys::Hash::Sha256.identifier(),
                        &[1; 32],
                    );
                })];
            },
        ),
        case(
            "log-token-unknown",
            logged,
            Nobody,
            "gad-formats 7",
            "an unknown TSA's token is passed over",
        )
        .change(|r| {
            r.anchor("root").logged(|logged| {
                logged.tokens.push(Box::new(|stamp| stamp.by(&crate::gad::trust::PKI.tsa_x)));
            });
        })
        .holds(&[])
        .without(&["ANC.PRESENT_INVALID"]),
        case("log-single-leaf", logged, Nobody, PROOF, "a tree of one leaf needs no hashes")
            .change(|r| r.anchor("root").logged(|logged| logged.others = (0, 0)))
            .holds(&[])
            .without(&["LOG.PROOF_LENGTH", "LOG.INCLUSION"]),
        case(
            "log-no-trail",
            logged,
            Nobody,
            "statements-and-anchors statement",
            "a trail isn't required",
        )
        .change(|r| {
            r.anchor("root").logged(|logged| {
                crate::gad::record::take(&mut logged.statement, "/trail");
            });
        })
        .holds(&[])
        .without(&["LOG.LEAF"]),
    ]
}

fn witnesses() -> Vec<Case> {
    vec![
        bad(
            "log-quorum",
            "C2SP tlog-policy",
            "LOG.QUORUM",
            "one witness where two are asked for",
            |logged| {
                logged.cosigned.pop();
            },
        ),
        bad(
            "log-quorum-same-twice",
            "C2SP tlog-policy",
            "LOG.QUORUM",
            "one witness twice",
            |logged| {
                logged.cosigned[1].0 = WITNESSES[0];
            },
        ),
        bad(
            "log-quorum-stranger",
            "C2SP tlog-policy",
            "LOG.QUORUM",
            "a witness that the policy doesn't know",
            |logged| {
                logged.cosigned[1].0 = "witness.example/four";
            },
        ),
        case(
            "log-witness-dup",
            logged,
            W,
            "C2SP tlog-policy",
            "a policy text that counts one key twice",
        )
        .change(|r| {
            r.policy("/logs/text_digest", "@doubled-logs");
            let text = doubled_log_policy().into_bytes();
            r.inputs.trust = Some(("doubled-logs", Files::from([("doubled.txt".into(), text)])));
        })
        .indefensible(&["LOG.WITNESS_DUP"]),
        case("log-three-witnesses", logged, Nobody, "C2SP tlog-policy", "all three witnesses")
            .change(|r| {
                r.anchor("root").logged(|logged| {
                    logged.cosigned.push((WITNESSES[2], crate::gad::anchors::COSIGNED_AT));
                });
            })
            .holds(&[])
            .without(&["LOG.QUORUM"]),
        case(
            "log-unknown-line",
            logged,
            Nobody,
            NOTE,
            "a line by nobody the policy knows is passed over",
        )
        .change(|r| {
            r.anchor("root").logged(|logged| {
                logged.cosigned.insert(0, ("witness.example/four", 1_748_780_000));
            });
        })
        .holds(&[])
        .without(&["LOG.SIG", "LOG.QUORUM"]),
        case(
            "log-cosigned-late",
            cosigned,
            W,
            "gad-formats 7 order and time",
            "the quorum came together too late",
        )
        .change(|r| {
            r.anchor("root").logged(|logged| logged.cosigned[1].1 += 172_800);
            r.attest("/body/evaluation_time", "2025-06-04T00:00:00Z");
        })
        .indefensible(&["ANC.TOO_LATE"]),
    ]
}

/// The first leaves of the tree of the suite's log, before the anchored one.
fn earlier(size: u64) -> (Extension, Digest) {
    let leaves = (0..size).map(|number| leaf_hash(&number.to_be_bytes()));
    let tree = Extension::new(Frontier::new(), leaves).expect("a small tree");
    let size = TreeSize::new(size).expect("a small tree");
    let root = Frontier::from_reader(&tree, size).expect("all nodes are there").root();
    (tree, root)
}

fn memory() -> Vec<Case> {
    let (_, root) = earlier(3);
    vec![
        case(
            "log-split-view",
            logged,
            W,
            "C2SP tlog-checkpoint",
            "the caller remembers another tree of this size",
        )
        .change(|r| {
            r.inputs.known = Some(known(7, &Digest::of(b"another tree"), None));
        })
        .indefensible(&["LOG.SPLIT_VIEW"]),
        case(
            "log-split-view-inside",
            logged,
            W,
            "C2SP tlog-checkpoint",
            "two anchors show two trees of one size",
        )
        .change(|r| {
            r.anchors.push(Anchor::log("second", "core_root", "core", |logged| {
                logged.others = (2, 4);
            }));
        })
        .indefensible(&["LOG.SPLIT_VIEW"]),
        case("log-consistency", logged, W, PROOF, "the proof from what the caller remembers fails")
            .change(|r| {
                r.inputs.known = Some(known(3, &root, Some(&[Digest::of(b"no proof")])));
            })
            .indefensible(&["LOG.CONSISTENCY"]),
        case(
            "log-rollback",
            logged,
            Nobody,
            "C2SP tlog-witness",
            "the caller remembers a larger tree",
        )
        .change(|r| r.inputs.known = Some(known(9, &Digest::of(b"larger"), None)))
        .holds(&["LOG.ROLLBACK"])
        .without(&["LOG.SPLIT_VIEW", "LOG.CONSISTENCY"]),
        case(
            "log-known-smaller",
            logged,
            Nobody,
            "gad-formats 7",
            "without a proof other sizes aren't compared",
        )
        .change(|r| r.inputs.known = Some(known(3, &root, None)))
        .holds(&[])
        .without(&["LOG.CONSISTENCY", "LOG.ROLLBACK", "LOG.SPLIT_VIEW"]),
        case(
            "log-known-other-log",
            logged,
            Nobody,
            "gad-formats 7",
            "what is remembered of other logs doesn't matter",
        )
        .change(|r| {
            let mut known = known(7, &Digest::of(b"another tree"), None);
            known["checkpoints"][0]["origin"] = OTHER_LOG.into();
            r.inputs.known = Some(known);
        })
        .holds(&[])
        .without(&["LOG.SPLIT_VIEW"]),
        case(
            "log-consistent",
            logged,
            Nobody,
            PROOF,
            "the tree grew from what the caller remembers",
        )
        .change(|r| {
            // The anchored leaf follows the first three, so their tree is a prefix whatever it says.
            let text = r.render().names.text("core");
            let value = text.parse().expect("a digest");
            let plan = r.render().names.digest("plan");
            let proof = prove(&Logged::new("core_root", &value, &plan));
            r.inputs.known = Some(known(3, &root, Some(&proof)));
        })
        .holds(&[])
        .without(&["LOG.CONSISTENCY"]),
    ]
}

/// The consistency proof from the first three leaves to the whole tree.
fn prove(logged: &Logged) -> Vec<Digest> {
    let three = TreeSize::new(3).expect("a small tree");
    let (size, ..) = logged.prove();
    let proof = consistency::prove(&logged.tree(), three, size).expect("all nodes are there");
    proof.expect("a proof")
}
