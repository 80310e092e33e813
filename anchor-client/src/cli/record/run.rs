//! `anchor record run`: a session under supervision, from dispatch to result.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anchorlog_proto::gad::payload::ExitStatus;
use anchorlog_proto::gad::plan::Fence;
use anchorlog_verifier::report::Verdict;
use serde_json::json;

use super::args::Place;
use super::entries::IdentityArgs;
use super::values::{DigestOf, keep_file};
use super::{Report, attempt, show};
use crate::record::RecordError;
use crate::record::supervise::{Executor, Session, Supervised};

/// Run an executor as a session: dispatch, exit and result are recorded around it.
///
/// The workspace is looked at before and after; what was added, changed or removed is the touched surface. The
/// executor runs in its workspace and in a process group of its own, which is ended with it. Its standard
/// output and error are kept as one artifact. While it runs, the record isn't locked: checkpoints and
/// snapshots are possible. Exit code 1 when it didn't complete; the record says how it ended.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  anchor record run record --node parser --workspace src --instruction task.md --timeout 600 \\\n    --model m --model-version 1 --provider p -- ./agent --task parser"
)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    place: Place,
    /// A node it covers; give it once for each.
    #[arg(long = "node", required = true, value_name = "ID")]
    nodes: Vec<String>,
    /// Where the executor works. The record must lie outside of it.
    #[arg(long, value_name = "DIR")]
    workspace: PathBuf,
    /// What isn't looked at there: a path, or a folder with a final `/`.
    #[arg(long = "ignore", value_name = "PATH")]
    ignored: Vec<String>,
    #[command(flatten)]
    identity: IdentityArgs,
    /// The file with the instruction; it is kept as an artifact.
    #[arg(long, value_name = "FILE")]
    instruction: PathBuf,
    /// The anchor file of the plan's commitment, to bind the dispatch to.
    #[arg(long, value_name = "FILE")]
    precommit: Option<DigestOf>,
    /// After how many seconds it is told to end.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
    /// How many seconds it then has before it is killed.
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    grace: u64,
    /// The command.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(super) fn run(args: Args) -> Report {
    attempt("record run", |report| {
        let cancel = on_interrupt();
        let ignored: Vec<Box<str>> = args.ignored.iter().map(|path| path.as_str().into()).collect();
        let ignored = Fence::new(ignored)
            .ok_or_else(|| RecordError::ArtifactName { name: args.ignored.join(" ") })?;
        let executor = Executor {
            command: args.command,
            workspace: args.workspace,
            ignored,
            timeout: Duration::from_secs(args.timeout),
            grace: Duration::from_secs(args.grace),
        };
        let mut recorder = args.place.open(report)?;
        let name = format!("{}/instruction", recorder.fresh_session_id());
        let instruction = keep_file(&mut recorder, &name, &args.instruction)?;
        let nodes: Vec<&str> = args.nodes.iter().map(String::as_str).collect();
        let precommit = args.precommit.as_ref().map(DigestOf::digest).transpose()?;
        let identity = args.identity.identity();
        let session =
            Session::begin(&mut recorder, &nodes, identity, &instruction, precommit, executor)?;
        // Others may checkpoint and take snapshots while it runs.
        drop(recorder);
        let ended = session.run(&cancel);
        let mut recorder = args.place.open(report)?;
        let supervised = ended.record(&mut recorder)?;
        tell(report, &supervised);
        Ok(())
    })
}

fn tell(report: &mut Report, session: &Supervised) {
    report.member("session", session.session_id.as_str());
    for (name, recorded) in
        [("dispatch", session.dispatch), ("exit", session.exit), ("result", session.result)]
    {
        report.member(name, json!({"seq": recorded.seq, "h": recorded.h.to_string()}));
    }
    report.member("status", session.status.as_str());
    report.member("exit_code", session.exit_code);
    report.member("touched", session.touched.as_slice());
    report.member("quiescence", session.quiescence.as_str());
    report.member("output", session.output.path.as_str());
    report.line(format!(
        "session {}: {} (entries {} to {}), {} paths touched, output in {}",
        session.session_id,
        session.status,
        session.dispatch.seq,
        session.result.seq,
        session.touched.len(),
        session.output.path,
    ));
    if let Some(error) = &session.spawn_error {
        let detail = format!("the command can't be started: {error}");
        report.fail(Verdict::DoesNotHold, "RECORD.SPAWN", &detail);
    } else if session.status != ExitStatus::Completed {
        let detail = format!("the executor didn't complete: {}", session.status);
        report.fail(Verdict::DoesNotHold, "RECORD.NOT_COMPLETED", &detail);
    }
}

/// A flag that SIGINT and SIGTERM set: the executor runs in a group of its own, which they don't reach.
fn on_interrupt() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async move {
            use tokio::signal::unix::{SignalKind, signal};
            let streams = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
            let (Ok(mut interrupt), Ok(mut terminate)) = streams else { return };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            set.store(true, Ordering::Relaxed);
        });
    });
    flag
}

/// End an open session whose supervisor is gone: it crashed, and nothing is known of what it did.
///
/// Make sure first that its executor doesn't run any more.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct LostArgs {
    #[command(flatten)]
    place: Place,
}

pub(super) fn lost(args: &LostArgs) -> Report {
    attempt("record lost", |report| {
        let (_, result) = args.place.open(report)?.lost()?;
        show(report, result);
        Ok(())
    })
}
