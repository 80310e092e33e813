//! A log and its witnesses: the server as it is run, and witnesses that keep the rules or break them.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, Origin, SignedCheckpoint};
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::receipt::{Receipt, ReceiptState};
use anchorlog_proto::tlog_policy::{QuorumOutcome, TlogPolicy};
use anchorlog_tests::witness_double::{Behaviour, WitnessDouble};
use anchorlog_tests::world::statements::text;
use anchorlog_tests::world::{World, verifier};
use serde_json::Value;
use tempfile::TempDir;

/// A log that offers its checkpoints every second, and where its policy is.
struct Witnessed {
    world: World,
    home: TempDir,
    quorum: String,
    lines: String,
}

impl Witnessed {
    /// A log with these witnesses; `quorum` is the rest of the policy.
    fn by(witnesses: &[&WitnessDouble], quorum: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let lines: String = witnesses.iter().map(|witness| witness.policy_line()).collect();
        let path = home.path().join("witnesses.policy");
        fs::write(&path, format!("{lines}{quorum}")).unwrap();
        let sections = format!(
            "[witnessing]\npolicy = \"{}\"\ninterval = \"1s\"\ntimeout = \"2s\"\n\
             refresh = \"2s\"\ndaily_allowance = 1000000\n",
            path.display()
        );
        let world = World::configured(&sections);
        Self { world, home, quorum: quorum.to_owned(), lines }
    }

    /// The policy as a verifier needs it: the log's key, too.
    fn policy(&self) -> PathBuf {
        let path = self.home.path().join("verifier.policy");
        let log = format!("log {}\n", self.world.vkey());
        fs::write(&path, format!("{log}{}{}", self.lines, self.quorum)).unwrap();
        path
    }

    fn submit(&self, number: u64, wait: &str) -> Receipt {
        let answer = self.world.post(&format!("/v1/entries?{wait}"), text(number));
        assert_eq!(answer.status, 200, "{}", answer.text());
        Receipt::parse(&answer.body).unwrap()
    }

    /// Waits until a line begins like this among the metrics. They follow what the log answers a moment later.
    fn measures(&self, line: &str) {
        until(line, || {
            let metrics = self.world.get("/metrics").text();
            metrics.lines().any(|known| known.starts_with(line))
        });
    }

    /// How it goes with a witness, by what `/readyz` says.
    fn witness(&self, name: &str) -> Value {
        let health = self.world.get("/readyz").json();
        let witnesses = health["witnessing"]["witnesses"].as_array().unwrap();
        witnesses.iter().find(|witness| witness["name"] == name).unwrap().clone()
    }
}

fn until(what: &str, is: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_mins(1);
    while !is() {
        assert!(Instant::now() < patience, "never: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn receipts_grow_to_witnessed_and_verify_under_the_policy() {
    let [a, b, c] = ["a.example/w", "b.example/w", "c.example/w"]
        .map(|name| WitnessDouble::start(name, Behaviour::Honest));
    c.behave(Behaviour::Status(404));
    let quorum = "group two 2 a.example/w b.example/w c.example/w\nquorum two\n";
    let mut witnessed = Witnessed::by(&[&a, &b, &c], quorum);
    let receipt = witnessed.submit(0, "wait=witnessed&timeout=60");
    assert_eq!(receipt.state, ReceiptState::Witnessed);
    let policy = witnessed.policy();
    let judged = TlogPolicy::parse(&fs::read(&policy).unwrap()).unwrap();
    let verdict = judged.check(receipt.proof.checkpoint()).unwrap();
    assert!(matches!(verdict.quorum(), QuorumOutcome::Met { .. }), "{verdict:?}");
    let file = witnessed.home.path().join("receipt.json");
    fs::write(&file, receipt.to_json().unwrap()).unwrap();
    let (file, policy) = (file.to_str().unwrap(), policy.to_str().unwrap());
    let ran = verifier(["receipt", file, "--policy", policy]);
    assert!(ran.code == 0 && ran.stdout.contains("witness     b.example/w"), "{ran:?}");

    // The next checkpoint is proved from what they know; nothing but the log's own line is sent.
    witnessed.submit(1, "wait=witnessed&timeout=60");
    let seen = a.seen();
    let last = seen.iter().rev().find(|request| !request.proof.is_empty()).unwrap();
    assert_eq!((last.old.get(), last.checkpoint.checkpoint().size.get()), (1, 2));
    assert!(seen.iter().all(|request| request.checkpoint.note().signatures().len() == 1));
    assert_eq!(a.unreadable(), 0);

    // Killed and started again it knows what they know, and so do they.
    witnessed.world.kill();
    witnessed.world.restart();
    assert_eq!(witnessed.submit(1, "wait=witnessed").state, ReceiptState::Witnessed);
    // One that has lost everything says that it knows less, and begins anew.
    b.know(None);
    let before = b.seen().len();
    witnessed.submit(2, "wait=witnessed&timeout=60");
    let olds: Vec<_> = b.seen()[before..].iter().map(|request| request.old.get()).collect();
    assert!(olds.contains(&0) && b.size() >= 3, "{olds:?}");
    until("an idle log is witnessed again", || {
        let shown = witnessed.world.get("/v1/checkpoints/3").json();
        shown["cosignatures"].as_array().unwrap().len() >= 4
    });
    let note = SignedCheckpoint::parse(&witnessed.world.get("/checkpoint").body).unwrap();
    assert!(matches!(judged.check(&note).unwrap().quorum(), QuorumOutcome::Met { .. }));
    assert_eq!(witnessed.witness("c.example/w")["error"], "WITNESS.UNKNOWN_LOG");
    witnessed.measures("anchorlog_witnessed_size 3");

    assert_eq!(witnessed.world.terminate(), 0);
    let report = witnessed.world.log_server(&["fsck"]).report(0);
    assert!(report["cosignatures"].as_u64().unwrap() >= 8, "{report:#}");
}

#[test]
fn every_way_to_be_of_no_use_is_told_apart_and_harms_nobody() {
    let cases = [
        ("400.example/w", Behaviour::Status(400), Some("WITNESS.REFUSED")),
        ("403.example/w", Behaviour::Status(403), Some("WITNESS.UNKNOWN_LOG")),
        ("404.example/w", Behaviour::Status(404), Some("WITNESS.UNKNOWN_LOG")),
        ("409.example/w", Behaviour::Status(409), Some("WITNESS.CONFLICT")),
        ("422.example/w", Behaviour::Status(422), Some("WITNESS.REFUSED")),
        ("421.example/w", Behaviour::Status(421), Some("CLIENT.ANSWER")),
        ("429.example/w", Behaviour::RetryAfter(429, 3600), Some("WITNESS.TOO_MANY")),
        ("500.example/w", Behaviour::Status(500), Some("CLIENT.ANSWER")),
        ("503.example/w", Behaviour::Status(503), Some("CLIENT.ANSWER")),
        ("key.example/w", Behaviour::WrongKey, Some("WITNESS.NO_COSIGNATURE")),
        ("wrong.example/w", Behaviour::WrongCosignature, Some("WITNESS.COSIGNATURE")),
        ("forged.example/w", Behaviour::ForgedLine, Some("WITNESS.COSIGNATURE")),
        ("endian.example/w", Behaviour::LittleEndianTime, Some("WITNESS.COSIGNATURE")),
        ("empty.example/w", Behaviour::EmptyBody, Some("WITNESS.ANSWER")),
        ("huge.example/w", Behaviour::HugeBody(4 << 20), Some("CLIENT.TOO_LARGE")),
        (
            "other.example/w",
            Behaviour::Redirect("http://127.0.0.1:9/".into()),
            Some("CLIENT.REDIRECT"),
        ),
        ("late.example/w", Behaviour::Slow(Duration::from_secs(30)), Some("CLIENT.TIMEOUT")),
        ("extra.example/w", Behaviour::ExtraLines, None),
        ("clock.example/w", Behaviour::ClockOff(7200), None),
        ("good.example/w", Behaviour::Honest, None),
    ];
    let doubles: Vec<_> = cases
        .iter()
        .map(|(name, behaviour, _)| WitnessDouble::start(name, behaviour.clone()))
        .collect();
    let all: Vec<_> = doubles.iter().collect();
    let quorum = "group three 3 extra.example/w clock.example/w good.example/w\nquorum three\n";
    let mut witnessed = Witnessed::by(&all, quorum);
    let receipt = witnessed.submit(0, "wait=witnessed&timeout=60");
    assert_eq!(receipt.state, ReceiptState::Witnessed);
    // Only the lines of those who cosigned, and no others that came along.
    let names: Vec<_> = receipt.proof.checkpoint().note().signatures()[1..]
        .iter()
        .map(|line| line.name().as_str().to_owned())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for (name, _, code) in &cases {
        let code = code.map_or(Value::Null, Value::from);
        until(name, || witnessed.witness(name)["error"] == code);
    }
    assert!(witnessed.witness("clock.example/w")["clock_offset_ms"].as_i64().unwrap() > 7_000_000);
    let log = witnessed.world.read_server_log();
    assert!(log.contains("ALARM: the witness' clock"), "{log}");
    // Who asked to be left alone is.
    assert_eq!(doubles[6].seen().len(), 1);
    for line in [
        "anchorlog_witness_offers_total{witness=\"404.example/w\",outcome=\"cosigned\"} 0",
        "anchorlog_witness_clock_alarms_total{witness=\"clock.example/w\"}",
        "anchorlog_witness_alarm 0",
    ] {
        witnessed.measures(line);
    }
    // It waits for none of them when it stops.
    let begun = Instant::now();
    assert_eq!(witnessed.world.terminate(), 0);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_larger_size_and_another_tree_are_alarms() {
    let foreign = |size: u64| {
        let origin = Origin::new("log.example/test").unwrap();
        Checkpoint::new(origin, TreeSize::new(size).unwrap(), Digest::of(b"another tree"))
    };
    for (known, expected) in [
        (foreign(1_000), "LOG.ROLLBACK"),
        (foreign(1), "LOG.CONSISTENCY"),
        (foreign(2), "LOG.SPLIT_VIEW"),
    ] {
        let [a, b] = ["a.example/w", "b.example/w"]
            .map(|name| WitnessDouble::start(name, Behaviour::Honest));
        let mut witnessed = Witnessed::by(&[&a, &b], "quorum a.example/w\n");
        witnessed.submit(0, "wait=witnessed&timeout=60");
        let first = witnessed.submit(1, "wait=witnessed&timeout=60");
        assert_eq!(first.state, ReceiptState::Witnessed);
        b.know(Some(known));
        until(expected, || witnessed.world.get("/readyz").status == 503);
        let problem = witnessed.world.get("/readyz").problem(503, "server.witness-alarm");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("b.example/w") && detail.contains(expected), "{problem:#}");
        let log = witnessed.world.read_server_log();
        assert!(log.contains("ALARM") && log.contains(expected), "{log}");
        // Entries are taken, and nothing new is witnessed, though the quorum is willing.
        let later = witnessed.submit(2, "wait=witnessed&timeout=3");
        assert_eq!(later.state, ReceiptState::Published);
        let before = Receipt::parse(&witnessed.world.get("/v1/receipts/1").body).unwrap();
        assert_eq!(before.state, ReceiptState::Witnessed);
        assert_eq!(witnessed.world.terminate(), 0);
    }
}

#[test]
fn a_policy_that_could_not_work_is_refused_at_the_start() {
    let world = {
        let mut world = World::start();
        assert_eq!(world.terminate(), 0);
        world
    };
    let path = world.root().join("bad.policy");
    let mut command = world.command(&["serve"]);
    for (policy, what) in [("quorum none\n", "quorum none"), ("nonsense\n", "line 1")] {
        fs::write(&path, policy).unwrap();
        let mut command = world.command(&["serve"]);
        command.env("ANCHORLOG_WITNESSING_POLICY", &path);
        let report = anchorlog_tests::world::run(&mut command).report(2);
        assert_eq!(report["error"]["code"], "CLI.WITNESSING", "{report:#}");
        assert!(report["error"]["message"].as_str().unwrap().contains(what), "{report:#}");
    }
    command.env("ANCHORLOG_WITNESSING_INTERVAL", "1ms");
    let report = anchorlog_tests::world::run(&mut command).report(2);
    assert_eq!(report["error"]["code"], "CLI.CONFIG", "{report:#}");
}
