//! Flipped bytes, one at a time, in every file of a stopped log: named by `fsck`, or of no effect at all.
//!
//! The bugs this guards against: a byte that nothing covers, and a check that takes damage for the harmless
//! end of something. "Of no effect" is not taken on trust: such a log is opened, and every entry, hash,
//! checkpoint and look-up must be what it was.
//!
//! `ANCHORLOG_FLIPS` is how many bytes of each kind of file are flipped, evenly spread (150); a file with
//! fewer has all of them flipped. `ANCHORLOG_SEED` repeats a run.

mod copies;
mod fixture;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anchorlog_server::Error;
use anchorlog_server::fsck::{Fault, Report, check_directory};
use anchorlog_server::index::{Engine, IndexError};
use anchorlog_server::keys::LogKey;
use anchorlog_tests::interop::random::Random;
use anchorlog_tests::process::setting;

use self::copies::{Copy, Flip, Image, Scratch};
use self::fixture::{Answers, INDEX_MEMORY, LogFixture};

/// Copies that are worked on at a time.
const WORKERS: usize = 2;

#[test]
fn a_flipped_byte_is_named_or_unused() {
    // Entries, hashes, journal: everything but what the index engine flushes when it has much.
    let most = setting("ANCHORLOG_FLIPS", 150);
    let kinds = tamper(&LogFixture::of(700), most, |_| true);
    for kind in ["wal: records", "log/entries", "log/bundles", "log/level0", "log/level1"] {
        let count = kinds.get(kind).unwrap_or_else(|| panic!("no {kind}"));
        assert_eq!((count.unused, count.named > 0), (0, true), "{kind}: {count:?}");
    }
    // The ends of its three lines may be those of another system: the key stays the same.
    let count = &kinds["key.pem"];
    assert!(count.unused <= 3 && count.named > 0, "{count:?}");
    // All but the first bytes of a sector, where a torn record may begin.
    let count = &kinds["wal: zeros behind them"];
    assert!(count.named > count.unused, "{count:?}");
}

#[test]
fn a_flipped_byte_in_a_table_of_the_index_is_named_or_unused() {
    // So many that the engine has moved rows from its journal to tables; each check takes as much longer.
    let most = setting("ANCHORLOG_FLIPS", 150) / 10;
    let kinds = tamper(&LogFixture::of(30_000), most, |kind| kind.ends_with("tables"));
    for kind in ["index: tables", "index: ends of tables"] {
        let count = &kinds[kind];
        assert!(count.files > 1 && count.named > 0 && count.unused == 0, "{kind}: {count:?}");
    }
}

/// What became of the flips in one kind of file.
#[derive(Clone, Debug, Default)]
struct Count {
    files: usize,
    named: u64,
    unused: u64,
    /// Neither: what, and what was said of it.
    failures: Vec<String>,
}

fn tamper(log: &LogFixture, most: u64, wanted: fn(&str) -> bool) -> BTreeMap<String, Count> {
    let started = Instant::now();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = setting("ANCHORLOG_SEED", u64::from(now.subsec_nanos()));
    println!("ANCHORLOG_SEED={seed}");
    let image = log.image();
    // Named is worth something only if nothing is named without a flip.
    let copies = Copies::of(image);
    let untouched = check(log, &copies.whole).unwrap().unwrap();
    assert!(untouched.is_clean() && untouched.notes.is_empty(), "{untouched:?}");
    assert!(untouched.index_rows.is_some_and(|rows| rows > untouched.entries), "{untouched:?}");
    drop(copies);
    let mut kinds: BTreeMap<String, Count> = BTreeMap::new();
    let flips = flips(image, most, seed, wanted, &mut kinds);
    let work = Mutex::new(flips.into_iter());
    let counted = Mutex::new(kinds);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let copies = Copies::of(image);
                while let Some(flip) = { work.lock().unwrap().next() } {
                    let verdict = judge(log, &copies, &flip);
                    let mut kinds = counted.lock().unwrap();
                    let count = kinds.entry(flip.kind.clone()).or_default();
                    match verdict {
                        Ok(Verdict::Named) => count.named += 1,
                        Ok(Verdict::Unused) => count.unused += 1,
                        Err(what) => count.failures.push(format!("{flip:?}: {what}")),
                    }
                }
            });
        }
    });
    let kinds = counted.into_inner().unwrap();
    println!("{:<28} {:>6} {:>8} {:>8}", "file", "files", "named", "unused");
    for (kind, Count { files, named, unused, .. }) in &kinds {
        println!("{kind:<28} {files:>6} {named:>8} {unused:>8}");
    }
    println!("in {} s", started.elapsed().as_secs());
    let failures: Vec<&String> = kinds.values().flat_map(|count| &count.failures).collect();
    assert!(failures.is_empty(), "{} flips: {failures:#?}", failures.len());
    kinds
}

/// Bytes to flip: so many of each kind, evenly spread over its files, each with bits of its own.
fn flips(
    image: &Image,
    most: u64,
    seed: u64,
    wanted: fn(&str) -> bool,
    kinds: &mut BTreeMap<String, Count>,
) -> Vec<Flip> {
    let mut random = Random::new(seed);
    let mut places: BTreeMap<String, Vec<(String, u64, u64)>> = BTreeMap::new();
    for part in image.parts() {
        if wanted(&part.kind) && part.end > part.start {
            kinds.entry(part.kind.clone()).or_default().files += 1;
            places.entry(part.kind).or_default().push((part.file, part.start, part.end));
        }
    }
    let mut flips = Vec::new();
    for (kind, parts) in places {
        let total: u64 = parts.iter().map(|(_, start, end)| end - start).sum();
        // What nothing reads has to be shown by opening the log, which takes a hundred times as long.
        let idle = kind == "LOCK" || kind == "wal/spare" || kind.contains("zeros");
        let stride = total.div_ceil(if idle { most.div_ceil(10) } else { most }).max(1);
        let mut next = random.below(stride);
        let mut before = 0;
        for (file, start, end) in parts {
            while next < before + (end - start) {
                let offset = start + next - before;
                let bits = u8::try_from(1 + random.below(255)).unwrap();
                flips.push(Flip { kind: kind.clone(), file: file.clone(), offset, bits });
                next += stride;
            }
            before += end - start;
        }
    }
    flips
}

enum Verdict {
    Named,
    Unused,
}

/// The directories that one worker flips bytes in.
struct Copies<'a> {
    /// Without the index, which takes most of the time and has nothing to do with the rest.
    log: Copy<'a>,
    /// With it.
    whole: Copy<'a>,
    /// Both lie in it.
    _scratch: Scratch,
}

impl<'a> Copies<'a> {
    fn of(image: &'a Image) -> Self {
        let scratch = Scratch::new();
        let log = image.copy(&scratch, "log", false);
        let whole = image.copy(&scratch, "whole", true);
        Self { log, whole, _scratch: scratch }
    }
}

fn judge(log: &LogFixture, copies: &Copies<'_>, flip: &Flip) -> Result<Verdict, String> {
    if flip.file == "key.pem" {
        return Ok(judge_key(log, &copies.log, flip));
    }
    let copy = if flip.kind.starts_with("index") { &copies.whole } else { &copies.log };
    copy.flip(flip);
    let checked = check(log, copy);
    copy.restore(flip);
    let report = match checked {
        Ok(Ok(report)) => report,
        Ok(Err(error)) => return Err(format!("fsck gave up: {error}")),
        Err(_) => return Err("fsck panicked".to_owned()),
    };
    if !report.is_clean() {
        let named = report.problems.iter().any(|problem| {
            flip.file.starts_with(&problem.file) || problem.file.starts_with(&flip.file)
        });
        let said: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
        return if named { Ok(Verdict::Named) } else { Err(format!("fsck named {said:?}")) };
    }
    // Not named: then it must be of no effect.
    let whole = &copies.whole;
    whole.flip(flip);
    let answers = Answers::of_directory(whole.path());
    whole.restore_all();
    match answers {
        Ok(answers) if answers == *log.answers() => Ok(Verdict::Unused),
        Ok(_) => Err(format!("fsck is clean and the answers differ; notes: {:?}", report.notes)),
        Err(error) => Err(format!("fsck is clean and the log doesn't open: {error}")),
    }
}

/// Checks a copy, as soon as no lock is in the way. Other tests of this process start programs; until such a
/// child has become its program, it holds whatever was locked when it was made.
fn check(log: &LogFixture, copy: &Copy<'_>) -> thread::Result<Result<Report, Error>> {
    let patience = Instant::now() + PATIENCE;
    loop {
        let checked = catch_unwind(AssertUnwindSafe(|| {
            check_directory(
                copy.path(),
                std::slice::from_ref(log.key()),
                Engine::Fjall,
                INDEX_MEMORY,
                |_, _| {},
            )
        }));
        let locked = match &checked {
            Ok(Err(error)) => matches!(error, Error::Lock(_)),
            Ok(Ok(report)) => report.problems.iter().any(|problem| {
                matches!(problem.fault, Fault::Index { code } if code == IndexError::Locked.code())
            }),
            Err(_) => false,
        };
        if !locked || Instant::now() > patience {
            return checked;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// A private key is named when it can't be read or is another one: the log's signatures say so then.
fn judge_key(log: &LogFixture, copy: &Copy<'_>, flip: &Flip) -> Verdict {
    copy.flip(flip);
    let key = LogKey::load(&copy.path().join("key.pem"));
    copy.restore(flip);
    match key {
        Ok(key) if key.verifier_key(log.key().name()) == *log.key() => Verdict::Unused,
        _ => Verdict::Named,
    }
}

/// How long a log may take to be ready.
const PATIENCE: Duration = Duration::from_secs(30);
