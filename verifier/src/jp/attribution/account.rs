//! Counting: every output against its pin and its pack.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::attribution::{
    ContributorKind, Contributors, Credit, Output, ProjectedStage, Projection, StageTally, Summary,
};
use anchorlog_proto::jp::core_pack::{
    CoreId, DispositionKind, Effect, Pack, PackError, PackLimits,
};

use super::{Found, PACK, PROJECTION};
use crate::codes::attribution::{
    ABSENT, ASSOCIATION, BOUND, IDENTITY, LINEAGE, MALFORMED, MISSING, NON_OUTCOME, OUTCOME, PIN,
};
use crate::finding::Finding;

/// Packs by the SHA-256 of their exact bytes.
#[derive(Debug, Default)]
pub struct Packs {
    packs: BTreeMap<Digest, Indexed>,
    bytes: usize,
}

/// A pack, and whom an output of it may name: for each id the outcome it leads to.
#[derive(Debug)]
struct Indexed {
    pack: Pack,
    rules: BTreeMap<CoreId, CoreId>,
    /// `None` for an exception with another effect.
    forcing: BTreeMap<CoreId, Option<CoreId>>,
}

impl Packs {
    /// No packs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a pack and keeps it under its digest.
    ///
    /// # Errors
    ///
    /// `ATTR.BOUND` for a limit of admission, `ATTR.MALFORMED` for a pack that does not conform.
    pub fn add(&mut self, bytes: &[u8]) -> Result<Digest, Finding> {
        let pack = Pack::read(bytes, &PackLimits::DEFAULT).map_err(|error| refused(&error))?;
        let rules = pack.rules().iter().map(|rule| (rule.id.clone(), rule.outcome.clone()));
        let forcing = pack.exceptions().iter().map(|exception| {
            let outcome = match &exception.effect {
                Effect::ForceOutcome(outcome) => Some(outcome.clone()),
                Effect::SuppressRule(_) | Effect::Escalate => None,
            };
            (exception.id.clone(), outcome)
        });
        let indexed = Indexed { rules: rules.collect(), forcing: forcing.collect(), pack };
        let digest = Digest::of(bytes);
        self.bytes = self.bytes.saturating_add(bytes.len());
        self.packs.insert(digest, indexed);
        Ok(digest)
    }

    /// The pack with this digest.
    #[must_use]
    pub fn get(&self, digest: &Digest) -> Option<&Pack> {
        self.packs.get(digest).map(|indexed| &indexed.pack)
    }

    /// How many bytes all that were added have.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}

fn refused(error: &PackError) -> Finding {
    let code = if error.is_limit() { BOUND } else { MALFORMED };
    Finding::new(code, error.to_string()).in_input(PACK).at(error.pointer.as_str())
}

/// What counting came to.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Accounted {
    /// The counts. With findings they are of those outputs alone that could be counted.
    pub summary: Summary,
    /// What is wrong, in the order of stages and outputs.
    pub found: Found,
}

/// Checks every output and counts memberships, from the envelopes alone.
///
/// # Errors
///
/// `ATTR.ABSENT`: a stage's pack is not among `packs`. This refuses before anything is found.
pub fn account(projection: &Projection, packs: &Packs) -> Result<Accounted, Finding> {
    let mut pinned = Vec::with_capacity(projection.stages.len());
    for (at, stage) in projection.stages.iter().enumerate() {
        let pack = packs.packs.get(&stage.pack).ok_or_else(|| {
            let detail =
                format!("no file with the SHA-256 that stage {} pins was given", stage.stage);
            let finding = Finding::new(ABSENT, detail).in_input(PROJECTION);
            finding.at(format!("/stages/{at}/packDigest")).compared(stage.pack, "no such file")
        })?;
        pinned.push(pack);
    }
    let mut found = Found::default();
    let stages = projection.stages.iter().zip(pinned).enumerate().map(|(at, (stage, pack))| {
        Counting { projection, stage, pack, at, found: &mut found }.count()
    });
    let stages = stages.collect();
    let summary = Summary::new(projection.workflow, projection.execution.clone(), stages);
    Ok(Accounted { summary, found })
}

struct Counting<'a> {
    projection: &'a Projection,
    stage: &'a ProjectedStage,
    pack: &'a Indexed,
    at: usize,
    found: &'a mut Found,
}

impl Counting<'_> {
    fn count(mut self) -> StageTally {
        let Projection { workflow, execution, .. } = self.projection;
        let set = self.stage.set_digest(*workflow, execution);
        let outcomes = self.pack.pack.outcomes();
        let mut tally = StageTally::new(self.stage.stage.clone(), self.stage.pack, set, outcomes);
        let pins = self.stage.records.iter().zip(&self.stage.outputs);
        for (position, (pin, output)) in pins.enumerate() {
            if *pin != output.digest {
                let detail = "the envelope's canonical bytes are not those that are pinned";
                let finding = self.finding(PIN, position, "envelope", detail);
                self.found.push(finding.compared(pin, output.digest));
            }
            self.lineage(position, output);
            match output.disposition.kind() {
                DispositionKind::Unresolved => tally.unresolved += 1,
                DispositionKind::NotApplicable => tally.not_applicable += 1,
                DispositionKind::Outcome => {}
            }
            if let Some(outcome) = output.disposition.outcome_id() {
                if let Some(credit) = self.credit(position, output, outcome)
                    && !tally.add_outcome(outcome, &credit)
                {
                    let detail = format!("the pack declares no outcome {outcome}");
                    let place = "disposition/outcomeId";
                    self.found.push(self.finding(OUTCOME, position, place, &detail));
                }
            } else if let Some(contributors) = &output.contributors {
                let kind = output.disposition.kind();
                let detail =
                    format!("{} contributors to a result that is {kind}", contributors.count());
                self.found.push(self.finding(
                    NON_OUTCOME,
                    position,
                    "envelope/contributors",
                    &detail,
                ));
            }
        }
        tally
    }

    /// What an output with this outcome is credited to, or what is wrong about it.
    fn credit(&mut self, position: usize, output: &Output, outcome: &CoreId) -> Option<Credit> {
        if !self.pack.pack.outcomes().contains(outcome) {
            // There is nothing it could be associated with; the tally has no place for it.
            return Some(Credit::Fallback);
        }
        match &output.contributors {
            Some(contributors) => {
                self.associated(position, contributors, outcome)?;
                Some(Credit::Contributors(contributors.clone()))
            }
            None if self.pack.pack.fallback_outcome() == Some(outcome) => Some(Credit::Fallback),
            None => {
                let detail = format!(
                    "{outcome} is not the pack's fallback outcome, and nothing contributed"
                );
                self.found.push(self.finding(MISSING, position, "envelope", &detail));
                None
            }
        }
    }

    fn associated(
        &mut self,
        position: usize,
        contributors: &Contributors,
        outcome: &CoreId,
    ) -> Option<()> {
        let kind = contributors.kind();
        let mut all = Some(());
        for (member, id) in contributors.ids().enumerate() {
            let leads_to = match kind {
                ContributorKind::Rule => self.pack.rules.get(id).map(Some),
                ContributorKind::ForcingException => self.pack.forcing.get(id).map(Option::as_ref),
            };
            let (code, detail) = match leads_to {
                Some(Some(own)) if own == outcome => continue,
                Some(Some(own)) => (ASSOCIATION, format!("{kind} {id} names {own}, not {outcome}")),
                Some(None) => (ASSOCIATION, format!("exception {id} forces no outcome")),
                None => (IDENTITY, format!("the pack has no {kind} {id}")),
            };
            let place = format!("envelope/contributors/{member}");
            self.found.push(self.finding(code, position, &place, &detail));
            all = None;
        }
        all
    }

    fn lineage(&mut self, position: usize, output: &Output) {
        let lineage = &output.lineage;
        let of = |expected: &dyn ToString, actual: &dyn ToString| {
            (expected.to_string(), actual.to_string())
        };
        for (member, (expected, actual)) in [
            ("workflowDigest", of(&self.projection.workflow, &lineage.workflow_digest)),
            ("execution", of(&self.projection.execution, &lineage.execution)),
            ("stage", of(&self.stage.stage, &lineage.stage)),
            ("packDigest", of(&self.stage.pack, &lineage.pack_digest)),
        ] {
            if expected != actual {
                let place = format!("envelope/lineage/{member}");
                let detail = "the lineage is of another place";
                let finding = self.finding(LINEAGE, position, &place, detail);
                self.found.push(finding.compared(expected, actual));
            }
        }
    }

    fn finding(
        &self,
        code: crate::codes::Code,
        position: usize,
        member: &str,
        detail: &str,
    ) -> Finding {
        let at = self.at;
        let pointer = format!("/stages/{at}/outputs/{position}/{member}");
        Finding::new(code, detail).in_input(PROJECTION).at(pointer)
    }
}
