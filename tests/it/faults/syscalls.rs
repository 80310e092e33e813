//! Every system call that touches the disk fails once, each in a run of its own.
//!
//! The bugs this guards against: a receipt that leaves before its record is synced, a sync that is tried
//! again after it failed, a half-written record that is taken for a full disk, a start that makes it worse.
//!
//! A first run under strace lists what the server does to which of its files. Then there is one run for
//! each of these calls in which that one call fails, with `EIO` or `ENOSPC`. `ANCHORLOG_FAULTS` is how many
//! occurrences of a call on a file are tried (1, and then only some on the index's files).

mod trace;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::statement::LogEntry;
use anchorlog_tests::ledger::Ledger;
use anchorlog_tests::process::{Connection, Ended, Process, fsck, setting};

use self::trace::{Call, DATA, Event, Trace, can_trace, under_strace};
use crate::crash::{body, statement};

/// Runs at a time: most of each is waiting.
const WORKERS: usize = 4;

/// The calls that a disk can refuse.
const CALLS: &str = "fallocate,fdatasync,fsync,ftruncate,linkat,mkdir,openat,pwrite64,rename,renameat,\
                     unlink,unlinkat,write";

#[test]
fn a_receipt_leaves_only_after_its_record_is_synced() {
    const RECEIPTS: u64 = 20;
    if !can_trace() {
        println!("skipped: strace can't trace here");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let (data, file) = (home.path().join("data"), home.path().join("trace"));
    let arguments = ["-s", "2000", "-e", "trace=pwrite64,fdatasync,sendto,write,writev"];
    let mut server = Process::spawn(under_strace(&file, &arguments), &data).unwrap();
    assert!(server.is_ready());
    let mut ledger = Ledger::new(server.vkey());
    let mut connection = server.connect();
    for number in 0..RECEIPTS {
        let reply = connection.post("/v1/entries", statement(number).leaf_bytes()).unwrap();
        assert_eq!(ledger.receipt(&statement(number), &reply.body), number);
    }
    assert_eq!(server.terminate().code, Some(0));

    let calls = Trace::read(&file, &data).calls;
    let journal = |call: &&Call| call.path.as_deref().is_some_and(|path| path.starts_with("wal/0"));
    let zeros = |call: &Call| call.text.contains(r#", "\0\0\0\0\0\0\0\0"#);
    let mut left = 0;
    for receipt in calls.iter().filter(|call| call.text.contains("anchorlog.receipt/1")) {
        let before = calls.iter().filter(journal).filter(|call| call.end < receipt.begin);
        let (writes, syncs): (Vec<&Call>, Vec<&Call>) =
            before.partition(|call| call.name == "pwrite64");
        let writes: Vec<&&Call> = writes.iter().filter(|call| !zeros(call)).collect();
        left += 1;
        // The first record is the checkpoint of the empty log.
        assert_eq!(writes.len(), left + 1, "receipt {left} left before its record was written");
        let last = writes.last().unwrap();
        let synced = |sync: &&&Call| sync.result == Event::Done && sync.begin > last.end;
        assert_eq!(syncs.iter().filter(synced).count(), 1, "receipt {left} left before the sync");
    }
    assert_eq!(left, usize::try_from(RECEIPTS).unwrap());
}

#[test]
fn any_one_system_call_may_fail() {
    if !can_trace() {
        println!("skipped: strace can't trace here");
        return;
    }
    let started = Instant::now();
    let points = Mutex::new(fault_points(setting("ANCHORLOG_FAULTS", 1)));
    let count = points.lock().unwrap().len();
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(point) = { points.lock().unwrap().pop() } {
                    let outcome = run_with(&point);
                    outcomes.lock().unwrap().push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap();
    let number = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    println!(
        "{count} faults in {} s: {} stopped the server, {} kept it from starting, {} were refused and \
         passed, {} harmed nothing, {} never came",
        started.elapsed().as_secs(),
        number(Outcome::Stopped),
        number(Outcome::NotStarted),
        number(Outcome::Refused),
        number(Outcome::Harmless),
        number(Outcome::NeverCame),
    );
    assert_eq!(outcomes.len(), count);
    assert!(number(Outcome::Stopped) >= 10, "hardly any fault was seen by the server");
}

/// One call to fail: the `nth` of its kind on one file, counted by thread.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct FaultPoint {
    call: String,
    /// Below the data directory.
    path: String,
    nth: u64,
    error: &'static str,
}

impl FaultPoint {
    /// Whether the server must stop for it: a sync that fails, and any failure behind the reservation of
    /// space, leave a state that only a restart can judge.
    fn is_fatal(&self) -> bool {
        let sync = matches!(self.call.as_str(), "fsync" | "fdatasync");
        let ours = self.path.starts_with("wal") || self.path.starts_with("log");
        let write = self.call == "pwrite64" && self.path != "wal/spare";
        ours && (sync || write)
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    /// It ended by itself, before it had greeted.
    NotStarted,
    /// It ended by itself with exit code 3, and said why.
    Stopped,
    /// It refused some submissions and went on.
    Refused,
    /// Nobody noticed.
    Harmless,
    /// No thread made so many of these calls.
    NeverCame,
}

/// What to let fail: each call on each file, the first `most` times.
fn fault_points(most: u64) -> Vec<FaultPoint> {
    let home = tempfile::tempdir().unwrap();
    let (data, file) = (home.path().join("data"), home.path().join("trace"));
    let server = under_strace(&file, &["-e", &format!("trace={CALLS}")]);
    let (outcome, ..) = use_server(Process::spawn(server, &data), &mut None);
    assert_eq!(outcome, Outcome::Harmless);
    let mut points = BTreeSet::new();
    let calls = Trace::read(&file, &data).calls;
    for call in &calls {
        let Some(path) = &call.path else { continue };
        // Temporary names differ from run to run.
        if path.contains(".tmp") || (call.name == "openat" && !call.text.contains("O_RDWR")) {
            continue;
        }
        let same = |other: &&Call| other.name == call.name && other.path == call.path;
        let count = u64::try_from(calls.iter().filter(same).count()).unwrap();
        // The engine's own files are many, and none of them can harm the log.
        let index = path.starts_with("index");
        for nth in 1..=if index { 1 } else { count.min(most) } {
            for error in ["EIO", "ENOSPC"] {
                if most == 1 && index && (error == "ENOSPC" || path.contains("keyspaces/0")) {
                    continue;
                }
                points.insert(FaultPoint {
                    call: call.name.clone(),
                    path: path.clone(),
                    nth,
                    error,
                });
            }
        }
    }
    points.into_iter().collect()
}

fn run_with(point: &FaultPoint) -> Outcome {
    let FaultPoint { call, path, nth, error } = point;
    let home = tempfile::tempdir().unwrap();
    let (data, file) = (home.path().join("data"), home.path().join("trace"));
    let whole = if path == DATA { data.clone() } else { data.join(path) };
    let whole = whole.display().to_string();
    let inject = format!("inject={call}:error={error}:when={nth}");
    let arguments = ["-e", &format!("trace={call}"), "-e", &inject, "-P", &whole];
    let mut ledger = None;
    let spawned = Process::spawn(under_strace(&file, &arguments), &data);
    let (mut outcome, in_doubt, ended) = use_server(spawned, &mut ledger);
    let trace = Trace::read(&file, &data);
    let injected = trace.calls.iter().position(|call| call.result == Event::Injected);
    let context = format!("{point:?}: {outcome:?}, {ended:?}");
    let said = format!("{}{}", ended.stdout, ended.stderr);
    let why = if *error == "EIO" { "os error 5" } else { "os error 28" };

    match outcome {
        Outcome::Stopped => assert!(said.contains(why), "it doesn't say why: {context}"),
        Outcome::NotStarted => {
            assert!(matches!(ended.code, Some(2 | 3)), "{context}");
            assert!(said.contains(why), "it doesn't say why: {context}");
        }
        Outcome::Harmless if injected.is_none() => outcome = Outcome::NeverCame,
        _ => assert!(injected.is_none() || !point.is_fatal(), "it went on: {context}"),
    }
    if let Some(injected) = injected
        && matches!(call.as_str(), "fsync" | "fdatasync")
        && point.is_fatal()
    {
        let again = trace.calls.iter().skip(injected + 1).filter(|call| call.result == Event::Done);
        assert_eq!(again.count(), 0, "a failed sync was tried again: {context}");
    }

    // Whatever it was, a start without the fault puts it right.
    if ledger.as_ref().is_some_and(|ledger: &Ledger| !ledger.is_empty()) {
        fsck(&data);
    }
    let mut server =
        Process::start(&data).unwrap_or_else(|ended| panic!("{context}, then {ended:?}"));
    assert!(server.is_ready(), "{context}");
    let mut connection = server.connect();
    let ledger = ledger.get_or_insert_with(|| Ledger::new(server.vkey()));
    ledger.audit(&mut connection, 10);
    for entries in in_doubt {
        assert_eq!(submit(&mut connection, &entries, ledger), Answer::Taken, "{context}");
    }
    let tree = ledger.audit(&mut connection, 10);
    assert_eq!(server.terminate().code, Some(0), "{context}");
    assert_eq!(fsck(&data)["size"], tree.size.get(), "{context}");
    outcome
}

/// Uses a server as people do: a few statements, a pause in which it keeps house, a few more, and the end.
/// Returns what was in doubt or refused, too.
fn use_server(
    spawned: Result<Process, Ended>,
    ledger: &mut Option<Ledger>,
) -> (Outcome, Vec<Vec<LogEntry>>, Ended) {
    let mut server = match spawned {
        Ok(server) => server,
        Err(ended) => return (Outcome::NotStarted, Vec::new(), ended),
    };
    let ledger = ledger.insert(Ledger::new(server.vkey()));
    let mut in_doubt = Vec::new();
    let mut refused = !server.is_ready();
    let mut connection = server.connect();
    for number in 0..8 {
        let entries: Vec<LogEntry> = match number {
            3 => (100..105).map(statement).collect(),
            _ => vec![statement(number)],
        };
        match submit(&mut connection, &entries, ledger) {
            Answer::Taken => {}
            Answer::Refused => {
                refused = true;
                in_doubt.push(entries);
            }
            Answer::None => in_doubt.push(entries),
        }
        if number == 4 {
            thread::sleep(Duration::from_millis(700));
        }
    }
    // One that has failed goes by itself.
    let until = Instant::now() + Duration::from_secs(if in_doubt.is_empty() { 0 } else { 2 });
    while Instant::now() < until && !server.has_ended() {
        thread::sleep(Duration::from_millis(10));
    }
    let ended = server.terminate();
    assert_eq!(ended.signal, None, "{ended:?}");
    let outcome = match ended.code {
        Some(3) => Outcome::Stopped,
        Some(0) if refused => Outcome::Refused,
        Some(0) => Outcome::Harmless,
        _ => panic!("{ended:?}"),
    };
    (outcome, in_doubt, ended)
}

#[derive(Debug, Eq, PartialEq)]
enum Answer {
    Taken,
    Refused,
    /// The connection broke.
    None,
}

fn submit(connection: &mut Connection, entries: &[LogEntry], ledger: &mut Ledger) -> Answer {
    let path = if entries.len() == 1 { "/v1/entries" } else { "/v1/entries:batch" };
    let Ok(reply) = connection.post(path, &body(entries)) else { return Answer::None };
    match (reply.status, entries) {
        (200, [entry]) => _ = ledger.receipt(entry, &reply.body),
        (200, entries) => ledger.batch(entries, &reply.body),
        (status, _) => {
            assert!(matches!(status, 503 | 507), "{status} {}", reply.text());
            assert!(reply.is_problem(status), "{}", reply.text());
            return Answer::Refused;
        }
    }
    Answer::Taken
}
