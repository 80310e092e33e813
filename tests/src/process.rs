//! A `log-server` process that is treated badly: killed at any moment, traced, started on strange disks.
//!
//! What it is: the bare process in any data directory, with whatever it wrote and however it ended. What it
//! isn't: a [`World`](crate::world::World), which is a log that is expected to start and to serve.

#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::print_stdout,
    reason = "fixtures fail by panicking; that is the failure of the test that uses them"
)]

mod connection;

use std::env;
use std::io::{BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::world::Program;

pub use connection::{Connection, Reply};

/// A serving process. It is killed when this value goes.
#[derive(Debug)]
pub struct Process {
    child: Child,
    address: SocketAddr,
    vkey: String,
    /// Reads what the process says, to its end.
    readers: Option<[JoinHandle<String>; 2]>,
}

/// How a process ended, and what it left behind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ended {
    /// The exit code; none after a signal.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output, except the greeting.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Process {
    /// Starts a server on `data` with default settings and waits for its greeting. When it ends before
    /// that, it is told how.
    pub fn start(data: &Path) -> Result<Self, Ended> {
        Self::spawn(command(), data)
    }

    /// As [`start`](Self::start), below `wrapper`, which gets the program and its arguments as its last
    /// ones. The process must keep its id.
    pub fn spawn(mut wrapper: Command, data: &Path) -> Result<Self, Ended> {
        let mut child = wrapper
            .args(["--listen", "127.0.0.1:0", "--json", "--data"])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server's process starts");
        let stderr = collect(child.stderr.take().expect("standard error is piped"));
        let mut stdout = BufReader::new(child.stdout.take().expect("standard output is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the server speaks UTF-8");
        let greeting: Value = serde_json::from_str(&line).unwrap_or_default();
        let readers = Some([collect(stdout), stderr]);
        let member = |name: &str| greeting.get(name).and_then(Value::as_str);
        let url = member("url").and_then(|url| url.strip_prefix("http://")?.parse().ok());
        let (Some(address), Some(vkey)) = (url, member("vkey")) else {
            let address = SocketAddr::from(([0, 0, 0, 0], 0));
            let early = Self { child, address, vkey: String::new(), readers };
            let mut ended = early.wait(PATIENCE).expect("a server that doesn't greet ends");
            ended.stdout.insert_str(0, &line);
            return Err(ended);
        };
        Ok(Self { child, address, vkey: vkey.to_owned(), readers })
    }

    /// The address it serves on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The log's verifier key, as the server greets with it.
    #[must_use]
    pub fn vkey(&self) -> &str {
        &self.vkey
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A new connection to it.
    #[must_use]
    pub fn connect(&self) -> Connection {
        Connection::to(self.address)
    }

    /// Waits until it takes statements; false when it ends or doesn't within a minute.
    #[must_use]
    pub fn is_ready(&mut self) -> bool {
        let patience = Instant::now() + PATIENCE;
        let mut connection = self.connect();
        while Instant::now() < patience {
            match connection.get("/readyz") {
                Ok(reply) if reply.status == 200 => return true,
                Ok(_) => {}
                Err(_) if self.has_ended() => return false,
                Err(_) => connection = self.connect(),
            }
            thread::sleep(Duration::from_millis(2));
        }
        false
    }

    /// Whether the process is gone.
    #[must_use]
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_some()
    }

    /// Kills it with SIGKILL.
    #[must_use]
    pub fn kill(mut self) -> Ended {
        self.signal(Signal::KILL);
        self.wait(PATIENCE).expect("a killed process ends")
    }

    /// Lets it do nothing until [`Self::resume`].
    pub fn pause(&mut self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn resume(&mut self) {
        self.signal(Signal::CONT);
    }

    /// Asks it to stop, and waits until it has.
    #[must_use]
    pub fn terminate(mut self) -> Ended {
        self.signal(Signal::TERM);
        self.wait(PATIENCE).expect("a server that is asked to stop does")
    }

    /// Waits until it ends by itself.
    #[must_use]
    pub fn wait(mut self, patience: Duration) -> Option<Ended> {
        let until = Instant::now() + patience;
        while !self.has_ended() {
            if Instant::now() > until {
                return None;
            }
            thread::sleep(Duration::from_millis(1));
        }
        let status = self.child.wait().expect("a child can be waited for");
        let [stdout, stderr] = self.readers.take().expect("nobody else waits");
        let text = |reader: JoinHandle<String>| reader.join().expect("a pipe can be read");
        let (code, signal) = (status.code(), status.signal());
        Some(Ended { code, signal, stdout: text(stdout), stderr: text(stderr) })
    }

    fn signal(&mut self, signal: Signal) {
        if !self.has_ended() {
            kill_process(Pid::from_child(&self.child), signal).expect("a child can be signalled");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking()
            && let Some([_, stderr]) = self.readers.take()
        {
            println!("the server's standard error:\n{}", stderr.join().unwrap_or_default());
        }
    }
}

/// The program under test.
#[must_use]
pub fn program() -> PathBuf {
    Program::LogServer.path().to_path_buf()
}

/// The program under test, knowing nothing of the environment that the tests run in. Nobody stamps its log: what is
/// in it is what the test has put there.
#[must_use]
pub fn command() -> Command {
    let mut command = Command::new(program());
    command.env_clear().env("ANCHORLOG_ANCHORING_DEV_TSA", "false").stdin(Stdio::null());
    command
}

/// Runs `log-server fsck` on `data` and returns its report, which must be clean.
#[expect(clippy::must_use_candidate, reason = "it is called for what it asserts, too")]
#[track_caller]
pub fn fsck(data: &Path) -> Value {
    let output = command().args(["fsck", "--json"]).arg(data).output().expect("fsck runs");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "fsck: {report:#}\n{errors}");
    report
}

/// A number from the environment: how often or how long a test goes on.
#[must_use]
pub fn setting(name: &str, default: u64) -> u64 {
    match env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
        Err(_) => default,
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_mins(1);
