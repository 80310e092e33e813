//! Records made from nothing: a plan, a chain that is really linked and signed, the core around it, and the
//! envelopes around that, up to one that is DEFENSIBLE.
//!
//! Defective records are made as easily as sound ones: nothing is checked when something is added.

mod envelope;
mod walk;

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::chain::{Chain, Line, Signer};
use anchorlog_proto::gad::core_manifest::{CoreManifest, CoreMember, CoreRole, Seal, root_core};
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::{
    Capture, EvidenceClass, ObservableKind, ObservationLayer, Risk, Role, SignalKind,
};
use anchorlog_proto::gad::operator::{Credential, Operator};
use anchorlog_proto::gad::payload::{ArtifactRef, Checkpoint};
use anchorlog_proto::gad::plan::{
    ClockPolicy, Fence, Node, Plan, Principal, Test, TestSpec, plan_hash,
};
use anchorlog_proto::json::canonical;
use anchorlog_proto::signed_object::SigningKey;

pub use envelope::{AT, Defended, defended, envelop, evaluation, implementation, policy, trust};
pub use walk::{Choose, Walk, completed};

/// 2026-07-20T10:00:00Z: the freeze.
pub const START: i64 = 1_784_541_600;

/// Files of a bundle, by path.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The key that goes by this name.
pub fn key(name: &str) -> SigningKey {
    SigningKey::from_seed(Digest::of(name.as_bytes()).as_bytes())
}

/// The key of a role.
pub fn role_key(role: Role) -> SigningKey {
    key(role.as_str())
}

/// A node that may touch `src/`, with the tests of these signals, B = 1, class floor proxy.
pub fn node(id: &str, tests: &[(&str, SignalKind)]) -> Node {
    let test = |(id, signal): &(&str, SignalKind)| {
        let spec = TestSpec {
            kind: ObservableKind::Command,
            run: "make test".into(),
            capture: Capture::EngineCapture,
            layers: vec![ObservationLayer::AuthenticatedEngineObservation],
            signal: *signal,
            replay: false,
            expect_exit_code: 0,
        };
        Test::new(*id, spec)
    };
    Node {
        id: id.into(),
        desc: "work".into(),
        fence: Fence::new(vec!["src/".into()]).unwrap(),
        tests: tests.iter().map(test).collect(),
        c_min: EvidenceClass::Proxy,
        risk: Risk::Normal,
        retries: 1,
        testimony: false,
    }
}

/// A plan of these nodes and edges, with a key for every role.
pub fn plan(nodes: Vec<Node>, edges: &[(&str, &str)]) -> Plan {
    let principal = |role: &Role| {
        let key = role_key(*role).public_key();
        Principal { key_id: key.id(), key, custody: "box".into(), roles: vec![*role], party: None }
    };
    Plan {
        nodes,
        edges: edges.iter().map(|(from, to)| ((*from).into(), (*to).into())).collect(),
        principals: Role::ALL.iter().map(principal).collect(),
        clock: Some(ClockPolicy { max_backstep_s: 0, max_future_skew_s: 300 }),
    }
}

/// The plan of one node `a` with one direct test.
pub fn small_plan() -> Plan {
    plan(vec![node("a", &[("t", SignalKind::DirectObservable)])], &[])
}

/// Two nodes: `a`, and `c`, gated, after it.
pub fn pair() -> Plan {
    let tests = [("t", SignalKind::DirectObservable)];
    let gated = Node { risk: Risk::Gated, ..node("c", &tests) };
    plan(vec![node("a", &tests), gated], &[("a", "c")])
}

/// Four nodes: `a` before `b`, gated, and `c`, judged by a proxy and never tried again; `d`, with two tests,
/// after both.
pub fn diamond() -> Plan {
    let direct = SignalKind::DirectObservable;
    let gated = Node { risk: Risk::Gated, ..node("b", &[("t", direct)]) };
    let proxy = node("c", &[("t", SignalKind::WorkerAuthoredProxy)]);
    let nodes = vec![
        node("a", &[("t", direct)]),
        gated,
        Node { retries: 0, ..proxy },
        node("d", &[("t", direct), ("u", direct)]),
    ];
    plan(nodes, &[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
}

/// The artifact every reference is to.
pub const ARTIFACT: &str = "artifacts/evidence";

/// Its bytes.
pub const EVIDENCE: &[u8] = b"evidence\n";

/// A reference to it.
pub fn artifact() -> ArtifactRef<'static> {
    ArtifactRef { path: ARTIFACT, digest: Digest::of(EVIDENCE) }
}

/// A record under way.
#[derive(Clone)]
pub struct Record {
    pub plan: Plan,
    pub plan_hash: Digest,
    /// The witness so far, line by line.
    pub lines: Vec<Vec<u8>>,
    /// The time of the last entry.
    pub time: i64,
    chain: Chain,
    heads: Vec<Digest>,
    /// The position of the last checkpoint: the next one starts there.
    covered: usize,
}

impl Record {
    /// A record of this plan with no entry.
    pub fn new(plan: Plan) -> Self {
        let plan_hash = plan_hash(&canonical(&plan.to_value()));
        Self {
            plan,
            plan_hash,
            lines: Vec::new(),
            time: START,
            chain: Chain::new(),
            heads: Vec::new(),
            covered: 0,
        }
    }

    /// The number of the next entry, which is its position.
    pub fn next(&self) -> u64 {
        self.chain.next_seq()
    }

    /// The chain hash of an entry.
    pub fn head(&self, seq: u64) -> Digest {
        self.heads[usize::try_from(seq).unwrap()]
    }

    /// Appends an entry, a minute after the last, signed by whoever has to.
    pub fn append(&mut self, payload: &Payload<'_>) -> Line {
        let role = payload.entry_type().required_role();
        let key = role.map(role_key);
        self.append_by(payload, key.as_ref())
    }

    /// Appends an entry signed by this key, or by nobody.
    pub fn append_by(&mut self, payload: &Payload<'_>, key: Option<&SigningKey>) -> Line {
        self.time += 60;
        let signer = key.map_or(Signer::None, Signer::Key);
        let line = self.chain.append(self.time, payload, signer, &self.plan_hash);
        self.keep(&line);
        line
    }

    /// The entry that freezes the plan.
    pub fn freeze(&mut self) -> Line {
        let plan = self.plan.to_value();
        let hash = Some(self.plan_hash);
        let plan = plan.as_object();
        self.append(&Payload::Freeze { hash, embedded: hash, plan })
    }

    /// The checkpoint over everything since the last one.
    pub fn next_checkpoint(&self) -> Option<Checkpoint> {
        let first = u64::try_from(self.covered).unwrap();
        Checkpoint::over(first, &self.heads[self.covered..])
    }

    /// Appends it.
    pub fn checkpoint(&mut self) -> Line {
        let checkpoint = self.next_checkpoint().unwrap();
        let at = self.lines.len();
        let line = self.append(&Payload::Checkpoint(checkpoint));
        self.covered = at;
        line
    }

    fn keep(&mut self, line: &Line) {
        self.lines.push(line.bytes.clone());
        self.heads.push(line.h);
    }

    /// The core: every file below `core/`, and its root.
    pub fn core(&self, seal: Seal) -> (Files, Digest) {
        let mut core = Core { files: self.documents(), spec_version: "1.3".into(), seal };
        core.files.insert("witness.jsonl".to_owned(), self.lines.concat());
        core.pack(self.lines.len(), self.chain.head())
    }

    fn documents(&self) -> Files {
        let operator = Operator {
            identity: "Operator".into(),
            credential: Credential::of(key("operator").public_key()),
            implementation: "recorder".into(),
            unit: "unit".into(),
            engagement: "lane".into(),
        };
        Files::from([
            ("plan.json".to_owned(), canonical(&self.plan.to_value())),
            ("operator.json".to_owned(), canonical(&operator.to_value())),
            (ARTIFACT.to_owned(), EVIDENCE.to_vec()),
        ])
    }
}

/// The files of a core but its manifest, and what the manifest says beside them.
pub struct Core {
    /// By their paths below `core/`.
    pub files: Files,
    pub spec_version: Box<str>,
    pub seal: Seal,
}

impl Core {
    /// Adds the manifest; the files by their paths in a bundle, and `root_core`.
    pub fn pack(self, entries: usize, head: Digest) -> (Files, Digest) {
        let members = self.files.iter().map(|(path, bytes)| CoreMember {
            path: path.as_str().into(),
            role: match path.as_str() {
                "plan.json" => CoreRole::Plan,
                "witness.jsonl" => CoreRole::Witness,
                "operator.json" => CoreRole::Operator,
                "claims.json" => CoreRole::Claims,
                _ => CoreRole::Artifact,
            },
            size: u64::try_from(bytes.len()).unwrap(),
            digest: Digest::of(bytes),
        });
        let manifest = CoreManifest {
            spec_version: self.spec_version,
            seal: self.seal,
            witness_count: u64::try_from(entries).unwrap(),
            witness_head: head,
            members: members.collect(),
        };
        let manifest = canonical(&manifest.to_value());
        let root = root_core(&manifest);
        let mut files = self.files;
        files.insert("manifest.json".to_owned(), manifest);
        (files.into_iter().map(|(path, bytes)| (format!("core/{path}"), bytes)).collect(), root)
    }
}
