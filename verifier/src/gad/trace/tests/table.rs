//! The table: whole, and printed.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use anchorlog_proto::gad::entry::EntryType;

use crate::codes::Code;
use crate::gad::trace::markdown;
use crate::gad::trace::table::{CLOSING, Over, Raises, TABLE, row_of};

#[test]
fn every_entry_type_has_one_row() {
    assert_eq!(TABLE.len(), EntryType::ALL.len());
    for entry in EntryType::ALL {
        assert_eq!(row_of(*entry).map(|row| row.entry), Some(*entry));
        assert!(entry == &EntryType::Checkpoint || !row_of(*entry).unwrap().guards.is_empty());
    }
}

#[test]
fn the_table_raises_every_code_of_r3_and_r8_but_one() {
    let mut raised: BTreeSet<_> = CLOSING.iter().map(|closing| closing.code.as_str()).collect();
    for row in TABLE {
        let guards = row.guards.iter().map(|guard| guard.raises);
        for raises in guards.chain(row.unknown_node) {
            let code = raises.as_str();
            assert!(Code::lookup(code).is_some(), "{code}");
            let here = code.starts_with("R3.") || code.starts_with("R8.");
            assert_eq!(matches!(raises, Raises::Here(_)), here, "{code}");
            raised.extend(here.then_some(code));
        }
    }
    // The delta against the successor plan is no guard: the plan is no part of the record.
    raised.insert("R3.SUPERSEDE.DELTA_FALSE");
    let all: BTreeSet<_> = Code::all().iter().map(|code| code.as_str()).collect();
    let of_r3 =
        all.iter().copied().filter(|code| code.starts_with("R3.") || code.starts_with("R8."));
    assert_eq!(raised, of_r3.collect());
}

#[test]
fn rows_that_name_a_node_say_what_an_unknown_one_is() {
    for row in TABLE {
        let of_node = row.guards.iter().any(|guard| guard.over == Over::Node);
        let of_freeze = row.entry == EntryType::Freeze || row.entry == EntryType::Dispatch;
        assert_eq!(row.unknown_node.is_some(), of_node && !of_freeze, "{}", row.entry);
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a person asked for the file to be written anew")]
fn the_committed_table_is_the_generated_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/transition-table.md");
    if env::var_os("ANCHORLOG_WRITE_DOCS").is_some() {
        fs::write(&path, markdown()).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == markdown(),
        "docs/transition-table.md is out of date: `ANCHORLOG_WRITE_DOCS=1 cargo test \
         -p anchorlog-verifier the_committed_table` writes it anew"
    );
}
