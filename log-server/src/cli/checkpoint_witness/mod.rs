//! `checkpoint-witness`: what the operator of a witness of audit trails does.

mod registering;
mod verifying;

pub(super) use verifying::{configured, lines, members};

use clap::Subcommand;

use super::Common;
use super::error::CliError;
use super::report::{Answer, Report};
use crate::checkpoint_witness::{self as witness, Limits, Repaired};
use crate::config::Config;

/// Run this log's witness of audit trails' checkpoints: whose trails they are, its key, its files.
///
/// The witness itself is served by `log-server serve`, where `[checkpoint_witness]` is configured.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  log-server --config log.toml checkpoint-witness key
  log-server --config log.toml checkpoint-witness register --trail 3c5e… --subject desk
  log-server --config log.toml checkpoint-witness retire --trail 3c5e…
  log-server --config log.toml checkpoint-witness verify
  log-server checkpoint-witness verify --log statements.jsonl --key key.pub --marks marks.jsonl")]
pub(super) struct CheckpointWitnessArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Register(registering::RegisterArgs),
    Retire(registering::RetireArgs),
    Repair(RepairArgs),
    Verify(verifying::VerifyArgs),
    Key(KeyArgs),
}

/// Do what the three rules of recovery allow with the files of a stopped witness, and nothing else.
///
/// Torn last bytes are kept in `set-aside/`. What is not repaired is said, with what to do about it.
#[derive(Debug, clap::Args)]
struct RepairArgs {}

/// Print the public key, which those who read statements pin. It is made if there is none.
#[derive(Debug, clap::Args)]
struct KeyArgs {}

pub(super) fn run(common: &Common, args: &CheckpointWitnessArgs) -> Result<Answer, CliError> {
    let report = match &args.action {
        Action::Register(args) => registering::register(&with_witness(common)?, args)?,
        Action::Retire(args) => registering::retire(&with_witness(common)?, args)?,
        Action::Repair(RepairArgs {}) => repair(&with_witness(common)?)?,
        Action::Verify(args) => verifying::verify(common, args)?,
        Action::Key(KeyArgs {}) => key(&with_witness(common)?)?,
    };
    Ok(Answer::Report(report))
}

/// The name in reports.
const COMMAND: &str = "checkpoint-witness";

/// The configuration, if it is one with such a witness.
fn with_witness(common: &Common) -> Result<Config, CliError> {
    let config = common.config(None)?;
    if config.checkpoint_witness.is_on() { Ok(config) } else { Err(CliError::NoCheckpointWitness) }
}

fn repair(config: &Config) -> Result<Report, CliError> {
    let paths = witness::paths(config).ok_or(CliError::NoCheckpointWitness)?;
    let key = witness::key_files(config).public_key()?;
    let Repaired { steps, outcome, findings, .. } = witness::repair(&paths, &key, Limits::DEFAULT)?;
    let done: Vec<String> = steps
        .iter()
        .map(|step| {
            let kept = step.kept.as_ref().map(|path| format!(", kept in {}", path.display()));
            format!("done: {}{}", step.outcome.as_str(), kept.unwrap_or_default())
        })
        .collect();
    let text = |last: &str| {
        let findings = findings.iter().map(ToString::to_string);
        let lines: Vec<String> =
            done.iter().cloned().chain(findings).chain([last.to_owned()]).collect();
        lines.join("\n")
    };
    let report = if outcome == witness::Outcome::Start {
        Report::done(COMMAND, text("the witness starts"))
    } else {
        Report::does_not_hold(COMMAND, text(outcome.advice()))
    };
    let steps: Vec<_> = steps.iter().map(|step| step.outcome.as_str().into()).collect();
    Ok(report
        .with("action", "repair")
        .with("findings", verifying::findings(&findings))
        .with("outcome", outcome.as_str())
        .with("steps", steps))
}

fn key(config: &Config) -> Result<Report, CliError> {
    let (_, key) = super::opening::checkpoint_witness_signer(config)?;
    let hex = anchorlog_proto::encoding::hex_encode(key.as_bytes());
    let id = key.id().to_string();
    let text = format!("public key: {hex}\nkey id: {id}");
    let report = Report::done(COMMAND, text).with("action", "key");
    Ok(report.with("key", hex).with("key_id", id))
}
