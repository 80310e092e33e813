//! Where the artifacts of a bundle lie.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::layout::MAX_FILES;

/// The verifier could not run: a file that exists can't be read, or an argument is wrong. No report.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
#[non_exhaustive]
pub struct CouldNotRun(pub String);

/// A file of a bundle.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a name and a size")]
pub struct Listed {
    /// Its path below the bundle, with `/`.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
}

/// A bundle's files.
pub trait Files {
    /// Every file; one more than [`MAX_FILES`] is enough when there are more.
    fn list(&self) -> Result<Vec<Listed>, CouldNotRun>;

    /// A file's bytes. More than `most` is an error: it has grown since it was listed.
    fn read(&self, path: &str, most: usize) -> Result<Vec<u8>, CouldNotRun>;
}

/// A directory. No link is followed.
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The bundle at this path.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

impl Files for Directory {
    fn list(&self) -> Result<Vec<Listed>, CouldNotRun> {
        let mut found = Vec::new();
        let mut pending = vec![PathBuf::new()];
        let mut directories = 0_usize;
        while let Some(folder) = pending.pop() {
            let at = self.root.join(&folder);
            for entry in fs::read_dir(&at).map_err(|error| failed(&at, &error))? {
                let entry = entry.map_err(|error| failed(&at, &error))?;
                let path = folder.join(entry.file_name());
                let metadata = entry.metadata().map_err(|error| failed(&path, &error))?;
                if metadata.is_dir() {
                    directories += 1;
                    pending.push(path);
                } else if !metadata.is_file() {
                    return Err(failed(&path, &io::Error::other("not a regular file")));
                } else {
                    let Some(path) = path.to_str() else {
                        return Err(failed(&path, &io::Error::other("a name that is not UTF-8")));
                    };
                    found.push(Listed { path: path.to_owned(), size: metadata.len() });
                }
                if directories > MAX_FILES {
                    // A listing of some of the files would be judged as if it were one of all of them.
                    let error = io::Error::other("more directories than a bundle has files");
                    return Err(failed(&self.root, &error));
                }
                if found.len() > MAX_FILES {
                    return Ok(found);
                }
            }
        }
        found.sort_unstable_by(|one, two| one.path.cmp(&two.path));
        Ok(found)
    }

    fn read(&self, path: &str, most: usize) -> Result<Vec<u8>, CouldNotRun> {
        let at = self.root.join(path);
        let bytes = open(&at)
            .and_then(|file| {
                let mut bytes = Vec::new();
                let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
                file.take(limit).read_to_end(&mut bytes)?;
                Ok(bytes)
            })
            .map_err(|error| failed(&at, &error))?;
        if bytes.len() > most {
            return Err(failed(&at, &io::Error::other("it has grown while it was read")));
        }
        Ok(bytes)
    }
}

/// Files in memory, by path.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "it is the map")]
pub struct Memory(pub BTreeMap<String, Vec<u8>>);

impl Files for Memory {
    fn list(&self) -> Result<Vec<Listed>, CouldNotRun> {
        let listed = |(path, bytes): (&String, &Vec<u8>)| Listed {
            path: path.clone(),
            size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        };
        Ok(self.0.iter().map(listed).collect())
    }

    fn read(&self, path: &str, _: usize) -> Result<Vec<u8>, CouldNotRun> {
        self.0.get(path).cloned().ok_or_else(|| CouldNotRun(format!("there is no {path}")))
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK; // nor is a pipe waited for
    #[allow(clippy::disallowed_methods, reason = "opened for reading only")]
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn failed(path: &Path, error: &io::Error) -> CouldNotRun {
    CouldNotRun(format!("{} can't be read: {error}", path.display()))
}
