//! BER in the wrapper of a token: told apart from DER, and rewritten where that changes nothing that
//! is signed.
//!
//! RFC 5652 lets the outer structures be BER. They aren't signed, so definite lengths and whole
//! octet strings can be put in their place. The content, the signed attributes and the certificates
//! are copied as they stand: those are signed, and have to be DER by themselves.

use super::writer::element;
use super::{MAX_RESPONSE_BYTES, TimestampError};

/// How deep elements of indefinite length may lie inside one another.
const MAX_DEPTH: usize = 32;

const CONTEXT_0: u8 = 0xa0;
const CONTEXT_1: u8 = 0xa1;
const OCTETS: u8 = 0x04;
const OCTETS_IN_PARTS: u8 = 0x24;

/// The token in DER, if `bytes` are a token whose wrapper is BER. `None` if they aren't, or if there
/// is nothing to rewrite.
#[must_use]
pub fn token_to_der(bytes: &[u8]) -> Option<Vec<u8>> {
    whole(bytes).and_then(|token| rewrite_token(&token)).filter(|rewritten| rewritten != bytes)
}

/// The same for a whole response.
#[must_use]
pub fn response_to_der(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut fields = whole(bytes)?.children()?;
    let token = if fields.len() == 2 { fields.pop() } else { None };
    let status = fields.pop().filter(|_| fields.is_empty())?;
    let token = match token {
        Some(token) => rewrite_token(&token)?,
        None => Vec::new(),
    };
    Some(element(0x30, &[status.raw, &token])).filter(|rewritten| rewritten != bytes)
}

/// A refusal under the name it deserves: if `rewritten` shows that the bytes were BER, that is why
/// they couldn't be read as DER.
#[must_use]
pub fn name_refusal(error: TimestampError, rewritten: Option<&[u8]>) -> TimestampError {
    if rewritten.is_some() { TimestampError::Ber } else { error }
}

/// One element of BER.
struct Ber<'a> {
    identifier: u8,
    /// The contents, without the end-of-contents octets.
    contents: &'a [u8],
    raw: &'a [u8],
}

impl Ber<'_> {
    /// The elements inside a constructed element.
    fn children(&self) -> Option<Vec<Self>> {
        let mut rest = self.contents;
        let mut children = Vec::new();
        while !rest.is_empty() {
            let (child, behind) = next(rest)?;
            children.push(child);
            rest = behind;
        }
        (self.identifier & 0x20 != 0).then_some(children)
    }
}

/// The one element that `bytes` are.
fn whole(bytes: &[u8]) -> Option<Ber<'_>> {
    let (element, rest) = next(bytes.get(..MAX_RESPONSE_BYTES.min(bytes.len()))?)?;
    (rest.is_empty() && element.raw.len() == bytes.len()).then_some(element)
}

/// The first element of `bytes` and what follows it. Tags above 30 aren't read: tokens have none.
fn next(bytes: &[u8]) -> Option<(Ber<'_>, &[u8])> {
    let (identifier, length, header) = header(bytes)?;
    let body = bytes.get(header..)?;
    let (contents, end) = if let Some(length) = length {
        (body.get(..length)?, header.checked_add(length)?)
    } else {
        let length = indefinite(body)?;
        (body.get(..length)?, header.checked_add(length)?.checked_add(2)?)
    };
    Some((Ber { identifier, contents, raw: bytes.get(..end)? }, bytes.get(end..)?))
}

/// Identifier, length (`None`: indefinite) and size of the header.
fn header(bytes: &[u8]) -> Option<(u8, Option<usize>, usize)> {
    let (&identifier, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    if identifier & 0x1f == 0x1f {
        return None;
    }
    match first {
        0..0x80 => Some((identifier, Some(usize::from(first)), 2)),
        0x80 => (identifier & 0x20 != 0).then_some((identifier, None, 2)),
        _ => {
            let octets = rest.get(..usize::from(first & 0x7f))?;
            let length = octets.iter().try_fold(0_usize, |length, &octet| {
                length.checked_mul(256)?.checked_add(usize::from(octet))
            })?;
            Some((identifier, Some(length), octets.len() + 2))
        }
    }
}

/// Length of contents that end with two zero octets. Walks, and doesn't recurse.
fn indefinite(body: &[u8]) -> Option<usize> {
    let mut depth = 1;
    let mut position = 0_usize;
    loop {
        let rest = body.get(position..)?;
        if rest.starts_with(&[0, 0]) {
            depth -= 1;
            if depth == 0 {
                return Some(position);
            }
            position += 2;
            continue;
        }
        let (_, length, header) = header(rest)?;
        match length {
            Some(length) => position = position.checked_add(header)?.checked_add(length)?,
            None if depth == MAX_DEPTH => return None,
            None => {
                depth += 1;
                position = position.checked_add(header)?;
            }
        }
    }
}

/// ContentInfo: a type and `[0]`.
fn rewrite_token(token: &Ber<'_>) -> Option<Vec<u8>> {
    let fields = token.children()?;
    let [content_type, content] = fields.as_slice() else { return None };
    let inner = content.children()?;
    let [signed_data] = inner.as_slice() else { return None };
    let signed_data = rewrite_signed_data(signed_data)?;
    let content = element(CONTEXT_0, &[&signed_data]);
    Some(element(0x30, &[content_type.raw, &content]))
}

fn rewrite_signed_data(signed_data: &Ber<'_>) -> Option<Vec<u8>> {
    let mut parts = Vec::new();
    for (position, field) in signed_data.children()?.iter().enumerate() {
        parts.push(match (position, field.identifier) {
            (0, _) => field.raw.to_vec(),
            // digestAlgorithms, certificates and revocation lists: a new wrapper, the same members.
            (1, _) | (_, CONTEXT_0 | CONTEXT_1) => rewrap(field)?,
            (2, _) => rewrite_content(field)?,
            _ => rewrite_signers(field)?,
        });
    }
    Some(element(0x30, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// EncapsulatedContentInfo: a type and `[0]` with an octet string, whole or in parts.
fn rewrite_content(content_info: &Ber<'_>) -> Option<Vec<u8>> {
    let fields = content_info.children()?;
    let [content_type, content] = fields.as_slice() else { return rewrap(content_info) };
    let inner = content.children()?;
    let [octets] = inner.as_slice() else { return None };
    let octets = join(octets)?;
    let content = element(CONTEXT_0, &[&octets]);
    Some(element(0x30, &[content_type.raw, &content]))
}

fn rewrite_signers(signers: &Ber<'_>) -> Option<Vec<u8>> {
    let mut rewritten = Vec::new();
    for signer in signers.children()? {
        let mut parts = Vec::new();
        for field in signer.children()? {
            parts.push(match field.identifier {
                OCTETS | OCTETS_IN_PARTS => join(&field)?,
                CONTEXT_0 | CONTEXT_1 => rewrap(&field)?,
                _ => field.raw.to_vec(),
            });
        }
        rewritten.extend(element(0x30, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>()));
    }
    Some(element(signers.identifier, &[&rewritten]))
}

/// The same members under a header of definite length.
fn rewrap(wrapper: &Ber<'_>) -> Option<Vec<u8>> {
    let members = wrapper.children()?;
    Some(element(wrapper.identifier, &members.iter().map(|member| member.raw).collect::<Vec<_>>()))
}

/// An octet string in one part. Parts that are in parts again aren't read: nobody writes them.
fn join(octets: &Ber<'_>) -> Option<Vec<u8>> {
    if octets.identifier == OCTETS {
        return Some(element(OCTETS, &[octets.contents]));
    }
    let parts = octets.children().filter(|_| octets.identifier == OCTETS_IN_PARTS)?;
    let whole = parts.iter().all(|part| part.identifier == OCTETS);
    whole.then(|| element(OCTETS, &parts.iter().map(|part| part.contents).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token's skeleton, whose wrapper `wrap` encodes.
    fn skeleton(wrap: impl Fn(u8, &[&[u8]]) -> Vec<u8>, octets: &[u8]) -> Vec<u8> {
        let oid = [6, 2, 0x2a, 3];
        let content = wrap(0x30, &[&oid, &wrap(0xa0, &[octets])]);
        let certificates = wrap(0xa0, &[&[0x30, 0x80, 0, 0], &[0x30, 2, 5, 0]]);
        let attributes = wrap(0xa0, &[&[0x30, 1, 9]]);
        let signer = wrap(0x30, &[&[2, 1, 1], &[0x30, 0], &attributes, octets]);
        let signed_data = wrap(
            0x30,
            &[&[2, 1, 3], &wrap(0x31, &[]), &content, &certificates, &wrap(0x31, &[&signer])],
        );
        wrap(0x30, &[&oid, &wrap(0xa0, &[&signed_data])])
    }

    fn indefinite(identifier: u8, parts: &[&[u8]]) -> Vec<u8> {
        [&[identifier, 0x80], &parts.concat()[..], &[0, 0]].concat()
    }

    fn long(identifier: u8, parts: &[&[u8]]) -> Vec<u8> {
        let contents = parts.concat();
        let length = u8::try_from(contents.len()).unwrap();
        [&[identifier, 0x82, 0, length], &contents[..]].concat()
    }

    #[test]
    fn the_wrapper_becomes_der_and_its_members_stay() {
        let der = skeleton(element, &[4, 2, 7, 8]);
        assert_eq!(token_to_der(&der), None);
        for wrap in [indefinite, long] {
            for octets in [
                &[4, 2, 7, 8][..],
                &[4, 0x81, 2, 7, 8],
                &[0x24, 6, 4, 1, 7, 4, 1, 8],
                &[0x24, 0x80, 4, 1, 7, 4, 1, 8, 0, 0],
            ] {
                let ber = skeleton(wrap, octets);
                assert_eq!(token_to_der(&ber), Some(der.clone()), "{octets:x?}");
                let response = element(0x30, &[&[0x30, 0], &ber]);
                let expected = element(0x30, &[&[0x30, 0], &der]);
                assert_eq!(response_to_der(&response), Some(expected));
            }
        }
        assert!(
            der.windows(4).any(|member| member == [0x30, 0x80, 0, 0]),
            "a member was rewritten"
        );
    }

    #[test]
    fn depth_is_bounded_and_nothing_panics() {
        let deep = [0x30, 0x80].repeat(5_000);
        assert_eq!(token_to_der(&deep), None);
        let nested = |depth: usize| [[0x30, 0x80].repeat(depth), [0, 0].repeat(depth)].concat();
        assert!(next(&nested(MAX_DEPTH)).is_some());
        assert!(next(&nested(MAX_DEPTH + 1)).is_none());
        let ber = skeleton(indefinite, &[0x24, 6, 4, 1, 7, 4, 1, 8]);
        for end in 0..ber.len() {
            assert_eq!(token_to_der(&ber[..end]), None, "{end}");
        }
        assert_eq!(token_to_der(&[0x30, 0x84, 255, 255, 255, 255]), None);
        assert_eq!(token_to_der(&[0x30, 0x89, 255, 255, 255, 255, 255, 255, 255, 255, 255]), None);
    }
}
