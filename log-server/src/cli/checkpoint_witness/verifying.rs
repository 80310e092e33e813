//! `verify`: the start-up checks over the configured files, or over a copy of somebody's.

use std::fmt::Write as _;
use std::path::PathBuf;

use anchorlog_proto::encoding::hex_decode_array;
use anchorlog_proto::jp::witness::WitnessKey;
use anchorlog_proto::json::{Object, Value};

use super::COMMAND;
use crate::checkpoint_witness::{self as witness, Finding, Limits, Outcome, Verified};
use crate::cli::Common;
use crate::cli::error::CliError;
use crate::cli::report::{Report, count};

/// Apply the checks that a witness makes before it starts, and change nothing.
///
/// Without arguments: to the files of the configuration. With --log and --key: to a copy of anybody's
/// statements, with --marks against the marks as well. That shows that a copy is consistent in itself, not that
/// it is what the witness serves now. Exits 0 if the witness would start, 1 if it would not.
#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {
    /// Statements, one a line.
    #[arg(long, value_name = "FILE", requires = "key")]
    log: Option<PathBuf>,
    /// Marks.
    #[arg(long, value_name = "FILE", requires = "log")]
    marks: Option<PathBuf>,
    /// The witness' public key: 64 hexadecimal digits, or a file with them.
    #[arg(long, value_name = "HEX|FILE", requires = "log")]
    key: Option<String>,
}

pub(super) fn verify(common: &Common, args: &VerifyArgs) -> Result<Report, CliError> {
    let verified = if let (Some(log), Some(key)) = (&args.log, &args.key) {
        witness::verify(log, args.marks.as_deref(), None, &read_key(key)?, Limits::DEFAULT)?
    } else {
        configured(&super::with_witness(common)?)?
    };
    Ok(report(&verified))
}

/// Checks the files of the configuration.
pub(in crate::cli) fn configured(config: &crate::config::Config) -> Result<Verified, CliError> {
    let paths = witness::paths(config).ok_or(CliError::NoCheckpointWitness)?;
    let key = witness::key_files(config).public_key()?;
    let (statements, registrations) = (paths.statements(), paths.registrations());
    let marks = Some(paths.marks.as_path());
    Ok(witness::verify(&statements, marks, Some(&registrations), &key, Limits::DEFAULT)?)
}

fn report(verified: &Verified) -> Report {
    // Writing into a String can't fail.
    let mut text = format!("{} statements of {} trails", verified.statements, verified.trails);
    if let Some(marks) = verified.marks {
        let _ = write!(text, ", {marks} marks");
    }
    let report = if verified.outcome == Outcome::Start {
        text.push_str("\nconsistent: a witness starts with these");
        Report::done(COMMAND, text)
    } else {
        let _ = write!(text, "{}", lines(verified));
        Report::does_not_hold(COMMAND, text)
    };
    let members = members(verified);
    ["finding_count", "findings", "marks", "outcome", "statements", "trails"]
        .into_iter()
        .fold(report.with("action", "verify"), |report, name| {
            report.with(name, members.get(name).cloned().unwrap_or(Value::Null))
        })
}

/// What is wrong and what to do, a line each, for people.
pub(in crate::cli) fn lines(verified: &Verified) -> String {
    let mut text = String::new();
    for finding in &verified.findings {
        let _ = write!(text, "\n{finding}");
    }
    let named = u64::try_from(verified.findings.len()).unwrap_or(u64::MAX);
    let unnamed = verified.finding_count.saturating_sub(named);
    if unnamed > 0 {
        let _ = write!(text, "\nand {unnamed} more");
    }
    let _ = write!(text, "\n{}: {}", verified.outcome.as_str(), verified.outcome.advice());
    text
}

/// The same as JSON.
pub(in crate::cli) fn members(verified: &Verified) -> Object<'static> {
    let trails = u64::try_from(verified.trails).unwrap_or(u64::MAX);
    Object::from([
        ("finding_count", count(verified.finding_count)),
        ("findings", Value::from(findings(&verified.findings))),
        ("marks", verified.marks.map_or(Value::Null, count)),
        ("outcome", Value::from(verified.outcome.as_str())),
        ("statements", count(verified.statements)),
        ("trails", count(trails)),
    ])
}

pub(super) fn findings(findings: &[Finding]) -> Vec<Value<'static>> {
    let finding = |finding: &Finding| {
        Value::from(Object::from([
            ("code", Value::from(finding.code.as_str())),
            ("message", Value::from(finding.detail.clone())),
        ]))
    };
    findings.iter().map(finding).collect()
}

fn read_key(text: &str) -> Result<WitnessKey, CliError> {
    let bytes = (text.len() == 64).then(|| hex_decode_array::<32>(text).ok()).flatten();
    match bytes {
        Some(bytes) => {
            WitnessKey::from_bytes(&bytes).map_err(|refusal| CliError::WitnessKey { refusal })
        }
        None => Ok(witness::read_public_key(text.as_ref())?),
    }
}
