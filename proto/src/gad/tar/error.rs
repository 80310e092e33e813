//! Why an archive is refused, and why one can't be written.

use std::io;

use crate::gad::names::PathDefect;

/// One thing wrong with an archive.
///
/// Offsets are those of the header block, from the start of the archive.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TarError {
    /// The archive can't be read.
    #[error("reading the archive failed: {0:?}")]
    Io(io::ErrorKind),
    /// The archive ends inside a header, a member, its padding, or before its end marker.
    #[error("the archive ends early, at byte {offset}")]
    EndsEarly {
        /// Where it ends.
        offset: u64,
    },
    /// Magic and version of a header aren't those of POSIX ustar.
    #[error("the block at byte {offset} isn't a POSIX ustar header")]
    Magic {
        /// Where the header starts.
        offset: u64,
    },
    /// The checksum of a header isn't that of its bytes.
    #[error("the header at byte {offset} has a wrong checksum")]
    Checksum {
        /// Where the header starts.
        offset: u64,
    },
    /// The size in a header isn't an octal number.
    #[error("the header at byte {offset} has no octal size")]
    Size {
        /// Where the header starts.
        offset: u64,
    },
    /// One zero block, and something else after it: the marker is two of them.
    #[error("the zero block at byte {offset} is followed by another block")]
    EndMarker {
        /// Where the zero block starts.
        offset: u64,
    },
    /// Something follows the end marker.
    #[error("something follows the end of the archive, at byte {offset}")]
    Trailing {
        /// Where it starts.
        offset: u64,
    },
    /// A member that isn't a regular file.
    #[error("a member of type {type_flag:#04x} isn't a regular file")]
    NotRegular {
        /// Its path, as it stands there.
        path: Box<[u8]>,
        /// Its type.
        type_flag: u8,
    },
    /// A second member of one path.
    #[error("the path occurs twice")]
    Duplicate {
        /// The path, as it stands there.
        path: Box<[u8]>,
    },
    /// A path that isn't in path form.
    #[error("the path isn't acceptable: {defect:?}")]
    Path {
        /// The path, as it stands there.
        path: Box<[u8]>,
        /// What is wrong with it.
        defect: PathDefect,
    },
    /// A member over the limit. Nothing of it was read.
    #[error("a member of {size} bytes where {limit} are allowed")]
    MemberBytes {
        /// Its path, as it stands there.
        path: Box<[u8]>,
        /// Its size, as its header says.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The members together are over the limit. Nothing of the one that crosses it was read.
    #[error("members of {size} bytes where {limit} are allowed")]
    TotalBytes {
        /// The sum of sizes, as the headers say.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// More members than allowed.
    #[error("more than {limit} members")]
    Members {
        /// The limit.
        limit: u64,
    },
}

impl TarError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io(_)
            | Self::EndsEarly { .. }
            | Self::Magic { .. }
            | Self::Checksum { .. }
            | Self::Size { .. }
            | Self::EndMarker { .. } => "IN.OPEN",
            Self::Trailing { .. } => "IN.ARCHIVE_TRAILING",
            Self::NotRegular { .. } => "IN.NOT_REGULAR",
            Self::Duplicate { .. } => "IN.ARCHIVE_DUP",
            Self::Path { defect: PathDefect::Traversal, .. } => "IN.PATH_TRAVERSAL",
            Self::Path { defect: PathDefect::Form, .. } => "IN.PATH_FORM",
            Self::MemberBytes { .. } | Self::TotalBytes { .. } => "IN.LIMIT_BYTES",
            Self::Members { .. } => "IN.LIMIT_COUNT",
        }
    }

    /// The path of the member it is about, as it stands in the archive.
    #[must_use]
    pub fn path(&self) -> Option<&[u8]> {
        match self {
            Self::NotRegular { path, .. }
            | Self::Duplicate { path }
            | Self::Path { path, .. }
            | Self::MemberBytes { path, .. } => Some(path),
            _ => None,
        }
    }
}

/// Why a member can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TarWriteError {
    /// The archive can't be written, or the member's bytes can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A path that isn't in path form.
    #[error("{path:?} isn't acceptable: {defect:?}")]
    Path {
        /// The path.
        path: Box<str>,
        /// What is wrong with it.
        defect: PathDefect,
    },
    /// A path that isn't bytewise after the one before.
    #[error("{path} doesn't come after the member before it")]
    NotAscending {
        /// The path.
        path: Box<str>,
    },
    /// A path over 100 bytes with no `/` that leaves at most 155 bytes before and 100 after it.
    #[error("{path} can't be written in a ustar header")]
    Unrepresentable {
        /// The path.
        path: Box<str>,
    },
    /// A member of 8 GiB or more.
    #[error("{path} has {size} bytes, more than a ustar header can say")]
    TooLarge {
        /// Its path.
        path: Box<str>,
        /// Its size.
        size: u64,
    },
    /// A member that isn't as long as was said. The archive is unusable.
    #[error("{path} has {actual} bytes or more, not {size}")]
    Length {
        /// Its path.
        path: Box<str>,
        /// The size that was stated.
        size: u64,
        /// How many bytes there were; counted up to one more than stated.
        actual: u64,
    },
}
