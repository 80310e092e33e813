//! A conforming pack.

use std::collections::BTreeSet;
use std::fmt;

use super::condition::Condition;
use super::disposition::Reason;
use super::id::CoreId;
use crate::jp::fault::Fault;

/// The one `specVersion` that is read.
pub const SPEC_VERSION: &str = "0.2.0-draft";

/// The limits of admission (Core sections 2.1 and 10). A document over one of them is refused whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a table of figures that callers may set")]
pub struct PackLimits {
    /// Most bytes of one document.
    pub bytes: usize,
    /// Most container levels.
    pub levels: usize,
    /// Most UTF-8 bytes of one decoded string or member name.
    pub string: usize,
    /// Most characters of one number literal.
    pub number: usize,
}

impl PackLimits {
    /// 8 MiB, 64 levels, strings of 65,536 bytes, numbers of 4,096 characters.
    pub const DEFAULT: Self = Self { bytes: 8_388_608, levels: 64, string: 65_536, number: 4_096 };
}

impl Default for PackLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What happens when a condition is unknown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the schema of this version of Core has these")]
pub enum OnUnknown {
    /// Nothing.
    Ignore,
    /// The evaluation is unresolved.
    Escalate,
}

/// A declared evidence requirement.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct EvidenceRequirement {
    /// Its id.
    pub id: CoreId,
    /// Whether its absence prevents a resolution.
    pub required: bool,
}

/// A rule.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rule {
    /// Its id.
    pub id: CoreId,
    /// Its condition.
    pub when: Condition,
    /// The outcome it names.
    pub outcome: CoreId,
    /// What happens when the condition is unknown.
    pub on_unknown: OnUnknown,
}

/// What an exception does when it is true.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the schema of this version of Core has these")]
pub enum Effect {
    /// The rule with this id is not evaluated.
    SuppressRule(CoreId),
    /// This is the outcome.
    ForceOutcome(CoreId),
    /// A handoff is requested.
    Escalate,
}

/// An exception.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Exception {
    /// Its id.
    pub id: CoreId,
    /// Its condition.
    pub when: Condition,
    /// What it does when it is true.
    pub effect: Effect,
    /// What happens when the condition is unknown.
    pub on_unknown: OnUnknown,
}

/// A semantically conforming pack (Core section 3.3). There is no other way to get one than
/// [`Pack::read`].
#[derive(Clone, Debug, PartialEq)]
pub struct Pack {
    pub(super) id: Box<str>,
    pub(super) version: Box<str>,
    pub(super) applicability: Option<Condition>,
    pub(super) evidence: Vec<EvidenceRequirement>,
    pub(super) sources: Vec<CoreId>,
    pub(super) outcomes: Vec<CoreId>,
    pub(super) rules: Vec<Rule>,
    pub(super) exceptions: Vec<Exception>,
    pub(super) fallback: Option<CoreId>,
    pub(super) triggers: Option<BTreeSet<Reason>>,
    pub(super) required_extensions: Vec<Box<str>>,
}

impl Pack {
    /// The absolute URI of the pack series.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The revision: `MAJOR.MINOR.PATCH`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The condition that delimits its scope; without one it applies.
    #[must_use]
    pub const fn applicability(&self) -> Option<&Condition> {
        self.applicability.as_ref()
    }

    /// The declared evidence requirements.
    #[must_use]
    pub fn evidence_requirements(&self) -> &[EvidenceRequirement] {
        &self.evidence
    }

    /// The ids of the declared sources.
    #[must_use]
    pub fn sources(&self) -> &[CoreId] {
        &self.sources
    }

    /// The declared outcomes, at least two.
    #[must_use]
    pub fn outcomes(&self) -> &[CoreId] {
        &self.outcomes
    }

    /// The rules, at least one. Their order carries no priority.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The exceptions. Their order carries no priority.
    #[must_use]
    pub fn exceptions(&self) -> &[Exception] {
        &self.exceptions
    }

    /// The outcome when no rule is true.
    #[must_use]
    pub const fn fallback_outcome(&self) -> Option<&CoreId> {
        self.fallback.as_ref()
    }

    /// The reasons that request a handoff to the configured target; `None` without a configuration.
    #[must_use]
    pub const fn triggers(&self) -> Option<&BTreeSet<Reason>> {
        self.triggers.as_ref()
    }

    /// The extensions without which the pack can't be interpreted.
    pub fn required_extensions(&self) -> impl ExactSizeIterator<Item = &str> {
        self.required_extensions.iter().map(AsRef::as_ref)
    }

    /// The rule with this id.
    #[must_use]
    pub fn rule(&self, id: &CoreId) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == *id)
    }

    /// The exception with this id.
    #[must_use]
    pub fn exception(&self, id: &CoreId) -> Option<&Exception> {
        self.exceptions.iter().find(|exception| exception.id == *id)
    }
}

/// A rule of Core that a document breaks.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum PackRule {
    /// A limit of admission.
    Limit,
    /// Not strict JSON (section 2.1).
    Carrier,
    /// A value of the wrong JSON type, or outside its enumeration.
    Type,
    /// A required member is absent.
    Missing,
    /// A member that the object does not have.
    Unknown,
    /// An empty text.
    Empty,
    /// A collection with too few elements.
    Arity,
    /// An element twice in a collection of distinct ones.
    Repeated,
    /// Another `specVersion`.
    SpecVersion,
    /// Not an absolute URI.
    Uri,
    /// Not `MAJOR.MINOR.PATCH`.
    PackVersion,
    /// Not a local identifier.
    LocalId,
    /// Not an RFC 3339 date.
    Date,
    /// Not an RFC 3339 date and time.
    DateTime,
    /// Not a reverse-domain extension name, or a reserved one.
    ExtensionName,
    /// No shape of a condition.
    Condition,
    /// Not an RFC 6901 pointer.
    FactPath,
    /// The operand of an ordered comparison is not a decimal string.
    DecimalOperand,
    /// The operand of `in` is not a non-empty array.
    InOperand,
    /// Operands that the exception's effect does not have, or lacks.
    ExceptionShape,
    /// Not a reason that may trigger a handoff.
    Trigger,
    /// An id twice in its collection (section 3.3).
    DuplicateId,
    /// No such outcome is declared.
    UnresolvedOutcome,
    /// No such rule is declared.
    UnresolvedRule,
    /// No such evidence requirement is declared.
    UnresolvedEvidence,
    /// No such source is declared.
    UnresolvedSource,
    /// A required extension without a value (section 9).
    MissingExtension,
}

impl PackRule {
    /// One clause for people.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Limit => "over a limit of admission",
            Self::Carrier => "not strict JSON",
            Self::Type => "wrong JSON type, or not one of the allowed values",
            Self::Missing => "a required member is absent",
            Self::Unknown => "a member that this object does not have",
            Self::Empty => "the text is empty",
            Self::Arity => "too few elements",
            Self::Repeated => "an element occurs twice",
            Self::SpecVersion => "not the specVersion 0.2.0-draft",
            Self::Uri => "not an absolute URI",
            Self::PackVersion => "not MAJOR.MINOR.PATCH",
            Self::LocalId => "not a local identifier",
            Self::Date => "not an RFC 3339 date",
            Self::DateTime => "not an RFC 3339 date and time",
            Self::ExtensionName => "not the name of an extension",
            Self::Condition => "no shape of a condition",
            Self::FactPath => "not a JSON pointer",
            Self::DecimalOperand => "the operand is not a decimal string",
            Self::InOperand => "the operand is not a non-empty array",
            Self::ExceptionShape => "operands that do not go with the effect",
            Self::Trigger => "not a reason that may trigger a handoff",
            Self::DuplicateId => "the id occurs twice",
            Self::UnresolvedOutcome => "no such outcome is declared",
            Self::UnresolvedRule => "no such rule is declared",
            Self::UnresolvedEvidence => "no such evidence requirement is declared",
            Self::UnresolvedSource => "no such source is declared",
            Self::MissingExtension => "a required extension has no value",
        }
    }
}

/// Why a document is no conforming pack: the first rule it breaks, structure before references.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PackError {
    /// The rule.
    pub rule: PackRule,
    /// RFC 6901 pointer to the value, at most 1,024 bytes; empty for the document.
    pub pointer: String,
    /// What the JSON reader said.
    pub carrier: Option<Fault>,
}

impl PackError {
    /// Whether the document was refused for a limit of admission, so that nothing is known of the rest.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        self.rule == PackRule::Limit
    }
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule.describe())?;
        if !self.pointer.is_empty() {
            write!(f, " (at {})", self.pointer)?;
        }
        match &self.carrier {
            Some(fault) => write!(f, ": {}", fault.detail),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PackError {}
