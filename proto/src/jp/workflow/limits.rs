//! The limits of a workflow document (RFC 0020 section 2).
//!
//! The RFC's table of members and ceilings is not in its public text. Four names are recoverable from where
//! they are used; the rest ("the branch's aggregate byte and file limits") is read as what the text says of
//! every member: an integer of at least 1. No ceiling is enforced.

use std::collections::BTreeMap;

use crate::jp::fault::Faults;
use crate::jp::json::{Fields, Object, Value};

/// What a branch may come to.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "what is known of the RFC's form, and the rest")]
pub struct Limits {
    /// Most stages.
    pub max_stages: u64,
    /// Most records of a closed set and of a selection.
    pub max_records: u64,
    /// Most instances.
    pub max_instances: u64,
    /// Most attempts of an instance.
    pub max_attempts: u64,
    /// Members whose names are not public.
    pub others: BTreeMap<String, u64>,
}

impl Limits {
    pub(super) fn read(value: &Value<'_>, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, "/limits", faults)?;
        let mut known = |name| fields.integer(name, 1, MOST).map(i64::unsigned_abs);
        let max_stages = known("maxStages");
        let max_records = known("maxRecords");
        let max_instances = known("maxInstances");
        let max_attempts = known("maxAttempts");
        let mut others = BTreeMap::new();
        for (name, value) in value.as_object().into_iter().flat_map(Object::iter) {
            if KNOWN.contains(&name) {
                continue;
            }
            match value.as_integer() {
                Some(number @ 1..) => others.insert(name.to_owned(), number.unsigned_abs()),
                _ => return fields.wrong(name, "is no integer of at least 1"),
            };
        }
        Some(Self {
            max_stages: max_stages?,
            max_records: max_records?,
            max_instances: max_instances?,
            max_attempts: max_attempts?,
            others,
        })
    }
}

const KNOWN: [&str; 4] = ["maxAttempts", "maxInstances", "maxRecords", "maxStages"];

const MOST: i64 = crate::json::MAX_INTEGER;
