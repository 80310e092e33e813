//! What a witness knows while it runs: for each statement where it lies, and no text.

use std::collections::HashMap;

use anchorlog_proto::jp::witness::{Chain, ChainBreak, Registration, TrailId, VerifiedStatement};

use crate::bearer::Principal;

/// How much a witness keeps. Each statement takes about 64 bytes of memory, each trail about 200.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "tests set both")]
pub struct Limits {
    /// Trails, registered or with statements.
    pub trails: usize,
    /// Statements of all trails.
    pub statements: u64,
}

impl Limits {
    /// 100,000 trails and 4,000,000 statements.
    pub const DEFAULT: Self = Self { trails: 100_000, statements: 4_000_000 };
}

/// Where a line lies in the statements.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) offset: u64,
    /// Without the newline.
    pub(super) length: u16,
}

/// One trail's chain, and where its statements lie.
#[derive(Debug, Default)]
pub(super) struct Trail {
    pub(super) chain: Chain,
    places: Vec<Place>,
}

impl Trail {
    pub(super) fn place(&self, index: u64) -> Option<Place> {
        self.places.get(usize::try_from(index).ok()?).copied()
    }

    /// The places from `index` on, at most `limit`.
    pub(super) fn page(&self, index: u64, limit: usize) -> &[Place] {
        let from = usize::try_from(index).unwrap_or(usize::MAX).min(self.places.len());
        let rest = self.places.get(from..).unwrap_or_default();
        rest.get(..limit.min(rest.len())).unwrap_or_default()
    }
}

/// All trails, and whose they are.
#[derive(Debug, Default)]
pub(super) struct Book {
    trails: HashMap<TrailId, Trail>,
    registrations: HashMap<TrailId, Principal>,
    statements: u64,
}

impl Book {
    pub(super) fn trail(&self, id: TrailId) -> Option<&Trail> {
        self.trails.get(&id)
    }

    pub(super) fn trails(&self) -> impl Iterator<Item = (&TrailId, &Trail)> {
        self.trails.iter()
    }

    pub(super) fn registered(&self, id: TrailId) -> Option<&Principal> {
        self.registrations.get(&id)
    }

    pub(super) const fn statements(&self) -> u64 {
        self.statements
    }

    pub(super) fn trail_count(&self) -> usize {
        self.trails.len()
    }

    pub(super) fn registration_count(&self) -> usize {
        self.registrations.len()
    }

    /// The trails of a submitter that have statements.
    pub(super) fn submitted_by(&self, principal: &Principal) -> usize {
        let theirs = self.registrations.iter().filter(|(_, owner)| *owner == principal);
        theirs.filter(|(id, _)| self.trails.contains_key(id)).count()
    }

    /// Takes a statement that lies at `place`, if it continues its chain.
    pub(super) fn push(
        &mut self,
        statement: &VerifiedStatement,
        place: Place,
    ) -> Result<(), ChainBreak> {
        let id = statement.body().checkpoint.trail;
        let is_new = !self.trails.contains_key(&id);
        let trail = self.trails.entry(id).or_default();
        if let Err(broken) = trail.chain.push(statement) {
            if is_new {
                self.trails.remove(&id);
            }
            return Err(broken);
        }
        trail.places.push(place);
        self.statements = self.statements.saturating_add(1);
        Ok(())
    }

    /// The last registration of a trail counts.
    pub(super) fn register(&mut self, registration: Registration) {
        let Registration { trail, issuer, subject, .. } = registration;
        self.registrations.insert(trail, Principal { issuer, subject });
    }
}
