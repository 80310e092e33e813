//! `verifier envelope`, `verifier attest`, `verifier diff`: EVALUATE from the command line.

mod args;
pub(super) mod attest;
pub(super) mod diff;
pub(super) mod policy;

use std::io::Write as _;

use super::input::Inputs;
use super::output::{Answer, Evaluation};
use super::usage;
use crate::finding::Finding;
use crate::gad::evaluate::evaluate_traced;
use crate::gad::report::{Asked, Report, sarif, statement, text};
use crate::gad::trace::{Machine, Snapshot};
use crate::gad::{Event, Findings};

use args::{EvaluateArgs, Loaded, Status};

/// Evaluate an evidence envelope: is the record valid, how did the run end, who has checked it.
///
/// The bundle is a directory, an uncompressed tar of it, or the directory of a core alone. Nothing is
/// trusted but the policy and the files it names by digest, found in --trust. The exit code is about the
/// status that --require names.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  verifier envelope run.tar
  verifier envelope run/ --policy policy.json --trust trust/ --require defensible
  verifier envelope run/ --policy policy.json --trust trust/ --at 2026-11-01T00:00:00Z --json
  verifier envelope run/ --trace
  verifier envelope run/ --as sarif > run.sarif")]
pub(super) struct Args {
    #[command(flatten)]
    evaluate: EvaluateArgs,
    /// The status the exit code is about.
    #[arg(long, value_enum, default_value_t = Status::Valid)]
    require: Status,
    /// Print the derived state of every node that an entry changes, one line per entry, before the report.
    #[arg(long)]
    trace: bool,
    /// What to print: the report, or a form derived from it for other tools.
    #[arg(long = "as", value_enum, default_value_t = Output::Report, value_name = "FORM")]
    output: Output,
}

/// The forms of output.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Output {
    /// gad.report/1, as text or, with --json, as JSON.
    Report,
    /// SARIF 2.1.0.
    Sarif,
    /// An unsigned in-toto statement: Simple Verification Result v0.1.
    Svr,
    /// An unsigned in-toto statement: SLSA Verification Summary v1.
    Vsa,
}

pub(super) fn run(args: &Args, json: bool) -> Answer {
    let mut inputs = Inputs::default();
    let asked = Asked::from(args.require);
    let evaluated = args.evaluate.load(asked, &mut inputs).and_then(|loaded| {
        let report = if args.trace { traced(&loaded, json) } else { evaluate(&loaded, None) }?;
        answer(args, &report, asked)
    });
    evaluated.unwrap_or_else(|finding| Answer::refused("envelope", finding, inputs))
}

fn answer(args: &Args, report: &Report, asked: Asked) -> Result<Answer, Finding> {
    let code = report.exit_code(asked);
    let no_subject =
        || usage("there is no root_core, so there is nothing to make a statement about");
    let derived = match args.output {
        Output::Report => {
            return Ok(Answer::Evaluation(Box::new(Evaluation {
                json: report.to_json(),
                text: Box::new({
                    let report = report.clone();
                    move |style| text::render(&report, asked, style)
                }),
                code,
            })));
        }
        Output::Sarif => sarif::write(report),
        Output::Svr => statement::simple_verification_result(report).ok_or_else(no_subject)?,
        Output::Vsa => statement::verification_summary(report, asked).ok_or_else(no_subject)?,
    };
    Ok(Answer::Derived { bytes: derived, code })
}

/// Evaluates, and prints every step of the trace as it goes.
fn traced(loaded: &Loaded, json: bool) -> Result<Report, Finding> {
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let mut lost = false;
    let mut tracer = |machine: &Machine, event: &Event<'_>| {
        let snapshot = Snapshot::of_changes(machine, event);
        let line = if json {
            let mut line = snapshot.to_json_line();
            if line.last() != Some(&b'\n') {
                line.push(b'\n');
            }
            line
        } else {
            snapshot.to_text().into_bytes()
        };
        lost |= out.write_all(&line).is_err();
    };
    let report = evaluate(loaded, Some(&mut tracer));
    lost |= out.flush().is_err();
    if lost { Err(usage("the trace could not be written")) } else { report }
}

fn evaluate(
    loaded: &Loaded,
    tracer: Option<&mut crate::gad::evaluate::Tracer<'_>>,
) -> Result<Report, Finding> {
    let mut report = evaluate_traced(&loaded.bundle, &loaded.request(), tracer)
        .map_err(|error| usage(&error.to_string()))?;
    if loaded.bundle.is_err() {
        report.input.form = loaded.form.as_str();
    }
    Ok(report)
}

/// The first of the findings about an input beside the bundle, as one about the command line.
pub(super) fn unreadable(findings: &Findings) -> Finding {
    let Some(first) = findings.list().first() else { return usage("an input can't be read") };
    let place = first.place.member.as_deref().unwrap_or_default();
    let pointer = first.place.pointer.as_deref().unwrap_or_default();
    let actual = first.actual.as_deref().map(|actual| format!(", found {actual}"));
    let detail = format!(
        "{place} {pointer}: {} ({}){}",
        first.code.title(),
        first.code,
        actual.unwrap_or_default()
    );
    Finding::new(first.code, detail)
}
