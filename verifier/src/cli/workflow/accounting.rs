//! What both accounting commands do: reading projections and packs, and answering.

use std::path::{Path, PathBuf};

use anchorlog_proto::jp::attribution::{MAX_PROJECTION_BYTES, Projection};
use anchorlog_proto::jp::core_pack::PackLimits;

use crate::cli::input::Inputs;
use crate::cli::output::{Answer, Evaluation};
use crate::finding::Finding;
use crate::jp::attribution::{PACK, Packs, Report, refusal};
use crate::report::text::render;
use crate::report::{Facts, Report as HouseReport, Verdict};

/// Reads a projection.
pub(super) fn projection(
    role: &'static str,
    path: &Path,
    inputs: &mut Inputs,
) -> Result<Projection, Finding> {
    let bytes = inputs.read(role, path, limit(MAX_PROJECTION_BYTES))?;
    Projection::read(&bytes).map_err(|fault| refusal(&fault, role))
}

/// Reads packs.
pub(super) fn packs(paths: &[PathBuf], inputs: &mut Inputs) -> Result<Packs, Finding> {
    let mut packs = Packs::new();
    for path in paths {
        let bytes = inputs.read(PACK, path, limit(PackLimits::DEFAULT.bytes))?;
        packs.add(&bytes)?;
    }
    Ok(packs)
}

/// A number of bytes as input limits take it.
pub(super) fn limit(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The answer: the report, as JSON or as text for people.
pub(super) fn answer(report: Report, inputs: Inputs) -> Answer {
    let verdict = report.verdict();
    let json = report.to_json();
    let files = inputs.into_files();
    Answer::Evaluation(Box::new(Evaluation {
        json,
        text: Box::new(move |style| {
            let (command, findings) = (report.command, report.findings.clone());
            let shown = match verdict {
                Verdict::NotEvaluated => HouseReport::not_evaluated(command, findings),
                _ => HouseReport::evaluated(command, Facts::default(), findings),
            };
            let mut text = render(&shown, &files, style);
            text.push_str(&report.to_text());
            text
        }),
        code: verdict.exit_code(),
    }))
}
