//! The reader: one pass, number literals kept, faults by phase.

use std::borrow::Cow;

use super::bounds::{Bounds, Numbers};
use super::nesting::levels;
use super::value::{Object, Value, integer};
use crate::jp::fault::{Fault, Faults, Rule};
use crate::json::scan::plain_prefix;

/// Reads one value, or says what refuses it first in the order of phases.
pub fn read<'a>(bytes: &'a [u8], bounds: &Bounds) -> Result<Value<'a>, Fault> {
    let mut faults = Faults::new();
    let value = read_into(bytes, bounds, &mut faults);
    faults.settle(value)
}

/// Reads one value and notes everything that is wrong with it. A value whose counts are over a bound is
/// returned all the same, so that what comes in later phases can be told.
pub fn read_into<'a>(bytes: &'a [u8], bounds: &Bounds, faults: &mut Faults) -> Option<Value<'a>> {
    if bytes.len() > bounds.bytes {
        faults.note(Rule::Bytes, format_args!("more than {} bytes", bounds.bytes));
        return None;
    }
    let depth = levels(bytes);
    if depth > bounds.levels {
        faults.note(Rule::Nesting, format_args!("{depth} container levels, {}", bounds.levels));
        return None;
    }
    let text = match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            faults.note(Rule::Json, format_args!("byte {}: not UTF-8", error.valid_up_to()));
            return None;
        }
    };
    let mut reader = Reader { text, position: 0, bounds, faults };
    match reader.document() {
        Ok(value) => Some(value),
        Err(stop) => {
            let Stop { rule, what, position } = *stop;
            faults.note(rule, format_args!("byte {position}: {what}"));
            None
        }
    }
}

/// The bytes of the value of a member, exactly as they lie in a document: `path` names a member of the root
/// object, a member of that, and so on. `None` when there is no such member or the document is no strict JSON
/// up to it.
///
/// RFC 0020 section 7: in export version 2 the audit record is the value bytes of `run.audit` as written.
#[must_use]
pub fn raw_member<'a>(bytes: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    if levels(bytes) > Bounds::EXPORT.levels {
        return None;
    }
    let mut faults = Faults::new();
    let text = core::str::from_utf8(bytes).ok()?;
    let mut reader = Reader { text, position: 0, bounds: &Bounds::EXPORT, faults: &mut faults };
    reader.space();
    for name in path {
        reader.seek(name).ok().filter(|found| *found)?;
    }
    let start = reader.position;
    reader.value().ok()?;
    bytes.get(start..reader.position)
}

struct Stop {
    rule: Rule,
    what: &'static str,
    position: usize,
}

// Boxed, so that the way of success stays narrow.
type Step<T> = Result<T, Box<Stop>>;

struct Reader<'a, 'r> {
    text: &'a str,
    /// Always on a character boundary.
    position: usize,
    bounds: &'r Bounds,
    faults: &'r mut Faults,
}

impl<'a> Reader<'a, '_> {
    fn document(&mut self) -> Step<Value<'a>> {
        self.space();
        let value = self.value()?;
        self.space();
        if self.position < self.text.len() {
            return Err(self.stop("more than one value"));
        }
        Ok(value)
    }

    /// Recursion is as deep as the nesting, which was measured before.
    fn value(&mut self) -> Step<Value<'a>> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'{') => self.object().map(Value::Object),
            Some(b'[') => self.array().map(Value::Array),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            _ if self.word("true") => Ok(Value::Bool(true)),
            _ if self.word("false") => Ok(Value::Bool(false)),
            _ if self.word("null") => Ok(Value::Null),
            _ => Err(self.stop("not a JSON value")),
        }
    }

    fn array(&mut self) -> Step<Vec<Value<'a>>> {
        self.enter();
        let mut elements = Vec::new();
        if self.take(b']') {
            return Ok(elements);
        }
        loop {
            elements.push(self.value()?);
            if !self.another(b']')? {
                break;
            }
        }
        self.count(elements.len(), self.bounds.elements, "elements of an array");
        Ok(elements)
    }

    fn object(&mut self) -> Step<Object<'a>> {
        self.enter();
        let mut members: Vec<(Cow<'a, str>, Value<'a>)> = Vec::new();
        if self.take(b'}') {
            return Ok(Object::new());
        }
        let mut ascending = true;
        loop {
            let name = self.name()?;
            ascending &= members.last().is_none_or(|(previous, _)| *previous < name);
            members.push((name, self.value()?));
            if !self.another(b'}')? {
                break;
            }
        }
        if !ascending {
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            if members.windows(2).any(|pair| matches!(pair, [one, two] if one.0 == two.0)) {
                return Err(self.stop("a member name occurs twice in this object"));
            }
        }
        self.count(members.len(), self.bounds.members, "members of an object");
        Ok(Object::from_ascending(members))
    }

    /// Steps to the value of a member of the object here; false when the object has none of that name.
    fn seek(&mut self, wanted: &str) -> Step<bool> {
        if self.peek() != Some(b'{') {
            return Ok(false);
        }
        self.enter();
        if self.take(b'}') {
            return Ok(false);
        }
        loop {
            if self.name()? == wanted {
                return Ok(true);
            }
            let _skipped = self.value()?;
            if !self.another(b'}')? {
                return Ok(false);
            }
        }
    }

    /// A member name and its colon, up to the value.
    fn name(&mut self) -> Step<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return Err(self.stop("no member name"));
        }
        let name = self.string()?;
        self.space();
        if !self.take(b':') {
            return Err(self.stop("no colon after a member name"));
        }
        self.space();
        Ok(name)
    }

    fn enter(&mut self) {
        self.position += 1;
        self.space();
    }

    /// After a member or element: true at a comma, false at the container's end.
    fn another(&mut self, end: u8) -> Step<bool> {
        self.space();
        if self.take(b',') {
            self.space();
            Ok(true)
        } else if self.take(end) {
            Ok(false)
        } else {
            Err(self.stop("neither a comma nor the container's end"))
        }
    }

    fn string(&mut self) -> Step<Cow<'a, str>> {
        self.position += 1;
        let plain = self.plain();
        let text = if self.take(b'"') {
            Cow::Borrowed(plain)
        } else {
            let mut text = String::from(plain);
            loop {
                match self.peek() {
                    Some(b'"') => break,
                    Some(b'\\') => text.push(self.escape()?),
                    Some(_) => return Err(self.stop("a raw control character in a string")),
                    None => return Err(self.stop("a string without an end")),
                }
                text.push_str(self.plain());
            }
            self.position += 1;
            Cow::Owned(text)
        };
        self.count(text.len(), self.bounds.string, "bytes of a string or member name");
        Ok(text)
    }

    fn plain(&mut self) -> &'a str {
        let start = self.position;
        self.position += plain_prefix(self.rest());
        self.text.get(start..self.position).unwrap_or_default()
    }

    fn escape(&mut self) -> Step<char> {
        let selector = self.byte_at(self.position + 1);
        let character = match selector {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            _ => return Err(self.stop("an escape that JSON does not have")),
        };
        self.position += 2;
        Ok(character)
    }

    fn code_point(&mut self) -> Step<char> {
        let first = self.code_unit()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let pairs = (0xd800..0xdc00).contains(&first)
            && self.peek() == Some(b'\\')
            && self.byte_at(self.position + 1) == Some(b'u');
        if pairs {
            let second = self.code_unit()?;
            if (0xdc00..0xe000).contains(&second) {
                let code_point = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                if let Some(character) = char::from_u32(code_point) {
                    return Ok(character);
                }
            }
        }
        Err(self.stop("an unpaired surrogate escape"))
    }

    fn code_unit(&mut self) -> Step<u32> {
        let digits = self.text.as_bytes().get(self.position + 2..self.position + 6);
        let unit = digits.and_then(|digits| {
            digits.iter().try_fold(0, |unit, digit| {
                char::from(*digit).to_digit(16).map(|value| unit * 16 + value)
            })
        });
        let Some(unit) = unit else {
            return Err(self.stop("a \\u escape without four hexadecimal digits"));
        };
        self.position += 6;
        Ok(unit)
    }

    fn number(&mut self) -> Step<Cow<'a, str>> {
        let start = self.position;
        let _negative = self.take(b'-');
        let leading = self.peek();
        match (leading, self.digits()) {
            (_, 0) => return Err(self.stop("a number without digits")),
            (Some(b'0'), 2..) => return Err(self.stop("a number with a leading zero")),
            _ => {}
        }
        if self.take(b'.') && self.digits() == 0 {
            return Err(self.stop("a fraction without digits"));
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            if self.digits() == 0 {
                return Err(self.stop("an exponent without digits"));
            }
        }
        let literal = self.text.get(start..self.position).unwrap_or_default();
        if self.bounds.numbers == Numbers::Integers && integer(literal).is_none() {
            let what = "not an integer within ±(2^53-1)";
            self.faults.note(Rule::Domain, format_args!("byte {start}: {what}"));
        }
        self.count(literal.len(), self.bounds.number, "characters of a number");
        Ok(Cow::Borrowed(literal))
    }

    fn digits(&mut self) -> usize {
        let rest = self.rest();
        let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.position += count;
        count
    }

    fn word(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word.as_bytes());
        if is_next {
            self.position += word.len();
        }
        is_next
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    fn count(&mut self, count: usize, most: usize, what: &'static str) {
        if count > most {
            let position = self.position;
            let detail = format_args!("byte {position}: {count} {what}, at most {most}");
            self.faults.note(Rule::Count, detail);
        }
    }

    #[allow(clippy::unnecessary_box_returns, reason = "it is returned as an error, boxed")]
    fn stop(&self, what: &'static str) -> Box<Stop> {
        Box::new(Stop { rule: Rule::Json, what, position: self.position })
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        if is_next {
            self.position += 1;
        }
        is_next
    }

    fn peek(&self) -> Option<u8> {
        self.byte_at(self.position)
    }

    fn byte_at(&self, position: usize) -> Option<u8> {
        self.text.as_bytes().get(position).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.position..).unwrap_or_default()
    }
}
