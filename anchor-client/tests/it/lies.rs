//! Every lie of a log is found and called by its name.

use std::path::Path;
use std::time::Duration;

use anchorlog_client::error::ClientError;
use anchorlog_client::log::{KeySource, Log, LogOptions};
use anchorlog_client::log_client::Wait;
use anchorlog_client::retry::RetryPolicy;
use anchorlog_client::state::StateDir;
use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::receipt::Receipt;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_proto::tlog_proof::TlogProof;
use anchorlog_verifier::report::Verdict;
use serde_json::{Value, json};

use crate::fake_log::{FakeLog, listed, ok, problem, receipt_response, signer};
use crate::{block_on, client, code, entries, entry};

/// A client that has seen the log with ten entries.
fn acquainted(log: &FakeLog, state: &Path) -> Log {
    log.world().append(entries(0..10));
    let client = client(log, state);
    block_on(client.checkpoint()).unwrap();
    client
}

/// The error is a contradiction with both notes on disk, each of them verifying under the log's key.
fn assert_kept(error: &ClientError, expected: &str, sizes: (u64, u64)) {
    assert_eq!(code(error), expected, "{error}");
    assert_eq!(error.verdict(), Verdict::DoesNotHold);
    let directory = error.evidence().expect("evidence is kept");
    assert!(error.to_string().contains(directory.to_str().unwrap()), "{error}");
    let size = |name: &str| {
        let note = std::fs::read(directory.join(name)).unwrap();
        let signed = SignedCheckpoint::parse(&note).unwrap();
        signed.verify(signer(1).verifier_key()).unwrap().checkpoint().size.get()
    };
    assert_eq!((size("seen.note"), size("shown.note")), sizes);
    let report: Value =
        serde_json::from_slice(&std::fs::read(directory.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["code"], expected);
}

#[test]
fn a_split_view_is_called_one() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = acquainted(&log, state.path());
    log.world().entries = entries(100..110);
    let error = block_on(client.checkpoint()).unwrap_err();
    assert_kept(&error, "LOG.SPLIT_VIEW", (10, 10));
    // Found again, it is kept once, and what was seen before stays what it was.
    let again = block_on(client.receipt(3, Wait::PUBLISHED)).unwrap_err();
    assert_kept(&again, "LOG.SPLIT_VIEW", (10, 10));
    assert_eq!(again.evidence(), error.evidence());
}

#[test]
fn a_log_that_changes_its_key_has_one_history() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let policy = state.path().join("policy");
    let [old, new] = [1, 2].map(|seed| signer(seed).verifier_key().to_string());
    std::fs::write(&policy, format!("log {old}\nlog {new}\nquorum none\n")).unwrap();
    let client = Log::new(LogOptions {
        address: log.url().parse().unwrap(),
        keys: KeySource::Policy(policy),
        state: StateDir::at(state.path()),
        timeout: Duration::from_secs(10),
        retry: RetryPolicy::NEVER,
    })
    .unwrap();
    log.world().append(entries(0..10));
    block_on(client.checkpoint()).unwrap();
    // The new key goes on with the history of the old one.
    log.world().signer = signer(2);
    log.world().append(entries(10..12));
    block_on(client.checkpoint()).unwrap();
    // It makes up another one: what was seen under either key tells.
    log.world().entries = entries(100..110);
    let error = block_on(client.checkpoint()).unwrap_err();
    assert_eq!(code(&error), "LOG.SPLIT_VIEW", "{error}");
    assert!(error.evidence().is_some_and(|kept| kept.join("report.json").is_file()));
    // The old key shows the history of the new one, and then another.
    log.world().signer = signer(1);
    log.world().entries = entries(0..12);
    block_on(client.checkpoint()).unwrap();
    log.world().entries = [entries(0..10), entries(200..202)].concat();
    let error = block_on(client.checkpoint()).unwrap_err();
    assert_eq!(code(&error), "LOG.SPLIT_VIEW", "{error}");
}

#[test]
fn a_rollback_is_called_one() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = acquainted(&log, state.path());
    log.world().entries.truncate(6);
    let error = block_on(client.checkpoint()).unwrap_err();
    assert_kept(&error, "LOG.ROLLBACK", (10, 6));
    // The same through the receipt of something new.
    let error = block_on(client.submit(&[entry(77)], Wait::PUBLISHED)).unwrap_err();
    assert_kept(&error, "LOG.ROLLBACK", (10, 7));
    // And when the log claims that the smaller tree is consistent, which it is.
    let full = entries(0..10);
    log.world().entries.truncate(6);
    log.hook(move |world, line| {
        line.starts_with("GET /v1/proof/consistency").then(|| {
            let now = std::mem::replace(&mut world.entries, full.clone());
            let sizes: Vec<u64> =
                line.split(['=', '&']).filter_map(|part| part.parse().ok()).collect();
            let [from, to] = [sizes[0], sizes[1]]
                .map(|size| anchorlog_proto::merkle::TreeSize::new(size).unwrap());
            let hashes =
                anchorlog_proto::merkle::consistency::prove(&*world, from, to).unwrap().unwrap();
            world.entries = now;
            let hashes: Vec<_> = hashes.iter().map(ToString::to_string).collect();
            ok(&json!({"from": sizes[0], "to": sizes[1], "hashes": hashes}))
        })
    });
    let error = block_on(client.checkpoint()).unwrap_err();
    assert_kept(&error, "LOG.ROLLBACK", (10, 6));
}

#[test]
fn an_old_checkpoint_of_the_same_history_is_no_rollback() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = acquainted(&log, state.path());
    let old = {
        let mut world = log.world();
        let all = world.entries.clone();
        world.entries.truncate(6);
        let receipt = world.receipt(2);
        world.entries = all;
        receipt
    };
    block_on(client.accept(old, None)).unwrap();
}

#[test]
fn a_rewritten_history_is_called_inconsistent() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = acquainted(&log, state.path());
    log.world().entries[4] = entry(999);
    log.world().append(entries(10..15));
    let error = block_on(client.checkpoint()).unwrap_err();
    assert_kept(&error, "LOG.CONSISTENCY", (10, 15));
    let error = block_on(client.submit(&[entry(77)], Wait::PUBLISHED)).unwrap_err();
    assert_kept(&error, "LOG.CONSISTENCY", (10, 16));
}

#[test]
fn a_refused_or_wrong_consistency_proof_is_called_inconsistent() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = acquainted(&log, state.path());
    log.world().append(entries(10..15));
    for wrong in [
        problem(404, "NOT_FOUND", "no idea"),
        ok(&json!({"from": 10, "to": 15, "hashes": []})),
        ok(&json!({"from": 10, "to": 15, "hashes": vec![Digest::of(b"x").to_string(); 4]})),
    ] {
        let mut wrong = Some(wrong);
        log.hook(move |_, line| {
            line.starts_with("GET /v1/proof/consistency").then(|| wrong.take().unwrap())
        });
        let error = block_on(client.checkpoint()).unwrap_err();
        assert_kept(&error, "LOG.CONSISTENCY", (10, 15));
    }
    // An overloaded log has proved nothing and denied nothing.
    log.hook(|_, line| {
        line.starts_with("GET /v1/proof/consistency").then(|| crate::fake_log::retry_later(1))
    });
    let error = block_on(client.checkpoint()).unwrap_err();
    assert_eq!((code(&error), error.verdict()), ("OVERLOADED", Verdict::NotEvaluated));
    assert!(error.evidence().is_none());
    log.honest();
    assert_eq!(block_on(client.checkpoint()).unwrap().checkpoint().size.get(), 15);
}

#[test]
fn wrong_receipts_are_refused() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = acquainted(&log, state.path());
    let honest = log.world().receipt(3);
    let with_hashes = |hashes: Vec<Digest>| Receipt {
        proof: TlogProof::new(3, hashes, honest.proof.checkpoint().clone()).unwrap(),
        ..honest.clone()
    };
    let forged = {
        let mut world = log.world();
        world.signer = signer(2);
        let receipt = world.receipt(3);
        world.signer = signer(1);
        receipt
    };
    let mut flipped = honest.proof.hashes().to_vec();
    flipped[1] = Digest::of(b"x");
    let cases = [
        ("LOG.LEAF", log.world().receipt(4)),
        ("LOG.INCLUSION", with_hashes(flipped)),
        ("LOG.PROOF_LENGTH", with_hashes(Vec::new())),
        ("LOG.SIG", forged),
    ];
    for (expected, wrong) in cases {
        log.hook(move |_, line| {
            line.starts_with("POST /v1/entries").then(|| receipt_response(&wrong))
        });
        let error = block_on(client.submit(&[entry(3)], Wait::PUBLISHED)).unwrap_err();
        assert_eq!(code(&error), expected, "{error}");
        assert_eq!(error.verdict(), Verdict::DoesNotHold);
        assert!(!error.is_refusal());
    }
}

#[test]
fn wrong_batch_answers_are_refused() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = acquainted(&log, state.path());
    let note = String::from_utf8(log.world().checkpoint().to_bytes()).unwrap();
    let place = |index: usize, number: u64| {
        json!({"index": index, "leaf_hash": entry(number).leaf_hash().to_string(),
            "state": "published", "duplicate": true})
    };
    for (expected, places) in [
        // One statement too few; another statement; an index that isn't there; somebody else's place.
        ("LOG.LEAF", vec![place(3, 3)]),
        ("LOG.LEAF", vec![place(3, 3), place(4, 5)]),
        ("LOG.INDEX", vec![place(3, 3), place(10, 4)]),
        ("LOG.INCLUSION", vec![place(3, 3), place(5, 4)]),
    ] {
        let answer = json!({"log": "log.example", "checkpoint": note, "receipts": places});
        log.hook(move |_, line| line.starts_with("POST /v1/entries:batch").then(|| ok(&answer)));
        let error = block_on(client.submit(&[entry(3), entry(4)], Wait::PUBLISHED)).unwrap_err();
        assert_eq!(code(&error), expected, "{error}");
    }
}

#[test]
fn false_listings_are_refused() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = acquainted(&log, state.path());
    let digest = entry(3).statement().digest;
    let of_kind = |kind| LogEntry::unsigned(Statement::new(kind, digest)).unwrap();
    for (expected, claim) in [
        // Another entry, a false kind, and an index that isn't there.
        ("LOG.LEAF", listed(4, &entry(4))),
        ("LOG.LEAF", listed(3, &of_kind(StatementKind::CoreRoot))),
        ("LOG.INDEX", listed(10, &entry(3))),
    ] {
        log.hook(move |_, line| {
            line.starts_with("GET /v1/lookup")
                .then(|| ok(&json!({"entries": [claim], "truncated": false})))
        });
        let error = block_on(client.lookup(&digest, None)).unwrap_err();
        assert_eq!(code(&error), expected, "{error}");
    }
    // A bundle with another entry at the place.
    log.hook(|world, line| {
        line.starts_with("GET /tile/entries/").then(|| {
            let honest = world.entries.clone();
            world.entries[3] = entry(12345);
            let mut bundle = Vec::new();
            for entry in &world.entries {
                anchorlog_proto::tile::push_entry(&mut bundle, entry.leaf_bytes()).unwrap();
            }
            world.entries = honest;
            axum::response::IntoResponse::into_response(bundle)
        })
    });
    let error = block_on(client.lookup(&digest, None)).unwrap_err();
    assert_eq!(code(&error), "LOG.INCLUSION", "{error}");
}

#[test]
fn a_listing_that_never_ends_is_cut() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = acquainted(&log, state.path());
    log.hook(|_, line| {
        line.starts_with("GET /v1/trails/")
            .then(|| ok(&json!({"entries": [], "next": 5, "conflicts": []})))
    });
    let trail = "t".parse().unwrap();
    let listing = block_on(client.trail(&trail, 0, 1000)).unwrap();
    assert_eq!((listing.entries.len(), listing.next), (0, None));
    let asked = log.world().requests.iter().filter(|line| line.contains("/trails/")).count();
    assert_eq!(asked, 2);
}
