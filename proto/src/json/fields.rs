//! Reading closed objects: every member is asked for by name, whatever is left over is refused.

use std::ops::RangeInclusive;

use super::error::{JsonCode, JsonError, push_token};
use super::time::parse_utc_seconds;
use super::value::{Object, Value};
use crate::digest::Digest;
use crate::encoding::base64_decode;

/// A closed object being read.
///
/// Getters mark the member as known; [`Fields::finish`] refuses what nobody asked for
/// ([`JsonCode::UnknownField`]). Every refusal points at the member it is about. A format may have up to
/// 64 members, which is far more than any has.
#[derive(Debug)]
#[must_use = "unknown members are refused by `finish`"]
pub struct Fields<'v> {
    object: &'v Object<'v>,
    /// Pointer to the object itself.
    pointer: String,
    /// One bit per member in canonical order. Members from the 65th on are never known.
    known: u64,
}

impl<'v> Fields<'v> {
    /// Starts reading `value`, which must be an object ([`JsonCode::Type`]) and stands at `pointer`.
    pub fn new(value: &'v Value<'v>, pointer: impl Into<String>) -> Result<Self, JsonError> {
        let pointer = pointer.into();
        match value.as_object() {
            Some(object) => Ok(Self::of(object, pointer)),
            None => Err(JsonError::at(JsonCode::Type, pointer)),
        }
    }

    /// Starts reading `object`, which stands at `pointer`.
    pub fn of(object: &'v Object<'v>, pointer: impl Into<String>) -> Self {
        Self { object, pointer: pointer.into(), known: 0 }
    }

    /// Whether the object has this member; asking doesn't make it known.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.object.contains(name)
    }

    /// The pointer to the object being read.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// A refusal of the member `name`.
    #[must_use]
    pub fn error(&self, code: JsonCode, name: &str) -> JsonError {
        JsonError::at(code, self.pointer_to(name))
    }

    /// The pointer to the member `name`.
    #[must_use]
    pub fn pointer_to(&self, name: &str) -> String {
        let mut pointer = self.pointer.clone();
        push_token(&mut pointer, name);
        pointer
    }

    /// The pointer to an element of the array `name`.
    #[must_use]
    pub fn pointer_to_element(&self, name: &str, position: usize) -> String {
        let mut pointer = self.pointer.clone();
        let _fitted =
            push_token(&mut pointer, name) && push_token(&mut pointer, &position.to_string());
        pointer
    }

    /// Any value; absent is `None`.
    pub fn optional(&mut self, name: &str) -> Option<&'v Value<'v>> {
        let position = self.object.find(name).ok()?;
        self.known |= bit(position);
        self.object.at(position).map(|(_, value)| value)
    }

    /// Any value; absent is [`JsonCode::MissingField`].
    pub fn required(&mut self, name: &str) -> Result<&'v Value<'v>, JsonError> {
        self.optional(name).ok_or_else(|| self.error(JsonCode::MissingField, name))
    }

    /// A string.
    pub fn string(&mut self, name: &str) -> Result<&'v str, JsonError> {
        let value = self.required(name)?;
        value.as_str().ok_or_else(|| self.error(JsonCode::Type, name))
    }

    /// A string that may be absent.
    pub fn optional_string(&mut self, name: &str) -> Result<Option<&'v str>, JsonError> {
        self.if_present(name, Self::string)
    }

    /// A string whose length in bytes lies in `lengths` ([`JsonCode::Enum`]).
    pub fn text(
        &mut self,
        name: &str,
        lengths: RangeInclusive<usize>,
    ) -> Result<&'v str, JsonError> {
        let text = self.string(name)?;
        self.check(lengths.contains(&text.len()), JsonCode::Enum, name).map(|()| text)
    }

    /// Exactly this string ([`JsonCode::Enum`]), as for `schema` and `type`.
    pub fn literal(&mut self, name: &str, expected: &str) -> Result<(), JsonError> {
        let text = self.string(name)?;
        self.check(text == expected, JsonCode::Enum, name)
    }

    /// A string that `read` knows ([`JsonCode::Enum`]), for enumerations and small grammars.
    pub fn one_of<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&'v str) -> Option<T>,
    ) -> Result<T, JsonError> {
        let text = self.string(name)?;
        read(text).ok_or_else(|| self.error(JsonCode::Enum, name))
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, name: &str) -> Result<bool, JsonError> {
        let value = self.required(name)?;
        value.as_bool().ok_or_else(|| self.error(JsonCode::Type, name))
    }

    /// An integer.
    pub fn integer(&mut self, name: &str) -> Result<i64, JsonError> {
        let value = self.required(name)?;
        value.as_integer().ok_or_else(|| self.error(JsonCode::Type, name))
    }

    /// An integer within `range` ([`JsonCode::Enum`]).
    pub fn integer_in(&mut self, name: &str, range: RangeInclusive<i64>) -> Result<i64, JsonError> {
        let number = self.integer(name)?;
        self.check(range.contains(&number), JsonCode::Enum, name).map(|()| number)
    }

    /// An integer from 0 to 2^53-1 ([`JsonCode::Enum`] below).
    pub fn unsigned(&mut self, name: &str) -> Result<u64, JsonError> {
        let number = self.integer(name)?;
        u64::try_from(number).map_err(|_| self.error(JsonCode::Enum, name))
    }

    /// An integer from 0 to 2^53-1 that may be absent.
    pub fn optional_unsigned(&mut self, name: &str) -> Result<Option<u64>, JsonError> {
        self.if_present(name, Self::unsigned)
    }

    /// An array.
    pub fn array(&mut self, name: &str) -> Result<&'v [Value<'v>], JsonError> {
        let value = self.required(name)?;
        value.as_array().ok_or_else(|| self.error(JsonCode::Type, name))
    }

    /// An array that may be absent.
    pub fn optional_array(&mut self, name: &str) -> Result<Option<&'v [Value<'v>]>, JsonError> {
        self.if_present(name, Self::array)
    }

    /// An array of strings, with at most `count` elements ([`JsonCode::Enum`]).
    pub fn strings(&mut self, name: &str, count: usize) -> Result<Vec<&'v str>, JsonError> {
        let elements = self.array(name)?;
        self.check(elements.len() <= count, JsonCode::Enum, name)?;
        let read = |(position, element): (usize, &'v Value<'v>)| {
            let pointer = || self.pointer_to_element(name, position);
            element.as_str().ok_or_else(|| JsonError::at(JsonCode::Type, pointer()))
        };
        elements.iter().enumerate().map(read).collect()
    }

    /// A closed object inside this one, to be read the same way.
    pub fn object(&mut self, name: &str) -> Result<Self, JsonError> {
        let value = self.required(name)?;
        Fields::new(value, self.pointer_to(name))
    }

    /// A digest, `sha256:` + 64 lower-case hex digits ([`JsonCode::DigestForm`]).
    pub fn digest(&mut self, name: &str) -> Result<Digest, JsonError> {
        let text = self.string(name)?;
        text.parse().map_err(|_| self.error(JsonCode::DigestForm, name))
    }

    /// A digest that may be absent.
    pub fn optional_digest(&mut self, name: &str) -> Result<Option<Digest>, JsonError> {
        self.if_present(name, Self::digest)
    }

    /// Standard padded canonical base64 of any length ([`JsonCode::B64Form`]).
    pub fn base64(&mut self, name: &str) -> Result<Vec<u8>, JsonError> {
        let text = self.string(name)?;
        base64_decode(text).map_err(|_| self.error(JsonCode::B64Form, name))
    }

    /// Standard padded canonical base64 of exactly `N` bytes ([`JsonCode::B64Form`]).
    pub fn base64_array<const N: usize>(&mut self, name: &str) -> Result<[u8; N], JsonError> {
        let text = self.string(name)?;
        // Refused by its length first, so that nothing long is ever decoded.
        let decoded = if text.len() == N.div_ceil(3) * 4 { base64_decode(text).ok() } else { None };
        decoded
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| self.error(JsonCode::B64Form, name))
    }

    /// A time, `YYYY-MM-DDThh:mm:ssZ`, as seconds since 1970 ([`JsonCode::TimeForm`]).
    pub fn time(&mut self, name: &str) -> Result<i64, JsonError> {
        let text = self.string(name)?;
        parse_utc_seconds(text).ok_or_else(|| self.error(JsonCode::TimeForm, name))
    }

    /// Makes the one extension member `ext` known, in objects that may have it: an object of
    /// anything, hashed and signed with its owner and never read.
    pub fn allow_ext(&mut self) -> Result<(), JsonError> {
        match self.optional("ext") {
            None | Some(Value::Object(_)) => Ok(()),
            Some(_) => Err(self.error(JsonCode::Type, "ext")),
        }
    }

    /// Ends the reading: the first member nobody asked for is [`JsonCode::UnknownField`].
    pub fn finish(self) -> Result<(), JsonError> {
        let unknown = self.object.iter().enumerate().find(|(at, _)| self.known & bit(*at) == 0);
        match unknown {
            None => Ok(()),
            Some((_, (name, _))) => Err(self.error(JsonCode::UnknownField, name)),
        }
    }

    fn if_present<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self, &str) -> Result<T, JsonError>,
    ) -> Result<Option<T>, JsonError> {
        if self.has(name) { read(self, name).map(Some) } else { Ok(None) }
    }

    fn check(&self, holds: bool, code: JsonCode, name: &str) -> Result<(), JsonError> {
        if holds { Ok(()) } else { Err(self.error(code, name)) }
    }
}

/// The bit of a member position; positions from 64 on have none.
fn bit(position: usize) -> u64 {
    u32::try_from(position).ok().and_then(|shift| 1_u64.checked_shl(shift)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test may panic")]

    use super::super::{ReadLimits, parse};
    use super::*;

    const DOCUMENT: &str = r#"{"array":["a","b"],"b64":"AQID","digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000","ext":{"é":1},"int":-3,"kind":"red","nested":{"deep":[1]},"size":9007199254740991,"time":"1970-01-02T00:00:00Z","yes":true}"#;

    #[test]
    fn every_getter_reads_its_form() {
        let value = parse(DOCUMENT.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        let mut fields = Fields::new(&value, "").unwrap();
        assert_eq!(fields.strings("array", 2).unwrap(), ["a", "b"]);
        assert_eq!(fields.base64("b64").unwrap(), [1, 2, 3]);
        assert_eq!(fields.base64_array::<3>("b64").unwrap(), [1, 2, 3]);
        assert_eq!(fields.digest("digest").unwrap(), Digest::from_bytes([0; 32]));
        assert_eq!(fields.integer("int").unwrap(), -3);
        assert_eq!(fields.integer_in("int", -3..=0).unwrap(), -3);
        assert_eq!(fields.text("kind", 1..=3).unwrap(), "red");
        assert_eq!(fields.literal("kind", "red"), Ok(()));
        assert_eq!(fields.one_of("kind", |text| (text == "red").then_some(7)).unwrap(), 7);
        assert_eq!(fields.unsigned("size").unwrap(), (1 << 53) - 1);
        assert_eq!(fields.time("time").unwrap(), 86_400);
        assert!(fields.boolean("yes").unwrap());
        assert_eq!(fields.optional_string("absent").unwrap(), None);
        assert_eq!(fields.optional_unsigned("absent").unwrap(), None);
        assert_eq!(fields.optional_digest("absent").unwrap(), None);
        assert_eq!(fields.optional_array("absent").unwrap(), None);
        let mut nested = fields.object("nested").unwrap();
        assert_eq!(nested.array("deep").unwrap().len(), 1);
        nested.finish().unwrap();
        fields.allow_ext().unwrap();
        fields.finish().unwrap();
    }

    #[test]
    fn every_refusal_has_its_code_and_points_at_the_member() {
        fn refusal(
            read: impl FnOnce(&mut Fields<'_>) -> Result<(), JsonError>,
        ) -> (&'static str, String) {
            let value = parse(DOCUMENT.as_bytes(), &ReadLimits::DEFAULT).unwrap();
            let mut fields = Fields::new(&value, "/at").unwrap();
            let error = read(&mut fields).unwrap_err();
            (error.code(), error.pointer)
        }
        let expect = |code, pointer: &str| (code, pointer.to_owned());
        assert_eq!(
            refusal(|f| f.string("no~ne").map(drop)),
            expect("J.MISSING_FIELD", "/at/no~0ne")
        );
        assert_eq!(refusal(|f| f.string("int").map(drop)), expect("J.TYPE", "/at/int"));
        assert_eq!(refusal(|f| f.optional_string("int").map(drop)), expect("J.TYPE", "/at/int"));
        assert_eq!(refusal(|f| f.boolean("int").map(drop)), expect("J.TYPE", "/at/int"));
        assert_eq!(refusal(|f| f.integer("kind").map(drop)), expect("J.TYPE", "/at/kind"));
        assert_eq!(refusal(|f| f.array("kind").map(drop)), expect("J.TYPE", "/at/kind"));
        assert_eq!(refusal(|f| f.object("kind").map(drop)), expect("J.TYPE", "/at/kind"));
        assert_eq!(refusal(|f| f.unsigned("int").map(drop)), expect("J.ENUM", "/at/int"));
        assert_eq!(refusal(|f| f.integer_in("int", 0..=9).map(drop)), expect("J.ENUM", "/at/int"));
        assert_eq!(refusal(|f| f.text("kind", 1..=2).map(drop)), expect("J.ENUM", "/at/kind"));
        assert_eq!(refusal(|f| f.literal("kind", "blue")), expect("J.ENUM", "/at/kind"));
        assert_eq!(
            refusal(|f| f.one_of("kind", |_| None::<()>).map(drop)),
            expect("J.ENUM", "/at/kind")
        );
        assert_eq!(refusal(|f| f.strings("array", 1).map(drop)), expect("J.ENUM", "/at/array"));
        assert_eq!(refusal(|f| f.digest("kind").map(drop)), expect("J.DIGEST_FORM", "/at/kind"));
        assert_eq!(refusal(|f| f.base64("kind").map(drop)), expect("J.B64_FORM", "/at/kind"));
        assert_eq!(
            refusal(|f| f.base64_array::<4>("b64").map(drop)),
            expect("J.B64_FORM", "/at/b64")
        );
        assert_eq!(refusal(|f| f.time("kind").map(drop)), expect("J.TIME_FORM", "/at/kind"));
        assert_eq!(
            refusal(|f| f.object("nested")?.strings("deep", 9).map(drop)),
            expect("J.TYPE", "/at/nested/deep/0")
        );
        assert_eq!(
            refusal(|f| std::mem::replace(f, Fields::of(f.object, "")).finish()),
            expect("J.UNKNOWN_FIELD", "/at/array")
        );
        let array = Value::Array(Vec::new());
        assert_eq!(Fields::new(&array, "/x").unwrap_err(), JsonError::at(JsonCode::Type, "/x"));
    }

    #[test]
    fn ext_must_be_an_object() {
        let value = parse(br#"{"ext":[]}"#, &ReadLimits::DEFAULT).unwrap();
        let mut fields = Fields::new(&value, "").unwrap();
        assert_eq!(fields.allow_ext().unwrap_err().code, JsonCode::Type);
    }

    #[test]
    fn members_past_the_sixty_fourth_are_unknown() {
        let object: Object<'_> = (0..65_u32).map(|n| (format!("{n:02}"), n)).collect();
        let mut fields = Fields::of(&object, "");
        for position in 0..65 {
            fields.required(&format!("{position:02}")).unwrap();
        }
        assert_eq!(fields.finish().unwrap_err().pointer, "/64");
    }
}
