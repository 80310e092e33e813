//! JSON of drafts: values with placeholders, and the canonical bytes they become.
//!
//! What it is: a draft is a `serde_json` value, easy to change at a pointer, whose strings may be
//! placeholders (`"@seq:verdict"`, `"@h:request"`, `"@plan"`, `"@key:engine"`, …) for what isn't known until
//! the record is written. Canonical bytes are made by the project's one writer. What it isn't: a reader.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::json::{Object, Value, canonical};
use serde_json::Value as Json;

use super::keys;

/// The value as the project's own type.
///
/// # Panics
/// On numbers that aren't integers of 64 bits: those are written as text, by edits.
#[must_use]
pub fn to_value(json: &Json) -> Value<'static> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => Value::Integer(number.as_i64().expect("an integer")),
        Json::String(text) => Value::from(text.clone()),
        Json::Array(elements) => Value::Array(elements.iter().map(to_value).collect()),
        Json::Object(members) => {
            let mut object = Object::new();
            for (name, member) in members {
                object.insert(name.clone(), to_value(member));
            }
            object.into()
        }
    }
}

/// The canonical bytes.
#[must_use]
pub fn canon(json: &Json) -> Vec<u8> {
    canonical(&to_value(json))
}

/// What placeholders stand for.
#[derive(Clone, Debug, Default)]
pub struct Names(BTreeMap<String, Json>);

impl Names {
    /// Lets `@name` stand for `value`.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Json>) {
        self.0.insert(name.into(), value.into());
    }

    /// What `@name` stands for.
    #[must_use]
    pub fn value(&self, name: &str) -> Json {
        self.lookup(name)
    }

    /// The text that `@name` stands for.
    ///
    /// # Panics
    /// When it stands for nothing, or not for a text.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        self.lookup(name).as_str().expect("a text").to_owned()
    }

    /// The digest that `@name` stands for.
    ///
    /// # Panics
    /// When it stands for nothing, or not for a digest.
    #[must_use]
    pub fn digest(&self, name: &str) -> Digest {
        self.text(name).parse().expect("a digest")
    }

    /// `json` without placeholders. An object `{"@sign": KEY, "body": …}` becomes the signed object; the
    /// member value `"@absent"` takes its member away; `"@@…"` is the text `@…`.
    #[must_use]
    pub fn resolve(&self, json: &Json) -> Json {
        match json {
            Json::String(text) => match text.strip_prefix('@') {
                Some(literal) if literal.starts_with('@') => literal.into(),
                Some(name) => self.lookup(name),
                None => json.clone(),
            },
            Json::Array(elements) => elements.iter().map(|element| self.resolve(element)).collect(),
            Json::Object(members) => {
                let resolved = members
                    .iter()
                    .filter(|(name, value)| *name != "@sign" && **value != "@absent")
                    .map(|(name, value)| (name.clone(), self.resolve(value)))
                    .collect();
                match members.get("@sign").and_then(Json::as_str) {
                    Some(key) => sign(key, resolved),
                    None => Json::Object(resolved),
                }
            }
            _ => json.clone(),
        }
    }

    fn lookup(&self, name: &str) -> Json {
        if let Some(value) = self.0.get(name) {
            return value.clone();
        }
        let (family, rest) = name.split_once(':').unwrap_or((name, ""));
        match family {
            "key" => keys::key(rest).id().to_string().into(),
            "pub" => keys::key(rest).public_key().to_base64().into(),
            // A test that a case took out of the plan.
            "spec" => Digest::of(rest.as_bytes()).to_string().into(),
            "sha256" => Digest::of(rest.as_bytes()).to_string().into(),
            _ => panic!("@{name} stands for nothing"),
        }
    }
}

/// `{body, signature}` of the body in `object`, which may hold its own `signature` to keep.
fn sign(key: &str, mut object: serde_json::Map<String, Json>) -> Json {
    let body = object.get("body").expect("a body");
    let signature = keys::key(key).sign(&canon(body)).to_base64();
    object.entry("signature").or_insert(signature.into());
    Json::Object(object)
}
