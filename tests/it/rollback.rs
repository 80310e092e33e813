//! A log that was restored from an old backup doesn't sign a second history, as long as anybody knows more.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::cosignature::cosigner_from_note_key;
use anchorlog_proto::note::VerifierKey;
use anchorlog_tests::world::statements::{batch, text};
use anchorlog_tests::world::{Settings, World};
use serde_json::Value;

/// A log whose guard asks these sources.
fn guarded(section: &str) -> World {
    let sections = format!("[rollback_guard]\ntimeout = \"2s\"\n{section}");
    World::with(Settings { sections, ..Settings::default() })
}

fn fill(world: &World, numbers: std::ops::Range<u64>) {
    assert_eq!(world.post("/v1/entries:batch", batch(numbers.map(text))).status, 200);
}

/// Copies a directory with everything in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Puts the copy of a stopped log in the place of what there is.
fn restore(world: &World, backup: &Path) {
    fs::remove_dir_all(world.data()).unwrap();
    copy(backup, &world.data());
}

/// The refusal of a start, and the evidence that it names.
fn refused(world: &World, code: &str) -> Value {
    let report = world.log_server(&["serve"]).report(2);
    assert_eq!(report["error"]["code"], code, "{report:#}");
    report
}

fn size_of(note: &Path, vkey: &str) -> u64 {
    let note = SignedCheckpoint::parse(&fs::read(note).unwrap()).unwrap();
    note.verify(&vkey.parse().unwrap()).unwrap().checkpoint().size.get()
}

/// Serves `note` at `path` and 404 at any other, for as long as the test runs.
fn serve(path: String, note: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
                request.push(byte[0]);
            }
            let found = request.starts_with(format!("GET {path} ").as_bytes());
            let (status, body) =
                if found { ("200 OK", &note[..]) } else { ("404 Not Found", &b""[..]) };
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    address
}

#[test]
fn an_old_backup_is_not_started_because_an_export_knows_more() {
    let mut world = guarded("mirrors = [\"public\"]");
    fill(&world, 0..300);
    assert_eq!(world.terminate(), 0);
    let _ = world.log_server(&["export", "--to", "public"]).report(0);
    let backup = world.root().join("backup");
    copy(&world.data(), &backup);
    // The mirror knows as much, and later less: both are in order.
    world.restart();
    fill(&world, 300..350);
    assert_eq!(world.terminate(), 0);
    world.restart();
    assert_eq!(world.terminate(), 0);
    let newest = world.root().join("newest");
    copy(&world.data(), &newest);
    let _ = world.log_server(&["export", "--to", "public"]).report(0);

    restore(&world, &backup);
    let report = refused(&world, "LOG.ROLLBACK");
    let message = report["error"]["message"].as_str().unwrap();
    assert!(message.contains("350") && message.contains("300"), "{message}");
    let evidence: Vec<PathBuf> = fs::read_dir(world.data().join("rollback-evidence"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let [evidence] = &evidence[..] else { panic!("{evidence:?}") };
    assert!(message.contains(evidence.to_str().unwrap()), "{message}");
    assert_eq!(size_of(&evidence.join("ours.note"), world.vkey()), 300);
    assert_eq!(size_of(&evidence.join("shown.note"), world.vkey()), 350);
    // Nothing else signs either.
    for command in ["init", "freeze"] {
        let report = world.log_server(&[command]).report(2);
        assert_eq!(report["error"]["code"], "LOG.ROLLBACK", "{command}: {report:#}");
    }
    assert!(!world.data().join("FROZEN").exists());

    // It can be looked at.
    world.restart_as(&["serve", "--read-only"]);
    assert_eq!(world.greeting()["standing"], "read-only");
    assert_eq!(world.get("/readyz").json()["status"], "read-only");
    assert_eq!(world.get("/v1/receipts/299").status, 200);
    let answer = world.post("/v1/entries", text(999));
    answer.problem(503, "server.read-only");
    assert_eq!(answer.header("retry-after"), None);
    assert_eq!(world.terminate(), 0);
    let _ = world.log_server(&["fsck"]).report(0);
    // And with what was missing it goes on.
    restore(&world, &newest);
    world.restart();
    fill(&world, 350..360);
}

#[test]
fn another_history_and_an_empty_disk_are_not_started() {
    let mut world = guarded("mirrors = [\"public\"]");
    fill(&world, 0..20);
    assert_eq!(world.terminate(), 0);
    let backup = world.root().join("backup");
    copy(&world.data(), &backup);
    world.restart();
    fill(&world, 20..25);
    assert_eq!(world.terminate(), 0);
    let _ = world.log_server(&["export", "--to", "public"]).report(0);
    // Without the mirror the old copy is started, and signs something else.
    restore(&world, &backup);
    fs::rename(world.root().join("public"), world.root().join("away")).unwrap();
    world.restart();
    assert!(
        world.read_server_log().contains("rollback guard"),
        "it says that nobody could be asked"
    );
    fill(&world, 100..110);
    assert_eq!(world.terminate(), 0);
    fs::rename(world.root().join("away"), world.root().join("public")).unwrap();
    refused(&world, "LOG.SPLIT_VIEW");

    let key = fs::read(world.data().join("key.pem")).unwrap();
    fs::remove_dir_all(world.data()).unwrap();
    fs::create_dir(world.data()).unwrap();
    fs::write(world.data().join("key.pem"), key).unwrap();
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(world.data().join("key.pem"), private).unwrap();
    refused(&world, "LOG.ROLLBACK");
}

#[test]
fn mirrors_and_witnesses_are_asked_over_the_network() {
    let mut world = guarded("");
    fill(&world, 0..8);
    let origin = world.origin().to_owned();
    let eight = world.get("/checkpoint").body;
    assert_eq!(world.terminate(), 0);
    let backup = world.root().join("backup");
    copy(&world.data(), &backup);
    world.restart();
    fill(&world, 8..12);
    let twelve = world.get("/checkpoint").body;
    assert_eq!(world.terminate(), 0);
    restore(&world, &backup);

    let mirror = serve("/m/checkpoint".to_owned(), twelve.clone());
    let log = Digest::of(origin.as_bytes()).to_hex();
    let witness = serve(format!("/w/{log}/checkpoint"), twelve);
    let current = serve("/checkpoint".to_owned(), eight);
    let key: VerifierKey = world.vkey().parse().unwrap();
    let cosigner = cosigner_from_note_key(&key);
    let policy = world.root().join("witnesses");
    fs::write(&policy, format!("witness w {cosigner} http://{witness}/w\nquorum w\n")).unwrap();
    let nobody = "http://127.0.0.1:9";
    for (section, code) in [
        (format!("mirrors = [\"http://{mirror}/m\"]"), Some("LOG.ROLLBACK")),
        (format!("witnesses = {policy:?}"), Some("LOG.ROLLBACK")),
        (format!("mirrors = [\"{nobody}\", \"http://{mirror}/m/\"]"), Some("LOG.ROLLBACK")),
        (format!("mirrors = [\"{nobody}\"]\nrequire = 1"), Some("GUARD.TOO_FEW")),
        (format!("mirrors = [\"http://{mirror}\"]\nrequire = 1"), Some("GUARD.TOO_FEW")),
        ("min_size = 9".to_owned(), Some("LOG.ROLLBACK")),
        ("checkpoint_file = \"missing\"".to_owned(), Some("GUARD.PIN")),
        (format!("mirrors = [\"{nobody}\", \"http://{current}\"]\nrequire = 1"), None),
    ] {
        world.reconfigure(|settings| {
            settings.sections = format!("[rollback_guard]\ntimeout = \"2s\"\n{section}");
        });
        match code {
            Some(code) => {
                let report = world.log_server(&["init"]).report(2);
                assert_eq!(report["error"]["code"], code, "{section}: {report:#}");
            }
            None => {
                let _ = world.log_server(&["init"]).report(0);
            }
        }
    }
}
