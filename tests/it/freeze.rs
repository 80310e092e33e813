//! The end of a log: it is signed once more, takes nothing, and is served for ever without its key.

use std::fs;
use std::thread;
use std::time::Duration;

use anchorlog_tests::process::{self, Process};
use anchorlog_tests::world::statements::{batch, text};
use anchorlog_tests::world::{Settings, World, run, verifier};

const ANCHORING: &str = "[anchoring]\ndev_tsa = true\ninterval = \"1h\"";

#[test]
fn a_served_log_is_ended_and_stays_readable_without_its_key() {
    let mut world = World::with(Settings { sections: ANCHORING.to_owned(), ..Settings::default() });
    assert_eq!(world.post("/v1/entries:batch", batch((0..10).map(text))).status, 200);
    let policy = world.policy();
    let done = world.log_server(&["freeze"]).report(0);
    assert_eq!(done["server_running"], true, "{done:#}");
    assert_eq!((&done["already_frozen"], &done["size"]), (&false.into(), &10.into()));
    assert_eq!(done["round"]["anchored"], true, "the last checkpoint is stamped: {done:#}");
    let last = world.get("/checkpoint").text();
    assert_eq!(done["checkpoint"], last);

    for (path, body) in [("/v1/entries", text(3)), ("/v1/entries:batch", batch([text(99)]))] {
        let answer = world.post(path, body);
        answer.problem(503, "server.read-only");
        assert_eq!(answer.header("retry-after"), None, "waiting doesn't help");
    }
    let ready = world.get("/readyz");
    assert_eq!((ready.status, &ready.json()["status"]), (200, &"frozen".into()));
    let again = world.log_server(&["freeze"]).report(0);
    assert_eq!((&again["already_frozen"], &again["size"]), (&true.into(), &10.into()));
    let renewed = world.log_server(&["renew"]).report(0);
    assert_eq!((&renewed["anchored"], &renewed["size"]), (&true.into(), &10.into()));

    world.kill();
    fs::remove_file(world.data().join("key.pem")).unwrap();
    world.restart();
    assert_eq!(world.greeting()["standing"], "frozen");
    assert_eq!(world.get("/checkpoint").text(), last, "and nothing has been added");
    world.post("/v1/entries", text(99)).problem(503, "server.read-only");
    assert_eq!(world.get("/v1/log").json()["size"], 10);
    let renewed = world.log_server(&["renew"]).report(0);
    assert_eq!((&renewed["anchored"], &renewed["server_running"]), (&true.into(), &true.into()));
    let receipt = world.get("/v1/receipts/9");
    assert_eq!(receipt.json()["state"], "anchored");
    let path = world.root().join("receipt.json");
    fs::write(&path, &receipt.body).unwrap();
    let root = world.data().join("dev-tsa/root.pem");
    let judged = verifier([
        "receipt".as_ref(),
        path.as_os_str(),
        "--policy".as_ref(),
        policy.as_os_str(),
        "--tsa-roots".as_ref(),
        root.as_os_str(),
        "--json".as_ref(),
    ]);
    assert_eq!(judged.code, 0, "{}", judged.stdout);
    assert_eq!(judged.json()["state"]["shown"], "anchored");

    assert_eq!(world.terminate(), 0);
    let checked = world.log_server(&["fsck"]).report(0);
    assert!(checked["notes"].to_string().contains("frozen"), "{checked:#}");
    let _ = world.log_server(&["export", "--to", "public"]).report(0);
    assert_eq!(fs::read_to_string(world.root().join("public/checkpoint")).unwrap(), last);
    let again = world.log_server(&["freeze"]).report(0);
    assert_eq!(again["already_frozen"], true, "without the key, too: {again:#}");
    let _ = world.log_server(&["rebuild-index"]).report(0);
}

#[test]
fn a_stopped_log_is_ended_as_well() {
    let mut world = World::start();
    assert_eq!(world.post("/v1/entries:batch", batch((0..3).map(text))).status, 200);
    assert_eq!(world.terminate(), 0);
    let done = world.log_server(&["freeze"]).report(0);
    assert_eq!((&done["server_running"], &done["size"]), (&false.into(), &3.into()), "{done:#}");
    assert_eq!(done["already_frozen"], false);
    world.restart();
    assert_eq!(world.greeting()["standing"], "frozen");
    world.post("/v1/entries", text(9)).problem(503, "server.read-only");
    // Another log's directory isn't opened under this one's name, key or no key.
    assert_eq!(world.terminate(), 0);
    fs::remove_file(world.data().join("key.pem")).unwrap();
    let other = world.log_server(&["--origin", "other.example", "fsck"]).report(2);
    assert_eq!(other["error"]["code"], "CLI.MISSING_KEY", "{other:#}");
}

#[test]
fn killed_at_any_moment_of_its_end_a_log_goes_on_or_has_ended() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let mut ended = false;
    let mut entries = 0;
    for round in 0..12_u64 {
        let mut server = Process::start(&data).unwrap();
        assert!(server.is_ready());
        let mut connection = server.connect();
        let reply = connection.post("/v1/entries", text(round).as_bytes()).unwrap();
        if reply.status == 200 {
            entries += 1;
            assert!(!ended, "nothing is taken after the end");
        } else {
            assert_eq!(reply.status, 503);
            ended = true;
        }
        let log = connection.get("/v1/log").unwrap();
        let log: serde_json::Value = serde_json::from_slice(&log.body).unwrap();
        assert_eq!(log["size"], entries);
        let mut freeze = process::command();
        freeze.args(["freeze", "--json", "--data"]).arg(&data);
        let freezing = thread::spawn(move || run(&mut freeze));
        thread::sleep(Duration::from_millis(4 * round));
        let _ = server.kill();
        // Asked the server, or found it dead and did it itself, or found nobody: all of it is in order.
        let ran = freezing.join().unwrap();
        assert!([0, 2].contains(&ran.code), "{ran:?}");
        ended |= ran.code == 0;
        let report = process::fsck(&data);
        assert_eq!(report["size"], entries, "{report:#}");
        if ended {
            assert!(data.join("FROZEN").is_file());
        }
    }
    let server = Process::start(&data).unwrap();
    drop(server);
    let mut freeze = process::command();
    let ran = run(freeze.args(["freeze", "--json", "--data"]).arg(&data));
    assert_eq!(ran.code, 0, "{ran:?}");
}
