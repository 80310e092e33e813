//! `anchor workflow commit`: an execution record is committed to.

use std::path::PathBuf;

use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_verifier::report::Verdict;
use anchorlog_verifier::workflow::Place;
use anchorlog_verifier::workflow::commitment::{Commitment, CommitmentError};

use super::log_args::{LogArgs, WaitArgs};
use super::report::Report;
use super::statements::Given;
use super::submit::deliver;
use crate::error::ClientError;
use crate::keys::read_signing_key;

/// What can be done about an execution.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    Commit(Args),
}

/// Commit to an execution record of a workflow (RFC 0020) by logging its digest.
///
/// Workflow and execution record are read strictly and in their relation, both digests are taken and held
/// against the side files, and the statement `execution_digest` goes to the log, under the execution's id. The
/// receipt is kept beside the bundle, where `verifier workflow commitment` finds it. Branches of one execution
/// share its id: each is committed to by itself, and they are no conflict.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor workflow commit bundle/ --log http://127.0.0.1:7390
  anchor workflow commit bundle/execution.json --log http://127.0.0.1:7390 --key submitter.pem --wait anchored
  verifier workflow commitment bundle/ --policy logs.policy")]
pub(super) struct Args {
    /// The bundle, or its execution record. Without a workflow.json beside it the record is read alone.
    #[arg(value_name = "DIR|EXECUTION")]
    bundle: PathBuf,
    #[command(flatten)]
    log: LogArgs,
    /// Sign the statement with this Ed25519 key (PKCS#8 PEM, readable by its owner alone).
    #[arg(long, value_name = "KEYFILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    wait: WaitArgs,
    /// File for the receipt; by default beside the bundle, under its name and `.receipt.json`.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) async fn run(command: Command) -> Report {
    let Command::Commit(args) = command;
    let mut report = Report::new("workflow commit");
    report.member("log", args.log.log.as_str());
    if let Err(error) = commit(&args, &mut report).await {
        report.error(&error);
    }
    report
}

async fn commit(args: &Args, report: &mut Report) -> Result<(), ClientError> {
    let (place, commitment) = match read(args) {
        Ok(read) => read,
        Err(error) => {
            let (verdict, code) = match error {
                CommitmentError::CouldNotRun(_) => (Verdict::NotEvaluated, "CLIENT.INPUT"),
                _ => (Verdict::DoesNotHold, "CLIENT.BUNDLE"),
            };
            report.fail(verdict, code, &error.to_string());
            return Ok(());
        }
    };
    let Some(out) = args.out.clone().or_else(|| place.receipt()) else {
        report.fail(Verdict::NotEvaluated, super::USAGE, "give --out: this directory has no name");
        return Ok(());
    };
    let Commitment { workflow_digest, execution_digest, execution, .. } = &commitment;
    report.line(format!("workflow   {workflow_digest}"));
    report.line(format!("execution  {execution_digest}  {execution}"));
    report.member("workflow_digest", workflow_digest.to_string());
    report.member("execution_digest", execution_digest.to_string());
    report.member("execution", execution.as_str());
    // No sequence: branches of one execution don't contend for a place.
    let mut statement = Statement::new(StatementKind::ExecutionDigest, *execution_digest);
    statement.trail = commitment.expectations().trail;
    let key = args.key.as_deref().map(read_signing_key).transpose()?;
    let entry = match &key {
        Some(key) => LogEntry::signed(statement, key),
        None => LogEntry::unsigned(statement),
    };
    match entry {
        Ok(entry) => {
            let given = [Given { entry, file: Some(place.execution()) }];
            deliver(&args.log, &given, Some(&out), args.wait, report).await
        }
        Err(error) => {
            report.fail(Verdict::Failed, error.code(), &error.to_string());
            Ok(())
        }
    }
}

fn read(args: &Args) -> Result<(Place, Commitment), CommitmentError> {
    let place = Place::of(&args.bundle)?;
    let commitment = place.commitment()?;
    place.compare_beside(&commitment)?;
    Ok((place, commitment))
}
