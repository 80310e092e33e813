//! What the start-up checks find, and what follows from it.

use std::fmt;

/// What is wrong with a witness' files. The names are part of the interface: they never change.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum FindingCode {
    /// A line of the statements is not the canonical line of a statement.
    Malformed,
    /// A statement does not verify under the witness' key.
    SignatureInvalid,
    /// A statement does not continue its trail's chain.
    ChainBroken,
    /// The statements end in a whole statement without its newline.
    LogUnterminated,
    /// The statements end in part of a line.
    LogTorn,
    /// A mark names a statement that is not there.
    MarkUnreached,
    /// No mark names a statement.
    Unmarked,
    /// There are statements and no marks file.
    MarksLost,
    /// A line of the marks is not the canonical line of a mark.
    MarkMalformed,
    /// A mark stands there twice.
    MarkRepeated,
    /// The marks do not end with a newline.
    MarksTorn,
    /// A line of the registrations is not the canonical line of a registration.
    RegistrationMalformed,
    /// The registrations do not end with a newline.
    RegistrationsTorn,
    /// A trail has statements and no registration.
    Unregistered,
    /// More trails or statements than a witness keeps.
    OverLimit,
}

impl FindingCode {
    /// Every code.
    pub const ALL: [Self; 15] = [
        Self::Malformed,
        Self::SignatureInvalid,
        Self::ChainBroken,
        Self::LogUnterminated,
        Self::LogTorn,
        Self::MarkUnreached,
        Self::Unmarked,
        Self::MarksLost,
        Self::MarkMalformed,
        Self::MarkRepeated,
        Self::MarksTorn,
        Self::RegistrationMalformed,
        Self::RegistrationsTorn,
        Self::Unregistered,
        Self::OverLimit,
    ];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "witness-malformed",
            Self::SignatureInvalid => "witness-signature-invalid",
            Self::ChainBroken => "witness-chain-broken",
            Self::LogUnterminated => "witness-log-unterminated",
            Self::LogTorn => "witness-log-torn",
            Self::MarkUnreached => "witness-mark-unreached",
            Self::Unmarked => "witness-unmarked",
            Self::MarksLost => "witness-marks-lost",
            Self::MarkMalformed => "witness-mark-malformed",
            Self::MarkRepeated => "witness-mark-repeated",
            Self::MarksTorn => "witness-marks-torn",
            Self::RegistrationMalformed => "witness-registration-malformed",
            Self::RegistrationsTorn => "witness-registrations-torn",
            Self::Unregistered => "witness-unregistered",
            Self::OverLimit => "witness-over-limit",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// What.
    pub code: FindingCode,
    /// Where: a file and a line or a trail, for people.
    pub detail: String,
}

impl Finding {
    pub(super) fn new(code: FindingCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.detail, self.code.as_str())
    }
}

/// What follows from the findings: the names are part of the interface.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "every outcome has one thing that is to be done")]
pub enum Outcome {
    /// Nothing is wrong: the witness starts.
    Start,
    /// Repair marks the last statement, which is whole and was not marked: the next step of the fixed order.
    MarkCompleted,
    /// Repair ends the last statement with its newline, and marks it.
    NewlineAndMarkCompleted,
    /// Repair sets aside the torn last bytes of the statements, which no mark names.
    SetAside,
    /// Repair sets aside the torn last bytes of the registrations, under which nothing was signed.
    RegistrationSetAside,
    /// The witness does not start, and repair writes nothing: another copy of a file may help.
    Refused,
    /// Nothing shows any more what was published: the witness goes on only with a new key.
    NewKey,
}

impl Outcome {
    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::MarkCompleted => "mark-completed",
            Self::NewlineAndMarkCompleted => "newline-and-mark-completed",
            Self::SetAside => "set-aside",
            Self::RegistrationSetAside => "registration-set-aside",
            Self::Refused => "refused",
            Self::NewKey => "new-key",
        }
    }

    /// What to do, for people.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Start => "nothing has to be done",
            Self::MarkCompleted
            | Self::NewlineAndMarkCompleted
            | Self::SetAside
            | Self::RegistrationSetAside => "`log-server checkpoint-witness repair` mends this",
            Self::Refused => {
                "put a copy of the damaged file in its place that is whole, the statements or the \
                 registrations but never the marks; without one go on with a new key and a new directory"
            }
            Self::NewKey => {
                "what was published can't be known any more: go on with a new key, a new directory and new \
                 marks, and keep the old ones"
            }
        }
    }

    /// Whether repair does something about it.
    #[must_use]
    pub const fn is_repairable(self) -> bool {
        matches!(
            self,
            Self::MarkCompleted
                | Self::NewlineAndMarkCompleted
                | Self::SetAside
                | Self::RegistrationSetAside
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_distinct() {
        let codes: HashSet<_> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), FindingCode::ALL.len());
    }
}
