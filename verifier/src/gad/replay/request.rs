//! What a runner is told and what it answers: `gad.replay-request/1` and `gad.replay-result/1`.
//!
//! Both are canonical JSON (`gad-bytes/1`), one document each, closed. Neither is part of a record.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::names::PassFail;
use anchorlog_proto::gad::payload::Verdict;
use anchorlog_proto::gad::plan::Test;
use anchorlog_proto::json::{Fields, JsonError, Object, ReadLimits, Value, canonical, parse};

use super::ReplayOutcome;

/// The schema name of a request.
pub const REPLAY_REQUEST_SCHEMA: &str = "gad.replay-request/1";

/// The schema name of a result.
pub const REPLAY_RESULT_SCHEMA: &str = "gad.replay-result/1";

/// A test to do again.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by the rule of verdicts and by tests")]
pub struct ReplayRequest<'e> {
    /// h(P).
    pub plan_hash: Digest,
    /// The frozen test.
    pub test: &'e Test,
    /// seq of the verdict.
    pub seq: u64,
    /// The verdict.
    pub verdict: &'e Verdict<'e>,
}

impl ReplayRequest<'_> {
    /// The request as a runner reads it: {schema, plan_hash, seq, session_id, execution_result_seq, node,
    /// test_id, spec, test_spec_digest, signal_artifact_digest, subject_artifact_digest,
    /// environment_digest}. `spec` is without its `ext`; a digest the verdict lacks is null. The recorded
    /// result is not in it: nobody is told what to find.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let verdict = self.verdict;
        let digest = |digest: Option<Digest>| digest.map_or(Value::Null, text);
        canonical(&Value::Object(Object::from([
            ("environment_digest", digest(verdict.environment)),
            ("execution_result_seq", number(verdict.execution_result_seq)),
            ("node", Value::from(verdict.node)),
            ("plan_hash", text(self.plan_hash)),
            ("schema", Value::from(REPLAY_REQUEST_SCHEMA)),
            ("seq", number(self.seq)),
            ("session_id", Value::from(verdict.session_id)),
            ("signal_artifact_digest", digest(verdict.signal_artifact)),
            ("spec", self.test.spec.to_value()),
            ("subject_artifact_digest", digest(verdict.subject_artifact)),
            ("test_id", Value::from(&*self.test.id)),
            ("test_spec_digest", text(self.test.digest)),
        ])))
    }

    /// What a result means for the verdict. A pass with another exit code than the frozen test expects
    /// contradicts itself and says nothing.
    #[must_use]
    pub fn compare(&self, result: &ReplayResult) -> ReplayOutcome {
        let expected = i64::from(self.test.spec.expect_exit_code);
        if result.result == PassFail::Pass && result.exit_code != Some(expected) {
            ReplayOutcome::Unavailable
        } else if Some(result.result) == self.verdict.result {
            ReplayOutcome::Agreed
        } else {
            ReplayOutcome::Disagreed
        }
    }
}

fn text(digest: Digest) -> Value<'static> {
    Value::from(digest.to_string())
}

/// Numbers of entries are within what JSON numbers may be: they were read from JSON.
fn number(number: u64) -> Value<'static> {
    Value::try_from(number).unwrap_or(Value::Null)
}

/// What a runner answers: {schema, result: pass or fail, exit_code: integer or null}.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct ReplayResult {
    /// What the test came to.
    pub result: PassFail,
    /// Its exit code, where it had one.
    pub exit_code: Option<i64>,
}

/// Why an answer is none.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayResultError {
    /// It is not a closed object of these members.
    #[error(transparent)]
    Json(#[from] JsonError),
}

impl ReplayResult {
    /// Reads an answer: any JSON form of it, with white space around.
    ///
    /// # Errors
    ///
    /// When it isn't one.
    pub fn read(bytes: &[u8]) -> Result<Self, ReplayResultError> {
        let value = parse(bytes, &ReadLimits::DEFAULT.with_depth(4))?;
        let mut fields = Fields::new(&value, "")?;
        fields.literal("schema", REPLAY_RESULT_SCHEMA)?;
        let result = fields.one_of("result", PassFail::from_name)?;
        let exit_code = match fields.required("exit_code")? {
            Value::Null => None,
            _ => Some(fields.integer("exit_code")?),
        };
        fields.finish()?;
        Ok(Self { result, exit_code })
    }
}

#[cfg(test)]
mod tests {
    use anchorlog_proto::gad::entry::Payload;

    use super::*;
    use crate::gad::rules::testing::{Log, plan, test};

    #[test]
    fn a_request_says_what_to_do_and_not_what_to_find() {
        let plan = plan(|_| {});
        let mut log = Log::new(&plan);
        log.session("s1", &["n1"], &[]).verdict("s1", "n1", "t1", PassFail::Pass);
        let event = log.events().last().unwrap();
        let Some(Payload::Verdict(verdict)) = event.entry.payload.as_ref() else { panic!() };
        let test = test("t1");
        let request = ReplayRequest { plan_hash: plan.hash(), test: &test, seq: 3, verdict };
        let json = String::from_utf8(request.to_json()).unwrap();
        let parsed = parse(json.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        assert_eq!(canonical(&parsed), json.as_bytes());
        assert!(json.starts_with(r#"{"environment_digest":"sha256:"#), "{json}");
        assert!(json.contains(r#""spec":{"capture":"engine_capture","expect":{"exit_code":0},"kind":"command","observation_layers":["authenticated_engine_observation"],"replay":false,"run":"make test","signal_kind":"direct_observable"}"#), "{json}");
        assert!(json.contains(r#""execution_result_seq":2,"node":"n1""#), "{json}");
        assert!(!json.contains("result\":\"pass"), "{json}");
        assert!(!json.contains("stdout"), "{json}");

        let answer = |result, exit_code| request.compare(&ReplayResult { result, exit_code });
        assert_eq!(answer(PassFail::Pass, Some(0)), ReplayOutcome::Agreed);
        assert_eq!(answer(PassFail::Fail, Some(1)), ReplayOutcome::Disagreed);
        assert_eq!(answer(PassFail::Fail, None), ReplayOutcome::Disagreed);
        // "It passed, with the exit code of a failure" is no answer.
        assert_eq!(answer(PassFail::Pass, Some(1)), ReplayOutcome::Unavailable);
        assert_eq!(answer(PassFail::Pass, None), ReplayOutcome::Unavailable);
    }

    #[test]
    fn answers_are_closed() {
        let read = |text: &str| ReplayResult::read(text.as_bytes()).ok();
        let pass = ReplayResult { result: PassFail::Pass, exit_code: Some(0) };
        let schema = r#""schema":"gad.replay-result/1""#;
        assert_eq!(read(&format!(r#"{{"result":"pass","exit_code":0,{schema}}}"#)), Some(pass));
        assert_eq!(
            read(&format!(" {{ \"exit_code\" : 0, \"result\":\"pass\",{schema}}}\n")),
            Some(pass)
        );
        let fail = ReplayResult { result: PassFail::Fail, exit_code: None };
        assert_eq!(read(&format!(r#"{{"result":"fail","exit_code":null,{schema}}}"#)), Some(fail));
        for refused in [
            String::new(),
            "{}".into(),
            "null".into(),
            format!(r#"{{"result":"pass","exit_code":0,{schema}}} extra"#),
            format!(r#"{{"result":"passed","exit_code":0,{schema}}}"#),
            format!(r#"{{"result":"pass","exit_code":"0",{schema}}}"#),
            format!(r#"{{"result":"pass",{schema}}}"#),
            format!(r#"{{"exit_code":0,{schema}}}"#),
            format!(r#"{{"result":"pass","exit_code":0,"agrees":true,{schema}}}"#),
            format!(r#"{{"result":"pass","exit_code":0,"result":"fail",{schema}}}"#),
            r#"{"result":"pass","exit_code":0}"#.into(),
            r#"{"result":"pass","exit_code":0,"schema":"gad.replay-result/2"}"#.into(),
        ] {
            assert_eq!(read(&refused), None, "{refused}");
        }
    }
}
