//! The records of the write-ahead log, byte by byte.
//!
//! ```text
//! offset  size  field
//! 0       4     length of the body, little-endian, at least 1
//! 4       4     CRC-32C of kind and body, little-endian
//! 8       1     kind: 1 segment start, 2 batch
//! 9       …     body
//!
//! segment start body                       batch body
//! 0   4  format version, 1                 0   8  index of the first entry
//! 4   8  size of the log at this point     8   4  number of entries
//! 12  …  signed checkpoint of that size    12  4  length of the checkpoint
//!        (empty in the very first)         16  …  signed checkpoint of the size after the batch
//!                                          …   …  entries, each behind a big-endian u16 length
//! ```
//!
//! A length of zero is the end: segments are written full of zeros before they are used. The kind byte is
//! a control character, which no entry and no checkpoint can hold, so bytes that somebody submitted can't
//! pass for a record.

use anchorlog_proto::merkle::TreeSize;

use super::Defect;

/// Bytes before the body.
pub const HEADER_BYTES: usize = 9;

/// The longest body that is read: far more than the largest batch.
pub const MAX_BODY_BYTES: usize = 64 << 20;

/// Version of the record format.
const FORMAT_VERSION: u32 = 1;

/// Kind byte of a segment start.
const KIND_START: u8 = 1;

/// Kind byte of a batch.
const KIND_BATCH: u8 = 2;

/// A batch of entries and the checkpoint that covers it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BatchRecord<'a> {
    /// Size of the log before the batch.
    pub first_index: u64,
    /// Number of entries. Zero in the record that holds the checkpoint of the empty log.
    pub count: u32,
    /// The signed checkpoint of the size after the batch.
    pub checkpoint: &'a [u8],
    /// The entries back to back, each behind its big-endian `u16` length.
    pub entries: &'a [u8],
}

impl BatchRecord<'_> {
    /// Size of the log after the batch, if there can be such a log.
    #[must_use]
    pub fn size_after(&self) -> Option<TreeSize> {
        TreeSize::new(self.first_index.checked_add(u64::from(self.count))?).ok()
    }
}

/// The first record of a segment: it makes the segment readable without those before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SegmentStart<'a> {
    /// Size of the log where the segment starts.
    pub size: TreeSize,
    /// The signed checkpoint of that size; empty before the first one was signed.
    pub checkpoint: &'a [u8],
}

/// A record read back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Record<'a> {
    /// A batch.
    Batch(BatchRecord<'a>),
    /// The start of a segment.
    Start(SegmentStart<'a>),
}

/// What stands at a place of a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Frame<'a> {
    /// A whole record, and the bytes it takes.
    Record(Record<'a>, usize),
    /// Zeros where the next record would start.
    End,
    /// Anything else.
    Broken,
}

/// Appends a batch record.
pub fn write_batch(batch: &BatchRecord<'_>, out: &mut Vec<u8>) {
    write_record(KIND_BATCH, out, |out| {
        out.extend_from_slice(&batch.first_index.to_le_bytes());
        out.extend_from_slice(&batch.count.to_le_bytes());
        // A checkpoint has a few hundred bytes; a length beyond u32 would fail to read back.
        out.extend_from_slice(
            &u32::try_from(batch.checkpoint.len()).unwrap_or(u32::MAX).to_le_bytes(),
        );
        out.extend_from_slice(batch.checkpoint);
        out.extend_from_slice(batch.entries);
    });
}

/// Appends a segment start.
pub fn write_start(start: &SegmentStart<'_>, out: &mut Vec<u8>) {
    write_record(KIND_START, out, |out| {
        out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        out.extend_from_slice(&start.size.get().to_le_bytes());
        out.extend_from_slice(start.checkpoint);
    });
}

/// Reads what stands at the beginning of `bytes`.
#[must_use]
pub fn read_frame(bytes: &[u8]) -> Frame<'_> {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return if bytes.iter().all(|byte| *byte == 0) { Frame::End } else { Frame::Broken };
    };
    let [l0, l1, l2, l3, c0, c1, c2, c3, kind] = *header;
    let length = u32::from_le_bytes([l0, l1, l2, l3]);
    if length == 0 {
        let zeros = header.iter().all(|byte| *byte == 0);
        return if zeros { Frame::End } else { Frame::Broken };
    }
    let Some(body) = usize::try_from(length)
        .ok()
        .filter(|length| *length <= MAX_BODY_BYTES)
        .and_then(|length| rest.get(..length))
    else {
        return Frame::Broken;
    };
    if checksum(kind, body) != u32::from_le_bytes([c0, c1, c2, c3]) {
        return Frame::Broken;
    }
    let record = match kind {
        KIND_START => read_start(body).map(Record::Start),
        KIND_BATCH => read_batch(body).map(Record::Batch),
        _ => None,
    };
    record.map_or(Frame::Broken, |record| Frame::Record(record, HEADER_BYTES + body.len()))
}

/// Walks the entries of a batch or bundle: each entry's bytes, or the defect that ends the walk.
pub fn entries_of(mut bytes: &[u8]) -> impl Iterator<Item = Result<&[u8], Defect>> {
    core::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let split = bytes.split_first_chunk::<2>().and_then(|(length, rest)| {
            rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
        });
        if let Some((entry, rest)) = split {
            bytes = rest;
            return Some(Ok(entry));
        }
        bytes = &[];
        Some(Err(Defect::BadOffset))
    })
}

/// Appends a record of any kind: its header, and the body that `write_body` writes.
pub(crate) fn write_record(kind: u8, out: &mut Vec<u8>, write_body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    write_body(out);
    let (_, record) = out.split_at_mut(start);
    let (header, body) = record.split_at_mut(HEADER_BYTES);
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let checksum = checksum(kind, body);
    let fields = length.to_le_bytes().into_iter().chain(checksum.to_le_bytes()).chain([kind]);
    for (slot, byte) in header.iter_mut().zip(fields) {
        *slot = byte;
    }
}

/// The checksum in a record's header.
pub(crate) fn checksum(kind: u8, body: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&[kind]), body)
}

fn read_start(body: &[u8]) -> Option<SegmentStart<'_>> {
    let (version, rest) = body.split_first_chunk::<4>()?;
    let (size, checkpoint) = rest.split_first_chunk::<8>()?;
    let size = TreeSize::new(u64::from_le_bytes(*size)).ok()?;
    (u32::from_le_bytes(*version) == FORMAT_VERSION).then_some(SegmentStart { size, checkpoint })
}

fn read_batch(body: &[u8]) -> Option<BatchRecord<'_>> {
    let (first_index, rest) = body.split_first_chunk::<8>()?;
    let (count, rest) = rest.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (checkpoint, entries) = rest.split_at_checked(length)?;
    let batch = BatchRecord {
        first_index: u64::from_le_bytes(*first_index),
        count: u32::from_le_bytes(*count),
        checkpoint,
        entries,
    };
    let mut counted = 0_u32;
    for entry in entries_of(entries) {
        entry.ok()?;
        counted = counted.checked_add(1)?;
    }
    (counted == batch.count && batch.size_after().is_some()).then_some(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BATCH: BatchRecord<'_> = BatchRecord {
        first_index: 7,
        count: 2,
        checkpoint: b"signed",
        entries: b"\x00\x03one\x00\x00",
    };

    fn encoded() -> Vec<u8> {
        let mut bytes = Vec::new();
        write_batch(&BATCH, &mut bytes);
        bytes
    }

    #[test]
    fn records_round_trip() {
        let mut bytes = encoded();
        let length = bytes.len();
        assert_eq!(read_frame(&bytes), Frame::Record(Record::Batch(BATCH), length));
        bytes.extend_from_slice(b"whatever follows");
        assert_eq!(read_frame(&bytes), Frame::Record(Record::Batch(BATCH), length));

        let start = SegmentStart { size: TreeSize::MAX, checkpoint: b"" };
        let mut bytes = Vec::new();
        write_start(&start, &mut bytes);
        assert_eq!(read_frame(&bytes), Frame::Record(Record::Start(start), bytes.len()));
    }

    #[test]
    fn every_bit_flip_and_every_cut_is_seen() {
        let bytes = encoded();
        for position in 0..bytes.len() {
            assert_eq!(
                read_frame(bytes.get(..position).unwrap_or_default()),
                match position {
                    0 => Frame::End,
                    _ => Frame::Broken,
                }
            );
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                if let Some(byte) = flipped.get_mut(position) {
                    *byte ^= 1 << bit;
                }
                assert_eq!(read_frame(&flipped), Frame::Broken, "byte {position}, bit {bit}");
            }
        }
    }

    #[test]
    fn zeros_are_the_end() {
        assert_eq!(read_frame(&[0; 64]), Frame::End);
        assert_eq!(read_frame(&[]), Frame::End);
        assert_eq!(read_frame(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0]), Frame::Broken);
    }

    #[test]
    fn a_count_that_lies_is_refused() {
        for count in [1, 3] {
            let mut bytes = Vec::new();
            write_batch(&BatchRecord { count, ..BATCH }, &mut bytes);
            assert_eq!(read_frame(&bytes), Frame::Broken);
        }
    }
}
