//! Membership as the traces of run exports say it.
//!
//! What it is: informative. [`read_export`] takes the trace out of a run export, and [`compare_traces`] reads off
//! it who contributed and holds that against the outputs. What it is not: evidence. An output's lineage pins the
//! audit record, which has no trace; the digest of the whole export is pinned by the execution record alone, and
//! that is unsigned. So a trace never stands for a replay, and one that disagrees with the replay is a finding.

mod exam;

use std::collections::{BTreeMap, BTreeSet};

use anchorlog_proto::Digest;
use anchorlog_proto::jp::attribution::{Credit, Output, Projection, RunPin, TracedResult};
use anchorlog_proto::jp::export::RunExport;
use anchorlog_proto::jp::fault::{Fault, Faults, Rule};
use anchorlog_proto::jp::id::Id;

use super::replay::Audits;
use super::report::Traced;
use super::{EXPORT, Found, PROJECTION, Packs};
use crate::codes::attribution::{PIN, TRACE, UNPINNED_EXPORT};
use crate::finding::Finding;
use exam::examine;

/// Where the result stands in an export.
const RESULT: &str = "/run/result";

/// A run export, as far as its trace goes.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TracedExport {
    /// SHA-256 of the export's exact bytes.
    pub digest: Digest,
    /// SHA-256 of the audit record in it, which is what an output's lineage pins.
    pub audit: Digest,
    /// Which of several exports it is, counted from 1; `None` where it is the only one.
    pub number: Option<u32>,
    /// Disposition and trace.
    pub result: TracedResult,
}

/// Reads a run export; `None` for one whose audit record is not among `wanted`: no output pins it, so that its
/// trace is nobody's.
///
/// # Errors
///
/// Not an export of a version that is read, or one that an output pins and whose trace is absent or malformed.
pub fn read_export(
    bytes: &[u8],
    number: Option<u32>,
    wanted: &BTreeSet<Digest>,
) -> Result<Option<TracedExport>, Fault> {
    let mut faults = Faults::new();
    let read = RunExport::read(bytes, &mut faults);
    let export = faults.settle(read)?;
    let audit = export.audit.as_deref().map(Digest::of).filter(|audit| wanted.contains(audit));
    let Some(audit) = audit else { return Ok(None) };
    let mut faults = Faults::new();
    if export.result.is_none() {
        let what = "an output pins the audit record in this export, and there is no result";
        faults.note(Rule::Form, format_args!("{RESULT}: {what}"));
    }
    let result = export.result.as_ref();
    let result = result.and_then(|result| TracedResult::read(result, RESULT, &mut faults));
    let result = faults.settle(result)?;
    Ok(Some(TracedExport { digest: Digest::of(bytes), audit, number, result }))
}

/// The note that an export is no output's.
#[must_use]
pub fn unpinned(number: Option<u32>) -> Finding {
    let finding = Finding::new(UNPINNED_EXPORT, "no output's lineage names its audit record");
    about(finding, number)
}

/// What comparing the traces came to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct TracesCompared {
    /// Of how many outputs.
    pub counts: Traced,
    /// What is wrong, in the order of stages and outputs.
    pub found: Found,
}

/// Holds every output against the traces of the exports that it comes from.
///
/// `runs` are the run exports that the execution record pins, where a record with instances was given; `audits`
/// are the records that the outputs are replayed on, where they are. The packs are those that accounting found.
#[must_use]
pub fn compare_traces(
    projection: &Projection,
    packs: &Packs,
    exports: &[TracedExport],
    runs: Option<&[RunPin]>,
    audits: Option<&Audits<'_>>,
) -> TracesCompared {
    let mut by_audit: BTreeMap<Digest, Vec<&TracedExport>> = BTreeMap::new();
    for export in exports {
        let same = by_audit.entry(export.audit).or_default();
        if same.iter().all(|other| other.digest != export.digest) {
            same.push(export);
        }
    }
    let pins = runs.map(|runs| {
        runs.iter().map(|pin| ((&pin.instance, pin.audit), pin.run)).collect::<BTreeMap<_, _>>()
    });
    let mut comparing = Comparing {
        by_audit,
        pins,
        foreign: BTreeSet::new(),
        examined: BTreeMap::new(),
        compared: TracesCompared::default(),
    };
    for (at, stage) in projection.stages.iter().enumerate() {
        let Some(pack) = packs.get(&stage.pack) else { continue };
        for (position, output) in stage.outputs.iter().enumerate() {
            let place = format!("/stages/{at}/outputs/{position}");
            comparing.output(output, &place, &stage.pack, |export| {
                let audit = audits.and_then(|audits| audits.get(&export.audit));
                // Of another pack it says nothing here, and the replay says so itself.
                examine(export, pack, audit.filter(|audit| audit.pack == stage.pack))
            });
        }
    }
    comparing.compared
}

/// What an export's trace says of itself: the credit, unless something is wrong with it.
struct Examined {
    credit: Option<Credit>,
    wrong: Vec<Finding>,
}

struct Comparing<'e> {
    by_audit: BTreeMap<Digest, Vec<&'e TracedExport>>,
    /// The pinned run export of each attempt.
    pins: Option<BTreeMap<(&'e Id, Digest), Digest>>,
    /// Exports that were found not to be the pinned one.
    foreign: BTreeSet<Digest>,
    /// By export and pack; several outputs may come from one export.
    examined: BTreeMap<(Digest, Digest), Option<Credit>>,
    compared: TracesCompared,
}

impl Comparing<'_> {
    fn output(
        &mut self,
        output: &Output,
        place: &str,
        pack: &Digest,
        examine: impl Fn(&TracedExport) -> Examined,
    ) {
        let lineage = &output.lineage;
        let given = self.by_audit.get(&lineage.audit_digest).cloned().unwrap_or_default();
        let pin = self
            .pins
            .as_ref()
            .map(|pins| pins.get(&(&lineage.instance, lineage.audit_digest)).copied());
        if !given.is_empty() && pin == Some(None) {
            let detail = "the execution record has no attempt of this instance that left this \
                          audit record and a run export";
            let finding = Finding::new(PIN, detail).in_input(PROJECTION);
            self.compared.found.push(finding.at(format!("{place}/envelope/lineage/auditDigest")));
        }
        let pin = pin.flatten();
        let own: Vec<&TracedExport> =
            given.into_iter().filter(|export| self.is_own(export, pin)).collect();
        if own.is_empty() {
            self.compared.counts.without += 1;
            return;
        }
        self.compared.counts.pinned += u64::from(pin.is_some());
        let mut agrees = true;
        for export in own {
            agrees &= self.agrees(output, place, pack, export, &examine);
        }
        let counts = &mut self.compared.counts;
        let count = if agrees { &mut counts.agree } else { &mut counts.differ };
        *count += 1;
    }

    /// Whether this is the export that the execution record pins, where it pins one.
    fn is_own(&mut self, export: &TracedExport, pin: Option<Digest>) -> bool {
        let Some(pin) = pin.filter(|pin| *pin != export.digest) else { return true };
        if self.foreign.insert(export.digest) {
            let detail = "the execution record pins another run export for this attempt";
            let finding = about(Finding::new(PIN, detail), export.number);
            self.compared.found.push(finding.compared(pin, export.digest));
        }
        false
    }

    fn agrees(
        &mut self,
        output: &Output,
        place: &str,
        pack: &Digest,
        export: &TracedExport,
        examine: impl Fn(&TracedExport) -> Examined,
    ) -> bool {
        let key = (export.digest, *pack);
        if !self.examined.contains_key(&key) {
            let examined = examine(export);
            self.compared.found.extend(examined.wrong);
            self.examined.insert(key, examined.credit);
        }
        let mut differ = |member: &str, detail: &str, traced: String, recorded: String| {
            let finding = Finding::new(TRACE, detail).in_input(PROJECTION);
            let finding = finding.at(format!("{place}{member}")).compared(traced, recorded);
            self.compared.found.push(finding);
        };
        let mut agrees = true;
        let traced = &export.result.disposition;
        if *traced != output.disposition {
            let detail = "the run export has another disposition";
            differ("/disposition", detail, traced.to_string(), output.disposition.to_string());
            agrees = false;
        }
        let Some(Some(credit)) = self.examined.get(&key) else { return false };
        if credit.contributors() != output.contributors.as_ref() {
            let named = output.contributors.clone().map(Credit::Contributors);
            let named = named.map_or("none".to_owned(), |credit| credit.to_string());
            let detail = "by the recorded trace it has other contributors";
            differ("/envelope/contributors", detail, credit.to_string(), named);
            agrees = false;
        }
        agrees
    }
}

/// A finding about an export.
fn about(finding: Finding, number: Option<u32>) -> Finding {
    let finding = finding.in_input(EXPORT);
    match number {
        Some(number) => finding.numbered(number),
        None => finding,
    }
}
