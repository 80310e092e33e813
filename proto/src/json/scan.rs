//! Finding the next byte of a string that isn't plain text, eight bytes at a time.

/// The number of leading bytes that are neither a control character, nor `"`, nor `\`.
///
/// Reader and writer share it: exactly these bytes end the verbatim part of a JSON string.
pub(crate) fn plain_prefix(bytes: &[u8]) -> usize {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut length = 0;
    for chunk in chunks {
        let marks = special_marks(u64::from_le_bytes(*chunk));
        if marks != 0 {
            // The lowest mark is exact; in little-endian order it is the first special byte.
            return length + usize::try_from(marks.trailing_zeros() / 8).unwrap_or(0);
        }
        length += 8;
    }
    length + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

const fn is_special(byte: u8) -> bool {
    matches!(byte, 0..=0x1f | b'"' | b'\\')
}

/// Marks the top bit of special bytes.
///
/// A subtraction's borrow can mark bytes above a special one falsely, never below it, so only the
/// lowest mark counts.
const fn special_marks(word: u64) -> u64 {
    let control = word.wrapping_sub(0x20 * ONES) & !word;
    let quote = zero_bytes(word ^ (0x22 * ONES));
    let backslash = zero_bytes(word ^ (0x5c * ONES));
    (control | quote | backslash) & TOPS
}

const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "positions are the loop's own")]

    use super::*;

    #[test]
    fn agrees_with_the_plain_definition_for_every_byte_and_position() {
        for byte in 0..=u8::MAX {
            for follower in [0, b' ', b'"', b'\\', 0x80, 0xff] {
                for position in 0..20 {
                    let mut bytes = [b'a'; 24];
                    bytes[position] = byte;
                    bytes[position + 1] = follower;
                    let expected = bytes.iter().position(|byte| is_special(*byte)).unwrap_or(24);
                    assert_eq!(plain_prefix(&bytes), expected, "{byte:#x} at {position}");
                }
            }
        }
        assert_eq!(plain_prefix(b""), 0);
    }
}
