#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests make files and may fail loudly"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use anchorlog_proto::checkpoint::{Checkpoint, SignedCheckpoint};
use anchorlog_proto::cosignature;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::{KeyName, NoteSigner};

use super::*;
use crate::log_keys::LogKeys;

fn keys(name: &str, seed: u8) -> LogKeys {
    NoteSigner::from_seed(KeyName::new(name).unwrap(), [seed; 32]).into()
}

fn ours() -> LogKeys {
    keys("log.example", 1)
}

fn root_of(size: u64) -> Digest {
    if size == 0 { anchorlog_proto::merkle::empty_root() } else { Digest::of(&size.to_be_bytes()) }
}

fn note(keys: &LogKeys, size: u64, root: Digest) -> SignedCheckpoint {
    let size = TreeSize::new(size).unwrap();
    keys.sign(&Checkpoint::new(keys.origin().unwrap(), size, root)).unwrap()
}

fn known(size: u64, root: Digest) -> Known {
    let checkpoint = note(&ours(), size, root).verify_any(&ours().known()).unwrap();
    Known { source: "somebody".to_owned(), checkpoint }
}

fn compared(directory: &Path, size: u64, known: &[Known]) -> Result<(), GuardError> {
    let checkpoint = note(&ours(), size, root_of(size));
    let size = TreeSize::new(size).unwrap();
    let ours = Ours { directory, checkpoint: Some(&checkpoint), size };
    compare(&ours, known, |size| Ok::<_, Box<GuardError>>(root_of(size.get())))
        .map_err(|error| *error)
}

fn sources(directories: &[&Path]) -> Sources {
    let asked = directories
        .iter()
        .map(|path| Source::Mirror(Place::Directory(path.to_path_buf())))
        .collect();
    Sources {
        asked,
        witnesses: None,
        checkpoint_file: None,
        min_size: 0,
        require: 0,
        timeout: Duration::from_secs(2),
    }
}

#[test]
fn what_the_log_extends_is_fine_and_anything_else_is_kept_as_evidence() {
    let data = tempfile::tempdir().unwrap();
    let known_sizes = [known(0, root_of(0)), known(4, root_of(4)), known(7, root_of(7))];
    compared(data.path(), 7, &known_sizes).unwrap();
    assert!(!data.path().join(FOLDER).exists());

    let error = compared(data.path(), 7, &[known(8, root_of(8))]).unwrap_err();
    assert_eq!(error.code(), "LOG.ROLLBACK");
    let GuardError::Behind { known: 8, size: 7, evidence, .. } = &error else { panic!("{error}") };
    let kept = evidence.directory().unwrap();
    let shown = fs::read(kept.join("shown.note")).unwrap();
    assert_eq!(shown, note(&ours(), 8, root_of(8)).to_bytes());
    assert_eq!(fs::read(kept.join("ours.note")).unwrap(), note(&ours(), 7, root_of(7)).to_bytes());
    assert!(error.to_string().contains(&kept.display().to_string()), "{error}");

    for size in [4, 7] {
        let error = compared(data.path(), 7, &[known(size, Digest::of(b"other"))]).unwrap_err();
        assert_eq!(error.code(), "LOG.SPLIT_VIEW", "{error}");
    }
    // Found again, it is kept once.
    compared(data.path(), 7, &[known(8, root_of(8))]).unwrap_err();
    assert_eq!(fs::read_dir(data.path().join(FOLDER)).unwrap().count(), 3);
}

#[test]
fn only_what_this_log_has_signed_counts() {
    let [good, foreign, forged, empty] = [(); 4].map(|()| tempfile::tempdir().unwrap());
    let write = |directory: &tempfile::TempDir, note: SignedCheckpoint| {
        fs::write(directory.path().join("checkpoint"), note.to_bytes()).unwrap();
    };
    write(&good, note(&ours(), 5, root_of(5)));
    write(&foreign, note(&keys("other.example", 1), 500, root_of(500)));
    write(&forged, note(&keys("log.example", 2), 600, root_of(600)));
    let missing = empty.path().join("missing");
    let mut sources =
        sources(&[good.path(), foreign.path(), forged.path(), empty.path(), &missing]);
    let held = note(&ours(), 5, root_of(5));
    let held = Some(&held);
    let known = sources.ask(&ours(), held).unwrap();
    assert_eq!(known.len(), 1);
    assert_eq!(known[0].checkpoint.checkpoint().size.get(), 5);

    sources.require = 1;
    sources.ask(&ours(), held).unwrap();
    sources.require = 2;
    let error = sources.ask(&ours(), held).unwrap_err();
    let GuardError::TooFew { answered: 1, asked: 5, required: 2, reasons } = &error else {
        panic!("{error}")
    };
    assert_eq!(reasons.len(), 4, "{error}");
    assert!(error.to_string().contains("600 entries"), "an unverifiable claim is told: {error}");
    // A log that is only founded is known to nobody, and a mirror that is there says so.
    sources.ask(&ours(), None).unwrap();
}

#[test]
fn what_was_pinned_counts_or_nothing_starts() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pinned");
    let mut sources = Sources { checkpoint_file: Some(file.clone()), ..sources(&[]) };
    let held = note(&ours(), 5, root_of(5));
    let held = Some(&held);
    assert!(matches!(sources.ask(&ours(), held), Err(GuardError::Pin { .. })));
    fs::write(&file, note(&keys("log.example", 2), 3, root_of(3)).to_bytes()).unwrap();
    assert!(matches!(sources.ask(&ours(), held), Err(GuardError::PinForm { .. })));
    fs::write(&file, note(&ours(), 3, root_of(3)).to_bytes()).unwrap();
    assert_eq!(sources.ask(&ours(), held).unwrap().len(), 1);
    sources.min_size = 6;
    let error = sources.ask(&ours(), held).unwrap_err();
    assert!(matches!(error, GuardError::BelowMinimum { least: 6, size: 5 }), "{error}");
}

#[test]
fn witnesses_are_asked_where_they_show_what_they_cosigned() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy");
    let sources = Sources { witnesses: Some(file.clone()), require: 1, ..sources(&[]) };
    assert!(matches!(sources.ask(&ours(), None), Err(GuardError::Policy { .. })));
    fs::write(&file, "witness w nonsense\nquorum w\n").unwrap();
    assert!(matches!(sources.ask(&ours(), None), Err(GuardError::PolicyForm { .. })));

    // Nobody listens at this port; who was asked, and for what, shows in the reason.
    let witness = keys("witness.example", 9);
    let cosigner = cosignature::cosigner_from_note_key(witness.primary().unwrap());
    fs::write(&file, format!("witness w {cosigner} http://127.0.0.1:9/w/\nquorum w\n")).unwrap();
    let error = sources.ask(&ours(), None).unwrap_err();
    let log = Digest::of(b"log.example").to_hex();
    assert!(matches!(error, GuardError::TooFew { answered: 0, asked: 1, .. }), "{error}");
    assert!(error.to_string().contains(&format!("http://127.0.0.1:9/w/{log}")), "{error}");
}

/// A witness that shows nothing and answers `status` to what it is offered; where it is.
fn witness_that_says(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut bytes = [0; 4096];
            let is_get = |request: &[u8]| request.starts_with(b"GET");
            // A note ends with a line of base64 and an end of line.
            let is_whole = |request: &[u8]| {
                let ends: &[u8] = if is_get(request) { b"\r\n\r\n" } else { b"=\n" };
                request.ends_with(ends)
            };
            while !is_whole(&request) {
                match stream.read(&mut bytes).unwrap() {
                    0 => break,
                    read => request.extend_from_slice(&bytes[..read]),
                }
            }
            let answer =
                if is_get(&request) { "404 Not Found\r\nContent-Length: 0" } else { status };
            let (head, body) = answer.split_once('|').unwrap_or((answer, ""));
            let _ = write!(stream, "HTTP/1.1 {head}\r\nConnection: close\r\n\r\n{body}");
        }
    });
    format!("http://{address}")
}

#[test]
fn a_witness_that_only_says_what_it_knows_is_taken_at_its_word() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy");
    let sources = Sources { witnesses: Some(file.clone()), require: 1, ..sources(&[]) };
    let witness = keys("witness.example", 9);
    let cosigner = cosignature::cosigner_from_note_key(witness.primary().unwrap());
    let held = note(&ours(), 7, root_of(7));
    let says = |status| {
        let url = witness_that_says(status);
        fs::write(&file, format!("witness w {cosigner} {url}\nquorum w\n")).unwrap();
        sources.ask(&ours(), Some(&held)).map(|known| known.len())
    };
    let behind = says("409 Conflict\r\nContent-Type: text/x.tlog.size\r\nContent-Length: 2|8\n")
        .unwrap_err();
    assert!(matches!(behind, GuardError::Witness { known: Some(8), size: 7, .. }), "{behind}");
    assert_eq!(behind.code(), "LOG.ROLLBACK");
    let other = says("422 Unprocessable\r\nContent-Length: 0").unwrap_err();
    assert!(matches!(other, GuardError::Witness { known: None, size: 7, .. }), "{other}");
    assert_eq!(other.code(), "LOG.SPLIT_VIEW");
    // It has seen less, which is nothing against the log; or it doesn't know it.
    assert_eq!(
        says("409 Conflict\r\nContent-Type: text/x.tlog.size\r\nContent-Length: 2|3\n").unwrap(),
        0
    );
    let unknown = says("404 Not Found\r\nContent-Length: 0").unwrap_err();
    assert!(matches!(unknown, GuardError::TooFew { answered: 0, .. }), "{unknown}");
}
