//! RFC 3161 time stamps: does this token show that something existed at its time.
//!
//! The front doors are [`verify_token`] and [`verify_response`]; [`verify_quorum`] takes several
//! tokens. The result is a [`VerifiedToken`], which nothing else makes, or a [`TokenFailure`] with a
//! code, and a finer reason beneath it. Trust is what the caller hands over as [`TrustEntry`]s and
//! nothing else: certificates in a token, and beside it, only help to find a path.
//!
//! Everything is checked on the received bytes. What a token doesn't show: that nobody had the thing
//! before, or who had it.

pub mod certificate;
mod failure;
mod issuer;
pub mod name;
pub mod path;
mod quorum;
pub mod revocation;
pub mod signature;
mod signer;
pub mod signer_profile;
#[cfg(test)]
pub(crate) mod testing;
mod token;
mod trust;
mod verified;

pub use certificate::{Certificate, CertificateError, read_certificates};
pub use failure::TokenFailure;
pub(crate) use issuer::{StatedIssuer, stated_issuer};
pub use quorum::{MAX_TOKENS, Quorum, verify_quorum};
pub use trust::{Allow, DEFAULT_SKEW_S, Expected, Rules, Supplied, TrustEntry};
pub use verified::{Note, VerifiedToken};

use std::borrow::Cow;

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::element::Element;
use anchorlog_proto::timestamp::{TimestampRequest, TimestampResponse, Token, ber};
use der::Tag;

/// Verifies a token. In this order, and the first rule that is broken is the failure:
///
/// 1. The bytes are one DER token and nothing more (`TSA.PARSE`; BER only if it is allowed): signed
///    data of version 3 with a TSTInfo and one signature (`TSA.SIGNERS`), a TSTInfo of version 1
///    without critical extensions (`TSA.VERSION`), signed attributes (`TSA.SIGNED_ATTRS`) of their
///    form (`TSA.ESS`).
/// 2. The digest algorithm is known and allowed (`TSA.ALG`), and so is the imprint's
///    (`TSA.IMPRINT_ALG`).
/// 3. Imprint, nonce and policy are those expected (`TSA.IMPRINT`, `TSA.NONCE`, `TSA.POLICY_OID`).
/// 4. The attributes are about this content: content type, message digest, and the algorithms if
///    they are protected (`TSA.SIGNED_ATTRS`).
/// 5. One certificate is the one that the signer identifier and every signing-certificate attribute
///    name (`TSA.CERT_ABSENT`, `TSA.ESS`).
/// 6. Its key made the signature (`TSA.ALG`, `TSA.SIG`).
/// 7. It may sign time stamps, and nothing else (`TSA.EKU`, `TSA.CA_LEAF`); the authority's name, if
///    stated, is one of its (`TSA.NAME`).
/// 8. genTime doesn't lie ahead of the time of evaluation (`TSA.FUTURE`).
/// 9. Under one trust entry: a path to a root of it that holds at genTime (`TSA.CHAIN`,
///    `TSA.VALIDITY`, `TSA.ALG`, `TSA.ROOT_PURPOSE`) and holds every certificate the token names
///    (`TSA.ESS`); genTime within its window (`TSA.POLICY_WINDOW`), its policies (`TSA.POLICY_OID`),
///    its accuracy (`TSA.ACCURACY`); and nothing revoked (`TSA.REVOKED`, `TSA.REVOCATION_UNKNOWN`).
pub fn verify_token(
    token: &[u8],
    expected: &Expected,
    trust: &[TrustEntry],
    supplied: &Supplied,
    rules: &Rules,
) -> Result<VerifiedToken, TokenFailure> {
    let mut rewritten = Vec::new();
    let (read, notes) = read_token(token, &mut rewritten, rules)?;
    token::verify(token, &read, expected, trust, supplied, rules, notes)
}

/// Reads a token; one whose wrapper is BER, if that is allowed, through its form in DER in `rewritten`.
fn read_token<'a>(
    token: &'a [u8],
    rewritten: &'a mut Vec<u8>,
    rules: &Rules,
) -> Result<(Token<'a>, Vec<Note>), TokenFailure> {
    let error = match Token::parse(token) {
        Ok(read) => return Ok((read, Vec::new())),
        Err(error) => error,
    };
    match ber::token_to_der(token) {
        Some(der) if rules.allow.ber => {
            *rewritten = der;
            Ok((Token::parse(rewritten)?, vec![Note::Ber]))
        }
        der => Err(ber::name_refusal(error, der.as_deref()).into()),
    }
}

/// The token in a file that holds either a token or a whole response, told apart by their first field.
/// For a response, status and token have to say together that it was granted (`TSA.STATUS`).
pub fn token_in<'a>(bytes: &'a [u8], rules: &Rules) -> Result<Cow<'a, [u8]>, TokenFailure> {
    let first = Element::parse(bytes).and_then(|outer| outer.elements()?.peek());
    if first == Some(Tag::ObjectIdentifier) || ber::token_to_der(bytes).is_some() {
        return Ok(Cow::Borrowed(bytes));
    }
    granted(bytes, rules)
}

/// The token of a response that was granted.
fn granted<'a>(response: &'a [u8], rules: &Rules) -> Result<Cow<'a, [u8]>, TokenFailure> {
    match TimestampResponse::parse(response) {
        Ok(read) => Ok(Cow::Borrowed(read.granted()?)),
        Err(error) => match ber::response_to_der(response) {
            Some(der) if rules.allow.ber => {
                Ok(Cow::Owned(TimestampResponse::parse(&der)?.granted()?.to_vec()))
            }
            der => Err(ber::name_refusal(error, der.as_deref()).into()),
        },
    }
}

/// Verifies a response to `request`: that it was granted (`TSA.STATUS`), its token as [`verify_token`]
/// does, with imprint, nonce and policy of the request, and that it carries the signer's certificate
/// if certificates were asked for and none if they weren't (`TSA.CERT_ABSENT`, `TSA.CERTS_UNASKED`).
pub fn verify_response(
    response: &[u8],
    request: &TimestampRequest,
    trust: &[TrustEntry],
    supplied: &Supplied,
    rules: &Rules,
) -> Result<VerifiedToken, TokenFailure> {
    let token = granted(response, rules)?;
    let mut rewritten = Vec::new();
    let (read, notes) = read_token(&token, &mut rewritten, rules)?;
    let expected = Expected::answering(request);
    let verified = token::verify(&token, &read, &expected, trust, supplied, rules, notes)?;
    let signer = verified.chain().first();
    let holds_signer = read.certificates.iter().any(|one| Some(&Digest::of(one)) == signer);
    match request.cert_req {
        true if !holds_signer => Err(TokenFailure::CertificateAbsent),
        false if !read.certificates.is_empty() => Err(TokenFailure::CertificatesUnasked),
        _ => Ok(verified),
    }
}
