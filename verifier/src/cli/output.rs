//! Printing: JSON or text on standard output, usage errors on standard error.

use std::io::{self, IsTerminal as _, Write as _};

use super::input::Inputs;
use crate::finding::Finding;
use crate::report::Report;
use crate::report::text::{Style, render};

/// How the caller wants the answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// The canonical JSON report.
    Json,
    /// Text for people.
    Text,
}

/// What a subcommand hands back.
pub(super) enum Answer {
    /// A report, and the file name behind each input's role.
    Report {
        /// The report.
        report: Box<Report>,
        /// Input roles and file names.
        files: Vec<(&'static str, String)>,
    },
    /// What came of an evaluation, in both forms.
    Evaluation(Box<Evaluation>),
    /// A document derived from an evaluation, one line.
    Derived {
        /// Its bytes, without a newline at the end.
        bytes: Vec<u8>,
        /// The exit code.
        code: u8,
    },
    /// A file's exact bytes.
    Exact {
        /// The bytes.
        bytes: Vec<u8>,
        /// The exit code.
        code: u8,
    },
    /// Finished output that is no report, such as a completion script.
    Document(Vec<u8>),
    /// No report at all; why, for standard error.
    Failed {
        /// What people are told.
        message: String,
        /// The exit code.
        code: u8,
    },
}

/// What came of an evaluation.
pub(super) struct Evaluation {
    /// The canonical JSON, without a newline at its end.
    pub(super) json: Vec<u8>,
    /// Writes the text.
    pub(super) text: Box<dyn FnOnce(Style) -> String>,
    /// The exit code.
    pub(super) code: u8,
}

/// Whether the answer reached standard output.
pub(super) enum Printed {
    /// It did; this is the exit code.
    Code(u8),
    /// It did not.
    Lost,
}

impl Answer {
    /// A report about no files.
    pub(super) fn report(report: Report) -> Self {
        Self::Report { report: Box::new(report), files: Vec::new() }
    }

    /// The report that a command could not be evaluated, for this reason.
    pub(super) fn refused(command: &'static str, finding: Finding, inputs: Inputs) -> Self {
        let report = Report::not_evaluated(command, vec![finding]);
        Self::Report { report: Box::new(report), files: inputs.into_files() }
    }

    /// Prints the answer.
    pub(super) fn print(self, form: Form) -> Printed {
        match self {
            Self::Report { report, files } => {
                let bytes = match form {
                    Form::Json => {
                        let mut bytes = report.to_json();
                        bytes.push(b'\n');
                        bytes
                    }
                    Form::Text => render(&report, &files, style()).into_bytes(),
                };
                write(&bytes, report.verdict.exit_code())
            }
            Self::Evaluation(evaluation) => {
                let Evaluation { mut json, text, code } = *evaluation;
                let bytes = match form {
                    Form::Json => {
                        json.push(b'\n');
                        json
                    }
                    Form::Text => text(style()).into_bytes(),
                };
                write(&bytes, code)
            }
            Self::Derived { mut bytes, code } => {
                bytes.push(b'\n');
                write(&bytes, code)
            }
            Self::Exact { bytes, code } => write(&bytes, code),
            Self::Document(bytes) => write(&bytes, 0),
            Self::Failed { message, code } => {
                // Whoever reads standard output finds nothing there, and the code says so.
                let _unheard = writeln!(io::stderr().lock(), "verifier: {message}");
                Printed::Code(code)
            }
        }
    }
}

/// Prints what clap has to say about the command line: help and version on standard output with
/// code 0, errors on standard error with code 2.
pub(super) fn print_clap(error: &clap::Error) -> Printed {
    match error.print() {
        Ok(()) if error.use_stderr() => Printed::Code(2),
        Ok(()) => Printed::Code(0),
        Err(_) => Printed::Lost,
    }
}

fn write(bytes: &[u8], code: u8) -> Printed {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Printed::Code(code),
        Err(_) => Printed::Lost,
    }
}

/// Colour on a terminal, unless the environment asks for none (`NO_COLOR`).
fn style() -> Style {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if io::stdout().is_terminal() && !unwanted { Style::Colour } else { Style::Plain }
}
