//! JSON Schemas (draft 2020-12) of every form, made from the same definitions that reading uses.
//!
//! What it is: for each form one self-contained schema, whose enumerations, names and limits are the
//! constants of the readers; `proto/schemas/gad` in the repository has them as files, and a test fails when
//! they differ. What it isn't: a second reader. A schema describes the form of a document that nothing
//! refuses. What a schema can't say, the reader still asks for: canonical bytes, sets in ascending order,
//! lengths in bytes of UTF-8 (a schema counts characters), members that have to agree with each other,
//! and keys that are keys. So every document that is read without a defect fits its schema, and one that
//! fits may still be refused.

mod audit;
mod core;
mod entry;
mod envelope;
mod parts;
mod policy;
mod text;

#[cfg(test)]
mod check;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

use crate::json::Value;

/// One form with its schema.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Schema {
    /// Its file name, without `.json`.
    pub name: &'static str,
    form: fn() -> Value<'static>,
}

impl Schema {
    /// Every form, by name.
    pub const ALL: &'static [Self] = &[
        Self { name: "anchor-file", form: envelope::anchor_file },
        Self { name: "attestation", form: envelope::attestation },
        Self { name: "audit", form: audit::audit },
        Self { name: "claims", form: core::claims },
        Self { name: "core-manifest", form: core::core_manifest },
        Self { name: "envelope-manifest", form: envelope::envelope_manifest },
        Self { name: "known-checkpoints", form: envelope::known_checkpoints },
        Self { name: "operator", form: core::operator },
        Self { name: "plan", form: core::plan },
        Self { name: "signed-object", form: core::signed_object },
        Self { name: "trust-policy", form: policy::policy },
        Self { name: "witness-entry", form: entry::entry },
    ];

    /// The schema.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        parts::document((self.form)())
    }

    /// The schema as the text of its file.
    #[must_use]
    pub fn to_text(&self) -> String {
        text::indented(&self.to_value())
    }
}
