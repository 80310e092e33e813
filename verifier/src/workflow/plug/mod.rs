//! What is plugged in for the parts that aren't public: preparations, the expansion of dialects, influence.
//!
//! A verifier answers requests; an answer that agrees becomes a proof here, and proofs have no other
//! constructor. So nothing that wants a proof can be had without somebody having answered for it. Who plugs a
//! verifier in trusts it as they trust this one. [`CommandVerifier`] is one that runs a command.

mod command;
mod request;

use core::fmt;
use std::sync::Arc;

use anchorlog_proto::jp::json::Value;
use anchorlog_proto::jp::workflow::{Attempt, Failure, Influence, Instance};

pub use command::{CommandVerifier, DEFAULT_LIMITS};
pub use request::{ExpansionRequest, InfluenceRequest, KindRequest, PreparationRequest};

/// Verifies preparations (the dialect's section 11), at their own `verifiedAt`, with trust of its own.
///
/// What it agrees to includes the dialect's own bounds and closed forms (RFC 0020 section 2, last sentences).
pub trait PreparationVerifier: fmt::Debug + Send + Sync {
    /// Whether it reads dialects of this kind.
    fn reads(&self, request: &KindRequest) -> Kind;

    /// Verifies one preparation.
    fn verify(&self, request: &PreparationRequest) -> PreparationOutcome;
}

/// Expands published dialects (the dialect's section 4.4) and compares.
///
/// What it agrees to includes the closed forms of dialect, binding document and profiles, the class and research
/// rules of RFC 0020 section 9, check 1, and the branch's aggregate limits, which its request carries.
pub trait ExpansionVerifier: fmt::Debug + Send + Sync {
    /// Verifies one stage.
    fn verify(&self, request: &ExpansionRequest) -> ExpansionOutcome;
}

/// Computes what influence a case inherits and an output carries (RFC 0020 section 4).
pub trait InfluenceVerifier: fmt::Debug + Send + Sync {
    /// Verifies one instance, after those before it.
    fn verify(&self, request: &InfluenceRequest) -> InfluenceOutcome;
}

/// Whether a kind of dialect is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "there is no fourth")]
pub enum Kind {
    /// It is.
    Read,
    /// It isn't.
    Unread,
    /// There was no answer.
    NoAnswer,
}

/// What came of a preparation.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "whatever isn't clear is no answer")]
pub enum PreparationOutcome {
    /// It verifies; these are the facts and the lineage as they were recomputed.
    Agrees {
        /// The prepared facts document.
        facts: Value<'static>,
        /// The preparation's lineage.
        lineage: Value<'static>,
    },
    /// It is refused, with the dialect's own code.
    Refusal(String),
    /// It does not verify.
    Finding(String),
    /// There was no answer.
    NoAnswer,
}

/// What came of an expansion.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "whatever isn't clear is no answer")]
pub enum ExpansionOutcome {
    /// It expands to the bound dialect.
    Agrees,
    /// It does not.
    Finding(String),
    /// There was no answer.
    NoAnswer,
}

/// What came of an instance's influence.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "whatever isn't clear is no answer")]
pub enum InfluenceOutcome {
    /// Its targets admit what they inherit; this is what each of its outputs carries, by index.
    Agrees(Vec<Influence>),
    /// A target does not admit what it inherits: admission has to be refused before acquisition. Whether that is
    /// a finding is told by what the instance records.
    NotAdmitted(String),
    /// Something else doesn't hold.
    Finding(String),
    /// There was no answer.
    NoAnswer,
}

/// Who is plugged in. By default nobody.
#[derive(Clone, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "the three that the RFC's reader needs")]
pub struct Plugs {
    /// For preparations.
    pub preparation: Option<Arc<dyn PreparationVerifier>>,
    /// For expansions.
    pub expansion: Option<Arc<dyn ExpansionVerifier>>,
    /// For influence.
    pub influence: Option<Arc<dyn InfluenceVerifier>>,
}

impl Plugs {
    /// Whether all three are plugged in.
    #[must_use]
    pub const fn are_complete(&self) -> bool {
        self.preparation.is_some() && self.expansion.is_some() && self.influence.is_some()
    }
}

/// A preparation was verified.
#[derive(Clone, Debug)]
pub(super) struct PreparationAgrees {
    pub(super) facts: Value<'static>,
    pub(super) lineage: Value<'static>,
    _made_here: MadeHere,
}

/// A stage's dialect was expanded to the bound one.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpansionAgrees(#[allow(dead_code, reason = "it is the proof")] MadeHere);

/// An instance's influence was computed and is admitted.
#[derive(Clone, Debug)]
pub(super) struct InfluenceAgrees {
    pub(super) outputs: Vec<Influence>,
    _made_here: MadeHere,
}

/// Private to this module, so that proofs are made by asking alone.
#[derive(Clone, Copy, Debug)]
struct MadeHere;

/// Why there is no proof.
#[derive(Clone, Debug)]
pub(super) enum NoProof {
    Refusal(String),
    Finding(String),
    NoAnswer,
}

pub(super) fn prepare(
    verifier: &dyn PreparationVerifier,
    request: &PreparationRequest,
) -> Result<PreparationAgrees, NoProof> {
    match verifier.verify(request) {
        PreparationOutcome::Agrees { facts, lineage } => {
            Ok(PreparationAgrees { facts, lineage, _made_here: MadeHere })
        }
        PreparationOutcome::Refusal(code) => Err(NoProof::Refusal(code)),
        PreparationOutcome::Finding(detail) => Err(NoProof::Finding(detail)),
        PreparationOutcome::NoAnswer => Err(NoProof::NoAnswer),
    }
}

pub(super) fn expand(
    verifier: &dyn ExpansionVerifier,
    request: &ExpansionRequest,
) -> Result<ExpansionAgrees, NoProof> {
    match verifier.verify(request) {
        ExpansionOutcome::Agrees => Ok(ExpansionAgrees(MadeHere)),
        ExpansionOutcome::Finding(detail) => Err(NoProof::Finding(detail)),
        ExpansionOutcome::NoAnswer => Err(NoProof::NoAnswer),
    }
}

/// What an instance records about its admission (RFC 0020 sections 4 and 7).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Admission {
    /// It was refused before acquisition.
    Refused,
    /// Nothing was acquired, for this reason or another one.
    Untold,
    /// Something was acquired.
    Granted,
}

impl Admission {
    /// As an instance records it. A refusal by the dialect's own admission comes after acquisition.
    pub(super) fn of(instance: &Instance) -> Self {
        let refused = instance.failure == Some(Failure::AdmissionRefused);
        let nothing = |attempt: &Attempt| {
            attempt.failure == Some(Failure::AdmissionRefused)
                && attempt.run_digest.is_none()
                && attempt.preparation_digest.is_none()
        };
        match instance.attempts.is_empty() {
            true if refused => Self::Refused,
            true => Self::Untold,
            false if instance.attempts.iter().all(nothing) => Self::Untold,
            false => Self::Granted,
        }
    }
}

pub(super) fn influence(
    verifier: &dyn InfluenceVerifier,
    request: &InfluenceRequest,
    admission: Admission,
) -> Result<InfluenceAgrees, NoProof> {
    match verifier.verify(request) {
        InfluenceOutcome::Agrees(_) if admission == Admission::Refused => {
            let detail =
                "its admission is recorded as refused, and its targets admit what they inherit";
            Err(NoProof::Finding(detail.to_owned()))
        }
        InfluenceOutcome::Agrees(outputs) => Ok(InfluenceAgrees { outputs, _made_here: MadeHere }),
        // It has no outputs that could carry anything.
        InfluenceOutcome::NotAdmitted(_) if admission != Admission::Granted => {
            Ok(InfluenceAgrees { outputs: Vec::new(), _made_here: MadeHere })
        }
        InfluenceOutcome::NotAdmitted(detail) => {
            Err(NoProof::Finding(format!("it was not refused before acquisition: {detail}")))
        }
        InfluenceOutcome::Finding(detail) => Err(NoProof::Finding(detail)),
        InfluenceOutcome::NoAnswer => Err(NoProof::NoAnswer),
    }
}
