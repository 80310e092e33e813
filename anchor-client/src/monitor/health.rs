//! Whether a log shows signs of life, whether its witnesses keep up, and whether the clocks agree. Pure: the
//! time is an argument.

use anchorlog_proto::Digest;
use anchorlog_verifier::codes::{self, Code};
use serde::{Deserialize, Serialize};

/// Beyond which an alarm is raised, in seconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in, with `..Default::default()`")]
pub struct Limits {
    /// Without any answer.
    pub no_answer: u32,
    /// Without a larger tree, a newer cosignature or a newer time stamp.
    pub silence: u32,
    /// That the newest checkpoint with a quorum may lie behind.
    pub witness_lag: u32,
    /// By which two clocks may differ.
    pub clock: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { no_answer: 600, silence: 86_400, witness_lag: 600, clock: 300 }
    }
}

/// A time that somebody else stated about the log.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stated {
    /// `witness W1`, `authority tsa`.
    pub(super) by: String,
    /// Seconds since 1970.
    pub(super) time: i64,
    /// The size of the tree that it is about.
    pub(super) size: u64,
}

/// What is known about a log's life.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Life {
    /// When the monitor first asked.
    pub(super) started: i64,
    /// When the log last answered with a checkpoint that holds.
    pub(super) answered: Option<i64>,
    /// When the monitor last saw a larger tree than before.
    pub(super) grown: Option<i64>,
    /// Size of the tree that was seen then.
    pub(super) size: u64,
    /// The newest time that somebody stated, one for each of them.
    pub(super) stated: Vec<Stated>,
    /// When the newest checkpoint with a quorum had it, and its size.
    pub(super) witnessed: Option<(i64, u64)>,
    /// The latest `anchor` entries: index, digest of the time stamp.
    pub(super) anchors: Vec<(u64, String)>,
    /// The latest time stamps verified: digest, genTime.
    pub(super) tokens: Vec<(String, i64)>,
}

/// What is wrong: code, subject, detail.
pub(super) type Complaint = (Code, String, String);

impl Life {
    /// A checkpoint of `size` entries that holds was shown.
    pub(super) fn answered(&mut self, now: i64, size: u64) {
        if size > self.size || self.answered.is_none() {
            // The first one is no growth: nobody knows how old it is.
            self.grown = self.answered.map(|_| now);
            self.size = size;
        }
        self.answered = Some(now);
    }

    /// Somebody stated a time about a tree.
    pub(super) fn states(&mut self, stated: Stated) {
        if let Some(one) = self.stated.iter_mut().find(|one| one.by == stated.by) {
            if one.time <= stated.time {
                *one = stated;
            }
        } else if self.stated.len() < MAX_STATED {
            self.stated.push(stated);
        }
    }

    /// A checkpoint of `size` entries had its quorum at `time`.
    pub(super) fn witnessed(&mut self, time: i64, size: u64) {
        if self.witnessed.is_none_or(|(before, _)| before <= time) {
            self.witnessed = Some((time, size));
        }
    }

    /// Entries say that the log has seen time stamps with these digests.
    pub(super) fn anchored(&mut self, anchors: impl IntoIterator<Item = (u64, Digest)>) {
        self.anchors.extend(anchors.into_iter().map(|(index, digest)| (index, digest.to_string())));
        let over = self.anchors.len().saturating_sub(MAX_ANCHORS);
        self.anchors.drain(..over);
    }

    /// A time stamp with this digest was verified.
    pub(super) fn stamped(&mut self, digest: &Digest, time: i64) {
        let digest = digest.to_string();
        if !self.tokens.contains(&(digest.clone(), time)) {
            self.tokens.push((digest, time));
        }
        let over = self.tokens.len().saturating_sub(MAX_ANCHORS);
        self.tokens.drain(..over);
    }

    /// Everything that is wrong at `now`. `quorum`: whether the policy demands witnesses.
    pub(super) fn complaints(&self, now: i64, quorum: bool, limits: &Limits) -> Vec<Complaint> {
        let mut all = Vec::new();
        all.extend(self.silence(now, limits));
        if quorum {
            all.extend(self.unwitnessed(now, limits));
        }
        all.extend(self.stated.iter().filter_map(|stated| self.clock(stated, now, limits)));
        all
    }

    fn silence(&self, now: i64, limits: &Limits) -> Option<Complaint> {
        let answered = self.answered.unwrap_or(self.started);
        let silent = now.saturating_sub(answered);
        if silent > i64::from(limits.no_answer) {
            let detail = format!("no answer that holds for {silent} seconds");
            return Some((codes::log::SILENT, "answer".to_owned(), detail));
        }
        let stated = self.stated.iter().map(|stated| stated.time).max();
        // Without any time it counts from when the monitor began to look.
        let sign = self.grown.max(stated).unwrap_or(self.started);
        let silent = now.saturating_sub(sign);
        if silent > i64::from(limits.silence) {
            let detail = format!(
                "the tree of {} entries is the newest, and no cosignature or time stamp is newer than \
                 {silent} seconds",
                self.size
            );
            return Some((codes::log::SILENT, "checkpoint".to_owned(), detail));
        }
        None
    }

    fn unwitnessed(&self, now: i64, limits: &Limits) -> Option<Complaint> {
        let lag = now.saturating_sub(self.witnessed.map_or(self.started, |(time, _)| time));
        // A tree that has its quorum and doesn't grow isn't behind.
        let current = self.witnessed.is_some_and(|(_, size)| size >= self.size);
        if current || lag <= i64::from(limits.witness_lag) {
            return None;
        }
        let detail = match self.witnessed {
            Some((_, size)) => format!(
                "the newest tree with the policy's quorum has {size} entries and is {lag} seconds old; \
                 the log is at {}",
                self.size
            ),
            None => format!(
                "no checkpoint with the policy's quorum in {lag} seconds; the log is at {} entries",
                self.size
            ),
        };
        Some((codes::log::QUORUM, "quorum".to_owned(), detail))
    }

    fn clock(&self, stated: &Stated, now: i64, limits: &Limits) -> Option<Complaint> {
        let Stated { by, time, size } = stated;
        let ahead = time.saturating_sub(now);
        if ahead > i64::from(limits.clock) {
            let detail = format!("{by} states a time {ahead} seconds ahead of this clock");
            return Some((codes::log::CLOCK, by.clone(), detail));
        }
        // Whoever states a time about a tree that holds a time stamp comes after that time stamp.
        let before = self.anchors.iter().filter(|(index, _)| index < size);
        let stamps = before.filter_map(|(index, digest)| {
            let token = self.tokens.iter().find(|(token, _)| token == digest);
            token.map(|(_, stamped)| (*index, *stamped))
        });
        let (index, stamped) = stamps.max_by_key(|(_, stamped)| *stamped)?;
        let early = stamped.saturating_sub(*time);
        if early > i64::from(limits.clock) {
            let detail = format!(
                "{by} states a time about the tree of {size} entries that is {early} seconds before the \
                 time stamp that its entry {index} stands for"
            );
            return Some((codes::log::CLOCK, by.clone(), detail));
        }
        None
    }
}

const MAX_STATED: usize = 512;
const MAX_ANCHORS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { no_answer: 60, silence: 1000, witness_lag: 100, clock: 5 };

    fn codes(life: &Life, now: i64, quorum: bool) -> Vec<(&'static str, String)> {
        let all = life.complaints(now, quorum, &LIMITS);
        all.into_iter().map(|(code, subject, _)| (code.as_str(), subject)).collect()
    }

    fn begun() -> Life {
        Life { started: 1000, ..Life::default() }
    }

    fn stated(by: &str, time: i64, size: u64) -> Stated {
        Stated { by: by.to_owned(), time, size }
    }

    #[test]
    fn a_log_that_does_not_answer_is_silent() {
        let mut life = begun();
        assert!(codes(&life, 1060, false).is_empty());
        assert_eq!(codes(&life, 1061, false), [("LOG.SILENT", "answer".to_owned())]);
        life.answered(1061, 5);
        assert!(codes(&life, 1121, false).is_empty());
        assert_eq!(codes(&life, 1122, false), [("LOG.SILENT", "answer".to_owned())]);
    }

    #[test]
    fn growth_cosignatures_and_time_stamps_are_signs_of_life() {
        let silent = [("LOG.SILENT", "checkpoint".to_owned())];
        let mut life = begun();
        for now in (1000..=2000).step_by(50) {
            life.answered(now, 5);
        }
        assert!(codes(&life, 2000, false).is_empty());
        assert_eq!(codes(&life, 2001, false), silent);
        life.answered(2001, 6);
        assert!(codes(&life, 2002, false).is_empty());
        life.answered(3002, 6);
        assert_eq!(codes(&life, 3002, false), silent);
        life.states(stated("witness a", 2500, 6));
        assert!(codes(&life, 3002, false).is_empty());
        // A checkpoint that is shown for the first time and old by its cosignature is stale at once.
        let mut stale = begun();
        stale.answered(1001, 5);
        stale.states(stated("witness a", 0, 5));
        assert_eq!(codes(&stale, 1001, false), silent);
    }

    #[test]
    fn a_quorum_may_lie_behind_for_a_while() {
        let behind = [("LOG.QUORUM", "quorum".to_owned())];
        let mut life = begun();
        life.answered(1050, 5);
        assert!(codes(&life, 1100, true).is_empty());
        assert_eq!(codes(&life, 1101, true), behind);
        assert!(codes(&life, 1101, false).is_empty());
        life.witnessed(1090, 5);
        life.answered(1500, 5);
        assert!(codes(&life, 1500, true).is_empty(), "nothing new to witness");
        life.answered(1501, 6);
        assert_eq!(codes(&life, 1501, true), behind);
        life.witnessed(1080, 6);
        assert_eq!(codes(&life, 1501, true), behind, "an older one says nothing new");
        life.witnessed(1500, 6);
        assert!(codes(&life, 1501, true).is_empty());
    }

    #[test]
    fn a_time_ahead_of_ours_is_a_disagreement() {
        let mut life = begun();
        life.answered(1000, 5);
        life.states(stated("witness a", 1005, 5));
        assert!(codes(&life, 1000, false).is_empty());
        life.states(stated("witness a", 1006, 5));
        assert_eq!(codes(&life, 1000, false), [("LOG.CLOCK", "witness a".to_owned())]);
        // It is over when our clock has come there.
        assert!(codes(&life, 1001, false).is_empty());
    }

    #[test]
    fn nobody_sees_a_tree_before_the_time_stamps_in_it() {
        let (stamp, other) = (Digest::of(b"stamp"), Digest::of(b"other"));
        let mut life = begun();
        life.answered(1000, 9);
        life.anchored([(3, other), (7, stamp)]);
        life.stamped(&stamp, 990);
        life.states(stated("witness a", 985, 9));
        life.states(stated("witness b", 900, 7));
        assert!(codes(&life, 1000, false).is_empty(), "b's tree doesn't hold it");
        life.states(stated("witness c", 984, 8));
        assert_eq!(codes(&life, 1000, false), [("LOG.CLOCK", "witness c".to_owned())]);
    }

    #[test]
    fn memory_is_bounded() {
        let mut life = begun();
        for number in 0..2000_u64 {
            life.anchored([(number, Digest::of(&number.to_be_bytes()))]);
            life.stamped(&Digest::of(&number.to_be_bytes()), 5);
            life.states(stated(&number.to_string(), 5, 5));
        }
        assert_eq!((life.anchors.len(), life.tokens.len()), (MAX_ANCHORS, MAX_ANCHORS));
        assert_eq!(life.anchors.last().unwrap().0, 1999);
        assert_eq!(life.stated.len(), MAX_STATED);
    }
}
