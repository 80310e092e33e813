//! Runs an evaluator on the conformance suite: `gad-conformance DIR COMMAND…`.
//!
//! The command is called once per vector, by the protocol in the suite's `README.md`. Every disagreement is
//! printed; the exit code is 0 when there is none.

use std::path::PathBuf;
use std::process::ExitCode;

use anchorlog_tests::gad::suite::{by_command, load};

#[allow(clippy::print_stderr, clippy::print_stdout, reason = "a command says what it found")]
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().map(PathBuf::from);
    let command: Vec<_> = arguments.filter(|argument| argument != "--command").collect();
    let Some(directory) = directory.filter(|_| !command.is_empty()) else {
        eprintln!("usage: gad-conformance DIR COMMAND…");
        return ExitCode::from(2);
    };
    let runners = directory.join("runners");
    let runners = runners.is_dir().then_some(runners.as_path());
    let vectors = load(&directory);
    let mut wrong = 0_usize;
    for vector in &vectors {
        let complaints = match by_command(vector, &command, runners) {
            Ok(said) => vector.complaints(&said),
            Err(error) => vec![error],
        };
        if !complaints.is_empty() {
            wrong += 1;
            println!("{}: {}", vector.name(), complaints.join("; "));
        }
    }
    println!("{} vectors, {wrong} wrong", vectors.len());
    ExitCode::from(u8::from(wrong > 0))
}
