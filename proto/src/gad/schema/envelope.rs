//! What stands around a core: manifest, attestations, anchors, and the memory of logs.

use super::core::{count, layers};
use super::parts::{
    Closed, Part, array, base64, base64_up_to, boolean, constant, credential, described, digest,
    nullable, one_of, path, pattern, seq, set, signed, string, text_of, time, titled, with, words,
    wrapper,
};
use crate::gad::anchor_file::{ANCHOR_SCHEMA, MAX_ANCHOR_TIMESTAMPS, MAX_PROOF_TEXT_BYTES};
use crate::gad::attestation::{ATTESTATION_TYPE, MAX_EVALUATOR_BYTES};
use crate::gad::emit::{list, object, text};
use crate::gad::envelope::{AnchorType, ENVELOPE_SCHEMA, MAX_PRODUCER_BYTES, OPERATOR_SEAL_TYPE};
use crate::gad::known_checkpoints::{KNOWN_CHECKPOINTS_SCHEMA, MAX_CONSISTENCY_HASHES};
use crate::gad::limits::Limits;
use crate::gad::names::{AnchorKind, ProvenanceLayer, RunOutcome};
use crate::receipt::MAX_TIMESTAMP_BYTES;
use crate::statement::{SCHEMA as STATEMENT_SCHEMA, StatementKind, Trail};

const LIMITS: Limits = Limits::DEFAULT;

pub(super) fn envelope_manifest() -> Part {
    let head = Closed::new().with("seq", seq()).with("head", digest());
    let item = || Closed::new().with("path", path()).with("digest", digest());
    let anchor = item()
        .with("type", words(AnchorType::ALL))
        .with("kind", words(AnchorKind::ALL))
        .with("target", digest());
    let by_path = |row: Closed, most| described(array(row.part(), 0..=most), "Ascending by path.");
    let metadata =
        Closed::new().with("producer", text_of(1..=MAX_PRODUCER_BYTES)).with("created", time());
    let seal = signed(OPERATOR_SEAL_TYPE, Closed::new().with("root_core", digest()));
    let provenance = ProvenanceLayer::ALL;
    let manifest = Closed::new()
        .with("schema", constant(ENVELOPE_SCHEMA))
        .with("root_core", digest())
        .with("predecessor", nullable(digest()))
        .with("provenance_layers", set(words(provenance), 1..=count(provenance)))
        .with(
            "declared_heads",
            described(array(head.part(), 0..=LIMITS.elements), "Ascending by seq."),
        )
        .with("anchors", by_path(anchor, LIMITS.anchors))
        .with("attestations", by_path(item(), LIMITS.attestations))
        .with("metadata", metadata.part())
        .may("operator_seal", seal)
        .ext();
    titled(manifest.part(), ENVELOPE_SCHEMA)
}

pub(super) fn attestation() -> Part {
    let results = Closed::new()
        .with("valid", boolean())
        .with("outcome", words(RunOutcome::ALL))
        .with("satisfied", boolean());
    let policy = Closed::new().with("id", string()).with("hash", digest());
    let body = Closed::new()
        .with("root_core", digest())
        .with("root_envelope", nullable(digest()))
        .with("predicate_results", results.part())
        .with("spec_version", string())
        .with("canonicalization_version", string())
        .with("predicate_registry_version", string())
        .with("evaluator_identity", text_of(1..=MAX_EVALUATOR_BYTES))
        .with("evaluator_credential", credential())
        .with("evaluator_implementation", implementation())
        .with("policy", policy.part())
        .with("replay_layers_exercised", layers())
        .with("conformance_suite_version", string())
        .with("evaluation_time", time())
        .ext();
    titled(signed(ATTESTATION_TYPE, body), ATTESTATION_TYPE)
}

/// `{name, version, hash}`.
pub(super) fn implementation() -> Part {
    Closed::new().with("name", string()).with("version", string()).with("hash", digest()).part()
}

pub(super) fn anchor_file() -> Part {
    let most = u64::try_from(MAX_ANCHOR_TIMESTAMPS).unwrap_or(u64::MAX);
    let plain = with_trail(statement());
    let body =
        statement().with("type", constant("statement")).with("key_id", super::parts::key_id());
    let signed = wrapper(with_trail(body));
    let file = Closed::new()
        .with("schema", constant(ANCHOR_SCHEMA))
        .with("type", constant(AnchorType::Tlog.as_str()))
        .with("statement", one_of([plain, signed]))
        .with("proof", text_of(1..=MAX_PROOF_TEXT_BYTES))
        .with("timestamps", array(base64_up_to(MAX_TIMESTAMP_BYTES), 0..=most));
    titled(file.part(), ANCHOR_SCHEMA)
}

fn statement() -> Closed {
    let kinds: Vec<_> = StatementKind::ALL.iter().map(|kind| kind.as_str()).collect();
    Closed::new()
        .with("schema", constant(STATEMENT_SCHEMA))
        .with("kind", words(&kinds))
        .with("digest", digest())
        .may("trail", trail())
        .may("sequence", seq())
}

/// The name of a trail.
pub(super) fn trail() -> Part {
    pattern(format!("^[a-z0-9][a-z0-9:._-]{{0,{}}}$", Trail::MAX_BYTES.saturating_sub(1)))
}

/// A statement has a sequence within a trail only.
fn with_trail(statement: Closed) -> Part {
    let needs = object([("sequence", list(&["trail"], text))]);
    with(statement.part(), "dependentRequired", needs)
}

pub(super) fn known_checkpoints() -> Part {
    let most = u64::try_from(MAX_CONSISTENCY_HASHES).unwrap_or(u64::MAX);
    let checkpoint = Closed::new()
        .with("origin", with(string(), "minLength", 1_u32.into()))
        .with("size", seq())
        .with("root", base64(32))
        .may("consistency", nullable(array(base64(32), 0..=most)));
    let known = Closed::new()
        .with("schema", constant(KNOWN_CHECKPOINTS_SCHEMA))
        .with("checkpoints", array(checkpoint.part(), 0..=LIMITS.elements));
    titled(known.part(), KNOWN_CHECKPOINTS_SCHEMA)
}
