//! Small files that ask for much: refused soon, and without giving what they ask for.
//!
//! Each is opened and evaluated by a child process, which says what it found and how much memory it had at
//! most; the parent has written the files, so that the child's memory is the evaluation's own.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_verifier::gad::container::Bundle;
use tempfile::TempDir;

use crate::gad_world::{Files, completed, defended, evaluation, policy};

/// Says to the child what to open.
const BOMB: &str = "ANCHORLOG_TEST_BOMB";

/// In a process of its own: evaluates, and prints codes and memory.
#[test]
fn child() {
    let Some(path) = std::env::var_os(BOMB) else { return };
    let policy = anchorlog_proto::json::canonical(&policy().to_value());
    let bundle = Bundle::open(Path::new(&path), &Limits::DEFAULT);
    let report = evaluation(&bundle, Some(&policy), &[], 2);
    assert!(!report.statuses.valid() && report.to_json().len() < 64 << 20);
    let mut codes: Vec<_> =
        report.findings.list().iter().map(|finding| finding.code.to_string()).collect();
    codes.dedup();
    codes.truncate(20);
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    println!("found: {}", codes.join(" "));
    println!("peak: {}", peak.split_whitespace().nth(1).unwrap());
}

/// What became of one.
struct Outcome {
    codes: String,
    /// The most memory it had, in MiB.
    peak: u64,
    took: Duration,
}

impl Outcome {
    /// The evaluation ended with this code, within these bounds.
    #[track_caller]
    fn is(&self, code: &str, mebibytes: u64, seconds: u64) {
        let Self { codes, peak, took } = self;
        println!("{code}: {peak} MiB, {took:?}; {codes}");
        assert!(codes.split(' ').any(|found| found == code), "{code} isn't in {codes}");
        assert!(*peak <= mebibytes, "{code}: {peak} MiB");
        assert!(*took <= Duration::from_secs(seconds), "{code}: {took:?}");
    }
}

fn explode(path: &Path) -> Outcome {
    let started = Instant::now();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "gad_properties::bombs::child", "--nocapture", "--test-threads=1"])
        .env(BOMB, path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    // The harness begins the line.
    let line = |name: &str| {
        let (_, rest) = text.split_once(name).unwrap();
        rest.lines().next().unwrap()
    };
    Outcome {
        codes: line("found: ").to_owned(),
        peak: line("peak: ").parse::<u64>().unwrap() / 1024,
        took: started.elapsed(),
    }
}

/// The sample in a directory, with a file of it written by `write`.
fn sample_with(path: &str, write: impl FnOnce(&mut dyn Write)) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files: Files = defended(&completed(), Seal::Final).files;
    for (path, bytes) in files {
        put(folder.path(), &path, |file| file.write_all(&bytes).unwrap());
    }
    put(folder.path(), path, write);
    folder
}

fn put(root: &Path, path: &str, write: impl FnOnce(&mut dyn Write)) -> PathBuf {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = BufWriter::new(File::create(&path).unwrap());
    write(&mut file);
    file.flush().unwrap();
    path
}

/// A ustar header of this path, size as its twelve octal digits.
fn header(path: &str, size: &[u8; 12]) -> [u8; 512] {
    let mut block = [0; 512];
    block[..path.len()].copy_from_slice(path.as_bytes());
    block[100..108].copy_from_slice(b"0000644\0");
    block[124..136].copy_from_slice(size);
    block[148..156].fill(b' ');
    block[156] = b'0';
    block[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

const NOTHING: &[u8; 12] = b"00000000000\0";

#[test]
fn archives_that_claim_much() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let huge = put(root, "huge.tar", |file| {
        file.write_all(&header("core/plan.json", b"77777777777\0")).unwrap();
    });
    explode(&huge).is("IN.LIMIT_BYTES", 64, 20);
    // Each within its own limit; nothing of them is there.
    let claimed = put(root, "claimed.tar", |file| {
        file.write_all(&header("core/plan.json", b"01777777777\0")).unwrap();
    });
    explode(&claimed).is("IN.OPEN", 64, 20);
    let many = put(root, "many.tar", |file| {
        for number in 0..=Limits::DEFAULT.members {
            file.write_all(&header(&format!("core/artifacts/{number}"), NOTHING)).unwrap();
        }
    });
    explode(&many).is("IN.LIMIT_COUNT", 128, 60);
    // Directories are nothing a bundle has, however many.
    let kinds = put(root, "kinds.tar", |file| {
        for _ in 0..90_000 {
            let mut block = header("d", NOTHING);
            block[156] = b'5';
            let sum: u32 = block[..148].iter().chain(&block[156..]).map(|b| u32::from(*b)).sum();
            block[148..156].copy_from_slice(format!("{:06o}\0 ", sum + 8 * 32).as_bytes());
            file.write_all(&block).unwrap();
        }
    });
    explode(&kinds).is("IN.NOT_REGULAR", 128, 60);
}

#[test]
fn witnesses_that_never_end() {
    let tiny = sample_with("core/witness.jsonl", |file| {
        for _ in 0..10_000 {
            file.write_all(&b"{}\n".repeat(1000)).unwrap();
        }
    });
    explode(tiny.path()).is("IN.LIMIT_COUNT", 64, 60);
    let blank = sample_with("core/witness.jsonl", |file| {
        for _ in 0..10_000 {
            file.write_all(&b"\n".repeat(1000)).unwrap();
        }
    });
    explode(blank.path()).is("IN.LIMIT_COUNT", 128, 60);
    let one = sample_with("core/witness.jsonl", |file| {
        for _ in 0..256 {
            file.write_all(&vec![b'['; 1 << 20]).unwrap();
        }
    });
    explode(one.path()).is("IN.LIMIT_LINE", 128, 60);
    let deep = sample_with("core/witness.jsonl", |file| {
        for _ in 0..1000 {
            file.write_all(&b"[".repeat(100_000)).unwrap();
            file.write_all(b"\n").unwrap();
        }
    });
    explode(deep.path()).is("J.DEPTH", 128, 60);
}

#[test]
fn documents_that_go_deep_or_on_and_on() {
    for path in ["core/manifest.json", "core/plan.json", "core/operator.json", "envelope.json"] {
        let deep = sample_with(path, |file| file.write_all(&b"[".repeat(100_000)).unwrap());
        explode(deep.path()).is("J.DEPTH", 64, 20);
    }
    for (path, code) in [
        ("core/claims.json", "J.DEPTH"),
        ("core/artifacts/evidence", "R1.MANIFEST.HASH"),
        ("attestations/q.json", "ATT.FORM"),
        ("anchors/root.json", "ANC.PRESENT_INVALID"),
    ] {
        let deep = sample_with(path, |file| file.write_all(&b"{\"a\":".repeat(100_000)).unwrap());
        explode(deep.path()).is(code, 64, 20);
    }
}

#[test]
fn a_million_anchors() {
    let row = |number: u32| {
        let digest = format!("sha256:{number:064x}");
        format!(
            r#"{{"digest":"{digest}","kind":"core_root","path":"anchors/{number:07}","target":"{digest}","type":"tlog"}}"#
        )
    };
    let many = sample_with("envelope.json", |file| {
        file.write_all(br#"{"anchors":["#).unwrap();
        for number in 0..1_000_000 {
            let comma = if number == 0 { "" } else { "," };
            write!(file, "{comma}{}", row(number)).unwrap();
        }
        file.write_all(br#"],"attestations":[],"schema":"gad.envelope-manifest/1"}"#).unwrap();
    });
    explode(many.path()).is("IN.LIMIT_COUNT", 700, 60);
}

#[test]
fn a_document_of_nothing_but_numbers() {
    let numbers = |file: &mut dyn Write| {
        file.write_all(b"[0").unwrap();
        for _ in 0..120 {
            file.write_all(&b",0".repeat(1 << 20)).unwrap();
        }
        file.write_all(b"]").unwrap();
    };
    for path in ["core/manifest.json", "core/plan.json", "core/operator.json", "envelope.json"] {
        explode(sample_with(path, numbers).path()).is("IN.LIMIT_COUNT", 450, 60);
    }
}
