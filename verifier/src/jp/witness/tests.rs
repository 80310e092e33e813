//! Sound chains, and chains changed in one thing.
#![allow(clippy::as_conversions, clippy::cast_possible_truncation, reason = "small numbers")]

use anchorlog_proto::Digest;
use anchorlog_proto::encoding::{hex_decode_array, hex_encode};
use anchorlog_proto::jp::witness::{
    AuditCheckpoint, StatementKind, TrailId, Unsigned, VerifiedStatement, WitnessSigner,
};

use super::testing::Say::{Checkpoint, Conflict, Retirement};
use super::testing::{Given, TRAIL, chain, checkpoint, keys, lines, long, signer, statement};
use super::{
    ChainFault, MAX_BYTES, MAX_KEYS, MAX_STATEMENTS, ReadingKind, Refusal, TrustedKeys,
    within_bytes,
};

#[test]
fn a_sound_chain_of_every_kind_reads() {
    let all = long();
    let reading = Given::of(&all).with_head(&all[5]).read().reading.unwrap();
    assert_eq!(reading.kind(), ReadingKind::Current);
    assert_eq!((reading.trail(), reading.continued_after()), (TRAIL, None));
    assert_eq!((reading.head_index(), reading.highest_index()), (Some(5), 5));
    assert_eq!(reading.latest_checkpoint(), &all[3]);
    assert_eq!(reading.last(), &all[5]);
    assert_eq!(reading.conflicts(), [3, 12]);
    assert!(reading.is_retired());

    let outcome = Given::of(&all[..3]).read();
    assert_eq!((outcome.lines, outcome.statements, outcome.checkpoints.len()), (3, 3, 2));
    let reading = outcome.reading.unwrap();
    assert_eq!((reading.kind(), reading.head_index()), (ReadingKind::Historical, None));
    assert_eq!(reading.latest_checkpoint(), &all[1], "a conflict does not move coverage back");
    assert!(!reading.is_retired());
}

#[test]
fn files_lines_and_spellings_are_free() {
    let all = long();
    let one = |at: usize| all[at].to_line();
    let spelled = one(2).replace("\"kind\"", "\"k\\u0069nd\"").replace(",\"", " ,\t\"");
    let given = Given {
        files: vec![
            format!("\n \t\r\n{}\r\n{spelled}\n\n{}", one(4), one(2)),
            String::new(),
            format!("  {}\n{}\n{}\n{}", one(1), one(0), one(0), one(3)),
        ],
        head: Some(format!("\n\n  {}  \n \n", one(5))),
        resume: None,
    };
    let reading = given.read().reading.unwrap();
    assert_eq!(reading, Given::of(&all).with_head(&all[5]).read().reading.unwrap());
    assert_eq!(given.read().statements, 6);
    assert_eq!(given.read().lines, 8);
    // White space within a statement counts as bytes alone.
    let wide = lines(&all).replacen(",\"", &format!(",{}\"", " ".repeat(9000)), 1);
    assert!(Given { files: vec![wide], ..Given::default() }.read().reading.is_some());
}

#[test]
fn heads_lie_in_the_chain_extend_it_or_are_not_reached() {
    let all = long();
    let with = |count: usize, head: usize| Given::of(&all[..count]).with_head(&all[head]);
    for (count, head, highest) in [(6, 5, 5), (6, 0, 5), (4, 2, 3), (5, 5, 5), (0, 0, 0)] {
        let reading = with(count, head).read().reading.unwrap();
        assert_eq!((reading.head_index(), reading.highest_index()), (Some(head as u64), highest));
    }
    assert_eq!(with(3, 4).faults(), [ChainFault::HeadUnreached]);
    assert_eq!(with(0, 4).faults(), [ChainFault::ChainBroken, ChainFault::HeadUnreached]);
    // One that is in the files as well isn't reached either.
    let mut given = with(3, 5);
    given.files.push(all[5].to_line());
    assert_eq!(given.faults(), [ChainFault::HeadUnreached]);
    // One index further, but of another chain.
    let other = statement(StatementKind::Checkpoint, checkpoint(90), 3, Some(*all[1].signature()));
    assert_eq!(Given::of(&all[..3]).with_head(&other).faults(), [ChainFault::ChainBroken]);
}

#[test]
fn a_set_that_is_no_chain_is_not_read_in_part() {
    let all = long();
    let without = |at: usize| {
        let mut left = all.clone();
        left.remove(at);
        Given::of(&left)
    };
    for at in 0..5 {
        assert_eq!(without(at).faults(), [ChainFault::ChainBroken], "without {at}");
        let fault = if at == 4 { ChainFault::HeadUnreached } else { ChainFault::ChainBroken };
        assert_eq!(without(at).with_head(&all[5]).faults(), [fault]);
    }
    assert!(without(5).read().reading.is_some(), "historical, as far as it was supplied");
    assert_eq!(Given::default().faults(), [ChainFault::ChainBroken]);
    assert_eq!(Given::of(&[]).faults(), [ChainFault::ChainBroken]);

    let signature = Some(*all[2].signature());
    let first = statement(StatementKind::Checkpoint, checkpoint(1), 0, signature);
    let unlinked = statement(StatementKind::Checkpoint, checkpoint(9), 1, None);
    let mislinked = statement(StatementKind::Checkpoint, checkpoint(9), 1, signature);
    for broken in [vec![first], vec![all[0], unlinked], vec![all[0], mislinked]] {
        assert_eq!(Given::of(&broken).faults(), [ChainFault::ChainBroken]);
    }
}

#[test]
fn every_kind_has_its_rule() {
    for says in [
        &[Checkpoint(5), Checkpoint(5)][..],
        &[Checkpoint(5), Checkpoint(4)],
        &[Checkpoint(5), Conflict(5), Checkpoint(5)],
        &[Conflict(1)],
        &[Retirement],
        &[Checkpoint(5), Conflict(6)],
        &[Checkpoint(5), Retirement, Checkpoint(6)],
        &[Checkpoint(5), Retirement, Retirement],
        &[Checkpoint(5), Retirement, Conflict(5)],
    ] {
        assert_eq!(Given::of(&chain(says)).faults(), [ChainFault::ChainBroken], "{says:?}");
    }
    // A conflict may repeat one, and name the digest that the witness holds: those are the witness' rules.
    let twice = chain(&[Checkpoint(5), Conflict(5), Conflict(5), Conflict(2)]);
    assert_eq!(Given::of(&twice).read().reading.unwrap().conflicts(), [5, 5, 2]);

    let start = chain(&[Checkpoint(5), Checkpoint(8)]);
    let previous = Some(*start[1].signature());
    let other = AuditCheckpoint::new(TRAIL, 8, Digest::of(b"another")).unwrap();
    for repeated in [checkpoint(5), other] {
        let end = statement(StatementKind::Retirement, repeated, 2, previous);
        let given = Given::of(&[start[0], start[1], end]);
        assert_eq!(given.faults(), [ChainFault::ChainBroken]);
    }
}

#[test]
fn two_statements_of_one_index_are_two_chains() {
    let all = long();
    let other = statement(StatementKind::Checkpoint, checkpoint(10), 1, Some(*all[0].signature()));
    let mut both = all.clone();
    both.push(other);
    let outcome = Given::of(&both).read();
    assert_eq!(Vec::from_iter(outcome.faults), [ChainFault::Equivocation]);
    let [finding] = outcome.found.list() else { panic!("{:?}", outcome.found) };
    assert_eq!(
        &*finding.detail,
        "line 7: another statement of index 1 than line 2 of file 1; both verify"
    );
    assert_eq!(outcome.checkpoints.len(), 4, "each is held against the trail all the same");
    // The head is one of the set.
    assert_eq!(Given::of(&all).with_head(&other).faults(), [ChainFault::Equivocation]);
    // A hole that a double leaves open is not looked for.
    both.remove(3);
    assert_eq!(Given::of(&both).faults(), [ChainFault::Equivocation]);
}

/// The first statement of `long`, as another signer or for another trail would have it.
fn foreign(signer: &WitnessSigner, trail: TrailId) -> VerifiedStatement {
    let body = *long()[0].body();
    let checkpoint = AuditCheckpoint::new(trail, 3, body.checkpoint.record_digest).unwrap();
    Unsigned { checkpoint, ..body }.sign(signer)
}

#[test]
fn a_statement_takes_the_first_finding_and_no_other() {
    let all = long();
    let (own, other) = (signer(), WitnessSigner::from_seed(&[8; 32]));
    let elsewhere = TrailId::from_bytes([9; 16]);
    let line = all[0].to_line();
    let flip = if line.contains("\"signature\":\"0") { "1" } else { "0" };
    let at = line.find("\"signature\":\"").unwrap() + 13;
    let mut forged = line.clone();
    forged.replace_range(at..=at, flip);
    for (instead, fault) in [
        (line.replace("\"kind\"", "\"king\""), ChainFault::Malformed),
        (line.replace('}', ""), ChainFault::Malformed),
        ("x".to_owned(), ChainFault::Malformed),
        (line.replace("\"index\":0", "\"index\":-0"), ChainFault::Malformed),
        (forged, ChainFault::SignatureInvalid),
        (line.replace("\"index\":0", "\"index\":7"), ChainFault::SignatureInvalid),
        (foreign(&other, TRAIL).to_line(), ChainFault::SignatureInvalid),
        (foreign(&other, elsewhere).to_line(), ChainFault::SignatureInvalid),
        (foreign(&own, elsewhere).to_line(), ChainFault::TrailMismatch),
    ] {
        // Instead of a statement, and beside a chain that is whole without it.
        let left = lines(&all[1..]);
        let given = Given { files: vec![instead.clone(), left], ..Given::default() };
        assert_eq!(given.faults(), [fault], "{instead}");
        let given = Given { files: vec![lines(&all), instead.clone()], ..Given::default() };
        assert_eq!(given.with_head(&all[5]).faults(), [fault], "{instead}");
        let given = Given { head: Some(instead.clone()), ..Given::of(&all) };
        assert_eq!(given.faults(), [fault], "{instead}");
    }
    assert_eq!(
        Given { files: vec![lines(&all), "x\ny\nx".to_owned()], ..Given::default() }
            .read()
            .found
            .list()
            .len(),
        3
    );
    for head in [String::new(), " \n\n".to_owned(), lines(&all[..2]), lines(&[all[0], all[0]])] {
        let given = Given { head: Some(head), ..Given::of(&all) };
        assert_eq!(given.faults(), [ChainFault::Malformed]);
    }
}

#[test]
fn a_signature_has_one_scalar() {
    // S + L is the same scalar, and a verifier that reduces it takes it.
    const L: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let all = long();
    let signature = all[0].signature().to_string();
    let mut bytes: [u8; 64] = hex_decode_array(&signature).unwrap();
    let mut carry = 0_u16;
    for (byte, more) in bytes[32..].iter_mut().zip(L) {
        carry += u16::from(*byte) + u16::from(more);
        *byte = (carry & 0xff) as u8;
        carry >>= 8;
    }
    assert_eq!(carry, 0);
    let line = all[0].to_line().replace(&signature, &hex_encode(&bytes));
    let given = Given { files: vec![line], ..Given::default() };
    assert_eq!(given.faults(), [ChainFault::SignatureInvalid]);
    let given = Given { files: vec![given.files[0].clone(), lines(&all)], ..Given::default() };
    assert_eq!(given.faults(), [ChainFault::SignatureInvalid]);
}

#[test]
fn steps_are_not_skipped_over() {
    use ChainFault::{Equivocation, Malformed, SignatureInvalid, TrailMismatch};
    let all = long();
    let other = statement(StatementKind::Checkpoint, checkpoint(10), 1, Some(*all[0].signature()));
    let mut given = Given::of(&[all[0], all[1], other]);
    given.files.push("x".to_owned());
    let key = WitnessSigner::from_seed(&[8; 32]);
    given.files.push(foreign(&key, TRAIL).to_line());
    given.files.push(foreign(&signer(), TrailId::from_bytes([9; 16])).to_line());
    // The head at index 5 is not reached, and nobody looks.
    let expected = [Malformed, SignatureInvalid, TrailMismatch, Equivocation];
    assert_eq!(given.with_head(&all[5]).faults(), expected);
}

#[test]
fn several_keys_are_one_reader() {
    let all = long();
    let second = WitnessSigner::from_seed(&[8; 32]);
    let both = TrustedKeys::new(&[*second.key().as_bytes(), *signer().key().as_bytes()]).unwrap();
    assert_eq!(both.keys().len(), 2);
    assert!(Given::of(&all).read_by(&both).unwrap().reading.is_some());
    // Two witnesses have two chains: together they are none.
    let mut mixed = Given::of(&all);
    mixed.files.push(foreign(&second, TRAIL).to_line());
    let faults = mixed.read_by(&both).unwrap().faults;
    assert_eq!(Vec::from_iter(faults), [ChainFault::Equivocation]);
    let none = TrustedKeys::new(&[]).unwrap();
    let faults = Given::of(&all).read_by(&none).unwrap().faults;
    assert_eq!(Vec::from_iter(faults), [ChainFault::SignatureInvalid]);
}

#[test]
fn keys_are_bounded_and_refused_in_their_order() {
    let good = *signer().key().as_bytes();
    let zero = [0; 32];
    let mut high = [0xff; 32];
    high[31] = 0x7f;
    let mut off = zero;
    off[0] = 2;
    assert!(TrustedKeys::new(&[good; MAX_KEYS]).is_ok());
    let refused = |keys: &[[u8; 32]]| TrustedKeys::new(keys).unwrap_err();
    // The count comes first.
    assert_eq!(refused(&[zero; MAX_KEYS + 1]), Refusal::KeysOverBound { given: 17 });
    for (keys, word, number) in [
        (vec![good, zero, high], "key-small-order", "2"),
        (vec![good, good, high, zero], "key-not-canonical", "3"),
        (vec![off, zero], "key-not-on-curve", "1"),
    ] {
        let refusal = refused(&keys);
        assert_eq!(refusal.as_str(), word);
        assert!(refusal.to_string().contains(&format!("key {number}")), "{refusal}");
        assert_eq!(refusal.finding().reason, Some(word));
    }
}

#[test]
fn bytes_are_bounded_at_the_limit_and_one_past() {
    assert_eq!(within_bytes([MAX_BYTES - 1, 1]), Ok(()));
    assert_eq!(within_bytes([MAX_BYTES - 1, 1, 1]), Err(Refusal::BytesOverBound));
    assert_eq!(within_bytes([u64::MAX, u64::MAX]), Err(Refusal::BytesOverBound));
    let all = long();
    let head = all[5].to_line();
    let bound = usize::try_from(MAX_BYTES).unwrap();
    let mut file = lines(&all);
    file.push_str(&"\n".repeat(bound - file.len() - head.len()));
    let mut given = Given { files: vec![file], head: Some(head), resume: None };
    assert!(given.read().reading.is_some());
    given.files[0].push('\n');
    assert_eq!(given.read_by(&keys()).unwrap_err(), Refusal::BytesOverBound);
}

#[test]
fn statements_are_bounded_at_the_limit_and_one_past() {
    let all = long();
    // Copies are one statement, and every one counts.
    let copies = (all[0].to_line() + "\n").repeat(MAX_STATEMENTS - 6);
    let mut given = Given { files: vec![copies, lines(&all[1..])], ..Given::default() };
    given = given.with_head(&all[5]);
    let outcome = given.read();
    assert_eq!((outcome.lines, outcome.statements), (MAX_STATEMENTS, 6));
    assert!(outcome.reading.is_some());
    given.files.push("x".to_owned());
    assert_eq!(given.read_by(&keys()).unwrap_err(), Refusal::StatementsOverBound);
    let short = Given { files: vec!["x\n".repeat(MAX_STATEMENTS + 1)], ..Given::default() };
    assert_eq!(short.read_by(&keys()).unwrap_err(), Refusal::StatementsOverBound);
    // The continuation's two are counted.
    let resumed = Given::default().after(&Given::of(&all[..5]).read());
    let copies = (all[5].to_line() + "\n").repeat(MAX_STATEMENTS - 2);
    let mut resumed = Given { files: vec![copies], ..resumed };
    assert!(resumed.read().reading.is_some());
    resumed.files[0].push('x');
    assert_eq!(resumed.read_by(&keys()).unwrap_err(), Refusal::StatementsOverBound);
}
