//! Audits in the small world of anchors: its log, read by an auditor.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use anchorlog_proto::audit::{AuditBody, Collector, MAX_ENTRIES, Start, Subject};
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::gad::envelope::ItemRow;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoint;
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::merkle::{TreeSize, root};
use anchorlog_proto::note::NoteSigner;
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};

use super::*;
use crate::gad::anchors::testing::{END, Log, ORIGIN, TSA_A, World};
use crate::gad::finding::Findings;

const ROOT: AnchorKind = AnchorKind::CoreRoot;

fn auditor() -> SigningKey {
    SigningKey::from_seed(&[77; 32])
}

/// An entry in the plan's trail.
fn said(world: &World, kind: StatementKind, digest: Digest) -> LogEntry {
    let trail = world.record.plan_hash.unwrap().to_string().parse().unwrap();
    LogEntry::unsigned(Statement::new(kind, digest).in_trail(trail, None)).unwrap()
}

/// What an auditor says who read this log.
fn read(log: &Log, subject: Subject) -> AuditBody {
    let mut collector = Collector::new(subject);
    for (index, entry) in (0..).zip(&log.entries) {
        collector.push(index, entry);
    }
    let subject = collector.subject().clone();
    let collected = collector.finish();
    AuditBody {
        log_key: log.signer.verifier_key().clone(),
        checkpoint: SignedCheckpoint::sign(&log.checkpoint(), &log.signer).unwrap(),
        from: Start::beginning(),
        subject,
        entries: collected.entries,
        entries_omitted: collected.entries_omitted,
        findings: collected.findings,
        findings_omitted: collected.findings_omitted,
        time: END + 100,
    }
}

fn of_plan(world: &World, log: &Log) -> AuditBody {
    read(log, Subject::Plan(world.record.plan_hash.unwrap()))
}

/// A world with an anchor of the root in its log, whose audit has nothing to say.
fn audited() -> (World, Log) {
    let mut world = World::new();
    let log = world.log(ROOT);
    let mut anchor = log.anchor(&log.checkpoint(), &[0, 1]);
    anchor.timestamps.push(TSA_A.token(&log.stamped(&anchor), END + 60, 10));
    world.add("anchors/log.json", ROOT, anchor.to_bytes().unwrap());
    (world, log)
}

fn report(world: &World, audits: &[Vec<u8>]) -> Vec<AuditReport> {
    let policy = world.load(&mut Findings::new());
    judge(&AuditInput {
        audits,
        auditors: &[auditor().public_key()],
        record: &world.record,
        envelope: Some(&world.envelope),
        files: &world.files,
        predecessors: &world.predecessors,
        policy: &policy,
        known: &world.known,
    })
}

fn codes(world: &World, body: &AuditBody) -> Vec<String> {
    let reports = report(world, &[body.sign(&auditor()).unwrap()]);
    assert_eq!(reports[0].state, AuditState::Accepted);
    let notes = reports[0].findings.iter().all(|finding| finding.affects == [Affect::Note]);
    assert!(notes, "an audit makes nothing false");
    reports[0].findings.iter().map(|finding| finding.code.to_string()).collect()
}

#[test]
fn an_audit_that_agrees_has_nothing_to_say() {
    let (world, log) = audited();
    assert_eq!(codes(&world, &of_plan(&world, &log)), [""; 0]);
    let trail = world.record.plan_hash.unwrap().to_string().parse().unwrap();
    assert_eq!(codes(&world, &read(&log, Subject::Trail(trail))), [""; 0]);
}

#[test]
fn what_the_record_does_not_have_is_told() {
    use StatementKind::{Attestation, ChainHead, CoreRoot, PlanCommitment};
    for (kind, digest, expected) in [
        (ChainHead, Digest::of(&[9]), &["AUD.LATER_HEAD"][..]),
        // A head of the record's own chain.
        (ChainHead, Digest::of(&[3]), &[]),
        (CoreRoot, Digest::of(b"other"), &["AUD.SECOND_CORE_ROOT"]),
        (Attestation, Digest::of(b"adverse"), &["AUD.ATTESTATION_LEFT_OUT"]),
        (PlanCommitment, Digest::of(b"another plan"), &["AUD.COMMITMENT_CONFLICT"]),
        (PlanCommitment, Digest::of(b"plan"), &[]),
    ] {
        let (mut world, mut log) = audited();
        log.entries.push(said(&world, kind, digest));
        assert_eq!(codes(&world, &of_plan(&world, &log)), expected, "{kind}");
        // The same attestation, listed.
        let item = ItemRow { path: "attestations/q.json".into(), digest };
        world.envelope.attestations.push(item);
        let left = if kind == Attestation { &[][..] } else { expected };
        assert_eq!(codes(&world, &of_plan(&world, &log)), left, "{kind}");
    }
}

#[test]
fn what_the_list_shows_by_itself_is_told() {
    let (world, mut log) = audited();
    let trail = || world.record.plan_hash.unwrap().to_string().parse().unwrap();
    for digest in [b"a", b"b"] {
        let statement = Statement::new(StatementKind::Digest, Digest::of(digest));
        log.entries.push(LogEntry::unsigned(statement.in_trail(trail(), Some(4))).unwrap());
    }
    assert_eq!(codes(&world, &of_plan(&world, &log)), ["AUD.SEQUENCE_CONFLICT"]);

    let mut world = World::new();
    let mut log = world.log(ROOT);
    *log.entries.last_mut().unwrap() =
        said(&world, StatementKind::PlanCommitment, world.record.plan_hash.unwrap());
    assert_eq!(codes(&world, &of_plan(&world, &log)), ["AUD.NO_CORE_ROOT"]);
    world.record.plan_hash = None;
    assert_eq!(codes(&world, &of_plan(&World::new(), &log)), ["AUD.SUBJECT"]);
}

#[test]
fn who_is_not_accepted_is_not_listened_to() {
    let (world, mut log) = audited();
    log.entries.push(said(&world, StatementKind::CoreRoot, Digest::of(b"other")));
    let body = of_plan(&world, &log);
    let good = body.sign(&auditor()).unwrap();
    let stranger = body.sign(&SigningKey::from_seed(&[78; 32])).unwrap();
    let text = String::from_utf8(good.clone()).unwrap();
    let forged = text.replace("\"entries_omitted\":0", "\"entries_omitted\":1").into_bytes();
    let changed = text.replace("2026-07-20T10:01:40Z", "2026-07-20T10:01:41Z").into_bytes();
    assert_ne!(changed, good);
    let reports = report(&world, &[stranger, changed, forged, b"{}".to_vec(), good]);
    let said: Vec<_> = reports
        .iter()
        .map(|report| {
            let codes: Vec<_> = report.findings.iter().map(|one| one.code.as_str()).collect();
            (report.state.as_str(), codes.join(" "))
        })
        .collect();
    let said: Vec<_> = said.iter().map(|(state, codes)| (*state, codes.as_str())).collect();
    assert_eq!(
        said,
        [
            ("not_accepted", "AUD.AUDITOR"),
            ("not_accepted", "AUD.AUDITOR"),
            ("unreadable", "AUD.FORM"),
            ("unreadable", "AUD.FORM"),
            ("accepted", "AUD.SECOND_CORE_ROOT"),
        ]
    );
    assert!(reports[3].claims.is_none() && reports[4].claims.is_some());
}

#[test]
fn an_audit_of_something_else_or_not_of_everything_says_so() {
    let (world, log) = audited();
    let other = Subject::Plan(Digest::of(b"another plan"));
    assert_eq!(codes(&world, &read(&log, other)), ["AUD.SUBJECT"]);
    let nobody = Subject::Submitter(auditor().id());
    assert_eq!(codes(&world, &read(&log, nobody)), ["AUD.SUBJECT"]);

    let mut later = of_plan(&world, &log);
    let size = |number| TreeSize::new(number).unwrap();
    let tree = log.tree();
    later.from = Start { size: size(3), root: root(&tree, size(3)).unwrap() };
    assert_eq!(codes(&world, &later), ["AUD.INCOMPLETE"]);
    // From after the anchor's entry.
    later.from = Start { size: size(7), root: later.root() };
    later.entries.clear();
    assert_eq!(codes(&world, &later), ["AUD.INCOMPLETE", "AUD.NOT_COVERED"]);

    // More than fits: what isn't listed may be beyond the end of the list.
    let (world, mut log) = audited();
    let anchored = log.entries.pop().unwrap();
    let filler = (0..u64::try_from(MAX_ENTRIES).unwrap())
        .map(|number| said(&world, StatementKind::Digest, Digest::of(&number.to_be_bytes())));
    log.entries.extend(filler);
    log.entries.push(anchored);
    let codes = codes(&world, &of_plan(&world, &log));
    assert!(codes.contains(&"AUD.INCOMPLETE".to_owned()), "{codes:?}");
}

#[test]
fn an_anchor_that_the_auditor_did_not_see_where_it_is() {
    let (world, log) = audited();
    let mut without = of_plan(&world, &log);
    without.entries.clear();
    assert_eq!(codes(&world, &without), ["AUD.ENTRY_DIFFERS"]);
    let mut other = of_plan(&world, &log);
    other.entries[0].leaf_hash = Digest::of(b"other");
    assert_eq!(codes(&world, &other), ["AUD.ENTRY_DIFFERS"]);
    // It isn't about the subject, so it needn't be listed.
    let submitter = Subject::Submitter(auditor().id());
    assert_eq!(codes(&world, &read(&log, submitter)), ["AUD.SUBJECT"]);
}

#[test]
fn checkpoints_that_contradict_the_audit_are_a_split_view() {
    let (mut world, log) = audited();
    let mut fork = world.log(ROOT);
    fork.entries.swap(0, 1);
    let split = of_plan(&world, &fork);
    assert_eq!(codes(&world, &split), ["LOG.SPLIT_VIEW"]);

    // The same in an earlier envelope, and in the caller's memory.
    let honest = of_plan(&world, &log);
    let forked = fork.anchor(&fork.checkpoint(), &[0, 1]).to_bytes().unwrap();
    let mut earlier = Predecessor::of_manifest(Digest::of(b"E0"), world.envelope.clone());
    earlier.anchors.insert("anchors/log.json".into(), forked);
    world.predecessors.push(earlier);
    assert_eq!(codes(&world, &honest), ["LOG.SPLIT_VIEW"]);
    world.predecessors.clear();
    assert_eq!(codes(&world, &honest), [""; 0]);
    world.known.checkpoints.push(KnownCheckpoint {
        origin: ORIGIN.parse().unwrap(),
        size: fork.checkpoint().size,
        root: fork.checkpoint().root,
        consistency: None,
    });
    assert_eq!(codes(&world, &honest), ["LOG.SPLIT_VIEW"]);
    world.known.checkpoints[0].origin = "log.example/other".parse().unwrap();
    assert_eq!(codes(&world, &honest), [""; 0]);

    // The position from which it was read is a tree of the log's too.
    let mut later = fork.clone();
    later.entries.push(said(&world, StatementKind::Digest, Digest::of(b"x")));
    let mut from = of_plan(&world, &later);
    from.from = Start { size: fork.checkpoint().size, root: fork.checkpoint().root };
    from.entries.retain(|entry| entry.index >= 7);
    let found = codes(&world, &from);
    assert_eq!(found, ["AUD.INCOMPLETE", "AUD.NOT_COVERED", "LOG.SPLIT_VIEW"]);
}

#[test]
fn a_log_that_the_policy_does_not_know_by_this_key() {
    let (mut world, mut log) = audited();
    log.signer = NoteSigner::from_seed(ORIGIN.parse().unwrap(), [99; 32]);
    assert_eq!(codes(&world, &of_plan(&world, &log)), ["AUD.LOG_UNKNOWN"]);
    // Nobody asked a policy: the auditor's word is all there is, and that is known.
    let policy = PolicyContext::load(
        &crate::gad::anchors::testing::input(None),
        &world.material(),
        &mut Findings::new(),
    );
    world.policy.logs = None;
    let bytes = of_plan(&world, &log).sign(&auditor()).unwrap();
    let reports = judge(&AuditInput {
        audits: &[bytes],
        auditors: &[auditor().public_key()],
        record: &world.record,
        envelope: None,
        files: &world.files,
        predecessors: &[],
        policy: &policy,
        known: &world.known,
    });
    assert_eq!(reports[0].findings, []);
}
