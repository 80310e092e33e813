//! Receipts as JSON, written straight into a buffer.
//!
//! A receipt is `anchorlog-proto`'s to define ([`anchorlog_proto::receipt`]). For the answer to a submission
//! it is written here from its parts, in the same canonical form: the statement is the leaf's own bytes, the
//! checkpoint the snapshot's own note, and only numbers, hashes and line ends are formatted. A test holds
//! the two writers to each other byte for byte.

use std::fmt::Write;

use anchorlog_proto::Digest;
use anchorlog_proto::encoding::base64_encode_into;
use anchorlog_proto::merkle::inclusion;
use anchorlog_proto::receipt::{MAX_CONFLICTS, ReceiptState};
use anchorlog_proto::statement::{LogEntry, Statement};

use super::App;
use super::claims::{MAX_COMPARED, claims};
use super::problem::Problem;
use crate::error::Error;
use crate::log::Log;
use crate::pool::{Committed, Place};
use crate::snapshot::Snapshot;

/// What a receipt of a published entry is made of.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) conflicts: &'a [u64],
    pub(super) hashes: &'a [Digest],
    pub(super) leaf: &'a [u8],
    pub(super) place: &'a Place,
    pub(super) snapshot: &'a Snapshot,
    pub(super) state: ReceiptState,
}

impl Parts<'_> {
    /// Writes the receipt in canonical form. `origin` is the log's origin as a JSON string.
    pub(super) fn write(&self, origin: &str) -> Vec<u8> {
        let note = self.snapshot.note();
        let mut out = String::with_capacity(
            512 + self.leaf.len()
                + 2 * note.len()
                + 48 * self.hashes.len()
                + 20 * self.conflicts.len(),
        );
        // Writing into a String can't fail; the results are what `write!` insists on.
        let _ = self.write_into(origin, &mut out);
        out.into_bytes()
    }

    fn write_into(&self, origin: &str, out: &mut String) -> std::fmt::Result {
        out.push('{');
        if !self.conflicts.is_empty() {
            out.push_str(r#""conflicts":["#);
            for (position, index) in self.conflicts.iter().enumerate() {
                let comma = if position == 0 { "" } else { "," };
                write!(out, "{comma}{index}")?;
            }
            out.push_str("],");
        }
        let Place { index, leaf_hash, .. } = self.place;
        write!(out, r#""index":{index},"leaf_hash":"{leaf_hash}","log":{origin},"proof":""#)?;
        write!(out, r"c2sp.org/tlog-proof@v1\nindex {index}\n")?;
        for hash in self.hashes {
            base64_encode_into(hash.as_bytes(), out);
            out.push_str(r"\n");
        }
        out.push_str(r"\n");
        // Notes and leaves are UTF-8 by construction.
        push_escaped(str::from_utf8(self.snapshot.note()).unwrap_or_default(), out);
        let (state, leaf) = (self.state.as_str(), str::from_utf8(self.leaf).unwrap_or_default());
        write!(out, r#"","schema":"anchorlog.receipt/1","state":"{state}","statement":{leaf}"#)?;
        out.push_str(r#","timestamps":[]}"#);
        Ok(())
    }
}

/// Proves that a just committed entry is in the tree of its snapshot, and checks the proof.
pub(super) fn prove(log: &Log, committed: &Committed, place: &Place) -> Result<Vec<Digest>, Error> {
    let size = committed.snapshot.size();
    let own = committed
        .extension
        .as_deref()
        .filter(|extension| place.index >= extension.before().size().get());
    let hashes = match own.map(|extension| inclusion::prove(extension, place.index, size)) {
        Some(Ok(hashes)) => hashes?,
        // Not in the committed batch itself: the stored tree has it.
        _ => log.inclusion_proof(place.index, size)?,
    };
    let root = committed.snapshot.root();
    inclusion::verify(place.index, size, &place.leaf_hash, &hashes, root)?;
    Ok(hashes)
}

/// Finds other entries that claim the same place of the same trail with another digest.
pub(super) fn conflicts(app: &App, statement: &Statement) -> Result<Vec<u64>, Problem> {
    let (Some(trail), Some(sequence)) = (&statement.trail, statement.sequence) else {
        return Ok(Vec::new());
    };
    let compared = claims(app, trail, sequence).take(MAX_COMPARED);
    let others = compared.filter_map(|claim| match claim {
        Ok(claim) if claim.digest == statement.digest => None,
        other => Some(other.map(|claim| claim.index)),
    });
    others.take(MAX_CONFLICTS).collect()
}

/// Whether an entry could have conflicts at all.
pub(super) fn claims_a_place(entry: &LogEntry) -> bool {
    entry.statement().sequence.is_some()
}

/// Writes a text as a JSON string, quotes included, in canonical form.
#[must_use]
pub fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    push_escaped(text, &mut out);
    out.push('"');
    out
}

/// Escapes as RFC 8785 section 3.2.2.2 does.
pub(super) fn push_escaped(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(position) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
        let (plain, special) = rest.split_at(position);
        out.push_str(plain);
        let mut characters = special.chars();
        match characters.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\t') => out.push_str("\\t"),
            Some('\n') => out.push_str("\\n"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\r') => out.push_str("\\r"),
            Some(control) => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_the_canonical_writer_does() {
        let strange: String = (0..0x80_u8).map(char::from).chain("é—😀".chars()).collect();
        for text in ["", "plain", "\"", "a\\b\"c\n", "—\u{7f}\u{1f}", &strange] {
            let value = anchorlog_proto::json::Value::from(text);
            let canonical = anchorlog_proto::json::canonical(&value);
            assert_eq!(json_string(text).as_bytes(), canonical, "{text:?}");
        }
    }
}
