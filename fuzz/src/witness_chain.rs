//! Properties of the reader of a checkpoint witness' chain.

use std::io::BufReader;
use std::sync::LazyLock;

use anchorlog_proto::jp::witness::{Continuation, StatementKind, VerifiedStatement};
use anchorlog_verifier::jp::witness::{
    ChainFault, Outcome, Supplied, TrustedKeys, hold_records, read_chain,
};

use crate::witness_world::{TRAIL, Witnessed};

static WITNESSED: LazyLock<Witnessed> = LazyLock::new(Witnessed::new);

/// Chains of any statements. Bytes below 32 stand for a statement of the world or for where a file ends, so that
/// statements that verify come up often; others stand for themselves.
pub fn chain(bytes: &[u8]) {
    let files = spelled(bytes);
    let [first, second, head, resume] = files.each_ref().map(Vec::as_slice);
    let Some(outcome) = read(&[first, second], given(head), given(resume)) else { return };
    sound(&outcome);
    let turned = read(&[second, first], given(head), given(resume));
    let turned = turned.expect("the same lines");
    assert_eq!(turned.faults, outcome.faults);
    assert_eq!(turned.reading, outcome.reading);
    assert_eq!(turned.checkpoints, outcome.checkpoints);
    let Some(reading) = &outcome.reading else { return };
    let saved = reading.continuation();
    let line = saved.to_line();
    assert_eq!(Continuation::read(line.as_bytes()).expect("it is read back"), saved);
    let again = read(&[], None, Some(line.as_bytes())).expect("two statements");
    let again = again.reading.expect("what ended a chain goes on");
    assert_eq!(again.continuation(), saved);
    assert_eq!(again.is_retired(), reading.is_retired());
    // A head that isn't there any more makes a reading historical, and nothing worse.
    if reading.head_index().is_some() {
        let without = read(&[first, second, head], None, given(resume));
        assert!(without.is_none_or(|outcome| outcome.reading.is_some()));
    }
}

/// Copies of any lines, held to the world's checkpoints.
pub fn records(bytes: &[u8]) {
    let copy = recorded(bytes);
    let statements = WITNESSED.chain.iter();
    let signed = statements.filter(|one| one.body().kind == StatementKind::Checkpoint);
    let witnessed: Vec<_> = signed.map(|one| one.body().checkpoint).collect();
    let held = hold_records(TRAIL, &witnessed, &[], copy.as_slice()).expect("memory is read");
    let pieces = BufReader::with_capacity(5, copy.as_slice());
    let again = hold_records(TRAIL, &witnessed, &[], pieces).expect("memory is read");
    assert_eq!(format!("{held:?}"), format!("{again:?}"));
    // What is covered is what the witness saw, byte for byte.
    if let Some(through) = held.witnessed {
        let lines = usize::try_from(through).expect("a small number");
        let prefix: Vec<u8> =
            copy.split_inclusive(|byte| *byte == b'\n').take(lines).flatten().copied().collect();
        assert!(WITNESSED.copy().into_bytes().starts_with(&prefix));
    }
    assert_eq!(held.witnessed == Some(10), held.faults.is_empty());
}

/// A file without bytes wasn't given.
fn given(file: &[u8]) -> Option<&[u8]> {
    (!file.is_empty()).then_some(file)
}

fn sound(outcome: &Outcome) {
    assert_eq!(outcome.reading.is_some(), outcome.faults.is_empty());
    assert_eq!(outcome.found.is_empty(), outcome.faults.is_empty());
    assert!(outcome.statements <= outcome.lines);
    let own = |statement: &VerifiedStatement| WITNESSED.chain.contains(statement);
    assert!(outcome.checkpoints.iter().all(own), "the world's key signed nothing else");
    let Some(reading) = &outcome.reading else { return };
    assert!(own(reading.last()) && own(reading.latest_checkpoint()));
    assert!(!outcome.faults.contains(&ChainFault::ChainBroken));
    // Nothing that was signed is left out of what was read from the beginning.
    if reading.continued_after().is_none() {
        let expected = WITNESSED.chain.iter().filter(|statement| {
            let body = statement.body();
            body.kind == StatementKind::Checkpoint && body.index <= reading.highest_index()
        });
        assert!(outcome.checkpoints.iter().eq(expected));
    }
}

fn read(files: &[&[u8]], head: Option<&[u8]>, resume: Option<&[u8]>) -> Option<Outcome> {
    let keys = TrustedKeys::new(&[*WITNESSED.key.as_bytes()]).expect("a sound key");
    read_chain(&keys, &Supplied { trail: TRAIL, statements: files, head, resume }).ok()
}

/// Two files of statements, a head and a continuation.
fn spelled(bytes: &[u8]) -> [Vec<u8>; 4] {
    let mut files: [Vec<u8>; 4] = Default::default();
    let mut at = 0;
    for byte in bytes {
        let chain = &WITNESSED.chain;
        match usize::from(*byte) {
            statement @ 1..=5 => {
                files[at].extend(chain[statement - 1].to_line().into_bytes());
                files[at].push(b'\n');
            }
            6..=8 => at = usize::from(*byte) - 5,
            pair @ 14..=31 => {
                let (last, latest) = (&chain[(pair - 14) / 4], &chain[(pair - 14) % 4]);
                files[at].extend(Continuation::of(last, latest).to_line().into_bytes());
            }
            _ => files[at].push(*byte),
        }
    }
    files
}

/// Lines of the world, and any other bytes.
fn recorded(bytes: &[u8]) -> Vec<u8> {
    let mut copy = Vec::new();
    for byte in bytes {
        match usize::from(*byte).checked_sub(16).and_then(|at| WITNESSED.records.get(at)) {
            Some(record) => {
                copy.extend(record.as_bytes());
                copy.push(b'\n');
            }
            None => copy.push(*byte),
        }
    }
    copy
}

/// Seeds: the world's chain and copy, whole, turned, in two steps, with a hole.
pub fn seeds() -> [(&'static str, Vec<Vec<u8>>); 2] {
    let chains: [&[u8]; 6] = [
        &[1, 2, 3, 4, 5],
        &[5, 3, 1, 6, 2, 4, 7, 5],
        &[4, 5, 8, 22 + 1],
        &[1, 2, 4, 7, 3],
        b"\n \r\n\x01\x07\x01",
        b"{\"checkpoint\":{},\"index\":0}\n\x01",
    ];
    let whole: Vec<u8> = (16..28).collect();
    let copies: [&[u8]; 3] = [&whole, &whole[..9], b"\x10\x11\x12\n\x13{\"half"];
    let owned = |seeds: &[&[u8]]| seeds.iter().map(|seed| seed.to_vec()).collect();
    [("witness_chain", owned(&chains)), ("trail_records", owned(&copies))]
}
