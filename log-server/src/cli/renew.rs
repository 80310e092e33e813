//! `renew`: has the newest checkpoint stamped now, by a stopped log or by a running server.

use std::fmt::Write as _;
use std::time::Duration;

use anchorlog_proto::json::{Object, Value};

use super::Common;
use super::error::CliError;
use super::report::{Answer, Report};
use super::served::here_or_served;
use crate::anchoring::admin::{self, Request};
use crate::anchoring::{Anchoring, authorities, options};

/// Have the newest checkpoint stamped now by all time-stamping authorities.
///
/// The token that comes of it vouches for every entry of the log, so receipts whose own token's certificates
/// run out are given out again with the new one. A server does that by itself in time;
/// this is for a log that is stopped, or for doing it at once. If the server runs it is asked to, with the
/// authorities of its own configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  log-server renew                                   the log in ./data
  log-server --config /etc/anchorlog/log.toml renew")]
pub(super) struct RenewArgs {}

pub(super) fn run(common: &Common, _: &RenewArgs) -> Result<Answer, CliError> {
    let config = common.config(None)?;
    let (round, running) = here_or_served(&config, Request::Renew, async |log, metrics| {
        let made = authorities(&config.anchoring, &config.log.data)?;
        if made.all.is_empty() {
            return Err(CliError::NoAuthorities);
        }
        // Without the index the statements about the tokens can't be told from duplicates.
        while !log.is_ready() && !log.has_failed() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let options = options(&config.anchoring);
        let (mut anchoring, _handle) = Anchoring::new(log, made.all, options, metrics)?;
        Ok(admin::describe(&anchoring.once().await))
    })?;
    Ok(Answer::Report(report(&round, running)))
}

/// Who stamped, and who didn't: a line for each.
pub(super) fn lines(round: &Object<'_>) -> String {
    let text = |object: &Object<'_>, name: &str| {
        object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let list = |name: &str| {
        let items = round.get(name).and_then(Value::as_array).unwrap_or_default();
        items.iter().filter_map(Value::as_object)
    };
    // Writing into a String can't fail.
    let mut out = String::new();
    for stored in list("stored") {
        let _ = writeln!(
            out,
            "{}: stamped {}, good until {}",
            text(stored, "operator"),
            text(stored, "gen_time"),
            text(stored, "expires")
        );
    }
    for failed in list("failed") {
        let (operator, code) = (text(failed, "operator"), text(failed, "code"));
        let _ = writeln!(out, "{operator}: {} [{code}]", text(failed, "message"));
    }
    out
}

fn report(round: &Object<'static>, running: bool) -> Report {
    let size = round.get("size").and_then(Value::as_integer).unwrap_or_default();
    let anchored = round.get("anchored") == Some(&Value::from(true));
    let mut out = lines(round);
    let report = if anchored {
        let _ = write!(out, "anchored: the checkpoint of {size} entries");
        Report::done("renew", out)
    } else if size == 0 {
        Report::does_not_hold("renew", "not anchored: the log has no entries")
    } else {
        let _ = write!(
            out,
            "not anchored: too few authorities stamped the checkpoint of {size} entries"
        );
        Report::does_not_hold("renew", out)
    };
    let member = |name: &str| round.get(name).cloned().unwrap_or(Value::Null);
    report
        .with("anchored", anchored)
        .with("failed", member("failed"))
        .with("server_running", running)
        .with("size", member("size"))
        .with("stored", member("stored"))
}
