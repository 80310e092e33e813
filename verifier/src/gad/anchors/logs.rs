//! Several checkpoints of one log: two that an envelope holds, and those that the caller remembers.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoint;
use anchorlog_proto::merkle::{TreeSize, consistency};

use crate::codes::gad::Affect;
use crate::codes::log::{CONSISTENCY, ROLLBACK, SPLIT_VIEW};
use crate::gad::finding::{Findings, GadFinding, Where};

use super::{Anchor, KNOWN_INPUT};

/// Compares what the log of a policy signed, anchor by anchor: `LOG.SPLIT_VIEW`, `LOG.CONSISTENCY` (both
/// fail the anchors they are about), `LOG.ROLLBACK` (a note). Without a proof, trees of different sizes
/// aren't compared.
pub(super) fn compare(
    anchors: &mut [Anchor<'_>],
    known: &[KnownCheckpoint],
    findings: &mut Findings,
) {
    // The anchors of each log, in the order of the envelope.
    let mut by_log: BTreeMap<Box<str>, Vec<usize>> = BTreeMap::new();
    let mut roots: BTreeMap<(Box<str>, TreeSize), (Digest, usize)> = BTreeMap::new();
    for index in 0..anchors.len() {
        let Some((origin, tree)) = anchors.get(index).and_then(|anchor| anchor.signed.clone())
        else {
            continue;
        };
        let name: Box<str> = origin.as_str().into();
        by_log.entry(name.clone()).or_default().push(index);
        let (root, first) = *roots.entry((name, tree.size)).or_insert((tree.root, index));
        if root != tree.root {
            split(anchors, index, root, tree.root, findings);
            if let Some(other) = anchors.get_mut(first) {
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
