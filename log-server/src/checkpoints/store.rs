//! The store: appending tokens, and finding them by the size of their checkpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anchorlog_client::durable::{self, AppendFile};
use anchorlog_proto::Digest;
use tokio::sync::watch;

use super::choice::{Countersigned, good_until, note_of, one_each};
use super::record::{Record, StoredToken};
use super::segment::{self, Row, Series};
use crate::storage::{Defect, StorageError};

/// Bytes after which the next checkpoint begins a new segment.
const SEGMENT_BYTES: u64 = 8 << 20;

/// Older segments whose rows are kept in memory: of each some 1,500 rows, a hundred bytes each.
const MAX_LOADED: usize = 16;

/// Checkpoints that are looked at, in either direction, for one that a quorum has stamped.
const MAX_PROBED: usize = 64;

/// The countersigned checkpoints of one log. One thread at a time appends; many read.
#[derive(Debug)]
pub struct CheckpointStore {
    directory: PathBuf,
    segment_bytes: u64,
    quorum: usize,
    state: Mutex<State>,
    newest: watch::Sender<Option<Newest>>,
}

/// The newest checkpoint that a quorum of operators has stamped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Newest {
    /// Number of entries that it covers.
    pub size: u64,
    /// Until when a quorum's certificates are good, in Unix seconds.
    pub good_until: i64,
    /// When the last of its tokens was received, in Unix seconds.
    pub stamped: i64,
}

impl Newest {
    /// What `rows` say, which are all about one checkpoint. None: no quorum has stamped it.
    fn of(rows: &[Row], quorum: usize) -> Option<Self> {
        let good_until = good_until(rows, quorum)?;
        let stamped = rows.iter().map(|row| row.received).max()?;
        Some(Self { size: rows.first()?.size, good_until, stamped })
    }
}

#[derive(Debug, Default)]
struct State {
    /// Every segment and the size of its first checkpoint, oldest first. The last one is written.
    segments: Vec<(u64, u64)>,
    file: Option<AppendFile>,
    /// Rows of the last segment.
    tail: Arc<Vec<Row>>,
    /// Rows of older segments that were asked for.
    loaded: BTreeMap<u64, Arc<Vec<Row>>>,
    /// Tokens whose statement isn't known to be in the log.
    unlogged: BTreeSet<Digest>,
    /// The last of those whose statement is, and its index.
    last_logged: Option<(Digest, u64)>,
    /// When each operator's last token was received.
    last_received: BTreeMap<Arc<str>, i64>,
}

impl CheckpointStore {
    /// Opens the store of the data directory `data`, and drops a record that a crash tore. Nothing is
    /// created before there is something to store. `quorum` distinct operators make a checkpoint anchored.
    pub fn open(data: &Path, quorum: usize) -> Result<Self, StorageError> {
        Self::open_with(data, quorum, SEGMENT_BYTES)
    }

    pub(super) fn open_with(
        data: &Path,
        quorum: usize,
        segment_bytes: u64,
    ) -> Result<Self, StorageError> {
        let directory = data.join(segment::FOLDER);
        let mut state = State::default();
        let (numbers, _) = segment::list(&directory, Series::Tokens)?;
        for (position, number) in numbers.iter().enumerate() {
            if position + 1 < numbers.len() {
                state
                    .segments
                    .push((*number, segment::first_size(&directory, Series::Tokens, *number)?));
                continue;
            }
            let end = segment::walk(
                &directory,
                Series::Tokens,
                *number,
                true,
                |record, offset, length| state.take(*number, record, offset, length),
            )?;
            let mut file =
                AppendFile::open_or_create(&segment::path_of(&directory, Series::Tokens, *number))?;
            if end.torn > 0 {
                tracing::warn!(
                    file = file_of(*number),
                    bytes = end.torn,
                    "a record that was never shown is dropped"
                );
                file.truncate(end.records)?;
                file.sync_data()?;
            }
            start(&mut file)?;
            let first = state.tail.first().map_or(u64::MAX, |row| row.size);
            state.segments.push((*number, first));
            state.file = Some(file);
        }
        let store = Self {
            directory,
            segment_bytes,
            quorum,
            state: Mutex::new(state),
            newest: watch::Sender::new(None),
        };
        store.newest.send_replace(store.find_newest());
        Ok(store)
    }

    /// Makes a token durable and then known. One for a smaller checkpoint than the last is refused, and
    /// one that is stored already changes nothing.
    pub fn append(&self, token: &StoredToken) -> Result<(), StorageError> {
        let mut record = Vec::new();
        let written = Record::Token(token.clone()).write(&mut record);
        written.ok_or(StorageError::OutOfRange)?;
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let last = state.tail.last().map(|row| row.size);
        if last.is_some_and(|last| token.size < last) {
            let (first_index, size) = (token.size, last.unwrap_or_default());
            return Err(StorageError::NotTheNext { first_index, size });
        }
        let digest = Digest::of(&token.token);
        if state.tail.iter().any(|row| row.size == token.size && row.digest == digest) {
            return Ok(());
        }
        self.make_room(state, token.size)?;
        let Some(file) = &mut state.file else { return Err(StorageError::OutOfRange) };
        let offset = file.append(&record)?;
        file.sync_data()?;
        let number = state.segments.last().map_or(0, |(number, _)| *number);
        state.take(number, Record::Token(token.clone()), offset, record.len())?;
        let newest = Newest::of(group(&state.tail, token.size), self.quorum);
        drop(guard);
        if newest.is_some() {
            self.newest.send_replace(newest);
        }
        Ok(())
    }

    /// Notes that the statement about a token is in the log. That need not be durable: the same statement
    /// gets the same index again.
    pub fn mark_logged(&self, digest: Digest, index: u64) -> Result<(), StorageError> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        if !state.unlogged.remove(&digest) {
            return Ok(());
        }
        let mut record = Vec::new();
        let written = Record::Logged(digest, index).write(&mut record);
        if let (Some(()), Some(file)) = (written, &mut state.file) {
            file.append(&record)?;
        }
        Ok(())
    }

    /// The tokens whose statement isn't known to be in the log.
    #[must_use]
    pub fn unlogged(&self) -> Vec<Digest> {
        lock(&self.state).unlogged.iter().copied().collect()
    }

    /// The last statement about a token that is known to be in the log: the token's digest and the statement's
    /// index, as far as the newest segment says.
    #[must_use]
    pub fn last_logged(&self) -> Option<(Digest, u64)> {
        lock(&self.state).last_logged
    }

    /// Size of the last checkpoint that anybody has stamped.
    #[must_use]
    pub fn last_size(&self) -> Option<u64> {
        lock(&self.state).tail.last().map(|row| row.size)
    }

    /// The digests of the tokens over checkpoints of `size` and more, as far as the newest segment says.
    #[must_use]
    pub fn digests_from(&self, size: u64) -> BTreeSet<Digest> {
        let state = lock(&self.state);
        state.tail.iter().filter(|row| row.size >= size).map(|row| row.digest).collect()
    }

    /// When the last token of an operator was received, in Unix seconds, as far as the newest segment says.
    #[must_use]
    pub fn last_received(&self, operator: &str) -> Option<i64> {
        lock(&self.state).last_received.get(operator).copied()
    }

    /// The newest checkpoint that is anchored, and every newer one as it comes.
    #[must_use]
    pub fn newest(&self) -> watch::Receiver<Option<Newest>> {
        self.newest.subscribe()
    }

    /// What was said about the checkpoint of exactly `size`.
    pub fn at(&self, size: u64) -> Result<Option<Countersigned>, StorageError> {
        let mut state = lock(&self.state);
        let Some(number) = state.segment_of(size) else { return Ok(None) };
        let rows = self.rows(&mut state, number)?;
        drop(state);
        match group(&rows, size) {
            [] => Ok(None),
            rows => self.read(number, rows).map(Some),
        }
    }

    /// The anchored checkpoint for the receipt of the entry at `index`, with one token for each operator.
    ///
    /// The earliest one that covers the entry, as long as a quorum of its tokens has not run out at `now`:
    /// it bounds the entry's time best. Else the newest, which was renewed; an entry that it covers is
    /// proved in it as well. Else the earliest all the same.
    pub fn anchored(&self, index: u64, now: i64) -> Result<Option<Countersigned>, StorageError> {
        self.anchored_preferring(index, now, |_| true)
    }

    /// The same, but among the checkpoints that a quorum vouches for the earliest whose size is a `better`
    /// one, if there is any.
    pub fn anchored_preferring(
        &self,
        index: u64,
        now: i64,
        better: impl Fn(u64) -> bool,
    ) -> Result<Option<Countersigned>, StorageError> {
        let mut guard = lock(&self.state);
        let Some(newest) = *self.newest.borrow() else { return Ok(None) };
        if newest.size <= index {
            return Ok(None);
        }
        let mut found = self.earliest(&mut guard, index, now, better)?;
        let run_out = found.as_ref().is_none_or(|(until, ..)| *until < now);
        if run_out && let Some(last) = self.group_of(&mut guard, newest.size)? {
            let longer = found.as_ref().is_none_or(|(until, ..)| last.0 > *until);
            found = if longer { Some(last) } else { found };
        }
        drop(guard);
        let Some((_, number, rows)) = found else { return Ok(None) };
        self.read(number, one_each(&rows, now)).map(Some)
    }

    /// The newest countersigned checkpoints, newest first, at most `limit`, all smaller than `below`.
    pub fn list(&self, below: u64, limit: usize) -> Result<Vec<Countersigned>, StorageError> {
        let mut chosen: Vec<(u64, Vec<Row>)> = Vec::new();
        let mut state = lock(&self.state);
        let numbers: Vec<u64> = state
            .segments
            .iter()
            .rev()
            .filter(|(_, first)| *first < below)
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            let rows = self.rows(&mut state, number)?;
            let groups = rows.chunk_by(|a, b| a.size == b.size).rev();
            let within = groups.filter(|rows| rows.first().is_some_and(|row| row.size < below));
            let room = limit.saturating_sub(chosen.len());
            chosen.extend(within.take(room).map(|rows| (number, rows.to_vec())));
            if chosen.len() >= limit {
                break;
            }
        }
        drop(state);
        chosen.iter().map(|(number, rows)| self.read(*number, rows)).collect()
    }

    /// The first checkpoint that covers `index` and that a quorum vouches for at `now`, a `better` one if
    /// there is one; else the first that a quorum has ever stamped. All among the first [`MAX_PROBED`].
    fn earliest(
        &self,
        state: &mut State,
        index: u64,
        now: i64,
        better: impl Fn(u64) -> bool,
    ) -> Result<Option<Found>, StorageError> {
        let mut stamped: Option<Found> = None;
        let mut good: Option<Found> = None;
        let mut probed = 0;
        let from = state.segments.partition_point(|(_, first)| *first <= index).saturating_sub(1);
        let numbers: Vec<u64> =
            state.segments.iter().skip(from).map(|(number, _)| *number).collect();
        for number in numbers {
            let rows = self.rows(state, number)?;
            let covering = rows.get(rows.partition_point(|row| row.size <= index)..);
            for rows in covering.unwrap_or_default().chunk_by(|a, b| a.size == b.size) {
                if let Some(until) = good_until(rows, self.quorum) {
                    let found = || (until, number, rows.to_vec());
                    if until >= now && rows.first().is_some_and(|row| better(row.size)) {
                        return Ok(Some(found()));
                    }
                    if until >= now {
                        good.get_or_insert_with(found);
                    } else {
                        stamped.get_or_insert_with(found);
                    }
                }
                probed += 1;
                if probed >= MAX_PROBED {
                    return Ok(good.or(stamped));
                }
            }
        }
        Ok(good.or(stamped))
    }

    fn group_of(&self, state: &mut State, size: u64) -> Result<Option<Found>, StorageError> {
        let Some(number) = state.segment_of(size) else { return Ok(None) };
        let rows = self.rows(state, number)?;
        let rows = group(&rows, size);
        Ok(good_until(rows, self.quorum).map(|until| (until, number, rows.to_vec())))
    }

    fn find_newest(&self) -> Option<Newest> {
        let mut state = lock(&self.state);
        let numbers: Vec<u64> = state.segments.iter().rev().map(|(number, _)| *number).collect();
        let mut probed = 0;
        for number in numbers {
            let rows = match self.rows(&mut state, number) {
                Ok(rows) => rows,
                Err(error) => {
                    tracing::error!(%error, "countersigned checkpoints can't be read");
                    return None;
                }
            };
            for rows in rows.chunk_by(|a, b| a.size == b.size).rev() {
                let newest = Newest::of(rows, self.quorum);
                if newest.is_some() {
                    return newest;
                }
                probed += 1;
                if probed >= MAX_PROBED {
                    return None;
                }
            }
        }
        None
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
        segment::walk(&self.directory, Series::Tokens, number, false, |record, offset, length| {
            read.take(number, record, offset, length)
        })?;
        if state.loaded.len() >= MAX_LOADED {
            // Which one goes matters little: a segment is read in milliseconds.
            state.loaded.pop_first();
        }
        state.loaded.insert(number, Arc::clone(&read.tail));
        Ok(read.tail)
    }

    fn read<'a>(
        &self,
        number: u64,
        rows: impl IntoIterator<Item = &'a Row>,
    ) -> Result<Countersigned, StorageError> {
        let read = |row| segment::read(&self.directory, number, row);
        let tokens = rows.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let first = tokens.first().ok_or(StorageError::OutOfRange)?;
        Ok(Countersigned { size: first.size, note: note_of(&tokens), tokens })
    }

    /// Makes sure that there is a file to append to. A new one begins only where no checkpoint is split,
    /// and where nothing of the old one has to be remembered.
    fn make_room(&self, state: &mut State, size: u64) -> Result<(), StorageError> {
        let full = state.file.as_ref().is_some_and(|file| file.len() >= self.segment_bytes);
        let splits = state.tail.last().is_some_and(|row| row.size == size);
        if state.file.is_some() && (!full || splits || !state.unlogged.is_empty()) {
            return Ok(());
        }
        durable::create_dir_all(&self.directory)?;
        if let Some(old) = &state.file {
            old.sync_data()?;
        }
        let number = state.segments.last().map_or(0, |(number, _)| number + 1);
        let mut file =
            AppendFile::open_or_create(&segment::path_of(&self.directory, Series::Tokens, number))?;
        start(&mut file)?;
        state.tail = Arc::default();
        state.segments.push((number, size));
        state.file = Some(file);
        Ok(())
    }
}

/// Until when a quorum vouches for a checkpoint, the segment it is in, and its rows.
type Found = (i64, u64, Vec<Row>);

impl State {
    /// Takes a record of the last segment.
    fn take(
        &mut self,
        number: u64,
        record: Record,
        offset: u64,
        length: usize,
    ) -> Result<(), StorageError> {
        match record {
            // Lines of witnesses are in segments of their own.
            Record::Start | Record::Witness(_) | Record::Cosigned(_) => {}
            Record::Logged(digest, index) => {
                self.unlogged.remove(&digest);
                if self.last_logged.is_none_or(|(_, last)| last <= index) {
                    self.last_logged = Some((digest, index));
                }
            }
            Record::Token(token) => {
                if self.tail.last().is_some_and(|last| token.size < last.size) {
                    return Err(corrupt(number, offset, Defect::OutOfSequence));
                }
                let digest = Digest::of(&token.token);
                let known = self.last_received.keys().find(|known| ***known == *token.operator);
                let operator = known.cloned().unwrap_or_else(|| token.operator.as_str().into());
                self.last_received.insert(Arc::clone(&operator), token.received);
                self.unlogged.insert(digest);
                let StoredToken { size, received, expires, .. } = token;
                if let Some((last, first)) = self.segments.last_mut()
                    && self.tail.is_empty()
                    && *last == number
                {
                    *first = size;
                }
                let row = Row { size, operator, received, expires, digest, offset, length };
                Arc::make_mut(&mut self.tail).push(row);
            }
        }
        Ok(())
    }

    /// The segment in which a checkpoint of `size` can be.
    fn segment_of(&self, size: u64) -> Option<u64> {
        let end = self.segments.partition_point(|(_, first)| *first <= size);
        self.segments.get(end.checked_sub(1)?).map(|(number, _)| *number)
    }
}

/// Writes the first record of a segment, unless it is there.
pub(super) fn start(file: &mut AppendFile) -> Result<(), StorageError> {
    if file.is_empty() {
        let mut record = Vec::new();
        Record::Start.write(&mut record).ok_or(StorageError::OutOfRange)?;
        file.append(&record)?;
    }
    Ok(())
}

fn file_of(number: u64) -> String {
    segment::file_of(Series::Tokens, number)
}

fn corrupt(number: u64, offset: u64, defect: Defect) -> StorageError {
    segment::corrupt(Series::Tokens, number, offset, defect)
}

/// The rows of one size.
fn group(rows: &[Row], size: u64) -> &[Row] {
    let start = rows.partition_point(|row| row.size < size);
    let end = rows.partition_point(|row| row.size <= size);
    rows.get(start..end).unwrap_or_default()
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // What the lock guards is whole after every statement under it.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
