//! `anchor checkpoints`: the checkpoint lines of audit trails, and who holds them.

mod fetch;
mod held;
mod submit;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anchorlog_proto::jp::witness::{AuditCheckpoint, LinesError, read_lines};
use anchorlog_verifier::report::Verdict;

use super::report::Report;
use crate::address::LogUrl;

/// What can be done about checkpoint lines.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    Submit(submit::Args),
    Fetch(fetch::Args),
    Held(held::Args),
}

pub(super) async fn run(command: Command) -> Report {
    match command {
        Command::Submit(args) => submit::run(args).await,
        Command::Fetch(args) => fetch::run(args).await,
        Command::Held(args) => held::run(args).await,
    }
}

/// Why there are no lines.
#[derive(Debug, thiserror::Error)]
enum InputError {
    #[error("{place}: {source}")]
    Lines { place: String, source: LinesError },
    #[error("{place}: can't be read: {source}")]
    Read { place: String, source: io::Error },
    #[error("{place}: more than {MAX_BYTES} bytes; split the lines over several runs")]
    TooLarge { place: String },
}

impl InputError {
    fn report(&self, report: &mut Report) {
        report.fail(Verdict::NotEvaluated, "CLIENT.INPUT", &self.to_string());
    }
}

/// Reads checkpoint lines exactly as they were printed, from a file, or from standard input for `-`.
fn lines(path: &Path) -> Result<Vec<AuditCheckpoint>, InputError> {
    let stdin = path == Path::new("-");
    let place = || if stdin { "standard input".to_owned() } else { path.display().to_string() };
    let failed = |source| InputError::Read { place: place(), source };
    let input: Box<dyn Read> = if stdin {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    let mut bytes = Vec::new();
    input.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_BYTES) {
        return Err(InputError::TooLarge { place: place() });
    }
    read_lines(&bytes, usize::MAX).map_err(|source| InputError::Lines { place: place(), source })
}

/// An address from the command line, or the report that it is missing.
fn required(address: Option<&LogUrl>, report: &mut Report) -> Option<LogUrl> {
    if address.is_none() {
        let detail = "give --log URL, or --witness URL";
        report.fail(Verdict::NotEvaluated, super::USAGE, detail);
    }
    address.cloned()
}

/// Bytes of lines that are read at once: as many as a held file has.
const MAX_BYTES: u64 = 16 << 20;
