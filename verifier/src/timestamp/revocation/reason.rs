//! What a revocation does to tokens, by its reason (RFC 3161 section 4).

use anchorlog_proto::timestamp::GenTime;

use super::UnexplainedRevocation;

/// `certificateHold` (RFC 5280 section 5.3.1).
const CERTIFICATE_HOLD: u8 = 6;
/// `removeFromCRL`: a hold that a delta takes back.
const REMOVE_FROM_CRL: u8 = 8;
/// A reason that can't be read: one that nobody knows.
pub(super) const UNREADABLE: u8 = u8::MAX;

/// A revocation, as a CRL or an OCSP response states it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Revocation {
    /// The revocation date.
    pub(super) date: GenTime,
    /// The reason code, if there is one.
    pub(super) reason: Option<u8>,
    /// invalidityDate: since when the key is suspect, or the certificate wrong.
    pub(super) invalid_since: Option<GenTime>,
}

impl Revocation {
    /// Whether a token of `at` is bad by it.
    ///
    /// | reason | tokens |
    /// |---|---|
    /// | unspecified 0, affiliationChanged 3, superseded 4, cessationOfOperation 5 | good before the revocation: section 4 has authorities use these when the key is not compromised |
    /// | none | bad, whatever their time, unless the rules say otherwise |
    /// | certificateHold 6, removeFromCRL 8, privilegeWithdrawn 9 | the same: section 4 has no place for them; newer evidence may lift a hold |
    /// | keyCompromise 1, cACompromise 2, aACompromise 10, and numbers that nobody knows | bad, whatever their time |
    ///
    /// The date is the revocation date, or invalidityDate where that is earlier.
    pub(super) fn strikes(&self, at: GenTime, unexplained: UnexplainedRevocation) -> bool {
        let since = self.invalid_since.map_or(self.date, |invalid| invalid.min(self.date));
        match self.reason {
            Some(0 | 3 | 4 | 5) => at >= since,
            None | Some(CERTIFICATE_HOLD | REMOVE_FROM_CRL | 9) => match unexplained {
                UnexplainedRevocation::FailsAlways => true,
                UnexplainedRevocation::ByDate => at >= since,
            },
            Some(_) => true,
        }
    }

    /// Whether an entry of a delta says that it is no revocation any more.
    pub(super) fn is_removal(&self) -> bool {
        self.reason == Some(REMOVE_FROM_CRL)
    }

    /// Whether newer evidence may take it back.
    pub(super) fn is_hold(&self) -> bool {
        self.reason == Some(CERTIFICATE_HOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_know_a_before_or_not() {
        use UnexplainedRevocation::{ByDate, FailsAlways};
        let strikes = |reason, at, unexplained| {
            let date = GenTime::from_unix(100);
            Revocation { date, reason, invalid_since: None }
                .strikes(GenTime::from_unix(at), unexplained)
        };
        for reason in [0, 3, 4, 5] {
            let reason = Some(reason);
            assert!(!strikes(reason, 99, FailsAlways), "{reason:?}");
            assert!(strikes(reason, 100, FailsAlways) && strikes(reason, 101, ByDate));
        }
        for reason in [1, 2, 7, 10, 11, UNREADABLE] {
            assert!(strikes(Some(reason), 99, ByDate), "{reason}");
        }
        for reason in [None, Some(6), Some(8), Some(9)] {
            assert!(strikes(reason, 99, FailsAlways) && strikes(reason, 100, ByDate));
            assert!(!strikes(reason, 99, ByDate), "{reason:?}");
        }
    }

    #[test]
    fn an_earlier_invalidity_date_counts() {
        let at = |at, invalid| {
            let invalid_since = Some(GenTime::from_unix(invalid));
            Revocation { date: GenTime::from_unix(100), reason: Some(4), invalid_since }
                .strikes(GenTime::from_unix(at), UnexplainedRevocation::FailsAlways)
        };
        assert!(at(50, 50) && !at(49, 50));
        assert!(at(100, 150) && !at(99, 150));
    }
}
