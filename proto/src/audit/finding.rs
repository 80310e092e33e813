//! What the entries of a list show by themselves.

use crate::json::{Fields, JsonCode, JsonError, Object, Value};

use super::MAX_INDEXES;
use super::entry::integer;

/// What was found.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum AuditCode {
    /// Two commitments to different plans in one trail.
    CommitmentConflict,
    /// A head with a later one in its trail.
    HeadSuperseded,
    /// A commitment to a plan, and no root in its trail.
    NoCoreRoot,
    /// Two roots in one trail.
    SecondCoreRoot,
    /// Two digests at one position of a trail.
    SequenceConflict,
}

impl AuditCode {
    /// All of them, ascending by their text.
    pub const ALL: [Self; 5] = [
        Self::CommitmentConflict,
        Self::HeadSuperseded,
        Self::NoCoreRoot,
        Self::SecondCoreRoot,
        Self::SequenceConflict,
    ];

    /// The stable code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CommitmentConflict => "AUD.COMMITMENT_CONFLICT",
            Self::HeadSuperseded => "AUD.HEAD_SUPERSEDED",
            Self::NoCoreRoot => "AUD.NO_CORE_ROOT",
            Self::SecondCoreRoot => "AUD.SECOND_CORE_ROOT",
            Self::SequenceConflict => "AUD.SEQUENCE_CONFLICT",
        }
    }

    /// Whether honest parties make none: a run that goes on supersedes heads, and one that hasn't ended has
    /// no root.
    #[must_use]
    pub const fn is_conflict(self) -> bool {
        !matches!(self, Self::HeadSuperseded | Self::NoCoreRoot)
    }
}

/// One finding.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct AuditFinding {
    /// What.
    pub code: AuditCode,
    /// The entries it is about, ascending: one at least, of more than [`MAX_INDEXES`] the first ones.
    pub indexes: Vec<u64>,
}

impl AuditFinding {
    pub(super) fn read(mut fields: Fields<'_>) -> Result<Self, JsonError> {
        let known = |text: &str| AuditCode::ALL.into_iter().find(|code| code.as_str() == text);
        let code = fields.one_of("code", known)?;
        let elements = fields.array("indexes")?;
        if elements.is_empty() || elements.len() > MAX_INDEXES {
            return Err(fields.error(JsonCode::Enum, "indexes"));
        }
        let mut indexes: Vec<u64> = Vec::with_capacity(elements.len());
        for (position, element) in elements.iter().enumerate() {
            let refuse = |code| JsonError::at(code, fields.pointer_to_element("indexes", position));
            let index = element.as_integer().ok_or_else(|| refuse(JsonCode::Type))?;
            let index = u64::try_from(index).map_err(|_| refuse(JsonCode::Enum))?;
            if indexes.last().is_some_and(|last| *last >= index) {
                return Err(refuse(JsonCode::Enum));
            }
            indexes.push(index);
        }
        fields.finish()?;
        Ok(Self { code, indexes })
    }

    pub(super) fn to_value(&self) -> Result<Value<'static>, JsonError> {
        let indexes: Result<Vec<_>, _> = self.indexes.iter().map(|index| integer(*index)).collect();
        Ok(Object::from([("code", Value::from(self.code.as_str())), ("indexes", indexes?.into())])
            .into())
    }
}
