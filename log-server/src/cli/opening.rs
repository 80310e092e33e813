//! From the configuration to keys and an open log, for every command that needs them.

use std::path::Path;
use std::sync::Arc;

use anchorlog_client::durable;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::jp::witness::{WitnessKey, WitnessSigner};
use anchorlog_proto::note::{KeyName, NoteSigner, VerifierKey};
use anchorlog_proto::tlog_policy::TlogPolicy;

use super::error::CliError;
use super::keygen::name;
use crate::checkpoint_witness::{self, CheckpointWitness, Opening};
use crate::clock::Clock;
use crate::config::Config;
use crate::error::Error;
use crate::frozen::Frozen;
use crate::keys::{KeyFileError, KeyOrigin, LogKey};
use crate::log::{Log, LogOptions, Running};
use crate::log_keys::LogKeys;
use crate::metrics::Metrics;
use crate::pool::PoolLimits;
use crate::rollback::Sources;
use crate::standing::Standing;
use crate::witnessing::{Witnesses, witnesses};

/// What a log is opened for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mode {
    /// To be read.
    Read,
    /// To go on, if it hasn't ended.
    Sign,
}

/// The keys of the configuration; the primary one is made if neither it nor a log is there. For a log that has
/// ended they are those it ended with: no private key is looked for.
pub(super) fn keys_of(config: &Config, mode: Mode) -> Result<(LogKeys, KeyOrigin), CliError> {
    let (data, path) = (&config.log.data, config.log.key_path());
    let name = name(&config.log.origin)?;
    if let Some(frozen) = Frozen::read(data).map_err(Box::new).map_err(Error::from)? {
        // Another log's directory is not opened under this one's name.
        if frozen.keys().primary().is_none_or(|key| *key.name() != name) {
            return Err(CliError::MissingKey { key: path, data: data.clone() });
        }
        return Ok((frozen.keys().clone(), KeyOrigin::Found));
    }
    if !path.exists() {
        if has_log(data) {
            return Err(CliError::MissingKey { key: path, data: data.clone() });
        }
        if mode == Mode::Read {
            return Err(CliError::NoLog { directory: data.clone() });
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            durable::create_dir_all(parent)?;
        }
    }
    let (key, origin) = LogKey::load_or_create(&path)?;
    Ok((with_others(config, &name, &key)?, origin))
}

/// The public halves of all keys of the configured log, present and former; of one that has ended, those that it
/// ended with.
pub(super) fn known_keys(config: &Config) -> Result<Vec<VerifierKey>, CliError> {
    let name = name(&config.log.origin)?;
    // What is wrong with the end of a log is for whoever asked for the keys to find.
    if let Ok(Some(_)) = Frozen::read(&config.log.data) {
        return Ok(keys_of(config, Mode::Read)?.0.known());
    }
    let key = LogKey::load(&config.log.key_path())?;
    Ok(with_others(config, &name, &key)?.known())
}

/// The keys of the configuration beside the primary one, and it.
fn with_others(config: &Config, name: &KeyName, key: &LogKey) -> Result<LogKeys, CliError> {
    let additional = config.log.additional_keys.iter().map(|path| {
        let key = LogKey::load(path)?;
        Ok(key.signer(name))
    });
    let additional = additional.collect::<Result<Vec<NoteSigner>, KeyFileError>>()?;
    Ok(LogKeys::new(key.signer(name), additional, config.log.retired()?)?)
}

/// Opens the log of the configuration and starts it. Before it signs, others are asked what they know of it.
pub(super) fn open(
    config: &Config,
    keys: LogKeys,
    mode: Mode,
    metrics: Metrics,
) -> Result<(Log, Running), CliError> {
    open_with(config, keys, mode, None, metrics)
}

/// The same, for one that has its checkpoints cosigned: its witnesses too.
pub(super) fn open_witnessed(
    config: &Config,
    keys: LogKeys,
    mode: Mode,
    metrics: Metrics,
) -> Result<(Log, Running, Option<Witnesses>), CliError> {
    let primary = keys.primary().ok_or_else(|| CliError::from(Error::NoSigner))?;
    let witnesses = witnesses(&config.witnessing, primary)?;
    let policy = witnesses.as_ref().map(|witnesses| Arc::clone(witnesses.policy()));
    let (log, running) = open_with(config, keys, mode, policy, metrics)?;
    Ok((log, running, witnesses))
}

fn open_with(
    config: &Config,
    keys: LogKeys,
    mode: Mode,
    witness_policy: Option<Arc<TlogPolicy>>,
    metrics: Metrics,
) -> Result<(Log, Running), CliError> {
    let options = LogOptions {
        pool: PoolLimits { queue_entries: config.limits.queue, ..PoolLimits::default() },
        engine: config.index.engine.into(),
        index_memory: config.index.memory.get(),
        filter_memory: config.index.filter_memory.get(),
        min_free_bytes: config.limits.min_free_disk.get(),
        anchor_quorum: config.anchoring.quorum,
        witness_policy,
        read_only: mode == Mode::Read,
        ..LogOptions::default()
    };
    let mut sources: Sources = config.rollback_guard.sources()?;
    if sources.witnesses.is_none() && config.witnessing.is_on() {
        sources.witnesses = Some(config.witnessing.policy.clone());
    }
    let guard = |keys: &LogKeys, newest: Option<&SignedCheckpoint>| sources.ask(keys, newest);
    Ok(Log::open_guarded(&config.log.data, keys, &options, metrics, guard)?)
}

/// Opens the checkpoint witness of the configuration, to sign.
pub(super) fn open_checkpoint_witness(
    config: &Config,
    metrics: Metrics,
) -> Result<CheckpointWitness, CliError> {
    let (signer, _) = checkpoint_witness_signer(config)?;
    open_witness_with(config, Opening::Sign(signer), metrics)
}

/// The same for a server. One that signs nothing needs the public key alone; without one there is no witness.
pub(super) fn serve_checkpoint_witness(
    config: &Config,
    standing: Standing,
    metrics: Metrics,
) -> Result<Option<CheckpointWitness>, CliError> {
    if !config.checkpoint_witness.is_on() {
        return Ok(None);
    }
    if standing == Standing::Open {
        return open_checkpoint_witness(config, metrics).map(Some);
    }
    let files = checkpoint_witness::key_files(config);
    if !files.public.exists() {
        return Ok(None);
    }
    open_witness_with(config, Opening::Read(files.public_key()?), metrics).map(Some)
}

/// The checkpoint witness' key, which is made if nothing was ever signed.
pub(super) fn checkpoint_witness_signer(
    config: &Config,
) -> Result<(WitnessSigner, WitnessKey), CliError> {
    let files = checkpoint_witness::key_files(config);
    let directories = [files.private.parent(), files.public.parent()];
    for parent in directories.into_iter().flatten().filter(|path| !path.as_os_str().is_empty()) {
        durable::create_dir_all(parent)?;
    }
    // Before a log's first start it has no keys that this one could be.
    let begun = has_log(&config.log.data) || config.log.key_path().exists();
    let log_keys = if begun { known_keys(config)? } else { Vec::new() };
    let log_keys: Vec<[u8; 32]> =
        log_keys.iter().filter_map(|key| key.public_key().as_bytes().try_into().ok()).collect();
    let (signer, _) = files.signer(&log_keys, true)?;
    let key = signer.key();
    Ok((signer, key))
}

fn open_witness_with(
    config: &Config,
    opening: Opening,
    metrics: Metrics,
) -> Result<CheckpointWitness, CliError> {
    let paths = checkpoint_witness::paths(config).ok_or(CliError::NoCheckpointWitness)?;
    let options = checkpoint_witness::options(config);
    Ok(CheckpointWitness::open(paths, opening, options, Clock::system(), metrics)?)
}

/// Whether a directory is the data directory of a log.
pub(super) fn has_log(directory: &Path) -> bool {
    directory.join("wal").is_dir() || directory.join("log").is_dir()
}
