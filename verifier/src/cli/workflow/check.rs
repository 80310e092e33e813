//! `verifier workflow check`.

use super::args::BundleArgs;
use super::{Answer, could_not_run, report};
use crate::workflow::examine;

/// Make every check of RFC 0020 section 9 that can be made, and list the ones that can't.
///
/// Exits 1 for a refusal, 2 for a finding, 3 when it could not run (without a report), and 4 when nothing is
/// found and something is unchecked, which without plugged verifiers is always so; never 0 while a check is not
/// performed. It is no reading, and no conformance is claimed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  verifier workflow check bundle/
  verifier workflow check bundle/ --workflow-digest sha256:2cf2… --execution-digest sha256:9f86… \\
      --runtime sha256:3192… --json")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    bundle: BundleArgs,
}

pub(super) fn run(args: &Args) -> Answer {
    let bundle = &args.bundle;
    match examine(&bundle.files(), &bundle.expectations(), &bundle.plugs()) {
        Ok(examination) => {
            report(examination.to_json(), examination.to_text(), examination.exit_code())
        }
        Err(error) => could_not_run(&error),
    }
}
