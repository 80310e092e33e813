//! One value, being read.

use core::ops::RangeInclusive;

use super::{At, Defect, Defects, MAX_ELEMENTS, Reader, read_closed_as};
use crate::digest::Digest;
use crate::encoding::base64_decode;
use crate::gad::code::FormCode;
use crate::gad::names::{is_id, is_path};
use crate::json::{JsonCode, Value, parse_utc_seconds};
use crate::signed_object::SignerId;

/// One value being read.
#[derive(Debug)]
pub struct Cell<'v, 'a> {
    pub(super) value: &'v Value<'v>,
    pub(super) at: &'a At<'a>,
    pub(super) defects: &'a mut Defects,
    pub(super) code: Option<FormCode>,
}

impl<'v, 'a> Cell<'v, 'a> {
    /// The value that stands at `at`.
    pub fn new(value: &'v Value<'v>, at: &'a At<'a>, defects: &'a mut Defects) -> Self {
        Self { value, at, defects, code: None }
    }

    /// The value as it is.
    #[must_use]
    pub const fn value(&self) -> &'v Value<'v> {
        self.value
    }

    /// Where it stands.
    #[must_use]
    pub const fn at(&self) -> &'a At<'a> {
        self.at
    }

    /// Notes that it is wrong, under the code of its member or this one.
    pub fn refuse<T>(self, code: impl Into<FormCode>) -> Option<T> {
        let code = self.code.unwrap_or_else(|| code.into());
        self.defects.push(code, self.at);
        None
    }

    /// Notes a defect that was found apart.
    pub fn pass_on(&mut self, defect: &Defect) {
        self.defects.add(defect.clone());
    }

    /// The same cell, for reading it and then judging what was read.
    pub fn reborrow(&mut self) -> Cell<'v, '_> {
        Cell { value: self.value, at: self.at, defects: self.defects, code: self.code }
    }

    /// The same, where the code of its member isn't that of what stands inside.
    #[must_use]
    pub fn uncoded(self) -> Self {
        Self { code: None, ..self }
    }

    /// `null`, or what `read` reads.
    pub fn nullable<T>(self, read: impl FnOnce(Self) -> Option<T>) -> Option<Option<T>> {
        if self.value.is_null() { Some(None) } else { read(self).map(Some) }
    }

    /// A string.
    #[must_use]
    pub fn string(self) -> Option<&'v str> {
        match self.value.as_str() {
            Some(text) => Some(text),
            None => self.refuse(JsonCode::Type),
        }
    }

    /// A string for which `read` gives something; otherwise `code`.
    pub fn string_as<T>(
        self,
        code: impl Into<FormCode>,
        read: impl FnOnce(&'v str) -> Option<T>,
    ) -> Option<T> {
        let Some(text) = self.value.as_str() else { return self.refuse(JsonCode::Type) };
        match read(text) {
            Some(read) => Some(read),
            None => self.refuse(code),
        }
    }

    /// A string that `read` knows: enumerations and small grammars.
    pub fn one_of<T>(self, read: impl FnOnce(&'v str) -> Option<T>) -> Option<T> {
        self.string_as(JsonCode::Enum, read)
    }

    /// Exactly this string.
    #[must_use]
    pub fn literal(self, expected: &str) -> Option<()> {
        self.one_of(|text| (text == expected).then_some(()))
    }

    /// A string of so many bytes.
    #[must_use]
    pub fn text(self, lengths: RangeInclusive<usize>) -> Option<&'v str> {
        self.one_of(|text| lengths.contains(&text.len()).then_some(text))
    }

    /// An id, `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
    #[must_use]
    pub fn id(self) -> Option<&'v str> {
        self.one_of(|text| is_id(text).then_some(text))
    }

    /// A path in path form.
    #[must_use]
    pub fn path(self) -> Option<&'v str> {
        self.one_of(|text| is_path(text).then_some(text))
    }

    /// A digest.
    #[must_use]
    pub fn digest(self) -> Option<Digest> {
        self.string_as(JsonCode::DigestForm, |text| text.parse().ok())
    }

    /// A key id.
    #[must_use]
    pub fn key_id(self) -> Option<SignerId> {
        self.string_as(JsonCode::DigestForm, |text| text.parse().ok())
    }

    /// A time, in seconds since 1970.
    #[must_use]
    pub fn time(self) -> Option<i64> {
        self.string_as(JsonCode::TimeForm, parse_utc_seconds)
    }

    /// Canonical base64 of exactly `N` bytes.
    #[must_use]
    pub fn base64<const N: usize>(self) -> Option<[u8; N]> {
        self.string_as(JsonCode::B64Form, |text| {
            // Refused by its length first, so that nothing long is ever decoded.
            let fits = text.len() == N.div_ceil(3) * 4;
            let bytes = if fits { base64_decode(text).ok()? } else { return None };
            bytes.try_into().ok()
        })
    }

    /// `true` or `false`.
    #[must_use]
    pub fn boolean(self) -> Option<bool> {
        match self.value.as_bool() {
            Some(truth) => Some(truth),
            None => self.refuse(JsonCode::Type),
        }
    }

    /// An integer within `range`.
    #[must_use]
    pub fn integer(self, range: RangeInclusive<i64>) -> Option<i64> {
        match self.value.as_integer() {
            None => self.refuse(JsonCode::Type),
            Some(number) if range.contains(&number) => Some(number),
            Some(_) => self.refuse(JsonCode::Enum),
        }
    }

    /// A sequence number, 0 to 2^53-1.
    #[must_use]
    pub fn seq(self) -> Option<u64> {
        match self.value.as_integer().map(u64::try_from) {
            Some(Ok(number)) => Some(number),
            Some(Err(_)) => self.refuse(JsonCode::Enum),
            None => self.refuse(JsonCode::Type),
        }
    }

    /// A closed object. Where the table names a code for it, that code also stands for whatever is wrong
    /// inside.
    pub fn object<T>(self, read: impl FnOnce(&mut Reader<'v, '_>) -> Option<T>) -> Option<T> {
        match self.value.as_object() {
            Some(object) => read_closed_as(object, self.at, self.defects, self.code, read),
            None => self.refuse(JsonCode::Type),
        }
    }

    /// An array of at most `most` elements ([`JsonCode::LimitCount`]), each read by `read`. None when one
    /// of them is wrong; all are read.
    pub fn list<T>(
        self,
        most: usize,
        mut read: impl FnMut(Cell<'v, '_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Some(elements) = self.value.as_array() else { return self.refuse(JsonCode::Type) };
        if elements.len() > most {
            self.defects.push(JsonCode::LimitCount, self.at);
            return None;
        }
        let mut whole = true;
        let mut list = Vec::with_capacity(elements.len());
        for (index, value) in elements.iter().enumerate() {
            let at = self.at.element(index);
            let cell = Cell { value, at: &at, defects: self.defects, code: self.code };
            match read(cell) {
                Some(element) => list.push(element),
                None => whole = false,
            }
        }
        whole.then_some(list)
    }

    /// An array that is strictly ascending, and so without repeats.
    pub fn set<T: Ord>(
        self,
        most: usize,
        read: impl FnMut(Cell<'v, '_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Self { value, at, defects, code } = self;
        let list = Cell { value, at, defects, code }.list(most, read)?;
        if list.windows(2).all(|pair| matches!(pair, [a, b] if a < b)) {
            Some(list)
        } else {
            defects.push(code.unwrap_or(JsonCode::Enum.into()), at);
            None
        }
    }

    /// A set of sequence numbers.
    #[must_use]
    pub fn seqs(self) -> Option<Vec<u64>> {
        self.set(MAX_ELEMENTS, |cell| cell.seq())
    }
}
