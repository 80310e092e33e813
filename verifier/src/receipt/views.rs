//! Several receipts, and what the caller remembers: whether one log showed one history in all of them.
//!
//! What it shows: two trees of one size with different roots, both signed by the log, are a split view
//! (`LOG.SPLIT_VIEW`), and no proof is needed. What it doesn't: trees of different sizes are compared only
//! where the memory has a proof; a receipt may be as old as it likes.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::Origin;
use anchorlog_proto::gad::known_checkpoints::{KnownCheckpoint, KnownCheckpoints};
use anchorlog_proto::merkle::{TreeSize, consistency};

use crate::codes::log::{CONSISTENCY, SPLIT_VIEW};
use crate::finding::Finding;
use crate::proof::Tree;

use super::ReceiptExam;

/// Role of the caller's memory of logs in findings.
pub const KNOWN: &str = "known checkpoints";

/// Compares what the policy's logs signed in these receipts with each other and with the caller's memory.
/// Each finding comes with the position of the receipt that it makes false.
///
/// Of two receipts that contradict each other both are false: nobody can tell which history is the log's.
#[must_use]
pub fn compare_views(exams: &[ReceiptExam], known: &KnownCheckpoints) -> Vec<(usize, Finding)> {
    let mut findings = Vec::new();
    let mut roots: BTreeMap<(&str, TreeSize), (Digest, usize)> = BTreeMap::new();
    let mut by_log: BTreeMap<&str, Vec<(usize, Tree)>> = BTreeMap::new();
    for (position, exam) in exams.iter().enumerate() {
        let Some((origin, tree)) = exam.signed() else { continue };
        by_log.entry(origin.as_str()).or_default().push((position, *tree));
        let (root, first) =
            *roots.entry((origin.as_str(), tree.size)).or_insert((tree.root, position));
        if root != tree.root {
            findings.push((position, split(origin, root, tree, Some(first))));
            let other = Tree { size: tree.size, root };
            findings.push((first, split(origin, tree.root, &other, Some(position))));
        }
    }
    for (number, remembered) in known.checkpoints.iter().enumerate() {
        if let Some(trees) = by_log.get(remembered.origin.as_str()) {
            remember(number, remembered, trees, &mut findings);
        }
    }
    // The first of two may contradict several others; the same said twice says no more.
    findings.sort();
    findings.dedup();
    findings
}

fn split(origin: &Origin, expected: Digest, tree: &Tree, other: Option<usize>) -> Finding {
    let whose = match other {
        Some(position) => format!("receipt {}", position.saturating_add(1)),
        None => "what is remembered".to_owned(),
    };
    let detail =
        format!("{origin} signed two trees of size {}: this one, and that of {whose}", tree.size);
    Finding::new(SPLIT_VIEW, detail).at("/proof").compared(expected, tree.root)
}

/// One remembered checkpoint against the trees of its log.
fn remember(
    number: usize,
    remembered: &KnownCheckpoint,
    trees: &[(usize, Tree)],
    findings: &mut Vec<(usize, Finding)>,
) {
    let mut refused = Vec::new();
    let mut proven = false;
    for (position, tree) in trees {
        if tree.size == remembered.size && tree.root != remembered.root {
            findings.push((*position, split(&remembered.origin, remembered.root, tree, None)));
            continue;
        }
        let Some(proof) = remembered.consistency.as_ref().filter(|_| tree.size >= remembered.size)
        else {
            continue;
        };
        match consistency::verify(remembered.size, tree.size, &remembered.root, &tree.root, proof) {
            Ok(()) => proven = true,
            Err(error) => refused.push((*position, error)),
        }
    }
    // A proof leads to one checkpoint, and the memory doesn't say to which.
    if proven {
        return;
    }
    for (position, error) in refused {
        let detail = format!("the remembered proof doesn't lead to the receipt's tree: {error}");
        let pointer = format!("/checkpoints/{number}/consistency");
        findings.push((position, Finding::new(CONSISTENCY, detail).in_input(KNOWN).at(pointer)));
    }
}
