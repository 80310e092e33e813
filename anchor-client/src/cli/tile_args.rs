//! The options of everything that reads a log whole: where it is, whose signature counts, how patiently.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tlog_policy::TlogPolicy;

use crate::address::AddressError;
use crate::follow::{FollowOptions, TileLocation};
use crate::retry::RetryPolicy;
use crate::trust::{LogTrust, TrustError};

/// Where a log's tiles are, and how patiently to ask.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct LocationArgs {
    /// Address of the log, or a directory with its tiles.
    #[arg(long, value_name = "URL|DIR", env = "ANCHORLOG_LOG", value_parser = location)]
    pub(super) log: TileLocation,
    /// Bundles asked for at the same time over HTTP.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=64))]
    parallel: u8,
    /// Seconds that one try of one request may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// How often a request is sent before the log counts as unreachable.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
}

/// Whose signature counts.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct KeyArgs {
    #[command(flatten)]
    given: GivenArgs,
    /// Which of the policy's logs it is, where there are several.
    #[arg(long, value_name = "NAME")]
    origin: Option<String>,
}

/// Where the keys come from: one of the two.
#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct GivenArgs {
    /// The log's verifier key; again for every further key that may sign for it.
    #[arg(long, value_name = "VKEY")]
    vkey: Vec<VerifierKey>,
    /// Take the log's keys, and what is demanded of witnesses, from a C2SP tlog-policy file.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

/// The keys that sign for one log, and the policy it is judged by.
pub(super) struct Keys {
    pub(super) keys: Vec<VerifierKey>,
    pub(super) policy: TlogPolicy,
}

impl LocationArgs {
    /// How to read.
    pub(super) fn options(&self) -> FollowOptions {
        FollowOptions {
            parallel: usize::from(self.parallel),
            timeout: Duration::from_secs(self.timeout),
            retry: RetryPolicy { attempts: self.attempts, ..RetryPolicy::default() },
            ..FollowOptions::default()
        }
    }
}

impl KeyArgs {
    /// Reads them, of one log. Keys without a policy demand no witnesses.
    pub(super) fn read(&self) -> Result<Keys, TrustError> {
        let (trust, path) = self.trust()?;
        let keys = self.chosen(&trust);
        let origins: BTreeSet<&str> = keys.iter().map(|key| key.name().as_str()).collect();
        match origins.len() {
            0 => Err(TrustError::NoLog { path }),
            1 => Ok(Keys { policy: trust.trust().policy.clone(), keys }),
            _ => {
                let logs = origins.into_iter().collect::<Vec<_>>().join(", ");
                Err(TrustError::SeveralLogs { path, logs })
            }
        }
    }

    /// Reads the keys alone, of however many logs.
    pub(super) fn of_all_logs(&self) -> Result<Vec<VerifierKey>, TrustError> {
        let (trust, path) = self.trust()?;
        let keys = self.chosen(&trust);
        if keys.is_empty() { Err(TrustError::NoLog { path }) } else { Ok(keys) }
    }

    fn trust(&self) -> Result<(LogTrust, PathBuf), TrustError> {
        if let Some(path) = &self.given.policy {
            return Ok((LogTrust::from_policy_file(path)?, path.clone()));
        }
        let line = |key: &VerifierKey| format!("log {key}\n");
        let lines: String = self.given.vkey.iter().map(line).collect();
        let (text, path) = (format!("{lines}quorum none\n"), PathBuf::from("--vkey"));
        Ok((LogTrust::from_policy_text(text.as_bytes(), &path)?, path))
    }

    fn chosen(&self, trust: &LogTrust) -> Vec<VerifierKey> {
        let mut keys = trust.keys().to_vec();
        if let Some(origin) = &self.origin {
            keys.retain(|key| key.name().as_str() == origin);
        }
        keys
    }
}

/// Waits until the program is asked to end, by Ctrl-C or SIGTERM.
pub(super) async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupted = tokio::signal::ctrl_c();
    match signal(SignalKind::terminate()) {
        Ok(mut terminated) => {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
        }
        // Without one of the two the other one has to do.
        Err(_) => {
            let _ = interrupted.await;
        }
    }
}

fn location(text: &str) -> Result<TileLocation, AddressError> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use anchorlog_proto::note::{KeyName, NoteSigner};

    use super::*;

    fn key(name: &str, seed: u8) -> VerifierKey {
        NoteSigner::from_seed(KeyName::new(name).unwrap(), [seed; 32]).verifier_key().clone()
    }

    #[test]
    fn several_keys_are_of_one_log() {
        let read = |vkey: &[VerifierKey], origin: Option<&str>| {
            let given = GivenArgs { vkey: vkey.to_vec(), policy: None };
            KeyArgs { given, origin: origin.map(str::to_owned) }.read().map(|keys| keys.keys)
        };
        let (one, next, other) = (key("a.example", 1), key("a.example", 2), key("b.example", 3));
        let both = [one.clone(), next.clone()];
        assert_eq!(read(&both, None).unwrap(), both);
        let all = [one, other.clone(), next];
        let error = read(&all, None).unwrap_err();
        assert!(matches!(error, TrustError::SeveralLogs { .. }));
        assert!(error.to_string().contains("a.example, b.example"), "{error}");
        assert_eq!(read(&all, Some("b.example")).unwrap(), [other]);
        assert_eq!(read(&all, Some("a.example")).unwrap(), both);
        assert!(matches!(read(&all, Some("c.example")), Err(TrustError::NoLog { .. })));
    }
}
