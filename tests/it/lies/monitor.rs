//! Who monitors a copy of the log in a directory: the lies that `crate::monitor` meets over HTTP, by the same
//! names; and what `anchor mirror` makes of them.

use anchorlog_tests::lying_log::Lie;

use super::{SEEN, grow, log};
use crate::follow_support::Home;

/// The lie, what monitor and mirror call it, and whether it is told about entries that nobody has read yet.
fn lies() -> Vec<(Lie, &'static str, bool)> {
    vec![
        (Lie::SplitView { index: SEEN - 1 }, "LOG.SPLIT_VIEW", false),
        (Lie::Rollback { size: 200 }, "LOG.ROLLBACK", false),
        (Lie::Stale { size: SEEN - 1 }, "LOG.ROLLBACK", true),
        (Lie::Fork { index: 5, more: 300 }, "LOG.CONSISTENCY", false),
        (Lie::WrongEntry { index: SEEN + 7 }, "LOG.ENTRY", true),
        (Lie::WrongLeaf { index: SEEN + 7 }, "LOG.TILE", true),
        (Lie::WrongIndex { one: SEEN + 7, other: SEEN + 8 }, "LOG.ENTRY_INDEX", true),
    ]
}

#[test]
fn every_lie_in_a_directory_is_caught_by_its_name() {
    for (lie, code, about_new) in lies() {
        let log = log();
        let home = Home::new();
        let (shown, vkey) = (home.path("shown"), log.vkey().to_string());
        log.write_to(&shown);
        let common = ["--log", "shown", "--vkey", &vkey];
        let monitor = [&["monitor", "--once"], &common[..]].concat();
        let mirror = [&["mirror", "--to", "copy"], &common[..]].concat();
        for command in [&monitor, &mirror] {
            assert_eq!(home.run(command).with_code(0).report["errors"], serde_json::json!([]));
        }
        if about_new {
            grow(&log, SEEN..SEEN + 250);
        }
        log.tell(lie);
        log.write_to(&shown);
        for command in [&monitor, &mirror] {
            let told = home.run(command).with_code(1);
            assert_eq!(told.report["errors"][0]["code"], code, "{lie:?}: {told:#?}");
        }
    }
}
