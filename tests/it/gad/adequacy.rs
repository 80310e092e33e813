//! Would the suite notice? Each code of EVALUATE is silenced in turn, and some vector has to disagree.

use std::collections::BTreeMap;

use anchorlog_tests::gad::suite::{Said, Stored, by_library, load};
use anchorlog_verifier::codes::Code;
use anchorlog_verifier::gad::mute::while_muted;

use super::suite;

/// Codes that change no status when they are silent, by why that is so by design.
const DOMINATED: &[(&str, &[&str])] = &[
    (
        "notes and levels: they make nothing false",
        &[
            "ANC.UNTRUSTED_ISSUER",
            "LOG.ROLLBACK",
            "LOG.UNKNOWN",
            "LVL.GAD1",
            "LVL.GAD2_ATTESTED",
            "LVL.GAD2_TESTIMONY",
            "LVL.GAD4_NO_POST_RUN",
            "LVL.GAD4_NO_PRECOMMIT",
            "NOTE.ATTRIBUTION_PROXY",
            "NOTE.NOTICE",
            "NOTE.NOT_HISTORY",
            "NOTE.RECORDED_ONLY",
            "NOTE.RELATIVE",
            "NOTE.SNAPSHOT",
            "NOTE.UNANCHORED",
            "OUT.INCOMPLETE",
            "POL.VACUOUS",
            "R1.ARTIFACT.UNBOUND",
        ],
    ),
    (
        "they tell what a status is, and are drawn from it",
        &["OUT.INVALID", "SAT.INVALID", "SAT.NOT_COMPLETED"],
    ),
    (
        "they lower a class, which R4.CLASS_BELOW then shows",
        &[
            "R5.ABSENT",
            "R5.ARTIFACT",
            "R5.ENV",
            "R5.NOT_FIRED",
            "R5.ORDER",
            "R5.RESTORATION",
            "R5.RESULT",
            "R5.SIG",
        ],
    ),
    (
        "what can't be read, or used, is no value that a rule could pass",
        &[
            "IN.LIMIT_LINE",
            "J.DIGEST_FORM",
            "J.INT_RANGE",
            "J.LONE_SURROGATE",
            "J.NEG_ZERO",
            "J.NON_INTEGER",
            "PLAN.CYCLE",
            "PLAN.EMPTY",
            "PLAN.NODE_DUP",
            "R1.CHAIN.EMPTY",
            "R1.MANIFEST.MISSING",
        ],
    ),
    (
        "an anchor counts when its check returns that it verified, not when nothing is reported",
        &[
            "ANC.PRESENT_INVALID",
            "ANC.TARGET",
            "LOG.CHECKPOINT",
            "LOG.CONSISTENCY",
            "LOG.INCLUSION",
            "LOG.INDEX",
            "LOG.LEAF",
            "LOG.PROOF_LENGTH",
            "LOG.QUORUM",
            "LOG.SIG",
            "LOG.SPLIT_VIEW",
            "LOG.WITNESS_DUP",
            "TSA.ACCURACY",
            "TSA.ALG",
            "TSA.CA_LEAF",
            "TSA.CERT_ABSENT",
            "TSA.CHAIN",
            "TSA.EKU",
            "TSA.ESS",
            "TSA.FUTURE",
            "TSA.IMPRINT",
            "TSA.IMPRINT_ALG",
            "TSA.PARSE",
            "TSA.POLICY_OID",
            "TSA.POLICY_WINDOW",
            "TSA.REVOCATION_UNKNOWN",
            "TSA.REVOKED",
            "TSA.ROOT_PURPOSE",
            "TSA.SIG",
            "TSA.SIGNED_ATTRS",
            "TSA.SIGNERS",
            "TSA.STATUS",
            "TSA.VALIDITY",
            "TSA.VERSION",
        ],
    ),
    (
        "an attestation counts when its checks return that it holds, not when nothing is reported",
        &[
            "ATT.FORM",
            "ATT.IN_CORE",
            "ATT.MISSING",
            "ATT.NEGATIVE",
            "IND.EVALUATOR_UNRESOLVED",
            "IND.OPERATOR_UNRESOLVED",
            "IND.RELATED",
            "IND.RULE",
            "IND.SAME_PARTY",
            "IND.SHARED_KEY",
            "POL.UNNAMED",
        ],
    ),
    (
        "an entry that isn't authentic is told by R1 too (gad-formats D1)",
        &["R4.SIG", "R6.CLOSE.SIG", "R6.FLAG.UNAUTHENTICATED", "R7.ROLE"],
    ),
    (
        "an entry that nothing covers, and the checkpoint that doesn't, are told both",
        &[
            "R1.CKPT.COVERS_SELF",
            "R1.CKPT.GAP",
            "R1.CKPT.NONE",
            "R1.CKPT.NO_FINAL",
            "R1.CKPT.UNCOVERED",
            "R1.SEAL.UNSEALED",
        ],
    ),
    (
        "what a record relies on is also a state of the trace (gad-formats D12)",
        &[
            "R4.CLASS_BELOW",
            "R4.PASS_MISSING",
            "R6.OPEN_AT_GOOD",
            "R7.CONSEQUENCE",
            "R7.NO_REQUEST",
            "R7.ORDER",
            "R7.REFUSAL",
            "R8.TRIP_EXIT",
        ],
    ),
    (
        "a second guard fails wherever this one does",
        &[
            "R2.FREEZE.AFTER_DISPATCH",
            "R2.LABEL.BOUNDED",
            "R3.PHASE.MULTI_TERMINAL",
            "R3.RESULT.MISSING",
            "R3.REVISED.NO_REFUSAL",
            "R3.TERMINAL.OPEN_SESSION",
            "R3.VERDICT.INCOMPLETE",
        ],
    ),
];

/// A code, the vectors that notice its silence by any expectation, and by a status.
struct Silence {
    code: Code,
    noticed: usize,
    by_status: usize,
    by_rule: usize,
}

fn silence(code: Code, vectors: &[(Stored, Said)]) -> Silence {
    let mut silence = Silence { code, noticed: 0, by_status: 0, by_rule: 0 };
    let finds = vectors.iter().filter(|(_, said)| said.codes.contains(code.as_str()));
    for (vector, loud) in finds {
        let said = while_muted(code, || by_library(vector));
        silence.noticed += usize::from(!vector.complaints(&said).is_empty());
        silence.by_status += usize::from(!vector.status_complaints(&said).is_empty());
        silence.by_rule += usize::from(said.failing != loud.failing);
        // One of each is enough, and notes stand in every vector.
        if silence.noticed > 0 && (silence.by_status > 0 || silence.noticed > 40) {
            break;
        }
    }
    silence
}

#[test]
fn no_silence_goes_unnoticed() {
    let vectors: Vec<_> = load(&suite())
        .into_iter()
        .map(|vector| {
            let said = by_library(&vector);
            (vector, said)
        })
        .collect();
    let mut found = BTreeMap::new();
    for code in vectors.iter().flat_map(|(_, said)| &said.codes) {
        found.entry(code.clone()).or_insert_with(|| Code::lookup(code).expect("a code"));
    }
    let silences: Vec<_> = found.into_values().map(|code| silence(code, &vectors)).collect();
    let survivors: Vec<_> =
        silences.iter().filter(|silence| silence.noticed == 0).map(|s| s.code.as_str()).collect();
    let dominated: Vec<_> =
        silences.iter().filter(|silence| silence.by_status == 0).map(|s| s.code.as_str()).collect();
    println!(
        "{} codes silenced, {} survive, {} change a status, {} a status or the state of a rule",
        silences.len(),
        survivors.len(),
        silences.len() - dominated.len(),
        silences.iter().filter(|silence| silence.by_status + silence.by_rule > 0).count()
    );
    assert!(survivors.is_empty(), "no vector notices {}", survivors.join(", "));
    let listed = |code: &&str| DOMINATED.iter().any(|(_, codes)| codes.contains(code));
    let unlisted: Vec<_> = dominated.iter().copied().filter(|code| !listed(code)).collect();
    assert!(unlisted.is_empty(), "no status changes with {}", unlisted.join(" "));
    for code in DOMINATED.iter().flat_map(|(_, codes)| *codes) {
        assert!(dominated.contains(code), "{code} is listed as dominated, and it changes a status");
    }
}
