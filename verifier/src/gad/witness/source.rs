//! The bytes of the witness, in batches of whole lines, hashed on their way.

use std::io::{self, Read};

use anchorlog_proto::Digest;
use sha2::{Digest as _, Sha256};

/// The most lines of a batch: a parsed line takes many times the bytes of a tiny one.
const MAX_LINES: usize = 4096;

/// Cuts a stream into batches of whole lines. Nothing is kept but the beginning of the next line.
pub(super) struct Source<R> {
    reader: R,
    hasher: Sha256,
    size: u64,
    /// How many bytes are read at a time.
    batch: usize,
    /// The longest line, its LF included, in bytes.
    longest: usize,
    /// What was read beyond the last batch: no whole line, where that had fewer lines than it may have.
    rest: Vec<u8>,
    /// Number of the next batch.
    next: u64,
    ended: bool,
}

impl<R: Read> Source<R> {
    pub(super) fn new(reader: R, batch: usize, longest: u64) -> Self {
        Self {
            reader,
            hasher: Sha256::new(),
            size: 0,
            batch: batch.max(1),
            longest: usize::try_from(longest).unwrap_or(usize::MAX),
            rest: Vec::new(),
            next: 0,
            ended: false,
        }
    }

    /// Fills `lines` with the next whole lines, at least one, and says which batch it is. The last one may
    /// lack its LF, or be the beginning of a line that is too long; nothing comes after it then, as nothing
    /// comes after a batch that can't be read.
    pub(super) fn next(&mut self, lines: &mut Vec<u8>) -> Option<(u64, io::Result<()>)> {
        lines.clear();
        let read = self.fill(lines);
        self.ended |= read.is_err();
        if lines.is_empty() && read.is_ok() {
            return None;
        }
        let number = self.next;
        self.next = number.saturating_add(1);
        Some((number, read))
    }

    fn fill(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        lines.append(&mut self.rest);
        if self.cut(lines, 0) {
            return Ok(());
        }
        while !self.ended {
            let before = lines.len();
            let most = u64::try_from(self.batch).unwrap_or(u64::MAX);
            let read = self.reader.by_ref().take(most).read_to_end(lines)?;
            let new = lines.get(before..).unwrap_or_default();
            self.hasher.update(new);
            self.size = self.size.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            self.ended = read == 0;
            if self.cut(lines, before) {
                break;
            }
            // No LF so far: a line this long is refused by its length.
            if lines.len() > self.longest {
                self.ended = true;
            }
        }
        Ok(())
    }

    /// Leaves whole lines in `lines`, as many as a batch may have. False, and nothing is cut, when there is
    /// no end of a line from `from` on.
    fn cut(&mut self, lines: &mut Vec<u8>, from: usize) -> bool {
        let new = lines.get(from..).unwrap_or_default();
        let is_end = |byte: &u8| *byte == b'\n';
        let many = new.iter().filter(|byte| is_end(byte)).count() > MAX_LINES;
        let end = if many {
            new.iter()
                .enumerate()
                .filter(|(_, byte)| is_end(byte))
                .nth(MAX_LINES - 1)
                .map(|(at, _)| at)
        } else {
            new.iter().rposition(is_end)
        };
        let Some(end) = end else { return false };
        let whole = from.saturating_add(end).saturating_add(1);
        self.rest = lines.split_off(whole.min(lines.len()));
        true
    }

    /// Size and SHA-256 of all that was read.
    pub(super) fn finish(self) -> (u64, Digest) {
        (self.size, Digest::from_bytes(self.hasher.finalize().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(bytes: &[u8], batch: usize, longest: u64) -> Vec<String> {
        let mut source = Source::new(bytes, batch, longest);
        let (mut batches, mut lines) = (Vec::new(), Vec::new());
        while let Some((number, read)) = source.next(&mut lines) {
            read.unwrap();
            assert_eq!(number, u64::try_from(batches.len()).unwrap());
            batches.push(String::from_utf8(lines.clone()).unwrap());
        }
        batches
    }

    fn batches_of(text: &[u8], batch: usize) -> Vec<Vec<u8>> {
        let mut source = Source::new(text, batch, 100);
        let (mut batches, mut lines) = (Vec::new(), Vec::new());
        while let Some((_, read)) = source.next(&mut lines) {
            read.unwrap();
            batches.push(lines.clone());
        }
        batches
    }

    #[test]
    fn batches_are_whole_lines() {
        let text = b"one\ntwo\n\nthree and more\nend";
        assert_eq!(batches(text, 1, 100), ["one\n", "two\n", "\n", "three and more\n", "end"]);
        assert_eq!(batches(text, 6, 100), ["one\n", "two\n\n", "three and more\n", "end"]);
        assert_eq!(batches(text, 100, 100), ["one\ntwo\n\nthree and more\n", "end"]);
        assert!(batches(b"", 10, 10).is_empty());
        assert_eq!(batches(b"x\n", 10, 10), ["x\n"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_not_read_to_its_end() {
        let endless = io::repeat(b'x').take(1 << 40);
        let mut source = Source::new(endless, 16, 40);
        let mut lines = Vec::new();
        source.next(&mut lines).unwrap().1.unwrap();
        assert!(lines.len() > 40 && lines.len() <= 56, "{}", lines.len());
        assert!(source.next(&mut lines).is_none());
    }

    #[test]
    fn a_batch_of_tiny_lines_has_no_more_than_it_may() {
        let text = [b"{}\n".repeat(2 * MAX_LINES + 1).as_slice(), b"end"].concat();
        for batch in [1, 1000, 1 << 20] {
            let batches = batches_of(&text, batch);
            let count = |lines: &Vec<u8>| lines.split(|byte| *byte == b'\n').count() - 1;
            assert!(batches.iter().all(|lines| count(lines) <= MAX_LINES));
            assert_eq!(batches.concat(), text);
        }
        assert_eq!(batches_of(&text, 1 << 20).len(), 4);
    }

    #[test]
    fn everything_is_hashed_once() {
        let text = b"one\ntwo\nthree";
        for batch in 1..20 {
            let mut source = Source::new(&text[..], batch, 100);
            let mut lines = Vec::new();
            while source.next(&mut lines).is_some() {}
            assert_eq!(source.finish(), (13, Digest::of(text)));
        }
    }
}
