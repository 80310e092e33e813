//! A world for records: keys, plans, and a recorder with a clock that a test turns.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anchorlog_client::record::{
    Artifact, Commission, Document, ExecutorEnd, Exported, Judgement, Observed, RecordError,
    Recorded, Recorder, Target, describe,
};
use anchorlog_proto::Digest;
use anchorlog_proto::gad::names::{PassFail, RunOutcome};
use anchorlog_proto::gad::operator::{Credential, Operator};
use anchorlog_proto::gad::payload::{ExecutorIdentity, ExitStatus, OutputStatus, Quiescence};
use anchorlog_proto::gad::plan::Plan;
use anchorlog_proto::json::canonical;
use anchorlog_proto::signed_object::SigningKey;

pub const START: i64 = 1_790_000_000;

pub fn engine() -> SigningKey {
    SigningKey::from_seed(&[1; 32])
}

pub fn approver() -> SigningKey {
    SigningKey::from_seed(&[2; 32])
}

pub fn authority() -> SigningKey {
    SigningKey::from_seed(&[3; 32])
}

pub fn stranger() -> SigningKey {
    SigningKey::from_seed(&[9; 32])
}

/// One node of a plan.
#[derive(Clone, Copy)]
pub struct N {
    pub id: &'static str,
    pub allow: &'static [&'static str],
    pub risk: &'static str,
    pub retries: u32,
    pub tests: &'static [&'static str],
    pub signal: &'static str,
    pub c_min: &'static str,
}

impl N {
    pub const fn new(id: &'static str, allow: &'static [&'static str]) -> Self {
        Self {
            id,
            allow,
            risk: "normal",
            retries: 1,
            tests: &["t1"],
            signal: "direct_observable",
            c_min: "engine_observed",
        }
    }

    pub const fn gated(mut self) -> Self {
        self.risk = "gated";
        self
    }

    fn json(&self) -> String {
        let tests: Vec<_> = self
            .tests
            .iter()
            .map(|test| {
                format!(
                    r#"{{"spec":{{"capture":"engine_capture","expect":{{"exit_code":0}},"kind":"command","observation_layers":["authenticated_engine_observation"],"replay":false,"run":"make {test}","signal_kind":"{}"}},"test_id":"{test}"}}"#,
                    self.signal
                )
            })
            .collect();
        format!(
            r#"{{"B":{},"T":[{}],"c_min":"{}","desc":"do {}","fence":{{"allow":{:?},"kind":"paths"}},"node":"{}","risk":"{}"}}"#,
            self.retries,
            tests.join(","),
            self.c_min,
            self.id,
            self.allow,
            self.id,
            self.risk
        )
    }
}

pub fn plan_text(nodes: &[N], edges: &[[&str; 2]], backstep: u32) -> String {
    let principal = |key: SigningKey, role: &str| {
        format!(
            r#"{{"algorithm":"ed25519","custody_statement":"a test","key_id":"{}","public_key":"{}","roles":["{role}"]}}"#,
            key.id(),
            key.public_key().to_base64()
        )
    };
    let nodes: Vec<_> = nodes.iter().map(N::json).collect();
    format!(
        r#"{{"D":{edges:?},"N":[{}],"authorized_principals":[{},{},{}],"meta":{{"clock_policy":{{"max_backstep_s":{backstep},"max_future_skew_s":0}}}},"schema":"gad.plan/1"}}"#,
        nodes.join(","),
        principal(engine(), "engine"),
        principal(approver(), "approver"),
        principal(authority(), "succession_authority"),
    )
}

pub fn plan(nodes: &[N], edges: &[[&str; 2]], backstep: u32) -> Document<Plan> {
    let text = plan_text(nodes, edges, backstep);
    Document::read(text.as_bytes(), Path::new("plan"), Plan::read).unwrap()
}

pub fn operator() -> Document<Operator> {
    let operator = Operator {
        identity: "Example Ltd".into(),
        credential: Credential::of(SigningKey::from_seed(&[7; 32]).public_key()),
        implementation: "example engine 1".into(),
        unit: "tests".into(),
        engagement: "lane 1".into(),
    };
    let bytes = canonical(&operator.to_value());
    Document::read(&bytes, Path::new("operator"), |value, _, defects| {
        Operator::read(value, defects)
    })
    .unwrap()
}

/// A directory with room for records and exports, and a clock.
pub struct World {
    pub directory: tempfile::TempDir,
    pub now: Arc<AtomicI64>,
}

impl World {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), now: Arc::new(AtomicI64::new(START)) }
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn clock(&self) -> Box<dyn anchorlog_client::record::Clock> {
        let now = Arc::clone(&self.now);
        // Every look takes a second.
        Box::new(move || now.fetch_add(1, Ordering::Relaxed))
    }

    pub fn freeze(&self, name: &str, plan: &Document<Plan>) -> Run {
        let (operator, key) = (operator(), Some(engine()));
        let recorder = Recorder::freeze(&self.at(name), plan, &operator, key, self.clock());
        Run { recorder: recorder.unwrap() }
    }

    pub fn open(&self, name: &str) -> Run {
        let recorder = Recorder::open_at(&self.at(name), self.clock()).unwrap();
        Run { recorder: recorder.with_engine(engine()).unwrap() }
    }

    /// Exports and expects a valid core with this outcome, which another look confirms.
    pub fn export(&self, run: &mut Run, name: &str, outcome: RunOutcome) -> Exported {
        let exported = run.recorder.export(&Target::of(self.at(name))).unwrap();
        assert_valid(&exported);
        assert_eq!(exported.report.statuses.outcome(), outcome);
        exported
    }
}

pub fn assert_valid(exported: &Exported) {
    let defects: Vec<_> = exported.defects().iter().map(describe).collect();
    assert!(exported.is_valid(), "{defects:#?}");
}

/// A recorder with the shortest ways to do things.
pub struct Run {
    pub recorder: Recorder,
}

pub const SOMEBODY: ExecutorIdentity<'_> =
    ExecutorIdentity { model: "model", version: "1", provider: "provider" };

impl Run {
    pub fn instruction(&mut self) -> Artifact {
        self.recorder.artifact("instruction.txt", b"do it").unwrap()
    }

    pub fn dispatch(&mut self, nodes: &[&str]) -> Result<Recorded, RecordError> {
        let instruction = self.instruction();
        let session_id = self.recorder.fresh_session_id();
        self.recorder.dispatch(&Commission {
            session_id: &session_id,
            nodes,
            executor: SOMEBODY,
            instruction: &instruction,
            baseline: Digest::of(b"baseline"),
            precommit: None,
        })
    }

    pub fn exit(&mut self, status: ExitStatus, code: Option<i32>) -> Result<Recorded, RecordError> {
        self.recorder.executor_exit(&ExecutorEnd { status, exit_code: code, output: None })
    }

    pub fn result(&mut self, touched: &[&str]) -> Result<Recorded, RecordError> {
        let touched: Vec<String> = touched.iter().map(|path| (*path).to_owned()).collect();
        self.recorder.execution_result(&Observed {
            delta: None,
            output_status: OutputStatus::NotRecorded,
            touched: &touched,
            quiescence: Quiescence::Quiesced,
        })
    }

    /// A session that completes.
    pub fn session(&mut self, nodes: &[&str], touched: &[&str]) {
        self.dispatch(nodes).unwrap();
        self.exit(ExitStatus::Completed, Some(0)).unwrap();
        self.result(touched).unwrap();
    }

    /// A session that crashes.
    pub fn crash(&mut self, nodes: &[&str]) {
        self.dispatch(nodes).unwrap();
        self.exit(ExitStatus::Crashed, Some(1)).unwrap();
        self.result(&[]).unwrap();
    }

    pub fn verdict(
        &mut self,
        node: &str,
        test_id: &str,
        exit_code: i32,
    ) -> Result<Recorded, RecordError> {
        let digest = |text: &str| Digest::of(text.as_bytes());
        self.recorder.verdict(&Judgement {
            node,
            test_id,
            result: None,
            exit_code: Some(exit_code),
            signal_artifact: digest("make"),
            subject: digest("subject"),
            environment: digest("environment"),
            stdout: digest("stdout"),
            stderr: digest("stderr"),
        })
    }

    pub fn pass(&mut self, node: &str) {
        self.verdict(node, "t1", 0).unwrap();
    }

    pub fn scope(&mut self, verdict: PassFail, node: &str) -> Result<Recorded, RecordError> {
        self.recorder.scope_closed(node, verdict)
    }

    pub fn witness(&self) -> Vec<u8> {
        std::fs::read(self.recorder.directory().join("witness.jsonl")).unwrap()
    }

    /// What `act` is refused with; it must leave the witness and the derived state as they were.
    pub fn refused<T: std::fmt::Debug>(
        &mut self,
        code: &str,
        act: impl FnOnce(&mut Self) -> Result<T, RecordError>,
    ) -> RecordError {
        let before = (self.witness(), format!("{:?}", self.recorder.standing()));
        let error = act(self).unwrap_err();
        assert_eq!(before.0, self.witness(), "{error}");
        assert_eq!(before.1, format!("{:?}", self.recorder.standing()), "{error}");
        let codes: Vec<_> =
            error.findings().iter().map(|finding| finding.code.to_string()).collect();
        assert!(error.code() == code || codes.iter().any(|found| found == code), "{error}");
        error
    }
}
