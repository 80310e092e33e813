//! The byte forms that digests are taken of (RFC 0020 section 1).
//!
//! | form | function | of |
//! |---|---|---|
//! | A, canon | [`canon`] | workflow, selection, output record, closed set, execution record, dialects |
//! | B, literal | [`literal`] | cases, payloads, preparations, the reader's report |
//! | C, release | [`release`] | the `Release` of a run export, under its digest |
//! | D, exact bytes | [`Digest::of`](crate::Digest::of) | packs, audit lines, exports, error envelopes |
//! | E, RFC 8785 | [`is_rfc8785`] | where a canon is also a JCS document |
//!
//! A and E are stated by public texts. B is *inferred*: the dialect's section 9.5 is not public, and this is
//! what the public Runner writes. So no digest of a retained case, payload or preparation is taken of a
//! re-written form; those digests are of the bytes that are retained, and whether they have this form is asked
//! separately.

use std::io::Write as _;

use super::json::{Object, Value};
use crate::json::scan::plain_prefix;

/// A value that has no canon form: it holds a number that is no integer within ±(2^53-1).
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the number {literal} has no canonical form")]
#[non_exhaustive]
pub struct NoCanon {
    /// The number, at most 128 bytes of it.
    pub literal: String,
}

/// Form A: members by code point, no white space, integers in decimal with `-0` as `0`, strings with the
/// shortest escapes and everything else raw.
pub fn canon(value: &Value<'_>) -> Result<Vec<u8>, NoCanon> {
    let mut out = Vec::new();
    write(value, Form::Canon, &mut out)?;
    Ok(out)
}

/// Form B, inferred: like [`canon`], but numbers as they are spelled, and `<`, `>`, `&`, U+2028 and U+2029
/// escaped.
#[must_use]
pub fn literal(value: &Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    // Numbers are the only thing without a form, and this form keeps them all.
    let _infallible = write(value, Form::Literal, &mut out);
    out
}

/// Form C: the bytes whose SHA-256 is a `releaseDigest`. Members by code point and strings escaped as Go's
/// `encoding/json` does, which is what [`literal`] writes too.
///
/// The digest is defined over the decoded and re-encoded typed release; this is its form when the object holds
/// only members that the typed form writes. Reproduced for two public exports.
#[must_use]
pub fn release(value: &Value<'_>) -> Vec<u8> {
    literal(value)
}

/// Form E: whether the canon of this value is at the same time its RFC 8785 serialisation. It is, when every
/// number is an integer of the domain and members in code-point order are in UTF-16 order as well.
#[must_use]
pub fn is_rfc8785(value: &Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(_) => value.as_integer().is_some(),
        Value::Array(elements) => elements.iter().all(is_rfc8785),
        Value::Object(object) => {
            in_utf16_order(object) && object.iter().all(|(_, v)| is_rfc8785(v))
        }
    }
}

fn in_utf16_order(object: &Object<'_>) -> bool {
    object.iter().zip(object.iter().skip(1)).all(|((one, _), (two, _))| {
        one.is_ascii() || two.is_ascii() || one.encode_utf16().lt(two.encode_utf16())
    })
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Form {
    Canon,
    Literal,
}

fn write(value: &Value<'_>, form: Form, out: &mut Vec<u8>) -> Result<(), NoCanon> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(literal) if form == Form::Literal => {
            out.extend_from_slice(literal.as_bytes());
        }
        Value::Number(literal) => {
            let Some(number) = value.as_integer() else {
                return Err(NoCanon { literal: literal.chars().take(128).collect() });
            };
            let _infallible = write!(out, "{number}");
        }
        Value::String(text) => string(text, form, out),
        Value::Array(elements) => {
            out.push(b'[');
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write(element, form, out)?;
            }
            out.push(b']');
        }
        Value::Object(object) => {
            out.push(b'{');
            for (position, (name, value)) in object.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                string(name, form, out);
                out.push(b':');
                write(value, form, out)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

fn string(text: &str, form: Form, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while !rest.is_empty() {
        let bytes = rest.as_bytes();
        let special = match form {
            Form::Canon => plain_prefix(bytes),
            Form::Literal => {
                rest.find(|c| c <= '\u{1f}' || LITERAL_SPECIALS.contains(&c)).unwrap_or(rest.len())
            }
        };
        let (plain, tail) = rest.split_at_checked(special).unwrap_or((rest, ""));
        out.extend_from_slice(plain.as_bytes());
        let mut after = tail.chars();
        let Some(character) = after.next() else { break };
        match character {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            '\r' => out.extend_from_slice(b"\\r"),
            other => escape(other, out),
        }
        rest = after.as_str();
    }
    out.push(b'"');
}

/// `\u` and four lower-case digits; no character that is escaped is beyond them.
fn escape(character: char, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\u");
    let code = u32::from(character);
    let digits = [12, 8, 4, 0].map(|shift| char::from_digit(code >> shift & 0xf, 16));
    for digit in digits.into_iter().flatten() {
        let mut one = [0; 4];
        out.extend_from_slice(digit.encode_utf8(&mut one).as_bytes());
    }
}

/// What the literal form escapes beside control characters.
const LITERAL_SPECIALS: [char; 7] = ['"', '\\', '<', '>', '&', '\u{2028}', '\u{2029}'];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::jp::json::{Bounds, read};

    fn forms(text: &str) -> (Option<String>, String) {
        let value = read(text.as_bytes(), &Bounds::FOREIGN).unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (canon(&value).ok().map(text), text(literal(&value)))
    }

    #[test]
    fn numbers() {
        assert_eq!(forms("[-0,0,-7]"), (Some("[0,0,-7]".into()), "[-0,0,-7]".into()));
        for outside in ["1.0", "1e2", "0.0", "-0.0", "9007199254740992", "-9007199254740992"] {
            assert_eq!(forms(outside), (None, outside.into()), "{outside}");
        }
    }

    #[test]
    fn strings() {
        let (canonical, literal) =
            forms(r#""<a>&\u2028\u2029\u007f\/é\b\f\n\r\t\u0001\u001F\"\\""#);
        let tail = r#"\b\f\n\r\t\u0001\u001f\"\\""#;
        assert_eq!(canonical.unwrap(), format!("\"<a>&\u{2028}\u{2029}\u{7f}/é{tail}"));
        assert_eq!(literal, format!(r#""\u003ca\u003e\u0026\u2028\u2029{}/é{tail}"#, '\u{7f}'));
    }

    #[test]
    fn where_canon_is_no_rfc_8785() {
        let check = |text: &str| is_rfc8785(&read(text.as_bytes(), &Bounds::FOREIGN).unwrap());
        assert!(check(r#"{"a":[1,{"é":null,"z":-0}]}"#));
        assert!(!check("[1.5]"));
        assert!(!check(r#"{"\ufffd":2,"\ud83d\ude00":1}"#));
        assert!(check(r#"{"\ud7ff":2,"\ud83d\ude00":1}"#));
    }
}
