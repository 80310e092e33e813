//! `config`: the example, or what is in force.

use super::Common;
use super::error::CliError;
use super::report::{Answer, Report};
use crate::access::Access;
use crate::anchoring;
use crate::bearer::Bearers;
use crate::config::EXAMPLE;
use crate::witnessing;

/// Check the configuration and print what is in force, or print an example.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  log-server config --example > log.toml\n  log-server --config log.toml config"
)]
pub(super) struct ConfigArgs {
    /// Print a commented file with every key and its default.
    #[arg(long)]
    example: bool,
}

pub(super) fn run(common: &Common, args: &ConfigArgs) -> Result<Answer, CliError> {
    if args.example {
        return Ok(Answer::Document(EXAMPLE.into()));
    }
    let config = common.config(None)?;
    Access::new(&config.access)?;
    Bearers::new(&config.tokens, &config.log.origin)?;
    anchoring::check(&config.anchoring)?;
    witnessing::check(&config.witnessing)?;
    let text = config.to_toml();
    let report = Report::done("config", text.trim_end());
    Ok(Answer::Report(report.with("config", text)))
}
