//! A scripted witness: it keeps the rules of c2sp.org/tlog-witness, or breaks them as a test says.
//!
//! It speaks HTTP/1.1 by hand, so that every byte of an answer can be wrong, and remembers what it was
//! asked. What it is not: a witness that anybody may rely on; it keeps its state in memory.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "fixtures fail by panicking; that is the failure of the test that uses them"
)]

mod answer;
mod server;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anchorlog_proto::checkpoint::Checkpoint;
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::note::KeyName;
use anchorlog_proto::tlog_witness::AddCheckpoint;
use sha2::{Digest as _, Sha256};

/// What a witness does with a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Behaviour {
    /// What the rules say: checks, remembers and cosigns, or answers 409 with its size or 422.
    Honest,
    /// Answers a status with an empty body, whatever it is asked.
    Status(u16),
    /// The same with `Retry-After` in seconds.
    RetryAfter(u16, u64),
    /// Answers 409 with this size in its body.
    Stale(u64),
    /// Is honest, but takes its time.
    Slow(Duration),
    /// Cosigns with another key under its own name.
    WrongKey,
    /// Puts a cosignature of another checkpoint under its own name and key ID.
    WrongCosignature,
    /// A good line, and beside it one under its own name and key ID that doesn't verify.
    ForgedLine,
    /// Writes the time of its cosignature little-endian.
    LittleEndianTime,
    /// A good line among lines by others, one of them of an unknown type.
    ExtraLines,
    /// 200 with an empty body.
    EmptyBody,
    /// 200 with a body of so many bytes.
    HugeBody(usize),
    /// Sends the log to another address.
    Redirect(String),
    /// Is honest, by a clock that is off by so many seconds.
    ClockOff(i64),
}

/// A witness on a port of this machine. It ends with the value.
#[derive(Debug)]
pub struct WitnessDouble {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    key: CosignerKey,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    behaviour: Behaviour,
    known: Option<Checkpoint>,
    seen: Vec<AddCheckpoint>,
    /// Requests that were none.
    unreadable: usize,
    stopped: bool,
}

impl WitnessDouble {
    /// A witness whose key has this name.
    #[must_use]
    pub fn start(name: &str, behaviour: Behaviour) -> Self {
        let key = cosigner(name, name);
        let state =
            State { behaviour, known: None, seen: Vec::new(), unreadable: 0, stopped: false };
        let shared = Arc::new(Shared { key, state: Mutex::new(state) });
        Self { address: server::start(&shared), shared }
    }

    /// What it does from now on.
    pub fn behave(&self, behaviour: Behaviour) {
        self.shared.lock().behaviour = behaviour;
    }

    /// The address, with a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/double", self.address)
    }

    /// Its line of a policy; the name there is that of its key.
    #[must_use]
    pub fn policy_line(&self) -> String {
        format!("witness {} {} {}\n", self.name(), self.vkey(), self.url())
    }

    /// The name of its key.
    #[must_use]
    pub fn name(&self) -> &str {
        self.shared.key.verifier_key().name().as_str()
    }

    /// Its key.
    #[must_use]
    pub fn vkey(&self) -> String {
        self.shared.key.verifier_key().to_string()
    }

    /// What it was asked so far, as far as it was a request.
    #[must_use]
    pub fn seen(&self) -> Vec<AddCheckpoint> {
        self.shared.lock().seen.clone()
    }

    /// How many requests were none.
    #[must_use]
    pub fn unreadable(&self) -> usize {
        self.shared.lock().unreadable
    }

    /// The size it knows; 0 for none.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.shared.lock().known.as_ref().map_or(0, |known| known.size.get())
    }

    /// Makes it know something, as if it had cosigned it.
    pub fn know(&self, checkpoint: Option<Checkpoint>) {
        self.shared.lock().known = checkpoint;
    }
}

impl Drop for WitnessDouble {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        // Wakes who waits for a connection.
        let _ = std::net::TcpStream::connect(self.address);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key that a seed gives to a name.
fn cosigner(name: &str, seed: &str) -> CosignerKey {
    let name = KeyName::new(name).expect("the name of a key");
    CosignerKey::from_seed(name, Sha256::digest(seed.as_bytes()).into())
}
