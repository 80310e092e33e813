//! Anchors: what of an envelope's anchors holds under a policy, and whether that is what it asks for
//! (RequiredAnchorsVerify, eq (7)).
//!
//! Each listed anchor is looked at in this order: its target (`target`), its issuer, its cryptography
//! (`rfc3161`, `tlog`). One whose issuer the policy doesn't know counts for nothing and breaks
//! nothing; one of a known issuer that fails anything fails DEFENSIBLE. Then all of them together: what
//! one log signed twice, and what the caller remembers of it (`logs`); times against the times in the
//! record, and the requirements of the policy (`order`).
//!
//! What a verified anchor shows: its value existed at its time. What it doesn't show: that the times
//! inside the record are right, or that nothing was left out of it.

mod logs;
mod order;
mod rfc3161;
mod target;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
mod tlog;

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::Origin;
use anchorlog_proto::gad::envelope::{AnchorRow, AnchorType, EnvelopeManifest};
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::gad::policy::RequiredTarget;
use anchorlog_proto::timestamp::GenTime;

use crate::codes::gad::Affect;
use crate::codes::gad::anchor::{PRESENT_INVALID, TYPE_UNKNOWN, UNTRUSTED_ISSUER};
use crate::codes::gad::r2::LABEL_BOUNDED;
use crate::codes::gad::trust_policy::VACUOUS;
use crate::codes::input::LIMIT_COUNT;
use crate::proof::Tree;

use super::facts::RecordFacts;
use super::finding::{Findings, GadFinding, Where};
use super::policy::{POLICY_INPUT, PolicyContext};
use super::report::{AnchorReport, AnchorState, Precedence};
use super::rules::r1_envelope::Predecessor;

/// The member name of the caller's memory of logs in findings.
pub const KNOWN_INPUT: &str = "<known checkpoints>";
/// Member name of the envelope manifest.
const ENVELOPE: &str = "envelope.json";

/// What the anchors of an envelope are judged by.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "filled in by the evaluation and by tests")]
pub struct AnchorInput<'a> {
    /// The envelope; its digests of files are not looked at here.
    pub envelope: &'a EnvelopeManifest,
    /// The bytes of listed files by path, as far as they are there.
    pub files: &'a BTreeMap<Box<str>, Vec<u8>>,
    /// What the record says.
    pub record: &'a RecordFacts,
    /// The policy.
    pub policy: &'a PolicyContext,
    /// What the caller remembers of logs.
    pub known: &'a KnownCheckpoints,
    /// Earlier envelopes: what logs signed in them.
    pub predecessors: &'a [Predecessor],
}

/// RequiredAnchorsVerify(E, Π) holds. Only [`judge`] makes one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RequiredAnchorsVerified(());

/// What became of the anchors.
#[derive(Clone, Debug)]
pub struct AnchorsOutcome {
    anchors: Vec<AnchorReport>,
    required: Option<RequiredAnchorsVerified>,
    vacuous: bool,
    verified: Vec<AnchorKind>,
    latest: Option<GenTime>,
    precedence: Precedence,
}

impl AnchorsOutcome {
    /// What became of each, in the envelope's order.
    #[must_use]
    pub fn anchors(&self) -> &[AnchorReport] {
        &self.anchors
    }

    /// RequiredAnchorsVerify, if it holds.
    #[must_use]
    pub const fn required(&self) -> Option<RequiredAnchorsVerified> {
        self.required
    }

    /// Whether no requirement is in force, so that eq (7) asks for nothing.
    #[must_use]
    pub const fn vacuous(&self) -> bool {
        self.vacuous
    }

    /// Whether an anchor of this kind is verified.
    #[must_use]
    pub fn verified(&self, kind: AnchorKind) -> bool {
        self.verified.contains(&kind)
    }

    /// Whether an anchor of this kind carries what its kind is for: it is verified and, if it is a
    /// commitment to the plan, it lies before the first dispatch (section 9).
    #[must_use]
    pub fn supports(&self, kind: AnchorKind) -> bool {
        match kind {
            AnchorKind::CoreRoot | AnchorKind::ChainHead => self.verified(kind),
            AnchorKind::PlanCommitment => self.precedence == Precedence::Bounded,
        }
    }

    /// Whether an anchor of this kind is listed: a claim may then refer to it.
    #[must_use]
    pub fn listed(&self, kind: AnchorKind) -> bool {
        self.anchors.iter().any(|anchor| anchor.kind == kind)
    }

    /// The latest trusted time of a verified anchor.
    #[must_use]
    pub const fn latest(&self) -> Option<GenTime> {
        self.latest
    }

    /// How precedence is shown: bounded, if a verified commitment lies before the first dispatch.
    #[must_use]
    pub const fn precedence(&self) -> Precedence {
        self.precedence
    }
}

/// A trusted time and how far it may be off, in microseconds.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct TrustedTime {
    time: GenTime,
    accuracy_us: i64,
}

impl TrustedTime {
    /// The latest instant it may stand for.
    fn latest(self) -> GenTime {
        self.time.shifted(self.accuracy_us)
    }

    /// The earliest instant it may stand for.
    fn earliest(self) -> GenTime {
        self.time.shifted(self.accuracy_us.saturating_neg())
    }
}

/// One anchor on its way.
#[derive(Clone, Debug)]
struct Anchor<'a> {
    row: &'a AnchorRow,
    state: AnchorState,
    /// Whether `ANC.PRESENT_INVALID` was raised.
    invalid: bool,
    /// Whose it is, once that is known.
    operator: Option<Box<str>>,
    time: Option<TrustedTime>,
    /// The time by which the witnesses' quorum had cosigned, for a tlog anchor.
    cosigned: Option<GenTime>,
    /// SHA-256 of the file.
    file: Option<Digest>,
    /// The position of the last entry that it covers; of an anchor whose target is right.
    covers: Option<usize>,
    /// The tree that a log of the policy signed, for a tlog anchor.
    signed: Option<(Origin, Tree)>,
}

impl Anchor<'_> {
    /// The place of the whole file.
    fn place(&self) -> Where {
        Where::member(self.row.item.path.clone())
    }

    fn is_verified(&self) -> bool {
        self.state == AnchorState::Verified
    }

    /// Fails it for what was pushed before: an anchor of a known issuer, or of none.
    fn fail(&mut self, findings: &mut Findings) {
        // One finding for the anchor, however many reasons there are.
        if !self.invalid {
            findings.push(GadFinding::new(PRESENT_INVALID, self.place()));
        }
        self.invalid = true;
        self.state = AnchorState::Failed;
    }

    /// It counts for nothing.
    fn unsupported(&mut self, issuer: impl core::fmt::Display, findings: &mut Findings) {
        findings.push(
            GadFinding::new(UNTRUSTED_ISSUER, self.place())
                .expected("an issuer of the policy")
                .actual(issuer),
        );
        // A wrong target stays wrong, whoever signed it.
        if self.is_verified() {
            self.state = AnchorState::Unsupported;
        }
    }

    fn report(&self) -> AnchorReport {
        AnchorReport {
            path: self.row.item.path.clone(),
            kind: self.row.kind,
            state: self.state,
            time: self
                .time
                .filter(|_| self.is_verified())
                .map(|trusted| trusted.time.unix_seconds()),
            operator: self.operator.clone(),
        }
    }
}

/// Judges the anchors of an envelope: `ANC.*`, `TSA.*`, `LOG.*`, `R2.CLOCK.ANCHOR_CONTRADICTION`,
/// `R2.LABEL.BOUNDED`, `POL.VACUOUS`; `IN.LIMIT_COUNT` for a token of too many certificates. Everything that is found is found, whatever was found before.
#[must_use]
pub fn judge(input: &AnchorInput<'_>, findings: &mut Findings) -> AnchorsOutcome {
    let mut found = Findings::new();
    let heads = target::DeclaredHeads::check(input, &mut found);
    let mut anchors: Vec<Anchor<'_>> = Vec::with_capacity(input.envelope.anchors.len());
    for (position, row) in input.envelope.anchors.iter().enumerate() {
        anchors.push(examine(position, row, &heads, input, &mut found));
    }
    logs::compare(&mut anchors, &logs::earlier(input), &input.known.checkpoints, &mut found);
    order::contradictions(&anchors, input.record, &mut found);
    let requirements = order::requirements(&anchors, input, &mut found);

    let precedence =
        order::precedence(&anchors, input.record, i64::from(input.policy.policy().skew_s));
    if input.record.claims_bounded && precedence != Precedence::Bounded {
        found.push(
            GadFinding::new(LABEL_BOUNDED, Where::member("core/claims.json"))
                .expected("a verified anchor over the plan's hash from before the first dispatch"),
        );
    }
    if requirements.vacuous && input.policy.given() && input.policy.readable() {
        let place = Where::member(POLICY_INPUT).at("/required_anchors");
        found.push(GadFinding::new(VACUOUS, place));
    }
    let holds = input.policy.sound() && !found.affects(Affect::Defensible);
    findings.append(found);

    let mut verified = Vec::new();
    for kind in AnchorKind::ALL {
        if anchors.iter().any(|anchor| anchor.is_verified() && anchor.row.kind == *kind) {
            verified.push(*kind);
        }
    }
    AnchorsOutcome {
        required: holds.then_some(RequiredAnchorsVerified(())),
        vacuous: requirements.vacuous,
        verified,
        latest: anchors
            .iter()
            .filter(|anchor| anchor.is_verified())
            .filter_map(|anchor| anchor.time.map(|trusted| trusted.time))
            .max(),
        precedence,
        anchors: anchors.iter().map(Anchor::report).collect(),
    }
}

/// Target, issuer, cryptography of one anchor.
fn examine<'a>(
    position: usize,
    row: &'a AnchorRow,
    heads: &target::DeclaredHeads,
    input: &AnchorInput<'_>,
    findings: &mut Findings,
) -> Anchor<'a> {
    let mut anchor = Anchor {
        row,
        state: AnchorState::Verified,
        invalid: false,
        operator: None,
        time: None,
        cosigned: None,
        file: None,
        covers: None,
        signed: None,
    };
    match target::check(position, row, heads, input.record, findings) {
        Ok(covers) => anchor.covers = covers,
        Err(target::WrongTarget) => anchor.state = AnchorState::Failed,
    }
    let Some(anchor_type) = row.anchor_type else {
        let place = Where::member(ENVELOPE).at(format!("/anchors/{position}/type"));
        findings.push(GadFinding::new(TYPE_UNKNOWN, place).expected("rfc3161 or tlog"));
        if anchor.is_verified() {
            anchor.state = AnchorState::Unsupported;
        }
        return anchor;
    };
    // A file that isn't there is a matter of the envelope (R1e); nothing is verified by it.
    let Some(bytes) = input.files.get(&row.item.path) else {
        anchor.state = AnchorState::Failed;
        return anchor;
    };
    anchor.file = Some(Digest::of(bytes));
    let limit = input.policy.limits().certificates;
    if rfc3161::too_many_certificates(row, bytes, limit) {
        findings.push(
            GadFinding::new(LIMIT_COUNT, anchor.place())
                .affecting(&Affect::EVERYTHING)
                .expected(format_args!("at most {limit} certificates in a token")),
        );
    }
    match anchor_type {
        AnchorType::Rfc3161 => rfc3161::examine(&mut anchor, bytes, input, findings),
        AnchorType::Tlog => tlog::examine(&mut anchor, bytes, input, findings),
    }
    anchor
}

/// What a requirement is over.
const fn kind_of(target: RequiredTarget) -> AnchorKind {
    match target {
        RequiredTarget::CoreRoot { .. } => AnchorKind::CoreRoot,
        RequiredTarget::ChainHead { .. } => AnchorKind::ChainHead,
        RequiredTarget::PlanCommitment { .. } => AnchorKind::PlanCommitment,
    }
}
