//! Selection records (RFC 0020 section 6).

use super::set::distinct;
use super::stage::Rule;
use crate::Digest;
use crate::jp::fault::{self, Faults};
use crate::jp::id::Id;
use crate::jp::json::{Fields, Value};

/// Which offered records a branch goes on with.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Selection {
    /// The workflow.
    pub workflow_digest: Digest,
    /// The execution's id.
    pub execution: Id,
    /// The stage whose outputs are offered.
    pub upstream_stage: Id,
    /// The whole offered set.
    pub output_set_digest: Digest,
    /// The selected records, distinct.
    pub selected: Vec<Digest>,
    /// Who selected.
    pub mode: Mode,
    /// From 1.
    pub revision: u8,
    /// Whether the selection was refused at admission, as over a limit.
    pub refused: bool,
}

/// Who selected.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these two")]
pub enum Mode {
    /// A reviewer, by the installation's assertion.
    Reviewer(Review),
    /// The recorded dispositions.
    Disposition(Rule),
}

/// What an installation asserts of a review.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Review {
    /// An actor, local to the installation.
    pub actor: String,
    /// What is asserted.
    pub assertion: String,
    /// When, a timestamp.
    pub at: String,
}

impl Selection {
    /// Reads a selection.
    pub fn read(value: &Value<'_>, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, "", faults)?;
        let version = fields.version("selectionVersion", 1);
        let workflow_digest = fields.digest("workflowDigest");
        let execution = fields.parsed("execution", "is no id");
        let upstream_stage = fields.parsed("upstreamStage", "is no id");
        let output_set_digest = fields.digest("outputSetDigest");
        let selected = fields.digests("selected");
        let revision = revision(&mut fields);
        let by_rule = fields.one_of("mode", |text| match text {
            "reviewer" => Some(false),
            "disposition" => Some(true),
            _ => None,
        });
        let mode = match by_rule {
            Some(true) => fields
                .required("rule")
                .and_then(|value| Rule::read(value, "/rule", fields.faults()))
                .map(Mode::Disposition),
            Some(false) => fields
                .required("review")
                .and_then(|value| review(value, fields.faults()))
                .map(Mode::Reviewer),
            None => None,
        };
        let refusal = fields.optional("refusal");
        if refusal.is_some_and(|value| value.as_str() != Some("limit-exceeded")) {
            return fields.wrong("refusal", "is not limit-exceeded");
        }
        let finished = fields.finish();
        let selected = selected?;
        if !distinct(&selected) {
            faults.note(fault::Rule::Form, "/selected has a digest twice");
            return None;
        }
        version.and(finished)?;
        Some(Self {
            workflow_digest: workflow_digest?,
            execution: execution?,
            upstream_stage: upstream_stage?,
            output_set_digest: output_set_digest?,
            selected,
            mode: mode?,
            revision: revision?,
            refused: refusal.is_some(),
        })
    }
}

/// 1 to 16: over it is over a bound, under it no revision.
fn revision(fields: &mut Fields<'_, '_, '_>) -> Option<u8> {
    match fields.required("revision")?.as_integer() {
        Some(number @ 1..=16) => u8::try_from(number).ok(),
        Some(17..) => {
            fields.note(fault::Rule::Count, "revision", "is over 16");
            None
        }
        _ => fields.wrong("revision", "is no integer of at least 1"),
    }
}

fn review(value: &Value<'_>, faults: &mut Faults) -> Option<Review> {
    let mut fields = Fields::new(value, "/review", faults)?;
    let actor = fields.text("actor", 256);
    let assertion = fields.text("assertion", 1024);
    let at = fields.timestamp("at");
    fields.finish()?;
    Some(Review { actor: actor?.to_owned(), assertion: assertion?.to_owned(), at: at?.to_owned() })
}
