//! `init`, `fsck`, `export` and `rebuild-index`: work on a log that isn't running.

use std::fmt::Write as _;
use std::path::PathBuf;

use anchorlog_client::address::LogUrl;
use anchorlog_proto::json::{Object, Value};
use anchorlog_proto::note::VerifierKey;

use super::Common;
use super::checkpoint_witness::{configured, lines, members};
use super::error::CliError;
use super::opening::{Mode, has_log, keys_of, known_keys, open};
use super::progress::Progress;
use super::remote::Remote;
use super::report::{Answer, Form, Report, count};
use crate::checkpoint_witness as witness;
use crate::config::Config;
use crate::export as exporting;
use crate::fsck as checking;
use crate::fsck::{DirectorySource, check_directory, check_tiles};
use crate::keys::KeyOrigin;
use crate::metrics::Metrics;
use crate::rebuild;

/// Make the key and the empty log, and print the verifier key. What is there already stays as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  log-server --config log.toml init")]
pub(super) struct InitArgs {}

/// Read everything again, recompute every hash and the root, and compare.
///
/// Without an argument: the log of the configuration. A directory may be a data directory or an export. A
/// running log is checked by its URL. Nothing of the log is changed; the engine of the index may tidy up its
/// own files when it opens them, as it does at every start.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  log-server fsck
  log-server fsck /var/lib/anchorlog --vkey log.example+…
  log-server fsck https://log.example --vkey log.example+…")]
pub(super) struct FsckArgs {
    /// A directory, or the URL of any C2SP tlog-tiles log.
    #[arg(value_name = "DIR|URL")]
    target: Option<String>,
    /// The log's verifier key, several times if it has had several; by default those of the configuration.
    #[arg(long, value_name = "VKEY")]
    vkey: Vec<String>,
    /// Don't expect entries to be statements: for logs of other makes.
    #[arg(long)]
    any_entries: bool,
}

/// Write the log as the file tree of C2SP tlog-tiles, for any static file server.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  log-server export --to /var/www/log")]
pub(super) struct ExportArgs {
    /// The directory to write to; what a former export left there is kept and completed.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// Delete the index and make it anew from the log.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  log-server --config log.toml rebuild-index")]
pub(super) struct RebuildArgs {}

pub(super) fn init(common: &Common, _: &InitArgs) -> Result<Answer, CliError> {
    let config = common.config(None)?;
    let (keys, key_origin) = keys_of(&config, Mode::Sign)?;
    let (log, running) = open(&config, keys, Mode::Sign, Metrics::new())?;
    let (size, vkey) = (log.snapshot().size().get(), log.key().to_string());
    running.shut_down()?;
    let key_file = config.log.key_path();
    let made = if key_origin == KeyOrigin::Created { "made" } else { "found" };
    let text = format!(
        "log in {} with {size} entries\nkey {made}: {}\norigin: {}\nverifier key (vkey): {vkey}",
        config.log.data.display(),
        key_file.display(),
        config.log.origin,
    );
    let report = Report::done("init", text)
        .with("data", config.log.data.display().to_string())
        .with("key_created", key_origin == KeyOrigin::Created)
        .with("key_file", key_file.display().to_string())
        .with("origin", config.log.origin)
        .with("size", count(size))
        .with("vkey", vkey);
    Ok(Answer::Report(report))
}

pub(super) fn fsck(common: &Common, args: &FsckArgs, form: Form) -> Result<Answer, CliError> {
    let config = common.config(None)?;
    let stated = args.vkey.iter().map(|key| key.parse()).collect::<Result<Vec<_>, _>>();
    let stated = stated.map_err(CliError::Vkey)?;
    let progress = Progress::new("checked", form);
    let report = match args.target.as_deref().filter(|target| target.contains("://")) {
        Some(url) => fsck_url(url, &stated, args, &progress)?,
        None => fsck_directory(config, stated, args, &progress)?,
    };
    drop(progress);
    Ok(Answer::Report(report))
}

fn fsck_url(
    url: &str,
    stated: &[VerifierKey],
    args: &FsckArgs,
    progress: &Progress,
) -> Result<Report, CliError> {
    if stated.is_empty() {
        return Err(CliError::VkeyNeeded);
    }
    let mut remote = Remote::new(url.parse::<LogUrl>()?)?;
    let show = |done, total| progress.report(done, total);
    let found = check_tiles(&mut remote, stated, !args.any_entries, show);
    // A log that can't be reached is not therefore a broken log.
    match remote.into_failure() {
        Some(failure) => Err(failure.into()),
        None => Ok(fsck_report(url, &found)),
    }
}

fn fsck_directory(
    mut config: Config,
    stated: Vec<VerifierKey>,
    args: &FsckArgs,
    progress: &Progress,
) -> Result<Report, CliError> {
    if let Some(directory) = &args.target {
        config.log.data = PathBuf::from(directory);
    }
    let directory = config.log.data.clone();
    let is_log = has_log(&directory);
    if !is_log && !directory.join("checkpoint").is_file() {
        return Err(CliError::NoLog { directory });
    }
    let keys = if stated.is_empty() { known_keys(&config)? } else { stated };
    let show = |done, total| progress.report(done, total);
    let found = if is_log {
        let (engine, memory) = (config.index.engine.into(), config.index.memory.get());
        check_directory(&directory, &keys, engine, memory, show)?
    } else {
        let mut source = DirectorySource::new(directory.clone());
        check_tiles(&mut source, &keys, !args.any_entries, show)
    };
    let report = fsck_report(&directory.display().to_string(), &found);
    if !is_log || args.target.is_some() || !config.checkpoint_witness.is_on() {
        return Ok(report);
    }
    // Until the first start of a witness there is nothing of it.
    let files = witness::key_files(&config);
    let trails = files.public.exists().then(|| configured(&config)).transpose()?;
    Ok(match trails {
        Some(trails) => with_witness(report, &trails),
        None => report,
    })
}

pub(super) fn export(common: &Common, args: &ExportArgs) -> Result<Answer, CliError> {
    let config = with_log(common)?;
    let done = exporting::export(&config.log.data, &known_keys(&config)?, &args.to)?;
    let text = format!(
        "exported {} entries to {}: {} files written, {} kept",
        done.size,
        args.to.display(),
        done.written,
        done.kept
    );
    let report = Report::done("export", text)
        .with("kept", count(done.kept))
        .with("size", count(done.size))
        .with("to", args.to.display().to_string())
        .with("written", count(done.written));
    Ok(Answer::Report(report))
}

pub(super) fn rebuild_index(
    common: &Common,
    _: &RebuildArgs,
    form: Form,
) -> Result<Answer, CliError> {
    let config = with_log(common)?;
    let keys = known_keys(&config)?;
    let (engine, memory) = (config.index.engine, config.index.memory.get());
    let progress = Progress::new("indexed", form);
    let show = |done, total| progress.report(done, total);
    let entries = rebuild::rebuild_index(&config.log.data, &keys, engine.into(), memory, show)?;
    drop(progress);
    let text = format!("indexed {entries} entries with {}", engine.as_str());
    let report = Report::done("rebuild-index", text)
        .with("engine", engine.as_str())
        .with("entries", count(entries));
    Ok(Answer::Report(report))
}

/// The configuration, if there is a log to work on. Nothing is created by looking at it.
fn with_log(common: &Common) -> Result<Config, CliError> {
    let config = common.config(None)?;
    if has_log(&config.log.data) {
        Ok(config)
    } else {
        Err(CliError::NoLog { directory: config.log.data })
    }
}

fn fsck_report(target: &str, found: &checking::Report) -> Report {
    // Writing into a String can't fail.
    let mut text = format!("checked {} entries of {target}", found.entries);
    match found.countersigned {
        0 => {}
        1 => text.push_str("\n1 time stamp over its checkpoints"),
        more => {
            let _ = write!(text, "\n{more} time stamps over its checkpoints");
        }
    }
    match found.cosignatures {
        0 => {}
        1 => text.push_str("\n1 cosignature of its checkpoints"),
        more => {
            let _ = write!(text, "\n{more} cosignatures of its checkpoints");
        }
    }
    for note in &found.notes {
        let _ = write!(text, "\nnote: {note}");
    }
    for problem in &found.problems {
        let _ = write!(text, "\n{problem} [{}]", problem.fault.code());
    }
    let unnamed = found.problem_count.saturating_sub(length(&found.problems));
    if unnamed > 0 {
        let _ = write!(text, "\nand {unnamed} more");
    }
    let report = if found.is_clean() {
        let root = found.root.map(|root| root.to_string()).unwrap_or_default();
        let _ = write!(text, "\nclean: size {}, root {root}", found.size);
        Report::done("fsck", text)
    } else {
        let _ = write!(text, "\n{} problems: this log is not what was signed", found.problem_count);
        Report::does_not_hold("fsck", text)
    };
    let problems = found.problems.iter().map(|problem| {
        let index = problem.index.map_or(Value::Null, count);
        Value::from(Object::from([
            ("code", Value::from(problem.fault.code())),
            ("file", Value::from(problem.file.clone())),
            ("index", index),
            ("message", Value::from(problem.fault.to_string())),
        ]))
    });
    let notes = found.notes.iter().map(|note| Value::from(note.to_string()));
    report
        .with("cosignatures", count(found.cosignatures))
        .with("countersigned", count(found.countersigned))
        .with("entries", count(found.entries))
        .with("index_rows", found.index_rows.map_or(Value::Null, count))
        .with("notes", notes.collect::<Vec<_>>())
        .with("problem_count", count(found.problem_count))
        .with("problems", problems.collect::<Vec<_>>())
        .with("root", found.root.map_or(Value::Null, |root| Value::from(root.to_string())))
        .with("size", count(found.size))
        .with("target", target.to_owned())
}

/// The report of a log, and of its checkpoint witness' files.
fn with_witness(report: Report, found: &witness::Verified) -> Report {
    let report = report.with("checkpoint_witness", members(found));
    if found.outcome == witness::Outcome::Start {
        let (statements, trails) = (found.statements, found.trails);
        let text =
            format!("checkpoint witness: {statements} statements of {trails} trails, consistent");
        return report.and(&text, true);
    }
    report.and(&format!("checkpoint witness: not consistent{}", lines(found)), false)
}

fn length<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}
