//! A record in the making: everything is a draft that can still be changed, and hangs together only when it
//! is rendered.
//!
//! What it is: the knobs a case turns. A change is made in one place; what follows from it (numbers, chain
//! hashes, checkpoints, digests, signatures, roots, anchors, the attestation) is made anew around it, as
//! whoever holds the keys would. What it isn't: a judge of what is written.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value as Json, json};

use super::anchors::Anchor;
use super::case::Status;
use super::entries::Entry;

/// A change to a document.
pub type Change = Box<dyn Fn(&mut Json)>;
/// A change to bytes.
pub type Edit = Box<dyn Fn(Vec<u8>) -> Vec<u8>>;
/// The files of a bundle, by their paths.
pub type Files = BTreeMap<String, Vec<u8>>;

/// In which form the bundle is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// `bundle.tar`.
    Tar,
    /// `bundle/`.
    Directory,
    /// `bundle/`, which is a core alone.
    Core,
}

/// What a caller gives beside bundle and policy.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The status asked for: valid, satisfied, defensible or gad4.
    pub require: &'static str,
    /// The time of evaluation.
    pub at: &'static str,
    /// The hash the policy has to have; a placeholder.
    pub policy_hash: Option<&'static str>,
    /// The root_core expected; a placeholder.
    pub root_core: Option<&'static str>,
    /// The root_envelope expected; a placeholder.
    pub root_envelope: Option<&'static str>,
    /// Limits, by name.
    pub limits: BTreeMap<&'static str, u64>,
    /// Whether the envelope before this one is supplied.
    pub predecessor: bool,
    /// The successor plan.
    pub successor: Option<Json>,
    /// The memory of logs.
    pub known: Option<Json>,
    /// What the replay runner says of everything it is asked.
    pub replay: Option<&'static str>,
    /// An attestation given beside the envelope.
    pub attestation: Option<Json>,
    /// Files of the trust directory beside the suite's own, by the name of the set and theirs.
    pub trust: Option<(&'static str, Files)>,
}

/// A record in the making.
pub struct Record {
    /// The name of the base.
    pub base: &'static str,
    /// The clause it rests on.
    pub clause: &'static str,
    /// What it is.
    pub why: &'static str,
    /// What it comes to.
    pub status: Status,
    /// The plan.
    pub plan: Json,
    /// The entries.
    pub entries: Vec<Entry>,
    /// Artifacts, by their paths below `core/`.
    pub files: Files,
    /// The operator record.
    pub operator: Option<Json>,
    /// The typed claims.
    pub claims: Option<Json>,
    /// spec_version.
    pub spec_version: &'static str,
    /// seal.
    pub seal: &'static str,
    /// Changes to M_core before it is hashed.
    pub manifest: Vec<Change>,
    /// Anchors.
    pub anchors: Vec<Anchor>,
    /// Declared heads, by the labels of their entries.
    pub heads: Vec<&'static str>,
    /// Declared layers.
    pub layers: Json,
    /// The operator's seal over root_core.
    pub operator_seal: Option<Json>,
    /// Attestations inside: with any, the envelope is the one after E_0.
    pub attestations: Vec<Json>,
    /// Changes to M_envelope.
    pub envelope: Vec<Change>,
    /// The policy.
    pub policy: Option<Json>,
    /// Beside the bundle.
    pub inputs: Inputs,
    /// Changes to stored bytes before anything lists or hashes them.
    pub edits: Vec<(&'static str, Edit)>,
    /// Changes to the finished files, which nothing takes note of.
    pub outside: Vec<Box<dyn Fn(&mut Files)>>,
    /// Changes to the finished archive.
    pub archive: Vec<Edit>,
    /// The form.
    pub form: Form,
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Record {
    /// A record of this plan without entries.
    #[must_use]
    pub fn new(base: &'static str, clause: &'static str, why: &'static str, plan: Json) -> Self {
        let files = [
            ("artifacts/instructions.md", "Do what the node says.\n"),
            ("artifacts/delta.patch", "+ a line\n"),
        ];
        Self {
            base,
            clause,
            why,
            status: Status::COMPLETED,
            plan,
            entries: Vec::new(),
            files: files.map(|(path, text)| (path.to_owned(), text.into())).into(),
            operator: Some(operator()),
            claims: None,
            spec_version: "1.3",
            seal: "final",
            manifest: Vec::new(),
            anchors: Vec::new(),
            heads: Vec::new(),
            layers: json!(["signed_entries_and_checkpoints"]),
            operator_seal: None,
            attestations: Vec::new(),
            envelope: Vec::new(),
            policy: None,
            inputs: Inputs { require: "valid", at: "2025-07-01T00:00:00Z", ..Inputs::default() },
            edits: Vec::new(),
            outside: Vec::new(),
            archive: Vec::new(),
            form: Form::Tar,
        }
    }

    /// Adds entries.
    pub fn push(&mut self, entries: impl IntoIterator<Item = Entry>) {
        self.entries.extend(entries);
    }

    /// The position of the entry with this label.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn at(&self, label: &str) -> usize {
        let found = self.entries.iter().position(|entry| entry.label == label);
        found.unwrap_or_else(|| panic!("{} has no entry {label}", self.base))
    }

    /// The entry with this label.
    pub fn entry(&mut self, label: &str) -> &mut Entry {
        let position = self.at(label);
        &mut self.entries[position]
    }

    /// Sets the member at `pointer` of the entry's payload; the last name may be new.
    pub fn set(&mut self, label: &str, pointer: &str, value: impl Into<Json>) {
        put(&mut self.entry(label).p, pointer, value.into());
    }

    /// Takes the member at `pointer` out of the entry's payload.
    pub fn unset(&mut self, label: &str, pointer: &str) {
        take(&mut self.entry(label).p, pointer);
    }

    /// Sets the member at `pointer` of the plan.
    pub fn plan(&mut self, pointer: &str, value: impl Into<Json>) {
        put(&mut self.plan, pointer, value.into());
    }

    /// Puts entries before the one with this label.
    pub fn before(&mut self, label: &str, entries: impl IntoIterator<Item = Entry>) {
        let position = self.at(label);
        self.entries.splice(position..position, entries);
    }

    /// Puts entries behind the one with this label.
    pub fn behind(&mut self, label: &str, entries: impl IntoIterator<Item = Entry>) {
        let position = self.at(label) + 1;
        self.entries.splice(position..position, entries);
    }

    /// Takes entries out.
    pub fn drop(&mut self, labels: &[&str]) {
        for label in labels {
            let position = self.at(label);
            self.entries.remove(position);
        }
    }

    /// Takes out everything from the entry with this label on, and puts these there.
    pub fn end(&mut self, label: &str, entries: impl IntoIterator<Item = Entry>) {
        let position = self.at(label);
        self.entries.truncate(position);
        self.entries.extend(entries);
    }

    /// Moves an entry right before another one.
    pub fn move_before(&mut self, label: &str, other: &str) {
        let entry = self.entries.remove(self.at(label));
        let position = self.at(other);
        self.entries.insert(position, entry);
    }

    /// Changes M_core before it is hashed.
    pub fn manifest(&mut self, change: impl Fn(&mut Json) + 'static) {
        self.manifest.push(Box::new(change));
    }

    /// Changes M_envelope.
    pub fn envelope(&mut self, change: impl Fn(&mut Json) + 'static) {
        self.envelope.push(Box::new(change));
    }

    /// Changes stored bytes before they are hashed and listed.
    pub fn edit(&mut self, path: &'static str, change: impl Fn(Vec<u8>) -> Vec<u8> + 'static) {
        self.edits.push((path, Box::new(change)));
    }

    /// Replaces a text once in stored bytes before they are hashed and listed.
    pub fn replace(&mut self, path: &'static str, from: &'static str, to: &'static str) {
        self.edit(path, move |bytes| replace_once(bytes, from, to));
    }

    /// Changes the finished files.
    pub fn outside(&mut self, change: impl Fn(&mut Files) + 'static) {
        self.outside.push(Box::new(change));
    }

    /// Changes the finished archive.
    pub fn archive(&mut self, change: impl Fn(Vec<u8>) -> Vec<u8> + 'static) {
        self.archive.push(Box::new(change));
    }

    /// The policy.
    ///
    /// # Panics
    /// When there is none.
    pub fn policy(&mut self, pointer: &str, value: impl Into<Json>) {
        put(self.policy.as_mut().expect("a policy"), pointer, value.into());
    }

    /// The first attestation.
    ///
    /// # Panics
    /// When there is none.
    pub fn attest(&mut self, pointer: &str, value: impl Into<Json>) {
        put(self.attestations.first_mut().expect("an attestation"), pointer, value.into());
    }

    /// The anchor with this name.
    ///
    /// # Panics
    /// When there is none.
    pub fn anchor(&mut self, name: &str) -> &mut Anchor {
        self.anchors.iter_mut().find(|anchor| anchor.name == name).expect("an anchor")
    }

    /// The claims.
    ///
    /// # Panics
    /// When there are none.
    pub fn claim(&mut self, pointer: &str, value: impl Into<Json>) {
        put(self.claims.as_mut().expect("claims"), pointer, value.into());
    }
}

/// Replaces `from`, which has to be there, once.
///
/// # Panics
/// When it isn't there.
#[must_use]
pub fn replace_once(bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    let position = bytes.windows(from.len()).position(|window| window == from.as_bytes());
    let position = position.unwrap_or_else(|| panic!("{from} isn't there"));
    [&bytes[..position], to.as_bytes(), &bytes[position + from.len()..]].concat()
}

/// Sets what `pointer` leads to; the last name may be new, `-` appends to an array.
///
/// # Panics
/// When it leads nowhere.
pub fn put(json: &mut Json, pointer: &str, value: Json) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    match json.pointer_mut(parent) {
        Some(Json::Object(members)) => {
            members.insert(name.to_owned(), value);
        }
        Some(Json::Array(elements)) if name == "-" => elements.push(value),
        Some(Json::Array(elements)) => {
            *elements.get_mut(name.parse::<usize>().expect("an index")).expect("there") = value;
        }
        _ => panic!("{pointer} leads nowhere"),
    }
}

/// Takes away what `pointer` leads to.
///
/// # Panics
/// When it leads nowhere.
pub fn take(json: &mut Json, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    match json.pointer_mut(parent) {
        Some(Json::Object(members)) => {
            members.remove(name).expect("a member");
        }
        Some(Json::Array(elements)) => {
            elements.remove(name.parse::<usize>().expect("an index"));
        }
        _ => panic!("{pointer} leads nowhere"),
    }
}

/// The operator record of the suite.
#[must_use]
pub fn operator() -> Json {
    json!({
        "schema": "gad.operator/1",
        "legal_or_organizational_identity": "Example Works",
        "implementation_identity": "example-engine 4",
        "organizational_unit": "Delivery",
        "engagement_or_lane_id": "lane-7",
        "operator_credential":
            {"alg": "ed25519", "key_id": "@key:operator", "public_key": "@pub:operator"},
    })
}
