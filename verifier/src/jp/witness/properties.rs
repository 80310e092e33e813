//! What holds of every chain.
#![allow(clippy::as_conversions, reason = "small numbers")]

use anchorlog_proto::jp::witness::VerifiedStatement;
use proptest::prelude::*;

use super::ReadingKind;
use super::testing::Say::{Checkpoint, Conflict, Retirement};
use super::testing::{Given, Say, chain, lines};

/// A sound chain: what each statement is, by how far it goes beyond or below the latest checkpoint.
fn sound() -> impl Strategy<Value = Vec<VerifiedStatement>> {
    let more = prop::collection::vec((any::<bool>(), 1_u64..5), 0..9);
    (1_u64..5, more, any::<bool>()).prop_map(|(first, more, retired)| {
        let mut says = vec![Checkpoint(first)];
        let mut latest = first;
        for (checkpoint, by) in more {
            if checkpoint {
                latest += by;
                says.push(Checkpoint(latest));
            } else {
                says.push(Conflict(latest.saturating_sub(by).max(1)));
            }
        }
        if retired {
            says.push(Retirement);
        }
        chain(&says)
    })
}

/// A place in a chain, whatever its length.
fn place() -> impl Strategy<Value = prop::sample::Index> {
    any::<prop::sample::Index>()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_files_copies_and_blank_lines_change_nothing(
        all in sound(),
        order in prop::collection::vec((any::<u16>(), 0..3_usize), 24),
        copied in place(),
    ) {
        let head = all[all.len() - 1];
        let expected = Given::of(&all).with_head(&head).read().reading;
        let mut dealt = all.clone();
        dealt.push(all[copied.index(all.len())]);
        let mut dealt: Vec<_> = dealt.into_iter().zip(order).collect();
        dealt.sort_by_key(|(_, (at, _))| *at);
        let mut files = vec![String::new(), "\n".to_owned(), String::new()];
        for (statement, (at, file)) in dealt {
            let gap = if at % 3 == 0 { " \r\n" } else { "\n" };
            files[file] += &(statement.to_line() + gap);
        }
        let given = Given { files, ..Given::default() }.with_head(&head);
        prop_assert_eq!(given.read().reading, expected);
    }

    #[test]
    fn a_chain_without_one_statement_never_reads_up_to_the_head(all in sound(), gone in place()) {
        let head = all[all.len() - 1];
        let gone = gone.index(all.len());
        let mut left = all.clone();
        left.remove(gone);
        let outcome = Given::of(&left).with_head(&head).read();
        // The head itself is supplied with its own file.
        prop_assert_eq!(outcome.reading.is_some(), gone == all.len() - 1);
        // Without a head a chain can end early, and never begin late.
        let historical = Given::of(&left).read().reading;
        prop_assert_eq!(historical.is_some(), gone == all.len() - 1 && gone > 0);
        if let Some(reading) = historical {
            prop_assert_eq!(reading.kind(), ReadingKind::Historical);
            prop_assert_eq!(reading.highest_index(), gone as u64 - 1);
        }
    }

    #[test]
    fn a_chain_with_one_byte_changed_never_reads(all in sound(), at in place(), to in any::<u8>()) {
        let head = all[all.len() - 1];
        let mut bytes = lines(&all).into_bytes();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != to);
        let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        // A newline at an end may become another blank where nothing follows it.
        prop_assume!(!blank(bytes[at]) || !blank(to));
        bytes[at] = to;
        let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
        let given = Given { files: vec![text], ..Given::default() }.with_head(&head);
        prop_assert!(given.read().reading.is_none());
    }

    #[test]
    fn steps_and_the_whole_find_the_same(
        says in prop::collection::vec((0..5_u8, 1_u64..9), 1..7),
        gone in prop::option::of(place()),
        cut in place(),
    ) {
        // Sound or not, now and then with a hole.
        let say = |(kind, sequence): (u8, u64)| match kind {
            0..=2 => Checkpoint(sequence),
            3 => Conflict(sequence),
            _ => Retirement,
        };
        let says: Vec<Say> = says.into_iter().map(say).collect();
        let mut all = chain(&says);
        if let Some(gone) = gone {
            all.remove(gone.index(all.len()));
        }
        prop_assume!(!all.is_empty());
        let whole = Given::of(&all).read();
        let (before, after) = all.split_at(1 + cut.index(all.len()));
        let first = Given::of(before).read();
        if first.reading.is_some() {
            let second = Given::of(after).after(&first).read();
            prop_assert_eq!(&second.faults, &whole.faults);
            let end = |reading: &super::Reading| reading.continuation();
            prop_assert_eq!(second.reading.as_ref().map(end), whole.reading.as_ref().map(end));
        } else {
            prop_assert_eq!(&first.faults, &whole.faults);
        }
    }
}
