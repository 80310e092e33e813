//! Values that several payloads share, and members whose defects a rule names.

use crate::digest::Digest;
use crate::json::{JsonCode, Value};

use super::super::form::{Cell, Reader};
use super::super::names::{is_id, is_path};
use super::{ArtifactRef, MAX_EXIT_CODE, Malformed, NodeOrNull};

/// The prefix of a touched surface's label for something outside the workspace.
const OUTSIDE: &str = "ext:";

/// Whether `text` is an entry of a touched surface: a path, or `ext:` and 1 to 200 bytes.
pub(super) fn is_surface(text: &str) -> bool {
    match text.strip_prefix(OUTSIDE) {
        Some(label) => (1..=200).contains(&label.len()),
        None => is_path(text),
    }
}

impl<'v> Reader<'v, '_> {
    /// A set of at most `most` sequence numbers.
    pub(super) fn refs(&mut self, name: &'static str, most: usize) -> Option<Vec<u64>> {
        self.required(name, |cell| cell.set(most, |cell| cell.seq()))
    }

    /// A set of at most `most` sequence numbers that isn't empty.
    pub(super) fn some_refs(&mut self, name: &'static str, most: usize) -> Option<Vec<u64>> {
        let refs = self.refs(name, most)?;
        self.not_empty(name, refs)
    }

    /// A list that isn't empty.
    pub(super) fn not_empty<T>(&mut self, name: &str, list: Vec<T>) -> Option<Vec<T>> {
        if list.is_empty() {
            self.defect(JsonCode::Enum, name);
            return None;
        }
        Some(list)
    }

    /// A member that a rule refuses when it is absent, but the form when it is malformed.
    pub(super) fn absent_or<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Cell<'v, '_>) -> Option<T>,
    ) -> Option<T> {
        self.optional(name, read).flatten()
    }

    /// A string that a rule refuses, whatever is wrong with it.
    pub(super) fn unjudged<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&'v str) -> Option<T>,
    ) -> Option<T> {
        self.raw(name)?.as_str().and_then(read)
    }

    /// An array of strings that a rule refuses, whatever is wrong with it but its length.
    pub(super) fn unjudged_list<T>(
        &mut self,
        name: &str,
        most: usize,
        read: impl FnMut(&'v Value<'v>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let elements = self.raw(name)?.as_array()?;
        if elements.len() > most {
            self.defect(JsonCode::LimitCount, name);
            return None;
        }
        elements.iter().map(read).collect()
    }

    /// `node` of an exit or a result.
    pub(super) fn node_or_null(&mut self) -> NodeOrNull<'v> {
        match self.raw("node") {
            Some(Value::Null) => NodeOrNull::Null,
            Some(Value::String(text)) if is_id(text) => NodeOrNull::Node(text),
            _ => NodeOrNull::Malformed,
        }
    }

    /// The exit code of a process, or null.
    #[allow(clippy::option_option, reason = "refused, null or a value, as everywhere in reading")]
    pub(super) fn exit_code(&mut self) -> Option<Option<i32>> {
        let code = self.required("exit_code", |cell| {
            cell.nullable(|cell| cell.integer(-MAX_EXIT_CODE..=MAX_EXIT_CODE))
        })?;
        // In the range of i32 by the range above.
        Some(code.and_then(|code| i32::try_from(code).ok()))
    }

    /// A pair of `*_ref` and `*_digest`, both null or neither ([`JsonCode::Enum`], at the digest).
    #[allow(clippy::option_option, reason = "refused, null or a value, as everywhere in reading")]
    pub(super) fn artifact_or_null(
        &mut self,
        reference: &'static str,
        digest: &'static str,
    ) -> Option<Option<ArtifactRef<'v>>> {
        let path = self.required(reference, |cell| cell.nullable(|cell| cell.path()));
        let value = self.required(digest, |cell| cell.nullable(|cell| cell.digest()));
        match (path?, value?) {
            (Some(path), Some(digest)) => Some(Some(ArtifactRef { path, digest })),
            (None, None) => Some(None),
            _ => {
                self.defect(JsonCode::Enum, digest);
                None
            }
        }
    }

    /// The same pair where one rule refuses everything that is wrong with it.
    pub(super) fn unjudged_artifact(
        &mut self,
        reference: &str,
        digest: &str,
    ) -> Result<Option<ArtifactRef<'v>>, Malformed> {
        match (self.raw(reference), self.raw(digest)) {
            (Some(Value::Null), Some(Value::Null)) => Ok(None),
            (Some(Value::String(path)), Some(Value::String(digest))) if is_path(path) => {
                let digest: Digest = digest.parse().map_err(|_| Malformed)?;
                Ok(Some(ArtifactRef { path, digest }))
            }
            _ => Err(Malformed),
        }
    }
}
