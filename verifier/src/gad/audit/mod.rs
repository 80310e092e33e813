//! Audits of a log beside an envelope: what a bundle alone can't show.
//!
//! A record that was cut off, an attestation that was dropped, a second export of one run: nothing in the
//! bundle says so. Whoever read the whole log can ([`anchorlog_proto::audit`]). What it is: each audit that
//! the caller hands in, under the auditors' keys that the caller accepts, held against the record, the
//! envelope's anchors and the caller's memory. What it isn't: a part of any status. An audit is the word of
//! its signer, whom no policy names, so everything found stands in a list of its own ([`AuditReport`]) and
//! makes nothing false. Equal inputs give equal lists.

mod logs;
mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::audit::{Audit, AuditBody, AuditError};
use anchorlog_proto::gad::envelope::EnvelopeManifest;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::signed_object::PublicKey;

use crate::codes::gad::Affect;
use crate::codes::gad::audit::{AUDITOR, FORM, INCOMPLETE, SUBJECT};

use super::facts::RecordFacts;
use super::finding::{GadFinding, MAX_PER_CODE, Where};
use super::policy::PolicyContext;
use super::report::{AuditReport, AuditState};
use super::rules::r1_envelope::Predecessor;

/// The member name of an audit in findings.
pub const AUDIT_INPUT: &str = "<audit>";

/// What audits are held against.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "filled in by the evaluation and by tests")]
pub struct AuditInput<'a> {
    /// The audits, in the caller's order.
    pub audits: &'a [Vec<u8>],
    /// The keys of the auditors whose word the caller wants to hear.
    pub auditors: &'a [PublicKey],
    /// What the record says.
    pub record: &'a RecordFacts,
    /// The envelope; `None` for a core alone.
    pub envelope: Option<&'a EnvelopeManifest>,
    /// The bytes of listed files by path, as far as they are there.
    pub files: &'a BTreeMap<Box<str>, Vec<u8>>,
    /// Earlier envelopes.
    pub predecessors: &'a [Predecessor],
    /// The policy.
    pub policy: &'a PolicyContext,
    /// What the caller remembers of logs.
    pub known: &'a KnownCheckpoints,
}

/// Holds every audit against the record.
#[must_use]
pub fn judge(input: &AuditInput<'_>) -> Vec<AuditReport> {
    input.audits.iter().map(|bytes| judge_one(bytes, input)).collect()
}

fn judge_one(bytes: &[u8], input: &AuditInput<'_>) -> AuditReport {
    let mut notes = Notes::default();
    let (state, claims) = match Audit::parse(bytes) {
        Err(error) => {
            notes.push(GadFinding::new(FORM, at(pointer_of(&error))).actual(describe(&error)));
            (AuditState::Unreadable, None)
        }
        Ok(audit) if !input.auditors.iter().any(|key| audit.verify(key).is_ok()) => {
            let place = at("/body/key_id");
            notes.push(
                GadFinding::new(AUDITOR, place)
                    .expected("a signature of an accepted auditor")
                    .actual(audit.signer()),
            );
            (AuditState::NotAccepted, Some(audit))
        }
        Ok(audit) => {
            compare(audit.body(), input, &mut notes);
            (AuditState::Accepted, Some(audit))
        }
    };
    AuditReport {
        sha256: Digest::of(bytes),
        state,
        auditor: claims.as_ref().map(Audit::signer),
        claims: claims.map(|audit| audit.body().clone()),
        findings: notes.sorted(),
    }
}

fn compare(body: &AuditBody, input: &AuditInput<'_>, notes: &mut Notes) {
    if !body.is_whole() {
        let actual = format!(
            "read from position {}, {} entries omitted",
            body.from.size, body.entries_omitted
        );
        notes.push(GadFinding::new(INCOMPLETE, at("/body")).actual(actual));
    }
    logs::compare(body, input, notes);
    let plan = input.record.plan_hash;
    if let Some(plan) = plan.filter(|plan| body.subject.includes_plan(plan)) {
        record::compare(body, &plan, input, notes);
        return;
    }
    let finding = GadFinding::new(SUBJECT, at("/body/subject")).actual(body.subject.to_string());
    notes.push(match plan {
        Some(plan) => finding.expected(format_args!("plan {plan}")),
        None => finding,
    });
}

/// What was found about one audit; of each code no more than a report lists.
#[derive(Debug, Default)]
struct Notes(Vec<GadFinding>);

impl Notes {
    /// Adds a finding, as a note whatever its code is elsewhere.
    fn push(&mut self, finding: GadFinding) {
        let same = self.0.iter().filter(|other| other.code == finding.code).count();
        if same < MAX_PER_CODE {
            self.0.push(finding.affecting(&[Affect::Note]));
        }
    }

    fn sorted(mut self) -> Vec<GadFinding> {
        self.0.sort();
        self.0.dedup();
        self.0
    }
}

fn at(pointer: impl Into<Box<str>>) -> Where {
    Where::member(AUDIT_INPUT).at(pointer)
}

/// The place of a listed entry.
fn entry_at(position: usize) -> Where {
    at(format!("/body/entries/{position}"))
}

fn pointer_of(error: &AuditError) -> String {
    match error {
        AuditError::Json(error) => error.pointer.clone(),
        AuditError::Checkpoint(_) => "/body/checkpoint".to_owned(),
        AuditError::Entry { position, .. } => format!("/body/entries/{position}"),
        AuditError::Finding { position } => format!("/body/findings/{position}"),
        AuditError::LogKey(_) => "/body/log_key".to_owned(),
        AuditError::Start => "/body/from".to_owned(),
        _ => String::new(),
    }
}

/// The refusal under its own code, where that is another one.
fn describe(error: &AuditError) -> String {
    match error.code() {
        code if code == FORM.as_str() => error.to_string(),
        code => format!("{code}: {error}"),
    }
}
