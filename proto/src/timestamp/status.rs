//! What an authority answers: PKIStatus and PKIFailureInfo (RFC 3161 section 2.4.2).

use core::fmt;

use der::Tag;

use super::element::Element;

/// The status of a response.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Status {
    /// 0: the token is there as it was asked for.
    Granted,
    /// 1: the token is there, with modifications.
    GrantedWithMods,
    /// 2: refused.
    Rejection,
    /// 3: not yet.
    Waiting,
    /// 4: a revocation is imminent.
    RevocationWarning,
    /// 5: a revocation has happened.
    RevocationNotification,
}

impl Status {
    /// The status with this number.
    #[must_use]
    pub const fn from_number(number: u64) -> Option<Self> {
        Some(match number {
            0 => Self::Granted,
            1 => Self::GrantedWithMods,
            2 => Self::Rejection,
            3 => Self::Waiting,
            4 => Self::RevocationWarning,
            5 => Self::RevocationNotification,
            _ => return None,
        })
    }

    /// Whether a token has to be there.
    #[must_use]
    pub const fn is_granted(self) -> bool {
        matches!(self, Self::Granted | Self::GrantedWithMods)
    }

    /// The reason of a refusal with this status.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Granted | Self::GrantedWithMods => "status.token-missing",
            Self::Rejection => "status.rejected",
            Self::Waiting => "status.waiting",
            Self::RevocationWarning | Self::RevocationNotification => "status.revocation",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Granted => "granted",
            Self::GrantedWithMods => "granted with modifications",
            Self::Rejection => "rejection",
            Self::Waiting => "waiting",
            Self::RevocationWarning => "revocation warning",
            Self::RevocationNotification => "revocation notification",
        })
    }
}

/// Why an authority refuses, as far as it says: a set.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct FailInfo(u32);

impl FailInfo {
    /// The algorithm isn't known or supported.
    pub const BAD_ALG: Self = Self(1 << 0);
    /// The transaction isn't permitted.
    pub const BAD_REQUEST: Self = Self(1 << 2);
    /// The data has the wrong format.
    pub const BAD_DATA_FORMAT: Self = Self(1 << 5);
    /// The authority's clock isn't available.
    pub const TIME_NOT_AVAILABLE: Self = Self(1 << 14);
    /// The policy isn't supported.
    pub const UNACCEPTED_POLICY: Self = Self(1 << 15);
    /// An extension isn't supported.
    pub const UNACCEPTED_EXTENSION: Self = Self(1 << 16);
    /// Additional information can't be understood or isn't available.
    pub const ADD_INFO_NOT_AVAILABLE: Self = Self(1 << 17);
    /// The authority failed.
    pub const SYSTEM_FAILURE: Self = Self(1 << 25);

    const KNOWN: [(Self, &'static str); 8] = [
        (Self::BAD_ALG, "badAlg"),
        (Self::BAD_REQUEST, "badRequest"),
        (Self::BAD_DATA_FORMAT, "badDataFormat"),
        (Self::TIME_NOT_AVAILABLE, "timeNotAvailable"),
        (Self::UNACCEPTED_POLICY, "unacceptedPolicy"),
        (Self::UNACCEPTED_EXTENSION, "unacceptedExtension"),
        (Self::ADD_INFO_NOT_AVAILABLE, "addInfoNotAvailable"),
        (Self::SYSTEM_FAILURE, "systemFailure"),
    ];

    /// Whether nothing is said.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether everything in `other` is said.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether only failures of RFC 3161 are said.
    #[must_use]
    pub fn is_known(self) -> bool {
        let known = Self::KNOWN.iter().fold(0, |known, (failure, _)| known | failure.0);
        self.0 & !known == 0
    }

    /// The names of what is said, in RFC 3161's order; an unknown one has none.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::KNOWN
            .iter()
            .filter(move |(failure, _)| self.contains(*failure))
            .map(|(_, name)| *name)
    }

    /// What stands for every bit that RFC 3161 has no room for.
    const FAR_OUT: Self = Self(1 << 31);

    /// Reads a BIT STRING.
    ///
    /// DER asks for a string without trailing zero bits; real authorities send them, and nobody
    /// signs this part.
    pub(super) fn read(element: &Element<'_>) -> Option<Self> {
        let (&unused, octets) = element.value().split_first()?;
        let padding = octets.last().copied().unwrap_or(0).trailing_zeros();
        if element.tag() != Tag::BitString
            || u32::from(unused) > padding.min(7)
            || (octets.is_empty() && unused != 0)
        {
            return None;
        }
        let bits = octets.iter().zip([0_u32, 8, 16, 24]);
        let near =
            bits.fold(0, |sum, (octet, shift)| sum | u32::from(octet.reverse_bits()) << shift);
        let far_out = octets.iter().skip(4).any(|&octet| octet != 0);
        Some(if far_out { Self(near) | Self::FAR_OUT } else { Self(near) })
    }
}

impl core::ops::BitOr for FailInfo {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Nothing, or the names in brackets after a space.
impl fmt::Display for FailInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        let mut names: Vec<_> = self.names().collect();
        if !self.is_known() {
            names.push("unknown");
        }
        write!(f, " ({})", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_count_from_the_left() {
        let read = |bytes: &[u8]| FailInfo::read(&Element::parse(bytes).unwrap());
        assert_eq!(read(&[3, 2, 7, 0x80]), Some(FailInfo::BAD_ALG));
        assert_eq!(read(&[3, 2, 2, 0x04]), Some(FailInfo::BAD_DATA_FORMAT));
        assert_eq!(read(&[3, 3, 0, 0, 1]), Some(FailInfo::UNACCEPTED_POLICY));
        assert_eq!(read(&[3, 5, 6, 0, 0, 0, 0x40]), Some(FailInfo::SYSTEM_FAILURE));
        assert_eq!(read(&[3, 1, 0]), Some(FailInfo::default()));
        assert_eq!(read(&[3, 2, 0, 0x20]), Some(FailInfo::BAD_REQUEST));
        for bad in [&[3, 0][..], &[3, 1, 1], &[3, 2, 8, 0], &[3, 2, 6, 0x20], &[4, 2, 7, 0x80]] {
            assert_eq!(read(bad), None, "{bad:x?}");
        }
        assert!(!read(&[3, 2, 6, 0x40]).unwrap().is_known());
        assert!(!read(&[3, 6, 0, 0, 0, 0, 0, 1]).unwrap().is_known());
    }

    #[test]
    fn what_is_said_has_names() {
        assert_eq!(FailInfo::default().to_string(), "");
        let two = FailInfo::BAD_ALG | FailInfo::SYSTEM_FAILURE;
        assert_eq!(two.to_string(), " (badAlg, systemFailure)");
    }
}
