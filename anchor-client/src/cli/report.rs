//! What a subcommand has to say, and how it is printed.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use anchorlog_verifier::report::Verdict;
use serde_json::{Map, Value, json};

use crate::error::ClientError;

/// The schema name of the JSON form.
pub(super) const SCHEMA: &str = "anchorlog.client-report/1";

/// How the caller wants the answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// One JSON document.
    Json,
    /// Text for people.
    Text,
}

/// What a subcommand hands back.
pub(super) enum Answer {
    /// A report.
    Report(Report),
    /// Finished output that is no report, such as a completion script.
    Document(Vec<u8>),
}

impl From<Report> for Answer {
    fn from(report: Report) -> Self {
        Self::Report(report)
    }
}

impl Answer {
    /// Prints the answer and returns the exit code.
    pub(super) fn print(self, form: Form) -> u8 {
        match self {
            Self::Report(report) => report.print(form),
            Self::Document(bytes) => printed(&write_stdout(&bytes), 0),
        }
    }
}

/// Everything one command found, complete whatever the verdict.
#[derive(Debug)]
pub(super) struct Report {
    command: &'static str,
    verdict: Verdict,
    /// Members of the JSON form beside the common ones.
    members: Map<String, Value>,
    /// Lines for people.
    text: String,
    errors: Vec<Failure>,
}

/// One failure.
#[derive(Debug)]
struct Failure {
    code: String,
    detail: String,
    /// Where both notes of a contradiction are kept.
    evidence: Option<String>,
    /// Which statement of a batch it is about, from 0.
    position: Option<u64>,
}

impl Report {
    /// A report of something that holds or was done, until a failure is added.
    pub(super) fn new(command: &'static str) -> Self {
        Self {
            command,
            verdict: Verdict::Holds,
            members: Map::new(),
            text: String::new(),
            errors: Vec::new(),
        }
    }

    /// A report of nothing but a failure.
    pub(super) fn failed(
        command: &'static str,
        verdict: Verdict,
        code: &str,
        detail: &str,
    ) -> Self {
        let mut report = Self::new(command);
        report.fail(verdict, code, detail);
        report
    }

    /// Adds a member to the JSON form.
    pub(super) fn member(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    /// Adds a line to the text form.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Adds a failure.
    pub(super) fn fail(&mut self, verdict: Verdict, code: &str, detail: &str) {
        self.add(
            verdict,
            Failure {
                code: code.to_owned(),
                detail: detail.to_owned(),
                evidence: None,
                position: None,
            },
        );
    }

    /// Adds a failure whose evidence is kept at this place.
    pub(super) fn fail_with(&mut self, verdict: Verdict, code: &str, detail: &str, evidence: &str) {
        let (code, detail) = (code.to_owned(), detail.to_owned());
        let evidence = Some(evidence.to_owned());
        self.add(verdict, Failure { code, detail, evidence, position: None });
    }

    /// Adds a failure of the library.
    pub(super) fn error(&mut self, error: &ClientError) {
        let failure = Failure {
            code: error.code().to_owned(),
            detail: error.to_string(),
            evidence: error.evidence().map(|path| path.display().to_string()),
            position: error.position(),
        };
        self.add(error.verdict(), failure);
    }

    /// Takes text and failures of a part over, and returns its members.
    pub(super) fn absorb(&mut self, part: Self) -> Value {
        self.text.push_str(&part.text);
        for failure in part.errors {
            self.add(part.verdict, failure);
        }
        Value::Object(part.members)
    }

    /// The verdict so far.
    #[cfg(test)]
    pub(super) fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn add(&mut self, verdict: Verdict, failure: Failure) {
        // The graver one counts: that something does not hold says more than that it is unknown.
        self.verdict = match (self.verdict, verdict) {
            (Verdict::Failed, _) | (_, Verdict::Failed) => Verdict::Failed,
            (Verdict::DoesNotHold, _) | (_, Verdict::DoesNotHold) => Verdict::DoesNotHold,
            (Verdict::NotEvaluated, _) | (_, Verdict::NotEvaluated) => Verdict::NotEvaluated,
            _ => Verdict::Holds,
        };
        self.errors.push(failure);
    }

    /// The JSON form.
    pub(super) fn to_json(&self) -> Value {
        let mut members = self.members.clone();
        members.insert("schema".to_owned(), SCHEMA.into());
        members.insert("command".to_owned(), self.command.into());
        members.insert("verdict".to_owned(), self.verdict.as_str().into());
        members.insert("exit_code".to_owned(), self.verdict.exit_code().into());
        let errors = self.errors.iter().map(|failure| {
            let mut error = json!({"code": failure.code, "detail": failure.detail});
            if let Some(object) = error.as_object_mut() {
                if let Some(evidence) = &failure.evidence {
                    object.insert("evidence".to_owned(), evidence.as_str().into());
                }
                if let Some(position) = failure.position {
                    object.insert("position".to_owned(), position.into());
                }
            }
            error
        });
        members.insert("errors".to_owned(), errors.collect());
        Value::Object(members)
    }

    fn print(&self, form: Form) -> u8 {
        let code = self.verdict.exit_code();
        match form {
            Form::Json => printed(&write_stdout(format!("{}\n", self.to_json()).as_bytes()), code),
            Form::Text => {
                let stdout = write_stdout(self.text.as_bytes());
                let mark = Mark::of(io::stderr().is_terminal());
                let mut errors = String::new();
                for failure in &self.errors {
                    let Failure { code, detail, .. } = failure;
                    // Whatever a server or a file name brought along: no control over the terminal.
                    let detail = detail.replace(|c: char| c.is_control() && c != '\n', " ");
                    // A String takes everything.
                    let _ = writeln!(errors, "{}error[{code}]:{} {detail}", mark.on, mark.off);
                }
                printed(&stdout.and(write_stderr(&errors)), code)
            }
        }
    }
}

/// A number of things in words: `1 statement`, `2 statements`.
pub(super) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Says something at once on standard error that must not wait for the end, whatever the form.
pub(super) fn announce(text: &str) {
    // Whoever closed standard error does not want to know.
    let _ = write_stderr(&format!("{text}\n"));
}

/// Prints what clap has to say about the command line: help and version on standard output with code 0,
/// errors on standard error with code 2.
pub(super) fn print_clap(error: &clap::Error) -> u8 {
    printed(&error.print(), if error.use_stderr() { 2 } else { 0 })
}

/// Red on a terminal, unless the environment asks for no colour.
struct Mark {
    on: &'static str,
    off: &'static str,
}

impl Mark {
    fn of(terminal: bool) -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if terminal && !unwanted {
            Self { on: "\x1b[1;31m", off: "\x1b[0m" }
        } else {
            Self { on: "", off: "" }
        }
    }
}

/// The exit code, unless whoever was to read the answer does not have it.
fn printed(result: &io::Result<()>, code: u8) -> u8 {
    if result.is_ok() { code } else { Verdict::Failed.exit_code() }
}

fn write_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn write_stderr(text: &str) -> io::Result<()> {
    io::stderr().lock().write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graver_verdict_counts() {
        let mut report = Report::new("test");
        assert_eq!(report.verdict(), Verdict::Holds);
        report.fail(Verdict::NotEvaluated, "A", "a");
        assert_eq!(report.verdict(), Verdict::NotEvaluated);
        report.fail(Verdict::DoesNotHold, "B", "b");
        report.fail(Verdict::NotEvaluated, "C", "c");
        assert_eq!(report.verdict(), Verdict::DoesNotHold);
        let json = report.to_json();
        assert_eq!(json["exit_code"], 1);
        assert_eq!(json["verdict"], "does_not_hold");
        assert_eq!(json["errors"].as_array().unwrap().len(), 3);
        assert_eq!(json["errors"][1], json!({"code": "B", "detail": "b"}));
    }
}
