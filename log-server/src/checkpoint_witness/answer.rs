//! How a witness is opened, and what it answers.

use std::collections::HashSet;
use std::num::NonZeroU32;

use anchorlog_proto::jp::witness::{WitnessKey, WitnessSigner};

use super::book::Limits;
use crate::bearer::Principal;

/// Most statements of one page.
pub const MAX_PAGE: usize = 1000;

/// How a trail comes to its owner.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the specification has these two")]
pub enum RegistrationMode {
    /// The witness' operator registers it.
    Operator,
    /// Whoever is the first to submit for it.
    FirstSubmission,
}

/// How a witness works.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "whoever opens a witness fills it in")]
pub struct Options {
    /// How a trail comes to its owner.
    pub registration: RegistrationMode,
    /// Who may submit; none lets every holder of a token.
    pub submitters: Option<HashSet<Principal>>,
    /// Submissions a minute of each submitter.
    pub submissions_per_minute: NonZeroU32,
    /// Trails that each may submit for.
    pub trails_per_submitter: usize,
    /// What it keeps.
    pub limits: Limits,
}

/// With which key a witness is opened.
#[derive(Clone)]
#[allow(clippy::exhaustive_enums, reason = "it signs or it doesn't")]
pub enum Opening {
    /// To go on.
    Sign(WitnessSigner),
    /// To be read.
    Read(WitnessKey),
}

/// What an opened witness does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "it signs, or it has a reason not to")]
pub enum Activity {
    /// It signs what it can answer for.
    Signing,
    /// It was opened to be read.
    Reading,
    /// Its files have failed it: it signs nothing until it is opened anew.
    Stopped,
}

impl Activity {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Signing => "signing",
            Self::Reading => "reading",
            Self::Stopped => "stopped",
        }
    }
}

/// What a submission is answered.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the specification has these")]
pub enum Answer {
    /// The statement about the last line, and its newline.
    Statement(Vec<u8>),
    /// The witness holds something else.
    Disagreement(Disagreement),
}

/// Why there is no statement about the last line, with those that say so, newlines not included.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the specification has these")]
pub enum Disagreement {
    /// Another record was witnessed for a line's sequence: that statement, and the one about the conflict.
    Conflict([String; 2]),
    /// The last line is below the latest and not held: the head.
    BelowHead(String),
    /// The trail is retired: the retirement.
    Retired(String),
}

/// A part of a trail's chain.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a plain answer")]
pub struct Page {
    /// The lines, newlines included.
    pub lines: Vec<u8>,
    /// Whether no statement that may come can change it.
    pub is_settled: bool,
}
