//! D: edges within N, and no way back.

use std::collections::{BTreeMap, BTreeSet};

use super::Node;
use crate::gad::code::{PLAN_CYCLE, PLAN_EDGE_DANGLING};
use crate::gad::form::{Cell, Reader};
use crate::gad::limits::{Limits, most};
use crate::json::JsonCode;

/// An edge by the positions of its nodes in N, and its own position in D as stated.
struct Edge {
    from: usize,
    to: usize,
    stated: usize,
}

/// Reads D. Edges that name no node or stand there twice are left out.
pub(super) fn edges(
    reader: &mut Reader<'_, '_>,
    nodes: &[Node],
    limits: &Limits,
) -> Vec<(Box<str>, Box<str>)> {
    let positions: BTreeMap<&str, usize> =
        nodes.iter().enumerate().map(|(position, node)| (&*node.id, position)).collect();
    let mut seen = BTreeSet::new();
    let mut stated = 0_usize;
    let edges = reader.required("D", |cell| {
        cell.list(most(limits.edges), |cell| {
            let position = stated;
            stated = stated.saturating_add(1);
            // What is wrong with one edge is noted and doesn't take the others away.
            Some(edge(cell, &positions, &mut seen).map(|(from, to)| Edge {
                from,
                to,
                stated: position,
            }))
        })
    });
    let edges: Vec<Edge> = edges.unwrap_or_default().into_iter().flatten().collect();
    if let Some(edge) = edge_of_a_cycle(nodes.len(), &edges) {
        reader.defect_of_element(PLAN_CYCLE, "D", edge);
    }
    let id = |position: usize| nodes.get(position).map(|node| node.id.clone());
    edges.into_iter().filter_map(|edge| Some((id(edge.from)?, id(edge.to)?))).collect()
}

fn edge(
    mut cell: Cell<'_, '_>,
    positions: &BTreeMap<&str, usize>,
    seen: &mut BTreeSet<(usize, usize)>,
) -> Option<(usize, usize)> {
    if cell.value().as_array().is_some_and(|ends| ends.len() != 2) {
        return cell.refuse(JsonCode::Enum);
    }
    let ends = cell
        .reborrow()
        .list(2, |cell| cell.string_as(PLAN_EDGE_DANGLING, |id| positions.get(id).copied()))?;
    let [from, to] = *ends.as_slice() else { return None };
    if seen.insert((from, to)) { Some((from, to)) } else { cell.refuse(JsonCode::Enum) }
}

/// Position in D of an edge that lies on a cycle, if there is one.
///
/// Kahn's algorithm: nodes without predecessors are taken away until none is left to take. Linear in nodes
/// and edges, without recursion.
fn edge_of_a_cycle(nodes: usize, edges: &[Edge]) -> Option<usize> {
    let mut incoming = vec![0_usize; nodes];
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for edge in edges {
        *incoming.get_mut(edge.to)? += 1;
        outgoing.get_mut(edge.from)?.push(edge.to);
    }
    let mut free: Vec<usize> = incoming
        .iter()
        .enumerate()
        .filter_map(|(node, count)| (*count == 0).then_some(node))
        .collect();
    while let Some(node) = free.pop() {
        for to in outgoing.get(node)? {
            let count = incoming.get_mut(*to)?;
            *count -= 1;
            if *count == 0 {
                free.push(*to);
            }
        }
    }
    // Every node that is left has a predecessor that is left: going back from one of them as many steps as
    // there are nodes ends on a cycle.
    let left = |node: usize| incoming.get(node).is_some_and(|count| *count > 0);
    let mut back: Vec<Option<&Edge>> = vec![None; nodes];
    for edge in edges.iter().filter(|edge| left(edge.from)) {
        back.get_mut(edge.to)?.get_or_insert(edge);
    }
    let mut node = (0..nodes).find(|node| left(*node))?;
    for _ in 0..nodes {
        node = back.get(node)?.as_ref()?.from;
    }
    back.get(node)?.as_ref().map(|edge| edge.stated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(nodes: usize, pairs: &[(usize, usize)]) -> Option<usize> {
        let edge =
            |(stated, (from, to)): (usize, &(usize, usize))| Edge { from: *from, to: *to, stated };
        edge_of_a_cycle(nodes, &pairs.iter().enumerate().map(edge).collect::<Vec<_>>())
    }

    #[test]
    fn cycles_are_found_wherever_they_hang() {
        assert_eq!(cycle(0, &[]), None);
        assert_eq!(cycle(3, &[(0, 1), (1, 2), (0, 2)]), None);
        assert_eq!(cycle(1, &[(0, 0)]), Some(0));
        // A tail into the cycle and one out of it aren't on it.
        let found = cycle(6, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (4, 5)]).unwrap();
        assert!((1..=3).contains(&found), "{found}");
        assert_eq!(cycle(4, &[(2, 3), (0, 1), (3, 3)]), Some(2));
    }

    #[test]
    fn long_chains_need_no_stack() {
        let nodes = 200_000;
        let mut pairs: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
        assert_eq!(cycle(nodes, &pairs), None);
        pairs.push((nodes - 1, 0));
        assert!(cycle(nodes, &pairs).is_some());
    }
}
