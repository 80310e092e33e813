//! A command that does tests again: `--replay-runner`.
//!
//! It is started once per verdict asked, without a shell, gets one `gad.replay-request/1` on its standard
//! input and answers with one `gad.replay-result/1` on its standard output and exit code 0. Everything else
//! is no answer: another exit code, a signal, too much output, too long a wait, other bytes. Its standard
//! error is not read. What it runs and where is its own affair; it has the caller's environment, so whoever
//! names it trusts it as they trust themselves.

use core::time::Duration;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::{Replay, ReplayOutcome, ReplayRequest, ReplayResult};

/// What a runner may take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RunnerLimits {
    /// The longest one replay may take, from the start of the command to its end.
    pub time: Duration,
    /// The most bytes of an answer.
    pub output_bytes: u64,
}

impl RunnerLimits {
    /// Ten minutes, 64 KiB.
    pub const DEFAULT: Self = Self { time: Duration::from_mins(10), output_bytes: 1 << 16 };

    /// The same with another time.
    #[must_use]
    pub const fn with_time(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// The same with another size of answers.
    #[must_use]
    pub const fn with_output_bytes(self, output_bytes: u64) -> Self {
        Self { output_bytes, ..self }
    }
}

impl Default for RunnerLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A command that does tests again.
#[derive(Clone, Debug)]
pub struct CommandRunner {
    program: OsString,
    arguments: Vec<OsString>,
    limits: RunnerLimits,
}

impl CommandRunner {
    /// This program, looked up as the operating system does, with these arguments.
    pub fn new(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = OsString>,
        limits: RunnerLimits,
    ) -> Self {
        Self { program: program.into(), arguments: arguments.into_iter().collect(), limits }
    }

    /// Runs the command once and takes its result.
    fn run(&self, request: Vec<u8>) -> Option<ReplayResult> {
        ReplayResult::read(&self.ask(request)?).ok()
    }

    /// Runs the command once with these bytes on its standard input and takes its standard output, if it ended
    /// well within its limits; `None` is every way in which it gave no answer.
    pub(crate) fn ask(&self, request: Vec<u8>) -> Option<Vec<u8>> {
        let deadline = Instant::now().checked_add(self.limits.time)?;
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let output = exchange(&mut child, request, self.limits.output_bytes, deadline);
        let Some(output) = output else {
            stop(&mut child);
            return None;
        };
        wait(&mut child, deadline).filter(|success| *success)?;
        Some(output)
    }
}

impl Replay for CommandRunner {
    fn outcome(&self, request: &ReplayRequest<'_>) -> ReplayOutcome {
        match self.run(request.to_json()) {
            Some(result) => request.compare(&result),
            None => ReplayOutcome::Unavailable,
        }
    }
}

/// Writes the request and reads the whole answer, both at once: neither side can make the other one wait
/// for ever. The threads end with their pipes; a pipe that outlives the command (its own child holds it)
/// is left behind rather than waited for.
fn exchange(child: &mut Child, request: Vec<u8>, most: u64, deadline: Instant) -> Option<Vec<u8>> {
    let (mut stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
    thread::Builder::new()
        .spawn(move || {
            // A runner need not read what it is told.
            let _unread = stdin.write_all(&request);
        })
        .ok()?;
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::Builder::new()
        .spawn(move || {
            let mut output = Vec::new();
            let read = stdout.take(most.saturating_add(1)).read_to_end(&mut output);
            let _abandoned = sender.send(read.ok().map(|_| output));
        })
        .ok()?;
    let remaining = deadline.saturating_duration_since(Instant::now());
    let output = receiver.recv_timeout(remaining).ok()??;
    u64::try_from(output.len()).is_ok_and(|length| length <= most).then_some(output)
}

/// Whether the command ended well; `None` when it had to be stopped.
fn wait(child: &mut Child, deadline: Instant) -> Option<bool> {
    // Its output is closed already, so it is about to end; asking again soon costs little.
    let mut pause = Duration::from_micros(100);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < deadline => {
                thread::sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
                pause = pause.saturating_mul(2).min(Duration::from_millis(20));
            }
            Ok(None) | Err(_) => {
                stop(child);
                return None;
            }
        }
    }
}

fn stop(child: &mut Child) {
    // It may have ended by itself; either way it is reaped.
    let _ended = child.kill();
    let _reaped = child.wait();
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use anchorlog_proto::gad::entry::Payload;
    use anchorlog_proto::gad::names::PassFail;

    use super::*;
    use crate::gad::rules::testing::{Log, plan, test};

    const PASS: &str = r#"{"exit_code":0,"result":"pass","schema":"gad.replay-result/1"}"#;

    /// What a shell script as the runner comes to, for a verdict that passed.
    fn outcome(script: &str, limits: RunnerLimits) -> ReplayOutcome {
        let plan = plan(|_| {});
        let mut log = Log::new(&plan);
        log.verdict("s1", "n1", "t1", PassFail::Pass);
        let event = log.events().last().unwrap();
        let Some(Payload::Verdict(verdict)) = event.payload() else { panic!() };
        let test = test("t1");
        let request = ReplayRequest { plan_hash: plan.hash(), test: &test, seq: 0, verdict };
        CommandRunner::new("/bin/sh", ["-c".into(), script.into()], limits).outcome(&request)
    }

    #[test]
    fn a_runner_agrees_or_disagrees_by_its_result() {
        let run = |script: &str| outcome(script, RunnerLimits::DEFAULT);
        assert_eq!(run(&format!("cat >/dev/null; echo '{PASS}'")), ReplayOutcome::Agreed);
        let fail = PASS.replace("pass", "fail").replace(":0,", ":3,");
        assert_eq!(run(&format!("echo '{fail}'")), ReplayOutcome::Disagreed);
        // It is told what to do again, on its standard input.
        let told = format!("grep -q '\"run\":\"make test\"' && echo '{PASS}'");
        assert_eq!(run(&told), ReplayOutcome::Agreed);
    }

    #[test]
    fn everything_that_is_no_answer_is_unavailable() {
        let limits = RunnerLimits::DEFAULT;
        for script in [
            "true",
            "false",
            "echo pass",
            "kill -9 $$",
            &format!("echo '{PASS}'; exit 1"),
            &format!("echo '{PASS}'; kill -9 $$"),
            &format!("echo '{PASS}'; echo '{PASS}'"),
            &format!("echo '{PASS}' >&2"),
            &format!("echo '{PASS}'; head -c 70000 /dev/zero | tr '\\0' ' '"),
        ] {
            assert_eq!(outcome(script, limits), ReplayOutcome::Unavailable, "{script}");
        }
        let nowhere = CommandRunner::new("/nonexistent/runner", [], limits);
        assert_eq!(nowhere.run(Vec::new()), None);
    }

    #[test]
    fn an_answer_may_be_as_long_as_the_limit() {
        let spaces = |count: usize| {
            format!("printf '%s' '{PASS}'; head -c {count} /dev/zero | tr '\\0' ' '")
        };
        let room = usize::try_from(RunnerLimits::DEFAULT.output_bytes).unwrap() - PASS.len();
        assert_eq!(outcome(&spaces(room), RunnerLimits::DEFAULT), ReplayOutcome::Agreed);
        assert_eq!(outcome(&spaces(room + 1), RunnerLimits::DEFAULT), ReplayOutcome::Unavailable);
    }

    #[test]
    fn a_runner_that_never_ends_is_stopped() {
        let limits = RunnerLimits::DEFAULT.with_time(Duration::from_millis(300));
        let start = Instant::now();
        for script in [
            "exec sleep 60".to_owned(),
            // Answers and stays.
            format!("echo '{PASS}'; exec >&-; exec sleep 60"),
            // Ends, and leaves somebody behind who holds its output.
            format!("echo '{PASS}'; sleep 5 & exit 0"),
            // Never stops talking.
            "exec yes".to_owned(),
        ] {
            assert_eq!(outcome(&script, limits), ReplayOutcome::Unavailable, "{script}");
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}
