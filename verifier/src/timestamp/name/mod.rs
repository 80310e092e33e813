//! Names: distinguished names and the other forms that certificates know.
//!
//! What it is: views of received names, and the rule by which two are the same. Names that are
//! equal octet by octet are. Otherwise they are compared attribute by attribute: the same relative
//! names in the same order, the attributes of one relative name in any order, of the same types;
//! values are equal octet by octet, or both are `PrintableString` or `UTF8String` (two `IA5String`s
//! as well) and have the same text, where letters count without their case, spaces at the ends
//! don't count, and several spaces are one.
//!
//! What it is not: RFC 5280 section 7.1 in full. Nothing is normalised (NFKC), and the older string
//! types are compared octet by octet. A stricter comparison can only lose a path, never win one; where it
//! could win one, because a constraint excludes names, the question is `may_be_within`.

mod general;

pub use general::GeneralName;

use core::fmt::{self, Write as _};

use anchorlog_proto::timestamp::ObjectIdentifier;
use anchorlog_proto::timestamp::element::{Element, Elements};
use der::Tag;

use crate::report::text::is_deceptive;

/// Relative names of one name that are compared one by one.
const MAX_RELATIVE_NAMES: usize = 64;
/// Attributes of one relative name that are compared one by one.
const MAX_ATTRIBUTES: usize = 16;

/// `emailAddress` (PKCS #9).
pub(super) const EMAIL_ADDRESS: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.1");

/// The attribute types that have a short name (RFC 4514 section 3, and the mailbox).
const SHORT_NAMES: [(&str, &str); 11] = [
    ("2.5.4.3", "CN"),
    ("2.5.4.5", "serialNumber"),
    ("2.5.4.6", "C"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.9", "STREET"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("0.9.2342.19200300.100.1.1", "UID"),
    ("0.9.2342.19200300.100.1.25", "DC"),
    ("1.2.840.113549.1.9.1", "emailAddress"),
];

/// A distinguished name, as received.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a>(&'a [u8]);

/// An attribute of a relative name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute<'a> {
    pub(super) oid: ObjectIdentifier,
    pub(super) value: Element<'a>,
}

impl<'a> Name<'a> {
    /// A name as received: the SEQUENCE of relative names, whatever is inside.
    #[must_use]
    pub fn read(element: &Element<'a>) -> Option<Self> {
        (element.tag() == Tag::Sequence).then_some(Self(element.raw()))
    }

    /// The encoding, as received.
    #[must_use]
    pub const fn raw(&self) -> &'a [u8] {
        self.0
    }

    /// The name that was read from these bytes before.
    pub(super) const fn again(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// Whether there is no relative name in it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        matches!(self.0, [_, 0])
    }

    /// Whether two names are the same: the module says when.
    #[must_use]
    pub fn matches(&self, other: &Name<'_>) -> bool {
        if self.raw() == other.raw() {
            return true;
        }
        match (self.relative_names(), other.relative_names()) {
            (Some(ours), Some(theirs)) => ours.len() == theirs.len() && starts_with(&ours, &theirs),
            _ => false,
        }
    }

    /// Whether two names are written with the same words: as [`Self::matches`], but every letter and space
    /// counts. For names that only point at a certificate, and nobody has signed.
    pub(super) fn reads_as(&self, other: &Name<'_>) -> bool {
        if self.raw() == other.raw() {
            return true;
        }
        let same = |(ours, theirs): (&Vec<Attribute<'_>>, &Vec<Attribute<'_>>)| {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(our, their)| our.reads_as(their))
        };
        match (self.relative_names(), other.relative_names()) {
            (Some(ours), Some(theirs)) => {
                ours.len() == theirs.len() && ours.iter().zip(&theirs).all(same)
            }
            _ => false,
        }
    }

    /// Whether the name is `base` or beneath it. `None` if one of them can't be read.
    pub(super) fn is_within(&self, base: &Name<'_>) -> Option<bool> {
        Some(starts_with(&self.relative_names()?, &base.relative_names()?))
    }

    /// Whether the name could be `base` or beneath it for somebody who knows more kinds of text than
    /// [`Self::is_within`] does: the same words in another string type, or words that can't be read. What
    /// excludes a name must not be escaped by another spelling of it.
    pub(super) fn may_be_within(&self, base: &Name<'_>) -> bool {
        match (self.relative_names(), base.relative_names()) {
            (Some(names), Some(bases)) => {
                names.len() >= bases.len()
                    && names.iter().zip(&bases).all(|(ours, theirs)| may_be_same_set(ours, theirs))
            }
            _ => true,
        }
    }

    /// The relative names, each a list of attributes.
    pub(super) fn relative_names(&self) -> Option<Vec<Vec<Attribute<'a>>>> {
        let names =
            Element::parse(self.0)?.elements_of(Tag::Sequence)?.collect_all(MAX_RELATIVE_NAMES)?;
        names.iter().map(|name| attributes(name.elements_of(Tag::Set)?)).collect()
    }
}

fn attributes(elements: Elements<'_>) -> Option<Vec<Attribute<'_>>> {
    let elements = elements.collect_all(MAX_ATTRIBUTES)?;
    elements
        .iter()
        .map(|element| {
            let mut parts = element.elements_of(Tag::Sequence)?;
            let attribute = Attribute { oid: parts.next()?.oid()?, value: parts.next()? };
            parts.is_empty().then_some(attribute)
        })
        .collect()
}

fn starts_with(name: &[Vec<Attribute<'_>>], base: &[Vec<Attribute<'_>>]) -> bool {
    name.len() >= base.len() && name.iter().zip(base).all(|(ours, theirs)| same_set(ours, theirs))
}

fn same_set(ours: &[Attribute<'_>], theirs: &[Attribute<'_>]) -> bool {
    let mut left: Vec<_> = theirs.iter().collect();
    ours.len() == theirs.len()
        && ours.iter().all(|our| {
            let found = left.iter().position(|their| our.matches(their));
            found.is_some_and(|position| {
                left.swap_remove(position);
                true
            })
        })
}

/// As [`same_set`]; attributes that may be several others may be so more than once.
fn may_be_same_set(ours: &[Attribute<'_>], theirs: &[Attribute<'_>]) -> bool {
    let all_in = |some: &[Attribute<'_>], others: &[Attribute<'_>]| {
        some.iter().all(|one| others.iter().any(|other| one.may_match(other)))
    };
    ours.len() == theirs.len() && all_in(ours, theirs) && all_in(theirs, ours)
}

impl Attribute<'_> {
    fn may_match(&self, other: &Attribute<'_>) -> bool {
        if self.oid != other.oid {
            return false;
        }
        if self.value.raw() == other.value.raw() {
            return true;
        }
        is_text(&self.value)
            && is_text(&other.value)
            && match (self.plain_text(), other.plain_text()) {
                (Some(ours), Some(theirs)) => folded(&ours).eq(folded(&theirs)),
                _ => true,
            }
    }

    /// The value as text, if nobody reads it otherwise: beyond ASCII, readers differ about T.61.
    fn plain_text(&self) -> Option<String> {
        let plain = self.value.tag() != Tag::TeletexString || self.value.value().is_ascii();
        self.text().filter(|_| plain)
    }

    fn matches(&self, other: &Attribute<'_>) -> bool {
        if self.oid != other.oid {
            return false;
        }
        if self.value.raw() == other.value.raw() {
            return true;
        }
        match (comparable(&self.value), comparable(&other.value)) {
            (Some((ia5, ours)), Some((other_ia5, theirs))) => {
                ia5 == other_ia5 && folded(ours).eq(folded(theirs))
            }
            _ => false,
        }
    }

    fn reads_as(&self, other: &Attribute<'_>) -> bool {
        let same_text =
            || comparable(&self.value).is_some_and(|text| Some(text) == comparable(&other.value));
        self.oid == other.oid && (self.value.raw() == other.value.raw() || same_text())
    }

    /// The value as text, as well as it can be told.
    pub(super) fn text(&self) -> Option<String> {
        let octets = self.value.value();
        match self.value.tag() {
            Tag::PrintableString | Tag::Utf8String | Tag::Ia5String | Tag::NumericString => {
                core::str::from_utf8(octets).ok().map(str::to_owned)
            }
            // Called T.61, and Latin-1 in practice.
            Tag::TeletexString => Some(octets.iter().copied().map(char::from).collect()),
            Tag::BmpString => {
                let units = octets.chunks_exact(2).filter_map(|pair| pair.try_into().ok());
                String::from_utf16(&units.map(u16::from_be_bytes).collect::<Vec<_>>()).ok()
            }
            _ => None,
        }
    }
}

/// Whether it is a string of some type.
const fn is_text(value: &Element<'_>) -> bool {
    matches!(
        value.tag(),
        Tag::PrintableString
            | Tag::Utf8String
            | Tag::Ia5String
            | Tag::NumericString
            | Tag::TeletexString
            | Tag::VideotexString
            | Tag::VisibleString
            | Tag::GeneralString
            | Tag::BmpString
    )
}

/// Whether it is an `IA5String`, and the text.
fn comparable<'a>(value: &Element<'a>) -> Option<(bool, &'a str)> {
    let ia5 = match value.tag() {
        Tag::PrintableString | Tag::Utf8String => false,
        Tag::Ia5String => true,
        _ => return None,
    };
    core::str::from_utf8(value.value()).ok().map(|text| (ia5, text))
}

/// The text in lower case, with single spaces and none at the ends.
fn folded(text: &str) -> impl Iterator<Item = char> + '_ {
    text.split(' ').filter(|word| !word.is_empty()).enumerate().flat_map(|(position, word)| {
        let space = (position > 0).then_some(' ');
        space.into_iter().chain(word.chars().flat_map(char::to_lowercase))
    })
}

/// RFC 4514: `CN=Example TSA,O=Example`, the last relative name first. Text that a terminal might
/// take for more than text is escaped.
impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(names) = self.relative_names() else { return f.write_str("(unreadable name)") };
        for (position, name) in names.iter().rev().enumerate() {
            if position > 0 {
                f.write_char(',')?;
            }
            for (position, attribute) in name.iter().enumerate() {
                if position > 0 {
                    f.write_char('+')?;
                }
                write!(f, "{attribute}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Attribute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dotted = self.oid.to_string();
        let short = SHORT_NAMES.iter().find(|(oid, _)| *oid == dotted);
        write!(f, "{}=", short.map_or(dotted.as_str(), |(_, short)| short))?;
        let Some(text) = self.text() else {
            f.write_char('#')?;
            return self.value.raw().iter().try_for_each(|octet| write!(f, "{octet:02x}"));
        };
        for character in text.chars() {
            match character {
                '"' | '+' | ',' | ';' | '<' | '>' | '\\' => write!(f, "\\{character}")?,
                _ if is_deceptive(character) => {
                    let mut octets = [0; 4];
                    for octet in character.encode_utf8(&mut octets).bytes() {
                        write!(f, "\\{octet:02x}")?;
                    }
                }
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{attribute, name, set, tlv};
    use super::*;

    fn read(bytes: &[u8]) -> Name<'_> {
        Name::read(&Element::parse(bytes).unwrap()).unwrap()
    }

    fn same(ours: &[u8], theirs: &[u8]) -> bool {
        let there = read(ours).matches(&read(theirs));
        assert_eq!(there, read(theirs).matches(&read(ours)));
        there
    }

    fn one(tag: u8, text: &[u8]) -> Vec<u8> {
        tlv(0x30, &[&set(&[&attribute("2.5.4.3", tag, text)])])
    }

    const UTF8: u8 = 0x0c;
    const PRINTABLE: u8 = 0x13;
    const TELETEX: u8 = 0x14;
    const IA5: u8 = 0x16;

    #[test]
    fn the_same_text_is_the_same_name() {
        for (ours, theirs, expected) in [
            (one(UTF8, b"Example"), one(PRINTABLE, b"Example"), true),
            (one(UTF8, b"Example TSA"), one(PRINTABLE, b" EXAMPLE   tsa "), true),
            (one(UTF8, "\u{c4}rger".as_bytes()), one(UTF8, "\u{e4}RGER".as_bytes()), true),
            (one(IA5, b"a@B.example"), one(IA5, b"A@b.example"), true),
            (one(UTF8, b"Example"), one(UTF8, b"Examples"), false),
            (one(UTF8, b"ExampleTSA"), one(UTF8, b"Example TSA"), false),
            (one(IA5, b"Example"), one(UTF8, b"Example"), false),
            (one(TELETEX, b"Example"), one(UTF8, b"Example"), false),
            (one(TELETEX, b"Example"), one(TELETEX, b"Example"), true),
            (one(UTF8, b"\xff"), one(UTF8, b"\xff"), true),
            (one(UTF8, b"\xffA"), one(UTF8, b"\xffa"), false),
            (one(UTF8, b""), one(PRINTABLE, b"  "), true),
        ] {
            assert_eq!(same(&ours, &theirs), expected, "{ours:x?} {theirs:x?}");
        }
    }

    #[test]
    fn order_counts_between_relative_names_and_not_within() {
        let (a, b) = (attribute("2.5.4.3", UTF8, b"a"), attribute("2.5.4.10", UTF8, b"b"));
        let (lower, upper) = (attribute("2.5.4.3", UTF8, b"a"), attribute("2.5.4.3", UTF8, b"A"));
        let names =
            |sets: &[Vec<u8>]| tlv(0x30, &sets.iter().map(Vec::as_slice).collect::<Vec<_>>());
        assert!(same(&names(&[set(&[&a, &b])]), &names(&[set(&[&b, &a])])));
        assert!(!same(&names(&[set(&[&a]), set(&[&b])]), &names(&[set(&[&b]), set(&[&a])])));
        assert!(!same(&names(&[set(&[&a, &b])]), &names(&[set(&[&a]), set(&[&b])])));
        assert!(!same(&names(&[set(&[&a])]), &names(&[set(&[&a]), set(&[&b])])));
        // One attribute can't stand for two.
        assert!(!same(&names(&[set(&[&lower, &upper])]), &names(&[set(&[&a, &b])])));
        assert!(same(&names(&[set(&[&lower, &upper])]), &names(&[set(&[&upper, &upper])])));
    }

    #[test]
    fn a_name_is_within_what_it_starts_with() {
        let (long, base) = (name(&["example", "unit", "tsa"]), name(&["EXAMPLE", "unit"]));
        assert_eq!(read(&long).is_within(&read(&base)), Some(true));
        assert_eq!(read(&base).is_within(&read(&long)), Some(false));
        assert_eq!(read(&long).is_within(&read(&tlv(0x30, &[]))), Some(true));
        assert_eq!(read(&long).is_within(&read(&tlv(0x30, &[&[5, 0]]))), None);
    }

    #[test]
    fn what_is_shown_is_only_text() {
        let bytes = one(UTF8, b"a,b\x1b[31m\\\xe2\x80\xae");
        let shown = read(&bytes).to_string();
        assert_eq!(shown, r"CN=a\,b\1b[31m\\\e2\80\ae");
        let bytes = name(&["o", "cn"]);
        let shown = read(&bytes).to_string();
        assert_eq!(shown, "CN=cn,CN=o");
        let bytes = tlv(0x30, &[&set(&[&attribute("1.2.3", 4, b"\x07")])]);
        let shown = read(&bytes).to_string();
        assert_eq!(shown, "1.2.3=#040107");
    }

    #[test]
    fn what_has_too_many_parts_is_compared_as_it_stands() {
        let many = |count: usize, text: &[u8]| {
            let part = set(&[&attribute("2.5.4.3", UTF8, text)]);
            tlv(0x30, &vec![part.as_slice(); count])
        };
        assert!(same(&many(64, b"a"), &many(64, b"A")));
        assert!(!same(&many(65, b"a"), &many(65, b"A")));
        assert!(same(&many(65, b"a"), &many(65, b"a")));
    }
}
