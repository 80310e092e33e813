//! Many readers, one order: whoever holds the next batch takes the turn.
//!
//! A reader takes the next batch of bytes, judges its lines by itself, waits until every batch before it
//! has gone by, and then lets its own go by. At any moment each reader holds one batch; that bounds the
//! memory.

use std::io::{self, Read};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::line::{cut, judge};
use super::sequence::Sequence;
use super::source::Source;
use super::{Observer, WitnessContext, WitnessError, WitnessSummary};
use crate::gad::Findings;

/// What the readers share.
struct Shared<'a, 'c, R> {
    cx: &'a WitnessContext<'c>,
    source: Mutex<Source<R>>,
    turn: Mutex<Turn<'a, 'c>>,
    passed: Condvar,
}

/// Whose turn it is, and what goes in order.
struct Turn<'a, 'c> {
    /// Number of the batch to go by next.
    next: u64,
    /// Nothing more is to go by: a finding has ended the evaluation, or reading has failed.
    stopped: bool,
    failure: Option<io::Error>,
    sequence: Sequence<'a, 'c>,
}

pub(super) fn read<R: Read + Send>(
    source: R,
    cx: &WitnessContext<'_>,
    observer: &mut Observer<'_>,
    findings: &mut Findings,
) -> Result<WitnessSummary, WitnessError> {
    let shared = Shared {
        cx,
        source: Mutex::new(Source::new(source, cx.batch_bytes, cx.limits.line_bytes)),
        turn: Mutex::new(Turn {
            next: 0,
            stopped: false,
            failure: None,
            sequence: Sequence::new(cx, observer, findings),
        }),
        passed: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 1..cx.threads.get() {
            // A machine that has no thread to give still has this one.
            if thread::Builder::new().spawn_scoped(scope, || shared.read()).is_err() {
                break;
            }
        }
        shared.read();
    });
    let Shared { source, turn, .. } = shared;
    let turn = turn.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = turn.failure {
        return Err(error.into());
    }
    let mut summary = turn.sequence.finish().ok_or(WitnessError::Limit)?;
    let source = source.into_inner().unwrap_or_else(PoisonError::into_inner);
    (summary.size, summary.digest) = source.finish();
    Ok(summary)
}

impl<'a, 'c, R: Read> Shared<'a, 'c, R> {
    fn read(&self) {
        // Should a rule panic, nobody waits for a turn that never comes; the scope passes the panic on.
        let _stop = StopOnPanic(self);
        let mut bytes = Vec::new();
        loop {
            // A statement of its own: the source is free again while these lines are judged.
            let next = lock(&self.source).next(&mut bytes);
            let Some((number, read)) = next else { return };
            let failure = read.err();
            let bytes = if failure.is_none() { bytes.as_slice() } else { &[] };
            let raw = cut(bytes, self.cx);
            let mut lines = judge(&raw, self.cx);
            let Some(mut turn) = self.wait_for(number) else { return };
            turn.sequence.take(&mut lines);
            turn.next = number.saturating_add(1);
            turn.stopped = turn.sequence.has_ended() || failure.is_some();
            turn.failure = failure;
            drop(turn);
            self.passed.notify_all();
        }
    }

    /// Waits until every batch before this one has gone by. `None` when nothing more is to.
    fn wait_for(&self, number: u64) -> Option<MutexGuard<'_, Turn<'a, 'c>>> {
        let turn = lock(&self.turn);
        let turn = self
            .passed
            .wait_while(turn, |turn| !turn.stopped && turn.next != number)
            .unwrap_or_else(PoisonError::into_inner);
        (!turn.stopped).then_some(turn)
    }
}

/// A panic of one reader stops the others.
struct StopOnPanic<'s, 'a, 'c, R>(&'s Shared<'a, 'c, R>);

impl<R> Drop for StopOnPanic<'_, '_, '_, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.0.turn).stopped = true;
            self.0.passed.notify_all();
        }
    }
}

/// What a panic of another reader leaves behind is not used: the panic goes on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
