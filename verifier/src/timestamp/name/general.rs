//! The forms of names beside distinguished ones.

use anchorlog_proto::timestamp::element::{Element, context};
use der::Tag;

use super::Name;

/// A `GeneralName` (RFC 5280 section 4.2.1.6), as received.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum GeneralName<'a> {
    /// rfc822Name: a mailbox.
    Mail(&'a str),
    /// dNSName.
    Dns(&'a str),
    /// uniformResourceIdentifier.
    Uri(&'a str),
    /// iPAddress: 4 or 16 octets, twice that in a name constraint.
    Ip(&'a [u8]),
    /// directoryName.
    Directory(Name<'a>),
    /// Another form (otherName, x400Address, ediPartyName, registeredID), or text that isn't ASCII:
    /// the whole element.
    Other(Element<'a>),
}

impl<'a> GeneralName<'a> {
    /// Reads a `GeneralName`. `None` for what isn't one.
    #[must_use]
    pub fn read(element: &Element<'a>) -> Option<Self> {
        const MAIL: Tag = context(1, false);
        const DNS: Tag = context(2, false);
        const DIRECTORY: Tag = context(4, true);
        const URI: Tag = context(6, false);
        const IP: Tag = context(7, false);
        const OTHER: [Tag; 4] =
            [context(0, true), context(3, true), context(5, true), context(8, false)];

        let octets = element.value();
        let ascii = core::str::from_utf8(octets).ok().filter(|text| text.is_ascii());
        Some(match (element.tag(), ascii) {
            (MAIL, Some(text)) => Self::Mail(text),
            (DNS, Some(text)) => Self::Dns(text),
            (URI, Some(text)) => Self::Uri(text),
            (IP, _) => Self::Ip(octets),
            (DIRECTORY, _) => Self::Directory(Name::read(&Element::parse(octets)?)?),
            (MAIL | DNS | URI, None) => Self::Other(*element),
            (tag, _) if OTHER.contains(&tag) => Self::Other(*element),
            _ => return None,
        })
    }

    /// Whether two names are the same: directory names as [`Name::matches`], DNS names and the
    /// domain of a mailbox regardless of case, everything else octet by octet.
    #[must_use]
    pub fn matches(&self, other: &GeneralName<'_>) -> bool {
        match (self, other) {
            (Self::Mail(ours), GeneralName::Mail(theirs)) => {
                match (ours.rsplit_once('@'), theirs.rsplit_once('@')) {
                    (Some((our_box, our_host)), Some((their_box, their_host))) => {
                        our_box == their_box && our_host.eq_ignore_ascii_case(their_host)
                    }
                    _ => ours == theirs,
                }
            }
            (Self::Dns(ours), GeneralName::Dns(theirs)) => ours.eq_ignore_ascii_case(theirs),
            (Self::Uri(ours), GeneralName::Uri(theirs)) => ours == theirs,
            (Self::Ip(ours), GeneralName::Ip(theirs)) => ours == theirs,
            (Self::Directory(ours), GeneralName::Directory(theirs)) => ours.matches(theirs),
            (Self::Other(ours), GeneralName::Other(theirs)) => ours.raw() == theirs.raw(),
            _ => false,
        }
    }

    /// The number of the form's tag: two names are of one form when these are equal, whether or not
    /// they can be read further.
    pub(in crate::timestamp) fn form(&self) -> u32 {
        match self {
            Self::Mail(_) => 1,
            Self::Dns(_) => 2,
            Self::Directory(_) => 4,
            Self::Uri(_) => 6,
            Self::Ip(_) => 7,
            Self::Other(element) => element.tag().number().value(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{name, tlv};
    use super::*;

    fn same(ours: &[u8], theirs: &[u8]) -> bool {
        let read = |bytes| GeneralName::read(&Element::parse(bytes).unwrap()).unwrap();
        read(ours).matches(&read(theirs))
    }

    #[test]
    fn names_of_one_form_are_compared() {
        let directory = |text| tlv(0xa4, &[&name(&[text])]);
        for (ours, theirs, expected) in [
            (tlv(0x81, &[b"Tsa@Example.test"]), tlv(0x81, &[b"Tsa@example.TEST"]), true),
            (tlv(0x81, &[b"Tsa@example.test"]), tlv(0x81, &[b"tsa@example.test"]), false),
            (tlv(0x82, &[b"a.example"]), tlv(0x82, &[b"A.Example"]), true),
            (tlv(0x82, &[b"a.example"]), tlv(0x81, &[b"a.example"]), false),
            (tlv(0x86, &[b"https://a.example"]), tlv(0x86, &[b"https://A.example"]), false),
            (tlv(0x87, &[&[1, 2, 3, 4]]), tlv(0x87, &[&[1, 2, 3, 4]]), true),
            (directory("a"), directory("A"), true),
            (directory("a"), directory("b"), false),
            (tlv(0x88, &[&[42]]), tlv(0x88, &[&[42]]), true),
            (tlv(0x82, &[b"\xff"]), tlv(0x82, &[b"\xff"]), true),
        ] {
            assert_eq!(same(&ours, &theirs), expected, "{ours:x?} {theirs:x?}");
        }
    }

    #[test]
    fn what_is_no_name_is_none() {
        for bad in [&[4, 0][..], &[0x89, 0], &[0xa1, 0], &[0xa4, 0], &[0xa4, 2, 4, 0], &[0x84, 0]] {
            assert!(GeneralName::read(&Element::parse(bad).unwrap()).is_none(), "{bad:x?}");
        }
    }
}
