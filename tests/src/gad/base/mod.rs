//! The base records: one of every kind that the formats know, each sound.

pub mod envelopes;
pub mod gates;
pub mod runs;
pub mod sessions;
pub mod shapes;

use super::case::{Case, Level, case};
use super::record::Record;

/// All of them, as vectors.
#[must_use]
pub fn all() -> Vec<Case> {
    let sound = |base: fn() -> Record, must: &[&'static str], must_not: &[&'static str]| {
        let record = base();
        case(record.base, base, Level::Nobody, record.clause, record.why)
            .holds(&["NOTE.NOT_HISTORY"])
            .holds(must)
            .without(must_not)
    };
    let mut all = Vec::new();
    for list in [runs::ALL, sessions::ALL, gates::ALL, shapes::ALL, envelopes::ALL] {
        all.extend(list.iter().map(|(base, must, must_not)| sound(*base, must, must_not)));
    }
    all
}

/// A base, the codes it has to show, and those it must not.
pub type Base = (fn() -> Record, &'static [&'static str], &'static [&'static str]);
