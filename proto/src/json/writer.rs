//! The one canonical writer: `jcs-int/1`, RFC 8785 restricted to integers.

use std::io::Write as _;

use super::scan::plain_prefix;
use super::value::{Object, Value};

/// The canonical bytes of a value: no whitespace, names in code-point order, shortest escapes.
#[must_use]
pub fn canonical(value: &Value<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write_canonical(value, &mut out);
    out
}

/// Appends the canonical bytes of a value to `out`.
///
/// Recursion follows the value's nesting, which the reader bounds; code that builds values itself
/// keeps them as flat as its format.
pub fn write_canonical(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Integer(number) => {
            // Writing into a Vec can't fail.
            let _infallible = write!(out, "{number}");
        }
        Value::String(text) => write_string(text, out),
        Value::Array(elements) => {
            out.push(b'[');
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write_canonical(element, out);
            }
            out.push(b']');
        }
        Value::Object(object) => write_object(object, out),
    }
}

/// The canonical bytes of an object, without wrapping it into a value first.
pub(super) fn write_object(object: &Object<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (position, (name, member)) in object.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        write_canonical(member, out);
    }
    out.push(b'}');
}

/// RFC 8785 section 3.2.2.2: the two-character escapes where they exist, `\u00xx` in lower case for
/// the other control characters, everything else as it is.
fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, tail) = rest.split_at(plain_prefix(rest));
        out.extend_from_slice(plain);
        let Some((special, after)) = tail.split_first() else { break };
        match special {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x09 => out.extend_from_slice(b"\\t"),
            0x0a => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            0x0d => out.extend_from_slice(b"\\r"),
            control => {
                let _infallible = write!(out, "\\u{control:04x}");
            }
        }
        rest = after;
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::super::value::MAX_INTEGER;
    use super::*;

    fn text(value: impl Into<Value<'static>>) -> String {
        String::from_utf8_lossy(&canonical(&value.into())).into_owned()
    }

    #[test]
    fn escapes_are_those_of_rfc_8785() {
        assert_eq!(text("\u{8}\t\n\u{c}\r\"\\/"), r#""\b\t\n\f\r\"\\/""#);
        assert_eq!(text("\0\u{b}\u{1f}"), r#""\u0000\u000b\u001f""#);
        assert_eq!(text("\u{7f}\u{80}é€😂</script>"), "\"\u{7f}\u{80}é€😂</script>\"");
    }

    #[test]
    fn numbers_and_structures() {
        assert_eq!(text(Value::Integer(-MAX_INTEGER)), "-9007199254740991");
        assert_eq!(text(0_u32), "0");
        let object = Object::from([
            ("10", Value::from(vec![Value::Null, true.into(), false.into()])),
            ("1", Object::new().into()),
            ("", Value::from(Vec::new())),
        ]);
        assert_eq!(text(object), r#"{"":[],"1":{},"10":[null,true,false]}"#);
    }

    #[test]
    fn names_sort_by_code_point_not_by_utf16_unit() {
        // U+FB33 is one UTF-16 unit above the surrogates of U+1F602, but a smaller code point.
        let object = Object::from([("\u{1f602}", 1_u32), ("\u{fb33}", 2)]);
        assert_eq!(text(object), "{\"\u{fb33}\":2,\"\u{1f602}\":1}");
    }
}
