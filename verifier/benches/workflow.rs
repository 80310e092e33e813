//! What `verifier workflow check` costs at RFC 0020's ceilings: an execution record of 8 MiB and a bundle of 65,536
//! files, both to the byte and the file, beside one SHA-256 over all of its bytes read the same way; and how much
//! memory it takes.
//!
//! `ANCHORLOG_BENCH_DIR` is where the bundle is written. Memory is that of a process of its own, which is this
//! program called with `check DIR`.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "a benchmark builds its own inputs, prints its figures and fails by panicking"
)]

#[path = "../../tests/src/workflow/mod.rs"]
mod workflow_world;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_verifier::workflow::{Directory, Expectations, Files as _, Plugs, examine};

use workflow_world::json::{Json, object, text};
use workflow_world::plan::{facts, outcome};
use workflow_world::{Bundle, Plan, Point, Select, StagePlan, Try, generate, honest};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => report(),
        ["check", folder] => {
            let took = check(Path::new(folder));
            println!("{} {}", took.as_nanos(), peak_kibibytes());
        }
        ["hash", folder] => {
            let took = hash(Path::new(folder));
            println!("{} {}", took.as_nanos(), peak_kibibytes());
        }
        _ => panic!("usage: workflow [check DIR | hash DIR]"),
    }
}

fn report() {
    let folder =
        std::env::var_os("ANCHORLOG_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = folder.join(format!("anchorlog-workflow-{}", std::process::id()));
    let bundle = at_the_ceilings();
    let bytes: usize = bundle.files.values().map(Vec::len).sum();
    println!(
        "{} files, {:.1} MiB, execution record of {} bytes",
        bundle.files.len(),
        mebibytes(bytes),
        bundle.files["execution.json"].len()
    );
    for (path, bytes) in &bundle.files {
        let at = folder.join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, bytes).unwrap();
    }
    drop(bundle);
    // In turns, so that what else the machine does meets both.
    let runs: Vec<[(Duration, u64); 2]> =
        (0..5).map(|_| ["hash", "check"].map(|what| child(what, &folder))).collect();
    println!("{:>6} {:>10} {:>10} {:>12}", "", "least ms", "median ms", "at most MiB");
    let [hashed, checked] = [0, 1].map(|which| {
        let mut took: Vec<Duration> = runs.iter().map(|run| run[which].0).collect();
        took.sort_unstable();
        let peak = runs.iter().map(|run| run[which].1).max().unwrap();
        let (least, median) = (took[0], took[took.len() / 2]);
        println!(
            "{:>6} {:>10.0} {:>10.0} {:>12}",
            ["hash", "check"][which],
            least.as_secs_f64() * 1e3,
            median.as_secs_f64() * 1e3,
            peak / 1024
        );
        [least, median]
    });
    let ratio = |at: usize| checked[at].as_secs_f64() / hashed[at].as_secs_f64();
    println!("{:>6} {:>10.2} {:>10.2}", "ratio", ratio(0), ratio(1));
    std::fs::remove_dir_all(&folder).unwrap();
}

fn child(what: &str, folder: &Path) -> (Duration, u64) {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args([what.as_ref(), folder.as_os_str()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = String::from_utf8(output.stdout).unwrap();
    let (nanos, peak) = line.trim().split_once(' ').unwrap();
    (Duration::from_nanos(nanos.parse().unwrap()), peak.parse().unwrap())
}

fn check(folder: &Path) -> Duration {
    let start = Instant::now();
    let files = Directory::new(folder);
    let examination = examine(&files, &Expectations::default(), &Plugs::default()).unwrap();
    let took = start.elapsed();
    assert_eq!(examination.result(), "incomplete", "{}", examination.to_text());
    took
}

fn hash(folder: &Path) -> Duration {
    let start = Instant::now();
    let files = Directory::new(folder);
    let mut digests = Vec::new();
    for listed in files.list().unwrap() {
        digests.push(Digest::of(&files.read(&listed.path, usize::MAX - 1).unwrap()));
    }
    assert_eq!(digests.len(), FILES);
    start.elapsed()
}

/// The largest execution record, in bytes, and the most files of a bundle (RFC 0020 section 2).
const EXECUTION_BYTES: usize = 8_388_608;
const FILES: usize = 65_536;

/// The bundle, filled up: with attempts that left something until there are enough files, and with the actors of
/// retries until the record is long enough.
fn at_the_ceilings() -> Bundle {
    let bare = generate(&plan(0), &honest);
    let missing = FILES.checked_sub(bare.files.len()).expect("a bundle that is small enough");
    // Such an attempt leaves a run export and its sources.
    let filled = plan(missing / 2);
    let measured = generate(&filled, &honest);
    let length = measured.files["execution.json"].len();
    let padding = Cell::new(EXECUTION_BYTES.checked_sub(length).expect("a record short enough"));
    let mut bundle = generate(&filled, &|point: Point<'_>, json: &mut Json| {
        if point.what != "execution" {
            return;
        }
        for instance in json.at("instances").list() {
            for attempt in instance.at("attempts").list().iter_mut().skip(1) {
                let actor = "operator".len();
                let more = padding.get().min(256 - actor);
                padding.set(padding.get() - more);
                let name = format!("operator{}", "x".repeat(more));
                *attempt.at("retry").at("actor") = text(name);
            }
        }
    });
    assert_eq!(padding.get(), 0, "too few retries to pad");
    if missing % 2 == 1 {
        bundle.files.insert("commitment.json".to_owned(), b"{}".to_vec());
    }
    assert_eq!(
        (bundle.files.len(), bundle.files["execution.json"].len()),
        (FILES, EXECUTION_BYTES)
    );
    bundle
}

/// Four stages that each consume 860 of the root's records, which is what a selection of 64 KiB holds; `exported`
/// of their instances have an attempt more that left something.
fn plan(exported: usize) -> Plan {
    let mut plan = Plan::two_stages();
    let payload = |number: usize, repeats: usize| {
        object([
            ("id", text(format!("o{number}"))),
            ("text", text("lorem <ipsum> & ".repeat(repeats))),
        ])
    };
    let list = |name: &str, count: usize, repeats: usize| {
        let items: Vec<Json> = (0..count).map(|number| payload(number, repeats)).collect();
        facts(name, items)
    };
    // Together they have to fit into a preparation.
    let root = Try::Evaluated(list("organisations", 4096, 20), outcome("listed"));
    plan.stages[0].instances = vec![vec![root]];
    plan.stages[0].select = Select::Reviewer((0..SELECTED).collect());
    let child = Try::Evaluated(list("people", 4, 100), outcome("listed"));
    let ids = ["second-stage-of-people", "third-stage-of-people", "fourth-stage-of-people"];
    let template = plan.stages[1].clone();
    for id in ids {
        plan.stages.push(StagePlan { id, ..template.clone() });
    }
    let mut left = exported;
    for stage in &mut plan.stages[1..] {
        stage.instances = (0..SELECTED)
            .map(|_| {
                let mut tries = vec![Try::Nothing; NOTHING];
                if left > 0 {
                    left -= 1;
                    tries.push(Try::Interrupted);
                }
                tries.push(child.clone());
                tries
            })
            .collect();
    }
    assert_eq!(left, 0, "not enough instances");
    (plan.max_instances, plan.max_records, plan.max_attempts) = (4096, 4_000_000, 16);
    plan
}

/// How many records a selection takes.
const SELECTED: usize = 860;

/// How many attempts of each instance left nothing.
const NOTHING: usize = 4;

fn peak_kibibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[allow(clippy::as_conversions, clippy::cast_precision_loss, reason = "figures for people")]
fn mebibytes(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
