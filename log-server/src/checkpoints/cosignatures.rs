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

use anchorlog_proto::note::{NoteSignature, VerifierKey};
use anchorlog_proto::tlog_policy::TlogPolicy;
use tokio::sync::watch;

use super::record::{Cosignatures, MAX_LINES, Record};
use super::segment::{self, Series};
use super::segments::{SEGMENT_BYTES, Segments, group, groups_above, groups_below};
use crate::storage::{Defect, StorageError};

pub(crate) use examine::examine;
use rows::{Facts, Row, Set, State};

/// Segments that are looked at, in either direction, for a witnessed checkpoint.
const MAX_SEARCHED: usize = 3;

/// The cosignatures of one log. One thread at a time appends; many read.
#[derive(Debug)]
pub struct CosignatureStore {
    directory: PathBuf,
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
        let mut facts = Facts::new(policy.clone());
        let take = |rows: &mut Vec<Row>, record, offset, length| {
            facts.take(rows, record, offset, length);
            Ok(())
        };
        let segments = Segments::open(&directory, Series::Cosignatures, segment_bytes, take)?;
        let newest = watch::Sender::new(None);
        let (state, last) = (Mutex::new(State { segments, facts }), Mutex::default());
        let store = Self { directory, policy, state, last, newest };
        let (last, newest) = {
            let mut state = store.lock();
            let size = state.segments.tail().last().map(|row| row.size);
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
        let tail = state.segments.tail();
        if let Some(first) = tail.first().filter(|first| cosigned.size < first.size) {
            return Err(StorageError::NotTheNext { first_index: cosigned.size, size: first.size });
        }
        // A new segment begins only with a checkpoint that is larger than all before.
        let grows = tail.last().is_none_or(|row| row.size < cosigned.size);
        if !state.segments.has_room() && grows {
            state.segments.begin()?;
            state.facts.keys.clear();
        }
        let mut bytes = Vec::new();
        let new: Vec<_> =
            keys.iter().filter(|key| !state.facts.keys.contains(&key.to_string())).collect();
        for key in &new {
            let written = Record::Witness((*key).clone()).write(&mut bytes);
            written.ok_or(StorageError::OutOfRange)?;
        }
        let before = bytes.len();
        let written = Record::Cosigned(cosigned.clone()).write(&mut bytes);
        written.ok_or(StorageError::OutOfRange)?;
        let (file, rows) = state.segments.last().ok_or(StorageError::OutOfRange)?;
        let offset = file.append(&bytes)?;
        file.sync_data()?;
        state.facts.keys.extend(new.into_iter().map(ToString::to_string));
        let offset = offset + u64::try_from(before).unwrap_or_default();
        state.facts.take_lines(rows, cosigned, offset, bytes.len() - before);
        let newest = self.witnessed_at(group(rows, cosigned.size));
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
        self.lock().facts.latest.get(&witness).copied()
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
        let Some(number) = state.segments.segment_of(size) else { return Ok(false) };
        let rows = state.rows(number)?;
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
        let numbers: Vec<u64> = state.segments.covering(index).take(MAX_SEARCHED).collect();
        for number in numbers {
            let rows = state.rows(number)?;
            let mut groups = groups_above(&rows, index);
            if let Some(found) = groups.find_map(|rows| self.witnessed_at(rows)) {
                return self.group(&mut state, found.size);
            }
        }
        self.group(&mut state, newest.size)
    }

    /// The newest cosigned checkpoints, newest first, at most `limit`, all smaller than `below`.
    pub fn list(&self, below: u64, limit: usize) -> Result<Vec<Cosigned>, StorageError> {
        let mut state = self.lock();
        let numbers: Vec<u64> = state.segments.newest_first(below).collect();
        let mut found = Vec::new();
        for number in numbers {
            let rows = state.rows(number)?;
            for rows in groups_below(&rows, below) {
                if found.len() >= limit {
                    return Ok(found);
                }
                found.extend(self.read(number, rows)?);
            }
        }
        Ok(found)
    }

    fn find_newest(&self, state: &mut State) -> Result<Option<Witnessed>, StorageError> {
        let newest = state.segments.newest_first(u64::MAX);
        let numbers: Vec<u64> = newest.take(MAX_SEARCHED).collect();
        for number in numbers {
            let rows = state.rows(number)?;
            let mut groups = groups_below(&rows, u64::MAX);
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
        let Some(number) = state.segments.segment_of(size) else { return Ok(None) };
        let rows = state.rows(number)?;
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
