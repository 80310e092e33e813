//! `anchor record`: whole runs by the program, a real child process, and kills between any two steps.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{anchor, report};

struct World {
    directory: tempfile::TempDir,
}

impl World {
    /// Keys, a plan of these nodes, an operator record, a workspace and an instruction.
    fn new(nodes: &[&str], gated: bool) -> Self {
        let world = Self { directory: tempfile::tempdir().unwrap() };
        for (name, seed) in [("engine", 1), ("approver", 2), ("authority", 3), ("operator", 7)] {
            // RFC 8410: a PKCS#8 key is these sixteen bytes and the seed.
            let der = [
                &[0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20][..],
                &[seed; 32],
            ]
            .concat();
            let text = anchorlog_proto::encoding::base64_encode(&der);
            let pem = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
            fs::write(world.at(name), pem).unwrap();
            fs::set_permissions(world.at(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
        let mut arguments = vec!["plan", "new", "--engine-key", "engine", "--test", "true"];
        for node in nodes {
            arguments.extend(["--node", node]);
        }
        if gated {
            arguments.extend(["--approver-key", "approver"]);
        }
        arguments.extend(["--authority-key", "authority"]);
        world.keep("plan.json", &arguments);
        world.keep(
            "operator.json",
            &[
                "plan",
                "operator",
                "--identity",
                "Example Ltd",
                "--implementation",
                "engine 1",
                "--unit",
                "tests",
                "--engagement",
                "lane 1",
                "--key",
                "operator",
            ],
        );
        fs::create_dir(world.at("workspace")).unwrap();
        fs::write(world.at("task.md"), "do it").unwrap();
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = anchor(&self.at("state"));
        command.current_dir(self.directory.path()).arg("record").args(arguments);
        // The executors are scripts.
        command.env("PATH", "/usr/bin:/bin");
        command
    }

    fn keep(&self, name: &str, arguments: &[&str]) {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::write(self.at(name), output.stdout).unwrap();
    }

    fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let (first, rest) = arguments.split_first().unwrap();
        report(&self.command(&[&[*first, "--json"], rest].concat()).output().unwrap())
    }

    fn ok(&self, arguments: &[&str]) -> Value {
        let (code, report) = self.json(arguments);
        assert_eq!(code, 0, "{arguments:?}: {report:#}");
        report
    }

    fn freeze(&self) {
        self.ok(&["freeze", "run", "--plan", "plan.json", "--operator", "operator.json"]);
    }

    fn run(&self, node: &str, extra: &[&str], script: &str) -> (i32, Value) {
        let arguments = [
            &["run", "run", "--node", node, "--workspace", "workspace", "--instruction", "task.md"],
            &["--model", "sh", "--model-version", "1", "--provider", "tests"][..],
            extra,
            &["--", "sh", "-c", script],
        ];
        self.json(&arguments.concat())
    }

    fn verdict(&self, node: &str) -> Value {
        fs::write(self.at("out"), "fine\n").unwrap();
        fs::write(self.at("err"), "").unwrap();
        self.ok(&[
            "verdict",
            "run",
            "--engine-key",
            "engine",
            "--node",
            node,
            "--test",
            "t1",
            "--exit-code",
            "0",
            "--signal",
            "task.md",
            "--subject",
            "task.md",
            "--environment",
            "plan.json",
            "--stdout",
            "out",
            "--stderr",
            "err",
            "--keep",
        ])
    }
}

#[test]
fn a_run_by_the_program() {
    let world = World::new(&["a", "b"], true);
    let hash = world.ok(&["plan", "check", "plan.json"])["plan_hash"].clone();
    world.freeze();
    assert_eq!(world.ok(&["status", "run"])["plan_hash"], hash);
    let (code, session) = world.run(
        "a",
        &[],
        "mkdir a && echo x > a/x && echo stray > c && echo said && echo so >&2",
    );
    assert_eq!(code, 0, "{session:#}");
    assert_eq!(session["touched"], serde_json::json!(["a/x", "c"]));
    assert_eq!(session["status"], "completed");
    assert_eq!(session["quiescence"], "quiesced");
    let output = fs::read(world.at("run").join(session["output"].as_str().unwrap())).unwrap();
    assert_eq!(output, b"said\nso\n");

    world.ok(&["flag", "run", "--node", "a"]);
    world.ok(&["remediation", "run", "--node", "a", "--action", "removal"]);
    let scope = ["scope-closed", "run", "--node", "a", "--verdict", "pass"];
    let (code, refused) = world.json(&scope);
    assert_eq!((code, &refused["errors"][0]["code"]), (2, &"RECORD.NO_KEY".into()));
    world.ok(&[&scope[..], &["--engine-key", "engine"]].concat());
    world.verdict("a");
    world.ok(&["gate-request", "run", "--node", "a"]);
    let answer = ["answer", "run", "--node", "a", "--decision", "proceed", "--key"];
    let (code, refused) = world.json(&[&answer[..], &["engine"]].concat());
    assert_eq!((code, &refused["errors"][0]["code"]), (2, &"RECORD.KEY_ROLE".into()));
    world.ok(&[&answer[..], &["approver"]].concat());

    // An executor that fails, and is tried again.
    let (code, session) = world.run("b", &[], "exit 3");
    assert_eq!((code, &session["status"]), (1, &"crashed".into()));
    world.ok(&["retry", "run", "--node", "b"]);
    let (code, session) = world.run("b", &["--timeout", "0", "--grace", "1"], "sleep 60");
    assert_eq!((code, &session["status"]), (1, &"timed_out".into()));
    let (code, refused) = world.json(&["retry", "run", "--node", "b"]);
    assert_eq!((code, &refused["findings"][0]["code"]), (1, &"R8.BOUND".into()));
    world.ok(&["trip", "run", "--node", "b"]);
    world.ok(&["snapshot", "run", "--engine-key", "engine", "--out", "snapshot.tar"]);
    world.ok(&["halt", "run"]);
    let exported = world.ok(&["export", "run", "--engine-key", "engine", "--out", "core"]);
    assert_eq!(exported["report"]["outcome"], "HALTED");
    assert_eq!(exported["report"]["valid"], true);
    let text = world.command(&["status", "run"]).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("plan_halted") && text.contains("TRIPPED"), "{text}");
}

#[test]
fn an_answer_is_signed_elsewhere_by_openssl() {
    let world = World::new(&["a"], true);
    world.freeze();
    assert_eq!(world.run("a", &[], "true").0, 0);
    world.verdict("a");
    world.ok(&["gate-request", "run", "--node", "a"]);
    let plan: Value = serde_json::from_slice(&fs::read(world.at("plan.json")).unwrap()).unwrap();
    let who = plan["authorized_principals"][1]["key_id"].as_str().unwrap();
    let body = ["gate-body", "run", "--node", "a", "--decision", "proceed", "--who", who];
    world.keep("body", &body);
    let signed = Command::new("openssl")
        .current_dir(world.directory.path())
        .args(["pkeyutl", "-sign", "-rawin", "-inkey", "approver", "-in", "body", "-out", "sig"])
        .status();
    if !signed.is_ok_and(|status| status.success()) {
        println!("skipped: openssl isn't there");
        return;
    }
    let signature = anchorlog_proto::encoding::base64_encode(&fs::read(world.at("sig")).unwrap());
    let body = String::from_utf8(fs::read(world.at("body")).unwrap()).unwrap();
    let object = format!("{{\"body\":{body},\"signature\":\"{signature}\"}}\n");
    fs::write(world.at("signed.json"), object).unwrap();
    world.ok(&["answer", "run", "--signed", "signed.json"]);
    world.ok(&["complete", "run"]);
    let exported = world.ok(&["export", "run", "--engine-key", "engine", "--out", "core"]);
    assert_eq!(exported["report"]["satisfied"], true);
}

#[test]
fn what_an_executor_starts_ends_with_it() {
    let world = World::new(&["a"], false);
    world.freeze();
    // Left behind on purpose; it would touch a file after the session.
    let (code, session) = world.run("a", &[], "(sleep 2; touch a-late) & exit 0");
    assert_eq!((code, &session["quiescence"]), (0, &"quiesced".into()), "{session:#}");
    thread::sleep(Duration::from_millis(2500));
    assert!(!world.at("workspace/a-late").exists());
}

#[test]
fn the_record_lies_outside_of_the_workspace() {
    let world = World::new(&["a"], false);
    world.freeze();
    let (code, refused) = world.json(&[
        "run",
        "run",
        "--node",
        "a",
        "--workspace",
        ".",
        "--instruction",
        "task.md",
        "--model",
        "m",
        "--model-version",
        "1",
        "--provider",
        "p",
        "--",
        "true",
    ]);
    assert_eq!((code, &refused["errors"][0]["code"]), (2, &"RECORD.OVERLAP".into()));
    let (code, session) = world.json(&[
        "run",
        "run",
        "--node",
        "a",
        "--workspace",
        "workspace",
        "--instruction",
        "task.md",
        "--model",
        "m",
        "--model-version",
        "1",
        "--provider",
        "p",
        "--",
        "./there-is-none",
    ]);
    assert_eq!((code, &session["errors"][0]["code"]), (1, &"RECORD.SPAWN".into()));
    assert_eq!(session["status"], "crashed");
}

#[test]
fn a_snapshot_is_taken_while_the_executor_runs() {
    let world = World::new(&["a"], false);
    world.freeze();
    thread::scope(|scope| {
        let run = scope.spawn(|| world.run("a", &[], "touch started; sleep 3"));
        let start = Instant::now();
        while !world.at("workspace/started").exists() && start.elapsed().as_secs() < 20 {
            thread::sleep(Duration::from_millis(20));
        }
        let snapshot =
            world.ok(&["snapshot", "run", "--engine-key", "engine", "--out", "snapshot"]);
        assert_eq!(snapshot["report"]["outcome"], "INCOMPLETE");
        assert_eq!(run.join().unwrap().0, 0);
    });
    assert_eq!(world.ok(&["status", "run"])["nodes"][0]["status"], "CAPTURED");
}

#[test]
fn a_supervisor_that_is_told_to_stop_ends_its_executor_and_records_it() {
    let world = World::new(&["a"], false);
    world.freeze();
    let child = world
        .command(&[
            "run",
            "run",
            "--json",
            "--node",
            "a",
            "--workspace",
            "workspace",
            "--instruction",
            "task.md",
            "--model",
            "m",
            "--model-version",
            "1",
            "--provider",
            "p",
            "--",
            "sh",
            "-c",
            "touch started; sleep 60; touch late",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !world.at("workspace/started").exists() && start.elapsed().as_secs() < 20 {
        thread::sleep(Duration::from_millis(20));
    }
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(told.unwrap().success());
    let (code, session) = report(&child.wait_with_output().unwrap());
    assert_eq!((code, &session["status"]), (1, &"killed".into()), "{session:#}");
    assert_eq!(session["touched"], serde_json::json!(["started"]));
    assert!(start.elapsed().as_secs() < 30);
    assert_eq!(world.ok(&["status", "run"])["nodes"][0]["status"], "FAILED");
}

/// A process that left its group keeps the output open. What it writes later is in nothing that an entry names.
#[test]
fn what_is_written_after_a_session_changes_no_artifact() {
    let world = World::new(&["a"], false);
    world.freeze();
    let script = "setsid sh -c 'while ! [ -e ../go ]; do sleep 0.05; done; echo late; touch ../gone' & echo done";
    let (code, session) = world.run("a", &[], script);
    assert_eq!((code, &session["status"]), (0, &"completed".into()), "{session:#}");
    fs::write(world.at("go"), "").unwrap();
    let start = Instant::now();
    while !world.at("gone").exists() && start.elapsed().as_secs() < 20 {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(fs::read(world.at("run/artifacts/s1/output")).unwrap(), b"done\n");
    world.verdict("a");
    world.ok(&["complete", "run"]);
    world.ok(&["export", "run", "--out", "core", "--engine-key", "engine"]);
}

/// An executor that floods its output is killed, and its record can be sealed all the same.
#[test]
fn more_output_than_a_member_can_have_is_cut_off() {
    let world = World::new(&["a"], false);
    world.freeze();
    let (code, session) = world.run("a", &[], "truncate -s 300M /proc/self/fd/1; exec sleep 60");
    assert_eq!((code, &session["status"]), (1, &"killed".into()), "{session:#}");
    let output = fs::metadata(world.at("run/artifacts/s1/output")).unwrap();
    assert_eq!(output.len(), 256 << 20);
    world.ok(&["snapshot", "run", "--out", "snapshot", "--engine-key", "engine"]);
}

#[test]
fn a_disk_that_takes_no_more_leaves_the_record_as_it_was() {
    let world = World::new(&["a"], false);
    world.freeze();
    let before = fs::read(world.at("run/witness.jsonl")).unwrap();
    assert!(before.len() > 1024);
    // No file may grow beyond 1024 bytes; the entry would.
    let dispatch = world.command(&[
        "dispatch",
        "run",
        "--json",
        "--node",
        "a",
        "--instruction",
        "task.md",
        "--baseline",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "--model",
        "m",
        "--model-version",
        "1",
        "--provider",
        "p",
    ]);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(dispatch.get_program())
        .args(dispatch.get_args())
        .current_dir(world.directory.path());
    let (code, refused) = report(&limited.output().unwrap());
    assert_eq!((code, &refused["errors"][0]["code"]), (2, &"RECORD.DISK".into()), "{refused:#}");
    assert_eq!(fs::read(world.at("run/witness.jsonl")).unwrap(), before);
    assert_eq!(world.run("a", &[], "true").0, 0);
}

/// What comes next in a run of one node, by the program's own word.
fn next(standing: &Value) -> Vec<&'static str> {
    let node = &standing["nodes"][0];
    match (standing["terminal"].as_str(), standing["open_session"].as_str(), &node["status"]) {
        (Some(_), ..) => vec![],
        (None, Some(_), _) => vec!["lost", "run"],
        (None, None, status) => match status.as_str().unwrap() {
            "PENDING" | "GRANTED" => vec!["run"],
            "CAPTURED" => vec!["verdict"],
            "FAILED" if node["retries"] == 0 => vec!["retry", "run", "--node", "a"],
            "FAILED" => vec!["trip", "run", "--node", "a"],
            "TRIPPED" => vec!["halt", "run"],
            "VERIFIED" => vec!["complete", "run"],
            other => panic!("{other}"),
        },
    }
}

#[test]
fn a_program_killed_between_any_two_steps_resumes_or_ends_honestly() {
    let mut killed = 0;
    for round in 0..12_u64 {
        let world = World::new(&["a"], false);
        world.freeze();
        let mut steps = 0;
        loop {
            let (code, standing) = world.json(&["status", "run"]);
            assert_eq!(code, 0, "{standing:#}");
            let step = next(&standing);
            if step.is_empty() {
                break;
            }
            let mut command = match step[0] {
                "run" => world.command(&[
                    "run",
                    "run",
                    "--node",
                    "a",
                    "--workspace",
                    "workspace",
                    "--instruction",
                    "task.md",
                    "--model",
                    "m",
                    "--model-version",
                    "1",
                    "--provider",
                    "p",
                    "--",
                    "sh",
                    "-c",
                    "mkdir -p a; echo $$ > a/x; sleep 0.03",
                ]),
                "verdict" => world.command(&[
                    "verdict",
                    "run",
                    "--engine-key",
                    "engine",
                    "--node",
                    "a",
                    "--test",
                    "t1",
                    "--exit-code",
                    "0",
                    "--signal",
                    "task.md",
                    "--subject",
                    "task.md",
                    "--environment",
                    "task.md",
                    "--stdout",
                    "task.md",
                    "--stderr",
                    "task.md",
                ]),
                _ => world.command(&step),
            };
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Every third step is left alone, so that there is an end.
            if steps % 3 != 2 {
                thread::sleep(Duration::from_millis(4 * round + 7 * (steps % 5)));
                child.kill().unwrap();
            }
            killed += u64::from(!child.wait().unwrap().success());
            steps += 1;
            assert!(steps < 60, "no end: {standing:#}");
        }
        let exported = world.ok(&["export", "run", "--engine-key", "engine", "--out", "core"]);
        assert_eq!(exported["report"]["valid"], true, "{exported:#}");
        let outcome = exported["report"]["outcome"].as_str().unwrap();
        assert!(["COMPLETED", "HALTED"].contains(&outcome), "{outcome}");
        assert!(!Path::new(&world.at("core")).join("LOCK").exists());
    }
    assert!(killed > 0, "no kill came before the end");
}
