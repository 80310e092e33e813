//! A small world with everything a receipt needs: a log, three witnesses, a tree, a policy.
//!
//! Receipts are drafts of plain values here, so that a test can say anything a receipt can say and
//! some things that it can't.

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, Origin};
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::json::{Object, Value, canonical};
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize, consistency, inclusion, root};
use anchorlog_proto::note::{NoteSignature, NoteSigner};
use anchorlog_proto::receipt::Receipt;
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_proto::tlog_policy::TlogPolicy;

pub const ORIGIN: &str = "log.example/test";

/// The time at which the first witness cosigns; the n-th one does so n seconds later.
pub const TIME: u64 = 1_800_000_000;

pub struct World {
    pub log: NoteSigner,
    pub witnesses: Vec<CosignerKey>,
    pub entries: Vec<LogEntry>,
    tree: Extension,
}

impl World {
    /// A log with seven entries, the fifth of them signed by its submitter.
    pub fn new() -> Self {
        let entries: Vec<_> = (0..7).map(entry).collect();
        let hashes = entries.iter().map(LogEntry::leaf_hash);
        Self {
            log: NoteSigner::from_seed(ORIGIN.parse().unwrap(), [1; 32]),
            witnesses: (1..=3).map(witness).collect(),
            tree: Extension::new(Frontier::new(), hashes).unwrap(),
            entries,
        }
    }

    /// Two of three witnesses.
    pub fn policy_text(&self) -> String {
        format!("{}group g 2 w1 w2 w3\nquorum g\n", self.keys())
    }

    /// The same keys, and no witness asked.
    pub fn policy_text_without_quorum(&self) -> String {
        format!("{}quorum none\n", self.keys())
    }

    pub fn policy(&self) -> TlogPolicy {
        TlogPolicy::parse(self.policy_text().as_bytes()).unwrap()
    }

    pub fn vkey(&self) -> String {
        self.log.verifier_key().to_string()
    }

    /// A good receipt for this entry in the tree of seven, cosigned by two witnesses.
    pub fn draft(&self, index: u64) -> Draft {
        let size = TreeSize::new(7).unwrap();
        let at = usize::try_from(index).unwrap();
        let mut draft = Draft {
            log: ORIGIN.to_owned(),
            index,
            leaf_hash: self.entries[at].leaf_hash().to_string(),
            statement: self.entries[at].to_object(),
            extra: None,
            proof_index: index.to_string(),
            hashes: inclusion::prove(&self.tree, index, size).unwrap().unwrap(),
            checkpoint: self.checkpoint(7),
            signatures: Vec::new(),
            timestamps: Vec::new(),
            state: "witnessed",
            conflicts: Vec::new(),
        };
        draft.sign(self, &[0, 1]);
        draft
    }

    /// A good receipt for the only entry of another tree, signed by the same log.
    pub fn draft_of_single(&self, entry: &LogEntry) -> Draft {
        let mut draft = self.draft(0);
        draft.leaf_hash = entry.leaf_hash().to_string();
        draft.statement = entry.to_object();
        draft.hashes.clear();
        draft.checkpoint.size = TreeSize::new(1).unwrap();
        draft.checkpoint.root = entry.leaf_hash();
        draft.sign(self, &[0, 1]);
        draft
    }

    pub fn checkpoint(&self, size: u64) -> Checkpoint {
        let size = TreeSize::new(size).unwrap();
        Checkpoint::new(ORIGIN.parse::<Origin>().unwrap(), size, root(&self.tree, size).unwrap())
    }

    /// The signed checkpoint of a size, cosigned by two witnesses.
    pub fn note(&self, size: u64) -> String {
        let mut draft = self.draft(0);
        draft.checkpoint = self.checkpoint(size);
        draft.sign(self, &[0, 1]);
        draft.note()
    }

    pub fn consistency(&self, from: u64, to: u64) -> Vec<Digest> {
        let [from, to] = [from, to].map(|size| TreeSize::new(size).unwrap());
        consistency::prove(&self.tree, from, to).unwrap().unwrap()
    }

    fn keys(&self) -> String {
        let mut text = format!("log {} https://log.example/\n", self.vkey());
        for (key, number) in self.witnesses.iter().zip(1..) {
            text.push_str(&format!("witness w{number} {}\n", key.verifier_key()));
        }
        text
    }
}

/// The n-th entry of the log. The fifth is signed.
pub fn entry(number: u8) -> LogEntry {
    let statement = Statement::new(StatementKind::ALL[usize::from(number)], Digest::of(&[number]));
    let statement = statement.in_trail("trail:a".parse().unwrap(), Some(number.into()));
    if number == 4 {
        LogEntry::signed(statement, &submitter()).unwrap()
    } else {
        LogEntry::unsigned(statement).unwrap()
    }
}

/// The key that signs the fifth entry.
pub fn submitter() -> SigningKey {
    SigningKey::from_seed(&[9; 32])
}

pub fn witness(number: u8) -> CosignerKey {
    let name = format!("witness{number}.example").parse().unwrap();
    CosignerKey::from_seed(name, [10 + number; 32])
}

/// The members of a receipt, each as it will be written.
#[derive(Clone)]
pub struct Draft {
    pub log: String,
    pub index: u64,
    pub leaf_hash: String,
    pub statement: Object<'static>,
    pub extra: Option<Vec<u8>>,
    pub proof_index: String,
    pub hashes: Vec<Digest>,
    pub checkpoint: Checkpoint,
    pub signatures: Vec<NoteSignature>,
    pub timestamps: Vec<Vec<u8>>,
    pub state: &'static str,
    pub conflicts: Vec<u64>,
}

impl Draft {
    /// Signs the checkpoint anew, by the log and these witnesses.
    pub fn sign(&mut self, world: &World, witnesses: &[usize]) {
        self.sign_with(&world.log);
        for &at in witnesses {
            self.cosign(&world.witnesses[at], TIME + u64::try_from(at).unwrap());
        }
    }

    /// Signs the checkpoint by this key alone.
    pub fn sign_with(&mut self, key: &NoteSigner) {
        self.signatures = vec![key.sign(&self.checkpoint.to_text())];
    }

    /// Adds a cosignature.
    pub fn cosign(&mut self, key: &CosignerKey, unix_seconds: u64) {
        self.signatures.push(key.cosign(&self.checkpoint.to_text(), unix_seconds).unwrap());
    }

    pub fn note(&self) -> String {
        let mut text = format!("{}\n", self.checkpoint.to_text());
        for signature in &self.signatures {
            text.push_str(&format!("{signature}\n"));
        }
        text
    }

    pub fn proof(&self) -> String {
        let mut text = "c2sp.org/tlog-proof@v1\n".to_owned();
        if let Some(extra) = &self.extra {
            text.push_str(&format!("extra {}\n", base64_encode(extra)));
        }
        text.push_str(&format!("index {}\n", self.proof_index));
        for hash in &self.hashes {
            text.push_str(&format!("{}\n", hash.to_base64()));
        }
        format!("{text}\n{}", self.note())
    }

    pub fn json(&self) -> Vec<u8> {
        let mut object = Object::from([
            ("schema", Value::from("anchorlog.receipt/1")),
            ("log", self.log.clone().into()),
            ("index", Value::try_from(self.index).unwrap()),
            ("leaf_hash", self.leaf_hash.clone().into()),
            ("statement", self.statement.clone().into()),
            ("proof", self.proof().into()),
            ("timestamps", tokens(&self.timestamps)),
            ("state", self.state.into()),
        ]);
        if !self.conflicts.is_empty() {
            let indexes: Vec<_> =
                self.conflicts.iter().map(|index| Value::try_from(*index).unwrap()).collect();
            object.insert("conflicts", indexes);
        }
        canonical(&object.into())
    }

    pub fn receipt(&self) -> Receipt {
        Receipt::parse(&self.json()).unwrap()
    }
}

fn tokens(tokens: &[Vec<u8>]) -> Value<'static> {
    tokens.iter().map(|token| Value::from(base64_encode(token))).collect::<Vec<_>>().into()
}
