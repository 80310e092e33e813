//! Paths: of the files that are there, and of those that the manifests list.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::core_manifest::CoreManifest;
use anchorlog_proto::gad::envelope::EnvelopeManifest;
use anchorlog_proto::gad::names::{PathDefect, check_path};

use crate::codes::gad::container::{ARCHIVE_DUP, PATH_COLLISION, PATH_FORM, PATH_TRAVERSAL};

use super::super::finding::{Findings, Where};
use super::{At, Bundle, CORE, Member, over_bytes, over_count, refusal};

/// A regular file as it was found.
#[derive(Debug)]
pub(super) struct Found {
    /// Its path relative to the bundle, whatever bytes it is made of.
    pub(super) path: Vec<u8>,
    pub(super) size: u64,
    pub(super) at: At,
}

/// Checks paths and sizes of all files, and keeps those that are sound. An archive that was read as a
/// stream has had its sizes and repeats checked on the way; checking them again finds nothing.
pub(super) fn admit(
    found: Vec<Found>,
    limits: &Limits,
    findings: &mut Findings,
) -> BTreeMap<Box<str>, Member> {
    if u64::try_from(found.len()).unwrap_or(u64::MAX) > limits.members {
        findings.push(over_count(limits.members));
    }
    let mut members = BTreeMap::new();
    let mut spellings = Spellings::default();
    let mut sum = 0_u64;
    for Found { path, size, at } in found {
        let place = Where::member(show(&path));
        if size > limits.member_bytes {
            findings.push(over_bytes(place.clone(), limits.member_bytes, size));
        }
        sum = sum.saturating_add(size);
        spellings.check(&path, &place, findings);
        if !check_form(&path, place.clone(), findings) {
            continue;
        }
        let Ok(path) = String::from_utf8(path) else { continue };
        match members.entry(path.into_boxed_str()) {
            Entry::Vacant(entry) => {
                entry.insert(Member { size, at });
            }
            Entry::Occupied(_) => findings.push(refusal(ARCHIVE_DUP, place)),
        }
    }
    if sum > limits.bundle_bytes {
        findings.push(over_bytes(Where::nowhere(), limits.bundle_bytes, sum));
    }
    members
}

impl Bundle {
    /// Checks the paths that the manifests list, before any of them is used: their form, and that none
    /// of them is another spelling of a member or of another listed one.
    pub fn check_paths(
        &self,
        core: Option<&CoreManifest>,
        envelope: Option<&EnvelopeManifest>,
        findings: &mut Findings,
    ) {
        let mut spellings = Spellings::default();
        for (path, _) in self.members() {
            spellings.check(path.as_bytes(), &Where::nowhere(), findings);
        }
        let mut check = |manifest: &str, list: &str, index: usize, prefix: &str, path: &str| {
            let place = Where::member(manifest).at(format!("/{list}/{index}/path"));
            spellings.check(format!("{prefix}{path}").as_bytes(), &place, findings);
            check_form(path.as_bytes(), place, findings);
        };
        for (index, row) in core.iter().flat_map(|core| core.members.iter()).enumerate() {
            check("core/manifest.json", "members", index, CORE, &row.path);
        }
        for (index, row) in envelope.iter().flat_map(|it| it.anchors.iter()).enumerate() {
            check("envelope.json", "anchors", index, "", &row.item.path);
        }
        for (index, row) in envelope.iter().flat_map(|it| it.attestations.iter()).enumerate() {
            check("envelope.json", "attestations", index, "", &row.path);
        }
    }
}

/// Every path seen, by its ASCII lower-case spelling.
#[derive(Debug, Default)]
struct Spellings(BTreeMap<Box<[u8]>, Box<[u8]>>);

impl Spellings {
    /// Notes a path, and finds another one that a file system may take for the same.
    fn check(&mut self, path: &[u8], place: &Where, findings: &mut Findings) {
        match self.0.entry(path.to_ascii_lowercase().into()) {
            Entry::Vacant(entry) => {
                entry.insert(path.into());
            }
            Entry::Occupied(first) if **first.get() != *path => {
                let finding = refusal(PATH_COLLISION, place.clone())
                    .expected(format_args!("no other spelling of {}", show(first.get())))
                    .actual(show(path));
                findings.push(finding);
            }
            Entry::Occupied(_) => {}
        }
    }
}

fn check_form(path: &[u8], place: Where, findings: &mut Findings) -> bool {
    let code = match check_path(path) {
        Ok(()) => return true,
        Err(PathDefect::Traversal) => PATH_TRAVERSAL,
        Err(PathDefect::Form) => PATH_FORM,
    };
    findings.push(refusal(code, place).actual(show(path)));
    false
}

/// A path as a report shows it: what isn't printable ASCII is escaped, and what is too long is cut.
pub(super) fn show(path: &[u8]) -> String {
    const MOST: usize = 300;
    let shown = path.get(..MOST).unwrap_or(path).escape_ascii().to_string();
    if path.len() > MOST { format!("{shown}…") } else { shown }
}
