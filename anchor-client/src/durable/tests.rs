//! What the module promises, and what is left when its process dies in between.
use std::env;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::*;

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn creates_missing_directories_and_accepts_existing_ones() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("a/b/c");
    create_dir_all(&deep).unwrap();
    assert!(deep.is_dir());
    create_dir_all(&deep).unwrap();
    create_dir_all(root.path()).unwrap();

    let private = root.path().join("keys/inner");
    create_dir_all_with_mode(&private, 0o700).unwrap();
    assert_eq!(fs::metadata(private).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_file_in_the_way_of_a_directory_is_named() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, b"x").unwrap();
    let error = create_dir_all(&file.join("below")).unwrap_err();
    assert_eq!(error.operation, Operation::CreateDirectory);
    assert!(error.path.starts_with(&file), "{error}");
    assert!(error.to_string().contains("file"), "{error}");
}

#[test]
fn replaces_whole_files_and_leaves_no_temporaries() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("state");
    write_replace(&path, b"one").unwrap();
    write_replace(&path, b"two, longer").unwrap();
    write_replace(&path, b"").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"");
    assert_eq!(names(root.path()), ["state"]);
}

#[test]
fn a_replacement_that_fails_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    // A directory can't be replaced by a file: the rename, the last step that can refuse, fails.
    let path = root.path().join("state");
    fs::create_dir(&path).unwrap();
    let error = write_replace(&path, b"new").unwrap_err();
    assert_eq!(error.operation, Operation::Rename);
    assert!(path.is_dir());
    assert_eq!(names(root.path()), ["state"]);

    let error = write_replace(&root.path().join("missing/state"), b"new").unwrap_err();
    assert_eq!(error.operation, Operation::Create);
    assert_eq!(error.source.kind(), io::ErrorKind::NotFound);
    assert!(!error.is_out_of_space() && !error.is_sync_failure());
    assert_eq!(write_replace(Path::new("/"), b"").unwrap_err().operation, Operation::Create);
}

#[test]
fn many_files_are_replaced_one_by_one_and_synced_together() {
    let root = tempfile::tempdir().unwrap();
    write_replace(&root.path().join("b"), b"old").unwrap();
    let files = [(OsStr::new("a"), &b"1"[..]), (OsStr::new("b"), b"2"), (OsStr::new("c"), b"3")];
    write_replace_in(root.path(), &files).unwrap();
    assert_eq!(names(root.path()), ["a", "b", "c"]);
    assert_eq!(fs::read(root.path().join("b")).unwrap(), b"2");

    // One that can't be replaced: what was published before it stays, and nothing else is left behind.
    fs::create_dir(root.path().join("d")).unwrap();
    let files = [(OsStr::new("a"), &b"x"[..]), (OsStr::new("d"), b"x"), (OsStr::new("e"), b"x")];
    assert_eq!(write_replace_in(root.path(), &files).unwrap_err().operation, Operation::Rename);
    assert_eq!(names(root.path()), ["a", "b", "c", "d"]);
}

#[test]
fn new_files_get_their_mode_and_never_overwrite() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("key.pem");
    write_new(&path, b"secret", MODE_PRIVATE).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&path).unwrap().nlink(), 1);

    let error = write_new(&path, b"other", MODE_PRIVATE).unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"secret");
    assert_eq!(names(root.path()), ["key.pem"]);
}

#[test]
fn removes_and_renames() {
    let root = tempfile::tempdir().unwrap();
    let (one, two) = (root.path().join("one"), root.path().join("sub/two"));
    create_dir_all(&root.path().join("sub")).unwrap();
    write_replace(&one, b"1").unwrap();
    rename(&one, &two).unwrap();
    assert_eq!(fs::read(&two).unwrap(), b"1");
    assert_eq!(rename(&one, &two).unwrap_err().operation, Operation::Rename);

    remove_file(&two).unwrap();
    let error = remove_file(&two).unwrap_err();
    assert_eq!(
        (error.operation, error.source.kind()),
        (Operation::Remove, io::ErrorKind::NotFound)
    );

    remove_dir_all(&root.path().join("sub")).unwrap();
    assert_eq!(names(root.path()), Vec::<String>::new());
}

#[test]
fn stale_temporaries_go_and_everything_else_stays() {
    let root = tempfile::tempdir().unwrap();
    for name in [".state.tmp-77-0", ".key.pem.tmp-1-12", ".hidden", "state.tmp-1-1", "state"] {
        fs::write(root.path().join(name), b"x").unwrap();
    }
    assert_eq!(remove_stale_temporaries(root.path()).unwrap(), 2);
    assert_eq!(names(root.path()), [".hidden", "state", "state.tmp-1-1"]);
    assert_eq!(remove_stale_temporaries(root.path()).unwrap(), 0);
}

#[test]
fn writes_and_reads_at_positions() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("segment");
    let file = WritableFile::open_or_create(&path).unwrap();
    assert!(file.is_empty().unwrap());
    file.write_all_at(b"world", 6).unwrap();
    file.write_all_at(b"hello ", 0).unwrap();
    file.sync_data().unwrap();
    drop(file);

    let file = WritableFile::open_or_create(&path).unwrap();
    assert_eq!((file.len().unwrap(), file.path()), (11, path.as_path()));
    let mut all = [0; 11];
    file.read_exact_at(&mut all, 0).unwrap();
    assert_eq!(&all, b"hello world");
    let error = file.read_exact_at(&mut all, 1).unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::UnexpectedEof);

    file.set_len(5).unwrap();
    file.sync_all().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"hello");
    let missing = WritableFile::open(&root.path().join("missing")).unwrap_err();
    assert_eq!(missing.operation, Operation::Open);
}

#[test]
fn reserving_space_keeps_the_length() {
    let root = tempfile::tempdir().unwrap();
    let file = WritableFile::open_or_create(&root.path().join("wal")).unwrap();
    if file.allocate(0, 1 << 20).unwrap() == Allocation::Reserved {
        let metadata = fs::metadata(file.path()).unwrap();
        assert_eq!(metadata.len(), 0);
        assert!(metadata.blocks() * 512 >= 1 << 20);
        // More than any disk holds is refused, and the file is as it was.
        let error = file.allocate(0, 1 << 60).unwrap_err();
        assert_eq!(error.operation, Operation::Allocate);
        assert_eq!(file.len().unwrap(), 0);
    }
}

#[test]
fn a_full_device_is_told_from_other_failures() {
    // `/dev/full` answers every write with ENOSPC.
    let file = WritableFile::open_or_create(Path::new("/dev/full")).unwrap();
    let error = file.write_all_at(b"x", 0).unwrap_err();
    assert_eq!(error.operation, Operation::Write);
    assert!(error.is_out_of_space(), "{error}");
    assert!(!error.is_sync_failure());
    assert!(error.to_string().starts_with("/dev/full: writing failed"), "{error}");
    // But what a sync couldn't write is lost for whatever reason.
    for operation in [Operation::Sync, Operation::SyncDirectory] {
        let full = io::ErrorKind::StorageFull.into();
        assert!(!DurableError::new(Path::new("file"), operation, full).is_out_of_space());
    }
}

#[test]
fn appends_know_their_end_and_can_be_cut_back() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("entries");
    let mut file = AppendFile::open_or_create(&path).unwrap();
    assert!(file.is_empty());
    assert_eq!(file.append(b"first").unwrap(), 0);
    assert_eq!(file.append(b"second").unwrap(), 5);
    file.sync_data().unwrap();
    drop(file);

    let mut file = AppendFile::open_or_create(&path).unwrap();
    assert_eq!(file.len(), 11);
    file.reserve(1 << 16).unwrap();
    assert_eq!((file.len(), fs::metadata(&path).unwrap().len()), (11, 11), "room is no content");
    file.truncate(5).unwrap();
    assert_eq!(file.truncate(6).unwrap_err().operation, Operation::Truncate);
    assert_eq!(file.append(b"!").unwrap(), 5);
    let mut last = [0; 1];
    file.read_exact_at(&mut last, 5).unwrap();
    assert_eq!(&last, b"!");
    assert_eq!(fs::read(&path).unwrap(), b"first!");
}

#[test]
fn a_failed_append_does_not_move_the_end() {
    let mut file = AppendFile::open_or_create(Path::new("/dev/full")).unwrap();
    assert!(file.append(b"x").unwrap_err().is_out_of_space());
    assert_eq!(file.len(), 0);
}

#[test]
fn the_second_lock_names_the_first() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("LOCK");
    let first = DirectoryLock::acquire(&path).unwrap();
    match DirectoryLock::acquire(&path).unwrap_err() {
        LockError::Held { path: named, holder } => {
            assert_eq!(named, path);
            assert!(holder.starts_with(&format!("pid={} started=", process::id())), "{holder}");
        }
        error @ LockError::File(_) => panic!("{error}"),
    }
    drop(first);
    assert!(path.exists(), "the lock file is never unlinked");
    let again = DirectoryLock::acquire(&path).unwrap();
    assert_eq!(again.path(), path);
}

#[test]
fn a_holder_without_a_label_or_with_a_strange_one_is_shown_safely() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("LOCK");
    let holder = |content: &[u8]| {
        let lock = DirectoryLock::acquire(&path).unwrap();
        fs::write(&path, content).unwrap();
        let Err(LockError::Held { holder, .. }) = DirectoryLock::acquire(&path) else {
            panic!("two holders");
        };
        drop(lock);
        holder
    };
    assert_eq!(holder(b""), "unknown");
    assert_eq!(holder(b"\x1b[2Jpid=1\nmore"), "?[2Jpid=1");
    assert_eq!(holder(&[b'a'; 5000]).len(), 100);
}

#[test]
fn a_killed_holder_leaves_no_lock() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("LOCK");
    let mut child = victim(root.path());
    wait_until(|| matches!(DirectoryLock::acquire(&path), Err(LockError::Held { .. })));
    child.kill().unwrap();
    child.wait().unwrap();
    DirectoryLock::acquire(&path).unwrap();
}

#[test]
fn a_writer_killed_at_any_moment_leaves_whole_files() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("state");
    for round in 0..20_u64 {
        let mut child = victim(root.path());
        wait_until(|| path.exists());
        thread::sleep(Duration::from_micros(700 * (round % 7) + 131 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let content = fs::read(&path).unwrap();
        assert_eq!(content.len(), VICTIM_BYTES, "round {round}");
        assert!(content.iter().all(|byte| *byte == content[0]), "round {round}: torn");
        let temporaries = remove_stale_temporaries(root.path()).unwrap();
        assert!(temporaries <= 1, "{temporaries}");
        assert_eq!(names(root.path()), ["LOCK", "state"]);
        remove_file(&path).unwrap();
    }
}

/// Not a test of its own: what the child processes of the two tests above run. It holds the lock and
/// replaces a file with ever other bytes until it is killed.
#[test]
fn victim_process() {
    let Some(directory) = env::var_os(VICTIM_DIRECTORY) else { return };
    let directory = Path::new(&directory);
    let _lock = DirectoryLock::acquire(&directory.join("LOCK")).unwrap();
    let parent_is_gone = Instant::now() + Duration::from_secs(30);
    for byte in (0..=255).cycle() {
        write_replace(&directory.join("state"), &vec![byte; VICTIM_BYTES]).unwrap();
        if Instant::now() > parent_is_gone {
            return;
        }
    }
}

const VICTIM_BYTES: usize = 300_000;
const VICTIM_DIRECTORY: &str = "ANCHORLOG_TEST_DURABLE_VICTIM";

fn victim(directory: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "durable::tests::victim_process"])
        .env(VICTIM_DIRECTORY, directory)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < give_up, "waited ten seconds in vain");
        thread::sleep(Duration::from_millis(1));
    }
}
