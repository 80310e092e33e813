//! Envelopes as one file, and back.
//!
//! The archive of an envelope is the one that gad-bytes/1 describes: uncompressed ustar, ascending by path,
//! nothing in it but the members. So equal envelopes make equal archives. An archive is unpacked only as a
//! whole, into a directory that isn't there yet, and only after the verifier's container has found nothing
//! against any of its headers: no links, no paths that lead elsewhere, no member twice, no size over its
//! limit, nothing behind the end.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::tar::{TarWriteError, TarWriter};
use anchorlog_verifier::gad::container::{Bundle, Form};
use anchorlog_verifier::gad::rules::r1_envelope::ENVELOPE;

use super::error::EnvelopeError;
use super::open::unreadable;
use super::staging;
use crate::durable::{self, DurableError, MODE_SHARED, Operation, StagedDirectory};
use crate::file_digest::digest_file;

/// What was packed or unpacked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Packed {
    /// How many files.
    pub members: usize,
    /// Their bytes together.
    pub bytes: u64,
    /// SHA-256 of the archive.
    pub archive: Digest,
}

/// Writes the envelope in a directory as the new archive `file`.
pub fn pack(directory: &Path, file: &Path, limits: &Limits) -> Result<Packed, EnvelopeError> {
    let bundle = open(directory, limits)?;
    if bundle.form() != Form::Directory {
        return Err(EnvelopeError::NoEnvelope { path: directory.to_path_buf() });
    }
    // Not an I/O error, and so not what the closure can say.
    let mut refusal = None;
    let written = durable::write_new_with(file, MODE_SHARED, |out| {
        write(&bundle, directory, file, out).map_err(|error| {
            refusal = Some(error);
            io::Error::other("the archive can't be written")
        })
    });
    match (written, refusal) {
        (Err(_), Some(refusal)) => return Err(refusal),
        (written, _) => written?,
    }
    let archive = digest_file(file, |_| {})
        .map_err(|source| EnvelopeError::Read { path: file.to_path_buf(), source })?;
    Ok(packed(&bundle, archive))
}

fn write(
    bundle: &Bundle,
    directory: &Path,
    file: &Path,
    out: &mut File,
) -> Result<(), EnvelopeError> {
    let failure = |source| EnvelopeError::Pack { path: file.to_path_buf(), source };
    let mut writer = TarWriter::new(BufWriter::new(out));
    for (path, size) in bundle.members() {
        let reader = bundle.reader(path).map_err(|findings| unreadable(directory, findings))?;
        writer.append(path, size, reader).map_err(failure)?;
    }
    writer.finish().map(|_| ()).map_err(failure)
}

/// Writes the members of an archive into the new directory `directory`.
pub fn unpack(file: &Path, directory: &Path, limits: &Limits) -> Result<Packed, EnvelopeError> {
    if directory.symlink_metadata().is_ok() {
        let source = io::Error::new(io::ErrorKind::AlreadyExists, "something is there");
        return Err(DurableError::new(directory, Operation::CreateDirectory, source).into());
    }
    let bundle = open(file, limits)?;
    let Some(archive) = bundle.sha256() else {
        return Err(EnvelopeError::Pack {
            path: file.to_path_buf(),
            source: TarWriteError::Io(io::Error::other("is a directory, not an archive")),
        });
    };
    let mut staged = StagedDirectory::beside(directory)?;
    staging::copy(&bundle, file, |_| true, &mut staged)?;
    staged.publish()?;
    Ok(packed(&bundle, archive))
}

fn open(path: &Path, limits: &Limits) -> Result<Bundle, EnvelopeError> {
    let bundle = Bundle::open(path, limits).map_err(|findings| unreadable(path, findings))?;
    if bundle.contains(ENVELOPE) {
        Ok(bundle)
    } else {
        Err(EnvelopeError::NoEnvelope { path: path.to_path_buf() })
    }
}

fn packed(bundle: &Bundle, archive: Digest) -> Packed {
    let bytes = bundle.members().map(|(_, size)| size).fold(0, u64::saturating_add);
    Packed { members: bundle.members().len(), bytes, archive }
}
