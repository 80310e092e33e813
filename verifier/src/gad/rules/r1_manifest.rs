//! R1, the manifest: M_core lists every member of the core except itself, and every hash matches.
//!
//! What it is: the manifest, as it was read, against the members, as they were seen. What it isn't: the
//! reading of the manifest (`R1.PROFILE.*`, `R1.MANIFEST.DUP`), nor the check of its paths
//! ([`Bundle::check_paths`]), which have both come before; and the references of the witness to
//! artifacts are found where the witness is read.

use std::collections::BTreeSet;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::core_manifest::{CoreManifest, CoreRole};

use crate::codes::gad::r1::{
    ARTIFACT_UNBOUND, MANIFEST_ABSENT_MEMBER, MANIFEST_HASH, MANIFEST_MISSING,
    MANIFEST_ROLE_MISSING, MANIFEST_SELF, MANIFEST_SIZE, MANIFEST_UNLISTED_MEMBER, ROOT_CORE,
};

use super::super::artifacts::Survey;
use super::super::container::{Bundle, CORE};
use super::super::finding::{Findings, GadFinding, Where};

/// The member that is M_core.
pub const MANIFEST: &str = "core/manifest.json";

/// The name of M_core in itself.
const MANIFEST_NAME: &str = "manifest.json";

/// The members that are there once or, of claims, at most once.
const ROLES: [(CoreRole, &str); 4] = [
    (CoreRole::Plan, "plan.json"),
    (CoreRole::Witness, "witness.jsonl"),
    (CoreRole::Operator, "operator.json"),
    (CoreRole::Claims, "claims.json"),
];

/// Where every other member lies.
const ARTIFACTS: &str = "artifacts/";

/// R1.MANIFEST.MISSING: there is no manifest, or none that could be read.
pub fn missing(findings: &mut Findings) {
    findings.push(GadFinding::new(MANIFEST_MISSING, Where::member(MANIFEST)));
}

/// R1.ROOT_CORE: the root the caller expects isn't the recomputed one.
pub fn check_root(root_core: Digest, expected: Option<Digest>, findings: &mut Findings) {
    if let Some(expected) = expected.filter(|expected| *expected != root_core) {
        let finding = GadFinding::new(ROOT_CORE, Where::member(MANIFEST));
        findings.push(finding.expected(expected).actual(root_core));
    }
}

/// The members of the core against its manifest, and the manifest against its own rules.
///
/// `survey` has seen every member of the core that is there. One that it hasn't seen has no digest, and
/// so not the listed one.
pub fn check_members(
    bundle: &Bundle,
    manifest: &CoreManifest,
    survey: &Survey,
    findings: &mut Findings,
) {
    check_roles(manifest, findings);
    let mut listed = BTreeSet::new();
    for (index, row) in manifest.members.iter().enumerate() {
        if &*row.path == MANIFEST_NAME {
            let place = Where::member(MANIFEST).at(format!("/members/{index}"));
            findings.push(GadFinding::new(MANIFEST_SELF, place));
            continue;
        }
        let path = format!("{CORE}{}", row.path);
        let place = Where::member(&*path);
        match bundle.size(&path) {
            None => findings.push(GadFinding::new(MANIFEST_ABSENT_MEMBER, place)),
            Some(size) => {
                let digest = survey.digest(&path);
                if size != row.size {
                    let finding = GadFinding::new(MANIFEST_SIZE, place.clone());
                    findings.push(finding.expected(row.size).actual(size));
                }
                if digest != Some(row.digest) {
                    let finding = GadFinding::new(MANIFEST_HASH, place).expected(row.digest);
                    findings.push(match digest {
                        Some(digest) => finding.actual(digest),
                        None => finding,
                    });
                }
            }
        }
        listed.insert(path);
    }
    for (path, _) in bundle.members() {
        if path.starts_with(CORE) && path != MANIFEST && !listed.contains(path) {
            findings.push(GadFinding::new(MANIFEST_UNLISTED_MEMBER, Where::member(path)));
        }
    }
}

/// The artifacts that are listed and there, relative to the core, with the digest of their bytes: what
/// references and digests of the record are held against.
pub fn artifacts<'m>(
    manifest: &'m CoreManifest,
    survey: &'m Survey,
) -> impl Iterator<Item = (&'m str, Digest)> {
    manifest.members.iter().filter(|row| row.role == CoreRole::Artifact).filter_map(|row| {
        let digest = survey.digest(&format!("{CORE}{}", row.path))?;
        Some((&*row.path, digest))
    })
}

/// R1.ARTIFACT.UNBOUND: of these artifacts, relative to the core, no digest of P or W is the digest.
pub fn unbound<'p>(artifacts: impl IntoIterator<Item = &'p str>, findings: &mut Findings) {
    for path in artifacts {
        let place = Where::member(format!("{CORE}{path}"));
        findings.push(GadFinding::new(ARTIFACT_UNBOUND, place));
    }
}

/// R1.MANIFEST.ROLE_MISSING: plan, witness and operator once each, claims at most once, each on its own
/// path; artifacts below theirs.
fn check_roles(manifest: &CoreManifest, findings: &mut Findings) {
    for (role, path) in ROLES {
        let rows = manifest.members.iter().filter(|row| row.role == role).count();
        if rows > 1 || (rows == 0 && role != CoreRole::Claims) {
            let finding =
                GadFinding::new(MANIFEST_ROLE_MISSING, Where::member(MANIFEST).at("/members"));
            findings.push(finding.expected(format_args!("{role}: {path}")).actual(rows));
        }
    }
    for (index, row) in manifest.members.iter().enumerate() {
        let place = || Where::member(MANIFEST).at(format!("/members/{index}/role"));
        let own = ROLES.iter().find(|(role, _)| *role == row.role).map(|(_, path)| *path);
        let fits = match own {
            Some(path) => path == &*row.path,
            None => row.path.starts_with(ARTIFACTS),
        };
        // What the manifest may not list at all has no role that would be right.
        if !fits && &*row.path != MANIFEST_NAME {
            let finding = GadFinding::new(MANIFEST_ROLE_MISSING, place());
            let expected = format!("{}: {}", row.role, own.unwrap_or("below artifacts/"));
            findings.push(finding.expected(expected).actual(&row.path));
        }
    }
}

#[cfg(test)]
pub(in crate::gad) mod tests;
