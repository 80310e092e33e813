//! Values of the forms that objects share, for writing.

use crate::json::{Object, ReadLimits, Value, format_utc_seconds, parse};

use super::entry::Signed;

/// A list, each element written by `write`.
pub(super) fn list<'l, T>(
    elements: &'l [T],
    write: impl FnMut(&'l T) -> Value<'static>,
) -> Value<'static> {
    Value::Array(elements.iter().map(write).collect())
}

/// An object.
pub(super) fn object<const N: usize>(
    members: [(&'static str, Value<'static>); N],
) -> Value<'static> {
    Value::Object(Object::from(members))
}

/// What `Display` writes: digests, key ids, words, object identifiers.
#[expect(clippy::needless_pass_by_value, reason = "takes values and references, in maps and calls")]
pub(super) fn text(shown: impl ToString) -> Value<'static> {
    shown.to_string().into()
}

/// `null`, or what `write` writes.
pub(super) fn nullable<T>(
    value: Option<T>,
    write: impl FnOnce(T) -> Value<'static>,
) -> Value<'static> {
    value.map_or(Value::Null, write)
}

/// A time, in seconds since 1970.
pub(super) fn time(seconds: i64) -> Value<'static> {
    format_utc_seconds(seconds).into()
}

/// An integer. One over 2^53-1, which nothing that was read holds, becomes `null`, which no reader takes.
pub(super) fn integer(number: u64) -> Value<'static> {
    Value::try_from(number).unwrap_or(Value::Null)
}

/// A signed object as it was read. What could not be read of it is left out.
pub(super) fn signed(signed: &Signed) -> Value<'static> {
    let limits = ReadLimits::DEFAULT
        .with_bytes(signed.message.len())
        .with_depth(ReadLimits::HARD_DEPTH)
        .with_values(usize::MAX);
    let mut object = Object::new();
    if let Ok(body) = parse(&signed.message, &limits) {
        object.insert("body", body.into_owned());
    }
    if let Some(signature) = signed.signature {
        object.insert("signature", signature.to_base64());
    }
    object.into()
}
