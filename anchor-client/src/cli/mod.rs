//! The command line `anchor`: arguments in, one report out.
//!
//! Each subcommand calls the library and hands back a report; this module prints it, as
//! text or as one JSON document, and turns its verdict into the exit code: 0 the asked thing holds or was done, 1
//! it was evaluated and does not hold, 2 it could not be evaluated, 3 the program itself failed.

mod ask_args;
mod audit;
mod checkpoints;
mod commit;
mod compare;
mod envelope;
mod hammer;
mod listing;
mod log_args;
mod mirror;
mod monitor;
mod outbox;
mod progress;
mod receipt;
mod record;
mod report;
mod shell;
mod source_args;
mod stamp;
mod stamp_args;
mod statements;
mod submit;
mod tile_args;
mod workflow;

use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use anchorlog_verifier::report::Verdict;
use report::{Answer, Form, Report};

/// Runs the program with these arguments, the first being its name, and prints the answer.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Known before parsing, because a command line that can't be parsed gets a report too.
    let form =
        if arguments.iter().any(|argument| argument == "--json") { Form::Json } else { Form::Text };
    let code = panic::catch_unwind(|| run(arguments, form)).unwrap_or_else(|_| {
        let detail = "a panic; its message is on standard error";
        Answer::Report(Report::failed(PROGRAM, Verdict::Failed, "CLIENT.INTERNAL", detail))
            .print(form)
    });
    ExitCode::from(code)
}

/// Talks to transparency logs and time-stamping authorities: submits statements, fetches receipts and time
/// stamps, remembers what logs signed.
///
/// Every receipt and every time stamp is verified before it is accepted, and every checkpoint is held against the last one
/// seen; a log that contradicts itself is reported, and both signed notes are kept. Exit codes: 0 done, 1
/// evaluated and does not hold, 2 could not be evaluated, 3 internal error.
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
    Submit(submit::Args),
    Receipt(receipt::Args),
    Lookup(listing::LookupArgs),
    Trail(listing::TrailArgs),
    Submitter(listing::SubmitterArgs),
    Mirror(mirror::Args),
    Monitor(monitor::Args),
    Stamp(stamp_args::Args),
    Commit(commit::Args),
    #[command(subcommand)]
    Envelope(envelope::Command),
    #[command(subcommand)]
    Outbox(outbox::Command),
    /// Record a governed run.
    #[command(subcommand)]
    Record(record::Command),
    Hammer(hammer::Args),
    Audit(Box<audit::Args>),
    Compare(compare::Args),
    /// Hand over checkpoint lines of audit trails, and get back what is held of them.
    #[command(subcommand)]
    Checkpoints(checkpoints::Command),
    /// Commit to workflow executions of Judgment Pack.
    #[command(subcommand)]
    Workflow(workflow::Command),
    Completions(shell::CompletionArgs),
    Man(shell::ManArgs),
}

fn run(arguments: Vec<OsString>, form: Form) -> u8 {
    let answer = match Cli::try_parse_from(arguments) {
        Ok(cli) => answer(cli.command, form),
        Err(error) if form == Form::Json && error.use_stderr() => {
            let text = error.render().to_string();
            let detail = text.trim_end();
            Answer::Report(Report::failed(PROGRAM, Verdict::NotEvaluated, USAGE, detail))
        }
        Err(error) => return report::print_clap(&error),
    };
    answer.print(form)
}

fn answer(command: Command, form: Form) -> Answer {
    // One thread is enough for a client, and leaves the other ones to the server it may be measuring.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let detail = format!("the runtime can't be started: {error}");
            return Answer::Report(Report::failed(
                PROGRAM,
                Verdict::Failed,
                "CLIENT.INTERNAL",
                &detail,
            ));
        }
    };
    match command {
        Command::Submit(args) => runtime.block_on(submit::run(args, form)).into(),
        Command::Receipt(args) => runtime.block_on(receipt::run(args, form)).into(),
        Command::Lookup(args) => runtime.block_on(listing::lookup(args, form)).into(),
        Command::Trail(args) => runtime.block_on(listing::trail(args, form)).into(),
        Command::Submitter(args) => runtime.block_on(listing::submitter(args, form)).into(),
        Command::Mirror(args) => runtime.block_on(mirror::run(args, form)).into(),
        Command::Monitor(args) => runtime.block_on(monitor::run(args, form)).into(),
        Command::Stamp(args) => runtime.block_on(stamp::run(args, form)).into(),
        Command::Commit(args) => runtime.block_on(commit::run(args, form)).into(),
        Command::Envelope(command) => runtime.block_on(envelope::run(command, form)).into(),
        Command::Outbox(command) => runtime.block_on(outbox::run(command, form)).into(),
        Command::Record(command) => record::run(command),
        Command::Hammer(args) => runtime.block_on(hammer::run(args, form)).into(),
        Command::Audit(args) => runtime.block_on(audit::run(*args, form)).into(),
        Command::Compare(args) => runtime.block_on(compare::run(args, form)).into(),
        Command::Checkpoints(command) => runtime.block_on(checkpoints::run(command)).into(),
        Command::Workflow(command) => runtime.block_on(workflow::run(command)).into(),
        Command::Completions(args) => shell::completions(&args, Cli::command()),
        Command::Man(args) => shell::man(&args, Cli::command()),
    }
}

/// Name of the binary.
const PROGRAM: &str = "anchor";

/// Code of a command line that can't be understood.
const USAGE: &str = "CLIENT.USAGE";

const EXAMPLES: &str = "\
Examples:
  anchor submit --log http://127.0.0.1:7390 --kind digest report.pdf
  anchor submit --log http://127.0.0.1:7390 --kind core_root --digest sha256:2cf24dba… --out receipt.json
  anchor receipt --log http://127.0.0.1:7390 42 --out receipt.json
  anchor lookup --log http://127.0.0.1:7390 sha256:2cf24dba…
  anchor trail --log http://127.0.0.1:7390 sha256:9f86d081…
  anchor monitor --log http://127.0.0.1:7390 --policy log.policy --once
  anchor mirror --log http://127.0.0.1:7390 --policy log.policy --to copy
  anchor stamp --tsa http://timestamp.example/tsr --roots tsa-root.pem report.pdf --out report.tsr
  anchor commit plan.json --log http://127.0.0.1:7390 --out commitment/
  anchor envelope new core --out e0 --layers pre_dispatch_commitment
  anchor envelope anchor e0 --log http://127.0.0.1:7390 --policy policy.json
  anchor compare --policy logs.policy envelope.tar https://mirror.example/log --log http://127.0.0.1:7390
  jpack audit checkpoint --since 0 | anchor checkpoints submit --log http://127.0.0.1:7390
  anchor workflow commit bundle/ --log http://127.0.0.1:7390
  anchor audit --log http://127.0.0.1:7390 --policy logs.policy --plan sha256:9f86d081…
  anchor record freeze run --plan plan.json --operator operator.json
  anchor record export run --engine-key engine.pem --out core

The log's address can stand in ANCHORLOG_LOG. What is remembered lies in ANCHORLOG_STATE, else in
$XDG_STATE_HOME/anchorlog, else in ~/.local/state/anchorlog.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }
}
