//! Signed checkpoints under a policy: who signed this tree, and is that enough.
//!
//! What it is: the verdict of [`TlogPolicy::check`] as findings. The order is that of the C2SP
//! specifications: is the log known, did it sign, do the witnesses' lines verify, is the quorum
//! met. A log that is unknown or did not sign ends it: what others say about such a tree does not
//! matter. What it is not: nothing here looks at entries; see [`crate::receipt`].

use anchorlog_proto::checkpoint::{Checkpoint, SignedCheckpoint};
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tlog_policy::{
    PolicyError, PolicyVerdict, Quorum, QuorumOutcome, TlogPolicy, WitnessCosignature,
};

use crate::codes::log::{COSIGNATURE, QUORUM, SIG, UNKNOWN};
use crate::codes::policy::UNWITNESSED;
use crate::finding::Finding;
use crate::trust::quorum_text;

/// A witness of the policy and the time at which it says it saw the checkpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct WitnessTime {
    /// The witness's name in the policy.
    pub name: String,
    /// Its time, in seconds since 1970; the earliest, if it cosigned several times.
    pub unix_seconds: u64,
}

impl From<&WitnessCosignature> for WitnessTime {
    fn from(cosignature: &WitnessCosignature) -> Self {
        let name = cosignature.witness().name().to_string();
        Self { name, unix_seconds: cosignature.unix_seconds() }
    }
}

/// What the signatures of a checkpoint show under a policy.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CheckpointExam {
    /// What the checkpoint says; shown to be the log's word only if no finding fails.
    pub checkpoint: Checkpoint,
    /// What stands against it, and notes.
    pub findings: Vec<Finding>,
    /// Witnesses of the policy whose cosignatures verify; empty where a finding fails before them.
    pub witnesses: Vec<WitnessTime>,
    /// How the quorum fared; none where a finding fails before it.
    pub quorum: Option<QuorumOutcome>,
}

/// Checks the signatures of a checkpoint: `LOG.UNKNOWN`, `LOG.SIG`, `LOG.COSIGNATURE`,
/// `LOG.QUORUM`, in this order; `POLICY.UNWITNESSED` as a note.
#[must_use]
pub fn examine_checkpoint(signed: &SignedCheckpoint, policy: &TlogPolicy) -> CheckpointExam {
    let checkpoint = signed.checkpoint().clone();
    let (findings, witnesses, quorum) = match policy.check(signed) {
        Ok(verdict) => judged(&verdict, policy),
        Err(error) => (refused(&error, policy), Vec::new(), None),
    };
    CheckpointExam { checkpoint, findings, witnesses, quorum }
}

fn judged(
    verdict: &PolicyVerdict,
    policy: &TlogPolicy,
) -> (Vec<Finding>, Vec<WitnessTime>, Option<QuorumOutcome>) {
    let witnesses: Vec<_> = verdict.witnesses().iter().map(WitnessTime::from).collect();
    let findings = match verdict.quorum() {
        QuorumOutcome::Met { .. } => Vec::new(),
        QuorumOutcome::NotRequired => {
            let size = verdict.checkpoint().checkpoint().size;
            vec![Finding::new(UNWITNESSED, unwitnessed(size))]
        }
        QuorumOutcome::NotMet => vec![unmet(policy, &witnesses)],
    };
    (findings, witnesses, Some(verdict.quorum()))
}

fn unwitnessed(size: TreeSize) -> String {
    format!("nobody but the log vouches for the tree of size {size}")
}

fn unmet(policy: &TlogPolicy, witnesses: &[WitnessTime]) -> Finding {
    let names: Vec<_> = witnesses.iter().map(|witness| witness.name.as_str()).collect();
    let actual = if names.is_empty() { "no witness".to_owned() } else { names.join(", ") };
    Finding::new(QUORUM, "the witnesses that cosigned are no quorum")
        .compared(quorum_text(policy), actual)
}

/// The findings for a checkpoint whose signatures are refused.
fn refused(error: &PolicyError, policy: &TlogPolicy) -> Vec<Finding> {
    match error {
        PolicyError::UnknownLog { origin } => {
            let known: Vec<_> = policy.logs().iter().map(|log| log.origin().to_string()).collect();
            let known = if known.is_empty() { "no log".to_owned() } else { known.join(", ") };
            vec![Finding::new(UNKNOWN, error.to_string()).compared(known, origin)]
        }
        PolicyError::LogSignature { .. } => vec![Finding::new(SIG, error.to_string())],
        // The note is refused as a whole, so none of its cosignatures counts.
        PolicyError::WitnessSignature { .. } => {
            let mut findings = vec![Finding::new(COSIGNATURE, error.to_string())];
            if policy.quorum() != Quorum::None {
                findings.push(unmet(policy, &[]));
            }
            findings
        }
        _ => vec![Finding::of_format(error.code(), error)],
    }
}
