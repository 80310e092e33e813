//! `verifier completions` and `verifier man`: from the same definitions as the parser.

use clap::Command;
use clap_complete::Shell;

use super::output::Answer;
use crate::codes::input::{INTERNAL, USAGE};
use crate::finding::Finding;
use crate::report::Report;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  verifier completions bash > /etc/bash_completion.d/verifier")]
pub(super) struct CompletionArgs {
    /// The shell.
    shell: Shell,
}

/// Print a manual page in roff.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  verifier man | man -l -
  verifier man proof inclusion > verifier-proof-inclusion.1")]
pub(super) struct ManArgs {
    /// The subcommand to describe; without it, the program.
    subcommand: Vec<String>,
}

pub(super) fn completions(args: &CompletionArgs, mut program: Command) -> Answer {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut program, "verifier", &mut out);
    Answer::Document(out)
}

pub(super) fn man(args: &ManArgs, mut program: Command) -> Answer {
    // Gives every subcommand its full name, `verifier-proof-inclusion`, and the global options.
    program.build();
    let mut command = program;
    for name in &args.subcommand {
        let Some(found) = command.find_subcommand(name).cloned() else {
            let detail = format!("there is no subcommand {name:?}");
            return Answer::report(Report::not_evaluated("man", vec![Finding::new(USAGE, detail)]));
        };
        command = found;
    }
    let mut out = Vec::new();
    match clap_mangen::Man::new(command).render(&mut out) {
        Ok(()) => Answer::Document(out),
        Err(error) => {
            let finding = Finding::new(INTERNAL, error.to_string());
            Answer::report(Report::not_evaluated("man", vec![finding]))
        }
    }
}
