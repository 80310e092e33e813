//! Why bytes are no time-stamp request, response or token.

use super::{FailInfo, HashAlgorithm, Status};

/// Why bytes are refused, or don't say what a granted time stamp has to say.
///
/// Each has two stable names: the [`code`](Self::code) of a report, and the finer
/// [`reason`](Self::reason) beneath it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TimestampError {
    /// Accuracy is no `Accuracy`, or a part of it is outside 1 to 999.
    #[error(
        "accuracy isn't seconds, milliseconds 1 to 999 and microseconds 1 to 999, in this order"
    )]
    Accuracy,
    /// A signed attribute isn't what its type asks for.
    #[error("the signed attribute {attribute} isn't of its form")]
    AttributeForm {
        /// The attribute.
        attribute: &'static str,
    },
    /// A signed attribute that may stand once with one value stands twice, or has none or several.
    #[error("the signed attribute {attribute} doesn't stand once with one value")]
    AttributeRepeated {
        /// The attribute.
        attribute: &'static str,
    },
    /// There are no signed attributes, and the content isn't plain data.
    #[error("there are no signed attributes")]
    AttributesAbsent,
    /// BER that isn't DER: an indefinite length or a constructed string.
    #[error(
        "the encoding is BER: an indefinite length, a constructed string or a length that isn't minimal"
    )]
    Ber,
    /// Signed data without content.
    #[error("the signed data has no content")]
    ContentAbsent,
    /// The ContentInfo holds something else than signed data.
    #[error("the content type isn't signedData")]
    ContentType,
    /// More of something than is read.
    #[error("more than {limit} {what}")]
    Count {
        /// Of what.
        what: &'static str,
        /// The most that are read.
        limit: usize,
    },
    /// An extension that is marked critical and isn't understood.
    #[error("an extension that is marked critical isn't understood")]
    CriticalExtension,
    /// A structure isn't of its form.
    #[error("no DER of {what}")]
    Der {
        /// The structure.
        what: &'static str,
    },
    /// The signed data holds something else than a TSTInfo.
    #[error("the encapsulated content isn't id-ct-TSTInfo")]
    EncapsulatedType,
    /// An ESS signing-certificate attribute isn't of its form.
    #[error("the signing-certificate attribute isn't of its form")]
    EssForm,
    /// A failure beside a granted status, or one that isn't known.
    #[error("the failure information contradicts the status, or isn't known")]
    FailInfo,
    /// genTime isn't `YYYYMMDDhhmmss[.s*]Z`.
    #[error("genTime isn't YYYYMMDDhhmmss[.s*]Z")]
    GenTime,
    /// A digest that hasn't its algorithm's length.
    #[error("a digest of {octets} octets, where {algorithm} has {}", algorithm.length())]
    ImprintLength {
        /// The algorithm.
        algorithm: HashAlgorithm,
        /// Octets found.
        octets: usize,
    },
    /// A text that isn't `ALGORITHM:HEX`.
    #[error("a digest is sha256, sha384, sha512 or sha1, a colon, and lower-case hexadecimal")]
    ImprintText,
    /// More bytes than are read.
    #[error("{bytes} bytes, where at most {limit} are read")]
    Length {
        /// Bytes found.
        bytes: usize,
        /// The most that are read.
        limit: usize,
    },
    /// A text that isn't a nonce.
    #[error("a nonce is an even number of hexadecimal digits, at most {}", 2 * super::MAX_NONCE_OCTETS)]
    NonceText,
    /// The authority didn't grant the request.
    #[error("the authority's status is {status}{failure}")]
    NotGranted {
        /// The status.
        status: Status,
        /// Why, as far as the authority says.
        failure: FailInfo,
    },
    /// A text that isn't an object identifier.
    #[error("an object identifier is decimal numbers with dots between them")]
    OidText,
    /// A time-stamp response isn't of its form.
    #[error("no DER of a time-stamp response")]
    Response,
    /// The serial number is negative, not minimal, or longer than 160 bits.
    #[error("the serial number isn't a minimal integer of at most 160 bits from 0 on")]
    Serial,
    /// The version of the signed data isn't 3.
    #[error("the version of the signed data isn't 3")]
    SignedDataVersion,
    /// The version of the signer information doesn't fit its identifier.
    #[error("the version of the signer information doesn't fit its identifier")]
    SignerVersion,
    /// No signer information.
    #[error("nobody signed")]
    SignersNone,
    /// More than one signer information.
    #[error("more than one signature, where there may be only the authority's")]
    SignersSeveral,
    /// A granted status and no token.
    #[error("the status is granted, and there is no token")]
    TokenMissing,
    /// A status that isn't granted, and a token.
    #[error("the status is {status}, and there is a token all the same")]
    TokenUnexpected {
        /// The status.
        status: Status,
    },
    /// Something behind the end.
    #[error("there are bytes behind the end of {what}")]
    Trailing {
        /// Of what.
        what: &'static str,
    },
    /// A TSTInfo isn't of its form.
    #[error("no DER of TSTInfo: {field}")]
    TstInfo {
        /// The first field that isn't of its form.
        field: &'static str,
    },
    /// The version of the TSTInfo isn't 1.
    #[error("the version of the TSTInfo isn't 1")]
    TstVersion,
    /// A status that isn't known.
    #[error("the status isn't one of RFC 3161")]
    UnknownStatus,
}

impl TimestampError {
    /// The stable code of a report.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AttributeForm { .. }
            | Self::AttributeRepeated { .. }
            | Self::AttributesAbsent => "TSA.SIGNED_ATTRS",
            Self::EssForm => "TSA.ESS",
            Self::ImprintLength { .. } => "TSA.IMPRINT_ALG",
            Self::SignersNone | Self::SignersSeveral => "TSA.SIGNERS",
            Self::FailInfo
            | Self::NotGranted { .. }
            | Self::TokenMissing
            | Self::TokenUnexpected { .. }
            | Self::UnknownStatus => "TSA.STATUS",
            Self::CriticalExtension | Self::TstVersion => "TSA.VERSION",
            _ => "TSA.PARSE",
        }
    }

    /// The stable reason beneath the code.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Accuracy => "parse.accuracy",
            Self::AttributeForm { .. } => "attributes.form",
            Self::AttributeRepeated { .. } => "attributes.repeated",
            Self::AttributesAbsent => "attributes.absent",
            Self::Ber => "parse.ber",
            Self::ContentAbsent => "parse.content-absent",
            Self::ContentType => "parse.content-type",
            Self::Count { .. } => "parse.count",
            Self::CriticalExtension => "version.critical-extension",
            Self::Der { .. } => "parse.der",
            Self::EncapsulatedType => "parse.encapsulated-type",
            Self::EssForm => "ess.form",
            Self::FailInfo => "status.fail-info",
            Self::GenTime => "parse.gen-time",
            Self::ImprintLength { .. } => "imprint.length",
            Self::ImprintText => "imprint.text",
            Self::Length { .. } => "parse.length",
            Self::NonceText => "nonce.text",
            Self::NotGranted { status, .. } => status.reason(),
            Self::OidText => "parse.oid-text",
            Self::Response => "parse.response",
            Self::Serial => "parse.serial",
            Self::SignedDataVersion => "parse.signed-data-version",
            Self::SignerVersion => "parse.signer-version",
            Self::SignersNone => "signers.none",
            Self::SignersSeveral => "signers.several",
            Self::TokenMissing => "status.token-missing",
            Self::TokenUnexpected { .. } => "status.token-unexpected",
            Self::Trailing { .. } => "parse.trailing",
            Self::TstInfo { .. } => "parse.tst-info",
            Self::TstVersion => "version.tst-info",
            Self::UnknownStatus => "status.unknown",
        }
    }
}
