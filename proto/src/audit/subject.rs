//! What an audit is about, and which entries of a log belong to it.

use core::fmt;

use crate::digest::Digest;
use crate::signed_object::SignerId;
use crate::statement::{LogEntry, Statement, StatementKind, Trail};

/// What an audit is about.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Subject {
    /// Everything about a plan, by its h(P): its trail, which is named after it, and commitments to it
    /// wherever they stand.
    Plan(Digest),
    /// Everything that names a key as its signer. Whether it signed is the log's to check at admission.
    Submitter(SignerId),
    /// Everything in a trail.
    Trail(Trail),
}

impl Subject {
    /// The word of the format.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Plan(_) => "plan",
            Self::Submitter(_) => "submitter",
            Self::Trail(_) => "trail",
        }
    }

    /// Its value in text.
    #[must_use]
    pub fn value(&self) -> String {
        match self {
            Self::Plan(hash) => hash.to_string(),
            Self::Submitter(signer) => signer.to_string(),
            Self::Trail(trail) => trail.to_string(),
        }
    }

    /// The subject of this kind with this value.
    #[must_use]
    pub fn parse(kind: &str, value: &str) -> Option<Self> {
        match kind {
            "plan" => value.parse().ok().map(Self::Plan),
            "submitter" => value.parse().ok().map(Self::Submitter),
            "trail" => value.parse().ok().map(Self::Trail),
            _ => None,
        }
    }

    /// Whether an entry is about it.
    #[must_use]
    pub fn takes(&self, entry: &LogEntry) -> bool {
        self.takes_statement(entry.statement(), entry.signer())
    }

    /// Whether a statement with this signer is about it.
    #[must_use]
    pub fn takes_statement(&self, statement: &Statement, signer: Option<SignerId>) -> bool {
        match self {
            Self::Plan(hash) => {
                let commits =
                    statement.kind == StatementKind::PlanCommitment && statement.digest == *hash;
                let of_trail = |trail: &Trail| trail.as_str() == hash.to_string();
                commits || statement.trail.as_ref().is_some_and(of_trail)
            }
            Self::Submitter(key) => signer == Some(*key),
            Self::Trail(trail) => statement.trail.as_ref() == Some(trail),
        }
    }

    /// Whether everything about this plan is about the subject too, but for commitments outside the plan's
    /// trail.
    #[must_use]
    pub fn includes_plan(&self, plan: &Digest) -> bool {
        match self {
            Self::Plan(hash) => hash == plan,
            Self::Submitter(_) => false,
            Self::Trail(trail) => trail.as_str() == plan.to_string(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.value())
    }
}
