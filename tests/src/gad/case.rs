//! Vectors in the making: a base record, one change, and what an evaluator has to say about it.

use serde_json::{Value as Json, json};

use super::record::{Files, Record};
use super::render::{Bundle, Rendered};

/// How much an attacker could make consistent again around the change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Level {
    /// An outsider who changes bytes.
    N,
    /// An outsider who recomputes hashes, lists and roots, and has no key.
    C,
    /// An operator with the engine key.
    E,
    /// An operator with every registered key.
    A,
    /// As A, with keys of TSA, log, witness or evaluator.
    W,
    /// Nobody: a control, or a base.
    Nobody,
}

impl Level {
    /// The letter.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::N => "N",
            Self::C => "C",
            Self::E => "E",
            Self::A => "A",
            Self::W => "W",
            Self::Nobody => "-",
        }
    }
}

/// The statuses a record comes to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Status {
    /// VALID_RECORD.
    pub valid: bool,
    /// OUTCOME.
    pub outcome: &'static str,
    /// DEFENSIBLE; `None` where it isn't asked.
    pub defensible: Option<bool>,
    /// The level, where it is stated.
    pub level: Option<u8>,
    /// The exit code.
    pub exit: u8,
}

impl Status {
    /// Valid and completed.
    pub const COMPLETED: Self =
        Self { valid: true, outcome: "COMPLETED", defensible: None, level: Some(3), exit: 0 };

    /// Valid with another outcome.
    #[must_use]
    pub const fn ended(outcome: &'static str) -> Self {
        Self { outcome, ..Self::COMPLETED }
    }

    /// Whether eq (6) holds.
    #[must_use]
    pub fn satisfied(&self) -> bool {
        self.valid && self.outcome == "COMPLETED"
    }

    fn invalid(self, exit: u8) -> Self {
        let defensible = self.defensible.map(|_| false);
        Self { valid: false, outcome: "INVALID", defensible, level: None, exit }
    }
}

/// A vector in the making.
#[derive(Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The attacker.
    pub level: Level,
    /// The clause.
    pub clause: &'static str,
    /// Why it comes out so.
    pub why: &'static str,
    /// The record.
    pub record: Record,
    /// What it comes to.
    pub status: Status,
    /// Codes that have to be found.
    pub must: Vec<&'static str>,
    /// Codes that must not.
    pub must_not: Vec<&'static str>,
}

/// A case of this base with nothing changed yet.
#[must_use]
pub fn case(
    name: &str,
    base: fn() -> Record,
    level: Level,
    clause: &'static str,
    why: &'static str,
) -> Case {
    let record = base();
    let status = record.status;
    let (must, must_not) = (Vec::new(), Vec::new());
    Case { name: name.to_owned(), level, clause, why, record, status, must, must_not }
}

impl Case {
    /// Makes the change.
    #[must_use]
    pub fn change(mut self, change: impl FnOnce(&mut Record)) -> Self {
        change(&mut self.record);
        self
    }

    /// The record isn't valid, and these are found.
    #[must_use]
    pub fn invalid(mut self, codes: &[&'static str]) -> Self {
        self.status = self.status.invalid(1);
        self.must.extend(codes);
        self
    }

    /// The bundle can't be evaluated, and these are found.
    #[must_use]
    pub fn refused(mut self, codes: &[&'static str]) -> Self {
        self.status = self.status.invalid(2);
        self.must.extend(codes);
        self
    }

    /// The record stands, DEFENSIBLE doesn't, and these are found.
    #[must_use]
    pub fn indefensible(mut self, codes: &[&'static str]) -> Self {
        self.status.defensible = Some(false);
        self.status.level = None;
        self.status.exit = u8::from(self.record.inputs.require != "valid");
        self.must.extend(codes);
        self
    }

    /// Nothing fails, though these are found.
    #[must_use]
    pub fn holds(mut self, codes: &[&'static str]) -> Self {
        self.must.extend(codes);
        self
    }

    /// These aren't found.
    #[must_use]
    pub fn without(mut self, codes: &[&'static str]) -> Self {
        self.must_not.extend(codes);
        self
    }

    /// It comes to another status.
    #[must_use]
    pub fn status(mut self, change: impl FnOnce(&mut Status)) -> Self {
        change(&mut self.status);
        self
    }

    /// The vector.
    #[must_use]
    pub fn render(&self) -> Vector {
        let Rendered { bundle, policy, inputs, trust, .. } = self.record.render();
        let mut expected = json!({
            "valid": self.status.valid,
            "outcome": self.status.outcome,
            "satisfied": self.status.satisfied(),
            "defensible": self.status.defensible,
            "exit": self.status.exit,
            "must_codes": self.must,
        });
        if !self.must_not.is_empty() {
            expected["must_not_codes"] = json!(self.must_not);
        }
        if let Some(level) = self.status.level {
            expected["level"] = level.into();
        }
        Vector {
            name: self.name.clone(),
            base: self.record.base,
            level: self.level,
            clause: self.clause,
            why: self.why,
            bundle,
            policy,
            inputs,
            trust,
            expected,
        }
    }
}

/// A finished vector.
#[derive(Debug)]
pub struct Vector {
    /// Its name, and that of its directory.
    pub name: String,
    /// The base it is made from.
    pub base: &'static str,
    /// The attacker.
    pub level: Level,
    /// The clause.
    pub clause: &'static str,
    /// Why.
    pub why: &'static str,
    /// The bundle.
    pub bundle: Bundle,
    /// The policy's bytes.
    pub policy: Option<Vec<u8>>,
    /// The members of `inputs` that aren't paths, and the files the others name.
    pub inputs: (serde_json::Map<String, Json>, Files),
    /// The trust directory: its name and files.
    pub trust: (&'static str, Files),
    /// `expected`.
    pub expected: Json,
}
