//! The evaluation attestation Q: who evaluated which record, with what, under which policy, and what
//! came out.

use crate::digest::Digest;
use crate::json::{JsonCode, Object, Value};
use crate::signed_object::{PublicKey, SignedObject, SigningKey};

use super::code::ATT_FORM;
use super::emit;
use super::entry::Signed;
use super::form::{At, Cell, Defects, Reader, read_closed};
use super::limits::Limits;
use super::names::{ObservationLayer, RunOutcome};
use super::operator::Credential;

/// The `type` of its body.
pub const ATTESTATION_TYPE: &str = "attestation";

/// The longest identity of an evaluator, in bytes.
pub const MAX_EVALUATOR_BYTES: usize = 1024;

/// An attestation whose form is whole; nothing is known about its signature.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Attestation {
    /// Signer, message and signature.
    pub signed: Signed,
    /// The evaluator's key.
    pub credential: Credential,
    /// What is stated.
    pub body: AttestationBody,
}

/// What an evaluator states; [`AttestationBody::sign`] makes it an attestation of its key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct AttestationBody {
    /// The plan.
    pub plan_hash: Digest,
    /// The core that was evaluated.
    pub root_core: Digest,
    /// The envelope that was evaluated; `None`: the core alone.
    pub root_envelope: Option<Digest>,
    /// VALID_RECORD.
    pub valid: bool,
    /// OUTCOME.
    pub outcome: RunOutcome,
    /// CONTRACT_SATISFIED.
    pub satisfied: bool,
    /// Version of the specification.
    pub spec_version: Box<str>,
    /// Version of the canonicalization.
    pub canonicalization: Box<str>,
    /// Version of the predicate registry.
    pub registry: Box<str>,
    /// Who evaluated; 1 to 1024 bytes.
    pub evaluator: Box<str>,
    /// With what.
    pub implementation: Implementation,
    /// Under which policy.
    pub policy: PolicyName,
    /// The replay layers that were exercised, ascending.
    pub replay_layers: Vec<ObservationLayer>,
    /// Version of the conformance suite.
    pub suite_version: Box<str>,
    /// When, in seconds since 1970.
    pub evaluation_time: i64,
}

impl Attestation {
    /// Reads an attestation to its end. `None` with any defect at all: an attestation whose form isn't
    /// whole says nothing.
    pub fn read(value: &Value<'_>, limits: &Limits, defects: &mut Defects) -> Option<Self> {
        let before = (defects.list().len(), defects.omitted());
        let root = At::root("");
        let Some((signed, body)) = Signed::read(value, ATTESTATION_TYPE, &root, defects) else {
            defects.push(JsonCode::Type, &root);
            return None;
        };
        let at = root.member("body");
        if !signed.type_agrees && body.get("type").is_some_and(|stated| stated.as_str().is_some()) {
            defects.push(JsonCode::Enum, &at.member("type"));
        }
        let attestation =
            read_closed(body, &at, defects, |reader| read_body(reader, signed, limits))?;
        let whole = before == (defects.list().len(), defects.omitted());
        whole.then_some(attestation)
    }

    /// The attestation as it is written.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        emit::signed(&self.signed)
    }
}

impl AttestationBody {
    /// The attestation as a signed object: the body with its `type`, signer and the signer's credential,
    /// under that key's signature.
    #[must_use]
    pub fn sign(&self, key: &SigningKey) -> Object<'static> {
        let credential = Credential { key: key.public_key(), key_id: key.id() };
        let results = Object::from([
            ("valid", Value::from(self.valid)),
            ("outcome", self.outcome.as_str().into()),
            ("satisfied", self.satisfied.into()),
        ]);
        let policy = Object::from([
            ("id", emit::text(&self.policy.id)),
            ("hash", emit::text(self.policy.hash)),
        ]);
        let body = Object::from([
            ("plan_hash", emit::text(self.plan_hash)),
            ("root_core", emit::text(self.root_core)),
            ("root_envelope", emit::nullable(self.root_envelope, emit::text)),
            ("predicate_results", results.into()),
            ("spec_version", emit::text(&self.spec_version)),
            ("canonicalization_version", emit::text(&self.canonicalization)),
            ("predicate_registry_version", emit::text(&self.registry)),
            ("evaluator_identity", emit::text(&self.evaluator)),
            ("evaluator_credential", credential_value(&credential)),
            ("evaluator_implementation", self.implementation.to_value()),
            ("policy", policy.into()),
            ("replay_layers_exercised", emit::list(&self.replay_layers, emit::text)),
            ("conformance_suite_version", emit::text(&self.suite_version)),
            ("evaluation_time", emit::time(self.evaluation_time)),
        ]);
        SignedObject::sign(ATTESTATION_TYPE, body, key)
    }
}

/// An evaluator's implementation.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Implementation {
    /// Its name.
    pub name: Box<str>,
    /// Its version.
    pub version: Box<str>,
    /// Digest of its source or binary.
    pub hash: Digest,
}

/// A policy by its name and hash.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct PolicyName {
    /// Its id.
    pub id: Box<str>,
    /// Its hash.
    pub hash: Digest,
}

impl Implementation {
    /// Reads `{name, version, hash}`.
    pub(super) fn read(cell: Cell<'_, '_>) -> Option<Self> {
        cell.object(|reader| {
            let name = string(reader, "name");
            let version = string(reader, "version");
            let hash = reader.digest("hash");
            Some(Self { name: name?, version: version?, hash: hash? })
        })
    }

    /// The implementation as it is written.
    pub(super) fn to_value(&self) -> Value<'static> {
        Object::from([
            ("name", emit::text(&self.name)),
            ("version", emit::text(&self.version)),
            ("hash", emit::text(self.hash)),
        ])
        .into()
    }
}

fn read_body(reader: &mut Reader<'_, '_>, signed: Signed, limits: &Limits) -> Option<Attestation> {
    Signed::skip_members(reader);
    reader.allow_ext();
    let root_core = reader.digest("root_core");
    let root_envelope =
        reader.required("root_envelope", |cell| cell.nullable(|cell| cell.digest()));
    let results = reader.required("predicate_results", |cell| cell.object(read_results));
    let spec_version = string(reader, "spec_version");
    let canonicalization = string(reader, "canonicalization_version");
    let registry = string(reader, "predicate_registry_version");
    let evaluator = reader.text("evaluator_identity", 1..=MAX_EVALUATOR_BYTES);
    let credential = reader.required("evaluator_credential", read_credential);
    if let (Some(credential), Some(signer)) = (credential, signed.key_id)
        && credential.key_id != signer
    {
        reader.defect(ATT_FORM, "evaluator_credential");
    }
    let implementation = reader.required("evaluator_implementation", Implementation::read);
    let policy = reader.required("policy", |cell| cell.object(PolicyName::read));
    let most = usize::try_from(limits.elements).unwrap_or(usize::MAX);
    let replay_layers = reader.required("replay_layers_exercised", |cell| {
        cell.set(most, |cell| cell.one_of(ObservationLayer::from_name))
    });
    let suite_version = string(reader, "conformance_suite_version");
    let evaluation_time = reader.time("evaluation_time");
    let (valid, outcome, satisfied) = results?;
    let plan_hash = signed.plan_hash;
    let body = AttestationBody {
        plan_hash: plan_hash?,
        root_core: root_core?,
        root_envelope: root_envelope?,
        valid,
        outcome,
        satisfied,
        spec_version: spec_version?,
        canonicalization: canonicalization?,
        registry: registry?,
        evaluator: evaluator?.into(),
        implementation: implementation?,
        policy: policy?,
        replay_layers: replay_layers?,
        suite_version: suite_version?,
        evaluation_time: evaluation_time?,
    };
    Some(Attestation { signed, credential: credential?, body })
}

fn read_results(reader: &mut Reader<'_, '_>) -> Option<(bool, RunOutcome, bool)> {
    let valid = reader.boolean("valid");
    let outcome = reader.required("outcome", |cell| cell.one_of(RunOutcome::from_name));
    let satisfied = reader.boolean("satisfied");
    Some((valid?, outcome?, satisfied?))
}

impl PolicyName {
    fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let id = string(reader, "id");
        let hash = reader.digest("hash");
        Some(Self { id: id?, hash: hash? })
    }
}

/// Reads `{alg, key_id, public_key}`, whose id is the key's.
fn read_credential(cell: Cell<'_, '_>) -> Option<Credential> {
    cell.object(|reader| {
        let algorithm = reader.literal("alg", "ed25519");
        let key_id = reader.key_id("key_id");
        let bytes = reader.required("public_key", |cell| cell.base64::<32>());
        let key = PublicKey::from_bytes(&bytes?);
        if key.is_err() {
            reader.defect(ATT_FORM, "public_key");
        }
        let (key, key_id, ()) = (key.ok()?, key_id?, algorithm?);
        if key.id() != key_id {
            reader.defect(ATT_FORM, "key_id");
        }
        Some(Credential { key, key_id })
    })
}

fn credential_value(credential: &Credential) -> Value<'static> {
    Object::from([
        ("alg", "ed25519".into()),
        ("key_id", emit::text(credential.key_id)),
        ("public_key", credential.key.to_base64().into()),
    ])
    .into()
}

/// A text of no stated length.
fn string(reader: &mut Reader<'_, '_>, name: &'static str) -> Option<Box<str>> {
    reader.required(name, |cell| cell.string()).map(Box::from)
}

#[cfg(test)]
mod tests;
