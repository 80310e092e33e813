//! The bundle: a directory or an archive, opened, listed and read with every limit held.
//!
//! What it is: step 1 of EVALUATE. [`Bundle::open`] lists every member and checks, before a byte of any
//! of them is used, that all are regular files with acceptable paths and sizes; every `IN.*` finding is
//! collected, and any of them ends the evaluation. Members are then read where they lie: an archive is
//! never unpacked, and no link is followed. What it isn't: a look at what is in the members.
//!
//! A member is read to exactly the size it was listed with. A file that became shorter or longer, or
//! another file, between listing and reading is IN.OPEN, never silently taken. Whoever can write into
//! a bundle while it is judged decides what is judged; the digests say what that was.
//!
//! A hard link is no regular member (IN.NOT_REGULAR): in an archive it is a type of its own, and in a
//! directory it is a file with more than one name, since which of the names came first can't be told.
//! A bundle made with `cp -l`, or lying in a store that shares equal files, has to be copied or packed.

mod archive;
mod directory;
mod member;
mod paths;
#[cfg(test)]
pub(in crate::gad) mod tests;

use core::fmt;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;

use crate::codes::Code;
use crate::codes::gad::Affect;
use crate::codes::gad::container::NOT_REGULAR;
use crate::codes::input::{LIMIT_BYTES, LIMIT_COUNT, OPEN};

use super::finding::{Findings, GadFinding, Where};

pub use member::MemberReader;

/// The folder of the core.
pub const CORE: &str = "core/";

/// A finding with an `IN.*` code: it ends the evaluation, whatever else the code is used for.
#[must_use]
pub fn refusal(code: Code, place: Where) -> GadFinding {
    GadFinding::new(code, place).affecting(&Affect::EVERYTHING)
}

/// In which form a bundle was given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "gad.report/1 names exactly these")]
pub enum Form {
    /// A directory that holds an envelope.
    Directory,
    /// An archive of one.
    Tar,
    /// The directory of a core alone: nothing about an envelope is judged.
    Core,
}

impl Form {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Tar => "tar",
            Self::Core => "core",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A bundle whose container holds no fault.
#[derive(Debug)]
pub struct Bundle {
    form: Form,
    sha256: Option<Digest>,
    members: BTreeMap<Box<str>, Member>,
    source: Source,
}

/// Size and place of one member.
#[derive(Debug)]
struct Member {
    size: u64,
    at: At,
}

#[derive(Debug)]
enum At {
    /// A file below the directory, which has to be this one.
    File(directory::FileId),
    /// From this offset of the archive.
    Offset(u64),
    Memory(Vec<u8>),
}

#[derive(Debug)]
enum Source {
    /// The folder that paths are relative to once the prefix is taken off.
    Directory {
        root: PathBuf,
        prefix: &'static str,
    },
    Archive(File),
    Memory,
}

impl Bundle {
    /// Opens the directory or the archive at `path`, which may itself be named by a link.
    ///
    /// A directory with a `manifest.json` and no `core/manifest.json` is a core alone; its members are
    /// called as in a bundle, `core/…`.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, Findings> {
        let metadata = fs::metadata(path).map_err(|error| unreadable(Where::nowhere(), &error))?;
        if metadata.is_dir() {
            directory::open(path, limits)
        } else if metadata.is_file() {
            archive::open(path, limits)
        } else {
            let finding = refusal(NOT_REGULAR, Where::nowhere())
                .expected("a directory or an archive")
                .actual("neither");
            Err(one(finding))
        }
    }

    /// In which form what is at `path` would be opened; of what can't be opened, what it looks like.
    #[must_use]
    pub fn form_at(path: &Path) -> Form {
        if path.is_file() {
            Form::Tar
        } else if path.join("manifest.json").is_file() && !path.join("core/manifest.json").is_file()
        {
            Form::Core
        } else {
            Form::Directory
        }
    }

    /// The archive in `bytes`.
    pub fn from_tar(bytes: &[u8], limits: &Limits) -> Result<Self, Findings> {
        archive::from_bytes(bytes, limits)
    }

    /// The bundle of these members, as if it had been opened in this form. Of [`Form::Core`], paths are
    /// relative to the core.
    pub fn in_memory(
        members: impl IntoIterator<Item = (String, Vec<u8>)>,
        form: Form,
        limits: &Limits,
    ) -> Result<Self, Findings> {
        let prefix = if form == Form::Core { CORE } else { "" };
        let listed = members
            .into_iter()
            .map(|(path, bytes)| paths::Found {
                path: format!("{prefix}{path}").into_bytes(),
                size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
                at: At::Memory(bytes),
            })
            .collect();
        let mut findings = Findings::new();
        let members = paths::admit(listed, limits, &mut findings);
        sound(findings, Self { form, sha256: None, members, source: Source::Memory })
    }

    /// The core alone whose members are `files` below `root` and those in memory, as if all lay in one
    /// directory; whatever else lies there is not looked at. Paths are relative to the core.
    pub fn core_of(
        root: &Path,
        files: impl IntoIterator<Item = String>,
        memory: impl IntoIterator<Item = (String, Vec<u8>)>,
        limits: &Limits,
    ) -> Result<Self, Findings> {
        let mut findings = Findings::new();
        let mut listed = Vec::new();
        for path in files {
            match directory::look_up(&root.join(&path)) {
                Ok((id, size)) => listed.push(paths::Found {
                    path: format!("{CORE}{path}").into_bytes(),
                    size,
                    at: At::File(id),
                }),
                Err(error) => {
                    findings.push(open_failure(Where::member(format!("{CORE}{path}")), &error));
                }
            }
        }
        listed.extend(memory.into_iter().map(|(path, bytes)| paths::Found {
            path: format!("{CORE}{path}").into_bytes(),
            size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            at: At::Memory(bytes),
        }));
        let members = paths::admit(listed, limits, &mut findings);
        let source = Source::Directory { root: root.to_owned(), prefix: CORE };
        sound(findings, Self { form: Form::Core, sha256: None, members, source })
    }

    /// In which form it was given.
    #[must_use]
    pub const fn form(&self) -> Form {
        self.form
    }

    /// SHA-256 of the archive; `None` for directories.
    #[must_use]
    pub const fn sha256(&self) -> Option<Digest> {
        self.sha256
    }

    /// Every member with its size, ascending by path.
    #[must_use]
    pub fn members(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.members.iter().map(|(path, member)| (&**path, member.size))
    }

    /// Whether there is such a member.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        self.members.contains_key(path)
    }

    /// The size of a member.
    #[must_use]
    pub fn size(&self, path: &str) -> Option<u64> {
        self.members.get(path).map(|member| member.size)
    }

    /// The bytes of a member as a stream of exactly the listed size. A member that isn't there is
    /// IN.OPEN, and so is one that isn't the listed file any more.
    ///
    /// What reading then fails with, [`read_failure`] makes a finding of.
    pub fn reader(&self, path: &str) -> Result<MemberReader<'_>, Findings> {
        self.open_member(path).map_err(|error| one(read_failure(path, &error)))
    }

    /// All bytes of a member: for documents, whose size only the member limit bounds.
    pub fn read_whole(&self, path: &str) -> Result<Vec<u8>, Findings> {
        let read = || {
            let mut reader = self.open_member(path)?;
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|error: io::Error| one(read_failure(path, &error)))
    }

    fn open_member(&self, path: &str) -> io::Result<MemberReader<'_>> {
        let member = self.members.get(path).ok_or(io::ErrorKind::NotFound)?;
        match (&self.source, &member.at) {
            (Source::Directory { root, prefix }, At::File(id)) => {
                let name = path.strip_prefix(prefix).unwrap_or(path);
                let file = directory::open_listed(&root.join(name), *id, member.size)?;
                Ok(MemberReader::file(file, member.size))
            }
            (Source::Archive(archive), At::Offset(offset)) => {
                Ok(MemberReader::archive(archive, *offset, member.size))
            }
            (_, At::Memory(bytes)) => Ok(MemberReader::memory(bytes)),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// The finding for a member that couldn't be read to its end.
#[must_use]
pub fn read_failure(path: &str, error: &io::Error) -> GadFinding {
    open_failure(Where::member(path), error)
}

fn open_failure(place: Where, error: &io::Error) -> GadFinding {
    let actual = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ended before the size it was listed with".to_owned(),
        // Of this kind are our own errors; their words are the same on every machine.
        io::ErrorKind::Other => error.to_string(),
        kind => kind.to_string(),
    };
    refusal(OPEN, place).actual(actual)
}

fn unreadable(place: Where, error: &io::Error) -> Findings {
    one(open_failure(place, error))
}

fn over_bytes(place: Where, limit: u64, actual: u64) -> GadFinding {
    refusal(LIMIT_BYTES, place).expected(format_args!("at most {limit}")).actual(actual)
}

fn over_count(limit: u64) -> GadFinding {
    let more = format_args!("more than {limit}").to_string();
    refusal(LIMIT_COUNT, Where::nowhere()).expected(format_args!("at most {limit}")).actual(more)
}

fn one(finding: GadFinding) -> Findings {
    let mut findings = Findings::new();
    findings.push(finding);
    findings
}

/// The bundle, when nothing was found.
fn sound(findings: Findings, bundle: Bundle) -> Result<Bundle, Findings> {
    if findings.is_empty() { Ok(bundle) } else { Err(findings) }
}
