//! Artifacts and what the record says of them: which digests of P and W reach one, and whether every
//! reference names one and states its digest.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{Entry, Payload};
use anchorlog_proto::gad::payload::ArtifactRef;
use anchorlog_proto::json::Value;

use crate::codes::gad::r1::{ARTIFACT_REF_ABSENT, ARTIFACT_REF_DIGEST};
use crate::gad::{GadFinding, Where};

/// The artifact members of one core, as its manifest lists them.
///
/// Marks are set from any thread; each only ever goes from "unbound" to "bound", so that their order makes
/// no difference.
#[derive(Debug, Default)]
pub struct Artifacts {
    by_path: HashMap<Box<str>, Digest>,
    /// Slot of each digest; artifacts of equal bytes share one.
    slots: HashMap<Digest, usize>,
    bound: Vec<AtomicBool>,
}

impl Artifacts {
    /// The members of role `artifact`: their paths relative to `core/`, and their digests.
    pub fn new<'m>(members: impl IntoIterator<Item = (&'m str, Digest)>) -> Self {
        let mut artifacts = Self::default();
        for (path, digest) in members {
            let next = artifacts.bound.len();
            if *artifacts.slots.entry(digest).or_insert(next) == next {
                artifacts.bound.push(AtomicBool::new(false));
            }
            artifacts.by_path.insert(path.into(), digest);
        }
        artifacts
    }

    /// Marks the artifacts whose digest is a string value of `value`, at any depth; `ext` and everything
    /// below it doesn't count.
    pub fn bind(&self, value: &Value<'_>) {
        match value {
            Value::String(text) => self.bind_text(text),
            Value::Array(elements) => {
                for element in elements {
                    self.bind(element);
                }
            }
            Value::Object(members) => {
                for (name, member) in members.iter() {
                    if name != "ext" {
                        self.bind(member);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Integer(_) => {}
        }
    }

    fn bind_text(&self, text: &str) {
        if self.slots.is_empty() || text.len() != DIGEST_TEXT {
            return;
        }
        let slot = text.parse().ok().and_then(|digest: Digest| self.slots.get(&digest));
        if let Some(mark) = slot.and_then(|slot| self.bound.get(*slot)) {
            // Relaxed: the marks are read after the threads that set them were joined.
            mark.store(true, Ordering::Relaxed);
        }
    }

    /// Paths of the artifacts that no digest has reached, ascending: R1.ARTIFACT.UNBOUND.
    #[must_use]
    pub fn unbound(&self) -> Vec<&str> {
        let mut unbound: Vec<&str> = self
            .by_path
            .iter()
            .filter(|(_, digest)| {
                let slot = self.slots.get(digest).and_then(|slot| self.bound.get(*slot));
                !slot.is_some_and(|mark| mark.load(Ordering::Relaxed))
            })
            .map(|(path, _)| &**path)
            .collect();
        unbound.sort_unstable();
        unbound
    }

    /// Checks the references of an entry: each names an artifact and states its digest.
    pub(super) fn check(&self, entry: &Entry<'_>, findings: &mut Vec<GadFinding>) {
        let (name, reference) = match &entry.payload {
            Some(Payload::Dispatch(dispatch)) => ("instruction", dispatch.instruction),
            Some(Payload::ExecutorExit(exit)) => match exit.output {
                Some(output) => ("available_output", output),
                None => return,
            },
            Some(Payload::ExecutionResult(result)) => match result.delta {
                Ok(Some(delta)) => ("delta", delta),
                Ok(None) | Err(_) => return,
            },
            _ => return,
        };
        let ArtifactRef { path, digest } = reference;
        let place = |suffix| Where::entry(entry.seq).at(format!("/body/p/{name}_{suffix}"));
        match self.by_path.get(path) {
            None => {
                findings.push(GadFinding::new(ARTIFACT_REF_ABSENT, place("ref")).actual(path));
            }
            Some(listed) if *listed != digest => findings.push(
                GadFinding::new(ARTIFACT_REF_DIGEST, place("digest"))
                    .expected(listed)
                    .actual(digest),
            ),
            Some(_) => {}
        }
    }
}

/// Length of a digest's text.
const DIGEST_TEXT: usize = "sha256:".len() + 64;

#[cfg(test)]
mod tests {
    use super::*;
    use anchorlog_proto::json::{ReadLimits, parse};

    fn bind(artifacts: &Artifacts, text: &str) {
        artifacts.bind(&parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap());
    }

    #[test]
    fn string_values_bind_at_any_depth_but_not_in_ext_and_not_as_names() {
        let digest = |text: &str| Digest::of(text.as_bytes());
        let artifacts = Artifacts::new([
            ("artifacts/a", digest("a")),
            ("artifacts/again", digest("a")),
            ("artifacts/b", digest("b")),
            ("artifacts/c", digest("c")),
            ("artifacts/d", digest("d")),
        ]);
        let text = format!(
            r#"{{"{}":1,"ext":{{"x":"{}"}},"p":[{{"q":"{}"}},"{}"],"upper":"{}"}}"#,
            digest("b"),
            digest("c"),
            digest("a"),
            digest("z"),
            digest("d").to_string().to_uppercase(),
        );
        bind(&artifacts, &text);
        assert_eq!(artifacts.unbound(), ["artifacts/b", "artifacts/c", "artifacts/d"]);
        bind(&artifacts, &format!("\"{}\"", digest("b")));
        assert_eq!(artifacts.unbound(), ["artifacts/c", "artifacts/d"]);
    }
}
