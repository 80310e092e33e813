//! Time stamps of a receipt: when was the entry in the log, at the latest.

use anchorlog_proto::receipt::Receipt;
use anchorlog_proto::timestamp::{HashAlgorithm, Imprint};
use anchorlog_proto::tlog_policy::TlogPolicy;

use crate::codes::timestamp::UNCHECKED;
use crate::finding::Finding;
use crate::report::Timestamp;
use crate::timestamp::{Expected, Rules, Supplied, TrustEntry, verify_token};

/// Which authorities' time stamps count, and by which rules.
#[derive(Clone, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in, with `..Default::default()`")]
pub struct TimePolicy {
    /// The authorities.
    pub trust: Vec<TrustEntry>,
    /// Certificates, CRLs and OCSP responses that the caller has.
    pub supplied: Supplied,
    /// The rules.
    pub rules: Rules,
}

/// Judges each token of a receipt: over the note that is the checkpoint with a signature line of its log
/// and no other. A log that changes its key has two lines, and a token over either counts.
pub(super) fn examine(
    receipt: &Receipt,
    policy: &TlogPolicy,
    time: Option<&TimePolicy>,
    findings: &mut Vec<Finding>,
) -> Vec<Timestamp> {
    let stamped = stamped(receipt, policy);
    let judge = |(position, token): (usize, &Vec<u8>)| {
        let pointer = format!("/timestamps/{position}");
        let (Some(time), Some((first, others))) = (time, stamped.split_first()) else {
            let detail = match time {
                Some(_) => "a time stamp over a checkpoint that the policy's log has not signed",
                None => "a time stamp, and no authority is trusted here",
            };
            findings.push(Finding::new(UNCHECKED, detail).at(pointer));
            return Timestamp::unexamined(token);
        };
        let verify = |imprint: &Imprint| {
            let expected = Expected::over(imprint.clone());
            verify_token(token, &expected, &time.trust, &time.supplied, &time.rules)
        };
        let outcome = verify(first).or_else(|failure| {
            others.iter().find_map(|imprint| verify(imprint).ok()).ok_or(failure)
        });
        if let Err(failure) = &outcome {
            findings.push(failure.not_counted().at(pointer));
        }
        Timestamp::judged(token, outcome)
    };
    receipt.timestamps.iter().enumerate().map(judge).collect()
}

/// What the tokens have to be over, for each key of the policy's log that has signed.
fn stamped(receipt: &Receipt, policy: &TlogPolicy) -> Vec<Imprint> {
    let checkpoint = receipt.proof.checkpoint();
    let origin = &checkpoint.checkpoint().origin;
    let logs = policy.logs().iter().filter(|log| log.origin() == *origin);
    logs.filter_map(|log| checkpoint.log_note_bytes(log.key()).ok())
        .map(|note| Imprint::of_data(HashAlgorithm::Sha256, &note))
        .collect()
}
