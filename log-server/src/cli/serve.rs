//! `serve`: opens the log, serves it until a signal, and closes it in order.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anchorlog_client::durable;
use anchorlog_proto::json::{Object, Value};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use super::Common;
use super::error::CliError;
use super::keygen::name;
use super::report::{Answer, Form, Report, count};
use crate::access::Access;
use crate::anchoring::admin::Admin;
use crate::anchoring::{Anchoring, Authorities, Handle, authorities, options as anchoring_options};
use crate::config::{Config, DEFAULT_ORIGIN, LogFormat, TelemetryConfig};
use crate::dev_tsa::{self, DevTsa, STAMP_PATH, WARNING};
use crate::http::serve::serve;
use crate::http::{App, router};
use crate::keys::{KeyOrigin, LogKey};
use crate::log::{Log, LogOptions, Running};
use crate::metrics::Metrics;
use crate::pool::PoolLimits;

/// Serve the log until SIGTERM or SIGINT, then answer what was accepted and stop.
#[derive(Debug, Default, Eq, PartialEq, clap::Args)]
pub(super) struct ServeArgs {
    /// Address and port to serve on; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

pub(super) fn run(common: &Common, args: &ServeArgs, form: Form) -> Result<Answer, CliError> {
    let config = common.config(args.listen)?;
    let access = Access::new(&config.access)?;
    start_logging(&config.telemetry);
    let (key, key_origin) = key_of(&config)?;
    let metrics = Metrics::new();
    let (log, running) = open(&config, &key, metrics.clone())?;
    let served = authorities(&config.anchoring, &config.log.data).map_err(CliError::from);
    let served = served.and_then(|authorities| {
        let development = authorities.development.clone();
        let log = &log;
        serve_log(&config, log, authorities, access, metrics, |address| {
            announce(&config, log, address, key_origin, development.as_deref(), form);
        })
    });
    let closed = running.shut_down();
    served?;
    closed?;
    tracing::info!("stopped");
    Ok(Answer::Silent)
}

/// The key of the configuration; made if neither it nor a log is there.
pub(super) fn key_of(config: &Config) -> Result<(LogKey, KeyOrigin), CliError> {
    let (data, path) = (&config.log.data, config.log.key_path());
    name(&config.log.origin)?;
    if !path.exists() {
        if has_log(data) {
            return Err(CliError::MissingKey { key: path, data: data.clone() });
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            durable::create_dir_all(parent)?;
        }
    }
    Ok(LogKey::load_or_create(&path)?)
}

/// Opens the log of the configuration and starts it.
pub(super) fn open(
    config: &Config,
    key: &LogKey,
    metrics: Metrics,
) -> Result<(Log, Running), CliError> {
    let options = LogOptions {
        pool: PoolLimits { queue_entries: config.limits.queue, ..PoolLimits::default() },
        engine: config.index.engine.into(),
        index_memory: config.index.memory.get(),
        filter_memory: config.index.filter_memory.get(),
        min_free_bytes: config.limits.min_free_disk.get(),
        anchor_quorum: config.anchoring.quorum,
        ..LogOptions::default()
    };
    let signer = key.signer(&name(&config.log.origin)?);
    Ok(Log::open(&config.log.data, signer, &options, metrics)?)
}

/// Whether a directory is the data directory of a log.
pub(super) fn has_log(directory: &Path) -> bool {
    directory.join("wal").is_dir() || directory.join("log").is_dir()
}

fn serve_log(
    config: &Config,
    log: &Log,
    authorities: Authorities,
    access: Access,
    metrics: Metrics,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), CliError> {
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
        let mut app = App::new(log.clone(), access, metrics.clone(), config, stopped.clone());
        let mut anchoring = None;
        if !authorities.all.is_empty() {
            let options = anchoring_options(&config.anchoring);
            let (task, handle) = Anchoring::new(log.clone(), authorities.all, options, metrics)?;
            app = app.with_anchoring(handle.status.clone());
            open_admin(config, handle, stopped.clone());
            anchoring = Some(tokio::spawn(task.run(stopped.clone())));
        }
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
        if let Some(anchoring) = anchoring {
            // It waits for no authority; what it is storing belongs into the directory before the lock goes.
            let _ = tokio::time::timeout(ANCHORING_GRACE, anchoring).await;
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
fn open_admin(config: &Config, handle: Handle, stopped: watch::Receiver<bool>) {
    match Admin::open(&config.log.data) {
        Ok(admin) => {
            tokio::spawn(admin.run(handle, stopped));
        }
        Err(error) => {
            tracing::warn!(%error, "`log-server renew` can't reach this server");
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
    form: Form,
) {
    let (url, vkey) = (format!("http://{address}"), log.key().to_string());
    let (origin, size) = (log.origin().as_str().to_owned(), log.snapshot().size().get());
    tracing::info!(%address, origin, size, "serving");
    let report = match form {
        Form::Json => Report::done("serve", ""),
        Form::Text => {
            let text = greeting(config, &url, &origin, &vkey, size, key, development);
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
        .with("data", config.log.data.display().to_string())
        .with("development_trust", is_for_trying_out(&origin) || development.is_some())
        .with("development_tsa", tsa.unwrap_or(Value::Null))
        .with("key_created", key == KeyOrigin::Created)
        .with("origin", origin)
        .with("size", count(size))
        .with("url", url)
        .with("vkey", vkey);
    report.print(form);
    // A broken pipe on the way is not a reason to stop serving.
    let _ = io::stdout().flush();
}

fn greeting(
    config: &Config,
    url: &str,
    origin: &str,
    vkey: &str,
    size: u64,
    key: KeyOrigin,
    development: Option<&DevTsa>,
) -> String {
    let key_file = config.log.key_path();
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
         verifier key (vkey): {vkey}\n\n\
         try: anchor submit --log {url} --kind digest --digest {EXAMPLE_DIGEST}",
        config.log.data.display(),
    );
    text
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

/// How long the anchoring task may take to end: a sync or two.
const ANCHORING_GRACE: Duration = Duration::from_secs(5);

/// SHA-256 of the empty string.
const EXAMPLE_DIGEST: &str =
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
