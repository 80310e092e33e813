//! The codes of EVALUATE: what a GAD envelope can be found to lack, family by family.
//!
//! `J.*`, `TSA.*` and most of `LOG.*` are shared with the other checks and stand in their own tables.

pub mod anchor;
pub mod attestation;
pub mod audit;
pub mod container;
pub mod independence;
pub mod log;
pub mod notes;
pub mod outcome;
pub mod plan;
pub mod r1;
pub mod r2;
pub mod r3;
pub mod r4;
pub mod r5;
pub mod r6;
pub mod r7;
pub mod r8;
pub mod r9;
pub mod trust_policy;

use core::fmt;

/// What a finding makes false, in the words of the report.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "gad.report/1 names exactly these")]
pub enum Affect {
    /// Integrity, issuers, coverage, sealing.
    R1,
    /// Recorded precedence.
    R2,
    /// Trace conformance.
    R3,
    /// Verification validity.
    R4,
    /// Probe binding.
    R5,
    /// Scope closure.
    R6,
    /// Gate completeness.
    R7,
    /// Bounded persistence.
    R8,
    /// Typed claims.
    R9,
    /// The envelope's half of R1.
    R1e,
    /// `OUTCOME`.
    Outcome,
    /// `CONTRACT_SATISFIED`.
    Satisfied,
    /// `DEFENSIBLE`.
    Defensible,
    /// The level on the ladder.
    Level,
    /// Nothing: it is for the reader.
    Note,
}

impl Affect {
    /// R1 to R9: `VALID_RECORD` of a core.
    pub const RECORD: [Self; 9] =
        [Self::R1, Self::R2, Self::R3, Self::R4, Self::R5, Self::R6, Self::R7, Self::R8, Self::R9];

    /// What a fault of the input makes false: all of it but the level, which follows.
    pub const EVERYTHING: [Self; 13] = [
        Self::R1,
        Self::R2,
        Self::R3,
        Self::R4,
        Self::R5,
        Self::R6,
        Self::R7,
        Self::R8,
        Self::R9,
        Self::R1e,
        Self::Outcome,
        Self::Satisfied,
        Self::Defensible,
    ];

    /// Its number in the order of the report, from 0.
    #[must_use]
    pub const fn position(self) -> u32 {
        match self {
            Self::R1 => 0,
            Self::R2 => 1,
            Self::R3 => 2,
            Self::R4 => 3,
            Self::R5 => 4,
            Self::R6 => 5,
            Self::R7 => 6,
            Self::R8 => 7,
            Self::R9 => 8,
            Self::R1e => 9,
            Self::Outcome => 10,
            Self::Satisfied => 11,
            Self::Defensible => 12,
            Self::Level => 13,
            Self::Note => 14,
        }
    }

    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::R1 => "R1",
            Self::R2 => "R2",
            Self::R3 => "R3",
            Self::R4 => "R4",
            Self::R5 => "R5",
            Self::R6 => "R6",
            Self::R7 => "R7",
            Self::R8 => "R8",
            Self::R9 => "R9",
            Self::R1e => "R1e",
            Self::Outcome => "OUT",
            Self::Satisfied => "SAT",
            Self::Defensible => "DEF",
            Self::Level => "LVL",
            Self::Note => "note",
        }
    }
}

impl Affect {
    /// What a reader calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::R1e => "R1 (envelope)",
            Self::Outcome => "OUTCOME",
            Self::Satisfied => "CONTRACT_SATISFIED",
            Self::Defensible => "DEFENSIBLE",
            Self::Level => "the level",
            Self::Note => "nothing",
            rule => rule.as_str(),
        }
    }
}

impl fmt::Display for Affect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Declares one family: a constant per code, and the list of them.
macro_rules! gad_family {
    ($($name:ident: $code:literal, $class:ident, [$($affect:ident),*], $title:literal,
       $explanation:literal, $action:literal, $clause:literal;)*) => {
        $(
            #[doc = concat!("`", $code, "`: ", $title, ".")]
            pub const $name: crate::codes::Code = crate::codes::Code(&crate::codes::Info {
                code: $code,
                class: crate::finding::Class::$class,
                title: $title,
                explanation: $explanation,
                action: $action,
                clause: $clause,
                affects: &[$(crate::codes::gad::Affect::$affect),*],
            });
        )*
        /// Every code of this family.
        pub(in crate::codes) const ALL: &[crate::codes::Code] = &[$($name),*];
    };
}
use gad_family;
