//! Running an executor under supervision, and recording what was observed of it.
//!
//! In three steps, so that the lock needn't be held while the executor runs: [`Session::begin`] looks at
//! the workspace and records the dispatch; [`Session::run`] spawns the command, enforces its time and brings
//! its process group to rest; [`EndedSession::record`] records the exit and, from a second look, the result.
//! The executor may never return; the supervisor does.
//!
//! What comes to rest is the executor's process group. A process that left it on purpose isn't found; where
//! executors do that, run them in something that can end all of it, a container or a cgroup.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::payload::{ExecutorIdentity, ExitStatus, OutputStatus, Quiescence};
use anchorlog_proto::gad::plan::Fence;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::artifacts::{Artifact, artifact_path};
use super::sessions::{Commission, ExecutorEnd, Observed};
use super::workspace::Baseline;
use super::{RecordError, Recorded, Recorder};
use crate::durable::{self, OutputFile};

/// What to run, and over what.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Executor {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Where it runs, and what is looked at before and after.
    pub workspace: PathBuf,
    /// What isn't looked at there.
    pub ignored: Fence,
    /// How long it may take.
    pub timeout: Duration,
    /// How long it may take to end once it is told to.
    pub grace: Duration,
}

/// A session whose dispatch is recorded.
#[derive(Debug)]
pub struct Session {
    id: String,
    executor: Executor,
    before: Baseline,
    output: String,
    file: OutputFile,
    /// Bytes of output after which it is told to end.
    most_output: u64,
    dispatch: Recorded,
}

/// A session whose executor has ended, or never started.
#[derive(Debug)]
pub struct EndedSession {
    session: Session,
    status: ExitStatus,
    exit_code: Option<i32>,
    quiescence: Quiescence,
    failure: Option<io::Error>,
}

/// What a supervised session came to.
#[derive(Debug)]
#[non_exhaustive]
pub struct Supervised {
    /// Its id.
    pub session_id: String,
    /// Its dispatch.
    pub dispatch: Recorded,
    /// Its exit.
    pub exit: Recorded,
    /// Its result.
    pub result: Recorded,
    /// How the executor ended.
    pub status: ExitStatus,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// What it touched.
    pub touched: Vec<String>,
    /// Whether its processes came to rest.
    pub quiescence: Quiescence,
    /// What it wrote.
    pub output: Artifact,
    /// Why it could not be started.
    pub spawn_error: Option<io::Error>,
}

impl Session {
    /// Looks at the workspace and records the dispatch: the moment before the spawn.
    ///
    /// # Errors
    ///
    /// [`RecordError::Overlap`] when the executor could reach the record through its workspace.
    pub fn begin(
        recorder: &mut Recorder,
        nodes: &[&str],
        identity: ExecutorIdentity<'_>,
        instruction: &Artifact,
        precommit: Option<Digest>,
        executor: Executor,
    ) -> Result<Self, RecordError> {
        check_apart(recorder.directory(), &executor.workspace)?;
        let id = recorder.fresh_session_id();
        let name = format!("{id}/output");
        let output = artifact_path(&name)?;
        let before = Baseline::take(&executor.workspace, &executor.ignored)?;
        let path = recorder.directory().join(&output);
        if let Some(folder) = path.parent() {
            durable::create_dir_all(folder)?;
        }
        // Left by a session of this id that never got to its dispatch.
        if path.exists() && recorder.artifact(&name, b"").is_ok() {
            durable::remove_file(&path)?;
        }
        let file = OutputFile::create(&path)?;
        let dispatch = recorder.dispatch(&Commission {
            session_id: &id,
            nodes,
            executor: identity,
            instruction,
            baseline: before.digest(),
            precommit,
        });
        let dispatch = match dispatch {
            Ok(dispatch) => dispatch,
            Err(error) => {
                durable::remove_file(&path)?;
                return Err(error);
            }
        };
        let most_output = recorder.most_output();
        Ok(Self { id, executor, before, output: name, file, most_output, dispatch })
    }

    /// The id of the session.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Runs the executor to its end: its own, that of its time, or that of `cancel`.
    #[must_use]
    pub fn run(self, cancel: &AtomicBool) -> EndedSession {
        let mut ended = EndedSession {
            session: self,
            status: ExitStatus::Crashed,
            exit_code: None,
            quiescence: Quiescence::Quiesced,
            failure: None,
        };
        match ended.session.spawn() {
            Ok(child) => ended.supervise(child, cancel),
            Err(error) => ended.failure = Some(error),
        }
        ended
    }

    fn spawn(&self) -> io::Result<Child> {
        let (program, arguments) =
            self.executor.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let stdio = || self.file.stdio().map_err(|error| error.source);
        Command::new(program)
            .args(arguments)
            .current_dir(&self.executor.workspace)
            .stdin(Stdio::null())
            .stdout(stdio()?)
            .stderr(stdio()?)
            .process_group(0)
            .spawn()
    }
}

/// How often the executor is looked at.
const POLL: Duration = Duration::from_millis(5);

impl EndedSession {
    fn supervise(&mut self, mut child: Child, cancel: &AtomicBool) {
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let start = Instant::now();
        let mut stop: Option<(ExitStatus, Instant)> = None;
        let most = self.session.most_output;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) => {}
                Err(_) => break None,
            }
            let executor = &self.session.executor;
            if let Some((_, since)) = stop {
                if since.elapsed() > executor.grace {
                    signal(group, Signal::KILL);
                }
            } else {
                let flood = self.session.file.len().is_ok_and(|length| length > most);
                let why = if cancel.load(Ordering::Relaxed) || flood {
                    Some(ExitStatus::Killed)
                } else if start.elapsed() > executor.timeout {
                    Some(ExitStatus::TimedOut)
                } else {
                    None
                };
                if let Some(why) = why {
                    signal(group, Signal::TERM);
                    stop = Some((why, Instant::now()));
                }
            }
            thread::sleep(POLL);
        };
        let code = status.and_then(|status| {
            status.code().or_else(|| status.signal().and_then(i32::checked_neg))
        });
        self.exit_code = code;
        self.status = match (stop, code) {
            (Some((why, _)), _) => why,
            (None, Some(0)) => ExitStatus::Completed,
            (None, Some(code)) if code < 0 => ExitStatus::Killed,
            (None, _) => ExitStatus::Crashed,
        };
        if stop.is_some() && self.exit_code == Some(0) {
            // It ended well after it was told to end: its work was cut short all the same.
            self.exit_code = None;
        }
        self.quiescence = come_to_rest(group, self.session.executor.grace);
    }

    /// Records the exit and, after a second look at the workspace, the result.
    pub fn record(self, recorder: &mut Recorder) -> Result<Supervised, RecordError> {
        let Self { session, status, exit_code, quiescence, failure } = self;
        let Session { id, executor, before, output, file, dispatch, .. } = session;
        file.finish()?;
        let output = recorder.adopt(&output)?;
        let end = ExecutorEnd { status, exit_code, output: Some(&output) };
        let exit = recorder.executor_exit(&end)?;
        let delta = before.compare(&Baseline::take(&executor.workspace, &executor.ignored)?);
        let artifact = recorder.artifact(&format!("{id}/delta.json"), &delta.bytes)?;
        let result = recorder.execution_result(&Observed {
            delta: Some(&artifact),
            output_status: OutputStatus::Captured,
            touched: &delta.touched,
            quiescence,
        })?;
        Ok(Supervised {
            session_id: id,
            dispatch,
            exit,
            result,
            status,
            exit_code,
            touched: delta.touched,
            quiescence,
            output,
            spawn_error: failure,
        })
    }
}

impl Recorder {
    /// Ends an open session whose supervisor is gone: what wasn't observed is said to be unknown. The output
    /// it had written by then is kept. Make sure first that the executor doesn't run any more.
    pub fn lost(&mut self) -> Result<(Option<Recorded>, Recorded), RecordError> {
        let open = self.machine().open_session().ok_or_else(|| RecordError::State {
            subject: "session".to_owned(),
            reason: "none is open",
        })?;
        let (id, exited) = (open.id.to_string(), open.exit.is_some());
        let exit = if exited {
            None
        } else {
            let name = format!("{id}/output");
            let written = self.find_artifact(&name).is_ok();
            // Whoever writes it may not have ended.
            let output = if written { Some(self.adopt(&name)?) } else { None };
            let end = ExecutorEnd {
                status: ExitStatus::Crashed,
                exit_code: None,
                output: output.as_ref(),
            };
            Some(self.executor_exit(&end)?)
        };
        let result = self.execution_result(&Observed {
            delta: None,
            output_status: OutputStatus::NotRecorded,
            touched: &[],
            quiescence: Quiescence::NotReached,
        })?;
        Ok((exit, result))
    }
}

/// The executor must not reach the record, nor the record count as its work.
fn check_apart(record: &Path, workspace: &Path) -> Result<(), RecordError> {
    let real = |path: &Path| {
        path.canonicalize().map_err(|source| RecordError::Read { path: path.to_owned(), source })
    };
    let (inner, outer) = (real(record)?, real(workspace)?);
    if inner.starts_with(&outer) || outer.starts_with(&inner) {
        return Err(RecordError::Overlap { path: record.to_owned() });
    }
    Ok(())
}

/// Ends what is left of a process group, and says whether it is gone.
fn come_to_rest(group: Option<Pid>, grace: Duration) -> Quiescence {
    let start = Instant::now();
    while group.is_some_and(|group| test_kill_process_group(group).is_ok()) {
        signal(group, Signal::KILL);
        if start.elapsed() > grace.max(POLL) {
            return Quiescence::NotReached;
        }
        thread::sleep(POLL);
    }
    Quiescence::Quiesced
}

fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // A group that is gone already needs no signal.
        let _ = kill_process_group(group, signal);
    }
}
