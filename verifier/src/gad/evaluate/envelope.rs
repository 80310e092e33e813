//! The envelope around the core: its manifest, the policy, the anchors, and the claims that may rest on
//! them.

use std::collections::BTreeMap;
use std::io::Read as _;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::envelope::{EnvelopeManifest, root_envelope};
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::Value;

use crate::codes::gad::Affect;
use crate::gad::anchors::{self, AnchorInput, AnchorsOutcome};
use crate::gad::artifacts::Survey;
use crate::gad::container::{Bundle, Form};
use crate::gad::finding::{Findings, WITNESS};
use crate::gad::policy::{PolicyContext, PolicyInput};
use crate::gad::rules::r1_envelope::{self, ENVELOPE, Roots};
use crate::gad::rules::r9::{self, AnchorState};

use super::core::{self, Core, Documents};
use super::documents::Reading;
use super::{Asked, Request, RequestError, Tracer};

/// Why an evaluation stops before its end.
pub(super) enum Stop {
    /// The container has a fault; findings say which.
    Container,
    /// The caller's own inputs don't fit the record.
    Request(RequestError),
}

/// Everything that was judged before the statuses are drawn from it.
pub(super) struct Judged {
    pub(super) documents: Documents,
    pub(super) core: Core,
    pub(super) envelope: Option<EnvelopeManifest>,
    /// Whether the manifest of the envelope has an `ext`.
    pub(super) has_ext: bool,
    pub(super) root_envelope: Option<Digest>,
    pub(super) policy: PolicyContext,
    pub(super) anchors: AnchorsOutcome,
    /// Bytes of the listed items that are there, by path.
    pub(super) files: BTreeMap<Box<str>, Vec<u8>>,
    pub(super) survey: Survey,
    /// Positions of claims that rest on anchors, in a core alone.
    pub(super) claims_not_evaluated: Vec<usize>,
}

/// Steps 1 to 6, and the claims of step 3.
pub(super) fn judge(
    bundle: &Bundle,
    request: &Request<'_>,
    tracer: Option<&mut Tracer<'_>>,
    findings: &mut Findings,
) -> Result<Judged, Stop> {
    let documents = core::documents(bundle, request, findings)?;
    let Manifest { envelope, root, has_ext } = manifest(bundle, request, findings)?;
    let listed = envelope.as_ref().map(|(manifest, _)| manifest);
    bundle.check_paths(documents.manifest.as_ref(), listed, findings);
    stop_at_faults(findings)?;
    let mut survey =
        Survey::of(bundle, |path| path != WITNESS, request.threads).map_err(|faults| {
            findings.append(faults);
            Stop::Container
        })?;
    let policy = PolicyContext::load(
        &PolicyInput {
            bytes: request.policy,
            expected_hash: request.policy_hash,
            defensible_asked: matches!(request.asked, Asked::Defensible | Asked::Gad4),
            replay_runner: request.replay.is_some(),
            at: request.evaluation_time,
            limits: request.limits,
        },
        request.trust,
        findings,
    );
    let core = core::rules(bundle, &documents, &mut survey, &policy, request, tracer, findings)?;
    if bundle.form() != Form::Core {
        match &envelope {
            Some((manifest, root_envelope)) => r1_envelope::check(
                bundle,
                manifest,
                &Roots {
                    core: documents.root_core,
                    envelope: *root_envelope,
                    expected_envelope: request.expect_root_envelope,
                },
                &survey,
                request.predecessors,
                findings,
            ),
            None => {
                if root.is_none() {
                    r1_envelope::missing(findings);
                }
            }
        }
    }
    let envelope = envelope.map(|(manifest, _)| manifest);
    let files = match &envelope {
        Some(manifest) => items(bundle, manifest, findings)?,
        None => BTreeMap::new(),
    };
    // Without an envelope there is no anchor, and what the policy requires is still asked for.
    let empty = no_items();
    let input = AnchorInput {
        envelope: envelope.as_ref().unwrap_or(&empty),
        files: &files,
        record: &core.facts,
        policy: &policy,
        known: request.known_checkpoints,
        predecessors: request.predecessors,
    };
    let anchors = anchors::judge(&input, findings);
    stop_at_faults(findings)?;
    let claims_not_evaluated = claims(bundle, &documents, &core, &anchors, findings);
    Ok(Judged {
        documents,
        core,
        envelope,
        has_ext,
        root_envelope: root,
        policy,
        anchors,
        files,
        survey,
        claims_not_evaluated,
    })
}

/// Any fault of the container ends the evaluation.
fn stop_at_faults(findings: &Findings) -> Result<(), Stop> {
    if findings.end_evaluation() { Err(Stop::Container) } else { Ok(()) }
}

/// A manifest that lists nothing.
const fn no_items() -> EnvelopeManifest {
    EnvelopeManifest {
        root_core: None,
        predecessor: Ok(None),
        layers: Vec::new(),
        heads: Some(Vec::new()),
        anchors: Vec::new(),
        attestations: Vec::new(),
        metadata: None,
        operator_seal: None,
    }
}

/// M_envelope and its root, as far as they can be read. A core alone has none.
#[derive(Default)]
struct Manifest {
    envelope: Option<(EnvelopeManifest, Digest)>,
    root: Option<Digest>,
    has_ext: bool,
}

fn manifest(
    bundle: &Bundle,
    request: &Request<'_>,
    findings: &mut Findings,
) -> Result<Manifest, Stop> {
    if bundle.form() == Form::Core || !bundle.contains(ENVELOPE) {
        return Ok(Manifest::default());
    }
    let reading = Reading { path: ENVELOPE, owner: &[Affect::R1e], limits: &request.limits };
    let mut has_ext = false;
    let read = |value: &Value<'_>, limits: &Limits, defects: &mut Defects| {
        has_ext = value.as_object().is_some_and(|object| object.contains("ext"));
        EnvelopeManifest::read(value, limits, defects)
    };
    let document = reading.member(bundle, read, findings).ok_or(Stop::Container)?;
    let root = document.canonical.as_deref().map(root_envelope);
    Ok(Manifest { envelope: document.content.zip(root), root, has_ext })
}

/// The longest anchor or attestation that is looked into, in bytes; a longer one is cut, and then it can't
/// be read as anything.
pub(super) const MAX_ITEM_BYTES: u64 = 16 << 20;

fn items(
    bundle: &Bundle,
    manifest: &EnvelopeManifest,
    findings: &mut Findings,
) -> Result<BTreeMap<Box<str>, Vec<u8>>, Stop> {
    let anchors = manifest.anchors.iter().map(|row| &row.item);
    let mut files = BTreeMap::new();
    for row in anchors.chain(&manifest.attestations) {
        if row.path.starts_with(crate::gad::container::CORE) || !bundle.contains(&row.path) {
            continue;
        }
        let mut bytes = Vec::new();
        let mut reader = bundle.reader(&row.path).map_err(|faults| {
            findings.append(faults);
            Stop::Container
        })?;
        if let Err(error) = reader.by_ref().take(MAX_ITEM_BYTES).read_to_end(&mut bytes) {
            findings.push(crate::gad::container::read_failure(&row.path, &error));
            return Err(Stop::Container);
        }
        files.insert(row.path.clone(), bytes);
    }
    Ok(files)
}

/// R9, which may rest on anchors: without an envelope, claims that do are not evaluated.
fn claims(
    bundle: &Bundle,
    documents: &Documents,
    core: &Core,
    anchors: &AnchorsOutcome,
    findings: &mut Findings,
) -> Vec<usize> {
    let (Some(claims), Some(plan), Some(watch)) = (&documents.claims, &core.plan, &core.watch)
    else {
        return Vec::new();
    };
    let state = |kind: AnchorKind| AnchorState {
        listed: anchors.listed(kind),
        verified: anchors.supports(kind),
    };
    let known: Option<&dyn Fn(AnchorKind) -> AnchorState> =
        if bundle.form() == Form::Core { None } else { Some(&state) };
    let record =
        r9::Record { plan, machine: watch.machine(), ledger: watch.ledger(), scope: watch.scope() };
    r9::judge(claims, record, known, findings)
}
