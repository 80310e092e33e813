//! Nonces: integers that bind an answer to its request (RFC 3161 section 2.4.1).

use core::fmt;
use core::str::FromStr;

use super::TimestampError;
use crate::encoding::{hex_decode, hex_encode};

/// The longest nonce that is read.
pub const MAX_NONCE_OCTETS: usize = 64;

/// A nonce: an integer. Two are equal if the integers are.
///
/// Ours are positive. Others' may be negative: software that takes random octets for an integer asks
/// for such ones half of the time.
///
/// `FromStr` takes the octets of an integer from 0 on in hexadecimal, leading zeros included.
/// `Display` is the same for those, without leading zeros; a negative one is its two's complement
/// after `...`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Nonce {
    /// Minimal two's complement: the contents of the DER INTEGER.
    integer: Vec<u8>,
}

impl Nonce {
    /// The nonce of 128 random bits: `octets` have to come from the system's generator.
    #[must_use]
    pub fn from_random(octets: [u8; 16]) -> Self {
        Self::of_magnitude(&octets)
    }

    /// The integer from 0 on that these big-endian octets are.
    fn of_magnitude(octets: &[u8]) -> Self {
        let zeros = octets.iter().take_while(|&&octet| octet == 0).count();
        let digits: Vec<u8> = octets.iter().copied().skip(zeros).collect();
        let sign = digits.first().is_none_or(|&first| first >= 0x80).then_some(0);
        Self { integer: sign.into_iter().chain(digits).collect() }
    }

    /// The nonce whose DER INTEGER has these minimal contents. `None` if it is too long.
    pub(super) fn from_integer(contents: &[u8]) -> Option<Self> {
        (contents.len() <= MAX_NONCE_OCTETS + 1).then(|| Self { integer: contents.to_vec() })
    }

    /// The contents of its DER INTEGER.
    pub(super) fn integer(&self) -> &[u8] {
        &self.integer
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.integer.as_slice() {
            [0, digits @ ..] if !digits.is_empty() => f.pad(&hex_encode(digits)),
            [0x80..=0xff, ..] => f.pad(&format!("...{}", hex_encode(&self.integer))),
            digits => f.pad(&hex_encode(digits)),
        }
    }
}

impl FromStr for Nonce {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let octets =
            hex_decode(&text.to_ascii_lowercase()).map_err(|_| TimestampError::NonceText)?;
        if (1..=MAX_NONCE_OCTETS).contains(&octets.len()) {
            Ok(Self::of_magnitude(&octets))
        } else {
            Err(TimestampError::NonceText)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_minimal() {
        let integer = |text: &str| text.parse::<Nonce>().unwrap().integer;
        assert_eq!(integer("00"), [0]);
        assert_eq!(integer("0000"), [0]);
        assert_eq!(integer("007f"), [0x7f]);
        assert_eq!(integer("80"), [0, 0x80]);
        assert_eq!(integer("FF00"), [0, 0xff, 0]);
        assert_eq!("0001".parse::<Nonce>(), "01".parse());
        assert_eq!("0001".parse::<Nonce>().unwrap().to_string(), "01");
        assert_eq!("80".parse::<Nonce>().unwrap().to_string(), "80");
        let long = "ff".repeat(MAX_NONCE_OCTETS);
        let longest = long.parse::<Nonce>().unwrap();
        assert_eq!(Nonce::from_integer(longest.integer()), Some(longest));
        for bad in ["", "1", "0x11", "-1", &format!("{long}11")] {
            assert!(bad.parse::<Nonce>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_negative_nonce_is_another_one() {
        let negative = Nonce::from_integer(&[0x80]).unwrap();
        assert_eq!(negative.to_string(), "...80");
        assert_ne!(negative, "80".parse().unwrap());
        assert_eq!(Nonce::from_integer(&[1; MAX_NONCE_OCTETS + 2]), None);
    }
}
