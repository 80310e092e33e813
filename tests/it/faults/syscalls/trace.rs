//! What strace writes, as far as it is asked for here.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_tests::process::command;

/// The data directory itself, as the path of a call.
pub(super) const DATA: &str = ".";

/// Whether there is a strace that may trace.
pub(super) fn can_trace() -> bool {
    let output = Command::new("strace").args(["-D", "-f", "-e", "trace=none", "true"]).output();
    output.is_ok_and(|output| output.status.success())
}

/// The server below strace, which leaves it its process id and writes to `file`.
pub(super) fn under_strace(file: &Path, arguments: &[&str]) -> Command {
    let server = command();
    let mut strace = Command::new("strace");
    strace.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    strace.args(["-D", "-f", "-y", "-e", "signal=none", "-o"]).arg(file).args(arguments);
    strace.arg("--").arg(server.get_program());
    strace
}

/// The calls of a process, in the order of their ends.
pub(super) struct Trace {
    pub(super) calls: Vec<Call>,
}

/// One system call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) name: String,
    /// The first file it names that lies in the data directory, relative to it.
    pub(super) path: Option<String>,
    /// What strace says of it.
    pub(super) text: String,
    pub(super) result: Event,
    /// The lines at which it begins and ends: the order of things, across threads.
    pub(super) begin: usize,
    pub(super) end: usize,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Event {
    Done,
    Failed,
    /// Strace let it fail.
    Injected,
}

impl Trace {
    /// Reads a trace to its end, which comes a moment after the process's.
    pub(super) fn read(file: &Path, data: &Path) -> Self {
        let patience = Instant::now() + Duration::from_secs(10);
        loop {
            let text = fs::read_to_string(file).unwrap_or_default();
            let last = text.lines().next_back().unwrap_or_default();
            if last.contains("+++ exited with") || last.contains("+++ killed by") {
                return Self { calls: parse(&text, data) };
            }
            assert!(Instant::now() < patience, "the trace has no end: {last}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn parse(text: &str, data: &Path) -> Vec<Call> {
    let mut unfinished: HashMap<&str, (usize, &str)> = HashMap::new();
    let mut calls = Vec::new();
    for (end, line) in text.lines().enumerate() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            unfinished.insert(thread, (end, start));
            continue;
        }
        let resumed = rest.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>"));
        let (begin, whole) = match (resumed, unfinished.remove(thread)) {
            (Some((_, tail)), Some((earlier, start))) => (earlier, format!("{start}{tail}")),
            _ => (end, rest.to_owned()),
        };
        let Some((name, arguments)) = whole.split_once('(') else { continue };
        let result = match whole.rsplit_once(" = ") {
            Some((_, result)) if result.ends_with("(INJECTED)") => Event::Injected,
            Some((_, result)) if result.starts_with(|first: char| first.is_ascii_digit()) => {
                Event::Done
            }
            Some(_) => Event::Failed,
            None => continue,
        };
        // A descriptor's file stands in angle brackets, a name in quotes.
        let path = arguments.split(['<', '>', '"']).find_map(|part| below(data, part));
        calls.push(Call { name: name.to_owned(), path, text: whole.clone(), result, begin, end });
    }
    calls
}

/// A path below `data`.
fn below(data: &Path, path: &str) -> Option<String> {
    let path = Path::new(path).strip_prefix(data).ok()?.display().to_string();
    Some(if path.is_empty() { DATA.to_owned() } else { path })
}
