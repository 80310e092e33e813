//! What keeps a development authority from starting or from stamping.

use std::path::PathBuf;
use std::time::Duration;

use anchorlog_client::durable::{DurableError, LockError};

use crate::keys::KeyFileError;

/// Any failure of the development authority that isn't the requester's doing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DevTsaError {
    /// A certificate can't be made.
    #[error("a certificate can't be made: {0}")]
    Certificate(#[from] x509_cert::builder::Error),
    /// The clock shows a time that isn't after the root was made, or that certificates can't express.
    #[error("the clock is before the time at which the root was made, or is beyond the year 9999")]
    Clock,
    /// A file can't be written.
    #[error(transparent)]
    Durable(#[from] DurableError),
    /// Something can't be encoded.
    #[error("can't be encoded as DER: {0}")]
    Encoding(#[from] der::Error),
    /// A key file can't be read.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// Another process uses the directory.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A file isn't a key with the certificate for it.
    #[error("{}: is not a private key of the expected kind followed by the certificate for it; move it away and a new one is made", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
    },
    /// A key can't be written as PKCS#8.
    #[error("a private key can't be encoded")]
    Pkcs8,
    /// The system gives no random bytes.
    #[error("the system's random source doesn't answer")]
    Random,
    /// The root has run out.
    #[error("{}: the root of the development authority has run out; remove the directory and a new one is made", path.display())]
    RootExpired {
        /// The file with the root.
        path: PathBuf,
    },
    /// A token can't be made.
    #[error("a token can't be made: {0}")]
    Token(#[from] cms::builder::Error),
    /// A validity that no certificate can have.
    #[error(
        "a validity of {validity:?} isn't possible: it has to be whole seconds, at least two, and at most a hundred years"
    )]
    Validity {
        /// The validity asked for.
        validity: Duration,
    },
}
