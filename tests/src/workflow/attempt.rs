//! One attempt, with everything it leaves behind, and one output.

use anchorlog_proto::Digest;
use anchorlog_proto::encoding::base64_encode;

use super::form::relation;
use super::json::{Json, digest, number, object, optional, text};
use super::plan::{StagePlan, Try};
use super::stage::World;
use super::{EXECUTION, nullable};

/// What an attempt left behind.
pub(super) struct Tried {
    pub(super) json: Json,
    pub(super) preparation: Option<Digest>,
    pub(super) audit: Option<Digest>,
    pub(super) outputs: Option<Vec<Json>>,
    pub(super) disposition: Json,
    pub(super) state: &'static str,
    pub(super) failure: Option<&'static str>,
}

impl World<'_> {
    pub(super) fn attempt(
        &mut self,
        at: usize,
        stage: &StagePlan,
        ordinal: usize,
        id: &str,
        number: usize,
        attempt: &Try,
    ) -> Tried {
        let folder = format!("instances/{id}/attempts/{}", number + 1);
        let (facts, disposition) = match attempt {
            Try::Evaluated(facts, disposition) => (Some(facts), disposition.clone()),
            Try::OutputInvalid(facts) => (Some(facts), super::plan::outcome("listed")),
            _ => (None, Json::Null),
        };
        let prepared = facts.is_some() || matches!(attempt, Try::EvaluationError);
        let mut preparation = None;
        if prepared {
            let mut json = object([
                ("facts", facts.cloned().unwrap_or(Json::Null)),
                ("instance", text(id)),
                ("verifiedAt", text("2026-10-15T00:00:00Z")),
            ]);
            self.touch("preparation", stage.id, ordinal, number, &mut json);
            let pin = self.put(&format!("{folder}/preparation.json"), json.literal());
            self.put(&format!("{folder}/preparation.sha256"), format!("{pin}\n").into_bytes());
            let at = b"2026-10-15T00:00:00Z\n".to_vec();
            self.put(&format!("{folder}/verified-at.txt"), at);
            preparation = Some((pin, json));
        }
        let mut audit = None;
        if let Some(facts) = facts {
            let mut json = object([
                ("disposition", disposition.clone()),
                ("inputs", facts.clone()),
                ("instance", text(id)),
            ]);
            self.touch("audit", stage.id, ordinal, number, &mut json);
            // Not canonical: audit records are exact bytes of somebody else's writing.
            let line = String::from_utf8(json.canon()).unwrap().replacen('{', "{ ", 1).into_bytes();
            audit = Some((self.put(&format!("{folder}/audit.json"), line.clone()), line));
            let signatures = object([("signatures", Json::List(vec![text(id)]))]);
            self.put(&format!("{folder}/audit-signatures.json"), signatures.literal());
        }
        // What was asked and answered; of an uncertain acquisition what there is.
        let exports = !matches!(attempt, Try::Nothing);
        let mut sources = object([("answers", facts.cloned().unwrap_or(Json::Null))]);
        self.touch("sources", stage.id, ordinal, number, &mut sources);
        if exports {
            self.put(&format!("{folder}/sources.json"), sources.literal());
        }
        let release = self.frozen[at].clone();
        let mut input = object([("facts", facts.cloned().unwrap_or(Json::Null))]);
        if let Some((_, json)) = &preparation {
            *input.at("preparation") = json.clone();
        }
        let mut run = object([
            ("release", release.release_json),
            ("releaseDigest", digest(release.release)),
            ("run", object([("input", input), ("state", text("x"))])),
            ("version", super::json::number(self.plan.export_version)),
        ]);
        if let Some((_, line)) = &audit {
            let bytes = base64_encode(line);
            if self.plan.export_version == 2 {
                *run.at("run").at("audit") = text("AUDIT");
            } else {
                *run.at("run").at("auditBytes") = text(bytes);
            }
        }
        self.touch("run", stage.id, ordinal, number, &mut run);
        let mut bytes = run.literal();
        if let (Some((_, line)), 2) = (&audit, self.plan.export_version) {
            let line = std::str::from_utf8(line).unwrap();
            bytes = String::from_utf8(bytes).unwrap().replacen("\"AUDIT\"", line, 1).into_bytes();
        }
        let run = exports.then(|| self.put(&format!("{folder}/run.json"), bytes));
        let mut error = None;
        if matches!(attempt, Try::EvaluationError) {
            let mut envelope = object([
                ("command", text("experimental evaluate")),
                (
                    "evaluationError",
                    object([
                        ("class", text("resource-exhaustion")),
                        ("evaluatorSpecVersion", text("0.2.0-draft")),
                        ("phase", text("evaluation")),
                    ]),
                ),
                ("outputVersion", text("2")),
                ("status", text("error")),
            ]);
            self.touch("evaluation-error", stage.id, ordinal, number, &mut envelope);
            let mut bytes = envelope.canon();
            bytes.push(b'\n');
            error = Some(self.put(&format!("{folder}/evaluation-error.json"), bytes));
        }
        let outputs = match (attempt, facts) {
            (Try::Evaluated(..), Some(facts)) => {
                let value = facts.get(stage.pointer.trim_start_matches('/')).unwrap().clone();
                Some(if let Json::List(elements) = value { elements } else { vec![value] })
            }
            _ => None,
        };
        let (state, failure) = match attempt {
            Try::Evaluated(..) if outputs.as_ref().is_some_and(Vec::is_empty) => {
                ("completed-zero", None)
            }
            Try::Evaluated(..) => ("completed", None),
            Try::Failed(why) => ("failed", Some(*why)),
            Try::OutputInvalid(_) => ("failed", Some("output-invalid")),
            Try::EvaluationError => ("failed", Some("evaluation-error")),
            Try::Interrupted | Try::Nothing => ("interrupted", None),
            Try::Cancelled => ("cancelled", None),
            Try::Unbegun(..) => panic!("it has no attempts"),
        };
        let retry = if number == 0 {
            Json::Null
        } else {
            object([("actor", text("operator")), ("at", text("2026-10-15T01:00:00Z"))])
        };
        let (preparation, audit) = (preparation.map(|(pin, _)| pin), audit.map(|(pin, _)| pin));
        let json = object([
            ("auditDigest", optional(audit)),
            ("evaluationErrorDigest", optional(error)),
            ("failure", nullable(failure)),
            ("number", super::json::number(number + 1)),
            ("preparationDigest", optional(preparation)),
            ("retry", retry),
            ("runDigest", optional(run)),
            ("state", text(state)),
        ]);
        Tried { json, preparation, audit, outputs, disposition, state, failure }
    }

    #[allow(clippy::too_many_arguments, reason = "everything that a record pins")]
    pub(super) fn output(
        &mut self,
        at: usize,
        stage: &StagePlan,
        ordinal: usize,
        id: &str,
        index: usize,
        payload: &Json,
        parent: Option<(Digest, Digest)>,
        (preparation, audit, case): (Digest, Digest, Digest),
    ) -> Digest {
        let folder = format!("outputs/{}/{id}/{index}", stage.id);
        let mut payload = payload.clone();
        self.touch("payload", stage.id, ordinal, index, &mut payload);
        let pin = self.put(&format!("{folder}/payload.json"), payload.literal());
        let frozen = self.frozen[at].clone();
        let lineage = object([
            ("auditDigest", digest(audit)),
            ("bindingDocumentDigest", optional(frozen.binding)),
            ("boundDialectDigest", digest(frozen.bound)),
            ("caseDigest", digest(case)),
            ("execution", text(EXECUTION)),
            (
                "influence",
                object([
                    (
                        "classes",
                        Json::List(stage.influence.0.iter().map(|one| text(*one)).collect()),
                    ),
                    ("generatedInfluence", Json::Bool(stage.influence.1)),
                ]),
            ),
            ("index", number(index)),
            ("instance", text(id)),
            ("outputPointer", text(stage.pointer)),
            ("packDigest", digest(frozen.pack)),
            ("parentRecord", optional(parent.map(|(_, record)| record))),
            ("preparationDigest", digest(preparation)),
            ("publishedDialectDigest", digest(frozen.published)),
            ("relation", relation(stage)),
            ("releaseDigest", digest(frozen.release)),
            ("rootCaseDigest", digest(self.root_case)),
            ("selectionDigest", optional(parent.map(|(selection, _)| selection))),
            ("stage", text(stage.id)),
            ("workflowDigest", digest(self.workflow)),
        ]);
        let mut record = object([
            ("lineage", lineage),
            ("outputRecordVersion", number(1)),
            ("payloadDigest", digest(pin)),
        ]);
        self.touch("record", stage.id, ordinal, index, &mut record);
        self.put(&format!("{folder}/record.json"), record.canon())
    }
}
