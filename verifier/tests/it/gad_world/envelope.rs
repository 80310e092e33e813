//! Envelopes around a core: an anchor in a log, an attestation, and the policy under which both count.

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, SignedCheckpoint};
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::anchor_file::TlogAnchor;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::chain::sign_body;
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::envelope::{
    AnchorRow, AnchorType, DeclaredHead, EnvelopeManifest, ItemRow, Metadata, root_envelope,
};
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::names::{AnchorKind, ProvenanceLayer, RunOutcome};
use anchorlog_proto::gad::policy::{
    CredentialAuthority, Party, Policy, RequiredAnchor, RequiredTarget, RequiredWhen, TimeSource,
};
use anchorlog_proto::json::{Object, Value, canonical};
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize, inclusion, root};
use anchorlog_proto::note::NoteSigner;
use anchorlog_proto::statement::{LogEntry, Statement};
use anchorlog_proto::tlog_proof::TlogProof;
use anchorlog_verifier::gad::attestation::{Evaluator, attest};
use anchorlog_verifier::gad::container::{Bundle, Form};
use anchorlog_verifier::gad::evaluate::{Request, evaluate, read_predecessor};
use anchorlog_verifier::gad::report::Report;
use anchorlog_verifier::gad::rules::r1_envelope::Predecessor;
use anchorlog_verifier::gad::trust::TrustMaterial;

use super::{Files, Record, START, key};

/// The time of evaluation: long after every record here.
pub const AT: i64 = START + 1_000_000;

/// The name of the evaluator.
pub const EVALUATOR: &str = "Evaluator";

const ORIGIN: &str = "log.example/gad";

/// A log with two witnesses, of one entry.
pub struct LogWorld {
    log: NoteSigner,
    witnesses: [CosignerKey; 2],
}

impl LogWorld {
    pub fn new() -> Self {
        let witness = |number: u8| {
            let name = format!("witness{number}.example").parse().unwrap();
            CosignerKey::from_seed(name, [10 + number; 32])
        };
        Self {
            log: NoteSigner::from_seed(ORIGIN.parse().unwrap(), [1; 32]),
            witnesses: [witness(1), witness(2)],
        }
    }

    /// What a policy trusts of it.
    pub fn policy_text(&self) -> String {
        let [one, two] = self.witnesses.each_ref().map(CosignerKey::verifier_key);
        let log = self.log.verifier_key();
        format!("log {log}\nwitness w1 {one}\nwitness w2 {two}\ngroup g all w1 w2\nquorum g\n")
    }

    /// The anchor file of this value, cosigned at this time.
    pub fn anchor(&self, kind: AnchorKind, target: Digest, trail: Digest, at: i64) -> Vec<u8> {
        let statement = Statement::new(kind.as_str().parse().unwrap(), target);
        let statement = statement.in_trail(trail.to_string().parse().unwrap(), None);
        let entry = LogEntry::unsigned(statement).unwrap();
        let tree = Extension::new(Frontier::new(), [entry.leaf_hash()]).unwrap();
        let size = TreeSize::new(1).unwrap();
        let checkpoint = Checkpoint::new(ORIGIN.parse().unwrap(), size, root(&tree, size).unwrap());
        let mut signed = SignedCheckpoint::sign(&checkpoint, &self.log).unwrap();
        for witness in &self.witnesses {
            let at = u64::try_from(at).unwrap();
            let line = witness.cosign(&checkpoint.to_text(), at).unwrap();
            signed = signed.with_signature(line).unwrap();
        }
        let hashes = inclusion::prove(&tree, 0, size).unwrap().unwrap();
        let proof = TlogProof::new(0, hashes, signed).unwrap();
        TlogAnchor { entry, proof, timestamps: Vec::new() }.to_bytes().unwrap()
    }
}

/// The implementation that all evaluations here say they are.
pub fn implementation() -> Implementation {
    Implementation { name: "test".into(), version: "0".into(), hash: Digest::of(b"test") }
}

/// Trusts the log for the root of the core, and the evaluator.
pub fn policy() -> Policy {
    let keys = |name: &str| vec![key(name).id()];
    let party = |id: &str, name: &str, key: &str| Party {
        id: id.into(),
        names: vec![name.into()],
        keys: keys(key),
    };
    Policy {
        id: "test/1".into(),
        required_anchors: vec![RequiredAnchor {
            target: RequiredTarget::CoreRoot { max_delay_s: 3600 },
            types: vec![AnchorType::Tlog],
            min_distinct_operators: 1,
            when: RequiredWhen::Always,
        }],
        logs: Some(Digest::of(LogWorld::new().policy_text().as_bytes())),
        time_sources: vec![TimeSource::Cosignature],
        parties: vec![
            party("evaluator", EVALUATOR, "evaluator"),
            party("operator", "Operator", "operator"),
        ],
        credential_authorities: vec![CredentialAuthority {
            id: "authority".into(),
            keys: keys("evaluator"),
            roots: Vec::new(),
        }],
        accepted_layers: vec![ProvenanceLayer::SignedEntriesAndCheckpoints],
        accepted_evaluators: vec![implementation()],
        accept_outcomes: vec![RunOutcome::Completed, RunOutcome::Halted, RunOutcome::Superseded],
        require_operator_seal: true,
        ..Policy::none()
    }
}

/// What the policy names.
pub fn trust() -> TrustMaterial {
    let text = LogWorld::new().policy_text().into_bytes();
    TrustMaterial::from_files(vec![("log".to_owned(), text)])
}

/// An envelope with an anchor and an attestation, and what it takes to evaluate it.
#[derive(Clone)]
pub struct Defended {
    pub files: Files,
    /// The policy, in its bytes.
    pub policy: Vec<u8>,
    /// The manifest of the envelope before.
    pub predecessors: Vec<Predecessor>,
}

impl Defended {
    /// Evaluates other files as if they were these.
    pub fn evaluate(&self, files: &Files, threads: usize) -> Report {
        let limits = Limits::DEFAULT;
        self.evaluate_bundle(&Bundle::in_memory(files.clone(), Form::Directory, &limits), threads)
    }

    /// Evaluates a bundle under the policy.
    pub fn evaluate_bundle(
        &self,
        bundle: &Result<Bundle, anchorlog_verifier::gad::Findings>,
        threads: usize,
    ) -> Report {
        evaluation(bundle, Some(&self.policy), &self.predecessors, threads)
    }
}

/// Evaluates a bundle.
pub fn evaluation(
    bundle: &Result<Bundle, anchorlog_verifier::gad::Findings>,
    policy: Option<&[u8]>,
    predecessors: &[Predecessor],
    threads: usize,
) -> Report {
    let trust = trust();
    let known = KnownCheckpoints::default();
    let request = Request {
        policy,
        predecessors,
        threads: threads.try_into().unwrap(),
        ..Request::new(&trust, &known, implementation(), AT)
    };
    evaluate(bundle, &request).unwrap()
}

/// The envelope of a record, with everything around it that [`envelop`] makes.
pub fn defended(record: &Record, seal: Seal) -> Defended {
    let (files, root) = record.core(seal);
    let seq = record.next() - 1;
    let head = DeclaredHead { seq, head: record.head(seq) };
    envelop(files, root, record.plan_hash, record.time, head)
}

/// The envelope of a core, anchored right after its end, attested if it can be, and with everything an
/// envelope may hold: an ext, a seal, a declared head.
pub fn envelop(
    mut files: Files,
    root: Digest,
    plan_hash: Digest,
    end: i64,
    head: DeclaredHead,
) -> Defended {
    let anchor = LogWorld::new().anchor(AnchorKind::CoreRoot, root, plan_hash, end + 9);
    let body = Object::from([("root_core", Value::from(root.to_string()))]);
    let operator_seal = sign_body("operator_seal", body, &plan_hash, &key("operator"));
    let mut manifest = EnvelopeManifest {
        root_core: Some(root),
        predecessor: Ok(None),
        layers: vec![
            ProvenanceLayer::SignedEntriesAndCheckpoints,
            ProvenanceLayer::WitnessedCheckpoints,
        ],
        heads: Some(vec![head]),
        anchors: vec![AnchorRow {
            item: ItemRow { path: "anchors/root.json".into(), digest: Digest::of(&anchor) },
            anchor_type: Some(AnchorType::Tlog),
            kind: AnchorKind::CoreRoot,
            target: root,
        }],
        attestations: Vec::new(),
        metadata: Some(Metadata { producer: "the producer".into(), created: START }),
        operator_seal: None,
    };
    let write = |manifest: &EnvelopeManifest| {
        let Value::Object(mut object) = manifest.to_value() else { unreachable!() };
        object.insert("operator_seal", operator_seal.clone());
        object.insert("ext", Object::from([("note", Value::from("hello"))]));
        object.to_canonical()
    };
    files.insert("anchors/root.json".to_owned(), anchor);
    let first = write(&manifest);
    files.insert("envelope.json".to_owned(), first.clone());
    let policy = canonical(&policy().to_value());
    let mut defended = Defended { files, policy, predecessors: Vec::new() };
    let report = defended.evaluate(&defended.files, 1);
    let key = key("evaluator");
    let evaluator = Evaluator { identity: EVALUATOR, key: &key, suite_version: "1" };
    if let Ok(attestation) = attest(&report, &evaluator) {
        let row = ItemRow { path: "attestations/q.json".into(), digest: Digest::of(&attestation) };
        manifest.predecessor = Ok(Some(root_envelope(&first)));
        assert!(manifest.add_attestation(row));
        defended.files.insert("envelope.json".to_owned(), write(&manifest));
        defended.files.insert("attestations/q.json".to_owned(), attestation);
        defended.predecessors = vec![read_predecessor(&first, &Limits::DEFAULT).unwrap()];
    }
    defended
}
