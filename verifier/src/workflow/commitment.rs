//! An independently held commitment to an execution digest: a log's receipt.
//!
//! What it shows: that the log of a policy holds the statement `execution_digest` of exactly this execution
//! record, under the execution's id, and with time stamps since when. What it doesn't: that the record is
//! consistent ([`super::examine`]), true, complete or the only branch of its execution. Branches of one
//! execution share its id: several digests under one id are no contradiction.

use anchorlog_proto::Digest;
use anchorlog_proto::jp::canon::canon;
use anchorlog_proto::jp::fault::{Fault, Faults, Rule};
use anchorlog_proto::jp::id::Id;
use anchorlog_proto::jp::json::{Bounds, read};
use anchorlog_proto::jp::workflow::{Execution, Workflow};
use anchorlog_proto::statement::{StatementKind, Trail};

use super::files::{CouldNotRun, Files};
use crate::receipt::Expectations;

/// What a receipt has to be of.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Commitment {
    /// The workflow document's digest.
    pub workflow_digest: Digest,
    /// The execution record's digest, which is the statement's.
    pub execution_digest: Digest,
    /// The execution's id, which is the statement's trail.
    pub execution: Id,
}

/// Why there is nothing to commit to.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitmentError {
    /// A side file states another digest.
    #[error("{file} states another digest than {digest}, which is that of the document beside it")]
    Beside {
        /// The side file.
        file: String,
        /// The document's digest.
        digest: Digest,
    },
    /// A document can't be read, has another form, or isn't in its place.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A file could not be read.
    #[error(transparent)]
    CouldNotRun(#[from] CouldNotRun),
}

impl Commitment {
    /// Reads workflow and execution record of a bundle strictly and in their relation, and takes their digests.
    pub fn of_bundle(files: &dyn Files) -> Result<Self, CommitmentError> {
        let workflow = files.read("workflow.json", Bounds::WORKFLOW.bytes)?;
        let execution = files.read("execution.json", Bounds::EXECUTION.bytes)?;
        Self::of_documents(Some(&workflow), &execution).map_err(CommitmentError::from)
    }

    /// The same of the two documents; without the workflow, the execution record alone is read and the
    /// workflow's digest is the one it states.
    pub fn of_documents(workflow: Option<&[u8]>, execution: &[u8]) -> Result<Self, Fault> {
        let in_execution = |fault: Fault| fault.within("execution.json");
        let value = read(execution, &Bounds::EXECUTION).map_err(in_execution)?;
        let mut faults = Faults::new();
        let record = Execution::read(&value, &mut faults);
        let record = faults.settle(record).map_err(in_execution)?;
        if let Some(bytes) = workflow {
            let in_workflow = |fault: Fault| fault.within("workflow.json");
            let value = read(bytes, &Bounds::WORKFLOW).map_err(in_workflow)?;
            let mut faults = Faults::new();
            let document = Workflow::read(&value, &mut faults);
            let document = faults.settle(document).map_err(in_workflow)?;
            let mut faults = Faults::new();
            let ordered = record.in_order(&document, &mut faults);
            faults.settle(ordered.then_some(())).map_err(in_execution)?;
            let digest = digest(&value).map_err(in_workflow)?;
            if digest != record.workflow_digest {
                let fault = Fault::new(Rule::Order, "it is of another workflow than workflow.json");
                return Err(in_execution(fault));
            }
        }
        Ok(Self {
            workflow_digest: record.workflow_digest,
            execution_digest: digest(&value).map_err(in_execution)?,
            execution: record.execution,
        })
    }

    /// What a receipt is expected to hold.
    #[must_use]
    pub fn expectations(&self) -> Expectations {
        Expectations {
            digest: Some(self.execution_digest),
            kind: Some(StatementKind::ExecutionDigest),
            trail: self.execution.as_str().parse::<Trail>().ok(),
            ..Expectations::default()
        }
    }
}

fn digest(value: &anchorlog_proto::jp::json::Value<'_>) -> Result<Digest, Fault> {
    let canon = canon(value).map_err(|error| Fault::new(Rule::Domain, error))?;
    Ok(Digest::of(&canon))
}
