//! What reading, writing, hashing and proving cost, beside the bare SHA-256 of the same bytes.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]

use std::convert::Infallible;
use std::hint::black_box;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::chain::{chain_hash, genesis};
use anchorlog_proto::gad::line::read_line;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{self, ReadLimits};
use anchorlog_proto::merkle::{
    Frontier, Node, NodeReader, TreeSize, consistency, inclusion, leaf_hash, node_hash, root,
};
use anchorlog_proto::statement::LogEntry;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const STATEMENT: &[u8] = br#"{"digest":"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","kind":"chain_head","schema":"anchorlog.statement/1","sequence":7,"trail":"sha256:8bce941825302d4cd5bcdf872130cbc07e0f303663daa4c38eea1dab15b07138"}"#;

/// Entries as they are most common, each with its LF left out.
const ENTRIES: [(&str, &[u8]); 3] = [
    (
        "dispatch",
        br#"{"body":{"p":{"executor_identity":{"model":"model-x","provider":"provider-y","version":"1"},"input":[{"desc":"work on n1","node":"n1","prior_failure":null}],"instruction_digest":"sha256:42336be5a2384dae866a2354a5e2227a0aa2b3cd698b6fa4f756b2290cb86e05","instruction_ref":"artifacts/s1.instruction.txt","nodes":["n1"],"session_id":"s1","workspace_baseline_digest":"sha256:6edd892bff29f64a9f20b863846b42f3bed189d858eb45bc0bbddaafcc29ac4c"},"seq":1,"t":"2026-07-20T10:01:00Z","type":"dispatch"},"h":"sha256:cef8126acdb826f41e729e6cccb6bb964d581ed6e6c67408361f355d3c25f97f"}"#,
    ),
    (
        "result",
        br#"{"body":{"p":{"delta_digest":"sha256:7e1ffa4a3f858f9261c4faa9201e060761d3ca9ddab97492a64e78e1d9ac06b6","delta_ref":"artifacts/s1.delta.patch","node":"n1","output_status":"captured","quiescence":{"outcome":"quiesced"},"session_id":"s1","touched_surface":["src/parser/lib.rs","tests/parser/t1.rs"]},"seq":3,"t":"2026-07-20T10:03:00Z","type":"execution_result"},"h":"sha256:d811627b8441c2ab5da146d4fbb797864e1fce8443f0dfb6c0e7fc803aab47d7"}"#,
    ),
    (
        "verdict",
        br#"{"body":{"p":{"body":{"capture":"engine_capture","engine_identity":"gadk1:3eb1a6a61eee7192019d17cd9e2a7868edb4c635044bcda742cd7fce97a181af","environment_digest":"sha256:0c70d7a06b9bfbbb57b33b8fb4ffeb9360bc82175964d3361c9821cc5212f91c","execution_result_seq":3,"exit_code":0,"key_id":"gadk1:3eb1a6a61eee7192019d17cd9e2a7868edb4c635044bcda742cd7fce97a181af","node":"n1","observation_layers":["authenticated_engine_observation"],"plan_hash":"sha256:8bce941825302d4cd5bcdf872130cbc07e0f303663daa4c38eea1dab15b07138","result":"pass","session_id":"s1","signal_artifact_digest":"sha256:8642159fe12cc8f48527586990b16a4f748482d126b064ff87efbd98e348dd8f","signal_kind":"direct_observable","stderr_digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","stdout_digest":"sha256:4e981f1bf94c559d0d027697685cb8a90ef30a0d963e5e6a96a835bde4792dbd","subject_artifact_digest":"sha256:7e1ffa4a3f858f9261c4faa9201e060761d3ca9ddab97492a64e78e1d9ac06b6","test_id":"t1","test_spec_digest":"sha256:7f199e5512cf3cf6946e559cf22d6173fd1483a175f027ab8ba889f2f3e77089","type":"verdict"},"signature":"2fyle2SoyUbdo1bs77DbHNbQhbA7Jwag4HkaOhv57bbYSNntqaC+Tys2hW0t8hfN8379EXDebtz/oIhIc+7NAw=="},"seq":4,"t":"2026-07-20T10:04:00Z","type":"verdict"},"h":"sha256:91497f441775ca2df00d7459b3b7287f7c35c690b28a82780eee39328708dbeb"}"#,
    ),
];

/// A tree of any size whose leaves are all the same: nodes cost nothing to read.
struct Uniform(Vec<Digest>);

impl NodeReader for Uniform {
    type Error = Infallible;

    fn node(&self, node: Node) -> Result<Digest, Infallible> {
        Ok(self.0.get(usize::from(node.level)).copied().unwrap())
    }
}

fn statements(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("statement");
    group.throughput(Throughput::Bytes(u64::try_from(STATEMENT.len()).unwrap()));
    group.bench_function("sha256", |b| b.iter(|| Digest::of(black_box(STATEMENT))));
    group.bench_function("leaf_hash", |b| b.iter(|| leaf_hash(black_box(STATEMENT))));
    let limits = ReadLimits::default();
    group.bench_function("json_parse", |b| {
        b.iter(|| json::parse(black_box(STATEMENT), &limits).unwrap());
    });
    let value = json::parse(STATEMENT, &limits).unwrap();
    group.bench_function("canon_write", |b| b.iter(|| json::canonical(black_box(&value))));
    group.bench_function("entry_read", |b| {
        b.iter(|| LogEntry::read(black_box(STATEMENT)).unwrap());
    });
    group.bench_function("entry_from_leaf", |b| {
        b.iter(|| LogEntry::from_leaf(black_box(STATEMENT)).unwrap());
    });
    group.finish();
}

fn entries(criterion: &mut Criterion) {
    for (name, line) in ENTRIES {
        let mut group = criterion.benchmark_group(format!("gad_{name}"));
        group.throughput(Throughput::Bytes(u64::try_from(line.len()).unwrap()));
        group.bench_function("sha256", |b| b.iter(|| Digest::of(black_box(line))));
        let limits = Limits::DEFAULT;
        group.bench_function("read_line", |b| {
            b.iter(|| read_line(black_box(line), &limits).unwrap());
        });
        let document = read_line(line, &limits).unwrap();
        group.bench_function("entry_of_line", |b| {
            b.iter(|| {
                let mut defects = Defects::new();
                let reading = black_box(&document).entry(&limits, &mut defects);
                assert!(defects.is_empty());
                black_box(reading);
            });
        });
        let start = genesis();
        group.bench_function("read_check_and_chain", |b| {
            b.iter(|| {
                let document = read_line(black_box(line), &limits).unwrap();
                let h = chain_hash(&start, &document.body_bytes().unwrap());
                let mut defects = Defects::new();
                let reading = document.entry(&limits, &mut defects);
                assert!(document.is_canonical() && defects.is_empty());
                black_box((h, reading.link()));
            });
        });
        group.finish();
    }
}

fn trees(criterion: &mut Criterion) {
    let leaf = leaf_hash(STATEMENT);
    let levels: Vec<Digest> =
        std::iter::successors(Some(leaf), |hash| Some(node_hash(hash, hash))).take(63).collect();
    let tree = Uniform(levels);
    let size = TreeSize::new(10_000_000).unwrap();
    let newer = TreeSize::new(12_345_678).unwrap();
    let roots = [size, newer].map(|size| root(&tree, size).unwrap());

    let mut group = criterion.benchmark_group("tree");
    group.bench_function("sha256_of_a_node", |b| b.iter(|| Digest::of(black_box(&[1; 65]))));
    group.bench_function("node_hash", |b| b.iter(|| node_hash(black_box(&leaf), &leaf)));
    group.bench_function("frontier_push", |b| {
        let mut frontier = Frontier::from_reader(&tree, size).unwrap();
        b.iter(|| frontier.push(black_box(leaf)).unwrap());
    });
    group.bench_function("frontier_root", |b| {
        let frontier = Frontier::from_reader(&tree, size).unwrap();
        b.iter(|| black_box(&frontier).root());
    });
    let proof = inclusion::prove(&tree, 7_654_321, size).unwrap().unwrap();
    group.bench_function("inclusion_prove_without_reading", |b| {
        b.iter(|| inclusion::prove(&tree, black_box(7_654_321), size).unwrap().unwrap());
    });
    group.bench_function("inclusion_verify", |b| {
        b.iter(|| inclusion::verify(7_654_321, size, &leaf, black_box(&proof), &roots[0]).unwrap());
    });
    let proof = consistency::prove(&tree, size, newer).unwrap().unwrap();
    group.bench_function("consistency_verify", |b| {
        b.iter(|| {
            consistency::verify(size, newer, &roots[0], &roots[1], black_box(&proof)).unwrap();
        });
    });
    group.finish();
}

criterion_group!(benches, statements, entries, trees);
criterion_main!(benches);
