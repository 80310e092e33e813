//! Reading closed objects to the end: everything that is wrong with them, not the first thing.
//!
//! What it is: [`Reader`] takes the members of one object by name, [`Cell`] one value. A wrong value is
//! noted as a [`Defect`] with the code its table names, and reading goes on. What it isn't: a
//! judgment; who reads decides what the defects make false.

mod cell;
mod defects;
mod place;
#[cfg(test)]
mod tests;

use core::ops::RangeInclusive;

use crate::digest::Digest;
use crate::json::{JsonCode, Object, Value};
use crate::signed_object::SignerId;

use super::code::FormCode;

pub use cell::Cell;
pub use defects::{Defect, Defects, MAX_DEFECTS};
pub use place::At;

/// The most elements an array of findings, paths or references may have.
pub const MAX_ELEMENTS: usize = 100_000;

/// Whether `value` is an object of this schema; otherwise what is wrong is noted, and nothing further of
/// the object can be read: an unknown schema is `unknown`.
pub fn is_of_schema(
    value: &Value<'_>,
    schema: &str,
    unknown: FormCode,
    at: &At<'_>,
    defects: &mut Defects,
) -> bool {
    let Some(object) = value.as_object() else {
        defects.push(JsonCode::Type, at);
        return false;
    };
    let at = at.member("schema");
    let code: FormCode = match object.get("schema") {
        None => JsonCode::MissingField.into(),
        Some(value) => match value.as_str() {
            None => JsonCode::Type.into(),
            Some(found) if found == schema => return true,
            Some(_) => unknown,
        },
    };
    defects.push(code, &at);
    false
}

/// A member to read: its name, and the code in place of the `J.*` codes where its table names one.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by `From` in every call")]
pub struct Member {
    /// Name.
    pub name: &'static str,
    /// The code for absence, a wrong type and a wrong value alike.
    pub code: Option<FormCode>,
}

impl From<&'static str> for Member {
    fn from(name: &'static str) -> Self {
        Self { name, code: None }
    }
}

impl From<(&'static str, FormCode)> for Member {
    fn from((name, code): (&'static str, FormCode)) -> Self {
        Self { name, code: Some(code) }
    }
}

/// The members of one closed object, being read.
#[derive(Debug)]
pub struct Reader<'v, 'a> {
    object: &'v Object<'v>,
    at: &'a At<'a>,
    defects: &'a mut Defects,
    /// One bit per member in canonical order. Members from the 65th on are never known.
    known: u64,
    /// The code of the member the object is the value of, for whatever is wrong inside.
    code: Option<FormCode>,
    /// The position after the last member asked for: the next one, for a reader that asks in canonical
    /// order.
    next: usize,
}

/// Reads `object` as a closed one: after `read`, every member it didn't ask for is
/// [`JsonCode::UnknownField`].
pub fn read_closed<'v, T>(
    object: &'v Object<'v>,
    at: &At<'_>,
    defects: &mut Defects,
    read: impl FnOnce(&mut Reader<'v, '_>) -> Option<T>,
) -> Option<T> {
    read_closed_as(object, at, defects, None, read)
}

fn read_closed_as<'v, T>(
    object: &'v Object<'v>,
    at: &At<'_>,
    defects: &mut Defects,
    code: Option<FormCode>,
    read: impl FnOnce(&mut Reader<'v, '_>) -> Option<T>,
) -> Option<T> {
    let mut reader = Reader { object, at, defects, known: 0, code, next: 0 };
    let result = read(&mut reader);
    let known = reader.known;
    for (position, (name, _)) in object.iter().enumerate() {
        if known & bit(position) == 0 {
            defects.push(code.unwrap_or(JsonCode::UnknownField.into()), &at.member(name));
        }
    }
    result
}

impl<'v> Reader<'v, '_> {
    /// Where the object stands.
    #[must_use]
    pub fn at(&self) -> &At<'_> {
        self.at
    }

    /// Notes a defect of the member `name`.
    pub fn defect(&mut self, code: impl Into<FormCode>, name: &str) {
        self.defects.push(code, &self.at.member(name));
    }

    /// Notes a defect of the element at `index` of the member `name`.
    pub fn defect_of_element(&mut self, code: impl Into<FormCode>, name: &str, index: usize) {
        self.defects.push(code, &self.at.member(name).element(index));
    }

    /// Whether the object has this member; asking doesn't make it known.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.object.contains(name)
    }

    /// The raw value of a member, which becomes known; no defect when absent.
    pub fn raw(&mut self, name: &str) -> Option<&'v Value<'v>> {
        let position = match self.object.at(self.next) {
            Some((candidate, _)) if candidate == name => self.next,
            _ => self.object.find(name).ok()?,
        };
        self.next = position + 1;
        self.known |= bit(position);
        self.object.at(position).map(|(_, value)| value)
    }

    /// Reads a member that may be absent: `Some(None)` then.
    pub fn optional<T>(
        &mut self,
        member: impl Into<Member>,
        read: impl FnOnce(Cell<'v, '_>) -> Option<T>,
    ) -> Option<Option<T>> {
        let member = member.into();
        let Some(value) = self.raw(member.name) else { return Some(None) };
        let at = self.at.member(member.name);
        let code = member.code.or(self.code);
        read(Cell { value, at: &at, defects: self.defects, code }).map(Some)
    }

    /// Reads a member that has to be there ([`JsonCode::MissingField`]).
    pub fn required<T>(
        &mut self,
        member: impl Into<Member>,
        read: impl FnOnce(Cell<'v, '_>) -> Option<T>,
    ) -> Option<T> {
        let member = member.into();
        let code = member.code.or(self.code);
        let Some(value) = self.raw(member.name) else {
            self.defect(code.unwrap_or(JsonCode::MissingField.into()), member.name);
            return None;
        };
        let at = self.at.member(member.name);
        read(Cell { value, at: &at, defects: self.defects, code })
    }

    /// Reads a member that has to be there, where the table names a code for its absence alone.
    pub fn declared<T>(
        &mut self,
        name: &'static str,
        absent: impl Into<Option<FormCode>>,
        read: impl FnOnce(Cell<'v, '_>) -> Option<T>,
    ) -> Option<T> {
        match absent.into() {
            Some(absent) if !self.has(name) => {
                self.defect(absent, name);
                None
            }
            _ => self.required(name, read),
        }
    }

    /// Makes `ext` known, the extension bag of objects that may have one: any object.
    pub fn allow_ext(&mut self) {
        if let Some(value) = self.raw("ext")
            && value.as_object().is_none()
        {
            self.defect(self.code.unwrap_or(JsonCode::Type.into()), "ext");
        }
    }

    /// A digest.
    pub fn digest(&mut self, member: impl Into<Member>) -> Option<Digest> {
        self.required(member, |cell| cell.digest())
    }

    /// An id.
    pub fn id(&mut self, member: impl Into<Member>) -> Option<&'v str> {
        self.required(member, |cell| cell.id())
    }

    /// A text of so many bytes.
    pub fn text(
        &mut self,
        member: impl Into<Member>,
        lengths: RangeInclusive<usize>,
    ) -> Option<&'v str> {
        self.required(member, |cell| cell.text(lengths))
    }

    /// Exactly this string.
    pub fn literal(&mut self, member: impl Into<Member>, expected: &str) -> Option<()> {
        self.required(member, |cell| cell.literal(expected))
    }

    /// A sequence number.
    pub fn seq(&mut self, member: impl Into<Member>) -> Option<u64> {
        self.required(member, |cell| cell.seq())
    }

    /// A time, in seconds since 1970.
    pub fn time(&mut self, member: impl Into<Member>) -> Option<i64> {
        self.required(member, |cell| cell.time())
    }

    /// A key id.
    pub fn key_id(&mut self, member: impl Into<Member>) -> Option<SignerId> {
        self.required(member, |cell| cell.key_id())
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, member: impl Into<Member>) -> Option<bool> {
        self.required(member, |cell| cell.boolean())
    }
}

const fn bit(position: usize) -> u64 {
    if position < 64 { 1 << position } else { 0 }
}
