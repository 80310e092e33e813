//! A time-stamping authority of two certificates, P-256 and SHA-256: right in everything, so that what a test
//! makes wrong is the only thing that is.

use std::time::{SystemTime, UNIX_EPOCH};

use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::timestamp::{GenTime, HashAlgorithm, Imprint, Nonce, TimestampRequest};
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{DerSignature, SigningKey};

use super::der::{bits, integer, name, octets, oid, seq, set, tlv};

pub const POLICY: &str = "1.3.6.1.4.1.13762.3";

/// Keys and certificates.
pub struct Authority {
    ca_key: SigningKey,
    ca_name: Vec<u8>,
    key: SigningKey,
    pub root: Vec<u8>,
    pub certificate: Vec<u8>,
}

/// What of a token deviates from what was asked.
#[derive(Clone, Default)]
pub struct Deviation {
    pub imprint: Option<Imprint>,
    pub nonce: Option<Nonce>,
    pub broken_signature: bool,
    pub policy: Option<&'static str>,
}

impl Authority {
    /// Another one for each name. `crl_url` becomes the signer's distribution point.
    pub fn new(common: &str, crl_url: Option<&str>) -> Self {
        let key = |role: &str| {
            let seed = HashAlgorithm::Sha256.digest(format!("{common} {role}").as_bytes());
            SigningKey::from_slice(&seed).unwrap()
        };
        let (ca_key, key) = (key("ca"), key("tsa"));
        let ca_name = name(&format!("{common} root"));
        let ca_extensions = [
            extension("2.5.29.19", true, &seq(&[&tlv(1, &[0xff])])),
            extension("2.5.29.15", true, &tlv(3, &[1, 0x06])),
        ];
        let root = certificate(&ca_key, &ca_name, &ca_name, &ca_key, 1, &ca_extensions);
        let mut extensions = vec![
            extension("2.5.29.37", true, &seq(&[&oid("1.3.6.1.5.5.7.3.8")])),
            extension("2.5.29.15", true, &tlv(3, &[7, 0x80])),
        ];
        if let Some(url) = crl_url {
            let full_name = tlv(0xa0, &tlv(0xa0, &tlv(0x86, url.as_bytes())));
            extensions.push(extension("2.5.29.31", false, &seq(&[&seq(&[&full_name])])));
        }
        let subject = name(&format!("{common} time stamps"));
        let certificate = certificate(&ca_key, &ca_name, &subject, &key, 2, &extensions);
        Self { ca_key, ca_name, key, root, certificate }
    }

    pub fn root_pem(&self) -> String {
        let lines: Vec<String> = base64_encode(&self.root)
            .as_bytes()
            .chunks(64)
            .map(|line| String::from_utf8(line.to_vec()).unwrap())
            .collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }

    /// A list of this moment. `revoked`: the signer's certificate is on it, for its key's sake.
    pub fn crl(&self, revoked: bool) -> Vec<u8> {
        let entry = seq(&[
            &integer(&[2]),
            &time(-60),
            &seq(&[&extension("2.5.29.21", false, &tlv(10, &[1]))]),
        ]);
        self.list(-60, 86_400, &if revoked { seq(&[&entry]) } else { Vec::new() })
    }

    /// An empty list issued so many seconds from now, with the next due so many seconds from now.
    pub fn crl_of(&self, this_update: i64, next_update: i64) -> Vec<u8> {
        self.list(this_update, next_update, &[])
    }

    fn list(&self, this_update: i64, next_update: i64, entries: &[u8]) -> Vec<u8> {
        let tbs = seq(&[
            &integer(&[1]),
            &ecdsa_sha256(),
            &self.ca_name,
            &time(this_update),
            &time(next_update),
            entries,
            &tlv(0xa0, &seq(&[&extension("2.5.29.20", false, &integer(&[7]))])),
        ]);
        signed(&self.ca_key, &tbs)
    }

    /// A granted response.
    pub fn response(&self, request: &TimestampRequest, deviation: &Deviation) -> Vec<u8> {
        seq(&[&seq(&[&integer(&[0])]), &self.token(request, deviation)])
    }

    pub fn token(&self, request: &TimestampRequest, deviation: &Deviation) -> Vec<u8> {
        let info = tst_info(request, deviation);
        let sha256 = seq(&[&oid("2.16.840.1.101.3.4.2.1")]);
        let hash = |bytes: &[u8]| HashAlgorithm::Sha256.digest(bytes);
        let attribute = |id: &str, value: &[u8]| seq(&[&oid(id), &set(&[value])]);
        let ess = seq(&[&seq(&[&seq(&[&octets(&hash(&self.certificate))])])]);
        let attributes = set(&[
            &attribute("1.2.840.113549.1.9.3", &oid("1.2.840.113549.1.9.16.1.4")),
            &attribute("1.2.840.113549.1.9.4", &octets(&hash(&info))),
            &attribute("1.2.840.113549.1.9.16.2.47", &ess),
        ]);
        let signature: DerSignature = self.key.sign(&attributes);
        let mut signature = signature.as_bytes().to_vec();
        if deviation.broken_signature {
            *signature.last_mut().unwrap() ^= 1;
        }
        let signer = seq(&[
            &integer(&[1]),
            &seq(&[&self.ca_name, &integer(&[2])]),
            &sha256,
            // Tagged [0] where it stands, and SET where it is signed.
            &[&[0xa0], &attributes[1..]].concat(),
            &ecdsa_sha256(),
            &octets(&signature),
        ]);
        let certificates = if request.cert_req { tlv(0xa0, &self.certificate) } else { Vec::new() };
        let content = seq(&[&oid("1.2.840.113549.1.9.16.1.4"), &tlv(0xa0, &octets(&info))]);
        let signed_data =
            seq(&[&integer(&[3]), &set(&[&sha256]), &content, &certificates, &set(&[&signer])]);
        seq(&[&oid("1.2.840.113549.1.7.2"), &tlv(0xa0, &signed_data)])
    }
}

fn tst_info(request: &TimestampRequest, deviation: &Deviation) -> Vec<u8> {
    let imprint = deviation.imprint.as_ref().unwrap_or(&request.imprint);
    let algorithm = seq(&[&tlv(6, imprint.algorithm().oid().as_bytes()), &tlv(5, &[])]);
    let nonce = deviation.nonce.as_ref().or(request.nonce.as_ref());
    let nonce = nonce.map(|nonce| {
        let hex = nonce.to_string();
        let octet = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        integer(&(0..hex.len()).step_by(2).map(octet).collect::<Vec<_>>())
    });
    let asked = request.policy.map(|policy| policy.to_string());
    seq(&[
        &integer(&[1]),
        &oid(deviation.policy.or(asked.as_deref()).unwrap_or(POLICY)),
        &seq(&[&algorithm, &octets(imprint.digest())]),
        &integer(&[0x0a, 0x0b]),
        &time(0),
        &seq(&[&integer(&[1])]),
        nonce.as_deref().unwrap_or_default(),
    ])
}

fn certificate(
    issuer_key: &SigningKey,
    issuer: &[u8],
    subject: &[u8],
    key: &SigningKey,
    serial: u8,
    extensions: &[Vec<u8>],
) -> Vec<u8> {
    let point = key.verifying_key().to_sec1_point(false);
    let algorithm = seq(&[&oid("1.2.840.10045.2.1"), &oid("1.2.840.10045.3.1.7")]);
    let extensions: Vec<&[u8]> = extensions.iter().map(Vec::as_slice).collect();
    let tbs = seq(&[
        &tlv(0xa0, &integer(&[2])),
        &integer(&[serial]),
        &ecdsa_sha256(),
        issuer,
        &seq(&[&tlv(0x17, b"240101000000Z"), &tlv(0x18, b"20991231235959Z")]),
        subject,
        &seq(&[&algorithm, &bits(point.as_bytes())]),
        &tlv(0xa3, &seq(&extensions)),
    ]);
    signed(issuer_key, &tbs)
}

fn signed(key: &SigningKey, tbs: &[u8]) -> Vec<u8> {
    let signature: DerSignature = key.sign(tbs);
    seq(&[tbs, &ecdsa_sha256(), &bits(signature.as_bytes())])
}

fn ecdsa_sha256() -> Vec<u8> {
    seq(&[&oid("1.2.840.10045.4.3.2")])
}

fn extension(id: &str, critical: bool, value: &[u8]) -> Vec<u8> {
    let critical = if critical { tlv(1, &[0xff]) } else { Vec::new() };
    seq(&[&oid(id), &critical, &octets(value)])
}

/// A `GeneralizedTime` so many seconds from now. RFC 5280 would have `UTCTime` in lists; readers take both.
fn time(shift: i64) -> Vec<u8> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seconds = i64::try_from(since.as_secs()).unwrap() + shift;
    tlv(0x18, GenTime::from_unix(seconds).to_generalized_time().unwrap().as_bytes())
}
