//! `verifier policy`: trust policies themselves.

use std::path::PathBuf;

use super::input::{Inputs, MAX_POLICY_BYTES};
use super::output::Answer;
use crate::finding::Finding;
use crate::report::{Facts, Report};
use crate::trust::{POLICY, Trust};

/// Work with trust policies.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    Check(CheckArgs),
}

/// Read a policy and show whom it trusts and what it leaves open.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  verifier policy check logs.policy
  verifier policy check --json logs.policy")]
pub(super) struct CheckArgs {
    /// C2SP tlog-policy; - for standard input.
    file: PathBuf,
}

pub(super) fn run(command: &Command) -> Answer {
    let Command::Check(args) = command;
    let mut inputs = Inputs::default();
    let report = match check(args, &mut inputs) {
        Ok(trust) => {
            let facts = Facts { policy: Some(trust.full_facts()), ..Facts::default() };
            let findings = trust.remarks().into_iter().map(|f| f.in_input(POLICY)).collect();
            Report::evaluated(CHECK, facts, findings)
        }
        Err(finding) => Report::not_evaluated(CHECK, vec![finding.in_input(POLICY)]),
    };
    Answer::Report { report: Box::new(report), files: inputs.into_files() }
}

fn check(args: &CheckArgs, inputs: &mut Inputs) -> Result<Trust, Finding> {
    Trust::from_policy(&inputs.read(POLICY, &args.file, MAX_POLICY_BYTES)?)
}

const CHECK: &str = "policy check";
