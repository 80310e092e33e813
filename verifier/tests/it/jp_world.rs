//! A small world of packs, evaluations and outputs, each written by hand or by the evaluator.

use anchorlog_proto::Digest;
use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::jp::attribution::{Credit, Projection};
use anchorlog_proto::jp::canon::canon;
use anchorlog_proto::jp::core_pack::Disposition;
use anchorlog_proto::jp::json::{Bounds, read};
use anchorlog_verifier::jp::core::{Evaluation, Limits, evaluate};

/// A pack with the outcomes yes, no and review; the arrays and members are raw JSON.
pub fn pack_text(rules: &str, exceptions: &str, more: &str) -> String {
    format!(
        r#"{{"specVersion":"0.2.0-draft","id":"https://example.invalid/p","version":"1.0.0","title":"t","decision":{{"intent":"i","question":"q"}},"outcomes":[{{"id":"yes","label":"l"}},{{"id":"no","label":"l"}},{{"id":"review","label":"l"}}],"rules":[{rules}],"exceptions":[{exceptions}]{more}}}"#
    )
}

/// A rule of raw JSON.
pub fn rule(id: &str, when: &str, outcome: &str, on_unknown: &str) -> String {
    format!(
        r#"{{"id":"{id}","description":"d","when":{when},"outcome":"{outcome}","onUnknown":"{on_unknown}"}}"#
    )
}

/// An exception of raw JSON: `effect` is `escalate`, `force-outcome:ID` or `suppress-rule:ID`.
pub fn exception(id: &str, when: &str, effect: &str, on_unknown: &str) -> String {
    let effect = match effect.split_once(':') {
        Some(("force-outcome", outcome)) => {
            format!(r#""effect":"force-outcome","outcome":"{outcome}""#)
        }
        Some((_, target)) => format!(r#""effect":"suppress-rule","targetRule":"{target}""#),
        None => format!(r#""effect":"{effect}""#),
    };
    format!(
        r#"{{"id":"{id}","description":"d","when":{when},{effect},"onUnknown":"{on_unknown}"}}"#
    )
}

/// A condition: whether the fact at a path equals a JSON value.
pub fn is(path: &str, value: &str) -> String {
    format!(r#"{{"op":"fact","path":"{path}","operator":"equals","value":{value}}}"#)
}

/// The pack of the accounting tests: two rules and two exceptions for yes, ids shared between both kinds, one
/// suppressible rule, a fallback.
pub fn pack() -> String {
    let rules = [
        rule("amount-ok", &is("/amount", "true"), "yes", "ignore"),
        rule("known", &is("/known", "true"), "yes", "ignore"),
        rule("refuse", &is("/bad", "true"), "no", "escalate"),
    ];
    let exceptions = [
        exception("known", &is("/vip", "true"), "force-outcome:yes", "ignore"),
        exception("board", &is("/board", "true"), "force-outcome:yes", "ignore"),
        exception("forget", &is("/forget", "true"), "suppress-rule:known", "ignore"),
        exception("ask", &is("/ask", "true"), "escalate", "ignore"),
    ];
    pack_text(&rules.join(","), &exceptions.join(","), r#","fallbackOutcome":"review""#)
}

/// The same pack with everything in the opposite order.
pub fn pack_reversed() -> String {
    let text = pack();
    let value = read(text.as_bytes(), &Bounds::FOREIGN).unwrap();
    let reversed = |name: &str| {
        let mut all = value.get(name).unwrap().as_array().unwrap().to_vec();
        all.reverse();
        all
    };
    let mut object = value.as_object().unwrap().clone();
    for name in ["rules", "exceptions", "outcomes"] {
        object.set(name, reversed(name).into());
    }
    String::from_utf8(canon(&object.into()).unwrap()).unwrap()
}

/// Evaluates under the documented limits, without evidence and extensions.
pub fn evaluated(pack: &str, facts: &str) -> Evaluation {
    evaluate(pack.as_bytes(), facts.as_bytes(), None, &[], &Limits::DEFAULT).unwrap()
}

/// An output that is still to be written.
#[derive(Clone, Debug)]
pub struct OutputDraft {
    pub disposition: String,
    /// Raw JSON of the member; `None` leaves it out.
    pub contributors: Option<String>,
    pub version: String,
    pub stage: String,
    pub pack: Digest,
    pub audit: Digest,
    pub index: usize,
    /// Raw JSON members beside those of the form.
    pub more: String,
}

impl OutputDraft {
    pub fn envelope(&self, workflow: Digest, execution: &str) -> String {
        let d = Digest::of(b"anything");
        let contributors = self.contributors.as_ref();
        let contributors =
            contributors.map_or(String::new(), |raw| format!(r#""contributors":{raw},"#));
        let Self { version, stage, pack, audit, index, more, .. } = self;
        format!(
            r#"{{{contributors}"outputRecordVersion":{version},"payloadDigest":"{d}","lineage":{{"workflowDigest":"{workflow}","execution":"{execution}","stage":"{stage}","instance":"i1","publishedDialectDigest":"{d}","bindingDocumentDigest":null,"boundDialectDigest":"{d}","packDigest":"{pack}","releaseDigest":"{d}","preparationDigest":"{d}","auditDigest":"{audit}","outputPointer":"/a","index":{index},"rootCaseDigest":"{d}","caseDigest":"{d}","parentRecord":null,"selectionDigest":null,"relation":{{"label":"l","direction":"output-to-parent"}},"influence":{{"classes":["asserted"],"generatedInfluence":false}}}}{more}}}"#
        )
    }
}

/// A stage that is still to be written.
#[derive(Clone, Debug)]
pub struct StageDraft {
    pub stage: String,
    pub pack: Digest,
    pub outputs: Vec<OutputDraft>,
}

/// A projection that is still to be written; pins are computed when it is.
#[derive(Clone, Debug)]
pub struct ProjectionDraft {
    pub execution: String,
    pub version: String,
    pub stages: Vec<StageDraft>,
}

impl ProjectionDraft {
    /// One stage `s` of outputs, evaluated by this pack on these facts, and the audit trail of that.
    pub fn evaluated(pack: &str, all_facts: &[&str]) -> (Self, String) {
        let digest = Digest::of(pack.as_bytes());
        let mut trail = String::new();
        let mut outputs = Vec::new();
        for (index, facts) in all_facts.iter().enumerate() {
            let evaluation = evaluated(pack, facts);
            let line = audit_line(digest, facts, &evaluation.disposition, index);
            outputs.push(OutputDraft {
                audit: Digest::of(line.as_bytes()),
                ..draft(digest, &evaluation.disposition, &evaluation.credit, index)
            });
            trail.push_str(&line);
            trail.push('\n');
        }
        let stage = StageDraft { stage: "s".to_owned(), pack: digest, outputs };
        (Self { execution: "e1".to_owned(), version: "3".to_owned(), stages: vec![stage] }, trail)
    }

    pub fn workflow() -> Digest {
        Digest::of(b"workflow")
    }

    /// The pins of a stage.
    pub fn pins(&self, stage: &StageDraft) -> Vec<Digest> {
        let digest = |output: &OutputDraft| {
            let text = output.envelope(Self::workflow(), &self.execution);
            Digest::of(
                &canon(&read(text.as_bytes(), &Bounds::FOREIGN).unwrap()).unwrap_or_default(),
            )
        };
        stage.outputs.iter().map(digest).collect()
    }

    pub fn json(&self) -> String {
        let stages = self.stages.iter().map(|stage| {
            let quoted = |digest: &Digest| format!("\"{digest}\"");
            let pins: Vec<_> = self.pins(stage).iter().map(quoted).collect();
            let outputs = stage.outputs.iter().map(|output| {
                let envelope = output.envelope(Self::workflow(), &self.execution);
                format!(r#"{{"disposition":{},"envelope":{envelope}}}"#, output.disposition)
            });
            let outputs: Vec<_> = outputs.collect();
            format!(
                r#"{{"stage":"{}","packDigest":"{}","records":[{}],"outputs":[{}]}}"#,
                stage.stage,
                stage.pack,
                pins.join(","),
                outputs.join(",")
            )
        });
        let stages: Vec<_> = stages.collect();
        format!(
            r#"{{"schema":"anchorlog.projection/1","executionVersion":{},"execution":"{}","workflowDigest":"{}","stages":[{}]}}"#,
            self.version,
            self.execution,
            Self::workflow(),
            stages.join(",")
        )
    }

    pub fn read(&self) -> Projection {
        Projection::read(self.json().as_bytes()).unwrap()
    }

    /// The same execution record with one instance, whose attempts left these audit records and run exports.
    pub fn execution_with_runs(&self, runs: &[(Digest, Digest)]) -> String {
        let attempt = |(audit, run): &(Digest, Digest)| {
            format!(r#"{{"auditDigest":"{audit}","runDigest":"{run}"}}"#)
        };
        let attempts: Vec<_> = runs.iter().map(attempt).collect();
        let instances = format!(
            r#""instances":[{{"attempts":[{}],"id":"i1"}}],"outputSets""#,
            attempts.join(",")
        );
        self.execution_record().replacen(r#""outputSets""#, &instances, 1)
    }

    /// An execution record with these pins, of the members that are known.
    pub fn execution_record(&self) -> String {
        let frozen = self
            .stages
            .iter()
            .map(|stage| format!(r#"{{"packDigest":"{}","stage":"{}"}}"#, stage.pack, stage.stage));
        let sets = self.stages.iter().map(|stage| {
            let pins = self.pins(stage);
            let pins: Vec<_> = pins.iter().map(|digest| format!("\"{digest}\"")).collect();
            format!(
                r#"{{"records":[{}],"stage":"{}","status":"closed"}}"#,
                pins.join(","),
                stage.stage
            )
        });
        format!(
            r#"{{"execution":"{}","executionVersion":3,"frozen":[{}],"outputSets":[{}],"workflowDigest":"{}"}}"#,
            self.execution,
            frozen.collect::<Vec<_>>().join(","),
            sets.collect::<Vec<_>>().join(","),
            Self::workflow()
        )
    }
}

/// An output with this disposition and credit.
pub fn draft(
    pack: Digest,
    disposition: &Disposition,
    credit: &Credit,
    index: usize,
) -> OutputDraft {
    let members = credit.contributors().map(|contributors| {
        let kind = contributors.kind();
        let members = contributors.ids().map(|id| format!(r#"{{"kind":"{kind}","id":"{id}"}}"#));
        format!("[{}]", members.collect::<Vec<_>>().join(","))
    });
    OutputDraft {
        disposition: String::from_utf8(disposition.to_canonical()).unwrap(),
        contributors: members,
        version: "2".to_owned(),
        stage: "s".to_owned(),
        pack,
        audit: Digest::of(b"no audit"),
        index,
        more: String::new(),
    }
}

/// A line of an audit trail.
pub fn audit_line(pack: Digest, facts: &str, disposition: &Disposition, sequence: usize) -> String {
    let disposition = String::from_utf8(disposition.to_canonical()).unwrap();
    format!(
        r#"{{"recordVersion":"1","sequence":{sequence},"evaluatorSpecVersion":"0.2.0-draft","pack":{{"digest":"{pack}"}},"inputs":{{"facts":{facts},"evidenceSupplied":false}},"disposition":{disposition}}}"#
    )
}

/// A run export of version 5 with this line of an audit trail, and with this trace, which is raw JSON.
pub fn run_export(line: &str, disposition: &str, trace: &str) -> String {
    let nothing = Digest::of(b"");
    let line = base64_encode(line.as_bytes());
    format!(
        r#"{{"release":{{}},"releaseDigest":"{nothing}","run":{{"auditBytes":"{line}","input":{{}},"result":{{"disposition":{disposition},"evaluatorSpecVersion":"0.2.0-draft","outputVersion":"2","trace":{trace}}}}},"version":5}}"#
    )
}
