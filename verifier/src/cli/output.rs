//! Printing: JSON or text on standard output, usage errors on standard error.

use std::io::{self, IsTerminal as _, Write as _};

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
    /// Finished output that is no report, such as a completion script.
    Document(Vec<u8>),
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
            Self::Document(bytes) => write(&bytes, 0),
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
