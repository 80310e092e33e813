//! Reading inputs: bounded, from a file or standard input, each under the role that reports use.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::codes::input::{LIMIT_BYTES, OPEN, USAGE};
use crate::finding::Finding;

/// The largest receipt, proof or entry that is read, in bytes.
pub(super) const MAX_EVIDENCE_BYTES: u64 = 4 << 20;

/// The largest policy that is read, in bytes.
pub(super) const MAX_POLICY_BYTES: u64 = 1 << 20;

/// The inputs of one command. Remembers the file behind each role, and that standard input is read
/// once.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    files: Vec<(&'static str, String)>,
    stdin_taken: bool,
}

impl Inputs {
    /// Reads the file at `path`, or standard input for `-`, up to `limit` bytes.
    pub(super) fn read(
        &mut self,
        role: &'static str,
        path: &Path,
        limit: u64,
    ) -> Result<Vec<u8>, Finding> {
        self.name(role, &path.display().to_string());
        self.read_bounded(path, limit).map_err(|finding| finding.in_input(role))
    }

    /// Opens the file at `path`, or standard input for `-`, to be read to its end however long it is.
    pub(super) fn open(
        &mut self,
        role: &'static str,
        path: &Path,
    ) -> Result<Box<dyn Read>, Finding> {
        self.name(role, &path.display().to_string());
        if path == Path::new("-") {
            self.take_stdin().map_err(|finding| finding.in_input(role))?;
            return Ok(Box::new(io::stdin()));
        }
        match File::open(path) {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => Err(unreadable(path, &error).in_input(role)),
        }
    }

    /// Notes what an input is called that isn't read from a file.
    pub(super) fn name(&mut self, role: &'static str, name: &str) {
        self.files.push((role, name.to_owned()));
    }

    /// The file name behind each role read so far.
    pub(super) fn into_files(self) -> Vec<(&'static str, String)> {
        self.files
    }

    fn read_bounded(&mut self, path: &Path, limit: u64) -> Result<Vec<u8>, Finding> {
        let mut bytes = Vec::new();
        if path == Path::new("-") {
            self.take_stdin()?;
            io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)
        } else {
            File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        }
        .map_err(|error| unreadable(path, &error))?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
            let detail = format!("{} is larger than {limit} bytes", path.display());
            return Err(Finding::new(LIMIT_BYTES, detail));
        }
        Ok(bytes)
    }

    fn take_stdin(&mut self) -> Result<(), Finding> {
        if core::mem::replace(&mut self.stdin_taken, true) {
            return Err(Finding::new(USAGE, "standard input (-) can be only one of the inputs"));
        }
        Ok(())
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Finding {
    Finding::new(OPEN, format!("{} can't be read: {error}", path.display()))
}
