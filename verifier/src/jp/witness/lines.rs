//! Files as lines of statements, counted while they are split.

use core::fmt;

use super::fault::Refusal;
use super::reader::Supplied;
use super::{HEAD, MAX_STATEMENTS, RESUME, STATEMENTS};
use crate::finding::Finding;

/// Where a statement came from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Origin {
    /// A file of statements; both counted from 1.
    File { file: u32, line: u64 },
    /// The head's file.
    Head,
    /// The continuation.
    Continuation,
}

impl Origin {
    /// The finding, about this place.
    pub(super) fn mark(self, finding: Finding) -> Finding {
        match self {
            Self::File { file, .. } => finding.in_input(STATEMENTS).numbered(file),
            Self::Head => finding.in_input(HEAD),
            Self::Continuation => finding.in_input(RESUME),
        }
    }

    /// The beginning of a sentence about this place.
    pub(super) fn lead(self) -> String {
        match self {
            Self::File { line, .. } => format!("line {line}: "),
            Self::Head | Self::Continuation => String::new(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line } => write!(f, "line {line} of file {file}"),
            Self::Head => f.write_str("the head"),
            Self::Continuation => f.write_str("one of the continuation"),
        }
    }
}

/// The statement lines of all files.
#[derive(Debug, Default)]
pub(super) struct Lines<'a> {
    /// Those of the files of statements.
    pub(super) statements: Vec<(Origin, &'a [u8])>,
    /// Those of the head's file, if there is one.
    pub(super) head: Option<Vec<&'a [u8]>>,
    /// How many, the continuation's two counted.
    pub(super) count: usize,
}

impl<'a> Lines<'a> {
    /// Splits the files, the head's last, and refuses at the first line past the bound.
    pub(super) fn split(supplied: &Supplied<'a>) -> Result<Self, Refusal> {
        let mut all =
            Self { count: if supplied.resume.is_some() { 2 } else { 0 }, ..Self::default() };
        for (file, bytes) in (1..).zip(supplied.statements) {
            for (line, text) in statement_lines(bytes) {
                all.admit()?;
                all.statements.push((Origin::File { file, line }, text));
            }
        }
        if let Some(bytes) = supplied.head {
            let mut lines = Vec::new();
            for (_, text) in statement_lines(bytes) {
                all.admit()?;
                lines.push(text);
            }
            all.head = Some(lines);
        }
        Ok(all)
    }

    fn admit(&mut self) -> Result<(), Refusal> {
        self.count = self.count.saturating_add(1);
        if self.count > MAX_STATEMENTS { Err(Refusal::StatementsOverBound) } else { Ok(()) }
    }
}

/// The lines that aren't blank, with their numbers. What stands behind the last newline is a line too.
fn statement_lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let blank = |line: &[u8]| line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
    (1..).zip(bytes.split(|byte| *byte == b'\n')).filter(move |(_, line)| !blank(line))
}
