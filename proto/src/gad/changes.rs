//! For tests: every change of one place of a document, and changes at a pointer.

use crate::json::{MemberNames, Object, ReadLimits, Value, canonical, parse};

use super::form::Defects;

/// A document with one place changed.
pub(super) struct Changed {
    /// What was changed, for messages, and as `removed /a/b` for exceptions.
    pub(super) what: String,
    /// The changed document.
    pub(super) value: Value<'static>,
}

/// Every member removed, every value of another type, and one unknown member in every object, one at a
/// time and at every depth.
pub(super) fn changes(document: &Value<'static>) -> Vec<Changed> {
    let mut changes = Vec::new();
    collect(document, "", &mut |what, value| changes.push(Changed { what, value }));
    changes
}

fn collect(value: &Value<'static>, pointer: &str, found: &mut dyn FnMut(String, Value<'static>)) {
    // No member takes this type but those that take nothing else.
    let other = if value.as_bool().is_some() { Value::Integer(7) } else { Value::Bool(true) };
    found(format!("retyped {pointer}"), other);
    match value {
        Value::Object(object) => {
            let mut more = object.clone();
            more.insert("zz", 1_u32);
            found(format!("added {pointer}/zz"), more.into());
            for (name, member) in object.iter() {
                let mut less = object.clone();
                less.remove(name);
                found(format!("removed {pointer}/{name}"), less.into());
                collect(member, &format!("{pointer}/{name}"), &mut |what, member| {
                    let mut changed = object.clone();
                    changed.insert(name.to_owned(), member);
                    found(what, changed.into());
                });
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                collect(element, &format!("{pointer}/{index}"), &mut |what, element| {
                    let mut changed = elements.clone();
                    if let Some(slot) = changed.get_mut(index) {
                        *slot = element;
                    }
                    found(what, changed.into());
                });
            }
        }
        _ => {}
    }
}

/// Reads a JSON text that has to be one.
pub(super) fn json(text: &str) -> Value<'static> {
    let limits = ReadLimits::DEFAULT.with_names(MemberNames::Any);
    parse(text.as_bytes(), &limits).unwrap().into_owned()
}

/// The document with what stands at `pointer` replaced by a JSON text, or set where an object has no such
/// member.
pub(super) fn with(document: &Value<'static>, pointer: &str, text: &str) -> Value<'static> {
    let Some(path) = pointer.strip_prefix('/') else { return json(text) };
    let (name, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    match document {
        Value::Object(object) => {
            let mut object: Object<'static> = object.clone();
            let member = object.get(name).cloned().unwrap_or(Value::Null);
            object.insert(name.to_owned(), with(&member, rest, text));
            object.into()
        }
        Value::Array(elements) => {
            let mut elements = elements.clone();
            let slot = elements.get_mut(name.parse::<usize>().unwrap()).unwrap();
            *slot = with(slot, rest, text);
            elements.into()
        }
        _ => panic!("{pointer} leads nowhere"),
    }
}

/// Defects as `CODE pointer`.
pub(super) fn shown(defects: &Defects) -> Vec<String> {
    assert_eq!(defects.omitted(), 0);
    let show = |defect: &super::Defect| format!("{} {}", defect.code.as_str(), defect.pointer);
    defects.list().iter().map(show).collect()
}

/// Canonical text.
pub(super) fn text(value: &Value<'_>) -> String {
    String::from_utf8(canonical(value)).unwrap()
}
