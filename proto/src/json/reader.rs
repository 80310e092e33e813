//! The strict reader: one pass over the bytes, text borrowed, every refusal with its code and place.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::error::{JsonCode, JsonError, push_token};
use super::limits::{MemberNames, ReadLimits};
use super::scan::plain_prefix;
use super::value::{MAX_INTEGER, Object, Value};

/// A document that was read: its value, and whether its bytes were canonical.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Document<'a> {
    /// What the document says.
    pub value: Value<'a>,
    /// Where the bytes first depart from the canonical form: white space, an escape with a shorter
    /// spelling, or a member name that belongs before its predecessor. `None` when the bytes are
    /// exactly the canonical form.
    pub noncanonical_at: Option<usize>,
}

/// Reads one JSON document.
pub fn parse<'a>(bytes: &'a [u8], limits: &ReadLimits) -> Result<Value<'a>, JsonError> {
    read(bytes, limits).map(|document| document.value)
}

/// Reads one JSON document that must be stored in canonical form ([`JsonCode::Noncanonical`]).
pub fn parse_canonical<'a>(bytes: &'a [u8], limits: &ReadLimits) -> Result<Value<'a>, JsonError> {
    let document = read(bytes, limits)?;
    match document.noncanonical_at {
        None => Ok(document.value),
        Some(offset) => Err(JsonError {
            code: JsonCode::Noncanonical,
            offset: Some(offset),
            pointer: String::new(),
        }),
    }
}

/// Reads one JSON document and notes, in the same pass, whether it was canonical.
///
/// Encoding comes before grammar: a byte order mark or ill-formed UTF-8 anywhere is reported ahead
/// of any other defect. Repeated names are reported when their object closes.
pub fn read<'a>(bytes: &'a [u8], limits: &ReadLimits) -> Result<Document<'a>, JsonError> {
    let refuse = |code, offset| JsonError { code, offset: Some(offset), pointer: String::new() };
    if bytes.len() > limits.bytes {
        return Err(refuse(JsonCode::LimitBytes, limits.bytes));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(refuse(JsonCode::Bom, 0));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let offset = error.valid_up_to();
            return Err(JsonError {
                pointer: pointer_at(bytes, offset, limits),
                ..refuse(JsonCode::Utf8, offset)
            });
        }
    };
    Reader::new(text, limits).document().map_err(Fault::into_error)
}

/// Where in the document the ill-formed byte at `offset` stands: where reading what comes before it
/// ends.
fn pointer_at(bytes: &[u8], offset: usize, limits: &ReadLimits) -> String {
    let before = bytes.get(..offset).and_then(|before| std::str::from_utf8(before).ok());
    match Reader::new(before.unwrap_or_default(), limits).document() {
        Ok(_) => String::new(),
        Err(fault) => fault.into_error().pointer,
    }
}

/// A refusal on its way out of the recursion, which adds the path from the inside outwards.
///
/// Boxed, so that the way of success stays narrow.
struct Fault<'a>(Box<Refusal<'a>>);

struct Refusal<'a> {
    code: JsonCode,
    offset: usize,
    /// Innermost first.
    path: Vec<Step<'a>>,
}

enum Step<'a> {
    Member(Cow<'a, str>),
    Element(usize),
}

type Read<'a, T> = Result<T, Fault<'a>>;

impl<'a> Fault<'a> {
    #[cold]
    fn new(code: JsonCode, offset: usize) -> Self {
        Self(Box::new(Refusal { code, offset, path: Vec::new() }))
    }

    fn within(mut self, step: Step<'a>) -> Self {
        self.0.path.push(step);
        self
    }

    fn into_error(self) -> JsonError {
        let mut pointer = String::new();
        for step in self.0.path.iter().rev() {
            let fitted = match step {
                Step::Member(name) => push_token(&mut pointer, name),
                Step::Element(position) => push_token(&mut pointer, &position.to_string()),
            };
            if !fitted {
                break;
            }
        }
        JsonError { code: self.0.code, offset: Some(self.0.offset), pointer }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Always on a character boundary.
    position: usize,
    depth_limit: usize,
    values_left: usize,
    /// Names need not be ASCII here: the option says so, or an `ext` object is open.
    names_free: bool,
    noncanonical_at: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, limits: &ReadLimits) -> Self {
        Self {
            text,
            position: 0,
            depth_limit: limits.depth.min(ReadLimits::HARD_DEPTH),
            values_left: limits.values,
            names_free: limits.names == MemberNames::Any,
            noncanonical_at: None,
        }
    }

    fn document(mut self) -> Read<'a, Document<'a>> {
        self.space();
        let value = self.value(0)?;
        self.space();
        if self.position < self.text.len() {
            return Err(Fault::new(JsonCode::Syntax, self.position));
        }
        Ok(Document { value, noncanonical_at: self.noncanonical_at })
    }

    /// Reads a value inside `depth` open containers.
    fn value(&mut self, depth: usize) -> Read<'a, Value<'a>> {
        let Some(left) = self.values_left.checked_sub(1) else {
            return Err(Fault::new(JsonCode::LimitCount, self.position));
        };
        self.values_left = left;
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'{') => self.object(depth + 1).map(Value::Object),
            Some(b'[') => self.array(depth + 1).map(Value::Array),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            _ if self.rest().starts_with(b"NaN") || self.rest().starts_with(b"Infinity") => {
                Err(Fault::new(JsonCode::NonInteger, self.position))
            }
            _ => Err(Fault::new(JsonCode::Syntax, self.position)),
        }
    }

    fn array(&mut self, depth: usize) -> Read<'a, Vec<Value<'a>>> {
        self.enter(depth)?;
        let mut elements = Vec::new();
        if self.take(b']') {
            return Ok(elements);
        }
        loop {
            match self.value(depth) {
                Ok(element) => elements.push(element),
                Err(fault) => return Err(fault.within(Step::Element(elements.len()))),
            }
            if !self.another(b']')? {
                return Ok(elements);
            }
        }
    }

    fn object(&mut self, depth: usize) -> Read<'a, Object<'a>> {
        let opened_at = self.position;
        self.enter(depth)?;
        let mut members: Vec<(Cow<'a, str>, Value<'a>)> = Vec::new();
        if self.take(b'}') {
            return Ok(Object::from_ascending(members));
        }
        let mut ascending = true;
        loop {
            let name_at = self.position;
            let name = self.name()?;
            if members.last().is_some_and(|(previous, _)| *previous >= name) {
                ascending = false;
                self.note_noncanonical(name_at);
            }
            let outer = self.names_free;
            self.names_free |= name == "ext" && self.peek() == Some(b'{');
            let value = match self.value(depth) {
                Ok(value) => value,
                Err(fault) => return Err(fault.within(Step::Member(name))),
            };
            self.names_free = outer;
            members.push((name, value));
            if !self.another(b'}')? {
                break;
            }
        }
        // Names that arrive in canonical order can't repeat. Others cost one sort, so that a
        // hostile object of any size stays far from quadratic work.
        if !ascending {
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            let repeats =
                members.iter().zip(members.iter().skip(1)).any(|(one, two)| one.0 == two.0);
            if repeats {
                return Err(self.repeated_name(opened_at));
            }
        }
        Ok(Object::from_ascending(members))
    }

    /// A member name and its colon, up to the value.
    fn name(&mut self) -> Read<'a, Cow<'a, str>> {
        let name_at = self.position;
        if self.peek() != Some(b'"') {
            return Err(Fault::new(JsonCode::Syntax, name_at));
        }
        let name = self.string()?;
        if !self.names_free && !name.is_ascii() {
            return Err(Fault::new(JsonCode::NameForm, name_at).within(Step::Member(name)));
        }
        self.space();
        if !self.take(b':') {
            return Err(Fault::new(JsonCode::Syntax, self.position));
        }
        self.space();
        Ok(name)
    }

    /// Finds the first repeated name of an object that is known to have one and to be well-formed
    /// otherwise, by reading it once more. This ends the whole reading, so it happens at most once.
    #[cold]
    fn repeated_name(&self, opened_at: usize) -> Fault<'a> {
        let limits =
            ReadLimits { values: usize::MAX, names: MemberNames::Any, ..ReadLimits::DEFAULT };
        let mut again = Reader::new(self.text, &limits.with_depth(ReadLimits::HARD_DEPTH));
        again.position = opened_at + 1;
        again.space();
        let mut seen = BTreeSet::new();
        loop {
            let name_at = again.position;
            let Ok(name) = again.name() else { break };
            if !seen.insert(name.clone()) {
                return Fault::new(JsonCode::DupKey, name_at).within(Step::Member(name));
            }
            if again.value(1).is_err() || !matches!(again.another(b'}'), Ok(true)) {
                break;
            }
        }
        Fault::new(JsonCode::DupKey, opened_at)
    }

    /// Steps into a container, past white space, if the depth limit allows it.
    fn enter(&mut self, depth: usize) -> Read<'a, ()> {
        if depth > self.depth_limit {
            return Err(Fault::new(JsonCode::Depth, self.position));
        }
        self.position += 1;
        self.space();
        Ok(())
    }

    /// After a member or element: true at a comma, false at the container's end.
    fn another(&mut self, end: u8) -> Read<'a, bool> {
        self.space();
        if self.take(b',') {
            self.space();
            Ok(true)
        } else if self.take(end) {
            Ok(false)
        } else {
            Err(Fault::new(JsonCode::Syntax, self.position))
        }
    }

    fn string(&mut self) -> Read<'a, Cow<'a, str>> {
        let opened_at = self.position;
        self.position += 1;
        let plain = self.plain();
        if self.take(b'"') {
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = String::from(plain);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => text.push(self.escape()?),
                // A raw control character, named where it stands.
                Some(_) => return Err(Fault::new(JsonCode::Syntax, self.position)),
                None => return Err(Fault::new(JsonCode::Syntax, opened_at)),
            }
            text.push_str(self.plain());
        }
        self.position += 1;
        Ok(Cow::Owned(text))
    }

    /// The text up to the next byte that isn't verbatim; that byte is ASCII, so the cut falls on a
    /// character boundary.
    fn plain(&mut self) -> &'a str {
        let start = self.position;
        self.position += plain_prefix(self.rest());
        self.text.get(start..self.position).unwrap_or_default()
    }

    /// One escape sequence, or the two that make up a surrogate pair.
    fn escape(&mut self) -> Read<'a, char> {
        let escape_at = self.position;
        let Some(selector) = self.byte_at(escape_at + 1) else {
            return Err(Fault::new(JsonCode::Syntax, escape_at));
        };
        let (character, length, is_canonical) = match selector {
            b'"' => ('"', 2, true),
            b'\\' => ('\\', 2, true),
            b'/' => ('/', 2, false),
            b'b' => ('\u{8}', 2, true),
            b'f' => ('\u{c}', 2, true),
            b'n' => ('\n', 2, true),
            b'r' => ('\r', 2, true),
            b't' => ('\t', 2, true),
            b'u' => {
                let first = self.code_unit(escape_at)?;
                if let Some(character) = char::from_u32(first) {
                    (character, 6, self.is_canonical_code_unit(escape_at, first))
                } else {
                    (self.surrogate_pair(escape_at, first)?, 12, false)
                }
            }
            _ => return Err(Fault::new(JsonCode::Syntax, escape_at)),
        };
        if !is_canonical {
            self.note_noncanonical(escape_at);
        }
        self.position += length;
        Ok(character)
    }

    /// The code unit of the `\u` escape at a position.
    fn code_unit(&self, escape_at: usize) -> Read<'a, u32> {
        let digits = self.text.as_bytes().get(escape_at + 2..escape_at + 6).unwrap_or_default();
        let unit = digits.iter().try_fold(0, |unit, digit| {
            char::from(*digit).to_digit(16).map(|value| unit * 16 + value)
        });
        match unit {
            Some(unit) if digits.len() == 4 => Ok(unit),
            _ => Err(Fault::new(JsonCode::Syntax, escape_at)),
        }
    }

    fn surrogate_pair(&self, escape_at: usize, high: u32) -> Read<'a, char> {
        let next = escape_at + 6;
        let is_escape = self.byte_at(next) == Some(b'\\') && self.byte_at(next + 1) == Some(b'u');
        if (0xd800..0xdc00).contains(&high) && is_escape {
            let low = self.code_unit(next)?;
            if (0xdc00..0xe000).contains(&low) {
                let code_point = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                if let Some(character) = char::from_u32(code_point) {
                    return Ok(character);
                }
            }
        }
        Err(Fault::new(JsonCode::LoneSurrogate, escape_at))
    }

    /// Only control characters without a two-character escape are written `\u00xx`, in lower case.
    fn is_canonical_code_unit(&self, escape_at: usize, unit: u32) -> bool {
        let digits = self.text.as_bytes().get(escape_at + 2..escape_at + 6).unwrap_or_default();
        matches!(unit, 0..=0x07 | 0x0b | 0x0e..=0x1f) && !digits.iter().any(u8::is_ascii_uppercase)
    }

    fn number(&mut self) -> Read<'a, Value<'a>> {
        let start = self.position;
        let negative = self.take(b'-');
        if self.rest().starts_with(b"Infinity") || self.rest().starts_with(b"NaN") {
            return Err(Fault::new(JsonCode::NonInteger, start));
        }
        let digits = self.digits();
        match digits {
            [] => return Err(Fault::new(JsonCode::Syntax, self.position)),
            [b'0', _, ..] => return Err(Fault::new(JsonCode::Syntax, start)),
            _ => {}
        }
        if matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            return Err(self.fraction_or_exponent(start));
        }
        if negative && digits == b"0" {
            return Err(Fault::new(JsonCode::NegZero, start));
        }
        // The magnitude stays small enough not to overflow, however many digits follow.
        let magnitude = digits.iter().try_fold(0_i64, |sum, digit| {
            let sum = sum * 10 + i64::from(digit - b'0');
            (sum <= MAX_INTEGER).then_some(sum)
        });
        match magnitude {
            Some(magnitude) => Ok(Value::Integer(if negative { -magnitude } else { magnitude })),
            None => Err(Fault::new(JsonCode::IntRange, start)),
        }
    }

    /// Tells a well-formed number that isn't an integer from something that is no number at all.
    #[cold]
    fn fraction_or_exponent(&mut self, start: usize) -> Fault<'a> {
        if self.take(b'.') && self.digits().is_empty() {
            return Fault::new(JsonCode::Syntax, self.position);
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            if self.digits().is_empty() {
                return Fault::new(JsonCode::Syntax, self.position);
            }
        }
        Fault::new(JsonCode::NonInteger, start)
    }

    fn digits(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.position += length;
        rest.get(..length).unwrap_or_default()
    }

    fn literal(&mut self, word: &str, value: Value<'a>) -> Read<'a, Value<'a>> {
        if self.rest().starts_with(word.as_bytes()) {
            self.position += word.len();
            Ok(value)
        } else {
            Err(Fault::new(JsonCode::Syntax, self.position))
        }
    }

    /// Skips white space, none of which is canonical.
    fn space(&mut self) {
        let start = self.position;
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
        if self.position > start {
            self.note_noncanonical(start);
        }
    }

    /// Keeps the first deviation: reading goes forward, so the first one noted is the first one.
    fn note_noncanonical(&mut self, offset: usize) {
        self.noncanonical_at.get_or_insert(offset);
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
