//! The report for people: the statuses first, then every finding with what it breaks, where, and what to
//! do about it.

use core::fmt::Write as _;

use anchorlog_proto::timestamp::GenTime;

use crate::finding::Class;
use crate::gad::finding::{GadFinding, Where};
use crate::report::text::{Style, printable};

use super::{AnchorReport, Asked, AuditReport, RULES, Report, RuleState, UnsignedMetadata};

impl Asked {
    /// The word of the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Satisfied => "satisfied",
            Self::Defensible => "defensible",
            Self::Gad4 => "gad4",
        }
    }
}

/// Writes a report as text, for a caller that asked for this status.
#[must_use]
pub fn render(report: &Report, asked: Asked, style: Style) -> String {
    let mut out = Writer { text: String::new(), style };
    out.head(report, asked);
    for anchor in &report.anchors {
        out.anchor(anchor);
    }
    if let Some(unsigned) = &report.unsigned_metadata {
        out.unsigned(unsigned);
    }
    let sorted = report.findings.sorted();
    let (notes, failing): (Vec<_>, Vec<_>) =
        sorted.into_iter().partition(|finding| finding.class() == Class::Note);
    for finding in failing.into_iter().chain(notes) {
        out.finding(finding);
    }
    for (code, count) in report.findings.omitted() {
        out.line(format_args!("\n… and {count} more of {code}"));
    }
    for audit in &report.audits {
        out.audit(audit);
    }
    out.text
}

struct Writer {
    text: String,
    style: Style,
}

impl Writer {
    fn head(&mut self, report: &Report, asked: Asked) {
        let statuses = &report.statuses;
        let (words, colour) = if statuses.unevaluable() {
            ("could not be evaluated", YELLOW)
        } else if report.holds(asked) {
            ("holds", GREEN)
        } else {
            ("does not hold", RED)
        };
        let verdict = self.paint(words, colour);
        self.line(format_args!("{}: {verdict}", asked.as_str()));
        self.truth("valid", statuses.valid());
        self.fact("outcome", format_args!("{}", statuses.outcome()));
        self.truth("satisfied", statuses.satisfied());
        match statuses.defensible() {
            Some(truth) => self.truth("defensible", truth),
            None => self.fact("defensible", format_args!("not asked: no policy was given")),
        }
        self.fact("level", format_args!("GAD-{}", statuses.level()));
        let mut rules = String::new();
        for (rule, state) in RULES.iter().zip(statuses.rules()) {
            let (mark, colour) = match state {
                RuleState::Pass => ("pass", GREEN),
                RuleState::Fail => ("FAIL", RED),
                RuleState::NotEvaluated => ("not evaluated", YELLOW),
            };
            let separator = if rules.is_empty() { "" } else { "  " };
            let mark = self.paint(mark, colour);
            // Writing to a String can't fail.
            let _ = write!(rules, "{separator}{rule} {mark}");
        }
        self.line(format_args!("  {:<12}{rules}", "rules"));
        self.fact("precedence", format_args!("{}", report.precedence.as_str()));
        for (label, digest) in [
            ("plan", report.plan_hash),
            ("core", report.root_core),
            ("envelope", report.root_envelope),
        ] {
            if let Some(digest) = digest {
                self.fact(label, format_args!("{digest}"));
            }
        }
        self.fact("policy", format_args!("{} {}", report.policy.id, report.policy.hash));
        self.fact("at", format_args!("{}", GenTime::from_unix(report.evaluation_time)));
    }

    fn anchor(&mut self, anchor: &AnchorReport) {
        let time = anchor.time.map(|time| format!(" at {}", GenTime::from_unix(time)));
        let by = anchor.operator.as_deref().map(|name| format!(" by {name}"));
        self.fact(
            "anchor",
            format_args!(
                "{} {} {}{}{}",
                anchor.path,
                anchor.kind,
                anchor.state.as_str(),
                time.unwrap_or_default(),
                by.unwrap_or_default()
            ),
        );
    }

    /// What an audit shows, after everything that a status depends on.
    fn audit(&mut self, audit: &AuditReport) {
        self.line(format_args!("\nbeside the verdict: an audit, {}", audit.state.as_str()));
        if let Some(auditor) = audit.auditor {
            self.fact("auditor", format_args!("{auditor}"));
        }
        if let Some(body) = &audit.claims {
            let read = format!("entries {} to below {}", body.from.size, body.size());
            self.fact("of", format_args!("{} {read}", body.origin()));
            self.fact("about", format_args!("{}", body.subject));
            self.fact("lists", format_args!("{} entries", body.entries.len()));
            self.fact("at", format_args!("{}", GenTime::from_unix(body.time)));
        }
        for finding in &audit.findings {
            self.finding(finding);
        }
    }

    /// What the producer of the envelope says, lest anybody takes it for more.
    fn unsigned(&mut self, unsigned: &UnsignedMetadata) {
        let words = unsigned.metadata.as_ref().map(|metadata| {
            format!("made by {} at {}", metadata.producer, GenTime::from_unix(metadata.created))
        });
        let ext = unsigned.ext.then(|| "an ext".to_owned());
        let words: Vec<_> = words.into_iter().chain(ext).collect();
        if !words.is_empty() {
            self.fact("unsigned", format_args!("{}", words.join("; ")));
        }
    }

    fn finding(&mut self, finding: &GadFinding) {
        let colour = match finding.class() {
            Class::Broken | Class::Unmet => RED,
            Class::Unsupported => YELLOW,
            Class::Note => BLUE,
        };
        let class = self.paint(finding.class().as_str(), colour);
        let code = self.paint(finding.code.as_str(), BOLD);
        self.text.push('\n');
        self.line(format_args!("{class} {code}: {}", finding.code.title()));
        if let Some(place) = place(&finding.place) {
            self.fact("in", format_args!("{place}"));
        }
        if let Some(expected) = &finding.expected {
            self.fact("expected", format_args!("{expected}"));
        }
        if let Some(actual) = &finding.actual {
            self.fact("found", format_args!("{actual}"));
        }
        if finding.class() == Class::Note {
            self.fact("means", format_args!("{}", finding.code.explanation()));
        } else {
            let affects: Vec<_> = finding.affects.iter().map(|one| one.as_str()).collect();
            self.fact("makes false", format_args!("{}", affects.join(", ")));
            self.fact("clause", format_args!("{}", finding.code.clause()));
            self.fact("what to do", format_args!("{}", finding.code.action()));
        }
    }

    fn truth(&mut self, label: &str, truth: bool) {
        let text = if truth { self.paint("yes", GREEN) } else { self.paint("no", RED) };
        self.line(format_args!("  {label:<12}{text}"));
    }

    fn fact(&mut self, label: &str, value: core::fmt::Arguments<'_>) {
        let value = printable(&value.to_string());
        self.line(format_args!("  {label:<12}{value}"));
    }

    fn line(&mut self, line: core::fmt::Arguments<'_>) {
        // Writing to a String can't fail.
        let _ = writeln!(self.text, "{line}");
    }

    fn paint(&self, text: &str, colour: &str) -> String {
        match self.style {
            Style::Plain => text.to_owned(),
            Style::Colour => format!("{colour}{text}{RESET}"),
        }
    }
}

/// `core/witness.jsonl entry 7 at /body/p/node`.
fn place(place: &Where) -> Option<String> {
    let mut text = place.member.as_deref()?.to_owned();
    if let Some(seq) = place.seq {
        let _ = write!(text, " entry {seq}");
    }
    if let Some(pointer) = &place.pointer {
        let _ = write!(text, " at {pointer}");
    }
    Some(text)
}

const GREEN: &str = "\u{1b}[32m";
const RED: &str = "\u{1b}[31m";
const YELLOW: &str = "\u{1b}[33m";
const BLUE: &str = "\u{1b}[34m";
const BOLD: &str = "\u{1b}[1m";
const RESET: &str = "\u{1b}[0m";
