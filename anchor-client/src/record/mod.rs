//! Recording a governed run: CONSTRUCT's side of a GAD record.
//!
//! What it is: [`Recorder`], which writes each entry at its moment, durably, and only if the rules that will
//! judge the record find nothing against it; `supervise`, which runs an executor and records what was
//! observed of it; `seal`, which exports a record that is valid or says that it isn't. The rules are those
//! of `anchorlog-verifier`: the recorder shows them each line before it is written.
//!
//! What it isn't: an engine. It runs no tests, looks into no workspace but to see what changed, chooses no
//! node and asks no human. And it never changes what was recorded: a defect in history is reported, disclosed
//! by a notice, and stays.
#![allow(
    clippy::doc_markdown,
    reason = "the specification's symbols are written as it writes them"
)]

mod artifacts;
mod clock;
mod core;
mod ending;
mod error;
mod gates;
mod judging;
mod memory;
mod recorder;
mod room;
mod scope;
mod seal;
mod sessions;
pub mod source;
mod standing;
mod state;
mod succession;
pub mod supervise;
mod workspace;

pub use artifacts::Artifact;
pub use clock::{Clock, SystemClock};
pub use error::{RecordError, describe};
pub use judging::{Judgement, Probed};
pub use recorder::{Recorded, Recorder};
pub use seal::{Exported, Target};
pub use sessions::{Commission, ExecutorEnd, Observed};
pub use source::Document;
pub use standing::{NodeStanding, Standing};
pub use state::{SPEC_VERSION, breaking};
pub use workspace::{Baseline, DELTA_SCHEMA, WorkspaceDelta};
