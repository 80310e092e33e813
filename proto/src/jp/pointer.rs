//! JSON pointers (RFC 6901) as RFC 0020 section 3 bounds them.

use core::fmt;
use std::borrow::Cow;

use super::fault::{Faults, Rule};
use super::json::{Object, Value};

/// The most bytes of a pointer.
pub const MAX_POINTER_BYTES: usize = 1024;

/// The most tokens of a pointer.
pub const MAX_POINTER_TOKENS: usize = 32;

/// A pointer, decoded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pointer {
    text: String,
    tokens: Vec<String>,
}

impl Pointer {
    /// Reads a pointer. Too long is over a bound; anything but `~0` and `~1` after a tilde is no pointer.
    pub fn read(text: &str, place: &str, faults: &mut Faults) -> Option<Self> {
        if text.len() > MAX_POINTER_BYTES {
            let most = MAX_POINTER_BYTES;
            faults.note(Rule::Count, format_args!("{place} is longer than {most} bytes"));
            return None;
        }
        if text.is_empty() {
            return Some(Self { text: String::new(), tokens: Vec::new() });
        }
        let Some(rest) = text.strip_prefix('/') else {
            faults.note(Rule::Pointer, format_args!("{place} is no pointer: no leading slash"));
            return None;
        };
        let tokens: Option<Vec<String>> = rest.split('/').map(decode).collect();
        let Some(tokens) = tokens else {
            faults.note(Rule::Pointer, format_args!("{place} has an escape other than ~0 and ~1"));
            return None;
        };
        if tokens.len() > MAX_POINTER_TOKENS {
            let most = MAX_POINTER_TOKENS;
            faults.note(Rule::Count, format_args!("{place} has more than {most} tokens"));
            return None;
        }
        Some(Self { text: text.to_owned(), tokens })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it names the whole document.
    #[must_use]
    pub const fn is_root(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Whether one of the two names a value that holds the other's, by whole tokens.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.tokens.starts_with(&other.tokens) || other.tokens.starts_with(&self.tokens)
    }

    /// The value in a document. An array's token is its index in decimal without leading zeros; `-` names
    /// nothing.
    #[must_use]
    pub fn get<'v, 'a>(&self, document: &'v Value<'a>) -> Option<&'v Value<'a>> {
        self.tokens.iter().try_fold(document, |value, token| match value {
            Value::Object(object) => object.get(token),
            Value::Array(elements) => elements.get(index(token)?),
            _ => None,
        })
    }

    /// Puts a value into a document of objects, making the objects on the way, also for numeric tokens. False
    /// when something that is no object stands in the way.
    #[must_use]
    pub fn put(&self, document: &mut Object<'static>, value: Value<'static>) -> bool {
        let Some((last, way)) = self.tokens.split_last() else { return false };
        let mut object = document;
        for token in way {
            match object.entry(token.clone(), || Value::Object(Object::new())) {
                Some(Value::Object(inner)) => object = inner,
                _ => return false,
            }
        }
        if object.get(last).is_some() {
            return false;
        }
        object.set(Cow::Owned(last.clone()), value);
        true
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn decode(token: &str) -> Option<String> {
    let mut decoded = String::with_capacity(token.len());
    let mut rest = token.chars();
    while let Some(character) = rest.next() {
        decoded.push(match character {
            '~' => match rest.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(decoded)
}

fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || (!token.starts_with('0') && !token.starts_with('+'));
    if canonical { token.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::jp::json::{Bounds, read};

    fn pointer(text: &str) -> Result<Pointer, Rule> {
        let mut faults = Faults::new();
        let pointer = Pointer::read(text, "p", &mut faults);
        faults.settle(pointer).map_err(|fault| fault.rule)
    }

    #[test]
    fn grammar_and_bounds() {
        assert_eq!(pointer("/a~1b/~0/").unwrap().tokens, ["a/b", "~", ""]);
        assert!(pointer("").unwrap().is_root());
        for bad in ["a", "/~", "/~2", "/a~"] {
            assert_eq!(pointer(bad), Err(Rule::Pointer), "{bad}");
        }
        assert!(pointer(&format!("/{}", "a".repeat(1023))).is_ok());
        assert_eq!(pointer(&format!("/{}", "a".repeat(1024))), Err(Rule::Count));
        assert!(pointer(&"/a".repeat(32)).is_ok());
        assert_eq!(pointer(&"/a".repeat(33)), Err(Rule::Count));
    }

    #[test]
    fn reading() {
        let document = read(br#"{"a":[{"":1},{"~":2}],"01":3}"#, &Bounds::CASE).unwrap();
        let get = |text: &str| pointer(text).unwrap().get(&document).and_then(Value::as_integer);
        assert_eq!(get("/a/0/"), Some(1));
        assert_eq!(get("/a/1/~0"), Some(2));
        assert_eq!(get("/01"), Some(3));
        for nothing in ["/a/00", "/a/01", "/a/+1", "/a/-", "/a/2", "/a/0/x", "/a/0//x", "/A"] {
            assert_eq!(get(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn overlap_is_by_whole_tokens() {
        let overlaps = |one: &str, two: &str| {
            let (one, two) = (pointer(one).unwrap(), pointer(two).unwrap());
            assert_eq!(one.overlaps(&two), two.overlaps(&one));
            one.overlaps(&two)
        };
        assert!(overlaps("/a", "/a"));
        assert!(overlaps("/a", "/a/b"));
        assert!(overlaps("", "/a"));
        assert!(overlaps("/~0", "/~0/x"));
        assert!(!overlaps("/a", "/ab"));
        assert!(!overlaps("/a/b", "/a/c"));
    }

    #[test]
    fn writing_makes_objects_also_for_numbers() {
        let mut case = Object::new();
        assert!(pointer("/a/0/b").unwrap().put(&mut case, Value::from(1_u32)));
        assert!(pointer("/a/1").unwrap().put(&mut case, Value::Null));
        assert!(!pointer("/a/1/c").unwrap().put(&mut case, Value::Null));
        assert!(!pointer("/a").unwrap().put(&mut case, Value::Null));
        let written = crate::jp::canon::literal(&Value::Object(case));
        assert_eq!(written, br#"{"a":{"0":{"b":1},"1":null}}"#);
    }
}
