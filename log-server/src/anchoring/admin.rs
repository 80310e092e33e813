//! Asking a running server for what only its operator may ask, to renew or to end the log, or about its
//! checkpoint witness: a socket of this machine, for the server's own user alone.
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
use std::sync::Arc;
use std::time::Duration;

use anchorlog_proto::jp::witness::{MAX_STORED_LINE_BYTES, Registration, TrailId};
use anchorlog_proto::json::{Object, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

use super::task::{Handle, Round};
use crate::checkpoint_witness::CheckpointWitness;
use crate::log::Log;
use crate::snapshot::Snapshot;
use crate::standing::Standing;

/// What can be asked.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "both ends are this program")]
pub enum Request {
    /// To end the log.
    Freeze,
    /// To have the newest checkpoint stamped now.
    Renew,
    /// To register a trail with the checkpoint witness.
    Register(Registration),
    /// To have the checkpoint witness retire a trail.
    Retire(TrailId),
}

impl Request {
    fn line(&self) -> Vec<u8> {
        match self {
            Self::Freeze => b"freeze\n".to_vec(),
            Self::Renew => b"renew\n".to_vec(),
            Self::Register(registration) => [REGISTER, &registration.to_line(), b"\n"].concat(),
            Self::Retire(trail) => [RETIRE, trail.to_string().as_bytes(), b"\n"].concat(),
        }
    }

    fn read(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\n")?;
        match line {
            b"freeze" => return Some(Self::Freeze),
            b"renew" => return Some(Self::Renew),
            _ => {}
        }
        if let Some(registration) = line.strip_prefix(REGISTER) {
            return Registration::read(registration).map(Self::Register);
        }
        let trail = str::from_utf8(line.strip_prefix(RETIRE)?).ok()?;
        trail.parse().ok().map(Self::Retire)
    }
}

/// Whom a request is for.
#[derive(Clone)]
#[allow(clippy::exhaustive_structs, reason = "the server fills it in")]
pub struct Asked {
    /// The log.
    pub log: Log,
    /// Its anchoring, if there is any.
    pub anchoring: Option<Handle>,
    /// Its checkpoint witness, if there is one.
    pub checkpoint_witness: Option<Arc<CheckpointWitness>>,
}

/// The longest request: a registration.
const MAX_REQUEST: usize = 16 + MAX_STORED_LINE_BYTES;

/// What the request for a registration begins with.
const REGISTER: &[u8] = b"register ";

/// What the request for a retirement begins with.
const RETIRE: &[u8] = b"retire ";

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
    pub async fn run(self, asked: Asked, mut stop: watch::Receiver<bool>) {
        loop {
            let accepted = tokio::select! {
                _ = stop.wait_for(|stopped| *stopped) => break,
                accepted = self.listener.accept() => accepted,
            };
            let answered = match accepted {
                Ok((stream, _)) => tokio::select! {
                    _ = stop.wait_for(|stopped| *stopped) => break,
                    answered = answer(stream, &asked) => answered,
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

/// Asks the server that runs on the data directory `data`, and returns its line; empty when it can't do that.
/// Needs a tokio runtime with I/O.
pub async fn ask(data: &Path, request: Request) -> io::Result<Vec<u8>> {
    let stream = StdStream::connect_addr(&address(data)?)?;
    stream.set_nonblocking(true)?;
    let mut stream = UnixStream::from_std(stream)?;
    check_peer(&stream)?;
    stream.write_all(&request.line()).await?;
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

/// The end of a log as JSON: its last checkpoint, whether it had ended `before`, and the round over it.
#[must_use]
pub fn describe_frozen(last: &Snapshot, before: bool, round: Option<&Round>) -> Object<'static> {
    Object::from([
        ("before", Value::from(before)),
        ("checkpoint", Value::from(last.checkpoint().note().to_text())),
        ("root", Value::from(last.root().to_string())),
        ("round", round.map_or(Value::Null, |round| Value::from(describe(round)))),
        ("size", Value::try_from(last.size().get()).unwrap_or(Value::Null)),
    ])
}

async fn answer(mut stream: UnixStream, asked: &Asked) -> io::Result<()> {
    check_peer(&stream)?;
    let request = tokio::time::timeout(PATIENCE, read_request(&mut stream)).await??;
    let answer = match request {
        Request::Renew => match &asked.anchoring {
            Some(handle) => handle.renew().await.map(|round| describe(&round)),
            None => None,
        },
        Request::Freeze => freeze(asked).await,
        request => ask_witness(asked, request).await,
    };
    let Some(answer) = answer else { return Err(io::ErrorKind::WouldBlock.into()) };
    let mut line = answer.to_canonical();
    line.push(b'\n');
    stream.write_all(&line).await?;
    stream.shutdown().await
}

/// Ends the log, and has its last checkpoint stamped.
async fn freeze(asked: &Asked) -> Option<Object<'static>> {
    let before = asked.log.standing() == Standing::Frozen;
    let last = asked.log.freeze().await;
    let last = last.inspect_err(|error| tracing::error!(%error, "the log is not frozen")).ok()?;
    let anchored = asked.log.checkpoints().newest().borrow().map(|newest| newest.size);
    let round = match &asked.anchoring {
        Some(handle) if anchored != Some(last.size().get()) => handle.renew().await,
        _ => None,
    };
    Some(describe_frozen(&last, before, round.as_ref()))
}

/// Has the checkpoint witness do something, if it may sign.
async fn ask_witness(asked: &Asked, request: Request) -> Option<Object<'static>> {
    let refused = |reason: &'static str| Some(Object::from([("refused", Value::from(reason))]));
    let Some(witness) = asked.checkpoint_witness.clone() else {
        return refused(
            "the server that runs has no checkpoint witness; is it the same configuration?",
        );
    };
    if asked.log.standing() != Standing::Open {
        return refused("the log takes nothing any more, and its witness signs nothing");
    }
    tokio::task::spawn_blocking(move || witness_answer(&witness, &request)).await.ok()
}

/// Does what is asked of a checkpoint witness, and says so: `refused` if it doesn't.
#[must_use]
pub fn witness_answer(witness: &Arc<CheckpointWitness>, request: &Request) -> Object<'static> {
    let done = match request {
        Request::Register(registration) => {
            let done = witness.register(registration.clone());
            done.map(|changed| Object::from([("changed", Value::from(changed))]))
                .map_err(|refusal| refusal.to_string())
        }
        Request::Retire(trail) => witness
            .retire(*trail)
            .map(|(line, before)| {
                let statement = String::from_utf8_lossy(&line).trim_end().to_owned();
                Object::from([
                    ("before", Value::from(before)),
                    ("statement", Value::from(statement)),
                ])
            })
            .map_err(|error| error.to_string()),
        Request::Freeze | Request::Renew => Err("not for the witness".to_owned()),
    };
    done.unwrap_or_else(|reason| Object::from([("refused", Value::from(reason))]))
}

/// Reads a line that asks for something.
async fn read_request(stream: &mut UnixStream) -> io::Result<Request> {
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') && line.len() < MAX_REQUEST {
        line.push(stream.read_u8().await?);
    }
    Request::read(&line).ok_or_else(|| io::ErrorKind::InvalidData.into())
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
    #![allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        reason = "a failing unwrap is a failing test"
    )]

    use super::*;

    #[test]
    fn requests_read_back() {
        let trail = TrailId::from_bytes([7; 16]);
        let registration = Registration::new(trail, "issuer.example", "a \"name\"").unwrap();
        for request in [
            Request::Freeze,
            Request::Renew,
            Request::Register(registration),
            Request::Retire(trail),
        ] {
            let line = request.line();
            assert!(line.len() <= MAX_REQUEST && line.ends_with(b"\n"));
            assert_eq!(Request::read(&line), Some(request));
            assert_eq!(Request::read(&line[1..]), None);
        }
    }

    #[tokio::test]
    async fn one_directory_has_one_socket_and_leaves_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let refused = ask(directory.path(), Request::Renew).await.unwrap_err();
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
