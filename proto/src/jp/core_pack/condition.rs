//! Conditions (Core section 7): their shapes. Truth is the evaluator's.

use super::id::CoreId;
use crate::jp::json::Value;

/// A condition. Its nesting is bounded by the limits that its pack was read under.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the schema of this version of Core has these")]
pub enum Condition {
    /// A constant.
    Literal(bool),
    /// Strong three-valued conjunction of at least one.
    All(Vec<Condition>),
    /// Strong three-valued disjunction of at least one.
    Any(Vec<Condition>),
    /// Negation.
    Not(Box<Condition>),
    /// A fact, compared.
    Fact {
        /// Where the fact stands.
        path: Pointer,
        /// What it is compared with.
        test: Test,
    },
    /// Whether this evidence is there.
    EvidencePresent(CoreId),
}

/// How a fact is compared.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the schema of this version of Core has these")]
pub enum Test {
    /// Equal, by type and value.
    Equals(Value<'static>),
    /// Not equal.
    NotEquals(Value<'static>),
    /// Equal to one of at least one value.
    In(Vec<Value<'static>>),
    /// Ordered by mathematical value; the operand is of the decimal grammar.
    Ordered(Order, Box<str>),
}

/// An ordered comparison.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the schema of this version of Core has these")]
pub enum Order {
    /// `greater-than`
    Greater,
    /// `greater-than-or-equal`
    GreaterOrEqual,
    /// `less-than`
    Less,
    /// `less-than-or-equal`
    LessOrEqual,
}

impl Order {
    /// Whether a fact that stands in this order to the operand satisfies the comparison.
    #[must_use]
    pub const fn holds(self, fact_to_operand: std::cmp::Ordering) -> bool {
        match self {
            Self::Greater => fact_to_operand.is_gt(),
            Self::GreaterOrEqual => fact_to_operand.is_ge(),
            Self::Less => fact_to_operand.is_lt(),
            Self::LessOrEqual => fact_to_operand.is_le(),
        }
    }
}

/// An RFC 6901 pointer into the facts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pointer {
    tokens: Vec<Box<str>>,
}

impl Pointer {
    /// Reads a pointer of RFC 6901 syntax; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if !super::formats::is_pointer(text) {
            return None;
        }
        let tokens = text.split('/').skip(1);
        let decode = |token: &str| token.replace("~1", "/").replace("~0", "~").into();
        Some(Self { tokens: tokens.map(decode).collect() })
    }

    /// Its tokens, unescaped.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tokens.iter().map(AsRef::as_ref)
    }

    /// The value it points to; `None` where it does not resolve. Array indexes are decimal without leading
    /// zeros.
    #[must_use]
    pub fn resolve<'v, 'a>(&self, root: &'v Value<'a>) -> Option<&'v Value<'a>> {
        self.tokens.iter().try_fold(root, |value, token| match value {
            Value::Object(object) => object.get(token),
            Value::Array(elements) => elements.get(index(token)?),
            _ => None,
        })
    }
}

fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with('0');
    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    (canonical && digits).then(|| token.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::jp::json::{Bounds, read};

    #[test]
    fn pointers_are_those_of_rfc_6901() {
        let text = br#"{"foo":["bar","baz"],"":0,"a/b":1,"m~n":8,"~1":2,"01":3,"k\"l":6}"#;
        let root = read(text, &Bounds::FOREIGN).unwrap();
        let at = |pointer: &str| {
            let pointer = Pointer::parse(pointer).unwrap();
            pointer
                .resolve(&root)
                .map(crate::jp::canon::literal)
                .map(|b| String::from_utf8(b).unwrap())
        };
        assert_eq!(at("").unwrap().len(), text.len());
        for (pointer, value) in [
            ("/foo/0", "\"bar\""),
            ("/foo/1", "\"baz\""),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/m~0n", "8"),
            ("/~01", "2"),
            ("/01", "3"),
            ("/k\"l", "6"),
        ] {
            assert_eq!(at(pointer).as_deref(), Some(value), "{pointer}");
        }
        for unresolved in [
            "/foo/2",
            "/foo/00",
            "/foo/01",
            "/foo/-",
            "/foo/",
            "/foo/+1",
            "/foo/0/0",
            "/x",
            "//",
            "/foo/99999999999999999999999",
        ] {
            assert_eq!(at(unresolved), None, "{unresolved}");
        }
        assert!(Pointer::parse("foo").is_none() && Pointer::parse("/~").is_none());
    }
}
