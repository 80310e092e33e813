//! The reports: section 9's, and that of the partial check.

use anchorlog_proto::jp::canon::literal;
use anchorlog_proto::jp::json::{Object, Value};

use super::check::{CheckResult, Status};
use super::examine::{Completion, Counts, Examination};
use super::reading::{Answer, Reading};

/// The name of the partial check's report.
pub(super) const PROFILE: &str = "anchorlog.workflow-check/1";

impl Answer {
    /// Section 9's report: one closed object in the literal form and a newline. Members are sorted, which is an
    /// assumption about that form.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let object = match self {
            Self::Reading(reading) => of_reading(reading),
            Self::Refusal(code) => Object::from([
                ("refusal", Value::from(&**code)),
                ("result", Value::from("refusal")),
            ]),
            Self::Finding(code) => {
                let code = Value::from(code.as_str());
                Object::from([("finding", code), ("result", Value::from("finding"))])
            }
        };
        let mut bytes = literal(&Value::Object(object));
        bytes.push(b'\n');
        bytes
    }
}

fn of_reading(reading: &Reading) -> Object<'static> {
    Object::from([
        ("authentication", Value::from("not-established")),
        ("completion", completion(reading.completion())),
        ("consistency", Value::from("agrees")),
        ("counts", counts(reading.counts())),
        ("dispositions", Value::from("not-replayed")),
        ("executionDigest", Value::from(reading.execution_digest())),
        ("preparations", Value::from("agree")),
        ("result", Value::from("reading")),
        ("workflowDigest", Value::from(reading.workflow_digest())),
    ])
}

impl Examination {
    /// `refusal`, `finding`, `incomplete`, or `agrees` when every check was made and holds.
    #[must_use]
    pub fn result(&self) -> &'static str {
        if self.refusal().is_some() {
            "refusal"
        } else if self.finding().is_some() {
            "finding"
        } else if self.unperformed().next().is_some() {
            "incomplete"
        } else {
            "agrees"
        }
    }

    /// 1 refusal, 2 finding, 4 incomplete, 0 when every check was made and holds.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.result() {
            "refusal" => 1,
            "finding" => 2,
            "incomplete" => 4,
            _ => 0,
        }
    }

    /// The report as one line of canonical JSON: `{profile, result, checks, workflowDigest, executionDigest,
    /// execution, completion, counts, unread, …}`.
    ///
    /// A refusal or finding stands beside `result`. `precedence` is `not-established` for a finding after a
    /// phase that isn't made: whoever makes it may have to report something else.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut object = Object::from([
            ("checks", Value::Array(self.checks.iter().map(of_check).collect())),
            ("completion", self.completion.map(completion).into()),
            ("counts", self.counts.map(counts).into()),
            ("execution", self.execution.as_ref().map(|id| id.as_str().to_owned()).into()),
            ("executionDigest", self.execution_digest.into()),
            ("profile", Value::from(PROFILE)),
            ("result", Value::from(self.result())),
            ("unread", number(self.unread_count)),
            ("workflowDigest", self.workflow_digest.into()),
        ]);
        if let Some((_, code)) = self.refusal() {
            object.set("refusal", Value::from(code));
        }
        if let Some((check, code)) = self.finding() {
            object.set("finding", Value::from(code.as_str()));
            let mut unmade = self.unperformed().filter(|result| !result.was_not_come_to());
            let unmade = unmade.any(|result| result.check < check) || self.unanswered.is_some();
            let precedence = if unmade { "not-established" } else { "established" };
            object.set("precedence", Value::from(precedence));
        }
        literal(&Value::Object(object))
    }

    /// The report for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut lines = vec![format!("{}", self.result().to_uppercase())];
        if let Some(digest) = self.workflow_digest {
            lines.push(format!("workflow   {digest}"));
        }
        if let Some(digest) = self.execution_digest {
            lines.push(format!("execution  {digest}"));
        }
        for CheckResult { check, status } in &self.checks {
            let name = check.as_str();
            lines.push(match status {
                Status::Agrees => format!("  agrees         {name}"),
                Status::Refusal { code, detail } => {
                    format!("  REFUSAL        {name}: {code}: {detail}")
                }
                Status::Finding { code, detail } => {
                    format!("  FINDING        {name}: {}: {detail}", code.as_str())
                }
                Status::NotPerformed { reason, detail } => {
                    format!("  not performed  {name}: {} {detail}", reason.as_str())
                }
            });
        }
        if self.unread_count > 0 {
            let names = self.unread.join(", ");
            lines.push(format!("{} files that nothing pins: {names}", self.unread_count));
        }
        let mut text = String::new();
        for line in lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

fn of_check(result: &CheckResult) -> Value<'static> {
    let mut object = Object::from([("check", Value::from(result.check.as_str()))]);
    let (status, told) = match &result.status {
        Status::Agrees => ("agrees", None),
        Status::Refusal { code, detail } => {
            object.set("code", Value::from(code.clone()));
            ("refusal", Some(detail))
        }
        Status::Finding { code, detail } => {
            object.set("code", Value::from(code.as_str()));
            ("finding", Some(detail))
        }
        Status::NotPerformed { reason, detail } => {
            object.set("reason", Value::from(reason.as_str()));
            ("not-performed", Some(detail))
        }
    };
    object.set("status", Value::from(status));
    if let Some(detail) = told.filter(|detail| !detail.is_empty()) {
        object.set("detail", Value::from(detail.clone()));
    }
    Value::Object(object)
}

fn completion(completion: Completion) -> Value<'static> {
    Value::from(match completion {
        Completion::Complete => "complete",
        Completion::Partial => "partial",
    })
}

fn counts(counts: Counts) -> Value<'static> {
    Value::Object(Object::from([
        ("instances", number(counts.instances)),
        ("outputs", number(counts.outputs)),
        ("selections", number(counts.selections)),
        ("stages", number(counts.stages)),
    ]))
}

fn number(number: usize) -> Value<'static> {
    u32::try_from(number).unwrap_or(u32::MAX).into()
}
