//! An archive: one pass lists and checks it, and members are read where they lie.

use std::fs::OpenOptions;
use std::io::{self, BufReader, Cursor, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::tar::{TarError, TarReader};
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::codes::Code;
use crate::codes::gad::container::NOT_REGULAR;
use crate::codes::input::OPEN;

use super::super::finding::{Findings, GadFinding, Where};
use super::paths::{Found, admit, show};
use super::{At, Bundle, Form, Source, one, open_failure, refusal, sound, unreadable};

/// How much of an archive is read at a time.
const CHUNK: usize = 1 << 18;

/// Opens the archive at `path`.
pub(super) fn open(path: &Path, limits: &Limits) -> Result<Bundle, Findings> {
    let failed = |error: io::Error| unreadable(Where::nowhere(), &error);
    #[allow(clippy::disallowed_methods, reason = "opened for reading only")]
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed()) // never wait for the other end of a pipe
        .open(path)
        .map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(one(refusal(NOT_REGULAR, Where::nowhere())));
    }
    let (listed, findings, sha256) = list(&mut file, limits, |_, offset| Ok(At::Offset(offset)));
    bundle(listed, findings, sha256, Source::Archive(file), limits)
}

/// Takes the members out of the archive in `bytes`.
pub(super) fn from_bytes(bytes: &[u8], limits: &Limits) -> Result<Bundle, Findings> {
    let take = |reader: &mut dyn Read, _| {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        Ok(At::Memory(bytes))
    };
    let (listed, findings, sha256) = list(&mut Cursor::new(bytes), limits, take);
    bundle(listed, findings, sha256, Source::Memory, limits)
}

fn bundle(
    listed: Vec<Found>,
    mut findings: Findings,
    sha256: Digest,
    source: Source,
    limits: &Limits,
) -> Result<Bundle, Findings> {
    let members = admit(listed, limits, &mut findings);
    sound(findings, Bundle { form: Form::Tar, sha256: Some(sha256), members, source })
}

/// Reads the whole archive once: its sound members, what is wrong with it, and its digest.
fn list(
    archive: &mut impl Read,
    limits: &Limits,
    take: impl Fn(&mut dyn Read, u64) -> io::Result<At>,
) -> (Vec<Found>, Findings, Digest) {
    let hashing = Hashing { inner: archive, hasher: Sha256::new() };
    let mut reader = TarReader::new(BufReader::with_capacity(CHUNK, hashing), limits);
    let mut findings = Findings::new();
    let mut listed = Vec::new();
    while let Some(member) = reader.next_member(&mut |error| findings.push(finding(&error))) {
        match take(&mut reader, member.offset) {
            Ok(at) => {
                listed.push(Found { path: Vec::from(&*member.path), size: member.size, at });
            }
            // That the archive ends there, its reader says itself.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(error) => findings.push(open_failure(Where::nowhere(), &error)),
        }
    }
    let sha256 = reader.into_inner().into_inner().hasher.finalize();
    (listed, findings, Digest::from_bytes(sha256.into()))
}

fn finding(error: &TarError) -> GadFinding {
    let place = error.path().map_or_else(Where::nowhere, |path| Where::member(show(path)));
    // Every code of the format is listed; `IN.OPEN` stands for one that isn't.
    let finding = refusal(Code::lookup(error.code()).unwrap_or(OPEN), place);
    match error {
        TarError::Path { path, .. } => finding.actual(show(path)),
        TarError::MemberBytes { size, limit, .. } | TarError::TotalBytes { size, limit } => {
            finding.expected(format_args!("at most {limit}")).actual(size)
        }
        TarError::Members { limit } => {
            finding.expected(format_args!("at most {limit}")).actual(error)
        }
        _ => finding.actual(error),
    }
}

/// Hashes what passes through it.
struct Hashing<'r, R> {
    inner: &'r mut R,
    hasher: Sha256,
}

impl<R: Read> Read for Hashing<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}
