//! `anchor`: talks to transparency logs. All of it is in the library; this hands it the arguments.

use std::process::ExitCode;

fn main() -> ExitCode {
    anchorlog_client::cli::main(std::env::args_os())
}
