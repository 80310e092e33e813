//! `freeze`: ends a log, one that is stopped or one that is served.

use std::fmt::Write as _;
use std::time::Duration;

use anchorlog_proto::json::{Object, Value};

use super::Common;
use super::error::CliError;
use super::renew::lines;
use super::report::{Answer, Report};
use super::served::here_or_served;
use crate::anchoring::admin::{self, Request};
use crate::anchoring::{Anchoring, authorities, options};
use crate::config::Config;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::standing::Standing;

/// End the log: sign its last checkpoint, and take nothing any more. THIS CAN'T BE UNDONE.
///
/// What waits is still committed. The last checkpoint gets time stamps if the configuration names authorities.
/// From then on the log is served to be read, and doesn't need its private keys: they can be destroyed. Done
/// again, it changes nothing. If the server runs it is asked to do it, and goes on serving.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  log-server freeze                                  the log in ./data
  log-server --config /etc/anchorlog/log.toml freeze")]
pub(super) struct FreezeArgs {}

pub(super) fn run(common: &Common, _: &FreezeArgs) -> Result<Answer, CliError> {
    let config = common.config(None)?;
    let freeze = async |log, metrics| freeze(&config, &log, metrics).await;
    let (answer, running) = here_or_served(&config, Request::Freeze, freeze)?;
    Ok(Answer::Report(report(&config, &answer, running)))
}

/// Ends a log that nobody else has open, and has its last checkpoint stamped.
async fn freeze(config: &Config, log: &Log, metrics: Metrics) -> Result<Object<'static>, CliError> {
    let before = log.standing() == Standing::Frozen;
    let last = log.freeze().await.map_err(|source| CliError::NotFrozen { source })?;
    let mut round = None;
    let made = authorities(&config.anchoring, &config.log.data)?;
    let anchored = log.checkpoints().newest().borrow().map(|newest| newest.size);
    if !made.all.is_empty() && anchored != Some(last.size().get()) {
        while !log.is_ready() && !log.has_failed() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let options = options(&config.anchoring);
        let (mut anchoring, _handle) = Anchoring::new(log.clone(), made.all, options, metrics)?;
        round = Some(anchoring.once().await);
    }
    Ok(admin::describe_frozen(&last, before, round.as_ref()))
}

fn report(config: &Config, answer: &Object<'static>, running: bool) -> Report {
    let member = |name: &str| answer.get(name).cloned().unwrap_or(Value::Null);
    let size = answer.get("size").and_then(Value::as_integer).unwrap_or_default();
    let root = answer.get("root").and_then(Value::as_str).unwrap_or_default();
    let before = answer.get("before") == Some(&Value::from(true));
    // Writing into a String can't fail.
    let mut text = String::new();
    let verb = if before { "was frozen before" } else { "is frozen" };
    let _ = write!(text, "the log {verb}: size {size}, root {root}");
    if let Some(round) = answer.get("round").and_then(Value::as_object) {
        let _ = write!(text, "\n{}", lines(round).trim_end());
        let anchored = round.get("anchored") == Some(&Value::from(true));
        let verdict =
            if anchored { "anchored" } else { "NOT anchored; `log-server renew` tries again" };
        let _ = write!(text, "\nits last checkpoint is {verdict}");
    }
    let _ = write!(
        text,
        "\nit is served as before, without its private keys: destroy {} when no backup of it is needed",
        config.log.key_path().display()
    );
    Report::done("freeze", text)
        .with("already_frozen", before)
        .with("checkpoint", member("checkpoint"))
        .with("root", member("root"))
        .with("round", member("round"))
        .with("server_running", running)
        .with("size", member("size"))
}
