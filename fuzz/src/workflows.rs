//! Properties of the readers of Judgment Pack's documents.

use std::sync::LazyLock;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::attribution::{Credit, TracedResult};
use anchorlog_proto::jp::canon::{canon, is_rfc8785, literal};
use anchorlog_proto::jp::evaluation_error::EvaluationError;
use anchorlog_proto::jp::export::RunExport;
use anchorlog_proto::jp::fault::Faults;
use anchorlog_proto::jp::json::{Bounds, Value, raw_member, read};
use anchorlog_proto::jp::workflow::{
    ClosedSet, Execution, OutputRecord, Selection, Workflow, project,
};
use anchorlog_verifier::workflow::{Expectations, Memory, Plugs, examine};

use crate::workflow_world::{Bundle, Plan, generate, honest};

/// Bundles of every shape, for seeds and to be changed.
pub static BUNDLES: LazyLock<Vec<Bundle>> = LazyLock::new(|| {
    let plans = [
        Plan::two_stages(),
        Plan::disposition("unresolved", None),
        Plan::unsuccessful(),
        Plan::named(),
    ];
    plans.iter().map(|plan| generate(plan, &honest)).collect()
});

/// Strict JSON: what is accepted is JSON to another reader, and both written forms are fixed points.
pub fn json(bytes: &[u8]) {
    let Ok(value) = read(bytes, &Bounds::FOREIGN) else { return };
    // Nesting and number size are bounded in `serde_json` too, so its refusal says nothing.
    let theirs: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
    let written = literal(&value);
    assert_eq!(read(&written, &Bounds::FOREIGN).expect("the literal form is read back"), value);
    if let Some(theirs) = &theirs {
        let again: serde_json::Value = serde_json::from_slice(&written).expect("it is JSON");
        assert_eq!(again, *theirs);
    }
    if let Ok(canonical) = canon(&value) {
        let again = read(&canonical, &Bounds::FOREIGN).expect("the canon is read back");
        assert_eq!(canon(&again).expect("it has one"), canonical);
        assert!(canonical.len() <= bytes.len());
        if let Some(theirs) = theirs.filter(|_| is_rfc8785(&value)) {
            let again: serde_json::Value = serde_json::from_slice(&canonical).expect("it is JSON");
            // Everything but `-0`, which is a float there.
            assert!(again == theirs || written.windows(2).any(|pair| pair == b"-0"));
        }
    } else {
        assert!(!is_rfc8785(&value));
    }
}

/// Workflow documents: every projection of an accepted one is a case or fails.
pub fn workflow(bytes: &[u8]) {
    let Ok(value) = read(bytes, &Bounds::WORKFLOW) else { return };
    let mut faults = Faults::new();
    let Some(workflow) = Workflow::read(&value, &mut faults) else {
        assert!(!faults.is_empty());
        return;
    };
    if faults.is_empty() {
        for stage in &workflow.stages {
            if let Ok(case) = project(&stage.case_bindings, &value) {
                assert!(case.as_object().is_some());
            }
        }
    }
}

/// Execution records, selections, output records and sets.
pub fn execution(bytes: &[u8]) {
    let Ok(value) = read(bytes, &Bounds::EXECUTION) else { return };
    fn settled<T>(
        value: &Value<'_>,
        read: impl Fn(&Value<'_>, &mut Faults) -> Option<T>,
    ) -> Option<T> {
        let mut faults = Faults::new();
        let read = read(value, &mut faults);
        faults.settle(read).ok()
    }
    let _record = settled(&value, Execution::read);
    let _selection = settled(&value, Selection::read);
    let _output = settled(&value, OutputRecord::read);
    if let Some(set) = settled(&value, ClosedSet::read) {
        assert_eq!(set.canon(), canon(&value).expect("there is no number in it"));
    }
}

/// Run exports and error envelopes: an audit of version 2 lies in the export.
pub fn export(bytes: &[u8]) {
    let _error = EvaluationError::read(bytes, &mut Faults::new());
    let Some(export) = RunExport::read(bytes, &mut Faults::new()) else { return };
    if let Some(result) = &export.result
        && let Some(result) = TracedResult::read(result, "/run/result", &mut Faults::new())
        && let Ok(credit) = result.trace.credit(&result.disposition)
    {
        let outcome = result.disposition.outcome_id();
        assert_eq!(outcome.is_none(), credit == Credit::NonOutcome);
    }
    if let (Some(audit), Some(raw)) = (&export.audit, raw_member(bytes, &["run", "audit"])) {
        let encoded = raw_member(bytes, &["run", "auditBytes"]).is_some_and(|raw| raw != b"null");
        assert!(encoded || audit == raw);
    }
}

/// Bundles: the first byte names a bundle, the second one of its files, the rest replaces it. Nothing but the
/// bytes that are expected passes the digests.
pub fn bundle(bytes: &[u8]) {
    let [which, file, rest @ ..] = bytes else { return };
    let Some(good) = BUNDLES.get(usize::from(*which) % BUNDLES.len()) else { return };
    let mut files = good.files.clone();
    let at = usize::from(*file) % files.len();
    let Some((path, before)) = files.iter_mut().nth(at) else { return };
    let same = *before == rest;
    let (path, _) = (path.clone(), std::mem::replace(before, rest.to_vec()));
    let expect = Expectations {
        workflow: Some(good.workflow),
        execution: Some(good.execution),
        runtime: Some(good.runtime),
        ..Expectations::default()
    };
    let Ok(examination) = examine(&Memory(files), &expect, &Plugs::default()) else { return };
    assert!(examination.to_json().len() < 1 << 20);
    let unpinned = [
        "README.md",
        "audit-signatures.json",
        "binding.json",
        "dialect.json",
        "expected-report.json",
        "profiles.json",
        "release.json",
        "sources.json",
        "trust.json",
    ];
    if examination.result() == "incomplete" && !unpinned.iter().any(|name| path.ends_with(name)) {
        assert!(same, "{path} was changed and nothing was found: {}", Digest::of(rest));
    }
}
