//! Findings of EVALUATE: code, what it makes false, where, and what was expected there.

use core::fmt;
use std::collections::BTreeMap;

use crate::codes::Code;
use crate::codes::gad::Affect;
use crate::finding::Class;

/// The most findings of one code that a report lists; the rest are counted.
pub const MAX_PER_CODE: usize = 1000;

/// Member name of the witness.
pub const WITNESS: &str = "core/witness.jsonl";

/// A place in a bundle. The order is that of a report: nothing before something.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Where {
    /// Path of the member, relative to the bundle; a name in angle brackets for inputs beside it.
    pub member: Option<Box<str>>,
    /// Number of the witness entry, as stated in it.
    pub seq: Option<u64>,
    /// RFC 6901 pointer into the document or the entry.
    pub pointer: Option<Box<str>>,
}

impl Where {
    /// Nothing more precise than the whole.
    #[must_use]
    pub const fn nowhere() -> Self {
        Self { member: None, seq: None, pointer: None }
    }

    /// A member.
    pub fn member(path: impl Into<Box<str>>) -> Self {
        Self { member: Some(path.into()), seq: None, pointer: None }
    }

    /// A witness entry.
    #[must_use]
    pub fn entry(seq: u64) -> Self {
        Self { member: Some(WITNESS.into()), seq: Some(seq), pointer: None }
    }

    /// What stands at this pointer there; an empty one is the whole document.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<Box<str>>) -> Self {
        let pointer = pointer.into();
        self.pointer = (!pointer.is_empty()).then_some(pointer);
        self
    }
}

/// One finding.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct GadFinding {
    /// Where.
    pub place: Where,
    /// What.
    pub code: Code,
    /// What it makes false, ascending, not empty.
    pub affects: Vec<Affect>,
    /// The value that would have been right.
    pub expected: Option<Box<str>>,
    /// The value found.
    pub actual: Option<Box<str>>,
}

impl GadFinding {
    /// A finding that makes false what its code says it does.
    #[must_use]
    pub fn new(code: Code, place: Where) -> Self {
        Self { place, code, affects: code.affects().to_vec(), expected: None, actual: None }
    }

    /// The same, making this false instead.
    #[must_use]
    pub fn affecting(mut self, affects: &[Affect]) -> Self {
        self.affects = affects.to_vec();
        self.affects.sort_unstable();
        self.affects.dedup();
        self
    }

    /// The same, with the value that would have been right.
    #[must_use]
    pub fn expected(mut self, expected: impl fmt::Display) -> Self {
        self.expected = Some(shorten(expected));
        self
    }

    /// The same, with the value found.
    #[must_use]
    pub fn actual(mut self, actual: impl fmt::Display) -> Self {
        self.actual = Some(shorten(actual));
        self
    }

    /// The class of the report: a finding that makes nothing false is a note, whatever its code.
    #[must_use]
    pub fn class(&self) -> Class {
        if self.affects == [Affect::Note] { Class::Note } else { self.code.class() }
    }
}

/// The longest `expected` and `actual` of a report, in bytes.
const MAX_VALUE: usize = 512;

fn shorten(value: impl fmt::Display) -> Box<str> {
    let mut text = value.to_string();
    if text.len() > MAX_VALUE {
        let cut = (0..=MAX_VALUE).rev().find(|cut| text.is_char_boundary(*cut)).unwrap_or(0);
        text.truncate(cut);
        text.push('…');
    }
    text.into()
}

/// Everything found so far. What is made false is kept whole; of each code [`MAX_PER_CODE`] findings are
/// listed.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    list: Vec<GadFinding>,
    count: BTreeMap<Code, usize>,
    /// One bit per [`Affect`].
    affected: u32,
}

impl Findings {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, finding: GadFinding) {
        #[cfg(all(feature = "adequacy", debug_assertions))]
        if super::mute::is_muted(finding.code) {
            return;
        }
        for affect in &finding.affects {
            self.affected |= bit(*affect);
        }
        let count = self.count.entry(finding.code).or_default();
        *count = count.saturating_add(1);
        if *count <= MAX_PER_CODE {
            self.list.push(finding);
        }
    }

    /// Adds one of this code, which is made only where it is listed; it has to make false what its code
    /// does. For rules that can find as much as a record has bytes.
    pub fn push_made(&mut self, code: Code, make: impl FnOnce() -> GadFinding) {
        match self.count.get_mut(&code) {
            Some(count) if *count >= MAX_PER_CODE => {
                *count = count.saturating_add(1);
                for affect in code.affects() {
                    self.affected |= bit(*affect);
                }
            }
            _ => self.push(make()),
        }
    }

    /// Adds all of `others`, in their order.
    pub fn append(&mut self, others: Self) {
        let omitted: Vec<_> = others.omitted().collect();
        let affected = others.affected;
        for finding in others.list {
            self.push(finding);
        }
        for (code, count) in omitted {
            let sum = self.count.entry(code).or_default();
            *sum = sum.saturating_add(count);
        }
        self.affected |= affected;
    }

    /// The same findings as notes: what they are about isn't needed, and they make nothing false.
    #[must_use]
    pub fn into_notes(mut self) -> Self {
        for finding in &mut self.list {
            finding.affects = vec![Affect::Note];
        }
        self.affected = if self.is_empty() { 0 } else { bit(Affect::Note) };
        self
    }

    /// Whether any finding makes this false.
    #[must_use]
    pub const fn affects(&self, affect: Affect) -> bool {
        self.affected & bit(affect) != 0
    }

    /// Whether there is one of this code.
    #[must_use]
    pub fn has(&self, code: Code) -> bool {
        self.count.contains_key(&code)
    }

    /// Whether one of them is a fault of the container (`IN.*`), which ends the evaluation.
    #[must_use]
    pub fn end_evaluation(&self) -> bool {
        self.count.keys().any(|code| code.as_str().starts_with("IN."))
    }

    /// Whether there is none at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count.is_empty()
    }

    /// Those that are listed, in the order they were found.
    #[must_use]
    pub fn list(&self) -> &[GadFinding] {
        &self.list
    }

    /// How many of which codes are not listed.
    pub fn omitted(&self) -> impl Iterator<Item = (Code, usize)> + '_ {
        self.count.iter().filter_map(|(code, count)| {
            let omitted = count.saturating_sub(MAX_PER_CODE);
            (omitted > 0).then_some((*code, omitted))
        })
    }

    /// Those that are listed, in the order of a report: by place and code.
    #[must_use]
    pub fn sorted(&self) -> Vec<&GadFinding> {
        let mut sorted: Vec<_> = self.list.iter().collect();
        sorted.sort();
        sorted
    }
}

const fn bit(affect: Affect) -> u32 {
    1 << affect.position()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::gad::r7::FINDINGS_REF;

    #[test]
    fn what_is_not_listed_is_counted_without_being_made() {
        let (mut pushed, mut made, mut calls) = (Findings::new(), Findings::new(), 0);
        for seq in 0..3_000 {
            let finding = || GadFinding::new(FINDINGS_REF, Where::entry(seq));
            pushed.push(finding());
            made.push_made(FINDINGS_REF, || {
                calls += 1;
                finding()
            });
        }
        assert_eq!(calls, MAX_PER_CODE);
        assert_eq!(made.list(), pushed.list());
        assert!(made.omitted().eq([(FINDINGS_REF, 2_000)]) && pushed.omitted().eq(made.omitted()));
        assert_eq!(made.affected, pushed.affected);
        assert!(made.affects(Affect::R7) && !made.affects(Affect::R6));
    }
}
