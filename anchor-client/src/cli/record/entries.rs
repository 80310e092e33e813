//! Commands that record an entry which nobody signs, and the freeze.

use std::path::PathBuf;

use anchorlog_proto::gad::payload::{
    ExecutorIdentity, ExitStatus, OutputStatus, Quiescence, RemediationAction,
};
use anchorlog_proto::gad::plan::Fence;

use super::args::Place;
use super::values::{self, DigestOf, keep_file};
use super::{Report, attempt, one, show};
use crate::record::{
    Baseline, Commission, Document, ExecutorEnd, Observed, RecordError, Recorder, SystemClock,
};

/// Start a record: the plan is checked, and frozen as entry 0.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  anchor record freeze run --plan plan.json --operator operator.json"
)]
pub(in crate::cli) struct FreezeArgs {
    #[command(flatten)]
    place: Place,
    /// The plan (gad.plan/1), in any spelling; it is kept in the canonical one.
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// The operator record (gad.operator/1).
    #[arg(long, value_name = "FILE")]
    operator: PathBuf,
}

pub(super) fn freeze(args: &FreezeArgs) -> Report {
    attempt("record freeze", |report| {
        let plan = Document::plan(&args.plan)?;
        let operator = Document::operator(&args.operator)?;
        let directory = &args.place.directory;
        let (engine, clock) = (args.place.engine()?, Box::new(SystemClock));
        let recorder = Recorder::freeze(directory, &plan, &operator, engine, clock)?;
        let standing = recorder.standing();
        report.member("plan_hash", standing.plan_hash.to_string());
        report.member("seq", 0);
        report.member("h", standing.head.to_string());
        report.line(format!("plan {} is frozen as entry 0", standing.plan_hash));
        Ok(())
    })
}

/// Who executes.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct IdentityArgs {
    /// The executor's model.
    #[arg(long)]
    model: String,
    /// Its version.
    #[arg(long = "model-version", value_name = "VERSION")]
    version: String,
    /// Who provides it.
    #[arg(long)]
    provider: String,
}

impl IdentityArgs {
    pub(super) fn identity(&self) -> ExecutorIdentity<'_> {
        ExecutorIdentity { model: &self.model, version: &self.version, provider: &self.provider }
    }
}

/// Record that a session is commissioned, before the executor is spawned.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("workspace-before").required(true))]
pub(in crate::cli) struct DispatchArgs {
    #[command(flatten)]
    place: Place,
    /// A node it covers; give it once for each.
    #[arg(long = "node", required = true, value_name = "ID")]
    nodes: Vec<String>,
    /// The session's id; made up when absent.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    identity: IdentityArgs,
    /// The file with the instruction; it is kept as an artifact.
    #[arg(long, value_name = "FILE")]
    instruction: PathBuf,
    /// The `workspace_baseline_digest`, where the engine took it by itself.
    #[arg(long, value_name = "DIGEST", group = "workspace-before")]
    baseline: Option<anchorlog_proto::Digest>,
    /// The workspace, to be looked at now.
    #[arg(long, value_name = "DIR", group = "workspace-before")]
    workspace: Option<PathBuf>,
    /// The anchor file of the plan's commitment, to bind the dispatch to.
    #[arg(long, value_name = "FILE")]
    precommit: Option<DigestOf>,
}

pub(super) fn dispatch(args: &DispatchArgs) -> Report {
    one("record dispatch", &args.place, |recorder| {
        let session_id = args.session.clone().unwrap_or_else(|| recorder.fresh_session_id());
        let name = format!("{session_id}/instruction");
        let instruction = keep_file(recorder, &name, &args.instruction)?;
        let baseline = match (&args.baseline, &args.workspace) {
            (Some(digest), _) => *digest,
            (None, Some(workspace)) => Baseline::take(workspace, &Fence::default())?.digest(),
            (None, None) => anchorlog_proto::Digest::of(b""),
        };
        let nodes: Vec<&str> = args.nodes.iter().map(String::as_str).collect();
        recorder.dispatch(&Commission {
            session_id: &session_id,
            nodes: &nodes,
            executor: args.identity.identity(),
            instruction: &instruction,
            baseline,
            precommit: args.precommit.as_ref().map(DigestOf::digest).transpose()?,
        })
    })
}

/// Record how the executor of the open session ended.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ExitArgs {
    #[command(flatten)]
    place: Place,
    /// completed (only with exit code 0), crashed, `timed_out`, killed or malformed.
    #[arg(long, value_parser = values::exit_status)]
    status: ExitStatus,
    /// Its exit code; a signal is its number, negative.
    #[arg(long, allow_negative_numbers = true)]
    exit_code: Option<i32>,
    /// The file with what it had written; it is kept as an artifact.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn exit(args: &ExitArgs) -> Report {
    one("record exit", &args.place, |recorder| {
        let output = match &args.output {
            None => None,
            Some(path) => {
                let name = format!("{}/output", session_name(recorder)?);
                Some(keep_file(recorder, &name, path)?)
            }
        };
        recorder.executor_exit(&ExecutorEnd {
            status: args.status,
            exit_code: args.exit_code,
            output: output.as_ref(),
        })
    })
}

/// Record what the engine observed of the open session, which ends with it.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ResultArgs {
    #[command(flatten)]
    place: Place,
    /// The file with the delta; it is kept as an artifact.
    #[arg(long, value_name = "FILE")]
    delta: Option<PathBuf>,
    /// captured, partial or `not_recorded`; without it captured exactly when there is a delta.
    #[arg(long, value_parser = values::output_status)]
    output_status: Option<OutputStatus>,
    /// A path that was touched; give it once for each.
    #[arg(long = "touched", value_name = "PATH")]
    touched: Vec<String>,
    /// quiesced, isolated or `not_reached`.
    #[arg(long, value_parser = values::quiescence)]
    quiescence: Quiescence,
}

pub(super) fn result(args: &ResultArgs) -> Report {
    one("record result", &args.place, |recorder| {
        let delta = match &args.delta {
            None => None,
            Some(path) => {
                let name = format!("{}/delta", session_name(recorder)?);
                Some(keep_file(recorder, &name, path)?)
            }
        };
        let derived =
            if delta.is_some() { OutputStatus::Captured } else { OutputStatus::NotRecorded };
        recorder.execution_result(&Observed {
            delta: delta.as_ref(),
            output_status: args.output_status.unwrap_or(derived),
            touched: &args.touched,
            quiescence: args.quiescence,
        })
    })
}

fn session_name(recorder: &Recorder) -> Result<String, RecordError> {
    recorder
        .standing()
        .open_session
        .ok_or_else(|| RecordError::State { subject: "session".to_owned(), reason: "none is open" })
}

/// Record what the executor says about a node: testimony.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ClaimArgs {
    #[command(flatten)]
    place: Place,
    /// The node.
    #[arg(long, value_name = "ID")]
    node: String,
    /// What it says.
    #[arg(long)]
    text: String,
}

pub(super) fn claim(args: &ClaimArgs) -> Report {
    one("record claim", &args.place, |recorder| recorder.claim(&args.node, &args.text))
}

/// Record that a session touched what a node's fence doesn't admit.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct FlagArgs {
    #[command(flatten)]
    place: Place,
    /// The node.
    #[arg(long, value_name = "ID")]
    node: String,
    /// A path to flag; without any, all that the session touched outside of every fence of its nodes.
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
}

pub(super) fn flag(args: &FlagArgs) -> Report {
    attempt("record flag", |report| {
        let mut recorder = args.place.open(report)?;
        let paths = (!args.paths.is_empty()).then_some(args.paths.as_slice());
        match recorder.flag(&args.node, paths)? {
            Some(entry) => show(report, entry),
            None => report.line("nothing lies outside of the fence; nothing was recorded"),
        }
        Ok(())
    })
}

/// Record what was done about a flag or a refusal.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RemediationArgs {
    #[command(flatten)]
    place: Place,
    /// The node.
    #[arg(long, value_name = "ID")]
    node: String,
    /// removal (of flagged work) or revision (of refused work).
    #[arg(long, value_parser = values::remediation_action)]
    action: RemediationAction,
}

pub(super) fn remediation(args: &RemediationArgs) -> Report {
    one("record remediation", &args.place, |recorder| recorder.remediation(&args.node, args.action))
}

/// A node.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct NodeArgs {
    #[command(flatten)]
    pub(super) place: Place,
    /// The node.
    #[arg(long, value_name = "ID")]
    pub(super) node: String,
}

/// Record that a human is asked to approve a node.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct GateRequestArgs {
    #[command(flatten)]
    place: Place,
    /// The node.
    #[arg(long, value_name = "ID")]
    node: String,
    /// An entry it stands on; without any, all that the engine recorded about it in this attempt.
    #[arg(long = "finding", value_name = "SEQ")]
    findings: Vec<u64>,
}

pub(super) fn gate_request(args: &GateRequestArgs) -> Report {
    one("record gate-request", &args.place, |recorder| {
        let findings = (!args.findings.is_empty()).then_some(args.findings.as_slice());
        recorder.gate_request(&args.node, findings)
    })
}

/// Record that a human is asked again after a refusal, because something changed.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RevisedRequestArgs {
    #[command(flatten)]
    place: Place,
    /// The node.
    #[arg(long, value_name = "ID")]
    node: String,
    /// An entry it stands on; without any, all that the engine recorded about it in this attempt.
    #[arg(long = "finding", value_name = "SEQ")]
    findings: Vec<u64>,
    /// The entry that records the change; without it the latest one.
    #[arg(long, value_name = "SEQ")]
    change: Option<u64>,
}

pub(super) fn revised_request(args: &RevisedRequestArgs) -> Report {
    one("record revised-request", &args.place, |recorder| {
        let findings = (!args.findings.is_empty()).then_some(args.findings.as_slice());
        recorder.revised_request(&args.node, findings, args.change)
    })
}

/// Disclose defects after the end of the run; signed by the engine.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct NoticeArgs {
    #[command(flatten)]
    place: Place,
    /// A defect; give it once for each.
    #[arg(long = "defect", required = true, value_name = "TEXT")]
    defects: Vec<String>,
}

pub(super) fn notice(args: &NoticeArgs) -> Report {
    one("record notice", &args.place, |recorder| recorder.notice(&args.defects))
}

/// Put typed claims (gad.claims/1) beside the record; they leave with its export, and have to hold then.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ClaimsArgs {
    #[command(flatten)]
    place: Place,
    /// The claims.
    #[arg(value_name = "FILE")]
    claims: PathBuf,
}

pub(super) fn claims(args: &ClaimsArgs) -> Report {
    attempt("record claims", |report| {
        let claims = Document::claims(&args.claims)?;
        args.place.open(report)?.set_claims(&claims)?;
        report.line("claims.json is in place");
        Ok(())
    })
}
