//! What can be wrong with a document, by the rule that is broken.
//!
//! RFC 0020 section 9 refuses in phases: every artifact passes one phase before any is asked about the next.
//! So a reader does not stop at the first thing it meets. It notes into [`Faults`], which keep the first fault
//! of each phase; who reads many artifacts merges them and asks at the end.

use core::fmt;

/// A code of a refusal (RFC 0020 section 9), in the RFC's spelling.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum RefusalCode {
    /// A bound is exceeded: bytes, nesting, counts, lengths.
    InputOverBound,
    /// Not strict JSON, outside the number domain, or not the closed form.
    InputMalformed,
    /// A version or format selector this reader does not read.
    VersionUnread,
    /// An artifact that a pin names is not there.
    InventoryMismatch,
    /// A dialect kind this reader does not read.
    KindUnread,
}

impl RefusalCode {
    /// Every code, in the order of the phases that give them.
    pub const ALL: [Self; 5] = [
        Self::InputOverBound,
        Self::InputMalformed,
        Self::VersionUnread,
        Self::InventoryMismatch,
        Self::KindUnread,
    ];

    /// The RFC's spelling.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InputOverBound => "input-over-bound",
            Self::InputMalformed => "input-malformed",
            Self::VersionUnread => "version-unread",
            Self::InventoryMismatch => "inventory-mismatch",
            Self::KindUnread => "kind-unread",
        }
    }
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A phase of the reference phase, in order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Phase {
    /// Byte, aggregate and nesting bounds.
    Bounds,
    /// Strict JSON and the number domain.
    Json,
    /// Count and string bounds.
    Counts,
    /// Versions.
    Versions,
    /// Closed forms and reference ordering.
    Forms,
    /// Artifacts that pins name.
    Inventory,
    /// Dialect kinds.
    Kinds,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 7] = [
        Self::Bounds,
        Self::Json,
        Self::Counts,
        Self::Versions,
        Self::Forms,
        Self::Inventory,
        Self::Kinds,
    ];

    /// The code of a refusal of this phase.
    #[must_use]
    pub const fn code(self) -> RefusalCode {
        match self {
            Self::Bounds | Self::Counts => RefusalCode::InputOverBound,
            Self::Json | Self::Forms => RefusalCode::InputMalformed,
            Self::Versions => RefusalCode::VersionUnread,
            Self::Inventory => RefusalCode::InventoryMismatch,
            Self::Kinds => RefusalCode::KindUnread,
        }
    }
}

/// Which rule is broken.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Rule {
    /// More bytes than the kind of artifact may have, or more files than a bundle.
    Bytes,
    /// More container levels.
    Nesting,
    /// Not exactly one strict JSON value.
    Json,
    /// A number that is no integer of the domain, where only those are allowed.
    Domain,
    /// Too many members or elements, or a string, name or number literal that is too long.
    Count,
    /// A version that isn't read.
    Version,
    /// Not the closed form: a member missing, unknown or of another type, or a value outside its set.
    Form,
    /// The bytes are not those that the layout asks for.
    Bytewise,
    /// Stages, references or entries out of their order, or not pairing.
    Order,
    /// A JSON pointer that isn't one, or destinations that overlap.
    Pointer,
    /// A named dialect document that isn't the one referred to.
    Identity,
    /// A binding document of another published dialect.
    Binding,
    /// A recorded disposition without the form of Core section 8.3.
    Disposition,
    /// A retained error envelope without the form of RFC 0020 section 7.
    Envelope,
    /// An artifact that a pin names is absent.
    Absent,
    /// A dialect kind that isn't read.
    Kind,
}

impl Rule {
    /// The phase in which the rule is asked about.
    #[must_use]
    pub const fn phase(self) -> Phase {
        match self {
            Self::Bytes | Self::Nesting => Phase::Bounds,
            Self::Json | Self::Domain => Phase::Json,
            Self::Count => Phase::Counts,
            Self::Version => Phase::Versions,
            Self::Form
            | Self::Bytewise
            | Self::Order
            | Self::Pointer
            | Self::Identity
            | Self::Binding
            | Self::Disposition
            | Self::Envelope => Phase::Forms,
            Self::Absent => Phase::Inventory,
            Self::Kind => Phase::Kinds,
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}: {detail}", self.rule.phase().code())]
#[non_exhaustive]
pub struct Fault {
    /// The rule.
    pub rule: Rule,
    /// What and where, for people; bounded.
    pub detail: String,
}

impl Fault {
    /// A broken rule. Details longer than 512 bytes are cut.
    #[must_use]
    pub fn new(rule: Rule, detail: impl fmt::Display) -> Self {
        let mut detail = detail.to_string();
        if detail.len() > MAX_DETAIL_BYTES {
            detail.truncate(detail.floor_char_boundary(MAX_DETAIL_BYTES));
            detail.push('…');
        }
        Self { rule, detail }
    }

    /// The code of the refusal.
    #[must_use]
    pub const fn code(&self) -> RefusalCode {
        self.rule.phase().code()
    }

    /// The same in an artifact of this name.
    #[must_use]
    pub fn within(self, name: &str) -> Self {
        Self::new(self.rule, format_args!("{name}: {}", self.detail))
    }
}

/// The first fault of each phase.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Faults {
    first: [Option<Fault>; 7],
}

impl Faults {
    /// Nothing is wrong so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a fault; a later one of the same phase is forgotten.
    pub fn note(&mut self, rule: Rule, detail: impl fmt::Display) {
        self.push(Fault::new(rule, detail));
    }

    /// Notes a fault that is made already.
    pub fn push(&mut self, fault: Fault) {
        let phase = fault.rule.phase();
        let slots = self.first.iter_mut().zip(Phase::ALL);
        if let Some((slot, _)) = slots.into_iter().find(|(_, own)| *own == phase) {
            slot.get_or_insert(fault);
        }
    }

    /// Notes everything from another reading, in an artifact of this name.
    pub fn merge(&mut self, other: Self, name: &str) {
        for fault in other.first.into_iter().flatten() {
            self.push(fault.within(name));
        }
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.iter().all(Option::is_none)
    }

    /// The fault of the earliest phase: the one a refusal names.
    #[must_use]
    pub fn first(&self) -> Option<&Fault> {
        self.first.iter().flatten().next()
    }

    /// The fault of the earliest phase, or the value.
    pub fn settle<T>(self, value: Option<T>) -> Result<T, Fault> {
        match (self.first.into_iter().flatten().next(), value) {
            (Some(fault), _) => Err(fault),
            (None, Some(value)) => Ok(value),
            (None, None) => Err(Fault::new(Rule::Form, "nothing was read")),
        }
    }
}

/// The longest detail of a fault, in bytes.
const MAX_DETAIL_BYTES: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_phase_wins_and_in_it_the_first_fault() {
        let mut faults = Faults::new();
        faults.note(Rule::Form, "one");
        faults.note(Rule::Order, "two");
        assert_eq!(faults.first().map(|fault| &*fault.detail), Some("one"));
        faults.note(Rule::Count, "three");
        assert_eq!(faults.first().map(Fault::code), Some(RefusalCode::InputOverBound));
        let mut all = Faults::new();
        all.note(Rule::Nesting, "deep");
        all.merge(faults, "a.json");
        assert_eq!(all.first().map(|fault| &*fault.detail), Some("deep"));
    }

    #[test]
    fn details_are_bounded() {
        let fault = Fault::new(Rule::Json, "é".repeat(4000));
        assert!(fault.detail.len() < 600);
    }
}
