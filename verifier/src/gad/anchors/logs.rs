//! Several checkpoints of one log: two that an envelope holds, those in earlier envelopes, and those that the
//! caller remembers.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::Origin;
use anchorlog_proto::gad::anchor_file::TlogAnchor;
use anchorlog_proto::gad::envelope::AnchorType;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoint;
use anchorlog_proto::merkle::{TreeSize, consistency};

use crate::codes::gad::Affect;
use crate::codes::log::{CONSISTENCY, ROLLBACK, SPLIT_VIEW};
use crate::gad::finding::{Findings, GadFinding, Where};

use super::{Anchor, AnchorInput, KNOWN_INPUT};
use crate::gad::rules::r1_envelope::PREDECESSOR;
use crate::proof::Tree;

/// What a log of the policy signed in an earlier envelope.
pub(super) struct Earlier {
    origin: Origin,
    tree: Tree,
    /// Its position among the anchors of that envelope.
    position: usize,
}

/// The trees that logs of the policy signed in the earlier envelopes. Whatever became of those anchors
/// otherwise, the log's signature is all it takes to hold it to a tree.
pub(super) fn earlier(input: &AnchorInput<'_>) -> Vec<Earlier> {
    let Some(logs) = input.policy.logs() else { return Vec::new() };
    let mut found = Vec::new();
    for predecessor in input.predecessors {
        for (position, row) in predecessor.manifest.anchors.iter().enumerate() {
            let bytes = predecessor.anchors.get(&row.item.path);
            let Some(bytes) = bytes.filter(|_| row.anchor_type == Some(AnchorType::Tlog)) else {
                continue;
            };
            let Ok(file) = TlogAnchor::parse(bytes) else { continue };
            let signed = file.proof.checkpoint();
            let checkpoint = signed.checkpoint();
            let mut of_log = logs.logs().iter().filter(|log| log.origin() == checkpoint.origin);
            if of_log.any(|log| signed.verify(log.key()).is_ok()) {
                let tree = Tree { size: checkpoint.size, root: checkpoint.root };
                found.push(Earlier { origin: checkpoint.origin.clone(), tree, position });
            }
        }
    }
    found
}

/// Compares what the log of a policy signed, anchor by anchor: `LOG.SPLIT_VIEW`, `LOG.CONSISTENCY` (both
/// fail the anchors they are about), `LOG.ROLLBACK` (a note). Without a proof, trees of different sizes
/// aren't compared.
pub(super) fn compare(
    anchors: &mut [Anchor<'_>],
    earlier: &[Earlier],
    known: &[KnownCheckpoint],
    findings: &mut Findings,
) {
    // The anchors of each log, in the order of the envelope.
    let mut by_log: BTreeMap<Box<str>, Vec<usize>> = BTreeMap::new();
    // The first root of each size, and the anchor of this envelope that it is from.
    let mut roots: BTreeMap<(Box<str>, TreeSize), (Digest, Option<usize>)> = BTreeMap::new();
    for Earlier { origin, tree, position } in earlier {
        let (root, _) =
            *roots.entry((origin.as_str().into(), tree.size)).or_insert((tree.root, None));
        if root != tree.root {
            // Two earlier ones contradict each other: no anchor of this envelope need be a part of it.
            let place = Where::member(PREDECESSOR).at(format!("/anchors/{position}"));
            let finding = GadFinding::new(SPLIT_VIEW, place).affecting(&[Affect::Defensible]);
            findings.push(finding.expected(root).actual(tree.root));
        }
    }
    for index in 0..anchors.len() {
        let Some((origin, tree)) = anchors.get(index).and_then(|anchor| anchor.signed.clone())
        else {
            continue;
        };
        let name: Box<str> = origin.as_str().into();
        by_log.entry(name.clone()).or_default().push(index);
        let (root, first) = *roots.entry((name, tree.size)).or_insert((tree.root, Some(index)));
        if root != tree.root {
            split(anchors, index, root, tree.root, findings);
            if let Some(other) = first.and_then(|first| anchors.get_mut(first)) {
                other.fail(findings);
            }
        }
    }
    for (position, remembered) in known.iter().enumerate() {
        if let Some(of_log) = by_log.get(remembered.origin.as_str()) {
            remember(anchors, of_log, position, remembered, findings);
        }
    }
}

/// One remembered checkpoint against the anchors of its log.
fn remember(
    anchors: &mut [Anchor<'_>],
    of_log: &[usize],
    position: usize,
    remembered: &KnownCheckpoint,
    findings: &mut Findings,
) {
    let mut refused = Vec::new();
    let mut proven = false;
    for index in of_log {
        let Some(anchor) = anchors.get(*index) else { continue };
        let Some((_, tree)) = &anchor.signed else { continue };
        let tree = *tree;
        if tree.size == remembered.size && tree.root != remembered.root {
            split(anchors, *index, remembered.root, tree.root, findings);
            continue;
        }
        if tree.size < remembered.size {
            findings.push(
                GadFinding::new(ROLLBACK, anchor.place())
                    .affecting(&[Affect::Note])
                    .expected(format_args!("a size of at least {}", remembered.size))
                    .actual(tree.size),
            );
            continue;
        }
        let Some(proof) = &remembered.consistency else { continue };
        let (from, to) = (remembered.size, tree.size);
        match consistency::verify(from, to, &remembered.root, &tree.root, proof) {
            Ok(()) => proven = true,
            Err(error) => refused.push((*index, error)),
        }
    }
    // A proof leads to one checkpoint, and the file doesn't say to which: with it shown for one anchor of
    // the log, the others are as if there were none.
    if proven {
        return;
    }
    for (index, error) in refused {
        let place = Where::member(KNOWN_INPUT).at(format!("/checkpoints/{position}/consistency"));
        let Some(anchor) = anchors.get_mut(index) else { continue };
        findings.push(
            GadFinding::new(CONSISTENCY, place)
                .affecting(&[Affect::Defensible])
                .expected(format_args!("a proof up to the checkpoint of {}", anchor.row.item.path))
                .actual(error),
        );
        anchor.fail(findings);
    }
}

fn split(
    anchors: &mut [Anchor<'_>],
    index: usize,
    expected: Digest,
    actual: Digest,
    findings: &mut Findings,
) {
    if let Some(anchor) = anchors.get_mut(index) {
        findings.push(
            GadFinding::new(SPLIT_VIEW, anchor.place().at("/proof"))
                .affecting(&[Affect::Defensible])
                .expected(expected)
                .actual(actual),
        );
        anchor.fail(findings);
    }
}
