//! Instances (RFC 0020 section 7).

use super::attempt::{Attempt, Failure, State, state_and_failure};
use super::stage::CaseBinding;
use crate::Digest;
use crate::jp::canon::canon;
use crate::jp::fault::{Faults, Rule};
use crate::jp::id::Id;
use crate::jp::json::{Fields, Object, Value};

/// One case of a stage.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Instance {
    /// Its id, unique within the execution.
    pub id: Id,
    /// Its stage.
    pub stage: Id,
    /// The selected record it is for; none at the root.
    pub parent_record: Option<Digest>,
    /// The selection that record is of; none at the root.
    pub selection_digest: Option<Digest>,
    /// What it was admitted for.
    pub input_digest: Digest,
    /// Its case; none when the projection failed or was never begun.
    pub case_digest: Option<Digest>,
    /// How it ended.
    pub state: State,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// Its attempts, in order.
    pub attempts: Vec<Attempt>,
}

impl Instance {
    pub(super) fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let id = fields.parsed("id", "is no id");
        let of_stage = fields.parsed("stage", "is no id");
        let parent_record = fields.nullable_digest("parentRecord")?;
        let selection_digest = fields.nullable_digest("selectionDigest")?;
        if parent_record.is_some() != selection_digest.is_some() {
            fields.note(Rule::Order, "parentRecord", "is null together with selectionDigest");
            return None;
        }
        let input_digest = fields.digest("inputDigest");
        let case_digest = fields.nullable_digest("caseDigest");
        let (state, failure) = state_and_failure(&mut fields)?;
        let elements = fields.array("attempts")?;
        let mut attempts = Vec::with_capacity(elements.len());
        for (position, element) in elements.iter().enumerate() {
            let place = format!("{place}/attempts/{position}");
            attempts.push(Attempt::read(element, position + 1, &place, fields.faults())?);
        }
        fields.finish()?;
        Some(Self {
            id: id?,
            stage: of_stage?,
            parent_record,
            selection_digest,
            input_digest: input_digest?,
            case_digest: case_digest?,
            state,
            failure,
            attempts,
        })
    }
}

/// The input digest of a dependent instance: of canon({parentRecord, selectionDigest, caseBindings}).
#[must_use]
pub fn dependent_input(parent: Digest, selection: Digest, bindings: &[CaseBinding]) -> Digest {
    let object = Object::from([
        ("caseBindings", Value::Array(bindings.iter().map(CaseBinding::to_value).collect())),
        ("parentRecord", Value::from(parent)),
        ("selectionDigest", Value::from(selection)),
    ]);
    // There is no number in it, so it has a canon.
    Digest::of(&canon(&Value::Object(object)).unwrap_or_default())
}
