//! Putting a core together from a record's immutable sources, and judging it by the rules everybody uses.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::core_manifest::{CoreManifest, CoreMember, CoreRole, Seal, root_core};
use anchorlog_proto::gad::line::read_line;
use anchorlog_proto::gad::tar::TarWriter;
use anchorlog_proto::json::canonical;
use anchorlog_verifier::gad::container::Bundle;
use anchorlog_verifier::gad::report::Report;
use anchorlog_verifier::gad::witness::Artifacts;
use anchorlog_verifier::gad::{Findings, GadFinding};

use super::source::{CLAIMS, OPERATOR, PLAN, WITNESS};
use super::{RecordError, Recorder, SPEC_VERSION};
use crate::alone;
use crate::durable::{self, MODE_SHARED};
use crate::file_digest::digest_file;

/// Name of the manifest in a core.
pub(super) const MANIFEST: &str = "manifest.json";

/// A core before it is put anywhere: its manifest, and which sources are left out.
pub(super) struct Assembly {
    pub(super) manifest: CoreManifest,
    pub(super) manifest_bytes: Vec<u8>,
    pub(super) root_core: Digest,
    /// Artifacts that no digest of the plan or the witness names.
    pub(super) left_out: Vec<String>,
    /// The witness, where it isn't what lies on disk.
    witness: Option<Vec<u8>>,
}

impl Assembly {
    /// Reads the sources. `extra` is a line that would follow the witness.
    pub(super) fn of(
        recorder: &Recorder,
        seal: Seal,
        extra: Option<&anchorlog_proto::gad::chain::Line>,
    ) -> Result<Self, RecordError> {
        let directory = recorder.directory();
        let at = |name: &str| directory.join(name);
        let witness = match extra {
            None => None,
            Some(line) => {
                let mut bytes = super::source::read_file(&at(WITNESS), u64::MAX)?;
                bytes.extend_from_slice(&line.bytes);
                Some(bytes)
            }
        };
        let mut members = vec![member(&at(OPERATOR), OPERATOR, CoreRole::Operator)?];
        members.push(member(&at(PLAN), PLAN, CoreRole::Plan)?);
        members.push(match &witness {
            None => member(&at(WITNESS), WITNESS, CoreRole::Witness)?,
            Some(bytes) => CoreMember {
                path: WITNESS.into(),
                role: CoreRole::Witness,
                size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
                digest: Digest::of(bytes),
            },
        });
        if at(CLAIMS).exists() {
            members.push(member(&at(CLAIMS), CLAIMS, CoreRole::Claims)?);
        }
        let left_out = unbound(recorder)?;
        for path in recorder.artifacts.keys() {
            if left_out.binary_search(path).is_err() {
                members.push(member(&at(path), path, CoreRole::Artifact)?);
            }
        }
        members.sort_by(|a, b| a.path.cmp(&b.path));
        let chain = &recorder.progress.chain;
        let count = recorder.progress.entries.saturating_add(u64::from(extra.is_some()));
        let manifest = CoreManifest {
            spec_version: SPEC_VERSION.into(),
            seal,
            witness_count: count,
            witness_head: extra.map_or_else(|| chain.head(), |line| line.h),
            members,
        };
        let manifest_bytes = canonical(&manifest.to_value());
        let root_core = root_core(&manifest_bytes);
        Ok(Self { manifest, manifest_bytes, root_core, left_out, witness })
    }

    /// The core where its sources lie.
    pub(super) fn in_place(&self, directory: &Path) -> Result<Bundle, Findings> {
        let mut memory = vec![(MANIFEST.to_owned(), self.manifest_bytes.clone())];
        if let Some(witness) = &self.witness {
            memory.push((WITNESS.to_owned(), witness.clone()));
        }
        let paths = self.manifest.members.iter().map(|member| member.path.to_string());
        let files: Vec<String> =
            paths.filter(|path| self.witness.is_none() || path != WITNESS).collect();
        Bundle::core_of(directory, files, memory, &Limits::DEFAULT)
    }

    /// Copies the core into a new directory, durably.
    pub(super) fn copy(&self, from: &Path, to: &Path) -> Result<(), RecordError> {
        durable::create_dir_all(to)?;
        durable::write_new(&to.join(MANIFEST), &self.manifest_bytes, MODE_SHARED)?;
        for member in &self.manifest.members {
            let (source, target) = (from.join(&*member.path), to.join(&*member.path));
            if let Some(folder) = target.parent() {
                durable::create_dir_all(folder)?;
            }
            let failed = |error| RecordError::Read { path: source.clone(), source: error };
            let file = File::open(&source).map_err(failed)?;
            durable::write_new_from(&target, &mut file.take(member.size), MODE_SHARED)?;
        }
        Ok(())
    }

    /// Writes the core that was copied to `from` as an archive, atomically; its members are below `core/`.
    pub(super) fn pack(&self, from: &Path, to: &Path) -> Result<(), RecordError> {
        let mut paths: Vec<&str> =
            self.manifest.members.iter().map(|member| &*member.path).collect();
        paths.push(MANIFEST);
        paths.sort_unstable();
        durable::write_new_with(to, MODE_SHARED, |file| {
            let mut archive = TarWriter::new(std::io::BufWriter::new(file));
            for path in paths {
                let body = File::open(from.join(path))?;
                let size = body.metadata()?.len();
                let name = format!("core/{path}");
                archive.append(&name, size, body).map_err(std::io::Error::other)?;
            }
            archive.finish().map_err(std::io::Error::other)?;
            Ok(())
        })?;
        Ok(())
    }
}

fn member(file: &Path, path: &str, role: CoreRole) -> Result<CoreMember, RecordError> {
    let failed = |source| RecordError::Read { path: file.to_owned(), source };
    let size = std::fs::metadata(file).map_err(failed)?.len();
    let digest = digest_file(file, |_| ()).map_err(failed)?;
    Ok(CoreMember { path: path.into(), role, size, digest })
}

/// Artifacts whose digest is no string of the plan or the witness, ascending: left by a process that ended
/// between keeping one and naming it, or kept for nothing but the recorder.
fn unbound(recorder: &Recorder) -> Result<Vec<String>, RecordError> {
    let path = recorder.directory().join(WITNESS);
    let failed = |source| RecordError::Read { path: path.clone(), source };
    let listed = recorder.artifacts.iter().map(|(path, digest)| (path.as_str(), *digest));
    let artifacts = Artifacts::new(listed);
    artifacts.bind(&recorder.plan().plan().to_value());
    let mut reader = BufReader::new(File::open(&path).map_err(failed)?);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        let bytes = line.strip_suffix(b"\n").unwrap_or(&line);
        if let Ok(document) = read_line(bytes, &Limits::DEFAULT) {
            artifacts.bind(document.value());
        }
        line.clear();
    }
    Ok(artifacts.unbound().into_iter().map(str::to_owned).collect())
}

/// VALID_RECORD and what follows from it, of a core alone.
pub(super) fn judge(bundle: &Result<Bundle, Findings>, at: i64) -> Result<Report, RecordError> {
    alone::evaluate(bundle, &Limits::DEFAULT, this_program(), at)
        .map_err(|error| RecordError::SignedObject { detail: error.to_string() })
}

/// Who evaluates: this program, by the bytes it runs from.
fn this_program() -> Implementation {
    let digest = std::env::current_exe().and_then(|path| digest_file(&path, |_| ()));
    Implementation {
        name: "anchorlog-record".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        hash: digest.unwrap_or_else(|_| Digest::of(b"")),
    }
}

/// Whether a finding is about how the core was put together, or about claims, and not about history.
pub(super) fn is_packaging(finding: &GadFinding) -> bool {
    let code = finding.code.as_str();
    let of_member = |name: &str| finding.place.member.as_deref() == Some(name);
    ["IN.", "R1.MANIFEST.", "R1.ROOT_CORE", "R9."].iter().any(|prefix| code.starts_with(prefix))
        || of_member("core/manifest.json")
        || of_member("core/claims.json")
}

/// A name beside `path` that nobody reads.
pub(super) fn sibling(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp-{}", std::process::id()))
}
