//! Nonces: integers that bind an answer to its request (RFC 3161 section 2.4.1).

use core::fmt;
use core::str::FromStr;

use super::TimestampError;
use crate::encoding::{hex_decode, hex_encode};

/// The longest nonce that is read.
pub const MAX_NONCE_OCTETS: usize = 64;

/// A nonce: an integer from 0 on. Two are equal if the integers are.
///
/// `Display` is hexadecimal, two digits for each octet, without leading zero octets. `FromStr` reads
/// the same and takes leading zeros.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Nonce(Vec<u8>);

impl Nonce {
    /// The nonce of 128 random bits: `octets` have to come from the system's generator.
    #[must_use]
    pub fn from_random(octets: [u8; 16]) -> Self {
        Self::of_octets(&octets)
    }

    /// The integer that these big-endian octets are.
    pub(super) fn of_octets(octets: &[u8]) -> Self {
        let zeros = octets.iter().take_while(|&&octet| octet == 0).count();
        Self(octets.iter().copied().skip(zeros).collect())
    }

    /// The contents of its DER INTEGER.
    #[must_use]
    pub(super) fn integer(&self) -> Vec<u8> {
        let sign = self.0.first().is_none_or(|&first| first >= 0x80).then_some(0);
        sign.into_iter().chain(self.0.iter().copied()).collect()
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.pad("00") } else { f.pad(&hex_encode(&self.0)) }
    }
}

impl FromStr for Nonce {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let octets =
            hex_decode(&text.to_ascii_lowercase()).map_err(|_| TimestampError::NonceText)?;
        if (1..=MAX_NONCE_OCTETS).contains(&octets.len()) {
            Ok(Self::of_octets(&octets))
        } else {
            Err(TimestampError::NonceText)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_minimal_and_positive() {
        let integer = |text: &str| text.parse::<Nonce>().unwrap().integer();
        assert_eq!(integer("00"), [0]);
        assert_eq!(integer("0000"), [0]);
        assert_eq!(integer("007f"), [0x7f]);
        assert_eq!(integer("80"), [0, 0x80]);
        assert_eq!(integer("FF00"), [0, 0xff, 0]);
        assert_eq!("0001".parse::<Nonce>(), "01".parse());
        assert_eq!("0001".parse::<Nonce>().unwrap().to_string(), "01");
        let long = "11".repeat(MAX_NONCE_OCTETS);
        assert!(long.parse::<Nonce>().is_ok());
        for bad in ["", "1", "0x11", "-1", &format!("{long}11")] {
            assert!(bad.parse::<Nonce>().is_err(), "{bad}");
        }
    }
}
