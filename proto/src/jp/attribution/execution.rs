//! The pins of an execution record of version 3.
//!
//! Version 3 is named by RFC 0028 and its closed form is not public. So this reads the members it needs by name
//! and takes no notice of others, which is no check of the record's form. Its digest covers all of it. Instances
//! and their attempts are read as version 1 has them, where the record has any.

use crate::digest::Digest;
use crate::jp::canon::canon;
use crate::jp::fault::{Fault, Faults, Rule};
use crate::jp::id::Id;
use crate::jp::json::{Bounds, Fields, Value, read_into};

/// What an execution record pins of its outputs and packs.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ExecutionPins {
    /// SHA-256 of the canonical record.
    pub digest: Digest,
    /// Digest of the workflow document.
    pub workflow: Digest,
    /// The execution's id.
    pub execution: Id,
    /// The frozen pack of each stage, in order.
    pub packs: Vec<(Id, Digest)>,
    /// The output records of each stage, in order.
    pub sets: Vec<(Id, Vec<Digest>)>,
    /// The attempts that left an audit record and a run export; `None` where the record has no instances.
    pub runs: Option<Vec<RunPin>>,
}

/// What an attempt pins of its run.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RunPin {
    /// The instance.
    pub instance: Id,
    /// SHA-256 of the audit record, without its newline.
    pub audit: Digest,
    /// SHA-256 of the run export's exact bytes.
    pub run: Digest,
}

impl ExecutionPins {
    /// Reads an execution record; refusals in the order of RFC 0020's phases.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut faults = Faults::new();
        let root = read_into(bytes, &Bounds::EXECUTION, &mut faults);
        let pins = root.and_then(|root| pins(&root, &mut faults));
        faults.settle(pins)
    }
}

fn pins(root: &Value<'_>, faults: &mut Faults) -> Option<ExecutionPins> {
    let bytes = canon(root).ok()?;
    if bytes.len() > Bounds::EXECUTION.bytes {
        faults
            .note(Rule::Bytes, "the canonical record has more bytes than an execution record may");
    }
    let mut fields = Fields::new(root, "", faults)?;
    let version = fields.version("executionVersion", 3);
    let workflow = fields.digest("workflowDigest");
    let execution = fields.parsed("execution", "is no id");
    let frozen = fields.array("frozen")?;
    let sets = fields.array("outputSets")?;
    let instances = fields.optional("instances");
    let packs = each(frozen, "/frozen", faults, |fields| {
        let stage = fields.parsed("stage", "is no id");
        let pack = fields.digest("packDigest");
        Some((stage?, pack?))
    });
    let sets = each(sets, "/outputSets", faults, |fields| {
        let stage = fields.parsed("stage", "is no id");
        let records = fields.digests("records");
        Some((stage?, records?))
    });
    let runs = match instances {
        Some(instances) => Some(runs(instances, faults)?),
        None => None,
    };
    version?;
    Some(ExecutionPins {
        digest: Digest::of(&bytes),
        workflow: workflow?,
        execution: execution?,
        packs: packs?,
        sets: sets?,
        runs,
    })
}

fn runs(instances: &Value<'_>, faults: &mut Faults) -> Option<Vec<RunPin>> {
    let Some(instances) = instances.as_array() else {
        faults.note(Rule::Form, "/instances is no array");
        return None;
    };
    let listed = each(instances, "/instances", faults, |fields| {
        let instance: Id = fields.parsed("id", "is no id")?;
        let attempts = fields.array("attempts")?;
        let place = format!("{}/attempts", fields.place());
        let pins = each(attempts, &place, fields.faults(), |fields| {
            let audit = fields.nullable_digest("auditDigest")?;
            let run = fields.nullable_digest("runDigest")?;
            Some(audit.zip(run))
        })?;
        let pin = |(audit, run)| RunPin { instance: instance.clone(), audit, run };
        Some(pins.into_iter().flatten().map(pin).collect::<Vec<_>>())
    })?;
    Some(listed.into_iter().flatten().collect())
}

fn each<'v, 'a, T>(
    elements: &'v [Value<'a>],
    place: &str,
    faults: &mut Faults,
    read: impl Fn(&mut Fields<'v, 'a, '_>) -> Option<T>,
) -> Option<Vec<T>> {
    let mut found = Vec::with_capacity(elements.len());
    for (at, value) in elements.iter().enumerate() {
        found.push(read(&mut Fields::new(value, format_args!("{place}/{at}"), faults)?)?);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::jp::fault::RefusalCode;

    #[test]
    fn members_that_are_not_public_are_covered_by_the_digest_alone() {
        let (w, p, r) = (Digest::of(b"w"), Digest::of(b"p"), Digest::of(b"r"));
        let text = format!(
            r#"{{"execution":"e1","executionVersion":3,"frozen":[{{"packDigest":"{p}","stage":"s","x":1}}],"outputSets":[{{"records":["{r}"],"stage":"s"}}],"summaries":[],"workflowDigest":"{w}"}}"#
        );
        let pins = ExecutionPins::read(text.as_bytes()).unwrap();
        assert_eq!(pins.digest, Digest::of(text.as_bytes()));
        assert_eq!(pins.packs, [("s".parse().unwrap(), p)]);
        assert_eq!(pins.sets, [("s".parse().unwrap(), vec![r])]);
        // Another spelling is the same record; another member is another one.
        let spaced = text.replace(':', " : ").replace("sha256 : ", "sha256:");
        assert_eq!(ExecutionPins::read(spaced.as_bytes()).unwrap(), pins);
        let other = text.replace(r#""x":1"#, r#""x":2"#);
        assert_ne!(ExecutionPins::read(other.as_bytes()).unwrap().digest, pins.digest);
        let code = |text: String| ExecutionPins::read(text.as_bytes()).unwrap_err().code();
        for version in ["1", "2", "4"] {
            let changed = text.replace(r#"Version":3"#, &format!(r#"Version":{version}"#));
            assert_eq!(code(changed), RefusalCode::VersionUnread);
        }
        assert_eq!(code(text.replace(r#""executionVersion":3,"#, "")), RefusalCode::InputMalformed);
        assert_eq!(code(text.replace(r#""stage":"s","x":1"#, "")), RefusalCode::InputMalformed);
    }

    #[test]
    fn attempts_pin_run_exports_where_there_are_instances() {
        let (w, a, r) = (Digest::of(b"w"), Digest::of(b"a"), Digest::of(b"r"));
        let record = |instances: &str| {
            format!(
                r#"{{"execution":"e1","executionVersion":3,"frozen":[],"instances":{instances},"outputSets":[],"workflowDigest":"{w}"}}"#
            )
        };
        let attempt = |audit: &str, run: &str| {
            format!(r#"{{"auditDigest":{audit},"number":1,"runDigest":{run}}}"#)
        };
        let (audit, run) = (format!("\"{a}\""), format!("\"{r}\""));
        let attempts = format!("{},{}", attempt("null", &run), attempt(&audit, &run));
        let text =
            record(&format!(r#"[{{"attempts":[{attempts}],"id":"i1","state":"completed"}}]"#));
        let pins = ExecutionPins::read(text.as_bytes()).unwrap();
        assert_eq!(
            pins.runs.unwrap(),
            [RunPin { instance: "i1".parse().unwrap(), audit: a, run: r }]
        );
        for wrong in ["{}", "[1]", r#"[{"id":"i1"}]"#, r#"[{"attempts":[{}],"id":"i1"}]"#] {
            let fault = ExecutionPins::read(record(wrong).as_bytes()).unwrap_err();
            assert_eq!(fault.code(), RefusalCode::InputMalformed, "{wrong}");
            assert!(fault.detail.contains("/instances"), "{}", fault.detail);
        }
    }
}
