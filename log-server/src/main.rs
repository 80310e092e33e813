//! The program `log-server`. Everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    anchorlog_server::cli::main(std::env::args_os())
}
