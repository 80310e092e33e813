//! JSON of the generator: its own values and its own writers, so that what reads the bundles is not also what
//! wrote them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anchorlog_proto::Digest;

/// A value; numbers are written as they are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

/// An object from pairs.
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub fn text(text: impl Into<String>) -> Json {
    Json::Text(text.into())
}

pub fn number(number: impl ToString) -> Json {
    Json::Number(number.to_string())
}

pub fn digest(digest: Digest) -> Json {
    Json::Text(digest.to_string())
}

pub fn optional(of: Option<Digest>) -> Json {
    of.map_or(Json::Null, digest)
}

impl Json {
    /// Members by name, no white space, `-0` as `0`, everything but the necessary raw.
    pub fn canon(&self) -> Vec<u8> {
        let mut out = String::new();
        self.write(&mut out, false);
        out.into_bytes()
    }

    /// The same with numbers as they are and `<>&` and the two separators escaped.
    pub fn literal(&self) -> Vec<u8> {
        let mut out = String::new();
        self.write(&mut out, true);
        out.into_bytes()
    }

    /// The member of an object, made when it isn't there.
    pub fn at(&mut self, name: &str) -> &mut Json {
        match self {
            Self::Object(members) => members.entry(name.to_owned()).or_insert(Self::Null),
            other => panic!("no object: {other:?}"),
        }
    }

    /// The element of a list.
    pub fn nth(&mut self, position: usize) -> &mut Json {
        &mut self.list()[position]
    }

    /// The elements of a list.
    pub fn list(&mut self) -> &mut Vec<Json> {
        match self {
            Self::List(elements) => elements,
            other => panic!("no list: {other:?}"),
        }
    }

    /// Takes a member away.
    pub fn remove(&mut self, name: &str) {
        match self {
            Self::Object(members) => assert!(members.remove(name).is_some(), "no {name}"),
            other => panic!("no object: {other:?}"),
        }
    }

    /// A member of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Self::Object(members) => members.get(name),
            _ => None,
        }
    }

    fn write(&self, out: &mut String, literal: bool) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(truth) => write!(out, "{truth}").unwrap(),
            Self::Number(number) if !literal && number == "-0" => out.push('0'),
            Self::Number(number) => out.push_str(number),
            Self::Text(text) => string(text, out, literal),
            Self::List(elements) => {
                out.push('[');
                for (position, element) in elements.iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    element.write(out, literal);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (position, (name, value)) in members.iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    string(name, out, literal);
                    out.push(':');
                    value.write(out, literal);
                }
                out.push('}');
            }
        }
    }
}

fn string(text: &str, out: &mut String, literal: bool) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => write!(out, "\\u{:04x}", u32::from(control)).unwrap(),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if literal => {
                write!(out, "\\u{:04x}", u32::from(character)).unwrap();
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
