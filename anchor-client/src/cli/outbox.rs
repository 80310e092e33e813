//! `anchor outbox`: what waits for its receipt.

use anchorlog_verifier::report::Verdict;
use serde_json::{Value, json};

use super::log_args::{CommonArgs, announce_first_use};
use super::report::{Form, Report, count};
use super::submit::report_drained;
use crate::address::LogUrl;
use crate::error::ClientError;
use crate::outbox::Outbox;
use crate::receipt_store::ReceiptStore;
use crate::submit::drain;

/// Show or send statements that have no receipt yet.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List what waits, log by log, and what was refused.
    List(Args),
    /// Send what waits. Exit code 1 if the log refuses something, 2 if it can't be reached.
    Flush(Args),
}

/// Whose outbox.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only the outbox of this log.
    #[arg(long, value_name = "URL", env = "ANCHORLOG_LOG")]
    log: Option<LogUrl>,
    #[command(flatten)]
    common: CommonArgs,
}

impl Args {
    fn outboxes(&self) -> Result<Vec<Outbox>, ClientError> {
        let state = self.common.state()?;
        match &self.log {
            Some(log) => Ok(vec![Outbox::new(state, log.clone())]),
            None => Ok(Outbox::all(&state)?),
        }
    }
}

pub(super) async fn run(command: Command, _form: Form) -> Report {
    match command {
        Command::List(args) => {
            let mut report = Report::new("outbox list");
            if let Err(error) = list(&args, &mut report) {
                report.error(&error);
            }
            report
        }
        Command::Flush(args) => {
            let mut report = Report::new("outbox flush");
            if let Err(error) = flush(&args, &mut report).await {
                report.error(&error);
            }
            report
        }
    }
}

fn list(args: &Args, report: &mut Report) -> Result<(), ClientError> {
    let mut logs = Vec::new();
    for outbox in args.outboxes()? {
        let mut submissions = Vec::new();
        for (refused, pending) in outbox
            .pending()?
            .into_iter()
            .map(|pending| (false, pending))
            .chain(outbox.refused()?.into_iter().map(|pending| (true, pending)))
        {
            let Some(entries) = outbox.read(&pending)? else { continue };
            let file = pending.path.display().to_string();
            let state = if refused { "refused" } else { "waiting" };
            let statements = count(entries.len(), "statement");
            report.line(format!("{}  {statements} {state}  {file}", outbox.log()));
            submissions.push(json!({
                "file": file,
                "state": state,
                "leaf_hashes": entries
                    .iter()
                    .map(|entry| entry.leaf_hash().to_string())
                    .collect::<Vec<_>>(),
            }));
        }
        logs.push(json!({"log": outbox.log().as_str(), "submissions": submissions}));
    }
    report.member("logs", logs);
    Ok(())
}

/// Every log is tried, even if one before it can't be reached.
async fn flush(args: &Args, report: &mut Report) -> Result<(), ClientError> {
    let state = args.common.state()?;
    let mut logs: Vec<Value> = Vec::new();
    for outbox in args.outboxes()? {
        let earlier = outbox.pending()?;
        if earlier.is_empty() {
            continue;
        }
        let mut part = Report::new("outbox flush");
        let outcome = async {
            let log = args.common.open(outbox.log().clone())?;
            let store = ReceiptStore::choose(None, earlier.len(), &state, outbox.log());
            let drained = drain(&log, &outbox, earlier, &store).await;
            announce_first_use(&log);
            drained
        };
        match outcome.await {
            Ok(drained) => {
                report_drained(&mut part, &drained);
                for (path, error) in &drained.refused {
                    let detail = format!("{error}; the submission lies in {} now", path.display());
                    part.fail(Verdict::DoesNotHold, error.code(), &detail);
                }
                part.member("left_in_outbox", drained.left);
            }
            Err(error) => part.error(&error),
        }
        part.member("log", outbox.log().as_str());
        logs.push(report.absorb(part));
    }
    report.member("logs", logs);
    Ok(())
}
