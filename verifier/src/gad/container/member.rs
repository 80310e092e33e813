//! Reading one member, to exactly the size it was listed with.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// The bytes of one member. Never more and never fewer than were listed: anything else is an error.
#[derive(Debug)]
pub struct MemberReader<'b> {
    source: Source<'b>,
    left: u64,
}

#[derive(Debug)]
enum Source<'b> {
    File(File),
    /// Read at offsets, so that several readers can share the archive.
    Archive {
        archive: &'b File,
        offset: u64,
    },
    Memory(&'b [u8]),
}

impl<'b> MemberReader<'b> {
    pub(super) const fn file(file: File, size: u64) -> Self {
        Self { source: Source::File(file), left: size }
    }

    pub(super) const fn archive(archive: &'b File, offset: u64, size: u64) -> Self {
        Self { source: Source::Archive { archive, offset }, left: size }
    }

    pub(super) fn memory(bytes: &'b [u8]) -> Self {
        let left = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self { source: Source::Memory(bytes), left }
    }

    /// Nothing may follow in a file of its own; in an archive something always does.
    fn check_end(&mut self) -> io::Result<usize> {
        if let Source::File(file) = &mut self.source
            && file.read(&mut [0])? != 0
        {
            return Err(io::Error::other("it is longer than it was listed with"));
        }
        Ok(0)
    }
}

impl Read for MemberReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            return self.check_end();
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = buffer.get_mut(..most).unwrap_or_default();
        let read = match &mut self.source {
            Source::File(file) => file.read(buffer)?,
            Source::Archive { archive, offset } => {
                let read = archive.read_at(buffer, *offset)?;
                *offset = offset.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
                read
            }
            Source::Memory(bytes) => bytes.read(buffer)?,
        };
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left = self.left.saturating_sub(u64::try_from(read).unwrap_or(u64::MAX));
        Ok(read)
    }
}
