//! `anchor checkpoints submit`: lines to a holder or a witness, receipts or statements back.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anchorlog_proto::jp::witness::{AuditCheckpoint, MAX_SUBMISSION_BYTES, Statement};
use anchorlog_verifier::report::Verdict;
use serde_json::{Value, json};

use super::{lines, required};
use crate::address::LogUrl;
use crate::api::HeldConflict;
use crate::checkpoint_witness::{Disagreement, Witnessed};
use crate::cli::log_args::{CommonArgs, announce_first_use};
use crate::cli::report::{Report, announce, count};
use crate::cli::submit::value_of;
use crate::durable;
use crate::error::ClientError;
use crate::receipt_store::ReceiptStore;
use crate::submit::Kept;
use crate::token::Token;

/// Hand over checkpoint lines as they were printed, and keep what comes back.
///
/// A log holds every line's digest at its place in its trail; the verified receipts are kept. Where it held
/// another digest for a place before, both are kept, both are shown, and the exit code is 1. A checkpoint
/// witness signs the last line of each trail; its statements are kept unverified (`verifier witness` verifies
/// them). Interrupted, run it again with the same lines: what has arrived is found and gets the same answer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jpack audit checkpoint --since 120 | anchor checkpoints submit --log https://log.example --token-file desk.token
  anchor checkpoints submit --log https://log.example checkpoints.jsonl --out receipts/
  anchor checkpoints submit --witness https://gateway.example --token-file desk.token --out statements/ lines.jsonl")]
pub(in crate::cli) struct Args {
    /// Address of the log that holds them.
    #[arg(long, value_name = "URL", env = "ANCHORLOG_LOG")]
    log: Option<LogUrl>,
    /// Address of a checkpoint witness instead.
    #[arg(long, value_name = "URL")]
    witness: Option<LogUrl>,
    #[command(flatten)]
    common: CommonArgs,
    /// File with the bearer token that the holder or witness gave you, readable by its owner alone.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Lines of one request.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u16).range(1..=1000))]
    at_once: u16,
    /// Directory for receipts or statements. Without it receipts are kept in the state directory, and
    /// statements are only shown.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The lines, each ended by a newline; - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

pub(super) async fn run(args: Args) -> Report {
    let mut report = Report::new("checkpoints submit");
    let lines = match lines(&args.file) {
        Ok(lines) => lines,
        Err(error) => {
            error.report(&mut report);
            return report;
        }
    };
    let submitted = match &args.witness {
        Some(witness) => to_witness(&args, witness, &lines, &mut report).await,
        None => to_log(&args, &lines, &mut report).await,
    };
    if let Err(error) = submitted {
        report.error(&error);
    }
    report
}

/// The token, with a warning if the way there can be read by others.
fn token(args: &Args, address: &LogUrl) -> Result<Option<Token>, ClientError> {
    let Some(path) = &args.token_file else { return Ok(None) };
    if !address.is_https() {
        announce("warning: the address isn't https; whoever sees the connection sees the token");
    }
    Ok(Some(Token::read(path)?))
}

async fn to_log(
    args: &Args,
    lines: &[AuditCheckpoint],
    report: &mut Report,
) -> Result<(), ClientError> {
    let Some(address) = required(args.log.as_ref(), report) else { return Ok(()) };
    report.member("log", address.as_str());
    let token = token(args, &address)?;
    let state = args.common.state()?;
    let store = match &args.out {
        Some(directory) => ReceiptStore::Directory(directory.clone()),
        None => ReceiptStore::State { state, log: address.clone() },
    };
    let log = args.common.open(address)?;
    let mut done = Done::default();
    let mut outcome = Ok(());
    for lines in lines.chunks(usize::from(args.at_once)) {
        let held = async {
            let held = log.hold(lines, token.as_ref()).await?;
            let paths = store.keep(&held.accepted)?;
            Ok::<_, ClientError>((held, paths))
        };
        match held.await {
            Ok((held, paths)) => {
                let kept = held.accepted.into_iter().zip(paths);
                done.take(kept.map(|(accepted, path)| Kept { accepted, path }));
                done.conflicts.extend(held.conflicts);
            }
            Err(error) => {
                outcome = Err(error);
                break;
            }
        }
    }
    announce_first_use(&log);
    done.report(lines.len(), report);
    outcome
}

/// What has been handed over to a log.
#[derive(Default)]
struct Done {
    receipts: Vec<Value>,
    new: usize,
    conflicts: Vec<HeldConflict>,
}

impl Done {
    fn take(&mut self, kept: impl Iterator<Item = Kept>) {
        for kept in kept {
            self.new += usize::from(kept.accepted.duplicate != Some(true));
            self.receipts.push(value_of(&kept, None));
        }
    }

    fn report(self, lines: usize, report: &mut Report) {
        let Self { receipts, new, conflicts } = self;
        let held = receipts.len();
        report.line(format!("{} held, {new} of them new, receipts kept", count(held, "line")));
        if held < lines {
            let left = count(lines - held, "line");
            report.line(format!("{left} not handed over; the same command goes on with them"));
        }
        report.member("lines", lines);
        report.member("held", held);
        report.member("new", new);
        report.member("receipts", receipts);
        for conflict in &conflicts {
            let HeldConflict { held, offered, sequence, trail } = conflict;
            let detail = format!(
                "trail {trail}, sequence {sequence}: the log held {} (entry {}) before, and was offered {} \
                 (entry {}); both are evidence",
                held.digest, held.index, offered.digest, offered.index
            );
            report.fail(Verdict::DoesNotHold, "trail.conflict", &detail);
        }
        let conflicts = conflicts.iter().map(|conflict| {
            let line = |line: &crate::api::HeldLine| {
                json!({"digest": line.digest.to_string(), "index": line.index})
            };
            json!({
                "trail": conflict.trail.as_str(),
                "sequence": conflict.sequence,
                "held": line(&conflict.held),
                "offered": line(&conflict.offered),
            })
        });
        report.member("conflicts", conflicts.collect::<Vec<_>>());
    }
}

async fn to_witness(
    args: &Args,
    address: &LogUrl,
    lines: &[AuditCheckpoint],
    report: &mut Report,
) -> Result<(), ClientError> {
    report.member("witness", address.as_str());
    report.member("lines", lines.len());
    let token = token(args, address)?;
    let witness = args.common.witness(address.clone())?;
    let mut statements = Vec::new();
    let mut disagreements = Vec::new();
    let mut outcome = Ok(());
    for body in bodies(lines, usize::from(args.at_once)) {
        let answered = async {
            let answer = witness.submit(&body, token.as_ref()).await?;
            let kept = match &answer {
                Witnessed::Signed(statement) => vec![keep(args.out.as_deref(), statement)?],
                Witnessed::Refused(refused) => refused
                    .statements
                    .iter()
                    .map(|statement| keep(args.out.as_deref(), statement))
                    .collect::<Result<_, _>>()?,
            };
            Ok::<_, ClientError>((answer, kept))
        };
        match answered.await {
            Ok((Witnessed::Signed(statement), kept)) => {
                report.line(line_of(&statement));
                statements.extend(kept);
            }
            Ok((Witnessed::Refused(refused), kept)) => {
                report.fail(Verdict::DoesNotHold, "CLIENT.WITNESS", &words(&body, &refused));
                disagreements.push(json!({"reason": refused.reason, "statements": kept}));
            }
            Err(error) => {
                outcome = Err(error);
                break;
            }
        }
    }
    report.member("statements", statements);
    report.member("disagreements", disagreements);
    outcome
}

/// What one request carries: lines of one trail, sequences increasing, within the bounds. Lines keep their order
/// within their trail.
fn bodies(lines: &[AuditCheckpoint], most: usize) -> Vec<Vec<AuditCheckpoint>> {
    let mut bodies: Vec<Vec<AuditCheckpoint>> = Vec::new();
    // Which body a trail is at, and how many bytes it has.
    let mut open: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    for line in lines {
        let bytes = line.to_line().len() + 1;
        let fits = open.get_mut(&line.trail).and_then(|(at, size)| {
            let body = bodies.get_mut(*at)?;
            let follows = body.last().is_some_and(|last| last.sequence < line.sequence);
            let room = body.len() < most && *size + bytes <= MAX_SUBMISSION_BYTES;
            (follows && room).then(|| {
                *size += bytes;
                body.push(*line);
            })
        });
        if fits.is_none() {
            open.insert(line.trail, (bodies.len(), bytes));
            bodies.push(vec![*line]);
        }
    }
    bodies
}

/// Keeps a statement in a file of its own, if there is a place for it.
fn keep(out: Option<&Path>, statement: &Statement) -> Result<Value, ClientError> {
    let body = statement.body();
    let line = statement.to_line();
    let mut value = json!({
        "trail": body.checkpoint.trail.to_string(),
        "sequence": body.checkpoint.sequence,
        "index": body.index,
        "kind": body.kind.as_str(),
        "statement": line,
    });
    if let Some(directory) = out {
        durable::create_dir_all(directory)?;
        let path = directory.join(format!("{}.{}.jsonl", body.checkpoint.trail, body.index));
        durable::write_replace(&path, (line + "\n").as_bytes())?;
        if let Some(object) = value.as_object_mut() {
            object.insert("file".to_owned(), path.display().to_string().into());
        }
    }
    Ok(value)
}

fn line_of(statement: &Statement) -> String {
    let body = statement.body();
    format!(
        "{}  sequence {} in statement {} of {} (not verified)",
        body.checkpoint.trail, body.checkpoint.sequence, body.index, body.witnessed_at
    )
}

/// A disagreement for people: both digests where there are two.
fn words(body: &[AuditCheckpoint], refused: &Disagreement) -> String {
    let trail = body.first().map(|line| line.trail.to_string()).unwrap_or_default();
    let mut text = format!("trail {trail}: {} ({})", refused.reason, refused.error);
    for statement in &refused.statements {
        let said = statement.body();
        let (kind, line) = (said.kind.as_str(), &said.checkpoint);
        // A String takes everything.
        let _ = write!(
            text,
            "; statement {} ({kind}): sequence {}, record {}",
            said.index, line.sequence, line.record_digest
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use anchorlog_proto::Digest;
    use anchorlog_proto::jp::witness::TrailId;

    use super::*;

    #[test]
    fn a_body_is_of_one_trail_and_increases() {
        let line = |trail: u8, sequence: u64| {
            let trail = TrailId::from_bytes([trail; 16]);
            AuditCheckpoint::new(trail, sequence, Digest::of(b"record")).unwrap()
        };
        let given = [line(1, 1), line(2, 1), line(1, 2), line(1, 2), line(2, 9), line(1, 3)];
        let bodies = bodies(&given, 2);
        assert_eq!(
            bodies,
            [
                vec![line(1, 1), line(1, 2)],
                vec![line(2, 1), line(2, 9)],
                vec![line(1, 2), line(1, 3)]
            ]
        );
    }
}
