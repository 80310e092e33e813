//! A closed object, member by member.
//!
//! Unlike [`crate::json::Fields`] it goes on after a fault: a version or an over-long string counts before a
//! missing member, wherever it stands. A getter that finds something wrong notes it and returns `None`.

use core::fmt;
use core::str::FromStr;
use std::collections::BTreeSet;

use super::value::{Object, Value};
use crate::Digest;
use crate::jp::fault::{Faults, Rule};
use crate::json::parse_utc_seconds;

/// Reads the members of one object and, at the end, finds the ones nobody asked for.
#[derive(Debug)]
pub struct Fields<'v, 'a, 'f> {
    object: &'v Object<'a>,
    /// Where the object stands, for people.
    place: String,
    asked: BTreeSet<&'static str>,
    faults: &'f mut Faults,
}

impl<'v, 'a, 'f> Fields<'v, 'a, 'f> {
    /// The object at `place`; `None`, noted, when it is none.
    pub fn new(
        value: &'v Value<'a>,
        place: impl fmt::Display,
        faults: &'f mut Faults,
    ) -> Option<Self> {
        let place = place.to_string();
        if let Value::Object(object) = value {
            return Some(Self { object, place, asked: BTreeSet::new(), faults });
        }
        faults.note(Rule::Form, format_args!("{place}: not an object"));
        None
    }

    /// Where the object stands.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The notes, for the reader of a member.
    pub fn faults(&mut self) -> &mut Faults {
        self.faults
    }

    /// A member that has to be there.
    pub fn required(&mut self, name: &'static str) -> Option<&'v Value<'a>> {
        let value = self.optional(name);
        if value.is_none() {
            self.note(Rule::Form, name, "is missing");
        }
        value
    }

    /// A member that may be there.
    pub fn optional(&mut self, name: &'static str) -> Option<&'v Value<'a>> {
        self.asked.insert(name);
        self.object.get(name)
    }

    /// A version: the integer `read`, else the version is unread; no integer at all is malformed.
    pub fn version(&mut self, name: &'static str, read: i64) -> Option<()> {
        let value = self.required(name)?;
        match value.as_integer() {
            Some(number) if number == read => Some(()),
            Some(_) => {
                self.note(Rule::Version, name, "is a version that is not read");
                None
            }
            None => self.wrong(name, "is no integer"),
        }
    }

    /// A string within so many UTF-8 bytes, at least one.
    pub fn text(&mut self, name: &'static str, most: usize) -> Option<&'v str> {
        let value = self.required(name)?;
        let Some(text) = value.as_str() else { return self.wrong(name, "is no string") };
        if text.is_empty() {
            return self.wrong(name, "is empty");
        }
        if text.len() > most {
            self.note(Rule::Count, name, &format!("is longer than {most} bytes"));
            return None;
        }
        Some(text)
    }

    /// A string that reads as a `T`.
    pub fn parsed<T: FromStr>(&mut self, name: &'static str, what: &str) -> Option<T> {
        let value = self.required(name)?;
        self.parse(name, value, what)
    }

    /// A digest, or null.
    pub fn nullable_digest(&mut self, name: &'static str) -> Option<Option<Digest>> {
        match self.required(name)? {
            Value::Null => Some(None),
            value => self.parse(name, value, DIGEST).map(Some),
        }
    }

    /// A digest.
    pub fn digest(&mut self, name: &'static str) -> Option<Digest> {
        self.parsed(name, DIGEST)
    }

    /// An array of digests.
    pub fn digests(&mut self, name: &'static str) -> Option<Vec<Digest>> {
        let elements = self.array(name)?;
        let mut digests = Vec::with_capacity(elements.len());
        for element in elements {
            digests.push(self.parse(name, element, DIGEST)?);
        }
        Some(digests)
    }

    /// An array.
    pub fn array(&mut self, name: &'static str) -> Option<&'v [Value<'a>]> {
        let value = self.required(name)?;
        match value.as_array() {
            Some(elements) => Some(elements),
            None => self.wrong(name, "is no array"),
        }
    }

    /// A boolean.
    pub fn boolean(&mut self, name: &'static str) -> Option<bool> {
        let value = self.required(name)?;
        match value.as_bool() {
            Some(truth) => Some(truth),
            None => self.wrong(name, "is no boolean"),
        }
    }

    /// An integer within a range; outside of it the form is another one.
    pub fn integer(&mut self, name: &'static str, least: i64, most: i64) -> Option<i64> {
        let value = self.required(name)?;
        match value.as_integer() {
            Some(number) if (least..=most).contains(&number) => Some(number),
            Some(_) => self.wrong(name, &format!("is not within {least} to {most}")),
            None => self.wrong(name, "is no integer"),
        }
    }

    /// A timestamp `YYYY-MM-DDThh:mm:ssZ` of a real instant.
    pub fn timestamp(&mut self, name: &'static str) -> Option<&'v str> {
        let value = self.required(name)?;
        match value.as_str() {
            Some(text) if parse_utc_seconds(text).is_some() => Some(text),
            _ => self.wrong(name, "is no timestamp"),
        }
    }

    /// One of the names that `read` knows.
    pub fn one_of<T>(&mut self, name: &'static str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = self.required(name)?;
        match value.as_str().and_then(read) {
            Some(value) => Some(value),
            None => self.wrong(name, "is not one of its values"),
        }
    }

    /// Notes that a member is wrong.
    pub fn wrong<T>(&mut self, name: &str, what: &str) -> Option<T> {
        self.note(Rule::Form, name, what);
        None
    }

    /// Notes a broken rule about a member.
    pub fn note(&mut self, rule: Rule, name: &str, what: &str) {
        self.faults.note(rule, format_args!("{}/{name} {what}", self.place));
    }

    /// Notes members that nobody asked for; `None` when there are any.
    #[must_use]
    pub fn finish(self) -> Option<()> {
        let unknown = self.object.iter().find(|(name, _)| !self.asked.contains(name));
        if let Some((name, _)) = unknown {
            let place = &self.place;
            self.faults
                .note(Rule::Form, format_args!("{place}: a member {name:?}, which is unknown"));
            return None;
        }
        Some(())
    }

    fn parse<T: FromStr>(&mut self, name: &str, value: &Value<'_>, what: &str) -> Option<T> {
        match value.as_str().and_then(|text| text.parse().ok()) {
            Some(value) => Some(value),
            None => self.wrong(name, what),
        }
    }
}

const DIGEST: &str = "is no digest";
