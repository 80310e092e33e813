//! The cosignatures: what witnesses have said about checkpoints, found by the size of the checkpoint.
//!
//! They are in segments of their own beside those of the tokens: witnesses and time-stamping authorities
//! take turns, so the sizes of both together are in no order. Within a segment the lines of a slow witness
//! may come after those of a later checkpoint; from one segment to the next, sizes only grow.
//!
//! Whether a checkpoint is *witnessed* is the policy's to say, by which of its witnesses' lines are here.
//! Each was verified before it came, and [`examine`] verifies all of them again. With another policy, other
//! checkpoints are witnessed; without one, none is.

mod examine;
mod rows;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anchorlog_client::durable::{self, AppendFile};
use anchorlog_proto::note::{NoteSignature, VerifierKey};
use anchorlog_proto::tlog_policy::TlogPolicy;
use tokio::sync::watch;

use super::record::{Cosignatures, MAX_LINES, Record};
use super::segment::{self, Series};
use super::store::start;
use crate::storage::{Defect, StorageError};

pub(crate) use examine::examine;
use rows::{Row, Set, State, group};

/// Bytes after which the next checkpoint begins a new segment.
const SEGMENT_BYTES: u64 = 8 << 20;

/// Older segments whose rows are kept in memory, of each some 15,000, sixty-four bytes each.
const MAX_LOADED: usize = 8;

/// Segments that are looked at, in either direction, for a witnessed checkpoint.
const MAX_SEARCHED: usize = 3;

/// The cosignatures of one log. One thread at a time appends; many read.
#[derive(Debug)]
pub struct CosignatureStore {
    directory: PathBuf,
    segment_bytes: u64,
    policy: Option<Arc<TlogPolicy>>,
    state: Mutex<State>,
    /// The largest checkpoint with lines, and the last line of each witness. Apart from the state, which is
    /// held while a disk syncs.
    last: Mutex<Option<Cosigned>>,
    newest: watch::Sender<Option<Witnessed>>,
}

/// The newest checkpoint that the policy's quorum has cosigned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Witnessed {
    /// Number of entries that it covers.
    pub size: u64,
    /// When the last of its lines was received, in Unix seconds.
    pub received: i64,
}

/// A checkpoint and every line about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cosigned {
    /// Number of entries that it covers.
    pub size: u64,
    /// The signed note, with the log's own signature alone.
    pub note: Vec<u8>,
    /// Lines of witnesses, in the order in which they came.
    pub lines: Vec<NoteSignature>,
}

impl Cosigned {
    /// The first line of every witness: it had cosigned by then.
    #[must_use]
    pub fn first_lines(&self) -> Vec<NoteSignature> {
        one_each(self.lines.iter())
    }

    /// The last line of every witness: it still knows nothing larger.
    #[must_use]
    pub fn last_lines(&self) -> Vec<NoteSignature> {
        let mut lines = one_each(self.lines.iter().rev());
        lines.reverse();
        lines
    }
}

impl CosignatureStore {
    /// Opens the cosignatures of the data directory `data`, and drops a record that a crash tore. Nothing
    /// is created before there is something to store. `policy` says which checkpoints are witnessed.
    pub fn open(data: &Path, policy: Option<Arc<TlogPolicy>>) -> Result<Self, StorageError> {
        Self::open_with(data, policy, SEGMENT_BYTES)
    }

    pub(super) fn open_with(
        data: &Path,
        policy: Option<Arc<TlogPolicy>>,
        segment_bytes: u64,
    ) -> Result<Self, StorageError> {
        let directory = data.join(segment::FOLDER);
        let mut state = State::default();
        let (numbers, _) = segment::list(&directory, Series::Cosignatures)?;
        for (position, number) in numbers.iter().enumerate() {
            let last = position + 1 == numbers.len();
            if last {
                let end = state.read(&directory, *number, true, policy.as_deref())?;
                state.continue_at(&directory, *number, end)?;
            }
            let first = match state.tail.first().filter(|_| last) {
                Some(row) => row.size,
                None if last => u64::MAX,
                None => segment::first_size(&directory, Series::Cosignatures, *number)?,
            };
            state.segments.push((*number, first));
        }
        let newest = watch::Sender::new(None);
        let (state, last) = (Mutex::new(state), Mutex::default());
        let store = Self { directory, segment_bytes, policy, state, last, newest };
        let (last, newest) = {
            let mut state = store.lock();
            let size = state.tail.last().map(|row| row.size);
            let last = size.map(|size| store.group(&mut state, size)).transpose()?.flatten();
            (last, store.find_newest(&mut state)?)
        };
        *store.lock_last() = last;
        store.newest.send_replace(newest);
        Ok(store)
    }

    /// Makes lines durable and then known; `keys` are those they were verified under. Lines about a
    /// checkpoint smaller than all of the segment that is written are refused.
    pub fn append(
        &self,
        cosigned: &Cosignatures,
        keys: &[VerifierKey],
    ) -> Result<(), StorageError> {
        let mut guard = self.lock();
        let state = &mut *guard;
        self.make_room(state, cosigned.size)?;
        if let Some((_, first)) = state.segments.last()
            && cosigned.size < *first
            && !state.tail.is_empty()
        {
            return Err(StorageError::NotTheNext { first_index: cosigned.size, size: *first });
        }
        let mut bytes = Vec::new();
        let new: Vec<_> =
            keys.iter().filter(|key| !state.keys.contains(&key.to_string())).collect();
        for key in &new {
            let written = Record::Witness((*key).clone()).write(&mut bytes);
            written.ok_or(StorageError::OutOfRange)?;
        }
        let before = bytes.len();
        let written = Record::Cosigned(cosigned.clone()).write(&mut bytes);
        written.ok_or(StorageError::OutOfRange)?;
        let Some(file) = &mut state.file else { return Err(StorageError::OutOfRange) };
        let offset = file.append(&bytes)?;
        file.sync_data()?;
        state.keys.extend(new.into_iter().map(ToString::to_string));
        let offset = offset + u64::try_from(before).unwrap_or_default();
        let policy = self.policy.as_deref();
        state.take_lines(cosigned, offset, bytes.len() - before, policy);
        let newest = self.witnessed_at(group(&state.tail, cosigned.size));
        drop(guard);
        self.remember(cosigned);
        self.newest.send_if_modified(|known| {
            let newer = newest.filter(|new| known.is_none_or(|known| new.size >= known.size));
            let changed = newer.is_some() && newer != *known;
            *known = newer.or(*known);
            changed
        });
        Ok(())
    }

    /// Whether there is a policy by which checkpoints are witnessed.
    #[must_use]
    pub const fn has_policy(&self) -> bool {
        self.policy.is_some()
    }

    /// Size of the largest checkpoint that anybody has cosigned.
    #[must_use]
    pub fn last_size(&self) -> Option<u64> {
        self.lock_last().as_ref().map(|last| last.size)
    }

    /// The largest size that the witness at this position of the policy has cosigned, and when its last line
    /// was received (Unix seconds), as far as the newest segment says.
    #[must_use]
    pub fn latest(&self, witness: usize) -> Option<(u64, i64)> {
        self.lock().latest.get(&witness).copied()
    }

    /// The newest checkpoint that is witnessed, and every newer one as it comes.
    #[must_use]
    pub fn newest(&self) -> watch::Receiver<Option<Witnessed>> {
        self.newest.subscribe()
    }

    /// The newest line of every witness about the checkpoint of exactly `size`, if it is the largest that
    /// has any.
    #[must_use]
    pub fn lines_of_newest(&self, size: u64) -> Vec<NoteSignature> {
        let last = self.lock_last();
        last.as_ref().filter(|last| last.size == size).map(Cosigned::last_lines).unwrap_or_default()
    }

    /// What was said about the checkpoint of exactly `size`.
    pub fn at(&self, size: u64) -> Result<Option<Cosigned>, StorageError> {
        self.group(&mut self.lock(), size)
    }

    /// Whether the checkpoint of exactly `size` is witnessed.
    pub fn is_witnessed(&self, size: u64) -> Result<bool, StorageError> {
        let mut state = self.lock();
        let Some(number) = state.segment_of(size) else { return Ok(false) };
        let rows = self.rows(&mut state, number)?;
        Ok(self.witnessed_at(group(&rows, size)).is_some())
    }

    /// The earliest witnessed checkpoint that covers the entry at `index`; the newest, where the earliest
    /// is many segments away.
    pub fn witnessed(&self, index: u64) -> Result<Option<Cosigned>, StorageError> {
        let Some(newest) = *self.newest.borrow() else { return Ok(None) };
        if newest.size <= index {
            return Ok(None);
        }
        let mut state = self.lock();
        let from = state.segments.partition_point(|(_, first)| *first <= index).saturating_sub(1);
        let numbers: Vec<u64> = state.segments.iter().map(|(number, _)| *number).collect();
        for number in numbers.into_iter().skip(from).take(MAX_SEARCHED) {
            let rows = self.rows(&mut state, number)?;
            let covering = rows.get(rows.partition_point(|row| row.size <= index)..);
            let mut groups = covering.unwrap_or_default().chunk_by(|a, b| a.size == b.size);
            if let Some(found) = groups.find_map(|rows| self.witnessed_at(rows)) {
                return self.group(&mut state, found.size);
            }
        }
        self.group(&mut state, newest.size)
    }

    /// The newest cosigned checkpoints, newest first, at most `limit`, all smaller than `below`.
    pub fn list(&self, below: u64, limit: usize) -> Result<Vec<Cosigned>, StorageError> {
        let mut state = self.lock();
        let numbers: Vec<u64> = state
            .segments
            .iter()
            .rev()
            .filter(|(_, first)| *first < below)
            .map(|(number, _)| *number)
            .collect();
        let mut found = Vec::new();
        for number in numbers {
            let rows = self.rows(&mut state, number)?;
            let within = rows.get(..rows.partition_point(|row| row.size < below));
            for rows in within.unwrap_or_default().chunk_by(|a, b| a.size == b.size).rev() {
                if found.len() >= limit {
                    return Ok(found);
                }
                found.extend(self.read(number, rows)?);
            }
        }
        Ok(found)
    }

    fn find_newest(&self, state: &mut State) -> Result<Option<Witnessed>, StorageError> {
        let numbers: Vec<u64> = state.segments.iter().rev().map(|(number, _)| *number).collect();
        for number in numbers.into_iter().take(MAX_SEARCHED) {
            let rows = self.rows(state, number)?;
            let mut groups = rows.chunk_by(|a, b| a.size == b.size).rev();
            if let Some(found) = groups.find_map(|rows| self.witnessed_at(rows)) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// What `rows` say, which are all about one checkpoint. None: no quorum has cosigned it.
    fn witnessed_at(&self, rows: &[Row]) -> Option<Witnessed> {
        let policy = self.policy.as_deref()?;
        let size = rows.first()?.size;
        let mut all = Set::default();
        for row in rows {
            all.join(&row.witnesses);
        }
        let received = rows.iter().map(|row| row.received).max()?;
        policy.is_quorum(|witness| all.has(witness)).then_some(Witnessed { size, received })
    }

    fn group(&self, state: &mut State, size: u64) -> Result<Option<Cosigned>, StorageError> {
        let Some(number) = state.segment_of(size) else { return Ok(None) };
        let rows = self.rows(state, number)?;
        self.read(number, group(&rows, size))
    }

    fn read(&self, number: u64, rows: &[Row]) -> Result<Option<Cosigned>, StorageError> {
        let mut read: Option<Cosigned> = None;
        for Row { offset, length, .. } in rows {
            let (series, offset) = (Series::Cosignatures, *offset);
            let record = segment::read_at(&self.directory, series, number, offset, *length)?;
            let Record::Cosigned(Cosignatures { size, note, lines, .. }) = record else {
                return Err(segment::corrupt(series, number, offset, Defect::BadRecord));
            };
            read.get_or_insert_with(|| Cosigned { size, note, lines: Vec::new() })
                .lines
                .extend(lines);
        }
        Ok(read)
    }

    /// The rows of a segment, from memory or from the file.
    fn rows(&self, state: &mut State, number: u64) -> Result<Arc<Vec<Row>>, StorageError> {
        if state.segments.last().is_some_and(|(last, _)| *last == number) {
            return Ok(Arc::clone(&state.tail));
        }
        if let Some(rows) = state.loaded.get(&number) {
            return Ok(Arc::clone(rows));
        }
        let mut read = State::default();
        read.read(&self.directory, number, false, self.policy.as_deref())?;
        if state.loaded.len() >= MAX_LOADED {
            // Which one goes matters little: a segment is read in milliseconds.
            state.loaded.pop_first();
        }
        state.loaded.insert(number, Arc::clone(&read.tail));
        Ok(read.tail)
    }

    /// Makes sure that there is a file to append to. A new one begins only with a checkpoint that is larger
    /// than all before.
    fn make_room(&self, state: &mut State, size: u64) -> Result<(), StorageError> {
        let full = state.file.as_ref().is_some_and(|file| file.len() >= self.segment_bytes);
        let grows = state.tail.last().is_none_or(|row| row.size < size);
        if state.file.is_some() && !(full && grows) {
            return Ok(());
        }
        durable::create_dir_all(&self.directory)?;
        let number = state.segments.last().map_or(0, |(number, _)| number + 1);
        let path = segment::path_of(&self.directory, Series::Cosignatures, number);
        let mut file = AppendFile::open_or_create(&path)?;
        start(&mut file)?;
        state.tail = Arc::default();
        state.keys.clear();
        state.segments.push((number, size));
        state.file = Some(file);
        Ok(())
    }

    /// Keeps the newest lines about the largest checkpoint.
    fn remember(&self, cosigned: &Cosignatures) {
        let Cosignatures { size, note, lines, .. } = cosigned;
        match &mut *self.lock_last() {
            Some(last) if *size < last.size => {}
            Some(last) if *size == last.size => {
                last.lines.extend(lines.iter().cloned());
                last.lines = last.last_lines();
            }
            last => {
                *last = Some(Cosigned { size: *size, note: note.clone(), lines: lines.clone() });
            }
        }
    }

    fn lock_last(&self) -> MutexGuard<'_, Option<Cosigned>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What the lock guards is whole after every statement under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first line of each key.
fn one_each<'a>(lines: impl Iterator<Item = &'a NoteSignature>) -> Vec<NoteSignature> {
    let mut chosen: Vec<NoteSignature> = Vec::new();
    for line in lines {
        let known =
            |other: &NoteSignature| other.name() == line.name() && other.key_id() == line.key_id();
        if chosen.len() < MAX_LINES && !chosen.iter().any(known) {
            chosen.push(line.clone());
        }
    }
    chosen
}
