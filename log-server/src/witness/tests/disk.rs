//! What is on disk, and what happens when it fails or isn't what it was.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

use anchorlog_client::durable::{DurableError, Operation};

use super::*;

/// A disk that fails at what it is told to, and counts proofs of lost state.
#[derive(Clone, Default)]
struct Faulty(Arc<Mutex<Option<(Operation, io::ErrorKind)>>>, Arc<Mutex<usize>>);

impl Faulty {
    fn set(&self, fault: Option<(Operation, io::ErrorKind)>) {
        *self.0.lock().unwrap() = fault;
    }
}

impl Store for Faulty {
    fn keep(&self, _: &Kept, _: bool) -> Result<(), DurableError> {
        match *self.0.lock().unwrap() {
            None => Ok(()),
            Some((operation, kind)) => {
                Err(DurableError::new(Path::new("x"), operation, io::Error::from(kind)))
            }
        }
    }

    fn keep_halt(&self, _: &Origin, note: &[u8]) -> Result<(), DurableError> {
        let kept = Kept::new(&SignedCheckpoint::parse(note).unwrap(), 0);
        self.keep(&kept, false).inspect(|()| *self.1.lock().unwrap() += 1)
    }
}

#[tokio::test]
async fn what_can_not_be_kept_is_not_cosigned() {
    let directory = tempfile::tempdir().unwrap();
    let story = Story::true_one();
    let (clock, mut witness) = open(&directory, vec![story.spec()]).unwrap();
    let faulty = Faulty::default();
    witness.store = Box::new(faulty.clone());
    let world = World::of(clock, witness);
    world.add(story.body(0, 3)).await.cosigned(&story.checkpoint(3));

    faulty.set(Some((Operation::Write, io::ErrorKind::StorageFull)));
    let answer = world.add(story.body(3, 5)).await;
    answer.refused(507, "WITNESS.DISK_FULL");
    assert!(!answer.text().contains(WITNESS));
    faulty.set(Some((Operation::Rename, io::ErrorKind::PermissionDenied)));
    world.add(story.body(3, 5)).await.refused(500, "WITNESS.NOT_KEPT");
    // Nothing has happened, and so another tree may still follow.
    world.add(story.body(0, 5)).await.conflict(3);
    assert!(world.get(&story.path()).await.text().contains("\n3\n"));
    faulty.set(None);
    world.add(story.body(3, 6)).await.cosigned(&story.checkpoint(6));
    assert_eq!(world.get("/healthz").await.status, 200);

    // A sync that fails is the end, even when it says that the disk is full.
    faulty.set(Some((Operation::Sync, io::ErrorKind::StorageFull)));
    world.add(story.body(6, 8)).await.refused(500, "WITNESS.FAILED");
    world.witness.failed().await;
    faulty.set(None);
    world.add(story.body(6, 8)).await.refused(500, "WITNESS.FAILED");
    world.get("/healthz").await.refused(500, "WITNESS.FAILED");
    world.get("/readyz").await.refused(503, "WITNESS.FAILED");
    let metrics = world.get("/metrics").await;
    assert!(metrics.text().contains("anchorlog_witness_not_kept_total 3"), "{}", metrics.text());
}

fn part(directory: &TempDir, part: &str) -> PathBuf {
    directory.path().join(part).join(Digest::of(LOG.as_bytes()).to_hex())
}

#[tokio::test]
async fn it_goes_on_where_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let story = Story::true_one();
    let world = World::open(&directory, vec![story.spec()]);
    world.add(story.body(0, 3)).await.cosigned(&story.checkpoint(3));
    let served = world.get(&story.path()).await.body;
    assert_eq!(fs::read(part(&directory, "logs").join("checkpoint")).unwrap(), served);
    assert_eq!(fs::read_to_string(part(&directory, "origins")).unwrap(), format!("{LOG}\n"));
    let held = World::try_open(&directory, vec![story.spec()]).map(|_| ()).unwrap_err();
    assert!(matches!(held, WitnessError::Lock(_)), "{held}");
    drop(world);
    fs::write(part(&directory, "logs").join(".checkpoint.tmp-1-2"), "torn").unwrap();
    // Killed between checkpoint and mark: the mark comes at the next start.
    fs::remove_file(part(&directory, "origins")).unwrap();
    let world = World::open(&directory, vec![story.spec()]);
    assert!(part(&directory, "origins").exists());
    assert!(!part(&directory, "logs").join(".checkpoint.tmp-1-2").exists());
    assert_eq!(world.get(&story.path()).await.body, served);
    world.add(story.body(0, 5)).await.conflict(3);
    world.add(story.body(3, 5)).await.cosigned(&story.checkpoint(5));
    drop(world);
    // A log that is not configured any more is still answered for, and not cosigned.
    let world = World::open(&directory, vec![]);
    assert!(world.get(&story.path()).await.text().contains("\n5\n"));
    world.add(story.body(5, 6)).await.refused(404, "TLOGWITNESS.UNKNOWN_ORIGIN");
    // Killed between directory and checkpoint.
    drop(world);
    let other = Story::new("other.example", 20, 20, 0);
    let id = Digest::of(b"other.example").to_hex();
    fs::create_dir(directory.path().join("logs").join(id)).unwrap();
    let world = World::open(&directory, vec![other.spec()]);
    world.add(other.body(0, 1)).await.cosigned(&other.checkpoint(1));
}

#[tokio::test]
async fn state_that_is_not_ours_or_not_there_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let story = Story::true_one();
    let world = World::open(&directory, vec![story.spec()]);
    world.add(story.body(0, 3)).await.cosigned(&story.checkpoint(3));
    drop(world);
    let path = part(&directory, "logs").join("checkpoint");
    let good = fs::read(&path).unwrap();
    let refused = || World::try_open(&directory, vec![story.spec()]).map(|_| ()).unwrap_err();

    // Every byte matters: what was changed was not cosigned by us, or is no checkpoint.
    let text = story.checkpoint(3).to_text().len() + 1;
    let log_line = text..good.len() - own_line(&good);
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        let error = match World::try_open(&directory, vec![story.spec()]) {
            Err(error) => error,
            Ok(world) => {
                // The log's own line is not ours to judge: its key may have been changed.
                assert!(log_line.contains(&at), "byte {at}");
                assert_eq!(world.witness.logs()[0].size(), Some(3));
                continue;
            }
        };
        let known = matches!(
            error,
            WitnessError::NotOurs { .. }
                | WitnessError::State { .. }
                | WitnessError::WrongLog { .. }
        );
        assert!(known, "byte {at}: {error}");
    }
    for length in 0..good.len() {
        fs::write(&path, &good[..length]).unwrap();
        let error = refused();
        let known = matches!(error, WitnessError::NotOurs { .. } | WitnessError::State { .. });
        assert!(known, "{length} bytes: {error}");
    }
    fs::remove_file(&path).unwrap();
    let error = refused();
    assert!(matches!(&error, WitnessError::StateMissing { origin, .. } if origin == LOG));
    assert!(error.to_string().contains("restore it"), "{error}");

    // Another log's file under this name.
    let elsewhere = tempfile::tempdir().unwrap();
    let other = Story::new("other.example", 20, 20, 0);
    let world = World::open(&elsewhere, vec![other.spec()]);
    world.add(other.body(0, 3)).await.cosigned(&other.checkpoint(3));
    fs::write(&path, world.get(&other.path()).await.body).unwrap();
    assert!(matches!(refused(), WitnessError::WrongLog { .. }));
    fs::write(&path, &good).unwrap();
    World::open(&directory, vec![story.spec()]);

    // A log's directory is not a witness'.
    let log = tempfile::tempdir().unwrap();
    fs::create_dir(log.path().join("wal")).unwrap();
    let error = World::try_open(&log, vec![]).map(|_| ()).unwrap_err();
    assert!(matches!(error, WitnessError::HasLog { .. }));
}

/// The length of the last line, newline included: our own.
fn own_line(note: &[u8]) -> usize {
    note.split_inclusive(|&byte| byte == b'\n').next_back().unwrap().len()
}

#[tokio::test]
async fn a_restored_backup_is_found_out_by_its_own_cosignature() {
    let directory = tempfile::tempdir().unwrap();
    let story = Story::true_one();
    let world = World::open(&directory, vec![story.spec()]);
    world.add(story.body(0, 3)).await.cosigned(&story.checkpoint(3));
    let path = part(&directory, "logs").join("checkpoint");
    let backup = fs::read(&path).unwrap();
    world.set_clock(TIME + 5);
    world.add(story.body(3, 8)).await.cosigned(&story.checkpoint(8));
    let newest = SignedCheckpoint::parse(&world.get(&story.path()).await.body).unwrap();
    // Our own line is no news to us: asked again, it is answered as ever.
    let again =
        AddCheckpoint { old: TreeSize::new(8).unwrap(), proof: vec![], checkpoint: newest.clone() };
    world.add(again.to_bytes()).await.cosigned(&story.checkpoint(8));
    drop(world);

    fs::write(&path, backup).unwrap();
    let world = World::open(&directory, vec![story.spec()]);
    world.set_clock(TIME + 9);
    // A forged line in our name proves nothing.
    let name = own_key();
    let forged = NoteSignature::new(name.name().clone(), name.key_id(), vec![7; 72]).unwrap();
    let mut request = story.request(3, 4);
    request.checkpoint = request.checkpoint.with_signature(forged).unwrap();
    world.add(request.to_bytes()).await.cosigned(&story.checkpoint(4));
    // Whoever has the cosignature that was lost shows it, in whatever request.
    let proof = AddCheckpoint { old: TreeSize::ZERO, proof: vec![], checkpoint: newest };
    world.add(proof.to_bytes()).await.refused(500, "WITNESS.HALTED");
    world.add(story.body(4, 5)).await.refused(500, "WITNESS.HALTED");
    world.get("/readyz").await.refused(503, "WITNESS.HALTED");
    assert!(part(&directory, "halted").exists());
    drop(world);
    // And it is remembered, until the operator removes the proof.
    let world = World::open(&directory, vec![story.spec()]);
    world.set_clock(TIME + 9);
    world.add(story.body(4, 5)).await.refused(500, "WITNESS.HALTED");
    drop(world);
    fs::remove_file(part(&directory, "halted")).unwrap();
    let world = World::open(&directory, vec![story.spec()]);
    world.set_clock(TIME + 9);
    world.add(story.body(4, 5)).await.cosigned(&story.checkpoint(5));
}

/// The proof that state was lost outlives a restart, also when the disk had no room for it at first.
#[tokio::test]
async fn the_proof_of_lost_state_is_kept_as_soon_as_it_can_be() {
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let story = Story::true_one();
    let other = World::open(&directories[0], vec![story.spec()]);
    other.add(story.body(0, 9)).await.cosigned(&story.checkpoint(9));
    let checkpoint = SignedCheckpoint::parse(&other.get(&story.path()).await.body).unwrap();
    let proof = AddCheckpoint { old: TreeSize::ZERO, proof: vec![], checkpoint };
    let (clock, mut witness) = open(&directories[1], vec![story.spec()]).unwrap();
    let faulty = Faulty::default();
    witness.store = Box::new(faulty.clone());
    let world = World::of(clock, witness);
    for (fault, kept) in [(Some(io::ErrorKind::StorageFull), 0), (None, 1), (None, 1)] {
        faulty.set(fault.map(|kind| (Operation::Write, kind)));
        world.add(proof.to_bytes()).await.refused(500, "WITNESS.HALTED");
        assert_eq!(*faulty.1.lock().unwrap(), kept);
    }
}
