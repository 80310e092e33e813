//! Hash values as command-line arguments.

use anchorlog_proto::Digest;

use crate::proof::hash_from_text;

/// Reads a hash: `sha256:` and hexadecimal, or the base64 of C2SP formats.
pub(super) fn parse(text: &str) -> Result<Digest, &'static str> {
    hash_from_text(text)
        .ok_or("expected sha256: and 64 lower-case hexadecimal digits, or 44 characters of base64")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_and_no_other() {
        let digest = Digest::of(b"x");
        assert_eq!(parse(&digest.to_string()), Ok(digest));
        assert_eq!(parse(&digest.to_base64()), Ok(digest));
        for wrong in ["", &digest.to_hex(), &digest.to_string().to_uppercase(), "AAAA"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
