//! Collecting what a log holds about a subject, and what that shows by itself.

use std::collections::BTreeMap;

use crate::digest::Digest;
use crate::statement::{LogEntry, StatementKind, Trail};

use super::{
    AuditCode, AuditFinding, AuditedEntry, MAX_ENTRIES, MAX_FINDINGS, MAX_INDEXES, Subject,
};

/// Takes a log's entries in their order and keeps those about one subject.
///
/// What it holds grows with the number of entries about the subject, and not with the log.
#[derive(Clone, Debug)]
pub struct Collector {
    subject: Subject,
    entries: Vec<AuditedEntry>,
    omitted: u64,
    /// Commitments, roots and heads by what they belong to, ascending: the trail; for a commitment outside
    /// of any trail the trail that its plan's statements have.
    commitments: BTreeMap<String, Vec<(u64, Digest)>>,
    roots: BTreeMap<Trail, Vec<(u64, Digest)>>,
    heads: BTreeMap<Trail, Vec<u64>>,
    positions: BTreeMap<(Trail, u64), Vec<(u64, Digest)>>,
}

/// What was collected.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the parts of an audit that its reader fills in")]
pub struct Collected {
    /// The entries, by ascending index; at most [`MAX_ENTRIES`].
    pub entries: Vec<AuditedEntry>,
    /// How many more there are.
    pub entries_omitted: u64,
    /// What all of them show, ascending; at most [`MAX_FINDINGS`].
    pub findings: Vec<AuditFinding>,
    /// How many more there are.
    pub findings_omitted: u64,
}

impl Collector {
    /// Nothing collected yet.
    #[must_use]
    pub fn new(subject: Subject) -> Self {
        Self {
            subject,
            entries: Vec::new(),
            omitted: 0,
            commitments: BTreeMap::new(),
            roots: BTreeMap::new(),
            heads: BTreeMap::new(),
            positions: BTreeMap::new(),
        }
    }

    /// What is collected.
    #[must_use]
    pub const fn subject(&self) -> &Subject {
        &self.subject
    }

    /// How many entries were about the subject.
    #[must_use]
    pub fn count(&self) -> u64 {
        let listed = u64::try_from(self.entries.len()).unwrap_or(u64::MAX);
        listed.saturating_add(self.omitted)
    }

    /// The next entry of the log; the indexes have to ascend. Whether it is about the subject.
    pub fn push(&mut self, index: u64, entry: &LogEntry) -> bool {
        if !self.subject.takes(entry) {
            return false;
        }
        self.note(index, entry);
        if self.entries.len() < MAX_ENTRIES {
            self.entries.push(AuditedEntry::of(index, entry));
        } else {
            self.omitted = self.omitted.saturating_add(1);
        }
        true
    }

    /// Remembers what findings are made from: the first entry of each digest is enough, but for heads.
    fn note(&mut self, index: u64, entry: &LogEntry) {
        let statement = entry.statement();
        let trail = statement.trail.clone();
        let row = (index, statement.digest);
        match (statement.kind, trail) {
            (StatementKind::PlanCommitment, trail) => {
                let belongs =
                    trail.map_or_else(|| statement.digest.to_string(), |trail| trail.to_string());
                distinct(self.commitments.entry(belongs).or_default(), row);
            }
            (StatementKind::CoreRoot, Some(trail)) => {
                distinct(self.roots.entry(trail).or_default(), row);
            }
            (StatementKind::ChainHead, Some(trail)) => {
                self.heads.entry(trail).or_default().push(index);
            }
            _ => {}
        }
        if let (Some(trail), Some(sequence)) = (&statement.trail, statement.sequence) {
            distinct(self.positions.entry((trail.clone(), sequence)).or_default(), row);
        }
    }

    /// What was collected, and what it shows.
    #[must_use]
    pub fn finish(self) -> Collected {
        let mut findings = Vec::new();
        let mut several = |code, rows: &[(u64, Digest)]| {
            if rows.len() > 1 {
                let indexes = rows.iter().map(|(index, _)| *index).take(MAX_INDEXES).collect();
                findings.push(AuditFinding { code, indexes });
            }
        };
        self.commitments.values().for_each(|rows| several(AuditCode::CommitmentConflict, rows));
        self.roots.values().for_each(|rows| several(AuditCode::SecondCoreRoot, rows));
        self.positions.values().for_each(|rows| several(AuditCode::SequenceConflict, rows));
        for (belongs, rows) in &self.commitments {
            let rooted = belongs.parse().is_ok_and(|trail: Trail| self.roots.contains_key(&trail));
            if !rooted {
                let indexes = rows.iter().map(|(index, _)| *index).take(MAX_INDEXES).collect();
                findings.push(AuditFinding { code: AuditCode::NoCoreRoot, indexes });
            }
        }
        for indexes in self.heads.values() {
            let Some((last, superseded)) = indexes.split_last() else { continue };
            findings.extend(superseded.iter().map(|index| AuditFinding {
                code: AuditCode::HeadSuperseded,
                indexes: vec![*index, *last],
            }));
        }
        findings.sort();
        let omitted = findings.len().saturating_sub(MAX_FINDINGS);
        findings.truncate(MAX_FINDINGS);
        Collected {
            entries: self.entries,
            entries_omitted: self.omitted,
            findings,
            findings_omitted: u64::try_from(omitted).unwrap_or(u64::MAX),
        }
    }
}

/// Adds a row whose digest isn't there yet.
fn distinct(rows: &mut Vec<(u64, Digest)>, row: (u64, Digest)) {
    // More than a finding can name needn't be told apart.
    if rows.len() <= MAX_INDEXES && !rows.iter().any(|(_, digest)| *digest == row.1) {
        rows.push(row);
    }
}
