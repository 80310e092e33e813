//! ESS signing-certificate attributes: which certificate signed (RFC 5035, RFC 5816).

use der::Tag;

use super::MAX_CERTIFICATES;
use super::TimestampError;
use super::algorithm::{AlgorithmIdentifier, HashAlgorithm};
use super::element::{Element, context};

/// A SigningCertificate or SigningCertificateV2 attribute: one identifier at least. The first names
/// the signer, the others restrict which certificates may stand in its path.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SigningCertificate<'a> {
    /// The signer's identifier.
    pub signer: EssCertId<'a>,
    /// The others.
    pub others: Vec<EssCertId<'a>>,
}

/// One certificate, named by its digest and, perhaps, by issuer and serial number.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct EssCertId<'a> {
    /// The digest's algorithm: SHA-1 in the first version; `None` if it isn't known.
    pub algorithm: Option<HashAlgorithm>,
    /// The digest of the certificate's DER.
    pub digest: &'a [u8],
    /// Issuer and serial number, which have to fit when they are there.
    pub issuer_serial: Option<IssuerSerial<'a>>,
}

/// Issuer and serial number.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct IssuerSerial<'a> {
    /// The GeneralNames of the issuer. A certificate has one issuer: RFC 5035 section 5.4.1.1 asks for
    /// one directoryName.
    pub issuer: Vec<Element<'a>>,
    /// Contents of the serial number's INTEGER.
    pub serial: &'a [u8],
}

impl<'a> SigningCertificate<'a> {
    /// Reads the value of an `id-aa-signingCertificate` attribute.
    pub(super) fn read_v1(value: &Element<'a>) -> Result<Self, TimestampError> {
        Self::read(value, EssCertId::read_v1).ok_or(TimestampError::EssForm)
    }

    /// Reads the value of an `id-aa-signingCertificateV2` attribute.
    pub(super) fn read_v2(value: &Element<'a>) -> Result<Self, TimestampError> {
        Self::read(value, EssCertId::read_v2).ok_or(TimestampError::EssForm)
    }

    fn read(
        value: &Element<'a>,
        read_id: impl Fn(&Element<'a>) -> Option<EssCertId<'a>>,
    ) -> Option<Self> {
        let mut fields = value.elements_of(Tag::Sequence)?;
        let ids = fields.expect(Tag::Sequence)?.elements()?.collect_all(MAX_CERTIFICATES)?;
        let mut ids = ids.iter().map(read_id).collect::<Option<Vec<_>>>()?.into_iter();
        let signer = ids.next()?;
        // Certificate policies, which nothing here depends on.
        fields.optional(Tag::Sequence);
        fields.is_empty().then(|| Self { signer, others: ids.collect() })
    }
}

impl<'a> EssCertId<'a> {
    fn read_v1(id: &Element<'a>) -> Option<Self> {
        let mut fields = id.elements_of(Tag::Sequence)?;
        Self::read_rest(&mut fields, Some(HashAlgorithm::Sha1))
    }

    fn read_v2(id: &Element<'a>) -> Option<Self> {
        let mut fields = id.elements_of(Tag::Sequence)?;
        let algorithm = match fields.optional(Tag::Sequence) {
            Some(identifier) => {
                AlgorithmIdentifier::read(&identifier)?;
                HashAlgorithm::from_element(&identifier)
            }
            None => Some(HashAlgorithm::Sha256),
        };
        Self::read_rest(&mut fields, algorithm)
    }

    fn read_rest(
        fields: &mut super::element::Elements<'a>,
        algorithm: Option<HashAlgorithm>,
    ) -> Option<Self> {
        let digest = fields.next()?.octets()?;
        let issuer_serial = match fields.optional(Tag::Sequence) {
            Some(issuer_serial) => Some(IssuerSerial::read(&issuer_serial)?),
            None => None,
        };
        fields.is_empty().then_some(Self { algorithm, digest, issuer_serial })
    }
}

impl<'a> IssuerSerial<'a> {
    fn read(issuer_serial: &Element<'a>) -> Option<Self> {
        let mut fields = issuer_serial.elements()?;
        let issuer = fields.expect(Tag::Sequence)?.elements()?.collect_all(MAX_CERTIFICATES)?;
        let serial = fields.expect(Tag::Integer)?;
        let valid = fields.is_empty() && !issuer.is_empty() && !serial.value().is_empty();
        valid.then_some(Self { issuer, serial: serial.value() })
    }

    /// The Name of the issuer, as received, if the issuer is one directoryName.
    #[must_use]
    pub fn issuer_name(&self) -> Option<&'a [u8]> {
        match self.issuer.as_slice() {
            [name] if name.tag() == context(4, true) => Some(name.value()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::writer::{INTEGER, OCTET_STRING, SEQUENCE, element};
    use super::*;

    fn attribute(ids: &[&[u8]]) -> Vec<u8> {
        element(SEQUENCE, &[&element(SEQUENCE, ids)])
    }

    fn id(digest: usize) -> Vec<u8> {
        element(SEQUENCE, &[&element(OCTET_STRING, &[&vec![7; digest]])])
    }

    #[test]
    fn identifiers_are_read() {
        let name = element(0xa4, &[&element(SEQUENCE, &[])]);
        let issuer_serial =
            element(SEQUENCE, &[&element(SEQUENCE, &[&name]), &element(INTEGER, &[&[5]])]);
        let full = element(SEQUENCE, &[&element(OCTET_STRING, &[&[7; 32]]), &issuer_serial]);
        let bytes = attribute(&[&full, &id(32)]);
        let read = SigningCertificate::read_v2(&Element::parse(&bytes).unwrap()).unwrap();
        assert_eq!(read.signer.algorithm, Some(HashAlgorithm::Sha256));
        let issuer_serial = read.signer.issuer_serial.unwrap();
        assert_eq!(
            (issuer_serial.issuer_name(), issuer_serial.serial),
            (Some(&[0x30, 0][..]), &[5][..])
        );
        assert_eq!(read.others.len(), 1);

        let bytes = attribute(&[&id(20)]);
        let read = SigningCertificate::read_v1(&Element::parse(&bytes).unwrap()).unwrap();
        assert_eq!(read.signer.algorithm, Some(HashAlgorithm::Sha1));
    }

    #[test]
    fn other_types_are_refused() {
        let many = vec![id(32); MAX_CERTIFICATES + 1];
        let many: Vec<&[u8]> = many.iter().map(Vec::as_slice).collect();
        for bad in [
            vec![5, 0],
            vec![2, 1, 1],
            vec![4, 2, 0x30, 0],
            vec![0x30, 0],
            attribute(&[]),
            attribute(&[&[5, 0]]),
            attribute(&[&[0x30, 0]]),
            attribute(&many),
            element(SEQUENCE, &[&element(SEQUENCE, &[&id(32)]), &[5, 0]]),
        ] {
            let value = Element::parse(&bad).unwrap();
            assert_eq!(
                SigningCertificate::read_v1(&value),
                Err(TimestampError::EssForm),
                "{bad:x?}"
            );
            assert_eq!(
                SigningCertificate::read_v2(&value),
                Err(TimestampError::EssForm),
                "{bad:x?}"
            );
        }
    }
}
