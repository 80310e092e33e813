//! `anchor record status`: where a record stands, and what may come next.

use std::fmt::Write as _;

use anchorlog_proto::gad::entry::EntryType;
use anchorlog_verifier::report::Verdict;
use serde_json::{Value, json};

use super::{Report, attempt, findings};
use crate::record::{NodeStanding, Standing, describe};

/// Show where every node stands and what may be recorded next; nothing is changed, and no lock is needed.
///
/// Exit code 1 when the history breaks rules.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The directory of the record.
    #[arg(value_name = "RECORD")]
    directory: std::path::PathBuf,
}

pub(super) fn run(args: &Args) -> Report {
    attempt("record status", |report| {
        let standing = Standing::read(&args.directory)?;
        report.member("plan_hash", standing.plan_hash.to_string());
        report.member("entries", standing.entries);
        report.member("head", standing.head.to_string());
        report.member("open_session", standing.open_session.clone());
        report.member("terminal", standing.terminal.map(EntryType::as_str));
        report.member("sealed", standing.sealed);
        report.member("torn_bytes", standing.torn);
        report.member("next", standing.next.clone());
        let nodes: Vec<Value> = standing.nodes.iter().map(node).collect();
        report.member("nodes", nodes);
        report.line(format!("plan {}", standing.plan_hash));
        report.line(format!("{} entries, head {}", standing.entries, standing.head));
        if let Some(session) = &standing.open_session {
            report.line(format!("session {session} is open"));
        }
        if let Some(terminal) = standing.terminal {
            report.line(format!("the run is over: {terminal}"));
        }
        for node in &standing.nodes {
            report.line(line(node));
        }
        report.line(format!("next: {}", standing.next.join(", ")));
        if standing.torn > 0 {
            report.line(format!(
                "{} bytes of a line that was never acknowledged will be cut off",
                standing.torn
            ));
        }
        if !standing.defects.is_empty() {
            report.member("findings", findings(&standing.defects));
            for defect in &standing.defects {
                report.fail(Verdict::DoesNotHold, defect.code.as_str(), &describe(defect));
            }
        }
        Ok(())
    })
}

fn node(node: &NodeStanding) -> Value {
    json!({
        "node": node.id,
        "status": node.status.as_str(),
        "ready": node.ready,
        "attempt": node.attempt,
        "retries": node.retries.0,
        "retries_allowed": node.retries.1,
        "judged": node.judged.0,
        "tests": node.judged.1,
        "open_flag": node.open_flag,
        "next": node.next,
    })
}

fn line(node: &NodeStanding) -> String {
    let mut line = format!("  {:<20} {:<14}", node.id, node.status);
    if node.attempt > 0 {
        // A String takes everything.
        let _ = write!(
            line,
            " attempt {}, {}/{} tests, {}/{} retries",
            node.attempt, node.judged.0, node.judged.1, node.retries.0, node.retries.1
        );
    }
    if node.open_flag {
        line.push_str(", open flag");
    }
    if !node.next.is_empty() {
        let _ = write!(line, "  -> {}", node.next.join(", "));
    }
    line.trim_end().to_owned()
}
