//! Writing the one archive of a set of members.

use std::io::{self, Read, Write};

use crate::gad::names::check_path;

use super::error::TarWriteError;
use super::header::{MAX_SIZE, encode};
use super::{BLOCK_BYTES, padding};

/// Writes an archive, member by member, ascending by path. Equal members give equal bytes.
#[derive(Debug)]
pub struct TarWriter<W> {
    inner: W,
    last: Option<Box<str>>,
}

impl<W: Write> TarWriter<W> {
    /// Starts an archive.
    #[must_use]
    pub const fn new(inner: W) -> Self {
        Self { inner, last: None }
    }

    /// Appends the member `path` of exactly `size` bytes, which `body` gives.
    ///
    /// A refusal of the path or the size leaves the archive as it was; after any other one it is
    /// unusable.
    pub fn append(&mut self, path: &str, size: u64, body: impl Read) -> Result<(), TarWriteError> {
        let path = path.to_owned().into_boxed_str();
        if let Err(defect) = check_path(path.as_bytes()) {
            return Err(TarWriteError::Path { path, defect });
        }
        if self.last.as_ref().is_some_and(|last| *last >= path) {
            return Err(TarWriteError::NotAscending { path });
        }
        if size > MAX_SIZE {
            return Err(TarWriteError::TooLarge { path, size });
        }
        let Some(header) = encode(&path, size) else {
            return Err(TarWriteError::Unrepresentable { path });
        };
        self.inner.write_all(&header)?;
        let mut body = body.take(size.saturating_add(1));
        let copied = io::copy(&mut body.by_ref().take(size), &mut self.inner)?;
        let more = if copied == size { io::copy(&mut body, &mut io::sink())? } else { 0 };
        let actual = copied.saturating_add(more);
        if actual != size {
            return Err(TarWriteError::Length { path, size, actual });
        }
        let zeros = usize::try_from(padding(size)).unwrap_or_default();
        self.inner.write_all(ZEROS.get(..zeros).unwrap_or_default())?;
        self.last = Some(path);
        Ok(())
    }

    /// Ends the archive and gives back what it was written to, flushed.
    pub fn finish(mut self) -> Result<W, TarWriteError> {
        self.inner.write_all(&ZEROS)?;
        self.inner.flush()?;
        Ok(self.inner)
    }
}

/// The end marker.
const ZEROS: [u8; 2 * BLOCK_BYTES] = [0; 2 * BLOCK_BYTES];
