//! `anchor record check`, `snapshot` and `export`.

use std::path::PathBuf;

use anchorlog_verifier::gad::report::Report as GadReport;
use anchorlog_verifier::report::Verdict;
use serde_json::Value;

use super::args::Place;
use super::{Report, attempt, findings};
use crate::record::{Exported, Target, breaking, describe};

/// Say what EVALUATE would say if the record were sealed now; nothing is written.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CheckArgs {
    #[command(flatten)]
    place: Place,
}

pub(super) fn check(args: &CheckArgs) -> Report {
    attempt("record check", |report| {
        let judged = args.place.open(report)?.check()?;
        tell(report, &judged);
        Ok(())
    })
}

/// Sign what there is and write it out: a core, as a directory or as an archive.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  anchor record snapshot run --engine-key engine.pem --out snapshot.tar\n  anchor record export run --engine-key engine.pem --out core\n\nA snapshot leaves while the run goes on; an export ends it. Nothing is replaced. A record that breaks rules\nis exported too, with a signed notice that says so, and the exit code is 1."
)]
pub(in crate::cli) struct ExportArgs {
    #[command(flatten)]
    place: Place,
    /// Where to: a directory, or an archive when the name ends in `.tar`.
    #[arg(long, value_name = "DIR|FILE.tar")]
    out: PathBuf,
}

pub(super) fn snapshot(args: ExportArgs) -> Report {
    attempt("record snapshot", |report| {
        let target = Target::of(args.out);
        let exported = args.place.open(report)?.snapshot(&target)?;
        written(report, &target, &exported);
        Ok(())
    })
}

pub(super) fn export(args: ExportArgs) -> Report {
    attempt("record export", |report| {
        let target = Target::of(args.out);
        let exported = args.place.open(report)?.export(&target)?;
        written(report, &target, &exported);
        Ok(())
    })
}

fn written(report: &mut Report, target: &Target, exported: &Exported) {
    report.member("out", target.path().display().to_string());
    report.member("root_core", exported.root_core.to_string());
    report.member("seal", exported.seal.as_str());
    report.member("left_out", exported.left_out.as_slice());
    for (name, recorded) in [("checkpoint", exported.checkpoint), ("notice", exported.notice)] {
        report.member(name, recorded.map(|recorded| recorded.seq));
    }
    report.line(format!("{}: root_core {}", target.path().display(), exported.root_core));
    for path in &exported.left_out {
        report.line(format!("left out, because no entry names it: {path}"));
    }
    if let Some(notice) = exported.notice {
        report.line(format!("entry {} discloses what breaks rules", notice.seq));
    }
    tell(report, &exported.report);
}

fn tell(report: &mut Report, judged: &GadReport) {
    let statuses = &judged.statuses;
    let valid = statuses.valid();
    // The report is canonical JSON, so it reads back.
    report.member("report", serde_json::from_slice(&judged.to_json()).unwrap_or(Value::Null));
    report.member("valid", valid);
    report.line(format!(
        "{}, {}, {}, level GAD-{}",
        if valid { "VALID" } else { "NOT VALID" },
        statuses.outcome(),
        if statuses.satisfied() { "contract satisfied" } else { "contract not satisfied" },
        statuses.level()
    ));
    if !valid {
        let defects = breaking(&judged.findings);
        report.member("findings", findings(&defects));
        for defect in &defects {
            let detail = describe(defect);
            report.fail(Verdict::DoesNotHold, defect.code.as_str(), &detail);
        }
        if defects.is_empty() {
            report.fail(Verdict::DoesNotHold, "RECORD.NOT_VALID", "the record isn't valid");
        }
    }
}
