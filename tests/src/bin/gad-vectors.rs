//! Writes the conformance suite of EVALUATE: `gad-vectors DIR`.

use std::path::PathBuf;
use std::process::ExitCode;

use anchorlog_tests::gad::{vectors, write};

#[allow(clippy::print_stderr, clippy::print_stdout, reason = "a command says what it did")]
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: gad-vectors DIR");
        return ExitCode::from(2);
    };
    let vectors = vectors();
    match write::write(&PathBuf::from(directory), &write::files(&vectors)) {
        Ok(()) => {
            println!("{} vectors", vectors.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("gad-vectors: {error}");
            ExitCode::from(2)
        }
    }
}
