//! The index as plain maps: what the others are compared with, and enough for a log in a test.

use core::ops::{Bound, ControlFlow};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{StatementKind, Trail};

use super::{
    Claim, DigestCursor, Index, IndexError, IndexedEntry, MAX_PAGE, Page, Posting, Row,
    check_batch, key,
};

/// An [`Index`] that keeps whole entries and ends with the process.
///
/// It shares no encoding, no search and no paging with the engines' one implementation, so that the two can't be
/// wrong together. Only rows for [`Index::scan`] are made by the function that defines them.
#[derive(Debug, Default)]
pub struct MemoryIndex {
    maps: RwLock<Maps>,
}

impl MemoryIndex {
    /// An empty index.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn read(&self) -> RwLockReadGuard<'_, Maps> {
        // Maps are changed only after everything that can fail has been checked.
        self.maps.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Index for MemoryIndex {
    fn indexed_size(&self) -> u64 {
        self.read().size
    }

    fn row_count(&self) -> u64 {
        self.read().rows
    }

    fn append(&self, first: u64, entries: &[IndexedEntry]) -> Result<(), IndexError> {
        let mut maps = self.maps.write().unwrap_or_else(PoisonError::into_inner);
        check_batch(maps.size, first, entries)?;
        for entry in entries {
            maps.insert(entry.clone());
        }
        Ok(())
    }

    fn find_leaf(
        &self,
        kind: StatementKind,
        digest: &Digest,
        leaf_hash: &Digest,
    ) -> Result<Option<u64>, IndexError> {
        let maps = self.read();
        let leaves = maps.digests.get(digest);
        let leaf = leaves.and_then(|leaves| leaves.get(&(key::kind_code(kind), *leaf_hash)));
        Ok(leaf.map(|posting| posting.index))
    }

    fn by_digest(
        &self,
        digest: &Digest,
        kind: Option<StatementKind>,
        after: Option<&DigestCursor>,
        limit: usize,
    ) -> Result<Page<Posting, DigestCursor>, IndexError> {
        let maps = self.read();
        let Some(leaves) = maps.digests.get(digest) else {
            return Ok(Page { items: Vec::new(), next: None });
        };
        let after = after.map_or(Bound::Unbounded, |after| {
            Bound::Excluded((key::kind_code(after.kind), after.leaf_hash))
        });
        let mut rest = leaves
            .range((after, Bound::Unbounded))
            .filter(|(_, posting)| kind.is_none_or(|kind| kind == posting.kind))
            .peekable();
        let mut next = None;
        let items = rest
            .by_ref()
            .take(limit.clamp(1, MAX_PAGE))
            .map(|((_, leaf_hash), posting)| {
                next = Some(DigestCursor { kind: posting.kind, leaf_hash: *leaf_hash });
                *posting
            })
            .collect();
        Ok(Page { items, next: next.filter(|_| rest.peek().is_some()) })
    }

    fn by_trail(
        &self,
        trail: &Trail,
        from: u64,
        limit: usize,
    ) -> Result<Page<Posting, u64>, IndexError> {
        let maps = self.read();
        Ok(maps.page(maps.trails.get(trail.as_str()), from, limit, posting))
    }

    fn by_trail_sequence(
        &self,
        trail: &Trail,
        sequence: u64,
        from: u64,
        limit: usize,
    ) -> Result<Page<Claim, u64>, IndexError> {
        let maps = self.read();
        let claims = maps.sequences.get(&(trail.as_str().to_owned(), sequence));
        Ok(maps
            .page(claims, from, limit, |entry| Claim { index: entry.index, digest: entry.digest }))
    }

    fn by_submitter(
        &self,
        signer: &SignerId,
        from: u64,
        limit: usize,
    ) -> Result<Page<Posting, u64>, IndexError> {
        let maps = self.read();
        Ok(maps.page(maps.signers.get(&signer.to_string()), from, limit, posting))
    }

    fn sync(&self) -> Result<(), IndexError> {
        Ok(())
    }

    fn scan(&self, visit: &mut dyn FnMut(&Row) -> ControlFlow<()>) -> Result<(), IndexError> {
        let mut rows: Vec<Row> = self.read().entries.values().flat_map(key::rows).collect();
        rows.sort_unstable();
        let _ = rows.iter().try_for_each(visit);
        Ok(())
    }

    fn missing(&self, entry: &IndexedEntry) -> Result<Vec<Row>, IndexError> {
        let maps = self.read();
        let held: Vec<Row> =
            maps.entries.get(&entry.index).into_iter().flat_map(key::rows).collect();
        Ok(key::rows(entry).filter(|row| !held.contains(row)).collect())
    }
}

#[derive(Debug, Default)]
struct Maps {
    size: u64,
    rows: u64,
    entries: BTreeMap<u64, IndexedEntry>,
    /// Leaves in the order of kind and leaf hash.
    digests: HashMap<Digest, BTreeMap<(u8, Digest), Posting>>,
    trails: HashMap<String, BTreeSet<u64>>,
    sequences: HashMap<(String, u64), BTreeSet<u64>>,
    signers: HashMap<String, BTreeSet<u64>>,
}

impl Maps {
    fn insert(&mut self, entry: IndexedEntry) {
        let index = entry.index;
        let place = (key::kind_code(entry.kind), entry.leaf_hash);
        self.digests.entry(entry.digest).or_default().insert(place, posting(&entry));
        self.rows += 1;
        if let Some(trail) = &entry.trail {
            self.trails.entry(trail.as_str().to_owned()).or_default().insert(index);
            self.rows += 1;
            if let Some(sequence) = entry.sequence {
                let claim = (trail.as_str().to_owned(), sequence);
                self.sequences.entry(claim).or_default().insert(index);
                self.rows += 1;
            }
        }
        if let Some(signer) = &entry.signer {
            self.signers.entry(signer.to_string()).or_default().insert(index);
            self.rows += 1;
        }
        self.size = index.saturating_add(1);
        self.entries.insert(index, entry);
    }

    fn page<T>(
        &self,
        indexes: Option<&BTreeSet<u64>>,
        from: u64,
        limit: usize,
        item: impl Fn(&IndexedEntry) -> T,
    ) -> Page<T, u64> {
        let mut rest = indexes
            .into_iter()
            .flat_map(|indexes| indexes.range((Bound::Included(from), Bound::Unbounded)))
            .filter_map(|index| self.entries.get(index))
            .peekable();
        let mut next = None;
        let taken = rest.by_ref().take(limit.clamp(1, MAX_PAGE));
        let items = taken.inspect(|entry| next = Some(entry.index + 1)).map(item).collect();
        Page { next: next.filter(|_| rest.peek().is_some()), items }
    }
}

fn posting(entry: &IndexedEntry) -> Posting {
    Posting { index: entry.index, kind: entry.kind }
}
