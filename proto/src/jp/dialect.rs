//! Which dialect a stage pins (RFC 0020 section 3): the reference alone, never the dialect.

use super::fault::{Faults, Rule};
use super::json::{Fields, Value};
use crate::Digest;

/// The format that a reference selects.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these two closed forms")]
pub enum DialectFormat {
    /// `{version, digest}`: integer version 2 or 3.
    Integer(u8),
    /// `{formatVersion, id, version, digest}`.
    Named {
        /// `2.0.0` or `3.0.0`.
        format: NamedFormat,
        /// The artifact's id. Its form (dialect section 2.1) is not public; a string.
        id: String,
        /// The artifact's version. Its form is not public either; a string, no format selector.
        version: String,
    },
}

/// A named format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "a reader reads the versions it lists")]
pub enum NamedFormat {
    /// `2.0.0`
    V2,
    /// `3.0.0`
    V3,
}

impl NamedFormat {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2 => "2.0.0",
            Self::V3 => "3.0.0",
        }
    }
}

/// A stage's reference to its published dialect.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct DialectReference {
    /// The format.
    pub format: DialectFormat,
    /// Digest of the whole published document.
    pub digest: Digest,
}

impl DialectReference {
    /// Reads a reference. A `formatVersion` selects the named form, else an integer `version` the integer one;
    /// a value of either that isn't read is an unread version.
    pub(super) fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let format = if let Some(selector) = fields.optional("formatVersion") {
            let format = match selector.as_str() {
                Some("2.0.0") => NamedFormat::V2,
                Some("3.0.0") => NamedFormat::V3,
                Some(_) => {
                    fields.note(Rule::Version, "formatVersion", "is a format that is not read");
                    return None;
                }
                None => return fields.wrong("formatVersion", "is no string"),
            };
            let id = fields.text("id", MAX_NAME_BYTES);
            let version = fields.text("version", MAX_NAME_BYTES);
            DialectFormat::Named { format, id: id?.to_owned(), version: version?.to_owned() }
        } else {
            match fields.required("version")?.as_integer() {
                Some(2) => DialectFormat::Integer(2),
                Some(3) => DialectFormat::Integer(3),
                Some(_) => {
                    fields.note(Rule::Version, "version", "is a version that is not read");
                    return None;
                }
                None => {
                    return fields.wrong("version", "is no integer, and there is no formatVersion");
                }
            }
        };
        let digest = fields.digest("digest");
        fields.finish()?;
        Some(Self { format, digest: digest? })
    }

    /// Whether a published document is the one that is referred to: of a named one, its `formatVersion`, `id`
    /// and `version`; of an integer one, its `version`. The digest is not asked about here.
    pub fn identify(&self, document: &Value<'_>, faults: &mut Faults) {
        let is =
            |name, expected: &str| document.get(name).and_then(Value::as_str) == Some(expected);
        let fits = match &self.format {
            DialectFormat::Integer(version) => {
                document.get("formatVersion").is_none()
                    && document.get("version").and_then(Value::as_integer)
                        == Some(i64::from(*version))
            }
            DialectFormat::Named { format, id, version } => {
                is("formatVersion", format.as_str()) && is("id", id) && is("version", version)
            }
        };
        if !fits {
            faults.note(Rule::Identity, "the document has another identity than the reference");
        }
    }
}

/// The most bytes of a named dialect's id and version; ours, as theirs are not public.
const MAX_NAME_BYTES: usize = 2048;
