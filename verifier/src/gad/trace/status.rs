//! The states of a node.

use core::fmt;

/// Where a node stands. READY is no state: it is PENDING or GRANTED with every direct predecessor good.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "gad.table/1 has exactly these")]
pub enum Status {
    /// Never dispatched.
    Pending,
    /// Commissioned to a session that has no result yet.
    Open,
    /// Its session completed; its tests are not all judged.
    Captured,
    /// Its session didn't complete, or a test failed or passed below the class floor.
    Failed,
    /// It may be dispatched again.
    Granted,
    /// It failed and no retry is left: only succession or halt.
    Tripped,
    /// Gated; every test passed; no human was asked yet.
    AwaitGate,
    /// A human was asked.
    AwaitApproval,
    /// Every test passed: the good terminal of a normal node.
    Verified,
    /// A human agreed: the good terminal of a gated node.
    Approved,
    /// A human refused: only succession, halt or a revised request.
    Refused,
}

impl Status {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 11] = [
        Self::Pending,
        Self::Open,
        Self::Captured,
        Self::Failed,
        Self::Granted,
        Self::Tripped,
        Self::AwaitGate,
        Self::AwaitApproval,
        Self::Verified,
        Self::Approved,
        Self::Refused,
    ];

    /// The word of the table.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Open => "OPEN",
            Self::Captured => "CAPTURED",
            Self::Failed => "FAILED",
            Self::Granted => "GRANTED",
            Self::Tripped => "TRIPPED",
            Self::AwaitGate => "AWAIT_GATE",
            Self::AwaitApproval => "AWAIT_APPROVAL",
            Self::Verified => "VERIFIED",
            Self::Approved => "APPROVED",
            Self::Refused => "REFUSED",
        }
    }

    /// Its number in [`Status::ALL`].
    pub(super) fn position(self) -> usize {
        Self::ALL.iter().position(|status| *status == self).unwrap_or(0)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
