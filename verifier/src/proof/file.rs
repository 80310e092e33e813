//! Proofs as the log's JSON answers give them.

use anchorlog_proto::Digest;
use anchorlog_proto::json::{Fields, JsonCode, JsonError, ReadLimits, Value, parse};
use anchorlog_proto::merkle::{MAX_PROOF_HASHES, TreeSize};

/// `{"index","size","hashes"}`: the answer of `GET /v1/proof/inclusion`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InclusionFile {
    /// Index of the leaf.
    pub index: u64,
    /// Size of the tree.
    pub size: TreeSize,
    /// The leaf's sibling first, the root's child last.
    pub hashes: Vec<Digest>,
}

impl InclusionFile {
    /// Reads the closed object. Hashes are in either form of [`hash_from_text`].
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonError> {
        let value = parse(bytes, &ReadLimits::DEFAULT)?;
        let mut fields = Fields::new(&value, "")?;
        let file = Self {
            index: fields.unsigned("index")?,
            size: size(&mut fields, "size")?,
            hashes: hashes(&mut fields)?,
        };
        fields.finish()?;
        Ok(file)
    }
}

/// `{"from","to","hashes"}`: the answer of `GET /v1/proof/consistency`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ConsistencyFile {
    /// Size of the older tree.
    pub from: TreeSize,
    /// Size of the newer tree.
    pub to: TreeSize,
    /// The hashes in the order of RFC 6962 section 2.1.2.
    pub hashes: Vec<Digest>,
}

impl ConsistencyFile {
    /// Reads the closed object. Hashes are in either form of [`hash_from_text`].
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonError> {
        let value = parse(bytes, &ReadLimits::DEFAULT)?;
        let mut fields = Fields::new(&value, "")?;
        let file = Self {
            from: size(&mut fields, "from")?,
            to: size(&mut fields, "to")?,
            hashes: hashes(&mut fields)?,
        };
        fields.finish()?;
        Ok(file)
    }
}

/// Reads a hash as our formats write it (`sha256:` and hexadecimal) or as C2SP's do (base64).
#[must_use]
pub fn hash_from_text(text: &str) -> Option<Digest> {
    text.parse().or_else(|_| Digest::from_base64(text)).ok()
}

fn size(fields: &mut Fields<'_>, name: &str) -> Result<TreeSize, JsonError> {
    let size = fields.unsigned(name)?;
    TreeSize::new(size).map_err(|_| fields.error(JsonCode::Enum, name))
}

fn hashes(fields: &mut Fields<'_>) -> Result<Vec<Digest>, JsonError> {
    let elements = fields.array("hashes")?;
    // One over the limit is let through: then the finding is LOG.PROOF_LENGTH, which says more.
    if elements.len() > MAX_PROOF_HASHES + 1 {
        return Err(fields.error(JsonCode::Enum, "hashes"));
    }
    let read = |(position, element): (usize, &Value<'_>)| {
        let pointer = || fields.pointer_to_element("hashes", position);
        let text = element.as_str().ok_or_else(|| JsonError::at(JsonCode::Type, pointer()))?;
        hash_from_text(text).ok_or_else(|| JsonError::at(JsonCode::DigestForm, pointer()))
    };
    elements.iter().enumerate().map(read).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_forms_are_closed_and_strict() {
        let digest = Digest::of(b"x");
        let base64 = digest.to_base64();
        let text = format!(r#"{{"hashes":["{digest}","{base64}"],"index":1,"size":2}}"#);
        let file = InclusionFile::parse(text.as_bytes()).unwrap();
        assert_eq!((file.index, file.size.get(), file.hashes), (1, 2, vec![digest, digest]));
        let file =
            ConsistencyFile::parse(br#"{"from":0,"to":9007199254740991,"hashes":[]}"#).unwrap();
        assert_eq!((file.from.get(), file.to.get()), (0, (1 << 53) - 1));

        let many = format!(r#"{{"from":1,"to":2,"hashes":[{}]}}"#, vec!["\"\""; 65].join(","));
        for (text, code, pointer) in [
            (r#"{"from":1,"to":2}"#, "J.MISSING_FIELD", "/hashes"),
            (r#"{"from":1,"to":2,"hashes":[],"x":0}"#, "J.UNKNOWN_FIELD", "/x"),
            (r#"{"from":-1,"to":2,"hashes":[]}"#, "J.ENUM", "/from"),
            (r#"{"from":"1","to":2,"hashes":[]}"#, "J.TYPE", "/from"),
            (r#"{"from":1,"to":2,"hashes":[1]}"#, "J.TYPE", "/hashes/0"),
            (r#"{"from":1,"to":2,"hashes":["AAAA"]}"#, "J.DIGEST_FORM", "/hashes/0"),
            (&many, "J.ENUM", "/hashes"),
            ("[]", "J.TYPE", ""),
        ] {
            let error = ConsistencyFile::parse(text.as_bytes()).unwrap_err();
            assert_eq!((error.code(), error.pointer.as_str()), (code, pointer), "{text}");
        }
    }
}
