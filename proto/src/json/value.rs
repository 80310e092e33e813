//! JSON values as the strict reader knows them.

use std::borrow::Cow;

use super::writer::write_object;

/// The largest integer a JSON number may be, 2^53-1; the smallest is its negative.
pub const MAX_INTEGER: i64 = (1 << 53) - 1;

/// [`MAX_INTEGER`] for unsigned quantities such as indexes and sizes.
pub const MAX_UNSIGNED: u64 = (1 << 53) - 1;

/// One JSON value; text is borrowed from the document where it needed no unescaping.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number: integers within ±[`MAX_INTEGER`] only. The reader guarantees the range; code that
    /// builds values uses `From` and `TryFrom`, which check it.
    Integer(i64),
    /// A string, unescaped.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object.
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    /// The string, if this is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, if this is a number.
    #[must_use]
    pub const fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The elements, if this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The object, if this is one.
    #[must_use]
    pub const fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Whether this is `null`.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The same value, independent of the document it was read from.
    #[must_use]
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(truth),
            Self::Integer(number) => Value::Integer(number),
            Self::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Self::Array(elements) => {
                Value::Array(elements.into_iter().map(Value::into_owned).collect())
            }
            Self::Object(object) => Value::Object(object.into_owned()),
        }
    }
}

impl From<bool> for Value<'_> {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Self::Integer(number.into())
    }
}

impl TryFrom<u64> for Value<'_> {
    type Error = IntegerRangeError;

    fn try_from(number: u64) -> Result<Self, IntegerRangeError> {
        let number = i64::try_from(number).map_err(|_| IntegerRangeError)?;
        Self::try_from(number)
    }
}

impl TryFrom<i64> for Value<'_> {
    type Error = IntegerRangeError;

    fn try_from(number: i64) -> Result<Self, IntegerRangeError> {
        if (-MAX_INTEGER..=MAX_INTEGER).contains(&number) {
            Ok(Self::Integer(number))
        } else {
            Err(IntegerRangeError)
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::String(Cow::Owned(text))
    }
}

impl<'a> From<Vec<Value<'a>>> for Value<'a> {
    fn from(elements: Vec<Value<'a>>) -> Self {
        Self::Array(elements)
    }
}

impl<'a> From<Object<'a>> for Value<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

/// An integer that JSON can't carry exactly: it lies outside ±(2^53-1).
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an integer lies outside ±(2^53-1)")]
pub struct IntegerRangeError;

/// An object: members in the code-point order of their names, no name twice.
///
/// Member order in a document carries no meaning, so two objects are equal when they have equal
/// members. Look-up is a binary search.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Object<'a> {
    /// Strictly ascending by name.
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Object<'a> {
    /// An object without members.
    #[must_use]
    pub const fn new() -> Self {
        Self { members: Vec::new() }
    }

    /// The value of a member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.find(name).ok().and_then(|at| self.members.get(at)).map(|(_, value)| value)
    }

    /// Whether there is such a member.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    /// Sets a member and returns the value it had.
    pub fn insert(
        &mut self,
        name: impl Into<Cow<'a, str>>,
        value: impl Into<Value<'a>>,
    ) -> Option<Value<'a>> {
        let name = name.into();
        match self.find(&name) {
            Ok(at) => {
                self.members.get_mut(at).map(|(_, slot)| std::mem::replace(slot, value.into()))
            }
            Err(at) => {
                self.members.insert(at, (name, value.into()));
                None
            }
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Value<'a>> {
        self.find(name).ok().map(|at| self.members.remove(at).1)
    }

    /// The members in canonical order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value<'a>)> {
        self.members.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// The number of members.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The canonical bytes of the object.
    #[must_use]
    pub fn to_canonical(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        write_object(self, &mut out);
        out
    }

    /// The same object, independent of the document it was read from.
    #[must_use]
    pub fn into_owned(self) -> Object<'static> {
        let members = self
            .members
            .into_iter()
            .map(|(name, value)| (Cow::Owned(name.into_owned()), value.into_owned()))
            .collect();
        Object { members }
    }

    /// Wraps members that are already strictly ascending by name.
    pub(super) const fn from_ascending(members: Vec<(Cow<'a, str>, Value<'a>)>) -> Self {
        Self { members }
    }

    /// Position of a member in canonical order.
    pub(crate) fn find(&self, name: &str) -> Result<usize, usize> {
        self.members.binary_search_by(|(candidate, _)| candidate.as_ref().cmp(name))
    }

    /// The member at a position in canonical order.
    pub(crate) fn at(&self, position: usize) -> Option<(&str, &Value<'a>)> {
        self.members.get(position).map(|(name, value)| (name.as_ref(), value))
    }
}

impl<'a, N: Into<Cow<'a, str>>, V: Into<Value<'a>>> FromIterator<(N, V)> for Object<'a> {
    /// Collects members; of two with one name the later one stays.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        let mut members: Vec<_> =
            members.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        // Reversed first: a stable sort then puts the later of two equal names in front, and
        // removing repeats keeps the front one.
        members.reverse();
        members.sort_by(|(left, _): &(Cow<'a, str>, Value<'a>), (right, _)| left.cmp(right));
        members.dedup_by(|(later, _), (kept, _)| later == kept);
        Self { members }
    }
}

impl<'a, N: Into<Cow<'a, str>>, V: Into<Value<'a>>, const M: usize> From<[(N, V); M]>
    for Object<'a>
{
    fn from(members: [(N, V); M]) -> Self {
        members.into_iter().collect()
    }
}

impl<'a> IntoIterator for Object<'a> {
    type IntoIter = std::vec::IntoIter<(Cow<'a, str>, Value<'a>)>;
    type Item = (Cow<'a, str>, Value<'a>);

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stay_sorted_and_unique() {
        let mut object = Object::from([("b", 1_u32), ("a", 2), ("b", 3), ("", 4)]);
        let names: Vec<_> = object.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["", "a", "b"]);
        assert_eq!(object.get("b"), Some(&Value::Integer(3)));
        assert_eq!(object.insert("a", "x"), Some(Value::Integer(2)));
        assert_eq!(object.insert("aa", Value::Null), None);
        assert_eq!(object.remove("b"), Some(Value::Integer(3)));
        assert_eq!(object.remove("b"), None);
        assert_eq!(object.len(), 3);
        assert!(object.contains("aa") && !object.contains("b"));
    }

    #[test]
    fn integers_out_of_range_have_no_value() {
        assert_eq!(Value::try_from(MAX_UNSIGNED), Ok(Value::Integer(MAX_INTEGER)));
        assert_eq!(Value::try_from(MAX_UNSIGNED + 1), Err(IntegerRangeError));
        assert_eq!(Value::try_from(u64::MAX), Err(IntegerRangeError));
        assert_eq!(Value::try_from(-MAX_INTEGER), Ok(Value::Integer(-MAX_INTEGER)));
        assert_eq!(Value::try_from(-MAX_INTEGER - 1), Err(IntegerRangeError));
    }
}
