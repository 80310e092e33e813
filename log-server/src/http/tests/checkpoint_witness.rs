//! The checkpoint witness over HTTP: every status, every header that matters.

use std::num::NonZeroU32;

use anchorlog_proto::jp::witness::{
    AuditCheckpoint, MAX_LINE_BYTES, MAX_SUBMISSION_BYTES, Registration, Statement as Witnessed,
    TrailId, WitnessSigner,
};

use super::*;
use crate::bearer::Bearers;
use crate::checkpoint_witness::ledger::{Ledger, entry_of};
use crate::checkpoint_witness::{Limits, Opening, Options, Paths, RegistrationMode};
use crate::clock::Clock;
use crate::config::TokenConfig;
use crate::standing::Standing;

const SUBMIT: &str = "/witness/checkpoints";

/// A log that is a checkpoint witness too, and tokens for two submitters.
struct Witness {
    router: Router,
    log: Log,
    files: Arc<CheckpointWitness>,
    metrics: Metrics,
    stop: watch::Sender<bool>,
    running: Option<Running>,
    _home: TempDir,
}

impl Witness {
    async fn new(change: impl FnOnce(&mut Options)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let signer = NoteSigner::from_seed(KeyName::new(ORIGIN).unwrap(), [7; 32]);
        let metrics = Metrics::new();
        let options = LogOptions { engine: Engine::Memory, ..LogOptions::default() };
        let data = home.path().join("data");
        let (log, running) = Log::open(&data, signer, &options, metrics.clone()).unwrap();
        while !log.is_ready() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let mut options = Options {
            registration: RegistrationMode::FirstSubmission,
            submitters: None,
            submissions_per_minute: NonZeroU32::new(6000).unwrap(),
            trails_per_submitter: 3,
            limits: Limits::DEFAULT,
        };
        change(&mut options);
        let paths =
            Paths { directory: data.join("witness"), marks: home.path().join("marks.jsonl") };
        let opening = Opening::Sign(WitnessSigner::from_seed(&[3; 32]));
        let witness =
            CheckpointWitness::open(paths, opening, options, Clock::system(), metrics.clone());
        let witness = Arc::new(witness.unwrap());
        let config = Config::default();
        let tokens = ["first", "second"].map(|token| TokenConfig {
            subject: token.to_owned(),
            sha256: Digest::of(token.as_bytes()).to_string(),
            ..TokenConfig::default()
        });
        let bearers = Bearers::new(&tokens, ORIGIN).unwrap();
        let access = Access::new(&config.access).unwrap().with_bearers(bearers);
        let (stop, stopped) = watch::channel(false);
        let app = App::new(log.clone(), access, metrics.clone(), &config, stopped.clone());
        let router = router(Arc::new(app.with_checkpoint_witness(Arc::clone(&witness))));
        let ledger = Ledger::new(Arc::clone(&witness), log.clone(), metrics.clone());
        tokio::spawn(ledger.run(stopped));
        Self { router, log, files: witness, metrics, stop, running: Some(running), _home: home }
    }

    async fn send(&self, request: Request) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path, &[], "")).await
    }

    async fn post_as(&self, token: &str, body: impl Into<String>) -> Answer {
        let bearer = format!("Bearer {token}");
        let headers = [("content-type", "application/jsonl"), ("authorization", bearer.as_str())];
        self.send(request(Method::POST, SUBMIT, &headers, body)).await
    }

    async fn post(&self, body: impl Into<String>) -> Answer {
        self.post_as("first", body).await
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(running) = self.running.take() {
            running.shut_down().unwrap();
        }
    }
}

fn trail(number: u8) -> TrailId {
    TrailId::from_bytes([number; 16])
}

fn line(number: u8, sequence: u64, record: &str) -> String {
    let digest = Digest::of(record.as_bytes());
    AuditCheckpoint::new(trail(number), sequence, digest).unwrap().to_line() + "\n"
}

fn lines(answer: &Answer) -> Vec<Witnessed> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/jsonl"));
    assert!(answer.body.is_empty() || answer.body.ends_with(b"\n"));
    let lines = answer.text().lines();
    lines.map(|line| Witnessed::read(line.as_bytes()).unwrap()).collect()
}

#[tokio::test]
async fn a_checkpoint_is_witnessed_once() {
    let world = Witness::new(|_| {}).await;
    let body = line(1, 5, "a") + &line(1, 9, "b");
    let first = world.post(body.clone()).await;
    let [statement] = lines(&first)[..] else { panic!("{}", first.text()) };
    assert_eq!((statement.body().checkpoint.sequence, statement.body().index), (9, 0));
    assert_eq!(first.header("cache-control"), Some("no-store"));
    assert_eq!(first.header("access-control-allow-origin"), None, "writes are for no web page");
    assert_eq!(world.post(body).await.body, first.body);
    let head = world.get(&format!("/witness/trails/{}/head", trail(1))).await;
    assert_eq!(head.body, first.body);
    assert_eq!(head.header("cache-control"), Some("no-store"));
    assert_eq!(head.header("access-control-allow-origin"), Some("*"));
}

#[tokio::test]
async fn what_the_witness_holds_is_shown_with_409() {
    let world = Witness::new(|_| {}).await;
    let held = world.post(line(1, 9, "a")).await.text().trim_end().to_owned();
    let problem = world.post(line(1, 9, "b")).await.problem(409, "witness.conflict");
    assert_eq!((&problem["reason"], &problem["error"]), (&"conflict".into(), &problem["detail"]));
    let statements = problem["statements"].as_array().unwrap();
    assert_eq!((statements.len(), &statements[0]), (2, &held.clone().into()));
    let conflict = Witnessed::read(statements[1].as_str().unwrap().as_bytes()).unwrap();
    assert_eq!(conflict.body().checkpoint.record_digest, Digest::of(b"b"));
    let again = world.post(line(1, 9, "c")).await.problem(409, "witness.conflict");
    assert_eq!(again["statements"], problem["statements"], "the first offer is the evidence");
    let problem = world.post(line(1, 4, "z")).await.problem(409, "witness.below-head");
    assert_eq!(problem["reason"], "below-head");
    assert_eq!(problem["statements"], serde_json::json!([conflict.to_line()]));
    let (retirement, _) = world.files.retire(trail(1)).unwrap();
    let retirement = str::from_utf8(&retirement).unwrap().trim_end();
    let problem = world.post(line(1, 9, "a")).await.problem(409, "witness.retired");
    assert_eq!(problem["reason"], "retired");
    assert_eq!(problem["statements"], serde_json::json!([retirement]));
    let plain = world.get("/witness/trails/x/head").await.problem(400, "request.bad-parameter");
    assert!(plain.get("statements").is_none() && plain.get("reason").is_none());
}

#[tokio::test]
async fn tokens_say_who_submits() {
    let world = Witness::new(|_| {}).await;
    let body = line(1, 9, "a");
    let jsonl = [("content-type", "application/jsonl")];
    let without = world.send(request(Method::POST, SUBMIT, &jsonl, body.clone())).await;
    without.problem(401, "access.token-required");
    assert_eq!(without.header("www-authenticate"), Some("Bearer"));
    world.post_as("third", body.clone()).await.problem(401, "access.bad-token");
    assert_eq!(world.post(body.clone()).await.status, 200);
    world.post_as("second", body.clone()).await.problem(403, "witness.registered-to-another");

    let owned = |options: &mut Options| {
        options.registration = RegistrationMode::Operator;
        let first = crate::bearer::Principal { issuer: ORIGIN.into(), subject: "first".into() };
        options.submitters = Some([first].into());
    };
    let world = Witness::new(owned).await;
    world.post_as("second", body.clone()).await.problem(403, "witness.not-a-submitter");
    world.post(body.clone()).await.problem(403, "witness.not-registered");
    let registration = Registration::new(trail(1), ORIGIN, "first").unwrap();
    assert!(world.files.register(registration).unwrap());
    assert_eq!(world.post(body).await.status, 200);
}

#[tokio::test]
async fn bodies_are_held_to_their_form_and_bounds() {
    let world = Witness::new(|_| {}).await;
    let good = line(1, 9, "a");
    for body in [
        String::new(),
        "\n".to_owned(),
        good.trim_end().to_owned(),
        good.replace("\"sequence\":9", "\"sequence\": 9"),
        good.replace('\n', "\r\n"),
        line(1, 9, "a") + &line(1, 9, "a"),
        line(1, 9, "a") + &line(1, 8, "a"),
        line(1, 8, "a") + &line(2, 9, "a"),
        " ".repeat(MAX_LINE_BYTES) + "\n",
    ] {
        world.post(body).await.problem(400, "witness.malformed-submission");
    }
    let long = " ".repeat(MAX_LINE_BYTES + 1) + "\n";
    world.post(long).await.problem(413, "witness.line-too-long");
    let most = "x".repeat(MAX_SUBMISSION_BYTES);
    world.post(most.clone()).await.problem(400, "witness.malformed-submission");
    world.post(most + "x").await.problem(413, "request.body-too-large");
    for media_type in ["application/json", "text/plain"] {
        let headers = [("content-type", media_type), ("authorization", "Bearer first")];
        let answer = world.send(request(Method::POST, SUBMIT, &headers, good.clone())).await;
        answer.problem(415, "request.unsupported-media-type");
    }
    world.get(SUBMIT).await.problem(405, "request.method-not-allowed");
    assert!(world.files.head(trail(1)).unwrap().is_none(), "nothing was signed");
    assert!(world.metrics.encode(crate::metrics::Format::Prometheus).contains("malformed"));
}

#[tokio::test]
async fn rates_and_trails_are_bounded() {
    let rate = |options: &mut Options| options.submissions_per_minute = NonZeroU32::new(5).unwrap();
    let world = Witness::new(rate).await;
    for number in 1..=3 {
        assert_eq!(world.post(line(number, 1, "a")).await.status, 200);
    }
    world.post(line(4, 1, "a")).await.problem(429, "witness.too-many-trails");
    assert_eq!(world.post(line(3, 2, "a")).await.status, 200);
    let limited = world.post(line(3, 3, "a")).await;
    limited.problem(429, "access.rate-limited");
    let wait: u64 = limited.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=12).contains(&wait), "{wait}");
    assert_eq!(world.post_as("second", line(5, 1, "a")).await.status, 200);
}

#[tokio::test]
async fn chains_are_read_in_pages() {
    let world = Witness::new(|_| {}).await;
    for sequence in 1..=5 {
        assert_eq!(world.post(line(1, sequence, "a")).await.status, 200);
    }
    let path = format!("/witness/trails/{}/statements", trail(1));
    let all = world.get(&path).await;
    assert_eq!(lines(&all).len(), 5);
    assert_eq!(all.header("cache-control"), Some("no-store"), "the next one would be on it");
    let page = world.get(&format!("{path}?from=1&limit=2")).await;
    let indexes: Vec<_> = lines(&page).iter().map(|one| one.body().index).collect();
    assert_eq!(indexes, [1, 2]);
    assert!(page.header("cache-control").unwrap().contains("immutable"));
    assert_eq!(lines(&world.get(&format!("{path}?from=5")).await).len(), 0);
    for query in ["limit=0", "limit=1001", "from=-1", "from=01", "to=1"] {
        assert_eq!(world.get(&format!("{path}?{query}")).await.status, 400, "{query}");
    }
    let unknown = trail(9);
    for path in ["head", "statements"] {
        let unknown = world.get(&format!("/witness/trails/{unknown}/{path}")).await;
        unknown.problem(404, "log.not-found");
        for name in ["AA", &"A".repeat(32), &"a".repeat(33), "%20"] {
            let answer = world.get(&format!("/witness/trails/{name}/{path}")).await;
            answer.problem(400, "request.bad-parameter");
        }
    }
}

#[tokio::test]
async fn a_frozen_log_witnesses_nothing_more_and_is_read() {
    let world = Witness::new(|_| {}).await;
    let first = world.post(line(1, 1, "a")).await;
    assert_eq!(world.get("/readyz").await.json()["checkpoint_witness"], "signing");
    world.log.freeze().await.unwrap();
    assert_eq!(world.log.standing(), Standing::Frozen);
    assert_eq!(world.get("/readyz").await.json()["checkpoint_witness"], "reading");
    world.post(line(1, 2, "a")).await.problem(503, "server.read-only");
    world.post(line(1, 1, "a")).await.problem(503, "server.read-only");
    let head = world.get(&format!("/witness/trails/{}/head", trail(1))).await;
    assert_eq!(head.body, first.body);
    let _ = world.stop.send(true);
    world.post(line(1, 2, "a")).await.problem(503, "server.stopping");
}

#[tokio::test]
async fn statements_are_entered_into_the_log() {
    let world = Witness::new(|_| {}).await;
    for (sequence, record) in [(1, "a"), (2, "b"), (2, "other")] {
        let _ = world.post(line(1, sequence, record)).await;
    }
    let page = world.get(&format!("/witness/trails/{}/statements", trail(1))).await;
    let expected: Vec<String> = lines(&page).iter().map(Witnessed::to_line).collect();
    assert_eq!(expected.len(), 3);
    let path = format!("/v1/trails/witness:{}", trail(1));
    let listing = |count| {
        let has =
            move |answer: &Answer| answer.json()["entries"].as_array().unwrap().len() == count;
        until(async || world.get(&path).await, has)
    };
    let answer = listing(3).await.json();
    for (entry, line) in answer["entries"].as_array().unwrap().iter().zip(&expected) {
        assert_eq!(entry["digest"], Digest::of(line.as_bytes()).to_string());
        assert_eq!(entry["kind"], "digest");
        let index = Witnessed::read(line.as_bytes()).unwrap().body().index;
        assert_eq!(entry["sequence"], index);
    }
    assert_eq!(answer["conflicts"], serde_json::json!([]));
    // Nobody else can enter anything there.
    let other = placed(5, &format!("witness:{}", trail(1)), 0);
    let json = [("content-type", "application/json")];
    for (path, body) in
        [("/v1/entries", other.clone()), ("/v1/entries:batch", batch(&[text(6), other]))]
    {
        let refused = world.send(request(Method::POST, path, &json, body)).await;
        refused.problem(403, "witness.reserved-trail");
    }
    // A second chain would show: another statement of one index is another digest of one place.
    let other = expected[0].replace("\"sequence\":1", "\"sequence\":7");
    world.log.submit(vec![entry_of(other.as_bytes()).unwrap()]).await.unwrap();
    let answer = listing(4).await.json();
    assert_eq!(answer["conflicts"][0]["sequence"], 0, "{answer:#}");
}

#[tokio::test]
async fn without_a_witness_there_is_no_such_path() {
    let world = World::new().await;
    for path in ["head", "statements"] {
        let path = format!("/witness/trails/{}/{path}", trail(1));
        world.get(&path).await.problem(404, "request.unknown-path");
    }
    world.post(SUBMIT, line(1, 1, "a")).await.problem(404, "request.unknown-path");
}
