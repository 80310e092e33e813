//! The development authority stamps: real tokens, verified here as anybody would.
#![allow(clippy::disallowed_methods, reason = "tests damage files on purpose")]

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use anchorlog_proto::merkle::consistency;
use anchorlog_proto::timestamp::Imprint;
use anchorlog_verifier::timestamp::{
    Expected, Rules as TokenRules, Supplied, TokenFailure, TrustEntry, VerifiedToken,
    read_certificates, verify_token,
};

use super::*;
use crate::dev_tsa::{DevTsa, DevTsaOptions};
use crate::fsck::{Fault, check_directory};
use crate::index::DEFAULT_MEMORY;

const HOUR: u64 = 3_600;

/// An authority whose certificates are good for an hour, and the hands of its clock.
fn authority(directory: &TempDir) -> (Arc<DevTsa>, Arc<Development>, Arc<AtomicU64>) {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let hands = Arc::new(AtomicU64::new(since_epoch.as_secs()));
    let read = Arc::clone(&hands);
    let clock = Clock::of(move || {
        SystemTime::UNIX_EPOCH + Duration::from_secs(read.load(Ordering::SeqCst))
    });
    let certificate_validity = Duration::from_secs(HOUR);
    let options = DevTsaOptions { certificate_validity, clock, ..DevTsaOptions::default() };
    let tsa = Arc::new(DevTsa::open(&directory.path().join("tsa"), options).unwrap());
    let development = Arc::new(Development::new(Arc::clone(&tsa)).unwrap());
    (tsa, development, hands)
}

/// Judges the token of a receipt: over its own checkpoint's note, under this root.
fn judge(receipt: &Receipt, trust: TrustEntry, at: GenTime) -> Result<VerifiedToken, TokenFailure> {
    let note = receipt.proof.checkpoint().to_bytes();
    let expected = Expected::over(Imprint::of_digest(&Digest::of(&note)));
    let rules = TokenRules::at(at);
    verify_token(&receipt.timestamps[0], &expected, &[trust], &Supplied::default(), &rules)
}

fn trust(tsa: &DevTsa) -> TrustEntry {
    TrustEntry::new("the reader's name for it", read_certificates(tsa.root_der()).unwrap())
}

#[tokio::test]
async fn a_receipt_outlives_the_certificate_of_its_token() {
    let directory = tempfile::tempdir().unwrap();
    let (tsa, development, hands) = authority(&directory);
    let begun = i64::try_from(hands.load(Ordering::SeqCst)).unwrap();
    let read = Arc::clone(&hands);
    let clock = Clock::of(move || {
        SystemTime::UNIX_EPOCH + Duration::from_secs(read.load(Ordering::SeqCst))
    });
    let rules = Rules { renew_before: Duration::from_secs(HOUR / 10), ..options().rules };
    // Looks at the clock come with entries here, not by the hour.
    let options = Options { rules, clock, ..options() };
    let world = World::with(&directory, 1, &[&development], options).await;
    submit(&world.log, 0..300).await;
    world.anchored(299).await;
    let old = receipt(&world.log, 7, begun);
    let verified = judge(&old, trust(&tsa), GenTime::from_unix(begun)).unwrap();
    assert_eq!(verified.gen_time().unix_seconds(), begun);
    let expires = verified.expires().unix_seconds();
    assert_eq!(size_of(&old), 300);

    // An hour later that certificate has run out. Nothing was submitted, and the log has a new token.
    hands.store(u64::try_from(expires + 60).unwrap(), Ordering::SeqCst);
    let round = world.handle.renew().await.unwrap();
    assert_eq!((round.size, round.anchored), (301, true), "{round:?}");
    let new = receipt(&world.log, 7, expires + 60);
    assert_eq!((new.index, size_of(&new)), (7, 301));
    assert_eq!(new.leaf_hash, old.leaf_hash);

    // A reader that takes nothing from before today refuses the old receipt and accepts the new one.
    let today = GenTime::from_unix(expires + 60);
    let of_today = || trust(&tsa).within(Some(GenTime::from_unix(expires + 1)), None);
    let refused = judge(&old, of_today(), today).unwrap_err();
    assert_eq!(refused.code().as_str(), "TSA.POLICY_WINDOW");
    let verified = judge(&new, of_today(), today).unwrap();
    assert!(verified.expires() > today);
    // A token doesn't vouch for another checkpoint.
    let mixed = Receipt { timestamps: old.timestamps.clone(), ..new.clone() };
    assert_eq!(judge(&mixed, trust(&tsa), today).unwrap_err().code().as_str(), "TSA.IMPRINT");
    // And the tree that was stamped first is the beginning of the one that is stamped now.
    let (from, to) = (TreeSize::new(300).unwrap(), TreeSize::new(301).unwrap());
    let proof = world.log.consistency_proof(from, to).unwrap();
    let root = |receipt: &Receipt| receipt.proof.checkpoint().checkpoint().root;
    consistency::verify(from, to, &root(&old), &root(&new), &proof).unwrap();
    world.close().await;
}

#[tokio::test]
async fn a_server_renews_by_itself_when_the_time_comes() {
    let directory = tempfile::tempdir().unwrap();
    let (_, development, hands) = authority(&directory);
    let read = Arc::clone(&hands);
    let clock = Clock::of(move || {
        SystemTime::UNIX_EPOCH + Duration::from_secs(read.load(Ordering::SeqCst))
    });
    let rules = Rules { renew_before: Duration::from_secs(HOUR / 10), ..options().rules };
    let options = Options { rules, clock, ..options() };
    let world = World::with(&directory, 1, &[&development], options.clone()).await;
    submit(&world.log, 0..3).await;
    world.anchored(2).await;
    until(|| world.size() == 4).await;
    world.close().await;
    // It was stopped for most of the hour.
    hands.fetch_add(HOUR * 19 / 20, Ordering::SeqCst);
    let world = World::with(&directory, 1, &[&development], options).await;
    until(|| world.size() == 5).await;
    let newest = world.log.checkpoints().newest().borrow().unwrap();
    let now = i64::try_from(hands.load(Ordering::SeqCst)).unwrap();
    assert!(newest.size == 4 && newest.good_until > now + 3_000, "{newest:?}");
    sleep(INTERVAL * 5).await;
    assert_eq!(world.size(), 5);
    world.close().await;
}

#[tokio::test]
async fn fsck_holds_tokens_to_the_checkpoints_they_stamp() {
    let directory = tempfile::tempdir().unwrap();
    let (_, development, _) = authority(&directory);
    let rules = Rules {
        interval: Duration::from_secs(HOUR),
        after_entries: 0,
        renew_before: Duration::ZERO,
    };
    let on_demand = Options { rules, ..options() };
    let world = World::with(&directory, 1, &[&development], on_demand).await;
    for number in 0..3 {
        submit(&world.log, number..number + 1).await;
        assert!(world.handle.renew().await.unwrap().anchored);
    }
    let log = world.log.clone();
    world.close().await;
    let check = || {
        let key = signer().verifier_key().clone();
        check_directory(
            directory.path(),
            std::slice::from_ref(&key),
            Engine::Redb,
            DEFAULT_MEMORY,
            |_, _| {},
        )
        .unwrap()
    };
    let report = check();
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!(report.countersigned, 3);

    // Tokens and notes that are whole, but not what they should be.
    let file = directory.path().join("checkpoints").join("0000000000");
    let original = fs::read(&file).unwrap();
    let first = log.checkpoints().at(1).unwrap().unwrap().tokens.remove(0);
    let foreign = NoteSigner::from_seed(KeyName::new("log.example/anchoring").unwrap(), [6; 32]);
    let note = |size: u64, signer: &NoteSigner| {
        let size = TreeSize::new(size).unwrap();
        let checkpoint = Checkpoint::new(log.origin().clone(), size, Digest::of(b"other"));
        SignedCheckpoint::sign(&checkpoint, signer).unwrap().to_bytes()
    };
    let last = log.snapshot().size().get();
    let newest =
        StoredToken { size: last, note: log.note_to_stamp(&log.snapshot()).unwrap(), ..first };
    let wrong = [
        (newest.clone(), "FSCK.TOKEN"),
        (StoredToken { token: b"no token".to_vec(), ..newest.clone() }, "FSCK.TOKEN"),
        (StoredToken { note: note(last - 1, &signer()), ..newest.clone() }, "FSCK.TOKEN"),
        (StoredToken { note: note(last, &signer()), ..newest.clone() }, "FSCK.ROOT"),
        (StoredToken { note: note(last, &foreign), ..newest.clone() }, "FSCK.CHECKPOINT"),
        (
            StoredToken { size: last + 1, note: note(last + 1, &signer()), ..newest },
            "FSCK.JOURNAL_BEHIND",
        ),
    ];
    for (token, code) in wrong {
        let store = crate::checkpoints::CheckpointStore::open(directory.path(), 1).unwrap();
        store.append(&token).unwrap();
        drop(store);
        let report = check();
        let problem = report.problems.first().unwrap();
        assert_eq!((problem.fault.code(), problem.index), (code, Some(token.size)), "{problem}");
        assert_eq!(problem.file, "checkpoints/0000000000");
        fs::write(&file, &original).unwrap();
    }

    // Damage, a torn tail, and what nobody put there.
    let mut damaged = original.clone();
    damaged[100] ^= 1;
    fs::write(&file, damaged).unwrap();
    assert!(matches!(check().problems[0].fault, Fault::Damaged { .. }));
    fs::write(&file, &original[..original.len() - 5]).unwrap();
    let report = check();
    assert!(report.is_clean(), "{:?}", report.problems);
    assert!(report.notes.iter().any(|note| note.to_string().contains("checkpoints/")));
    fs::write(&file, &original).unwrap();
    fs::write(directory.path().join("checkpoints").join("notes.txt"), "x").unwrap();
    assert_eq!(check().problems[0].fault, Fault::ForeignFile);
}
