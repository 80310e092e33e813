//! The inputs of an evaluation, and their admission in the order that Core fixes (section 8.2).

use std::collections::BTreeMap;

use anchorlog_proto::jp::core_pack::{CoreId, Pack};
use anchorlog_proto::jp::json::{Value, read};

use super::error::{EvaluationError, shown};
use super::meter::Limits;
use super::resolution::{Evaluation, evaluate_admitted};
use super::truth::Truth;

/// What the input says of one evidence requirement.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "Core section 8.2 has these three")]
pub enum Presence {
    /// The evidence is there.
    Present,
    /// It is not there.
    Absent,
    /// The input can't say; also when it says nothing.
    #[default]
    Unknown,
}

impl From<Presence> for Truth {
    fn from(presence: Presence) -> Self {
        match presence {
            Presence::Present => Self::True,
            Presence::Absent => Self::False,
            Presence::Unknown => Self::Unknown,
        }
    }
}

/// The evidence availability of one evaluation.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Availability {
    known: BTreeMap<CoreId, Presence>,
}

impl Availability {
    /// Reads the evidence-availability document of this pack. [`Availability::default`] is that of no
    /// document: everything is unknown.
    ///
    /// # Errors
    ///
    /// No object, a name that the pack does not declare, or a value outside the three words.
    pub fn read(value: &Value<'_>, pack: &Pack) -> Result<Self, EvaluationError> {
        let object = value.as_object().ok_or(EvaluationError::EvidenceType)?;
        let mut known = BTreeMap::new();
        for (name, value) in object.iter() {
            let declared = pack.evidence_requirements().iter().find(|one| one.id.as_str() == name);
            let declared = declared
                .ok_or_else(|| EvaluationError::EvidenceUndeclared { name: shown(name) })?;
            let presence = match value.as_str() {
                Some("present") => Presence::Present,
                Some("absent") => Presence::Absent,
                Some("unknown") => Presence::Unknown,
                _ => return Err(EvaluationError::EvidenceState { name: shown(name) }),
            };
            known.insert(declared.id.clone(), presence);
        }
        Ok(Self { known })
    }

    /// What it says of a requirement.
    #[must_use]
    pub fn of(&self, id: &CoreId) -> Presence {
        self.known.get(id).copied().unwrap_or_default()
    }
}

/// Evaluates a pack on facts and, where there is one, an evidence-availability document. `supported` are the
/// extensions that the caller interprets.
///
/// # Errors
///
/// The first class that applies, of pack, facts, evidence, extensions, evaluation, in this order. The documents
/// are all admitted before anything is evaluated: no result outruns an input error.
pub fn evaluate(
    pack: &[u8],
    facts: &[u8],
    evidence: Option<&[u8]>,
    supported: &[&str],
    limits: &Limits,
) -> Result<Evaluation, EvaluationError> {
    let pack = Pack::read(pack, &limits.admission).map_err(|error| {
        if error.is_limit() {
            EvaluationError::PackLimit(error)
        } else {
            EvaluationError::Pack(error)
        }
    })?;
    let bounds = limits.admission.bounds();
    let facts = read(facts, &bounds).map_err(EvaluationError::Facts)?;
    let evidence = match evidence {
        Some(bytes) => {
            let value = read(bytes, &bounds).map_err(EvaluationError::Evidence)?;
            Availability::read(&value, &pack)?
        }
        None => Availability::default(),
    };
    evaluate_admitted(&pack, &facts, &evidence, supported, limits)
}
