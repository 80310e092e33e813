//! Asking a running server to renew: a socket of this machine, for the server's own user alone.
//!
//! One line in, one line of canonical JSON out. It is no part of the HTTP interface, because whoever is on
//! the other end of that may have come through a proxy; here the kernel says who it is. The socket has
//! a name and no file (`unix(7)`, abstract): nothing is left behind by a crash, and a data directory holds
//! nothing that a copy of it would stumble over. Anybody could take the name first, so each side looks who
//! the other one is.

use std::fs;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{SocketAddr, UnixListener as StdListener, UnixStream as StdStream};
use std::path::Path;
use std::time::Duration;

use anchorlog_proto::json::{Object, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

use super::task::{Handle, Round};

/// The one thing that can be asked.
const RENEW: &[u8] = b"renew\n";

/// The longest answer: ten authorities, each with a long reason.
const MAX_ANSWER: u64 = 1 << 20;

/// Within which a request has to be there.
const PATIENCE: Duration = Duration::from_secs(5);

/// The socket of a running server.
pub struct Admin {
    listener: UnixListener,
}

impl Admin {
    /// Opens the socket of the data directory `data`. Needs a tokio runtime with I/O.
    pub fn open(data: &Path) -> io::Result<Self> {
        let listener = StdListener::bind_addr(&address(data)?)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener: UnixListener::from_std(listener)? })
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
    }
}

/// Asks the server that runs on the data directory `data` to renew, and returns its line. Needs a tokio runtime
/// with I/O.
pub async fn ask(data: &Path) -> io::Result<Vec<u8>> {
    let stream = StdStream::connect_addr(&address(data)?)?;
    stream.set_nonblocking(true)?;
    let mut stream = UnixStream::from_std(stream)?;
    check_peer(&stream)?;
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
    check_peer(&stream)?;
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

/// The name of the socket: which directory it is, by whatever path it is reached.
fn address(data: &Path) -> io::Result<SocketAddr> {
    let directory = fs::metadata(data)?;
    let name = format!("anchorlog/{:x}/{:x}", directory.dev(), directory.ino());
    SocketAddr::from_abstract_name(name)
}

/// Refuses whoever is neither this user nor root.
fn check_peer(stream: &UnixStream) -> io::Result<()> {
    let peer = stream.peer_cred()?.uid();
    let own = rustix::process::geteuid().as_raw();
    // Root may ask anybody's server, and then it is somebody else who answers.
    if peer == own || peer == 0 || own == 0 {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use super::*;

    #[tokio::test]
    async fn one_directory_has_one_socket_and_leaves_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let refused = ask(directory.path()).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        let admin = Admin::open(directory.path()).unwrap();
        // By another path to the same place.
        assert!(Admin::open(&directory.path().join(".")).is_err());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        drop(admin);
        Admin::open(directory.path()).unwrap();
        assert!(Admin::open(&directory.path().join("missing")).is_err());
    }
}
