//! What EVALUATE costs, from a thousand entries to a million, beside one hash over all bytes and the check of
//! every signature on as many threads; how much memory it takes; and how it grows on records made to be
//! expensive.
//!
//! `gad [runs] [hostile]`, by default both. `ANCHORLOG_BENCH_GAD_ENTRIES` is the longest run (1,000,000),
//! `ANCHORLOG_BENCH_DIR` where records are written. Memory is that of a process of its own, which is this
//! program called with `evaluate FOLDER THREADS`.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a benchmark builds its own inputs, prints its figures and fails by panicking"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anchorlog_tests::gad_load::hostile::{CASES, MAX_NODES};
use anchorlog_tests::gad_load::measure::{self, Bare};
use anchorlog_tests::gad_load::run;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments {
        [] => {
            runs();
            hostiles();
        }
        ["runs"] => runs(),
        ["hostile"] => hostiles(),
        ["write", folder, entries] => {
            println!("{:?}", run::write(Path::new(folder), entries.parse().unwrap()));
        }
        ["evaluate", folder, threads] => {
            let (took, report) = measure::run(Path::new(folder), threads.parse().unwrap());
            println!("{} {}", took.as_nanos(), measure::peak_memory());
            println!("{} {}", report.statuses.valid(), measure::codes(&report));
        }
        ["loop", folder, threads, rounds] => {
            for _ in 0..rounds.parse().unwrap() {
                let (took, _) = measure::run(Path::new(folder), threads.parse().unwrap());
                println!("{:.1} ms", millis(took));
            }
        }
        _ => panic!("usage: gad [runs | hostile]"),
    }
}

/// A folder for one record, empty.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let base =
            std::env::var_os("ANCHORLOG_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let path = base.join(format!("anchorlog-gad-{}-{name}", std::process::id()));
        let _gone = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

fn runs() {
    let most = std::env::var("ANCHORLOG_BENCH_GAD_ENTRIES")
        .map_or(1_000_000, |text| text.parse().unwrap());
    let cores = std::thread::available_parallelism().unwrap().get();
    println!(
        "{:>9} {:>7} {:>7} {:>7} {:>10} {:>10} {:>10} {:>10} {:>6} {:>9} {:>6} {:>8} {:>7}",
        "entries",
        "signed%",
        "B/entry",
        "threads",
        "eval min",
        "eval med",
        "bare min",
        "bare med",
        "ratio",
        "ns/entry",
        "MB/s",
        "peak MB",
        "B/entry"
    );
    let mut idle = 0;
    for entries in
        [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|entries| *entries <= most)
    {
        let scratch = Scratch::new(&entries.to_string());
        let written = run::write(&scratch.0, entries);
        let bare = Bare::load(&scratch.0);
        let rounds = if entries >= 1_000_000 { 5 } else { 15 };
        let mut threads = vec![1, cores];
        threads.dedup();
        for threads in threads {
            let mut times = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                let (took, report) = measure::run(&scratch.0, threads);
                assert!(
                    report.statuses.valid() && report.statuses.satisfied(),
                    "{}",
                    measure::codes(&report)
                );
                times.0.push(took);
                times.1.push(bare.run(threads));
            }
            let (_, peak) = alone(&scratch.0, threads);
            if idle == 0 {
                idle = peak;
            }
            let [ours, bare] = [times.0, times.1].map(sorted);
            #[allow(
                clippy::cast_precision_loss,
                clippy::as_conversions,
                reason = "figures for people"
            )]
            let [count, signed, bytes, peak_bytes, more] =
                [written.entries, written.signed, written.bytes, peak, peak.saturating_sub(idle)]
                    .map(|figure| figure as f64);
            println!(
                "{:>9} {:>7.1} {:>7.0} {threads:>7} {:>10.1} {:>10.1} {:>10.1} {:>10.1} {:>6.2} {:>9.0} {:>6.0} {:>8.1} {:>7.0}",
                written.entries,
                100.0 * signed / count,
                bytes / count,
                millis(ours.0),
                millis(ours.1),
                millis(bare.0),
                millis(bare.1),
                ours.1.as_secs_f64() / bare.1.as_secs_f64(),
                ours.0.as_secs_f64() * 1e9 / count,
                bytes / ours.0.as_secs_f64() / 1e6,
                peak_bytes / 1e6,
                more / count,
            );
        }
    }
}

fn hostiles() {
    println!(
        "\n{:<24} {:>9} {:<10} {:>9} {:>9} {:>7} {:>8}",
        "hostile", "size", "of", "ms", "ns/unit", "ns/byte", "peak MB"
    );
    let only = std::env::var("ANCHORLOG_BENCH_GAD_CASE").unwrap_or_default();
    for case in CASES.iter().filter(|case| case.name.contains(&only)) {
        for size in [case.size / 10, case.size] {
            let scratch = Scratch::new(case.name);
            let written = (case.write)(&scratch.0, size, MAX_NODES);
            let plan = std::fs::metadata(scratch.0.join("plan.json")).unwrap().len();
            let runs = (0..3).map(|_| alone(&scratch.0, 1));
            let (took, peak) = runs.min().unwrap();
            #[allow(
                clippy::cast_precision_loss,
                clippy::as_conversions,
                reason = "figures for people"
            )]
            let [units, bytes, peak] =
                [size, written.bytes + plan, peak].map(|figure| figure as f64);
            let nanos = took.as_secs_f64() * 1e9;
            println!(
                "{:<24} {size:>9} {:<10} {:>9.1} {:>9.0} {:>7.1} {:>8.1}",
                case.name,
                case.unit,
                millis(took),
                nanos / units,
                nanos / bytes,
                peak / 1e6
            );
        }
    }
}

/// Time and peak memory of a process that only evaluates.
fn alone(folder: &Path, threads: usize) -> (Duration, u64) {
    let output = Command::new(std::env::current_exe().unwrap())
        .arg("evaluate")
        .arg(folder)
        .arg(threads.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut figures = text.split_whitespace().map(|figure| figure.parse::<u64>().unwrap());
    (Duration::from_nanos(figures.next().unwrap()), figures.next().unwrap())
}

/// The shortest and the middle one.
fn sorted(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    (times[0], times[times.len() / 2])
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
