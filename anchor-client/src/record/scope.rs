//! Work outside the fence: flagged from what the engine observed, removed, looked at again.

use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::PassFail;
use anchorlog_proto::gad::payload::{Flag, Remediation, RemediationAction, ScopeClosed};

use super::{RecordError, Recorded, Recorder};

impl Recorder {
    /// What the session of a node's current attempt touched outside the node's own fence, ascending: what has
    /// to be flagged before the node is judged. Of a session over several nodes, what another of them may
    /// touch is left out.
    ///
    /// # Errors
    ///
    /// [`RecordError::State`] when the node has no session with a result.
    pub fn stray(&self, node: &str) -> Result<Vec<String>, RecordError> {
        self.result_of(node)?;
        let session = self.session_of(node)?;
        let admitted = |path: &str| {
            session.nodes.iter().any(|node| self.plan().node(*node).fence.admits(path))
        };
        let touched = self.memory().touched(&session.id).iter();
        Ok(touched.filter(|path| !admitted(path)).map(ToString::to_string).collect())
    }

    /// Records that a session touched what the node's fence doesn't admit. Without `paths` it is
    /// [`Recorder::stray`]; when that is empty there is nothing to flag, and nothing is recorded.
    pub fn flag(
        &mut self,
        node: &str,
        paths: Option<&[String]>,
    ) -> Result<Option<Recorded>, RecordError> {
        let result = self.result_of(node)?;
        let mut paths = match paths {
            Some(paths) => paths.to_vec(),
            None => self.stray(node)?,
        };
        if paths.is_empty() {
            return Ok(None);
        }
        paths.sort_unstable();
        paths.dedup();
        let paths = paths.iter().map(String::as_str).collect();
        let flag = Flag { node, execution_result_seq: result, paths };
        self.record(&Payload::Flag(flag)).map(Some)
    }

    /// Records what was done about a flag (`removal`) or a refusal (`revision`).
    pub fn remediation(
        &mut self,
        node: &str,
        action: RemediationAction,
    ) -> Result<Recorded, RecordError> {
        self.record(&Payload::Remediation(Remediation { node, action: Some(action) }))
    }

    /// Records what looking at the scope again found; signed by the engine. A pass closes the node's flags.
    pub fn scope_closed(&mut self, node: &str, verdict: PassFail) -> Result<Recorded, RecordError> {
        self.record(&Payload::ScopeClosed(ScopeClosed { node, verdict }))
    }
}
