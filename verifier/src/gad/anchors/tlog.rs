//! Inclusions in transparency logs: a statement about the value, its proof, the checkpoint's signatures,
//! and time stamps over the checkpoint.

use anchorlog_proto::checkpoint::{Origin, SignedCheckpoint};
use anchorlog_proto::encoding::base64_decode;
use anchorlog_proto::gad::anchor_file::{
    AnchorFileError, AnchorPart, MAX_ANCHOR_FILE_BYTES, TlogAnchor,
};
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::gad::policy::TimeSource;
use anchorlog_proto::json::{self, ReadLimits, Value};
use anchorlog_proto::statement::StatementKind;
use anchorlog_proto::timestamp::{GenTime, HashAlgorithm, Imprint};
use anchorlog_proto::tlog_policy::{PolicyLog, QuorumOutcome, TlogPolicy};
use anchorlog_proto::tlog_proof::TlogProofError;

use crate::checkpoint::examine_checkpoint;
use crate::codes::Code;
use crate::codes::gad::Affect;
use crate::codes::gad::log::CHECKPOINT;
use crate::codes::log::{INDEX, LEAF, PROOF_LENGTH, UNKNOWN};
use crate::codes::timestamp::PARSE;
use crate::finding::{Class, Finding};
use crate::gad::facts::RecordFacts;
use crate::gad::finding::{Findings, GadFinding};
use crate::proof::{Tree, check_inclusion};

use super::rfc3161::{self, Verdict};
use super::{Anchor, AnchorInput, TrustedTime};

/// Judges the file of a tlog anchor: its log first, then statement, signatures, inclusion and tokens.
pub(super) fn examine(
    anchor: &mut Anchor<'_>,
    bytes: &[u8],
    input: &AnchorInput<'_>,
    findings: &mut Findings,
) {
    let read = TlogAnchor::parse(bytes);
    let origin = match &read {
        Ok(file) => Some(file.proof.checkpoint().checkpoint().origin.clone()),
        // A file that can't be read to its end may still say whose it is.
        Err(_) => stated_origin(bytes),
    };
    if let Some(origin) = origin {
        let Some(_) = log_of(input, &origin) else {
            return unknown(anchor, &origin, input, findings);
        };
        anchor.operator = Some(origin.as_str().into());
    }
    let file = match read {
        Ok(file) => file,
        Err(error) => return unreadable(anchor, &error, findings),
    };
    let Some(logs) = input.policy.logs() else { return };
    statement(anchor, &file, input.record, findings);
    let verified = signatures(anchor, &file, logs, findings);
    let tree = tree_of(file.proof.checkpoint());
    let leaf = file.entry.leaf_hash();
    if let Err(refused) = check_inclusion(file.proof.index(), &tree, &leaf, file.proof.hashes()) {
        push(anchor, &refused, "/proof", findings);
    }
    if verified {
        tokens_over(anchor, &file, logs, input, findings);
    }
}

/// The log of the policy with this origin.
fn log_of<'a>(input: &AnchorInput<'a>, origin: &Origin) -> Option<&'a TlogPolicy> {
    input.policy.logs().filter(|logs| logs.logs().iter().any(|log| log.origin() == *origin))
}

/// A log that the policy doesn't know: nothing else of the anchor is looked at.
fn unknown(
    anchor: &mut Anchor<'_>,
    origin: &Origin,
    input: &AnchorInput<'_>,
    findings: &mut Findings,
) {
    let known: Vec<_> = input.policy.logs().map_or_else(Vec::new, |logs| {
        logs.logs().iter().map(|log| log.origin().to_string()).collect()
    });
    let known = if known.is_empty() { "no log".to_owned() } else { known.join(", ") };
    findings.push(
        GadFinding::new(UNKNOWN, anchor.place())
            .affecting(&[Affect::Note])
            .expected(known)
            .actual(origin),
    );
    anchor.unsupported(origin, findings);
}

/// A file that isn't of its form, by the part that isn't.
fn unreadable(anchor: &mut Anchor<'_>, error: &AnchorFileError, findings: &mut Findings) {
    let (code, pointer) = match error.part() {
        AnchorPart::Statement => (LEAF, "/statement"),
        AnchorPart::Timestamps => (PARSE, "/timestamps"),
        AnchorPart::Proof => (proof_code(error), "/proof"),
        AnchorPart::File => {
            // The JSON itself is refused, under its own code too.
            let refused = Finding::of_format(error.code(), error);
            findings.push(
                GadFinding::new(refused.code, anchor.place())
                    .affecting(&[Affect::Defensible])
                    .actual(refused.detail),
            );
            (CHECKPOINT, "")
        }
    };
    findings.push(
        GadFinding::new(code, anchor.place().at(pointer))
            .affecting(&[Affect::Defensible])
            .actual(error),
    );
    anchor.fail(findings);
}

/// The code of a proof text that can't be read.
fn proof_code(error: &AnchorFileError) -> Code {
    let AnchorFileError::Proof(error) = error else { return CHECKPOINT };
    match error {
        TlogProofError::IndexForm | TlogProofError::IndexRange | TlogProofError::Inclusion(_) => {
            INDEX
        }
        TlogProofError::TooManyHashes => PROOF_LENGTH,
        _ => CHECKPOINT,
    }
}

/// The statement is the one about this anchor's value: kind, digest, trail.
fn statement(
    anchor: &mut Anchor<'_>,
    file: &TlogAnchor,
    record: &RecordFacts,
    findings: &mut Findings,
) {
    let stated = file.entry.statement();
    let kind = match anchor.row.kind {
        AnchorKind::CoreRoot => StatementKind::CoreRoot,
        AnchorKind::ChainHead => StatementKind::ChainHead,
        AnchorKind::PlanCommitment => StatementKind::PlanCommitment,
    };
    let base = if file.entry.signer().is_some() { "/statement/body" } else { "/statement" };
    let mut differs = |member: &str, expected: String, actual: String| {
        findings.push(
            GadFinding::new(LEAF, anchor.place().at(format!("{base}/{member}")))
                .affecting(&[Affect::Defensible])
                .expected(expected)
                .actual(actual),
        );
    };
    let mut same = true;
    if stated.kind != kind {
        same = false;
        differs("kind", kind.to_string(), stated.kind.to_string());
    }
    if stated.digest != anchor.row.target {
        same = false;
        differs("digest", anchor.row.target.to_string(), stated.digest.to_string());
    }
    if let Some(trail) = &stated.trail {
        let plan = record.plan_hash.map(|hash| hash.to_string());
        if plan.as_deref() != Some(trail.as_str()) {
            same = false;
            let expected = plan.unwrap_or_else(|| "no trail: the plan can't be read".to_owned());
            differs("trail", expected, trail.to_string());
        }
    }
    if !same {
        anchor.fail(findings);
    }
}

/// The log signed the checkpoint, no witness's line fails, and the quorum is met. The time of the quorum
/// counts where the policy takes time from cosignatures. Gives whether the log signed.
fn signatures(
    anchor: &mut Anchor<'_>,
    file: &TlogAnchor,
    logs: &TlogPolicy,
    findings: &mut Findings,
) -> bool {
    let checkpoint = file.proof.checkpoint();
    let exam = examine_checkpoint(checkpoint, logs);
    for found in &exam.findings {
        push(anchor, found, "/proof", findings);
    }
    // The log's own signature is all it takes to hold it to a tree.
    let origin = &exam.checkpoint.origin;
    let mut keys = logs.logs().iter().filter(|log| log.origin() == *origin);
    let signed = keys.any(|log| checkpoint.verify(log.key()).is_ok());
    if signed {
        anchor.signed = Some((origin.clone(), tree_of(checkpoint)));
    }
    if let Some(QuorumOutcome::Met { unix_seconds }) = exam.quorum
        && let Ok(seconds) = i64::try_from(unix_seconds)
    {
        anchor.cosigned = Some(GenTime::from_unix(seconds));
    }
    signed
}

/// The tokens over the checkpoint with its log's signature line. One of an authority of the policy that
/// fails anything fails the anchor; those of others are passed over.
fn tokens_over(
    anchor: &mut Anchor<'_>,
    file: &TlogAnchor,
    logs: &TlogPolicy,
    input: &AnchorInput<'_>,
    findings: &mut Findings,
) {
    let checkpoint = file.proof.checkpoint();
    let origin = &checkpoint.checkpoint().origin;
    let keys = logs.logs().iter().filter(|log| log.origin() == *origin).map(PolicyLog::key);
    // One imprint for each key of the log that signed: two while a key is being changed.
    let imprints: Vec<_> = keys
        .filter(|key| checkpoint.verify(key).is_ok())
        .filter_map(|key| checkpoint.log_note_bytes(key).ok())
        .map(|note| Imprint::of_data(HashAlgorithm::Sha256, &note))
        .collect();
    let mut times: Vec<TrustedTime> = Vec::new();
    for (position, token) in file.timestamps.iter().enumerate() {
        let mut verdicts =
            imprints.iter().map(|imprint| rfc3161::judge(token, imprint, None, input.policy));
        let first = verdicts.next();
        let verdict = match first {
            Some(Verdict::Fails(failure)) => verdicts
                .find(|other| matches!(other, Verdict::Holds(_)))
                .unwrap_or(Verdict::Fails(failure)),
            Some(verdict) => verdict,
            None => return,
        };
        match verdict {
            Verdict::Unknown => {}
            Verdict::Fails(failure) => {
                let place = anchor.place().at(format!("/timestamps/{position}"));
                findings.push(rfc3161::finding(&failure, place));
                anchor.fail(findings);
            }
            Verdict::Holds(token) => times.extend(rfc3161::trusted_time(&token, input.policy)),
        }
    }
    if input.policy.policy().time_sources.contains(&TimeSource::Cosignature) {
        times.extend(anchor.cosigned.map(|time| TrustedTime { time, accuracy_us: 0 }));
    }
    anchor.time = times.into_iter().min();
}

fn tree_of(checkpoint: &SignedCheckpoint) -> Tree {
    Tree { size: checkpoint.checkpoint().size, root: checkpoint.checkpoint().root }
}

/// A finding of another check as one of this evaluation. One that isn't a note fails the anchor.
fn push(anchor: &mut Anchor<'_>, found: &Finding, pointer: &str, findings: &mut Findings) {
    let fails = found.code.class() != Class::Note;
    let affect = if fails { Affect::Defensible } else { Affect::Note };
    let finding = GadFinding::new(found.code, anchor.place().at(pointer)).affecting(&[affect]);
    findings.push(match (&found.expected, &found.actual) {
        (Some(expected), Some(actual)) => finding.expected(expected).actual(actual),
        _ => finding.actual(&found.detail),
    });
    if fails {
        anchor.fail(findings);
    }
}

/// The origin in a file that isn't wholly of its form.
fn stated_origin(bytes: &[u8]) -> Option<Origin> {
    with_file(bytes, |value| {
        let proof = value.as_object()?.get("proof")?.as_str()?;
        let (_, note) = proof.split_once("\n\n")?;
        let checkpoint = SignedCheckpoint::parse(note.as_bytes()).ok()?;
        Some(checkpoint.checkpoint().origin.clone())
    })
}

/// The tokens in a file, as far as they can be told, whether or not it is of its form.
pub(super) fn tokens(bytes: &[u8]) -> Vec<Vec<u8>> {
    with_file(bytes, |value| {
        let tokens = value.as_object()?.get("timestamps")?.as_array()?;
        Some(tokens.iter().filter_map(|one| base64_decode(one.as_str()?).ok()).collect())
    })
    .unwrap_or_default()
}

fn with_file<T>(bytes: &[u8], read: impl FnOnce(&Value<'_>) -> Option<T>) -> Option<T> {
    let limits = ReadLimits::DEFAULT.with_bytes(MAX_ANCHOR_FILE_BYTES);
    read(&json::parse(bytes, &limits).ok()?)
}
