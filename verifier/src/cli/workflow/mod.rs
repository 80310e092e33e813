//! `verifier workflow`: bundles of Judgment Pack workflows (RFC 0020), and accounting for contributors (RFC 0028).
//!
//! The exit codes of `check` and `read` are RFC 0020's, not those of the other commands: 0 a reading, 1 a refusal,
//! 2 a finding, 3 could not run, without a report. `check` adds 4: incomplete without a finding. RFC 0028 names
//! none, so those of `attribution` and `drift` are the other commands'.

mod accounting;
mod args;
mod attribution;
mod check;
mod commitment;
mod drift;
mod read;

use super::output::{Answer, Evaluation};
use crate::workflow::CouldNotRun;

/// Work with workflow bundles of Judgment Pack (RFC 0020 and RFC 0028, drafts).
///
/// The exit codes of check and read are the RFC's: 0 a reading, 1 refusal, 2 finding, 3 could not run; check
/// adds 4, incomplete without a finding. Those of the others are as everywhere: 0 holds, 1 does not hold, 2 could
/// not be evaluated, 3 internal error. No conformance is claimed.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    Check(check::Args),
    Read(read::Args),
    Commitment(commitment::Args),
    Attribution(attribution::Args),
    Drift(drift::Args),
}

pub(super) fn run(command: &Command) -> Answer {
    match command {
        Command::Check(args) => check::run(args),
        Command::Read(args) => read::run(args),
        Command::Commitment(args) => commitment::run(args),
        Command::Attribution(args) => attribution::run(args),
        Command::Drift(args) => drift::run(args),
    }
}

/// No report on standard output, the reason on standard error, exit code 3.
fn could_not_run(error: &CouldNotRun) -> Answer {
    Answer::Failed { message: error.to_string(), code: COULD_NOT_RUN }
}

const COULD_NOT_RUN: u8 = 3;

fn report(json: Vec<u8>, text: String, code: u8) -> Answer {
    Answer::Evaluation(Box::new(Evaluation { json, text: Box::new(move |_| text), code }))
}
