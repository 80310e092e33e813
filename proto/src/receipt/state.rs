//! How far an entry has come.

use std::fmt;
use std::str::FromStr;

/// What the log has done for an entry so far: the furthest it has come. `anchored` includes `witnessed` where
/// the checkpoint carries the cosignatures; a log without witnesses has none, and one whose witnesses are
/// late is stamped all the same. Who needs both asks a policy for both.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ReceiptState {
    /// The entry is in the tree of a signed, published checkpoint.
    Published,
    /// The log's witnesses have cosigned such a checkpoint.
    Witnessed,
    /// The log's time-stamping authorities have stamped such a checkpoint.
    Anchored,
}

impl ReceiptState {
    /// Every state, in the order an entry passes through them.
    pub const ALL: [Self; 3] = [Self::Published, Self::Witnessed, Self::Anchored];

    /// The name in the `state` member.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Witnessed => "witnessed",
            Self::Anchored => "anchored",
        }
    }
}

impl fmt::Display for ReceiptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ReceiptState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(UnknownState)
    }
}

/// A text that names no state of a receipt.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a receipt's state is \"published\", \"witnessed\" or \"anchored\"")]
pub struct UnknownState;
