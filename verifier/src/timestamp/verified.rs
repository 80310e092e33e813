//! A token that holds, and under what.

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::{Accuracy, GenTime, Imprint, ObjectIdentifier, TstInfo};

use super::path::Path;
use super::revocation::Stance;
use super::signature::SignatureScheme;

/// A token for which every check held.
///
/// Only [`super::verify_token`] and [`super::verify_response`] make one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifiedToken {
    pub(super) bytes: Vec<u8>,
    pub(super) imprint: Imprint,
    pub(super) gen_time: GenTime,
    pub(super) accuracy: Option<Accuracy>,
    pub(super) policy: ObjectIdentifier,
    pub(super) serial: Vec<u8>,
    pub(super) operator: String,
    pub(super) scheme: SignatureScheme,
    pub(super) chain: Vec<Digest>,
    pub(super) signer: String,
    pub(super) signer_not_after: GenTime,
    pub(super) expires: GenTime,
    pub(super) crl_urls: Vec<String>,
    pub(super) stance: Stance,
    pub(super) notes: Vec<Note>,
}

impl VerifiedToken {
    /// Puts together what the checks of [`super::verify_token`] have shown.
    pub(super) fn new(
        token: &[u8],
        imprint: Imprint,
        info: &TstInfo<'_>,
        shown: Shown<'_>,
    ) -> Self {
        let Shown { operator, scheme, path, stance, notes } = shown;
        let below_anchor = match path.certificates() {
            [signer] => core::slice::from_ref(signer),
            [below @ .., _anchor] => below,
            [] => &[],
        };
        let expiry = |all: &[&super::certificate::Certificate]| {
            all.iter().map(|one| one.not_after()).min().unwrap_or(GenTime::from_unix(i64::MIN))
        };
        let crl_urls =
            below_anchor.iter().flat_map(|one| one.extensions().crl_uris.clone()).collect();
        Self {
            bytes: token.to_vec(),
            imprint,
            gen_time: info.gen_time,
            accuracy: info.accuracy,
            policy: info.policy,
            serial: info.serial.to_vec(),
            operator: operator.to_owned(),
            scheme,
            chain: path.digests(),
            signer: path
                .certificates()
                .first()
                .map(|one| one.subject().to_string())
                .unwrap_or_default(),
            signer_not_after: expiry(path.certificates().get(..1).unwrap_or_default()),
            expires: expiry(below_anchor),
            crl_urls,
            stance,
            notes,
        }
    }

    /// The token's bytes, as received.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What it is over.
    #[must_use]
    pub const fn imprint(&self) -> &Imprint {
        &self.imprint
    }

    /// The time that it states.
    #[must_use]
    pub const fn gen_time(&self) -> GenTime {
        self.gen_time
    }

    /// The accuracy that it states, if any.
    #[must_use]
    pub const fn accuracy(&self) -> Option<Accuracy> {
        self.accuracy
    }

    /// The interval in which the true time lies by the token's word: genTime, and its accuracy to both
    /// sides. Without an accuracy nothing is said about it, and the interval is genTime alone.
    #[must_use]
    pub fn interval(&self) -> (GenTime, GenTime) {
        let accuracy = self.accuracy.map_or(0, |accuracy| accuracy.microseconds());
        let accuracy = i64::try_from(accuracy).unwrap_or(i64::MAX);
        (self.gen_time.shifted(-accuracy), self.gen_time.shifted(accuracy))
    }

    /// The policy it was made under.
    #[must_use]
    pub const fn policy(&self) -> ObjectIdentifier {
        self.policy
    }

    /// Its number, big-endian.
    #[must_use]
    pub fn serial(&self) -> &[u8] {
        &self.serial
    }

    /// The operator of the trust entry under which it holds.
    #[must_use]
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// How it is signed.
    #[must_use]
    pub const fn scheme(&self) -> SignatureScheme {
        self.scheme
    }

    /// SHA-256 of each certificate of the path: the signer first, the trust entry's root last.
    #[must_use]
    pub fn chain(&self) -> &[Digest] {
        &self.chain
    }

    /// The subject of the signer's certificate, for people.
    #[must_use]
    pub fn signer(&self) -> &str {
        &self.signer
    }

    /// The last instant at which the signer's certificate is valid.
    #[must_use]
    pub const fn signer_not_after(&self) -> GenTime {
        self.signer_not_after
    }

    /// The earliest end of validity in the path, the anchor apart. Stamp again before then.
    #[must_use]
    pub const fn expires(&self) -> GenTime {
        self.expires
    }

    /// Where the certificates of the path, the anchor apart, say that their CRLs are.
    #[must_use]
    pub fn crl_urls(&self) -> &[String] {
        &self.crl_urls
    }

    /// What is known about revocation.
    #[must_use]
    pub const fn stance(&self) -> &Stance {
        &self.stance
    }

    /// What a reader should know though nothing fails by it.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

/// What the checks found out, beside what the token says itself.
pub(super) struct Shown<'a> {
    pub(super) operator: &'a str,
    pub(super) scheme: SignatureScheme,
    pub(super) path: Path<'a>,
    pub(super) stance: Stance,
    pub(super) notes: Vec<Note>,
}

/// What a reader should know about a token that holds.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Note {
    /// The wrapper is BER; what is signed was read as it stands.
    Ber,
    /// The signed data announces no digest algorithm.
    DigestUnlisted,
    /// The signer is named by SHA-1 alone.
    EssSha1,
    /// There was no time of evaluation to compare genTime with.
    FutureUnchecked,
    /// No accuracy is stated.
    NoAccuracy,
    /// The signer's extended key usage isn't critical.
    NoncriticalEku,
    /// Nothing that was supplied is as new as the token and says that no certificate was revoked.
    RevocationUnknown,
    /// SHA-1 counts in this token.
    Sha1,
    /// The signed attributes aren't in DER's order.
    UnsortedAttributes,
}

impl Note {
    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ber => "note.ber",
            Self::DigestUnlisted => "note.digest-unlisted",
            Self::EssSha1 => "note.ess-sha1",
            Self::FutureUnchecked => "note.future-unchecked",
            Self::NoAccuracy => "note.no-accuracy",
            Self::NoncriticalEku => "note.noncritical-eku",
            Self::RevocationUnknown => "note.revocation-unknown",
            Self::Sha1 => "note.sha1",
            Self::UnsortedAttributes => "note.unsorted-attributes",
        }
    }

    /// The same as a sentence.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Ber => "the token's wrapper is BER; what is signed was read as it stands",
            Self::DigestUnlisted => "no digest algorithm is announced beside the content",
            Self::EssSha1 => "the signer is named by a SHA-1 digest alone",
            Self::FutureUnchecked => {
                "no time of evaluation was given, so a time that lies ahead would not be seen"
            }
            Self::NoAccuracy => "the token says nothing about how accurate its time is",
            Self::NoncriticalEku => "the signer's extended key usage is not marked critical",
            Self::RevocationUnknown => {
                "nothing supplied is as new as the token and says that no certificate was revoked"
            }
            Self::Sha1 => "SHA-1 counts in this token, because that was allowed",
            Self::UnsortedAttributes => "the signed attributes are not in DER's order",
        }
    }
}
