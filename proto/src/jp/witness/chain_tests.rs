//! The decision as a table, and any order of submissions as a property.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use proptest::prelude::*;

use super::super::key::WitnessSigner;
use super::*;

const TRAIL: TrailId = TrailId::from_bytes([9; 16]);

fn checkpoint(sequence: u64, record: &str) -> AuditCheckpoint {
    AuditCheckpoint::new(TRAIL, sequence, Digest::of(record.as_bytes())).unwrap()
}

fn submission(lines: &[(u64, &str)]) -> Submission {
    let line = |(sequence, record): &(u64, &str)| checkpoint(*sequence, record).to_line() + "\n";
    Submission::read(lines.iter().map(line).collect::<String>().as_bytes()).unwrap()
}

fn signer() -> WitnessSigner {
    WitnessSigner::from_seed(&[4; 32])
}

fn at(seconds: u64) -> WitnessedAt {
    WitnessedAt::from_unix_seconds(seconds).unwrap()
}

/// Does what a witness does: signs what the decision asks for.
fn answer(chain: &mut Chain, submission: &Submission, now: u64) -> Decision {
    let decision = chain.decide(submission);
    let next = match decision {
        Decision::Sign => Some((StatementKind::Checkpoint, *submission.last())),
        Decision::Conflict { conflict: ConflictStatement::First(offered), .. } => {
            Some((StatementKind::Conflict, offered))
        }
        _ => None,
    };
    if let Some((kind, checkpoint)) = next {
        chain.push(&chain.next(kind, checkpoint, at(now)).unwrap().sign(&signer())).unwrap();
    }
    decision
}

fn retire(chain: &mut Chain, now: u64) {
    let next = chain.next(StatementKind::Retirement, chain.latest().unwrap(), at(now)).unwrap();
    chain.push(&next.sign(&signer())).unwrap();
}

#[test]
fn the_order_of_the_answers() {
    let mut chain = Chain::new();
    let mut ask = |lines: &[(u64, &str)]| answer(&mut chain, &submission(lines), 100);
    assert_eq!(ask(&[(5, "a"), (10, "b")]), Decision::Sign);
    assert_eq!(ask(&[(20, "c")]), Decision::Sign);
    assert_eq!(ask(&[(10, "b")]), Decision::Held { index: 0 });
    // Lines before the last are not held, whatever they say.
    assert_eq!(ask(&[(5, "other"), (10, "b")]), Decision::Held { index: 0 });
    assert_eq!(ask(&[(15, "x")]), Decision::BelowHead { head: 1 });
    assert_eq!(ask(&[(5, "a")]), Decision::BelowHead { head: 1 });
    // A conflict of any line comes before what the last one is.
    let first = ConflictStatement::First(checkpoint(10, "y"));
    assert_eq!(ask(&[(10, "y"), (20, "c")]), Decision::Conflict { held: 0, conflict: first });
    let kept = ConflictStatement::Kept { index: 2 };
    assert_eq!(ask(&[(10, "z"), (30, "d")]), Decision::Conflict { held: 0, conflict: kept });
    // The first line in conflict, not the last.
    let both = Decision::Conflict { held: 0, conflict: kept };
    assert_eq!(ask(&[(10, "z"), (20, "z")]), both);
    let first = ConflictStatement::First(checkpoint(20, "z"));
    assert_eq!(ask(&[(20, "z"), (30, "d")]), Decision::Conflict { held: 1, conflict: first });
    assert_eq!(ask(&[(10, "b"), (20, "c"), (30, "d")]), Decision::Sign);
    assert_eq!(ask(&[(15, "x")]), Decision::BelowHead { head: 4 });
    retire(&mut chain, 100);
    for lines in [&[(10, "b")][..], &[(10, "q")], &[(15, "x")], &[(40, "e")]] {
        assert_eq!(chain.decide(&submission(lines)), Decision::Retired { index: 5 });
    }
    assert_eq!((chain.len(), chain.latest_sequence(), chain.conflicts()), (6, Some(30), 2));
    assert!(Chain::new().latest().is_none(), "nothing to retire");
}

#[test]
fn time_does_not_go_back() {
    let mut chain = Chain::new();
    answer(&mut chain, &submission(&[(1, "a")]), 1000);
    let next = chain.next(StatementKind::Checkpoint, checkpoint(2, "b"), at(10)).unwrap();
    assert_eq!(next.witnessed_at, at(1000));
    let next = chain.next(StatementKind::Checkpoint, checkpoint(2, "b"), at(1001)).unwrap();
    assert_eq!(next.witnessed_at, at(1001));
}

#[test]
fn only_what_continues_a_chain_is_taken() {
    let mut chain = Chain::new();
    for lines in [&[(10, "a")][..], &[(20, "b")]] {
        answer(&mut chain, &submission(lines), 100);
    }
    let next = chain.next(StatementKind::Checkpoint, checkpoint(30, "c"), at(100)).unwrap();
    let other = AuditCheckpoint::new(TrailId::from_bytes([8; 16]), 30, Digest::of(b"c")).unwrap();
    let kind = StatementKind::Conflict;
    let retirement = StatementKind::Retirement;
    let ten = checkpoint(10, "a");
    for (broken, expected) in [
        (Unsigned { checkpoint: other, ..next }, ChainBreak::Trail),
        (Unsigned { index: 3, ..next }, ChainBreak::Index { expected: 2, actual: 3 }),
        (Unsigned { index: 1, ..next }, ChainBreak::Index { expected: 2, actual: 1 }),
        (Unsigned { previous: None, ..next }, ChainBreak::Link),
        (Unsigned { checkpoint: checkpoint(20, "c"), ..next }, ChainBreak::Sequence),
        (Unsigned { kind, checkpoint: checkpoint(21, "c"), ..next }, ChainBreak::Conflict),
        (Unsigned { kind: retirement, checkpoint: ten, ..next }, ChainBreak::Retirement),
    ] {
        let before = chain.clone();
        assert_eq!(chain.push(&broken.sign(&signer())), Err(expected));
        assert_eq!(chain, before);
    }
    let first = Unsigned { index: 0, previous: None, ..next };
    for kind in [StatementKind::Conflict, StatementKind::Retirement] {
        let pushed = Chain::new().push(&Unsigned { kind, ..first }.sign(&signer()));
        assert!(pushed.is_err(), "{kind:?}");
    }
    retire(&mut chain, 100);
    assert_eq!(chain.push(&next.sign(&signer())), Err(ChainBreak::AfterRetirement));
}

proptest! {
    /// Whatever is submitted in whatever order: every statement that was signed continues the chain by
    /// the reader's rules (`push` holds each to them), a held line stays held by the same statement, and a
    /// sequence has at most one conflict.
    #[test]
    fn any_order_of_submissions_keeps_a_chain(
        steps in prop::collection::vec(
            (prop::collection::btree_map(1_u64..12, 0_u8..3, 1..4), 0_u64..50, prop::bool::weighted(0.03)),
            1..40,
        ),
    ) {
        let mut chain = Chain::new();
        let mut signed = BTreeMap::new();
        for (lines, now, retires) in steps {
            if retires && !chain.is_empty() && !chain.is_retired() {
                retire(&mut chain, now);
            }
            let records: Vec<(u64, String)> =
                lines.iter().map(|(sequence, record)| (*sequence, record.to_string())).collect();
            let lines: Vec<(u64, &str)> =
                records.iter().map(|(sequence, record)| (*sequence, record.as_str())).collect();
            let submission = submission(&lines);
            let (before, retired) = (chain.len(), chain.is_retired());
            match answer(&mut chain, &submission, now) {
                Decision::Sign => {
                    prop_assert!(!retired);
                    prop_assert_eq!(signed.insert(submission.last().line_digest(), before), None);
                    prop_assert_eq!(chain.latest_sequence(), Some(submission.last().sequence));
                }
                Decision::Held { index } => {
                    prop_assert_eq!(signed.get(&submission.last().line_digest()), Some(&index));
                    prop_assert_eq!(chain.len(), before);
                }
                Decision::Conflict { conflict: ConflictStatement::First(_), .. } => {
                    prop_assert_eq!(chain.len(), before + 1);
                }
                _ => prop_assert_eq!(chain.len(), before),
            }
        }
        let of_signed = u64::try_from(signed.len() + chain.conflicts()).unwrap();
        prop_assert_eq!(chain.len(), of_signed + u64::from(chain.is_retired()));
    }
}
