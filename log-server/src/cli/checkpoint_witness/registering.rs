//! `register` and `retire`: by the running server, or in the files of one that is stopped.

use std::sync::Arc;

use anchorlog_client::durable::LockError;
use anchorlog_proto::jp::witness::{Registration, TrailId};
use anchorlog_proto::json::{Object, Value};

use super::COMMAND;
use crate::anchoring::admin::{Request, witness_answer};
use crate::checkpoint_witness::CheckpointWitnessError;
use crate::cli::error::CliError;
use crate::cli::opening::open_checkpoint_witness;
use crate::cli::report::Report;
use crate::cli::served::ask;
use crate::config::Config;
use crate::frozen::Frozen;
use crate::metrics::Metrics;

/// Register a trail to the one submitter whose checkpoints are taken for it, or change whose it is.
#[derive(Debug, clap::Args)]
pub(super) struct RegisterArgs {
    /// The trail, 32 hexadecimal digits.
    #[arg(long, value_name = "TRAIL")]
    trail: TrailId,
    /// Who answers for the submitter's name; by default the log's origin.
    #[arg(long, value_name = "ISSUER")]
    issuer: Option<String>,
    /// The submitter: the `subject` of a [[tokens]] block.
    #[arg(long, value_name = "NAME")]
    subject: String,
}

/// Retire a trail: sign that nothing more is taken for it. THIS CAN'T BE UNDONE.
#[derive(Debug, clap::Args)]
pub(super) struct RetireArgs {
    /// The trail, 32 hexadecimal digits.
    #[arg(long, value_name = "TRAIL")]
    trail: TrailId,
}

pub(super) fn register(config: &Config, args: &RegisterArgs) -> Result<Report, CliError> {
    let issuer = args.issuer.as_deref().unwrap_or(&config.log.origin);
    let registration = Registration::new(args.trail, issuer, &args.subject);
    let registration = registration.ok_or(CheckpointWitnessError::Name)?;
    let (answer, running) = act(config, Request::Register(registration))?;
    let (trail, subject) = (args.trail, &args.subject);
    let changed = answer.get("changed") == Some(&Value::from(true));
    let verb = if changed { "is registered" } else { "was registered before" };
    let text = format!("trail {trail} {verb} to {subject} of {issuer}");
    let report = Report::done(COMMAND, text).with("action", "register").with("changed", changed);
    Ok(report.with("server_running", running).with("trail", trail.to_string()))
}

pub(super) fn retire(config: &Config, args: &RetireArgs) -> Result<Report, CliError> {
    let (answer, running) = act(config, Request::Retire(args.trail))?;
    let trail = args.trail;
    let before = answer.get("before") == Some(&Value::from(true));
    let statement = answer.get("statement").cloned().unwrap_or(Value::Null);
    let verb = if before { "was retired before" } else { "is retired" };
    let text = format!("trail {trail} {verb}\n{}", statement.as_str().unwrap_or_default());
    let report = Report::done(COMMAND, text)
        .with("action", "retire")
        .with("already_retired", before)
        .with("server_running", running);
    Ok(report.with("statement", statement).with("trail", trail.to_string()))
}

/// Does it in the files, or has the server do it that holds them.
fn act(config: &Config, request: Request) -> Result<(Object<'static>, bool), CliError> {
    if Frozen::read(&config.log.data).ok().flatten().is_some() {
        return Err(CliError::WitnessRefused { reason: ENDED.to_owned() });
    }
    let (answer, running) = match open_checkpoint_witness(config, Metrics::new()) {
        Ok(witness) => (witness_answer(&Arc::new(witness), &request), false),
        Err(CliError::CheckpointWitness(error))
            if matches!(*error, CheckpointWitnessError::Lock(LockError::Held { .. })) =>
        {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            (ask(config, &runtime.map_err(CliError::Runtime)?, request)?, true)
        }
        Err(error) => return Err(error),
    };
    match answer.get("refused").and_then(Value::as_str) {
        Some(reason) => Err(CliError::WitnessRefused { reason: reason.to_owned() }),
        None => Ok((answer, running)),
    }
}

const ENDED: &str = "the log is frozen, and its witness with it";
