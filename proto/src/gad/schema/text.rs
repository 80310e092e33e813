//! JSON for people: the same values, one member a line.

use crate::json::{Value, canonical};

/// Longest array that stays on one line, in bytes.
const LINE: usize = 80;

/// The value with two spaces of indentation per level and a final LF.
pub(super) fn indented(value: &Value<'_>) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out.push('\n');
    out
}

fn write(value: &Value<'_>, level: usize, out: &mut String) {
    let short = plain(value);
    match value {
        Value::Object(object) if !object.is_empty() => {
            out.push('{');
            for (position, (name, member)) in object.iter().enumerate() {
                next(position, level, out);
                out.push_str(&plain(&Value::from(name)));
                out.push_str(": ");
                write(member, level + 1, out);
            }
            end('}', level, out);
        }
        Value::Array(elements) if short.len() > LINE || elements.iter().any(is_container) => {
            out.push('[');
            for (position, element) in elements.iter().enumerate() {
                next(position, level, out);
                write(element, level + 1, out);
            }
            end(']', level, out);
        }
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(plain).collect();
            out.push('[');
            out.push_str(&elements.join(", "));
            out.push(']');
        }
        _ => out.push_str(&short),
    }
}

fn next(position: usize, level: usize, out: &mut String) {
    out.push_str(if position == 0 { "\n" } else { ",\n" });
    out.push_str(&"  ".repeat(level + 1));
}

fn end(bracket: char, level: usize, out: &mut String) {
    out.push('\n');
    out.push_str(&"  ".repeat(level));
    out.push(bracket);
}

fn is_container(value: &Value<'_>) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_))
}

fn plain(value: &Value<'_>) -> String {
    String::from_utf8_lossy(&canonical(value)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{ReadLimits, parse};

    #[test]
    fn the_layout_changes_nothing() {
        let text = r#"{"a":[],"b":{},"c":[1,"x",null],"d":[{"e":true}],"f":{"g":["é\n"]}}"#;
        let value = parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        let laid_out = indented(&value);
        assert_eq!(parse(laid_out.as_bytes(), &ReadLimits::DEFAULT).unwrap(), value);
        assert!(
            laid_out.contains("  \"c\": [1, \"x\", null],\n  \"d\": [\n    {\n      \"e\": true\n")
        );
    }
}
