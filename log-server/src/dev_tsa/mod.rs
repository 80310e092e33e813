//! A time-stamping authority (RFC 3161) for development: real tokens that nobody is to trust.
//!
//! What it is: a whole authority in one directory. On first start it makes a root and a certificate for
//! its signer; it answers requests with tokens that every check of RFC 3161 accepts, under that root, and
//! renews the signer's certificate before it runs out. So whatever needs an authority (the anchoring of
//! checkpoints, the client's `stamp`, tests of both) can be tried out without one.
//!
//! What it is not: evidence. Its clock is this machine's, its keys lie beside the log's, and whoever has
//! them can date a token as they please. Names, status texts and HTTP headers say so, and no policy that
//! this workspace ships contains such a root; it has to be named by whoever wants to accept it.
//!
//! | file | what it is |
//! |---|---|
//! | `root.pem` | the root's certificate: what a verifier is given |
//! | `root-key.pem` | the root's key (P-256) and certificate, for the owner's eyes only |
//! | `tsa-p256.pem`, `tsa-ed25519.pem` | key and certificate of each signer that was used, likewise |
//! | `LOCK` | held by the one process that uses the directory |

mod certificate;
mod error;
mod hierarchy;
mod http;
mod identity;
mod key;
mod request;
mod response;
#[cfg(test)]
mod tests;
mod token;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use anchorlog_client::durable::{self, DirectoryLock};
use anchorlog_proto::timestamp::ObjectIdentifier;

pub use self::error::DevTsaError;
use self::hierarchy::Hierarchy;
pub use self::http::{ROOT_PATH, STAMP_PATH, router};
pub use self::key::SignerKind;
use self::request::{Refusal, Request};
pub use crate::clock::Clock;

/// The policy under which all tokens are made: an identifier below the number that RFC 5612 sets aside
/// for documentation, so that no authority to be taken seriously can have the same. (The example arc
/// 2.999 would do as well, but the `const-oid` crate has no room for a second arc above 39.)
pub const POLICY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.32473.3161.1");

/// Name of the authority's directory inside a log's data directory.
pub const DIRECTORY: &str = "dev-tsa";

/// What to know about this authority in one line, for people.
pub const WARNING: &str = "DEVELOPMENT time-stamping authority: its tokens prove nothing to others";

/// How an authority is to be.
#[derive(Clone, Debug)]
pub struct DevTsaOptions {
    /// The key that signs tokens.
    pub signer: SignerKind,
    /// For how long the signer's certificate is good; whole seconds, at least two. It is renewed when
    /// less than a quarter of that is left.
    pub certificate_validity: Duration,
    /// For how long the root is good, if it has to be made; whole seconds.
    pub root_validity: Duration,
    /// What time it is.
    pub clock: Clock,
}

impl Default for DevTsaOptions {
    /// P-256, ninety days, ten years, the system's clock.
    fn default() -> Self {
        Self {
            signer: SignerKind::P256,
            certificate_validity: 90 * DAY,
            root_validity: 3650 * DAY,
            clock: Clock::system(),
        }
    }
}

/// An authority at work. One directory has one of them; a lock sees to that.
#[derive(Debug)]
pub struct DevTsa {
    clock: Clock,
    signer: SignerKind,
    root_path: PathBuf,
    root_der: Vec<u8>,
    root_pem: String,
    hierarchy: Mutex<Hierarchy>,
    _lock: DirectoryLock,
}

impl DevTsa {
    /// Opens the authority in `directory`, or makes it, directory and all, if there is none.
    ///
    /// The signer's certificate is renewed here too if it is about to run out or isn't as the options
    /// want it.
    pub fn open(directory: &Path, options: DevTsaOptions) -> Result<Self, DevTsaError> {
        durable::create_dir_all_with_mode(directory, 0o700)?;
        let lock = DirectoryLock::acquire(&directory.join("LOCK"))?;
        let now = options.clock.now();
        let hierarchy = Hierarchy::open(directory, &options, now)?;
        Ok(Self {
            clock: options.clock,
            signer: options.signer,
            root_path: hierarchy.root_path(),
            root_der: hierarchy.root_der()?,
            root_pem: hierarchy.root_pem()?,
            hierarchy: Mutex::new(hierarchy),
            _lock: lock,
        })
    }

    /// Answers a `TimeStampReq` with a `TimeStampResp`, both DER, as of `now`: a token, or a refusal with
    /// its reason. Never fails; what keeps the authority from working is a refusal too, and logged.
    ///
    /// It works on the processor and, when the certificate has to be renewed, on the disk.
    pub fn respond(&self, request: &[u8], now: SystemTime) -> Vec<u8> {
        let token = Request::read(request).and_then(|request| self.stamp(&request, now));
        response::encode(token.as_deref().map_err(|refusal| *refusal))
    }

    /// What time it is for the authority.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// The key that signs tokens.
    #[must_use]
    pub fn signer(&self) -> SignerKind {
        self.signer
    }

    /// The root's certificate, DER.
    #[must_use]
    pub fn root_der(&self) -> &[u8] {
        &self.root_der
    }

    /// The root's certificate, PEM.
    #[must_use]
    pub fn root_pem(&self) -> &str {
        &self.root_pem
    }

    /// The file with the root's certificate.
    #[must_use]
    pub fn root_path(&self) -> &Path {
        &self.root_path
    }

    /// The last instant at which the signer's present certificate is good.
    #[must_use]
    pub fn certificate_not_after(&self) -> SystemTime {
        self.hierarchy().signer().not_after()
    }

    fn stamp(&self, request: &Request<'_>, now: SystemTime) -> Result<Vec<u8>, Refusal> {
        let signer = self.hierarchy().signer_at(now).map_err(|error| Refusal::of(&error))?;
        token::build(&signer, request, now).map_err(|error| Refusal::of(&error))
    }

    fn hierarchy(&self) -> MutexGuard<'_, Hierarchy> {
        // A panic can't leave it half changed: a new signer is put in its place whole.
        self.hierarchy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const DAY: Duration = Duration::from_hours(24);
