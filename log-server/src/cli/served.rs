//! What is done to a log here if it is stopped, and by its server if it runs.

use anchorlog_client::durable::LockError;
use anchorlog_proto::json::{self, Object, ReadLimits};
use tokio::runtime::{Builder, Runtime};

use super::error::CliError;
use super::opening::{Mode, has_log, keys_of, open};
use super::serve::start_logging;
use crate::anchoring::admin::{self, Request};
use crate::config::Config;
use crate::error::Error;
use crate::log::Log;
use crate::metrics::Metrics;

/// Opens the log and does the work, or asks the server that has it open. Returns the answer, and whether a server
/// gave it.
pub(super) fn here_or_served(
    config: &Config,
    request: Request,
    work: impl AsyncFnOnce(Log, Metrics) -> Result<Object<'static>, CliError>,
) -> Result<(Object<'static>, bool), CliError> {
    if !has_log(&config.log.data) {
        return Err(CliError::NoLog { directory: config.log.data.clone() });
    }
    start_logging(&config.telemetry);
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(CliError::Runtime)?;
    let metrics = Metrics::new();
    let (keys, _) = keys_of(config, Mode::Sign)?;
    match open(config, keys, Mode::Sign, metrics.clone()) {
        Ok((log, running)) => {
            let answer = runtime.block_on(work(log, metrics));
            let closed = running.shut_down();
            let answer = answer?;
            closed?;
            Ok((answer, false))
        }
        Err(CliError::Log(error)) if matches!(*error, Error::Lock(LockError::Held { .. })) => {
            Ok((ask(config, &runtime, request)?, true))
        }
        Err(error) => Err(error),
    }
}

/// Asks the server that runs on the directory.
pub(super) fn ask(
    config: &Config,
    runtime: &Runtime,
    request: Request,
) -> Result<Object<'static>, CliError> {
    let line = runtime
        .block_on(admin::ask(&config.log.data, request))
        .map_err(|source| CliError::Admin { source })?;
    let limits = ReadLimits::DEFAULT.with_bytes(line.len());
    let value = json::parse(line.trim_ascii_end(), &limits).ok();
    value
        .and_then(|value| value.as_object().cloned())
        .map(Object::into_owned)
        .ok_or_else(|| CliError::Admin { source: std::io::ErrorKind::InvalidData.into() })
}
