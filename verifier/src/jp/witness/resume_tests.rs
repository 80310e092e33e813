//! A chain read in steps comes to what it comes to as a whole.
#![allow(clippy::as_conversions, reason = "small numbers")]

use super::testing::Say::{Checkpoint, Conflict, Retirement};
use super::testing::{Given, chain, checkpoint, keys, long, statement};
use super::{ChainFault, Outcome, ReadingKind, Refusal};
use anchorlog_proto::jp::witness::{Continuation, StatementKind, VerifiedStatement};

/// The first statements read, to go on from.
fn read(statements: &[VerifiedStatement]) -> Outcome {
    Given::of(statements).read()
}

#[test]
fn steps_come_to_what_the_whole_comes_to() {
    let all = long();
    let whole = Given::of(&all).with_head(&all[5]).read().reading.unwrap();
    for cut in 1..=all.len() {
        let (before, after) = all.split_at(cut);
        let outcome = Given::of(after).with_head(&all[5]).after(&read(before)).read();
        let reading = outcome.reading.unwrap();
        assert_eq!(reading.continued_after(), Some(cut as u64 - 1));
        assert_eq!(reading.kind(), ReadingKind::Current);
        assert_eq!(reading.last(), whole.last());
        assert_eq!(reading.latest_checkpoint(), whole.latest_checkpoint());
        assert_eq!(reading.continuation(), whole.continuation());
        assert_eq!(reading.is_retired(), whole.is_retired());
        // The continuation's latest checkpoint is held against the trail again.
        let latest = *read(before).reading.unwrap().latest_checkpoint();
        assert_eq!(outcome.checkpoints.first(), Some(&latest));
    }
    // One statement at a time.
    let mut so_far = read(&all[..1]);
    let mut conflicts: Vec<u64> = Vec::new();
    for statement in &all[1..] {
        so_far = Given::of(&[*statement]).after(&so_far).read();
        conflicts.extend(so_far.reading.as_ref().unwrap().conflicts());
    }
    assert_eq!(so_far.reading.unwrap().continuation(), whole.continuation());
    assert_eq!(conflicts, whole.conflicts());
}

#[test]
fn steps_find_what_the_whole_finds() {
    for says in [
        &[Checkpoint(5), Checkpoint(5), Checkpoint(7)][..],
        &[Checkpoint(5), Checkpoint(8), Conflict(9), Conflict(4)],
        &[Checkpoint(5), Conflict(2), Conflict(6)],
        &[Checkpoint(5), Retirement, Checkpoint(6)],
        &[Checkpoint(5), Retirement, Retirement],
    ] {
        let all = chain(says);
        let whole = Given::of(&all).faults();
        assert_eq!(whole, [ChainFault::ChainBroken], "{says:?}");
        for cut in 1..all.len() {
            let (before, after) = all.split_at(cut);
            let first = read(before);
            if first.reading.is_some() {
                assert_eq!(Given::of(after).after(&first).faults(), whole, "{says:?} at {cut}");
            } else {
                assert_eq!(Vec::from_iter(first.faults), whole, "{says:?} at {cut}");
            }
        }
    }
    // A conflict at 100 after checkpoints at 100 and 200 passes either way.
    let all = chain(&[Checkpoint(100), Checkpoint(200), Conflict(100)]);
    let reading = Given::of(&all[2..]).after(&read(&all[..2])).read().reading.unwrap();
    assert_eq!(reading.conflicts(), [100]);
    assert_eq!(reading.latest_checkpoint(), &all[1]);
}

#[test]
fn a_step_begins_right_after_the_one_before() {
    let all = long();
    let first = read(&all[..3]);
    let after = |statements: &[VerifiedStatement]| Given::of(statements).after(&first);
    assert_eq!(after(&all[4..]).faults(), [ChainFault::ChainBroken], "a hole");
    let unlinked = statement(StatementKind::Checkpoint, checkpoint(50), 3, None);
    assert_eq!(after(&[unlinked]).faults(), [ChainFault::ChainBroken]);
    for (number, supplied) in [(1, &all[2..]), (1, &all[..])] {
        let refusal = after(supplied).read_by(&keys()).unwrap_err();
        assert_eq!(refusal.as_str(), "statement-before-continuation");
        let Refusal::BeforeContinuation { file, line, last, .. } = refusal else { panic!() };
        assert_eq!((file, line, last), (number, 1, 2));
    }
    // Nothing new is a reading too, and not a current one.
    let reading = after(&[]).read().reading.unwrap();
    assert_eq!((reading.kind(), reading.highest_index()), (ReadingKind::Historical, 2));
}

#[test]
fn a_head_is_judged_against_the_continuation() {
    let all = long();
    let first = read(&all[..3]);
    let with = |count: usize, head: &VerifiedStatement| {
        Given::of(&all[3..count]).with_head(head).after(&first)
    };
    for (count, head, highest) in [(3, 2, 2), (3, 3, 3), (5, 2, 4), (6, 5, 5), (6, 3, 5)] {
        let reading = with(count, &all[head]).read().reading.unwrap();
        assert_eq!((reading.head_index(), reading.highest_index()), (Some(head as u64), highest));
    }
    assert_eq!(with(3, &all[4]).faults(), [ChainFault::HeadUnreached]);
    assert_eq!(with(3, &all[0]).faults(), [ChainFault::HeadBehind]);
    assert_eq!(with(6, &all[1]).faults(), [ChainFault::HeadBehind]);
    let other = statement(StatementKind::Checkpoint, checkpoint(70), 2, Some(*all[1].signature()));
    assert_eq!(with(3, &other).faults(), [ChainFault::Equivocation]);
    // At the index of its latest checkpoint as well.
    let other = statement(StatementKind::Checkpoint, checkpoint(70), 1, Some(*all[0].signature()));
    assert_eq!(with(3, &other).faults(), [ChainFault::Equivocation]);
    // One statement that is last and latest, and head: nothing else is there.
    let one = read(&all[..2]);
    let reading = Given::of(&[]).with_head(&all[1]).after(&one).read().reading.unwrap();
    assert_eq!(reading.kind(), ReadingKind::Current);
}

#[test]
fn a_continuation_is_checked_like_any_statement() {
    let all = long();
    let given = |text: String| Given { resume: Some(text), ..Given::of(&all[5..]) };
    let saved = |last: usize, latest: usize| Continuation::of(&all[last], &all[latest]).to_line();
    assert!(given(saved(4, 3)).read().reading.is_some());
    for (last, latest) in [(4, 5), (4, 2), (4, 4), (3, 1), (1, 3), (4, 1)] {
        let given = Given { files: Vec::new(), ..given(saved(last, latest)) };
        assert_eq!(given.faults(), [ChainFault::ChainBroken], "{last} after {latest}");
    }
    let line = saved(4, 3);
    assert_eq!(
        given(line.replace("\"1\",\"last\"", "\"2\",\"last\"")).faults(),
        [ChainFault::Malformed]
    );
    assert_eq!(given("{}".to_owned()).faults(), [ChainFault::Malformed]);
    let forged = line.replacen("\"index\":4", "\"index\":3", 1);
    assert_eq!(given(forged).faults(), [ChainFault::SignatureInvalid]);
}
