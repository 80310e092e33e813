//! `anchor mirror`: copies that every reader accepts, whatever happens while they are made.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use anchorlog_tests::lying_log::{Lie, LyingLog};
use anchorlog_tests::world::statements::{batch, entry, text};
use anchorlog_tests::world::{Program, World, command, run};
use serde_json::Value;

use crate::follow_support::{Home, serve_directory};

/// `log-server fsck` on a copy.
fn fsck(copy: &Path, vkey: &str) -> Value {
    let mut command = command(Program::LogServer);
    command.args(["--json", "fsck"]).arg(copy).args(["--vkey", vkey]);
    run(&mut command).report(0)
}

fn submit(world: &World, from: u64, to: u64) {
    for first in (from..to).step_by(1000) {
        let statements = (first..to.min(first + 1000)).map(text);
        assert_eq!(world.post("/v1/entries:batch", batch(statements)).status, 200);
    }
}

#[test]
fn a_copy_is_clean_and_follows_and_can_be_copied_and_watched() {
    let world = World::start();
    let (home, vkey) = (Home::new(), world.vkey().to_owned());
    let mirror =
        |from: &str, to: &str| home.run(&["mirror", "--log", from, "--vkey", &vkey, "--to", to]);
    for (from, to) in [(0, 0), (0, 1), (1, 300), (300, 512), (512, 3000)] {
        submit(&world, from, to);
        let told = mirror(&world.url(), "copy").with_code(0);
        assert_eq!((&told.report["size"], &told.report["read"]), (&to.into(), &(to - from).into()));
        let report = fsck(&home.path("copy"), &vkey);
        assert_eq!((&report["entries"], &report["problem_count"]), (&to.into(), &0.into()));
    }
    let copy = home.path("copy");
    assert_eq!(fs::read(copy.join("checkpoint")).unwrap(), world.get("/checkpoint").body);

    // From the copy: by directory, and as a static server shows it.
    let told = mirror(copy.to_str().unwrap(), "second").with_code(0);
    assert_eq!(told.report["size"], 3000);
    let address = serve_directory(&home.path("second"));
    let told = mirror(&format!("http://{address}"), "third").with_code(0);
    assert_eq!(told.report["size"], 3000);
    assert_eq!(fsck(&home.path("third"), &vkey)["entries"], 3000);
    let told = home.run(&["monitor", "--log", "third", "--vkey", &vkey, "--once"]).with_code(0);
    assert_eq!(told.report["read"], 3000);
}

/// Killed at any moment while the log grows, the copy is whole by its checkpoint, and complete in the end.
#[test]
fn a_copy_survives_being_killed() {
    let world = World::start();
    let (home, vkey, url) = (Home::new(), world.vkey().to_owned(), world.url());
    let arguments =
        ["mirror", "--log", &url, "--vkey", &vkey, "--to", "copy", "--follow", "--interval", "1"];
    let copy = home.path("copy");
    let mut size = 0;
    for round in 0..8_u64 {
        submit(&world, size, size + 2000);
        size += 2000;
        let mut child = home.anchor(&arguments).stdout(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(40 + 60 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        if copy.join("checkpoint").exists() {
            let entries = fsck(&copy, &vkey)["entries"].as_u64().unwrap();
            assert!(entries <= size && entries.is_multiple_of(2000), "{entries}");
        }
    }
    let told = home.run(&["mirror", "--log", &url, "--vkey", &vkey, "--to", "copy"]).with_code(0);
    assert_eq!(told.report["size"], size);
    assert_eq!(fsck(&copy, &vkey)["entries"], size);
}

#[test]
fn a_lying_log_is_not_copied() {
    for (lie, code, contradiction) in [
        (Lie::SplitView { index: 300 }, "LOG.SPLIT_VIEW", true),
        (Lie::Rollback { size: 300 }, "LOG.ROLLBACK", true),
        (Lie::Fork { index: 5, more: 200 }, "LOG.CONSISTENCY", true),
        (Lie::WrongEntry { index: 650 }, "LOG.ENTRY", false),
        (Lie::WrongLeaf { index: 650 }, "LOG.TILE", false),
        (Lie::WrongIndex { one: 650, other: 651 }, "LOG.ENTRY_INDEX", false),
    ] {
        let log = LyingLog::new("log.example/lies");
        log.append((0..600).map(|number| entry(number).leaf_bytes().to_vec()));
        let served = log.serve();
        let (home, url, vkey) = (Home::new(), served.url(), log.vkey().to_string());
        let mirror = || home.run(&["mirror", "--log", &url, "--vkey", &vkey, "--to", "copy"]);
        mirror().with_code(0);
        if !contradiction {
            log.append((600..800).map(|number| entry(number).leaf_bytes().to_vec()));
        }
        log.tell(lie);
        let told = mirror().with_code(1);
        assert_eq!(told.report["errors"][0]["code"], code, "{lie:?}");
        assert_eq!(told.report["evidence"].is_string(), contradiction, "{lie:?}");
        if let Some(directory) = told.report["evidence"].as_str() {
            let read = |file: &str| fs::read(home.path(directory).join(file)).unwrap();
            assert_eq!(read("seen.note"), log.true_checkpoint(600).to_bytes());
            assert_eq!(read("shown.note"), log.checkpoint().to_bytes());
        }
        // What is served is what was true.
        assert_eq!(fsck(&home.path("copy"), &vkey)["entries"], 600, "{lie:?}");
        log.tell(Lie::None);
        let told = mirror().with_code(0);
        assert_eq!(told.report["size"], log.truth().size(), "{lie:?}");
    }
}
