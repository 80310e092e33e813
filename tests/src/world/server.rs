//! One log and its server process.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::http::{self, Answer};
use super::ports::free_address;
use super::programs::{Guarded, Program, Ran, command, run, wait};

/// What a log's configuration says beside its place.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The log's name.
    pub origin: String,
    /// A key file somewhere else than in the data directory.
    pub key_file: Option<PathBuf>,
    /// More lines of `[log]`.
    pub log: String,
    /// More TOML: whole sections except `[log]` and `[index]`.
    pub sections: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            origin: "log.example/test".to_owned(),
            key_file: None,
            log: String::new(),
            sections: String::new(),
        }
    }
}

/// One log with a home of its own, and the process that serves it.
#[derive(Debug)]
pub struct World {
    root: TempDir,
    settings: Settings,
    address: SocketAddr,
    running: Option<Running>,
    vkey: String,
}

#[derive(Debug)]
struct Running {
    process: Guarded,
    greeting: Value,
    /// Held open: a server that loses its standard output may complain.
    _stdout: BufReader<ChildStdout>,
}

impl World {
    /// A new log with default settings, ready to take statements.
    #[must_use]
    pub fn start() -> Self {
        Self::with(Settings::default())
    }

    /// A new log with more sections in its configuration.
    #[must_use]
    pub fn configured(sections: &str) -> Self {
        Self::with(Settings { sections: sections.to_owned(), ..Settings::default() })
    }

    /// A new log.
    #[must_use]
    pub fn with(settings: Settings) -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        let address = free_address();
        let mut world = Self { root, settings, address, running: None, vkey: String::new() };
        world.restart();
        world
    }

    /// A new log that claims to be this one: same name, same key, none of its entries.
    #[must_use]
    pub fn twin(&self) -> Self {
        let key = self.settings.key_file.clone().unwrap_or_else(|| self.data().join("key.pem"));
        Self::with(Settings { key_file: Some(key), ..self.settings.clone() })
    }

    /// Changes the configuration of a stopped log.
    pub fn reconfigure(&mut self, change: impl FnOnce(&mut Settings)) {
        assert!(self.running.is_none(), "a running server has read its configuration");
        change(&mut self.settings);
        fs::write(self.config(), self.configuration()).expect("the configuration is written");
    }

    /// Starts the server again, in the same place, and waits until it takes statements.
    pub fn restart(&mut self) {
        self.restart_as(&["serve"]);
    }

    /// As [`restart`](Self::restart), with other arguments.
    pub fn restart_as(&mut self, arguments: &[&str]) {
        assert!(self.running.is_none(), "the server runs already");
        fs::write(self.config(), self.configuration()).expect("the configuration is written");
        let log = File::options().create(true).append(true).open(self.server_log());
        let mut process = Guarded(
            self.command(arguments)
                .stdout(Stdio::piped())
                .stderr(log.expect("the server's log opens"))
                .spawn()
                .expect("the server starts"),
        );
        let mut stdout = BufReader::new(process.0.stdout.take().expect("output is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the server greets");
        let greeting: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{error}: {line:?}\n{}", self.read_server_log()));
        assert_eq!(greeting["url"], self.url(), "{greeting:#}\n{}", self.read_server_log());
        greeting["vkey"].as_str().expect("a vkey").clone_into(&mut self.vkey);
        self.running = Some(Running { process, greeting, _stdout: stdout });
        let patience = Instant::now() + Duration::from_mins(1);
        while self.get("/readyz").status != 200 {
            assert!(Instant::now() < patience, "never ready\n{}", self.read_server_log());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops the server with SIGTERM and returns its exit code.
    pub fn terminate(&mut self) -> i32 {
        let mut running = self.running.take().expect("the server runs");
        kill_process(Pid::from_child(&running.process.0), Signal::TERM)
            .expect("it gets the signal");
        wait(&mut running.process.0, Duration::from_mins(1)).expect("the server stops in time")
    }

    /// Kills the server with SIGKILL.
    pub fn kill(&mut self) {
        let running = self.running.take().expect("the server runs");
        drop(running);
    }

    /// Moves a stopped log to another address.
    pub fn move_to(&mut self, address: SocketAddr) {
        assert!(self.running.is_none(), "a running server stays where it is");
        self.address = address;
    }

    /// The server's address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The server's URL, without a trailing slash.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The log's name.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.settings.origin
    }

    /// The log's verifier key.
    #[must_use]
    pub fn vkey(&self) -> &str {
        &self.vkey
    }

    /// The greeting the server printed when it was last started.
    #[must_use]
    pub fn greeting(&self) -> &Value {
        &self.running.as_ref().expect("the server runs").greeting
    }

    /// The process id of the server.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.running.as_ref().expect("the server runs").process.0.id()
    }

    /// The directory everything of this world lies in.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The data directory.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.root().join("data")
    }

    /// The configuration file.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.root().join("log.toml")
    }

    /// A C2SP tlog-policy file that trusts this log and asks for no witness.
    #[must_use]
    pub fn policy(&self) -> PathBuf {
        let path = self.root().join("log.policy");
        let text = format!("log {} {}\nquorum none\n", self.vkey, self.url());
        fs::write(&path, text).expect("the policy is written");
        path
    }

    /// What the server has logged about itself since the world began.
    #[must_use]
    pub fn read_server_log(&self) -> String {
        fs::read_to_string(self.server_log()).unwrap_or_default()
    }

    /// A command of `log-server` on this log, with `--json`.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(Program::LogServer);
        command.current_dir(self.root()).arg("--config").arg(self.config());
        command.arg("--json").args(arguments);
        command
    }

    /// Runs a command of `log-server` on this log, with `--json`.
    #[must_use]
    pub fn log_server(&self, arguments: &[&str]) -> Ran {
        run(&mut self.command(arguments))
    }

    /// Sends `GET path`.
    #[must_use]
    pub fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[], b"")
    }

    /// Sends `POST path` with a JSON body.
    #[must_use]
    pub fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.request("POST", path, &[("content-type", "application/json")], body.as_ref())
    }

    /// Sends any request.
    #[must_use]
    pub fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        http::request(self.address, method, path, headers, body)
    }

    fn server_log(&self) -> PathBuf {
        self.root().join("server.log")
    }

    fn configuration(&self) -> String {
        let Settings { origin, key_file, log, sections } = &self.settings;
        let key_file = key_file.as_deref().unwrap_or(Path::new("")).display();
        let (data, listen) = (self.data(), self.address);
        // Temporary directories have no names that TOML would have to escape.
        format!(
            "[log]\norigin = {origin:?}\ndata = \"{}\"\nlisten = \"{listen}\"\nkey_file = \"{key_file}\"\n\
             {log}\n[index]\nmemory = \"16 MiB\"\n{sections}\n",
            data.display(),
        )
    }
}
