//! One table of mutations: whatever is changed in a good receipt, it is refused, with the code that
//! says why.

use anchorlog_proto::Digest;
use anchorlog_proto::json::{Object, Value};
use anchorlog_proto::merkle::{TreeSize, leaf_hash};
use anchorlog_proto::note::{KeyId, NoteSignature, NoteSigner};
use anchorlog_proto::statement::StatementKind;
use anchorlog_proto::tlog_policy::TlogPolicy;
use anchorlog_verifier::finding::Finding;
use anchorlog_verifier::receipt::{Expectations, examine_receipt, read_receipt};

use crate::world::{Draft, TIME, World, entry, witness};

/// The failing codes of a receipt's bytes, read and examined as the program does it.
pub fn judge(bytes: &[u8], policy: &TlogPolicy, expect: &Expectations) -> Vec<String> {
    let findings = match read_receipt(bytes) {
        Ok(receipt) => examine_receipt(&receipt, policy, expect).findings().to_vec(),
        Err(failure) => vec![failure.finding().clone()],
    };
    findings
        .iter()
        .filter(|finding| finding.fails())
        .map(|finding| finding.code.to_string())
        .collect()
}

type Edit = fn(&mut Draft, &World);

/// Mutations of what the draft says: name, edit, codes.
const DRAFTS: &[(&str, Edit, &[&str])] = &[
    // The log's signature.
    ("log signature missing", |d, _| drop(d.signatures.remove(0)), &["LOG.SIG"]),
    ("log signature altered", |d, _| alter(&mut d.signatures[0]), &["LOG.SIG"]),
    (
        "log signature by another key of that name",
        |d, w| {
            let other = NoteSigner::from_seed(w.log.verifier_key().name().clone(), [2; 32]);
            d.signatures[0] = other.sign(&d.checkpoint.to_text());
        },
        &["LOG.SIG"],
    ),
    (
        "log signature under another name",
        |d, _| {
            let line = &d.signatures[0];
            d.signatures[0] = signature("log.example/other", line.key_id(), line.bytes());
        },
        &["LOG.SIG"],
    ),
    (
        "log signature under another key id",
        |d, _| {
            let line = &d.signatures[0];
            d.signatures[0] =
                signature("log.example/test", KeyId::from_bytes([0; 4]), line.bytes());
        },
        &["LOG.SIG"],
    ),
    (
        "a second, bad line of the log's key",
        |d, _| {
            let mut line = d.signatures[0].clone();
            alter(&mut line);
            d.signatures.push(line);
        },
        &["LOG.SIG"],
    ),
    (
        "log signature truncated",
        |d, _| {
            let line = &d.signatures[0];
            d.signatures[0] = signature("log.example/test", line.key_id(), &line.bytes()[..63]);
        },
        &["LOG.SIG"],
    ),
    // The checkpoint: what was signed.
    (
        "checkpoint root altered",
        |d, _| d.checkpoint.root = leaf_hash(b""),
        &["LOG.SIG", "LOG.INCLUSION"],
    ),
    ("checkpoint size altered", |d, _| d.checkpoint.size = TreeSize::new(8).unwrap(), &["LOG.SIG"]),
    (
        "checkpoint of another origin, well signed",
        |d, w| {
            d.log = "log.example/other".to_owned();
            d.checkpoint.origin = d.log.parse().unwrap();
            let other = NoteSigner::from_seed(d.log.parse().unwrap(), [1; 32]);
            d.sign_with(&other);
            d.cosign(&w.witnesses[0], TIME);
            d.cosign(&w.witnesses[1], TIME);
        },
        &["LOG.UNKNOWN"],
    ),
    (
        "checkpoint of another origin under the log's key",
        |d, w| {
            d.log = "log.example/other".to_owned();
            d.checkpoint.origin = d.log.parse().unwrap();
            d.sign(w, &[0, 1]);
        },
        &["LOG.UNKNOWN"],
    ),
    (
        "another good tree",
        |d, w| {
            d.checkpoint = w.checkpoint(6);
            d.sign(w, &[0, 1]);
        },
        &["LOG.INCLUSION"],
    ),
    (
        "a forged tree of the same size, well signed",
        |d, w| {
            d.checkpoint.root = leaf_hash(b"forged");
            d.sign(w, &[0, 1]);
        },
        &["LOG.INCLUSION"],
    ),
    // The witnesses.
    ("one witness too few", |d, w| d.sign(w, &[0]), &["LOG.QUORUM", "RCT.STATE"]),
    ("no witness", |d, w| d.sign(w, &[]), &["LOG.QUORUM", "RCT.STATE"]),
    (
        "one witness twice",
        |d, w| {
            d.sign(w, &[0]);
            d.cosign(&w.witnesses[0], TIME + 5);
        },
        &["LOG.QUORUM", "RCT.STATE"],
    ),
    (
        "a witness of nobody's policy",
        |d, w| {
            d.sign(w, &[0]);
            d.cosign(&witness(7), TIME);
        },
        &["LOG.QUORUM", "RCT.STATE"],
    ),
    ("cosignature altered", |d, _| alter(&mut d.signatures[2]), &["LOG.COSIGNATURE", "LOG.QUORUM"]),
    (
        "a third, bad cosignature",
        |d, w| {
            d.cosign(&w.witnesses[2], TIME);
            alter(&mut d.signatures[3]);
        },
        &["LOG.COSIGNATURE", "LOG.QUORUM"],
    ),
    (
        "cosignature over another tree",
        |d, w| {
            let line = w.witnesses[1].cosign(&w.checkpoint(6).to_text(), TIME).unwrap();
            d.signatures[2] = line;
        },
        &["LOG.COSIGNATURE", "LOG.QUORUM"],
    ),
    (
        "cosignature with another time",
        |d, _| {
            let line = &d.signatures[1];
            let mut bytes = line.bytes().to_vec();
            bytes[7] ^= 1;
            d.signatures[1] = signature(line.name().as_str(), line.key_id(), &bytes);
        },
        &["LOG.COSIGNATURE", "LOG.QUORUM"],
    ),
    (
        "a plain signature where a cosignature is due",
        |d, _| {
            let key = NoteSigner::from_seed("witness2.example".parse().unwrap(), [12; 32]);
            d.signatures[2] = key.sign(&d.checkpoint.to_text());
        },
        &["LOG.QUORUM", "RCT.STATE"],
    ),
    // The proof.
    ("a hash altered", |d, _| d.hashes[1] = leaf_hash(b""), &["LOG.INCLUSION"]),
    ("hashes swapped", |d, _| d.hashes.swap(0, 1), &["LOG.INCLUSION"]),
    ("hashes reversed", |d, _| d.hashes.reverse(), &["LOG.INCLUSION"]),
    ("a hash removed", |d, _| d.hashes.truncate(2), &["LOG.PROOF_LENGTH"]),
    ("a hash appended", |d, _| d.hashes.push(leaf_hash(b"")), &["LOG.PROOF_LENGTH"]),
    ("no hash", |d, _| d.hashes.clear(), &["LOG.PROOF_LENGTH"]),
    ("63 hashes", |d, _| d.hashes = vec![leaf_hash(b""); 63], &["LOG.PROOF_LENGTH"]),
    ("64 hashes", |d, _| d.hashes = vec![leaf_hash(b""); 64], &["TLOGPROOF.HASHES"]),
    // The index.
    ("another index", |d, _| index(d, 3), &["LOG.INCLUSION"]),
    ("an index with a shorter proof", |d, _| index(d, 6), &["LOG.PROOF_LENGTH"]),
    ("an index beyond the tree", |d, _| index(d, 7), &["LOG.INDEX"]),
    ("an index far beyond the tree", |d, _| index(d, (1 << 53) - 1), &["LOG.INDEX"]),
    ("a leading zero", |d, _| d.proof_index = "02".to_owned(), &["TLOGPROOF.INDEX_FORM"]),
    ("a negative index", |d, _| d.proof_index = "-2".to_owned(), &["TLOGPROOF.INDEX_FORM"]),
    (
        "an index over 2^63-1",
        |d, _| d.proof_index = "9223372036854775808".to_owned(),
        &["TLOGPROOF.INDEX_RANGE"],
    ),
    ("receipt and proof with different indexes", |d, _| d.index = 3, &["RCT.INDEX"]),
    // The statement.
    (
        "another digest",
        |d, _| statement(d, "digest", Digest::of(b"").to_string()),
        &["RCT.LEAF_HASH"],
    ),
    (
        "another digest, hash adjusted",
        |d, _| {
            statement(d, "digest", Digest::of(b"").to_string());
            rehash(d);
        },
        &["LOG.LEAF", "LOG.INCLUSION"],
    ),
    (
        "another kind, hash adjusted",
        |d, _| {
            statement(d, "kind", "core_root");
            rehash(d);
        },
        &["LOG.LEAF", "LOG.INCLUSION"],
    ),
    (
        "another trail, hash adjusted",
        |d, _| {
            statement(d, "trail", "trail:b");
            rehash(d);
        },
        &["LOG.LEAF", "LOG.INCLUSION"],
    ),
    (
        "another sequence, hash adjusted",
        |d, _| {
            d.statement.insert("sequence", 3);
            rehash(d);
        },
        &["LOG.INCLUSION"],
    ),
    (
        "no sequence, hash adjusted",
        |d, _| {
            d.statement.remove("sequence");
            rehash(d);
        },
        &["LOG.INCLUSION"],
    ),
    (
        "another entry of the log, whole",
        |d, w| {
            let other = w.draft(3);
            *d = other;
        },
        &["LOG.LEAF", "LOG.LEAF"],
    ),
    (
        "another entry's statement",
        |d, _| {
            d.statement = entry(3).to_object();
            d.leaf_hash = entry(3).leaf_hash().to_string();
        },
        &["LOG.LEAF", "LOG.LEAF", "LOG.INCLUSION"],
    ),
    ("leaf hash altered", |d, _| d.leaf_hash = Digest::of(b"").to_string(), &["RCT.LEAF_HASH"]),
    (
        "leaf hash in capitals",
        |d, _| d.leaf_hash = d.leaf_hash.replace(|c: char| c.is_ascii_lowercase() && c > 'a', "F"),
        &["J.DIGEST_FORM"],
    ),
    ("an unknown member in the statement", |d, _| statement(d, "note", "x"), &["J.UNKNOWN_FIELD"]),
    ("an unknown kind", |d, _| statement(d, "kind", "verdict"), &["STM.KIND"]),
    (
        "an unknown statement schema",
        |d, _| statement(d, "schema", "anchorlog.statement/2"),
        &["STM.SCHEMA"],
    ),
    (
        "a sequence without a trail",
        |d, _| drop(d.statement.remove("trail")),
        &["STM.SEQUENCE_WITHOUT_TRAIL"],
    ),
    // What the receipt says beside its proof.
    ("another log", |d, _| d.log = "log.example/other".to_owned(), &["RCT.ORIGIN"]),
    ("an impossible log", |d, _| d.log = String::new(), &["CKPT.ORIGIN"]),
    (
        "anchored without a time stamp",
        |d, _| d.state = "anchored",
        &["RCT.ANCHORED_WITHOUT_TIMESTAMP"],
    ),
    (
        "anchored with a time stamp nobody verified",
        |d, _| {
            d.state = "anchored";
            d.timestamps = vec![vec![0x30, 0]];
        },
        &[],
    ),
    ("an unknown state", |d, _| d.state = "ok", &["J.ENUM"]),
    ("an empty time stamp", |d, _| d.timestamps = vec![Vec::new()], &["RCT.TIMESTAMP_LENGTH"]),
    ("too many time stamps", |d, _| d.timestamps = vec![vec![1]; 17], &["RCT.TIMESTAMP_COUNT"]),
    ("a conflict with itself", |d, _| d.conflicts = vec![2], &["RCT.CONFLICTS"]),
];

/// Mutations of the receipt's text: name, what is replaced by what, code.
const TEXTS: &[(&str, &str, &str, &str)] = &[
    ("another proof version", "tlog-proof@v1", "tlog-proof@v2", "TLOGPROOF.HEADER"),
    (
        "no blank line before the checkpoint",
        "=\\n\\nlog.example/test",
        "=\\nlog.example/test",
        "TLOGPROOF.HASH",
    ),
    ("a size with a leading zero", "test\\n7\\n", "test\\n07\\n", "CKPT.SIZE_FORM"),
    ("a size with a sign", "test\\n7\\n", "test\\n+7\\n", "CKPT.SIZE_FORM"),
    ("a size over 2^63-1", "test\\n7\\n", "test\\n9223372036854775808\\n", "CKPT.SIZE_RANGE"),
    ("an empty tree", "test\\n7\\n", "test\\n0\\n", "CKPT.EMPTY_ROOT"),
    ("carriage returns", "test\\n7\\n", "test\\r\\n7\\r\\n", "NOTE.CONTROL"),
    ("an extension line", "\\n\\n\u{2014} log", "\\nextension\\n\\n\u{2014} log", "LOG.SIG"),
    (
        "a blank line too many",
        "\\n\\n\u{2014} log",
        "\\n\\n\\n\u{2014} log",
        "CKPT.TRAILING_BLANK_LINE",
    ),
    ("a hyphen for the dash", "\\n\\n\u{2014} log", "\\n\\n- log", "NOTE.SIGNATURE_LINE"),
    ("another schema", "receipt/1", "receipt/2", "J.ENUM"),
    ("an unknown member", "{\"index\"", "{\"a\":1,\"index\"", "J.UNKNOWN_FIELD"),
    ("a missing member", ",\"timestamps\":[]", "", "J.MISSING_FIELD"),
    (
        "a repeated member",
        ",\"timestamps\":[]",
        ",\"timestamps\":[],\"timestamps\":[]",
        "J.DUP_KEY",
    ),
    ("a fraction", "\"index\":2", "\"index\":2.0", "J.NON_INTEGER"),
    ("a text for a number", "\"index\":2", "\"index\":\"2\"", "J.TYPE"),
    ("an integer over 2^53-1", "\"index\":2", "\"index\":9007199254740992", "J.INT_RANGE"),
    ("a second value", "\"timestamps\":[]}", "\"timestamps\":[]}{}", "J.SYNTAX"),
    ("half a surrogate pair", "\"log\":\"log", "\"log\":\"\\ud800", "J.LONE_SURROGATE"),
    (
        "bytes after base64 padding",
        "=\\n\u{2014} witness1",
        "==\\n\u{2014} witness1",
        "NOTE.SIGNATURE_BASE64",
    ),
];

#[test]
fn every_mutation_is_refused_with_its_code() {
    let world = World::new();
    let policy = world.policy();
    // Entry 2 is as deep in the tree as entries get, and has neighbours on both sides.
    let good = world.draft(2);
    let truth = entry(2);
    let expect = Expectations {
        digest: Some(truth.statement().digest),
        kind: Some(StatementKind::ChainHead),
        trail: truth.statement().trail.clone(),
        submitter: None,
    };
    assert_eq!(judge(&good.json(), &policy, &expect), [""; 0]);
    let mut wrong = Vec::new();
    for (name, edit, expected) in DRAFTS {
        let mut draft = good.clone();
        edit(&mut draft, &world);
        let codes = judge(&draft.json(), &policy, &expect);
        if codes != *expected {
            wrong.push(format!("{name}: {codes:?}"));
        }
    }
    let text = String::from_utf8(good.json()).unwrap();
    for (name, from, to, expected) in TEXTS {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{name}");
        let codes = judge(changed.as_bytes(), &policy, &expect);
        if codes != [*expected] {
            wrong.push(format!("{name}: {codes:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What must not matter, does not: order of lines, unknown keys, colliding names and key ids.
#[test]
fn what_may_vary_may() {
    let world = World::new();
    let policy = world.policy();
    let controls: &[(&str, Edit)] = &[
        ("lines in another order", |d, _| d.signatures.reverse()),
        ("a line twice", |d, _| d.signatures.push(d.signatures[0].clone())),
        ("all three witnesses", |d, w| d.sign(w, &[2, 1, 0])),
        ("grease under a foreign name", |d, _| {
            d.signatures.insert(0, signature("grease.invalid", KeyId::from_bytes([1; 4]), &[7; 9]));
        }),
        ("grease under the log's own name", |d, _| {
            let line = signature("log.example/test", KeyId::from_bytes([1; 4]), &[7; 64]);
            d.signatures.insert(0, line);
        }),
        ("the log's key id under another name", |d, _| {
            let line = signature("else.example", d.signatures[0].key_id(), &[7; 64]);
            d.signatures.insert(0, line);
        }),
        ("extra data", |d, _| d.extra = Some(vec![0; 100])),
        ("a witness that cosigned twice", |d, w| d.cosign(&w.witnesses[0], TIME + 9)),
        ("a state below what is shown", |d, _| d.state = "published"),
    ];
    for (name, edit) in controls {
        let mut draft = world.draft(2);
        edit(&mut draft, &world);
        assert_eq!(judge(&draft.json(), &policy, &Expectations::default()), [""; 0], "{name}");
    }
}

/// A receipt that never went through the reader gets the same checks.
#[test]
fn agreement_is_checked_beyond_the_reader() {
    let world = World::new();
    let mut receipt = world.draft(2).receipt();
    receipt.index = 3;
    receipt.log = "log.example/other".parse().unwrap();
    receipt.leaf_hash = leaf_hash(b"");
    let exam = examine_receipt(&receipt, &world.policy(), &Expectations::default());
    let codes: Vec<_> = exam.findings().iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["RCT.LEAF_HASH", "RCT.ORIGIN", "RCT.INDEX"]);
    assert!(exam.findings().iter().all(Finding::fails));
}

fn alter(line: &mut NoteSignature) {
    let mut bytes = line.bytes().to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    *line = signature(line.name().as_str(), line.key_id(), &bytes);
}

fn signature(name: &str, key_id: KeyId, bytes: &[u8]) -> NoteSignature {
    NoteSignature::new(name.parse().unwrap(), key_id, bytes.to_vec()).unwrap()
}

fn index(draft: &mut Draft, index: u64) {
    draft.index = index;
    draft.proof_index = index.to_string();
}

fn statement(draft: &mut Draft, member: &'static str, value: impl Into<Value<'static>>) {
    draft.statement.insert(member, value);
}

fn rehash(draft: &mut Draft) {
    let object: Object<'static> = draft.statement.clone();
    draft.leaf_hash = leaf_hash(&anchorlog_proto::json::canonical(&object.into())).to_string();
}
