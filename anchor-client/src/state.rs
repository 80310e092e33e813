//! Where the client keeps what it must not forget.
//!
//! ```text
//! <state>/
//!   pins/<H(address)>.json          the key a log showed when it was first used
//!   seen/<H(vkey)>/checkpoint       the largest checkpoint seen under that key (a signed note)
//!   seen/<H(vkey)>/LOCK             held while that file is compared and replaced
//!   evidence/<code>-<H(notes)>/     both notes of a contradiction
//!   outbox/<H(address)>/            statements written before they are sent
//!   receipts/<H(address)>/          receipts nobody named a file for
//! ```
//!
//! Losing the directory loses the memory: then a log could show this client another history than before.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::durable::{self, DirectoryLock, DurableError, LockError, Operation};

/// The client's state directory. Nothing is created before something is to be kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StateDir {
    root: PathBuf,
}

impl StateDir {
    /// A directory of the caller's choice.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory of this user: `$ANCHORLOG_STATE`, else `$XDG_STATE_HOME/anchorlog`, else
    /// `$HOME/.local/state/anchorlog`. `None` if none of the three variables is set.
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        Self::choose(|name| env::var_os(name))
    }

    fn choose(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // The XDG base directory specification says to ignore relative paths.
        let xdg = || set("XDG_STATE_HOME").filter(|path| path.is_absolute());
        set("ANCHORLOG_STATE")
            .or_else(|| xdg().map(|path| path.join("anchorlog")))
            .or_else(|| set("HOME").map(|path| path.join(".local/state/anchorlog")))
            .map(Self::at)
    }

    /// The directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below it, not created.
    #[must_use]
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// A directory below it, created for its owner alone.
    pub fn directory(&self, relative: impl AsRef<Path>) -> Result<PathBuf, DurableError> {
        let path = self.root.join(relative);
        durable::create_dir_all_with_mode(&path, 0o700)?;
        Ok(path)
    }
}

/// Reads a whole file of at most `limit` bytes; `None` if it isn't there.
pub(crate) fn read_file(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, DurableError> {
    let fail = |operation, source| DurableError::new(path, operation, source);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(Operation::Open, error)),
    };
    let mut bytes = Vec::new();
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| fail(Operation::Read, error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        let error = io::Error::new(io::ErrorKind::FileTooLarge, "longer than anything kept here");
        return Err(fail(Operation::Read, error));
    }
    Ok(Some(bytes))
}

/// Takes a lock that others hold only for moments, waiting up to `patience` for it.
pub(crate) fn lock_patiently(path: &Path, patience: Duration) -> Result<DirectoryLock, LockError> {
    let give_up = Instant::now() + patience;
    loop {
        match DirectoryLock::acquire(path) {
            Err(LockError::Held { .. }) if Instant::now() < give_up => {
                thread::sleep(Duration::from_millis(5));
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(variables: &[(&str, &str)]) -> Option<PathBuf> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        };
        StateDir::choose(variable).map(|state| state.root().to_path_buf())
    }

    #[test]
    fn the_most_specific_variable_wins() {
        let all = [("ANCHORLOG_STATE", "here"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(chosen(&all), Some("here".into()));
        assert_eq!(chosen(&all[1..]), Some("/x/anchorlog".into()));
        assert_eq!(chosen(&all[2..]), Some("/h/.local/state/anchorlog".into()));
        assert_eq!(chosen(&[]), None);
        assert_eq!(
            chosen(&[("ANCHORLOG_STATE", ""), ("XDG_STATE_HOME", "relative"), ("HOME", "/h")]),
            Some("/h/.local/state/anchorlog".into())
        );
    }

    #[test]
    fn files_are_read_up_to_a_limit() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        assert_eq!(read_file(&path, 10).unwrap(), None);
        durable::write_replace(&path, b"0123456789").unwrap();
        assert_eq!(read_file(&path, 10).unwrap().unwrap(), b"0123456789");
        let error = read_file(&path, 9).unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::FileTooLarge);
        assert!(read_file(root.path(), 10).is_err());
    }

    #[test]
    fn a_lock_held_for_a_moment_is_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("LOCK");
        let held = DirectoryLock::acquire(&path).unwrap();
        assert!(lock_patiently(&path, Duration::from_millis(20)).is_err());
        let waiter = thread::spawn({
            let path = path.clone();
            move || lock_patiently(&path, Duration::from_secs(10)).is_ok()
        });
        thread::sleep(Duration::from_millis(30));
        drop(held);
        assert!(waiter.join().unwrap());
    }

    #[test]
    fn directories_are_private() {
        use std::os::unix::fs::MetadataExt;
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::at(root.path().join("state"));
        let pins = state.directory("pins").unwrap();
        assert_eq!(pins, state.path("pins"));
        for directory in [state.root(), pins.as_path()] {
            assert_eq!(directory.metadata().unwrap().mode() & 0o777, 0o700);
        }
    }
}
