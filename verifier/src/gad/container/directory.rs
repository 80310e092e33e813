//! A directory: walked without following links, before any file in it is opened.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anchorlog_proto::gad::Limits;
use rustix::fs::OFlags;

use crate::codes::gad::container::NOT_REGULAR;

use super::super::finding::{Findings, Where};
use super::paths::{Found, admit, show};
use super::{At, Bundle, CORE, Form, Source, one, open_failure, over_count, refusal, sound};

/// Which file it is: device and inode.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// The regular file at `path`, which is no link, and its size.
pub(super) fn look_up(path: &Path) -> io::Result<(FileId, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_file() {
        Ok((FileId::of(&metadata), metadata.len()))
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

/// Lists the directory at `root`.
pub(super) fn open(root: &Path, limits: &Limits) -> Result<Bundle, Findings> {
    let mut findings = Findings::new();
    let mut found = walk(root, limits, &mut findings).map_err(one)?;
    let holds = |path: &[u8]| found.iter().any(|found| found.path == path);
    let is_core = holds(b"manifest.json") && !holds(b"core/manifest.json");
    let (form, prefix) = if is_core { (Form::Core, CORE) } else { (Form::Directory, "") };
    for found in &mut found {
        found.path.splice(..0, prefix.bytes());
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let members = admit(found, limits, &mut findings);
    let source = Source::Directory { root: root.to_owned(), prefix };
    sound(findings, Bundle { form, sha256: None, members, source })
}

/// Every regular file below `root`; everything else that isn't a directory is found.
///
/// `Err` when there is more than the limit of members: the only finding then, because which of the
/// others had been found depends on the order in which a file system tells names. There may be as many
/// directories as members.
fn walk(
    root: &Path,
    limits: &Limits,
    findings: &mut Findings,
) -> Result<Vec<Found>, super::GadFinding> {
    let mut found = Vec::new();
    let mut refused = Vec::new();
    let mut pending = vec![PathBuf::new()];
    let (mut files, mut directories) = (0_u64, 0_u64);
    while let Some(folder) = pending.pop() {
        let place = |path: &Path| match path.as_os_str().as_bytes() {
            b"" => Where::nowhere(),
            path => Where::member(show(path)),
        };
        let entries = match fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            Err(error) => {
                refused.push(open_failure(place(&folder), &error));
                continue;
            }
        };
        for entry in entries {
            let listed = entry.and_then(|entry| Ok((entry.file_name(), entry.metadata()?)));
            let (name, metadata) = match listed {
                Ok(listed) => listed,
                Err(error) => {
                    refused.push(open_failure(place(&folder), &error));
                    continue;
                }
            };
            let path = folder.join(name);
            let count = if metadata.is_dir() { &mut directories } else { &mut files };
            *count += 1;
            if *count > limits.members {
                return Err(over_count(limits.members));
            }
            let file_type = metadata.file_type();
            if file_type.is_dir() {
                pending.push(path);
            } else if !file_type.is_file() || metadata.nlink() > 1 {
                refused.push(refusal(NOT_REGULAR, place(&path)).actual(kind(file_type)));
            } else {
                found.push(Found {
                    path: path.into_os_string().as_bytes().to_vec(),
                    size: metadata.len(),
                    at: At::File(FileId::of(&metadata)),
                });
            }
        }
    }
    // In an order of their own, not in that of the file system.
    refused.sort_unstable();
    for finding in refused {
        findings.push(finding);
    }
    Ok(found)
}

/// Opens the file that was listed, or fails: a link in its place isn't followed, and another file isn't
/// taken for it.
pub(super) fn open_listed(path: &Path, id: FileId, size: u64) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK; // nor is a pipe waited for
    #[allow(clippy::disallowed_methods, reason = "opened for reading only")]
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || FileId::of(&metadata) != id {
        return Err(io::Error::other("it is not the file that was listed"));
    }
    if metadata.len() != size {
        return Err(io::Error::other("it has another size than it was listed with"));
    }
    Ok(file)
}

fn kind(file_type: FileType) -> &'static str {
    if file_type.is_symlink() {
        "a symbolic link"
    } else if file_type.is_fifo() {
        "a FIFO"
    } else if file_type.is_socket() {
        "a socket"
    } else if file_type.is_file() {
        "a hard link"
    } else {
        "a device"
    }
}
