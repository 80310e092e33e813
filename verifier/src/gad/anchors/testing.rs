//! A small world for the tests of judgement: two time-stamping authorities, a log with three witnesses,
//! a policy that trusts them, and a record to anchor.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::format_push_string,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, SignedCheckpoint};
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::anchor_file::TlogAnchor;
use anchorlog_proto::gad::envelope::{
    AnchorRow, AnchorType, DeclaredHead, EnvelopeManifest, ItemRow,
};
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::names::{AnchorKind, ProvenanceLayer, RunOutcome};
use anchorlog_proto::gad::policy::{
    Policy, RequiredAnchor, RequiredTarget, RequiredWhen, TimeSource, TsaEntry,
};
use anchorlog_proto::json::canonical;
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize, inclusion, root};
use anchorlog_proto::note::NoteSigner;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_proto::timestamp::{GenTime, ObjectIdentifier};
use anchorlog_proto::tlog_proof::TlogProof;

use crate::timestamp::testing::{
    Draft, ecdsa_sha256, generalized_time, integer, key, oid, sequence, set, tlv,
};

use super::{AnchorInput, AnchorsOutcome, judge};
use crate::gad::facts::{FirstDispatch, RecordFacts};
use crate::gad::finding::{Findings, GadFinding};
use crate::gad::policy::{PolicyContext, PolicyInput};
use crate::gad::rules::r1_envelope::Predecessor;
use crate::gad::trust::TrustMaterial;

/// 2026-07-20T10:00:00Z: the record's last entry.
pub(crate) const END: i64 = 1_784_541_600;
/// The time of evaluation.
pub(crate) const AT: i64 = END + 10_000_000;
pub(crate) const ORIGIN: &str = "log.example/gad";

/// An authority: its name and the numbers of its keys, root and signer.
#[derive(Clone, Copy)]
pub(crate) struct Authority {
    pub(crate) name: &'static str,
    pub(crate) root: u8,
    pub(crate) signer: u8,
}

pub(crate) const TSA_A: Authority = Authority { name: "TSA A", root: 1, signer: 2 };
pub(crate) const TSA_B: Authority = Authority { name: "TSA B", root: 3, signer: 4 };
/// Nobody the policy knows.
pub(crate) const STRANGER: Authority = Authority { name: "Stranger", root: 5, signer: 6 };
/// Trusted for credentials alone.
pub(crate) const CREDENTIALS: Authority = Authority { name: "Credentials", root: 7, signer: 8 };

impl Authority {
    pub(crate) fn root_der(self) -> Vec<u8> {
        Draft::authority(self.name, self.name, self.root)
            .valid("20240101000000Z", "20400101000000Z")
            .der(self.root)
    }

    pub(crate) fn signer_der(self) -> Vec<u8> {
        let subject = format!("{} signer", self.name);
        Draft::signer(&subject, self.name, self.signer)
            .valid("20240101000000Z", "20400101000000Z")
            .der(self.root)
    }

    /// A token over a digest, `accuracy_s` seconds accurate, with the signer's certificate.
    pub(crate) fn token(self, digest: &Digest, at: i64, accuracy_s: u8) -> Vec<u8> {
        self.token_with(digest, at, accuracy_s, &[self.signer_der()])
    }

    pub(crate) fn token_with(
        self,
        digest: &Digest,
        at: i64,
        accuracy_s: u8,
        certificates: &[Vec<u8>],
    ) -> Vec<u8> {
        let sha256 = tlv(0x30, &[&oid("2.16.840.1.101.3.4.2.1")]);
        let time = GenTime::from_unix(at).to_generalized_time().unwrap();
        let content = sequence(&[
            integer(&[1]),
            oid("1.2.3.4.1"),
            sequence(&[sha256.clone(), tlv(4, &[digest.as_bytes()])]),
            integer(&[42]),
            generalized_time(&time),
            sequence(&[integer(&[accuracy_s])]),
        ]);
        let signer = self.signer_der();
        let ess = sequence(&[sequence(&[sequence(&[tlv(4, &[Digest::of(&signer).as_bytes()])])])]);
        let attribute = |name: &str, value: &[u8]| tlv(0x30, &[&oid(name), &set(&[value])]);
        let mut attributes = [
            attribute("1.2.840.113549.1.9.3", &oid("1.2.840.113549.1.9.16.1.4")),
            attribute("1.2.840.113549.1.9.4", &tlv(4, &[Digest::of(&content).as_bytes()])),
            attribute("1.2.840.113549.1.9.16.2.47", &ess),
        ];
        attributes.sort();
        let attributes: Vec<&[u8]> = attributes.iter().map(Vec::as_slice).collect();
        let signature: p256::ecdsa::DerSignature =
            p256::ecdsa::signature::Signer::sign(&key(self.signer), &set(&attributes));
        let info = sequence(&[
            integer(&[1]),
            sequence(&[crate::timestamp::testing::name(&[self.name]), integer(&[self.signer])]),
            sha256.clone(),
            tlv(0xa0, &attributes),
            ecdsa_sha256(),
            tlv(4, &[signature.as_bytes()]),
        ]);
        let certificates: Vec<&[u8]> = certificates.iter().map(Vec::as_slice).collect();
        let data = sequence(&[
            integer(&[3]),
            set(&[&sha256]),
            sequence(&[oid("1.2.840.113549.1.9.16.1.4"), tlv(0xa0, &[&tlv(4, &[&content])])]),
            tlv(0xa0, &certificates),
            set(&[&info]),
        ]);
        sequence(&[oid("1.2.840.113549.1.7.2"), tlv(0xa0, &[&data])])
    }
}

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// A response around a token.
pub(crate) fn response(status: u8, token: &[u8]) -> Vec<u8> {
    sequence(&[sequence(&[tlv(2, &[&[status]])]), token.to_vec()])
}

/// A log of the policy, its witnesses, and what it holds.
pub(crate) struct Log {
    pub(crate) signer: NoteSigner,
    pub(crate) witnesses: Vec<CosignerKey>,
    pub(crate) entries: Vec<LogEntry>,
}

impl Clone for Log {
    fn clone(&self) -> Self {
        Self {
            signer: self.signer.to_skey().parse().unwrap(),
            witnesses: (1..=3).map(witness).collect(),
            entries: self.entries.clone(),
        }
    }
}

impl Log {
    /// A log of this origin with so many other entries in front.
    pub(crate) fn new(origin: &str, others: u8, entry: LogEntry) -> Self {
        let other = |number| {
            let statement = Statement::new(StatementKind::Digest, Digest::of(&[number]));
            LogEntry::unsigned(statement).unwrap()
        };
        Self {
            signer: NoteSigner::from_seed(origin.parse().unwrap(), [1; 32]),
            witnesses: (1..=3).map(witness).collect(),
            entries: (0..others).map(other).chain([entry]).collect(),
        }
    }

    pub(crate) fn tree(&self) -> Extension {
        let hashes = self.entries.iter().map(LogEntry::leaf_hash);
        Extension::new(Frontier::new(), hashes).unwrap()
    }

    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let size = TreeSize::new(u64::try_from(self.entries.len()).unwrap()).unwrap();
        let origin = self.signer.verifier_key().name().into();
        Checkpoint::new(origin, size, root(&self.tree(), size).unwrap())
    }

    /// The last entry's anchor under this checkpoint, cosigned by witnesses at `END` + their number.
    pub(crate) fn anchor(&self, checkpoint: &Checkpoint, witnesses: &[usize]) -> TlogAnchor {
        let mut signed = SignedCheckpoint::sign(checkpoint, &self.signer).unwrap();
        for at in witnesses {
            let time = u64::try_from(END).unwrap() + u64::try_from(*at).unwrap();
            let line = self.witnesses[*at].cosign(&checkpoint.to_text(), time).unwrap();
            signed = signed.with_signature(line).unwrap();
        }
        let index = u64::try_from(self.entries.len() - 1).unwrap();
        let size = TreeSize::new(u64::try_from(self.entries.len()).unwrap()).unwrap();
        let hashes = inclusion::prove(&self.tree(), index, size).unwrap().unwrap();
        let proof = TlogProof::new(index, hashes, signed).unwrap();
        let entry = self.entries.last().unwrap().clone();
        TlogAnchor { entry, proof, timestamps: Vec::new() }
    }

    /// What tokens over the checkpoint of an anchor stamp.
    pub(crate) fn stamped(&self, anchor: &TlogAnchor) -> Digest {
        let note = anchor.proof.checkpoint().log_note_bytes(self.signer.verifier_key()).unwrap();
        Digest::of(&note)
    }
}

fn witness(number: u8) -> CosignerKey {
    CosignerKey::from_seed(format!("witness{number}.example").parse().unwrap(), [10 + number; 32])
}

pub(crate) fn log_policy() -> String {
    let log = NoteSigner::from_seed(ORIGIN.parse().unwrap(), [1; 32]);
    let mut text = format!("log {}\n", log.verifier_key());
    for number in 1..=3 {
        text.push_str(&format!("witness w{number} {}\n", witness(number).verifier_key()));
    }
    text + "group g 2 w1 w2 w3\nquorum g\n"
}

/// An envelope, a record, a policy, and everything a caller brings.
pub(crate) struct World {
    pub(crate) record: RecordFacts,
    pub(crate) policy: Policy,
    pub(crate) trust: Vec<(String, Vec<u8>)>,
    pub(crate) envelope: EnvelopeManifest,
    pub(crate) files: BTreeMap<Box<str>, Vec<u8>>,
    pub(crate) known: KnownCheckpoints,
    pub(crate) predecessors: Vec<Predecessor>,
}

pub(crate) fn required(target: RequiredTarget) -> RequiredAnchor {
    RequiredAnchor {
        target,
        types: vec![AnchorType::Rfc3161, AnchorType::Tlog],
        min_distinct_operators: 1,
        when: RequiredWhen::Always,
    }
}

impl World {
    /// A record of four entries, a policy that asks for one root anchor, and no anchors yet.
    pub(crate) fn new() -> Self {
        let text = log_policy();
        let entry = |operator: &str, authority: Authority| TsaEntry {
            operator: operator.into(),
            roots: vec![Digest::of(&authority.root_der())],
            start: 0,
            end: None,
            policies: vec![ObjectIdentifier::new_unwrap("1.2.3.4.1")],
            require_accuracy_s: Some(60),
        };
        let mut policy = Policy::none();
        policy.id = "test".into();
        policy.skew_s = 300;
        policy.required_anchors = vec![required(RequiredTarget::CoreRoot { max_delay_s: 3600 })];
        policy.tsa = vec![entry("tsa-a", TSA_A), entry("tsa-b", TSA_B)];
        policy.logs = Some(Digest::of(text.as_bytes()));
        policy.time_sources = vec![TimeSource::Rfc3161];
        policy.accepted_layers = vec![ProvenanceLayer::SignedEntriesAndCheckpoints];
        policy.accept_outcomes = vec![RunOutcome::Completed, RunOutcome::Halted];
        Self {
            record: RecordFacts {
                root_core: Some(Digest::of(b"root")),
                plan_hash: Some(Digest::of(b"plan")),
                heads: (0..4_u8).map(|number| Digest::of(&[number])).collect(),
                latest: vec![END - 300, END - 200, END - 100, END],
                end_time: Some(END),
                first_dispatch: Some(FirstDispatch { seq: 1, time: END - 200, precommit: None }),
                claims_bounded: false,
                max_future_skew_s: 100,
            },
            policy,
            trust: vec![
                ("a".to_owned(), TSA_A.root_der()),
                ("b".to_owned(), TSA_B.root_der()),
                ("logs".to_owned(), text.into_bytes()),
            ],
            envelope: EnvelopeManifest {
                root_core: None,
                predecessor: Ok(None),
                layers: vec![ProvenanceLayer::SignedEntriesAndCheckpoints],
                heads: Some(vec![DeclaredHead { seq: 2, head: Digest::of(&[2]) }]),
                anchors: Vec::new(),
                attestations: Vec::new(),
                metadata: None,
                operator_seal: None,
            },
            files: BTreeMap::new(),
            known: KnownCheckpoints::default(),
            predecessors: Vec::new(),
        }
    }

    /// The value of a kind, as the record has it.
    pub(crate) fn target(&self, kind: AnchorKind) -> Digest {
        match kind {
            AnchorKind::CoreRoot => self.record.root_core.unwrap(),
            AnchorKind::ChainHead => Digest::of(&[2]),
            AnchorKind::PlanCommitment => self.record.plan_hash.unwrap(),
        }
    }

    /// Lists a file as an anchor of the record.
    pub(crate) fn add(&mut self, path: &str, kind: AnchorKind, bytes: Vec<u8>) -> &mut AnchorRow {
        let anchor_type =
            if extension(path) == "json" { AnchorType::Tlog } else { AnchorType::Rfc3161 };
        self.envelope.anchors.push(AnchorRow {
            item: ItemRow { path: path.into(), digest: Digest::of(&bytes) },
            anchor_type: Some(anchor_type),
            kind,
            target: self.target(kind),
        });
        self.files.insert(path.into(), bytes);
        self.envelope.anchors.last_mut().unwrap()
    }

    /// Adds a token of an authority over the value of a kind.
    pub(crate) fn stamp(&mut self, path: &str, kind: AnchorKind, by: Authority, at: i64) {
        let token = by.token(&self.target(kind), at, 10);
        let bytes = if extension(path) == "tsr" { response(0, &token) } else { token };
        self.add(path, kind, bytes);
    }

    /// The log entry about the value of a kind.
    pub(crate) fn entry(&self, kind: AnchorKind) -> LogEntry {
        let statement = Statement::new(kind.as_str().parse().unwrap(), self.target(kind));
        let trail = self.record.plan_hash.unwrap().to_string().parse().unwrap();
        LogEntry::unsigned(statement.in_trail(trail, None)).unwrap()
    }

    /// A log that holds that entry behind six others.
    pub(crate) fn log(&self, kind: AnchorKind) -> Log {
        Log::new(ORIGIN, 6, self.entry(kind))
    }

    pub(crate) fn load(&self, findings: &mut Findings) -> PolicyContext {
        let bytes = canonical(&self.policy.to_value());
        PolicyContext::load(&input(Some(&bytes)), &self.material(), findings)
    }

    pub(crate) fn material(&self) -> TrustMaterial {
        TrustMaterial::from_files(self.trust.clone())
    }

    pub(crate) fn judge(&self) -> Judged {
        let mut findings = Findings::new();
        let policy = self.load(&mut findings);
        let outcome = judge(
            &AnchorInput {
                envelope: &self.envelope,
                files: &self.files,
                record: &self.record,
                policy: &policy,
                known: &self.known,
                predecessors: &self.predecessors,
            },
            &mut findings,
        );
        Judged { findings, outcome }
    }
}

/// An input with this policy and nothing else asked.
pub(crate) fn input(bytes: Option<&[u8]>) -> PolicyInput<'_> {
    PolicyInput {
        bytes,
        expected_hash: None,
        defensible_asked: false,
        replay_runner: false,
        at: AT,
        limits: Limits::DEFAULT,
    }
}

/// What came of it.
pub(crate) struct Judged {
    pub(crate) findings: Findings,
    pub(crate) outcome: AnchorsOutcome,
}

impl Judged {
    /// The codes found, in their order; those that are only notes in parentheses.
    pub(crate) fn codes(&self) -> Vec<String> {
        codes(&self.findings)
    }

    /// The states of the anchors.
    pub(crate) fn states(&self) -> Vec<&'static str> {
        self.outcome.anchors().iter().map(|anchor| anchor.state.as_str()).collect()
    }
}

pub(crate) fn codes(findings: &Findings) -> Vec<String> {
    let code = |finding: &GadFinding| {
        if finding.class() == crate::finding::Class::Note {
            format!("({})", finding.code)
        } else {
            finding.code.to_string()
        }
    };
    findings.list().iter().map(code).collect()
}
