//! `dev-tsa`: a time-stamping authority for development, by itself.

use std::net::SocketAddr;
use std::sync::Arc;

use anchorlog_proto::Digest;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::Common;
use super::error::CliError;
use super::report::{Answer, Form, Report};
use super::serve::{Signals, start_logging};
use crate::config::{HttpConfig, Span};
use crate::dev_tsa::{
    DIRECTORY, DevTsa, DevTsaOptions, POLICY, STAMP_PATH, SignerKind, WARNING, router,
};
use crate::http::serve::serve;

/// Serve a time-stamping authority (RFC 3161) for development.
///
/// Its tokens are real, its trust is not: the keys are made on first start and lie in the directory
/// dev-tsa of the data directory, and the time is that of this machine. Nothing accepts its root unless it
/// is told to.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  log-server dev-tsa --data /tmp/tsa
  log-server dev-tsa --signer ed25519 --listen 127.0.0.1:7392 --data /tmp/other
  log-server dev-tsa --certificate-validity 60s        watch what renewal does")]
pub(super) struct DevTsaArgs {
    /// Address and port to serve on; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7391")]
    listen: SocketAddr,
    /// The key that signs tokens.
    #[arg(long, value_enum, default_value_t)]
    signer: SignerKind,
    /// For how long the signer's certificate is good; it is renewed in its last quarter.
    #[arg(long, value_name = "DURATION", default_value = "2160h")]
    certificate_validity: Span,
}

pub(super) fn run(common: &Common, args: &DevTsaArgs, form: Form) -> Result<Answer, CliError> {
    let config = common.config(None)?;
    start_logging(&config.telemetry);
    let options = DevTsaOptions {
        signer: args.signer,
        certificate_validity: args.certificate_validity.get(),
        ..DevTsaOptions::default()
    };
    let tsa = Arc::new(DevTsa::open(&config.log.data.join(DIRECTORY), options)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(CliError::Runtime)?;
    let in_time = runtime.block_on(serve_tsa(&tsa, args.listen, &config.http, form));
    runtime.shutdown_background();
    if in_time? { Ok(Answer::Silent) } else { Err(CliError::CutOff) }
}

/// Serves until a signal. `false` if connections had to be cut off.
async fn serve_tsa(
    tsa: &Arc<DevTsa>,
    listen: SocketAddr,
    config: &HttpConfig,
    form: Form,
) -> Result<bool, CliError> {
    let bind = |source| CliError::Bind { address: listen, source };
    let listener = TcpListener::bind(listen).await.map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    let (stop, stopped) = watch::channel(false);
    let mut signals = Signals::new().map_err(CliError::Runtime)?;
    announce(tsa, address, form);
    let serving = serve(listener, router(Arc::clone(tsa)), config, stopped);
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        in_time = &mut serving => return Ok(in_time),
        signal = signals.next() => tracing::info!(signal, "stopping"),
    }
    stop.send_replace(true);
    tokio::select! {
        in_time = serving => Ok(in_time),
        // Somebody insists.
        _ = signals.next() => Ok(false),
    }
}

fn announce(tsa: &DevTsa, address: SocketAddr, form: Form) {
    let url = format!("http://{address}{STAMP_PATH}");
    let (root, digest) = (tsa.root_path().display(), Digest::of(tsa.root_der()));
    tracing::warn!(url, "{WARNING}");
    let text = match form {
        Form::Json => String::new(),
        Form::Text => format!(
            "*** DEVELOPMENT TRUST: this is a time-stamping authority that nobody vouches for. Its keys\n\
             *** lie on this machine and its time is this machine's; its tokens prove nothing to others.\n\
             *** Nothing accepts its root unless you name it.\n\n\
             root certificate: {root} ({digest})\n\
             signer {}, policy {POLICY}, served on {url}\n\n\
             try: anchor stamp --tsa {url} --roots {root} FILE --out FILE.tsr\n\
             or:  openssl ts -query -data FILE -sha256 -cert -out FILE.tsq\n     \
             curl -sS -H 'Content-Type: application/timestamp-query' --data-binary @FILE.tsq \\\n          \
             -o FILE.tsr {url}\n     \
             openssl ts -verify -queryfile FILE.tsq -in FILE.tsr -CAfile {root}",
            tsa.signer(),
        ),
    };
    Report::done("dev-tsa", text)
        .with("development_trust", true)
        .with("policy", POLICY.to_string())
        .with("root", root.to_string())
        .with("root_digest", digest.to_string())
        .with("signer", tsa.signer().to_string())
        .with("url", url)
        .print(form);
}
