//! What can be wrong with JSON, each with its own stable code.

use std::fmt;

/// The longest JSON pointer an error carries, in bytes.
///
/// Where the full pointer would be longer, the error names the nearest ancestor that fits, so that
/// hostile member names can't blow up messages and logs.
pub const MAX_POINTER_BYTES: usize = 1024;

/// Why a piece of JSON was refused.
///
/// The codes are those of the findings list (`J.*`); the two `IN.*` codes are the reader's own
/// resource limits.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum JsonCode {
    /// Not exactly one RFC 8259 value: comments, trailing commas, a second value, raw control
    /// characters, leading zeros, plus signs.
    Syntax,
    /// Not well-formed UTF-8.
    Utf8,
    /// Starts with U+FEFF.
    Bom,
    /// An object repeats a member name after unescaping.
    DupKey,
    /// A number has a fraction or an exponent (`1.0` and `1e3` included), or is NaN or Infinity.
    NonInteger,
    /// The number `-0`.
    NegZero,
    /// An integer outside ±(2^53-1).
    IntRange,
    /// A string holds an unpaired surrogate escape.
    LoneSurrogate,
    /// Nesting over the limit.
    Depth,
    /// The bytes differ from the canonical form of what they say.
    Noncanonical,
    /// A member that the format requires is absent.
    MissingField,
    /// A member that the format does not list.
    UnknownField,
    /// A non-ASCII member name outside `ext`.
    NameForm,
    /// A member has the wrong JSON type.
    Type,
    /// A value outside its enumeration, its range or its length limit.
    Enum,
    /// A digest or key identifier is not prefix + 64 lower-case hex digits.
    DigestForm,
    /// Not standard, padded, canonical base64 of the right length.
    B64Form,
    /// Not `YYYY-MM-DDThh:mm:ssZ`, or not a real instant.
    TimeForm,
    /// The document is longer than [`ReadLimits::bytes`](super::ReadLimits::bytes).
    LimitBytes,
    /// The document holds more values than [`ReadLimits::values`](super::ReadLimits::values).
    LimitCount,
}

impl JsonCode {
    /// Every code, in the order of the findings list.
    pub const ALL: [Self; 20] = [
        Self::Syntax,
        Self::Utf8,
        Self::Bom,
        Self::DupKey,
        Self::NonInteger,
        Self::NegZero,
        Self::IntRange,
        Self::LoneSurrogate,
        Self::Depth,
        Self::Noncanonical,
        Self::MissingField,
        Self::UnknownField,
        Self::NameForm,
        Self::Type,
        Self::Enum,
        Self::DigestForm,
        Self::B64Form,
        Self::TimeForm,
        Self::LimitBytes,
        Self::LimitCount,
    ];

    /// The stable code towards users, such as `J.SYNTAX`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "J.SYNTAX",
            Self::Utf8 => "J.UTF8",
            Self::Bom => "J.BOM",
            Self::DupKey => "J.DUP_KEY",
            Self::NonInteger => "J.NON_INTEGER",
            Self::NegZero => "J.NEG_ZERO",
            Self::IntRange => "J.INT_RANGE",
            Self::LoneSurrogate => "J.LONE_SURROGATE",
            Self::Depth => "J.DEPTH",
            Self::Noncanonical => "J.NONCANONICAL",
            Self::MissingField => "J.MISSING_FIELD",
            Self::UnknownField => "J.UNKNOWN_FIELD",
            Self::NameForm => "J.NAME_FORM",
            Self::Type => "J.TYPE",
            Self::Enum => "J.ENUM",
            Self::DigestForm => "J.DIGEST_FORM",
            Self::B64Form => "J.B64_FORM",
            Self::TimeForm => "J.TIME_FORM",
            Self::LimitBytes => "IN.LIMIT_BYTES",
            Self::LimitCount => "IN.LIMIT_COUNT",
        }
    }

    /// One clause for people, without the place.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Syntax => "not exactly one JSON value as RFC 8259 writes it",
            Self::Utf8 => "not well-formed UTF-8",
            Self::Bom => "starts with a byte order mark",
            Self::DupKey => "a member name occurs twice in one object",
            Self::NonInteger => "a number has a fraction or an exponent, only integers are allowed",
            Self::NegZero => "the number -0 is not allowed, write 0",
            Self::IntRange => "an integer lies outside ±(2^53-1)",
            Self::LoneSurrogate => "a string holds an unpaired surrogate escape",
            Self::Depth => "nested too deeply",
            Self::Noncanonical => "the bytes are not the canonical form of this value",
            Self::MissingField => "a required member is absent",
            Self::UnknownField => "a member that this format does not have",
            Self::NameForm => "a member name outside `ext` is not ASCII",
            Self::Type => "wrong JSON type",
            Self::Enum => "not one of the allowed values",
            Self::DigestForm => "not a prefix followed by 64 lower-case hex digits",
            Self::B64Form => "not standard padded base64 of the required length",
            Self::TimeForm => "not a real instant written as YYYY-MM-DDThh:mm:ssZ",
            Self::LimitBytes => "the document is longer than the limit",
            Self::LimitCount => "the document holds more values than the limit",
        }
    }
}

impl fmt::Display for JsonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refusal: which rule, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JsonError {
    /// The rule that is broken.
    pub code: JsonCode,
    /// Byte offset into the document, where the reader itself refused; `None` when the refusal is
    /// about a parsed value.
    pub offset: Option<usize>,
    /// RFC 6901 pointer to the value, `""` for the whole document; at most [`MAX_POINTER_BYTES`].
    pub pointer: String,
}

impl JsonError {
    /// A refusal of an already parsed value at `pointer`.
    #[must_use]
    pub fn at(code: JsonCode, pointer: impl Into<String>) -> Self {
        Self { code, offset: None, pointer: pointer.into() }
    }

    /// The stable code towards users, such as `J.SYNTAX`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// Whether the document was refused for its size alone.
    #[must_use]
    pub const fn is_too_large(&self) -> bool {
        matches!(self.code, JsonCode::LimitBytes | JsonCode::LimitCount)
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.describe())?;
        match (self.pointer.as_str(), self.offset) {
            ("", None) => Ok(()),
            ("", Some(offset)) => write!(f, " (byte {offset})"),
            (pointer, None) => write!(f, " (at {pointer})"),
            (pointer, Some(offset)) => write!(f, " (at {pointer}, byte {offset})"),
        }
    }
}

impl std::error::Error for JsonError {}

/// Appends one RFC 6901 reference token, unless the pointer would grow over its limit.
///
/// Returns whether it fitted; callers stop at the first token that doesn't, so that the result
/// always names an ancestor.
pub(super) fn push_token(pointer: &mut String, token: &str) -> bool {
    let escapes = token.bytes().filter(|byte| matches!(byte, b'~' | b'/')).count();
    if pointer.len() + 1 + token.len() + escapes > MAX_POINTER_BYTES {
        return false;
    }
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct() {
        let mut codes: Vec<_> = JsonCode::ALL.iter().map(|code| code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), JsonCode::ALL.len());
    }

    #[test]
    fn pointer_tokens_are_escaped_and_bounded() {
        let mut pointer = String::new();
        assert!(push_token(&mut pointer, "a/b~c"));
        assert_eq!(pointer, "/a~1b~0c");
        assert!(!push_token(&mut pointer, &"x".repeat(MAX_POINTER_BYTES)));
        assert_eq!(pointer, "/a~1b~0c");
        let rest = MAX_POINTER_BYTES - pointer.len() - 1;
        assert!(push_token(&mut pointer, &"x".repeat(rest)));
        assert_eq!(pointer.len(), MAX_POINTER_BYTES);
    }

    #[test]
    fn messages_name_the_place() {
        let error = JsonError { code: JsonCode::NegZero, offset: Some(7), pointer: "/a".into() };
        assert_eq!(error.to_string(), "the number -0 is not allowed, write 0 (at /a, byte 7)");
        assert_eq!(JsonError::at(JsonCode::Type, "").to_string(), "wrong JSON type");
    }
}
