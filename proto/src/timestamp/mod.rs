//! Time stamps (RFC 3161): requests, responses and tokens, as bytes and as what they say.
//!
//! What it is: strict readers for what authorities send, and a writer for what they are asked.
//! [`TimestampRequest`] and [`TimestampResponse`] are the two messages, [`Token`] is what is kept,
//! [`TstInfo`] what it says. Readers keep views of the received bytes; nothing that is signed is
//! ever decoded and encoded again.
//!
//! What it is not: no signature is verified here and no certificate looked into; a [`Token`] has been
//! read, and that is all. `anchorlog-verifier` says whether one holds.

mod algorithm;
mod attributes;
pub mod ber;
pub mod element;
mod error;
mod ess;
mod gen_time;
mod nonce;
mod oid;
mod request;
mod response;
mod status;
mod token;
mod tst_info;
mod writer;

pub use algorithm::{AlgorithmIdentifier, HashAlgorithm, Imprint, ImprintHasher};
pub use attributes::{AlgorithmProtection, SignedAttributes};
pub use error::TimestampError;
pub use ess::{EssCertId, IssuerSerial, SigningCertificate};
pub use gen_time::GenTime;
pub use nonce::{MAX_NONCE_OCTETS, Nonce};
pub use oid::ObjectIdentifier;
pub use request::{MAX_REQUEST_BYTES, TimestampRequest};
pub use response::TimestampResponse;
pub use status::{FailInfo, Status};
pub use token::{ID_CT_TST_INFO, SignerIdentifier, SignerInfo, Token};
pub use tst_info::{Accuracy, TstInfo};

/// The longest response that is read. Real ones have a few thousand bytes.
pub const MAX_RESPONSE_BYTES: usize = 1 << 20;

/// The longest token that is read: the longest that a receipt carries.
pub const MAX_TOKEN_BYTES: usize = crate::receipt::MAX_TIMESTAMP_BYTES;

/// Certificates that one token may hold.
pub const MAX_CERTIFICATES: usize = 32;

/// Extensions that are read from one request or token.
const MAX_EXTENSIONS: usize = 32;

#[cfg(test)]
mod corpus_tests;
