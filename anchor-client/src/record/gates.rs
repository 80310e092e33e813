//! Gates: a human is asked, answers with a key of their own, and can be asked again after a change.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::names::Role;
use anchorlog_proto::gad::payload::{Decision, GateAnswer, GateRequest, RevisedRequest};
use anchorlog_proto::json::{Object, ReadLimits, Value, parse};
use anchorlog_proto::signed_object::{SignerId, SigningKey};

use super::{RecordError, Recorded, Recorder};

impl Recorder {
    /// Records that a human is asked to approve a gated node whose tests all passed. Without `findings` it
    /// stands on all the engine recorded about the node in its current attempt.
    pub fn gate_request(
        &mut self,
        node: &str,
        findings: Option<&[u64]>,
    ) -> Result<Recorded, RecordError> {
        let findings = self.findings(node, findings)?;
        self.record(&Payload::GateRequest(GateRequest { node, findings }))
    }

    /// Records that the human is asked again after a refusal. Without `change` the latest entry that records
    /// one is named: a remediation of action `revision`, a scope closure or a verdict.
    pub fn revised_request(
        &mut self,
        node: &str,
        findings: Option<&[u64]>,
        change: Option<u64>,
    ) -> Result<Recorded, RecordError> {
        let position = self.node(node)?;
        let change = change.or_else(|| self.memory().change(position));
        let change_ref = change.ok_or_else(|| RecordError::State {
            subject: node.to_owned(),
            reason: "no change is recorded since its refusal",
        })?;
        let findings = self.findings(node, findings)?;
        let request = RevisedRequest { node, findings, change_ref };
        self.record(&Payload::RevisedApprovalRequest(request))
    }

    /// Records a human's answer, signed here with their key.
    pub fn answer(
        &mut self,
        node: &str,
        decision: Decision,
        key: &SigningKey,
    ) -> Result<Recorded, RecordError> {
        let answer = self.pending_answer(node, decision, key.id())?;
        self.record_signed(&answer_payload(decision, answer), key)
    }

    /// The body of an answer, to be signed elsewhere: Ed25519 over its canonical bytes.
    ///
    /// # Errors
    ///
    /// [`RecordError::State`] when nobody was asked, [`RecordError::KeyRole`] when `who` is no approver.
    pub fn gate_body(
        &self,
        node: &str,
        decision: Decision,
        who: SignerId,
    ) -> Result<Object<'static>, RecordError> {
        let answer = self.pending_answer(node, decision, who)?;
        let payload = answer_payload(decision, answer);
        let mut body = payload.to_object().into_owned();
        body.insert("key_id", who.to_string());
        body.insert("plan_hash", self.plan().hash().to_string());
        body.insert("type", payload.entry_type().as_str());
        Ok(body)
    }

    /// Records an answer that was signed elsewhere: the bytes of `{body, signature}`.
    pub fn signed_answer(&mut self, bytes: &[u8]) -> Result<Recorded, RecordError> {
        let value = parse(bytes, &ReadLimits::DEFAULT)
            .map_err(|error| RecordError::SignedObject { detail: error.to_string() })?;
        let body =
            value.as_object().and_then(|object| object.get("body")).and_then(Value::as_object);
        let entry_type = body
            .and_then(|body| body.get("type"))
            .and_then(Value::as_str)
            .and_then(EntryType::from_name)
            .filter(|entry_type| entry_type.required_role() == Some(Role::Approver))
            .ok_or_else(|| RecordError::SignedObject {
                detail: "its body is of neither type, approval or refusal".to_owned(),
            })?;
        self.record_ready(entry_type, value)
    }

    fn findings(&self, node: &str, stated: Option<&[u64]>) -> Result<Vec<u64>, RecordError> {
        let position = self.node(node)?;
        let mut findings = match stated {
            Some(findings) => findings.to_vec(),
            None => self.memory().findings(position),
        };
        findings.sort_unstable();
        findings.dedup();
        Ok(findings)
    }

    /// The answer to the pending request of a node: it stands on all that the request stands on.
    fn pending_answer<'a>(
        &self,
        node: &'a str,
        decision: Decision,
        who: SignerId,
    ) -> Result<GateAnswer<'a>, RecordError> {
        self.check_role(who, Role::Approver)?;
        let position = self.node(node)?;
        let h = self.request_h(node)?;
        Ok(GateAnswer {
            node,
            who,
            decision: Some(decision),
            findings: self.memory().request(position),
            request_h: h,
        })
    }

    /// h of the pending request of a node.
    fn request_h(&self, node: &str) -> Result<Digest, RecordError> {
        let request = self.machine().pending_request(self.node(node)?);
        request.map(|request| request.h).ok_or_else(|| RecordError::State {
            subject: node.to_owned(),
            reason: "nobody was asked about it",
        })
    }
}

fn answer_payload(decision: Decision, answer: GateAnswer<'_>) -> Payload<'_> {
    match decision {
        Decision::Proceed => Payload::Approval(answer),
        Decision::Refuse => Payload::Refusal(answer),
    }
}
