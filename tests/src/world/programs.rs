//! The programs under test: those of the folder that `ANCHORLOG_PROGRAMS` names, or else built once per test process; run
//! with everything they say captured.

use std::collections::HashMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// One of the three programs.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Program {
    /// `anchor`, the client.
    Anchor,
    /// `log-server`.
    LogServer,
    /// `verifier`.
    Verifier,
}

impl Program {
    /// The name of the binary.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::LogServer => "log-server",
            Self::Verifier => "verifier",
        }
    }

    /// The binary: the one named by the environment, or freshly built in the profile of the running test.
    #[must_use]
    pub fn path(self) -> &'static Path {
        static BUILT: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
        let built =
            BUILT.get_or_init(|| env::var_os("ANCHORLOG_PROGRAMS").map_or_else(build, named));
        built.get(self.name()).unwrap_or_else(|| panic!("cargo built no {}", self.name()))
    }
}

/// What a program left behind.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Exit code; -1 after a signal.
    pub code: i32,
    /// All of standard output.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
}

impl Ran {
    /// Standard output as the one JSON document it must be, held to the exit code it names.
    #[must_use]
    pub fn json(&self) -> Value {
        let report: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("standard output is not JSON: {error}\n{self:?}"));
        assert!(report["schema"].is_string() || report["verdict"].is_string(), "{report:#}");
        if let Some(code) = report.get("exit_code") {
            assert_eq!(code, self.code, "{report:#}");
        }
        report
    }

    /// The report of a run that must have ended with `code`.
    #[must_use]
    #[track_caller]
    pub fn report(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.json()
    }
}

/// A program that knows nothing of the environment the tests run in.
#[must_use]
pub fn command(program: Program) -> Command {
    let mut command = Command::new(program.path());
    command.env_clear().stdin(Stdio::null());
    command
}

/// Runs the verifier on `arguments`.
#[must_use]
pub fn verifier<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Ran {
    run(command(Program::Verifier).args(arguments))
}

/// Runs a program to its end.
#[must_use]
pub fn run(command: &mut Command) -> Ran {
    run_with_input(command, b"")
}

/// Runs a program to its end, with `input` on its standard input.
#[must_use]
pub fn run_with_input(command: &mut Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Guarded(command.spawn().expect("the program starts"));
    let mut stdin = child.0.stdin.take().expect("standard input is piped");
    let input = input.to_vec();
    // A program that doesn't read its input to the end is allowed to.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let stdout = collect(child.0.stdout.take());
    let stderr = collect(child.0.stderr.take());
    let code = wait(&mut child.0, PATIENCE).unwrap_or_else(|| panic!("{command:?} hangs"));
    let text = |thread: thread::JoinHandle<Vec<u8>>| {
        String::from_utf8(thread.join().expect("reading ends")).expect("output is UTF-8")
    };
    let ran = Ran { code, stdout: text(stdout), stderr: text(stderr) };
    writer.join().expect("writing ends");
    ran
}

/// Waits for the end of a process and returns its exit code, -1 after a signal. `None` when `patience` is
/// over.
pub(super) fn wait(child: &mut Child, patience: Duration) -> Option<i32> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait().expect("the process can be waited for") {
            return Some(status.code().unwrap_or(-1));
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// A process that does not outlive this value.
#[derive(Debug)]
pub(super) struct Guarded(pub(super) Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        // Both fail only if it is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    let mut pipe = pipe.expect("output is piped");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        bytes
    })
}

/// The programs that a folder should have.
#[expect(clippy::needless_pass_by_value, reason = "as the environment gives it")]
fn named(folder: OsString) -> HashMap<String, PathBuf> {
    let all = [Program::Anchor, Program::LogServer, Program::Verifier];
    let found =
        all.map(|program| (program.name().to_owned(), Path::new(&folder).join(program.name())));
    for (_, path) in &found {
        assert!(path.is_file(), "ANCHORLOG_PROGRAMS: there is no {}", path.display());
    }
    found.into()
}

/// Builds all programs of the workspace and returns where they are. Cargo itself says where: with a target
/// triple or a target directory of its own they aren't where one would look.
fn build() -> HashMap<String, PathBuf> {
    let executable = env::current_exe().expect("the test knows where it is");
    // <target>/<profile>/deps/<test>
    let profile = executable.ancestors().nth(2).expect("tests lie in a profile's directory");
    let target = profile.parent().expect("profiles lie in a target directory");
    let profile = match profile.file_name().and_then(OsStr::to_str) {
        None | Some("debug") => "dev",
        Some(name) => name,
    };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--workspace", "--bins", "--message-format=json", "--quiet"])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml")])
        .args(["--profile", profile])
        .arg("--target-dir")
        .arg(target)
        .output()
        .expect("cargo runs");
    let messages = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the programs can't be built:\n{errors}\n{messages}");
    let executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let name = message["target"]["name"].as_str()?;
        Some((name.to_owned(), PathBuf::from(message["executable"].as_str()?)))
    });
    executables.collect()
}

/// How long a program that is to end may take.
const PATIENCE: Duration = Duration::from_mins(2);
