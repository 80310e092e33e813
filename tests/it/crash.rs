//! `kill -9` under load, again and again: what was acknowledged is there, and nothing was said twice.
//!
//! The bug this guards against is an answer that leaves too early: a receipt before its batch is in the
//! journal, a checkpoint before its record, a second batch at an index that a first one had. A kill loses
//! what the process had in memory and keeps what the kernel has; that the kernel was told to keep it on the
//! disk is for `faults::syscalls` to show.
//!
//! `ANCHORLOG_KILLS` says how often (8), `ANCHORLOG_SEED` repeats a run as far as timing lets it.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anchorlog_proto::Digest;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_tests::interop::random::Random;
use anchorlog_tests::ledger::Ledger;
use anchorlog_tests::process::{Connection, Process, command, fsck, program, setting};

/// Threads that submit one statement at a time.
const SINGLES: u64 = 3;

/// Entries and checkpoints whose proofs are asked for after every kill; the whole log is read anyway.
const PROOFS: usize = 40;

/// What one client sent in one round: each submission with its answer, if it came.
type Sent = Vec<(Vec<LogEntry>, Option<Vec<u8>>)>;

#[test]
fn killed_at_any_moment_a_log_keeps_its_word() {
    let kills = setting("ANCHORLOG_KILLS", 8);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = setting("ANCHORLOG_SEED", u64::from(now.subsec_nanos()));
    println!("{kills} kills, ANCHORLOG_SEED={seed}");
    let mut random = Random::new(seed);
    // Built before anything is timed.
    let _ = program();
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let numbers = AtomicU64::new(0);
    let mut ledger: Option<Ledger> = None;
    let mut unanswered: Vec<Vec<LogEntry>> = Vec::new();
    let (mut early_kills, mut in_doubt, mut slowest) = (0, 0, Duration::ZERO);

    for _ in 0..kills {
        let started = Instant::now();
        let mut server = Process::start(&data).unwrap();
        slowest = slowest.max(started.elapsed());
        let ledger = ledger.get_or_insert_with(|| Ledger::new(server.vkey()));
        assert!(server.is_ready());
        ledger.audit(&mut server.connect(), PROOFS);
        in_doubt += unanswered.len();
        submit_again(&mut server.connect(), &unanswered, ledger);
        submit_known(&mut server.connect(), &mut random, ledger);

        let pause = Duration::from_micros(5_000 + random.below(250_000));
        let (sent, notes) = load(server, pause, &mut random, &numbers);
        unanswered.clear();
        for (entries, answer) in sent {
            match (answer, entries.as_slice()) {
                (None, _) => unanswered.push(entries),
                (Some(body), [entry]) => _ = ledger.receipt(entry, &body),
                (Some(body), _) => ledger.batch(&entries, &body),
            }
        }
        for note in notes {
            ledger.checkpoint(&note);
        }
        fsck(&data);
        if random.below(3) == 0 {
            kill_while_it_starts(&data, Duration::from_micros(random.below(60_000)));
            early_kills += 1;
            fsck(&data);
        }
    }

    let mut ledger = ledger.unwrap();
    let mut server = Process::start(&data).unwrap();
    assert!(server.is_ready());
    submit_again(&mut server.connect(), &unanswered, &mut ledger);
    let tree = ledger.audit(&mut server.connect(), 4 * PROOFS);
    let ended = server.terminate();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = fsck(&data);
    assert_eq!(report["size"], tree.size.get());
    println!(
        "{kills} kills under load and {early_kills} while starting: {} of {} entries acknowledged, {} \
         checkpoints of different sizes seen, {in_doubt} submissions in doubt answered later; slowest \
         restart {} ms",
        ledger.len(),
        tree.size,
        ledger.checkpoints(),
        slowest.as_millis(),
    );
    assert!(ledger.len() > 10 * usize::try_from(kills).unwrap(), "hardly any load");
}

#[test]
fn a_second_server_on_the_directory_names_the_first_and_goes() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let mut first = Process::start(&data).unwrap();
    assert!(first.is_ready());
    let mut ledger = Ledger::new(first.vkey());
    let mut connection = first.connect();
    let receipt = connection.post("/v1/entries", statement(0).leaf_bytes()).unwrap();
    ledger.receipt(&statement(0), &receipt.body);
    // What changes from here on, the others have changed.
    first.pause();
    let before = contents(&data);

    for arguments in [&["serve"][..], &["init"], &["fsck"], &["rebuild-index"]] {
        let mut command = command();
        command.args(arguments).arg("--data").arg(&data).args(match arguments {
            ["serve"] => &["--listen", "127.0.0.1:0"][..],
            _ => &[],
        });
        // The best of several, because other tests need the processors as well.
        let in_time = (0..5).find_map(|_| {
            let started = Instant::now();
            let output = command.output().unwrap();
            (started.elapsed() < Duration::from_secs(2)).then_some(output)
        });
        let output = in_time.expect("it goes within two seconds");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains("in use by another process"), "{message}");
        assert!(message.contains(&format!("pid={} ", first.id())), "{message}");
    }

    assert!(contents(&data) == before, "a refused program has changed the directory");
    first.resume();
    let receipt = connection.post("/v1/entries", statement(1).leaf_bytes()).unwrap();
    assert_eq!(ledger.receipt(&statement(1), &receipt.body), 1);
    ledger.audit(&mut connection, PROOFS);
    assert_eq!(first.terminate().code, Some(0));
    fsck(&data);
}

/// Lets clients loose on a server and kills it after `pause`. Returns what they sent, and every checkpoint
/// that was seen.
fn load(
    server: Process,
    pause: Duration,
    random: &mut Random,
    numbers: &AtomicU64,
) -> (Sent, Vec<Vec<u8>>) {
    let address = server.address();
    // So that a client that loses its connection knows that nobody will answer any more.
    let dead = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut clients = Vec::new();
        for _ in 0..SINGLES {
            let mut random = Random::new(random.below(u64::MAX));
            let dead = &dead;
            clients.push(scope.spawn(move || {
                submit(Connection::to(address), "/v1/entries", dead, || {
                    vec![statement(next(numbers, &mut random))]
                })
            }));
        }
        let (mut random, stop) = (Random::new(random.below(u64::MAX)), &dead);
        clients.push(scope.spawn(move || {
            submit(Connection::to(address), "/v1/entries:batch", stop, || {
                let size = 2 + random.below(150);
                (0..size).map(|_| statement(next(numbers, &mut random))).collect()
            })
        }));
        let watcher = scope.spawn(|| {
            let mut connection = Connection::to(address);
            let mut notes: Vec<Vec<u8>> = Vec::new();
            while !dead.load(Ordering::Acquire) {
                if let Ok(reply) = connection.get("/checkpoint") {
                    assert_eq!(reply.status, 200);
                    if notes.last() != Some(&reply.body) {
                        notes.push(reply.body);
                    }
                }
            }
            notes
        });
        thread::sleep(pause);
        let ended = server.kill();
        dead.store(true, Ordering::Release);
        assert_eq!(ended.signal, Some(9), "it ended by itself: {}", ended.stderr);
        let sent = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        (sent, watcher.join().unwrap())
    })
}

/// Submits until the server is dead; what it doesn't answer any more is in doubt.
fn submit(
    mut connection: Connection,
    path: &str,
    dead: &AtomicBool,
    mut next: impl FnMut() -> Vec<LogEntry>,
) -> Sent {
    let mut sent = Sent::new();
    while !dead.load(Ordering::Acquire) {
        let entries = next();
        let Ok(reply) = connection.post(path, &body(&entries)) else {
            sent.push((entries, None));
            break;
        };
        assert_eq!(reply.status, 200, "{}", reply.text());
        sent.push((entries, Some(reply.body)));
    }
    sent
}

/// What a client does whose submission was never answered: the same again. Whether the log has it or not,
/// it is there once.
fn submit_again(connection: &mut Connection, unanswered: &[Vec<LogEntry>], ledger: &mut Ledger) {
    for entries in unanswered {
        match entries.as_slice() {
            [entry] => {
                let reply = connection.post("/v1/entries", entry.leaf_bytes()).unwrap();
                assert_eq!(reply.status, 200, "{}", reply.text());
                ledger.receipt(entry, &reply.body);
            }
            entries => {
                let reply = connection.post("/v1/entries:batch", &body(entries)).unwrap();
                assert_eq!(reply.status, 200, "{}", reply.text());
                ledger.batch(entries, &reply.body);
            }
        }
    }
}

/// Acknowledged entries keep their indexes when they come again, whatever the kill made of the index and of
/// what stands in front of it.
fn submit_known(connection: &mut Connection, random: &mut Random, ledger: &mut Ledger) {
    for _ in 0..PROOFS.min(ledger.len()) {
        let (index, entry) = ledger.pick(random.below(u64::MAX));
        let entry = entry.clone();
        let reply = connection.post("/v1/entries", entry.leaf_bytes()).unwrap();
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(ledger.receipt(&entry, &reply.body), index);
    }
}

/// Starts a server and kills it wherever it is after `pause`: recovery is repeated, not resumed.
fn kill_while_it_starts(data: &Path, pause: Duration) {
    let mut child = command()
        .args(["--listen", "127.0.0.1:0", "--data"])
        .arg(data)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(pause);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A number nobody had, or now and then one that somebody had.
fn next(numbers: &AtomicU64, random: &mut Random) -> u64 {
    let fresh = numbers.fetch_add(1, Ordering::Relaxed);
    if random.below(8) == 0 { random.below(fresh) } else { fresh }
}

pub(crate) fn body(entries: &[LogEntry]) -> Vec<u8> {
    match entries {
        [entry] => entry.leaf_bytes().to_vec(),
        entries => {
            let statements: Vec<&[u8]> = entries.iter().map(LogEntry::leaf_bytes).collect();
            [&br#"{"statements":["#[..], &statements.join(&b','), b"]}"].concat()
        }
    }
}

/// Statement `number`: a third of them in trails, some of these at contested places.
pub(crate) fn statement(number: u64) -> LogEntry {
    let digest = Digest::of(&number.to_be_bytes());
    let statement = match number % 3 {
        0 => {
            let trail = format!("trail:{}", number % 7).parse().unwrap();
            Statement::new(StatementKind::Checkpoint, digest).in_trail(trail, Some(number / 50))
        }
        1 => Statement::new(StatementKind::CoreRoot, digest),
        _ => Statement::new(StatementKind::Digest, digest),
    };
    LogEntry::unsigned(statement).unwrap()
}

/// Every file below `directory` with its bytes, without the zeros at its end.
fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![directory.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mut bytes = fs::read(&path).unwrap();
                let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                bytes.truncate(used);
                files.push((path.display().to_string(), bytes));
            }
        }
    }
    files.sort();
    files
}
