//! The lines of a file, read in bounded memory.

use std::io::{self, BufRead};

use anchorlog_proto::jp::witness::MAX_STORED_LINE_BYTES;

/// One line, or what is left behind the last one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Line {
    /// Where it begins.
    pub(super) start: u64,
    /// Its bytes, the newline not among them.
    pub(super) length: u64,
    /// Whether a newline ends it.
    pub(super) is_ended: bool,
    /// The bytes; none if they are more than a line can have.
    pub(super) bytes: Option<Vec<u8>>,
}

impl Line {
    /// Where the next line begins.
    pub(super) fn end(&self) -> u64 {
        self.start.saturating_add(self.length).saturating_add(u64::from(self.is_ended))
    }
}

/// Reads one line after the other.
pub(super) struct Lines<R> {
    reader: R,
    offset: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, offset: 0 }
    }

    /// The next line; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let (start, mut length) = (self.offset, 0_u64);
        let mut bytes = Some(Vec::new());
        let is_ended = loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            if buffer.is_empty() {
                break false;
            }
            let mut parts = buffer.splitn(2, |byte| *byte == b'\n');
            let piece = parts.next().unwrap_or_default();
            let is_ended = parts.next().is_some();
            let taken = piece.len();
            match &mut bytes {
                Some(held) if held.len().saturating_add(taken) <= MAX_STORED_LINE_BYTES => {
                    held.extend_from_slice(piece);
                }
                _ => bytes = None,
            }
            length = length.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
            self.reader.consume(taken + usize::from(is_ended));
            if is_ended {
                break true;
            }
        };
        if !is_ended && length == 0 {
            return Ok(None);
        }
        let line = Line { start, length, is_ended, bytes };
        self.offset = line.end();
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use std::io::BufReader;

    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(u64, u64, bool, Option<usize>)> {
        // A buffer that lines don't fit into.
        let mut lines = Lines::new(BufReader::with_capacity(7, bytes));
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push((line.start, line.end(), line.is_ended, line.bytes.map(|bytes| bytes.len())));
        }
        all
    }

    #[test]
    fn lines_are_told_apart_and_bounded() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [(0, 1, true, Some(0))]);
        assert_eq!(
            lines(b"a\n\nbc"),
            [(0, 2, true, Some(1)), (2, 3, true, Some(0)), (3, 5, false, Some(2))]
        );
        for (length, held) in [(MAX_STORED_LINE_BYTES, true), (MAX_STORED_LINE_BYTES + 1, false)] {
            let text = format!("{}\nx\n", "y".repeat(length));
            let end = u64::try_from(length).unwrap() + 1;
            let first = (0, end, true, held.then_some(length));
            assert_eq!(lines(text.as_bytes()), [first, (end, end + 2, true, Some(1))]);
        }
    }
}
