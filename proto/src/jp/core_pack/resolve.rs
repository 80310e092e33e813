//! The references of a pack (Core section 3.3): every one resolves once, to an object of the right kind.

use std::collections::BTreeSet;

use super::id::CoreId;
use super::members::{At, Read};
use super::pack::{Pack, PackRule};
use super::read::Named;

/// Checks identifiers and references of a pack that has the right structure.
pub(super) fn check(pack: &Pack, root: At<'_, '_, '_>, named: &Named<'_>) -> Read<()> {
    for name in ["outcomes", "rules", "evidenceRequirements", "sources", "exceptions"] {
        unique(root, name)?;
    }
    let declared = Declared {
        outcomes: pack.outcomes.iter().collect(),
        rules: pack.rules.iter().map(|rule| &rule.id).collect(),
        evidence: pack.evidence.iter().map(|requirement| &requirement.id).collect(),
        sources: pack.sources.iter().collect(),
    };
    root.optional("applicability", |at| declared.condition(at))?;
    each(root, "rules", |at| declared.rule(at))?;
    each(root, "exceptions", |at| declared.exception(at))?;
    root.optional("fallbackOutcome", |at| declared.outcome(at))?;
    root.optional("metadata", |at| {
        each(at, "requiredExtensions", |at| {
            let is_named = at.value.as_str().is_some_and(|name| named.contains(name));
            if is_named { Ok(()) } else { Err(at.refuse(PackRule::MissingExtension)) }
        })
    })?;
    Ok(())
}

struct Declared<'p> {
    outcomes: BTreeSet<&'p CoreId>,
    rules: BTreeSet<&'p CoreId>,
    evidence: BTreeSet<&'p CoreId>,
    sources: BTreeSet<&'p CoreId>,
}

impl Declared<'_> {
    fn rule(&self, at: At<'_, '_, '_>) -> Read<()> {
        at.optional("when", |at| self.condition(at))?;
        at.optional("outcome", |at| self.outcome(at))?;
        each(at, "evidenceRequirementRefs", |at| self.evidence(at))?;
        each(at, "sourceRefs", |at| self.source(at))
    }

    fn exception(&self, at: At<'_, '_, '_>) -> Read<()> {
        at.optional("when", |at| self.condition(at))?;
        at.optional("targetRule", |at| declared(at, &self.rules, PackRule::UnresolvedRule))?;
        at.optional("outcome", |at| self.outcome(at))?;
        each(at, "sourceRefs", |at| self.source(at))
    }

    fn condition(&self, at: At<'_, '_, '_>) -> Read<()> {
        // `condition` and `conditions` are members of conditions alone: operands of facts are `value`.
        at.optional("evidenceRequirement", |at| self.evidence(at))?;
        at.optional("condition", |at| self.condition(at))?;
        each(at, "conditions", |at| self.condition(at))
    }

    fn outcome(&self, at: At<'_, '_, '_>) -> Read<()> {
        declared(at, &self.outcomes, PackRule::UnresolvedOutcome)
    }

    fn evidence(&self, at: At<'_, '_, '_>) -> Read<()> {
        declared(at, &self.evidence, PackRule::UnresolvedEvidence)
    }

    fn source(&self, at: At<'_, '_, '_>) -> Read<()> {
        declared(at, &self.sources, PackRule::UnresolvedSource)
    }
}

fn declared(at: At<'_, '_, '_>, ids: &BTreeSet<&CoreId>, rule: PackRule) -> Read<()> {
    if ids.contains(&at.local_id()?) { Ok(()) } else { Err(at.refuse(rule)) }
}

/// Every element of an array that may be absent.
fn each(at: At<'_, '_, '_>, name: &str, check: impl Fn(At<'_, '_, '_>) -> Read<()>) -> Read<()> {
    at.optional(name, |at| at.each(&check))?;
    Ok(())
}

fn unique(root: At<'_, '_, '_>, name: &str) -> Read<()> {
    let mut seen = BTreeSet::new();
    root.optional(name, |at| {
        at.each(|at| {
            let id = at.required("id", |at| at.local_id())?;
            if seen.insert(id) { Ok(()) } else { Err(at.refuse_member_id()) }
        })
    })?;
    Ok(())
}

impl At<'_, '_, '_> {
    fn refuse_member_id(&self) -> super::pack::PackError {
        self.refuse_member("id", PackRule::DuplicateId)
    }
}
