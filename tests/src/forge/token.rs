//! Tokens: TSTInfo, signed attributes, SignerInfo, SignedData and the response around them.
//!
//! What it is: builders whose defaults make a sound token and whose fields are open, so that a case changes
//! one thing and everything that hangs on it (digests, signature, identifiers) is made anew around the
//! change. What it isn't: a verifier; nothing here looks at what it builds.

use super::certificate::Identity;
use super::keys::{Hash, Scheme};
use super::raw::{
    OCTET_STRING, attribute, bits, boolean, context, context_primitive, generalized, integer, join,
    name, null, number, octets, oid, retag, sequence, set, set_of, tlv, unsigned, utf8,
};

/// id-signedData.
pub const SIGNED_DATA: &str = "1.2.840.113549.1.7.2";
/// id-data.
pub const DATA: &str = "1.2.840.113549.1.7.1";
/// id-ct-TSTInfo.
pub const TST_INFO: &str = "1.2.840.113549.1.9.16.1.4";
/// id-contentType.
pub const CONTENT_TYPE: &str = "1.2.840.113549.1.9.3";
/// id-messageDigest.
pub const MESSAGE_DIGEST: &str = "1.2.840.113549.1.9.4";
/// id-signingTime.
pub const SIGNING_TIME: &str = "1.2.840.113549.1.9.5";
/// id-aa-signingCertificate.
pub const ESS_V1: &str = "1.2.840.113549.1.9.16.2.12";
/// id-aa-signingCertificateV2.
pub const ESS_V2: &str = "1.2.840.113549.1.9.16.2.47";
/// id-aa-CMSAlgorithmProtect.
pub const ALGORITHM_PROTECTION: &str = "1.2.840.113549.1.9.52";
/// The policy of the forge's TSAs, in the arc that RFC 5612 keeps for documentation.
pub const POLICY: &str = "1.3.6.1.4.1.32473.3161.1";
/// Another policy.
pub const OTHER_POLICY: &str = "1.3.6.1.4.1.32473.3161.2";

/// The fields of `TSTInfo` (RFC 3161 section 2.4.2), each as a whole DER value.
#[derive(Clone, Debug)]
pub struct TstInfo {
    /// version.
    pub version: Vec<u8>,
    /// policy.
    pub policy: Vec<u8>,
    /// messageImprint.
    pub imprint: Vec<u8>,
    /// serialNumber.
    pub serial: Vec<u8>,
    /// genTime.
    pub gen_time: Vec<u8>,
    /// accuracy; empty for none, as below.
    pub accuracy: Vec<u8>,
    /// ordering.
    pub ordering: Vec<u8>,
    /// nonce.
    pub nonce: Vec<u8>,
    /// tsa, with its tag `[0]`.
    pub tsa: Vec<u8>,
    /// extensions, with their tag `[1]`.
    pub extensions: Vec<u8>,
    /// Octets within the sequence, behind the last field.
    pub rest: Vec<u8>,
}

impl TstInfo {
    /// `TSTInfo`.
    #[must_use]
    pub fn to_der(&self) -> Vec<u8> {
        sequence([
            &self.version,
            &self.policy,
            &self.imprint,
            &self.serial,
            &self.gen_time,
            &self.accuracy,
            &self.ordering,
            &self.nonce,
            &self.tsa,
            &self.extensions,
            &self.rest,
        ])
    }

    /// Sets genTime to this text.
    pub fn time(&mut self, text: &str) {
        self.gen_time = generalized(text);
    }

    /// Sets the extensions.
    pub fn extend(&mut self, extensions: &[(&str, bool, Vec<u8>)]) {
        self.extensions = context(
            1,
            join(extensions.iter().map(|(kind, critical, value)| {
                let critical = if *critical { boolean(true) } else { Vec::new() };
                sequence([oid(kind), critical, octets(value)])
            })),
        );
    }
}

/// `MessageImprint`.
#[must_use]
pub fn imprint(algorithm: &[u8], digest: &[u8]) -> Vec<u8> {
    sequence([algorithm.to_vec(), octets(digest)])
}

/// `Accuracy` of the parts given.
#[must_use]
pub fn accuracy(seconds: Option<u64>, millis: Option<u64>, micros: Option<u64>) -> Vec<u8> {
    let part = |tag: u8, value: Option<u64>| {
        value.map(|value| retag(0x80 | tag, &number(value))).unwrap_or_default()
    };
    sequence([seconds.map(number).unwrap_or_default(), part(0, millis), part(1, micros)])
}

/// One signed attribute.
#[derive(Clone, Debug)]
pub enum SignedAttribute {
    /// content-type: the eContentType.
    ContentType,
    /// message-digest: the digest of the eContent.
    MessageDigest,
    /// `SigningCertificate` with the SHA-1 of the signer's certificate, issuerSerial absent.
    EssV1,
    /// `SigningCertificateV2` with this hash, issuerSerial absent.
    EssV2(Hash),
    /// These bytes.
    Raw(Vec<u8>),
}

/// What the signature is made over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SignedOver {
    /// The attributes as `SET OF`, in the order they stand in: RFC 5652 section 5.4.
    Set,
    /// The attributes as `SET OF` in DER's order, whatever order they stand in.
    SortedSet,
    /// The attributes as `SET OF` in the reverse of the order they stand in: a defect.
    Reversed,
    /// The attributes under their tag `[0]`: a defect.
    Implicit,
    /// The eContent, as if there were no attributes.
    Content,
}

/// A token to be.
#[derive(Clone, Debug)]
pub struct Token {
    /// Who signs.
    pub signer: Identity,
    /// How.
    pub scheme: Scheme,
    /// The digest of message-digest.
    pub digest: Hash,
    /// What is said.
    pub info: TstInfo,
    /// The contents of eContent in place of `info`.
    pub content: Option<Vec<u8>>,
    /// `EncapsulatedContentInfo` in place of the right one.
    pub encapsulated: Option<Vec<u8>>,
    /// The contentType of `ContentInfo`.
    pub outer_type: &'static str,
    /// eContentType.
    pub content_type: &'static str,
    /// The version of `SignedData`.
    pub version: Vec<u8>,
    /// digestAlgorithms, in place of the one used.
    pub digest_algorithms: Option<Vec<u8>>,
    /// certificates; `None` leaves the field out.
    pub certificates: Option<Vec<Vec<u8>>>,
    /// crls, with their tag `[1]`.
    pub crls: Vec<u8>,
    /// The version of `SignerInfo`.
    pub signer_version: Vec<u8>,
    /// The signer identifier, in place of issuer and serial number.
    pub signer_id: Option<Vec<u8>>,
    /// digestAlgorithm of `SignerInfo`, in place of the digest's own.
    pub digest_algorithm: Option<Vec<u8>>,
    /// signatureAlgorithm of `SignerInfo`, in place of the scheme's own.
    pub signature_algorithm: Option<Vec<u8>>,
    /// The signed attributes in the order they stand in; `None` leaves the field out.
    pub attributes: Option<Vec<SignedAttribute>>,
    /// Whether the attributes stay in the order given, which DER forbids.
    pub keep_order: bool,
    /// What is signed.
    pub over: SignedOver,
    /// The signature, in place of the one to be made.
    pub signature: Option<Vec<u8>>,
    /// The tag of the signature, which is an `OCTET STRING`.
    pub signature_tag: u8,
    /// A change to the finished signature.
    pub spoil: fn(Vec<u8>) -> Vec<u8>,
    /// unsignedAttrs, with their tag `[1]`.
    pub unsigned_attributes: Vec<u8>,
    /// The signer infos, in place of the one; gets the one.
    pub signers: fn(Vec<u8>) -> Vec<Vec<u8>>,
    /// More signer infos.
    pub more_signers: Vec<Vec<u8>>,
}

impl Token {
    /// A sound token of this signer over this imprint.
    #[must_use]
    pub fn new(signer: &Identity, imprint_digest: &[u8]) -> Self {
        let scheme = signer.key.scheme();
        Self {
            signer: signer.clone(),
            scheme,
            digest: scheme.digest(),
            info: TstInfo {
                version: number(1),
                policy: oid(POLICY),
                imprint: imprint(&Hash::Sha256.identifier(), imprint_digest),
                serial: number(0x51_7a),
                gen_time: generalized(super::world::GEN_TIME_TEXT),
                accuracy: accuracy(Some(1), None, None),
                ordering: Vec::new(),
                nonce: unsigned(&super::world::NONCE),
                tsa: Vec::new(),
                extensions: Vec::new(),
                rest: Vec::new(),
            },
            content: None,
            encapsulated: None,
            outer_type: SIGNED_DATA,
            content_type: TST_INFO,
            version: number(3),
            digest_algorithms: None,
            certificates: Some(vec![signer.certificate.clone()]),
            crls: Vec::new(),
            signer_version: number(1),
            signer_id: None,
            digest_algorithm: None,
            signature_algorithm: None,
            attributes: Some(vec![
                SignedAttribute::ContentType,
                SignedAttribute::MessageDigest,
                SignedAttribute::EssV2(Hash::Sha256),
            ]),
            keep_order: false,
            over: SignedOver::Set,
            signature: None,
            signature_tag: OCTET_STRING,
            spoil: |signature| signature,
            unsigned_attributes: Vec::new(),
            signers: |one| vec![one],
            more_signers: Vec::new(),
        }
    }

    /// The contents of eContent.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        self.content.clone().unwrap_or_else(|| self.info.to_der())
    }

    /// The signed attributes, each as `Attribute`, in the order they will stand in.
    #[must_use]
    pub fn attributes(&self) -> Option<Vec<Vec<u8>>> {
        let mut attributes: Vec<Vec<u8>> = self
            .attributes
            .as_ref()?
            .iter()
            .map(|wanted| match wanted {
                SignedAttribute::ContentType => attribute(CONTENT_TYPE, [oid(self.content_type)]),
                SignedAttribute::MessageDigest => {
                    attribute(MESSAGE_DIGEST, [octets(self.digest.digest(&self.content()))])
                }
                SignedAttribute::EssV1 => ess_v1(&[ess_id_v1(&self.signer.certificate, None)]),
                SignedAttribute::EssV2(hash) => {
                    ess_v2(&[ess_id_v2(*hash, &self.signer.certificate, None)])
                }
                SignedAttribute::Raw(bytes) => bytes.clone(),
            })
            .collect();
        if !self.keep_order {
            attributes.sort();
        }
        Some(attributes)
    }

    /// What is signed.
    #[must_use]
    pub fn signed(&self) -> Vec<u8> {
        match (self.attributes(), self.over) {
            (None, _) | (_, SignedOver::Content) => self.content(),
            (Some(list), SignedOver::Set) => set(list),
            (Some(list), SignedOver::SortedSet) => set_of(list),
            (Some(list), SignedOver::Reversed) => set(list.iter().rev()),
            (Some(list), SignedOver::Implicit) => context(0, join(list)),
        }
    }

    /// `SignerInfo`.
    #[must_use]
    pub fn signer_info(&self) -> Vec<u8> {
        let attributes = self.attributes();
        let sign = || (self.spoil)(self.signer.key.sign(self.scheme, &self.signed()));
        let signature = self.signature.clone().unwrap_or_else(sign);
        let digest = || self.digest.identifier();
        sequence([
            self.signer_version.clone(),
            self.signer_id.clone().unwrap_or_else(|| self.signer.issuer_and_serial()),
            self.digest_algorithm.clone().unwrap_or_else(digest),
            attributes.map(|list| context(0, join(list))).unwrap_or_default(),
            self.signature_algorithm.clone().unwrap_or_else(|| self.scheme.identifier()),
            tlv(self.signature_tag, signature),
            self.unsigned_attributes.clone(),
        ])
    }

    /// The parts of `SignedData`, in order.
    #[must_use]
    pub fn signed_data_parts(&self) -> Vec<Vec<u8>> {
        let encapsulated =
            || sequence([oid(self.content_type), context(0, octets(self.content()))]);
        let certificates = self.certificates.as_ref().map(|bag| context(0, join(bag)));
        let mut signers = (self.signers)(self.signer_info());
        signers.extend(self.more_signers.iter().cloned());
        vec![
            self.version.clone(),
            self.digest_algorithms.clone().unwrap_or_else(|| set([self.digest.identifier()])),
            self.encapsulated.clone().unwrap_or_else(encapsulated),
            certificates.unwrap_or_default(),
            self.crls.clone(),
            set_of(signers),
        ]
    }

    /// `ContentInfo`: the token.
    #[must_use]
    pub fn to_der(&self) -> Vec<u8> {
        let data = sequence(self.signed_data_parts());
        sequence([oid(self.outer_type), context(0, data)])
    }
}

/// `ESSCertID` (RFC 2634 section 5.4.1) of a certificate.
#[must_use]
pub fn ess_id_v1(certificate: &[u8], issuer_serial: Option<Vec<u8>>) -> Vec<u8> {
    sequence([octets(Hash::Sha1.digest(certificate)), issuer_serial.unwrap_or_default()])
}

/// `ESSCertIDv2` (RFC 5035 section 4) of a certificate; SHA-256 is the default and left out, as DER asks.
#[must_use]
pub fn ess_id_v2(hash: Hash, certificate: &[u8], issuer_serial: Option<Vec<u8>>) -> Vec<u8> {
    let algorithm = if hash == Hash::Sha256 { Vec::new() } else { hash.identifier() };
    sequence([algorithm, octets(hash.digest(certificate)), issuer_serial.unwrap_or_default()])
}

/// The attribute `SigningCertificate` with these identifiers.
#[must_use]
pub fn ess_v1(ids: &[Vec<u8>]) -> Vec<u8> {
    attribute(ESS_V1, [sequence([sequence(ids)])])
}

/// The attribute `SigningCertificateV2` with these identifiers.
#[must_use]
pub fn ess_v2(ids: &[Vec<u8>]) -> Vec<u8> {
    attribute(ESS_V2, [sequence([sequence(ids)])])
}

/// `IssuerSerial` (RFC 5035 section 4).
#[must_use]
pub fn issuer_serial(issuer: &[u8], serial: &[u8]) -> Vec<u8> {
    sequence([sequence([context(4, issuer)]), serial.to_vec()])
}

/// The attribute `CMSAlgorithmProtection` (RFC 6211 section 2) over a digest and a signature algorithm.
#[must_use]
pub fn algorithm_protection(digest: &[u8], signature: &[u8]) -> Vec<u8> {
    let signature = retag(0xa1, signature);
    attribute(ALGORITHM_PROTECTION, [sequence([digest.to_vec(), signature])])
}

/// The response around a token.
#[derive(Clone, Debug)]
pub struct Response {
    /// status.
    pub status: Vec<u8>,
    /// statusString; empty for none.
    pub text: Vec<u8>,
    /// failInfo; empty for none.
    pub failures: Vec<u8>,
    /// Whether the token is there.
    pub token: bool,
    /// Octets behind the token, within the sequence.
    pub rest: Vec<u8>,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            status: number(0),
            text: Vec::new(),
            failures: Vec::new(),
            token: true,
            rest: Vec::new(),
        }
    }
}

impl Response {
    /// Sets the free text.
    pub fn say(&mut self, text: &str) {
        self.text = sequence([utf8(text)]);
    }

    /// `TimeStampResp`.
    #[must_use]
    pub fn to_der(&self, token: &[u8]) -> Vec<u8> {
        let status = sequence([&self.status, &self.text, &self.failures]);
        let token = if self.token { token } else { &[] };
        sequence([status.as_slice(), token, &self.rest])
    }
}

/// `TimeStampReq` (RFC 3161 section 2.4.1).
#[must_use]
pub fn request(
    imprint: &[u8],
    policy: Option<&str>,
    nonce: Option<&[u8]>,
    cert_req: bool,
) -> Vec<u8> {
    sequence([
        number(1),
        imprint.to_vec(),
        policy.map(oid).unwrap_or_default(),
        nonce.map(unsigned).unwrap_or_default(),
        if cert_req { boolean(true) } else { Vec::new() },
    ])
}

/// An attribute certificate as it stands in a bag: `[1]` holds one of version 1, `[2]` one of version 2
/// (`CertificateChoices`, RFC 5652 section 10.2.2). Nobody has to understand it.
#[must_use]
pub fn attribute_certificate(version: u8) -> Vec<u8> {
    let holder = context(1, context(4, name("Attribute Holder")));
    let issuer = sequence([context(4, name("Attribute Issuer"))]);
    let (version_field, holder, issuer) = if version == 1 {
        (Vec::new(), holder, issuer)
    } else {
        (number(1), sequence([holder]), context(0, issuer))
    };
    let info = sequence([
        version_field,
        holder,
        issuer,
        Scheme::Ecdsa(Hash::Sha256).identifier(),
        number(7),
        sequence([generalized("20240101000000Z"), generalized("20300101000000Z")]),
        sequence([attribute(
            "2.5.4.72",
            [sequence([context(1, context_primitive(6, "urn:role"))])],
        )]),
    ]);
    let whole = [info, Scheme::Ecdsa(Hash::Sha256).identifier(), bits([0x30, 0])];
    context(version, join(whole))
}

/// An `otherCertFormat`, `[3]` of `CertificateChoices`.
#[must_use]
pub fn other_certificate() -> Vec<u8> {
    context(3, join([oid("1.3.6.1.4.1.32473.3161.9"), null()]))
}

/// An `INTEGER` of so many content octets, all of them positive and none to spare.
#[must_use]
pub fn wide_integer(octets: usize) -> Vec<u8> {
    integer(vec![0x5a; octets])
}
