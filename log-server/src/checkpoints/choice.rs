//! Which of several tokens stand for a checkpoint.

use std::collections::BTreeMap;

use anchorlog_proto::note::SignedNote;

use super::record::StoredToken;
use super::segment::Row;

/// A checkpoint and what others have said about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Countersigned {
    /// Number of entries that it covers.
    pub size: u64,
    /// The signed note, with a line by each key of the log that any of the tokens was stored with.
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

/// The note of tokens over one checkpoint, with every line that one of them was stored with: the log may have
/// changed its key in between.
pub(super) fn note_of(tokens: &[StoredToken]) -> Vec<u8> {
    let Some((first, others)) = tokens.split_first() else { return Vec::new() };
    if others.iter().all(|token| token.note == first.note) {
        return first.note.clone();
    }
    let parsed = |token: &StoredToken| SignedNote::parse(&token.note).ok();
    let mut whole = parsed(first);
    for note in others.iter().filter_map(parsed) {
        whole = whole.and_then(|mut whole| {
            for line in note.signatures() {
                if !whole.signatures().contains(line) {
                    whole = whole.with_signature(line.clone()).ok()?;
                }
            }
            Some(whole)
        });
    }
    // What was stored is a note; were it not, its readers say so.
    whole.map_or_else(|| first.note.clone(), |whole| whole.to_bytes())
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use anchorlog_proto::note::{KeyName, NoteSigner};
    use anchorlog_proto::timestamp::GenTime;

    use super::*;

    const TEXT: &str = "log.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";

    fn stored(seeds: &[u8]) -> StoredToken {
        let signer =
            |seed: &u8| NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [*seed; 32]);
        let lines = seeds.iter().map(|seed| signer(seed).sign(TEXT)).collect();
        StoredToken {
            size: 0,
            note: SignedNote::new(TEXT.to_owned(), lines).unwrap().to_bytes(),
            operator: "operator".to_owned(),
            received: 0,
            expires: 0,
            gen_time: GenTime::from_unix(0),
            token: vec![1],
        }
    }

    #[test]
    fn tokens_from_before_and_after_a_change_of_keys_share_a_note() {
        assert_eq!(note_of(&[stored(&[1]), stored(&[1])]), stored(&[1]).note);
        assert_eq!(note_of(&[stored(&[1]), stored(&[2, 1]), stored(&[2])]), stored(&[1, 2]).note);
        assert_eq!(note_of(&[]), Vec::<u8>::new());
        let broken = StoredToken { note: b"no note".to_vec(), ..stored(&[1]) };
        assert_eq!(note_of(&[broken, stored(&[1])]), b"no note");
    }
}
