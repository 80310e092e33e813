//! The command line: arguments in, one report and one exit code out.
//!
//! Nothing is decided here. Each command reads the configuration, calls the library and hands back a
//! report; this module prints it, for people or as JSON. Exit codes: 0 the asked thing holds or was done,
//! 1 it was evaluated and does not hold, 2 it could not be evaluated, 3 the server itself failed.

mod checkpoint_witness;
mod configuration;
mod dev_tsa;
mod error;
mod freeze;
mod keygen;
mod maintenance;
mod opening;
mod progress;
mod remote;
mod renew;
mod report;
mod serve;
mod served;
mod shell;
mod token;
mod witness;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::panic;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use self::error::CliError;
use self::report::{Answer, Form, Report};
use crate::config::{Config, DEFAULT_ORIGIN};

/// Runs the program with these arguments, the first being its name, and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Known before parsing, because a command line that can't be parsed gets a report too.
    let form = Form::of(&arguments);
    let code = panic::catch_unwind(|| run(arguments, form))
        .unwrap_or_else(|_| Report::failed(PROGRAM, &CliError::Panicked).print(form));
    ExitCode::from(code)
}

/// A transparency log for digests: every statement gets a receipt after one fsync.
///
/// Without arguments: a log in ./data, served on 127.0.0.1:7390, with a key made on first start.
#[derive(Debug, Parser)]
#[command(name = PROGRAM, version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    serve: serve::ServeArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What every command takes.
#[derive(Debug, Args)]
struct Common {
    /// Configuration file (TOML).
    #[arg(long, global = true, value_name = "FILE", env = "ANCHORLOG_CONFIG")]
    config: Option<PathBuf>,
    /// Data directory of the log.
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Name of the log, the first line of its checkpoints.
    #[arg(long, global = true, value_name = "NAME")]
    origin: Option<String>,
    /// Print one complete JSON report on standard output, also on failure.
    #[arg(long, global = true)]
    json: bool,
}

impl Common {
    /// File, environment and flags, in that order, checked.
    fn config(&self, listen: Option<SocketAddr>) -> Result<Config, CliError> {
        let environment: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let mut config = Config::load(self.config.as_deref(), environment.iter().cloned())?;
        if let Some(data) = &self.data {
            config.log.data.clone_from(data);
        }
        if let Some(origin) = &self.origin {
            config.log.origin.clone_from(origin);
        }
        if let Some(listen) = listen {
            config.log.listen = listen;
        }
        if self.config.is_none() && config.log.origin == DEFAULT_ORIGIN {
            let is_set = |name: &str| environment.iter().any(|(known, _)| known == name);
            config.anchoring.try_out(is_set);
        }
        config.validate()?;
        Ok(config)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the log; the default command.
    Serve(serve::ServeArgs),
    Init(maintenance::InitArgs),
    Keygen(keygen::KeygenArgs),
    Fsck(maintenance::FsckArgs),
    Export(maintenance::ExportArgs),
    RebuildIndex(maintenance::RebuildArgs),
    Renew(renew::RenewArgs),
    Freeze(freeze::FreezeArgs),
    Config(configuration::ConfigArgs),
    DevTsa(dev_tsa::DevTsaArgs),
    Witness(witness::WitnessArgs),
    CheckpointWitness(checkpoint_witness::CheckpointWitnessArgs),
    Token(token::TokenArgs),
    Openapi(shell::OpenapiArgs),
    Completions(shell::CompletionArgs),
    Man(shell::ManArgs),
}

impl Command {
    fn name(&self) -> &'static str {
        match self {
            Self::Serve(_) => "serve",
            Self::Init(_) => "init",
            Self::Keygen(_) => "keygen",
            Self::Fsck(_) => "fsck",
            Self::Export(_) => "export",
            Self::RebuildIndex(_) => "rebuild-index",
            Self::Renew(_) => "renew",
            Self::Freeze(_) => "freeze",
            Self::Config(_) => "config",
            Self::DevTsa(_) => "dev-tsa",
            Self::Witness(_) => "witness",
            Self::CheckpointWitness(_) => "checkpoint-witness",
            Self::Token(_) => "token",
            Self::Openapi(_) => "openapi",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }
}

fn run(arguments: Vec<OsString>, form: Form) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            let text = error.render().to_string();
            let report =
                Report::failed(PROGRAM, &CliError::Usage { text: text.trim_end().to_owned() });
            return report.print(form);
        }
        Err(help) => return report::print_help(&help),
    };
    let name = cli.command.as_ref().map_or("serve", Command::name);
    match answer(cli, form) {
        Ok(answer) => answer.print(form),
        Err(error) => Report::failed(name, &error).print(form),
    }
}

fn answer(cli: Cli, form: Form) -> Result<Answer, CliError> {
    let Cli { common, serve: top, command } = cli;
    let Some(command) = command else { return serve::run(&common, &top, form) };
    if top != serve::ServeArgs::default() {
        return Err(CliError::ServeFlags { command: command.name() });
    }
    match command {
        Command::Serve(args) => serve::run(&common, &args, form),
        Command::Init(args) => maintenance::init(&common, &args),
        Command::Keygen(args) => keygen::run(&common, &args),
        Command::Fsck(args) => maintenance::fsck(&common, &args, form),
        Command::Export(args) => maintenance::export(&common, &args),
        Command::RebuildIndex(args) => maintenance::rebuild_index(&common, &args, form),
        Command::Renew(args) => renew::run(&common, &args),
        Command::Freeze(args) => freeze::run(&common, &args),
        Command::Config(args) => configuration::run(&common, &args),
        Command::DevTsa(args) => dev_tsa::run(&common, &args, form),
        Command::Witness(args) => witness::run(&common, &args, form),
        Command::CheckpointWitness(args) => checkpoint_witness::run(&common, &args),
        Command::Token(args) => token::run(&args),
        Command::Openapi(args) => shell::openapi(&args),
        Command::Completions(args) => Ok(shell::completions(&args, Cli::command())),
        Command::Man(args) => shell::man(&args, Cli::command()),
    }
}

/// Name of the binary.
const PROGRAM: &str = "log-server";

const EXAMPLES: &str = "\
Examples:
  log-server                                     try it out: ./data, 127.0.0.1:7390
  log-server config --example > log.toml         start a configuration
  log-server --config log.toml init              make the key and the empty log
  log-server --config log.toml                   serve it
  log-server fsck                                check every byte of a stopped log
  log-server fsck https://log.example --vkey V   check somebody's log
  log-server export --to public/                 write it for a static file server
  log-server freeze                              end it for ever
  log-server dev-tsa                             a time-stamping authority for trying out
  log-server witness --log VKEY                  cosign the checkpoints of other logs
  log-server token --subject desk                make a bearer token
  log-server checkpoint-witness register …       say whose checkpoints of an audit trail are witnessed

Exit codes: 0 done or holds, 1 does not hold, 2 could not be evaluated, 3 internal error.";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use super::*;

    fn parse(arguments: &[&str]) -> Cli {
        let program = std::iter::once(PROGRAM);
        Cli::try_parse_from(program.chain(arguments.iter().copied())).unwrap()
    }

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serving_needs_no_word() {
        let cli = parse(&["--data", "d", "--listen", "127.0.0.1:1"]);
        assert!(cli.command.is_none());
        assert_eq!(cli.common.data, Some(PathBuf::from("d")));
        let cli = parse(&["serve", "--data", "d", "--listen", "127.0.0.1:1", "--origin", "o"]);
        assert!(matches!(cli.command, Some(Command::Serve(_))));
        assert_eq!(cli.common.origin.as_deref(), Some("o"));
    }

    #[test]
    fn flags_win_over_the_file() {
        let cli = parse(&["--data", "d", "--origin", "example.com/log"]);
        let config = cli.common.config(Some("127.0.0.1:9".parse().unwrap())).unwrap();
        assert_eq!(config.log.data, PathBuf::from("d"));
        assert_eq!(config.log.origin, "example.com/log");
        assert_eq!(config.log.listen.port(), 9);
    }

    #[test]
    fn flags_of_serve_before_another_command_are_refused() {
        let cli = parse(&["--listen", "127.0.0.1:1", "fsck"]);
        let error = answer(cli, Form::Json).unwrap_err();
        assert!(matches!(error, CliError::ServeFlags { command: "fsck" }), "{error}");
    }
}
