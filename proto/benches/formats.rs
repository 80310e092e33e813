//! What reading, writing, hashing and proving cost, beside the bare SHA-256 of the same bytes.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]

use std::convert::Infallible;
use std::hint::black_box;

use anchorlog_proto::Digest;
use anchorlog_proto::json::{self, ReadLimits};
use anchorlog_proto::merkle::{
    Frontier, Node, NodeReader, TreeSize, consistency, inclusion, leaf_hash, node_hash, root,
};
use anchorlog_proto::statement::LogEntry;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const STATEMENT: &[u8] = br#"{"digest":"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","kind":"chain_head","schema":"anchorlog.statement/1","sequence":7,"trail":"sha256:8bce941825302d4cd5bcdf872130cbc07e0f303663daa4c38eea1dab15b07138"}"#;

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

criterion_group!(benches, statements, trees);
criterion_main!(benches);
