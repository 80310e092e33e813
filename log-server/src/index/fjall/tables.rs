//! Adds all rows up from the engine's tables, one after the other and block by block.
//!
//! A walk in the order of keys merges all tables and makes every key and value anew, which is most of what it
//! costs. A sum needs neither an order nor anything that outlives a row. But the rows in the tables are not
//! always the rows that a look-up finds: a newer row hides an older one with the same key, and a removal hides
//! them all. Where the two could differ, [`sum`] says nothing and leaves it to the walk:
//!
//! * when there is anything but rows of ours, a removal for one;
//! * when a leaf is there twice. To see that, the tables of leaves are merged by key, as a walk does.
//!
//! The keys of all other rows end with the index of their entry, so no log asks for two rows with one key: a sum
//! over tables that hold two is not the sum of any log, and whoever compares it with one finds a difference.

use core::cmp::Reverse;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeSet, BinaryHeap};
use std::fs::File;
use std::io::BufReader;
use std::thread;
use std::time::Instant;

use fjall::{AbstractTree as _, Keyspace};
use lsm_tree::table::{Block, DataBlock};
use lsm_tree::{Memtable, ValueType};

use super::checksums::check_table;
use super::{POLL, RUN_TAG, STALL_LIMIT};
use crate::index::store::Wanted;
use crate::index::{Damage, Fingerprint, IndexError, Row, Table};

/// The fingerprint of all `wanted` rows, or nothing where only a walk can tell which rows there are. Every table
/// is compared with its checksum before it is read.
pub(super) fn sum(
    leaf: &Keyspace,
    list: &Keyspace,
    recent: &BTreeSet<Row>,
    wanted: &Wanted<'_>,
) -> Result<Option<Fingerprint>, IndexError> {
    let (new_leaves, new_lists): (Vec<Row>, Vec<Row>) =
        recent.iter().partition(|row| row.table() == Table::Leaf);
    if !(is_settled(leaf) && is_settled(list)) {
        return Ok(None);
    }
    let (leaves, lists) = thread::scope(|scope| {
        let leaves = scope.spawn(|| sum_leaves(leaf, new_leaves, wanted));
        let lists = sum_lists(list, wanted);
        (joined(leaves), lists)
    });
    Ok(merged(merged(leaves?, lists?), Some(sum_rows(&new_lists, wanted))))
}

/// Waits until every row is in a table or in the active memtable, for others can't be read. Nobody writes rows
/// meanwhile, but after a crash some may still be on their way into tables.
fn is_settled(keyspace: &Keyspace) -> bool {
    let start = Instant::now();
    while keyspace.sealed_memtable_count() > 0 {
        if start.elapsed() > STALL_LIMIT {
            return false;
        }
        thread::sleep(POLL);
    }
    true
}

/// Adds up the rows of [`Table::Leaf`], in the order of their keys.
fn sum_leaves(
    leaf: &Keyspace,
    recent: Vec<Row>,
    wanted: &Wanted<'_>,
) -> Result<Option<Fingerprint>, IndexError> {
    // The memtable first: what comes into a table in between is met twice then, and not missed.
    let memtable = leaf.tree.active_memtable();
    let version = leaf.tree.current_version();
    let Some(rows) = rows_in_memory(&memtable, Some(Table::Leaf))? else { return Ok(None) };
    let mut runs = vec![Run::new(Vec::new(), rows), Run::new(Vec::new(), recent)];
    for run in version.iter_levels().flat_map(|level| level.iter()) {
        runs.push(Run::new(run.iter().cloned().collect(), Vec::new()));
    }
    let mut heads = BinaryHeap::with_capacity(runs.len());
    for (number, run) in runs.iter_mut().enumerate() {
        match run.next()? {
            Next::Row(row) => heads.push(Reverse((row, number))),
            Next::End => {}
            Next::Unclear => return Ok(None),
        }
    }
    let mut sum = Fingerprint::default();
    let mut last: Option<Row> = None;
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((row, number)) = *head;
        if last.is_some_and(|last| last.key() >= row.key()) {
            return Ok(None);
        }
        last = Some(row);
        if wanted(&row) {
            sum.add(&row);
        }
        match runs.get_mut(number).map_or(Ok(Next::End), Run::next)? {
            Next::Row(next) => *head = Reverse((next, number)),
            Next::End => drop(PeekMut::pop(head)),
            Next::Unclear => return Ok(None),
        }
    }
    Ok(Some(sum))
}

/// Adds up the rows of the other tables, in no order and on all processors.
fn sum_lists(list: &Keyspace, wanted: &Wanted<'_>) -> Result<Option<Fingerprint>, IndexError> {
    let memtable = list.tree.active_memtable();
    let version = list.tree.current_version();
    let files: Vec<&lsm_tree::Table> = version.iter_tables().collect();
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let read_files = || {
        let mut sum = Some(Fingerprint::default());
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            sum = merged(sum, sum_file(file, wanted)?);
        }
        Ok(sum)
    };
    let Some(rows) = rows_in_memory(&memtable, None)? else { return Ok(None) };
    let in_memory = sum_rows(&rows, wanted);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..threads).map(|_| scope.spawn(read_files)).collect();
        let mut sum = Some(in_memory);
        for reader in readers {
            sum = merged(sum, joined(reader)?);
        }
        Ok(sum)
    })
}

fn sum_file(
    file: &lsm_tree::Table,
    wanted: &Wanted<'_>,
) -> Result<Option<Fingerprint>, IndexError> {
    let mut sum = Fingerprint::default();
    let mut reader = Reader::new(file, None)?;
    let mut rows = Vec::new();
    while reader.blocks > 0 {
        rows.clear();
        if !reader.read_block(&mut rows)? {
            return Ok(None);
        }
        sum.merge(&sum_rows(&rows, wanted));
    }
    Ok(Some(sum))
}

fn sum_rows(rows: &[Row], wanted: &Wanted<'_>) -> Fingerprint {
    let mut sum = Fingerprint::default();
    rows.iter().filter(|row| wanted(row)).for_each(|row| sum.add(row));
    sum
}

/// Both sums as one, if there are both.
fn merged(one: Option<Fingerprint>, other: Option<Fingerprint>) -> Option<Fingerprint> {
    let (mut sum, other) = one.zip(other)?;
    sum.merge(&other);
    Some(sum)
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T, IndexError>>) -> Result<T, IndexError> {
    // A thread that panicked met contents that the engine asserts to be otherwise.
    thread.join().unwrap_or(Err(IndexError::Damaged(Damage::Engine)))
}

/// Tables that follow one another in the order of keys, or rows that do.
struct Run {
    /// The last one first.
    files: Vec<lsm_tree::Table>,
    reader: Option<Reader>,
    rows: Vec<Row>,
    next: usize,
}

/// What a [`Run`] holds next.
enum Next {
    Row(Row),
    End,
    /// Something that is not simply a row.
    Unclear,
}

impl Run {
    fn new(mut files: Vec<lsm_tree::Table>, rows: Vec<Row>) -> Self {
        files.reverse();
        Self { files, reader: None, rows, next: 0 }
    }

    fn next(&mut self) -> Result<Next, IndexError> {
        loop {
            if let Some(row) = self.rows.get(self.next) {
                self.next += 1;
                return Ok(Next::Row(*row));
            }
            match &mut self.reader {
                Some(reader) if reader.blocks > 0 => {
                    self.next = 0;
                    self.rows.clear();
                    if !reader.read_block(&mut self.rows)? {
                        return Ok(Next::Unclear);
                    }
                }
                reader => match self.files.pop() {
                    Some(file) => *reader = Some(Reader::new(&file, Some(Table::Leaf))?),
                    None => return Ok(Next::End),
                },
            }
        }
    }
}

/// The blocks of a table with rows, from the first to the last.
struct Reader {
    file: BufReader<File>,
    compression: lsm_tree::CompressionType,
    /// Those still to come.
    blocks: u64,
    /// Whose rows they are; without, a tag is in front of every key.
    table: Option<Table>,
}

impl Reader {
    fn new(file: &lsm_tree::Table, table: Option<Table>) -> Result<Self, IndexError> {
        check_table(file)?;
        Ok(Self {
            file: BufReader::with_capacity(READ_AHEAD, File::open(&*file.path)?),
            compression: file.metadata.data_block_compression,
            blocks: file.metadata.data_block_count,
            table,
        })
    }

    /// Reads the rows of the next block; false when it holds anything else.
    fn read_block(&mut self, rows: &mut Vec<Row>) -> Result<bool, IndexError> {
        self.blocks -= 1;
        let block = Block::from_reader(&mut self.file, self.compression)
            .map_err(|error| IndexError::from(fjall::Error::Storage(error)))?;
        let block = DataBlock::new(block);
        let bytes = &*block.inner.data;
        for item in block.iter() {
            let part = |start: usize, end: usize| bytes.get(start..end).unwrap_or_default();
            let shared = item.prefix.as_ref().map_or(&[][..], |at| part(at.0, at.1));
            let value = item.value.as_ref().map_or(&[][..], |at| part(at.0, at.1));
            let row = read_row(
                self.table,
                item.value_type,
                [shared, part(item.key.0, item.key.1)],
                value,
            );
            match row? {
                Content::Row(row) => rows.push(row),
                Content::State => {}
                Content::Unclear => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// The rows of a memtable, in the order of keys; none when it holds anything else.
fn rows_in_memory(
    memtable: &Memtable,
    table: Option<Table>,
) -> Result<Option<Vec<Row>>, IndexError> {
    let row = |item: lsm_tree::InternalValue| {
        read_row(table, item.key.value_type, [&item.key.user_key, &[]], &item.value)
    };
    let mut rows = Vec::with_capacity(memtable.len());
    for item in memtable.iter() {
        match row(item)? {
            Content::Row(row) => rows.push(row),
            Content::State => {}
            Content::Unclear => return Ok(None),
        }
    }
    Ok(Some(rows))
}

/// What the engine keeps under a key.
enum Content {
    Row(Row),
    /// The state that came with the tables.
    State,
    Unclear,
}

/// A row from the two parts of its key and its value, or what it is instead.
fn read_row(
    table: Option<Table>,
    kind: ValueType,
    key: [&[u8]; 2],
    value: &[u8],
) -> Result<Content, IndexError> {
    let mut whole = [0; MAX_KEY_BYTES];
    let [shared, rest] = key;
    let length = shared.len().saturating_add(rest.len());
    let parts = whole.get_mut(..length).and_then(|key| key.split_at_mut_checked(shared.len()));
    let Some((head, tail)) = parts.filter(|_| kind == ValueType::Value) else {
        return Ok(Content::Unclear);
    };
    head.copy_from_slice(shared);
    tail.copy_from_slice(rest);
    let key = whole.get(..length).unwrap_or_default();
    let (table, key) = match (table, key.split_first()) {
        (Some(table), _) => (table, key),
        (None, Some((&RUN_TAG, _))) => return Ok(Content::State),
        (None, Some((tag, key))) => {
            let listed = Table::ALL.into_iter().filter(|table| *table != Table::Leaf);
            match listed.into_iter().find(|table| table.tag() == *tag) {
                Some(table) => (table, key),
                None => return Ok(Content::Unclear),
            }
        }
        (None, None) => return Ok(Content::Unclear),
    };
    Row::read(table, key, value).map(Content::Row)
}

/// The longest key: a leaf's. That of the longest listed row has 49 bytes with its tag.
const MAX_KEY_BYTES: usize = 65;

/// Bytes that are read at a time.
const READ_AHEAD: usize = 256 << 10;

#[cfg(test)]
mod tests;
