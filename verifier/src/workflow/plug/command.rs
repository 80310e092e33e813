//! A command as a verifier: `--preparation-verifier`, `--expansion-verifier`, `--influence-verifier`.
//!
//! It is started once per request, without a shell, gets one request on its standard input and answers with one
//! object on its standard output and exit code 0:
//!
//! | answer | to |
//! |---|---|
//! | `{"outcome":"read"}`, `{"outcome":"kind-unread"}` | kind |
//! | `{"outcome":"agrees","facts":…,"lineage":…}` | preparation |
//! | `{"outcome":"agrees"}` | expansion |
//! | `{"outcome":"agrees","influence":[{"classes":…,"generatedInfluence":…},…]}` | influence |
//! | `{"outcome":"refusal","code":…}` | preparation |
//! | `{"outcome":"finding","detail":…}` | preparation, expansion, influence |
//!
//! Everything else is no answer, and no answer never agrees: another exit code, too long a wait, too much output,
//! other members. It has the caller's environment.

use core::time::Duration;
use std::ffi::OsString;

use anchorlog_proto::jp::fault::Faults;
use anchorlog_proto::jp::json::{Bounds, Fields, Value, read};
use anchorlog_proto::jp::workflow::Influence;

use super::request::{ExpansionRequest, InfluenceRequest, KindRequest, PreparationRequest};
use super::{
    ExpansionOutcome, ExpansionVerifier, InfluenceOutcome, InfluenceVerifier, Kind,
    PreparationOutcome, PreparationVerifier,
};
use crate::gad::replay::{CommandRunner, RunnerLimits};

/// What a command may take for an answer: a minute, 16 MiB.
pub const DEFAULT_LIMITS: RunnerLimits =
    RunnerLimits::DEFAULT.with_time(Duration::from_mins(1)).with_output_bytes(1 << 24);

/// A command that answers requests.
#[derive(Clone, Debug)]
pub struct CommandVerifier {
    runner: CommandRunner,
}

impl CommandVerifier {
    /// This program, looked up as the operating system does, with these arguments.
    pub fn new(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = OsString>,
        limits: RunnerLimits,
    ) -> Self {
        Self { runner: CommandRunner::new(program, arguments, limits) }
    }

    /// The answer to a request, through `read`.
    fn ask<T>(
        &self,
        request: Vec<u8>,
        read_answer: impl Fn(&str, &mut Fields<'_, '_, '_>) -> Option<T>,
    ) -> Option<T> {
        let answer = self.runner.ask(request)?;
        let value = read(&answer, &Bounds::FOREIGN.with_bytes(1 << 24)).ok()?;
        let mut faults = Faults::new();
        let mut fields = Fields::new(&value, "", &mut faults)?;
        let outcome = fields.text("outcome", 64)?;
        let answer = read_answer(outcome, &mut fields)?;
        fields.finish()?;
        Some(answer)
    }
}

impl PreparationVerifier for CommandVerifier {
    fn reads(&self, request: &KindRequest) -> Kind {
        let answer = self.ask(request.to_json(), |outcome, _| match outcome {
            "read" => Some(Kind::Read),
            "kind-unread" => Some(Kind::Unread),
            _ => None,
        });
        answer.unwrap_or(Kind::NoAnswer)
    }

    fn verify(&self, request: &PreparationRequest) -> PreparationOutcome {
        let answer = self.ask(request.to_json(), |outcome, fields| match outcome {
            "agrees" => Some(PreparationOutcome::Agrees {
                facts: fields.required("facts")?.clone().into_owned(),
                lineage: fields.required("lineage")?.clone().into_owned(),
            }),
            "refusal" => {
                let code = fields.text("code", 64)?;
                let plain =
                    |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte.is_ascii_digit();
                code.bytes().all(plain).then(|| PreparationOutcome::Refusal(code.to_owned()))
            }
            "finding" => Some(PreparationOutcome::Finding(detail(fields)?)),
            _ => None,
        });
        answer.unwrap_or(PreparationOutcome::NoAnswer)
    }
}

impl ExpansionVerifier for CommandVerifier {
    fn verify(&self, request: &ExpansionRequest) -> ExpansionOutcome {
        let answer = self.ask(request.to_json(), |outcome, fields| match outcome {
            "agrees" => Some(ExpansionOutcome::Agrees),
            "finding" => Some(ExpansionOutcome::Finding(detail(fields)?)),
            _ => None,
        });
        answer.unwrap_or(ExpansionOutcome::NoAnswer)
    }
}

impl InfluenceVerifier for CommandVerifier {
    fn verify(&self, request: &InfluenceRequest) -> InfluenceOutcome {
        let answer = self.ask(request.to_json(), |outcome, fields| match outcome {
            "agrees" => {
                let influences = fields.required("influence").and_then(Value::as_array)?;
                let read = |value| Influence::read(value, "/influence", fields.faults());
                let influences: Option<Vec<Influence>> = influences.iter().map(read).collect();
                Some(InfluenceOutcome::Agrees(influences?))
            }
            "not-admitted" => Some(InfluenceOutcome::NotAdmitted(detail(fields)?)),
            "finding" => Some(InfluenceOutcome::Finding(detail(fields)?)),
            _ => None,
        });
        answer.unwrap_or(InfluenceOutcome::NoAnswer)
    }
}

fn detail(fields: &mut Fields<'_, '_, '_>) -> Option<String> {
    fields.text("detail", 1024).map(str::to_owned)
}
