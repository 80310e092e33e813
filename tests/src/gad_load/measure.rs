//! What is measured: EVALUATE, and beside it the hashes and signature checks that it can't do without.

use std::fs;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::entry::EntryReading;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::line::read_line;
use anchorlog_proto::gad::plan::Plan;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{ReadLimits, parse};
use anchorlog_proto::signed_object::{PublicKey, Signature};
use anchorlog_verifier::gad::container::Bundle;
use anchorlog_verifier::gad::evaluate::{Request, evaluate};
use anchorlog_verifier::gad::report::Report;
use anchorlog_verifier::gad::trust::TrustMaterial;

/// The default limits, with room for the longest records that are measured.
#[must_use]
pub const fn limits() -> Limits {
    let mut limits = Limits::DEFAULT;
    limits.bundle_bytes = 8 << 30;
    limits.member_bytes = 8 << 30;
    limits.entries = 2_000_000;
    // The largest plan stands in one line, in its freeze.
    limits.line_bytes = 256 << 20;
    limits
}

/// Opens and evaluates the core in a folder, or a bundle; the report is made and dropped.
#[must_use]
pub fn run(path: &Path, threads: usize) -> (Duration, Report) {
    let begin = Instant::now();
    let trust = TrustMaterial::from_files(Vec::new());
    let known = KnownCheckpoints { checkpoints: Vec::new() };
    let evaluator =
        Implementation { name: "bench".into(), version: "1".into(), hash: Digest::of(b"bench") };
    let request = Request {
        limits: limits(),
        threads: NonZeroUsize::new(threads).unwrap(),
        ..Request::new(&trust, &known, evaluator, 1_900_000_000)
    };
    let bundle = Bundle::open(path, &request.limits);
    let report = evaluate(&bundle, &request).unwrap();
    black_box(report.to_json());
    (begin.elapsed(), report)
}

/// The codes found, with how often; what isn't a note.
#[must_use]
pub fn codes(report: &Report) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for finding in report.findings.list() {
        *counts.entry(finding.code.as_str()).or_insert(0_usize) += 1;
    }
    for (code, omitted) in report.findings.omitted() {
        *counts.entry(code.as_str()).or_insert(0) += omitted;
    }
    let counts = counts.iter().map(|(code, count)| format!("{code}:{count}"));
    counts.collect::<Vec<_>>().join(" ")
}

/// A witness with its signatures taken out, ready to be hashed and verified again and again.
#[derive(Debug)]
pub struct Bare {
    bytes: Vec<u8>,
    signatures: Vec<(PublicKey, Signature, Vec<u8>)>,
}

impl Bare {
    /// Of the core in this folder.
    #[must_use]
    pub fn load(folder: &Path) -> Self {
        let plan = fs::read(folder.join("plan.json")).unwrap();
        let plan = parse(&plan, &ReadLimits::DEFAULT.with_bytes(1 << 30).with_values(1 << 30));
        let mut defects = Defects::new();
        let plan = Plan::read(&plan.unwrap(), &limits(), &mut defects).unwrap();
        let bytes = fs::read(folder.join("witness.jsonl")).unwrap();
        let mut signatures = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Ok(document) = read_line(line, &limits()) else { continue };
            let EntryReading::Entry(entry) = document.entry(&limits(), &mut defects) else {
                continue;
            };
            let Some(signed) = entry.signed else { continue };
            let registered =
                plan.principals.iter().find(|principal| Some(principal.key_id) == signed.key_id);
            if let (Some(registered), Some(signature)) = (registered, signed.signature) {
                signatures.push((registered.key, signature, signed.message));
            }
        }
        Self { bytes, signatures }
    }

    /// Hashes all bytes once and verifies every signature, on so many threads.
    #[must_use]
    pub fn run(&self, threads: usize) -> Duration {
        const CHUNK: usize = 64;
        let begin = Instant::now();
        let next = AtomicUsize::new(0);
        let verify = || {
            loop {
                let first = next.fetch_add(CHUNK, Ordering::Relaxed);
                let Some(rest) = self.signatures.get(first..) else { return };
                for (key, signature, message) in rest.iter().take(CHUNK) {
                    let verified = key.verify(message, signature).is_ok();
                    black_box(verified);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(verify);
            }
            // One hash over all bytes is one thread's work.
            black_box(Digest::of(&self.bytes));
            verify();
        });
        begin.elapsed()
    }

    /// How many signatures there are.
    #[must_use]
    pub fn signatures(&self) -> usize {
        self.signatures.len()
    }

    /// How many bytes there are.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// How long this thread has had a processor: what others do beside it doesn't count.
#[must_use]
pub fn busy() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

/// The largest resident memory of this process so far, in bytes.
#[must_use]
pub fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes =
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}
