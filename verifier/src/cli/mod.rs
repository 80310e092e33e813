//! The command line: arguments in, one report out.
//!
//! Nothing is decided here. Each subcommand reads its inputs, calls the library, and hands back an
//! answer; this module prints it and turns the verdict into the exit code: 0 the asked thing holds,
//! 1 it was evaluated and does not hold, 2 it could not be evaluated, 3 the verifier itself failed.

mod authorities;
mod digests;
mod envelope;
mod explain;
mod input;
mod output;
mod policy;
mod proof;
mod receipt;
mod shell;
mod token;
mod trust;
mod witness;
mod workflow;

use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::codes::input::{INTERNAL, USAGE};
use crate::finding::Finding;
use crate::report::Report;

use output::{Answer, Form, Printed};

/// Runs the program with these arguments, the first being its name, and prints the answer.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Known before parsing, because a command line that can't be parsed gets a report too.
    let form =
        if arguments.iter().any(|argument| argument == "--json") { Form::Json } else { Form::Text };
    let printed = panic::catch_unwind(|| run(arguments, form)).unwrap_or_else(|_| {
        let finding = Finding::new(INTERNAL, "a panic; its message is on standard error");
        Answer::report(Report::not_evaluated(PROGRAM, vec![finding])).print(form)
    });
    match printed {
        Printed::Code(code) => ExitCode::from(code),
        // Whoever was to read the answer does not have it.
        Printed::Lost => ExitCode::from(FAILED),
    }
}

/// Judges records of governed execution, evidence of transparency logs and time stamps, offline.
///
/// Everything is decided from the files and keys on the command line: no network, no clock, no
/// configuration. Exit codes: 0 holds, 1 does not hold, 2 could not be evaluated, 3 internal error.
#[derive(Debug, Parser)]
#[command(
    name = PROGRAM,
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = EXAMPLES
)]
struct Cli {
    /// Print one complete JSON report on standard output, also on failure.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Envelope(envelope::Args),
    Attest(envelope::attest::Args),
    Diff(envelope::diff::Args),
    Receipt(receipt::Args),
    Token(token::Args),
    #[command(subcommand)]
    Proof(proof::Command),
    #[command(subcommand)]
    Policy(policy::Command),
    Witness(witness::Args),
    #[command(subcommand)]
    Workflow(workflow::Command),
    Explain(explain::Args),
    Completions(shell::CompletionArgs),
    Man(shell::ManArgs),
}

fn run(arguments: Vec<OsString>, form: Form) -> Printed {
    match Cli::try_parse_from(arguments) {
        Ok(cli) => answer(&cli).print(form),
        Err(error) if form == Form::Json && error.use_stderr() => {
            let text = error.render().to_string();
            let finding = Finding::new(USAGE, text.trim_end());
            Answer::report(Report::not_evaluated(PROGRAM, vec![finding])).print(form)
        }
        Err(error) => output::print_clap(&error),
    }
}

fn answer(cli: &Cli) -> Answer {
    let form = if cli.json { Form::Json } else { Form::Text };
    match &cli.command {
        Command::Envelope(args) => envelope::run(args, cli.json),
        Command::Attest(args) => envelope::attest::run(args),
        Command::Diff(args) => envelope::diff::run(args),
        Command::Receipt(args) => receipt::run(args),
        Command::Token(args) => token::run(args),
        Command::Proof(command) => proof::run(command),
        Command::Policy(command) => policy::run(command),
        Command::Witness(args) => witness::run(args),
        Command::Workflow(command) => workflow::run(command),
        Command::Explain(args) => explain::run(args, form),
        Command::Completions(args) => shell::completions(args, Cli::command()),
        Command::Man(args) => shell::man(args, Cli::command()),
    }
}

/// The finding for arguments that do not go together.
fn usage(detail: &str) -> Finding {
    Finding::new(USAGE, detail)
}

/// Name of the binary.
const PROGRAM: &str = "verifier";

/// Exit code: the verifier itself failed.
const FAILED: u8 = 3;

const EXAMPLES: &str = "\
Examples:
  verifier envelope run/ --policy policy.json --trust trust/ --require defensible
  verifier receipt receipt.json --policy logs.policy --digest sha256:2cf24dba…
  verifier token file.tsr --data file --roots tsa.pem
  verifier proof inclusion --tlog-proof entry.tlog-proof --entry statement.json --policy logs.policy
  verifier proof consistency --old-checkpoint old.note --new-checkpoint new.note \\
      --file proof.json --vkey log.example+…
  verifier policy check logs.policy
  verifier witness --trail 3c5e… --key witness.pub --statements chain.jsonl --head head.jsonl \\
      --records evaluations.jsonl
  verifier workflow attribution projection.json --pack pack.json --summary summary.json
  verifier explain LOG.QUORUM";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }
}
