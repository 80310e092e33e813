//! Somebody who uses a log through the `anchor` program.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::World;
use super::programs::{Program, Ran, command, run, run_with_input};

/// A user of one log, with a state directory of its own.
#[derive(Debug)]
pub struct Anchor {
    home: TempDir,
    address: SocketAddr,
    vkey: Option<String>,
}

impl Anchor {
    /// Somebody who got the log's key from its operator.
    #[must_use]
    pub fn of(world: &World) -> Self {
        Self::at(world.address(), world.vkey())
    }

    /// Somebody who got the key of a log that listens at this address.
    #[must_use]
    pub fn at(address: SocketAddr, vkey: &str) -> Self {
        Self { vkey: Some(vkey.to_owned()), ..Self::stranger(address) }
    }

    /// Somebody who knows nothing but an address.
    #[must_use]
    pub fn stranger(address: SocketAddr) -> Self {
        Self { home: tempfile::tempdir().expect("a temporary directory"), address, vkey: None }
    }

    /// Where this user's files may lie.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The state directory.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    /// A command with the log's address and key, with `--json`.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.plain_command(arguments);
        command.arg("--json");
        command
    }

    /// Runs a command as people do, without `--json`.
    #[must_use]
    pub fn run_for_people(&self, arguments: &[&str]) -> Ran {
        run(&mut self.plain_command(arguments))
    }

    /// Runs a command.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Ran {
        run(&mut self.command(arguments))
    }

    /// Runs a command that must end with `code` and returns its report.
    #[track_caller]
    pub fn report(&self, code: i32, arguments: &[&str]) -> Value {
        self.run(arguments).report(code)
    }

    /// Runs a command with something on its standard input.
    #[must_use]
    pub fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        run_with_input(&mut self.command(arguments), input)
    }

    fn plain_command(&self, arguments: &[&str]) -> Command {
        let mut command = command(Program::Anchor);
        command.current_dir(self.home()).env("ANCHORLOG_STATE", self.state());
        command.env("ANCHORLOG_LOG", format!("http://{}", self.address)).args(arguments);
        // A quick answer also when the log is down.
        command.args(["--attempts", "2"]);
        if let Some(vkey) = &self.vkey {
            command.args(["--vkey", vkey]);
        }
        command
    }
}
