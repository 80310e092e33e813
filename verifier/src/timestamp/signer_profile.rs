//! What the signer's certificate has to be (RFC 3161 section 2.3).
//!
//! What it is: the rules about the one certificate that signs. What it is not: whether anybody
//! vouches for it is [`super::path`]'s question.

use super::certificate::{Certificate, ExtendedKeyUsage, KeyUsage};
use crate::codes::Code;
use crate::codes::timestamp::{CA_LEAF, EKU};

/// Why a certificate may not sign time stamps.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignerError {
    /// It is a certification authority.
    #[error("the signer is a certification authority")]
    Ca,
    /// There is no extended key usage.
    #[error("the signer's certificate has no extended key usage")]
    EkuMissing,
    /// The extended key usage isn't critical.
    #[error("the signer's extended key usage isn't critical")]
    EkuNotCritical,
    /// Time stamping isn't the only purpose.
    #[error("the signer's certificate has other purposes beside time stamping")]
    EkuNotSole,
    /// Time stamping isn't a purpose.
    #[error("the signer's certificate isn't for time stamping")]
    EkuPurpose,
    /// The key usage has something else than signatures, or nothing.
    #[error("the signer's key usage is something else than digitalSignature and nonRepudiation")]
    KeyUsage,
}

impl SignerError {
    /// The stable code of a report.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Ca => CA_LEAF,
            _ => EKU,
        }
    }

    /// The stable reason beneath the code.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Ca => "signer.is-ca",
            Self::EkuMissing => "eku.missing",
            Self::EkuNotCritical => "eku.not-critical",
            Self::EkuNotSole => "eku.not-sole",
            Self::EkuPurpose => "eku.purpose",
            Self::KeyUsage => "signer.key-usage",
        }
    }
}

/// Whether the extended key usage of a signer may be non-critical: never by default.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum NoncriticalEku {
    /// Refused, as RFC 3161 section 2.3 has it.
    #[default]
    Refused,
    /// Allowed: some authorities issued such certificates for years.
    Allowed,
}

/// What a signer's certificate showed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SignerProfile {
    /// Whether the extended key usage is critical.
    pub critical_eku: bool,
}

/// Checks what RFC 3161 asks of the certificate that signs: an extended key usage that holds
/// `id-kp-timeStamping` and nothing else, and is critical; an end entity; and if there is a key
/// usage, one for signatures only (RFC 5280 section 4.2.1.12 has `digitalSignature` and
/// `nonRepudiation` go with time stamping).
///
/// The first rule that fails, in this order, is the error. Certificates of versions 1 and 2 have no
/// extensions, and so none of this.
pub fn check_signer(
    certificate: &Certificate,
    noncritical: NoncriticalEku,
) -> Result<SignerProfile, SignerError> {
    let extensions = certificate.extensions();
    let usage = extensions.extended_key_usage.as_ref().ok_or(SignerError::EkuMissing)?;
    match usage.purposes.as_slice() {
        [ExtendedKeyUsage::TIME_STAMPING] => {}
        purposes if purposes.contains(&ExtendedKeyUsage::TIME_STAMPING) => {
            return Err(SignerError::EkuNotSole);
        }
        _ => return Err(SignerError::EkuPurpose),
    }
    if !usage.critical && noncritical == NoncriticalEku::Refused {
        return Err(SignerError::EkuNotCritical);
    }
    if extensions.basic_constraints.is_some_and(|constraints| constraints.ca) {
        return Err(SignerError::Ca);
    }
    let signatures = KeyUsage::DIGITAL_SIGNATURE.union(KeyUsage::NON_REPUDIATION);
    if extensions
        .key_usage
        .is_some_and(|usage| !usage.is_subset(signatures) || !usage.intersects(signatures))
    {
        return Err(SignerError::KeyUsage);
    }
    Ok(SignerProfile { critical_eku: usage.critical })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        ANY_PURPOSE, Draft, SERVER_AUTH, TIME_STAMPING, basic_constraints, key_usage, purposes,
    };
    use super::*;

    fn check(draft: &Draft) -> Result<bool, SignerError> {
        check_signer(&draft.by(9), NoncriticalEku::Refused).map(|profile| profile.critical_eku)
    }

    fn for_time() -> Draft {
        Draft::new("tsa", "ca", 1).with(purposes(true, &[TIME_STAMPING]))
    }

    #[test]
    fn time_stamping_is_the_only_purpose() {
        assert_eq!(check(&for_time()), Ok(true));
        for (purposes_of, expected) in [
            (&[][..], SignerError::EkuMissing),
            (&[SERVER_AUTH], SignerError::EkuPurpose),
            (&[ANY_PURPOSE], SignerError::EkuPurpose),
            (&[TIME_STAMPING, SERVER_AUTH], SignerError::EkuNotSole),
            (&["1.2.3.4", TIME_STAMPING], SignerError::EkuNotSole),
            (&[TIME_STAMPING, TIME_STAMPING], SignerError::EkuNotSole),
        ] {
            let mut draft = Draft::new("tsa", "ca", 1);
            if !purposes_of.is_empty() {
                draft = draft.with(purposes(true, purposes_of));
            }
            assert_eq!(check(&draft), Err(expected), "{purposes_of:?}");
        }
        let old = Draft { version: None, ..Draft::new("tsa", "ca", 1) };
        assert_eq!(check(&old), Err(SignerError::EkuMissing));
    }

    #[test]
    fn the_purpose_is_critical_unless_the_rules_say_otherwise() {
        let draft = Draft::new("tsa", "ca", 1).with(purposes(false, &[TIME_STAMPING]));
        assert_eq!(check(&draft), Err(SignerError::EkuNotCritical));
        let profile = check_signer(&draft.by(9), NoncriticalEku::Allowed).unwrap();
        assert!(!profile.critical_eku);
        let other = Draft::new("tsa", "ca", 1).with(purposes(false, &[SERVER_AUTH]));
        let refused = check_signer(&other.by(9), NoncriticalEku::Allowed);
        assert_eq!(refused, Err(SignerError::EkuPurpose));
    }

    #[test]
    fn a_signer_is_no_authority_and_signs_only() {
        assert_eq!(check(&for_time().with(basic_constraints(false, None))), Ok(true));
        let authority = for_time().with(basic_constraints(true, None));
        assert_eq!(check(&authority), Err(SignerError::Ca));
        for (uses, allowed) in [
            (&[0][..], true),
            (&[1], true),
            (&[0, 1], true),
            (&[], false),
            (&[2], false),
            (&[0, 2], false),
            (&[0, 5], false),
            (&[0, 8], false),
        ] {
            let verdict = check(&for_time().with(key_usage(uses)));
            let expected = if allowed { Ok(true) } else { Err(SignerError::KeyUsage) };
            assert_eq!(verdict, expected, "{uses:?}");
        }
    }

    #[test]
    fn errors_have_their_names() {
        for (error, code, reason) in [
            (SignerError::Ca, "TSA.CA_LEAF", "signer.is-ca"),
            (SignerError::EkuMissing, "TSA.EKU", "eku.missing"),
            (SignerError::EkuNotCritical, "TSA.EKU", "eku.not-critical"),
            (SignerError::EkuNotSole, "TSA.EKU", "eku.not-sole"),
            (SignerError::EkuPurpose, "TSA.EKU", "eku.purpose"),
            (SignerError::KeyUsage, "TSA.EKU", "signer.key-usage"),
        ] {
            assert_eq!((error.code().as_str(), error.reason()), (code, reason));
        }
    }
}
