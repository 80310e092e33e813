//! Commitments to a plan, made before its first dispatch.
//!
//! The commitment is an anchor over h(P). Its file's SHA-256 is the `precommit_digest` that the first
//! dispatch can carry, which binds the two however the clocks stand.

use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::gad::policy::Policy;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{self, ReadLimits, Value, canonical};

use super::anchor::CheckedAnchor;
use super::error::EnvelopeError;
use crate::durable::{self, DurableError};

/// h(P) of a plan without any defect. What isn't one would be frozen for nothing.
pub fn read_plan(path: &Path, bytes: &[u8], limits: &Limits) -> Result<Digest, EnvelopeError> {
    read(bytes, |value, defects| {
        Plan::read(value, limits, defects)?;
        Some(plan_hash(&canonical(value)))
    })
    .map_err(|(code, pointer)| EnvelopeError::Plan {
        path: path.to_path_buf(),
        code,
        pointer,
    })
}

/// A trust policy without any defect.
pub fn read_policy(path: &Path, bytes: &[u8]) -> Result<Policy, EnvelopeError> {
    read(bytes, Policy::read).map_err(|(code, pointer)| EnvelopeError::Policy {
        path: path.to_path_buf(),
        code,
        pointer,
    })
}

/// Writes the files of commitments into a directory, each under its own name; their paths.
pub fn keep(directory: &Path, anchors: &[CheckedAnchor]) -> Result<Vec<PathBuf>, DurableError> {
    durable::create_dir_all(directory)?;
    let mut paths = Vec::with_capacity(anchors.len());
    for anchor in anchors {
        let path = anchor.path();
        let name = path.rsplit('/').next().unwrap_or(&path);
        let path = directory.join(name);
        // Named after its content: what is there under this name is this.
        durable::write_replace(&path, anchor.bytes())?;
        paths.push(path);
    }
    Ok(paths)
}

/// A document without defects, or the first of them.
fn read<T>(
    bytes: &[u8],
    read: impl FnOnce(&Value<'_>, &mut Defects) -> Option<T>,
) -> Result<T, (&'static str, String)> {
    let limits = ReadLimits::DEFAULT.with_bytes(MAX_DOCUMENT_BYTES).with_values(MAX_VALUES);
    let value = json::parse(bytes, &limits).map_err(|error| (error.code(), error.pointer))?;
    let mut defects = Defects::new();
    let content = read(&value, &mut defects);
    match (content, defects.list().first()) {
        (Some(content), None) => Ok(content),
        (_, Some(defect)) => Err((defect.code.as_str(), defect.pointer.clone())),
        (None, None) => Err(("J.TYPE", String::new())),
    }
}

/// The longest plan or policy that is read, in bytes: that of a member.
pub const MAX_DOCUMENT_BYTES: usize = 256 << 20;

const MAX_VALUES: usize = 20_000_000;
