//! The short form of a report for people.
//!
//! First the verdict in one line, then what it is about, then the findings that fail it, each with
//! what to do, then the notes. Colour only where the caller says so.

use core::fmt::Write as _;

use anchorlog_proto::encoding::hex_encode;
use anchorlog_proto::timestamp::GenTime;

use crate::finding::{Class, Finding, Place};
use crate::timestamp::revocation::{CertificateStatus, Stance};

use super::timestamp::evidence;
use super::{Facts, PolicyFacts, Report, Timestamp, TimestampOutcome, Verdict};

/// How to write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "there is colour or there is none")]
pub enum Style {
    /// Text alone.
    Plain,
    /// With ANSI colours.
    Colour,
}

/// Writes a report as text. `files` gives the file name for an input's role, so that a finding can
/// name the file it is about.
#[must_use]
pub fn render(report: &Report, files: &[(&'static str, String)], style: Style) -> String {
    let mut out = Writer { text: String::new(), style };
    out.verdict(report);
    out.facts(&report.facts);
    let (fatal, notes): (Vec<_>, Vec<_>) = report.findings.iter().partition(|f| f.fails());
    for finding in fatal.into_iter().chain(notes) {
        out.finding(finding, files);
    }
    out.text
}

struct Writer {
    text: String,
    style: Style,
}

impl Writer {
    fn verdict(&mut self, report: &Report) {
        let (words, colour) = match report.verdict {
            Verdict::Holds => ("holds", GREEN),
            Verdict::DoesNotHold => ("does not hold", RED),
            Verdict::NotEvaluated => ("could not be evaluated", YELLOW),
            Verdict::Failed => ("the verifier failed", RED),
        };
        let verdict = self.paint(words, colour);
        self.line(format_args!("{}: {verdict}", report.command));
    }

    fn facts(&mut self, facts: &Facts) {
        if let Some(entry) = &facts.statement {
            let statement = entry.statement();
            self.fact("statement", format_args!("{} {}", statement.kind, statement.digest));
            if let Some(trail) = &statement.trail {
                self.fact("trail", format_args!("{trail}"));
            }
            if let Some(sequence) = statement.sequence {
                self.fact("sequence", format_args!("{sequence}"));
            }
            if let Some(signer) = entry.signer() {
                self.fact("signer", format_args!("{signer}"));
            }
        }
        if let Some(log) = &facts.log {
            self.fact("log", format_args!("{log}"));
        }
        if let Some(index) = facts.index {
            self.fact("index", format_args!("{index}"));
        }
        if let Some(tree) = &facts.older {
            self.fact("older tree", format_args!("size {} root {}", tree.size, tree.root));
        }
        if let Some(tree) = &facts.tree {
            self.fact("tree", format_args!("size {} root {}", tree.size, tree.root));
        }
        if let Some(state) = facts.shown {
            self.fact("shown", format_args!("{}", state.as_str()));
        }
        for witness in &facts.witnesses {
            let time = utc(witness.unix_seconds);
            self.fact("witness", format_args!("{} {time}", witness.name));
        }
        for timestamp in &facts.timestamps {
            self.timestamp(timestamp);
        }
        for (number, receipt) in (1_usize..).zip(&facts.receipts) {
            self.line(format_args!("\nreceipt {number}"));
            self.facts(receipt);
        }
        if let Some(policy) = &facts.policy {
            self.policy(policy);
        }
    }

    fn timestamp(&mut self, timestamp: &Timestamp) {
        match &timestamp.outcome {
            TimestampOutcome::Unexamined => {}
            TimestampOutcome::Failed(failure) => {
                let reason = failure.reason();
                self.fact("time stamp", format_args!("does not hold: {reason}: {failure}"));
            }
            TimestampOutcome::Verified(token) => {
                let accuracy =
                    token.accuracy().map(|one| format!(" +/- {one}")).unwrap_or_default();
                let (time, operator) = (token.gen_time(), token.operator());
                self.fact("time stamp", format_args!("{time}{accuracy} by {operator}"));
                self.fact("of", format_args!("{}", token.imprint()));
                let serial = hex_encode(token.serial());
                self.fact("token", format_args!("serial {serial}, policy {}", token.policy()));
                self.fact("signed by", format_args!("{} ({})", token.signer(), token.scheme()));
                for certificate in token.chain() {
                    self.fact("chain", format_args!("{certificate}"));
                }
                self.fact("expires", format_args!("{}", token.expires()));
                self.fact("revocation", format_args!("{}", revocation(token.stance())));
            }
        }
    }

    fn policy(&mut self, policy: &PolicyFacts) {
        self.fact("policy", format_args!("{}", policy.digest));
        let Some(contents) = &policy.contents else { return };
        for (label, keys) in [("log", &contents.logs), ("witness", &contents.witnesses)] {
            for key in keys {
                let url = key.url.as_deref().map(|url| format!(" {url}")).unwrap_or_default();
                self.fact(label, format_args!("{} {}{url}", key.name, key.vkey));
            }
        }
        for group in &contents.groups {
            let (members, threshold) = (group.members.len(), group.threshold);
            let names = group.members.join(" ");
            self.fact("group", format_args!("{}: {threshold} of {members}: {names}", group.name));
        }
        self.fact("quorum", format_args!("{}", policy.quorum));
    }

    fn finding(&mut self, finding: &Finding, files: &[(&'static str, String)]) {
        let colour = match finding.code.class() {
            Class::Broken | Class::Unmet => RED,
            Class::Unsupported => YELLOW,
            Class::Note => BLUE,
        };
        let class = self.paint(finding.code.class().as_str(), colour);
        let code = self.paint(finding.code.as_str(), BOLD);
        self.text.push('\n');
        let detail = printable(&finding.detail);
        self.line(format_args!("{class} {code}: {detail}"));
        if let Some(reason) = finding.reason {
            self.fact("reason", format_args!("{reason}"));
        }
        if let Some(place) = describe(&finding.place, files) {
            self.fact("in", format_args!("{place}"));
        }
        if let Some(expected) = &finding.expected {
            self.fact("expected", format_args!("{expected}"));
        }
        if let Some(actual) = &finding.actual {
            self.fact("found", format_args!("{actual}"));
        }
        if finding.code.class() != Class::Note {
            self.fact("what to do", format_args!("{}", finding.code.action()));
        }
    }

    fn fact(&mut self, label: &str, value: core::fmt::Arguments<'_>) {
        let value = printable(&value.to_string());
        self.line(format_args!("  {label:<10}  {value}"));
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

/// What is known about revocation, in a few words.
fn revocation(stance: &Stance) -> String {
    let Stance::Checked(statuses) = stance else { return "not checked".to_owned() };
    let status = |status: &CertificateStatus| match status.good {
        Some((as_of, kind)) if status.covers => format!("good as of {as_of} ({})", evidence(kind)),
        Some((as_of, kind)) => format!("good as of {as_of}, before it ({})", evidence(kind)),
        None => "unknown".to_owned(),
    };
    statuses.iter().map(status).collect::<Vec<_>>().join(", ")
}

/// `receipt.json at /proof, byte 17`.
fn describe(place: &Place, files: &[(&'static str, String)]) -> Option<String> {
    let role = place.input?;
    let number = place.number.and_then(|number| usize::try_from(number).ok());
    let mut of_role = files.iter().filter(|(name, _)| *name == role);
    let file = of_role.nth(number.unwrap_or(1).saturating_sub(1));
    let mut text = match file {
        Some((_, path)) => format!("{role} {path}"),
        None => role.to_owned(),
    };
    if let Some(pointer) = &place.pointer {
        let _ = write!(text, " at {pointer}");
    }
    if let Some(offset) = place.offset {
        let _ = write!(text, ", byte {offset}");
    }
    Some(text)
}

/// The text without what could steer the terminal or the eye: it comes from an input.
pub(crate) fn printable(text: &str) -> String {
    let steers = |c: char| c != '\n' && is_deceptive(c);
    text.chars().map(|c| if steers(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Whether a character could steer a terminal, or is invisible, or turns the direction of writing.
#[must_use]
pub fn is_deceptive(c: char) -> bool {
    let invisible = matches!(
        c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    invisible || c.is_control()
}

/// Seconds of POSIX time as RFC 3339 in UTC, or as they are beyond the year 9999.
fn utc(unix_seconds: u64) -> String {
    let seconds = i64::try_from(unix_seconds);
    seconds.map_or_else(|_| format!("{unix_seconds} s"), |at| GenTime::from_unix(at).to_string())
}

const GREEN: &str = "\u{1b}[32m";
const RED: &str = "\u{1b}[31m";
const YELLOW: &str = "\u{1b}[33m";
const BLUE: &str = "\u{1b}[34m";
const BOLD: &str = "\u{1b}[1m";
const RESET: &str = "\u{1b}[0m";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use anchorlog_proto::json::parse_utc_seconds;

    use super::*;
    use crate::codes;

    #[test]
    fn times_are_those_the_json_reader_reads_back() {
        for seconds in (0_u64..253_402_300_799).step_by(7_777_777).chain([
            0,
            951_782_399,
            951_782_400,
            951_868_799,
            951_868_800,
            4_107_542_399,
            4_107_542_400,
            253_402_300_799,
        ]) {
            let text = utc(seconds);
            assert_eq!(parse_utc_seconds(&text), i64::try_from(seconds).ok(), "{text}");
        }
        assert_eq!(utc(253_402_300_800), "253402300800 s");
    }

    #[test]
    fn a_finding_names_file_and_place_and_what_to_do() {
        let finding = Finding::new(codes::log::INDEX, "index 9 is not below 7")
            .in_input("receipt")
            .at("/index")
            .compared("an index below 7", 9);
        let report = Report::evaluated("receipt", Facts::default(), vec![finding]);
        let files = [("receipt", "r.json".to_owned())];
        let text = render(&report, &files, Style::Plain);
        let expected = "\
receipt: does not hold

broken LOG.INDEX: index 9 is not below 7
  in          receipt r.json at /index
  expected    an index below 7
  found       9
  what to do  Use a checkpoint that is at least as large as index + 1, and the proof for that size.
";
        assert_eq!(text, expected);
        assert!(!text.contains('\u{1b}'));
        assert!(
            render(&report, &files, Style::Colour).contains("\u{1b}[31mdoes not hold\u{1b}[0m")
        );
    }

    #[test]
    fn what_inputs_say_does_not_reach_the_terminal_raw() {
        let finding = Finding::new(codes::log::LEAF, "\u{1b}[2J").compared("\u{7}", "\u{9b}");
        let report = Report::evaluated("receipt", Facts::default(), vec![finding]);
        let text = render(&report, &[], Style::Plain);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
}
