//! Reading an archive as a stream.

use std::collections::BTreeSet;
use std::io::{self, Read};

use crate::gad::Limits;
use crate::gad::names::check_path;

use super::error::TarError;
use super::header::{Block, Header};
use super::{BLOCK_BYTES, padding};

/// One member: its header was acceptable, its bytes are still in the stream.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "what the format keeps of a header")]
pub struct TarMember {
    /// Its path, in path form.
    pub path: Box<str>,
    /// Its size in bytes.
    pub size: u64,
    /// Where its bytes start, from the start of the archive.
    pub offset: u64,
}

/// Reads an archive from its start to its end, in memory that doesn't depend on the members' sizes.
///
/// [`TarReader::next_member`] goes from header to header; between two calls, reading from the reader
/// itself gives the bytes of the member it named last, and no more.
#[derive(Debug)]
pub struct TarReader<R> {
    inner: R,
    limits: Limits,
    /// Offset into the archive.
    position: u64,
    /// Bytes of the current member that aren't read yet, and the padding after them.
    body: u64,
    padding: u64,
    paths: BTreeSet<Box<[u8]>>,
    headers: u64,
    bytes: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Members,
    /// Both zero blocks were there, and nothing after them.
    Whole,
    /// It couldn't be read on.
    Broken,
}

impl<R: Read> TarReader<R> {
    /// Starts at the first byte of an archive. Of the limits, those over members and bytes count.
    #[must_use]
    pub const fn new(inner: R, limits: &Limits) -> Self {
        Self {
            inner,
            limits: *limits,
            position: 0,
            body: 0,
            padding: 0,
            paths: BTreeSet::new(),
            headers: 0,
            bytes: 0,
            state: State::Members,
        }
    }

    /// The next acceptable member, past what is left of the one before; `None` at the end.
    ///
    /// Everything wrong on the way is given to `report`. A member that isn't acceptable is passed over,
    /// and reading goes on where the next one starts, unless that can't be known. `None` therefore
    /// doesn't mean that the archive is sound: it is when nothing was ever reported.
    pub fn next_member(&mut self, report: &mut dyn FnMut(TarError)) -> Option<TarMember> {
        while self.state == State::Members {
            match self.step(report) {
                Ok(Some(member)) => return Some(member),
                Ok(None) => {}
                Err(error) => {
                    self.state = State::Broken;
                    report(error);
                }
            }
        }
        None
    }

    /// Whether the end of the archive was reached, and was where its end marker says.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.state == State::Whole
    }

    /// What the archive is read from, past everything that was read.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// One header. `Err` is what it can't go on after.
    fn step(&mut self, report: &mut dyn FnMut(TarError)) -> Result<Option<TarMember>, TarError> {
        self.skip()?;
        let offset = self.position;
        let block = self.block()?;
        if block == ZERO {
            self.end(offset)?;
            return Ok(None);
        }
        let header = Header::parse(&block);
        self.headers += 1;
        if self.headers > self.limits.members {
            return Err(TarError::Members { limit: self.limits.members });
        }
        if !header.is_ustar {
            // Of another dialect; what its type says is still worth saying.
            if header.checksum_agrees && !header.is_regular() {
                report(not_regular(&header));
            }
            return Err(TarError::Magic { offset });
        }
        if !header.checksum_agrees {
            return Err(TarError::Checksum { offset });
        }
        let mut sound = true;
        if let Err(defect) = check_path(&header.path) {
            sound = false;
            report(TarError::Path { path: header.path.clone().into(), defect });
        }
        if !self.paths.insert(header.path.clone().into()) {
            sound = false;
            report(TarError::Duplicate { path: header.path.clone().into() });
        }
        let size = header.size.ok_or(TarError::Size { offset });
        if !header.is_regular() {
            // What follows such a header depends on its type alone; when it says nothing follows,
            // that is the same for all types.
            return if size == Ok(0) {
                report(not_regular(&header));
                Ok(None)
            } else {
                Err(not_regular(&header))
            };
        }
        let size = size?;
        self.admit(&header, size)?;
        self.body = size;
        self.padding = padding(size);
        let path = String::from_utf8(header.path).ok().filter(|_| sound);
        Ok(path.map(|path| TarMember { path: path.into(), size, offset: self.position }))
    }

    /// The limits over bytes, before any of them is read.
    fn admit(&mut self, header: &Header, size: u64) -> Result<(), TarError> {
        let limit = self.limits.member_bytes;
        if size > limit {
            return Err(TarError::MemberBytes { path: header.path.clone().into(), size, limit });
        }
        self.bytes = self.bytes.saturating_add(size);
        let limit = self.limits.bundle_bytes;
        if self.bytes > limit {
            return Err(TarError::TotalBytes { size: self.bytes, limit });
        }
        Ok(())
    }

    /// After one zero block: the second one, and then nothing.
    fn end(&mut self, offset: u64) -> Result<(), TarError> {
        if self.block()? != ZERO {
            return Err(TarError::EndMarker { offset });
        }
        let offset = self.position;
        if self.fill(&mut [0])? != 0 {
            return Err(TarError::Trailing { offset });
        }
        self.state = State::Whole;
        Ok(())
    }

    /// Passes over the rest of the current member.
    fn skip(&mut self) -> Result<(), TarError> {
        let left = self.body.saturating_add(self.padding);
        (self.body, self.padding) = (0, 0);
        if left > 0 {
            let mut rest = self.inner.by_ref().take(left);
            let passed =
                io::copy(&mut rest, &mut io::sink()).map_err(|e| TarError::Io(e.kind()))?;
            self.position = self.position.saturating_add(passed);
            if passed < left {
                return Err(TarError::EndsEarly { offset: self.position });
            }
        }
        Ok(())
    }

    fn block(&mut self) -> Result<Block, TarError> {
        let mut block = ZERO;
        if self.fill(&mut block)? < BLOCK_BYTES {
            return Err(TarError::EndsEarly { offset: self.position });
        }
        Ok(block)
    }

    /// Reads until the buffer is full or the archive ends; the number of bytes read.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, TarError> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.inner.read(rest) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TarError::Io(error.kind())),
            }
        }
        self.position = self.position.saturating_add(u64::try_from(filled).unwrap_or(u64::MAX));
        Ok(filled)
    }
}

/// The bytes of the current member.
///
/// Fails with [`io::ErrorKind::UnexpectedEof`] where the archive ends before the member does.
impl<R: Read> Read for TarReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.body).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = buffer.get_mut(..most).unwrap_or_default();
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = self.inner.read(buffer)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let read_bytes = u64::try_from(read).unwrap_or(u64::MAX);
        self.body = self.body.saturating_sub(read_bytes);
        self.position = self.position.saturating_add(read_bytes);
        Ok(read)
    }
}

const ZERO: Block = [0; BLOCK_BYTES];

fn not_regular(header: &Header) -> TarError {
    TarError::NotRegular { path: header.path.clone().into(), type_flag: header.type_flag }
}
