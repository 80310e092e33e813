//! What is wrong with a document, all of it.

use super::At;
use crate::gad::code::FormCode;

/// The most defects kept of one document; the rest are counted.
pub const MAX_DEFECTS: usize = 1000;

/// One thing wrong with the form of an object.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Defect {
    /// What, as a stable code.
    pub code: FormCode,
    /// RFC 6901 pointer into the document.
    pub pointer: String,
}

/// The defects of one document, in the order of reading.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Defects {
    list: Vec<Defect>,
    omitted: u64,
}

impl Defects {
    /// None.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: Vec::new(), omitted: 0 }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The first [`MAX_DEFECTS`].
    #[must_use]
    pub fn list(&self) -> &[Defect] {
        &self.list
    }

    /// How many there were beyond the list.
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Whether one of them is a refusal of the strict form itself (`J.*`, `IN.*`), after which the object
    /// isn't what its type says.
    #[must_use]
    pub fn refuses_form(&self) -> bool {
        self.omitted > 0 || self.list.iter().any(|defect| matches!(defect.code, FormCode::Json(_)))
    }

    /// Notes one more.
    pub fn push(&mut self, code: impl Into<FormCode>, at: &At<'_>) {
        if self.list.len() < MAX_DEFECTS {
            self.list.push(Defect { code: code.into(), pointer: at.to_string() });
        } else {
            self.omitted = self.omitted.saturating_add(1);
        }
    }

    pub(super) fn add(&mut self, defect: Defect) {
        if self.list.len() < MAX_DEFECTS {
            self.list.push(defect);
        } else {
            self.omitted = self.omitted.saturating_add(1);
        }
    }
}
