//! Who compares what two people were shown: every lie about trees, by name, with both notes. What is lied
//! about entries under a true tree is no difference between checkpoints; monitors and submitters see that.

use std::fs;

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_tests::lying_log::{Lie, LyingLog};
use anchorlog_tests::world::{Program, command, run};
use serde_json::Value;

use super::{SEEN, grow, log};

/// Compares the honest checkpoints of these sizes with what the log shows now, with the tiles that it shows,
/// or with those of its honest past.
fn compare(log: &LyingLog, sizes: &[u64], honest_tiles: bool) -> (i32, Value) {
    let home = tempfile::tempdir().unwrap();
    let (shown, honest) = (home.path().join("shown"), home.path().join("honest"));
    log.write_to(&shown);
    let truth = LyingLog::new(log.origin().as_str());
    truth.append(log.truth().entries());
    truth.write_to(&honest);
    let mut command = command(Program::Anchor);
    command.current_dir(home.path()).env("ANCHORLOG_STATE", home.path().join("state"));
    command.args(["compare", "--json", "--vkey", &log.vkey().to_string(), "shown/checkpoint"]);
    command.args(["--log", if honest_tiles { "honest" } else { "shown" }]);
    for size in sizes {
        let name = format!("{size}.note");
        fs::write(home.path().join(&name), log.true_checkpoint(*size).to_bytes()).unwrap();
        command.arg(name);
    }
    let ran = run(&mut command);
    let report = ran.report(ran.code);
    if ran.code == 1 {
        let directory = report["errors"][0]["evidence"].as_str().expect("evidence is named");
        for name in ["seen.note", "shown.note"] {
            let note = fs::read(home.path().join(directory).join(name)).unwrap();
            SignedCheckpoint::parse(&note).unwrap().verify(log.vkey()).unwrap();
        }
    }
    (ran.code, report["errors"][0]["code"].clone())
}

#[test]
fn every_lie_about_a_tree_is_a_fork_by_its_name() {
    for (lie, code) in [
        (Lie::SplitView { index: 5 }, "LOG.SPLIT_VIEW"),
        (Lie::Fork { index: 5, more: 9 }, "LOG.CONSISTENCY"),
        (Lie::Fork { index: SEEN - 1, more: 1 }, "LOG.CONSISTENCY"),
    ] {
        let log = log();
        log.tell(lie);
        // Where the trees have the same size, the notes alone show it; else the liar's own tiles do.
        assert_eq!(compare(&log, &[SEEN], false), (1, code.into()), "{lie:?}");
    }
    // Gone back, and on from there with something else: what was kept of the true log shows it.
    let log = log();
    log.tell(Lie::Rollback { size: 200 });
    let other = anchorlog_tests::world::statements::text(999);
    assert_eq!(log.post("/v1/entries", other.as_bytes()).status, 200);
    assert_eq!(compare(&log, &[SEEN], true), (1, "LOG.CONSISTENCY".into()));
}

#[test]
fn an_older_tree_is_no_fork() {
    for lie in [Lie::None, Lie::Rollback { size: 290 }, Lie::Stale { size: 290 }] {
        let log = log();
        log.tell(lie);
        assert_eq!(compare(&log, &[7, SEEN], true), (0, Value::Null), "{lie:?}");
    }
}

#[test]
fn false_tiles_accuse_nobody_of_a_fork() {
    let log = log();
    grow(&log, SEEN..SEEN + 30);
    for lie in [Lie::WrongLeaf { index: 5 }, Lie::WrongEntry { index: 5 }] {
        log.tell(lie);
        let (code, why) = compare(&log, &[6, SEEN], false);
        match lie {
            // The way from 6 to 300 leads over the false hash, and no longer to any root that was signed.
            Lie::WrongLeaf { .. } => assert_eq!(code, 2, "{why}"),
            // No tile is false, and the trees are what they were.
            _ => assert_eq!((code, why), (0, Value::Null)),
        }
    }
}
