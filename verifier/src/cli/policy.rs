//! `verifier policy`: trust policies themselves.

use std::path::PathBuf;

use super::envelope;
use super::input::{Inputs, MAX_POLICY_BYTES};
use super::output::Answer;
use crate::report::{Facts, Report};
use crate::trust::{POLICY, Trust};

/// Work with trust policies.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    Check(CheckArgs),
}

/// Read a policy and show whom it trusts and what it leaves open.
///
/// A file that begins with { is read as a trust policy of envelopes, gad.policy/1; any other one as a C2SP
/// tlog-policy.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  verifier policy check logs.policy
  verifier policy check --json logs.policy
  verifier policy check policy.json --trust trust/")]
pub(super) struct CheckArgs {
    /// C2SP tlog-policy or gad.policy/1; - for standard input.
    file: PathBuf,
    /// Directory with what a gad.policy/1 names by digest.
    #[arg(long, value_name = "DIR")]
    trust: Option<PathBuf>,
}

pub(super) fn run(command: &Command) -> Answer {
    let Command::Check(args) = command;
    let mut inputs = Inputs::default();
    let bytes = match inputs.read(POLICY, &args.file, MAX_POLICY_BYTES) {
        Ok(bytes) => bytes,
        Err(finding) => return Answer::refused(CHECK, finding, inputs),
    };
    if bytes.first() == Some(&b'{') {
        return envelope::policy::check(&bytes, args.trust.as_deref())
            .unwrap_or_else(|finding| Answer::refused(CHECK, finding, inputs));
    }
    let report = match Trust::from_policy(&bytes) {
        Ok(trust) => {
            let facts = Facts { policy: Some(trust.full_facts()), ..Facts::default() };
            let findings = trust.remarks().into_iter().map(|f| f.in_input(POLICY)).collect();
            Report::evaluated(CHECK, facts, findings)
        }
        Err(finding) => Report::not_evaluated(CHECK, vec![finding.in_input(POLICY)]),
    };
    Answer::Report { report: Box::new(report), files: inputs.into_files() }
}

const CHECK: &str = "policy check";
