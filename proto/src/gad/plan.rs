//! The plan: what was to be done, frozen before anything was (`gad.plan/1`).
//!
//! Reading it also checks what makes a plan well formed (Algorithm 1): ids are unique, D is acyclic and
//! stays within N, and the registry can sign what the plan asks for.

mod fence;
mod graph;
mod read;
mod registry;
#[cfg(test)]
mod tests;
mod write;

use crate::digest::Digest;
use crate::json::{Value, canonical};
use crate::signed_object::{Domain, PublicKey, SignerId};

use super::code::R1_PROFILE_UNSUPPORTED;
use super::form::{At, Cell, Defects, is_of_schema};
use super::limits::Limits;
use super::names::{
    Capture, EvidenceClass, ObservableKind, ObservationLayer, Risk, Role, SignalKind,
};

pub(super) use fence::FENCE_KIND;
pub use fence::Fence;
pub(super) use read::{MAX_CLOCK_S, MAX_DESC_BYTES, MAX_RETRIES, MAX_RUN_BYTES};
pub(super) use registry::{ALGORITHM, MAX_CUSTODY_BYTES, MAX_PARTY_BYTES};

/// The schema name.
pub const PLAN_SCHEMA: &str = "gad.plan/1";

/// A plan P = (N, D, meta) with its registry of keys.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Plan {
    /// N, in the plan's order; ids are unique.
    pub nodes: Vec<Node>,
    /// D, as (from, to) node ids of N, no pair twice: `from` has to be good before `to` is dispatched.
    pub edges: Vec<(Box<str>, Box<str>)>,
    /// AuthorizedPrincipals(P): every key that may sign in the record, no key twice.
    pub principals: Vec<Principal>,
    /// The declared clock policy; `None` where the plan declares none.
    pub clock: Option<ClockPolicy>,
}

impl Plan {
    /// Reads a plan to the end and notes everything that is wrong with it.
    ///
    /// There is a plan whenever `value` is an object of this schema whose N is an array within its limits.
    /// What is wrong in it reads as the strictest value: a class floor as engine_observed, a risk as gated,
    /// a bound as 0, a fence as one that admits nothing, a test's specification as an attested proxy. Left
    /// out are nodes, tests and edges that can't be told apart or name nothing (PLAN.NODE_DUP,
    /// PLAN.TEST_DUP, PLAN.EDGE_DANGLING), repeated edges, and keys that can't be used; so ids are unique
    /// in what is returned, and edges lie within N. With PLAN.EMPTY, PLAN.NODE_DUP, PLAN.CYCLE or
    /// PLAN.EDGE_DANGLING it isn't a plan anything can be traced by.
    ///
    /// An unknown schema is R1.PROFILE.UNSUPPORTED. Time and memory are linear in the document, apart from
    /// the logarithms of look-ups.
    #[must_use]
    pub fn read(value: &Value<'_>, limits: &Limits, defects: &mut Defects) -> Option<Self> {
        let at = At::root("");
        if !is_of_schema(value, PLAN_SCHEMA, R1_PROFILE_UNSUPPORTED, &at, defects) {
            return None;
        }
        Cell::new(value, &at, defects).object(|reader| read::plan(reader, limits))
    }

    /// The plan as JSON. Extensions aren't kept, so a plan that has some reads and writes as another one.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        write::plan(self)
    }
}

/// h(P) of the canonical bytes of a plan.
#[must_use]
pub fn plan_hash(canonical: &[u8]) -> Digest {
    Domain::Plan.hash(&[canonical])
}

/// Seconds by which wall clocks may disagree.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct ClockPolicy {
    /// By how much an entry's time may lie before its predecessor's, 0..86400.
    pub max_backstep_s: u32,
    /// By how much an entry's time may lie after an anchor that covers it, 0..86400.
    pub max_future_skew_s: u32,
}

/// A node: one obligation.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Node {
    /// Its id, unique in the plan.
    pub id: Box<str>,
    /// What is to be done.
    pub desc: Box<str>,
    /// What it may touch.
    pub fence: Fence,
    /// T: its done-tests, not empty.
    pub tests: Vec<Test>,
    /// The lowest effective class that credits completion.
    pub c_min: EvidenceClass,
    /// Whether a human has to approve.
    pub risk: Risk,
    /// B: how many retries there may be, 0..1000.
    pub retries: u32,
    /// Whether its obligation is to record testimony, which credits no completion.
    pub testimony: bool,
}

/// A done-test of a node.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Test {
    /// Its id, unique in the node.
    pub id: Box<str>,
    /// What it observes, frozen.
    pub spec: TestSpec,
    /// H(dom(test-spec), canon(spec)), `ext` included.
    pub digest: Digest,
}

impl Test {
    /// A test with the digest of its specification.
    #[must_use]
    pub fn new(id: impl Into<Box<str>>, spec: TestSpec) -> Self {
        let digest = test_spec_digest(&spec.to_value());
        Self { id: id.into(), spec, digest }
    }
}

/// H(dom(test-spec), canon(spec)).
#[must_use]
pub fn test_spec_digest(spec: &Value<'_>) -> Digest {
    Domain::TestSpec.hash(&[&canonical(spec)])
}

/// What a test observes and how.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct TestSpec {
    /// The kind of observable.
    pub kind: ObservableKind,
    /// What is run or observed.
    pub run: Box<str>,
    /// How it is captured.
    pub capture: Capture,
    /// The layers declared for it, ascending.
    pub layers: Vec<ObservationLayer>,
    /// What kind of signal it is.
    pub signal: SignalKind,
    /// Whether it can be replayed.
    pub replay: bool,
    /// The exit code that means pass, 0..255.
    pub expect_exit_code: u8,
}

impl TestSpec {
    /// The specification as JSON.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        write::spec(self)
    }
}

/// A registered key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Principal {
    /// Its id; derives from the key.
    pub key_id: SignerId,
    /// The key.
    pub key: PublicKey,
    /// How the key is kept; empty: not disclosed.
    pub custody: Box<str>,
    /// What it may sign, ascending, not empty.
    pub roles: Vec<Role>,
    /// Whose it is, where stated.
    pub party: Option<Box<str>>,
}
