//! What is in a workspace, and what changed in it: the engine's own look, before and after a session.
//!
//! Listed are files (by their bytes), symbolic links (by where they point, never followed) and other things
//! that aren't directories (by nothing but being there). A directory is what its files make it, so an empty
//! one is no change. The listing's digest is H(dom(workspace-baseline), canon(list)).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::names::is_path;
use anchorlog_proto::gad::plan::Fence;
use anchorlog_proto::json::{Object, Value, canonical};
use anchorlog_proto::signed_object::Domain;

use super::RecordError;
use crate::file_digest::digest_file;

/// What lies in a workspace at one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Baseline {
    /// By path, or by label where the name has no path form.
    items: BTreeMap<String, Item>,
}

/// One thing in a workspace.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Item {
    kind: &'static str,
    /// Permission bits.
    mode: u32,
    digest: Option<Digest>,
}

/// The schema name of a delta.
pub const DELTA_SCHEMA: &str = "anchorlog.workspace-delta/1";

/// What changed between two looks.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "what comparing gives")]
pub struct WorkspaceDelta {
    /// Paths and labels that were added, changed or removed, ascending.
    pub touched: Vec<String>,
    /// The artifact that says how: canonical JSON.
    pub bytes: Vec<u8>,
}

impl Baseline {
    /// Looks at everything below `root` that `ignored` doesn't admit.
    pub fn take(root: &Path, ignored: &Fence) -> Result<Self, RecordError> {
        let mut items = BTreeMap::new();
        let mut pending = vec![PathBuf::new()];
        while let Some(folder) = pending.pop() {
            let at = root.join(&folder);
            let failed = |source| RecordError::Read { path: at.clone(), source };
            for entry in fs::read_dir(&at).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let path = folder.join(entry.file_name());
                let label = label(path.as_os_str());
                if ignored.admits(&label) || ignored.lists(&format!("{label}/")) {
                    continue;
                }
                // What is gone again by now was not there.
                let Ok(metadata) = entry.metadata() else { continue };
                let (kind, digest) = if metadata.is_dir() {
                    pending.push(path);
                    continue;
                } else if metadata.is_file() {
                    match digest_file(&entry.path(), |_| ()) {
                        Ok(digest) => ("file", Some(digest)),
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        Err(source) => {
                            return Err(RecordError::Read { path: entry.path(), source });
                        }
                    }
                } else if metadata.is_symlink() {
                    let target = fs::read_link(entry.path())
                        .map_err(|source| RecordError::Read { path: entry.path(), source })?;
                    ("symlink", Some(Digest::of(target.as_os_str().as_bytes())))
                } else {
                    ("other", None)
                };
                items.insert(label, Item { kind, mode: metadata.mode() & 0o7777, digest });
            }
        }
        Ok(Self { items })
    }

    /// workspace_baseline_digest.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let rows = self.items.iter().map(|(path, item)| {
            let mut row = item.to_object();
            row.insert("path", path.as_str());
            Value::Object(row)
        });
        Domain::WorkspaceBaseline.hash(&[&canonical(&Value::Array(rows.collect()))])
    }

    /// What is different in `after`.
    #[must_use]
    pub fn compare(&self, after: &Self) -> WorkspaceDelta {
        let paths: std::collections::BTreeSet<&String> =
            self.items.keys().chain(after.items.keys()).collect();
        let differing: Vec<&String> = paths
            .into_iter()
            .filter(|path| self.items.get(*path) != after.items.get(*path))
            .collect();
        let side = |item: Option<&Item>| item.map_or(Value::Null, |item| item.to_object().into());
        let changes = differing.iter().map(|path| {
            Value::Object(Object::from([
                ("after", side(after.items.get(*path))),
                ("before", side(self.items.get(*path))),
                ("path", Value::from(path.as_str())),
            ]))
        });
        let value = Value::Object(Object::from([
            ("after_digest", after.digest().to_string().into()),
            ("before_digest", self.digest().to_string().into()),
            ("changes", Value::Array(changes.collect())),
            ("schema", DELTA_SCHEMA.into()),
        ]));
        WorkspaceDelta {
            bytes: canonical(&value),
            touched: differing.into_iter().cloned().collect(),
        }
    }
}

impl Item {
    fn to_object(&self) -> Object<'static> {
        Object::from([
            ("digest", self.digest.map_or(Value::Null, |digest| digest.to_string().into())),
            ("kind", self.kind.into()),
            ("mode", self.mode.into()),
        ])
    }
}

/// The longest text after `ext:`.
const MAX_LABEL: usize = 200;

/// The path as it stands in a touched surface: itself where it has path form; else `ext:` and its bytes,
/// those that a path can't have as `%XX`; and where that is too long, `ext:sha256:` and its digest.
fn label(path: &OsStr) -> String {
    if let Some(path) = path.to_str().filter(|path| is_path(path)) {
        return path.to_owned();
    }
    let mut label = String::from("ext:");
    for byte in path.as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/') {
            label.push(char::from(*byte));
        } else {
            // A String takes everything.
            let _ = write!(label, "%{byte:02X}");
        }
    }
    if label.len() > MAX_LABEL {
        label = format!("ext:{}", Digest::of(path.as_bytes()));
    }
    label
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_added_changed_and_removed_is_touched() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("src")).unwrap();
        fs::create_dir(at(".git")).unwrap();
        for name in ["src/same", "src/changed", "removed", ".git/index"] {
            fs::write(at(name), name).unwrap();
        }
        symlink("src", at("link")).unwrap();
        let ignored = Fence::new(vec![".git/".into()]).unwrap();
        let before = Baseline::take(directory.path(), &ignored).unwrap();
        assert_eq!(before, Baseline::take(directory.path(), &ignored).unwrap());
        assert!(before.compare(&before).touched.is_empty());

        fs::write(at("src/changed"), "x").unwrap();
        fs::write(at(".git/index"), "x").unwrap();
        fs::remove_file(at("removed")).unwrap();
        fs::write(at("a b"), "x").unwrap();
        fs::create_dir(at("empty")).unwrap();
        fs::remove_file(at("link")).unwrap();
        symlink("src/same", at("link")).unwrap();
        let after = Baseline::take(directory.path(), &ignored).unwrap();
        let delta = before.compare(&after);
        assert_eq!(delta.touched, ["ext:a%20b", "link", "removed", "src/changed"]);
        assert_ne!(before.digest(), after.digest());
        let text = String::from_utf8(delta.bytes).unwrap();
        assert!(text.contains(r#"{"after":null,"before":{"digest":"sha256:"#), "{text}");
    }

    #[test]
    fn the_digest_is_that_of_the_definition() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a"), "abc").unwrap();
        let baseline = Baseline::take(directory.path(), &Fence::default()).unwrap();
        let mode = baseline.items["a"].mode;
        let list = format!(
            r#"[{{"digest":"{}","kind":"file","mode":{mode},"path":"a"}}]"#,
            Digest::of(b"abc")
        );
        assert_eq!(baseline.digest(), Domain::WorkspaceBaseline.hash(&[list.as_bytes()]));
    }

    #[test]
    fn names_without_path_form_get_labels() {
        assert_eq!(label(OsStr::new("src/main.rs")), "src/main.rs");
        assert_eq!(label(OsStr::from_bytes(b"\xff%")), "ext:%FF%25");
        let long = "ü".repeat(100);
        assert!(label(OsStr::new(&long)).starts_with("ext:sha256:"));
    }
}
