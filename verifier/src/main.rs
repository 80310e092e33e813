//! `verifier`: judges evidence of transparency logs, offline. All of it is in the library; this
//! hands it the arguments.

use std::process::ExitCode;

fn main() -> ExitCode {
    anchorlog_verifier::cli::main(std::env::args_os())
}
