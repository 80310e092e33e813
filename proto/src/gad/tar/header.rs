//! One header block: IEEE Std 1003.1, pax, "ustar Interchange Format".

use super::BLOCK_BYTES;

/// One block.
pub(super) type Block = [u8; BLOCK_BYTES];

/// Where the fields that are read stand, as offset and length.
const NAME: (usize, usize) = (0, 100);
const SIZE: (usize, usize) = (124, 12);
const CHECKSUM: (usize, usize) = (148, 8);
const TYPE_FLAG: (usize, usize) = (156, 1);
const MAGIC: (usize, usize) = (257, 8);
const PREFIX: (usize, usize) = (345, 155);

/// Magic and version.
const USTAR: &[u8; 8] = b"ustar\x0000";

/// The largest size that eleven octal digits can say.
pub(super) const MAX_SIZE: u64 = 0o777_7777_7777;

/// What a header says.
#[derive(Debug)]
pub(super) struct Header {
    /// Prefix and name. The zero bytes that fill their fields aren't part of them; others are.
    pub(super) path: Vec<u8>,
    /// The type.
    pub(super) type_flag: u8,
    /// The size; `None` when it isn't an octal number.
    pub(super) size: Option<u64>,
    /// Whether magic and version are those of ustar.
    pub(super) is_ustar: bool,
    /// Whether the checksum is that of the block.
    pub(super) checksum_agrees: bool,
}

impl Header {
    /// Reads a block, whatever is in it.
    pub(super) fn parse(block: &Block) -> Self {
        let name = trim_zeros(field(block, NAME));
        let prefix = trim_zeros(field(block, PREFIX));
        let mut path = Vec::with_capacity(prefix.len() + 1 + name.len());
        if !prefix.is_empty() {
            path.extend_from_slice(prefix);
            path.push(b'/');
        }
        path.extend_from_slice(name);
        Self {
            path,
            type_flag: field(block, TYPE_FLAG).first().copied().unwrap_or_default(),
            size: octal(field(block, SIZE)),
            is_ustar: field(block, MAGIC) == USTAR,
            checksum_agrees: octal(field(block, CHECKSUM)) == Some(checksum(block)),
        }
    }

    /// Whether it is a regular file: type `0`, or the zero byte of older writers.
    pub(super) const fn is_regular(&self) -> bool {
        matches!(self.type_flag, b'0' | 0)
    }
}

/// The header of a regular file, or `None` for a path that no header can say or a size over
/// [`MAX_SIZE`].
pub(super) fn encode(path: &str, size: u64) -> Option<Vec<u8>> {
    let (prefix, name) = split(path)?;
    let size = (size <= MAX_SIZE).then(|| format!("{size:011o}\0"))?;
    let assemble = |checksum: &str| {
        let fields: [(&[u8], usize); 14] = [
            (name.as_bytes(), NAME.1),
            (b"0000644", 8), // mode
            (b"0000000", 8), // owner
            (b"0000000", 8), // group
            (size.as_bytes(), SIZE.1),
            (b"00000000000", 12), // time
            (checksum.as_bytes(), CHECKSUM.1),
            (b"0", TYPE_FLAG.1),
            (b"", 100), // link name
            (USTAR, MAGIC.1),
            (b"", 64),       // names of owner and group
            (b"0000000", 8), // device
            (b"0000000", 8),
            (prefix.as_bytes(), PREFIX.1),
        ];
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        for (bytes, length) in fields {
            let end = block.len() + length;
            block.extend_from_slice(bytes);
            block.resize(end, 0);
        }
        block.resize(BLOCK_BYTES, 0);
        block
    };
    let sum: u64 = assemble("        ").iter().map(|byte| u64::from(*byte)).sum();
    Some(assemble(&format!("{sum:06o}\0 ")))
}

/// Prefix and name of a path: as long a prefix as fits, as other writers have it.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= NAME.1 {
        return Some(("", path));
    }
    let reach = path.len().min(PREFIX.1 + 1);
    let slash = path.as_bytes().get(..reach)?.iter().rposition(|byte| *byte == b'/')?;
    let (prefix, name) = (path.get(..slash)?, path.get(slash + 1..)?);
    (name.len() <= NAME.1).then_some((prefix, name))
}

fn field(block: &Block, (offset, length): (usize, usize)) -> &[u8] {
    block.get(offset..offset + length).unwrap_or_default()
}

fn trim_zeros(field: &[u8]) -> &[u8] {
    let end = field.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    field.get(..end).unwrap_or_default()
}

/// An octal number: digits, then at least one space or zero byte, and nothing else to the end of the
/// field. Base-256 numbers, signs, leading spaces and empty fields are none.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = field.iter().take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let (digits, rest) = field.split_at_checked(digits)?;
    if digits.is_empty() || rest.is_empty() || rest.iter().any(|byte| !matches!(byte, 0 | b' ')) {
        return None;
    }
    // A field of 12 bytes holds at most 11 digits, 33 bits.
    Some(digits.iter().fold(0, |number, digit| number << 3 | u64::from(digit - b'0')))
}

/// The sum of all bytes, those of the checksum itself taken as spaces.
fn checksum(block: &Block) -> u64 {
    let sum = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    let spaces = u64::try_from(CHECKSUM.1).unwrap_or_default() * u64::from(b' ');
    sum(block) - sum(field(block, CHECKSUM)) + spaces
}
