//! Asking a running server to renew: a socket in its data directory, for its own user alone.
//!
//! One line in, one line of canonical JSON out. It is no part of the HTTP interface, because whoever is on
//! the other end of that may have come through a proxy; here the kernel says who it is.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anchorlog_client::durable;
use anchorlog_proto::json::{Object, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

use super::task::{Handle, Round};

/// Name of the socket in the data directory.
pub const SOCKET: &str = "admin.sock";

/// The one thing that can be asked.
const RENEW: &[u8] = b"renew\n";

/// The longest answer: ten authorities, each with a long reason.
const MAX_ANSWER: u64 = 1 << 20;

/// Within which a request has to be there.
const PATIENCE: Duration = Duration::from_secs(5);

/// The socket of a running server. The directory's lock is held, so whatever is there is left over.
pub struct Admin {
    listener: UnixListener,
    path: PathBuf,
}

impl Admin {
    /// Opens the socket in the data directory `data`. Needs a tokio runtime with I/O.
    pub fn open(data: &Path) -> io::Result<Self> {
        let path = data.join(SOCKET);
        match durable::remove_file(&path) {
            Err(error) if error.source.kind() != io::ErrorKind::NotFound => {
                return Err(error.source);
            }
            _ => {}
        }
        Ok(Self { listener: UnixListener::bind(&path)?, path })
    }

    /// Answers one request after the other until `stop` becomes true.
    pub async fn run(self, handle: Handle, mut stop: watch::Receiver<bool>) {
        loop {
            let accepted = tokio::select! {
                _ = stop.wait_for(|stopped| *stopped) => break,
                accepted = self.listener.accept() => accepted,
            };
            let answered = match accepted {
                Ok((stream, _)) => tokio::select! {
                    _ = stop.wait_for(|stopped| *stopped) => break,
                    answered = answer(stream, &handle) => answered,
                },
                Err(error) => {
                    // Typically out of file descriptors.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    Err(error)
                }
            };
            if let Err(error) = answered {
                tracing::debug!(%error, "a request on the admin socket ended early");
            }
        }
        // The next start would do it, too.
        let _ = durable::remove_file(&self.path);
    }
}

/// Asks the server that runs on the data directory `data` to renew, and returns its line.
pub async fn ask(data: &Path) -> io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(data.join(SOCKET)).await?;
    stream.write_all(RENEW).await?;
    let mut line = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut line).await?;
    Ok(line)
}

/// A round as JSON.
#[must_use]
pub fn describe(round: &Round) -> Object<'static> {
    let size = Value::try_from(round.size).unwrap_or(Value::Null);
    let stored = round.stored.iter().map(|(operator, gen_time, expires)| {
        let expires = anchorlog_proto::timestamp::GenTime::from_unix(*expires);
        Value::from(Object::from([
            ("expires", Value::from(expires.to_string())),
            ("gen_time", Value::from(gen_time.to_string())),
            ("operator", Value::from(operator.clone())),
        ]))
    });
    let failed = round.failed.iter().map(|(operator, failure)| {
        Value::from(Object::from([
            ("code", Value::from(failure.code.clone().into_owned())),
            ("message", Value::from(failure.text.clone())),
            ("operator", Value::from(operator.clone())),
        ]))
    });
    Object::from([
        ("anchored", Value::from(round.anchored)),
        ("failed", Value::from(failed.collect::<Vec<_>>())),
        ("size", size),
        ("stored", Value::from(stored.collect::<Vec<_>>())),
    ])
}

async fn answer(mut stream: UnixStream, handle: &Handle) -> io::Result<()> {
    let peer = stream.peer_cred()?.uid();
    let own = rustix::process::geteuid().as_raw();
    if peer != own && peer != 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut request = [0; RENEW.len()];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut request)).await??;
    if request != *RENEW {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let Some(round) = handle.renew().await else { return Err(io::ErrorKind::WouldBlock.into()) };
    let mut line = describe(&round).to_canonical();
    line.push(b'\n');
    stream.write_all(&line).await?;
    stream.shutdown().await
}
