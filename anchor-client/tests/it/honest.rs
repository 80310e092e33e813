//! What an honest log's answers become.

use anchorlog_client::log::{KeySource, Log, LogOptions};
use anchorlog_client::log_client::Wait;
use anchorlog_client::retry::RetryPolicy;
use anchorlog_client::state::StateDir;
use anchorlog_client::trust::TrustSource;
use anchorlog_proto::Digest;
use anchorlog_proto::receipt::{Receipt, ReceiptState};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};

use crate::fake_log::{FakeLog, signer};
use crate::{block_on, client, code, entries, entry};

#[test]
fn a_statement_gets_a_verified_receipt() {
    let log = FakeLog::start();
    log.world().append(entries(0..5));
    let state = tempfile::tempdir().unwrap();
    let client = client(&log, state.path());
    let accepted = block_on(client.submit(&[entry(7)], Wait::PUBLISHED)).unwrap();
    assert_eq!(accepted[0].receipt.index, 5);
    assert_eq!(accepted[0].shown, ReceiptState::Published);
    assert_eq!(Receipt::parse(&accepted[0].json).unwrap(), accepted[0].receipt);

    let again = block_on(client.submit(&[entry(7)], Wait::PUBLISHED)).unwrap();
    assert_eq!(again[0].receipt, accepted[0].receipt);
    let fetched = block_on(client.receipt(5, Wait::PUBLISHED)).unwrap();
    assert_eq!(fetched.receipt, accepted[0].receipt);
}

#[test]
fn a_batch_is_verified_through_tiles_with_few_requests() {
    let log = FakeLog::start();
    log.world().append(entries(0..700));
    let state = tempfile::tempdir().unwrap();
    let client = client(&log, state.path());
    // Some known ones among new ones, over the edges of tiles.
    let batch: Vec<_> = entries(690..1200).into_iter().chain(entries(0..3)).collect();
    let accepted = block_on(client.submit(&batch, Wait::PUBLISHED)).unwrap();
    assert_eq!(accepted.len(), batch.len());
    for (accepted, entry) in accepted.iter().zip(&batch) {
        assert_eq!(&accepted.receipt.entry, entry);
        assert_eq!(accepted.duplicate, Some(accepted.receipt.index < 700));
        let world = log.world();
        let index = usize::try_from(accepted.receipt.index).unwrap();
        assert_eq!(&world.entries[index], entry);
        assert_eq!(accepted.receipt, world.receipt(accepted.receipt.index));
    }
    let requests = log.world().requests.len();
    assert!(requests < 12, "{requests} requests for {} statements", batch.len());
}

#[test]
fn growing_is_consistent_and_old_receipts_stay_good() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = client(&log, state.path());
    let mut old = None;
    for number in 0..20 {
        let accepted = block_on(client.submit(&[entry(number)], Wait::PUBLISHED)).unwrap();
        old.get_or_insert(accepted[0].receipt.clone());
        assert_eq!(block_on(client.checkpoint()).unwrap().checkpoint().size.get(), number + 1);
    }
    // A receipt from the days when the tree had one leaf.
    block_on(client.accept(old.unwrap(), Some(&entry(0)))).unwrap();
}

#[test]
fn listings_are_proved_entry_by_entry() {
    let log = FakeLog::start();
    let key = SigningKey::from_seed(&[5; 32]);
    let trail: anchorlog_proto::statement::Trail = "run-7".parse().unwrap();
    let of_trail: Vec<_> = (0..300_u64)
        .map(|number| {
            let digest = Digest::of(&number.to_be_bytes());
            let statement = Statement::new(StatementKind::ChainHead, digest)
                .in_trail(trail.clone(), Some(number));
            if number % 2 == 0 {
                LogEntry::signed(statement, &key).unwrap()
            } else {
                LogEntry::unsigned(statement).unwrap()
            }
        })
        .collect();
    log.world().append(entries(1000..1400));
    log.world().append(of_trail.clone());
    let state = tempfile::tempdir().unwrap();
    let client = client(&log, state.path());

    let listing = block_on(client.trail(&trail, 0, 1000)).unwrap();
    let found: Vec<_> = listing.entries.iter().map(|proven| proven.entry.clone()).collect();
    assert_eq!(found, of_trail);
    assert_eq!((listing.entries[0].index, listing.next, listing.size), (400, None, 700));

    let listing = block_on(client.submitter(&key.id(), 0, 1000)).unwrap();
    assert_eq!(listing.entries.len(), 150);

    let digest = Digest::of(&1000_u64.to_be_bytes());
    let listing = block_on(client.lookup(&digest, None)).unwrap();
    assert_eq!(listing.entries.len(), 1);
    assert_eq!(listing.entries[0].index, 0);
    assert!(block_on(client.lookup(&Digest::of(b"no"), None)).unwrap().entries.is_empty());
}

#[test]
fn a_key_is_trusted_on_first_use_and_pinned() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let open = || {
        Log::new(LogOptions {
            address: log.url().parse().unwrap(),
            keys: KeySource::FirstUse,
            state: StateDir::at(state.path()),
            timeout: std::time::Duration::from_secs(5),
            retry: RetryPolicy::NEVER,
        })
        .unwrap()
    };
    let client = open();
    assert!(client.known_trust().is_none());
    block_on(client.submit(&[entry(1)], Wait::PUBLISHED)).unwrap();
    let trust = client.known_trust().unwrap();
    assert!(matches!(trust.source(), TrustSource::FirstUse(_)));
    assert_eq!(trust.keys()[0].to_string(), log.vkey());

    // From now on the log isn't asked any more, and another key doesn't count.
    log.world().requests.clear();
    let client = open();
    assert!(matches!(client.known_trust().unwrap().source(), TrustSource::Pinned(_)));
    block_on(client.submit(&[entry(2)], Wait::PUBLISHED)).unwrap();
    assert!(log.world().requests.iter().all(|request| !request.contains("/v1/log")));
    log.world().signer = signer(2);
    let error = block_on(open().submit(&[entry(3)], Wait::PUBLISHED)).unwrap_err();
    assert_eq!(code(&error), "LOG.SIG");
}

#[test]
fn a_key_that_did_not_sign_the_checkpoint_is_never_pinned() {
    let log = FakeLog::start();
    log.hook(|_, line| {
        line.starts_with("GET /v1/log").then(|| {
            let vkey = signer(9).verifier_key().to_string();
            crate::fake_log::ok(&serde_json::json!({"origin": "log.example", "vkey": vkey}))
        })
    });
    let state = tempfile::tempdir().unwrap();
    let client = Log::new(LogOptions {
        address: log.url().parse().unwrap(),
        keys: KeySource::FirstUse,
        state: StateDir::at(state.path()),
        timeout: std::time::Duration::from_secs(5),
        retry: RetryPolicy::NEVER,
    })
    .unwrap();
    let error = block_on(client.submit(&[entry(1)], Wait::PUBLISHED)).unwrap_err();
    assert_eq!(code(&error), "LOG.SIG");
    assert!(!state.path().join("pins").exists());
    assert!(log.world().entries.is_empty(), "nothing is sent before the key is known");
}

#[test]
fn witnesses_that_have_not_cosigned_yet_do_not_refuse_a_receipt() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let policy = state.path().join("policy");
    let witness =
        "witness w1 witness1.example+7b0bebb9+BBFDovhb1X3AQmjKku6E/zMteS09Shjwi3adxaj0L2wi";
    let text = format!("log {}\n{witness}\nquorum w1\n", log.vkey());
    std::fs::write(&policy, text).unwrap();
    let client = Log::new(LogOptions {
        address: log.url().parse().unwrap(),
        keys: KeySource::Policy(policy),
        state: StateDir::at(state.path()),
        timeout: std::time::Duration::from_secs(5),
        retry: RetryPolicy::NEVER,
    })
    .unwrap();
    let accepted = block_on(client.submit(&[entry(1)], Wait::PUBLISHED)).unwrap();
    assert_eq!(accepted[0].shown, ReceiptState::Published);

    // Saying so without a cosignature doesn't make it so.
    log.hook(|world, line| {
        line.starts_with("GET /v1/receipts/0").then(|| {
            let receipt = Receipt { state: ReceiptState::Witnessed, ..world.receipt(0) };
            crate::fake_log::receipt_response(&receipt)
        })
    });
    let accepted = block_on(client.receipt(0, Wait::PUBLISHED)).unwrap();
    assert_eq!(accepted.receipt.state, ReceiptState::Witnessed);
    assert_eq!(accepted.shown, ReceiptState::Published);
}
