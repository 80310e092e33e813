//! Reports: what a command found or did, for people and as JSON.
//!
//! The JSON form is canonical and complete whatever the verdict:
//! `{"command", "error"?, "exit_code", "schema": "anchorlog.log-server-report/1", "verdict", …}`.

use std::ffi::OsString;
use std::io::{self, Write};

use anchorlog_proto::json::{Object, Value};

use super::error::CliError;

/// The schema name of the JSON form.
pub(super) const SCHEMA: &str = "anchorlog.log-server-report/1";

/// How a report is printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    Json,
    Text,
}

impl Form {
    /// Whether `--json` is among the arguments.
    pub(super) fn of(arguments: &[OsString]) -> Self {
        if arguments.iter().any(|argument| argument == "--json") { Self::Json } else { Self::Text }
    }
}

/// What a command hands back.
#[derive(Debug)]
pub(super) enum Answer {
    /// Text that is itself what was asked for, in either form: a script, a page, an example.
    Document(Vec<u8>),
    /// What was found or done.
    Report(Report),
    /// Everything has been printed already.
    Silent,
}

impl Answer {
    /// Prints the answer and returns the exit code.
    pub(super) fn print(self, form: Form) -> u8 {
        match self {
            Self::Document(bytes) => print(&bytes, 0),
            Self::Report(report) => report.print(form),
            Self::Silent => 0,
        }
    }
}

/// What a command found or did.
#[derive(Debug)]
pub(super) struct Report {
    exit_code: u8,
    text: String,
    members: Object<'static>,
}

impl Report {
    /// The asked thing holds or was done.
    pub(super) fn done(command: &'static str, text: impl Into<String>) -> Self {
        Self::new(command, 0, text.into())
    }

    /// It was evaluated and does not hold.
    pub(super) fn does_not_hold(command: &'static str, text: impl Into<String>) -> Self {
        Self::new(command, 1, text.into())
    }

    /// It could not be evaluated, or the server failed.
    pub(super) fn failed(command: &'static str, error: &CliError) -> Self {
        let mut report = Self::new(command, error.exit_code(), format!("{command}: {error}"));
        let code = Value::from(error.code());
        let message = Value::from(error.to_string());
        report.members.insert("error", Object::from([("code", code), ("message", message)]));
        report
    }

    /// Adds a member of the JSON form.
    pub(super) fn with<V: Into<Value<'static>>>(mut self, name: &'static str, value: V) -> Self {
        self.members.insert(name, value);
        self
    }

    /// Adds lines to the text; what was done or held no longer does if `holds` is false.
    pub(super) fn and(mut self, text: &str, holds: bool) -> Self {
        self.text = format!("{}\n{text}", self.text);
        if !holds && self.exit_code == 0 {
            self.exit_code = 1;
            self.members.insert("exit_code", Value::from(1_u32));
            self.members.insert("verdict", Value::from("does_not_hold"));
        }
        self
    }

    /// Prints the report and returns the exit code.
    pub(super) fn print(self, form: Form) -> u8 {
        match form {
            Form::Json => {
                let mut bytes = self.members.to_canonical();
                bytes.push(b'\n');
                print(&bytes, self.exit_code)
            }
            Form::Text if self.exit_code <= 1 => {
                print(format!("{}\n", self.text).as_bytes(), self.exit_code)
            }
            Form::Text => {
                // If standard error is gone there is nobody left to tell.
                let _ = writeln!(io::stderr(), "{}", self.text);
                self.exit_code
            }
        }
    }

    fn new(command: &'static str, exit_code: u8, text: String) -> Self {
        let verdict = match exit_code {
            0 => "holds",
            1 => "does_not_hold",
            2 => "could_not_evaluate",
            _ => "failed",
        };
        let members = Object::from([
            ("command", Value::from(command)),
            ("exit_code", Value::from(u32::from(exit_code))),
            ("schema", Value::from(SCHEMA)),
            ("verdict", Value::from(verdict)),
        ]);
        Self { exit_code, text, members }
    }
}

/// A count as a JSON integer. Counts beyond 2^53-1 are written as text, which no log reaches.
pub(super) fn count(number: u64) -> Value<'static> {
    Value::try_from(number).unwrap_or_else(|_| Value::from(number.to_string()))
}

/// Prints what clap prints when it is asked for help or the version.
pub(super) fn print_help(help: &clap::Error) -> u8 {
    if help.print().is_ok() { 0 } else { LOST }
}

/// Writes to standard output, all of it.
pub(super) fn print(bytes: &[u8], exit_code: u8) -> u8 {
    let mut out = io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_ok() { exit_code } else { LOST }
}

/// Exit code when whoever was to read the answer doesn't have it.
const LOST: u8 = 3;
