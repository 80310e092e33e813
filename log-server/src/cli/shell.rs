//! `openapi`, `completions` and `man`: documents made from the same definitions as the program.

use std::path::PathBuf;

use anchorlog_client::durable;
use clap::Command;
use clap_complete::Shell;

use super::PROGRAM;
use super::error::CliError;
use super::report::{Answer, Report};
use crate::http::openapi as description;

/// Print the OpenAPI description of the HTTP interface.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  log-server openapi --out log-server/openapi/log-server.json")]
pub(super) struct OpenapiArgs {
    /// Write it to this file instead, replacing what is there.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  log-server completions bash > /etc/bash_completion.d/log-server"
)]
pub(super) struct CompletionArgs {
    /// The shell.
    shell: Shell,
}

/// Print a manual page in roff.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  log-server man | man -l -\n  log-server man fsck > log-server-fsck.1"
)]
pub(super) struct ManArgs {
    /// The subcommand to describe; without it, the program.
    subcommand: Option<String>,
}

pub(super) fn openapi(args: &OpenapiArgs) -> Result<Answer, CliError> {
    let text = description::text();
    let Some(out) = &args.out else { return Ok(Answer::Document(text.into())) };
    durable::write_replace(out, text.as_bytes())?;
    let report = Report::done("openapi", format!("wrote {}", out.display()));
    Ok(Answer::Report(report.with("file", out.display().to_string())))
}

pub(super) fn completions(args: &CompletionArgs, mut program: Command) -> Answer {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut program, PROGRAM, &mut out);
    Answer::Document(out)
}

pub(super) fn man(args: &ManArgs, mut program: Command) -> Result<Answer, CliError> {
    // Gives every subcommand its full name and the global options.
    program.build();
    let command = match &args.subcommand {
        None => program,
        Some(name) => program
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| CliError::UnknownSubcommand { name: name.clone() })?,
    };
    let mut out = Vec::new();
    clap_mangen::Man::new(command).render(&mut out).map_err(CliError::Write)?;
    Ok(Answer::Document(out))
}
