//! What holds for whatever bytes and whatever records, rather than for examples.

mod bombs;
mod bytes;
mod files;
mod fuzzed;
mod walks;

use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_verifier::gad::report::Report;

use crate::gad_world::{Choose, Defended, completed, defended};

/// A small generator (splitmix64); the same numbers for the same seed.
struct Dice(u64);

impl Choose for Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// The small envelope that is DEFENSIBLE.
fn sample() -> Defended {
    defended(&completed(), Seal::Final)
}

/// Whether every bit and every length is asked for (`ANCHORLOG_EXHAUSTIVE=1`), which takes minutes.
fn exhaustive() -> bool {
    std::env::var_os("ANCHORLOG_EXHAUSTIVE").is_some_and(|value| value == "1")
}

/// What a reader of a report looks at first.
struct Verdict {
    valid: bool,
    defensible: Option<bool>,
    /// What the report calls unsigned.
    unsigned: String,
}

impl Verdict {
    fn of(report: &Report) -> Self {
        let text = String::from_utf8(report.to_json()).unwrap();
        let (_, unsigned) = text.split_once(r#""unsigned_metadata":"#).unwrap();
        let end = unsigned.find('}').map_or("null".len(), |at| at + 1);
        Self {
            valid: report.statuses.valid(),
            defensible: report.statuses.defensible(),
            unsigned: unsigned[..end].to_owned(),
        }
    }

    /// Whether it is that of the sample.
    fn is_defended(&self) -> bool {
        self.valid && self.defensible == Some(true)
    }
}

#[test]
fn the_sample_is_defensible_at_level_4() {
    let sample = sample();
    let report = sample.evaluate(&sample.files, 2);
    let statuses = report.statuses;
    assert!(statuses.valid() && statuses.satisfied(), "{:#?}", report.findings);
    assert_eq!(statuses.defensible(), Some(true), "{:#?}", report.findings);
    assert_eq!(statuses.level(), 4);
}
