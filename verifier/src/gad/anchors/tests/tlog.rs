//! Inclusions in a log.

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::Checkpoint;
use anchorlog_proto::gad::anchor_file::TlogAnchor;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoint;
use anchorlog_proto::gad::policy::TimeSource;
use anchorlog_proto::merkle::{TreeSize, consistency, root};
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_proto::tlog_proof::TlogProof;

use super::{PLAN, ROOT};
use crate::gad::anchors::testing::{END, Log, ORIGIN, STRANGER, TSA_A, World};
use crate::gad::rules::r1_envelope::Predecessor;

/// The good anchor of the root, with a token.
fn good(world: &World) -> (Log, TlogAnchor) {
    let log = world.log(ROOT);
    let mut anchor = log.anchor(&log.checkpoint(), &[0, 1]);
    anchor.timestamps.push(TSA_A.token(&log.stamped(&anchor), END + 60, 10));
    (log, anchor)
}

fn judge_anchor(anchor: &TlogAnchor) -> Vec<String> {
    judge_bytes(anchor.to_bytes().unwrap())
}

/// The codes for a file, but for what always follows from a failure.
fn judge_bytes(bytes: Vec<u8>) -> Vec<String> {
    let mut world = World::new();
    world.add("anchors/log.json", ROOT, bytes);
    consequences(world.judge().codes())
}

fn consequences(mut codes: Vec<String>) -> Vec<String> {
    let before = codes.len();
    codes.retain(|code| code != "ANC.REQUIRED_MISSING" && code != "ANC.PRESENT_INVALID");
    // Both, or none of them.
    assert!(before == codes.len() || before == codes.len() + 2, "{codes:?}");
    codes
}

/// The file with one text in place of another.
fn replaced(from: &str, to: &str) -> Vec<u8> {
    let (_, anchor) = good(&World::new());
    let text = String::from_utf8(anchor.to_bytes().unwrap()).unwrap();
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1).into_bytes()
}

#[test]
fn a_good_anchor_is_verified() {
    let mut world = World::new();
    let (_, anchor) = good(&world);
    world.add("anchors/log.json", ROOT, anchor.to_bytes().unwrap());
    let judged = world.judge();
    assert_eq!(judged.codes(), [""; 0]);
    let report = &judged.outcome.anchors()[0];
    assert_eq!((report.time, report.operator.as_deref()), (Some(END + 60), Some(ORIGIN)));
}

#[test]
fn an_unknown_log_counts_for_nothing() {
    let mut world = World::new();
    let log = Log::new("log.example/other", 6, world.entry(ROOT));
    let mut anchor = log.anchor(&log.checkpoint(), &[]);
    anchor.timestamps.push(b"no token".to_vec());
    world.add("anchors/log.json", ROOT, anchor.to_bytes().unwrap());
    let judged = world.judge();
    let expected = ["(LOG.UNKNOWN)", "(ANC.UNTRUSTED_ISSUER)", "ANC.REQUIRED_MISSING"];
    assert_eq!(judged.codes(), expected);
    assert_eq!(judged.states(), ["unsupported"]);
    // Not even by a file that isn't of its form.
    let text = String::from_utf8(anchor.to_bytes().unwrap()).unwrap();
    world.files.insert("anchors/log.json".into(), text.replace("index 6", "index x").into_bytes());
    assert_eq!(world.judge().codes(), expected);
    // Nor does any log count without the text that names it.
    let mut world = World::new();
    let (_, anchor) = good(&world);
    world.add("anchors/log.json", ROOT, anchor.to_bytes().unwrap());
    world.trust.retain(|(name, _)| name != "logs");
    assert_eq!(world.judge().codes(), expected);
}

#[test]
fn files_have_to_be_of_their_form() {
    for (bytes, expected) in [
        (replaced("{", "{ "), vec!["J.NONCANONICAL", "LOG.CHECKPOINT"]),
        (b"[]".to_vec(), vec!["J.TYPE", "LOG.CHECKPOINT"]),
        (b"{".to_vec(), vec!["J.SYNTAX", "LOG.CHECKPOINT"]),
        (replaced("anchorlog.anchor/1", "anchorlog.anchor/2"), vec!["J.ENUM", "LOG.CHECKPOINT"]),
        (replaced("tlog-proof@v1", "tlog-proof@v2"), vec!["LOG.CHECKPOINT"]),
        (replaced("\\n7\\n", "\\n07\\n"), vec!["LOG.CHECKPOINT"]),
        (replaced("index 6", "index 06"), vec!["LOG.INDEX"]),
        (replaced("index 6", "index -1"), vec!["LOG.INDEX"]),
        (replaced("index 6", "index 7"), vec!["LOG.INDEX"]),
        (replaced("\"kind\"", "\"king\""), vec!["LOG.LEAF"]),
        (replaced("\"kind\":", "\"kind\": "), vec!["LOG.LEAF"]),
        (replaced("\"timestamps\":[\"MI", "\"timestamps\":[\"!I"), vec!["TSA.PARSE"]),
    ] {
        let codes = judge_bytes(bytes);
        assert_eq!(codes, expected);
    }
    let hash = Digest::of(b"hash").to_base64();
    let many = format!("index 6\\n{}", format!("{hash}\\n").repeat(64));
    assert_eq!(judge_bytes(replaced("index 6\\n", &many)), ["LOG.PROOF_LENGTH"]);
    let long = format!("@v1\\nextra {}", "A".repeat(64 << 10));
    assert_eq!(judge_bytes(replaced("@v1", &long)), ["LOG.CHECKPOINT"]);
}

#[test]
fn the_statement_is_about_this_value() {
    let world = World::new();
    let (value, plan) = (world.target(ROOT), world.target(PLAN).to_string());
    let statement = |kind, digest| Statement::new(kind, digest);
    let anchored = |statement: Statement| {
        let log = Log::new(ORIGIN, 6, LogEntry::unsigned(statement).unwrap());
        let mut anchor = log.anchor(&log.checkpoint(), &[0, 1]);
        anchor.timestamps.push(TSA_A.token(&log.stamped(&anchor), END + 60, 10));
        judge_anchor(&anchor)
    };
    assert_eq!(anchored(statement(StatementKind::CoreRoot, value)), [""; 0]);
    let in_trail = |trail: &str| {
        statement(StatementKind::CoreRoot, value).in_trail(trail.parse().unwrap(), Some(3))
    };
    assert_eq!(anchored(in_trail(&plan)), [""; 0]);
    assert_eq!(anchored(in_trail("other")), ["LOG.LEAF"]);
    assert_eq!(anchored(statement(StatementKind::ChainHead, value)), ["LOG.LEAF"]);
    let both = statement(StatementKind::Digest, Digest::of(b"other"));
    assert_eq!(anchored(both), ["LOG.LEAF", "LOG.LEAF"]);
}

#[test]
fn signatures_quorum_and_inclusion_are_looked_at_whatever_fails() {
    let world = World::new();
    let (log, anchor) = good(&world);
    let with = |checkpoint: &Checkpoint, witnesses: &[usize]| {
        let mut made = log.anchor(checkpoint, witnesses);
        made.timestamps.push(TSA_A.token(&log.stamped(&made), END + 60, 10));
        made
    };
    assert_eq!(judge_anchor(&with(&log.checkpoint(), &[1])), ["LOG.QUORUM"]);
    // Another root, well signed.
    let mut checkpoint = log.checkpoint();
    checkpoint.root = Digest::of(b"other");
    assert_eq!(judge_anchor(&with(&checkpoint, &[0, 2])), ["LOG.INCLUSION"]);
    assert_eq!(judge_anchor(&with(&checkpoint, &[])), ["LOG.QUORUM", "LOG.INCLUSION"]);
    // Too few hashes.
    let mut short = anchor.clone();
    let hashes = anchor.proof.hashes()[1..].to_vec();
    short.proof = TlogProof::new(6, hashes, anchor.proof.checkpoint().clone()).unwrap();
    assert_eq!(judge_anchor(&short), ["LOG.PROOF_LENGTH"]);
    // A witness's line over another text: the note isn't what it says.
    let mut wrong = log.anchor(&log.checkpoint(), &[0, 1]);
    let line = log.witnesses[2].cosign(&checkpoint.to_text(), 1).unwrap();
    let note = wrong.proof.checkpoint().clone().with_signature(line).unwrap();
    wrong.proof = TlogProof::new(6, wrong.proof.hashes().to_vec(), note).unwrap();
    wrong.timestamps = anchor.timestamps.clone();
    assert_eq!(judge_anchor(&wrong), ["LOG.COSIGNATURE", "LOG.QUORUM"]);
    // Another key under the log's name, and nothing of the log.
    let mut stranger = Log::new(ORIGIN, 6, world.entry(ROOT));
    stranger.signer =
        anchorlog_proto::note::NoteSigner::from_seed(ORIGIN.parse().unwrap(), [99; 32]);
    let forged = stranger.anchor(&stranger.checkpoint(), &[0, 1]);
    assert_eq!(judge_anchor(&forged), ["LOG.SIG"]);
}

#[test]
fn tokens_over_the_checkpoint_have_to_hold_if_their_authority_is_known() {
    let world = World::new();
    let (log, mut anchor) = good(&world);
    anchor.timestamps.push(STRANGER.token(&Digest::of(b"whatever"), END, 10));
    assert_eq!(judge_anchor(&anchor), [""; 0]);
    // The earliest counts.
    anchor.timestamps.push(TSA_A.token(&log.stamped(&anchor), END + 50, 10));
    let mut world = World::new();
    world.add("anchors/log.json", ROOT, anchor.to_bytes().unwrap());
    assert_eq!(world.judge().outcome.anchors()[0].time, Some(END + 50));
    // Over the whole note, with its cosignatures.
    let note = Digest::of(&anchor.proof.checkpoint().to_bytes());
    anchor.timestamps.push(TSA_A.token(&note, END + 60, 10));
    assert_eq!(judge_anchor(&anchor), ["TSA.IMPRINT"]);
    anchor.timestamps.pop();
    anchor.timestamps.push(b"no token".to_vec());
    assert_eq!(judge_anchor(&anchor), ["TSA.PARSE"]);
}

#[test]
fn cosignatures_tell_time_where_the_policy_says_so() {
    let mut world = World::new();
    let log = world.log(ROOT);
    let anchor = log.anchor(&log.checkpoint(), &[0, 2, 1]);
    world.add("anchors/log.json", ROOT, anchor.to_bytes().unwrap());
    let judged = world.judge();
    assert_eq!(judged.codes(), ["ANC.NO_TRUSTED_TIME"]);
    assert_eq!(judged.states(), ["verified"]);
    world.policy.time_sources = vec![TimeSource::Cosignature];
    let judged = world.judge();
    assert_eq!(judged.codes(), [""; 0]);
    // The second of three had cosigned by then.
    assert_eq!(judged.outcome.anchors()[0].time, Some(END + 1));
}

#[test]
fn one_log_with_two_trees_of_one_size() {
    let mut world = World::new();
    let log = world.log(ROOT);
    let mut other = Log::new(ORIGIN, 6, world.entry(ROOT));
    other.entries.swap(0, 1);
    for (path, log) in [("anchors/a.json", &log), ("anchors/b.json", &other)] {
        let mut anchor = log.anchor(&log.checkpoint(), &[0, 1]);
        anchor.timestamps.push(TSA_A.token(&log.stamped(&anchor), END + 60, 10));
        world.add(path, ROOT, anchor.to_bytes().unwrap());
    }
    let judged = world.judge();
    let expected =
        ["LOG.SPLIT_VIEW", "ANC.PRESENT_INVALID", "ANC.PRESENT_INVALID", "ANC.REQUIRED_MISSING"];
    assert_eq!(judged.codes(), expected);
    assert_eq!(judged.states(), ["failed", "failed"]);
    // What the log didn't sign proves nothing about it.
    other.signer = anchorlog_proto::note::NoteSigner::from_seed(ORIGIN.parse().unwrap(), [99; 32]);
    let forged = other.anchor(&other.checkpoint(), &[0, 1]).to_bytes().unwrap();
    world.files.insert("anchors/b.json".into(), forged);
    assert_eq!(world.judge().codes(), ["LOG.SIG", "ANC.PRESENT_INVALID"]);
}

#[test]
fn what_a_log_signed_in_an_earlier_envelope_is_compared() {
    let mut world = World::new();
    let (log, anchor) = good(&world);
    let mut fork = log.clone();
    fork.entries.swap(0, 1);
    let mut earlier = Predecessor::of_manifest(Digest::of(b"E0"), world.envelope.clone());
    world.add("anchors/log.json", ROOT, anchor.to_bytes().unwrap());
    earlier.manifest.anchors = world.envelope.anchors.clone();
    let add = |earlier: &mut Predecessor, log: &Log| {
        let bytes = log.anchor(&log.checkpoint(), &[]).to_bytes().unwrap();
        earlier.anchors.insert("anchors/log.json".into(), bytes);
    };
    // The manifest alone, the same tree, the other one.
    world.predecessors = vec![earlier.clone()];
    assert_eq!(world.judge().codes(), [""; 0]);
    add(&mut earlier, &log);
    world.predecessors = vec![earlier.clone()];
    assert_eq!(world.judge().codes(), [""; 0]);
    add(&mut earlier, &fork);
    world.predecessors = vec![earlier.clone()];
    let judged = world.judge();
    assert_eq!(consequences(judged.codes()), ["LOG.SPLIT_VIEW"]);
    assert_eq!(judged.states(), ["failed"]);
    // What the log didn't sign proves nothing about it.
    let mut forged = fork.clone();
    forged.signer = anchorlog_proto::note::NoteSigner::from_seed(ORIGIN.parse().unwrap(), [99; 32]);
    add(&mut earlier, &forged);
    world.predecessors = vec![earlier.clone()];
    assert_eq!(world.judge().codes(), [""; 0]);

    // Two earlier envelopes contradict each other; this one holds neither of the two.
    let mut world = World::new();
    world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
    for log in [&log, &fork] {
        add(&mut earlier, log);
        world.predecessors.push(earlier.clone());
    }
    let judged = world.judge();
    assert_eq!(judged.codes(), ["LOG.SPLIT_VIEW"]);
    assert_eq!(judged.states(), ["verified"]);
    assert!(judged.outcome.required().is_none());
}

#[test]
fn what_the_caller_remembers_is_compared() {
    let mut world = World::new();
    let (log, anchor) = good(&world);
    world.add("anchors/log.json", ROOT, anchor.to_bytes().unwrap());
    let tree = log.tree();
    let size = |number| TreeSize::new(number).unwrap();
    let remember = |number, root, consistency| {
        vec![KnownCheckpoint {
            origin: ORIGIN.parse().unwrap(),
            size: size(number),
            root,
            consistency,
        }]
    };
    let root_at = |number| root(&tree, size(number)).unwrap();
    let proof = consistency::prove(&tree, size(3), size(7)).unwrap().unwrap();
    for (known, expected) in [
        (remember(7, root_at(7), None), vec![]),
        (remember(7, root_at(7), Some(Vec::new())), vec![]),
        (remember(7, root_at(6), None), vec!["LOG.SPLIT_VIEW"]),
        (remember(8, Digest::of(b"later"), None), vec!["(LOG.ROLLBACK)"]),
        (remember(3, Digest::of(b"unproven"), None), vec![]),
        (remember(3, root_at(3), Some(proof.clone())), vec![]),
        (remember(3, root_at(4), Some(proof.clone())), vec!["LOG.CONSISTENCY"]),
        (remember(3, root_at(3), Some(Vec::new())), vec!["LOG.CONSISTENCY"]),
    ] {
        world.known.checkpoints = known;
        assert_eq!(consequences(world.judge().codes()), expected);
    }
    world.known.checkpoints = remember(7, root_at(6), None);
    world.known.checkpoints[0].origin = "log.example/other".parse().unwrap();
    assert_eq!(world.judge().codes(), [""; 0]);
}

#[test]
fn a_proof_of_consistency_is_for_one_of_several_anchors() {
    let mut world = World::new();
    let (log, anchor) = good(&world);
    world.add("anchors/a.json", ROOT, anchor.to_bytes().unwrap());
    let mut larger = world.log(ROOT);
    larger.entries.insert(0, log.entries[0].clone());
    larger.entries.rotate_left(1);
    larger.entries = [&log.entries[..], &log.entries[6..]].concat();
    let mut second = larger.anchor(&larger.checkpoint(), &[0, 1]);
    second.timestamps.push(TSA_A.token(&larger.stamped(&second), END + 60, 10));
    world.add("anchors/b.json", ROOT, second.to_bytes().unwrap());
    let size = |number| TreeSize::new(number).unwrap();
    world.known.checkpoints = vec![KnownCheckpoint {
        origin: ORIGIN.parse().unwrap(),
        size: size(3),
        root: root(&log.tree(), size(3)).unwrap(),
        consistency: consistency::prove(&log.tree(), size(3), size(7)).unwrap().ok(),
    }];
    assert_eq!(world.judge().codes(), [""; 0]);
}
