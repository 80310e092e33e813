//! `anchor submit`: statements in, verified receipts out.

use std::io;
use std::path::{Path, PathBuf};

use anchorlog_proto::receipt::ReceiptState;
use anchorlog_verifier::report::Verdict;
use serde_json::{Value, json};

use super::log_args::{LogArgs, WaitArgs, announce_first_use};
use super::report::{Form, Report, announce, count};
use super::statements::{Given, StatementArgs};
use crate::error::ClientError;
use crate::log::Accepted;
use crate::outbox::Outbox;
use crate::receipt_store::ReceiptStore;
use crate::submit::{Drained, Kept, drain, queue, send};

/// Submit statements and keep their verified receipts.
///
/// A statement is written to the outbox before it is sent and removed after its receipt is kept, so
/// nothing is lost when the log is down or this program is killed; what is left over is sent first next time.
/// The same statement always gets the same index, however often it is sent.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor submit --log http://127.0.0.1:7390 --kind digest *.pdf
  anchor submit --log http://127.0.0.1:7390 --kind core_root --digest sha256:2cf24dba… \\
      --trail sha256:9f86d081… --key submitter.pem --out receipt.json
  jq -c .statement receipts.jsonl | anchor submit --log http://127.0.0.1:7390 -")]
pub(super) struct Args {
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    statements: StatementArgs,
    #[command(flatten)]
    wait: WaitArgs,
    /// File for the receipt; for several statements a directory, where each receipt is named after its index.
    /// Without it receipts are kept in the state directory.
    #[arg(long, value_name = "RECEIPT")]
    out: Option<PathBuf>,
}

pub(super) async fn run(args: Args, form: Form) -> Report {
    let mut report = Report::new("submit");
    report.member("log", args.log.log.as_str());
    if let Err(error) = submit(&args, form, &mut report).await {
        report.error(&error);
    }
    report
}

async fn submit(args: &Args, form: Form, report: &mut Report) -> Result<(), ClientError> {
    let given = match args.statements.read(io::stdin().lock(), form) {
        Ok(given) => given,
        Err(error) => {
            report.fail(Verdict::NotEvaluated, error.code(), &error.to_string());
            return Ok(());
        }
    };
    deliver(&args.log, &given, args.out.as_deref(), args.wait, report).await
}

/// Sends statements by way of the outbox, after what earlier runs have left there, and reports what came of it.
pub(super) async fn deliver(
    args: &LogArgs,
    given: &[Given],
    out: Option<&Path>,
    wait: WaitArgs,
    report: &mut Report,
) -> Result<(), ClientError> {
    let log = args.open()?;
    let state = args.common.state()?;
    let outbox = Outbox::new(state.clone(), args.log.clone());
    let total = given.len();
    let store = ReceiptStore::choose(out, total, &state, &args.log);

    let earlier = outbox.pending()?;
    let entries: Vec<_> = given.iter().map(|given| given.entry.clone()).collect();
    let queued = queue(&outbox, &entries)?;
    if !earlier.is_empty() {
        let kept_earlier = ReceiptStore::choose(None, total, &state, &args.log);
        // Until this says otherwise, nothing has left the outbox.
        report.member("left_in_outbox", queued.len());
        let drained = drain(&log, &outbox, earlier, &kept_earlier).await?;
        if report_drained(report, &drained) {
            announce_first_use(&log);
            let left = drained.left + queued.len();
            report.member("receipts", Vec::<Value>::new());
            report.member("left_in_outbox", left);
            report.line(left_over(left));
            return Ok(());
        }
    }
    let sent = send(&log, &outbox, queued, &store, wait.wait()).await;
    announce_first_use(&log);

    let rows = sent.kept.iter().zip(given);
    for (kept, given) in rows.clone() {
        report.line(line_of(kept, given.file.as_deref()));
    }
    let values: Vec<Value> =
        rows.map(|(kept, given)| value_of(kept, given.file.as_deref())).collect();
    report.member("receipts", values);
    report.member("left_in_outbox", sent.left);
    if let Some(error) = &sent.error {
        report.error(error);
        if sent.left > 0 {
            report.line(left_over(sent.left));
        }
    } else {
        require_state(report, sent.kept.iter().map(|kept| &kept.accepted), wait.wait);
    }
    Ok(())
}

/// Adds what became of earlier submissions; whether something stopped them.
pub(super) fn report_drained(report: &mut Report, drained: &Drained) -> bool {
    let receipts: Vec<Value> = drained.kept.iter().map(|kept| value_of(kept, None)).collect();
    if !receipts.is_empty() {
        report
            .line(format!("from earlier runs, {} logged now", count(receipts.len(), "statement")));
    }
    report.member("earlier", receipts);
    for (path, error) in &drained.refused {
        announce(&format!(
            "warning: the log refused a submission from an earlier run ({error}); it lies in {} now",
            path.display()
        ));
    }
    let refused = drained.refused.iter().map(|(path, error)| {
        json!({
            "file": path.display().to_string(),
            "code": error.code(),
            "detail": error.to_string(),
            "position": error.position(),
        })
    });
    report.member("earlier_refused", refused.collect::<Vec<_>>());
    if let Some(error) = &drained.error {
        report.error(error);
    }
    drained.error.is_some()
}

/// Fails the report if the log did not get as far as it was asked to in time.
pub(super) fn require_state<'a>(
    report: &mut Report,
    accepted: impl Iterator<Item = &'a Accepted>,
    wanted: ReceiptState,
) {
    let short = accepted.filter(|accepted| accepted.receipt.state < wanted).count();
    if short > 0 {
        let detail = format!(
            "{} not {wanted} yet and kept without that; `anchor receipt --wait {wanted}` asks again",
            count(short, "receipt")
        );
        report.fail(Verdict::DoesNotHold, "CLIENT.NOT_YET", &detail);
    }
}

/// One receipt in the JSON form.
pub(super) fn value_of(kept: &Kept, file: Option<&Path>) -> Value {
    let mut value = summary(&kept.accepted);
    if let Some(object) = value.as_object_mut() {
        object.insert("receipt_file".to_owned(), kept.path.display().to_string().into());
        if let Some(file) = file {
            object.insert("file".to_owned(), file.display().to_string().into());
        }
    }
    value
}

/// What a receipt says, without its proof.
pub(super) fn summary(accepted: &Accepted) -> Value {
    let receipt = &accepted.receipt;
    let statement = receipt.entry.statement();
    json!({
        "index": receipt.index,
        "leaf_hash": receipt.leaf_hash.to_string(),
        "digest": statement.digest.to_string(),
        "kind": statement.kind.as_str(),
        "trail": statement.trail.as_ref().map(ToString::to_string),
        "sequence": statement.sequence,
        "key_id": receipt.entry.signer().map(|signer| signer.to_string()),
        "state": receipt.state.as_str(),
        "shown": accepted.shown.as_str(),
        "duplicate": accepted.duplicate,
        "conflicts": receipt.conflicts,
        "tree_size": receipt.proof.checkpoint().checkpoint().size.get(),
    })
}

/// One receipt for people.
pub(super) fn line_of(kept: &Kept, file: Option<&Path>) -> String {
    let receipt = &kept.accepted.receipt;
    let statement = receipt.entry.statement();
    let what = file.map_or(String::new(), |file| format!("  {}", file.display()));
    let known = if kept.accepted.duplicate == Some(true) { ", logged before" } else { "" };
    let conflicts = if receipt.conflicts.is_empty() {
        String::new()
    } else {
        format!(
            "\n  conflicts with entries {:?}: same trail and sequence, another digest",
            receipt.conflicts
        )
    };
    format!(
        "{}  {} {} ({}{known}){what}\n  receipt: {}{conflicts}",
        receipt.index,
        statement.kind,
        statement.digest,
        receipt.state,
        kept.path.display()
    )
}

fn left_over(left: usize) -> String {
    format!(
        "{} without a receipt yet, kept in the outbox; \
         `anchor outbox flush` or the next `anchor submit` goes on with it",
        count(left, "statement")
    )
}
