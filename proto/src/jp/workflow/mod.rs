//! RFC 0020's closed objects, each in its own file, read to the end.
//!
//! A reader here takes a value that [`crate::jp::json`] has read and notes what is wrong with it, by the RFC's
//! rules and phases. What relates one object to another (a pin to its artifact, a selection to its set) is no
//! matter of form and not asked here.

mod attempt;
mod document;
mod execution;
mod instance;
mod limits;
mod output;
mod projection;
mod selection;
mod set;
mod stage;
#[cfg(test)]
mod tests;

pub use attempt::{Attempt, Failure, Retry, State};
pub use document::Workflow;
pub use execution::{Execution, Frozen, OutputSet, SetStatus};
pub use instance::{Instance, dependent_input};
pub use limits::Limits;
pub use output::{Class, Influence, Lineage, OutputRecord};
pub use projection::{ProjectionFailed, project};
pub use selection::{Mode, Review, Selection};
pub use set::ClosedSet;
pub use stage::{
    Cardinality, CaseBinding, Direction, Input, Outputs, Relation, Rule, SelectionMode, Stage,
    ValueType,
};
