//! Maps of counts, which both forms have.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::contributors::ContributorKind;
use crate::jp::canon::{NoCanon, canon};
use crate::jp::core_pack::CoreId;
use crate::jp::fault::{Faults, Rule};
use crate::jp::json::{Bounds, Fields, Object, Value};

/// What a form of this size may ask: maps may have as many members as fit into its bytes.
pub(super) const BOUNDS: Bounds =
    Bounds { members: usize::MAX, ..Bounds::object(super::MAX_WIRE_BYTES) };

pub(super) fn number(number: impl Into<i128>) -> Value<'static> {
    Value::Number(Cow::Owned(number.into().to_string()))
}

/// `{"forcing-exception": {id: n}, "rule": {id: n}}`.
pub(super) fn contributors<'m, N: Copy + Into<i128> + 'm>(
    of: impl Fn(ContributorKind) -> &'m BTreeMap<CoreId, N>,
) -> Value<'m> {
    let kinds = ContributorKind::ALL.into_iter().map(|kind| {
        let counts = of(kind).iter().map(|(id, count)| (id.as_str(), number(*count)));
        (kind.as_str(), Value::Object(counts.collect()))
    });
    Value::Object(kinds.collect())
}

/// Reads the two maps.
pub(super) fn read_contributors<N>(
    value: &Value<'_>,
    place: &str,
    faults: &mut Faults,
    count: impl Fn(i64) -> Option<N>,
) -> Option<[BTreeMap<CoreId, N>; 2]> {
    let mut fields = Fields::new(value, place, faults)?;
    let forcing = fields.required(ContributorKind::ForcingException.as_str());
    let rules = fields.required(ContributorKind::Rule.as_str());
    fields.finish()?;
    let mut map = |value: &Value<'_>, kind: ContributorKind| {
        let place = format!("{place}/{kind}");
        by_id(value, &place, faults, |value, place, faults| {
            let read = value.as_integer().and_then(&count);
            if read.is_none() {
                faults.note(Rule::Form, format_args!("{place} is no count that is listed"));
            }
            read
        })
    };
    let forcing = map(forcing?, ContributorKind::ForcingException);
    let rules = map(rules?, ContributorKind::Rule);
    Some([forcing?, rules?])
}

/// Reads an object whose members are named by local identifiers.
pub(super) fn by_id<'v, 'a, T>(
    value: &'v Value<'a>,
    place: &str,
    faults: &mut Faults,
    mut read: impl FnMut(&'v Value<'a>, &str, &mut Faults) -> Option<T>,
) -> Option<BTreeMap<CoreId, T>> {
    let Some(object) = value.as_object() else {
        faults.note(Rule::Form, format_args!("{place} is no object"));
        return None;
    };
    let mut found = BTreeMap::new();
    for (name, value) in object.iter() {
        let Ok(id) = name.parse::<CoreId>() else {
            faults.note(Rule::Form, format_args!("{place}: a member that is no local identifier"));
            return None;
        };
        let one = read(value, &format!("{place}/{id}"), faults)?;
        found.insert(id, one);
    }
    Some(found)
}

/// The canonical bytes of an object.
pub(super) fn bytes(object: Object<'_>) -> Result<Vec<u8>, NoCanon> {
    canon(&object.into())
}
