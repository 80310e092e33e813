//! `serve`: opens the log, serves it until a signal, and closes it in order.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anchorlog_proto::encoding::hex_encode;
use anchorlog_proto::json::{Object, Value};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use super::Common;
use super::error::CliError;
use super::opening::{Mode, keys_of, open_witnessed, serve_checkpoint_witness};
use super::report::{Answer, Form, Report, count};
use crate::access::Access;
use crate::anchoring::admin::{Admin, Asked};
use crate::anchoring::{Anchoring, Authorities, authorities, options as anchoring_options};
use crate::bearer::Bearers;
use crate::checkpoint_witness::CheckpointWitness;
use crate::checkpoint_witness::ledger::Ledger;
use crate::config::{Config, DEFAULT_ORIGIN, LogFormat, TelemetryConfig};
use crate::dev_tsa::{self, DevTsa, STAMP_PATH, WARNING};
use crate::http::serve::serve;
use crate::http::{App, router};
use crate::keys::KeyOrigin;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::standing::Standing;
use crate::witnessing::{Witnesses, Witnessing, options as witnessing_options};

/// Serve the log until SIGTERM or SIGINT, then answer what was accepted and stop.
#[derive(Debug, Default, Eq, PartialEq, clap::Args)]
pub(super) struct ServeArgs {
    /// Address and port to serve on; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Serve the log as it stands and sign nothing: to look at one that must not go on.
    #[arg(long)]
    read_only: bool,
}

pub(super) fn run(common: &Common, args: &ServeArgs, form: Form) -> Result<Answer, CliError> {
    let config = common.config(args.listen)?;
    let bearers = Bearers::new(&config.tokens, &config.log.origin)?;
    let access = Access::new(&config.access)?.with_bearers(bearers);
    start_logging(&config.telemetry);
    let mode = if args.read_only { Mode::Read } else { Mode::Sign };
    let (keys, key_origin) = keys_of(&config, mode)?;
    let metrics = Metrics::new();
    let (log, running, witnesses) = open_witnessed(&config, keys, mode, metrics.clone())?;
    let served = match log.standing() {
        // A checkpoint that may not be the log's newest is not to be vouched for.
        Standing::ReadOnly => Ok((Authorities::default(), None)),
        _ => authorities(&config.anchoring, &config.log.data)
            .map(|authorities| (authorities, witnesses))
            .map_err(CliError::from),
    };
    let served = served.and_then(|(authorities, witnesses)| {
        let opened = serve_checkpoint_witness(&config, log.standing(), metrics.clone())?;
        let checkpoint_witness = opened.map(Arc::new);
        let development = authorities.development.clone();
        let log = &log;
        let countersigning = Countersigning { authorities, witnesses };
        let witness = checkpoint_witness.clone();
        serve_log(&config, log, countersigning, witness, access, metrics, |address| {
            let trails = checkpoint_witness.as_deref();
            announce(&config, log, address, key_origin, development.as_deref(), trails, form);
        })
    });
    let closed = running.shut_down();
    served?;
    closed?;
    tracing::info!("stopped");
    Ok(Answer::Silent)
}

/// Who countersigns the log's checkpoints.
struct Countersigning {
    authorities: Authorities,
    witnesses: Option<Witnesses>,
}

fn serve_log(
    config: &Config,
    log: &Log,
    countersigning: Countersigning,
    checkpoint_witness: Option<Arc<CheckpointWitness>>,
    access: Access,
    metrics: Metrics,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), CliError> {
    let Countersigning { authorities, witnesses } = countersigning;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if config.http.workers > 0 {
        runtime.worker_threads(config.http.workers);
    }
    let runtime = runtime.enable_all().build().map_err(CliError::Runtime)?;
    let in_time = runtime.block_on(async {
        let bind = |source| CliError::Bind { address: config.log.listen, source };
        let listener = TcpListener::bind(config.log.listen).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let (stop, stopped) = watch::channel(false);
        let ledger_metrics = metrics.clone();
        let mut app = App::new(log.clone(), access, metrics.clone(), config, stopped.clone());
        let mut anchoring = None;
        let mut anchored = None;
        if !authorities.all.is_empty() {
            let options = anchoring_options(&config.anchoring);
            let metrics = metrics.clone();
            let (task, handle) = Anchoring::new(log.clone(), authorities.all, options, metrics)?;
            app = app.with_anchoring(handle.status.clone());
            anchored = Some(handle);
            anchoring = Some(tokio::spawn(task.run(stopped.clone())));
        }
        let mut witnessing = None;
        if let Some(witnesses) = witnesses {
            let options = witnessing_options(&config.witnessing);
            let (policy, remote) = (Arc::clone(witnesses.policy()), witnesses.remote());
            let (task, status) = Witnessing::new(log.clone(), policy, remote, options, metrics);
            app = app.with_witnessing(status);
            witnessing = Some(tokio::spawn(task.run(stopped.clone())));
        }
        let mut entering = None;
        if let Some(witness) = checkpoint_witness.clone() {
            app = app.with_checkpoint_witness(Arc::clone(&witness));
            if config.checkpoint_witness.log {
                let ledger = Ledger::new(witness, log.clone(), ledger_metrics);
                entering = Some(tokio::spawn(ledger.run(stopped.clone())));
            }
        }
        let asked = Asked { log: log.clone(), anchoring: anchored, checkpoint_witness };
        open_admin(config, asked, stopped.clone());
        let mut paths = router(Arc::new(app));
        if let Some(tsa) = authorities.development {
            paths = paths.merge(dev_tsa::router(tsa));
        }
        let mut signals = Signals::new().map_err(CliError::Runtime)?;
        ready(address);
        let serving = serve(listener, paths, &config.http, stopped);
        let mut serving = std::pin::pin!(serving);
        tokio::select! {
            in_time = &mut serving => return Ok(in_time),
            signal = signals.next() => tracing::info!(signal, "stopping"),
            () = log.failed() => tracing::error!("stopping because the log failed"),
        }
        stop.send_replace(true);
        let in_time = tokio::select! {
            in_time = serving => in_time,
            // Somebody insists.
            _ = signals.next() => false,
        };
        for task in [anchoring, witnessing, entering].into_iter().flatten() {
            // It waits for nobody; what it is storing belongs into the directory before the lock goes.
            let _ = tokio::time::timeout(TASK_GRACE, task).await;
        }
        Ok(in_time)
    });
    runtime.shutdown_background();
    match in_time {
        Err(error) => Err(error),
        Ok(_) if log.has_failed() => Err(CliError::LogFailed),
        Ok(false) => Err(CliError::CutOff),
        Ok(true) => Ok(()),
    }
}

/// Lets the owner of the data directory ask for things. A server that can't still serves.
fn open_admin(config: &Config, asked: Asked, stopped: watch::Receiver<bool>) {
    match Admin::open(&config.log.data) {
        Ok(admin) => {
            tokio::spawn(admin.run(asked, stopped));
        }
        Err(error) => {
            tracing::warn!(%error, "`log-server renew` and `freeze` can't reach this server");
        }
    }
}

/// The signals that stop the server.
pub(super) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}

/// Says on standard output what is served where, and what it is worth.
fn announce(
    config: &Config,
    log: &Log,
    address: SocketAddr,
    key: KeyOrigin,
    development: Option<&DevTsa>,
    trails: Option<&CheckpointWitness>,
    form: Form,
) {
    let (url, vkey) = (format!("http://{address}"), log.key().to_string());
    let (origin, size) = (log.origin().as_str().to_owned(), log.snapshot().size().get());
    tracing::info!(%address, origin, size, "serving");
    let vkeys = log.keys().current().iter().map(|key| Value::from(key.to_string()));
    let report = match form {
        Form::Json => Report::done("serve", ""),
        Form::Text => {
            let mut text = greeting(config, log, &url, size, key, development);
            if let Some(witness) = trails {
                let (_, statements) = witness.size();
                let key = hex_encode(witness.key().as_bytes());
                // Writing into a String can't fail.
                let _ = write!(
                    text,
                    "\nwitness of audit trails with {statements} statements, key {key}"
                );
            }
            Report::done("serve", text)
        }
    };
    let tsa = development.map(|tsa| {
        tracing::warn!("{WARNING}");
        Value::from(Object::from([
            ("root", Value::from(tsa.root_path().display().to_string())),
            ("url", Value::from(format!("{url}{STAMP_PATH}"))),
        ]))
    });
    let report = report
        .with("checkpoint_witness", trails.map_or(Value::Null, described))
        .with("data", config.log.data.display().to_string())
        .with("development_trust", is_for_trying_out(&origin) || development.is_some())
        .with("development_tsa", tsa.unwrap_or(Value::Null))
        .with("key_created", key == KeyOrigin::Created)
        .with("origin", origin)
        .with("size", count(size))
        .with("url", url)
        .with("standing", standing(log))
        .with("vkey", vkey)
        .with("vkeys", vkeys.collect::<Vec<_>>());
    report.print(form);
    // A broken pipe on the way is not a reason to stop serving.
    let _ = io::stdout().flush();
}

fn greeting(
    config: &Config,
    log: &Log,
    url: &str,
    size: u64,
    key: KeyOrigin,
    development: Option<&DevTsa>,
) -> String {
    let key_file = config.log.key_path();
    let origin = log.origin().as_str();
    // Writing into a String can't fail.
    let mut text = String::new();
    if is_for_trying_out(origin) {
        text.push_str(
            "*** DEVELOPMENT TRUST: this log has the default name and a key that nobody vouches for.\n\
             *** Good for trying out; its receipts prove nothing to others. For a real log set an\n\
             *** origin of your own (`log-server config --example`) and publish its verifier key.\n\n",
        );
    }
    if let Some(tsa) = development {
        let _ = writeln!(
            text,
            "*** DEVELOPMENT TIME STAMPS: an authority inside this server stamps the log, with keys in the\n\
             *** same directory and this machine's clock. They prove no time to others. Its root, which\n\
             *** nothing accepts unless you name it: {}\n\
             *** It answers others at {url}{STAMP_PATH}, too.\n",
            tsa.root_path().display(),
        );
    }
    if key == KeyOrigin::Created {
        let _ = writeln!(text, "made a new private key: {}", key_file.display());
    }
    let _ = write!(
        text,
        "log \"{origin}\" with {size} entries in {}, served on {url}\n\
         verifier key (vkey): {}",
        config.log.data.display(),
        log.key(),
    );
    for additional in log.keys().current().iter().skip(1) {
        let _ = write!(text, "\nit signs with this key too: {additional}");
    }
    let _ = match log.standing() {
        Standing::Open => write!(
            text,
            "\n\ntry: anchor submit --log {url} --kind digest --digest {EXAMPLE_DIGEST}"
        ),
        Standing::ReadOnly => write!(text, "\n\nopened for reading: nothing is taken or signed"),
        Standing::Frozen => write!(text, "\n\nfrozen: it has ended, and takes nothing any more"),
    };
    text
}

/// A checkpoint witness' key and size.
fn described(witness: &CheckpointWitness) -> Value<'static> {
    let (trails, statements) = witness.size();
    Value::from(Object::from([
        ("key", Value::from(hex_encode(witness.key().as_bytes()))),
        ("statements", count(statements)),
        ("trails", count(u64::try_from(trails).unwrap_or(u64::MAX))),
    ]))
}

fn standing(log: &Log) -> &'static str {
    match log.standing() {
        Standing::Open => "open",
        Standing::ReadOnly => "read-only",
        Standing::Frozen => "frozen",
    }
}

fn is_for_trying_out(origin: &str) -> bool {
    origin == DEFAULT_ORIGIN
}

pub(super) fn start_logging(config: &TelemetryConfig) {
    // Checked by the configuration.
    let filter = EnvFilter::try_new(&config.log_filter).unwrap_or_default();
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    // Fails only if logging has been started before, which is as good.
    let _ = match config.log_format {
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
        LogFormat::Text => lines.try_init(),
    };
}

/// How long anchoring or witnessing may take to end: a sync or two.
const TASK_GRACE: Duration = Duration::from_secs(5);

/// SHA-256 of the empty string.
const EXAMPLE_DIGEST: &str =
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
