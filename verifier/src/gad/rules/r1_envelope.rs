//! R1e, the envelope's half of R1: M_envelope names the recomputed root, lists every item and excludes
//! itself, and an envelope keeps what its predecessor held.
//!
//! What it is: the envelope's manifest, as it was read, against the members, as they were seen, and
//! against the manifests before it that the caller has. What it isn't: a look into anchors and
//! attestations, and it isn't evaluated for a core alone ([`Form::Core`](super::super::container::Form)).

use std::collections::{BTreeMap, BTreeSet};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::envelope::{EnvelopeManifest, ItemRow};

use crate::codes::gad::r1::{
    ENV_ITEM_ABSENT, ENV_ITEM_HASH, ENV_ITEM_UNLISTED, ENV_LAYERS_UNDECLARED, ENV_LINEAGE_DROPPED,
    ENV_MISSING, ENV_PREDECESSOR_FORM, ENV_PREDECESSOR_MISMATCH, ENV_ROOT_CORE, ENV_ROOT_ENVELOPE,
    ENV_SELF,
};

use super::super::artifacts::Survey;
use super::super::container::{Bundle, CORE};
use super::super::finding::{Findings, GadFinding, Where};

/// The member that is M_envelope.
pub const ENVELOPE: &str = "envelope.json";

/// The place of a predecessor's manifest, which is no member of the bundle.
pub const PREDECESSOR: &str = "<predecessor>";

/// The manifest of an earlier envelope, as the caller supplied it.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by the evaluation and by tests")]
pub struct Predecessor {
    /// Its recomputed `root_envelope`.
    pub root_envelope: Digest,
    /// The manifest.
    pub manifest: EnvelopeManifest,
    /// The bytes of its anchors by path, as far as the caller has them: those with the digest that the
    /// manifest states. A log can't sign in one envelope what contradicts the other.
    pub anchors: BTreeMap<Box<str>, Vec<u8>>,
}

impl Predecessor {
    /// An earlier envelope of which there is only the manifest.
    #[must_use]
    pub const fn of_manifest(root_envelope: Digest, manifest: EnvelopeManifest) -> Self {
        Self { root_envelope, manifest, anchors: BTreeMap::new() }
    }
}

/// The roots an envelope is held against.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by the evaluation and by tests")]
pub struct Roots {
    /// The recomputed root_core; `None` when M_core couldn't be read, and then no stated one is right.
    pub core: Option<Digest>,
    /// The recomputed root_envelope.
    pub envelope: Digest,
    /// The root_envelope that the caller expects.
    pub expected_envelope: Option<Digest>,
}

/// R1.ENV.MISSING: there is no envelope's manifest.
pub fn missing(findings: &mut Findings) {
    findings.push(GadFinding::new(ENV_MISSING, Where::member(ENVELOPE)));
}

/// The whole of R1e. `survey` has seen every member outside the core.
pub fn check(
    bundle: &Bundle,
    manifest: &EnvelopeManifest,
    roots: &Roots,
    survey: &Survey,
    predecessors: &[Predecessor],
    findings: &mut Findings,
) {
    check_roots(manifest, roots, findings);
    check_items(bundle, manifest, survey, findings);
    check_lineage(manifest, predecessors, findings);
    if manifest.layers.is_empty() {
        findings.push(GadFinding::new(ENV_LAYERS_UNDECLARED, at("/provenance_layers")));
    }
}

fn check_roots(manifest: &EnvelopeManifest, roots: &Roots, findings: &mut Findings) {
    if manifest.root_core.is_none() || manifest.root_core != roots.core {
        let mut finding = GadFinding::new(ENV_ROOT_CORE, at("/root_core"));
        if let Some(expected) = roots.core {
            finding = finding.expected(expected);
        }
        if let Some(stated) = manifest.root_core {
            finding = finding.actual(stated);
        }
        findings.push(finding);
    }
    if let Some(expected) = roots.expected_envelope.filter(|root| *root != roots.envelope) {
        let finding = GadFinding::new(ENV_ROOT_ENVELOPE, Where::member(ENVELOPE));
        findings.push(finding.expected(expected).actual(roots.envelope));
    }
}

/// Every listed item is there with its digest, and every file outside the core is listed. A member of the
/// core is no item of the envelope, so that an item listed there is absent.
fn check_items(
    bundle: &Bundle,
    manifest: &EnvelopeManifest,
    survey: &Survey,
    findings: &mut Findings,
) {
    let mut listed = BTreeSet::new();
    for (list, index, row) in items(manifest) {
        if &*row.path == ENVELOPE {
            findings.push(GadFinding::new(ENV_SELF, at(format!("/{list}/{index}"))));
            continue;
        }
        listed.insert(&*row.path);
        let place = Where::member(row.path.clone());
        if row.path.starts_with(CORE) || !bundle.contains(&row.path) {
            findings.push(GadFinding::new(ENV_ITEM_ABSENT, place));
            continue;
        }
        let digest = survey.digest(&row.path);
        if digest != Some(row.digest) {
            let finding = GadFinding::new(ENV_ITEM_HASH, place).expected(row.digest);
            findings.push(match digest {
                Some(digest) => finding.actual(digest),
                None => finding,
            });
        }
    }
    for (path, _) in bundle.members() {
        if !path.starts_with(CORE) && path != ENVELOPE && !listed.contains(path) {
            findings.push(GadFinding::new(ENV_ITEM_UNLISTED, Where::member(path)));
        }
    }
}

/// The envelopes before this one, as far back as the supplied manifests lead: each is named by its
/// successor, and its successor holds all that it held. A supplied manifest that no one names is none of
/// them.
fn check_lineage(
    manifest: &EnvelopeManifest,
    predecessors: &[Predecessor],
    findings: &mut Findings,
) {
    if manifest.predecessor.is_err() {
        findings.push(GadFinding::new(ENV_PREDECESSOR_FORM, at("/predecessor")));
    }
    let mut left: Vec<&Predecessor> = predecessors.iter().collect();
    let mut successor = manifest;
    while let Ok(Some(root)) = successor.predecessor {
        // A manifest can't name itself or a later one, but the same one may have been supplied twice.
        let Some(predecessor) = left.iter().find(|it| it.root_envelope == root).copied() else {
            break;
        };
        left.retain(|other| other.root_envelope != root);
        check_kept(successor, predecessor, findings);
        successor = &predecessor.manifest;
    }
    let named = match successor.predecessor {
        Ok(Some(root)) => root.to_string(),
        Ok(None) => "none".to_owned(),
        Err(_) => "none that can be read".to_owned(),
    };
    for other in left {
        let finding = GadFinding::new(ENV_PREDECESSOR_MISMATCH, Where::member(PREDECESSOR));
        findings.push(finding.expected(&named).actual(other.root_envelope));
    }
}

/// R1.ENV.LINEAGE_DROPPED: the same core, under the operator's seal where there was one, and each item
/// again, in the same list, with the same path and digest.
fn check_kept(successor: &EnvelopeManifest, predecessor: &Predecessor, findings: &mut Findings) {
    let before = &predecessor.manifest;
    let dropped = |pointer: &str| {
        GadFinding::new(ENV_LINEAGE_DROPPED, Where::member(PREDECESSOR).at(pointer))
    };
    // E_{k+1} is E_k with more around it: around another core nothing of the line before counts.
    if successor.root_core != before.root_core {
        let mut finding = dropped("/root_core");
        if let Some(root) = before.root_core {
            finding = finding.expected(root);
        }
        if let Some(root) = successor.root_core {
            finding = finding.actual(root);
        }
        findings.push(finding);
    }
    if before.operator_seal.is_some() && successor.operator_seal != before.operator_seal {
        findings.push(dropped("/operator_seal").expected("the seal of the envelope before"));
    }
    let kept: BTreeSet<_> = items(successor).map(|(list, _, row)| (list, row)).collect();
    for (list, index, row) in items(before) {
        if !kept.contains(&(list, row)) {
            let finding = dropped(&format!("/{list}/{index}"));
            findings.push(finding.expected(format_args!("{} {}", row.path, row.digest)));
        }
    }
}

/// Every listed item: its list, its position there, and path and digest.
fn items(manifest: &EnvelopeManifest) -> impl Iterator<Item = (&'static str, usize, &ItemRow)> {
    let anchors = manifest.anchors.iter().map(|row| &row.item).enumerate();
    let attestations = manifest.attestations.iter().enumerate();
    let anchors = anchors.map(|(index, row)| ("anchors", index, row));
    anchors.chain(attestations.map(|(index, row)| ("attestations", index, row)))
}

fn at(pointer: impl Into<Box<str>>) -> Where {
    Where::member(ENVELOPE).at(pointer)
}

#[cfg(test)]
pub(in crate::gad) mod tests;
