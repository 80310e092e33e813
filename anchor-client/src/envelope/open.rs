//! Envelopes and cores as they lie there, opened through the verifier's container.

use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::envelope::{EnvelopeManifest, root_envelope};
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{self, ReadLimits};
use anchorlog_verifier::codes::gad::Affect;
use anchorlog_verifier::gad::container::{Bundle, Form};
use anchorlog_verifier::gad::finding::Findings;
use anchorlog_verifier::gad::report::Report;
use anchorlog_verifier::gad::rules::r1_envelope::ENVELOPE;

use super::anchor::{AnchorForm, CheckedAnchor, Targets};
use super::attestation::CheckedAttestation;
use super::error::EnvelopeError;
use super::judge::{against, evaluate_alone, holds_together};

/// An envelope that holds together: its manifest names the core's root and every item, each with its
/// digest, and no more (R1e).
#[derive(Debug)]
pub struct Envelope {
    path: PathBuf,
    bundle: Bundle,
    manifest: EnvelopeManifest,
    root: Digest,
    targets: Targets,
    root_core: Digest,
    has_ext: bool,
    report: Report,
}

impl Envelope {
    /// Opens the envelope in a directory or an archive, and evaluates it without a policy. Its record may
    /// be invalid; the envelope itself has to hold together.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, EnvelopeError> {
        let bundle = Bundle::open(path, limits);
        if bundle.as_ref().is_ok_and(|bundle| !bundle.contains(ENVELOPE)) {
            return Err(EnvelopeError::NoEnvelope { path: path.to_path_buf() });
        }
        let report = evaluate_alone(&bundle, limits);
        let bundle = bundle.map_err(|findings| unreadable(path, findings))?;
        let unsound = |report: Option<&Report>| EnvelopeError::Unsound {
            path: path.to_path_buf(),
            findings: report.map(|one| against(one, &[Affect::R1e])).unwrap_or_default(),
        };
        let Some(report) = report else { return Err(unsound(None)) };
        if report.statuses.unevaluable() {
            return Err(unreadable(path, report.findings));
        }
        let (Some(root), Some(root_core), true) =
            (report.root_envelope, report.root_core, holds_together(&report))
        else {
            return Err(unsound(Some(&report)));
        };
        let Some(plan_hash) = report.plan_hash else {
            let findings = against(&report, &[Affect::R2]);
            return Err(EnvelopeError::Unsound { path: path.to_path_buf(), findings });
        };
        let bytes = bundle.read_whole(ENVELOPE).map_err(|findings| unreadable(path, findings))?;
        let Some((manifest, has_ext)) = read_manifest(&bytes, limits).filter(|_| {
            // Not another file since it was evaluated.
            root_envelope(&bytes) == root
        }) else {
            return Err(unsound(Some(&report)));
        };
        if let Some(row) = manifest.anchors.iter().find(|row| row.anchor_type.is_none()) {
            return Err(EnvelopeError::TypeUnknown { path: row.item.path.clone() });
        }
        let heads = manifest.heads.iter().flatten().map(|declared| declared.head).collect();
        let targets = Targets { plan_hash, root_core: Some(root_core), heads };
        let path = path.to_path_buf();
        Ok(Self { path, bundle, manifest, root, targets, root_core, has_ext, report })
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its manifest.
    #[must_use]
    pub const fn manifest(&self) -> &EnvelopeManifest {
        &self.manifest
    }

    /// The recomputed root_envelope.
    #[must_use]
    pub const fn root_envelope(&self) -> Digest {
        self.root
    }

    /// The recomputed root_core.
    #[must_use]
    pub const fn root_core(&self) -> Digest {
        self.root_core
    }

    /// h(P).
    #[must_use]
    pub const fn plan_hash(&self) -> Digest {
        self.targets.plan_hash
    }

    /// The values that anchors can be over.
    #[must_use]
    pub const fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Its evaluation without a policy.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Whether the manifest has an `ext`, which a successor doesn't inherit.
    #[must_use]
    pub const fn has_ext(&self) -> bool {
        self.has_ext
    }

    /// Its files.
    #[must_use]
    pub const fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Checks a file that is to be an anchor of this envelope.
    pub fn check_anchor(
        &self,
        kind: AnchorKind,
        name: &Path,
        bytes: &[u8],
    ) -> Result<CheckedAnchor, EnvelopeError> {
        let check = AnchorForm::of(name)
            .and_then(|form| CheckedAnchor::check(kind, form, bytes, &self.targets));
        check.map_err(|source| EnvelopeError::Anchor {
            name: name.display().to_string(),
            source: Box::new(source),
        })
    }

    /// Checks a file that is to be an attestation in this envelope's successor.
    pub fn check_attestation(
        &self,
        name: &Path,
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<CheckedAttestation, EnvelopeError> {
        CheckedAttestation::check(bytes, self.root_core, self.plan_hash(), limits).map_err(
            |source| EnvelopeError::Attestation {
                name: name.display().to_string(),
                source: Box::new(source),
            },
        )
    }
}

/// The manifest and whether it has an extension, if it is one without any defect.
fn read_manifest(bytes: &[u8], limits: &Limits) -> Option<(EnvelopeManifest, bool)> {
    let value = json::parse_canonical(bytes, &ReadLimits::DEFAULT.with_bytes(bytes.len())).ok()?;
    let mut defects = Defects::new();
    let manifest = EnvelopeManifest::read(&value, limits, &mut defects)?;
    let has_ext = value.as_object().is_some_and(|object| object.contains("ext"));
    defects.is_empty().then_some((manifest, has_ext))
}

/// Opens an exported core: its directory, or the one that has it as `core` and is no envelope.
pub(super) fn open_core(path: &Path, limits: &Limits) -> Result<(PathBuf, Bundle), EnvelopeError> {
    let open = |path: &Path| Bundle::open(path, limits).map_err(|all| unreadable(path, all));
    let bundle = open(path)?;
    if bundle.form() == Form::Core {
        return Ok((path.to_path_buf(), bundle));
    }
    let below = path.join("core");
    if bundle.form() == Form::Directory && !bundle.contains(ENVELOPE) && below.is_dir() {
        let bundle = open(&below)?;
        if bundle.form() == Form::Core {
            return Ok((below, bundle));
        }
    }
    Err(EnvelopeError::NoCore { path: path.to_path_buf() })
}

#[expect(clippy::needless_pass_by_value, reason = "stands in `map_err`")]
pub(super) fn unreadable(path: &Path, findings: Findings) -> EnvelopeError {
    let findings = findings.sorted().into_iter().cloned().collect();
    EnvelopeError::Unreadable { path: path.to_path_buf(), findings }
}
