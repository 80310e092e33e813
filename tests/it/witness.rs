//! `log-server witness` as a process: `kill -9` while two forks of many logs ask it for cosignatures at once.
//!
//! The bug this guards against is a cosignature that leaves before the state is on disk, or is given from a
//! state that a restart has forgotten: then both forks of a log have one, and the witness is worth nothing.
//! A kill keeps what the kernel has; that the kernel was told to keep it on the disk is in the order of calls
//! of the `durable` module.
//!
//! `ANCHORLOG_KILLS` says how often (8), `ANCHORLOG_SEED` repeats a run as far as timing lets it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, Origin, SignedCheckpoint};
use anchorlog_proto::cosignature;
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize, consistency, leaf_hash, root};
use anchorlog_proto::note::{KeyName, NoteSigner, SignatureAlgorithm, VerifierKey};
use anchorlog_proto::tlog_witness::{AddCheckpoint, parse_cosignatures, parse_size};
use anchorlog_tests::interop::random::Random;
use anchorlog_tests::process::{Connection, Process, command, program, setting};
use serde_json::Value;

/// Entries of each fork.
const ENTRIES: u64 = 300;

/// Logs that nobody has cosigned before, each round.
const FRESH: u64 = 4;

/// A fork of every log: they have the same entries, and differ in their origin alone.
struct Fork {
    tree: Extension,
    signer: NoteSigner,
}

impl Fork {
    /// Both forks begin with the same entry.
    fn new(number: u8) -> Self {
        let leaf = |index: u64| {
            let told = if index == 0 { 0 } else { number };
            leaf_hash(&[&index.to_be_bytes()[..], &[told]].concat())
        };
        Self {
            tree: Extension::new(Frontier::new(), (0..ENTRIES).map(leaf)).unwrap(),
            signer: NoteSigner::from_seed(KeyName::new("key.example").unwrap(), [1; 32]),
        }
    }

    fn checkpoint(&self, log: u64, at: u64) -> Checkpoint {
        let size = TreeSize::new(at).unwrap();
        Checkpoint::new(origin(log), size, root(&self.tree, size).unwrap())
    }

    fn request(&self, log: u64, old: u64, at: u64) -> Vec<u8> {
        let [from, to] = [old, at].map(|size| TreeSize::new(size).unwrap());
        let text = self.checkpoint(log, at).to_text();
        let line = self.signer.sign(&text);
        let note = anchorlog_proto::note::SignedNote::new(text, vec![line]).unwrap();
        let checkpoint = SignedCheckpoint::from_note(note).unwrap();
        let proof = consistency::prove(&self.tree, from, to).unwrap().unwrap();
        AddCheckpoint { old: from, proof, checkpoint }.to_bytes()
    }
}

fn origin(log: u64) -> Origin {
    Origin::new(&format!("log.example/{log}")).unwrap()
}

/// A checkpoint that came back with a cosignature.
struct Cosigned {
    log: u64,
    checkpoint: Checkpoint,
    body: Vec<u8>,
}

#[test]
fn killed_at_any_moment_a_witness_cosigns_one_fork_alone() {
    let kills = setting("ANCHORLOG_KILLS", 8);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = setting("ANCHORLOG_SEED", u64::from(now.subsec_nanos()));
    println!("{kills} kills, ANCHORLOG_SEED={seed}");
    let mut random = Random::new(seed);
    let _ = program();
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("witness");
    let forks = [1, 2].map(Fork::new);
    let logs = kills * FRESH;
    let witness = || {
        let mut command = command();
        command.args(["witness", "--name", "witness.example"]);
        for log in 0..logs {
            let key = forks[0].signer.verifier_key();
            command.arg("--log").arg(format!("{key}={}", origin(log)));
        }
        command
    };
    let mut all: Vec<Cosigned> = Vec::new();
    let mut vkey: Option<String> = None;
    for round in 0..kills {
        let server = Process::spawn(witness(), &data).unwrap();
        assert_eq!(*vkey.get_or_insert_with(|| server.vkey().to_owned()), server.vkey());
        all.extend(load(server, &forks, (round + 1) * FRESH, &mut random));
        check(&forks, &all, vkey.as_ref().unwrap());
        if random.below(3) == 0 {
            kill_while_it_starts(witness(), &data, Duration::from_micros(random.below(40_000)));
        }
    }

    // What it serves is the newest of what it has given away, or something newer that nobody got.
    let server = Process::spawn(witness(), &data).unwrap();
    let mut connection = server.connect();
    let mut contested = 0;
    for log in 0..logs {
        let given: Vec<_> = all.iter().filter(|one| one.log == log).collect();
        let id = Digest::of(origin(log).as_str().as_bytes()).to_hex();
        let reply = connection.get(&format!("/{id}/checkpoint")).unwrap();
        let Some(most) = given.iter().map(|one| one.checkpoint.size).max() else { continue };
        assert_eq!(reply.status, 200, "{}", reply.text());
        let newest = SignedCheckpoint::parse(&reply.body).unwrap();
        assert!(newest.checkpoint().size >= most);
        all.push(Cosigned { log, checkpoint: newest.checkpoint().clone(), body: Vec::new() });
        contested += u64::from(most.get() > 1);
    }
    check(&forks, &all, vkey.as_ref().unwrap());
    let ended = server.terminate();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    println!("{} cosignatures for {contested} contested logs", all.len());
    assert!(all.len() > 2 * usize::try_from(kills).unwrap(), "hardly any load");
    assert!(contested >= kills, "hardly any contest");
}

/// Lets clients of both forks loose on a witness and kills it a moment after it has cosigned so and so often.
/// Returns what was cosigned.
fn load(server: Process, forks: &[Fork; 2], logs: u64, random: &mut Random) -> Vec<Cosigned> {
    let address = server.address();
    let (dead, count) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let clients: Vec<_> = (0..6)
            .map(|client| {
                let (fork, dead, count) = (&forks[client % 2], &dead, &count);
                let random = Random::new(random.below(u64::MAX));
                scope.spawn(move || {
                    submit(Connection::to(address), fork, logs, (dead, count), random)
                })
            })
            .collect();
        let (enough, patience) = (1 + random.below(40), Instant::now() + Duration::from_secs(10));
        while count.load(Ordering::Acquire) < enough && Instant::now() < patience {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_micros(random.below(5_000)));
        let ended = server.kill();
        dead.store(true, Ordering::Release);
        assert_eq!(ended.signal, Some(9), "it ended by itself: {}", ended.stderr);
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

/// Asks for cosignatures of one fork until the witness is dead, mostly from where it says it is.
fn submit(
    mut connection: Connection,
    fork: &Fork,
    logs: u64,
    (dead, count): (&AtomicBool, &AtomicU64),
    mut random: Random,
) -> Vec<Cosigned> {
    let mut cosigned = Vec::new();
    let mut sizes = vec![0; usize::try_from(logs).unwrap()];
    while !dead.load(Ordering::Acquire) {
        // Half of the time one of the new ones, whose first cosignature is still open.
        let fresh = random.below(2) == 0;
        let log = if fresh { logs - FRESH + random.below(FRESH) } else { random.below(logs) };
        let place = usize::try_from(log).unwrap();
        let old = if random.below(10) == 0 { random.below(3) } else { sizes[place] };
        let at = (old + random.below(4)).min(ENTRIES);
        let Ok(reply) = connection.post("/add-checkpoint", &fork.request(log, old, at)) else {
            break;
        };
        match reply.status {
            200 => {
                sizes[place] = at;
                count.fetch_add(1, Ordering::AcqRel);
                let checkpoint = fork.checkpoint(log, at);
                cosigned.push(Cosigned { log, checkpoint, body: reply.body });
            }
            409 => {
                assert_eq!(reply.content_type, "text/x.tlog.size");
                sizes[place] = parse_size(&reply.body).unwrap().get();
            }
            // The other fork has won this log.
            422 => assert!(reply.is_problem(422)),
            status => assert_eq!(status, 429, "{}", reply.text()),
        }
    }
    cosigned
}

/// Every cosignature is valid, and those of one log lie on one fork.
fn check(forks: &[Fork; 2], all: &[Cosigned], vkey: &str) {
    let key: VerifierKey = vkey.parse().unwrap();
    assert_eq!(key.algorithm(), SignatureAlgorithm::CosignatureV1);
    let mut told = std::collections::HashMap::<u64, [bool; 2]>::new();
    for one in all {
        if !one.body.is_empty() {
            let lines = parse_cosignatures(&one.body).unwrap();
            cosignature::verify(&key, &one.checkpoint.to_text(), &lines[0]).unwrap();
        }
        let fits = told.entry(one.log).or_insert([true; 2]);
        for (fork, fits) in forks.iter().zip(fits) {
            *fits &= fork.checkpoint(one.log, one.checkpoint.size.get()) == one.checkpoint;
        }
    }
    for (log, fits) in told {
        assert!(fits.contains(&true), "both forks of {} were cosigned", origin(log));
    }
}

fn kill_while_it_starts(mut command: Command, data: &Path, pause: Duration) {
    let mut child = command
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

#[test]
fn a_witness_starts_with_one_line_and_says_who_it_is() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("w");
    let fork = Fork::new(1);
    let key = fork.signer.verifier_key().to_string();
    let start = || {
        let mut command = command();
        command.args(["witness", "--log", &key]);
        command
    };
    let server = Process::spawn(start(), &data).unwrap();
    assert!(server.vkey().starts_with("localhost/anchorlog-witness+"));
    let run = |arguments: &[&str]| {
        let mut command = command();
        command.args(arguments).arg("--json").arg("--data").arg(&data);
        let output = command.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report["error"]["code"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(run(&["witness", "--log", &key]), (Some(2), "CLI.LOCKED".to_owned()));
    assert_eq!(run(&["witness", "--log", "nonsense"]), (Some(2), "CLI.WITNESS".to_owned()));
    assert_eq!(run(&["witness", "--origin", "o"]), (Some(2), "CLI.USAGE".to_owned()));
    let first = server.vkey().to_owned();
    assert_eq!(server.terminate().code, Some(0));

    // The same key after a restart, and under a name of its own another one.
    let server = Process::spawn(start(), &data).unwrap();
    assert_eq!(server.vkey(), first);
    assert_eq!(server.terminate().code, Some(0));
    // In the form that other witnesses keep theirs.
    let skey = home.path().join("skey");
    let seed = NoteSigner::from_seed(KeyName::new("w.example").unwrap(), [5; 32]);
    anchorlog_client::durable::write_new(&skey, seed.to_skey().as_bytes(), 0o600).unwrap();
    let mut named = start();
    named.arg("--key").arg(&skey).args(["--name", "w.example"]);
    let other = home.path().join("other");
    let server = Process::spawn(named, &other).unwrap();
    let expected = cosignature::cosigner_from_note_key(seed.verifier_key());
    assert_eq!(server.vkey(), expected.to_string());
    drop(server);
    let mut misnamed = start();
    misnamed.arg("--key").arg(&skey);
    assert_eq!(Process::spawn(misnamed, &other).unwrap_err().code, Some(2));
    assert_eq!(fs::read_dir(other.join("logs")).unwrap().count(), 0);
}
