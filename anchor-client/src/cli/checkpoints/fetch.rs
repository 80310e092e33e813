//! `anchor checkpoints fetch`: a trail's statements from its witness, into files.

use std::path::{Path, PathBuf};

use anchorlog_proto::jp::witness::{Statement, TrailId};
use anchorlog_verifier::report::Verdict;

use crate::address::LogUrl;
use crate::checkpoint_witness::{Fetched, MAX_STATEMENTS};
use crate::cli::log_args::CommonArgs;
use crate::cli::report::{Report, count};
use crate::durable;
use crate::error::ClientError;

/// Fetch what a checkpoint witness has stated about a trail, for `verifier witness`.
///
/// The head comes first, then the statements up to it, page by page: never more than --limit, and nothing beyond the head.
/// They are kept as they are served, unverified, in TRAIL.head.jsonl and TRAIL.statements.jsonl. Exit code 1
/// when the witness knows nothing of the trail, or when its answers contradict one another; what came is kept
/// then as well.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  anchor checkpoints fetch --witness https://gateway.example --trail 3c5e1a7f9b2d4c6e8a0f1b3d5c7e9a2b --out kept/")]
pub(in crate::cli) struct Args {
    /// Address of the witness.
    #[arg(long, value_name = "URL")]
    witness: LogUrl,
    /// The trail: 32 hexadecimal digits.
    #[arg(long, value_name = "HEX")]
    trail: TrailId,
    #[command(flatten)]
    common: CommonArgs,
    /// Index of the first statement wanted. With another one than 0 the file is TRAIL.statements-INDEX.jsonl.
    #[arg(long, value_name = "INDEX", default_value_t = 0)]
    from: u64,
    /// The most statements to fetch.
    #[arg(long, value_name = "N", default_value_t = MAX_STATEMENTS, value_parser = clap::value_parser!(u64).range(1..=MAX_STATEMENTS))]
    limit: u64,
    /// Directory for the two files, created if needed.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) async fn run(args: Args) -> Report {
    let mut report = Report::new("checkpoints fetch");
    report.member("witness", args.witness.as_str());
    report.member("trail", args.trail.to_string());
    if let Err(error) = fetch(&args, &mut report).await {
        report.error(&error);
    }
    report
}

async fn fetch(args: &Args, report: &mut Report) -> Result<(), ClientError> {
    let witness = args.common.witness(args.witness.clone())?;
    let Some(fetched) = witness.fetch(args.trail, args.from, args.limit).await? else {
        let detail = format!("the witness knows nothing of trail {}", args.trail);
        report.fail(Verdict::DoesNotHold, "CLIENT.NOT_WITNESSED", &detail);
        return Ok(());
    };
    let Fetched { head, statements, disorder, .. } = &fetched;
    let index = head.body().index;
    let trail = args.trail;
    let suffix = if args.from == 0 { String::new() } else { format!("-{}", args.from) };
    durable::create_dir_all(&args.out)?;
    let head_file = args.out.join(format!("{trail}.head.jsonl"));
    keep(&head_file, std::slice::from_ref(head))?;
    let statements_file = args.out.join(format!("{trail}.statements{suffix}.jsonl"));
    keep(&statements_file, statements)?;
    report.line(format!("head       statement {index}: {}", head_file.display()));
    report.line(format!(
        "kept       {}, not verified: {}",
        count(statements.len(), "statement"),
        statements_file.display()
    ));
    report.member("head_index", index);
    report.member("head_file", head_file.display().to_string());
    report.member("statements", statements.len());
    report.member("statements_file", statements_file.display().to_string());
    let next = statements.last().map_or(args.from, |last| last.body().index.saturating_add(1));
    let more = disorder.is_none() && next <= index;
    report.member("next", more.then_some(next));
    if more {
        let detail = format!(
            "the trail has more statements than --limit: --from {next} fetches those from there on"
        );
        report.fail(Verdict::NotEvaluated, "CLIENT.MORE", &detail);
    }
    if let Some(disorder) = disorder {
        report.fail(Verdict::DoesNotHold, "CLIENT.WITNESS_ORDER", &disorder.to_string());
    }
    Ok(())
}

fn keep(path: &Path, statements: &[Statement]) -> Result<(), ClientError> {
    let lines: String = statements.iter().map(|statement| statement.to_line() + "\n").collect();
    Ok(durable::write_replace(path, lines.as_bytes())?)
}
