//! Reading the documents of a bundle, and those a caller brings beside it, into findings.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::envelope::{EnvelopeManifest, root_envelope};
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::gad::{Defects, FormCode, Limits};
use anchorlog_proto::json::{self, JsonError, ReadLimits, Value, canonical};

use crate::codes::Code;
use crate::codes::gad::Affect;
use crate::codes::json::NONCANONICAL;
use crate::gad::container::{Bundle, CORE, refusal};
use crate::gad::finding::{Findings, GadFinding, Where};
use crate::gad::rules::r1_envelope::{ENVELOPE, Predecessor};

use super::SuccessorPlan;
use super::envelope::MAX_ITEM_BYTES;

/// A document that was read.
pub(super) struct Document<T> {
    /// What it says; `None` when it can't be read as what it should be.
    pub(super) content: Option<T>,
    /// Its canonical bytes, over which it is hashed; `None` when it isn't JSON.
    pub(super) canonical: Option<Vec<u8>>,
}

/// How one document is read.
pub(super) struct Reading<'a> {
    /// Its path in the bundle.
    pub(super) path: &'a str,
    /// What its `J.*` findings make false.
    pub(super) owner: &'a [Affect],
    /// The limits.
    pub(super) limits: &'a Limits,
}

impl Reading<'_> {
    /// Reads a member. `None`: its bytes can't be read, which ends the evaluation; a finding says so.
    pub(super) fn member<T>(
        &self,
        bundle: &Bundle,
        read: impl FnOnce(&Value<'_>, &Limits, &mut Defects) -> Option<T>,
        findings: &mut Findings,
    ) -> Option<Document<T>> {
        match bundle.read_whole(self.path) {
            Ok(bytes) => Some(self.bytes(bytes, read, findings)),
            Err(faults) => {
                findings.append(faults);
                None
            }
        }
    }

    fn bytes<T>(
        &self,
        bytes: Vec<u8>,
        read: impl FnOnce(&Value<'_>, &Limits, &mut Defects) -> Option<T>,
        findings: &mut Findings,
    ) -> Document<T> {
        let document = match json::read(&bytes, &read_limits(bytes.len(), self.limits)) {
            Ok(document) => document,
            Err(error) => {
                findings.push(self.of_json(&error));
                return Document { content: None, canonical: None };
            }
        };
        let mut other_form = None;
        if document.noncanonical_at.is_some() {
            let finding = GadFinding::new(NONCANONICAL, Where::member(self.path));
            findings.push(finding.affecting(self.owner));
            other_form = Some(canonical(&document.value));
        }
        let mut defects = Defects::new();
        let content = read(&document.value, self.limits, &mut defects);
        self.of_defects(&defects, findings);
        drop(document);
        Document { content, canonical: Some(other_form.unwrap_or(bytes)) }
    }

    fn of_json(&self, error: &JsonError) -> GadFinding {
        self.finding(error.code.into(), error.pointer.as_str())
    }

    fn of_defects(&self, defects: &Defects, findings: &mut Findings) {
        for defect in defects.list() {
            findings.push(self.finding(defect.code, &defect.pointer));
        }
    }

    fn finding(&self, form: FormCode, pointer: &str) -> GadFinding {
        let place = Where::member(self.path).at(pointer);
        // Every code of a form has a row in the table: a test holds them together.
        let code = Code::lookup(form.as_str()).unwrap_or(crate::codes::input::INTERNAL);
        if code.as_str().starts_with("IN.") {
            refusal(code, place)
        } else if code.affects().is_empty() || self.owner == [Affect::R1e] {
            GadFinding::new(code, place).affecting(self.owner)
        } else {
            GadFinding::new(code, place)
        }
    }
}

/// Limits for a document of `bytes` bytes, which the container has already admitted.
fn read_limits(bytes: usize, limits: &Limits) -> ReadLimits {
    let depth = usize::try_from(limits.depth).unwrap_or(usize::MAX);
    ReadLimits::DEFAULT.with_bytes(bytes).with_depth(depth).with_values(MAX_VALUES)
}

/// The most values one document may hold, which bounds the memory that reading it takes. What the limits of
/// the format admit is a fraction of it: 100,000 members of five values, as many claims of some twenty, and
/// a plan is embedded in one line of the witness.
const MAX_VALUES: usize = 4_000_000;

/// Reads the manifest of an earlier envelope.
///
/// # Errors
///
/// What is wrong with it, as findings about `<predecessor>`.
pub fn read_predecessor(bytes: &[u8], limits: &Limits) -> Result<Predecessor, Findings> {
    let (manifest, canonical) =
        read_beside(bytes, "<predecessor>", limits, EnvelopeManifest::read)?;
    Ok(Predecessor::of_manifest(root_envelope(&canonical), manifest))
}

/// Reads the manifest of an earlier envelope that is there as a whole, and its anchors: those with the
/// digest that the manifest states, the others are as if they weren't there.
///
/// # Errors
///
/// What is wrong with the container, or with the manifest as findings about `<predecessor>`.
pub fn read_predecessor_bundle(bundle: &Bundle, limits: &Limits) -> Result<Predecessor, Findings> {
    let mut predecessor = read_predecessor(&bundle.read_whole(ENVELOPE)?, limits)?;
    for row in &predecessor.manifest.anchors {
        let path = &row.item.path;
        let size = bundle.size(path).unwrap_or(u64::MAX);
        if path.starts_with(CORE) || size > MAX_ITEM_BYTES {
            continue;
        }
        let bytes = bundle.read_whole(path)?;
        if Digest::of(&bytes) == row.item.digest {
            predecessor.anchors.insert(path.clone(), bytes);
        }
    }
    Ok(predecessor)
}

/// Reads a successor plan.
///
/// # Errors
///
/// What is wrong with it, as findings about `<successor plan>`.
pub fn read_successor_plan(bytes: &[u8], limits: &Limits) -> Result<SuccessorPlan, Findings> {
    let (plan, canonical) = read_beside(bytes, "<successor plan>", limits, Plan::read)?;
    Ok(SuccessorPlan { plan, hash: plan_hash(&canonical) })
}

/// Reads the caller's memory of logs.
///
/// # Errors
///
/// What is wrong with it, as findings about `<known checkpoints>`.
pub fn read_known_checkpoints(bytes: &[u8], limits: &Limits) -> Result<KnownCheckpoints, Findings> {
    let read = |value: &Value<'_>, _: &Limits, defects: &mut Defects| {
        KnownCheckpoints::read(value, defects)
    };
    let (known, _) = read_beside(bytes, "<known checkpoints>", limits, read)?;
    Ok(known)
}

fn read_beside<T>(
    bytes: &[u8],
    name: &str,
    limits: &Limits,
    read: impl FnOnce(&Value<'_>, &Limits, &mut Defects) -> Option<T>,
) -> Result<(T, Vec<u8>), Findings> {
    let mut findings = Findings::new();
    let reading = Reading { path: name, owner: &[Affect::Defensible], limits };
    let document = reading.bytes(bytes.to_vec(), read, &mut findings);
    match (document.content, document.canonical) {
        (Some(content), Some(canonical)) if findings.is_empty() => Ok((content, canonical)),
        _ => Err(findings),
    }
}

/// h(P) of a plan that was read.
pub(super) fn hash_of_plan(document: &Document<Plan>) -> Option<Digest> {
    document.canonical.as_deref().map(plan_hash)
}
