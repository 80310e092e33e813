//! Envelope manifests, attestations, policies, anchor files and remembered checkpoints of the published
//! corpus, which another program wrote.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::json::corpus_tests::corpus_directory;
use crate::json::{Fields, ReadLimits, Value, canonical, parse};

use super::anchor_file::{AnchorPart, TlogAnchor};
use super::attestation::Attestation;
use super::changes::shown;
use super::envelope::{EnvelopeManifest, root_envelope};
use super::form::Defects;
use super::known_checkpoints::KnownCheckpoints;
use super::limits::Limits;
use super::policy::{Policy, policy_hash};

/// One vector: its directory, the codes it demands, and its description.
struct Vector {
    directory: PathBuf,
    codes: Vec<String>,
    description: Value<'static>,
}

impl Vector {
    fn demands(&self, code: impl Fn(&str) -> bool) -> bool {
        self.codes.iter().any(|demanded| code(demanded))
    }

    /// The files of this extension in a folder of the bundle.
    fn files(&self, folder: &str) -> Vec<PathBuf> {
        list(&self.directory.join("bundle").join(folder))
            .into_iter()
            .filter(|file| file.extension().is_some_and(|extension| extension == "json"))
            .collect()
    }

    /// The file that one of the inputs names.
    fn input(&self, name: &str) -> Option<PathBuf> {
        let inputs = self.description.as_object().unwrap().get("inputs").unwrap();
        let path = inputs.as_object().unwrap().get(name)?.as_str()?;
        Some(self.directory.join(path))
    }
}

fn list(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read_json(bytes: &[u8]) -> Value<'static> {
    parse(bytes, &ReadLimits::DEFAULT).unwrap().into_owned()
}

fn vectors() -> Vec<Vector> {
    let Some(corpus) = corpus_directory() else { return Vec::new() };
    let mut vectors = Vec::new();
    for directory in list(&corpus.join("gad")) {
        let Ok(bytes) = std::fs::read(directory.join("vector.json")) else { continue };
        let description = read_json(&bytes);
        let expected = description.as_object().unwrap().get("expected").unwrap();
        let codes = Fields::new(expected, "").unwrap().strings("must_codes", 1000).unwrap();
        let codes = codes.into_iter().map(str::to_owned).collect();
        vectors.push(Vector { directory, codes, description });
    }
    assert!(vectors.len() > 250, "only {} vectors", vectors.len());
    vectors
}

#[test]
fn envelope_manifests() {
    let (mut whole, mut refused) = (0, 0);
    for vector in vectors() {
        let envelope = vector.directory.join("bundle/envelope.json");
        for file in [Some(envelope), vector.input("predecessor")].into_iter().flatten() {
            // Some vectors are archives, and one has no envelope.
            let Ok(bytes) = std::fs::read(&file) else { continue };
            let value = read_json(&bytes);
            let mut defects = Defects::new();
            let manifest = EnvelopeManifest::read(&value, &Limits::DEFAULT, &mut defects);
            let name = file.display();
            if let Some(first) = defects.list().first() {
                let layers = manifest.is_some_and(|manifest| manifest.layers.is_empty());
                let demanded = vector.demands(|code| {
                    code == first.code.as_str() || layers && code == "R1.ENV.LAYERS_UNDECLARED"
                });
                assert!(demanded, "{name}: {:?}", shown(&defects));
                refused += 1;
                continue;
            }
            let manifest = manifest.unwrap();
            let undeclared = vector.demands(|code| code == "R1.ENV.LAYERS_UNDECLARED");
            assert_eq!(manifest.layers.is_empty(), undeclared, "{name}");
            assert!(manifest.root_core.is_some() && manifest.predecessor.is_ok(), "{name}");
            assert!(manifest.heads.is_some() && manifest.metadata.is_some(), "{name}");
            assert!(manifest.anchors.iter().all(|row| row.anchor_type.is_some()), "{name}");
            if !undeclared {
                assert_eq!(canonical(&manifest.to_value()), bytes, "{name}");
            }
            whole += 1;
        }
    }
    assert!(whole == 0 && refused == 0 || whole > 200 && refused >= 8, "{whole}, {refused}");
}

#[test]
fn roots_of_envelopes() {
    let Some(corpus) = corpus_directory() else { return };
    let bytes = std::fs::read(corpus.join("gad/V01/bundle/envelope.json")).unwrap();
    assert_eq!(
        root_envelope(&bytes).to_string(),
        "sha256:b34982754e4763a4bc997af3659248473d6d56fe2df464065c451778e5f7b70d"
    );
    // Where the envelope before is at hand, it is the one that is named.
    let mut predecessors = 0;
    for vector in vectors() {
        let Some(predecessor) = vector.input("predecessor") else { continue };
        let root = root_envelope(&std::fs::read(predecessor).unwrap());
        let bytes = std::fs::read(vector.directory.join("bundle/envelope.json")).unwrap();
        let value = read_json(&bytes);
        let manifest = EnvelopeManifest::read(&value, &Limits::DEFAULT, &mut Defects::new());
        assert_eq!(manifest.unwrap().predecessor, Ok(Some(root)));
        predecessors += 1;
    }
    assert!(predecessors >= 2, "{predecessors}");
}

#[test]
fn attestations() {
    let (mut whole, mut refused) = (0, 0);
    for vector in vectors() {
        let mut files = vector.files("attestations");
        files.extend(vector.input("attestation"));
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            let value = read_json(&bytes);
            let mut defects = Defects::new();
            let attestation = Attestation::read(&value, &Limits::DEFAULT, &mut defects);
            let malformed = vector.demands(|code| code == "ATT.FORM");
            let name = file.display();
            assert_eq!(malformed, !defects.is_empty(), "{name}: {:?}", shown(&defects));
            match attestation {
                None => refused += 1,
                Some(attestation) => {
                    assert!(!malformed, "{name}");
                    assert_eq!(canonical(&attestation.to_value()), bytes, "{name}");
                    let signature = attestation.signed.signature.unwrap();
                    let verified =
                        attestation.credential.key.verify(&attestation.signed.message, &signature);
                    let forged = vector.demands(|code| code == "ATT.SIG");
                    assert_eq!(verified.is_err(), forged, "{name}");
                    whole += 1;
                }
            }
        }
    }
    assert!(whole == 0 && refused == 0 || whole > 50 && refused >= 1, "{whole}, {refused}");
}

#[test]
fn policies_have_the_hashes_that_vectors_state() {
    let Some(corpus) = corpus_directory() else { return };
    for file in list(&corpus.join("gad/_shared/policies")) {
        let bytes = std::fs::read(&file).unwrap();
        let value = read_json(&bytes);
        let mut defects = Defects::new();
        let policy = Policy::read(&value, &mut defects);
        assert_eq!(shown(&defects), [""; 0], "{}", file.display());
        assert_eq!(canonical(&policy.unwrap().to_value()), bytes, "{}", file.display());
    }
    let mut stated = 0;
    for vector in vectors() {
        let description = vector.description.as_object().unwrap();
        let Some(policy) = description.get("policy").and_then(Value::as_str) else { continue };
        let hash: Digest =
            description.get("policy_hash").unwrap().as_str().unwrap().parse().unwrap();
        let bytes = std::fs::read(vector.directory.join(policy)).unwrap();
        assert_eq!(policy_hash(&bytes), hash, "{}", vector.directory.display());
        stated += 1;
    }
    assert!(stated > 50, "{stated}");
}

#[test]
fn anchor_files() {
    let (mut whole, mut refused) = (0, 0);
    for vector in vectors() {
        for file in vector.files("anchors") {
            let bytes = std::fs::read(&file).unwrap();
            let name = file.display();
            match TlogAnchor::parse(&bytes) {
                Ok(anchor) => {
                    assert_eq!(anchor.to_bytes().unwrap(), bytes, "{name}");
                    whole += 1;
                }
                Err(error) => {
                    let expected = match error.part() {
                        AnchorPart::Statement => "LOG.LEAF",
                        _ => "LOG.CHECKPOINT",
                    };
                    assert!(vector.demands(|code| code == expected), "{name}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(whole == 0 && refused == 0 || whole > 15 && refused >= 3, "{whole}, {refused}");
}

#[test]
fn remembered_checkpoints() {
    let Some(corpus) = corpus_directory() else { return };
    let bytes = std::fs::read(corpus.join("gad/X301/known.json")).unwrap();
    let value = read_json(&bytes);
    let mut defects = Defects::new();
    let known = KnownCheckpoints::read(&value, &mut defects);
    assert_eq!(shown(&defects), [""; 0]);
    let known = known.unwrap();
    assert_eq!(known.checkpoints.len(), 1);
    assert_eq!(canonical(&known.to_value()), bytes);
}
