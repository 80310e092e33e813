//! Receipts that hold, and what is shown by them.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::known_checkpoints::{KnownCheckpoint, KnownCheckpoints};
use anchorlog_proto::note::NoteSigner;
use anchorlog_proto::receipt::ReceiptState;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_proto::tlog_policy::TlogPolicy;
use anchorlog_verifier::receipt::{
    Expectations, ReceiptExam, compare_views, examine_receipt, verify_receipt,
};

use crate::world::{ORIGIN, TIME, World, submitter};

fn codes(
    world: &World,
    draft: &crate::world::Draft,
    policy: &str,
    expect: &Expectations,
) -> Vec<String> {
    let policy = TlogPolicy::parse(policy.as_bytes()).unwrap();
    let exam = examine_receipt(&draft.receipt(), &policy, expect);
    assert_eq!(world.policy().logs(), policy.logs());
    exam.findings().iter().map(|finding| finding.code.to_string()).collect()
}

#[test]
fn every_entry_verifies() {
    let world = World::new();
    for (index, entry) in (0..).zip(&world.entries) {
        let receipt = world.draft(index).receipt();
        let statement = entry.statement();
        let expect = Expectations {
            digest: Some(statement.digest),
            kind: Some(statement.kind),
            trail: statement.trail.clone(),
            submitter: entry.signer().map(|_| submitter().public_key()),
        };
        let verified = verify_receipt(&receipt, &world.policy(), &expect).unwrap();
        assert_eq!(verified.origin().as_str(), ORIGIN);
        assert_eq!(verified.index(), index);
        assert_eq!(verified.tree().size.get(), 7);
        assert_eq!(verified.tree().root, world.checkpoint(7).root);
        assert_eq!(verified.entry(), entry);
        assert_eq!(verified.state(), ReceiptState::Witnessed);
        let witnesses: Vec<_> =
            verified.witnesses().iter().map(|w| (w.name.as_str(), w.unix_seconds)).collect();
        assert_eq!(witnesses, [("w1", TIME), ("w2", TIME + 1)]);
    }
}

#[test]
fn a_log_alone_shows_publication_and_says_so() {
    let world = World::new();
    let mut draft = world.draft(2);
    draft.sign(&world, &[]);
    draft.state = "published";
    let policy = world.policy_text_without_quorum();
    assert_eq!(codes(&world, &draft, &policy, &Expectations::default()), ["POLICY.UNWITNESSED"]);
    let parsed = TlogPolicy::parse(policy.as_bytes()).unwrap();
    let verified = verify_receipt(&draft.receipt(), &parsed, &Expectations::default()).unwrap();
    assert_eq!(verified.state(), ReceiptState::Published);
}

#[test]
fn a_state_below_what_is_shown_is_no_finding() {
    let world = World::new();
    let mut draft = world.draft(2);
    draft.state = "published";
    assert_eq!(codes(&world, &draft, &world.policy_text(), &Expectations::default()), [""; 0]);
}

#[test]
fn a_state_above_what_is_shown_is_one() {
    let world = World::new();
    let none = Expectations::default();
    let mut draft = world.draft(2);
    // Cosigned, but this policy asks nobody: nothing says how many make a quorum.
    let alone = world.policy_text_without_quorum();
    assert_eq!(codes(&world, &draft, &alone, &none), ["POLICY.UNWITNESSED", "RCT.STATE"]);
    draft.sign(&world, &[0]);
    assert_eq!(codes(&world, &draft, &world.policy_text(), &none), ["LOG.QUORUM", "RCT.STATE"]);
    draft.sign(&world, &[0, 1, 2]);
    draft.state = "anchored";
    draft.timestamps = vec![vec![0x30, 0], vec![0x30, 1, 0]];
    assert_eq!(
        codes(&world, &draft, &world.policy_text(), &none),
        ["TSA.UNCHECKED", "TSA.UNCHECKED"]
    );
}

#[test]
fn time_stamps_never_count_and_never_break() {
    let world = World::new();
    let mut draft = world.draft(2);
    draft.timestamps = vec![b"not even DER".to_vec()];
    let exam = examine_receipt(&draft.receipt(), &world.policy(), &Expectations::default());
    assert!(exam.holds());
    assert_eq!(exam.facts().timestamps.len(), 1);
    assert_eq!(exam.into_verified().unwrap().state(), ReceiptState::Witnessed);
}

#[test]
fn conflicts_are_reported_as_the_logs_word() {
    let world = World::new();
    let mut draft = world.draft(2);
    draft.conflicts = vec![4, 5];
    let exam = examine_receipt(&draft.receipt(), &world.policy(), &Expectations::default());
    assert!(exam.holds());
    assert_eq!(exam.findings()[0].code.as_str(), "RCT.CONFLICT_FLAGGED");
    assert!(exam.findings()[0].detail.ends_with("4, 5"));
}

#[test]
fn the_submitter_is_checked_with_a_key_and_only_noted_without() {
    let world = World::new();
    let policy = world.policy_text();
    let with = |index, key| {
        let expect = Expectations { submitter: key, ..Expectations::default() };
        codes(&world, &world.draft(index), &policy, &expect)
    };
    let other = anchorlog_proto::signed_object::SigningKey::from_seed(&[8; 32]);
    assert_eq!(with(4, None), ["STM.SIGNER_UNCHECKED"]);
    assert_eq!(with(4, Some(submitter().public_key())), [""; 0]);
    assert_eq!(with(4, Some(other.public_key())), ["STM.SIGNATURE_KEY"]);
    assert_eq!(with(3, Some(submitter().public_key())), ["STM.UNSIGNED"]);
}

#[test]
fn a_logged_statement_with_a_forged_signature_is_found_out() {
    // The log admitted what it should not have: the leaf is in the tree all the same.
    let world = World::new();
    let statement = Statement::new(StatementKind::Digest, world.entries[0].statement().digest);
    let signed = LogEntry::signed(statement, &submitter()).unwrap();
    let text = String::from_utf8(signed.leaf_bytes().to_vec()).unwrap();
    let forged = text.replace("\"digest\":\"sha256:6e", "\"digest\":\"sha256:6f");
    assert_ne!(text, forged);
    let forged = LogEntry::from_leaf(forged.as_bytes()).unwrap();
    let draft = world.draft_of_single(&forged);
    let expect =
        Expectations { submitter: Some(submitter().public_key()), ..Expectations::default() };
    assert_eq!(codes(&world, &draft, &world.policy_text(), &expect), ["STM.SIGNATURE"]);
}

#[test]
fn failures_say_every_reason_and_no_note() {
    let world = World::new();
    let mut draft = world.draft(4);
    draft.sign(&world, &[0]);
    draft.hashes.pop();
    let failure =
        verify_receipt(&draft.receipt(), &world.policy(), &Expectations::default()).unwrap_err();
    let codes: Vec<_> = failure.findings().iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["LOG.QUORUM", "LOG.PROOF_LENGTH", "RCT.STATE"]);
    let text = failure.to_string();
    assert!(text.starts_with("the receipt does not hold; LOG.QUORUM: "), "{text}");
}

/// The log shows another tree of seven: it signs it, and a receipt leads to it.
fn forked(world: &World) -> crate::world::Draft {
    let mut draft = world.draft_of_single(&world.entries[3]);
    draft.checkpoint.size = world.checkpoint(1).size;
    draft.sign(world, &[0, 1]);
    draft
}

#[test]
fn two_trees_of_one_size_in_two_receipts_are_a_split_view() {
    let world = World::new();
    let examine = |draft: &crate::world::Draft| {
        examine_receipt(&draft.receipt(), &world.policy(), &Expectations::default())
    };
    let none = KnownCheckpoints::default();
    let (one, other) = (world.draft_of_single(&world.entries[0]), forked(&world));
    let exams = [examine(&world.draft(2)), examine(&one), examine(&other), examine(&one)];
    assert!(exams.iter().all(ReceiptExam::holds), "each of them holds by itself");
    let found = compare_views(&exams, &none);
    let said: Vec<_> = found.iter().map(|(at, finding)| (*at, finding.code.as_str())).collect();
    assert_eq!(said, [(1, "LOG.SPLIT_VIEW"), (2, "LOG.SPLIT_VIEW")]);
    let roots = |at: usize| (found[at].1.expected.clone(), found[at].1.actual.clone());
    assert_eq!(roots(0), {
        let (expected, actual) = roots(1);
        (actual, expected)
    });
    // Equal trees, and trees of different sizes without a proof, say nothing.
    assert_eq!(compare_views(&exams[..2], &none), []);
    // What the log didn't sign proves nothing about it.
    let mut forged = forked(&world);
    forged.sign_with(&NoteSigner::from_seed(ORIGIN.parse().unwrap(), [99; 32]));
    assert_eq!(compare_views(&[examine(&one), examine(&forged)], &none), []);
    // A cosignature that fails spoils the receipt, and not the evidence.
    let mut spoilt = forked(&world);
    let text = world.checkpoint(7).to_text();
    spoilt.signatures.push(world.witnesses[2].cosign(&text, TIME).unwrap());
    let exams = [examine(&one), examine(&spoilt)];
    assert!(!exams[1].holds());
    assert_eq!(compare_views(&exams, &none).len(), 2);
}

#[test]
fn what_is_remembered_is_held_against_receipts() {
    let world = World::new();
    let receipt = world.draft(2).receipt();
    let exam = || examine_receipt(&receipt, &world.policy(), &Expectations::default());
    let remembered = |size: u64, root: Digest, consistency: Option<Vec<Digest>>| KnownCheckpoint {
        origin: ORIGIN.parse().unwrap(),
        size: world.checkpoint(size).size,
        root,
        consistency,
    };
    let root = |size| world.checkpoint(size).root;
    let proof = || Some(world.consistency(3, 7));
    for (known, expected) in [
        (remembered(7, root(7), None), None),
        (remembered(7, root(6), None), Some("LOG.SPLIT_VIEW")),
        (remembered(3, root(2), None), None),
        (remembered(3, root(3), proof()), None),
        (remembered(3, root(2), proof()), Some("LOG.CONSISTENCY")),
        (remembered(3, root(3), Some(Vec::new())), Some("LOG.CONSISTENCY")),
    ] {
        let known = KnownCheckpoints { checkpoints: vec![known] };
        let found = compare_views(&[exam()], &known);
        let codes: Vec<_> = found.iter().map(|(_, finding)| finding.code.as_str()).collect();
        assert_eq!(codes, expected.into_iter().collect::<Vec<_>>(), "{known:?}");
    }
    // A proof leads to one of several; and another log's memory says nothing.
    let older = world.draft_of_single(&world.entries[0]).receipt();
    let older = examine_receipt(&older, &world.policy(), &Expectations::default());
    let mut known = KnownCheckpoints {
        checkpoints: vec![remembered(1, root(1), Some(world.consistency(1, 7)))],
    };
    assert_eq!(compare_views(&[exam(), older], &known), []);
    known.checkpoints = vec![remembered(7, root(6), None)];
    known.checkpoints[0].origin = "log.example/other".parse().unwrap();
    assert_eq!(compare_views(&[exam()], &known), []);
}
