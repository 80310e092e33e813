//! `verifier explain`: what a code means and what to do about it.

use core::fmt::Write as _;

use anchorlog_proto::json::{Object, Value, canonical};

use super::output::{Answer, Form};
use crate::codes::input::USAGE;
use crate::codes::{Code, affected, markdown};
use crate::finding::Finding;
use crate::report::Report;

/// Explain a code of a report: what was found, what it means, what to do.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  verifier explain LOG.QUORUM
  verifier explain R3.VERDICT.DUP
  verifier explain ess.hash-mismatch
  verifier explain --list
  verifier explain --json LOG.SIG")]
pub(super) struct Args {
    /// The code or the reason beneath it, as the report has it.
    #[arg(required_unless_present_any = ["list", "markdown"])]
    code: Option<String>,
    /// List every code with its class and title.
    #[arg(long, conflicts_with_all = ["code", "markdown"])]
    list: bool,
    /// Print the whole table as Markdown: docs/codes.md.
    #[arg(long, conflicts_with_all = ["code", "json"])]
    markdown: bool,
}

pub(super) fn run(args: &Args, form: Form) -> Answer {
    if args.markdown {
        return Answer::Document(markdown().into_bytes());
    }
    let codes = match &args.code {
        None => Code::all(),
        // People copy codes from anywhere: case does not matter here.
        Some(text) => match find(text) {
            Some(code) => vec![code],
            None => return unknown(text),
        },
    };
    let mut out = match form {
        Form::Json if args.list => {
            canonical(&codes.into_iter().map(row).collect::<Vec<_>>().into())
        }
        Form::Json => codes.into_iter().map(row).flat_map(|row| canonical(&row)).collect(),
        Form::Text if args.list => return Answer::Document(list(&codes).into_bytes()),
        Form::Text => {
            return Answer::Document(codes.into_iter().map(text).collect::<String>().into());
        }
    };
    out.push(b'\n');
    Answer::Document(out)
}

fn find(text: &str) -> Option<Code> {
    let reason = || Code::with_reason(&text.to_ascii_lowercase());
    Code::lookup(&text.to_ascii_uppercase()).or_else(reason)
}

fn unknown(text: &str) -> Answer {
    let near: Vec<_> = Code::near(text).into_iter().map(Code::as_str).collect();
    let hint = if near.is_empty() {
        "see `verifier explain --list`".to_owned()
    } else {
        format!("near it are {}", near.join(", "))
    };
    let detail = format!("there is no code {text:?}: {hint}");
    Answer::report(Report::not_evaluated("explain", vec![Finding::new(USAGE, detail)]))
}

fn list(codes: &[Code]) -> String {
    let mut out = String::new();
    for code in codes {
        // Writing to a String can't fail.
        let _ = writeln!(out, "{code:<31} {:<12} {}", code.class(), code.title());
    }
    out
}

fn text(code: Code) -> String {
    let makes_false =
        affected(code).map(|affected| format!("Makes false: {affected}\n")).unwrap_or_default();
    format!(
        "{code} ({}): {}\n\n{}\n\nWhat to do: {}\n{makes_false}Clause: {}\n",
        code.class(),
        code.title(),
        code.explanation(),
        code.action(),
        code.clause(),
    )
}

fn row(code: Code) -> Value<'static> {
    let affects: Vec<_> = code.affects().iter().map(|one| Value::from(one.as_str())).collect();
    Object::from([
        ("code", Value::from(code.as_str())),
        ("class", code.class().as_str().into()),
        ("title", code.title().into()),
        ("explanation", code.explanation().into()),
        ("affects", affects.into()),
        ("hint", code.action().into()),
        ("clause", code.clause().into()),
    ])
    .into()
}
