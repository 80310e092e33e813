//! Object identifiers, of any arc that is used.
//!
//! `const-oid` stops at 32-bit arcs and at a second arc of 39. Policies below 2.999, and identifiers
//! made from UUIDs below 2.25, are as legal as others, so this type keeps the octets.

use core::fmt;
use core::str::FromStr;

use super::TimestampError;

/// Octets of the longest identifier that is read.
const MAX_OCTETS: usize = 63;

/// An object identifier: at most 63 octets, and arcs of at most 128 bits.
///
/// `Display` and `FromStr` are dotted decimals.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ObjectIdentifier {
    octets: [u8; MAX_OCTETS],
    length: u8,
}

impl ObjectIdentifier {
    /// The identifier of a constant in dotted decimals, with arcs that `const-oid` knows.
    ///
    /// # Panics
    ///
    /// If the text isn't one: at compile time, where the constant is.
    #[must_use]
    #[allow(
        clippy::indexing_slicing,
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "evaluated at compile time, over at most 39 octets"
    )]
    pub const fn new_unwrap(text: &str) -> Self {
        let known = der::asn1::ObjectIdentifier::new_unwrap(text);
        let source = known.as_bytes();
        let mut octets = [0; MAX_OCTETS];
        let mut position = 0;
        while position < source.len() {
            octets[position] = source[position];
            position += 1;
        }
        Self { octets, length: position as u8 }
    }

    /// The identifier whose DER has these contents. `None` if an arc isn't minimal, doesn't end or
    /// has more than 128 bits, or if there are too many octets.
    #[must_use]
    pub fn from_bytes(contents: &[u8]) -> Option<Self> {
        let mut octets = [0; MAX_OCTETS];
        octets.get_mut(..contents.len())?.copy_from_slice(contents);
        let read = Self { octets, length: u8::try_from(contents.len()).ok()? };
        read.arcs().map(|_| read)
    }

    /// The contents of its DER.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.octets.get(..usize::from(self.length)).unwrap_or_default()
    }

    /// The arcs. `None` for octets that are no identifier, of which none is made.
    fn arcs(&self) -> Option<Vec<u128>> {
        let mut arcs = Vec::new();
        let mut arc: Option<u128> = None;
        for &octet in self.as_bytes() {
            if arc.is_none() && octet == 0x80 {
                return None;
            }
            let digits = arc.unwrap_or(0);
            let shifted = digits.checked_mul(128)? | u128::from(octet & 0x7f);
            if octet & 0x80 == 0 {
                arcs.push(shifted);
                arc = None;
            } else {
                arc = Some(shifted);
            }
        }
        let first = *arcs.first()?;
        let root = (first / 40).min(2);
        if let Some(second) = arcs.first_mut() {
            *second = first - 40 * root;
        }
        arcs.insert(0, root);
        arc.is_none().then_some(arcs)
    }
}

impl fmt::Display for ObjectIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arcs = self.arcs().unwrap_or_default();
        f.pad(&arcs.iter().map(ToString::to_string).collect::<Vec<_>>().join("."))
    }
}

impl fmt::Debug for ObjectIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectIdentifier({self})")
    }
}

impl FromStr for ObjectIdentifier {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        from_text(text).ok_or(TimestampError::OidText)
    }
}

fn from_text(text: &str) -> Option<ObjectIdentifier> {
    let number = |text: &str| {
        let canonical =
            text.bytes().all(|c| c.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        text.parse::<u128>().ok().filter(|_| canonical)
    };
    let arcs = text.split('.').map(number).collect::<Option<Vec<_>>>()?;
    let [root, second, rest @ ..] = arcs.as_slice() else { return None };
    if *root > 2 || (*root < 2 && *second > 39) {
        return None;
    }
    let mut contents = Vec::new();
    for arc in core::iter::once(&second.checked_add(40 * root)?).chain(rest) {
        // 128 bits are 19 digits of seven bits.
        let digits = (0..19_u32).rev().map(|digit| (arc >> (7 * digit)) & 0x7f);
        let digits: Vec<u8> = digits.filter_map(|digit| u8::try_from(digit).ok()).collect();
        let zeros = digits.iter().take_while(|&&digit| digit == 0).count().min(18);
        contents.extend(
            digits.iter().skip(zeros).enumerate().map(|(position, digit)| {
                if position == 18 - zeros { *digit } else { digit | 0x80 }
            }),
        );
    }
    ObjectIdentifier::from_bytes(&contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_octets_are_the_same_identifiers() {
        for (text, contents) in [
            ("0.0", &[0][..]),
            ("0.39", &[39]),
            ("1.0", &[40]),
            ("1.2.840.113549", &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d]),
            ("2.0", &[80]),
            ("2.47.0", &[127, 0]),
            ("2.48", &[0x81, 0]),
            ("2.999.3", &[0x88, 0x37, 3]),
            (
                "2.25.340282366920938463463374607431768211455",
                &[&[105, 0x83][..], &[0xff; 17], &[0x7f]].concat(),
            ),
        ] {
            let oid: ObjectIdentifier = text.parse().unwrap();
            assert_eq!(oid.as_bytes(), contents, "{text}");
            assert_eq!(ObjectIdentifier::from_bytes(contents), Some(oid));
            assert_eq!(oid.to_string(), text);
        }
        let constant = ObjectIdentifier::new_unwrap("1.2.840.113549");
        assert_eq!(constant, "1.2.840.113549".parse().unwrap());
    }

    #[test]
    fn nothing_else_is_one() {
        for bad in ["", "1", "3.1", "1.40", "1.2.", ".1.2", "1..2", "1.02", "1.-2", "1.+2", "a.b"] {
            assert!(bad.parse::<ObjectIdentifier>().is_err(), "{bad}");
        }
        assert!(
            "2.25.340282366920938463463374607431768211456".parse::<ObjectIdentifier>().is_err()
        );
        let wide = [&[105, 0x84][..], &[0x80; 17], &[0]].concat();
        for bad in [&[][..], &[0x80, 1], &[0x2a, 0x80, 1], &[0x2a, 0x81], &wide, &[1; 64]] {
            assert_eq!(ObjectIdentifier::from_bytes(bad), None, "{bad:x?}");
        }
        assert!(ObjectIdentifier::from_bytes(&[1; 63]).is_some());
    }
}
