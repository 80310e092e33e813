//! A plan with everything the rules look up in it.

use std::collections::HashMap;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::names::Role;
use anchorlog_proto::gad::plan::{Node, Plan, Principal, Test};
use anchorlog_proto::signed_object::SignerId;

/// A node of the plan by its position in N.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeIx(u32);

impl NodeIx {
    /// Its position in N.
    #[must_use]
    pub fn position(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// The plan, its hash, and its look-up tables.
#[derive(Clone, Debug)]
pub struct PlanIndex {
    plan: Plan,
    hash: Digest,
    nodes: HashMap<Box<str>, NodeIx>,
    predecessors: Vec<Vec<NodeIx>>,
    successors: Vec<Vec<NodeIx>>,
    keys: HashMap<SignerId, usize>,
    /// Of each node, the positions of its tests by their ids: a node can have a thousand, each judged.
    tests: Vec<Box<[usize]>>,
}

impl PlanIndex {
    /// Indexes a plan whose h(P) is `hash`. Where an id occurs twice the first one counts; an edge to an
    /// unknown node is left out: reading the plan has refused both.
    #[must_use]
    pub fn new(plan: Plan, hash: Digest) -> Self {
        let mut nodes = HashMap::new();
        for (node, position) in plan.nodes.iter().zip(0_u32..) {
            nodes.entry(node.id.clone()).or_insert(NodeIx(position));
        }
        let mut predecessors = vec![Vec::new(); plan.nodes.len()];
        let mut successors = vec![Vec::new(); plan.nodes.len()];
        for (from, to) in &plan.edges {
            if let (Some(from), Some(to)) = (nodes.get(from), nodes.get(to)) {
                if let Some(list) = predecessors.get_mut(to.position()) {
                    list.push(*from);
                }
                if let Some(list) = successors.get_mut(from.position()) {
                    list.push(*to);
                }
            }
        }
        let mut keys = HashMap::new();
        for (position, principal) in plan.principals.iter().enumerate() {
            keys.entry(principal.key_id).or_insert(position);
        }
        let tests = plan.nodes.iter().map(|node| by_id(&node.tests)).collect();
        Self { plan, hash, nodes, predecessors, successors, keys, tests }
    }

    /// The plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// h(P).
    #[must_use]
    pub const fn hash(&self) -> Digest {
        self.hash
    }

    /// The node with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<NodeIx> {
        self.nodes.get(id).copied()
    }

    /// All nodes, in the plan's order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIx> + use<> {
        (0..u32::try_from(self.plan.nodes.len()).unwrap_or(u32::MAX)).map(NodeIx)
    }

    /// A node.
    ///
    /// # Panics
    ///
    /// Never with a position of this index: only the index makes them.
    #[must_use]
    pub fn node(&self, node: NodeIx) -> &Node {
        #[allow(clippy::expect_used, reason = "every NodeIx is made by the index it is used with")]
        self.plan.nodes.get(node.position()).expect("a node of this plan")
    }

    /// Its id.
    #[must_use]
    pub fn id(&self, node: NodeIx) -> &str {
        &self.node(node).id
    }

    /// Its direct predecessors.
    #[must_use]
    pub fn predecessors(&self, node: NodeIx) -> &[NodeIx] {
        self.predecessors.get(node.position()).map_or(&[], Vec::as_slice)
    }

    /// Its direct successors.
    #[must_use]
    pub fn successors(&self, node: NodeIx) -> &[NodeIx] {
        self.successors.get(node.position()).map_or(&[], Vec::as_slice)
    }

    /// A test of a node, with its position in T.
    #[must_use]
    pub fn test(&self, node: NodeIx, test_id: &str) -> Option<(usize, &Test)> {
        let tests = &self.node(node).tests;
        let order = self.tests.get(node.position())?;
        let id = |position: &usize| tests.get(*position).map_or("", |test| &*test.id);
        let first = order.partition_point(|position| id(position) < test_id);
        let position = *order.get(first)?;
        tests.get(position).filter(|test| &*test.id == test_id).map(|test| (position, test))
    }

    /// The registered principal with this key id.
    #[must_use]
    pub fn principal(&self, key_id: SignerId) -> Option<&Principal> {
        self.keys.get(&key_id).and_then(|position| self.plan.principals.get(*position))
    }

    /// Whether the key with this id is registered with this role.
    #[must_use]
    pub fn has_role(&self, key_id: SignerId, role: Role) -> bool {
        self.principal(key_id).is_some_and(|principal| principal.roles.contains(&role))
    }
}

/// Positions of tests in the order of their ids; of one id, the first comes first.
fn by_id(tests: &[Test]) -> Box<[usize]> {
    let mut order: Vec<_> = (0..tests.len()).collect();
    order.sort_by_key(|position| tests.get(*position).map(|test| &*test.id));
    order.into_boxed_slice()
}
