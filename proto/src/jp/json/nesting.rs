//! How deep a document nests, found without reading it.
//!
//! The bounds phase comes before the grammar (RFC 0020 section 9), so this looks at brackets alone, and only
//! knows enough of strings not to count those inside them.

use crate::json::scan::plain_prefix;

/// The most containers that are open at once. Of what is no JSON, some number.
pub(super) fn levels(bytes: &[u8]) -> usize {
    let (mut open, mut most) = (0_usize, 0_usize);
    let mut rest = bytes;
    while let Some((byte, after)) = rest.split_first() {
        rest = match byte {
            b'{' | b'[' => {
                open = open.saturating_add(1);
                most = most.max(open);
                after
            }
            b'}' | b']' => {
                open = open.saturating_sub(1);
                after
            }
            b'"' => after_string(after),
            _ => after,
        };
    }
    most
}

/// What follows a string; nothing where it has no end.
fn after_string(mut rest: &[u8]) -> &[u8] {
    loop {
        let plain = plain_prefix(rest);
        rest = match rest.get(plain..) {
            Some([b'"', after @ ..]) => return after,
            // Whatever is escaped, and what must not be in a string and is the grammar's to refuse.
            Some([b'\\', _, after @ ..] | [_, after @ ..]) => after,
            _ => return &[],
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_count_and_strings_do_not() {
        for (text, expected) in [
            ("1", 0),
            ("{}", 1),
            (r#"{"a":[],"b":[[]]}"#, 3),
            (r#"["[[[\"[[",[]]"#, 2),
            ("[[[[", 4),
            ("]]]][", 1),
            (r#"["\"#, 1),
            ("[\"\n[[\",[\"a\u{1}\\\"[[[\"]]", 2),
        ] {
            assert_eq!(levels(text.as_bytes()), expected, "{text}");
        }
    }
}
