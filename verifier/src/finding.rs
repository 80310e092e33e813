//! Findings: what a check has to say, with a stable code and the place it is about.
//!
//! A [`Finding`] is one row of a report. Its [`Code`] says what kind of thing was found and never
//! changes once released; the rest says where, and what was expected and seen there. A finding of
//! class [`Class::Note`] is for the reader only; every other one makes the thing that was asked
//! false.

use core::fmt;

use anchorlog_proto::json::JsonError;

use crate::codes::Code;
use crate::codes::input::INTERNAL;

/// What a finding means for the reader. All but [`Class::Note`] fail the check they belong to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "the report format names exactly these four")]
pub enum Class {
    /// The bytes contradict each other, a rule of their format, or a key.
    Broken,
    /// Evidence that is asked for is absent, or below the bar.
    Unmet,
    /// This verifier, or this policy, can't tell.
    Unsupported,
    /// Nothing fails by it.
    Note,
}

impl Class {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Unmet => "unmet",
            Self::Unsupported => "unsupported",
            Self::Note => "note",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The place a finding is about. The order is the order of findings in a report.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Place {
    /// The role of the input: `receipt`, `policy`, `new checkpoint`; not a file name, so that
    /// reports about equal bytes are equal.
    pub input: Option<&'static str>,
    /// Which of several inputs of that role, counted from 1; `None` where there is only one.
    pub number: Option<u32>,
    /// RFC 6901 pointer into the input, where it is JSON and the place is inside it.
    pub pointer: Option<Box<str>>,
    /// Byte offset into the input, where it could not be read on.
    pub offset: Option<u32>,
}

/// One thing found by one check.
///
/// The derived order is that of a report: by place, then by code; a place that is not given comes
/// first.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Finding {
    /// Where.
    pub place: Place,
    /// What, as a stable code.
    pub code: Code,
    /// The finer reason beneath the code, where a code has several; as stable as the code.
    pub reason: Option<&'static str>,
    /// One sentence for people about this occurrence. Branch on `code`, never on this.
    pub detail: Box<str>,
    /// The value that would have been right.
    pub expected: Option<Box<str>>,
    /// The value found.
    pub actual: Option<Box<str>>,
}

impl Finding {
    /// A finding about nothing more precise than the whole command.
    pub fn new(code: Code, detail: impl Into<Box<str>>) -> Self {
        Self {
            place: Place::default(),
            code,
            reason: None,
            detail: detail.into(),
            expected: None,
            actual: None,
        }
    }

    /// A refusal by a format of `anchorlog-proto`, under the code the format gives it.
    ///
    /// `codes` holds every code of that crate. Should one be missing all the same, the finding says
    /// so under [`INTERNAL`] instead of inventing a meaning.
    pub fn of_format(code: &str, error: &impl fmt::Display) -> Self {
        match Code::lookup(code) {
            Some(code) => Self::new(code, error.to_string()),
            None => Self::new(INTERNAL, format!("unlisted code {code}: {error}")),
        }
    }

    /// A refusal by the strict JSON reader, with the place it names.
    #[must_use]
    pub fn of_json(error: &JsonError) -> Self {
        let mut finding = Self::of_format(error.code.as_str(), error);
        finding.place.offset = error.offset.and_then(|offset| u32::try_from(offset).ok());
        finding.place.pointer = (!error.pointer.is_empty()).then(|| error.pointer.as_str().into());
        finding
    }

    /// The same finding, about the input with this role.
    #[must_use]
    pub fn in_input(mut self, input: &'static str) -> Self {
        self.place.input = Some(input);
        self
    }

    /// The same finding, about the input of this number among those of its role.
    #[must_use]
    pub const fn numbered(mut self, number: u32) -> Self {
        self.place.number = Some(number);
        self
    }

    /// The same finding, with the finer reason beneath its code.
    #[must_use]
    pub const fn because(mut self, reason: &'static str) -> Self {
        self.reason = Some(reason);
        self
    }

    /// The same finding, about the value at this JSON pointer.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<Box<str>>) -> Self {
        self.place.pointer = Some(pointer.into());
        self
    }

    /// The same finding, with the value that would have been right and the one found.
    #[must_use]
    pub fn compared(mut self, expected: impl fmt::Display, actual: impl fmt::Display) -> Self {
        self.expected = Some(expected.to_string().into());
        self.actual = Some(actual.to_string().into());
        self
    }

    /// Whether the check that made this finding fails by it.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.code.class() != Class::Note
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    #[test]
    fn order_is_place_then_code() {
        let at_root = Finding::new(codes::log::SIG, "x");
        let in_policy = Finding::new(codes::log::SIG, "x").in_input("policy");
        let in_receipt = Finding::new(codes::log::INDEX, "x").in_input("receipt");
        let deeper = Finding::new(codes::log::INDEX, "x").in_input("receipt").at("/index");
        let mut findings =
            vec![deeper.clone(), in_receipt.clone(), in_policy.clone(), at_root.clone()];
        findings.sort();
        assert_eq!(findings, [at_root, in_policy, in_receipt, deeper]);
    }

    #[test]
    fn an_unlisted_code_is_an_internal_error() {
        let finding = Finding::of_format("NO.SUCH", &"why");
        assert_eq!(finding.code, INTERNAL);
        assert_eq!(&*finding.detail, "unlisted code NO.SUCH: why");
    }

    #[test]
    fn only_notes_do_not_fail() {
        assert!(Finding::new(codes::log::SIG, "").fails());
        assert!(Finding::new(codes::log::UNKNOWN, "").fails());
        assert!(!Finding::new(codes::receipt::CONFLICT_FLAGGED, "").fails());
    }
}
