//! JSON values with their number literals.

use std::borrow::Cow;

use crate::json::MAX_INTEGER;

/// One JSON value. Text is borrowed from the document where it needed no unescaping.
///
/// Equality is by literal: `0` and `-0` are different values, `1.0` and `1` too.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "JSON has these")]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is spelled.
    Number(Cow<'a, str>),
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
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The integer of the domain ±(2^53-1), if this is one: `-0` is 0, `1.0` is none.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        if let Self::Number(literal) = self { integer(literal) } else { None }
    }

    /// The boolean, if this is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The elements, if this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    /// The object, if this is one.
    #[must_use]
    pub const fn as_object(&self) -> Option<&Object<'a>> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The member of this object, if it is an object and has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
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
            Self::Number(literal) => Value::Number(Cow::Owned(literal.into_owned())),
            Self::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Self::Array(elements) => {
                Value::Array(elements.into_iter().map(Value::into_owned).collect())
            }
            Self::Object(object) => Value::Object(Object::from_ascending(
                object
                    .members
                    .into_iter()
                    .map(|(name, value)| (Cow::Owned(name.into_owned()), value.into_owned()))
                    .collect(),
            )),
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

impl From<bool> for Value<'_> {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Number(Cow::Owned(number.to_string()))
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
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

impl From<crate::Digest> for Value<'_> {
    fn from(digest: crate::Digest) -> Self {
        Self::String(Cow::Owned(digest.to_string()))
    }
}

/// The members of an object, in code-point order of their names, which is the byte order of their UTF-8.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Object<'a> {
    /// `{}`
    #[must_use]
    pub const fn new() -> Self {
        Self { members: Vec::new() }
    }

    /// Members that are in order already, without repeats.
    pub(super) const fn from_ascending(members: Vec<(Cow<'a, str>, Value<'a>)>) -> Self {
        Self { members }
    }

    /// The member of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.find(name).ok().and_then(|at| self.members.get(at)).map(|(_, value)| value)
    }

    /// Every member, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.members.iter().map(|(name, value)| (&**name, value))
    }

    /// How many members there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Sets a member; one of the same name is replaced.
    pub fn set(&mut self, name: impl Into<Cow<'a, str>>, value: Value<'a>) {
        let name = name.into();
        match self.find(&name) {
            Ok(at) => {
                if let Some(member) = self.members.get_mut(at) {
                    member.1 = value;
                }
            }
            Err(at) => self.members.insert(at, (name, value)),
        }
    }

    /// The member of this name, to be changed; made by `make` when it isn't there.
    pub fn entry(
        &mut self,
        name: impl Into<Cow<'a, str>>,
        make: impl FnOnce() -> Value<'a>,
    ) -> Option<&mut Value<'a>> {
        let name = name.into();
        let at = match self.find(&name) {
            Ok(at) => at,
            Err(at) => {
                self.members.insert(at, (name, make()));
                at
            }
        };
        self.members.get_mut(at).map(|(_, value)| value)
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.members.binary_search_by(|(own, _)| (**own).cmp(name))
    }
}

/// Of two members of one name the later one stays.
impl<'a, N: Into<Cow<'a, str>>> FromIterator<(N, Value<'a>)> for Object<'a> {
    fn from_iter<I: IntoIterator<Item = (N, Value<'a>)>>(members: I) -> Self {
        let mut object = Self::new();
        for (name, value) in members {
            object.set(name, value);
        }
        object
    }
}

impl<'a, const N: usize> From<[(&'a str, Value<'a>); N]> for Object<'a> {
    fn from(members: [(&'a str, Value<'a>); N]) -> Self {
        members.into_iter().collect()
    }
}

/// The integer that a literal of the domain spells.
pub(crate) fn integer(literal: &str) -> Option<i64> {
    let (negative, digits) = match literal.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, literal),
    };
    let leading_zero = digits.len() > 1 && digits.starts_with('0');
    if digits.is_empty() || leading_zero || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.bytes().try_fold(0_i64, |sum, digit| {
        let sum = sum * 10 + i64::from(digit - b'0');
        (sum <= MAX_INTEGER).then_some(sum)
    })?;
    Some(if negative { -magnitude } else { magnitude })
}
