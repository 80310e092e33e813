//! `anchor monitor`: reads a log whole, again and again, and tells when it isn't what it promises.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::Trail;
use anchorlog_verifier::codes::Code;
use anchorlog_verifier::report::Verdict;
use serde_json::{Value, json};

use super::report::{Form, Report, announce};
use super::stamp_args::{Paired, read_trust};
use super::tile_args::{KeyArgs, LocationArgs, asked_to_end};
use crate::error::ClientError;
use crate::monitor::{
    Hook, Limits, Lines, Monitor, MonitorError, MonitorOptions, Output, OutputError, Round,
    Watches, Webhook, WebhookUrl,
};
use crate::record::SystemClock;
use crate::retry::RetryPolicy;
use crate::state::StateDir;

/// Watch a log: read every entry, verify everything, and tell what is found.
///
/// Events are JSON objects, one on each line of standard output: alarms (a split view, a rollback, a fork, entries or tiles
/// that are not of the signed tree, entries that are no statements, silence, a missing witness quorum,
/// clocks that disagree), their end, and every entry of the trails, keys and digests that are watched. The
/// same events go to --hook and --webhook, again until they are taken; each has an `id` that stays the
/// same. Exit code 1 with --once if an alarm is raised.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor monitor --log https://log.example --policy log.policy
  anchor monitor --log https://log.example --policy log.policy --trail sha256:9f86d081… --hook ./tell
  anchor monitor --log copy --policy log.policy --once --json

It remembers what it has seen in the state directory; a monitor that is started again goes on there.")]
pub(super) struct Args {
    #[command(flatten)]
    log: LocationArgs,
    #[command(flatten)]
    keys: KeyArgs,
    /// Tell of every entry of this trail; may be given again, as the next two.
    #[arg(long, value_name = "TRAIL")]
    trail: Vec<Trail>,
    /// Tell of every entry that names this key as its signer.
    #[arg(long, value_name = "KEY_ID")]
    key: Vec<SignerId>,
    /// Tell of every entry with this digest.
    #[arg(long, value_name = "DIGEST")]
    digest: Vec<Digest>,
    /// The log holds other entries than statements: none is malformed, and --digest means the SHA-256 of
    /// an entry's bytes.
    #[arg(long, conflicts_with_all = ["trail", "key"])]
    foreign: bool,
    /// Look once, at everything that is new, instead of again and again.
    #[arg(long)]
    once: bool,
    /// Begin at the end of the log as it is seen first, believing what is before.
    #[arg(long)]
    from_now: bool,
    /// Seconds between two looks.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    interval: u64,
    /// Program to start for every event, which stands on its standard input; no shell is involved. It is told
    /// again until it ends with code 0.
    #[arg(long, value_name = "PROGRAM")]
    hook: Option<PathBuf>,
    /// Argument of that program; may be given again.
    #[arg(long, value_name = "ARGUMENT", requires = "hook", allow_hyphen_values = true)]
    hook_arg: Vec<String>,
    /// Address to post every event to, again until it answers with success.
    #[arg(long, value_name = "URL")]
    webhook: Option<WebhookUrl>,
    /// Roots of time-stamping authorities whose stamps count as signs of life: OPERATOR=FILE, or FILE.
    #[arg(long, value_name = "[OPERATOR=]PEM")]
    roots: Vec<Paired<PathBuf>>,
    /// Seconds without an answer that are alarming.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().no_answer)]
    max_no_answer: u32,
    /// Seconds without growth, and without a newer cosignature or time stamp, that are alarming.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().silence)]
    max_silence: u32,
    /// Seconds that the newest checkpoint with a quorum of witnesses may lie behind.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().witness_lag)]
    max_witness_lag: u32,
    /// Seconds that clocks may differ by.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().clock)]
    max_clock_difference: u32,
    /// Take back the alarms with this code before looking; may be given again. What a log signed stays an
    /// alarm until then.
    #[arg(long, value_name = "CODE", value_parser = code)]
    acknowledge: Vec<Code>,
    /// Directory for what the monitor remembers.
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

pub(super) async fn run(args: Args, form: Form) -> Report {
    let mut report = Report::new("monitor");
    report.member("log", args.log.log.to_string());
    match open(&args) {
        Ok(mut monitor) => {
            if let Err(error) = watch(&args, form, &mut monitor, &mut report).await {
                report.fail(Verdict::NotEvaluated, error.code(), &error.to_string());
            }
            finish(&mut report, &monitor);
        }
        Err(Refusal::Client(error)) => report.error(&error),
        Err(Refusal::Monitor(error)) => {
            report.fail(Verdict::NotEvaluated, error.code(), &error.to_string());
        }
        Err(Refusal::Other(code, detail)) => report.fail(Verdict::NotEvaluated, code, &detail),
    }
    report
}

/// Why there is no monitor.
enum Refusal {
    Client(ClientError),
    Monitor(MonitorError),
    Other(&'static str, String),
}

impl From<ClientError> for Refusal {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

fn open(args: &Args) -> Result<Monitor<SystemClock>, Refusal> {
    let state = match &args.state {
        Some(path) => StateDir::at(path),
        None => StateDir::of_environment().ok_or(ClientError::NoState)?,
    };
    let keys = args.keys.read().map_err(ClientError::from)?;
    let mut outputs = vec![Output::Lines(Lines::new(Box::new(io::stdout())))];
    if let Some(program) = &args.hook {
        let arguments = args.hook_arg.clone();
        outputs.push(Output::Hook(Hook { program: program.clone(), arguments, timeout: PATIENCE }));
    }
    if let Some(url) = &args.webhook {
        let webhook = Webhook::new(url.clone(), PATIENCE, RetryPolicy::default());
        let webhook = webhook.map_err(|error| Refusal::Other("CLIENT.SETUP", error.to_string()))?;
        outputs.push(Output::Webhook(webhook));
    }
    let options = MonitorOptions {
        log: args.log.log.clone(),
        keys: keys.keys,
        policy: keys.policy,
        authorities: read_trust(&args.roots)
            .map_err(|error| Refusal::Other(error.code(), error.to_string()))?,
        watches: Watches {
            trails: args.trail.iter().cloned().collect(),
            keys: args.key.iter().copied().collect(),
            digests: args.digest.iter().copied().collect::<HashSet<_>>(),
            foreign: args.foreign,
        },
        limits: Limits {
            no_answer: args.max_no_answer,
            silence: args.max_silence,
            witness_lag: args.max_witness_lag,
            clock: args.max_clock_difference,
        },
        follow: args.log.options(),
        from_now: args.from_now,
    };
    Monitor::open(options, &state, outputs, SystemClock).map_err(Refusal::Monitor)
}

async fn watch(
    args: &Args,
    form: Form,
    monitor: &mut Monitor<SystemClock>,
    report: &mut Report,
) -> Result<(), MonitorError> {
    for code in &args.acknowledge {
        let number = monitor.acknowledge(code.as_str())?;
        if form == Form::Text {
            announce(&format!("{code}: {number} acknowledged"));
        }
    }
    let mut told = Told::default();
    let mut end = pin!(asked_to_end());
    loop {
        // What a round has not kept when it is left off is done again the next time.
        let round = tokio::select! {
            biased;
            () = &mut end => return Ok(()),
            round = monitor.round() => round?,
        };
        // Without a reader there is nobody to tell.
        let unheard = matches!(round.undelivered, Some(OutputError::Stream { .. }));
        if args.once || unheard {
            once(report, &round);
            return Ok(());
        }
        told.announce(&round);
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(args.interval)) => {}
            () = &mut end => return Ok(()),
        }
    }
}

/// What one look found, beside the alarms.
fn once(report: &mut Report, round: &Round) {
    report.member("size", round.size);
    report.member("read", round.read);
    if let Some(error) = &round.unreachable {
        report.fail(Verdict::NotEvaluated, error.code(), &error.to_string());
    }
    if let Some(error) = &round.undelivered {
        report.fail(Verdict::NotEvaluated, "CLIENT.DELIVERY", &error.to_string());
    }
}

/// Failures that were told on standard error: each once, until it is over.
#[derive(Default)]
struct Told {
    unreachable: bool,
    undelivered: bool,
}

impl Told {
    fn announce(&mut self, round: &Round) {
        let say = |told: &mut bool, error: Option<String>| match error {
            Some(error) if !*told => {
                announce(&format!("warning: {error}"));
                *told = true;
            }
            Some(_) => {}
            None => *told = false,
        };
        say(&mut self.unreachable, round.unreachable.as_ref().map(ToString::to_string));
        say(&mut self.undelivered, round.undelivered.as_ref().map(ToString::to_string));
    }
}

/// The alarms that are raised at the end.
fn finish(report: &mut Report, monitor: &Monitor<SystemClock>) {
    let alarms: Vec<Value> = monitor
        .alarms()
        .iter()
        .map(|alarm| {
            json!({
                "code": alarm.code,
                "subject": alarm.subject,
                "detail": alarm.detail,
                "since": alarm.since,
                "evidence": alarm.evidence,
            })
        })
        .collect();
    report.member("alarms", alarms);
    report.member("state", monitor.directory().display().to_string());
    for alarm in monitor.alarms() {
        report.fail(Verdict::DoesNotHold, &alarm.code, &alarm.detail);
    }
}

fn code(text: &str) -> Result<Code, String> {
    Code::lookup(text).ok_or_else(|| format!("there is no code {text}"))
}

/// How long a hook or a webhook may take for one event.
const PATIENCE: Duration = Duration::from_mins(1);
