//! `witness`: this program as a witness for other logs.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anchorlog_client::durable;
use anchorlog_proto::checkpoint::Origin;
use anchorlog_proto::json::{Object, Value};
use anchorlog_proto::note::{KeyName, VerifierKey};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::Common;
use super::error::CliError;
use super::report::{Answer, Form, Report, count};
use super::serve::{Signals, start_logging};
#[cfg(not(feature = "ml-dsa"))]
use crate::config::ConfigError;
use crate::config::{Config, DEFAULT_WITNESS, WitnessConfig, WitnessedLogConfig};
use crate::http::serve::serve;
use crate::keys::KeyOrigin;
use crate::witness::http::router;
use crate::witness::{Clock, Cosigner, LogSpec, Witness, WitnessError, WitnessMetrics, merge};

/// Cosign the checkpoints of other logs (c2sp.org/tlog-witness).
///
/// The witness cosigns a log's checkpoint only if it extends the one it cosigned last, and keeps that on disk
/// before it answers. Its key is made on first start; give its verifier key, type 0x04, to whoever writes
/// policies.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  log-server witness --name witness.example --log VKEY --log VKEY2=log.example/2026
  log-server --config witness.toml witness
  log-server witness --data /tmp/w --listen 127.0.0.1:0 --log VKEY --json")]
pub(super) struct WitnessArgs {
    /// Address and port to serve on; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Name of the witness, under which it cosigns.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Private key: PKCS#8 PEM, or the form of Go's note package. Made if it isn't there.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// A second private key, of type 0x06 (ML-DSA-44), in builds that have it. Made if it isn't there.
    #[arg(long, value_name = "FILE")]
    ml_dsa_key: Option<PathBuf>,
    /// A log to cosign, besides those of the configuration: its verifier key, and its origin where that isn't
    /// the key's name. Several keys of one log are given one by one.
    #[arg(long, value_name = "VKEY[=ORIGIN]")]
    log: Vec<String>,
}

pub(super) fn run(common: &Common, args: &WitnessArgs, form: Form) -> Result<Answer, CliError> {
    let mut config = common.config(None)?;
    apply(&mut config.witness, common, args)?;
    start_logging(&config.telemetry);
    let logs = logs(&config.witness, &args.log)?;
    let name = KeyName::new(&config.witness.name)
        .map_err(|source| WitnessError::Name { name: config.witness.name.clone(), source })?;
    let key_file = config.witness.key_path();
    if let Some(parent) = key_file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        durable::create_dir_all(parent)?;
    }
    let (cosigner, key_origin) = Cosigner::load_or_create(&key_file, &name)?;
    let second = &config.witness.ml_dsa_key_file;
    #[cfg(feature = "ml-dsa")]
    let cosigner =
        if second.as_os_str().is_empty() { cosigner } else { cosigner.with_ml_dsa_file(second)? };
    // Flags come after the check of the configuration.
    #[cfg(not(feature = "ml-dsa"))]
    if !second.as_os_str().is_empty() {
        return Err(ConfigError::NoMlDsa.into());
    }
    let metrics = WitnessMetrics::new();
    let data = &config.witness.data;
    let witness = Witness::open(data, cosigner, logs, Clock::system(), metrics)?;
    let witness = Arc::new(witness);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if config.http.workers > 0 {
        runtime.worker_threads(config.http.workers);
    }
    let runtime = runtime.enable_all().build().map_err(CliError::Runtime)?;
    let in_time = runtime.block_on(serve_witness(&witness, &config, |address| {
        announce(&config.witness, &witness, address, key_origin, form);
    }));
    runtime.shutdown_background();
    match in_time {
        Err(error) => Err(error),
        Ok(_) if witness.has_failed() => Err(CliError::WitnessFailed),
        Ok(false) => Err(CliError::CutOff),
        Ok(true) => Ok(Answer::Silent),
    }
}

/// Flags win over the configuration.
fn apply(config: &mut WitnessConfig, common: &Common, args: &WitnessArgs) -> Result<(), CliError> {
    if common.origin.is_some() {
        let text =
            "--origin names a log; a witness has --name, and its logs have --log VKEY=ORIGIN";
        return Err(CliError::Usage { text: text.to_owned() });
    }
    if let Some(data) = &common.data {
        config.data.clone_from(data);
    }
    if let Some(listen) = args.listen {
        config.listen = listen;
    }
    if let Some(name) = &args.name {
        config.name.clone_from(name);
    }
    if let Some(key) = &args.key {
        config.key_file.clone_from(key);
    }
    if let Some(key) = &args.ml_dsa_key {
        config.ml_dsa_key_file.clone_from(key);
    }
    Ok(())
}

/// The logs of the configuration and of the flags.
fn logs(config: &WitnessConfig, flags: &[String]) -> Result<Vec<LogSpec>, WitnessError> {
    let mut logs = config.logs.iter().map(spec).collect::<Result<Vec<_>, _>>()?;
    for flag in flags {
        logs.push(flag.parse()?);
    }
    Ok(merge(logs))
}

fn spec(log: &WitnessedLogConfig) -> Result<LogSpec, WitnessError> {
    let parse = |text: &String| {
        text.parse::<VerifierKey>()
            .map_err(|source| WitnessError::LogKey { text: text.clone(), source })
    };
    let keys = log.keys.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let origin = match keys.first() {
        Some(key) if log.origin.is_empty() => Origin::from(key.name()),
        _ => Origin::new(&log.origin)
            .map_err(|_| WitnessError::Origin { origin: log.origin.clone() })?,
    };
    Ok(LogSpec { origin, keys })
}

/// Serves until a signal, or until the witness can't go on. `false` if connections had to be cut off.
async fn serve_witness(
    witness: &Arc<Witness>,
    config: &Config,
    ready: impl FnOnce(SocketAddr),
) -> Result<bool, CliError> {
    let listen = config.witness.listen;
    let bind = |source| CliError::Bind { address: listen, source };
    let listener = TcpListener::bind(listen).await.map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    let (stop, stopped) = watch::channel(false);
    let paths = router(Arc::clone(witness), &config.http, &config.telemetry, stopped.clone());
    let mut signals = Signals::new().map_err(CliError::Runtime)?;
    ready(address);
    let serving = serve(listener, paths, &config.http, stopped);
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        in_time = &mut serving => return Ok(in_time),
        signal = signals.next() => tracing::info!(signal, "stopping"),
        () = witness.failed() => tracing::error!("stopping because the witness failed"),
    }
    stop.send_replace(true);
    tokio::select! {
        in_time = serving => Ok(in_time),
        // Somebody insists.
        _ = signals.next() => Ok(false),
    }
}

/// Says on standard output what is served where.
fn announce(
    config: &WitnessConfig,
    witness: &Witness,
    address: SocketAddr,
    key: KeyOrigin,
    form: Form,
) {
    let url = format!("http://{address}");
    let vkeys: Vec<String> = witness.cosigner().keys().iter().map(ToString::to_string).collect();
    let vkey = witness.cosigner().key().to_string();
    let logs = witness.logs();
    tracing::info!(%address, name = config.name, logs = logs.len(), "serving");
    let text = match form {
        Form::Json => String::new(),
        Form::Text => greeting(config, &url, &vkeys, logs.len(), key),
    };
    let log = |log: &Arc<crate::witness::KnownLog>| {
        let size = log.size().map_or(Value::Null, count);
        Value::from(Object::from([
            ("origin", Value::from(log.origin().as_str().to_owned())),
            ("size", size),
        ]))
    };
    let list = |values: Vec<Value<'static>>| Value::from(values);
    Report::done("witness", text)
        .with("data", config.data.display().to_string())
        .with("development_trust", config.name == DEFAULT_WITNESS)
        .with("key_created", key == KeyOrigin::Created)
        .with("logs", list(logs.iter().map(log).collect()))
        .with("name", config.name.clone())
        .with("url", url)
        .with("vkey", vkey)
        .with("vkeys", list(vkeys.into_iter().map(Value::from).collect()))
        .print(form);
    // A broken pipe on the way is not a reason to stop serving.
    let _ = io::stdout().flush();
}

fn greeting(
    config: &WitnessConfig,
    url: &str,
    vkeys: &[String],
    logs: usize,
    key: KeyOrigin,
) -> String {
    // Writing into a String can't fail.
    let mut text = String::new();
    if config.name == DEFAULT_WITNESS {
        text.push_str(
            "*** DEVELOPMENT TRUST: this witness has the default name and a key that nobody vouches for.\n\
             *** For a real one choose a name of your own and publish its verifier key.\n\n",
        );
    }
    if key == KeyOrigin::Created {
        let _ = writeln!(text, "made a new private key: {}", config.key_path().display());
    }
    let plural = if logs == 1 { "" } else { "s" };
    let _ = write!(
        text,
        "witness \"{}\" for {logs} log{plural} in {}, served on {url}",
        config.name,
        config.data.display(),
    );
    for vkey in vkeys {
        let _ = write!(text, "\nverifier key (vkey): {vkey}");
    }
    let _ = write!(text, "\n\nin a policy: witness NAME {} {url}", first_vkey(vkeys));
    if logs == 0 {
        text.push_str(
            "\n\nit knows no log yet: --log VKEY, or [[witness.logs]] in its configuration",
        );
    }
    text
}

fn first_vkey(vkeys: &[String]) -> &str {
    vkeys.first().map_or("VKEY", String::as_str)
}
