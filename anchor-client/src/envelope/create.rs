//! E_0: an exported core, packaged.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::chain::sign_body;
use anchorlog_proto::gad::envelope::{
    DeclaredHead, EnvelopeManifest, MAX_PRODUCER_BYTES, Metadata, OPERATOR_SEAL_TYPE,
};
use anchorlog_proto::gad::line::read_line;
use anchorlog_proto::gad::names::ProvenanceLayer;
use anchorlog_proto::gad::operator::Operator;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{self, Object, ReadLimits, Value};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_verifier::codes::gad::Affect;
use anchorlog_verifier::gad::container::{Bundle, CORE};
use anchorlog_verifier::gad::finding::GadFinding;
use anchorlog_verifier::gad::rules::r1_envelope::ENVELOPE;

use super::error::EnvelopeError;
use super::extend::reopen;
use super::judge::{against, evaluate_alone};
use super::open::{open_core, unreadable};
use super::staging;
use crate::durable::StagedDirectory;

/// What the first envelope of a core says about itself.
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct NewEnvelope<'a> {
    /// The layers of provenance that are claimed; not empty.
    pub layers: Vec<ProvenanceLayer>,
    /// Who makes the envelope: unsigned words.
    pub producer: &'a str,
    /// When, in seconds since 1970: unsigned too. Given, so that equal inputs give equal bytes.
    pub created: i64,
    /// The heads that may be anchored.
    pub heads: Vec<Head>,
    /// The operator's key, to seal root_core with.
    pub seal: Option<&'a SigningKey>,
    /// Whether to package a core that is no valid record.
    pub allow_invalid: bool,
}

/// A head of the chain to declare.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "by number, or the end")]
pub enum Head {
    /// That of the entry with this number.
    At(u64),
    /// That of the last entry.
    Last,
}

/// An envelope that was made of a core.
#[derive(Debug)]
#[non_exhaustive]
pub struct Created {
    /// Its root_envelope.
    pub root_envelope: Digest,
    /// The core's root.
    pub root_core: Digest,
    /// h(P).
    pub plan_hash: Digest,
    /// Its manifest.
    pub manifest: EnvelopeManifest,
    /// What stands against the record; empty for a valid one.
    pub invalid: Vec<GadFinding>,
}

/// Packages the core in `core` as an envelope in the new directory `out`.
///
/// The core is evaluated first, alone; its bytes are then copied as they are.
pub fn create(
    core: &Path,
    out: &Path,
    request: &NewEnvelope<'_>,
    limits: &Limits,
) -> Result<Created, EnvelopeError> {
    let layers: BTreeSet<ProvenanceLayer> = request.layers.iter().copied().collect();
    if layers.is_empty() {
        return Err(EnvelopeError::NoLayers);
    }
    let bytes = request.producer.len();
    if !(1..=MAX_PRODUCER_BYTES).contains(&bytes) {
        return Err(EnvelopeError::Producer { bytes });
    }
    let (path, bundle) = open_core(core, limits)?;
    let opened = Ok(bundle);
    let report = evaluate_alone(&opened, limits);
    let bundle = opened.map_err(|findings| unreadable(&path, findings))?;
    let Some(report) = report else {
        return Err(EnvelopeError::NoCore { path });
    };
    if report.statuses.unevaluable() {
        return Err(unreadable(&path, report.findings));
    }
    let findings = against(&report, &Affect::RECORD);
    // Without its root and its plan there is nothing to package.
    let (Some(root_core), Some(plan_hash)) = (report.root_core, report.plan_hash) else {
        return Err(EnvelopeError::CoreInvalid { path, findings });
    };
    let invalid = if report.statuses.valid() { Vec::new() } else { findings };
    if !report.statuses.valid() && !request.allow_invalid {
        return Err(EnvelopeError::CoreInvalid { path, findings: invalid });
    }
    let mut manifest = EnvelopeManifest {
        root_core: Some(root_core),
        predecessor: Ok(None),
        layers: layers.into_iter().collect(),
        heads: Some(declared_heads(&bundle, &path, &request.heads, limits)?),
        anchors: Vec::new(),
        attestations: Vec::new(),
        metadata: Some(Metadata { producer: request.producer.into(), created: request.created }),
        operator_seal: None,
    };
    let Value::Object(mut object) = manifest.to_value() else {
        return Err(EnvelopeError::NoCore { path });
    };
    if let Some(key) = request.seal {
        let seal = seal(&bundle, &path, key, root_core, plan_hash)?;
        object.insert("operator_seal", Value::Object(seal));
    }
    let mut staged = StagedDirectory::beside(out)?;
    staging::copy(&bundle, &path, |path| path.starts_with(CORE), &mut staged)?;
    staged.write(ENVELOPE, &mut object.to_canonical().as_slice())?;
    let envelope = reopen(&staged, limits)?;
    manifest.operator_seal.clone_from(&envelope.manifest().operator_seal);
    let root_envelope = envelope.root_envelope();
    staged.publish()?;
    Ok(Created { root_envelope, root_core, plan_hash, manifest, invalid })
}

/// The heads of these entries, as the witness states them.
fn declared_heads(
    bundle: &Bundle,
    path: &Path,
    wanted: &[Head],
    limits: &Limits,
) -> Result<Vec<DeclaredHead>, EnvelopeError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let numbers: BTreeSet<u64> = wanted
        .iter()
        .filter_map(|head| if let Head::At(seq) = head { Some(*seq) } else { None })
        .collect();
    let reader =
        bundle.reader("core/witness.jsonl").map_err(|findings| unreadable(path, findings))?;
    let read_failure = |source| EnvelopeError::Read { path: path.join("witness.jsonl"), source };
    let mut heads = Vec::new();
    let mut reader = BufReader::new(reader);
    let (mut line, mut last, mut entries) = (Vec::new(), Vec::new(), 0_u64);
    while reader.read_until(b'\n', &mut line).map_err(read_failure)? > 0 {
        if numbers.contains(&entries) {
            heads.push(head_of(entries, &line, limits)?);
        }
        std::mem::swap(&mut line, &mut last);
        line.clear();
        entries = entries.saturating_add(1);
    }
    if let Some(&seq) = numbers.last().filter(|seq| **seq >= entries) {
        return Err(EnvelopeError::Head { seq, entries });
    }
    if wanted.contains(&Head::Last) {
        let seq = entries.checked_sub(1).ok_or(EnvelopeError::Head { seq: 0, entries })?;
        if !numbers.contains(&seq) {
            heads.push(head_of(seq, &last, limits)?);
        }
    }
    Ok(heads)
}

fn head_of(seq: u64, line: &[u8], limits: &Limits) -> Result<DeclaredHead, EnvelopeError> {
    let failure = |source| EnvelopeError::HeadUnreadable { seq, source };
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let document = read_line(line, limits).map_err(failure)?;
    let mut fields = json::Fields::new(document.value(), "").map_err(failure)?;
    Ok(DeclaredHead { seq, head: fields.digest("h").map_err(failure)? })
}

/// The operator's signature over root_core, if this is the operator's key.
fn seal(
    bundle: &Bundle,
    path: &Path,
    key: &SigningKey,
    root_core: Digest,
    plan_hash: Digest,
) -> Result<Object<'static>, EnvelopeError> {
    let refuse = |code| EnvelopeError::Operator { path: path.to_path_buf(), code };
    let bytes =
        bundle.read_whole("core/operator.json").map_err(|findings| unreadable(path, findings))?;
    let value = json::parse(&bytes, &ReadLimits::DEFAULT).map_err(|error| refuse(error.code()))?;
    let mut defects = Defects::new();
    let operator = Operator::read(&value, &mut defects).ok_or_else(|| {
        refuse(defects.list().first().map_or("J.TYPE", |defect| defect.code.as_str()))
    })?;
    let (expected, actual) = (operator.credential.key.id(), key.id());
    if expected != actual {
        return Err(EnvelopeError::SealKey { expected, actual });
    }
    let members = Object::from([("root_core", root_core.to_string())]);
    Ok(sign_body(OPERATOR_SEAL_TYPE, members, &plan_hash, key))
}
