//! The one promise of the filter: what the log has is never ruled out.

use anchorlog_proto::checkpoint::{Checkpoint, Origin, SignedCheckpoint};
use anchorlog_proto::merkle::{Extension, TreeSize};
use anchorlog_proto::note::{KeyName, NoteSigner};
use proptest::prelude::*;

use super::*;
use crate::storage::Batch;
use crate::storage::memory::MemoryObjects;

fn leaf(number: u64) -> Digest {
    Digest::of(&number.to_be_bytes())
}

/// A log of `size` leaves, and what it would have signed if its first leaf were `first`.
fn log(size: u64, first: u64) -> (MemoryObjects, Snapshot) {
    let objects = MemoryObjects::default();
    let extension = Extension::new(Frontier::new(), (0..size).map(leaf)).unwrap();
    let entries = vec![0; usize::try_from(2 * size).unwrap()];
    objects.append(&Batch { entries: &entries, extension: &extension }).unwrap();
    let mut edge = Frontier::new();
    std::iter::once(first).chain(1..size).take(usize::try_from(size).unwrap()).for_each(|number| {
        edge.push(leaf(number)).unwrap();
    });
    let signer = NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [7; 32]);
    let origin = Origin::new("log.example").unwrap();
    let checkpoint = Checkpoint::new(origin, TreeSize::new(size).unwrap(), edge.root());
    (objects, Snapshot::new(SignedCheckpoint::sign(&checkpoint, &signer).unwrap(), edge))
}

fn filter(size: u64, memory: u64) -> LeafFilter {
    let (objects, snapshot) = log(size, 0);
    let (filter, stored) = LeafFilter::new(size, memory).unwrap();
    stored.read(&objects, &snapshot, &AtomicBool::new(false)).unwrap();
    filter
}

/// How many of a thousand foreign leaves the filter can't rule out.
fn unsure(filter: &LeafFilter) -> usize {
    (1 << 40..).take(1_000).filter(|number| filter.may_have(&leaf(*number))).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the sizes, the memory and the batches.
    #[test]
    fn what_is_there_is_never_ruled_out(
        stored in 0_u64..500,
        batches in prop::collection::vec(0_u64..800, 0..5),
        memory in prop_oneof![Just(0), 0_u64..10_000, 500_000_u64..2_000_000],
    ) {
        let mut filter = filter(stored, memory);
        let mut size = stored;
        for batch in batches {
            filter.extend((size..size + batch).map(leaf));
            size += batch;
            for number in 0..size {
                prop_assert!(filter.may_have(&leaf(number)), "{number} of {size}");
            }
        }
    }
}

#[test]
fn what_is_not_there_is_ruled_out_however_the_log_grows() {
    let mut filter = filter(1_000, DEFAULT_MEMORY);
    assert!(unsure(&filter) < 10);
    for start in (1_000..601_000).step_by(100_000) {
        filter.extend((start..start + 100_000).map(leaf));
        assert!(unsure(&filter) < 10, "{start}");
    }
    assert!(filter.added.len() > 1);
    assert!((0..601_000).step_by(3).all(|number| filter.may_have(&leaf(number))));
}

#[test]
fn memory_is_bounded_and_its_end_only_costs_look_ups() {
    // A few hundred thousand leaves are all it takes: each is found, whatever the share of false positives.
    let memory = 2 * MIN_LEAVES * LEAF_BYTES;
    let mut filter = filter(10, memory);
    filter.extend((10..MIN_LEAVES).map(leaf));
    let few = unsure(&filter);
    filter.extend((MIN_LEAVES..6 * MIN_LEAVES).map(leaf));
    assert!(filter.memory < MIN_LEAVES * LEAF_BYTES);
    assert!(few < 20, "{few}");
    assert!(unsure(&filter) > 100);
    assert!((0..6 * MIN_LEAVES).step_by(7).all(|number| filter.may_have(&leaf(number))));
}

#[test]
fn without_memory_nothing_is_ruled_out() {
    for (size, memory) in [(0, 0), (10, 0), (10, 63), (100_000, 10_000)] {
        let mut filter = filter(size, memory);
        assert_eq!(unsure(&filter), 1_000, "{size} {memory}");
        filter.extend([leaf(size)].into_iter());
        assert_eq!(unsure(&filter), 1_000, "{size} {memory}");
    }
    // Enough for what was there, and for nothing that came: it has to stop ruling out.
    let mut full = filter(10, 64);
    assert!(unsure(&full) < 1_000);
    full.extend([leaf(10)].into_iter());
    assert_eq!(unsure(&full), 1_000);
}

#[test]
fn nothing_is_ruled_out_before_the_stored_leaves_are_read() {
    let (objects, snapshot) = log(600, 0);
    let (mut filter, stored) = LeafFilter::new(600, DEFAULT_MEMORY).unwrap();
    filter.extend((600..700).map(leaf));
    assert_eq!(unsure(&filter), 1_000);
    stored.read(&objects, &snapshot, &AtomicBool::new(false)).unwrap();
    assert!(unsure(&filter) < 10);
    assert!((0..700).all(|number| filter.may_have(&leaf(number))));

    let (filter, stored) = LeafFilter::new(600, DEFAULT_MEMORY).unwrap();
    stored.read(&objects, &snapshot, &AtomicBool::new(true)).unwrap();
    assert_eq!(unsure(&filter), 1_000);
}

#[test]
fn hashes_that_were_not_signed_rule_nothing_out() {
    let (objects, snapshot) = log(600, 99);
    let (filter, stored) = LeafFilter::new(600, DEFAULT_MEMORY).unwrap();
    let error = stored.read(&objects, &snapshot, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, Error::RootMismatch { size: 600 }), "{error}");
    assert_eq!(unsure(&filter), 1_000);
}
