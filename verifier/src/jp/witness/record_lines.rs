//! The lines of a copy, one at a time, with the digest of everything before.

use std::io::{self, BufRead};

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::MAX_RECORD_BYTES;
use sha2::{Digest as _, Sha256};

/// One complete line, without its newline.
#[derive(Clone, Debug)]
pub(super) struct RawLine {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Its bytes.
    pub(super) length: u64,
    /// Their SHA-256.
    pub(super) digest: Digest,
    /// None where there are more than are read.
    bytes: Option<Vec<u8>>,
}

impl RawLine {
    /// The bytes; none where there are more than are read.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// The same without the bytes.
    pub(super) const fn summary(&self) -> Self {
        Self { number: self.number, length: self.length, digest: self.digest, bytes: None }
    }
}

/// A copy, read from its beginning.
pub(super) struct RecordLines<R> {
    copy: R,
    whole: Sha256,
    complete: u64,
    incomplete: u64,
}

impl<R: BufRead> RecordLines<R> {
    pub(super) fn new(copy: R) -> Self {
        Self { copy, whole: Sha256::new(), complete: 0, incomplete: 0 }
    }

    /// The complete lines so far.
    pub(super) const fn complete(&self) -> u64 {
        self.complete
    }

    /// The bytes behind the last newline, once the copy has ended.
    pub(super) const fn incomplete(&self) -> u64 {
        self.incomplete
    }

    /// The SHA-256 of everything that was read.
    pub(super) fn digest_so_far(&self) -> Digest {
        Digest::from_bytes(self.whole.clone().finalize().into())
    }

    /// The next complete line, or the end.
    pub(super) fn read(&mut self) -> io::Result<Option<RawLine>> {
        let mut bytes = Some(Vec::new());
        let mut hash = Sha256::new();
        let mut length = 0_u64;
        loop {
            let Some((used, ended)) = self.chunk(|piece, whole| {
                hash.update(piece);
                whole.update(piece);
                let kept = bytes.as_ref().map_or(0, Vec::len);
                if kept.saturating_add(piece.len()) > MAX_RECORD_BYTES {
                    bytes = None;
                } else if let Some(bytes) = &mut bytes {
                    bytes.extend_from_slice(piece);
                }
            })?
            else {
                self.incomplete = length;
                return Ok(None);
            };
            length = length.saturating_add(used);
            if ended {
                self.whole.update(b"\n");
                self.complete = self.complete.saturating_add(1);
                let digest = Digest::from_bytes(hash.finalize().into());
                return Ok(Some(RawLine { number: self.complete, length, digest, bytes }));
            }
        }
    }

    /// Counts the lines that are left.
    pub(super) fn skip_rest(&mut self) -> io::Result<()> {
        while let Some((used, ended)) = self.chunk(|_, _| {})? {
            self.incomplete = if ended { 0 } else { self.incomplete.saturating_add(used) };
            self.complete = self.complete.saturating_add(u64::from(ended));
        }
        Ok(())
    }

    /// Takes the bytes up to the next newline, or those that are at hand: how many, and whether a newline
    /// followed. None at the end.
    fn chunk(
        &mut self,
        mut take: impl FnMut(&[u8], &mut Sha256),
    ) -> io::Result<Option<(u64, bool)>> {
        let available = loop {
            match self.copy.fill_buf() {
                Ok(available) => break available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        if available.is_empty() {
            return Ok(None);
        }
        let (piece, ended) = match available.iter().position(|byte| *byte == b'\n') {
            Some(at) => (available.get(..at).unwrap_or_default(), true),
            None => (available, false),
        };
        take(piece, &mut self.whole);
        let used = piece.len();
        self.copy.consume(used.saturating_add(usize::from(ended)));
        Ok(Some((u64::try_from(used).unwrap_or(u64::MAX), ended)))
    }
}
