//! The parts that schemas are made of.

use core::fmt::Display;
use core::ops::RangeInclusive;

use crate::gad::emit::{list, object, text};
use crate::json::{MAX_INTEGER, Object, Value};

/// A part of a schema.
pub(super) type Part = Value<'static>;

/// A closed object being described.
#[derive(Default)]
pub(super) struct Closed {
    properties: Object<'static>,
    required: Vec<&'static str>,
}

impl Closed {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A member that has to be there.
    pub(super) fn with(mut self, name: &'static str, part: Part) -> Self {
        self.required.push(name);
        self.may(name, part)
    }

    /// A member that may be absent.
    pub(super) fn may(mut self, name: &'static str, part: Part) -> Self {
        self.properties.insert(name, part);
        self
    }

    /// The extension bag.
    pub(super) fn ext(self) -> Self {
        self.may("ext", common("ext"))
    }

    pub(super) fn part(mut self) -> Part {
        self.required.sort_unstable();
        object([
            ("additionalProperties", false.into()),
            ("properties", Value::Object(self.properties)),
            ("required", list(&self.required, text)),
            ("type", text("object")),
        ])
    }
}

/// The whole schema: `form` with the common parts it refers to.
pub(super) fn document(form: Part) -> Part {
    let mut schema = match form {
        Value::Object(schema) => schema,
        other => Object::from([("allOf", Value::Array(vec![other]))]),
    };
    let mut definitions = match schema.remove("$defs") {
        Some(Value::Object(own)) => own,
        _ => Object::new(),
    };
    let mut wanted = Vec::new();
    references(&Value::Object(schema.clone()), &mut wanted);
    references(&Value::Object(definitions.clone()), &mut wanted);
    // Common parts refer to others in their turn.
    while let Some(name) = wanted.pop() {
        if let Some(part) = common_part(&name).filter(|_| !definitions.contains(&name)) {
            references(&part, &mut wanted);
            definitions.insert(name, part);
        }
    }
    if !definitions.is_empty() {
        schema.insert("$defs", definitions);
    }
    schema.insert("$schema", "https://json-schema.org/draft/2020-12/schema");
    Value::Object(schema)
}

const PREFIX: &str = "#/$defs/";

/// A reference to a common part, or to one of the document's own definitions.
pub(super) fn common(name: &str) -> Part {
    object([("$ref", text(format!("{PREFIX}{name}")))])
}

fn references(part: &Value<'_>, names: &mut Vec<String>) {
    match part {
        Value::Array(parts) => parts.iter().for_each(|part| references(part, names)),
        Value::Object(object) => {
            for (name, part) in object.iter() {
                let target = part.as_str().and_then(|target| target.strip_prefix(PREFIX));
                match target.filter(|_| name == "$ref") {
                    Some(target) => names.push(target.to_owned()),
                    None => references(part, names),
                }
            }
        }
        _ => {}
    }
}

/// Segments that are neither empty nor `.` nor `..`, without look-ahead.
const SEGMENT: &str = r"(\.?[A-Za-z0-9_-][A-Za-z0-9._-]*|\.\.[A-Za-z0-9._-]+)";

fn common_part(name: &str) -> Option<Part> {
    Some(match name {
        "digest" => pattern("^sha256:[0-9a-f]{64}$"),
        "ext" => {
            described(any_object(), "Extensions: hashed and signed with their object, never read.")
        }
        "fence_entry" => one_of([
            common("path"),
            with_length(pattern(format!("^{SEGMENT}(/{SEGMENT})*/$")), 2..=256),
        ]),
        "id" => pattern("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        "key_id" => pattern("^gadk1:[0-9a-f]{64}$"),
        "path" => with_length(pattern(format!("^{SEGMENT}(/{SEGMENT})*$")), 1..=255),
        "seq" => integer(0..=MAX_INTEGER),
        "surface" => one_of([common("path"), with_length(pattern(r"^ext:[\s\S]+$"), 5..=204)]),
        "time" => described(
            pattern(
                "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T\
                 ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$",
            ),
            "A real instant, UTC, in whole seconds.",
        ),
        _ => return None,
    })
}

pub(super) fn digest() -> Part {
    common("digest")
}

pub(super) fn id() -> Part {
    common("id")
}

pub(super) fn key_id() -> Part {
    common("key_id")
}

pub(super) fn path() -> Part {
    common("path")
}

pub(super) fn seq() -> Part {
    common("seq")
}

pub(super) fn time() -> Part {
    common("time")
}

pub(super) fn any_object() -> Part {
    object([("type", text("object"))])
}

pub(super) fn boolean() -> Part {
    object([("type", text("boolean"))])
}

pub(super) fn string() -> Part {
    object([("type", text("string"))])
}

/// A text of so many bytes, of which a schema can only count the characters.
pub(super) fn text_of(bytes: RangeInclusive<usize>) -> Part {
    described(
        with_length(string(), bytes.clone()),
        &format!("{} to {} bytes of UTF-8.", bytes.start(), bytes.end()),
    )
}

pub(super) fn integer(range: RangeInclusive<i64>) -> Part {
    object([
        ("maximum", Value::Integer(*range.end())),
        ("minimum", Value::Integer(*range.start())),
        ("type", text("integer")),
    ])
}

/// Exactly this string.
pub(super) fn constant(value: &str) -> Part {
    object([("const", text(value))])
}

/// One of these words.
pub(super) fn words<T: Display>(all: &[T]) -> Part {
    object([("enum", list(all, text))])
}

pub(super) fn pattern(pattern: impl Display) -> Part {
    object([("pattern", text(pattern)), ("type", text("string"))])
}

/// Canonical base64 of `bytes` bytes.
pub(super) fn base64(bytes: usize) -> Part {
    // Of the last character only the bits that carry data may be set.
    let (whole, last) = (bytes / 3 * 4, bytes % 3);
    let tail = match last {
        0 => "",
        1 => "[A-Za-z0-9+/][AQgw]==",
        _ => "[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=",
    };
    pattern(format!("^[A-Za-z0-9+/]{{{whole}}}{tail}$"))
}

/// Base64 of 1 to `most` bytes.
pub(super) fn base64_up_to(most: usize) -> Part {
    let tail = "([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)";
    with_length(
        pattern(format!("^([A-Za-z0-9+/]{{4}})*([A-Za-z0-9+/]{{4}}|{tail})$")),
        4..=most.div_ceil(3) * 4,
    )
}

/// An array of so many elements.
pub(super) fn array(element: Part, elements: RangeInclusive<u64>) -> Part {
    let mut array = Object::from([("items", element), ("type", text("array"))]);
    array.insert("maxItems", crate::gad::emit::integer(*elements.end()));
    if *elements.start() > 0 {
        array.insert("minItems", crate::gad::emit::integer(*elements.start()));
    }
    Value::Object(array)
}

/// An array in strictly ascending order, of which a schema can only say that nothing repeats.
pub(super) fn set(element: Part, elements: RangeInclusive<u64>) -> Part {
    described(unique(array(element, elements)), "In strictly ascending order.")
}

pub(super) fn unique(array: Part) -> Part {
    with(array, "uniqueItems", true.into())
}

pub(super) fn nullable(part: Part) -> Part {
    one_of([object([("type", text("null"))]), part])
}

pub(super) fn one_of(parts: impl IntoIterator<Item = Part>) -> Part {
    object([("oneOf", Value::Array(parts.into_iter().collect()))])
}

pub(super) fn titled(part: Part, title: &str) -> Part {
    with(part, "title", text(title))
}

pub(super) fn described(part: Part, description: &str) -> Part {
    with(part, "description", text(description))
}

fn with_length(part: Part, characters: RangeInclusive<usize>) -> Part {
    let number =
        |length: &usize| crate::gad::emit::integer(u64::try_from(*length).unwrap_or(u64::MAX));
    let part = with(part, "maxLength", number(characters.end()));
    if *characters.start() == 0 {
        return part;
    }
    with(part, "minLength", number(characters.start()))
}

pub(super) fn with(part: Part, name: &'static str, value: Part) -> Part {
    match part {
        Value::Object(mut members) => {
            members.insert(name, value);
            Value::Object(members)
        }
        other => other,
    }
}

/// `{body, signature}` over a body that also has `type`, `key_id` and `plan_hash`.
pub(super) fn signed(type_name: &str, body: Closed) -> Part {
    let body =
        body.with("type", constant(type_name)).with("key_id", key_id()).with("plan_hash", digest());
    wrapper(body.part())
}

/// An object with at least these members.
pub(super) fn object_of_any<const N: usize>(members: [(&'static str, Part); N]) -> Part {
    let mut names: Vec<_> = members.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    object([
        ("properties", object(members)),
        ("required", list(&names, text)),
        ("type", text("object")),
    ])
}

/// `{body, signature}` over this body.
pub(super) fn wrapper(body: Part) -> Part {
    Closed::new().with("body", body).with("signature", base64(64)).part()
}

/// `{alg, key_id, public_key}`.
pub(super) fn credential() -> Part {
    Closed::new()
        .with("alg", constant(crate::gad::plan::ALGORITHM))
        .with("key_id", key_id())
        .with("public_key", base64(32))
        .part()
}

/// A fence of a node.
pub(super) fn fence() -> Part {
    let most = crate::gad::limits::Limits::DEFAULT.elements;
    Closed::new()
        .with("allow", unique(array(common("fence_entry"), 0..=most)))
        .with("kind", constant(crate::gad::plan::FENCE_KIND))
        .part()
}
