//! Who contributed to one output: a homogeneous, ordered set that is never empty.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::super::core_pack::CoreId;

/// The most contributors of one output. Subordinate to [`MAX_ENVELOPE_BYTES`]: whichever is exceeded
/// first refuses the output; nothing is cut off and no representative is chosen.
pub const MAX_CONTRIBUTORS: usize = 4096;

/// The largest output envelope in canonical form, in bytes (RFC 0020 section 2).
pub const MAX_ENVELOPE_BYTES: usize = 65_536;

/// What kind of object of the pack contributed. The namespaces are apart: a rule and an exception may
/// have the same id.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "RFC 0028 names exactly these two")]
pub enum ContributorKind {
    /// A true exception with effect `force-outcome` that names the outcome.
    ForcingException,
    /// A true rule, neither suppressed nor bypassed, that names the outcome.
    Rule,
}

impl ContributorKind {
    /// Both, in their order.
    pub const ALL: [Self; 2] = [Self::ForcingException, Self::Rule];

    /// The word of the RFC.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ForcingException => "forcing-exception",
            Self::Rule => "rule",
        }
    }
}

impl fmt::Display for ContributorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ContributorKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(UnknownKind)
    }
}

/// Neither `rule` nor `forcing-exception`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a contributor is a rule or a forcing-exception")]
pub struct UnknownKind;

/// The contributors of one output: 1 to [`MAX_CONTRIBUTORS`] members of one kind, in order, each once.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Contributors {
    kind: ContributorKind,
    ids: BTreeSet<CoreId>,
}

/// Why a collection is none of [`Contributors`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContributorsError {
    /// No member; an output without contributors has no collection.
    #[error("the collection is empty")]
    Empty,
    /// More members than [`MAX_CONTRIBUTORS`].
    #[error("more than {MAX_CONTRIBUTORS} contributors")]
    TooMany,
    /// Rules and forcing exceptions in one collection.
    #[error("contributor {position} is of another kind than the first one")]
    Mixed {
        /// Position of the first member of another kind.
        position: usize,
    },
    /// A member that does not come after the one before it by kind and id; an equal one is a duplicate.
    #[error("contributor {position} does not come after the one before it")]
    Order {
        /// Position of that member.
        position: usize,
    },
}

impl Contributors {
    /// The set of these ids, in whatever order they come.
    pub fn new(
        kind: ContributorKind,
        ids: impl IntoIterator<Item = CoreId>,
    ) -> Result<Self, ContributorsError> {
        let ids: BTreeSet<CoreId> = ids.into_iter().collect();
        match ids.len() {
            0 => Err(ContributorsError::Empty),
            count if count > MAX_CONTRIBUTORS => Err(ContributorsError::TooMany),
            _ => Ok(Self { kind, ids }),
        }
    }

    /// The collection as it was written: it must be in order already.
    pub fn from_ordered(
        members: impl IntoIterator<Item = (ContributorKind, CoreId)>,
    ) -> Result<Self, ContributorsError> {
        let mut members = members.into_iter();
        let (kind, first) = members.next().ok_or(ContributorsError::Empty)?;
        let mut ids = BTreeSet::from([first]);
        for (position, (next, id)) in (1..).zip(members) {
            if position >= MAX_CONTRIBUTORS {
                return Err(ContributorsError::TooMany);
            }
            if next != kind {
                return Err(ContributorsError::Mixed { position });
            }
            if ids.last().is_some_and(|last| *last >= id) {
                return Err(ContributorsError::Order { position });
            }
            ids.insert(id);
        }
        Ok(Self { kind, ids })
    }

    /// The kind of all of them.
    #[must_use]
    pub const fn kind(&self) -> ContributorKind {
        self.kind
    }

    /// Their ids, ascending.
    #[must_use]
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &CoreId> + Clone {
        self.ids.iter()
    }

    /// Whether this id is one of them.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// How many there are; at least one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.ids.len()
    }
}

impl fmt::Display for Contributors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        for (position, id) in self.ids.iter().enumerate() {
            // Thousands of them would not be read by anybody.
            if position == 16 {
                return write!(f, " … and {} more", self.ids.len() - position);
            }
            write!(f, " {id}")?;
        }
        Ok(())
    }
}

/// What one output's result is credited to.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "Core's resolution has exactly these three ends")]
pub enum Credit {
    /// An outcome that these contributed to (Core section 8, steps 6 and 9).
    Contributors(Contributors),
    /// The fallback outcome (step 10): nobody contributed.
    Fallback,
    /// Unresolved or not applicable.
    NonOutcome,
}

impl Credit {
    /// The contributors, where there are any.
    #[must_use]
    pub const fn contributors(&self) -> Option<&Contributors> {
        match self {
            Self::Contributors(contributors) => Some(contributors),
            Self::Fallback | Self::NonOutcome => None,
        }
    }
}

impl fmt::Display for Credit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contributors(contributors) => contributors.fmt(f),
            Self::Fallback => f.write_str("fallback"),
            Self::NonOutcome => f.write_str("no outcome"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::ContributorKind::{ForcingException, Rule};
    use super::*;

    fn id(text: &str) -> CoreId {
        text.parse().unwrap()
    }

    #[test]
    fn a_collection_is_in_order_or_refused() {
        let read = |members: &[(ContributorKind, &str)]| {
            Contributors::from_ordered(members.iter().map(|(kind, text)| (*kind, id(text))))
        };
        let two = read(&[(Rule, "a"), (Rule, "b")]).unwrap();
        assert_eq!(two.ids().map(CoreId::as_str).collect::<Vec<_>>(), ["a", "b"]);
        assert!(two.contains("a") && !two.contains("c"));
        assert_eq!(read(&[]), Err(ContributorsError::Empty));
        assert_eq!(
            read(&[(Rule, "b"), (Rule, "a")]),
            Err(ContributorsError::Order { position: 1 })
        );
        assert_eq!(
            read(&[(Rule, "a"), (Rule, "a")]),
            Err(ContributorsError::Order { position: 1 })
        );
        assert_eq!(
            read(&[(ForcingException, "a"), (Rule, "a")]),
            Err(ContributorsError::Mixed { position: 1 })
        );
        assert!(ForcingException < Rule, "the order by kind is that of the words");
        assert_eq!("rule".parse(), Ok(Rule));
        assert_eq!("exception".parse::<ContributorKind>(), Err(UnknownKind));
    }

    #[test]
    fn the_ceiling_is_exact() {
        let ids = |count: usize| (0..count).map(|n| id(&format!("r{n:05}"))).collect::<Vec<_>>();
        let most = ids(MAX_CONTRIBUTORS);
        assert_eq!(Contributors::new(Rule, most.clone()).unwrap().count(), MAX_CONTRIBUTORS);
        let ordered = most.into_iter().map(|id| (Rule, id));
        assert_eq!(Contributors::from_ordered(ordered).unwrap().count(), MAX_CONTRIBUTORS);
        let over = ids(MAX_CONTRIBUTORS + 1);
        assert_eq!(Contributors::new(Rule, over.clone()), Err(ContributorsError::TooMany));
        let ordered = over.into_iter().map(|id| (Rule, id));
        assert_eq!(Contributors::from_ordered(ordered), Err(ContributorsError::TooMany));
        assert_eq!(Contributors::new(Rule, []), Err(ContributorsError::Empty));
    }

    #[test]
    fn long_collections_are_shown_short() {
        let many = Contributors::new(Rule, (0..20).map(|n| id(&format!("r{n:02}")))).unwrap();
        assert!(many.to_string().ends_with("r15 … and 4 more"));
        assert_eq!(Contributors::new(Rule, [id("a")]).unwrap().to_string(), "rule a");
    }
}
