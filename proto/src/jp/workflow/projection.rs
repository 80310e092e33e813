//! From a selected payload to a case (RFC 0020 section 3).

use super::stage::{CaseBinding, ValueType};
use crate::jp::json::{Object, Value};
use crate::json::parse_utc_seconds;

/// A projection that fails, and the binding at which it does.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("binding {binding}: {}", if *.absent { "a required value is absent" } else { "a value of another type" })]
#[non_exhaustive]
pub struct ProjectionFailed {
    /// Position of the binding.
    pub binding: usize,
    /// Whether a required value is absent; otherwise a present one has another type.
    pub absent: bool,
}

/// Projects a payload into a fresh case: exactly the copies that the bindings name, literals kept.
///
/// Only an absent optional value is left out; null is present and matches null alone.
pub fn project(
    bindings: &[CaseBinding],
    payload: &Value<'_>,
) -> Result<Value<'static>, ProjectionFailed> {
    let mut case = Object::new();
    for (position, binding) in bindings.iter().enumerate() {
        let failed = |absent| ProjectionFailed { binding: position, absent };
        match binding.from.get(payload) {
            Some(value) if !binding.value_type.holds(value) => return Err(failed(false)),
            Some(value) => {
                // Destinations don't overlap, so nothing stands in the way.
                let _put = binding.to.put(&mut case, value.clone().into_owned());
            }
            None if binding.required => return Err(failed(true)),
            None => {}
        }
    }
    Ok(Value::Object(case))
}

impl ValueType {
    /// Whether a value is of this type.
    #[must_use]
    pub fn holds(self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Self::String, Value::String(_))
            | (Self::Boolean, Value::Bool(_))
            | (Self::Object, Value::Object(_))
            | (Self::Array, Value::Array(_))
            | (Self::Null, Value::Null) => true,
            (Self::Integer, Value::Number(_)) => value.as_integer().is_some(),
            (Self::Timestamp, Value::String(text)) => parse_utc_seconds(text).is_some(),
            _ => false,
        }
    }
}
