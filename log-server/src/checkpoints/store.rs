//! The store: appending tokens, and finding them by the size of their checkpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anchorlog_proto::Digest;
use tokio::sync::watch;

use super::choice::{Countersigned, good_until, note_of, one_each};
use super::record::{Record, StoredToken};
use super::segment::{self, Row, Series};
use super::segments::{SEGMENT_BYTES, SegmentRow, Segments, group, groups_above, groups_below};
use crate::storage::{Defect, StorageError};

/// Checkpoints that are looked at, in either direction, for one that a quorum has stamped.
const MAX_PROBED: usize = 64;

/// The countersigned checkpoints of one log. One thread at a time appends; many read.
#[derive(Debug)]
pub struct CheckpointStore {
    directory: PathBuf,
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

#[derive(Debug)]
struct State {
    segments: Segments<Row>,
    facts: Facts,
}

/// What the newest segment says beside its rows.
#[derive(Debug, Default)]
struct Facts {
    /// Tokens whose statement isn't known to be in the log.
    unlogged: BTreeSet<Digest>,
    /// The last of those whose statement is, and its index.
    last_logged: Option<(Digest, u64)>,
    /// When each operator's last token was received.
    last_received: BTreeMap<Arc<str>, i64>,
}

impl SegmentRow for Row {
    /// Of each some 1,500 rows, a hundred bytes each.
    const MAX_LOADED: usize = 16;

    fn size(&self) -> u64 {
        self.size
    }
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
        let mut facts = Facts::default();
        let take =
            |rows: &mut Vec<Row>, record, offset, length| facts.take(rows, record, offset, length);
        let segments = Segments::open(&directory, Series::Tokens, segment_bytes, take)?;
        let state = Mutex::new(State { segments, facts });
        let store = Self { directory, quorum, state, newest: watch::Sender::new(None) };
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
        let last = state.segments.tail().last().map(|row| row.size);
        if last.is_some_and(|last| token.size < last) {
            let (first_index, size) = (token.size, last.unwrap_or_default());
            return Err(StorageError::NotTheNext { first_index, size });
        }
        let digest = Digest::of(&token.token);
        if group(state.segments.tail(), token.size).iter().any(|row| row.digest == digest) {
            return Ok(());
        }
        // A new segment begins only where no checkpoint is split, and nothing of the old one has to be
        // remembered.
        let stays = last == Some(token.size) || !state.facts.unlogged.is_empty();
        if !state.segments.has_room() && !stays {
            state.segments.begin()?;
        }
        let (file, rows) = state.segments.last().ok_or(StorageError::OutOfRange)?;
        let offset = file.append(&record)?;
        file.sync_data()?;
        rows.push(state.facts.row(token, digest, offset, record.len()));
        let newest = Newest::of(group(rows, token.size), self.quorum);
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
        if !state.facts.unlogged.remove(&digest) {
            return Ok(());
        }
        let mut record = Vec::new();
        let written = Record::Logged(digest, index).write(&mut record);
        if let (Some(()), Some((file, _))) = (written, state.segments.last()) {
            file.append(&record)?;
        }
        Ok(())
    }

    /// The tokens whose statement isn't known to be in the log.
    #[must_use]
    pub fn unlogged(&self) -> Vec<Digest> {
        lock(&self.state).facts.unlogged.iter().copied().collect()
    }

    /// The last statement about a token that is known to be in the log: the token's digest and the statement's
    /// index, as far as the newest segment says.
    #[must_use]
    pub fn last_logged(&self) -> Option<(Digest, u64)> {
        lock(&self.state).facts.last_logged
    }

    /// Size of the last checkpoint that anybody has stamped.
    #[must_use]
    pub fn last_size(&self) -> Option<u64> {
        lock(&self.state).segments.tail().last().map(|row| row.size)
    }

    /// The digests of the tokens over checkpoints of `size` and more, as far as the newest segment says.
    #[must_use]
    pub fn digests_from(&self, size: u64) -> BTreeSet<Digest> {
        let state = lock(&self.state);
        let tail = state.segments.tail().iter();
        tail.filter(|row| row.size >= size).map(|row| row.digest).collect()
    }

    /// When the last token of an operator was received, in Unix seconds, as far as the newest segment says.
    #[must_use]
    pub fn last_received(&self, operator: &str) -> Option<i64> {
        lock(&self.state).facts.last_received.get(operator).copied()
    }

    /// The newest checkpoint that is anchored, and every newer one as it comes.
    #[must_use]
    pub fn newest(&self) -> watch::Receiver<Option<Newest>> {
        self.newest.subscribe()
    }

    /// What was said about the checkpoint of exactly `size`.
    pub fn at(&self, size: u64) -> Result<Option<Countersigned>, StorageError> {
        let mut state = lock(&self.state);
        let Some(number) = state.segments.segment_of(size) else { return Ok(None) };
        let rows = state.rows(number)?;
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
        let numbers: Vec<u64> = state.segments.newest_first(below).collect();
        for number in numbers {
            let rows = state.rows(number)?;
            let room = limit.saturating_sub(chosen.len());
            let within = groups_below(&rows, below).take(room);
            chosen.extend(within.map(|rows| (number, rows.to_vec())));
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
        let numbers: Vec<u64> = state.segments.covering(index).collect();
        for number in numbers {
            let rows = state.rows(number)?;
            for rows in groups_above(&rows, index) {
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
        let Some(number) = state.segments.segment_of(size) else { return Ok(None) };
        let rows = state.rows(number)?;
        let rows = group(&rows, size);
        Ok(good_until(rows, self.quorum).map(|until| (until, number, rows.to_vec())))
    }

    fn find_newest(&self) -> Option<Newest> {
        let mut state = lock(&self.state);
        let numbers: Vec<u64> = state.segments.newest_first(u64::MAX).collect();
        let mut probed = 0;
        for number in numbers {
            let rows = match state.rows(number) {
                Ok(rows) => rows,
                Err(error) => {
                    tracing::error!(%error, "countersigned checkpoints can't be read");
                    return None;
                }
            };
            for rows in groups_below(&rows, u64::MAX) {
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
}

/// Until when a quorum vouches for a checkpoint, the segment it is in, and its rows.
type Found = (i64, u64, Vec<Row>);

impl State {
    fn rows(&mut self, number: u64) -> Result<Arc<Vec<Row>>, StorageError> {
        let mut facts = Facts::default();
        self.segments
            .rows(number, |rows, record, offset, length| facts.take(rows, record, offset, length))
    }
}

impl Facts {
    /// Takes a record behind `rows`.
    fn take(
        &mut self,
        rows: &mut Vec<Row>,
        record: Record,
        offset: u64,
        length: usize,
    ) -> Result<(), Defect> {
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
                if rows.last().is_some_and(|last| token.size < last.size) {
                    return Err(Defect::OutOfSequence);
                }
                rows.push(self.row(&token, Digest::of(&token.token), offset, length));
            }
        }
        Ok(())
    }

    /// Notes a token, and makes its row.
    fn row(&mut self, token: &StoredToken, digest: Digest, offset: u64, length: usize) -> Row {
        let StoredToken { size, received, expires, .. } = *token;
        let known = self.last_received.keys().find(|known| ***known == *token.operator);
        let operator = known.cloned().unwrap_or_else(|| token.operator.as_str().into());
        self.last_received.insert(Arc::clone(&operator), received);
        self.unlogged.insert(digest);
        Row { size, operator, received, expires, digest, offset, length }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // What the lock guards is whole after every statement under it.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
