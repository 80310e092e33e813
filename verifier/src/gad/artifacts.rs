//! One look at the bytes of every member: its digest, and what must not be in a bundle.
//!
//! What it is: a [`Survey`], which streams members once, on as many threads as it is given, and keeps
//! of each its SHA-256 and whether it is key material (REG-38) or an attestation. The result doesn't
//! depend on the number of threads. What it isn't: a judgment of the digests; the rules of R1 compare
//! them with the manifests.
//!
//! Only members of at most [`PROBE_BYTES`] are looked into; larger ones are hashed in pieces.

use core::num::NonZeroUsize;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::thread;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::attestation::ATTESTATION_TYPE;
use anchorlog_proto::gad::operator::Operator;
use anchorlog_proto::gad::plan::Plan;
use anchorlog_proto::json::{ReadLimits, parse};
use anchorlog_proto::signed_object::SignedObject;
use sha2::{Digest as _, Sha256};

use crate::codes::gad::Affect;
use crate::codes::gad::notes::KEY_MATERIAL;

use super::container::{Bundle, CORE, read_failure};
use super::finding::{Findings, GadFinding, Where};
use super::key_material::{KeyMaterial, probe};

/// The largest member that is looked into, in bytes. What a thread keeps in memory.
pub const PROBE_BYTES: u64 = 1 << 20;

/// How much of a larger member is read at a time.
const CHUNK: usize = 1 << 16;

/// What is kept of one member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct MemberFacts {
    /// Its plain SHA-256.
    pub digest: Digest,
    /// Whether it is, or may be, a private key.
    pub key: Option<KeyMaterial>,
    /// Whether it is a signed object that calls itself an attestation.
    pub is_attestation: bool,
}

impl MemberFacts {
    /// Those of a member that was read whole.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let small = u64::try_from(bytes.len()).is_ok_and(|size| size <= PROBE_BYTES);
        Self {
            digest: Digest::of(bytes),
            key: if small { probe(bytes) } else { None },
            is_attestation: small && is_attestation(bytes),
        }
    }

    /// Those of a member of which nothing but the digest is asked.
    #[must_use]
    pub const fn hashed(digest: Digest) -> Self {
        Self { digest, key: None, is_attestation: false }
    }
}

/// What was seen of the members that were looked at.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    digests: BTreeMap<Box<str>, Digest>,
    keys: BTreeMap<Box<str>, KeyMaterial>,
    attestations: Vec<Box<str>>,
}

impl Survey {
    /// Nothing was looked at yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks at every member for which `wanted` holds, on `threads` threads.
    ///
    /// `Err` holds a finding for each member that couldn't be read to its end: they end the evaluation.
    pub fn of(
        bundle: &Bundle,
        wanted: impl Fn(&str) -> bool,
        threads: NonZeroUsize,
    ) -> Result<Self, Findings> {
        let paths: Vec<&str> =
            bundle.members().map(|(path, _)| path).filter(|path| wanted(path)).collect();
        let mut survey = Self::new();
        let mut findings = Findings::new();
        for (path, facts) in paths.iter().zip(look_at(bundle, &paths, threads)) {
            match facts {
                Ok(facts) => survey.add(path, facts),
                Err(failures) => findings.append(failures),
            }
        }
        if findings.is_empty() { Ok(survey) } else { Err(findings) }
    }

    /// Adds a member that somebody else has read.
    pub fn add(&mut self, path: &str, facts: MemberFacts) {
        self.digests.insert(path.into(), facts.digest);
        if let Some(key) = facts.key {
            self.keys.insert(path.into(), key);
        }
        if facts.is_attestation {
            self.attestations.push(path.into());
        }
    }

    /// The SHA-256 of a member; `None` when it wasn't looked at.
    #[must_use]
    pub fn digest(&self, path: &str) -> Option<Digest> {
        self.digests.get(path).copied()
    }

    /// Every member that was looked at, ascending by path, with its SHA-256.
    pub fn digests(&self) -> impl Iterator<Item = (&str, Digest)> {
        self.digests.iter().map(|(path, digest)| (&**path, *digest))
    }

    /// HYG.KEY_MATERIAL: a member that parses as a private key, or derives a key that the plan registers
    /// or that is the operator's. A note, unless a policy is given: then DEFENSIBLE is false.
    pub fn key_material(
        &self,
        plan: Option<&Plan>,
        operator: Option<&Operator>,
        under_policy: bool,
        findings: &mut Findings,
    ) {
        let affects = [if under_policy { Affect::Defensible } else { Affect::Note }];
        for (path, key) in &self.keys {
            let actual = match key {
                KeyMaterial::PrivateKey => "a private key".to_owned(),
                KeyMaterial::Seed(key) => {
                    let registered = plan
                        .and_then(|plan| {
                            plan.principals.iter().find(|principal| principal.key == *key)
                        })
                        .map(|_| "a key that the plan registers");
                    let own = operator
                        .filter(|operator| operator.credential.key == *key)
                        .map(|_| "the operator's key");
                    let Some(whose) = registered.or(own) else { continue };
                    format!("the seed of {whose}, {}", key.id())
                }
            };
            let finding = GadFinding::new(KEY_MATERIAL, Where::member(path.clone()));
            findings.push(finding.actual(actual).affecting(&affects));
        }
    }

    /// Members of the core that are signed objects of the type attestation, ascending by path: ATT.IN_CORE.
    #[must_use]
    pub fn attestations_in_core(&self) -> Vec<Box<str>> {
        let mut paths: Vec<_> =
            self.attestations.iter().filter(|path| path.starts_with(CORE)).cloned().collect();
        paths.sort_unstable();
        paths
    }
}

/// What is seen of each path, in their order.
fn look_at(
    bundle: &Bundle,
    paths: &[&str],
    threads: NonZeroUsize,
) -> Vec<Result<MemberFacts, Findings>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut buffer = Vec::new();
        let mut seen = Vec::new();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(position) else { return seen };
            seen.push((position, facts_of(bundle, path, &mut buffer)));
        }
    };
    let mut seen = thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads.get().min(paths.len())).map(|_| scope.spawn(work)).collect();
        let mut seen = work();
        for other in others {
            match other.join() {
                Ok(more) => seen.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        seen
    });
    seen.sort_unstable_by_key(|(position, _)| *position);
    seen.into_iter().map(|(_, facts)| facts).collect()
}

fn facts_of(bundle: &Bundle, path: &str, buffer: &mut Vec<u8>) -> Result<MemberFacts, Findings> {
    let mut reader = bundle.reader(path)?;
    let small = bundle.size(path).is_some_and(|size| size <= PROBE_BYTES);
    let mut read = || -> io::Result<MemberFacts> {
        buffer.clear();
        if small {
            reader.read_to_end(buffer)?;
            return Ok(MemberFacts::of(buffer));
        }
        buffer.resize(CHUNK, 0);
        let mut hasher = Sha256::new();
        loop {
            match reader.read(buffer) {
                Ok(0) => break,
                Ok(read) => hasher.update(buffer.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(MemberFacts::hashed(Digest::from_bytes(hasher.finalize().into())))
    };
    read().map_err(|error| {
        let mut findings = Findings::new();
        findings.push(read_failure(path, &error));
        findings
    })
}

/// Whether the bytes parse as a signed object whose body says that it is an attestation. Only the form
/// of a signed object is asked for: a bad attestation has no more business in a core than a good one.
fn is_attestation(bytes: &[u8]) -> bool {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        return false;
    }
    let Ok(value) = parse(bytes, &ReadLimits::DEFAULT) else { return false };
    SignedObject::read(&value, "").is_ok_and(|object| object.type_name() == ATTESTATION_TYPE)
}

#[cfg(test)]
mod tests;
