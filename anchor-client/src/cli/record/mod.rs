//! `anchor record`: the record writer, one entry a command.
//!
//! Every command opens the record, does its one thing, and closes it again; so whatever happens between two
//! of them, the next one stands where the witness ends.

mod args;
mod entries;
mod judging;
mod plan;
mod run;
mod seal;
mod status;
mod values;

use anchorlog_verifier::gad::GadFinding;
use serde_json::{Value, json};

use super::report::{Answer, Report};
use crate::record::{RecordError, Recorded, Recorder};

/// Record a governed run: entries at their moment, refused when a rule forbids them, exported when valid.
///
/// The record is a directory: plan.json, operator.json, witness.jsonl, artifacts/. Exit codes: 0 recorded, 1
/// refused by a rule or not valid, 2 could not be tried, 3 internal error.
#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Command {
    /// Check plans, hash them, make one.
    #[command(subcommand)]
    Plan(plan::Command),
    Freeze(entries::FreezeArgs),
    Status(status::Args),
    Dispatch(entries::DispatchArgs),
    Exit(entries::ExitArgs),
    Result(entries::ResultArgs),
    Run(run::Args),
    Lost(run::LostArgs),
    Claim(entries::ClaimArgs),
    Flag(entries::FlagArgs),
    Remediation(entries::RemediationArgs),
    ScopeClosed(judging::ScopeClosedArgs),
    Verdict(judging::VerdictArgs),
    Probe(judging::ProbeArgs),
    GateRequest(entries::GateRequestArgs),
    GateBody(judging::GateBodyArgs),
    Answer(judging::AnswerArgs),
    RevisedRequest(entries::RevisedRequestArgs),
    /// Record that a failed node may be dispatched again.
    Retry(entries::NodeArgs),
    /// Record that a failed node has no retry left.
    Trip(entries::NodeArgs),
    /// Sign every entry since the last checkpoint.
    Checkpoint(args::Place),
    /// Record that every node is good: the run is completed.
    Complete(args::Place),
    /// Record that the run stops; what is unresolved is named.
    Halt(args::Place),
    Supersede(judging::SupersedeArgs),
    Notice(entries::NoticeArgs),
    Claims(entries::ClaimsArgs),
    Check(seal::CheckArgs),
    Snapshot(seal::ExportArgs),
    Export(seal::ExportArgs),
}

pub(in crate::cli) fn run(command: Command) -> Answer {
    match command {
        Command::Plan(command) => return plan::run(command),
        Command::GateBody(args) => return judging::gate_body(&args),
        _ => {}
    }
    let report = match command {
        Command::Plan(_) | Command::GateBody(_) => Report::new("record"),
        Command::Freeze(args) => entries::freeze(&args),
        Command::Status(args) => status::run(&args),
        Command::Dispatch(args) => entries::dispatch(&args),
        Command::Exit(args) => entries::exit(&args),
        Command::Result(args) => entries::result(&args),
        Command::Run(args) => run::run(args),
        Command::Lost(args) => run::lost(&args),
        Command::Claim(args) => entries::claim(&args),
        Command::Flag(args) => entries::flag(&args),
        Command::Remediation(args) => entries::remediation(&args),
        Command::ScopeClosed(args) => judging::scope_closed(&args),
        Command::Verdict(args) => judging::verdict(&args),
        Command::Probe(args) => judging::probe(&args),
        Command::GateRequest(args) => entries::gate_request(&args),
        Command::Answer(args) => judging::answer(&args),
        Command::RevisedRequest(args) => entries::revised_request(&args),
        Command::Retry(args) => {
            one("record retry", &args.place, |recorder| recorder.retry(&args.node))
        }
        Command::Trip(args) => {
            one("record trip", &args.place, |recorder| recorder.trip(&args.node))
        }
        Command::Checkpoint(place) => one("record checkpoint", &place, Recorder::checkpoint),
        Command::Complete(place) => one("record complete", &place, Recorder::complete),
        Command::Halt(place) => one("record halt", &place, Recorder::halt),
        Command::Supersede(args) => judging::supersede(&args),
        Command::Notice(args) => entries::notice(&args),
        Command::Claims(args) => entries::claims(&args),
        Command::Check(args) => seal::check(&args),
        Command::Snapshot(args) => seal::snapshot(args),
        Command::Export(args) => seal::export(args),
    };
    report.into()
}

/// A command that records one entry.
fn one(
    command: &'static str,
    place: &args::Place,
    act: impl FnOnce(&mut Recorder) -> Result<Recorded, RecordError>,
) -> Report {
    attempt(command, |report| {
        let mut recorder = place.open(report)?;
        let entry = act(&mut recorder)?;
        show(report, entry);
        Ok(())
    })
}

/// Runs `act`, whose error becomes the report's.
fn attempt(
    command: &'static str,
    act: impl FnOnce(&mut Report) -> Result<(), RecordError>,
) -> Report {
    let mut report = Report::new(command);
    if let Err(error) = act(&mut report) {
        fail(&mut report, &error);
    }
    report
}

fn fail(report: &mut Report, error: &RecordError) {
    if !error.findings().is_empty() {
        report.member("findings", findings(error.findings()));
    }
    report.fail(error.verdict(), error.code(), &error.to_string());
}

/// Says which entry was recorded.
fn show(report: &mut Report, recorded: Recorded) {
    report.member("seq", recorded.seq);
    report.member("h", recorded.h.to_string());
    report.line(format!("entry {} {}", recorded.seq, recorded.h));
}

/// Findings as JSON.
fn findings(findings: &[GadFinding]) -> Value {
    findings
        .iter()
        .map(|finding| {
            json!({
                "code": finding.code.to_string(),
                "seq": finding.place.seq,
                "member": finding.place.member,
                "pointer": finding.place.pointer,
                "expected": finding.expected,
                "actual": finding.actual,
            })
        })
        .collect()
}
