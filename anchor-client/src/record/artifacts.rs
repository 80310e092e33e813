//! Artifacts: files that entries name by path or digest. They are durable before the entry that names them,
//! and never change.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::names::is_path;
use anchorlog_proto::gad::payload::ArtifactRef;
use sha2::Digest as _;

use super::room::{NO_BYTES, NO_PLACE, Use};
use super::source::ARTIFACTS;
use super::{RecordError, Recorder};
use crate::durable::{self, MODE_SHARED};

/// An artifact of the record.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the two members always go together")]
pub struct Artifact {
    /// Its path in the core: `artifacts/…`.
    pub path: String,
    /// Its plain SHA-256.
    pub digest: Digest,
}

impl Artifact {
    /// As entries name it.
    #[must_use]
    pub fn reference(&self) -> ArtifactRef<'_> {
        ArtifactRef { path: &self.path, digest: self.digest }
    }
}

impl Recorder {
    /// Keeps bytes as `artifacts/<name>`.
    ///
    /// # Errors
    ///
    /// [`RecordError::ArtifactName`], and [`RecordError::ArtifactDiffers`] when there are other bytes under
    /// this name. The same bytes again are fine.
    pub fn artifact(&mut self, name: &str, bytes: &[u8]) -> Result<Artifact, RecordError> {
        self.artifact_from(name, &mut &*bytes)
    }

    /// As [`Recorder::artifact`], with everything that `body` gives.
    pub fn artifact_from(
        &mut self,
        name: &str,
        body: &mut dyn Read,
    ) -> Result<Artifact, RecordError> {
        let path = artifact_path(name)?;
        self.check_case(&path)?;
        let differs = || RecordError::ArtifactDiffers { path: path.clone() };
        if let Some(digest) = self.artifacts.get(&path).copied() {
            let mut hasher = Hashing::new(body);
            io::copy(&mut hasher, &mut io::sink())
                .map_err(|source| RecordError::Read { path: PathBuf::from(name), source })?;
            return if hasher.finish() == digest {
                Ok(Artifact { path, digest })
            } else {
                Err(differs())
            };
        }
        if !self.room.has_place() {
            return Err(NO_PLACE);
        }
        let file = self.directory().join(&path);
        if let Some(folder) = file.parent() {
            durable::create_dir_all(folder)?;
        }
        let mut hasher = Hashing::new(body).within(self.left(Use::Artifact));
        match durable::write_new_from(&file, &mut hasher, MODE_SHARED) {
            Ok(size) => self.room.count(&path, size),
            Err(error) if error.source.kind() == io::ErrorKind::AlreadyExists => {
                return Err(differs());
            }
            Err(_) if hasher.is_over => return Err(NO_BYTES),
            Err(error) => return Err(error.into()),
        }
        let digest = hasher.finish();
        self.keep(&path, digest);
        Ok(Artifact { path, digest })
    }

    /// The artifact at this path in the core, or under this name below `artifacts/`.
    ///
    /// # Errors
    ///
    /// [`RecordError::NoArtifact`] when there is none.
    pub fn find_artifact(&self, name: &str) -> Result<Artifact, RecordError> {
        let prefixed = format!("{ARTIFACTS}/{name}");
        let found = self.artifacts.get_key_value(name);
        let found = found.or_else(|| self.artifacts.get_key_value(&prefixed));
        let (path, digest) =
            found.ok_or_else(|| RecordError::NoArtifact { path: name.to_owned() })?;
        Ok(Artifact { path: path.clone(), digest: *digest })
    }

    /// Takes a file that was written in place, `artifacts/<name>`, up as an artifact: as far as
    /// [`Recorder::most_output`] goes, and as a file of its own. Whoever still has the other one open, a process that left
    /// its group with its standard output, writes into nothing that is named by an entry.
    pub(super) fn adopt(&mut self, name: &str) -> Result<Artifact, RecordError> {
        let path = artifact_path(name)?;
        let file = self.directory().join(&path);
        let source =
            File::open(&file).map_err(|source| RecordError::Read { path: file.clone(), source })?;
        // What was counted of it when the record was opened is replaced.
        self.room.count(&path, 0);
        let mut source = source.take(self.most_output());
        let mut hasher = Hashing::new(&mut source);
        let size = durable::write_replace_from(&file, &mut hasher, MODE_SHARED)?;
        self.room.count(&path, size);
        let digest = hasher.finish();
        self.keep(&path, digest);
        Ok(Artifact { path, digest })
    }

    /// The most bytes of output that a session may have: what a member can hold, and what the bundle has left.
    pub(super) fn most_output(&self) -> u64 {
        self.left(Use::Output).min(Limits::DEFAULT.member_bytes)
    }

    /// Bundles with two paths that differ in case alone are refused.
    fn check_case(&self, path: &str) -> Result<(), RecordError> {
        if self.artifacts.contains_key(path) || !self.folded.contains(&path.to_ascii_lowercase()) {
            Ok(())
        } else {
            Err(RecordError::ArtifactDiffers { path: path.to_owned() })
        }
    }

    fn keep(&mut self, path: &str, digest: Digest) {
        self.folded.insert(path.to_ascii_lowercase());
        self.artifacts.insert(path.to_owned(), digest);
    }

    pub(super) fn check_artifact(&self, artifact: &ArtifactRef<'_>) -> Result<(), RecordError> {
        if self.artifacts.get(artifact.path) == Some(&artifact.digest) {
            Ok(())
        } else {
            Err(RecordError::NoArtifact { path: artifact.path.to_owned() })
        }
    }
}

/// `artifacts/<name>`, where that is a path and collides with no folder.
pub(super) fn artifact_path(name: &str) -> Result<String, RecordError> {
    let path = format!("{ARTIFACTS}/{name}");
    let hidden = path.split('/').any(|segment| durable::is_temporary_name(segment.as_ref()));
    if is_path(&path) && !hidden {
        Ok(path)
    } else {
        Err(RecordError::ArtifactName { name: name.to_owned() })
    }
}

/// The folders of a record in which files are written.
pub(super) fn folders(directory: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let mut folders = vec![directory.to_owned()];
    let mut pending = vec![directory.join(ARTIFACTS)];
    while let Some(folder) = pending.pop() {
        let failed = |source| RecordError::Read { path: folder.clone(), source };
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(error)),
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                pending.push(entry.path());
            }
        }
        folders.push(folder);
    }
    Ok(folders)
}

/// Hashes what is read through it, and ends with an error beyond the limit of a member.
pub(super) struct Hashing<'r> {
    inner: &'r mut dyn Read,
    hasher: sha2::Sha256,
    left: u64,
    is_over: bool,
}

impl<'r> Hashing<'r> {
    pub(super) fn new(inner: &'r mut dyn Read) -> Self {
        let left = Limits::DEFAULT.member_bytes;
        Self { inner, hasher: sha2::Sha256::new(), left, is_over: false }
    }

    /// With no more bytes than these, either.
    fn within(self, most: u64) -> Self {
        Self { left: self.left.min(most), ..self }
    }

    pub(super) fn finish(self) -> Digest {
        Digest::from_bytes(self.hasher.finalize().into())
    }
}

impl Read for Hashing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..read).unwrap_or_default());
        let left = self.left.checked_sub(u64::try_from(read).unwrap_or(u64::MAX));
        self.is_over |= left.is_none();
        self.left = left.ok_or_else(|| io::Error::other("more bytes than there is room for"))?;
        Ok(read)
    }
}
