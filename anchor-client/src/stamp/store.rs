//! Where verified tokens are kept: in a file, or each in a file of a directory.
//!
//! ```text
//! hello.tsr          the time-stamp response, exactly as received
//! hello.tsr.1.crl    the revocation lists that it was verified with, in the order they were fetched
//! hello.tsr.2.crl
//! ```
//!
//! A name that ends in `.tst` gets the token alone, as openssl and others call it; every other name the whole
//! response. Lists are written before the token: where a token is, its lists are.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::durable::{self, DurableError, MODE_SHARED, Operation};

use super::authority::Authority;
use super::crl::MAX_DISTRIBUTION_POINTS;
use super::report::{Stamp, StampReport};

/// A place for tokens.
#[derive(Clone, Debug)]
pub struct TokenStore {
    place: Place,
    replace: bool,
}

#[derive(Clone, Debug)]
enum Place {
    File(PathBuf),
    Directory(PathBuf),
}

/// Where one stamp is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct KeptStamp {
    /// The file of the token or response.
    pub path: PathBuf,
    /// What is in it.
    pub form: TokenForm,
    /// The files of its revocation lists.
    pub crls: Vec<PathBuf>,
}

/// What of an answer is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the answer or the token in it")]
pub enum TokenForm {
    /// `TimeStampResp`.
    Response,
    /// `TimeStampToken`.
    Token,
}

impl TokenForm {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Token => "token",
        }
    }
}

impl TokenStore {
    /// The place that `--out` names for tokens of `count` authorities: a file for one, unless there is a
    /// directory of that name; a directory for several, where each is named after its operator. Unless
    /// `replace`, what is there stays.
    #[must_use]
    pub fn choose(out: &Path, count: usize, replace: bool) -> Self {
        let place = if count == 1 && !out.is_dir() {
            Place::File(out.to_path_buf())
        } else {
            Place::Directory(out.to_path_buf())
        };
        Self { place, replace }
    }

    /// Fails if something that might be written is there already: before anybody is asked.
    pub fn check_free(&self, authorities: &[Authority]) -> Result<(), DurableError> {
        if let Place::Directory(directory) = &self.place
            && directory.exists()
            && !directory.is_dir()
        {
            let error = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(DurableError::new(directory, Operation::CreateDirectory, error));
        }
        if self.replace {
            return Ok(());
        }
        let paths = self.paths(authorities.iter());
        let lists = |path: &PathBuf| {
            (1..=MAX_DISTRIBUTION_POINTS).map(|number| crl_path(path, number)).collect::<Vec<_>>()
        };
        let all = paths.iter().flat_map(|path| [vec![path.clone()], lists(path)]).flatten();
        for path in all {
            // A dangling link is something, too.
            if path.symlink_metadata().is_ok() {
                let error = io::Error::new(io::ErrorKind::AlreadyExists, "there is such a file");
                return Err(DurableError::new(&path, Operation::Create, error));
            }
        }
        Ok(())
    }

    /// Keeps what holds, durably, and says where: one for each outcome of the report, in its order; `None`
    /// where nothing holds.
    #[must_use = "what couldn't be kept is lost"]
    pub fn keep(&self, report: &StampReport) -> Vec<Option<Result<KeptStamp, DurableError>>> {
        let paths = self.paths(report.outcomes.iter().map(|outcome| &outcome.authority));
        let outcomes = report.outcomes.iter().zip(paths);
        outcomes
            .map(|(outcome, path)| {
                outcome.result.as_ref().ok().map(|stamp| self.keep_one(stamp, path))
            })
            .collect()
    }

    fn keep_one(&self, stamp: &Stamp, path: PathBuf) -> Result<KeptStamp, DurableError> {
        if let Place::Directory(directory) = &self.place {
            durable::create_dir_all(directory)?;
        }
        let crls: Vec<_> = (1..=stamp.crls.len()).map(|number| crl_path(&path, number)).collect();
        for (path, crl) in crls.iter().zip(&stamp.crls) {
            self.write(path, crl.crl.der())?;
        }
        let is_token = path.extension().is_some_and(|name| name.eq_ignore_ascii_case("tst"));
        let (form, bytes) = if is_token {
            (TokenForm::Token, stamp.token.bytes())
        } else {
            (TokenForm::Response, stamp.response.as_slice())
        };
        self.write(&path, bytes)?;
        Ok(KeptStamp { path, form, crls })
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), DurableError> {
        if self.replace {
            durable::write_replace(path, bytes)
        } else {
            durable::write_new(path, bytes, MODE_SHARED)
        }
    }

    /// The file for each authority, no two of them the same.
    fn paths<'a>(&self, authorities: impl Iterator<Item = &'a Authority>) -> Vec<PathBuf> {
        match &self.place {
            Place::File(path) => authorities.map(|_| path.clone()).collect(),
            Place::Directory(directory) => {
                let names = file_names(authorities.map(Authority::operator));
                names.into_iter().map(|name| directory.join(name)).collect()
            }
        }
    }
}

/// A name for the file of each operator. The second one of a name has a number, and one that somebody else
/// is called by is passed over.
fn file_names<'a>(operators: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names = Vec::new();
    let mut taken = BTreeSet::new();
    for name in operators.map(file_name) {
        let numbered = (2_u64..).map(|number| format!("{name}-{number}.tsr"));
        let mut free = core::iter::once(format!("{name}.tsr")).chain(numbered);
        names.extend(free.find(|name| taken.insert(name.clone())));
    }
    names
}

/// An operator's name as the name of a file: nothing that leads out of a directory or hides.
fn file_name(operator: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = operator.chars().take(MAX_NAME).map(safe).collect();
    if name.starts_with('.') || name.is_empty() { format!("_{name}") } else { name }
}

fn crl_path(token: &Path, number: usize) -> PathBuf {
    let mut path = OsString::from(token);
    path.push(format!(".{number}.crl"));
    PathBuf::from(path)
}

const MAX_NAME: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_directory() {
        assert_eq!(file_name("freetsa.org"), "freetsa.org");
        assert_eq!(file_name("../a b"), "_.._a_b");
        assert_eq!(file_name(""), "_");
        assert_eq!(file_name("::1"), "__1");
        assert_eq!(crl_path(Path::new("a/b.tsr"), 2), Path::new("a/b.tsr.2.crl"));
    }

    #[test]
    fn no_two_authorities_have_one_file() {
        for (operators, expected) in [
            (["a", "a", "b"], ["a.tsr", "a-2.tsr", "b.tsr"]),
            (["a", "a", "a-2"], ["a.tsr", "a-2.tsr", "a-2-2.tsr"]),
            (["a-2", "a", "a"], ["a-2.tsr", "a.tsr", "a-3.tsr"]),
            (["::1", "__1", "a"], ["__1.tsr", "__1-2.tsr", "a.tsr"]),
        ] {
            assert_eq!(file_names(operators.into_iter()), expected, "{operators:?}");
        }
    }
}
