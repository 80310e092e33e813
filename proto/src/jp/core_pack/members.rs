//! Reading the members of a pack's objects, with the place of each value.

use super::id::CoreId;
use super::pack::{PackError, PackRule};
use crate::jp::json::{Object, Value};
use crate::json::MAX_POINTER_BYTES;

pub(super) type Read<T> = Result<T, PackError>;

/// A value, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct At<'p, 'v, 'a> {
    pub(super) value: &'v Value<'a>,
    place: Place<'p>,
}

#[derive(Clone, Copy)]
enum Place<'p> {
    Root,
    Member(&'p Place<'p>, &'p str),
    Element(&'p Place<'p>, usize),
}

impl Place<'_> {
    /// The pointer; the nearest ancestor's where it would be too long.
    fn pointer(&self) -> String {
        let (parent, token) = match self {
            Self::Root => return String::new(),
            Self::Member(parent, name) => (parent, name.replace('~', "~0").replace('/', "~1")),
            Self::Element(parent, at) => (parent, at.to_string()),
        };
        let mut pointer = parent.pointer();
        if pointer.len() + 1 + token.len() <= MAX_POINTER_BYTES {
            pointer.push('/');
            pointer.push_str(&token);
        }
        pointer
    }
}

impl<'v, 'a> At<'_, 'v, 'a> {
    /// The root of a document.
    pub(super) const fn root(value: &'v Value<'a>) -> Self {
        Self { value, place: Place::Root }
    }

    /// The refusal of this value.
    pub(super) fn refuse(&self, rule: PackRule) -> PackError {
        PackError { rule, pointer: self.place.pointer(), carrier: None }
    }

    /// The refusal of a member of this value, there or not.
    pub(super) fn refuse_member(&self, name: &str, rule: PackRule) -> PackError {
        PackError { rule, pointer: Place::Member(&self.place, name).pointer(), carrier: None }
    }

    /// An object with no member but these.
    pub(super) fn closed(&self, names: &[&str]) -> Read<&'v Object<'a>> {
        let object = self.value.as_object().ok_or_else(|| self.refuse(PackRule::Type))?;
        match object.iter().find(|(name, _)| !names.contains(name)) {
            Some((name, _)) => Err(self.refuse_member(name, PackRule::Unknown)),
            None => Ok(object),
        }
    }

    /// What `read` makes of a member; `None` where it is absent.
    pub(super) fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(At<'_, 'v, 'a>) -> Read<T>,
    ) -> Read<Option<T>> {
        let Some(value) = self.value.get(name) else { return Ok(None) };
        read(At { value, place: Place::Member(&self.place, name) }).map(Some)
    }

    /// What `read` makes of a member that has to be there.
    pub(super) fn required<T>(
        &self,
        name: &str,
        read: impl FnOnce(At<'_, 'v, 'a>) -> Read<T>,
    ) -> Read<T> {
        self.optional(name, read)?.ok_or_else(|| self.refuse_member(name, PackRule::Missing))
    }

    /// What `read` makes of every element of an array.
    pub(super) fn each<T>(&self, mut read: impl FnMut(At<'_, 'v, 'a>) -> Read<T>) -> Read<Vec<T>> {
        let elements = self.value.as_array().ok_or_else(|| self.refuse(PackRule::Type))?;
        elements
            .iter()
            .enumerate()
            .map(|(at, value)| read(At { value, place: Place::Element(&self.place, at) }))
            .collect()
    }

    /// The array without its elements' meaning.
    pub(super) fn elements(&self) -> Read<&'v [Value<'a>]> {
        self.value.as_array().ok_or_else(|| self.refuse(PackRule::Type))
    }

    pub(super) fn string(&self) -> Read<&'v str> {
        self.value.as_str().ok_or_else(|| self.refuse(PackRule::Type))
    }

    /// A text that is not empty.
    pub(super) fn text(&self) -> Read<&'v str> {
        let text = self.string()?;
        if text.is_empty() { Err(self.refuse(PackRule::Empty)) } else { Ok(text) }
    }

    /// A text of this form.
    pub(super) fn form(&self, holds: fn(&str) -> bool, rule: PackRule) -> Read<&'v str> {
        let text = self.string()?;
        if holds(text) { Ok(text) } else { Err(self.refuse(rule)) }
    }

    pub(super) fn boolean(&self) -> Read<bool> {
        self.value.as_bool().ok_or_else(|| self.refuse(PackRule::Type))
    }

    pub(super) fn local_id(&self) -> Read<CoreId> {
        self.string()?.parse().map_err(|_| self.refuse(PackRule::LocalId))
    }

    /// One of the words that `read` knows.
    pub(super) fn word<T>(&self, read: impl FnOnce(&str) -> Option<T>) -> Read<T> {
        read(self.string()?).ok_or_else(|| self.refuse(PackRule::Type))
    }

    /// Strings that each satisfy `read` and are distinct.
    pub(super) fn distinct<T>(&self, read: impl FnMut(At<'_, 'v, 'a>) -> Read<T>) -> Read<Vec<T>> {
        let all = self.each(read)?;
        let mut seen = std::collections::BTreeSet::new();
        let strings = self.elements()?.iter().filter_map(Value::as_str);
        for (at, text) in strings.enumerate() {
            if !seen.insert(text) {
                let place = Place::Element(&self.place, at);
                let pointer = place.pointer();
                return Err(PackError { rule: PackRule::Repeated, pointer, carrier: None });
            }
        }
        Ok(all)
    }
}
