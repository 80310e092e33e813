//! `anchor envelope pack` and `unpack`.

use std::path::PathBuf;

use super::LIMITS;
use crate::cli::report::{Report, count};
use crate::envelope::EnvelopeError;
use crate::envelope::archive::{self, Packed};
use crate::error::ClientError;

/// Pack an envelope into one file: an uncompressed ustar archive.
///
/// Equal envelopes make equal archives. Nothing is replaced.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  anchor envelope pack e1 e1.tar && verifier envelope e1.tar")]
pub(in crate::cli) struct PackArgs {
    /// The envelope's directory.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The new archive.
    #[arg(value_name = "FILE.tar")]
    file: PathBuf,
}

/// Unpack an archive into a new directory.
///
/// Only an archive that the verifier would open is unpacked: regular files with plain paths, each once,
/// within the limits, and nothing behind the end. The directory appears whole or not at all.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  anchor envelope unpack e1.tar e1")]
pub(in crate::cli) struct UnpackArgs {
    /// The archive.
    #[arg(value_name = "FILE.tar")]
    file: PathBuf,
    /// The new directory.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(super) fn pack(args: &PackArgs) -> Report {
    let packed = archive::pack(&args.directory, &args.file, &LIMITS);
    report("envelope pack", packed, &args.file)
}

pub(super) fn unpack(args: &UnpackArgs) -> Report {
    let packed = archive::unpack(&args.file, &args.directory, &LIMITS);
    report("envelope unpack", packed, &args.directory)
}

fn report(
    command: &'static str,
    packed: Result<Packed, EnvelopeError>,
    to: &std::path::Path,
) -> Report {
    let mut report = Report::new(command);
    match packed {
        Ok(packed) => {
            let members = count(packed.members, "file");
            report.line(format!("{}: {members}, {} bytes", to.display(), packed.bytes));
            report.line(format!("archive {}", packed.archive));
            report.member("path", to.display().to_string());
            report.member("members", packed.members);
            report.member("bytes", packed.bytes);
            report.member("archive", packed.archive.to_string());
        }
        Err(error) => report.error(&ClientError::from(error)),
    }
    report
}
