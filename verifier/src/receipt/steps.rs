//! The checks of a receipt, in the order that [`super::verify_receipt`] documents.

use anchorlog_proto::merkle::leaf_hash;
use anchorlog_proto::receipt::{Receipt, ReceiptState};
use anchorlog_proto::tlog_policy::{QuorumOutcome, TlogPolicy};

use crate::checkpoint::examine_checkpoint;
use crate::codes::log::LEAF;
use crate::codes::receipt::{CONFLICT_FLAGGED, INDEX, LEAF_HASH, ORIGIN, STATE};
use crate::codes::statement::SIGNER_UNCHECKED;
use crate::finding::Finding;
use crate::proof::{Tree, check_inclusion};
use crate::report::Timestamp;

use super::{Expectations, RECEIPT, ReceiptExam, TimePolicy, VerifiedReceipt};

pub(super) fn examine(
    receipt: &Receipt,
    policy: &TlogPolicy,
    time: Option<&TimePolicy>,
    expect: &Expectations,
) -> ReceiptExam {
    let mut findings = Vec::new();
    agreement(receipt, &mut findings);
    expectations(receipt, expect, &mut findings);

    let exam = examine_checkpoint(receipt.proof.checkpoint(), policy);
    findings.extend(exam.findings.into_iter().map(|finding| finding.at("/proof")));
    let tree = Tree { size: exam.checkpoint.size, root: exam.checkpoint.root };
    // The leaf is hashed here; the receipt's word for it was compared above.
    let leaf = leaf_hash(receipt.entry.leaf_bytes());
    let inclusion = check_inclusion(receipt.proof.index(), &tree, &leaf, receipt.proof.hashes());
    findings.extend(inclusion.err().map(|finding| finding.at("/proof")));

    // A time stamp says when, and only a checkpoint that the log signed says what.
    let mut about_time = Vec::new();
    let timestamps = super::time::examine(receipt, policy, time, &mut about_time);
    let verified: Vec<_> = timestamps.iter().filter_map(Timestamp::verified).cloned().collect();
    let shown = match exam.quorum {
        Some(_) if !verified.is_empty() => ReceiptState::Anchored,
        Some(QuorumOutcome::Met { .. }) => ReceiptState::Witnessed,
        _ => ReceiptState::Published,
    };
    if let Some(quorum) = exam.quorum {
        let witnessed = matches!(quorum, QuorumOutcome::Met { .. });
        // Without an authority to trust, nobody asks about time: the tokens are noted as unexamined.
        let asked = time.is_some() || receipt.state != ReceiptState::Anchored;
        if asked {
            state(receipt.state, shown, witnessed, &mut findings);
        }
    }
    remarks(receipt, expect, &mut findings);
    findings.extend(about_time);

    let findings = findings.into_iter().map(|finding| finding.in_input(RECEIPT)).collect();
    let origin = exam.checkpoint.origin.clone();
    let mut keys = policy.logs().iter().filter(|log| log.origin() == origin);
    let signed = keys.any(|log| receipt.proof.checkpoint().verify(log.key()).is_ok());
    let signed = signed.then_some((origin, tree));
    let verified = VerifiedReceipt {
        origin: exam.checkpoint.origin,
        index: receipt.proof.index(),
        tree,
        entry: receipt.entry.clone(),
        state: shown,
        witnesses: exam.witnesses,
        timestamps: verified,
    };
    ReceiptExam { findings, verified, stated: receipt.state, timestamps, signed }
}

/// Step 1: what the receipt says twice, it says the same.
///
/// [`Receipt::parse`] looks at this too; a receipt that was put together otherwise has not been
/// through it.
fn agreement(receipt: &Receipt, findings: &mut Vec<Finding>) {
    let leaf = leaf_hash(receipt.entry.leaf_bytes());
    if receipt.leaf_hash != leaf {
        let finding = Finding::new(LEAF_HASH, "the stated leaf hash is not the statement's");
        findings.push(finding.at("/leaf_hash").compared(leaf, receipt.leaf_hash));
    }
    let origin = &receipt.proof.checkpoint().checkpoint().origin;
    if receipt.log != *origin {
        let finding = Finding::new(ORIGIN, "the checkpoint is one of another log");
        findings.push(finding.at("/log").compared(origin, &receipt.log));
    }
    let index = receipt.proof.index();
    if receipt.index != index {
        let finding = Finding::new(INDEX, "the proof is for another index");
        findings.push(finding.at("/index").compared(index, receipt.index));
    }
}

/// Step 2: the statement is the one the caller asked about.
fn expectations(receipt: &Receipt, expect: &Expectations, findings: &mut Vec<Finding>) {
    let statement = receipt.entry.statement();
    let pointer = |member: &str| match receipt.entry.signer() {
        Some(_) => format!("/statement/body/{member}"),
        None => format!("/statement/{member}"),
    };
    if let Some(digest) = expect.digest.filter(|digest| *digest != statement.digest) {
        let finding = Finding::new(LEAF, "the statement is about another digest");
        findings.push(finding.at(pointer("digest")).compared(digest, statement.digest));
    }
    if let Some(kind) = expect.kind.filter(|kind| *kind != statement.kind) {
        let finding = Finding::new(LEAF, "the statement is of another kind");
        findings.push(finding.at(pointer("kind")).compared(kind, statement.kind));
    }
    if let Some(trail) =
        expect.trail.as_ref().filter(|trail| Some(*trail) != statement.trail.as_ref())
    {
        let actual = statement.trail.as_ref().map_or("no trail", |trail| trail.as_str());
        let finding = Finding::new(LEAF, "the statement belongs to another trail");
        findings.push(finding.at(pointer("trail")).compared(trail, actual));
    }
    if let Some(key) = &expect.submitter
        && let Err(error) = receipt.entry.verify_signature(key)
    {
        findings.push(Finding::of_format(error.code(), &error).at("/statement"));
    }
}

/// Step 9: the state is a claim like any other.
fn state(stated: ReceiptState, shown: ReceiptState, witnessed: bool, findings: &mut Vec<Finding>) {
    let detail = match stated {
        ReceiptState::Witnessed if !witnessed => {
            "the receipt says witnessed, and no witness quorum of the policy has cosigned"
        }
        ReceiptState::Anchored if shown != ReceiptState::Anchored => {
            "the receipt says anchored, and no time stamp is verified"
        }
        _ => return,
    };
    findings
        .push(Finding::new(STATE, detail).at("/state").compared(shown.as_str(), stated.as_str()));
}

/// What the reader should know though nothing fails by it.
fn remarks(receipt: &Receipt, expect: &Expectations, findings: &mut Vec<Finding>) {
    if !receipt.conflicts.is_empty() {
        let indexes: Vec<_> = receipt.conflicts.iter().map(ToString::to_string).collect();
        let detail = format!("the log names conflicting entries: {}", indexes.join(", "));
        findings.push(Finding::new(CONFLICT_FLAGGED, detail).at("/conflicts"));
    }
    if let (Some(signer), None) = (receipt.entry.signer(), &expect.submitter) {
        let detail =
            format!("the statement says it is signed by {signer}; no key was given to check it");
        findings.push(Finding::new(SIGNER_UNCHECKED, detail).at("/statement"));
    }
}
