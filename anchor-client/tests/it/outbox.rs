//! Nothing is lost while a log is down, and nothing is sent under another index.

use std::path::Path;

use anchorlog_client::log_client::Wait;
use anchorlog_client::outbox::Outbox;
use anchorlog_client::receipt_store::ReceiptStore;
use anchorlog_client::state::StateDir;
use anchorlog_client::submit::{drain, queue, send};
use anchorlog_proto::receipt::Receipt;

use crate::fake_log::{FakeLog, problem};
use crate::{block_on, client, code, entries, entry};

fn outbox(log: &FakeLog, state: &Path) -> Outbox {
    Outbox::new(StateDir::at(state), log.url().parse().unwrap())
}

fn store(log: &FakeLog, state: &Path) -> ReceiptStore {
    ReceiptStore::State { state: StateDir::at(state), log: log.url().parse().unwrap() }
}

#[test]
fn what_a_log_that_is_down_did_not_take_goes_later_with_the_same_index() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let (outbox, store) = (outbox(&log, state.path()), store(&log, state.path()));
    let client = client(&log, state.path());

    // The log takes the first batch, answers nothing good to it, and is down for the rest.
    let mut calls = 0;
    log.hook(move |world, line| {
        line.starts_with("POST").then(|| {
            calls += 1;
            if calls == 1 {
                world.append(entries(0..1000));
            }
            problem(500, "INTERNAL", "tripped over")
        })
    });
    let queued = queue(&outbox, &entries(0..1500)).unwrap();
    assert_eq!(queued.len(), 1500);
    let sent = block_on(send(&client, &outbox, queued, &store, Wait::PUBLISHED));
    assert_eq!(code(&sent.error.unwrap()), "INTERNAL");
    assert_eq!((sent.kept.len(), sent.left), (0, 1500));

    let earlier = outbox.pending().unwrap();
    let drained = block_on(drain(&client, &outbox, earlier, &store)).unwrap();
    assert_eq!((drained.kept.len(), drained.left), (0, 1500));
    log.honest();
    let earlier = outbox.pending().unwrap();
    assert_eq!(earlier.len(), 2);
    let drained = block_on(drain(&client, &outbox, earlier, &store)).unwrap();
    assert!(drained.error.is_none(), "{:?}", drained.error);
    assert_eq!(drained.kept.len(), 1500);
    for (index, kept) in (0..).zip(&drained.kept) {
        assert_eq!(kept.accepted.receipt.index, index);
        assert_eq!(kept.accepted.receipt.entry, entry(index));
    }
    assert!(outbox.pending().unwrap().is_empty());
    let text = std::fs::read_to_string(&drained.kept[0].path).unwrap();
    let kept: Vec<_> = text.lines().map(|line| Receipt::parse(line.as_bytes()).unwrap()).collect();
    assert_eq!(kept.len(), 1000);
    assert_eq!(kept[999].index, 999);
}

#[test]
fn a_receipt_that_does_not_verify_leaves_the_statement_in_the_outbox() {
    let log = FakeLog::start();
    log.world().append(entries(0..3));
    let state = tempfile::tempdir().unwrap();
    let (outbox, store) = (outbox(&log, state.path()), store(&log, state.path()));
    let client = client(&log, state.path());
    log.hook(|world, line| {
        line.starts_with("POST").then(|| crate::fake_log::receipt_response(&world.receipt(0)))
    });
    let queued = queue(&outbox, &[entry(9)]).unwrap();
    let sent = block_on(send(&client, &outbox, queued, &store, Wait::PUBLISHED));
    assert_eq!(code(&sent.error.unwrap()), "LOG.LEAF");
    assert_eq!(sent.left, 1);
    assert_eq!(outbox.pending().unwrap().len(), 1);
    assert!(!state.path().join("receipts").exists());
}

#[test]
fn refusals_are_told_at_once_or_put_aside() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let (outbox, store) = (outbox(&log, state.path()), store(&log, state.path()));
    let client = client(&log, state.path());
    log.hook(|_, line| line.starts_with("POST").then(|| problem(403, "NOT_PERMITTED", "not you")));
    let queued = queue(&outbox, &[entry(1)]).unwrap();
    let sent = block_on(send(&client, &outbox, queued, &store, Wait::PUBLISHED));
    assert!(sent.error.unwrap().is_refusal());
    assert_eq!((sent.left, outbox.pending().unwrap().len()), (0, 0));

    // From an earlier run: one is refused and put aside, the other goes on.
    outbox.put(&[entry(2)]).unwrap();
    outbox.put(&[entry(3)]).unwrap();
    let mut refused = false;
    log.hook(move |_, line| {
        (line.starts_with("POST") && !std::mem::replace(&mut refused, true))
            .then(|| problem(422, "STM.KIND", "no such kind"))
    });
    let earlier = outbox.pending().unwrap();
    let drained = block_on(drain(&client, &outbox, earlier, &store)).unwrap();
    assert_eq!((drained.kept.len(), drained.refused.len(), drained.left), (1, 1, 0));
    assert_eq!(outbox.refused().unwrap().len(), 1);
    assert!(outbox.pending().unwrap().is_empty());
}
