//! The limits of evaluation, and conditions evaluated under them.

use anchorlog_proto::jp::core_pack::{Condition, Decimal, PackLimits, Test, number};
use anchorlog_proto::jp::json::Value;

use super::error::EvaluationError;
use super::inputs::Availability;
use super::truth::Truth;

/// The limits that one evaluation runs under.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a table of figures that callers may set")]
pub struct Limits {
    /// Of admitting each document.
    pub admission: PackLimits,
    /// Most elements of a collection: of the pack's collections, of a condition's children, of an operand of
    /// `in`, and of arrays and objects that are compared.
    pub collection: usize,
    /// Most units of work. A unit is a condition, a token of a pointer, a pair of values compared, or 64 bytes
    /// of two strings or numbers compared.
    pub work: u64,
}

impl Limits {
    /// The documented limits.
    pub const DEFAULT: Self =
        Self { admission: PackLimits::DEFAULT, collection: 4096, work: 10_000_000 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Evaluates conditions and counts the work.
///
/// Every child of a condition is evaluated, also after the result is settled: so the work, and with it
/// whether it is too much, does not depend on the order of children.
pub(super) struct Meter<'i> {
    facts: &'i Value<'i>,
    evidence: &'i Availability,
    limits: &'i Limits,
    left: u64,
}

type Metered<T> = Result<T, EvaluationError>;

impl<'i> Meter<'i> {
    pub(super) const fn new(
        facts: &'i Value<'i>,
        evidence: &'i Availability,
        limits: &'i Limits,
    ) -> Self {
        Self { facts, evidence, limits, left: limits.work }
    }

    /// Refuses a collection over the limit.
    pub(super) fn collection(&self, count: usize) -> Metered<()> {
        let limit = self.limits.collection;
        if count > limit { Err(EvaluationError::Collection { limit }) } else { Ok(()) }
    }

    /// What a condition is. Recursion is as deep as the pack's nesting, which admission bounds.
    pub(super) fn truth(&mut self, condition: &Condition) -> Metered<Truth> {
        self.spend(1)?;
        Ok(match condition {
            Condition::Literal(value) => Truth::from(*value),
            Condition::All(children) => self.fold(children, Truth::True, Truth::and)?,
            Condition::Any(children) => self.fold(children, Truth::False, Truth::or)?,
            Condition::Not(child) => self.truth(child)?.negated(),
            Condition::EvidencePresent(id) => self.evidence.of(id).into(),
            Condition::Fact { path, test } => {
                self.spend(path.tokens().len())?;
                match path.resolve(self.facts) {
                    Some(fact) => self.test(fact, test)?,
                    None => Truth::Unknown,
                }
            }
        })
    }

    fn fold(
        &mut self,
        children: &[Condition],
        start: Truth,
        join: fn(Truth, Truth) -> Truth,
    ) -> Metered<Truth> {
        self.collection(children.len())?;
        children.iter().try_fold(start, |all, child| Ok(join(all, self.truth(child)?)))
    }

    fn test(&mut self, fact: &Value<'_>, test: &Test) -> Metered<Truth> {
        match test {
            Test::Equals(operand) => self.equal(fact, operand),
            Test::NotEquals(operand) => Ok(self.equal(fact, operand)?.negated()),
            Test::In(operands) => {
                self.collection(operands.len())?;
                operands
                    .iter()
                    .try_fold(Truth::False, |any, operand| Ok(any.or(self.equal(fact, operand)?)))
            }
            Test::Ordered(order, operand) => {
                let Some(fact) = fact.as_str() else { return Ok(Truth::Unknown) };
                self.spend_text(fact, operand)?;
                // The operand was read as a decimal with the pack.
                let both = Decimal::parse(fact).zip(Decimal::parse(operand));
                Ok(both.map(|(fact, operand)| order.holds(fact.compare(&operand))).into())
            }
        }
    }

    /// Type-preserving JSON equality (section 7.4); unknown only where two numbers can't be compared and
    /// nothing else tells the values apart.
    fn equal(&mut self, a: &Value<'_>, b: &Value<'_>) -> Metered<Truth> {
        self.spend(1)?;
        Ok(match (a, b) {
            (Value::Null, Value::Null) => Truth::True,
            (Value::Bool(a), Value::Bool(b)) => Truth::from(a == b),
            (Value::String(a), Value::String(b)) => {
                self.spend_text(a, b)?;
                Truth::from(a == b)
            }
            (Value::Number(a), Value::Number(b)) => {
                self.spend_text(a, b)?;
                number::equal(a, b).into()
            }
            (Value::Array(a), Value::Array(b)) => {
                self.collection(a.len().max(b.len()))?;
                if a.len() != b.len() {
                    return Ok(Truth::False);
                }
                a.iter()
                    .zip(b)
                    .try_fold(Truth::True, |all, (a, b)| Ok(all.and(self.equal(a, b)?)))?
            }
            (Value::Object(a), Value::Object(b)) => {
                self.collection(a.len().max(b.len()))?;
                if a.len() != b.len() || !a.iter().all(|(name, _)| b.get(name).is_some()) {
                    return Ok(Truth::False);
                }
                a.iter().try_fold(Truth::True, |all, (name, value)| match b.get(name) {
                    Some(other) => Ok(all.and(self.equal(value, other)?)),
                    None => Ok(Truth::False),
                })?
            }
            _ => Truth::False,
        })
    }

    fn spend_text(&mut self, a: &str, b: &str) -> Metered<()> {
        self.spend(a.len().saturating_add(b.len()) / 64)
    }

    fn spend(&mut self, units: usize) -> Metered<()> {
        let units = u64::try_from(units).unwrap_or(u64::MAX);
        let exhausted = EvaluationError::Work { limit: self.limits.work };
        self.left = self.left.checked_sub(units).ok_or(exhausted)?;
        Ok(())
    }
}
