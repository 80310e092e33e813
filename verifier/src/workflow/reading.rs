//! RFC 0020 section 9's entry point: a reading, a refusal or a finding.
//!
//! [`Reading`] has no constructor but [`read_workflow`], which needs a proof of every referenced preparation,
//! every stage's expansion and every instance's influence. Those are made by plugged verifiers alone. Without
//! them this reader reads no dialect kind, and says so.

use anchorlog_proto::Digest;

use super::check::{Check, CheckResult, FindingCode, Status};
use super::examine::{Completion, Counts, Examination, Expectations, examine};
use super::files::{CouldNotRun, Files};
use super::plug::Plugs;

/// The records of a branch agree with each other and with what was expected of them. It authenticates nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reading {
    workflow_digest: Digest,
    execution_digest: Digest,
    completion: Completion,
    counts: Counts,
}

impl Reading {
    /// The workflow document's digest.
    #[must_use]
    pub const fn workflow_digest(&self) -> Digest {
        self.workflow_digest
    }

    /// The execution record's digest.
    #[must_use]
    pub const fn execution_digest(&self) -> Digest {
        self.execution_digest
    }

    /// Whether the branch is complete.
    #[must_use]
    pub const fn completion(&self) -> Completion {
        self.completion
    }

    /// How much it holds.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }
}

/// What section 9's reader answers.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these three")]
pub enum Answer {
    /// Consistency.
    Reading(Reading),
    /// The input isn't admitted.
    Refusal(String),
    /// Something doesn't agree.
    Finding(FindingCode),
}

impl Answer {
    /// 0 for a reading, 1 for a refusal, 2 for a finding.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Reading(_) => 0,
            Self::Refusal(_) => 1,
            Self::Finding(_) => 2,
        }
    }
}

/// Reads a workflow bundle as section 9 has it, with the plugged verifiers for what this reader doesn't read.
///
/// # Errors
///
/// When it could not run: besides unreadable files, when an expectation is missing, or when a plugged verifier
/// gave no answer, or something else could not be checked.
pub fn read_workflow(
    files: &dyn Files,
    expect: &Expectations,
    plugs: &Plugs,
) -> Result<Answer, CouldNotRun> {
    if expect.workflow.is_none() || expect.execution.is_none() {
        return Err(CouldNotRun(
            "the expected digests of workflow and execution are needed".into(),
        ));
    }
    if !plugs.are_complete() {
        // Nothing after the reference phase is asked: what it refuses comes before the kinds of dialects.
        let examination = examine(files, expect, &Plugs::default())?;
        let code = examination.refusal().map_or("kind-unread", |(_, code)| code);
        return Ok(Answer::Refusal(code.to_owned()));
    }
    let examination = examine(files, expect, plugs)?;
    if let Some((check, code)) = examination.refusal() {
        // Whichever stage's kind isn't read, the code is the same. Every other refusal of a plugged verifier comes
        // after what was asked before it.
        let first = check == Check::DialectKinds || examination.unanswered.is_none();
        return if first {
            Ok(Answer::Refusal(code.to_owned()))
        } else {
            Err(could_not_run(examination.unanswered.as_ref()))
        };
    }
    if examination.unanswered.is_some() {
        return Err(could_not_run(examination.unanswered.as_ref()));
    }
    if let Some(error) = unanswered(&examination, true) {
        return Err(error);
    }
    if let Some((_, code)) = examination.finding() {
        return Ok(Answer::Finding(code));
    }
    if let Some(error) = unanswered(&examination, false) {
        return Err(error);
    }
    reading(&examination).map(Answer::Reading)
}

/// A check that isn't made. Before a finding only those that come before it are asked about.
fn unanswered(examination: &Examination, before_finding: bool) -> Option<CouldNotRun> {
    let finding = examination.finding().map(|(check, _)| check);
    let mut unmade = examination.unperformed().filter(|result| {
        // What a release's typed encoding leaves out can't be told by anybody who reads the bundle.
        result.check != Check::ReleaseEncoding
            && !result.was_not_come_to()
            && (!before_finding || finding.is_some_and(|finding| result.check < finding))
    });
    unmade.next().map(|result| could_not_run(Some(result)))
}

fn could_not_run(unmade: Option<&CheckResult>) -> CouldNotRun {
    CouldNotRun(match unmade {
        Some(CheckResult { check, status: Status::NotPerformed { reason, detail } }) => {
            format!("{check} can't be checked: {} {detail}", reason.as_str())
        }
        _ => "something can't be checked".to_owned(),
    })
}

/// A reading, from the proofs.
fn reading(examination: &Examination) -> Result<Reading, CouldNotRun> {
    let unproven = || CouldNotRun("something is left unproven".to_owned());
    let proofs = &examination.proofs;
    let (Some(workflow_digest), Some(execution_digest), Some(completion), Some(counts)) = (
        examination.workflow_digest,
        examination.execution_digest,
        examination.completion,
        examination.counts,
    ) else {
        return Err(unproven());
    };
    let whole = proofs.proven.expansions.len() == counts.stages
        && proofs.preparations.iter().flatten().flatten().count() == proofs.pinned
        && proofs.proven.influences.len() == counts.instances
        && proofs.proven.influences.iter().all(Option::is_some);
    if !whole {
        return Err(unproven());
    }
    Ok(Reading { workflow_digest, execution_digest, completion, counts })
}
