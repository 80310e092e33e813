//! `anchor completions` and `anchor man`: from the same definitions as the parser.

use clap::Command;
use clap_complete::Shell;

use anchorlog_verifier::report::Verdict;

use super::report::{Answer, Report};
use super::{PROGRAM, USAGE};

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  anchor completions bash > /etc/bash_completion.d/anchor")]
pub(super) struct CompletionArgs {
    /// The shell.
    shell: Shell,
}

/// Print a manual page in roff.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  anchor man | man -l -\n  anchor man outbox flush > anchor-outbox-flush.1"
)]
pub(super) struct ManArgs {
    /// The subcommand to describe; without it, the program.
    subcommand: Vec<String>,
}

pub(super) fn completions(args: &CompletionArgs, mut program: Command) -> Answer {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut program, PROGRAM, &mut out);
    Answer::Document(out)
}

pub(super) fn man(args: &ManArgs, mut program: Command) -> Answer {
    // Gives every subcommand its full name, `anchor-outbox-flush`, and the global options.
    program.build();
    let mut command = program;
    for name in &args.subcommand {
        let Some(found) = command.find_subcommand(name).cloned() else {
            let detail = format!("there is no subcommand {name:?}");
            return Report::failed("man", Verdict::NotEvaluated, USAGE, &detail).into();
        };
        command = found;
    }
    let mut out = Vec::new();
    match clap_mangen::Man::new(command).render(&mut out) {
        Ok(()) => Answer::Document(out),
        Err(error) => {
            let detail = error.to_string();
            Report::failed("man", Verdict::Failed, "CLIENT.INTERNAL", &detail).into()
        }
    }
}
