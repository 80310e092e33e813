//! The program is killed at arbitrary moments; afterwards every statement it took has its receipt, and one
//! index.

use std::collections::HashMap;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use anchorlog_client::outbox::Outbox;
use anchorlog_client::state::StateDir;
use anchorlog_proto::receipt::Receipt;

use crate::command::anchor;
use crate::fake_log::FakeLog;

#[test]
fn a_client_killed_at_any_moment_loses_nothing() {
    let log = FakeLog::start();
    // Slow enough for kills to fall between the steps.
    log.world().delay = Duration::from_millis(4);
    let state = tempfile::tempdir().unwrap();
    let url = log.url();
    let outbox = Outbox::new(StateDir::at(state.path()), url.parse().unwrap());
    let mut taken = HashMap::new();
    let mut interrupted = 0;
    for round in 0..25_u64 {
        let mut command = anchor(state.path());
        command.args(["submit", "--log", &url, "--vkey", &log.vkey(), "--kind", "digest"]);
        for number in 0..3 {
            let digest = anchorlog_proto::Digest::of(&(3 * round + number).to_be_bytes());
            command.args(["--digest", &digest.to_string()]);
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(2 * round));
        child.kill().unwrap();
        interrupted += usize::from(!child.wait().unwrap().success());
        // What is in the outbox was taken; what the log has was taken too.
        for pending in outbox.pending().unwrap() {
            for entry in outbox.read(&pending).unwrap().unwrap() {
                taken.insert(entry.leaf_hash(), entry);
            }
        }
        for entry in &log.world().entries {
            taken.insert(entry.leaf_hash(), entry.clone());
        }
    }
    assert!(interrupted > 0, "no kill came before the end");

    let flush = anchor(state.path())
        .args(["outbox", "flush", "--log", &url, "--vkey", &log.vkey(), "--json"])
        .output()
        .unwrap();
    assert!(flush.status.success(), "{}", String::from_utf8_lossy(&flush.stdout));
    assert!(outbox.pending().unwrap().is_empty());

    let mut indexes = HashMap::new();
    let receipts = std::fs::read_dir(state.path().join("receipts")).unwrap();
    for directory in receipts {
        for file in std::fs::read_dir(directory.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            for line in std::fs::read_to_string(path).unwrap().lines() {
                let receipt = Receipt::parse(line.as_bytes()).unwrap();
                let known = indexes.insert(receipt.leaf_hash, receipt.index);
                assert!(known.is_none_or(|known| known == receipt.index), "two indexes");
            }
        }
    }
    let world = log.world();
    for (leaf_hash, entry) in &taken {
        let index = indexes.get(leaf_hash).expect("a statement without a receipt");
        assert_eq!(&world.entries[usize::try_from(*index).unwrap()], entry);
    }
}
