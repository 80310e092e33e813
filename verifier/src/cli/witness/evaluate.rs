//! From arguments to a report.

use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use anchorlog_proto::jp::witness::{AuditCheckpoint, WitnessKey, read_lines};

use super::{Args, keys};
use crate::cli::input::Inputs;
use crate::codes::input::{LIMIT_BYTES, OPEN};
use crate::codes::trail::HELD;
use crate::finding::Finding;
use crate::jp::witness::{
    EXPECTED, HEAD, MAX_BYTES, Outcome, RECORDS, RESUME, Refusal, Report, STATEMENTS, Supplied,
    TrustedKeys, hold_records, read_chain, within_bytes,
};

/// Fills the report, or says why nothing was evaluated.
pub(super) fn evaluate(
    args: &Args,
    inputs: &mut Inputs,
    report: &mut Report,
) -> Result<(), Box<Finding>> {
    report.required = args.require_through;
    if !args.keys.is_empty() {
        let keys = keys::read(&args.keys, inputs)?;
        let keys = TrustedKeys::new(&keys).map_err(|refusal| refusal.finding())?;
        report.keys = keys.keys().iter().map(WitnessKey::id).collect();
        report.chain = Some(chain(args, &keys, inputs)?);
    }
    let Some(path) = &args.records else { return Ok(()) };
    let held = match &args.expect {
        Some(path) => expected(path, inputs)?,
        None => Vec::new(),
    };
    report.holder = args.expect.as_ref().map(|_| held.len());
    let statements = report.chain.iter().flat_map(|chain| &chain.checkpoints);
    let witnessed: Vec<_> = statements.map(|statement| statement.body().checkpoint).collect();
    let copy = inputs.open(RECORDS, path)?;
    let records = hold_records(args.trail, &witnessed, &held, BufReader::new(copy));
    report.records = Some(records.map_err(|error| unreadable(path, &error))?);
    Ok(())
}

fn chain(args: &Args, keys: &TrustedKeys, inputs: &mut Inputs) -> Result<Outcome, Box<Finding>> {
    // By their sizes first: what is over the bound isn't read.
    let all = args.statements.iter().chain(&args.head).chain(&args.resume);
    within_bytes(all.map(|path| size(path))).map_err(|refusal| refusal.finding())?;
    let mut left = MAX_BYTES;
    let mut read = |role, path: &PathBuf| {
        let bytes = inputs.read(role, path, left).map_err(over_bound)?;
        left = left.saturating_sub(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok::<_, Box<Finding>>(bytes)
    };
    let mut files = Vec::new();
    for path in &args.statements {
        files.push(read(STATEMENTS, path)?);
    }
    let head = args.head.as_ref().map(|path| read(HEAD, path)).transpose()?;
    let resume = args.resume.as_ref().map(|path| read(RESUME, path)).transpose()?;
    let files: Vec<_> = files.iter().map(Vec::as_slice).collect();
    let supplied = Supplied {
        trail: args.trail,
        statements: &files,
        head: head.as_deref(),
        resume: resume.as_deref(),
    };
    read_chain(keys, &supplied).map_err(|refusal| Box::new(refusal.finding()))
}

/// The size of a file, as far as it has one before it is read.
fn size(path: &Path) -> u64 {
    if path == Path::new("-") { 0 } else { fs::metadata(path).map_or(0, |file| file.len()) }
}

/// What is too large to be read is over the bound of all files together.
fn over_bound(finding: Finding) -> Finding {
    if finding.code == LIMIT_BYTES { Refusal::BytesOverBound.finding() } else { finding }
}

fn expected(path: &Path, inputs: &mut Inputs) -> Result<Vec<AuditCheckpoint>, Box<Finding>> {
    let bytes = inputs.read(EXPECTED, path, MAX_EXPECTED_BYTES)?;
    read_lines(&bytes, usize::MAX)
        .map_err(|error| Box::new(Finding::new(HELD, error.to_string()).in_input(EXPECTED)))
}

fn unreadable(path: &Path, error: &io::Error) -> Finding {
    let finding = Finding::new(OPEN, format!("{} can't be read: {error}", path.display()));
    finding.in_input(RECORDS)
}

/// The largest file of a holder that is read: 16 MiB.
const MAX_EXPECTED_BYTES: u64 = 16_777_216;
