//! The suite every [`Index`] passes, and the entries it is fed with.
//!
//! It is part of the library, not of its tests, so that an engine that lives elsewhere can be held to the
//! same contract. [`run`] panics at the first breach.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a test suite: it reports by panicking"
)]

use core::ops::ControlFlow;
use core::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{StatementKind, Trail};

use super::{
    Fingerprint, Index, IndexError, IndexedEntry, MAX_BATCH, MAX_PAGE, MemoryIndex, Page, Row,
    expected_fingerprint, key,
};

/// One place an index under test can live in; nothing is there at first.
pub trait Place {
    /// Opens what is there, or makes it.
    ///
    /// # Errors
    ///
    /// As the implementation has them.
    fn open(&self) -> Result<Box<dyn Index>, IndexError>;

    /// Whether an index that was closed is there again.
    fn keeps(&self) -> bool;
}

/// Runs every check, each in a new place.
pub fn run(new_place: &dyn Fn() -> Box<dyn Place>) {
    empty(&*open(&*new_place()));
    refusals(&*open(&*new_place()));
    listings(&*open(&*new_place()));
    foreign_rows(&*open(&*new_place()));
    readers_see_whole_batches(&*open(&*new_place()));
    for seed in 0..4 {
        history(&*new_place(), seed);
    }
    let place = new_place();
    if place.keeps() {
        one_at_a_time(&*place);
        reopened_at_every_batch(&*new_place());
    }
}

/// An entry like those of a real log: its own digest, a trail of twenty entries, one of 64 signers.
#[must_use]
pub fn distinct_entry(index: u64) -> IndexedEntry {
    let digest = Digest::of_parts(&[b"digest", &index.to_be_bytes()]);
    let trail = Digest::of_parts(&[b"trail", &(index / 20).to_be_bytes()]);
    let signer = Digest::of_parts(&[b"signer", &(index % 64).to_be_bytes()]);
    let kinds = [StatementKind::PlanCommitment, StatementKind::CoreRoot, StatementKind::ChainHead];
    IndexedEntry {
        index,
        leaf_hash: Digest::of_parts(&[b"leaf", &index.to_be_bytes()]),
        digest,
        kind: pick(&kinds, index),
        trail: Some(trail_named(&trail.to_string())),
        sequence: Some(index % 20),
        signer: Some(SignerId::from_bytes(*signer.as_bytes())),
    }
}

/// An entry of somebody who wants to confuse the index: few digests, kinds, places and signers, and trails
/// that are beginnings of one another or as long as they can be.
#[must_use]
pub fn hostile_entry(index: u64, seed: u64) -> IndexedEntry {
    let mut random = Random(seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut digest = [0; 32];
    // Neighbouring digests: the last byte, or the first, makes the difference.
    digest[31] = random.byte(3);
    digest[0] = if random.below(2) == 0 { 0 } else { 0xff };
    let trails = ["a", "a:", "a:a", "a:a:", "aa", "b"].map(str::to_owned);
    let long = ["z".repeat(128), format!("{}a", "z".repeat(127)), "z".repeat(127)];
    let trails: Vec<String> = trails.into_iter().chain(long).collect();
    let trail = (random.below(4) > 0).then(|| trail_named(&pick(&trails, random.next())));
    let places = [0, 1, 255, 256, (1 << 53) - 1];
    let sequence = (trail.is_some() && random.below(3) > 0).then(|| pick(&places, random.next()));
    let signer = (random.below(2) > 0).then(|| SignerId::from_bytes([random.byte(2); 32]));
    IndexedEntry {
        index,
        leaf_hash: Digest::of_parts(&[b"hostile", &seed.to_be_bytes(), &index.to_be_bytes()]),
        digest: Digest::from_bytes(digest),
        kind: pick(&StatementKind::ALL, random.next()),
        trail,
        sequence,
        signer,
    }
}

/// Compares every answer of `index` with those of plain maps over `entries`, which are the log.
pub fn compare(index: &dyn Index, entries: &[IndexedEntry]) {
    let model = MemoryIndex::new();
    for part in entries.chunks(MAX_BATCH) {
        model.append(part[0].index, part).expect("the model takes every log");
    }
    assert_eq!(index.indexed_size(), model.indexed_size());
    assert_eq!(index.row_count(), model.row_count());
    let expected = sum(entries);
    assert_eq!(index.fingerprint().expect("scan"), expected);
    if let Some(quick) = index.quick_sum(&|_| true).expect("sum") {
        assert_eq!(quick, expected);
    }
    assert_eq!(model.fingerprint().expect("scan"), expected);

    let nowhere = Digest::from_bytes([0x77; 32]);
    for entry in entries {
        let found = index.find_leaf(entry.kind, &entry.digest, &entry.leaf_hash);
        assert_eq!(found.expect("find"), Some(entry.index));
        let absent = index.find_leaf(entry.kind, &entry.digest, &nowhere);
        assert_eq!(absent.expect("find"), None);
        assert_eq!(index.missing(entry).expect("look"), []);
    }
    // Different starts and page sizes for different entries, so that all of them are met. The sizes grow
    // with the log, which keeps the pages of a listing, and the time for it, within bounds.
    let limits = [1, 2, 7, 100, 5_000].map(|limit: usize| limit.max(entries.len() / 50));
    let some = entries.iter().step_by(entries.len() / 50 + 1);
    for (entry, limit) in some.zip(limits.into_iter().cycle()) {
        let from = entry.index / 2;
        for kind in [None, Some(entry.kind)] {
            let ask = |index: &dyn Index| {
                walk(|after| index.by_digest(&entry.digest, kind, after, limit).expect("list"))
            };
            assert_eq!(ask(index), ask(&model));
        }
        if let Some(trail) = &entry.trail {
            let ask = |index: &dyn Index| {
                walk(|next: Option<&u64>| {
                    index.by_trail(trail, *next.unwrap_or(&from), limit).expect("list")
                })
            };
            assert_eq!(ask(index), ask(&model));
            let place = entry.sequence.unwrap_or(2);
            let ask = |index: &dyn Index| {
                walk(|next: Option<&u64>| {
                    let from = *next.unwrap_or(&from);
                    index.by_trail_sequence(trail, place, from, limit).expect("list")
                })
            };
            assert_eq!(ask(index), ask(&model));
        }
        if let Some(signer) = &entry.signer {
            let ask = |index: &dyn Index| {
                walk(|next: Option<&u64>| {
                    index.by_submitter(signer, *next.unwrap_or(&from), limit).expect("list")
                })
            };
            assert_eq!(ask(index), ask(&model));
        }
    }
}

fn empty(index: &dyn Index) {
    compare(index, &[]);
    let entry = distinct_entry(0);
    assert_eq!(index.find_leaf(entry.kind, &entry.digest, &entry.leaf_hash).expect("find"), None);
    let nothing = Page { items: Vec::new(), next: None };
    assert_eq!(index.by_digest(&entry.digest, None, None, 10).expect("list"), nothing);
    index.append(0, &[]).expect("an empty batch is none");
    index.sync().expect("nothing to sync");
    assert_eq!(index.missing(&entry).expect("look").len(), 4, "all rows of an entry not yet there");
}

/// What is refused changes nothing and does not end writing.
fn refusals(index: &dyn Index) {
    let log: Vec<_> = (0..10).map(distinct_entry).collect();
    index.append(0, &log[..5]).expect("append");
    assert!(matches!(
        index.append(0, &log[..5]),
        Err(IndexError::NotContiguous { expected: 5, found: 0 })
    ));
    assert!(matches!(
        index.append(6, &log[6..]),
        Err(IndexError::NotContiguous { expected: 5, found: 6 })
    ));
    let mut gap = log[5..].to_vec();
    gap.remove(2);
    assert!(matches!(index.append(5, &gap), Err(IndexError::OutOfOrder { expected: 7, found: 8 })));
    let many = vec![distinct_entry(5); MAX_BATCH + 1];
    assert!(matches!(
        index.append(5, &many),
        Err(IndexError::BatchTooLarge { limit: MAX_BATCH, .. })
    ));
    compare(index, &log[..5]);
    index.append(5, &log[5..]).expect("append");
    compare(index, &log);
}

/// A digest, a trail, a place and a signer with more entries than a page takes.
fn listings(index: &dyn Index) {
    let count = u64::try_from(MAX_PAGE).expect("small") * 2 + 500;
    let trail = trail_named("trail");
    let signer = SignerId::from_bytes([1; 32]);
    let digest = Digest::from_bytes([9; 32]);
    let log: Vec<_> = (0..count)
        .map(|index| IndexedEntry {
            digest,
            trail: Some(trail.clone()),
            sequence: Some(7),
            signer: Some(signer),
            ..distinct_entry(index)
        })
        .collect();
    index.append(0, &log).expect("append");
    let page = index.by_digest(&digest, None, None, usize::MAX).expect("list");
    assert_eq!(page.items.len(), MAX_PAGE);
    assert!(page.next.is_some());
    let page = index.by_trail(&trail, 0, 0).expect("list");
    assert_eq!(page.items.len(), 1, "a limit of nought is one of one");
    assert_eq!(page.next, Some(1));
    let all = walk(|next: Option<&u64>| {
        index.by_submitter(&signer, *next.unwrap_or(&0), usize::MAX).expect("list")
    });
    assert!(all.iter().map(|posting| posting.index).eq(0..count), "each once, in order");
    let page = index.by_trail_sequence(&trail, 7, count - 1, 10).expect("list");
    assert_eq!((page.items.len(), page.next), (1, None), "the last page says so");
    let beyond = index.by_trail(&trail, u64::MAX, 10).expect("list");
    assert_eq!((beyond.items.len(), beyond.next), (0, None));
    compare(index, &log);
}

/// An index that was fed another log than the one at hand: both what is missing and what is foreign can be
/// named.
fn foreign_rows(index: &dyn Index) {
    let mut log: Vec<_> = (0..50).map(distinct_entry).collect();
    index.append(0, &log).expect("append");
    log[17].sequence = Some(1_000);
    assert_ne!(index.fingerprint().expect("scan"), sum(&log));
    let missing: Vec<Row> =
        log.iter().flat_map(|entry| index.missing(entry).expect("look")).collect();
    assert!(matches!(missing[..], [Row::Sequence { .. }]), "{missing:?}");
    let mut foreign = Vec::new();
    index
        .scan(&mut |row| {
            let place = usize::try_from(row.index()).expect("small");
            if !key::rows(&log[place]).any(|expected| expected == *row) {
                foreign.push(*row);
            }
            ControlFlow::Continue(())
        })
        .expect("scan");
    assert!(matches!(foreign[..], [Row::Sequence { .. }]), "{foreign:?}");
    assert_eq!((missing[0].index(), foreign[0].index()), (17, 17));
    let mut visited = 0;
    let stop = &mut |_: &Row| {
        visited += 1;
        if visited == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    index.scan(stop).expect("scan");
    assert_eq!(visited, 3, "a break ends the scan");
}

/// While batches go in, no reader may see an entry the size doesn't count yet, nor miss one it counts.
fn readers_see_whole_batches(index: &dyn Index) {
    const BATCH: u64 = 257;
    const BATCHES: u64 = 60;
    let trail = trail_named("shared");
    let entry = |index| IndexedEntry { trail: Some(trail.clone()), ..distinct_entry(index) };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for reader in 0..2 {
            let (done, trail, entry) = (&done, &trail, &entry);
            scope.spawn(move || {
                let mut random = Random(reader);
                while !done.load(Ordering::Acquire) {
                    let before = index.indexed_size();
                    if let Some(last) = before.checked_sub(1) {
                        let last = entry(last);
                        let found = index.find_leaf(last.kind, &last.digest, &last.leaf_hash);
                        assert_eq!(found.expect("find"), Some(last.index), "counted, not found");
                    }
                    let ahead = entry(before + random.below(BATCH * 2));
                    let found = index.find_leaf(ahead.kind, &ahead.digest, &ahead.leaf_hash);
                    if let Some(found) = found.expect("find") {
                        assert!(found < index.indexed_size(), "found, not counted");
                    }
                    let from = before.saturating_sub(5);
                    let page = index.by_trail(trail, from, MAX_PAGE).expect("list");
                    let after = index.indexed_size();
                    let next = from + u64::try_from(page.items.len()).expect("small");
                    assert!(page.items.iter().map(|posting| posting.index).eq(from..next));
                    assert!(next >= before.min(from + 1_000) && next <= after);
                    assert!(
                        page.next.is_some() || next.is_multiple_of(BATCH),
                        "half a batch was seen"
                    );
                }
            });
        }
        for batch in 0..BATCHES {
            let first = batch * BATCH;
            let entries: Vec<_> = (first..first + BATCH).map(entry).collect();
            index.append(first, &entries).expect("append");
        }
        done.store(true, Ordering::Release);
    });
    assert_eq!(index.indexed_size(), BATCH * BATCHES);
}

/// A hostile log in batches of all sizes.
fn history(place: &dyn Place, seed: u64) {
    let mut random = Random(seed);
    let log: Vec<_> = (0..700).map(|index| hostile_entry(index, seed)).collect();
    let index = open(place);
    let mut size = 0;
    while size < log.len() {
        let end = log.len().min(size + usize::from(random.byte(200)));
        index.append(u64::try_from(size).expect("small"), &log[size..end]).expect("append");
        size = end;
        if random.below(4) == 0 {
            index.sync().expect("sync");
        }
    }
    compare(&*index, &log);
}

/// A second handle is refused while the first lives.
fn one_at_a_time(place: &dyn Place) {
    let first = open(place);
    first.append(0, &[distinct_entry(0)]).expect("append");
    match place.open() {
        Err(IndexError::Locked) => {}
        Err(other) => panic!("refused with {other:?}"),
        Ok(_) => panic!("two handles on one index"),
    }
    drop(first);
    open(place);
}

/// Closed and opened after every batch: what was synced is there, what was not is there or isn't, and in
/// either case the index goes on from where it says it is.
fn reopened_at_every_batch(place: &dyn Place) {
    let log: Vec<_> = (0..400).map(|index| hostile_entry(index, 99)).collect();
    let mut random = Random(7);
    let mut size = 0;
    let mut rounds = 0;
    while size < log.len() {
        let index = open(place);
        let at = usize::try_from(index.indexed_size()).expect("small");
        assert!(at <= log.len());
        assert_eq!(index.fingerprint().expect("scan"), sum(&log[..at]));
        assert!(at >= size, "{at} of {size} synced entries");
        let synced = log.len().min(at + 1 + usize::from(random.byte(20)));
        index.append(index.indexed_size(), &log[at..synced]).expect("append");
        index.sync().expect("sync");
        size = synced;
        let more = log.len().min(synced + usize::from(random.byte(5)));
        index.append(index.indexed_size(), &log[synced..more]).expect("append");
        rounds += 1;
    }
    assert!(rounds > 10);
    let index = open(place);
    compare(&*index, &log);
}

fn open(place: &dyn Place) -> Box<dyn Index> {
    place.open().expect("open")
}

fn sum(entries: &[IndexedEntry]) -> Fingerprint {
    let mut sum = Fingerprint::default();
    for entry in entries {
        sum.merge(&expected_fingerprint(entry));
    }
    sum
}

/// All pages of a listing.
fn walk<T, C>(mut page: impl FnMut(Option<&C>) -> Page<T, C>) -> Vec<T> {
    let mut items = Vec::new();
    let mut next = None;
    loop {
        let part = page(next.as_ref());
        assert!(part.items.len() <= MAX_PAGE);
        assert!(part.next.is_none() || !part.items.is_empty(), "a page that leads nowhere");
        items.extend(part.items);
        next = part.next;
        if next.is_none() {
            return items;
        }
    }
}

fn trail_named(name: &str) -> Trail {
    name.parse().unwrap_or_else(|_| panic!("{name} is no trail"))
}

fn pick<T: Clone>(of: &[T], number: u64) -> T {
    let count = u64::try_from(of.len()).expect("small");
    of[usize::try_from(number % count).expect("small")].clone()
}

/// The same sequence for the same seed, everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn byte(&mut self, bound: u8) -> u8 {
        u8::try_from(self.below(u64::from(bound))).unwrap_or(0)
    }
}
