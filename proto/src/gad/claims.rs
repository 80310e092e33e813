//! Typed claims (`gad.claims/1`): what is said of a record, with what it rests on and what it leaves open.
//!
//! What it is: their form. What it isn't: the predicate registry, which says who may claim what on which
//! evidence; the verifier has it.

mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::digest::Digest;
use crate::json::Value;
use crate::signed_object::{SignedObject, SigningKey};

use super::form::Defects;
use super::limits::Limits;
use super::names::{AnchorKind, EvidenceClass, words};
use super::signed::Signed;

pub(super) use read::{MAX_NONCOVERAGE_BYTES, MAX_PREDICATE_BYTES};

/// The schema name.
pub const CLAIMS_SCHEMA: &str = "gad.claims/1";

/// The one predicate registry that is known.
pub const REGISTRY: &str = "gad.registry/1";

/// claims(B_core).
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Claims {
    /// Whether the stated registry is [`REGISTRY`]; otherwise R9.REGISTRY.
    pub registry_known: bool,
    /// The claims in order; `None` for one that is not of the form (R9.FORM).
    pub claims: Vec<Option<TypedClaim>>,
}

impl Claims {
    /// Reads claims to the end.
    ///
    /// `None` when there is no array of claims, or more than `limits.elements`. A claim that isn't of the
    /// form is `None` in its place, without a `J.*` defect for members that are absent or wrong
    /// (R9.FORM); one with a member its table doesn't list is too, and that member is J.UNKNOWN_FIELD as
    /// everywhere. Anything wrong with a noncoverage leaves it out of its claim (R9.NONCOVERAGE).
    #[must_use]
    pub fn read(value: &Value<'_>, limits: &Limits, defects: &mut Defects) -> Option<Self> {
        read::claims(value, limits, defects)
    }

    /// The claims as JSON, those that were refused left out; extensions of what isn't signed aren't kept.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        write::claims(self)
    }
}

/// The `type` of a signed claim's body.
pub const CLAIM_TYPE: &str = "typed_claim";

/// What a noncoverage can be about: the tokens of `gad.registry/1`.
pub const ASPECTS: [&str; 11] = [
    "adequacy_of_tests",
    "approver_competence",
    "authorship_time",
    "external_time",
    "internal_timestamps",
    "not_exercised",
    "scope",
    "successor_adequacy",
    "truth_of_text",
    "unmonitored_effects",
    "unrecorded_events",
];

/// One claim.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct TypedClaim {
    /// What is claimed.
    pub predicate: Box<str>,
    /// Of what.
    pub subject: Subject,
    /// On what evidence.
    pub evidence: Vec<EvidenceRef>,
    /// How far the evidence is said to reach.
    pub class: EvidenceClass,
    /// What it leaves open; `None` when absent or of the wrong form (R9.NONCOVERAGE).
    pub noncoverage: Option<Vec<Noncoverage>>,
    /// Whose claim it is.
    pub issuer: IssuerType,
    /// The signature, where the claim stands in a signed object: as a human's does, and a machine's may not.
    pub signed: Option<Signed>,
}

impl TypedClaim {
    /// The claim as a human's, signed by `key` for the record of the plan `plan_hash`.
    #[must_use]
    pub fn signed_by(self, plan_hash: Digest, key: &SigningKey) -> Self {
        let mut claim = Self { issuer: IssuerType::Human, signed: None, ..self };
        let mut body = write::tuple(&claim);
        body.insert("plan_hash", plan_hash.to_string());
        let object = Value::Object(SignedObject::sign(CLAIM_TYPE, body, key));
        let at = super::form::At::root("");
        claim.signed =
            Signed::read(&object, CLAIM_TYPE, &at, &mut Defects::new()).map(|(signed, _)| signed);
        claim
    }
}

/// The subject of a claim.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Subject {
    /// The plan.
    pub plan_hash: Digest,
    /// The node, if it is about one.
    pub node: Option<Box<str>>,
    /// The test, if it is about one.
    pub test_id: Option<Box<str>>,
}

/// What a claim rests on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the format lists exactly these")]
pub enum EvidenceRef {
    /// The witness entry with this number.
    Entry(u64),
    /// An anchor of this kind.
    Anchor(AnchorKind),
}

words! {
    /// What a piece of evidence is.
    EvidenceKind {
        /// A witness entry.
        Entry = "entry",
        /// An anchor of the envelope.
        Anchor = "anchor",
    }
}

/// One thing a claim leaves open.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Noncoverage {
    /// One of [`ASPECTS`].
    pub aspect: Box<str>,
    /// In words.
    pub text: Box<str>,
}

words! {
    /// Whose claim it is.
    IssuerType {
        /// A machine's, unsigned.
        Machine = "machine",
        /// A human's, signed by a registered principal.
        Human = "human",
    }
}
