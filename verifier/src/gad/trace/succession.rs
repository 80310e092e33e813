//! What a succession states, against the plan that follows: no weakening goes unsaid (section 4).

use std::collections::{BTreeSet, HashMap};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::EvidenceClass;
use anchorlog_proto::gad::plan::{Fence, Node, Plan};

use crate::codes::gad::Affect;
use crate::codes::gad::r3::SUPERSEDE_DELTA_FALSE;
use crate::gad::{Event, Findings, GadFinding, PlanIndex};

/// Checks the delta of a plan_superseded entry against the successor plan: for a node of both plans, a lower
/// class floor, a fence entry that wasn't listed, and a test that is removed or has another spec have to be
/// stated. The caller makes sure that `successor` hashes to the entry's `successor`. What is missing is a
/// note; `under_policy`, it makes DEFENSIBLE false too. Entries of other types are passed over.
pub fn check_delta(
    plan: &PlanIndex,
    successor: &Plan,
    event: &Event<'_>,
    under_policy: bool,
    findings: &mut Findings,
) {
    let Some(Payload::PlanSuperseded(end)) = event.payload() else { return };
    let mut stated = Stated::default();
    if let Some(delta) = &end.delta {
        stated.floors.extend(delta.class_floors.iter().filter_map(|row| Some((row.node, row.to?))));
        stated.tests.extend(delta.tests.iter().map(|row| (row.node, row.test_id, row.to)));
        for row in &delta.fences {
            stated.fences.insert((row.node, row.to.as_ref().map(entries)));
        }
    }
    let mut missing = |member: &str, expected: String| {
        let finding = GadFinding::new(SUPERSEDE_DELTA_FALSE, event.member(member));
        let finding = if under_policy { finding } else { finding.affecting(&[Affect::Note]) };
        findings.push(finding.expected(expected).actual("not stated"));
    };
    let after: HashMap<&str, &Node> =
        successor.nodes.iter().map(|node| (&*node.id, node)).collect();
    for old in &plan.plan().nodes {
        let Some(new) = after.get(&*old.id) else { continue };
        if new.c_min < old.c_min && !stated.floors.contains(&(&*old.id, new.c_min)) {
            missing("/changed_class_floors", format!("{}: to {}", old.id, new.c_min));
        }
        let listed = entries(&new.fence);
        if !listed.is_subset(&entries(&old.fence))
            && !stated.fences.contains(&(&*old.id, Some(listed)))
        {
            missing("/changed_fences", format!("{}: to its fence in the successor", old.id));
        }
        let tests: HashMap<&str, Digest> =
            new.tests.iter().map(|test| (&*test.id, test.digest)).collect();
        for test in &old.tests {
            let to = tests.get(&*test.id).copied();
            if to != Some(test.digest) && !stated.tests.contains(&(&*old.id, Some(&*test.id), to)) {
                let to = to.map_or_else(|| "null".to_owned(), |digest| digest.to_string());
                missing("/changed_tests", format!("{} {}: to {to}", old.id, test.id));
            }
        }
    }
}

/// The rows of a delta.
#[derive(Default)]
struct Stated<'s> {
    floors: BTreeSet<(&'s str, EvidenceClass)>,
    fences: BTreeSet<(&'s str, Option<BTreeSet<&'s str>>)>,
    tests: BTreeSet<(&'s str, Option<&'s str>, Option<Digest>)>,
}

/// A fence as the set it is.
fn entries(fence: &Fence) -> BTreeSet<&str> {
    fence.allow().iter().map(|entry| &**entry).collect()
}
