//! A full disk: refused with 507, still read, and over as soon as there is room again.
//!
//! The bugs this guards against: space that runs out between the commit and the files behind it, where only
//! a restart helps; an index that can't be read any more because it can't be written; a refusal that sticks.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::statement::LogEntry;
use anchorlog_tests::ledger::Ledger;
use anchorlog_tests::process::{Connection, Process, Reply, fsck};
use tempfile::TempDir;

use crate::crash::{body, statement};

/// Room for the default configuration, and little more.
const DISK: &str = "size=24m";

/// Statements that the smallest room that is freed has to take: a tenth of it.
const GOES_ON_FOR: u32 = 800;

#[test]
fn a_full_disk_refuses_and_a_freed_one_goes_on() {
    let Some(disk) = SmallDisk::mount() else {
        println!("skipped: a tmpfs can't be mounted here");
        return;
    };
    let data = disk.path().join("data");
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![1; 2 << 20]).unwrap();
    let mut server = Process::start(&data).unwrap();
    assert!(server.is_ready(), "the default configuration doesn't start on a small disk");
    let mut client = Client::of(&server);

    // Filled by what is submitted.
    let submitted = client.fill();
    assert!(submitted > 1_000, "full after {submitted} statements");
    client.finds_everything_and_takes_nothing();
    fs::remove_file(&ballast).unwrap();
    client.goes_on();

    // Filled from outside, to the last byte, while nothing happens.
    fill(&ballast);
    client.finds_everything_and_takes_nothing();
    fs::remove_file(&ballast).unwrap();
    client.goes_on();

    // Filled from outside, to the last byte, in the middle of things.
    let filled = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            fill(&ballast);
            filled.store(true, Ordering::Release);
        });
        while !filled.load(Ordering::Acquire) {
            client.submit_one();
        }
    });
    client.finds_everything_and_takes_nothing();
    fs::remove_file(&ballast).unwrap();
    client.goes_on();

    let Client { mut ledger, mut connection, .. } = client;
    let tree = ledger.audit(&mut connection, 100);
    let ended = server.terminate();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(fsck(&data)["size"], tree.size.get());
    let mut server = Process::start(&data).unwrap();
    assert!(server.is_ready());
    assert_eq!(ledger.audit(&mut server.connect(), 100), tree);
    assert_eq!(server.terminate().code, Some(0));
    println!(
        "{submitted} statements filled a disk of 24 MiB; {} were acknowledged in all",
        ledger.len()
    );
}

/// Somebody who submits new statements and remembers every answer.
struct Client {
    connection: Connection,
    ledger: Ledger,
    next: u64,
}

impl Client {
    fn of(server: &Process) -> Self {
        Self { connection: server.connect(), ledger: Ledger::new(server.vkey()), next: 0 }
    }

    /// Submits one statement, which may be refused for want of space only.
    fn submit_one(&mut self) -> bool {
        let refusal = self.try_one();
        if let Some(reply) = &refusal {
            assert_full(reply);
        }
        refusal.is_none()
    }

    /// Submits one statement and returns the refusal, if it is one.
    fn try_one(&mut self) -> Option<Reply> {
        let entry = statement(self.next);
        let reply = self.connection.post("/v1/entries", entry.leaf_bytes()).unwrap();
        self.next += 1;
        if reply.status != 200 {
            return Some(reply);
        }
        self.ledger.receipt(&entry, &reply.body);
        None
    }

    /// Submits until the disk is full for good, and returns how many statements were taken.
    ///
    /// What is refused as a large batch may fit as a small one, and the log's own housekeeping frees space
    /// now and then: it is full when nothing fits for two seconds.
    fn fill(&mut self) -> usize {
        let before = self.ledger.len();
        let mut last_taken = Instant::now();
        while last_taken.elapsed() < Duration::from_secs(2) {
            while self.submit_batch(500) || self.submit_batch(20) || self.submit_one() {
                last_taken = Instant::now();
            }
            thread::sleep(Duration::from_millis(50));
        }
        self.ledger.len() - before
    }

    fn submit_batch(&mut self, size: u64) -> bool {
        let entries: Vec<LogEntry> = (self.next..self.next + size).map(statement).collect();
        let reply = self.connection.post("/v1/entries:batch", &body(&entries)).unwrap();
        self.next += size;
        let taken = reply.status == 200;
        if taken {
            self.ledger.batch(&entries, &reply.body);
        } else {
            assert_full(&reply);
        }
        taken
    }

    /// What holds on a full disk, now and a few seconds later.
    fn finds_everything_and_takes_nothing(&mut self) {
        for _ in 0..3 {
            assert!(!self.submit_one(), "there is room for a statement");
            self.ledger.audit(&mut self.connection, 20);
            for sample in [0, self.next / 2, u64::MAX] {
                let (index, entry) = self.ledger.pick(sample);
                let (index, entry) = (index, entry.clone());
                let again = self.connection.post("/v1/entries", entry.leaf_bytes()).unwrap();
                assert_eq!(again.status, 200, "a duplicate: {}", again.text());
                assert_eq!(self.ledger.receipt(&entry, &again.body), index);
                let digest = entry.statement().digest;
                let found = self.connection.get(&format!("/v1/lookup?digest={digest}")).unwrap();
                assert_eq!(found.status, 200, "a look-up: {}", found.text());
                assert!(found.text().contains(&format!(r#""index":{index},"#)), "{}", found.text());
            }
            assert_eq!(self.connection.get("/healthz").unwrap().status, 200);
            thread::sleep(Duration::from_millis(1200));
        }
    }

    /// Statements are taken again, soon and without anybody's help.
    fn goes_on(&mut self) {
        let freed = Instant::now();
        while let Some(refusal) = self.try_one() {
            // An index that met the full disk is opened again first.
            let opening = refusal.is_problem(503) && refusal.text().contains("index-not-ready");
            assert!(opening || refusal.is_problem(507), "{}", refusal.text());
            assert!(freed.elapsed() < Duration::from_secs(30), "space is free and not used");
            thread::sleep(Duration::from_millis(20));
        }
        // Enough that files grow past what is reserved for them: the room that was freed is for statements.
        for number in 0..GOES_ON_FOR {
            assert!(self.submit_one(), "full again after {number} statements");
        }
    }
}

#[track_caller]
fn assert_full(reply: &Reply) {
    assert!(reply.is_problem(507), "{} {}", reply.status, reply.text());
    assert!(reply.text().contains(r#""code":"server.disk-full""#), "{}", reply.text());
}

/// Writes a file until not a byte more fits, and goes on until that stays so: the log lets go of journal
/// segments behind what it has stored, and then there is room again.
fn fill(path: &Path) {
    let mut file = File::options().append(true).create(true).open(path).unwrap();
    let mut settled = false;
    while !settled {
        let before = file.metadata().unwrap().len();
        for chunk in [vec![1; 1 << 20], vec![1; 4096], vec![1; 1]] {
            while file.write_all(&chunk).is_ok() {}
        }
        settled = file.metadata().unwrap().len() == before;
        if !settled {
            thread::sleep(Duration::from_millis(1_200));
        }
    }
}

/// A file system of its own in memory.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// None where that isn't allowed.
    fn mount() -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", DISK, "anchorlog-test"])
            .arg(place.path())
            .output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Self(place))
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_path_buf()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(self.0.path()).output();
        if !unmounted.is_ok_and(|output| output.status.success()) {
            let place = self.0.path().display();
            let _ = writeln!(std::io::stderr(), "{place} is still mounted");
        }
    }
}
