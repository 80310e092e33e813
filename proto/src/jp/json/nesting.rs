//! How deep a document nests, found without reading it.
//!
//! The bounds phase comes before the grammar (RFC 0020 section 9), so this looks at brackets alone, and only
//! knows enough of strings not to count those inside them.

/// The most containers that are open at once. Of what is no JSON, some number.
pub(super) fn levels(bytes: &[u8]) -> usize {
    let (mut open, mut most) = (0_usize, 0_usize);
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'{' | b'[' => {
                open = open.saturating_add(1);
                most = most.max(open);
            }
            b'}' | b']' => open = open.saturating_sub(1),
            b'"' => {
                while let Some(byte) = rest.next() {
                    match byte {
                        b'\\' => {
                            let _escaped = rest.next();
                        }
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    most
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
        ] {
            assert_eq!(levels(text.as_bytes()), expected, "{text}");
        }
    }
}
