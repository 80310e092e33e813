//! Time stamps in a report.

use anchorlog_proto::Digest;
use anchorlog_proto::encoding::hex_encode;
use anchorlog_proto::json::{Object, Value};

use super::json::{digest, list, optional, unsigned};
use crate::timestamp::revocation::{CertificateStatus, EvidenceKind, Stance};
use crate::timestamp::{TokenFailure, VerifiedToken};

/// A time stamp token, and what became of it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Timestamp {
    /// SHA-256 of the token's bytes.
    pub digest: Digest,
    /// Length of the token in bytes.
    pub length: usize,
    /// What became of it.
    pub outcome: TimestampOutcome,
}

/// What became of a token.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TimestampOutcome {
    /// It was not looked at: nobody said which authorities count.
    Unexamined,
    /// It holds.
    Verified(Box<VerifiedToken>),
    /// It does not hold.
    Failed(Box<TokenFailure>),
}

impl Timestamp {
    /// A token that is not looked at.
    #[must_use]
    pub fn unexamined(token: &[u8]) -> Self {
        Self::new(token, TimestampOutcome::Unexamined)
    }

    /// A token that was judged.
    #[must_use]
    pub fn judged(token: &[u8], outcome: Result<VerifiedToken, TokenFailure>) -> Self {
        let outcome = match outcome {
            Ok(verified) => TimestampOutcome::Verified(Box::new(verified)),
            Err(failure) => TimestampOutcome::Failed(Box::new(failure)),
        };
        Self::new(token, outcome)
    }

    fn new(token: &[u8], outcome: TimestampOutcome) -> Self {
        Self { digest: Digest::of(token), length: token.len(), outcome }
    }

    /// The verified token, if it is one.
    #[must_use]
    pub fn verified(&self) -> Option<&VerifiedToken> {
        match &self.outcome {
            TimestampOutcome::Verified(verified) => Some(verified),
            _ => None,
        }
    }
}

/// A row of the JSON report. Every member is always there.
pub(super) fn row(timestamp: &Timestamp) -> Value<'_> {
    let (state, failure) = match &timestamp.outcome {
        TimestampOutcome::Unexamined => ("unexamined", None),
        TimestampOutcome::Verified(_) => ("verified", None),
        TimestampOutcome::Failed(failure) => ("failed", Some(failure)),
    };
    let verified = timestamp.verified();
    let text = |read: fn(&VerifiedToken) -> String| {
        verified.map_or(Value::Null, |verified| read(verified).into())
    };
    let failure = failure.map_or(Value::Null, |failure| {
        Object::from([
            ("code", Value::from(failure.code().as_str())),
            ("reason", failure.reason().into()),
            ("detail", failure.to_string().into()),
        ])
        .into()
    });
    let accuracy = verified.and_then(VerifiedToken::accuracy);
    let (chain, notes) = verified.map(|one| (one.chain(), one.notes())).unwrap_or_default();
    Object::from([
        ("digest", digest(&timestamp.digest)),
        ("length", unsigned(u64::try_from(timestamp.length).unwrap_or(u64::MAX))),
        ("state", state.into()),
        ("failure", failure),
        ("operator", optional(verified.map(VerifiedToken::operator))),
        ("gen_time", text(|verified| verified.gen_time().to_string())),
        ("earliest", text(|verified| verified.interval().0.to_string())),
        ("latest", text(|verified| verified.interval().1.to_string())),
        ("accuracy_us", accuracy.map_or(Value::Null, |accuracy| unsigned(accuracy.microseconds()))),
        ("imprint", text(|verified| verified.imprint().to_string())),
        ("policy", text(|verified| verified.policy().to_string())),
        ("serial", text(|verified| hex_encode(verified.serial()))),
        ("signer", optional(verified.map(VerifiedToken::signer))),
        ("signature", text(|verified| verified.scheme().to_string())),
        ("chain", chain.iter().map(digest).collect::<Vec<_>>().into()),
        ("expires", text(|verified| verified.expires().to_string())),
        ("revocation", verified.map_or(Value::Null, |verified| stance(verified.stance()))),
        ("notes", list(notes, |note| note.as_str().into())),
    ])
    .into()
}

fn stance(stance: &Stance) -> Value<'_> {
    let (name, statuses): (_, &[CertificateStatus]) = match stance {
        Stance::NotChecked => ("not-checked", &[]),
        Stance::Checked(statuses) => ("checked", statuses),
    };
    Object::from([("stance", Value::from(name)), ("certificates", list(statuses, status))]).into()
}

fn status(status: &CertificateStatus) -> Value<'_> {
    let (as_of, by) = match status.good {
        Some((as_of, kind)) => (as_of.to_string().into(), evidence(kind).into()),
        None => (Value::Null, Value::Null),
    };
    Object::from([
        ("certificate", digest(&status.certificate)),
        ("good_as_of", as_of),
        ("by", by),
        ("covers", status.covers.into()),
    ])
    .into()
}

/// The word for a kind of evidence.
pub(super) const fn evidence(kind: EvidenceKind) -> &'static str {
    match kind {
        EvidenceKind::Crl => "crl",
        EvidenceKind::Ocsp => "ocsp",
    }
}
