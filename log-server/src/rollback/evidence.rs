//! Keeping both notes: what the log holds, and what it was shown.

use std::path::PathBuf;

use anchorlog_client::durable::{self, DurableError};
use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::json::{Object, Value};

use super::{Known, Ours};

/// Where contradictions are kept, below the data directory. Nothing there is ever removed.
pub const FOLDER: &str = "rollback-evidence";

/// Keeps both notes in a directory named after them, so that the same contradiction found at every start is
/// kept once. Durable on return.
pub(super) fn keep(ours: &Ours<'_>, known: &Known, code: &str) -> Result<PathBuf, DurableError> {
    let shown = known.checkpoint.signed().to_bytes();
    let held = ours.checkpoint.map(SignedCheckpoint::to_bytes).unwrap_or_default();
    let name = Digest::of_parts(&[&held, &shown]).to_hex();
    let name =
        format!("{}-{}", code.to_lowercase().replace('.', "-"), name.get(..16).unwrap_or_default());
    let directory = ours.directory.join(FOLDER).join(name);
    durable::create_dir_all(&directory)?;
    if !held.is_empty() {
        durable::write_replace(&directory.join("ours.note"), &held)?;
    }
    durable::write_replace(&directory.join("shown.note"), &shown)?;
    let size = |size: u64| Value::try_from(size).unwrap_or(Value::Null);
    let report = Object::from([
        ("code", Value::from(code.to_owned())),
        ("ours", size(ours.size.get())),
        ("shown", size(known.checkpoint.checkpoint().size.get())),
        ("source", Value::from(known.source.clone())),
        ("vkey", Value::from(known.checkpoint.log_key().to_string())),
    ]);
    let mut report = report.to_canonical();
    report.push(b'\n');
    // Last: a directory with a report is complete.
    durable::write_replace(&directory.join("report.json"), &report)?;
    Ok(directory)
}
