//! The pins of an execution record of version 3.
//!
//! Version 3 is named by RFC 0028 and its closed form is not public. So this reads the members it needs by name
//! and takes no notice of others, which is no check of the record's form. Its digest covers all of it.

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
    version?;
    Some(ExecutionPins {
        digest: Digest::of(&bytes),
        workflow: workflow?,
        execution: execution?,
        packs: packs?,
        sets: sets?,
    })
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
}
