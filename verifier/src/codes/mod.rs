//! Every code a report can carry, as data: one table, from which `verifier explain` and
//! `docs/codes.md` are made.
//!
//! A code has one meaning and one class for ever. Codes of formats (`J.*`, `NOTE.*`, …) are raised
//! by `anchorlog-proto` when bytes can't be read; codes of checks (`LOG.*`, `RCT.*`, …) are raised
//! here, each by one step of one check. A test holds the table and the sources together: no code is
//! raised that is not explained, and none is explained that is not raised.

pub mod anchor_file;
pub mod attribution;
pub mod checkpoint;
mod families;
pub mod gad;
pub mod input;
pub mod json;
pub mod log;
mod markdown;
pub mod note;
pub mod policy;
pub mod receipt;
pub mod statement;
pub mod tile;
pub mod timestamp;
pub mod tlog_proof;
pub mod tlog_witness;
pub mod trail;
pub mod witness;

use core::cmp::Ordering;
use core::fmt;

pub use markdown::markdown;

use crate::finding::Class;
use families::FAMILIES;

/// A code with its explanation. Equality and order are those of the code's text.
#[derive(Clone, Copy)]
pub struct Code(&'static Info);

/// What the table says about one code.
#[derive(Debug, Eq, PartialEq)]
struct Info {
    code: &'static str,
    class: Class,
    title: &'static str,
    explanation: &'static str,
    action: &'static str,
    clause: &'static str,
    /// What of EVALUATE a finding with this code makes false, where that doesn't depend on its place.
    affects: &'static [gad::Affect],
}

impl Code {
    /// All codes, ascending.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = Self::each().collect();
        all.sort();
        all
    }

    /// The code with this text.
    #[must_use]
    pub fn lookup(text: &str) -> Option<Self> {
        Self::each().find(|code| code.as_str() == text)
    }

    /// The code beneath which this finer reason stands: `TSA.ESS` for `ess.missing`. Reasons are listed
    /// in the explanations.
    #[must_use]
    pub fn with_reason(reason: &str) -> Option<Self> {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let lists = |code: &Self| {
            let (_, listed) = code.explanation().split_once("Reason").unwrap_or_default();
            listed.split([' ', ',', ':']).any(|word| word.trim_end_matches('.') == reason)
        };
        let is_reason =
            reason.split('.').count() == 2 && reason.replace('.', "").chars().all(is_word);
        Self::each().find(|code| is_reason && lists(code))
    }

    /// The codes that somebody may have meant with this text, ascending: those that begin with it, or
    /// with the longest part of it before a dot that any begin with, or else those that contain it.
    #[must_use]
    pub fn near(text: &str) -> Vec<Self> {
        let text = text.to_ascii_uppercase();
        let all = Self::all();
        let beginning = |with: &str| -> Vec<Self> {
            all.iter().filter(|code| code.as_str().starts_with(with)).copied().collect()
        };
        let mut near = if text.is_empty() { Vec::new() } else { beginning(&text) };
        let mut part = text.as_str();
        while near.is_empty()
            && let Some((shorter, _)) = part.rsplit_once('.')
        {
            part = shorter;
            if !part.is_empty() {
                near = beginning(&format!("{part}."));
            }
        }
        // Shorter texts are in everything.
        if near.is_empty() && text.len() > 2 {
            near.extend(all.iter().filter(|code| code.as_str().contains(&text)));
        }
        near
    }

    fn each() -> impl Iterator<Item = Self> {
        FAMILIES.iter().flat_map(|family| family.tables).flat_map(|table| table.iter()).copied()
    }

    /// The stable text: `LOG.SIG`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0.code
    }

    /// What a finding with this code means for the check.
    #[must_use]
    pub const fn class(self) -> Class {
        self.0.class
    }

    /// What was found, in a few words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.0.title
    }

    /// What it means and why it matters.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        self.0.explanation
    }

    /// What a person can do about it.
    #[must_use]
    pub const fn action(self) -> &'static str {
        self.0.action
    }

    /// The specification the check implements.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        self.0.clause
    }

    /// What of EVALUATE a finding with this code makes false. Empty where that depends on the place of
    /// the finding, and for codes of other checks.
    #[must_use]
    pub const fn affects(self) -> &'static [gad::Affect] {
        self.0.affects
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Code({})", self.as_str())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Code {}

impl core::hash::Hash for Code {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What findings with this code make false, in words; `None` where that depends on their place, for codes
/// of other checks, and for notes.
pub(crate) fn affected(code: Code) -> Option<String> {
    use gad::Affect;
    match code.affects() {
        [] | [Affect::Note] => None,
        // R1 to R9 and all that follows from them.
        all if all.len() > 9 => Some("everything".to_owned()),
        some => Some(some.iter().map(|affect| affect.name()).collect::<Vec<_>>().join(", ")),
    }
}

/// Declares one family: a constant per code, and the list of them.
macro_rules! family {
    ($($name:ident: $code:literal, $class:ident, $title:literal,
       $explanation:literal, $action:literal, $clause:literal;)*) => {
        $(
            #[doc = concat!("`", $code, "`: ", $title, ".")]
            pub const $name: super::Code = super::Code(&super::Info {
                code: $code,
                class: crate::finding::Class::$class,
                title: $title,
                explanation: $explanation,
                action: $action,
                clause: $clause,
                affects: &[],
            });
        )*
        /// Every code of this family.
        pub(super) const ALL: &[super::Code] = &[$($name),*];
    };
}
use family;

#[cfg(test)]
mod tests;
