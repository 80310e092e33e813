//! Text encodings of bytes, each with exactly one accepted spelling.
//!
//! Base64 is RFC 4648 section 4: standard alphabet, padded, unused bits zero, no white space.
//! Hexadecimal is lower-case. Anything else is refused rather than repaired, so that equal bytes have
//! equal text and a signature over text can't be carried to another spelling.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Why a text does not encode what it should.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// Not canonical padded base64 of the standard alphabet.
    #[error("not canonical standard base64 with padding")]
    Base64,
    /// A digest does not start with `sha256:`.
    #[error("a digest starts with \"sha256:\"")]
    DigestPrefix,
    /// Not an even number of lower-case hexadecimal digits.
    #[error("not lower-case hexadecimal")]
    Hex,
    /// The text decodes to another number of bytes than its field holds.
    #[error("{actual} bytes where {expected} are expected")]
    Length {
        /// Bytes the field holds.
        expected: usize,
        /// Bytes the text decodes to.
        actual: usize,
    },
}

impl EncodingError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Base64 => "J.B64_FORM",
            Self::DigestPrefix | Self::Hex | Self::Length { .. } => "J.DIGEST_FORM",
        }
    }
}

/// Encodes `bytes` as standard padded base64.
#[must_use]
pub fn base64_encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Appends the standard padded base64 of `bytes` to `out`.
pub fn base64_encode_into(bytes: &[u8], out: &mut String) {
    STANDARD.encode_string(bytes, out);
}

/// Decodes canonical base64.
pub fn base64_decode(text: &str) -> Result<Vec<u8>, EncodingError> {
    // The engine refuses missing padding, foreign characters and non-zero unused bits.
    STANDARD.decode(text).map_err(|_| EncodingError::Base64)
}

/// Decodes canonical base64 of exactly `N` bytes.
pub fn base64_decode_array<const N: usize>(text: &str) -> Result<[u8; N], EncodingError> {
    exact(&base64_decode(text)?)
}

/// Encodes `bytes` as lower-case hexadecimal.
#[must_use]
pub fn hex_encode(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

/// Decodes lower-case hexadecimal.
pub fn hex_decode(text: &str) -> Result<Vec<u8>, EncodingError> {
    base16ct::lower::decode_vec(text).map_err(|_| EncodingError::Hex)
}

/// Decodes lower-case hexadecimal of exactly `N` bytes.
///
/// Of public values: the time it takes may depend on them.
pub fn hex_decode_array<const N: usize>(text: &str) -> Result<[u8; N], EncodingError> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return exact(&hex_decode(text)?);
    }
    // Digests are read by the million: no allocation, and no branch per digit.
    let mut bytes = [0; N];
    let mut seen = 0;
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (hex_digit(*high), hex_digit(*low));
        seen |= high | low;
        *byte = (high << 4) | (low & 0x0f);
    }
    if seen == NO_DIGIT { Err(EncodingError::Hex) } else { Ok(bytes) }
}

/// All bits, so that one of them among the digits shows in the union.
const NO_DIGIT: u8 = 0xff;

/// The value of a lower-case hexadecimal digit.
const fn hex_digit(byte: u8) -> u8 {
    let (digit, letter) = (byte.wrapping_sub(b'0'), byte.wrapping_sub(b'a'));
    if digit < 10 {
        digit
    } else if letter < 6 {
        letter + 10
    } else {
        NO_DIGIT
    }
}

fn exact<const N: usize>(bytes: &[u8]) -> Result<[u8; N], EncodingError> {
    bytes.try_into().map_err(|_| EncodingError::Length { expected: N, actual: bytes.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_has_one_spelling() {
        assert_eq!(base64_decode("AAE="), Ok(vec![0, 1]));
        for wrong in ["AAE", "AAF=", "AAE=\n", " AAE=", "AA-_", "AAE==", "A=E="] {
            assert_eq!(base64_decode(wrong), Err(EncodingError::Base64), "{wrong:?}");
        }
        let length = EncodingError::Length { expected: 3, actual: 2 };
        assert_eq!(base64_decode_array::<3>("AAE="), Err(length));
    }

    #[test]
    fn hex_is_lower_case() {
        assert_eq!(hex_decode("00ff"), Ok(vec![0, 255]));
        for wrong in ["0", "00FF", "0x00", "zz", " 00"] {
            assert_eq!(hex_decode(wrong), Err(EncodingError::Hex), "{wrong:?}");
        }
        assert_eq!(hex_decode_array("00ff"), Ok([0, 255]));
        for text in ["00f", "0g00", "00ff0", "00FF", "é0"] {
            assert_eq!(hex_decode_array::<2>(text), Err(EncodingError::Hex), "{text:?}");
        }
        for text in ["", "00", "00ff00"] {
            let length = EncodingError::Length { expected: 2, actual: text.len() / 2 };
            assert_eq!(hex_decode_array::<2>(text), Err(length), "{text:?}");
        }
    }

    #[test]
    fn hex_digits_are_these_sixteen() {
        for byte in 0..=u8::MAX {
            let digit = char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
            let expected = digit.map_or(NO_DIGIT, |digit| u8::try_from(digit).unwrap_or(NO_DIGIT));
            assert_eq!(hex_digit(byte), expected, "{byte:#x}");
        }
    }
}
