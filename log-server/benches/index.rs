//! Load, look-up and reopening of the index engines on our own rows, side by side.
//!
//! `cargo bench -p anchorlog-server --bench index` runs every engine at a million entries. More by
//! environment:
//!
//! * `ANCHORLOG_BENCH_ENTRIES=1000000,10000000`: the sizes;
//! * `ANCHORLOG_BENCH_ENGINES=fjall,redb,sled`: the engines (sled needs `--features sled`);
//! * `ANCHORLOG_BENCH_LOADS=plain,full`: digests alone, or entries with trail, sequence and signer;
//! * `ANCHORLOG_BENCH_BATCH=4096`: entries in a batch;
//! * `ANCHORLOG_BENCH_MEMORY=256`: MiB an index may use;
//! * `ANCHORLOG_BENCH_DIR`: where, by default below `target`; not a tmpfs, if the figures are to mean much.
//!
//! Every measurement runs in a process of its own, so that its peak memory and processor time are its own.
//! Wall-clock figures depend on what else the machine does; processor time per entry and the ratios within
//! one run much less so, and these are what the decision page quotes first.

#![allow(
    missing_docs,
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program: it stops at the first surprise and prints what it found"
)]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_proto::statement::StatementKind;
use anchorlog_server::index::{Engine, IndexedEntry, Options, conformance, open};

fn main() {
    let arguments: Vec<String> = env::args().collect();
    // What the parent hands to the processes it measures.
    if arguments.get(1).map(String::as_str) == Some(CHILD) {
        let options = Options {
            directory: PathBuf::from(&arguments[5]),
            memory: number("ANCHORLOG_BENCH_MEMORY", 256) << 20,
        };
        let engine = arguments[3].parse().expect("engine");
        let load = Load::named(&arguments[4]);
        match arguments[2].as_str() {
            "load" => load_child(engine, load, &options, arguments[6].parse().expect("entries")),
            "reopen" => reopen_child(engine, &options),
            "hang" => hang_child(engine, load, &options),
            other => panic!("unknown measurement {other}"),
        }
        return;
    }
    // Under `cargo test` the bench only shows that it works.
    let smoke = arguments.iter().any(|argument| argument == "--test");
    let sizes = list("ANCHORLOG_BENCH_ENTRIES", if smoke { "20000" } else { "1000000" });
    let root = env::var_os("ANCHORLOG_BENCH_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from)
        .join(format!("bench-index-{}", std::process::id()));
    for size in sizes {
        for load in list("ANCHORLOG_BENCH_LOADS", "full,plain") {
            let mut table = Vec::new();
            for engine in list("ANCHORLOG_BENCH_ENGINES", "fjall,redb") {
                let directory = root.join(format!("{engine}-{load}-{size}"));
                table.push((engine.clone(), measure(&engine, &load, &size, &directory)));
                fs::remove_dir_all(&directory).expect("clean up");
            }
            print_table(&size, &load, &table);
        }
    }
    let _ = fs::remove_dir_all(root);
}

type Figures = BTreeMap<String, f64>;

fn measure(engine: &str, load: &str, size: &str, directory: &Path) -> Figures {
    let mut figures = run("load", engine, load, directory, size);
    let clean = run("reopen", engine, load, directory, size);
    figures.insert("reopen_clean_ms".into(), clean["reopen_ms"]);
    // Half a second of writing, then no chance to close anything.
    let mut child = child("hang", engine, load, directory, size).spawn().expect("spawn");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("ready");
    child.kill().expect("kill -9");
    child.wait().expect("wait");
    let reached: f64 = line.trim().parse().expect("the size that was reached");
    let killed = run("reopen", engine, load, directory, size);
    figures.insert("reopen_killed_ms".into(), killed["reopen_ms"]);
    figures.insert("killed_lost_entries".into(), reached - killed["entries"]);
    figures
}

fn child(what: &str, engine: &str, load: &str, directory: &Path, size: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("own path"));
    command.args([CHILD, what, engine, load]).arg(directory).arg(size).stdout(Stdio::piped());
    command
}

fn run(what: &str, engine: &str, load: &str, directory: &Path, size: &str) -> Figures {
    let output = child(what, engine, load, directory, size).output().expect("run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(name, value)| (name.to_owned(), value.parse().expect("number"))).collect()
}

fn print_table(size: &str, load: &str, table: &[(String, Figures)]) {
    print!("\n{size} entries, load {load}\n{:28}", "");
    for (engine, _) in table {
        print!("{engine:>12}");
    }
    println!("{:>10}", if table.len() > 1 { "2nd/1st" } else { "" });
    let Some((_, first)) = table.first() else {
        return;
    };
    for name in first.keys() {
        print!("{name:28}");
        for (_, figures) in table {
            print!("{:>12.2}", figures[name]);
        }
        match table.get(1) {
            Some((_, second)) if first[name] != 0.0 => {
                println!("{:>10.2}", second[name] / first[name]);
            }
            _ => println!(),
        }
    }
}

/// Fills an index and looks things up in it.
fn load_child(engine: Engine, load: Load, options: &Options, entries: u64) {
    let index = open(engine, options).expect("open");
    let batch = number("ANCHORLOG_BENCH_BATCH", 4_096);
    let mut writing = Duration::ZERO;
    let mut tenths = Vec::new();
    let mut slowest = Duration::ZERO;
    let mut made = 0.0;
    let mut tenth = (Duration::ZERO, 0);
    while index.indexed_size() < entries {
        let first = index.indexed_size();
        // What it costs to think up the entries is not the index's cost.
        let before = processor_seconds("thread-self");
        let rows = load.entries(first, batch.min(entries - first));
        made += processor_seconds("thread-self") - before;
        let start = Instant::now();
        index.append(first, &rows).expect("append");
        let took = start.elapsed();
        writing += took;
        slowest = slowest.max(took);
        if index.indexed_size() >= (tenths.len() as u64 + 1) * entries / 10 {
            let rate = (index.indexed_size() - tenth.1) as f64
                / writing.saturating_sub(tenth.0).as_secs_f64();
            tenths.push(rate);
            tenth = (writing, index.indexed_size());
        }
    }
    let start = Instant::now();
    index.sync().expect("sync");
    print("sync_ms", millis(start.elapsed()));
    print("load_entries_per_s", entries as f64 / writing.as_secs_f64());
    print("load_first_tenth_per_s", tenths[0]);
    print("load_last_tenth_per_s", tenths[9]);
    print("load_slowest_batch_ms", millis(slowest));
    print("load_rows_per_entry", index.row_count() as f64 / entries as f64);
    let per_entry = |seconds: f64| seconds * 1e6 / entries as f64;
    print("cpu_us_per_entry_load", per_entry(processor_seconds("self") - made));
    print("cpu_us_per_entry_writer", per_entry(processor_seconds("thread-self") - made));
    print("peak_rss_mib_load", peak_mib());
    // Background work goes on after the last batch; look-ups are measured after it.
    settle();
    print("cpu_us_per_entry_settled", per_entry(processor_seconds("self") - made));
    print("disk_bytes_per_entry", disk_bytes(&options.directory) as f64 / entries as f64);

    let looks: u64 = 100_000.min(entries);
    measured("find_leaf_miss", looks, |n| {
        let digest = Digest::of(&n.to_le_bytes());
        assert_eq!(index.find_leaf(StatementKind::Digest, &digest, &digest).expect("find"), None);
    });
    let step = entries / looks;
    let sample: Vec<IndexedEntry> =
        (0..looks).flat_map(|n| load.entries(scatter(n, looks) * step, 1)).collect();
    measured("find_leaf_hit", looks, |n| {
        let entry = &sample[usize::try_from(n).unwrap()];
        let found = index.find_leaf(entry.kind, &entry.digest, &entry.leaf_hash).expect("find");
        assert_eq!(found, Some(entry.index));
    });
    measured("by_digest", looks / 10, |n| {
        let entry = &sample[usize::try_from(n).unwrap()];
        let page = index.by_digest(&entry.digest, None, None, 10).expect("find");
        assert!(page.items.iter().any(|posting| posting.index == entry.index));
    });
    if load == Load::Full {
        measured("by_trail_page", looks / 10, |n| {
            let trail = sample[usize::try_from(n).unwrap()].trail.as_ref().unwrap();
            assert!(!index.by_trail(trail, 0, 100).expect("list").items.is_empty());
        });
        measured("by_trail_sequence", looks / 10, |n| {
            let entry = &sample[usize::try_from(n).unwrap()];
            let (trail, place) = (entry.trail.as_ref().unwrap(), entry.sequence.unwrap());
            assert!(!index.by_trail_sequence(trail, place, 0, 10).expect("list").items.is_empty());
        });
        measured("by_submitter_page", looks / 100, |n| {
            let signer = sample[usize::try_from(n).unwrap()].signer.as_ref().unwrap();
            assert!(!index.by_submitter(signer, 0, 100).expect("list").items.is_empty());
        });
    }
    let start = Instant::now();
    let fingerprint = index.fingerprint().expect("scan");
    assert_eq!(fingerprint.rows(), index.row_count());
    print("scan_rows_per_s", fingerprint.rows() as f64 / start.elapsed().as_secs_f64());
    print("peak_rss_mib", peak_mib());
    let start = Instant::now();
    drop(index);
    print("close_ms", millis(start.elapsed()));
}

fn reopen_child(engine: Engine, options: &Options) {
    let start = Instant::now();
    let index = open(engine, options).expect("reopen");
    print("reopen_ms", millis(start.elapsed()));
    print("entries", index.indexed_size() as f64);
}

fn hang_child(engine: Engine, load: Load, options: &Options) {
    let index = open(engine, options).expect("open");
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) {
        let first = index.indexed_size();
        index.append(first, &load.entries(first, 1_000)).expect("append");
    }
    println!("{}", index.indexed_size());
    thread::sleep(Duration::from_mins(10));
}

/// What the entries look like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Load {
    /// Trail, sequence and signer on every entry: four rows each.
    Full,
    /// A digest and nothing else: one row each.
    Plain,
}

impl Load {
    fn named(name: &str) -> Self {
        match name {
            "full" => Self::Full,
            "plain" => Self::Plain,
            other => panic!("unknown load {other}"),
        }
    }

    fn entries(self, first: u64, count: u64) -> Vec<IndexedEntry> {
        let mut entries: Vec<_> = (first..first + count).map(conformance::distinct_entry).collect();
        if self == Self::Plain {
            for entry in &mut entries {
                entry.kind = StatementKind::Digest;
                entry.trail = None;
                entry.sequence = None;
                entry.signer = None;
            }
        }
        entries
    }
}

const CHILD: &str = "--measure";

fn list(name: &str, default: &str) -> Vec<String> {
    let text = env::var(name).unwrap_or_else(|_| default.to_owned());
    text.split(',').map(str::to_owned).collect()
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect("number"))
}

fn print(name: &str, value: f64) {
    println!("{name} {value}");
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Mean microseconds of `count` calls, by the clock and of this thread's processor time.
fn measured(name: &str, count: u64, mut call: impl FnMut(u64)) {
    let (start, cpu) = (Instant::now(), processor_seconds("thread-self"));
    for n in 0..count {
        call(black_box(n));
    }
    let took = start.elapsed().as_secs_f64();
    print(&format!("{name}_us"), took * 1e6 / count as f64);
    let cpu = processor_seconds("thread-self") - cpu;
    print(&format!("{name}_cpu_us"), cpu * 1e6 / count as f64);
}

/// A permutation of 0..count without the order a cache would like.
fn scatter(n: u64, count: u64) -> u64 {
    n.wrapping_mul(7_919) % count
}

/// Waits until the process uses next to no processor time any more.
fn settle() {
    let mut before = processor_seconds("self");
    for _ in 0..600 {
        thread::sleep(Duration::from_millis(500));
        let now = processor_seconds("self");
        if now - before < 0.02 {
            return;
        }
        before = now;
    }
}

/// Processor time of this process (`self`) or thread (`thread-self`) so far, as the scheduler counts it.
fn processor_seconds(whose: &str) -> f64 {
    let tasks: Vec<PathBuf> = match whose {
        "self" => fs::read_dir("/proc/self/task")
            .expect("proc")
            .map(|task| task.expect("task").path().join("schedstat"))
            .collect(),
        _ => vec![PathBuf::from("/proc/thread-self/schedstat")],
    };
    let nanoseconds = tasks.iter().filter_map(|path| {
        let text = fs::read_to_string(path).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() / 1e9
}

fn peak_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("proc");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("VmHWM");
    line.split_whitespace().nth(1).expect("value").parse::<f64>().expect("number") / 1_024.0
}

/// Blocks in use below a directory: a sparse file counts for what it takes.
fn disk_bytes(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = fs::read_dir(directory).expect("list");
    entries
        .map(|entry| {
            let entry = entry.expect("entry");
            let metadata = entry.metadata().expect("metadata");
            if metadata.is_dir() { disk_bytes(&entry.path()) } else { metadata.blocks() * 512 }
        })
        .sum()
}
