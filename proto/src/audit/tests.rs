//! Audits: what is written is read, and nothing else is.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failing test may panic")]

use super::*;
use crate::checkpoint::Checkpoint;
use crate::merkle::Frontier;
use crate::note::NoteSigner;
use crate::signed_object::SigningKey;
use crate::statement::{LogEntry, Statement, StatementKind, Trail};

fn log() -> NoteSigner {
    NoteSigner::from_seed("log.example".parse().unwrap(), [1; 32])
}

fn auditor() -> SigningKey {
    SigningKey::from_seed(&[2; 32])
}

fn trail(name: &str) -> Trail {
    name.parse().unwrap()
}

fn entry(kind: StatementKind, number: u64, place: Option<(&str, Option<u64>)>) -> LogEntry {
    let statement = Statement::new(kind, Digest::of(&number.to_be_bytes()));
    let statement = match place {
        Some((name, sequence)) => statement.in_trail(trail(name), sequence),
        None => statement,
    };
    LogEntry::unsigned(statement).unwrap()
}

/// An audit of this log, from its beginning.
fn audit_of(entries: &[LogEntry], subject: Subject) -> AuditBody {
    let mut tree = Frontier::new();
    let mut collector = Collector::new(subject);
    for (index, entry) in (0..).zip(entries) {
        tree.push(entry.leaf_hash()).unwrap();
        collector.push(index, entry);
    }
    let checkpoint = Checkpoint::new("log.example".parse().unwrap(), tree.size(), tree.root());
    let subject = collector.subject().clone();
    let collected = collector.finish();
    AuditBody {
        log_key: log().verifier_key().clone(),
        checkpoint: SignedCheckpoint::sign(&checkpoint, &log()).unwrap(),
        from: Start::beginning(),
        subject,
        entries: collected.entries,
        entries_omitted: collected.entries_omitted,
        findings: collected.findings,
        findings_omitted: collected.findings_omitted,
        time: 1_784_541_600,
    }
}

fn story() -> Vec<LogEntry> {
    use StatementKind::{Attestation, ChainHead, CoreRoot, Digest, PlanCommitment};
    vec![
        entry(PlanCommitment, 0, Some(("t", None))),
        entry(Digest, 1, None),
        entry(ChainHead, 2, Some(("t", Some(2)))),
        entry(ChainHead, 3, Some(("t", Some(3)))),
        entry(ChainHead, 4, Some(("other", Some(3)))),
        entry(ChainHead, 5, Some(("t", Some(3)))),
        entry(CoreRoot, 6, Some(("t", None))),
        entry(Attestation, 7, Some(("t", None))),
        entry(CoreRoot, 8, Some(("t", None))),
        entry(CoreRoot, 6, Some(("t", Some(9)))),
    ]
}

fn body() -> AuditBody {
    audit_of(&story(), Subject::Trail(trail("t")))
}

fn found(body: &AuditBody) -> Vec<(AuditCode, Vec<u64>)> {
    body.findings.iter().map(|finding| (finding.code, finding.indexes.clone())).collect()
}

#[test]
fn what_is_signed_reads_back_and_verifies() {
    let body = body();
    let bytes = body.sign(&auditor()).unwrap();
    let audit = Audit::parse(&bytes).unwrap();
    assert_eq!(audit.body(), &body);
    assert_eq!(audit.signer(), auditor().id());
    audit.verify(&auditor().public_key()).unwrap();
    let error = audit.verify(&SigningKey::from_seed(&[3; 32]).public_key()).unwrap_err();
    assert_eq!(error.code(), "SIG.KEY_ID");
    assert!(audit.body().is_whole() && audit.body().covers(9) && !audit.body().covers(10));
    assert_eq!(audit.body().entry(7).unwrap().statement.kind, StatementKind::Attestation);
    assert_eq!(audit.body().entry(4), None);
}

#[test]
fn the_list_is_complete_and_says_what_it_shows() {
    let body = body();
    let indexes: Vec<_> = body.entries.iter().map(|entry| entry.index).collect();
    assert_eq!(indexes, [0, 2, 3, 5, 6, 7, 8, 9]);
    assert_eq!(
        found(&body),
        [
            (AuditCode::HeadSuperseded, vec![2, 5]),
            (AuditCode::HeadSuperseded, vec![3, 5]),
            (AuditCode::SecondCoreRoot, vec![6, 8]),
            (AuditCode::SequenceConflict, vec![3, 5]),
        ]
    );
}

#[test]
fn a_commitment_without_a_root_is_named() {
    use StatementKind::{CoreRoot, PlanCommitment};
    let plan = Digest::of(&0_u64.to_be_bytes());
    let name = plan.to_string();
    let alone = vec![entry(PlanCommitment, 0, None), entry(PlanCommitment, 1, None)];
    let body = audit_of(&alone, Subject::Plan(plan));
    assert_eq!(found(&body), [(AuditCode::NoCoreRoot, vec![0])]);
    // The root stands in the plan's trail, the commitment in none.
    let mut rooted = alone;
    rooted.push(entry(CoreRoot, 2, Some((&name, None))));
    let body = audit_of(&rooted, Subject::Plan(plan));
    assert_eq!(found(&body), []);
    assert_eq!(body.entries.len(), 2);
    // Two plans in one trail.
    let two = [
        entry(PlanCommitment, 0, Some(("t", None))),
        entry(PlanCommitment, 1, Some(("t", None))),
        entry(CoreRoot, 2, Some(("t", None))),
    ];
    let body = audit_of(&two, Subject::Trail(trail("t")));
    assert_eq!(found(&body), [(AuditCode::CommitmentConflict, vec![0, 1])]);
}

#[test]
fn submitters_are_told_apart_by_their_keys() {
    let statement = || Statement::new(StatementKind::Digest, Digest::of(b"x"));
    let [one, other] = [7, 8].map(|seed| SigningKey::from_seed(&[seed; 32]));
    let entries = [
        LogEntry::signed(statement(), &one).unwrap(),
        LogEntry::signed(statement(), &other).unwrap(),
        LogEntry::unsigned(statement()).unwrap(),
    ];
    let body = audit_of(&entries, Subject::Submitter(other.id()));
    assert_eq!(body.entries.len(), 1);
    assert_eq!((body.entries[0].index, body.entries[0].signer), (1, Some(other.id())));
    let bytes = body.sign(&auditor()).unwrap();
    assert_eq!(Audit::parse(&bytes).unwrap().body(), &body);
}

#[test]
fn lists_are_bounded_and_what_is_left_out_is_counted() {
    let (most, listed) =
        (u64::try_from(MAX_ENTRIES).unwrap(), u64::try_from(MAX_FINDINGS).unwrap());
    let extra = 3;
    let entries: Vec<_> = (0..most + extra)
        .map(|number| entry(StatementKind::ChainHead, number, Some(("t", Some(number)))))
        .collect();
    let body = audit_of(&entries, Subject::Trail(trail("t")));
    assert_eq!((body.entries.len(), body.entries_omitted), (MAX_ENTRIES, extra));
    assert_eq!(body.findings.len(), MAX_FINDINGS);
    assert_eq!(body.findings_omitted, most + extra - 1 - listed);
    assert!(!body.is_whole());
    let bytes = body.sign(&auditor()).unwrap();
    assert!(bytes.len() < MAX_AUDIT_BYTES / 4, "{}", bytes.len());
    assert_eq!(Audit::parse(&bytes).unwrap().body(), &body);
}

/// The audit with one text replaced, signed anew so that only its form can be refused.
fn refusal(from: &str, to: &str) -> (String, String) {
    let bytes = body().sign(&auditor()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(from), "{from} isn't in {text}");
    let error = Audit::parse(text.replacen(from, to, 1).as_bytes()).unwrap_err();
    let pointer = match &error {
        AuditError::Json(error) => error.pointer.clone(),
        error => error.to_string(),
    };
    (error.code().to_owned(), pointer)
}

#[test]
fn the_form_is_closed() {
    let is = |(code, pointer): (String, String), expected: (&str, &str)| {
        assert_eq!((&*code, &*pointer), expected);
    };
    is(refusal("{\"body\":", "{ \"body\":"), ("J.NONCANONICAL", ""));
    is(refusal(r#""entries_omitted":0,"#, ""), ("J.MISSING_FIELD", "/body/entries_omitted"));
    is(refusal(r#""subject":"#, r#""sub":1,"subject":"#), ("J.UNKNOWN_FIELD", "/body/sub"));
    is(refusal(r#""audit""#, r#""adult""#), ("J.ENUM", "/body/type"));
    is(refusal("anchorlog.audit/1", "anchorlog.audit/2"), ("J.ENUM", "/body/schema"));
    is(
        refusal(r#""origin":"log.example""#, r#""origin":"log.exampl""#),
        ("J.ENUM", "/body/origin"),
    );
    is(refusal(r#""kind":"trail""#, r#""kind":"trial""#), ("J.ENUM", "/body/subject/kind"));
    is(
        refusal(r#""kind":"trail","value":"t""#, r#""kind":"trail","value":"""#),
        ("J.ENUM", "/body/subject/value"),
    );
    is(refusal("AUD.SECOND_CORE_ROOT", "AUD.THIRD_CORE_ROOT"), ("J.ENUM", "/body/findings/2/code"));
    is(
        refusal(r#""indexes":[2,5]"#, r#""indexes":[5,2]"#),
        ("J.ENUM", "/body/findings/0/indexes/1"),
    );
    is(refusal(r#""indexes":[2,5]"#, r#""indexes":[]"#), ("J.ENUM", "/body/findings/0/indexes"));
    is(
        refusal(r#""trail":"t"},{"digest""#, r#""trail":""},{"digest""#),
        ("J.ENUM", "/body/entries/0/trail"),
    );
    is(refusal("2026-", "2O26-"), ("J.TIME_FORM", "/body/time"));
}

#[test]
fn parts_have_to_agree() {
    let code = |change: fn(&mut AuditBody)| {
        let mut body = body();
        change(&mut body);
        let error = body.sign(&auditor()).unwrap_err();
        assert_eq!(error.code(), "AUD.FORM");
        error.to_string()
    };
    let said = |text: String, part: &str| assert!(text.contains(part), "{text}");
    said(code(|body| body.entries.swap(1, 2)), "above the one before");
    said(code(|body| body.entries[7].index = 10), "outside");
    said(code(|body| body.entries[0].statement.trail = Some(trail("u"))), "subject");
    said(code(|body| body.entries_omitted = 1), "omitted");
    said(code(|body| body.findings_omitted = 1), "omitted");
    said(code(|body| body.findings[0].indexes = vec![10]), "was not read");
    said(code(|body| body.from.root = body.root()), "starts at");
    said(code(|body| body.from.size = TreeSize::new(11).unwrap()), "starts at");
    said(
        code(|body| {
            body.from = Start { size: body.size(), root: empty_root() };
            body.entries.clear();
            body.findings.clear();
        }),
        "starts at",
    );
    said(
        code(|body| {
            let other = NoteSigner::from_seed("log.example".parse().unwrap(), [9; 32]);
            body.log_key = other.verifier_key().clone();
        }),
        "checkpoint",
    );
}

#[test]
fn an_audit_from_a_position_lists_what_comes_after() {
    let mut body = body();
    let before: Vec<_> = story().iter().take(5).map(LogEntry::leaf_hash).collect();
    let mut tree = Frontier::new();
    for hash in before {
        tree.push(hash).unwrap();
    }
    body.from = Start { size: tree.size(), root: tree.root() };
    assert!(body.sign(&auditor()).is_err());
    body.entries.retain(|entry| entry.index >= 5);
    body.findings.retain(|finding| finding.indexes.iter().all(|index| *index >= 5));
    let bytes = body.sign(&auditor()).unwrap();
    let audit = Audit::parse(&bytes).unwrap();
    assert!(!audit.body().is_whole() && !audit.body().covers(4) && audit.body().covers(5));
}

#[test]
fn subjects_have_one_spelling() {
    let plan = Digest::of(b"plan");
    for subject in
        [Subject::Plan(plan), Subject::Submitter(auditor().id()), Subject::Trail(trail("a:b"))]
    {
        assert_eq!(Subject::parse(subject.kind(), &subject.value()), Some(subject.clone()));
    }
    assert_eq!(Subject::parse("log", "x"), None);
    assert_eq!(Subject::parse("plan", "x"), None);
    assert!(Subject::Trail(plan.to_string().parse().unwrap()).includes_plan(&plan));
    assert!(!Subject::Submitter(auditor().id()).includes_plan(&plan));
}
