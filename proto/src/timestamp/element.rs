//! A view of DER as it was received: tag, contents and the whole encoding, nothing decoded further.
//!
//! Signatures and certificate digests are over received bytes, so what has to be verified is never
//! decoded and encoded again. The view goes one level deep at a time; nothing here recurses, so
//! nesting costs nothing.

use super::ObjectIdentifier;
use der::{Decode, Header, Reader, SliceReader, Tag, TagNumber};

/// One DER element: what stands at one place of the input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Element<'a> {
    tag: Tag,
    value: &'a [u8],
    raw: &'a [u8],
}

impl Element<'static> {
    /// NULL, which is the same everywhere.
    pub const NULL: Self = Self { tag: Tag::Null, value: &[], raw: &[5, 0] };
}

impl<'a> Element<'a> {
    /// The one element that `bytes` are. `None` if they aren't exactly one.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut elements = Elements::new(bytes)?;
        let element = elements.next()?;
        elements.is_empty().then_some(element)
    }

    /// The tag.
    #[must_use]
    pub const fn tag(&self) -> Tag {
        self.tag
    }

    /// The contents, without tag and length.
    #[must_use]
    pub const fn value(&self) -> &'a [u8] {
        self.value
    }

    /// The whole encoding, as received.
    #[must_use]
    pub const fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// The elements inside a constructed element. `None` if it is primitive.
    #[must_use]
    pub fn elements(&self) -> Option<Elements<'a>> {
        if self.tag.is_constructed() { Elements::new(self.value) } else { None }
    }

    /// The elements inside, if the element has this tag.
    #[must_use]
    pub fn elements_of(&self, tag: Tag) -> Option<Elements<'a>> {
        if self.tag == tag { self.elements() } else { None }
    }

    /// The element as a typed value of `der`: `element.decode::<Int>()`.
    #[must_use]
    pub fn decode<T: Decode<'a>>(&self) -> Option<T> {
        T::from_der(self.raw).ok()
    }

    /// An object identifier.
    #[must_use]
    pub fn oid(&self) -> Option<ObjectIdentifier> {
        if self.tag == Tag::ObjectIdentifier {
            ObjectIdentifier::from_bytes(self.value)
        } else {
            None
        }
    }

    /// The octets of an OCTET STRING.
    #[must_use]
    pub fn octets(&self) -> Option<&'a [u8]> {
        (self.tag == Tag::OctetString).then_some(self.value)
    }

    /// The contents of a minimal INTEGER: two's complement.
    #[must_use]
    pub fn integer(&self) -> Option<&'a [u8]> {
        match *self.value {
            [] | [0, 0..0x80, ..] | [0xff, 0x80..=0xff, ..] => None,
            _ => (self.tag == Tag::Integer).then_some(self.value),
        }
    }

    /// The contents of a minimal INTEGER that is not negative, without a leading zero octet.
    #[must_use]
    pub fn unsigned(&self) -> Option<&'a [u8]> {
        if self.tag != Tag::Integer {
            return None;
        }
        match *self.value {
            [] | [0x80..=0xff, ..] | [0, 0..0x80, ..] if self.value.len() != 1 => None,
            [0x80..=0xff] => None,
            [0, ref rest @ ..] if !rest.is_empty() => Some(rest),
            _ => Some(self.value),
        }
    }

    /// A small INTEGER that is not negative.
    #[must_use]
    pub fn small(&self) -> Option<u64> {
        let octets = self.unsigned()?;
        (octets.len() <= 7)
            .then(|| octets.iter().fold(0, |sum, &octet| sum << 8 | u64::from(octet)))
    }

    /// A BOOLEAN, in DER's only two forms.
    #[must_use]
    pub fn boolean(&self) -> Option<bool> {
        match (self.tag, self.value) {
            (Tag::Boolean, [0]) => Some(false),
            (Tag::Boolean, [0xff]) => Some(true),
            _ => None,
        }
    }
}

/// Elements that stand one after another.
#[derive(Clone, Debug)]
pub struct Elements<'a>(SliceReader<'a>);

impl<'a> Elements<'a> {
    /// The elements of `bytes`. `None` if there are more bytes than `der` can count.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        SliceReader::new(bytes).ok().map(Self)
    }

    /// The next element. `None` at the end, and where the bytes are no DER; only [`Self::is_empty`]
    /// tells the two apart, and whoever reads to the end asks it.
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator would hide bytes that are no DER"
    )]
    pub fn next(&mut self) -> Option<Element<'a>> {
        let mut reader = self.0.clone();
        let header = Header::peek(&reader).ok()?;
        if header.is_constructed() != header.tag().is_constructed() {
            return None;
        }
        let raw = reader.tlv_bytes().ok()?;
        let length = usize::try_from(header.length()).ok()?;
        let value = raw.get(raw.len().checked_sub(length)?..)?;
        self.0 = reader;
        Some(Element { tag: header.tag(), value, raw })
    }

    /// The next element, which has this tag.
    pub fn expect(&mut self, tag: Tag) -> Option<Element<'a>> {
        self.next().filter(|element| element.tag == tag)
    }

    /// The next element, if it has this tag; otherwise nothing is taken.
    pub fn optional(&mut self, tag: Tag) -> Option<Element<'a>> {
        let mut ahead = self.clone();
        let element = ahead.expect(tag)?;
        *self = ahead;
        Some(element)
    }

    /// The tag of the next element. `None` at the end.
    #[must_use]
    pub fn peek(&self) -> Option<Tag> {
        self.clone().next().map(|element| element.tag)
    }

    /// Whether every byte has been taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_finished()
    }

    /// What is left, if all of it is DER and there are at most `limit` elements.
    #[must_use]
    pub fn collect_all(mut self, limit: usize) -> Option<Vec<Element<'a>>> {
        let mut elements = Vec::new();
        while !self.is_empty() {
            if elements.len() == limit {
                return None;
            }
            elements.push(self.next()?);
        }
        Some(elements)
    }
}

/// The context-specific tag `[number]`.
#[must_use]
pub const fn context(number: u32, constructed: bool) -> Tag {
    Tag::ContextSpecific { constructed, number: TagNumber(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_integers_are_minimal() {
        let unsigned = |bytes: &[u8]| Element::parse(bytes).unwrap().unsigned().map(<[u8]>::to_vec);
        assert_eq!(unsigned(&[2, 1, 0]), Some(vec![0]));
        assert_eq!(unsigned(&[2, 1, 0x7f]), Some(vec![0x7f]));
        assert_eq!(unsigned(&[2, 2, 0, 0x80]), Some(vec![0x80]));
        assert_eq!(unsigned(&[2, 2, 1, 0]), Some(vec![1, 0]));
        for bad in [&[2, 0][..], &[2, 1, 0x80], &[2, 2, 0, 0x7f], &[2, 2, 0, 0], &[2, 2, 0xff, 1]] {
            assert_eq!(unsigned(bad), None, "{bad:x?}");
        }
        assert_eq!(unsigned(&[4, 1, 1]), None);
    }

    #[test]
    fn exactly_one_definite_minimal_element() {
        assert_eq!(Element::parse(&[4, 1, 7]).unwrap().octets(), Some(&[7][..]));
        for bad in [
            &[][..],
            &[4],
            &[4, 2, 7],
            &[4, 1, 7, 0],       // something behind it
            &[0x30, 0x80, 0, 0], // indefinite length
            &[4, 0x81, 1, 7],    // length not minimal
            &[0x24, 3, 4, 1, 7], // constructed OCTET STRING
            &[0x10, 0],          // primitive SEQUENCE
            &[4, 0x84, 255, 255, 255, 255],
        ] {
            assert_eq!(Element::parse(bad), None, "{bad:x?}");
        }
    }

    #[test]
    fn a_limit_bounds_what_is_collected() {
        let bytes = [5, 0].repeat(4);
        assert_eq!(Elements::new(&bytes).unwrap().collect_all(4).unwrap().len(), 4);
        assert_eq!(Elements::new(&bytes).unwrap().collect_all(3), None);
        assert_eq!(Elements::new(&[5, 0, 5]).unwrap().collect_all(9), None);
    }
}
