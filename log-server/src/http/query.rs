//! Query strings and path segments, read strictly.
//!
//! A parameter nobody asked for, one given twice, and a number with a sign or leading zeros are errors:
//! a mistyped `form=` must not quietly list everything. No allocation happens for plain ASCII values.

use std::borrow::Cow;

use super::problem::{Code, Problem};

/// The parameters of one request, decoded.
#[derive(Debug)]
pub struct Query<'a>(Vec<(&'static str, Cow<'a, str>)>);

impl<'a> Query<'a> {
    /// Reads a raw query string. Only the names in `known` may occur, each at most once.
    pub fn read(raw: Option<&'a str>, known: &'static [&'static str]) -> Result<Self, Problem> {
        let mut pairs = Vec::new();
        let Some(raw) = raw.filter(|raw| !raw.is_empty()) else { return Ok(Self(pairs)) };
        for pair in raw.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name).ok_or_else(undecodable)?;
            let Some(name) = known.iter().copied().find(|known| *known == name) else {
                return Err(unknown(&name, known));
            };
            if pairs.iter().any(|(present, _)| *present == name) {
                let detail = format!("The query parameter `{name}` is given twice.");
                return Err(Problem::new(Code::MalformedQuery, detail));
            }
            pairs.push((name, decode(value).ok_or_else(undecodable)?));
        }
        Ok(Self(pairs))
    }

    /// Returns a parameter's value.
    #[must_use]
    pub fn get(&self, name: &'static str) -> Option<&str> {
        self.0.iter().find(|(present, _)| *present == name).map(|(_, value)| &**value)
    }

    /// Returns a parameter's value, or the refusal that it is missing.
    pub fn required(&self, name: &'static str) -> Result<&str, Problem> {
        self.get(name).ok_or_else(|| missing(name))
    }

    /// Returns a parameter as a whole number.
    pub fn number(&self, name: &'static str) -> Result<Option<u64>, Problem> {
        self.get(name).map(|text| number(name, text)).transpose()
    }

    /// Returns a parameter as a whole number, or the refusal that it is missing.
    pub fn required_number(&self, name: &'static str) -> Result<u64, Problem> {
        self.number(name)?.ok_or_else(|| missing(name))
    }
}

/// Which part of a list is wanted: `from` and `limit`.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "its two parameters")]
pub struct Part {
    /// The first index.
    pub from: u64,
    /// How many at most, from 1 to [`MAX_PAGE`].
    pub limit: usize,
}

impl Part {
    /// The parameters it is read from.
    pub const PARAMETERS: [&'static str; 2] = ["from", "limit"];

    /// Reads it; without a `limit` that is `usual`.
    pub fn read(query: &Query<'_>, usual: usize) -> Result<Self, Problem> {
        let from = query.number("from")?.unwrap_or(0);
        let limit = match query.number("limit")? {
            None => usual,
            Some(limit) => usize::try_from(limit)
                .ok()
                .filter(|limit| (1..=MAX_PAGE).contains(limit))
                .ok_or_else(|| {
                    let detail = format!("`limit` must be a whole number from 1 to {MAX_PAGE}.");
                    Problem::new(Code::BadParameter, detail)
                })?,
        };
        Ok(Self { from, limit })
    }
}

/// The most that any list shows at once.
pub const MAX_PAGE: usize = 1000;

/// Reads a whole number as the text formats write it: decimal, no sign, no leading zeros, at most 2^63-1.
pub fn number(name: &str, text: &str) -> Result<u64, Problem> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits && (text == "0" || !text.starts_with('0'));
    let value = if canonical { text.parse().ok() } else { None };
    value.filter(|value| *value <= LARGEST).ok_or_else(|| {
        let detail = format!(
            "`{name}` must be a whole number from 0 to 9223372036854775807 without sign or leading zeros."
        );
        Problem::new(Code::BadParameter, detail)
    })
}

/// Undoes percent-encoding (RFC 3986 section 2.1). `None` for a broken escape or a result that isn't UTF-8.
#[must_use]
pub fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let (high, low) = (nibble(rest.next()?)?, nibble(rest.next()?)?);
            bytes.push((high << 4) | low);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// The largest size of a tree, and so the largest number that means anything.
const LARGEST: u64 = (1 << 63) - 1;

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn undecodable() -> Problem {
    Problem::new(Code::MalformedQuery, "The query string isn't percent-encoded UTF-8.")
}

fn missing(name: &str) -> Problem {
    let detail = format!("The query parameter `{name}` is required.");
    Problem::new(Code::MissingParameter, detail)
}

fn unknown(name: &str, known: &[&str]) -> Problem {
    let name: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    let detail = if known.is_empty() {
        format!("This call takes no query parameters, but `{name}` is given.")
    } else {
        format!("Unknown query parameter `{name}`; this call knows {}.", listing(known))
    };
    Problem::new(Code::UnknownParameter, detail)
}

fn listing(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use super::*;

    fn refusal(raw: &str) -> Code {
        Query::read(Some(raw), &["from", "limit"]).unwrap_err().code()
    }

    #[test]
    fn parameters_are_read() {
        let query = Query::read(Some("from=10&limit=%31%30"), &["from", "limit"]).unwrap();
        assert_eq!(query.number("from").unwrap(), Some(10));
        assert_eq!(query.number("limit").unwrap(), Some(10));
        for empty in [None, Some("")] {
            let query = Query::read(empty, &["from"]).unwrap();
            assert_eq!(query.number("from").unwrap(), None);
            assert_eq!(query.required_number("from").unwrap_err().code(), Code::MissingParameter);
        }
    }

    #[test]
    fn strange_queries_are_refused() {
        assert_eq!(refusal("form=1"), Code::UnknownParameter);
        assert_eq!(refusal("from=1&x"), Code::UnknownParameter);
        assert_eq!(refusal("from=1&"), Code::UnknownParameter);
        assert_eq!(refusal("from=1&from=1"), Code::MalformedQuery);
        assert_eq!(refusal("from=1&fro%6d=1"), Code::MalformedQuery);
        assert_eq!(refusal("from=%zz"), Code::MalformedQuery);
        assert_eq!(refusal("from=%f"), Code::MalformedQuery);
        assert_eq!(refusal("from=%ff"), Code::MalformedQuery);
        let none = Query::read(Some("a=1"), &[]).unwrap_err();
        assert_eq!(none.code(), Code::UnknownParameter);
    }

    #[test]
    fn numbers_have_one_spelling() {
        for text in [
            "",
            "-1",
            "+1",
            "01",
            "00",
            "1.0",
            "1e3",
            " 1",
            "0x10",
            "9223372036854775808",
            "99999999999999999999",
        ] {
            assert_eq!(number("index", text).unwrap_err().code(), Code::BadParameter, "{text}");
        }
        assert_eq!(number("index", "0").unwrap(), 0);
        assert_eq!(number("index", "9223372036854775807").unwrap(), LARGEST);
    }

    #[test]
    fn an_unknown_name_is_quoted_without_its_control_characters() {
        let problem = Query::read(Some("a%0ab=1"), &["from"]).unwrap_err();
        assert!(problem.detail().contains("`ab`"), "{}", problem.detail());
    }
}
