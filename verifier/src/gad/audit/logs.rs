//! An audit's checkpoint against every other one of its log: the anchors', the earlier envelopes' anchors',
//! the caller's memory; and whether the audit saw the anchors' entries.

use anchorlog_proto::audit::AuditBody;
use anchorlog_proto::gad::anchor_file::TlogAnchor;
use anchorlog_proto::gad::envelope::{AnchorRow, AnchorType};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tlog_policy::PolicyLog;

use crate::codes::gad::audit::{ENTRY_DIFFERS, LOG_UNKNOWN, NOT_COVERED};
use crate::codes::log::SPLIT_VIEW;
use crate::gad::anchors::KNOWN_INPUT;
use crate::gad::finding::{GadFinding, Where};
use crate::gad::rules::r1_envelope::PREDECESSOR;
use crate::proof::Tree;

use super::{AuditInput, Notes, at};

pub(super) fn compare(body: &AuditBody, input: &AuditInput<'_>, notes: &mut Notes) {
    let keys = keys(body, input, notes);
    for row in input.envelope.iter().flat_map(|envelope| &envelope.anchors) {
        let Some(anchor) = read(row, input.files.get(&row.item.path)) else { continue };
        let place = || Where::member(row.item.path.clone());
        if signed(&anchor, body, &keys) {
            tree_of(&anchor, body, &place().at("/proof"), notes);
            entry_of(&anchor, body, &place(), notes);
        }
    }
    for earlier in input.predecessors {
        for row in &earlier.manifest.anchors {
            let Some(anchor) = read(row, earlier.anchors.get(&row.item.path)) else { continue };
            if signed(&anchor, body, &keys) {
                tree_of(&anchor, body, &Where::member(PREDECESSOR).at("/anchors"), notes);
            }
        }
    }
    for (position, known) in input.known.checkpoints.iter().enumerate() {
        if known.origin == *body.origin() {
            let place = Where::member(KNOWN_INPUT).at(format!("/checkpoints/{position}"));
            contradiction(body, &Tree { size: known.size, root: known.root }, &place, notes);
        }
    }
}

/// The keys of the audited log: the one the auditor names, and the policy's for its origin.
fn keys(body: &AuditBody, input: &AuditInput<'_>, notes: &mut Notes) -> Vec<VerifierKey> {
    let of_log = |log: &&PolicyLog| log.origin() == *body.origin();
    let policy = input.policy.logs().map_or(&[][..], |logs| logs.logs());
    let mut keys: Vec<_> = policy.iter().filter(of_log).map(|log| log.key().clone()).collect();
    if !keys.contains(&body.log_key) {
        if input.policy.given() {
            let known = keys.first().map_or_else(|| "no such log".to_owned(), ToString::to_string);
            let finding = GadFinding::new(LOG_UNKNOWN, at("/body/log_key"));
            notes.push(finding.expected(known).actual(&body.log_key));
        }
        keys.push(body.log_key.clone());
    }
    keys
}

fn read(row: &AnchorRow, bytes: Option<&Vec<u8>>) -> Option<TlogAnchor> {
    (row.anchor_type == Some(AnchorType::Tlog)).then_some(())?;
    TlogAnchor::parse(bytes?).ok()
}

/// Whether the audited log signed the anchor's checkpoint.
fn signed(anchor: &TlogAnchor, body: &AuditBody, keys: &[VerifierKey]) -> bool {
    let checkpoint = anchor.proof.checkpoint();
    checkpoint.checkpoint().origin == *body.origin()
        && keys.iter().any(|key| checkpoint.verify(key).is_ok())
}

fn tree_of(anchor: &TlogAnchor, body: &AuditBody, place: &Where, notes: &mut Notes) {
    let checkpoint = anchor.proof.checkpoint().checkpoint();
    contradiction(body, &Tree { size: checkpoint.size, root: checkpoint.root }, place, notes);
}

/// Two trees of one size with different roots: the checkpoint's, or that of the starting position, which
/// the checkpoint was read to extend.
fn contradiction(body: &AuditBody, other: &Tree, place: &Where, notes: &mut Notes) {
    for (size, root) in [(body.size(), body.root()), (body.from.size, body.from.root)] {
        if other.size == size && other.root != root {
            let finding = GadFinding::new(SPLIT_VIEW, place.clone());
            notes.push(finding.expected(root).actual(other.root));
        }
    }
}

/// Whether the auditor read the anchor's entry, and lists it where it is about the subject.
fn entry_of(anchor: &TlogAnchor, body: &AuditBody, place: &Where, notes: &mut Notes) {
    let index = anchor.proof.index();
    if !body.covers(index) {
        let read = format!("an index from {} to below {}", body.from.size, body.size());
        notes.push(GadFinding::new(NOT_COVERED, place.clone()).expected(read).actual(index));
        return;
    }
    if !body.subject.takes(&anchor.entry) {
        return;
    }
    let leaf = anchor.entry.leaf_hash();
    let listed = body.entry(index).map(|entry| entry.leaf_hash);
    let beyond =
        body.entries_omitted > 0 && body.entries.last().is_none_or(|last| last.index < index);
    if listed != Some(leaf) && !beyond {
        let finding = GadFinding::new(ENTRY_DIFFERS, place.clone());
        let actual = listed.map_or_else(|| "no entry".to_owned(), |leaf| leaf.to_string());
        notes.push(finding.expected(format_args!("entry {index}: {leaf}")).actual(actual));
    }
}
