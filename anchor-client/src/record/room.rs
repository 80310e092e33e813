//! How much of a bundle a record has left. What it can't hold it must refuse while it is recorded, since nothing
//! that was recorded can be taken back, and a record beyond the limits can't be exported.

use std::collections::BTreeMap;

use anchorlog_proto::gad::Limits;

use super::RecordError;

/// What bytes are wanted for. What comes later in a session and in a record always finds room after what
/// comes before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Use {
    /// An executor's output, behind which its delta is kept.
    Output,
    /// Another artifact, which an entry will name.
    Artifact,
    /// An entry. Those that end, disclose or seal a record are not asked about.
    Entry,
}

/// The members of a record that were counted so far. The witness grows all the time and is told.
#[derive(Debug)]
pub(super) struct Room {
    bytes: u64,
    members: u64,
    sizes: BTreeMap<String, u64>,
    sum: u64,
}

impl Default for Room {
    fn default() -> Self {
        let Limits { bundle_bytes: bytes, members, .. } = Limits::DEFAULT;
        Self { bytes, members, sizes: BTreeMap::new(), sum: 0 }
    }
}

impl Room {
    /// Counts a member, instead of what was counted under its path before.
    pub(super) fn count(&mut self, path: &str, size: u64) {
        let before = self.sizes.insert(path.to_owned(), size).unwrap_or_default();
        self.sum = self.sum.saturating_sub(before).saturating_add(size);
    }

    /// Bytes that are left for this beside a witness of so many.
    pub(super) fn left(&self, wanted: Use, witness: u64) -> u64 {
        let reserves = match wanted {
            Use::Output => 3,
            Use::Artifact => 2,
            Use::Entry => 1,
        };
        let used = self.sum.saturating_add(witness);
        self.bytes.saturating_sub(RESERVED_BYTES * reserves).saturating_sub(used)
    }

    /// Whether one more member fits.
    pub(super) fn has_place(&self) -> bool {
        let members = u64::try_from(self.sizes.len()).unwrap_or(u64::MAX);
        members.saturating_add(RESERVED_MEMBERS) < self.members
    }
}

/// Why nothing more is taken.
pub(super) const NO_BYTES: RecordError =
    RecordError::Limit { what: "bytes of a bundle", limit: Limits::DEFAULT.bundle_bytes };

/// The same, of members.
pub(super) const NO_PLACE: RecordError =
    RecordError::Limit { what: "members of a bundle", limit: Limits::DEFAULT.members };

/// What a manifest of the most members takes, and the entries at the end, twice.
const RESERVED_BYTES: u64 = 32 << 20;

/// Manifest, witness, claims, and what an envelope adds.
const RESERVED_MEMBERS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_later_finds_room_after_what_came_before() {
        let mut room = Room { bytes: 5 * RESERVED_BYTES, ..Room::default() };
        assert_eq!(room.left(Use::Output, 0), 2 * RESERVED_BYTES);
        room.count("a", RESERVED_BYTES);
        room.count("b", 7);
        room.count("b", RESERVED_BYTES - 5);
        assert_eq!(room.left(Use::Output, 1), 4);
        assert_eq!(room.left(Use::Output, 6), 0);
        assert_eq!(room.left(Use::Artifact, 6), RESERVED_BYTES - 1);
        assert_eq!(room.left(Use::Entry, 6), 2 * RESERVED_BYTES - 1);
        assert_eq!(room.left(Use::Entry, u64::MAX), 0);
    }

    #[test]
    fn members_are_counted_by_path() {
        let mut room = Room { members: RESERVED_MEMBERS + 2, ..Room::default() };
        for path in ["a", "a", "b"] {
            assert!(room.has_place());
            room.count(path, 0);
        }
        assert!(!room.has_place());
    }
}
