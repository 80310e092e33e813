//! The table as a document: `docs/transition-table.md` is this, committed.

use core::fmt::Write as _;

use super::table::{CLOSING, Guard, Otherwise, Raises, Row, TABLE};
use super::{Condition, Status};
use crate::codes::gad::r3::PHASE_AFTER_TERMINAL;

/// gad.table/1 as Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::from(HEAD);
    let states: Vec<_> = Status::ALL.iter().map(|status| status.as_str()).collect();
    // Writing to a String can't fail.
    let _ = write!(out, "\nNode states: {}.\n{STATES}\n", states.join(", "));
    out.push_str("| entry | guard: code | effect |\n|---|---|---|\n");
    let after = |row: &Row| row.guards.iter().any(is_after_terminal);
    for row in TABLE {
        let unknown = row.unknown_node.map(|raises| format!("n in N: {}", code(raises)));
        let guards = row.guards.iter().filter(|guard| !is_after_terminal(guard)).map(guard);
        let guards: Vec<_> = unknown.into_iter().chain(guards).collect();
        let effects: Vec<_> = row.effects.iter().map(|effect| effect.words()).collect();
        let entry = row.entry;
        let _ = writeln!(out, "| {entry} | {} | {} |", guards.join("<br>"), effects.join("<br>"));
    }
    let exempt: Vec<_> =
        TABLE.iter().filter(|row| !after(row)).map(|row| row.entry.as_str()).collect();
    let _ = write!(
        out,
        "\nAfter a terminal entry, of every entry but {}: `{PHASE_AFTER_TERMINAL}`; no further guard is \
         examined\nand no effect applied.\n",
        exempt.join(" and ")
    );
    out.push_str(CLOSING_HEAD);
    for closing in CLOSING {
        let _ = writeln!(out, "- {}: `{}`", closing.words, closing.code);
    }
    out.push_str(FOOT);
    out
}

/// The guard that nearly every row begins with.
fn is_after_terminal(guard: &Guard) -> bool {
    guard.raises == Raises::Here(PHASE_AFTER_TERMINAL)
}

fn guard(guard: &Guard) -> String {
    let mut out = format!("{}: {}", guard.condition.words(), code(guard.raises));
    match guard.otherwise {
        Otherwise::Apply => {}
        Otherwise::Ignore => out.push_str(", no effect"),
        Otherwise::Stop => out.push_str(", nothing else examined, no effect"),
    }
    if guard.condition == Condition::NoResultYet && guard.at.is_empty() {
        out.push_str(" (at the result)");
    }
    if !guard.unless.is_empty() {
        let codes: Vec<_> = guard.unless.iter().map(|code| format!("`{code}`")).collect();
        let _ = write!(out, " (not beside {})", codes.join(", "));
    }
    out
}

fn code(raises: Raises) -> String {
    match raises {
        Raises::Here(code) => format!("`{code}`"),
        Raises::Elsewhere(code) => {
            let rule = code.split('.').next().unwrap_or(code);
            format!("`{code}` (judged by {rule})")
        }
    }
}

const HEAD: &str = "\
# The transition table gad.table/1

What may follow what in a GAD witness, as the evaluator runs it: this file is printed from the table in
`verifier/src/gad/trace/table.rs`, and a test fails when it differs. `ANCHORLOG_WRITE_DOCS=1 cargo test -p
anchorlog-verifier the_committed_table` writes it anew.

Every guard has the code that is found when it doesn't hold. All guards of an entry are examined; where one
fails, that is found and the effect is applied all the same, so that what follows is judged by what the record
says happened. The table names the exceptions. A guard that is judged by another rule stands here so that the
table is whole.
";

const STATES: &str = "\
good(n): VERIFIED where n is normal, APPROVED where n is gated. READY: PENDING or GRANTED, and every direct
predecessor good. A session is open from its dispatch to its execution_result. An attempt of n runs from one
dispatch that names n to the next. n is the node the entry names; for a dispatch, each of them.
";

const CLOSING_HEAD: &str = "
After the last entry, of every session (the open session of a snapshot apart), found at its dispatch:

";

const FOOT: &str = "
An entry that names a node the plan doesn't have is about a node in no state: `n in N` fails. An entry whose
payload can't be read is not stepped.
";
