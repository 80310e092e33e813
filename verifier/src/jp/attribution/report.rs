//! `anchorlog.bulk-report/1`: what accounting came to. Ours; RFC 0028's report schema is not public.
//!
//! The result of agreement is `bulk-consistency` and never a reading. Every member is always there; what does
//! not apply is `null` or empty. Equal inputs give equal bytes.

use core::fmt::Write as _;

use anchorlog_proto::Digest;
use anchorlog_proto::json::{Object, ReadLimits, Value, canonical, parse};

use super::replay::Replayed;
use super::traces::TracesCompared;
use crate::codes::Code;
use crate::codes::input::INTERNAL;
use crate::finding::{Class, Finding};
use crate::report::Verdict;
use crate::report::json::{finding, verifier};

/// The schema name of the JSON form.
const SCHEMA: &str = "anchorlog.bulk-report/1";

/// The result of one accounting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 0028 knows agreement, finding and refusal")]
pub enum ReportResult {
    /// The evidence is consistent with itself, and with every expectation that was given.
    BulkConsistency,
    /// It is not.
    Finding,
    /// It could not be read.
    Refusal,
}

impl ReportResult {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BulkConsistency => "bulk-consistency",
            Self::Finding => "finding",
            Self::Refusal => "refusal",
        }
    }
}

/// Something held independently that was compared.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "one row of the report")]
pub struct Expectation {
    /// Of what: `summary`, `execution`.
    pub of: &'static str,
    /// Who holds it: `caller`, `receipt`.
    pub held_by: &'static str,
    /// The digest.
    pub digest: Digest,
}

/// What accounting came to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// `workflow attribution`, `workflow drift`.
    pub command: &'static str,
    /// What became of it.
    pub result: ReportResult,
    /// What was found, in the order of the checks.
    pub findings: Vec<Finding>,
    /// How many more there were.
    pub omitted: u64,
    /// The canonical bytes of the counted summary or the computed drift, where accounting found nothing.
    pub document: Option<Vec<u8>>,
    /// Whether a stated document was compared with it.
    pub stated: bool,
    /// What it was compared with.
    pub expectations: Vec<Expectation>,
    /// What a replay came to: how many outputs agree and how many differ.
    pub replayed: Option<[u64; 2]>,
    /// What the traces of run exports came to. Informative.
    pub traced: Option<Traced>,
}

/// How many outputs a recorded trace was held against. A trace is informative and unsigned.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "one row of the report")]
pub struct Traced {
    /// Outputs that a trace agrees with.
    pub agree: u64,
    /// Outputs that one does not agree with.
    pub differ: u64,
    /// Outputs of which no run export was given.
    pub without: u64,
    /// Of those that have one, how many whose export the execution record pins by its digest.
    pub pinned: u64,
}

impl Report {
    /// Nothing found yet.
    #[must_use]
    pub const fn new(command: &'static str) -> Self {
        Self {
            command,
            result: ReportResult::BulkConsistency,
            findings: Vec::new(),
            omitted: 0,
            document: None,
            stated: false,
            expectations: Vec::new(),
            replayed: None,
            traced: None,
        }
    }

    /// The report that something could not be read.
    #[must_use]
    pub fn refused(command: &'static str, finding: Finding) -> Self {
        let findings = vec![finding];
        Self { result: ReportResult::Refusal, findings, ..Self::new(command) }
    }

    /// Adds what a step found.
    pub fn add(&mut self, found: &super::Found) {
        self.omitted += found.omitted();
        found.list().iter().cloned().for_each(|finding| self.push(finding));
    }

    /// Adds one finding. A note leaves the result as it is.
    pub fn push(&mut self, finding: Finding) {
        if finding.fails() {
            self.result = ReportResult::Finding;
        }
        self.findings.push(finding);
    }

    /// Adds what a replay came to.
    pub fn add_replay(&mut self, replayed: &Replayed) {
        self.replayed = Some([replayed.agree, replayed.differ]);
        self.add(&replayed.found);
    }

    /// Adds what the traces of run exports came to.
    pub fn add_traces(&mut self, traces: &TracesCompared) {
        self.traced = Some(traces.counts);
        self.add(&traces.found);
    }

    /// What became of it, as the verifier's other commands say it: exit code 0, 1, 2 or 3.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.findings.iter().any(|finding| finding.code == INTERNAL) {
            return Verdict::Failed;
        }
        match self.result {
            ReportResult::BulkConsistency => Verdict::Holds,
            ReportResult::Finding => Verdict::DoesNotHold,
            ReportResult::Refusal => Verdict::NotEvaluated,
        }
    }

    /// The RFC's code of the first finding that fails.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        self.findings.iter().find(|finding| finding.fails()).map(|finding| rfc_code(finding.code))
    }

    /// The canonical JSON form, without a newline at its end.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let limits = ReadLimits::DEFAULT.with_bytes(usize::MAX).with_values(usize::MAX);
        let document = self.document.as_deref();
        let parsed = document.and_then(|bytes| parse(bytes, &limits).ok());
        let digest = document.map(|bytes| Digest::of(bytes).to_string());
        let expectations = self.expectations.iter().map(|one| {
            let digest = one.digest.to_string();
            let row = Object::from([
                ("of", Value::from(one.of)),
                ("held_by", one.held_by.into()),
                ("digest", digest.into()),
            ]);
            Value::from(row)
        });
        let object = Object::from([
            ("schema", Value::from(SCHEMA)),
            ("command", self.command.into()),
            ("result", self.result.as_str().into()),
            ("code", self.code().map_or(Value::Null, Value::from)),
            ("findings", self.findings.iter().map(finding).collect::<Vec<_>>().into()),
            ("findings_omitted", number(self.omitted)),
            ("document", parsed.unwrap_or(Value::Null)),
            ("document_digest", digest.map_or(Value::Null, Value::from)),
            ("stated", if self.stated { "compared" } else { "not-given" }.into()),
            ("expectations", expectations.collect::<Vec<_>>().into()),
            ("membership", self.membership().into()),
            ("outputs_replayed", self.replayed.map_or(Value::Null, replayed)),
            ("outputs_traced", self.traced.map_or(Value::Null, traced)),
            ("authentication", self.authentication().into()),
            ("verifier", verifier()),
        ]);
        canonical(&object.into())
    }

    /// The short form for people: what follows the verdict and the findings.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            // Writing to a String can't fail.
            let _ = writeln!(text, "  {name:<14} {value}");
        };
        line("result", self.result.as_str());
        if let Some(bytes) = &self.document {
            line("digest", &Digest::of(bytes).to_string());
        }
        for one in &self.expectations {
            line("expected", &format!("{} {} held by {}", one.of, one.digest, one.held_by));
        }
        line("membership", self.membership());
        if let Some([agree, differ]) = self.replayed {
            line("replayed", &format!("{agree} agree, {differ} do not"));
        }
        if let Some(Traced { agree, differ, without, pinned }) = self.traced {
            line("traced", &format!("{agree} agree, {differ} do not, {without} have no export"));
            let by_audit = (agree + differ).saturating_sub(pinned);
            line("", &format!("{pinned} by run digest, {by_audit} by audit record alone"));
            line("", "a trace is informative and unsigned, no evidence");
        }
        line("authentication", self.authentication());
        if self.omitted > 0 {
            line("more findings", &self.omitted.to_string());
        }
        text
    }

    /// What is known of who truly contributed. A trace never makes it more than trace-derived, and that only
    /// where every output has one.
    /// Where there is no output nothing was replayed either.
    const fn membership(&self) -> &'static str {
        match (self.replayed, self.traced) {
            (Some([agree, differ]), _) if agree + differ > 0 => "replayed",
            (_, Some(Traced { agree, differ, without: 0, .. })) if agree + differ > 0 => {
                "trace-derived"
            }
            _ => "not-established",
        }
    }

    fn authentication(&self) -> &'static str {
        let logged = self.expectations.iter().any(|one| one.held_by == "receipt");
        match (logged, self.expectations.is_empty()) {
            (true, _) => "logged-digest",
            (false, false) => "expected-digest",
            (false, true) => "not-established",
        }
    }
}

/// The code of the RFCs for a code of ours. Where the RFCs name none it is a word of our own: `count-mismatch`,
/// `drift-mismatch`, `expectation-mismatch`, `replay-mismatch`, `trace-mismatch`.
#[must_use]
pub fn rfc_code(code: Code) -> &'static str {
    match code.as_str() {
        "ATTR.BOUND" | "IN.LIMIT_BYTES" => "input-over-bound",
        "ATTR.MALFORMED" => "input-malformed",
        "ATTR.VERSION" => "version-unread",
        "ATTR.ABSENT" => "inventory-mismatch",
        "ATTR.PIN" => "digest-mismatch",
        "ATTR.ASSOCIATION" | "ATTR.IDENTITY" | "ATTR.LINEAGE" | "ATTR.MISSING"
        | "ATTR.NON_OUTCOME" | "ATTR.OUTCOME" => "output-mismatch",
        "ATTR.COUNT" | "ATTR.INVARIANT" => "count-mismatch",
        "ATTR.DRIFT" => "drift-mismatch",
        "ATTR.AUDIT" | "ATTR.REPLAY" | "ATTR.REPLAY_INPUT" => "replay-mismatch",
        "ATTR.TRACE" => "trace-mismatch",
        _ if code.class() == Class::Note => "note",
        "ATTR.EXPECTED" => "expectation-mismatch",
        other if other.starts_with("CLI.") || other.starts_with("IN.") => "could-not-run",
        _ => "expectation-mismatch",
    }
}

fn replayed([agree, differ]: [u64; 2]) -> Value<'static> {
    Object::from([("agree", number(agree)), ("differ", number(differ))]).into()
}

fn traced(Traced { agree, differ, without, pinned }: Traced) -> Value<'static> {
    let members = [
        ("agree", number(agree)),
        ("differ", number(differ)),
        ("without", number(without)),
        ("pinned", number(pinned)),
        ("standing", "informative-unsigned".into()),
    ];
    Object::from(members).into()
}

fn number(number: u64) -> Value<'static> {
    Value::try_from(number).unwrap_or_else(|_| number.to_string().into())
}
