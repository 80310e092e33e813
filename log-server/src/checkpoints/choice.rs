//! Which of several tokens stand for a checkpoint.

use std::collections::BTreeMap;

use super::record::StoredToken;
use super::segment::Row;

/// A checkpoint and what others have said about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Countersigned {
    /// Number of entries that it covers.
    pub size: u64,
    /// The signed note, with the log's own signature.
    pub note: Vec<u8>,
    /// Tokens over it, in the order in which they came.
    pub tokens: Vec<StoredToken>,
}

/// Operators whose tokens one receipt carries: the longest tokens of so many fit into one.
pub const MAX_OPERATORS: usize = 10;

/// One token for each operator: the first one that has not run out at `now`, else the last one. An
/// operator counts once, however often it stamped.
pub(super) fn one_each(rows: &[Row], now: i64) -> Vec<&Row> {
    let mut chosen: Vec<&Row> = Vec::new();
    for row in rows {
        let room = chosen.len() < MAX_OPERATORS;
        match chosen.iter_mut().find(|known| known.operator == row.operator) {
            Some(known) if known.expires < now => *known = row,
            None if room => chosen.push(row),
            _ => {}
        }
    }
    chosen
}

/// Until when `quorum` operators vouch for what the rows are about. None: they never did.
pub(super) fn good_until(rows: &[Row], quorum: usize) -> Option<i64> {
    let mut ends: BTreeMap<&str, i64> = BTreeMap::new();
    for row in rows {
        let end = ends.entry(&row.operator).or_insert(row.expires);
        *end = row.expires.max(*end);
    }
    let mut ends: Vec<i64> = ends.into_values().collect();
    ends.sort_unstable_by(|a, b| b.cmp(a));
    ends.get(quorum.checked_sub(1)?).copied()
}
