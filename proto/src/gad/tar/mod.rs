//! The tar form of a bundle: POSIX ustar, not compressed, regular files only.
//!
//! What it is: [`TarReader`], which reads an archive as a stream and reports everything that is wrong
//! with it, and [`TarWriter`], which writes the one archive of a set of members. One bundle has one
//! archive, byte for byte: names ascending, no times, no owners, one mode, exactly two zero blocks at
//! the end. What it isn't: a general tar. No extension of any kind is read, because each of them is
//! something that two readers can understand differently: pax headers, long names, sparse files,
//! base-256 numbers, directories, links.
//!
//! A reader ignores mode, owners, times, link name, device numbers, and the bytes that pad a member to
//! the next block. They are not part of any member, and nothing is ever unpacked.

mod error;
mod header;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use error::{TarError, TarWriteError};
pub use reader::{TarMember, TarReader};
pub use writer::TarWriter;

/// The unit of an archive, in bytes: headers are one block, members whole blocks.
pub const BLOCK_BYTES: usize = 512;

/// The same, as offsets and sizes are counted.
const BLOCK: u64 = 512;

/// How many bytes pad a member of this size to whole blocks.
const fn padding(size: u64) -> u64 {
    (BLOCK - size % BLOCK) % BLOCK
}
