//! What is in memory of the cosignatures: a row for every record of a few segments.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anchorlog_proto::note::NoteSignature;
use anchorlog_proto::tlog_policy::TlogPolicy;

use crate::checkpoints::record::{Cosignatures, Record};
use crate::checkpoints::segments::{SegmentRow, Segments};
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

#[derive(Debug)]
pub(super) struct State {
    pub(super) segments: Segments<Row>,
    pub(super) facts: Facts,
}

/// What the last segment says beside its rows.
#[derive(Debug, Default)]
pub(super) struct Facts {
    policy: Option<Arc<TlogPolicy>>,
    /// Keys that it has, as text.
    pub(super) keys: BTreeSet<String>,
    /// For each witness of the policy: the largest size it has cosigned, and when its last line came.
    pub(super) latest: BTreeMap<usize, (u64, i64)>,
}

impl SegmentRow for Row {
    /// Of each some 15,000 rows, sixty-four bytes each.
    const MAX_LOADED: usize = 8;

    fn size(&self) -> u64 {
        self.size
    }
}

impl State {
    pub(super) fn rows(&mut self, number: u64) -> Result<Arc<Vec<Row>>, StorageError> {
        let mut facts = Facts::new(self.facts.policy.clone());
        self.segments.rows(number, |rows, record, offset, length| {
            facts.take(rows, record, offset, length);
            Ok(())
        })
    }
}

impl Facts {
    pub(super) fn new(policy: Option<Arc<TlogPolicy>>) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Takes a record behind `rows`.
    pub(super) fn take(&mut self, rows: &mut Vec<Row>, record: Record, offset: u64, length: usize) {
        match record {
            Record::Witness(key) => {
                self.keys.insert(key.to_string());
            }
            Record::Cosigned(cosigned) => self.take_lines(rows, &cosigned, offset, length),
            _ => {}
        }
    }

    pub(super) fn take_lines(
        &mut self,
        rows: &mut Vec<Row>,
        cosigned: &Cosignatures,
        offset: u64,
        length: usize,
    ) {
        let mut witnesses = Set::default();
        let known = self.policy.as_deref().map(TlogPolicy::witnesses).unwrap_or_default();
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
        let place = rows.partition_point(|row| row.size <= size);
        rows.insert(place, Row { size, received, offset, length, witnesses });
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
