//! `anchor monitor` on real logs and on one that lies, each lie caught by its name.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_tests::lying_log::{Lie, LyingLog, made_up};
use anchorlog_tests::world::World;
use anchorlog_tests::world::statements::{batch, entry, placed, text};
use serde_json::Value;

use crate::follow_support::{Home, name, serve_directory, take_posts};

/// An honest log of 600 statements, on HTTP.
fn honest() -> LyingLog {
    let log = LyingLog::new("log.example/lies");
    log.append((0..600).map(|number| entry(number).leaf_bytes().to_vec()));
    log
}

fn more(log: &LyingLog, from: u64, count: u64) {
    log.append((from..from + count).map(|number| entry(number).leaf_bytes().to_vec()));
}

#[test]
fn a_real_log_is_read_whole_and_what_is_watched_is_told_of_once() {
    let mut world = World::start();
    let statements = (0..300).map(|number| match number % 100 {
        7 => placed(number, "run-1", number),
        _ => text(number),
    });
    assert_eq!(world.post("/v1/entries:batch", batch(statements)).status, 200);
    let home = Home::new();
    let (url, vkey) = (world.url(), world.vkey().to_owned());
    let monitor = |place: &str| {
        let digest = Digest::of(&250_u64.to_be_bytes()).to_string();
        home.run(&[
            "monitor", "--log", place, "--vkey", &vkey, "--once", "--trail", "run-1", "--digest",
            &digest,
        ])
    };
    let told = monitor(&url).with_code(0);
    assert_eq!(told.names(), ["entry 7", "entry 107", "entry 207", "entry 250"]);
    assert_eq!((&told.report["read"], &told.report["size"]), (&300.into(), &300.into()));
    assert_eq!(told.report["alarms"], serde_json::json!([]));
    assert!(monitor(&url).with_code(0).events.is_empty());
    let _ = world.post("/v1/entries", placed(1000, "run-1", 1000)).json();
    assert_eq!(monitor(&url).with_code(0).names(), ["entry 300"]);

    // The same log as an export, and as a static server shows it.
    world.terminate();
    let exported = world.log_server(&["export", "--to", "public"]).report(0);
    assert_eq!(exported["size"], 301);
    let public = world.root().join("public");
    let told = monitor(public.to_str().unwrap()).with_code(0);
    assert_eq!(told.report["read"], 301);
    assert_eq!(told.names().last().unwrap(), "entry 300");
    let told = monitor(&format!("http://{}", serve_directory(&public))).with_code(0);
    assert_eq!(told.report["read"], 301);
    // And when nobody answers, nothing was evaluated.
    let told = monitor(&url).with_code(2);
    assert_eq!(told.report["errors"][0]["code"], "CLIENT.UNREACHABLE");
}

#[test]
fn time_stamps_in_receipts_are_signs_of_life() {
    let world = World::configured("[anchoring]\ndev_tsa = true\ninterval = \"1s\"");
    let _ = world.post("/v1/entries?wait=anchored&timeout=60", text(0)).json();
    let root = world.data().join("dev-tsa/root.pem");
    let root = format!("tsa={}", root.display());
    let (url, vkey) = (world.url(), world.vkey().to_owned());
    let [believer, other] = [Home::new(), Home::new()];
    let life = |home: &Home, more: &[&str]| {
        let look = ["monitor", "--log", &url, "--vkey", &vkey, "--once"];
        let told = home.run(&[&look, more].concat()).with_code(0);
        let state = home.path(told.report["state"].as_str().unwrap()).join("state.json");
        serde_json::from_slice::<Value>(&fs::read(state).unwrap()).unwrap()["life"].clone()
    };
    let deadline = Instant::now() + Duration::from_mins(2);
    let mut number = 1;
    let stated = loop {
        let unheard = life(&other, &[]);
        assert_eq!(unheard["stated"], serde_json::json!([]), "without roots nobody is believed");
        let life = life(&believer, &["--roots", &root]);
        // An `anchor` entry stands for a token that was seen, once both have come by.
        let anchors = life["anchors"].as_array().unwrap();
        let met = life["tokens"]
            .as_array()
            .unwrap()
            .iter()
            .any(|token| anchors.iter().any(|anchor| anchor[1] == token[0]));
        if met {
            break life["stated"][0].clone();
        }
        assert!(Instant::now() < deadline, "{life:#}");
        let _ = world.post("/v1/entries", text(number)).json();
        number += 1;
        thread::sleep(Duration::from_millis(300));
    };
    assert_eq!(stated["by"], "authority tsa");
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    assert!(stated["time"].as_u64().unwrap().abs_diff(now) < 600, "{stated}");
}

#[test]
fn each_lie_is_caught_by_its_name() {
    for (lie, code, contradiction) in [
        (Lie::SplitView { index: 599 }, "LOG.SPLIT_VIEW", true),
        (Lie::Rollback { size: 300 }, "LOG.ROLLBACK", true),
        (Lie::Fork { index: 5, more: 200 }, "LOG.CONSISTENCY", true),
        (Lie::WrongEntry { index: 650 }, "LOG.ENTRY", false),
        (Lie::WrongLeaf { index: 650 }, "LOG.TILE", false),
        (Lie::WrongIndex { one: 650, other: 651 }, "LOG.ENTRY_INDEX", false),
        (Lie::Stale { size: 600 }, "LOG.SILENT", false),
    ] {
        let log = honest();
        let served = log.serve();
        let (home, vkey) = (Home::new(), log.vkey().to_string());
        let url = served.url();
        let monitor = |more: &[&str]| {
            home.run(&[&["monitor", "--log", &url, "--vkey", &vkey, "--once"], more].concat())
        };
        assert!(monitor(&[]).with_code(0).events.is_empty(), "{lie:?}");
        match lie {
            Lie::SplitView { .. } | Lie::Rollback { .. } | Lie::Fork { .. } => {}
            _ => more(&log, 600, 200),
        }
        log.tell(lie);
        let silence: &[&str] = match lie {
            Lie::Stale { .. } => {
                thread::sleep(Duration::from_secs(3));
                &["--max-silence", "1"]
            }
            _ => &[],
        };
        let told = monitor(silence).with_code(1);
        assert_eq!(told.names(), [format!("alarm {code}")], "{lie:?}");
        assert_eq!(told.report["alarms"][0]["code"], code);
        assert_eq!(told.report["errors"][0]["code"], code);
        let evidence = told.events[0]["evidence"].as_str();
        assert_eq!(evidence.is_some(), contradiction, "{lie:?}");
        if let Some(directory) = evidence {
            let read = |file: &str| fs::read(home.path(directory).join(file)).unwrap();
            assert_eq!(read("seen.note"), log.true_checkpoint(600).to_bytes());
            assert_eq!(read("shown.note"), log.checkpoint().to_bytes());
            let report: Value = serde_json::from_slice(&read("report.json")).unwrap();
            assert_eq!(report["code"], code);
        }
        // Told once; and over, or lasting, when the log tells the truth again.
        assert!(monitor(silence).with_code(1).events.is_empty(), "{lie:?}");
        log.tell(Lie::None);
        match lie {
            Lie::SplitView { .. } | Lie::Fork { .. } => {
                assert!(monitor(&[]).with_code(1).events.is_empty());
                let told = monitor(&["--acknowledge", code]).with_code(0);
                assert_eq!(told.names(), [format!("clear {code}")]);
            }
            _ => {
                let told = monitor(&[]).with_code(0);
                assert_eq!(told.names(), [format!("clear {code}")], "{lie:?}");
            }
        }
    }
}

#[test]
fn a_stranger_to_the_log_and_a_log_of_strangers() {
    let log = LyingLog::new("log.example/foreign");
    log.append(["not a statement", "neither is this"]);
    let served = log.serve();
    let (home, url, vkey) = (Home::new(), served.url(), log.vkey().to_string());
    let told = home.run(&["monitor", "--log", &url, "--vkey", &vkey, "--once"]).with_code(1);
    assert_eq!(told.names(), ["alarm LOG.MALFORMED"]);
    let home = Home::new();
    let digest = Digest::of(b"neither is this").to_string();
    let foreign =
        ["monitor", "--log", &url, "--vkey", &vkey, "--once", "--foreign", "--digest", &digest];
    assert_eq!(home.run(&foreign).with_code(0).names(), ["entry 1"]);
    let other = LyingLog::new("log.example/other").vkey().to_string();
    let told =
        Home::new().run(&["monitor", "--log", &url, "--vkey", &other, "--once"]).with_code(1);
    assert_eq!(told.names(), ["alarm CKPT.ORIGIN_MISMATCH"]);
    // Whom to trust has to be said.
    let told = home.run(&["monitor", "--log", &url, "--once"]).with_code(2);
    assert_eq!(told.report["errors"][0]["code"], "CLIENT.USAGE");
}

#[test]
fn a_webhook_gets_every_event_until_it_takes_it() {
    let log = honest();
    let served = log.serve();
    let (address, taken) = take_posts(2);
    let hook = format!("http://{address}/hooks/secret?token=x");
    let (home, url, vkey) = (Home::new(), served.url(), log.vkey().to_string());
    let [five, last] = [5_u64, 599].map(|number| Digest::of(&number.to_be_bytes()).to_string());
    let told = home
        .run(&[
            "monitor",
            "--log",
            &url,
            "--vkey",
            &vkey,
            "--once",
            "--digest",
            &five,
            "--digest",
            &last,
            "--webhook",
            &hook,
        ])
        .with_code(0);
    let taken = taken.lock().unwrap();
    let events: Vec<Value> =
        taken.iter().map(|body| serde_json::from_slice(body).unwrap()).collect();
    let names: Vec<String> = events.iter().map(name).collect();
    // Two refusals, then both events.
    assert_eq!(names, ["entry 5", "entry 5", "entry 5", "entry 599"]);
    assert_eq!(events[2..], told.events);
    assert!(events[..3].iter().all(|event| event["id"] == told.events[0]["id"]));
}

/// Killed again and again while it tells, it tells everything, and the same thing under the same id.
#[test]
fn nothing_is_lost_when_it_is_killed_while_it_tells() {
    let log = LyingLog::new("log.example/kills");
    let placed =
        |number: u64| serde_json::from_str::<Value>(&placed(number, "run-1", number)).unwrap();
    // Canonical form is sorted and without white space, which is how values are written.
    log.append((0..40).map(|number| placed(number).to_string()));
    let served = log.serve();
    let (home, url, vkey) = (Home::new(), served.url(), log.vkey().to_string());
    let script = home.path("hook.sh");
    fs::write(&script, "cat >> told\nsleep 0.05\n").unwrap();
    let arguments = [
        "monitor",
        "--log",
        &url,
        "--vkey",
        &vkey,
        "--trail",
        "run-1",
        "--interval",
        "1",
        "--hook",
        "sh",
        "--hook-arg",
        script.to_str().unwrap(),
    ];
    let told = || fs::read_to_string(home.path("told")).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let deadline = Instant::now() + Duration::from_mins(2);
    let mut kills = 0_u64;
    loop {
        let mut child = home
            .anchor(&arguments)
            .env("PATH", &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(400 + 100 * kills));
        child.kill().unwrap();
        child.wait().unwrap();
        // The hook that ran then may still write.
        thread::sleep(Duration::from_millis(100));
        kills += 1;
        let seen: std::collections::BTreeSet<String> = told()
            .lines()
            .map(|line| {
                let event: Value = serde_json::from_str(line).unwrap();
                format!("{} {}", event["index"], event["id"])
            })
            .collect();
        if seen.len() == 40 && kills > 2 {
            break;
        }
        assert!(seen.len() <= 40, "one id for one entry: {seen:#?}");
        assert!(Instant::now() < deadline, "{seen:#?}");
    }
}

#[test]
fn what_lies_put_into_a_log_is_a_statement() {
    // The double's own promise, on which the names above depend.
    assert!(anchorlog_proto::statement::LogEntry::from_leaf(&made_up(5)).is_ok());
}
