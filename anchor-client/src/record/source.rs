//! The immutable sources of a record: where they lie, and reading them.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anchorlog_proto::gad::claims::Claims;
use anchorlog_proto::gad::operator::Operator;
use anchorlog_proto::gad::plan::Plan;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{self, ReadLimits, Value, canonical};

use super::RecordError;

/// The frozen plan.
pub const PLAN: &str = "plan.json";
/// The operator record.
pub const OPERATOR: &str = "operator.json";
/// The witness.
pub const WITNESS: &str = "witness.jsonl";
/// Typed claims, where there are any.
pub const CLAIMS: &str = "claims.json";
/// The folder of artifacts.
pub const ARTIFACTS: &str = "artifacts";
/// Held by whoever records.
pub const LOCK: &str = "LOCK";

/// A JSON document of one closed form.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "what reading gives")]
pub struct Document<T> {
    /// What it says.
    pub content: T,
    /// The whole of it, extensions included.
    pub value: Value<'static>,
    /// Its canonical bytes.
    pub canonical: Vec<u8>,
    /// Whether it was stored in them.
    pub was_canonical: bool,
}

impl<T> Document<T> {
    /// Reads bytes that stand at `path`; anything wrong with the form is an error, apart from spelling.
    pub fn read(
        bytes: &[u8],
        path: &Path,
        read: impl FnOnce(&Value<'_>, &Limits, &mut Defects) -> Option<T>,
    ) -> Result<Self, RecordError> {
        let refused =
            |defects: Vec<String>| RecordError::Document { path: path.to_owned(), defects };
        let limits = ReadLimits::DEFAULT
            .with_bytes(bytes.len())
            .with_depth(usize::try_from(Limits::DEFAULT.depth).unwrap_or(usize::MAX))
            .with_values(MAX_VALUES);
        let document =
            json::read(bytes, &limits).map_err(|error| refused(vec![error.to_string()]))?;
        let mut defects = Defects::new();
        let content = read(&document.value, &Limits::DEFAULT, &mut defects);
        let found = defects.list().iter().map(|defect| {
            let place = if defect.pointer.is_empty() { "(whole)" } else { &defect.pointer };
            format!("{} at {place}", defect.code.as_str())
        });
        let found: Vec<String> = found.collect();
        match content {
            Some(content) if found.is_empty() => Ok(Self {
                content,
                canonical: canonical(&document.value),
                was_canonical: document.noncanonical_at.is_none(),
                value: document.value.into_owned(),
            }),
            _ => Err(refused(found)),
        }
    }

    /// Reads a file.
    pub fn open(
        path: &Path,
        read: impl FnOnce(&Value<'_>, &Limits, &mut Defects) -> Option<T>,
    ) -> Result<Self, RecordError> {
        Self::read(&read_file(path, Limits::DEFAULT.member_bytes)?, path, read)
    }
}

impl Document<Operator> {
    /// Reads an operator record.
    pub fn operator(path: &Path) -> Result<Self, RecordError> {
        Self::open(path, |value, _, defects| Operator::read(value, defects))
    }
}

impl Document<Claims> {
    /// Reads typed claims.
    pub fn claims(path: &Path) -> Result<Self, RecordError> {
        Self::open(path, Claims::read)
    }
}

impl Document<Plan> {
    /// Reads a plan, and checks that it is well formed.
    pub fn plan(path: &Path) -> Result<Self, RecordError> {
        Self::open(path, Plan::read)
    }
}

/// The most values one document may hold: what a plan at its limits needs.
const MAX_VALUES: usize = 20_000_000;

/// Reads a file of at most `limit` bytes.
pub(super) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, RecordError> {
    let failed = |source| RecordError::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    let mut bytes = Vec::new();
    file.by_ref().take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(RecordError::Limit { what: "bytes of one file", limit });
    }
    Ok(bytes)
}

/// Every regular file below `root`, as paths relative to it with `/` between their segments, ascending. What
/// isn't a regular file or a directory, or has a name that isn't UTF-8, is left out.
pub(super) fn files_below(root: &Path) -> Result<Vec<String>, RecordError> {
    let mut files = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(folder) = pending.pop() {
        let at = root.join(&folder);
        let failed = |source| RecordError::Read { path: at.clone(), source };
        let entries = match fs::read_dir(&at) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(error)),
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let path = folder.join(entry.file_name());
            if kind.is_dir() {
                pending.push(path);
            } else if kind.is_file()
                && let Some(path) = path.to_str()
            {
                files.push(path.to_owned());
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}
