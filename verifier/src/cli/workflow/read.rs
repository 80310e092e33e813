//! `verifier workflow read`: section 9's entry point.

use super::args::BundleArgs;
use super::{Answer, could_not_run};
use crate::workflow::read_workflow;

/// Read a bundle as RFC 0020 section 9 has it, with three plugged verifiers; without them, no dialect kind is read.
///
/// Prints section 9's report, with --json and without. Exits 0 for a reading, 1 for a refusal, 2 for a finding,
/// 3 without a report when it could not run, which includes a plugged verifier that gave no answer. Without all
/// three verifiers the answer to a well-formed bundle is the refusal kind-unread. No conformance is claimed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  verifier workflow read bundle/ --workflow-digest sha256:2cf2… --execution-digest sha256:9f86… \\
      --runtime sha256:3192… --preparation-verifier ./prepare --expansion-verifier ./expand \\
      --influence-verifier ./influence")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    bundle: BundleArgs,
}

pub(super) fn run(args: &Args) -> Answer {
    let bundle = &args.bundle;
    match read_workflow(&bundle.files(), &bundle.expectations(), &bundle.plugs()) {
        Ok(answer) => Answer::Exact { bytes: answer.to_json(), code: answer.exit_code() },
        Err(error) => could_not_run(&error),
    }
}
