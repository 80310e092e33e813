//! Receipts: does the log hold this statement.
//!
//! The front door is [`verify_receipt`]. What it shows, it shows under the caller's policy and
//! nothing else: no key and no root is taken from the receipt. What it does not show: that the
//! statement is true, or, without the time stamps of an authority that the caller trusts, when it
//! was made.

mod read;
mod steps;
mod time;
mod views;

pub use read::{ReadFailure, read_receipt};
pub use time::TimePolicy;
pub use views::{KNOWN, compare_views};

use core::fmt;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::Origin;
use anchorlog_proto::receipt::{Receipt, ReceiptState};
use anchorlog_proto::signed_object::PublicKey;
use anchorlog_proto::statement::{LogEntry, StatementKind, Trail};
use anchorlog_proto::tlog_policy::TlogPolicy;

use crate::checkpoint::WitnessTime;
use crate::finding::Finding;
use crate::proof::Tree;
use crate::report::{Facts, Timestamp};
use crate::timestamp::VerifiedToken;

/// Role of the receipt in findings.
pub const RECEIPT: &str = "receipt";

/// What the caller knows beforehand. What is `None` is not compared.
#[derive(Clone, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "callers fill it in, with `..Default::default()`")]
pub struct Expectations {
    /// The digest that should be in the log.
    pub digest: Option<Digest>,
    /// What it should be a digest of.
    pub kind: Option<StatementKind>,
    /// What the statement should belong to.
    pub trail: Option<Trail>,
    /// Who should have signed the statement.
    pub submitter: Option<PublicKey>,
}

/// Verifies a receipt. In this order:
///
/// 1. The receipt agrees with itself: `leaf_hash` is the RFC 6962 hash of the canonical statement
///    (`RCT.LEAF_HASH`); `log` and `index` are those of the proof (`RCT.ORIGIN`, `RCT.INDEX`).
/// 2. The statement is the expected one: digest, kind, trail (`LOG.LEAF`) and submitter's signature
///    (`STM.UNSIGNED`, `STM.SIGNATURE_KEY`, `STM.SIGNATURE`).
/// 3. The checkpoint's origin is a log of the policy (`LOG.UNKNOWN`).
/// 4. That log's key has signed it (`LOG.SIG`).
/// 5. No line of a witness of the policy fails (`LOG.COSIGNATURE`), and the witnesses that cosigned
///    are the policy's quorum (`LOG.QUORUM`).
/// 6. The index is below the tree size (`LOG.INDEX`).
/// 7. The proof has as many hashes as index and size determine (`LOG.PROOF_LENGTH`).
/// 8. Leaf and proof lead to the checkpoint's root (`LOG.INCLUSION`).
/// 9. The stated `state` claims no more than is shown (`RCT.STATE`): `witnessed` needs a quorum
///    that the policy asks for and that is met, `anchored` a verified time stamp. Without a
///    [`TimePolicy`] no time stamp counts and `anchored` is not asked about:
///    [`verify_timed_receipt`] takes one.
///
/// All of them are made, whatever fails before; only that 4, 5 and 9 need each other, in this
/// order, and 3.
pub fn verify_receipt(
    receipt: &Receipt,
    policy: &TlogPolicy,
    expect: &Expectations,
) -> Result<VerifiedReceipt, ReceiptFailure> {
    examine_receipt(receipt, policy, expect).into_verified()
}

/// The same, and its time stamps under `time`: each token has to be over the checkpoint with a
/// signature line of its log and no other. A token that doesn't hold counts for nothing and spoils nothing
/// (`TSA.NOT_COUNTED`, a note).
pub fn verify_timed_receipt(
    receipt: &Receipt,
    policy: &TlogPolicy,
    time: &TimePolicy,
    expect: &Expectations,
) -> Result<VerifiedReceipt, ReceiptFailure> {
    examine_timed_receipt(receipt, policy, time, expect).into_verified()
}

/// The same checks with everything they find, notes included.
#[must_use]
pub fn examine_receipt(
    receipt: &Receipt,
    policy: &TlogPolicy,
    expect: &Expectations,
) -> ReceiptExam {
    steps::examine(receipt, policy, None, expect)
}

/// The checks of [`verify_timed_receipt`] with everything they find, notes included.
#[must_use]
pub fn examine_timed_receipt(
    receipt: &Receipt,
    policy: &TlogPolicy,
    time: &TimePolicy,
    expect: &Expectations,
) -> ReceiptExam {
    steps::examine(receipt, policy, Some(time), expect)
}

/// Everything the checks of one receipt found.
#[derive(Clone, Debug)]
pub struct ReceiptExam {
    findings: Vec<Finding>,
    verified: VerifiedReceipt,
    stated: ReceiptState,
    timestamps: Vec<Timestamp>,
    /// The log and the tree, where the log of the policy signed it.
    signed: Option<(Origin, Tree)>,
}

impl ReceiptExam {
    /// What was found, in the order of the checks.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Whether every check holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.findings.iter().any(Finding::fails)
    }

    /// The log and the tree that it signed, whatever else fails: the log's own signature is all it takes to
    /// hold it to a tree. `None` where no key of the policy's signed it.
    #[must_use]
    pub const fn signed(&self) -> Option<&(Origin, Tree)> {
        self.signed.as_ref()
    }

    /// The verified receipt, if every check holds.
    pub fn into_verified(self) -> Result<VerifiedReceipt, ReceiptFailure> {
        if self.holds() {
            Ok(self.verified)
        } else {
            let findings = self.findings.into_iter().filter(Finding::fails).collect();
            Err(ReceiptFailure { findings })
        }
    }

    /// What a report says beside the findings: claims, unless every check holds.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let claim = &self.verified;
        Facts {
            log: Some(claim.origin.clone()),
            index: Some(claim.index),
            leaf_hash: Some(claim.entry.leaf_hash()),
            tree: Some(claim.tree),
            statement: Some(claim.entry.clone()),
            stated: Some(self.stated),
            // A state is shown only by a receipt that holds.
            shown: self.holds().then_some(claim.state),
            witnesses: claim.witnesses.clone(),
            timestamps: self.timestamps.clone(),
            ..Facts::default()
        }
    }
}

/// A receipt for which every check held, under the policy and the expectations of the call that
/// returned it.
///
/// There is no other way to get one than [`verify_receipt`] and [`ReceiptExam::into_verified`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifiedReceipt {
    origin: Origin,
    index: u64,
    tree: Tree,
    entry: LogEntry,
    state: ReceiptState,
    witnesses: Vec<WitnessTime>,
    timestamps: Vec<VerifiedToken>,
}

impl VerifiedReceipt {
    /// The log.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Index of the entry in the log.
    #[must_use]
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// The tree in which inclusion was shown.
    #[must_use]
    pub const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The logged statement. Its submitter's signature is verified only if a key was expected.
    #[must_use]
    pub const fn entry(&self) -> &LogEntry {
        &self.entry
    }

    /// What is shown: `anchored` if a time stamp holds, else `witnessed` if the policy's quorum is
    /// met, else `published`.
    #[must_use]
    pub const fn state(&self) -> ReceiptState {
        self.state
    }

    /// The policy's witnesses that cosigned, with their times; whether times are trusted is the
    /// caller's policy.
    #[must_use]
    pub fn witnesses(&self) -> &[WitnessTime] {
        &self.witnesses
    }

    /// The time stamps that hold: the entry was in the log at the earliest of their times.
    #[must_use]
    pub fn timestamps(&self) -> &[VerifiedToken] {
        &self.timestamps
    }
}

/// Why a receipt does not hold: one finding at least, in the order of the checks, and no notes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReceiptFailure {
    findings: Vec<Finding>,
}

impl ReceiptFailure {
    /// The findings that fail.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl fmt::Display for ReceiptFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the receipt does not hold")?;
        for finding in &self.findings {
            write!(f, "; {}: {}", finding.code, finding.detail)?;
        }
        Ok(())
    }
}

impl core::error::Error for ReceiptFailure {}
