//! Certificates and CRLs from files: DER, or PEM among other text.

use anchorlog_proto::timestamp::element::Element;

use super::{Certificate, CertificateError};

/// The longest bundle of certificates that is read, in bytes.
pub const MAX_BUNDLE_BYTES: usize = 1024 * 1024;
/// The most certificates that are read from a bundle.
pub const MAX_BUNDLE_CERTIFICATES: usize = 256;

const CERTIFICATE: &str = "CERTIFICATE";
const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// Reads certificates from a file: PEM with any number of them (text and other PEM around them is
/// passed over), or the DER of one.
///
/// Whoever names a file means every certificate in it: one that can't be read is an error, and so
/// is a file without any.
pub fn read_certificates(bytes: &[u8]) -> Result<Vec<Certificate>, CertificateError> {
    if bytes.len() > MAX_BUNDLE_BYTES {
        return Err(CertificateError::Length { bytes: bytes.len(), limit: MAX_BUNDLE_BYTES });
    }
    match encodings(bytes, CERTIFICATE, MAX_BUNDLE_CERTIFICATES) {
        Some(Encodings::Der) => Ok(vec![Certificate::parse(bytes)?]),
        Some(Encodings::Pem(blocks)) => {
            blocks.iter().map(|block| Certificate::parse(block)).collect()
        }
        Some(Encodings::TooMany) => Err(CertificateError::Count { limit: MAX_BUNDLE_CERTIFICATES }),
        None => Err(CertificateError::Pem),
    }
}

/// What a file holds.
#[derive(Debug)]
pub(in crate::timestamp) enum Encodings {
    /// One DER element: the file.
    Der,
    /// What stood between the lines of the label; at least one.
    Pem(Vec<Vec<u8>>),
    /// More than the limit.
    TooMany,
}

/// Finds out what a file holds. `None`: neither DER, nor PEM of this label, or PEM that is broken.
pub(in crate::timestamp) fn encodings(
    bytes: &[u8],
    label: &str,
    limit: usize,
) -> Option<Encodings> {
    if Element::parse(bytes).is_some() {
        return Some(Encodings::Der);
    }
    let mut blocks = Vec::new();
    let mut rest = bytes;
    while let Some(start) = find(rest, BEGIN) {
        let block = rest.get(start..)?;
        let end = find(block, END)?;
        let after = end + END.len();
        let end = after + find(block.get(after..)?, DASHES)? + DASHES.len();
        let (block, behind) = block.split_at_checked(end)?;
        rest = behind;
        if block.get(BEGIN.len()..)?.starts_with(format!("{label}-----").as_bytes()) {
            if blocks.len() == limit {
                return Some(Encodings::TooMany);
            }
            blocks.push(pem_rfc7468::decode_vec(block).ok()?.1);
        }
    }
    (!blocks.is_empty()).then_some(Encodings::Pem(blocks))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
