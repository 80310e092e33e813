//! Attempts (RFC 0020 section 7).

use crate::Digest;
use crate::jp::fault::{Faults, Rule};
use crate::jp::json::{Fields, Value};

/// One try at an instance.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "the RFC's closed form; its number is its position, from 1"
)]
pub struct Attempt {
    /// How it ended.
    pub state: State,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// Its valid preparation.
    pub preparation_digest: Option<Digest>,
    /// Its audit record, without the newline.
    pub audit_digest: Option<Digest>,
    /// Its run export.
    pub run_digest: Option<Digest>,
    /// Its retained evaluation-error envelope, with every byte.
    pub evaluation_error_digest: Option<Digest>,
    /// Who asked for it again; none on attempt 1.
    pub retry: Option<Retry>,
}

/// An installation's assertion of a retry.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Retry {
    /// An actor, local to the installation.
    pub actor: String,
    /// When, a timestamp.
    pub at: String,
}

/// How an instance or an attempt ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these five")]
pub enum State {
    /// `completed-zero`: evaluated, and nothing to offer.
    CompletedZero,
    /// `completed`: evaluated, with outputs.
    Completed,
    /// `failed`
    Failed,
    /// `interrupted`, which includes uncertain acquisition.
    Interrupted,
    /// `cancelled`
    Cancelled,
}

impl State {
    /// Whether it was evaluated to an end.
    #[must_use]
    pub const fn is_completed(self) -> bool {
        matches!(self, Self::Completed | Self::CompletedZero)
    }

    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "completed-zero" => Self::CompletedZero,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "interrupted" => Self::Interrupted,
            "cancelled" => Self::Cancelled,
            _ => return None,
        })
    }
}

/// Why an instance or an attempt failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these seven")]
pub enum Failure {
    /// `projection-invalid`
    ProjectionInvalid,
    /// `admission-refused`
    AdmissionRefused,
    /// `acquisition-failed`
    AcquisitionFailed,
    /// `preparation-failed`
    PreparationFailed,
    /// `evaluation-error`
    EvaluationError,
    /// `output-invalid`
    OutputInvalid,
    /// `limit-exceeded`
    LimitExceeded,
}

impl Failure {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "projection-invalid" => Self::ProjectionInvalid,
            "admission-refused" => Self::AdmissionRefused,
            "acquisition-failed" => Self::AcquisitionFailed,
            "preparation-failed" => Self::PreparationFailed,
            "evaluation-error" => Self::EvaluationError,
            "output-invalid" => Self::OutputInvalid,
            "limit-exceeded" => Self::LimitExceeded,
            _ => return None,
        })
    }
}

impl Attempt {
    /// Reads the attempt that has this number.
    pub(super) fn read(
        value: &Value<'_>,
        number: usize,
        place: &str,
        faults: &mut Faults,
    ) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let stated = fields.required("number").and_then(Value::as_integer);
        if stated.and_then(|stated| usize::try_from(stated).ok()) != Some(number) {
            fields.note(Rule::Order, "number", "does not go up from 1 by one");
            return None;
        }
        let (state, failure) = state_and_failure(&mut fields)?;
        let preparation_digest = fields.nullable_digest("preparationDigest")?;
        let audit_digest = fields.nullable_digest("auditDigest")?;
        let run_digest = fields.nullable_digest("runDigest")?;
        let evaluation_error_digest = fields.nullable_digest("evaluationErrorDigest")?;
        if state.is_completed() && (preparation_digest.is_none() || audit_digest.is_none()) {
            fields.note(Rule::Order, "state", "is completed without preparation and audit");
            return None;
        }
        let retry = match fields.required("retry")? {
            Value::Null => None,
            value => Some(Retry::read(value, &format!("{place}/retry"), fields.faults())?),
        };
        if retry.is_some() != (number > 1) {
            fields.note(Rule::Order, "retry", "is null exactly on attempt 1");
            return None;
        }
        fields.finish()?;
        Some(Self {
            state,
            failure,
            preparation_digest,
            audit_digest,
            run_digest,
            evaluation_error_digest,
            retry,
        })
    }
}

/// `state` and `failure`, which go together: a failure is null except for failed.
pub(super) fn state_and_failure(
    fields: &mut Fields<'_, '_, '_>,
) -> Option<(State, Option<Failure>)> {
    let state = fields.one_of("state", State::from_name);
    let failure = match fields.required("failure")? {
        Value::Null => None,
        _ => Some(fields.one_of("failure", Failure::from_name)?),
    };
    let state = state?;
    if failure.is_some() != (state == State::Failed) {
        fields.note(Rule::Order, "failure", "is null exactly when the state is not failed");
        return None;
    }
    Some((state, failure))
}

impl Retry {
    fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let actor = fields.text("actor", 256);
        let at = fields.timestamp("at");
        fields.finish()?;
        Some(Self { actor: actor?.to_owned(), at: at?.to_owned() })
    }
}
