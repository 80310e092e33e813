//! `verifier attest`: evaluate, and sign what came out.

use std::path::PathBuf;

use super::args::{EvaluateArgs, Status};
use super::evaluate;
use crate::cli::input::Inputs;
use crate::cli::output::Answer;
use crate::cli::usage;
use crate::codes::input::OPEN;
use crate::finding::Finding;
use crate::gad::attestation::{Evaluator, attest};
use crate::gad::report::Asked;
use crate::keys::read_signing_key;

/// Evaluate an envelope and print a signed attestation Q of what came out.
///
/// Q says what the evaluation says, whatever that is: also that a record is not valid. It names this
/// program by the SHA-256 of its file, the policy by its hash, and the envelope it is about, so the envelope
/// that carries it is the next one: `anchor envelope add-attestation`. The exit code is that of
/// `verifier envelope` with --require, except that Q itself can't be asked for before it exists.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  verifier attest run/ --policy policy.json --trust trust/ --key evaluator.pem \\
      --identity 'Independent Evaluator AG' > q.json
  verifier attest run.tar --key evaluator.pem --identity 'Independent Evaluator AG' --at 2026-11-01T00:00:00Z")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    evaluate: EvaluateArgs,
    /// The evaluator's private key: Ed25519, PKCS#8 PEM, for its owner's eyes only.
    #[arg(long, value_name = "KEYFILE")]
    key: PathBuf,
    /// The name the evaluator goes by: one that policies list.
    #[arg(long, value_name = "NAME")]
    identity: String,
    /// The version of the conformance suite that this implementation passes.
    #[arg(long, value_name = "VERSION", default_value = SUITE_VERSION)]
    suite_version: String,
    /// The status the exit code is about.
    #[arg(long, value_enum, default_value_t = Status::Valid)]
    require: Status,
}

pub(in crate::cli) fn run(args: &Args) -> Answer {
    let mut inputs = Inputs::default();
    attested(args, &mut inputs).unwrap_or_else(|finding| Answer::refused("attest", finding, inputs))
}

fn attested(args: &Args, inputs: &mut Inputs) -> Result<Answer, Finding> {
    let asked = Asked::from(args.require);
    if matches!(asked, Asked::Defensible | Asked::Gad4) {
        return Err(usage(
            "an attestation is a part of what makes a record defensible: require valid or satisfied",
        ));
    }
    let key = read_signing_key(&args.key)
        .map_err(|error| Finding::new(OPEN, error.to_string()).in_input("key"))?;
    let loaded = args.evaluate.load(asked, inputs)?;
    let report = evaluate(&loaded, None)?;
    let evaluator =
        Evaluator { identity: &args.identity, key: &key, suite_version: &args.suite_version };
    let bytes = attest(&report, &evaluator).map_err(|error| usage(&error.to_string()))?;
    Ok(Answer::Exact { bytes, code: report.exit_code(asked) })
}

/// The conformance suite of this repository.
const SUITE_VERSION: &str = "anchorlog.gad-vectors/1";
