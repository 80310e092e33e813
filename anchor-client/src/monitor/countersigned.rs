//! What third parties state about a log's trees: cosignatures and time stamps, on the checkpoint that is
//! served and in the receipt of an entry that has had time to grow.

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_proto::timestamp::{HashAlgorithm, Imprint};
use anchorlog_proto::tlog_policy::{PolicyError, QuorumOutcome, TlogPolicy};
use anchorlog_verifier::timestamp::{Expected, Rules, Supplied, TrustEntry, verify_token};

use super::health::{Life, Stated};
use crate::follow::{FollowError, Target, TwoNotes};

/// Takes down the times of the policy's witnesses on a checkpoint.
pub(super) fn note_cosignatures(
    signed: &SignedCheckpoint,
    policy: &TlogPolicy,
    life: &mut Life,
) -> Result<VerifiedCheckpoint, PolicyError> {
    let verdict = policy.check(signed)?;
    let size = signed.checkpoint().size.get();
    for cosignature in verdict.witnesses() {
        let by = format!("witness {}", cosignature.witness().name());
        life.states(Stated { by, time: signed_seconds(cosignature.unix_seconds()), size });
    }
    if let QuorumOutcome::Met { unix_seconds } = verdict.quorum() {
        life.witnessed(signed_seconds(unix_seconds), size);
    }
    Ok(verdict.checkpoint().clone())
}

/// Takes down the times of tokens over a checkpoint that verify under `trust`.
pub(super) fn note_tokens(
    checkpoint: &VerifiedCheckpoint,
    tokens: &[Vec<u8>],
    trust: &[TrustEntry],
    life: &mut Life,
) {
    let Ok(note) = checkpoint.log_note_bytes() else { return };
    let expected = Expected::over(Imprint::of_data(HashAlgorithm::Sha256, &note));
    let size = checkpoint.checkpoint().size.get();
    for token in tokens {
        // What doesn't verify states nothing.
        let verified =
            verify_token(token, &expected, trust, &Supplied::default(), &Rules::default());
        let Ok(verified) = verified else { continue };
        let time = verified.gen_time().unix_seconds();
        life.states(Stated { by: format!("authority {}", verified.operator()), time, size });
        life.stamped(&Digest::of(token), time);
    }
}

/// Holds a checkpoint that came beside the tiles against the tree that was read. One of a larger tree is
/// left for later: `false`.
pub(super) async fn hold_against(
    target: &Target,
    shown: &VerifiedCheckpoint,
) -> Result<bool, FollowError> {
    let (tree, other) = (target.checkpoint().checkpoint(), shown.checkpoint());
    let Some((root, proof)) = target.prefix(other.size).await? else { return Ok(false) };
    if root == other.root {
        return Ok(true);
    }
    let seen = target.checkpoint().clone();
    Err(if other.size == tree.size {
        let notes = Box::new(TwoNotes { seen, shown: shown.clone(), proof: None });
        FollowError::SplitView { notes }
    } else {
        let notes = Box::new(TwoNotes { seen, shown: shown.clone(), proof: Some(proof) });
        FollowError::Inconsistent { notes }
    })
}

/// Cosignature times end at 2^63-1.
fn signed_seconds(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}
