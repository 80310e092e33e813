//! What sessions touched, and which fences admit it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::gad::trace::Session;
use crate::gad::{NodeIx, PlanIndex};

/// The touched surface of one session, as long as its nodes can still be flagged or judged.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    /// seq of the result it comes from.
    pub(super) result: u64,
    paths: Paths,
    /// Which of the paths some flag names; as long as `paths`.
    named: Vec<bool>,
    /// Nodes without a verdict in the attempt of this session, not dispatched again since.
    pub(super) waiting: BTreeSet<NodeIx>,
    stage: Stage,
    /// A node was flagged.
    pub(super) flagged: bool,
    /// The session: N_s.
    nodes: Arc<[NodeIx]>,
    /// |N_s| = 1.
    pub(super) single: bool,
}

/// What became of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// It didn't complete, so that nothing of it is ever flagged or judged.
    Failed,
    /// It completed.
    Unjudged,
    /// It completed, and a node was judged.
    Judged,
}

impl Surface {
    /// The surface of `session`, whose result has this number and these paths, ascending.
    pub(super) fn new(
        session: &Session,
        result: u64,
        touched: &[&str],
        waiting: BTreeSet<NodeIx>,
    ) -> Self {
        let mut nodes = session.nodes.to_vec();
        nodes.sort_unstable();
        Self {
            result,
            paths: Paths::new(touched),
            named: vec![false; touched.len()],
            waiting,
            stage: if session.completed { Stage::Unjudged } else { Stage::Failed },
            flagged: false,
            single: session.commissioned == 1,
            nodes: nodes.into(),
        }
    }

    /// Whether its nodes may be flagged and judged.
    pub(super) fn completed(&self) -> bool {
        self.stage != Stage::Failed
    }

    /// Whether a node was judged.
    pub(super) fn judged(&self) -> bool {
        self.stage == Stage::Judged
    }

    /// Notes that a node was judged.
    pub(super) fn judge(&mut self) {
        if self.completed() {
            self.stage = Stage::Judged;
        }
    }

    /// Notes that a flag names this path; false when it wasn't touched.
    pub(super) fn name(&mut self, path: &str) -> bool {
        let Some(position) = self.paths.find(path) else { return false };
        if let Some(named) = self.named.get_mut(position) {
            *named = true;
        }
        true
    }

    /// The paths outside every fence of N_s that no flag names: position and text of the first one, and how
    /// many there are.
    pub(super) fn omitted(
        &self,
        fences: &Fences,
        plan: &PlanIndex,
    ) -> Option<(usize, &str, usize)> {
        let mut admitted = HashMap::new();
        let mut omitted = (0..self.named.len()).filter_map(|position| {
            // A path that had no room is outside every fence.
            let path = self.paths.get(position).unwrap_or_default();
            let named = self.named.get(position).is_some_and(|named| *named);
            let mut stray = || match *self.nodes {
                [node] => !plan.node(node).fence.admits(path),
                _ => !fences.admit(path, &self.nodes, plan, &mut admitted),
            };
            (!named && stray()).then_some((position, path))
        });
        let (position, path) = omitted.next()?;
        let more = omitted.count();
        Some((position, path, more.saturating_add(1)))
    }
}

/// A sorted set of paths in one piece.
#[derive(Clone, Debug)]
struct Paths {
    text: Box<str>,
    /// Where each ends. All of them stand in one line, of which a reader admits less than 4 GiB; as many
    /// surfaces are kept as there are nodes.
    ends: Box<[u32]>,
}

impl Paths {
    fn new(paths: &[&str]) -> Self {
        let mut end = 0_usize;
        let ends = paths.iter().map_while(|path| {
            end = end.saturating_add(path.len());
            u32::try_from(end).ok()
        });
        Self { ends: ends.collect(), text: paths.concat().into() }
    }

    fn get(&self, position: usize) -> Option<&str> {
        let end = |position: usize| usize::try_from(*self.ends.get(position)?).ok();
        let start = match position.checked_sub(1) {
            Some(before) => end(before)?,
            None => 0,
        };
        self.text.get(start..end(position)?)
    }

    fn find(&self, path: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle)?.cmp(path) {
                core::cmp::Ordering::Equal => return Some(middle),
                core::cmp::Ordering::Less => low = middle.saturating_add(1),
                core::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// All fences of a plan, from the other side: which nodes list an entry.
///
/// Asking each node of a session about each path would cost their product. Here a path costs a search for
/// each of its folders, and an entry found is held against the session once, by the shorter of the two
/// lists of nodes.
#[derive(Clone, Debug)]
pub(super) struct Fences {
    /// Node and position in its fence, ascending by the entry there and then by node.
    order: Box<[(NodeIx, usize)]>,
}

impl Fences {
    pub(super) fn new(plan: &PlanIndex) -> Self {
        let mut order: Vec<_> = plan
            .nodes()
            .flat_map(|node| (0..plan.node(node).fence.allow().len()).map(move |at| (node, at)))
            .collect();
        order.sort_unstable_by(|one, other| {
            (text(plan, *one), one.0).cmp(&(text(plan, *other), other.0))
        });
        Self { order: order.into() }
    }

    /// Whether some node of `nodes`, ascending, admits `path`. `known` holds what was found of entries for
    /// these nodes before.
    fn admit(
        &self,
        path: &str,
        nodes: &[NodeIx],
        plan: &PlanIndex,
        known: &mut HashMap<usize, bool>,
    ) -> bool {
        let mut lists = |entry: &str| {
            let start = self.order.partition_point(|row| text(plan, *row) < entry);
            let rest = self.order.get(start..).unwrap_or_default();
            let count = rest.partition_point(|row| text(plan, *row) == entry);
            let holders = rest.get(..count).unwrap_or_default();
            !holders.is_empty()
                && *known.entry(start).or_insert_with(|| share_a_node(holders, nodes))
        };
        let folder = |(end, byte)| if byte == b'/' { path.get(..=end) } else { None };
        lists(path) || path.bytes().enumerate().filter_map(folder).any(lists)
    }
}

fn text(plan: &PlanIndex, (node, position): (NodeIx, usize)) -> &str {
    plan.node(node).fence.allow().get(position).map_or("", |entry| entry)
}

/// Whether two ascending lists have a node in common.
fn share_a_node(holders: &[(NodeIx, usize)], nodes: &[NodeIx]) -> bool {
    if holders.len() < nodes.len() {
        holders.iter().any(|(node, _)| nodes.binary_search(node).is_ok())
    } else {
        nodes.iter().any(|node| holders.binary_search_by_key(node, |(node, _)| *node).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gad::testing::plan;

    #[test]
    fn paths_are_found_where_they_stand() {
        for list in [&[][..], &["a"], &["a", "ab", "b", "ext:ü/\n", "x/y"]] {
            let paths = Paths::new(list);
            for (position, path) in list.iter().enumerate() {
                assert_eq!((paths.get(position), paths.find(path)), (Some(*path), Some(position)));
            }
            assert_eq!(paths.get(list.len()), None);
            for other in ["", "aa", "x/yy", "ext:"] {
                assert_eq!(paths.find(other), None);
            }
        }
    }

    #[test]
    fn some_node_admits_what_one_of_them_does() {
        let plan = plan(&[
            ("a", "normal", &["src/", "README.md", "both/"]),
            ("b", "normal", &["both/", "docs/a", "src/deep/"]),
            ("c", "normal", &[]),
            ("d", "normal", &["other/", "both/"]),
        ]);
        let fences = Fences::new(&plan);
        let all: Vec<_> = plan.nodes().collect();
        let paths = [
            "src/x",
            "src/deep/x",
            "README.md",
            "README.md/x",
            "both/",
            "both/x",
            "docs/a",
            "docs/b",
            "other/x",
            "src",
            "ext:src/x",
            "",
        ];
        for chosen in 0..16_usize {
            let nodes: Vec<_> = all
                .iter()
                .enumerate()
                .filter(|(bit, _)| chosen >> bit & 1 == 1)
                .map(|(_, node)| *node)
                .collect();
            let mut known = HashMap::new();
            for path in paths {
                let expected = nodes.iter().any(|node| plan.node(*node).fence.admits(path));
                let found = fences.admit(path, &nodes, &plan, &mut known);
                assert_eq!(found, expected, "{nodes:?} {path}");
            }
        }
    }
}
