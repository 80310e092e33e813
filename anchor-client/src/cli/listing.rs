//! `anchor lookup`, `anchor trail` and `anchor submitter`: what the log holds, each entry proved to be there.

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{StatementKind, Trail};
use anchorlog_verifier::report::Verdict;
use serde_json::{Value, json};

use super::log_args::{LogArgs, announce_first_use};
use super::report::{Form, Report};
use crate::error::ClientError;
use crate::log::{Listing, Log, ProvenEntry};

/// Look up a digest: which entries commit to it.
///
/// Every entry shown is proved to be in the log. Exit code 1 if there is none. That a log holds an entry
/// and leaves it out here can only be found by reading the whole log.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  anchor lookup --log http://127.0.0.1:7390 sha256:2cf24dba… --kind core_root")]
pub(super) struct LookupArgs {
    #[command(flatten)]
    log: LogArgs,
    /// The digest.
    #[arg(value_name = "DIGEST")]
    digest: Digest,
    /// Only entries of this kind.
    #[arg(long, value_name = "KIND")]
    kind: Option<StatementKind>,
}

/// List the entries of a trail, each proved to be in the log.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  anchor trail --log http://127.0.0.1:7390 sha256:9f86d081… --limit 10000")]
pub(super) struct TrailArgs {
    #[command(flatten)]
    log: LogArgs,
    /// The trail.
    #[arg(value_name = "TRAIL")]
    trail: Trail,
    #[command(flatten)]
    range: RangeArgs,
}

/// List what one key has signed, each entry proved to be in the log.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  anchor submitter --log http://127.0.0.1:7390 gadk1:9f86d081…")]
pub(super) struct SubmitterArgs {
    #[command(flatten)]
    log: LogArgs,
    /// Identifier of the submitter's key.
    #[arg(value_name = "KEY_ID")]
    key_id: SignerId,
    #[command(flatten)]
    range: RangeArgs,
}

/// Which part of a listing.
#[derive(Clone, Copy, Debug, clap::Args)]
struct RangeArgs {
    /// First index to list.
    #[arg(long, value_name = "INDEX", default_value_t = 0)]
    from: u64,
    /// The most entries to list.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    limit: u64,
}

pub(super) async fn lookup(args: LookupArgs, _form: Form) -> Report {
    let mut report = Report::new("lookup");
    report.member("log", args.log.log.as_str());
    report.member("digest", args.digest.to_string());
    let outcome = async {
        let log = args.log.open()?;
        let listing = log.lookup(&args.digest, args.kind).await;
        finish(&mut report, &log, listing)
    };
    match outcome.await {
        Ok(0) => {
            let detail = format!("the log names no entry with the digest {}", args.digest);
            report.fail(Verdict::DoesNotHold, "CLIENT.NOT_LOGGED", &detail);
        }
        Ok(_) => {}
        Err(error) => report.error(&error),
    }
    report
}

pub(super) async fn trail(args: TrailArgs, _form: Form) -> Report {
    let mut report = Report::new("trail");
    report.member("log", args.log.log.as_str());
    report.member("trail", args.trail.as_str());
    let outcome = async {
        let log = args.log.open()?;
        let listing = log.trail(&args.trail, args.range.from, args.range.limit).await;
        finish(&mut report, &log, listing)
    };
    if let Err(error) = outcome.await {
        report.error(&error);
    }
    report
}

pub(super) async fn submitter(args: SubmitterArgs, _form: Form) -> Report {
    let mut report = Report::new("submitter");
    report.member("log", args.log.log.as_str());
    report.member("key_id", args.key_id.to_string());
    let outcome = async {
        let log = args.log.open()?;
        let listing = log.submitter(&args.key_id, args.range.from, args.range.limit).await;
        finish(&mut report, &log, listing)
    };
    if let Err(error) = outcome.await {
        report.error(&error);
    }
    report
}

/// Reports a listing; how many entries it has.
fn finish(
    report: &mut Report,
    log: &Log,
    listing: Result<Listing, ClientError>,
) -> Result<usize, ClientError> {
    announce_first_use(log);
    let listing = listing?;
    for entry in &listing.entries {
        report.line(line_of(entry));
    }
    for conflict in &listing.conflicts {
        report.line(format!(
            "conflict: entries {:?} claim sequence {} with different digests",
            conflict.indexes, conflict.sequence
        ));
    }
    if let Some(next) = listing.next {
        report.line(format!("there is more: --from {next}"));
    }
    if listing.truncated {
        report.line("there is more than fits into one answer; --kind narrows it down");
    }
    report.member("entries", listing.entries.iter().map(value_of).collect::<Vec<_>>());
    report.member("next", listing.next);
    report.member("truncated", listing.truncated);
    report.member("tree_size", listing.size);
    let conflicts = listing
        .conflicts
        .iter()
        .map(|conflict| json!({"sequence": conflict.sequence, "indexes": conflict.indexes}));
    report.member("conflicts", conflicts.collect::<Vec<_>>());
    Ok(listing.entries.len())
}

fn line_of(entry: &ProvenEntry) -> String {
    let statement = entry.entry.statement();
    let trail = statement.trail.as_ref().map(|trail| format!("  {trail}")).unwrap_or_default();
    let sequence = statement.sequence.map(|sequence| format!(" #{sequence}")).unwrap_or_default();
    let signer = entry.entry.signer().map(|signer| format!("  by {signer}")).unwrap_or_default();
    format!("{}  {} {}{trail}{sequence}{signer}", entry.index, statement.kind, statement.digest)
}

fn value_of(entry: &ProvenEntry) -> Value {
    let statement = entry.entry.statement();
    json!({
        "index": entry.index,
        "leaf_hash": entry.entry.leaf_hash().to_string(),
        "kind": statement.kind.as_str(),
        "digest": statement.digest.to_string(),
        "trail": statement.trail.as_ref().map(ToString::to_string),
        "sequence": statement.sequence,
        "key_id": entry.entry.signer().map(|signer| signer.to_string()),
    })
}
