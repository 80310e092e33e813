//! `anchor receipt`: receipts of entries that are logged already.

use std::path::PathBuf;

use serde_json::Value;

use super::log_args::{LogArgs, WaitArgs, announce_first_use};
use super::report::{Form, Report};
use super::submit::{line_of, require_state, summary, value_of};
use crate::error::ClientError;
use crate::receipt_store::ReceiptStore;
use crate::submit::Kept;

/// Fetch and verify receipts by index.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor receipt --log http://127.0.0.1:7390 42 --out receipt.json
  anchor receipt --log http://127.0.0.1:7390 --policy logs.policy --wait witnessed 7 8 9 --out receipts/")]
pub(super) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// Indexes of entries.
    #[arg(value_name = "INDEX", required = true)]
    indexes: Vec<u64>,
    #[command(flatten)]
    wait: WaitArgs,
    /// File for the receipt; for several indexes a directory. Without it they are verified and reported, and
    /// with --json they are part of the report.
    #[arg(long, value_name = "RECEIPT")]
    out: Option<PathBuf>,
}

pub(super) async fn run(args: Args, _form: Form) -> Report {
    let mut report = Report::new("receipt");
    report.member("log", args.log.log.as_str());
    let mut values = Vec::new();
    if let Err(error) = fetch(&args, &mut report, &mut values).await {
        report.error(&error);
    }
    report.member("receipts", values);
    report
}

async fn fetch(
    args: &Args,
    report: &mut Report,
    values: &mut Vec<Value>,
) -> Result<(), ClientError> {
    let log = args.log.open()?;
    let state = args.log.common.state()?;
    let mut all = Vec::new();
    for index in &args.indexes {
        let fetched = log.receipt(*index, args.wait.wait()).await;
        if all.is_empty() {
            announce_first_use(&log);
        }
        let accepted = fetched?;
        if let Some(out) = &args.out {
            let store = ReceiptStore::choose(Some(out), args.indexes.len(), &state, &args.log.log);
            for path in store.keep(std::slice::from_ref(&accepted))? {
                let kept = Kept { accepted: accepted.clone(), path };
                report.line(line_of(&kept, None));
                values.push(value_of(&kept, None));
            }
        } else {
            let statement = accepted.receipt.entry.statement();
            report.line(format!(
                "{index}  {} {} ({})",
                statement.kind, statement.digest, accepted.receipt.state
            ));
            let mut value = summary(&accepted);
            if let Some(object) = value.as_object_mut() {
                // What was written as JSON reads as JSON.
                let receipt = serde_json::from_slice(&accepted.json).unwrap_or(Value::Null);
                object.insert("receipt".to_owned(), receipt);
            }
            values.push(value);
        }
        all.push(accepted);
    }
    require_state(report, all.iter(), args.wait.wait);
    Ok(())
}
