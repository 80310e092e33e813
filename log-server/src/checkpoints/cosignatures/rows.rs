//! What is in memory of the cosignatures: a row for every record of a few segments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anchorlog_client::durable::AppendFile;
use anchorlog_proto::note::NoteSignature;
use anchorlog_proto::tlog_policy::TlogPolicy;

use crate::checkpoints::record::{Cosignatures, Record};
use crate::checkpoints::segment::{self, End, Series};
use crate::checkpoints::store::start;
use crate::storage::StorageError;

/// Where lines are, and whose they are.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) size: u64,
    pub(super) received: i64,
    pub(super) offset: u64,
    pub(super) length: usize,
    /// Witnesses of the policy, by position.
    pub(super) witnesses: Set,
}

/// Positions of a policy's witnesses: [`anchorlog_proto::tlog_policy::MAX_WITNESSES`] bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Set([u64; 4]);

#[derive(Debug, Default)]
pub(super) struct State {
    /// Every segment and the size of its first checkpoint, oldest first. The last one is written.
    pub(super) segments: Vec<(u64, u64)>,
    pub(super) file: Option<AppendFile>,
    /// Keys that the last segment has, as text.
    pub(super) keys: BTreeSet<String>,
    /// Rows of the last segment, by size.
    pub(super) tail: Arc<Vec<Row>>,
    /// Rows of older segments that were asked for.
    pub(super) loaded: BTreeMap<u64, Arc<Vec<Row>>>,
    /// For each witness of the policy: the largest size it has cosigned, and when its last line came.
    pub(super) latest: BTreeMap<usize, (u64, i64)>,
}

impl State {
    /// Takes every record of a segment.
    pub(super) fn read(
        &mut self,
        directory: &Path,
        number: u64,
        last: bool,
        policy: Option<&TlogPolicy>,
    ) -> Result<End, StorageError> {
        segment::walk(directory, Series::Cosignatures, number, last, |record, offset, length| {
            match record {
                Record::Witness(key) => {
                    self.keys.insert(key.to_string());
                }
                Record::Cosigned(cosigned) => self.take_lines(&cosigned, offset, length, policy),
                _ => {}
            }
            Ok(())
        })
    }

    /// Opens the last segment for writing.
    pub(super) fn continue_at(
        &mut self,
        directory: &Path,
        number: u64,
        end: End,
    ) -> Result<(), StorageError> {
        let path = segment::path_of(directory, Series::Cosignatures, number);
        let mut file = AppendFile::open_or_create(&path)?;
        if end.torn > 0 {
            let file_name = segment::file_of(Series::Cosignatures, number);
            tracing::warn!(
                file = file_name,
                bytes = end.torn,
                "a record that was never shown is dropped"
            );
            file.truncate(end.records)?;
            file.sync_data()?;
        }
        start(&mut file)?;
        self.file = Some(file);
        Ok(())
    }

    pub(super) fn take_lines(
        &mut self,
        cosigned: &Cosignatures,
        offset: u64,
        length: usize,
        policy: Option<&TlogPolicy>,
    ) {
        let mut witnesses = Set::default();
        let known = policy.map(TlogPolicy::witnesses).unwrap_or_default();
        for (position, witness) in known.iter().enumerate() {
            let key = witness.key();
            let has =
                |line: &NoteSignature| line.name() == key.name() && line.key_id() == key.key_id();
            if cosigned.lines.iter().any(has) {
                witnesses.add(position);
                let latest = self.latest.entry(position).or_default();
                latest.0 = latest.0.max(cosigned.size);
                latest.1 = latest.1.max(cosigned.received);
            }
        }
        let Cosignatures { size, received, .. } = *cosigned;
        let rows = Arc::make_mut(&mut self.tail);
        let place = rows.partition_point(|row| row.size <= size);
        rows.insert(place, Row { size, received, offset, length, witnesses });
    }

    /// The segment in which a checkpoint of `size` can be.
    pub(super) fn segment_of(&self, size: u64) -> Option<u64> {
        let end = self.segments.partition_point(|(_, first)| *first <= size);
        self.segments.get(end.checked_sub(1)?).map(|(number, _)| *number)
    }
}

impl Set {
    pub(super) fn add(&mut self, position: usize) {
        if let Some(word) = self.0.get_mut(position / 64) {
            *word |= 1 << (position % 64);
        }
    }

    pub(super) fn has(&self, position: usize) -> bool {
        self.0.get(position / 64).is_some_and(|word| (word >> (position % 64)) & 1 == 1)
    }

    pub(super) fn join(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }
}

/// The rows of one size.
pub(super) fn group(rows: &[Row], size: u64) -> &[Row] {
    let start = rows.partition_point(|row| row.size < size);
    let end = rows.partition_point(|row| row.size <= size);
    rows.get(start..end).unwrap_or_default()
}
