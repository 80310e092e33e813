//! Anchors in the making: time stamp tokens and log inclusions, sound until a case changes them.

use std::fmt;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, Origin};
use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize, inclusion, leaf_hash};
use serde_json::{Value as Json, json};

use super::json::{Names, canon};
use super::record::Change;
use super::trust::{LOG, PKI, WITNESSES, log_key, witness_key};
use crate::forge::certificate::Identity;
use crate::forge::token::{Response, Token};

/// An anchor in the making.
pub struct Anchor {
    /// Its file is `anchors/NAME.tsr`, `.tst` or `.json`.
    pub name: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// What is anchored; a placeholder.
    pub over: &'static str,
    /// What it is.
    pub what: What,
    /// Changes to its row in M_envelope.
    pub row: Vec<Change>,
}

/// The two types of anchor.
pub enum What {
    /// A token.
    Token(Box<dyn Fn(&mut Stamp)>),
    /// An inclusion in a log.
    Log(Box<dyn Fn(&mut Logged)>),
}

impl fmt::Debug for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} over @{}", self.name, self.kind, self.over)
    }
}

impl Anchor {
    /// A token over a value.
    pub fn token(
        name: &'static str,
        kind: &'static str,
        over: &'static str,
        change: impl Fn(&mut Stamp) + 'static,
    ) -> Self {
        Self { name, kind, over, what: What::Token(Box::new(change)), row: Vec::new() }
    }

    /// A log inclusion of a value.
    pub fn log(
        name: &'static str,
        kind: &'static str,
        over: &'static str,
        change: impl Fn(&mut Logged) + 'static,
    ) -> Self {
        Self { name, kind, over, what: What::Log(Box::new(change)), row: Vec::new() }
    }

    /// The token changed further.
    ///
    /// # Panics
    /// When it is no token.
    pub fn stamp(&mut self, change: impl Fn(&mut Stamp) + 'static) {
        let What::Token(before) = std::mem::replace(&mut self.what, What::Token(Box::new(|_| {})))
        else {
            panic!("{} is no token", self.name)
        };
        self.what = What::Token(Box::new(move |stamp| {
            before(stamp);
            change(stamp);
        }));
    }

    /// The inclusion changed further.
    ///
    /// # Panics
    /// When it is no inclusion.
    pub fn logged(&mut self, change: impl Fn(&mut Logged) + 'static) {
        let What::Log(before) = std::mem::replace(&mut self.what, What::Log(Box::new(|_| {})))
        else {
            panic!("{} is no log inclusion", self.name)
        };
        self.what = What::Log(Box::new(move |logged| {
            before(logged);
            change(logged);
        }));
    }

    /// The row changed.
    pub fn row(&mut self, change: impl Fn(&mut Json) + 'static) {
        self.row.push(Box::new(change));
    }

    /// Path and bytes of the file, and the row that lists it.
    pub(super) fn render(&self, names: &Names) -> (String, Vec<u8>, Json) {
        let value = names.digest(self.over);
        let (type_name, ending, bytes) = match &self.what {
            What::Token(change) => {
                let mut stamp = Stamp::new(&value);
                change(&mut stamp);
                ("rfc3161", if stamp.bare { "tst" } else { "tsr" }, stamp.to_bytes())
            }
            What::Log(change) => {
                let mut logged = Logged::new(self.kind, &value, &names.digest("plan"));
                change(&mut logged);
                ("tlog", "json", logged.to_bytes())
            }
        };
        let path = format!("anchors/{}.{ending}", self.name);
        let mut row = json!({
            "path": path, "digest": Digest::of(&bytes).to_string(), "type": type_name,
            "kind": self.kind, "target": value.to_string(),
        });
        self.row.iter().for_each(|change| change(&mut row));
        (path, bytes, names.resolve(&row))
    }
}

/// A token in the making: TSA a, the forge's genTime, one second of accuracy, certificates inside.
#[derive(Debug)]
pub struct Stamp {
    /// The token.
    pub token: Token,
    /// The response around it.
    pub response: Response,
    /// Whether the file is the bare token.
    pub bare: bool,
    /// A change to the bytes.
    pub rewrite: fn(Vec<u8>) -> Vec<u8>,
}

impl Stamp {
    /// A sound one over this value.
    #[must_use]
    pub fn new(value: &Digest) -> Self {
        let mut token = Token::new(&PKI.tsa_a, value.as_bytes());
        token.certificates =
            Some(vec![PKI.tsa_a.certificate.clone(), PKI.issuing_a.certificate.clone()]);
        Self { token, response: Response::default(), bare: false, rewrite: |bytes| bytes }
    }

    /// The same by a TSA right under its root.
    pub fn by(&mut self, signer: &Identity) {
        let imprint = self.token.info.imprint.clone();
        let time = self.token.info.gen_time.clone();
        self.token = Token::new(signer, &[]);
        self.token.info.imprint = imprint;
        self.token.info.gen_time = time;
    }

    /// The same by TSA a with another certificate.
    pub fn leaf(&mut self, change: impl FnOnce(&mut crate::forge::certificate::Template)) {
        self.token.signer = PKI.tsa_a.again(&PKI.issuing_a, change);
        self.token.certificates =
            Some(vec![self.token.signer.certificate.clone(), PKI.issuing_a.certificate.clone()]);
    }

    /// genTime.
    pub fn time(&mut self, text: &str) {
        self.token.info.time(text);
    }

    /// The bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let token = self.token.to_der();
        (self.rewrite)(if self.bare { token } else { self.response.to_der(&token) })
    }
}

/// A log inclusion in the making: the fourth of seven leaves, two cosignatures, a token over the checkpoint.
pub struct Logged {
    /// The statement.
    pub statement: Json,
    /// The statement the log has in its place.
    pub leaf: Option<Json>,
    /// The log.
    pub origin: &'static str,
    /// Whose key signs in the log's name.
    pub key: &'static str,
    /// How many other leaves there are before and after.
    pub others: (u64, u64),
    /// The root, where it isn't the tree's.
    pub root: Option<Digest>,
    /// The index stated.
    pub index: Option<String>,
    /// A change to the hashes of the proof.
    pub hashes: fn(&mut Vec<Digest>),
    /// Who cosigned and when.
    pub cosigned: Vec<(&'static str, u64)>,
    /// A change to the text of the checkpoint before anybody signs it.
    pub note: fn(String) -> String,
    /// A change to the text of the proof.
    pub proof: fn(String) -> String,
    /// Tokens over the checkpoint.
    pub tokens: Vec<Box<dyn Fn(&mut Stamp)>>,
    /// A change to the file's JSON.
    pub file: fn(&mut Json),
    /// A change to the file's bytes.
    pub bytes: fn(Vec<u8>) -> Vec<u8>,
}

impl fmt::Debug for Logged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.origin, self.statement)
    }
}

/// A quarter past twelve on the day of the records.
pub const COSIGNED_AT: u64 = 1_748_780_100;

impl Logged {
    /// A sound one of this value.
    #[must_use]
    pub fn new(kind: &str, value: &Digest, plan: &Digest) -> Self {
        Self {
            statement: json!({
                "schema": "anchorlog.statement/1", "kind": kind, "digest": value.to_string(),
                "trail": plan.to_string(),
            }),
            leaf: None,
            origin: LOG,
            key: LOG,
            others: (3, 3),
            root: None,
            index: None,
            hashes: |_| {},
            cosigned: vec![(WITNESSES[0], COSIGNED_AT), (WITNESSES[1], COSIGNED_AT + 5)],
            note: |text| text,
            proof: |text| text,
            tokens: vec![Box::new(|_| {})],
            file: |_| {},
            bytes: |bytes| bytes,
        }
    }

    /// The tree: every other leaf is a number.
    ///
    /// # Panics
    /// Never: trees are small.
    #[must_use]
    pub fn tree(&self) -> Extension {
        let other = |number: u64| leaf_hash(&number.to_be_bytes());
        let leaf = leaf_hash(&canon(self.leaf.as_ref().unwrap_or(&self.statement)));
        let (before, after) = self.others;
        let leaves =
            (0..before).map(other).chain([leaf]).chain((0..after).map(|n| other(n + 1000)));
        Extension::new(Frontier::new(), leaves).expect("a small tree")
    }

    /// Size and root of the tree, and a proof of this leaf.
    ///
    /// # Panics
    /// Never: trees are small.
    #[must_use]
    pub fn prove(&self) -> (TreeSize, Digest, Vec<Digest>) {
        let size = TreeSize::new(self.others.0 + self.others.1 + 1).expect("a small tree");
        let tree = self.tree();
        let root = Frontier::from_reader(&tree, size).expect("all nodes are there").root();
        let proof = inclusion::prove(&tree, self.others.0, size).expect("all nodes are there");
        (size, root, proof.expect("the leaf is there"))
    }

    /// The anchor file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (size, root, mut hashes) = self.prove();
        (self.hashes)(&mut hashes);
        let root = self.root.unwrap_or(root);
        let origin = Origin::new(self.origin).expect("an origin");
        let text = Checkpoint { origin, size, root, extensions: Vec::new() }.to_text();
        let text = (self.note)(text);
        let line = log_signature(self.origin, self.key, &text);
        let own = format!("{text}\n{line}\n");
        let mut note = own.clone();
        for (witness, time) in &self.cosigned {
            let signature = witness_key(witness).cosign(&text, *time);
            if let Ok(signature) = signature {
                note.push_str(&format!("{signature}\n"));
            }
        }
        let mut proof = String::from("c2sp.org/tlog-proof@v1\n");
        let index = self.index.clone().unwrap_or_else(|| self.others.0.to_string());
        proof.push_str(&format!("index {index}\n"));
        for hash in &hashes {
            proof.push_str(&hash.to_base64());
            proof.push('\n');
        }
        let proof = (self.proof)(format!("{proof}\n{note}"));
        let stamped = Digest::of(own.as_bytes());
        let tokens: Vec<_> = self
            .tokens
            .iter()
            .map(|change| {
                let mut stamp = Stamp::new(&stamped);
                stamp.bare = true;
                change(&mut stamp);
                base64_encode(&stamp.to_bytes())
            })
            .collect();
        let mut file = json!({
            "schema": "anchorlog.anchor/1", "type": "tlog", "statement": self.statement,
            "proof": proof, "timestamps": tokens,
        });
        (self.file)(&mut file);
        (self.bytes)(canon(&file))
    }
}

/// The signature line of a log over a text, by the key of that name: with the log's own key it verifies.
fn log_signature(origin: &str, key: &str, text: &str) -> String {
    let line = log_key(origin).sign(text);
    if origin == key {
        return line.to_string();
    }
    // Another key under the log's name and key id: the signature alone is the other's.
    let mut bytes = line.key_id().as_bytes().to_vec();
    bytes.extend(super::keys::key(key).sign(text.as_bytes()).as_bytes());
    format!("\u{2014} {origin} {}", base64_encode(&bytes))
}

/// The checkpoint of an earlier tree of the suite's log, as a caller remembers it.
#[must_use]
pub fn known(size: u64, root: &Digest, consistency: Option<&[Digest]>) -> Json {
    let hashes = consistency.map(|list| list.iter().map(Digest::to_base64).collect::<Vec<_>>());
    let row = json!({"origin": LOG, "size": size, "root": root.to_base64(), "consistency": hashes});
    json!({"schema": "gad.known-checkpoints/1", "checkpoints": [row]})
}
