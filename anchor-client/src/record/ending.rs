//! Checkpoints, the ends of a run, and what is disclosed after them.

use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::payload::Checkpoint;

use super::{RecordError, Recorded, Recorder};

impl Recorder {
    /// Signs every entry since the last checkpoint, that one included. Possible at any time after the freeze,
    /// also while a session is open.
    pub fn checkpoint(&mut self) -> Result<Recorded, RecordError> {
        let over = Checkpoint::over(self.progress.start, &self.progress.since);
        let checkpoint = over.ok_or_else(|| RecordError::State {
            subject: "checkpoint".to_owned(),
            reason: "there is nothing to sign",
        })?;
        self.record(&Payload::Checkpoint(checkpoint))
    }

    /// Records that every node is good: the run is completed.
    pub fn complete(&mut self) -> Result<Recorded, RecordError> {
        self.record(&Payload::PlanCompleted)
    }

    /// Records that the run stops. Every node that isn't good is named as unresolved.
    pub fn halt(&mut self) -> Result<Recorded, RecordError> {
        let unresolved = self.unresolved();
        let unresolved = unresolved.iter().map(String::as_str).collect();
        self.record(&Payload::PlanHalted(unresolved))
    }

    /// Every node that isn't good, ascending.
    #[must_use]
    pub fn unresolved(&self) -> Vec<String> {
        let plan = self.plan();
        let mut unresolved: Vec<_> = plan
            .nodes()
            .filter(|node| !self.machine().is_good(*node))
            .map(|node| plan.id(node).to_owned())
            .collect();
        unresolved.sort_unstable();
        unresolved
    }

    /// Discloses defects, signed by the engine, after the end of the run. The history stays as it is.
    pub fn notice(&mut self, defects: &[String]) -> Result<Recorded, RecordError> {
        let defects = defects.iter().map(String::as_str).collect();
        self.record(&Payload::NonconformanceNotice(defects))
    }
}
