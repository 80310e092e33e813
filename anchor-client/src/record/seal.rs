//! SEALING, SNAPSHOT_SEAL and EXPORT: what leaves the record is valid, or says that it isn't.

use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::chain::{Line, Signer};
use anchorlog_proto::gad::claims::Claims;
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::payload::Checkpoint;
use anchorlog_verifier::gad::GadFinding;
use anchorlog_verifier::gad::container::Bundle;
use anchorlog_verifier::gad::report::Report;

use super::core::{Assembly, is_packaging, judge, sibling};
use super::source::{CLAIMS, Document};
use super::state::breaking;
use super::{RecordError, Recorded, Recorder};
use crate::durable;

/// Where a core goes.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the two forms of a bundle")]
pub enum Target {
    /// A directory with the core's members in it.
    Directory(PathBuf),
    /// An archive, its members below `core/`.
    Archive(PathBuf),
}

impl Target {
    /// An archive where the name ends in `.tar`, else a directory.
    #[must_use]
    pub fn of(path: PathBuf) -> Self {
        if path.extension().is_some_and(|extension| extension == "tar") {
            Self::Archive(path)
        } else {
            Self::Directory(path)
        }
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory(path) | Self::Archive(path) => path,
        }
    }
}

/// A core that was written out.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exported {
    /// Its root_core.
    pub root_core: Digest,
    /// Whether it ends with the run.
    pub seal: Seal,
    /// What EVALUATE says of it, core-only.
    pub report: Report,
    /// The checkpoint that was added for it.
    pub checkpoint: Option<Recorded>,
    /// The notice that was added because the history is defective.
    pub notice: Option<Recorded>,
    /// Artifacts that were left out because no entry names them.
    pub left_out: Vec<String>,
}

impl Exported {
    /// Whether it is valid.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.report.statuses.valid()
    }

    /// What breaks rules in it.
    #[must_use]
    pub fn defects(&self) -> Vec<GadFinding> {
        breaking(&self.report.findings)
    }
}

impl Recorder {
    /// Puts typed claims beside the record. They are no history: until the export they can be replaced.
    pub fn set_claims(&mut self, claims: &Document<Claims>) -> Result<(), RecordError> {
        durable::write_replace(&self.directory().join(CLAIMS), &claims.canonical)?;
        Ok(())
    }

    /// What EVALUATE would say if the record were sealed now, core-only. Nothing is written. With the engine's
    /// key it is judged with the checkpoint that sealing would add; without, the missing one is found.
    pub fn check(&self) -> Result<Report, RecordError> {
        let seal = self.seal_now();
        let line = self.checkpoint_to_come();
        let assembly = Assembly::of(self, seal, line.as_ref())?;
        judge(&assembly.in_place(self.directory()), self.clock.now())
    }

    /// SNAPSHOT_SEAL: signs what there is and writes it out with the seal of a snapshot; the run goes on.
    ///
    /// # Errors
    ///
    /// [`RecordError::State`] when the run is over: then there is something better to export.
    pub fn snapshot(&mut self, target: &Target) -> Result<Exported, RecordError> {
        if self.machine().terminal().is_some() {
            return Err(RecordError::State {
                subject: "snapshot".to_owned(),
                reason: "the run is over; export it",
            });
        }
        self.export_as(Seal::Snapshot, target)
    }

    /// SEALING and EXPORT: adds the final checkpoint if it is missing, puts the core together, judges it, and
    /// writes it out atomically.
    ///
    /// A history that breaks rules is never repaired: a signed notice that lists the codes is added with a
    /// checkpoint over it, the core is written all the same, and [`Exported::is_valid`] is false. Of a
    /// defective record that never came to its end it is the seal of a snapshot.
    ///
    /// # Errors
    ///
    /// [`RecordError::NotTerminated`] when the run isn't over, [`RecordError::Packaging`] when the core doesn't
    /// come out right twice, or when the claims beside it don't hold; [`RecordError::Exists`].
    pub fn export(&mut self, target: &Target) -> Result<Exported, RecordError> {
        let broken = !self.defects().is_empty() || self.progress.unreadable.is_some();
        if self.machine().terminal().is_none() && !broken {
            return Err(RecordError::NotTerminated);
        }
        self.export_as(self.seal_now(), target)
    }

    fn export_as(&mut self, seal: Seal, target: &Target) -> Result<Exported, RecordError> {
        let path = target.path();
        if path.symlink_metadata().is_ok() {
            return Err(RecordError::Exists { path: path.to_owned() });
        }
        let candidate = sibling(path);
        let exported = self.build(seal, target, &candidate);
        // Of an archive, and of whatever didn't come out right, the candidate is left over.
        if candidate.exists() {
            durable::remove_dir_all(&candidate)?;
        }
        exported
    }

    fn build(
        &mut self,
        seal: Seal,
        target: &Target,
        candidate: &Path,
    ) -> Result<Exported, RecordError> {
        let mut checkpoint = self.seal_head()?;
        let (mut assembly, mut report) = self.candidate(seal, candidate)?;
        let mut notice = None;
        let history: Vec<GadFinding> = breaking(&report.findings);
        if !history.is_empty() && self.may_disclose(seal) {
            notice = Some(self.notice(&codes(&history))?);
            checkpoint = self.seal_head()?;
            (assembly, report) = self.candidate(seal, candidate)?;
        }
        match target {
            Target::Directory(path) => durable::rename_new(candidate, path)?,
            Target::Archive(path) => assembly.pack(candidate, path)?,
        }
        Ok(Exported {
            root_core: assembly.root_core,
            seal,
            report,
            checkpoint,
            notice,
            left_out: assembly.left_out,
        })
    }

    /// Puts a candidate together and judges it; once more where what is wrong is how it was put together.
    fn candidate(&self, seal: Seal, candidate: &Path) -> Result<(Assembly, Report), RecordError> {
        let mut again = true;
        loop {
            if candidate.exists() {
                durable::remove_dir_all(candidate)?;
            }
            let assembly = Assembly::of(self, seal, None)?;
            assembly.copy(self.directory(), candidate)?;
            let bundle = Bundle::open(candidate, &Limits::DEFAULT);
            let report = judge(&bundle, self.clock.now())?;
            let found = report.findings.list().iter();
            let wrong: Vec<GadFinding> =
                found.filter(|finding| breaks(finding) && is_packaging(finding)).cloned().collect();
            if wrong.is_empty() {
                return Ok((assembly, report));
            }
            if !again {
                return Err(RecordError::Packaging { findings: wrong });
            }
            again = false;
        }
    }

    /// Makes the last entry a checkpoint, as far as anything can follow.
    fn seal_head(&mut self) -> Result<Option<Recorded>, RecordError> {
        if self.progress.at_checkpoint || self.progress.unreadable.is_some() {
            return Ok(None);
        }
        self.checkpoint().map(Some)
    }

    /// Whether a notice is to be added: once, after the end of the run or of what is left of it.
    fn may_disclose(&self, seal: Seal) -> bool {
        let disclosed = self.progress.watch.tally().notice.is_some();
        let ended = seal == Seal::Final || !self.defects().is_empty();
        !disclosed && ended && self.progress.unreadable.is_none()
    }

    fn seal_now(&self) -> Seal {
        if self.machine().terminal().is_some() { Seal::Final } else { Seal::Snapshot }
    }

    /// The checkpoint that sealing would add, where one is missing and the engine's key is here.
    fn checkpoint_to_come(&self) -> Option<Line> {
        if self.progress.at_checkpoint {
            return None;
        }
        let key = self.engine_key(EntryType::Checkpoint).ok()?;
        let over = Checkpoint::over(self.progress.start, &self.progress.since)?;
        let mut chain = self.progress.chain.clone();
        let last = self.memory().last_time.unwrap_or_default();
        let time = self.clock.now().max(last);
        let hash = self.plan().hash();
        Some(chain.append(time, &Payload::Checkpoint(over), Signer::Key(key), &hash))
    }
}

fn breaks(finding: &GadFinding) -> bool {
    finding.affects.iter().any(|affect| anchorlog_verifier::gad::report::RULES.contains(affect))
}

/// The codes found, each once with the entries it stands at.
fn codes(findings: &[GadFinding]) -> Vec<String> {
    let mut by_code: std::collections::BTreeMap<&str, Vec<String>> =
        std::collections::BTreeMap::new();
    for finding in findings {
        let places = by_code.entry(finding.code.as_str()).or_default();
        if let Some(seq) = finding.place.seq {
            places.push(seq.to_string());
        }
    }
    let line = |(code, mut places): (&str, Vec<String>)| {
        places.dedup();
        places.truncate(MOST_PLACES);
        match places.as_slice() {
            [] => code.to_owned(),
            places => format!("{code} at {}", places.join(", ")),
        }
    };
    by_code.into_iter().map(line).collect()
}

/// The most entries that a notice names for one code.
const MOST_PLACES: usize = 20;
