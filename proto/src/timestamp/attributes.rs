//! Signed attributes: what the signature is over (RFC 5652 section 5.3 and 11, RFC 5035, RFC 6211).

use der::Tag;

use super::algorithm::AlgorithmIdentifier;
use super::element::{Element, Elements, context};
use super::ess::SigningCertificate;
use super::{ObjectIdentifier, TimestampError};

/// Signed attributes that are read from one token.
const MAX_ATTRIBUTES: usize = 64;

const CONTENT_TYPE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.3");
const MESSAGE_DIGEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.4");
const ALGORITHM_PROTECTION: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.52");
const SIGNING_CERTIFICATE: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.2.12");
const SIGNING_CERTIFICATE_V2: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.2.47");

/// The signed attributes of a token. Attributes of other types are passed over.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SignedAttributes<'a> {
    attributes: Vec<&'a [u8]>,
    /// What the content is.
    pub content_type: Option<ObjectIdentifier>,
    /// The digest of the content.
    pub message_digest: Option<&'a [u8]>,
    /// Which certificate signed, by SHA-1.
    pub signing_certificate: Option<SigningCertificate<'a>>,
    /// Which certificate signed, by another hash.
    pub signing_certificate_v2: Option<SigningCertificate<'a>>,
    /// The algorithms, protected by the signature.
    pub algorithm_protection: Option<AlgorithmProtection<'a>>,
}

/// CMSAlgorithmProtection: the signer's own algorithms once more, where the signature covers them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AlgorithmProtection<'a> {
    /// The digest algorithm.
    pub digest: AlgorithmIdentifier<'a>,
    /// The signature algorithm. A protection of a signature has to have it.
    pub signature: Option<AlgorithmIdentifier<'a>>,
}

impl<'a> SignedAttributes<'a> {
    /// Reads the contents of the `[0]` of the signer information.
    pub(super) fn read(contents: Elements<'a>) -> Result<Self, TimestampError> {
        let attributes = contents.collect_all(MAX_ATTRIBUTES);
        let attributes = attributes.ok_or(TimestampError::Der { what: "signed attributes" })?;
        if attributes.is_empty() {
            return Err(TimestampError::AttributesAbsent);
        }
        let mut read = Self {
            attributes: attributes.iter().map(Element::raw).collect(),
            content_type: None,
            message_digest: None,
            signing_certificate: None,
            signing_certificate_v2: None,
            algorithm_protection: None,
        };
        for attribute in attributes {
            read.take(&attribute)?;
        }
        Ok(read)
    }

    fn take(&mut self, attribute: &Element<'a>) -> Result<(), TimestampError> {
        let malformed = TimestampError::AttributeForm { attribute: "of some type" };
        let mut fields = attribute.elements_of(Tag::Sequence).ok_or(malformed.clone())?;
        let id = fields.next().and_then(|id| id.oid()).ok_or(malformed.clone())?;
        let values = fields.next().filter(|values| values.tag() == Tag::Set && fields.is_empty());
        let values = values.ok_or(malformed)?;
        match id {
            CONTENT_TYPE => once(&mut self.content_type, "content-type", &values, |value| {
                value.oid().ok_or(TimestampError::AttributeForm { attribute: "content-type" })
            }),
            MESSAGE_DIGEST => once(&mut self.message_digest, "message-digest", &values, |value| {
                value.octets().ok_or(TimestampError::AttributeForm { attribute: "message-digest" })
            }),
            SIGNING_CERTIFICATE => once(
                &mut self.signing_certificate,
                "signing-certificate",
                &values,
                SigningCertificate::read_v1,
            ),
            SIGNING_CERTIFICATE_V2 => once(
                &mut self.signing_certificate_v2,
                "signing-certificate-v2",
                &values,
                SigningCertificate::read_v2,
            ),
            ALGORITHM_PROTECTION => {
                once(&mut self.algorithm_protection, "algorithm-protection", &values, |value| {
                    AlgorithmProtection::read(value)
                        .ok_or(TimestampError::AttributeForm { attribute: "algorithm-protection" })
                })
            }
            _ => Ok(()),
        }
    }

    /// What the signature is over: the attributes as a SET, in the order in which they were received.
    #[must_use]
    pub fn as_received(&self) -> Vec<u8> {
        set(&self.attributes)
    }

    /// The same in DER's order of a SET OF, if the attributes were received in another one. A signer
    /// that sends BER signs this form (RFC 5652 section 5.4); some sign what they send.
    #[must_use]
    pub fn in_der_order(&self) -> Option<Vec<u8>> {
        let mut sorted = self.attributes.clone();
        sorted.sort_unstable();
        (sorted != self.attributes).then(|| set(&sorted))
    }
}

fn set(attributes: &[&[u8]]) -> Vec<u8> {
    super::writer::element(super::writer::SET, attributes)
}

/// Sets `slot` to what `read` makes of the one value of an attribute that may stand once.
fn once<'a, T>(
    slot: &mut Option<T>,
    attribute: &'static str,
    values: &Element<'a>,
    read: impl FnOnce(&Element<'a>) -> Result<T, TimestampError>,
) -> Result<(), TimestampError> {
    let repeated = TimestampError::AttributeRepeated { attribute };
    let malformed = TimestampError::AttributeForm { attribute };
    let values = values.elements().and_then(|values| values.collect_all(MAX_ATTRIBUTES));
    if slot.is_some() {
        return Err(repeated);
    }
    let [value] = *values.ok_or(malformed)?.as_slice() else { return Err(repeated) };
    *slot = Some(read(&value)?);
    Ok(())
}

impl<'a> AlgorithmProtection<'a> {
    fn read(value: &Element<'a>) -> Option<Self> {
        let mut fields = value.elements_of(Tag::Sequence)?;
        let digest = AlgorithmIdentifier::read(&fields.next()?)?;
        let signature = match fields.optional(context(1, true)) {
            Some(signature) => Some(AlgorithmIdentifier::read_contents(&signature)?),
            None => None,
        };
        fields.is_empty().then_some(Self { digest, signature })
    }
}

#[cfg(test)]
mod tests {
    use super::super::writer::{OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET, element};
    use super::*;

    fn attribute(id: &ObjectIdentifier, values: &[&[u8]]) -> Vec<u8> {
        let id = element(OBJECT_IDENTIFIER, &[id.as_bytes()]);
        element(SEQUENCE, &[&id, &element(SET, values)])
    }

    fn reason(attributes: &[u8]) -> &'static str {
        SignedAttributes::read(Elements::new(attributes).unwrap()).unwrap_err().reason()
    }

    #[test]
    fn an_attribute_stands_once_with_one_value() {
        let digest = element(OCTET_STRING, &[&[7; 32]]);
        let good = attribute(&MESSAGE_DIGEST, &[&digest]);
        let read = SignedAttributes::read(Elements::new(&good).unwrap()).unwrap();
        assert_eq!(read.message_digest, Some(&[7; 32][..]));
        assert_eq!(reason(&good.repeat(2)), "attributes.repeated");
        assert_eq!(reason(&attribute(&MESSAGE_DIGEST, &[])), "attributes.repeated");
        assert_eq!(reason(&attribute(&MESSAGE_DIGEST, &[&digest, &digest])), "attributes.repeated");
        assert_eq!(reason(&attribute(&SIGNING_CERTIFICATE, &[])), "attributes.repeated");
        assert_eq!(reason(&attribute(&MESSAGE_DIGEST, &[&[5, 0]])), "attributes.form");
        assert_eq!(reason(&attribute(&CONTENT_TYPE, &[&[5, 0]])), "attributes.form");
        assert_eq!(reason(&attribute(&SIGNING_CERTIFICATE, &[&[5, 0]])), "ess.form");
        assert_eq!(reason(&attribute(&SIGNING_CERTIFICATE_V2, &[&[5, 0]])), "ess.form");
        assert_eq!(reason(&attribute(&ALGORITHM_PROTECTION, &[&[5, 0]])), "attributes.form");
        assert_eq!(reason(&[]), "attributes.absent");
        assert_eq!(reason(&[5, 0]), "attributes.form");
        assert_eq!(reason(&[0x30, 0x80]), "parse.der");
        let strange = attribute(&ObjectIdentifier::new_unwrap("1.2.3"), &[]);
        assert!(SignedAttributes::read(Elements::new(&strange.repeat(64)).unwrap()).is_ok());
        assert_eq!(reason(&strange.repeat(65)), "parse.der");
    }

    #[test]
    fn both_orders_can_be_signed() {
        let small = attribute(&CONTENT_TYPE, &[&[6, 2, 0x2a, 3]]);
        let large = attribute(&MESSAGE_DIGEST, &[&element(OCTET_STRING, &[&[7; 32]])]);
        let read = |attributes: &[u8]| {
            let read = SignedAttributes::read(Elements::new(attributes).unwrap()).unwrap();
            (read.as_received(), read.in_der_order())
        };
        let sorted = element(SET, &[&small, &large]);
        assert_eq!(read(&[&small[..], &large].concat()), (sorted.clone(), None));
        let received = element(SET, &[&large, &small]);
        assert_eq!(read(&[&large[..], &small].concat()), (received, Some(sorted)));
    }
}
