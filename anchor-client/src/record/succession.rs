//! SUCCEED: a plan ends by a successor, and every difference between the two is stated.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::EvidenceClass;
use anchorlog_proto::gad::payload::{Change, Delta, Disposition, PlanSuperseded};
use anchorlog_proto::gad::plan::{Fence, Node, Plan, plan_hash};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_verifier::gad::PlanIndex;

use super::source::Document;
use super::{RecordError, Recorded, Recorder};

impl Recorder {
    /// Ends the run in favour of a successor plan, signed by the succession authority. The deltas are
    /// computed from both plans. The successor is then frozen by a record of its own.
    pub fn supersede(
        &mut self,
        successor: &Document<Plan>,
        reason: &str,
        authority: &SigningKey,
    ) -> Result<Recorded, RecordError> {
        let plan = std::sync::Arc::clone(&self.plan);
        let unresolved = self.unresolved();
        let after: BTreeMap<&str, &Node> =
            successor.content.nodes.iter().map(|node| (&*node.id, node)).collect();
        let obligations = unresolved.iter().map(|id| {
            let before = plan.find(id).map(|node| plan.node(node));
            (id.as_str(), disposition(before, after.get(id.as_str()).copied()))
        });
        let delta = Delta {
            reason,
            obligations: obligations.collect(),
            class_floors: changed_floors(&plan, &after),
            fences: changed_fences(&plan, &after),
            tests: changed_tests(&plan, &after),
        };
        self.record_signed(
            &Payload::PlanSuperseded(PlanSuperseded {
                predecessor: plan.hash(),
                successor: plan_hash(&successor.canonical),
                named_authority: authority.id(),
                delta: Some(delta),
            }),
            authority,
        )
    }
}

/// What becomes of an unresolved node: carried where the successor has it exactly as it was.
fn disposition(before: Option<&Node>, after: Option<&Node>) -> Disposition {
    match after {
        None => Disposition::Removed,
        Some(after) if before == Some(after) => Disposition::Carried,
        Some(_) => Disposition::Changed,
    }
}

/// The nodes of both plans, as they were and as they will be.
fn common<'p>(
    plan: &'p PlanIndex,
    after: &'p BTreeMap<&str, &'p Node>,
) -> impl Iterator<Item = (&'p Node, &'p Node)> {
    plan.plan().nodes.iter().filter_map(|node| Some((node, *after.get(&*node.id)?)))
}

fn changed_floors<'p>(
    plan: &'p PlanIndex,
    after: &'p BTreeMap<&str, &'p Node>,
) -> Vec<Change<'p, EvidenceClass>> {
    common(plan, after)
        .filter(|(from, to)| from.c_min != to.c_min)
        .map(|(from, to)| Change {
            node: &from.id,
            test_id: None,
            from: Some(from.c_min),
            to: Some(to.c_min),
        })
        .collect()
}

fn changed_fences<'p>(
    plan: &'p PlanIndex,
    after: &'p BTreeMap<&str, &'p Node>,
) -> Vec<Change<'p, Fence>> {
    common(plan, after)
        .filter(|(from, to)| from.fence != to.fence)
        .map(|(from, to)| Change {
            node: &from.id,
            test_id: None,
            from: Some(from.fence.clone()),
            to: Some(to.fence.clone()),
        })
        .collect()
}

fn changed_tests<'p>(
    plan: &'p PlanIndex,
    after: &'p BTreeMap<&str, &'p Node>,
) -> Vec<Change<'p, Digest>> {
    let mut changes = Vec::new();
    for (from, to) in common(plan, after) {
        let before: BTreeMap<&str, Digest> =
            from.tests.iter().map(|test| (&*test.id, test.digest)).collect();
        let now: BTreeMap<&str, Digest> =
            to.tests.iter().map(|test| (&*test.id, test.digest)).collect();
        let ids: std::collections::BTreeSet<&str> =
            before.keys().chain(now.keys()).copied().collect();
        for id in ids {
            let (was, is) = (before.get(id).copied(), now.get(id).copied());
            if was != is {
                changes.push(Change { node: &from.id, test_id: Some(id), from: was, to: is });
            }
        }
    }
    changes
}
