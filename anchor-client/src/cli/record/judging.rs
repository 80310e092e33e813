//! Commands that record an entry which somebody signs.

use std::path::PathBuf;

use anchorlog_proto::gad::names::PassFail;
use anchorlog_proto::gad::payload::{Decision, Restoration};
use anchorlog_proto::signed_object::SignerId;

use super::args::Place;
use super::values::{self, DigestOf};
use super::{Report, attempt, fail, one, show};
use crate::cli::report::Answer;
use crate::keys::read_signing_key;
use crate::record::{Document, Judgement, Probed, RecordError};

/// Record what looking at a flagged scope again found; signed by the engine.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ScopeClosedArgs {
    #[command(flatten)]
    place: Place,
    /// The node.
    #[arg(long, value_name = "ID")]
    node: String,
    /// pass or fail.
    #[arg(long, value_parser = values::pass_fail)]
    verdict: PassFail,
}

pub(super) fn scope_closed(args: &ScopeClosedArgs) -> Report {
    one("record scope-closed", &args.place, |recorder| {
        recorder.scope_closed(&args.node, args.verdict)
    })
}

/// Record the verdict on one test of one node; signed by the engine.
///
/// What the test is, how it is captured and what its exit code means come from the frozen plan; session and
/// result from the record. DIGEST is `sha256:…` or a file to hash.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  anchor record verdict run --engine-key engine.pem --node parser --test unit --exit-code 0 \\\n    --signal Makefile --subject parser.tar --environment image.txt --stdout out.txt --stderr err.txt --keep"
)]
pub(in crate::cli) struct VerdictArgs {
    #[command(flatten)]
    place: Place,
    /// The node.
    #[arg(long, value_name = "ID")]
    node: String,
    /// The test.
    #[arg(long, value_name = "ID")]
    test: String,
    /// The exit code, where there was one; a signal is its number, negative.
    #[arg(long, allow_negative_numbers = true)]
    exit_code: Option<i32>,
    /// pass or fail; without it, pass exactly when the exit code is the one that the plan expects.
    #[arg(long, value_parser = values::pass_fail)]
    result: Option<PassFail>,
    /// The artifact that was executed.
    #[arg(long, value_name = "DIGEST")]
    signal: DigestOf,
    /// What was judged.
    #[arg(long, value_name = "DIGEST")]
    subject: DigestOf,
    /// Where.
    #[arg(long, value_name = "DIGEST")]
    environment: DigestOf,
    /// What the test wrote to standard output.
    #[arg(long, value_name = "DIGEST")]
    stdout: DigestOf,
    /// What it wrote to standard error.
    #[arg(long, value_name = "DIGEST")]
    stderr: DigestOf,
    /// Keep the files of standard output and error as artifacts.
    #[arg(long)]
    keep: bool,
}

pub(super) fn verdict(args: &VerdictArgs) -> Report {
    one("record verdict", &args.place, |recorder| {
        let (stdout, stderr) = if args.keep {
            let position = recorder.plan().find(&args.node);
            let attempt = position.map_or(0, |node| recorder.machine().attempt(node));
            let name = |stream| format!("{}/{attempt}/{}.{stream}", args.node, args.test);
            (
                args.stdout.keep(recorder, &name("stdout"))?,
                args.stderr.keep(recorder, &name("stderr"))?,
            )
        } else {
            (args.stdout.digest()?, args.stderr.digest()?)
        };
        recorder.verdict(&Judgement {
            node: &args.node,
            test_id: &args.test,
            result: args.result,
            exit_code: args.exit_code,
            signal_artifact: args.signal.digest()?,
            subject: args.subject.digest()?,
            environment: args.environment.digest()?,
            stdout,
            stderr,
        })
    })
}

/// Record whether a planted defect made a test fail; signed by the engine.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ProbeArgs {
    #[command(flatten)]
    place: Place,
    /// The artifact that was executed: `sha256:…` or a file to hash.
    #[arg(long, value_name = "DIGEST")]
    signal: DigestOf,
    /// Where.
    #[arg(long, value_name = "DIGEST")]
    environment: DigestOf,
    /// What was planted.
    #[arg(long, value_name = "TEXT")]
    defect: String,
    /// What the test said: fail or pass.
    #[arg(long, value_parser = values::pass_fail)]
    demonstrated: PassFail,
    /// Whether the defect was taken out again: verified, unverified or failed.
    #[arg(long, value_parser = values::restoration)]
    restoration: Restoration,
    /// It could not be run at all.
    #[arg(long)]
    not_spawned: bool,
    /// Its exit code.
    #[arg(long, allow_negative_numbers = true)]
    exit_code: Option<i64>,
    /// Its output: `sha256:…` or a file to hash.
    #[arg(long, value_name = "DIGEST")]
    output: Option<DigestOf>,
}

pub(super) fn probe(args: &ProbeArgs) -> Report {
    one("record probe", &args.place, |recorder| {
        recorder.probe(&Probed {
            signal_artifact: args.signal.digest()?,
            environment: args.environment.digest()?,
            induced_defect: &args.defect,
            demonstrated: args.demonstrated,
            restoration: args.restoration,
            time: None,
            spawned: !args.not_spawned,
            exit_code: args.exit_code,
            output: args.output.as_ref().map(DigestOf::digest).transpose()?,
        })
    })
}

/// Print the body of a human's answer, to be signed elsewhere: Ed25519 over exactly these bytes.
///
/// Put it with the signature into {"body": …, "signature": base64} and hand that to `anchor record answer
/// --signed`. Nothing is recorded.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct GateBodyArgs {
    #[command(flatten)]
    place: Place,
    /// The node.
    #[arg(long, value_name = "ID")]
    node: String,
    /// proceed or refuse.
    #[arg(long, value_parser = values::decision)]
    decision: Decision,
    /// The key id of whoever will sign: gadk1:….
    #[arg(long, value_name = "KEY_ID")]
    who: SignerId,
}

pub(super) fn gate_body(args: &GateBodyArgs) -> Answer {
    let mut report = Report::new("record gate-body");
    let body = args
        .place
        .open(&mut report)
        .and_then(|recorder| recorder.gate_body(&args.node, args.decision, args.who));
    match body {
        Ok(body) => Answer::Document(body.to_canonical()),
        Err(error) => {
            fail(&mut report, &error);
            report.into()
        }
    }
}

/// Record a human's answer to a gate request: signed here with their key, or signed elsewhere.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("by").required(true))]
pub(in crate::cli) struct AnswerArgs {
    #[command(flatten)]
    place: Place,
    /// The node.
    #[arg(long, value_name = "ID", required_unless_present = "signed")]
    node: Option<String>,
    /// proceed or refuse.
    #[arg(long, value_parser = values::decision, required_unless_present = "signed")]
    decision: Option<Decision>,
    /// The approver's private key.
    #[arg(long, value_name = "FILE", group = "by", requires = "node")]
    key: Option<PathBuf>,
    /// The file with the object that was signed elsewhere; it says node and decision itself.
    #[arg(long, value_name = "FILE", group = "by", conflicts_with_all = ["node", "decision"])]
    signed: Option<PathBuf>,
}

pub(super) fn answer(args: &AnswerArgs) -> Report {
    one("record answer", &args.place, |recorder| {
        if let Some(path) = &args.signed {
            let failed = |source| RecordError::Read { path: path.clone(), source };
            let bytes = std::fs::read(path).map_err(failed)?;
            return recorder.signed_answer(bytes.trim_ascii());
        }
        match (&args.node, args.decision, &args.key) {
            (Some(node), Some(decision), Some(key)) => {
                recorder.answer(node, decision, &read_signing_key(key)?)
            }
            // The command line's definition asks for all three.
            _ => Err(RecordError::SignedObject { detail: "none was given".to_owned() }),
        }
    })
}

/// End the run in favour of a successor plan; signed by the succession authority.
///
/// What changes is computed from both plans. The successor is then frozen by a record of its own.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct SupersedeArgs {
    #[command(flatten)]
    place: Place,
    /// The plan that follows.
    #[arg(long, value_name = "PLAN")]
    successor: PathBuf,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The succession authority's private key.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

pub(super) fn supersede(args: &SupersedeArgs) -> Report {
    attempt("record supersede", |report| {
        let successor = Document::plan(&args.successor)?;
        let key = read_signing_key(&args.key)?;
        let mut recorder = args.place.open(report)?;
        let entry = recorder.supersede(&successor, &args.reason, &key)?;
        show(report, entry);
        let hash = anchorlog_proto::gad::plan::plan_hash(&successor.canonical);
        report.member("successor", hash.to_string());
        report.line(format!("freeze the successor {hash} in a record of its own"));
        Ok(())
    })
}
