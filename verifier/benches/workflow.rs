//! What `verifier workflow check` costs at the RFC's ceilings: an execution record near 8 MiB and a bundle near
//! 65,536 files, beside one SHA-256 over all of its bytes read the same way; and how much memory it takes.
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

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_verifier::workflow::{Directory, Expectations, Files as _, Plugs, examine};

use workflow_world::json::{Json, object, text};
use workflow_world::plan::{facts, outcome};
use workflow_world::{Bundle, Plan, Select, Try, generate, honest};

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
    let bundle = large();
    let bytes: usize = bundle.files.values().map(Vec::len).sum();
    println!(
        "{} files, {:.1} MiB, execution record {:.2} MiB",
        bundle.files.len(),
        mebibytes(bytes),
        mebibytes(bundle.files["execution.json"].len())
    );
    for (path, bytes) in &bundle.files {
        let at = folder.join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, bytes).unwrap();
    }
    drop(bundle);
    let run = |what: &str| {
        let best = (0..3).map(|_| child(what, &folder)).min().unwrap();
        println!("{what}: {:.0} ms, {} MiB at most", best.0.as_secs_f64() * 1e3, best.1 / 1024);
        best.0
    };
    let (hashed, checked) = (run("hash"), run("check"));
    println!("ratio {:.2}", checked.as_secs_f64() / hashed.as_secs_f64());
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
    assert!(digests.len() > 60_000);
    start.elapsed()
}

/// Four stages that each consume 860 of the root's records, which is what a selection of 64 KiB holds.
fn large() -> Bundle {
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
    plan.stages[0].select = Select::Reviewer((0..860).collect());
    let child = Try::Evaluated(list("people", 4, 100), outcome("listed"));
    plan.stages[1].instances = vec![vec![Try::Interrupted, Try::Interrupted, child]];
    let template = plan.stages[1].clone();
    for id in ["second-stage-of-people", "third-stage-of-people", "fourth-stage-of-people"] {
        plan.stages.push(workflow_world::StagePlan { id, ..template.clone() });
    }
    (plan.max_instances, plan.max_records) = (4096, 4_000_000);
    generate(&plan, &honest)
}

fn peak_kibibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[allow(clippy::as_conversions, clippy::cast_precision_loss, reason = "figures for people")]
fn mebibytes(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
