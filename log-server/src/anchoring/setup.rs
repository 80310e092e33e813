//! From the configuration to the parts of anchoring.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anchorlog_client::retry::RetryPolicy;
use anchorlog_client::stamp::{
    Authority as Asked, ExchangeError, StampOptions, Stamper, TsaUrl, TsaUrlError,
};
use anchorlog_proto::json::parse_utc_seconds;
use anchorlog_proto::timestamp::{GenTime, ObjectIdentifier};
use anchorlog_verifier::timestamp::{Allow, CertificateError, TrustEntry, read_certificates};

use super::authority::Authority;
use super::development::Development;
use super::remote::Remote;
use super::schedule::Rules;
use super::task::Options;
use crate::clock::Clock;
use crate::config::{AnchoringConfig, Tolerated, TsaConfig};
use crate::dev_tsa::{DIRECTORY, DevTsa, DevTsaError, DevTsaOptions};

/// Everybody who stamps.
#[derive(Default)]
pub struct Authorities {
    /// In the order of the configuration; the development authority last.
    pub all: Vec<Arc<dyn Authority>>,
    /// The development authority, if it is one of them.
    pub development: Option<Arc<DevTsa>>,
}

/// Why an authority of the configuration can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The address.
    #[error("[[anchoring.tsa]] {operator:?}: {source}")]
    Address {
        /// Whose.
        operator: String,
        /// What is wrong with it.
        source: TsaUrlError,
    },
    /// The roots aren't certificates.
    #[error("[[anchoring.tsa]] {operator:?}: {}: {source}", file.display())]
    Certificates {
        /// Whose.
        operator: String,
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: CertificateError,
    },
    /// This machine gives no HTTP client.
    #[error("time-stamping authorities can't be asked: {0}")]
    Client(#[from] ExchangeError),
    /// The development authority.
    #[error(transparent)]
    Development(#[from] DevTsaError),
    /// The development authority's own root.
    #[error("the root of the development authority: {0}")]
    DevelopmentRoot(CertificateError),
    /// A file can't be read.
    #[error("[[anchoring.tsa]] {operator:?}: {}: {source}", file.display())]
    File {
        /// Whose.
        operator: String,
        /// The file.
        file: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The policy isn't an object identifier.
    #[error("[[anchoring.tsa]] {operator:?}: policy {policy:?} is no object identifier like 1.2.3")]
    Policy {
        /// Whose.
        operator: String,
        /// The policy given.
        policy: String,
    },
    /// An end of the window isn't an instant.
    #[error("[[anchoring.tsa]] {operator:?}: {text:?} is no instant like 2026-01-01T00:00:00Z")]
    Window {
        /// Whose.
        operator: String,
        /// The text given.
        text: String,
    },
}

/// The options that the configuration asks for.
#[must_use]
pub fn options(config: &AnchoringConfig) -> Options {
    Options {
        rules: Rules {
            interval: config.interval.get(),
            after_entries: config.after_entries,
            renew_before: config.renew_before.get(),
        },
        timeout: config.timeout.get(),
        clock_skew: config.clock_skew.get(),
        clock: Clock::system(),
    }
}

/// The authorities of the configuration, and with `dev_tsa` the development authority of the data
/// directory `data`, which is made if it isn't there.
pub fn authorities(config: &AnchoringConfig, data: &Path) -> Result<Authorities, SetupError> {
    let mut made = Authorities::default();
    for tsa in &config.tsa {
        made.all.push(Arc::new(remote(tsa, config)?));
    }
    if config.dev_tsa {
        let tsa = Arc::new(DevTsa::open(&data.join(DIRECTORY), DevTsaOptions::default())?);
        let development =
            Development::new(Arc::clone(&tsa)).map_err(SetupError::DevelopmentRoot)?;
        made.all.push(Arc::new(development));
        made.development = Some(tsa);
    }
    Ok(made)
}

/// Checks what the configuration says about every authority, without asking or making any.
pub fn check(config: &AnchoringConfig) -> Result<(), SetupError> {
    config.tsa.iter().try_for_each(|tsa| remote(tsa, config).map(|_| ()))
}

fn remote(tsa: &TsaConfig, config: &AnchoringConfig) -> Result<Remote, SetupError> {
    let operator = || tsa.operator.clone();
    let url: TsaUrl =
        tsa.url.parse().map_err(|source| SetupError::Address { operator: operator(), source })?;
    let file = || tsa.roots.clone();
    let bytes = read(&tsa.roots).map_err(|source| SetupError::File {
        operator: operator(),
        file: file(),
        source,
    })?;
    let roots = read_certificates(&bytes).map_err(|source| SetupError::Certificates {
        operator: operator(),
        file: file(),
        source,
    })?;
    let mut trust = TrustEntry::new(operator(), roots)
        .within(instant(tsa, &tsa.window.start)?, instant(tsa, &tsa.window.end)?);
    let accuracy = tsa.require_accuracy.get().as_secs();
    if accuracy > 0 {
        trust = trust.with_accuracy_s(u32::try_from(accuracy).unwrap_or(u32::MAX));
    }
    let mut asked = None;
    if !tsa.policy.is_empty() {
        let policy: ObjectIdentifier = tsa
            .policy
            .parse()
            .map_err(|_| SetupError::Policy { operator: operator(), policy: tsa.policy.clone() })?;
        trust = trust.under_policies(vec![policy]);
        asked = Some(policy);
    }
    let mut authority = Asked::new(url, trust);
    if let Some(policy) = asked {
        authority = authority.with_policy(policy);
    }
    let tolerates = |deviation| tsa.allow.contains(&deviation);
    let options = StampOptions {
        quorum: 1,
        timeout: config.timeout.get(),
        deadline: config.timeout.get(),
        grace: None,
        retry: RetryPolicy { attempts: 2, first_delay: RETRY_PAUSE, max_delay: RETRY_PAUSE },
        allow: Allow {
            sha1: tolerates(Tolerated::Sha1),
            ber: tolerates(Tolerated::Ber),
            noncritical_eku: tolerates(Tolerated::NoncriticalEku),
        },
        ..StampOptions::default()
    };
    Ok(Remote::new(Stamper::new(options)?, authority))
}

/// An end of the window; empty is open.
fn instant(tsa: &TsaConfig, text: &str) -> Result<Option<GenTime>, SetupError> {
    if text.is_empty() {
        return Ok(None);
    }
    let seconds = parse_utc_seconds(text).ok_or_else(|| SetupError::Window {
        operator: tsa.operator.clone(),
        text: text.to_owned(),
    })?;
    Ok(Some(GenTime::from_unix(seconds)))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_ROOTS_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_ROOTS_BYTES) {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than any bundle of roots"));
    }
    Ok(bytes)
}

/// Bytes of the largest file of roots.
const MAX_ROOTS_BYTES: u64 = 1 << 20;

/// Before an authority is asked a second time in one round.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        clippy::unwrap_used,
        reason = "a failing unwrap is a failing test, and tests make files"
    )]

    use super::*;
    use crate::config::{Span, WindowConfig};

    #[test]
    fn every_mistake_in_a_block_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let tsa = DevTsa::open(directory.path(), DevTsaOptions::default()).unwrap();
        let good = TsaConfig {
            operator: "o".to_owned(),
            url: "http://127.0.0.1:1/tsa".to_owned(),
            roots: tsa.root_path().to_owned(),
            policy: "1.2.3".to_owned(),
            require_accuracy: Span::from_secs(1),
            allow: vec![Tolerated::Ber],
            window: WindowConfig { start: "2026-01-01T00:00:00Z".to_owned(), end: String::new() },
        };
        let with = |change: &dyn Fn(&mut TsaConfig)| {
            let mut tsa = good.clone();
            change(&mut tsa);
            check(&AnchoringConfig { tsa: vec![tsa], ..AnchoringConfig::default() })
        };
        with(&|_| {}).unwrap();
        let no_roots = directory.path().join("no-roots.pem");
        std::fs::write(&no_roots, "nothing").unwrap();
        let huge = directory.path().join("huge.pem");
        std::fs::write(&huge, vec![b' '; (1 << 20) + 1]).unwrap();
        let missing = directory.path().join("missing.pem");
        let address = with(&|tsa| tsa.url = "ftp://x".to_owned());
        assert!(matches!(address, Err(SetupError::Address { .. })));
        let form = with(&|tsa| tsa.roots.clone_from(&no_roots));
        assert!(matches!(form, Err(SetupError::Certificates { .. })));
        for path in [&huge, &missing] {
            let unreadable = with(&|tsa| tsa.roots.clone_from(path));
            assert!(matches!(unreadable, Err(SetupError::File { .. })));
        }
        let policy = with(&|tsa| tsa.policy = "policy".to_owned());
        assert!(matches!(policy, Err(SetupError::Policy { .. })));
        for text in ["2026-01-01", "2026-13-01T00:00:00Z", "now"] {
            let window = with(&|tsa| tsa.window.end = text.to_owned());
            assert!(matches!(window, Err(SetupError::Window { .. })), "{text}");
        }
    }
}
