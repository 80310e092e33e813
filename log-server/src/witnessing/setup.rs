//! From the configuration to the parts of witnessing.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchorlog_client::stamp::ExchangeError;
use anchorlog_client::witness::{
    Known, Witness as Asked, WitnessClient, WitnessError, WitnessUrl, WitnessUrlError,
};
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tlog_policy::{MAX_POLICY_BYTES, PolicyError, Quorum, TlogPolicy};
use tokio::task::JoinSet;

use super::options::{NamedWitness, Options};
use super::remote::Remote;
use crate::clock::Clock;
use crate::config::WitnessingConfig;

/// The policy of a log and the witnesses of it that can be asked.
#[derive(Debug)]
pub struct Witnesses {
    policy: Arc<TlogPolicy>,
    client: Arc<WitnessClient>,
    asked: Vec<(String, usize, Asked)>,
}

/// Why the policy can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The address of a witness.
    #[error("{}: witness {witness:?}: {source}", file.display())]
    Address {
        /// The policy.
        file: PathBuf,
        /// Its name in the policy.
        witness: String,
        /// What is wrong with it.
        source: WitnessUrlError,
    },
    /// This machine gives no HTTP client.
    #[error("witnesses can't be asked: {0}")]
    Client(#[from] ExchangeError),
    /// The policy can't be read.
    #[error("{}: {source}", file.display())]
    File {
        /// The policy.
        file: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// It is for other logs.
    #[error(
        "{}: has `log` lines, but none for this log's key; it should have this one, or none at all: log {key}",
        file.display()
    )]
    OtherLog {
        /// The policy.
        file: PathBuf,
        /// This log's key.
        key: Box<VerifierKey>,
    },
    /// It isn't a policy.
    #[error("{}: {source}", file.display())]
    Policy {
        /// The policy.
        file: PathBuf,
        /// What is wrong with it.
        source: PolicyError,
    },
    /// No quorum is demanded, so nothing would ever be witnessed.
    #[error(
        "{}: `quorum none` demands no witness, so no checkpoint would ever be witnessed; name a witness or a group",
        file.display()
    )]
    NoQuorum {
        /// The policy.
        file: PathBuf,
    },
    /// The quorum can't be met by the witnesses that have an address.
    #[error(
        "{}: the witnesses with an address, {with_address} of {witnesses}, can't meet the quorum",
        file.display()
    )]
    Unreachable {
        /// The policy.
        file: PathBuf,
        /// Witnesses with an address.
        with_address: usize,
        /// All witnesses.
        witnesses: usize,
    },
}

/// The options that the configuration asks for.
#[must_use]
pub fn options(config: &WitnessingConfig) -> Options {
    Options {
        interval: config.interval.get(),
        refresh: config.refresh.get(),
        daily_allowance: config.daily_allowance,
        timeout: config.timeout.get(),
        clock_skew: config.clock_skew.get(),
        clock: Clock::system(),
    }
}

/// The witnesses of the configuration for the log of `key`. None when it has no policy.
pub fn witnesses(
    config: &WitnessingConfig,
    key: &VerifierKey,
) -> Result<Option<Witnesses>, SetupError> {
    made(config, Some(key))
}

/// Checks the policy of the configuration, without a log and without asking anybody.
pub fn check(config: &WitnessingConfig) -> Result<(), SetupError> {
    made(config, None).map(|_| ())
}

fn made(
    config: &WitnessingConfig,
    key: Option<&VerifierKey>,
) -> Result<Option<Witnesses>, SetupError> {
    if !config.is_on() {
        return Ok(None);
    }
    let file = || config.policy.clone();
    let text = read(&config.policy).map_err(|source| SetupError::File { file: file(), source })?;
    let policy = policy_of(&text, key, &config.policy)?;
    let client = Arc::new(WitnessClient::new(config.timeout.get())?);
    let mut asked = Vec::new();
    for (position, witness) in policy.witnesses().iter().enumerate() {
        let Some(url) = witness.url() else { continue };
        let name = witness.name().to_string();
        let url = WitnessUrl::from_policy(url).map_err(|source| SetupError::Address {
            file: file(),
            witness: name.clone(),
            source,
        })?;
        asked.push((name, position, Asked::new(url, witness.key().clone())));
    }
    if !policy.is_quorum(|witness| asked.iter().any(|(_, position, _)| *position == witness)) {
        let (with_address, witnesses) = (asked.len(), policy.witnesses().len());
        return Err(SetupError::Unreachable { file: file(), with_address, witnesses });
    }
    Ok(Some(Witnesses { policy: Arc::new(policy), client, asked }))
}

impl Witnesses {
    /// The policy, which lists this log.
    #[must_use]
    pub const fn policy(&self) -> &Arc<TlogPolicy> {
        &self.policy
    }

    /// Those who are asked.
    #[must_use]
    pub fn remote(&self) -> Vec<NamedWitness> {
        let named = |(name, position, asked): &(String, usize, Asked)| NamedWitness {
            name: name.clone(),
            position: *position,
            witness: Arc::new(Remote::new(Arc::clone(&self.client), asked.clone())),
        };
        self.asked.iter().map(named).collect()
    }

    /// Asks all of them at once what they know of the log, by a checkpoint that it has signed and published,
    /// with its own signature line alone. Nothing becomes known by asking. In the order of the policy, each
    /// with its name there. Needs a tokio runtime with time and I/O.
    pub async fn known_sizes(
        &self,
        checkpoint: &SignedCheckpoint,
    ) -> Vec<(String, Result<Known, WitnessError>)> {
        let mut answers = JoinSet::new();
        for (order, (name, _, asked)) in self.asked.iter().enumerate() {
            let (client, checkpoint) = (Arc::clone(&self.client), checkpoint.clone());
            let (name, asked) = (name.clone(), asked.clone());
            answers.spawn(
                async move { (order, (name, client.known_size(&asked, &checkpoint).await)) },
            );
        }
        let mut answers = answers.join_all().await;
        answers.sort_by_key(|(order, _)| *order);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }
}

/// Reads the policy. Where it lists no log at all it is about the one of this key.
fn policy_of(
    text: &[u8],
    key: Option<&VerifierKey>,
    file: &Path,
) -> Result<TlogPolicy, SetupError> {
    let refused = |source| SetupError::Policy { file: file.to_path_buf(), source };
    let mut policy = TlogPolicy::parse(text).map_err(refused)?;
    if let Some(key) = key {
        if policy.logs().is_empty() {
            let with_log = [format!("log {key}\n").as_bytes(), text].concat();
            policy = TlogPolicy::parse(&with_log).map_err(refused)?;
        }
        if !policy.logs().iter().any(|log| log.key() == key) {
            let (file, key) = (file.to_path_buf(), Box::new(key.clone()));
            return Err(SetupError::OtherLog { file, key });
        }
    }
    if policy.quorum() == Quorum::None {
        return Err(SetupError::NoQuorum { file: file.to_path_buf() });
    }
    Ok(policy)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_POLICY_BYTES).unwrap_or(u64::MAX);
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        clippy::unwrap_used,
        reason = "a failing unwrap is a failing test, and tests make files"
    )]

    use anchorlog_proto::cosignature::CosignerKey;
    use anchorlog_proto::note::{KeyName, NoteSigner};

    use super::*;

    fn vkey(seed: u8) -> String {
        let name = KeyName::new(&format!("witness{seed}.example")).unwrap();
        CosignerKey::from_seed(name, [seed; 32]).verifier_key().to_string()
    }

    fn log(seed: u8) -> VerifierKey {
        let name = KeyName::new("log.example").unwrap();
        NoteSigner::from_seed(name, [seed; 32]).verifier_key().clone()
    }

    fn made(text: &str) -> Result<Option<Witnesses>, SetupError> {
        let directory = tempfile::tempdir().unwrap();
        let policy = directory.path().join("policy");
        std::fs::write(&policy, text).unwrap();
        let config = WitnessingConfig { policy, ..WitnessingConfig::default() };
        let made = witnesses(&config, &log(9));
        // Without a log the same can be said, but whether it is this one.
        let of_the_log = matches!(made, Err(SetupError::OtherLog { .. }));
        assert_eq!(check(&config).is_ok(), made.is_ok() || of_the_log);
        made
    }

    #[test]
    fn a_policy_with_a_quorum_of_addresses_is_taken() {
        assert!(witnesses(&WitnessingConfig::default(), &log(9)).unwrap().is_none());
        let text = format!(
            "witness a {} https://a.example/w\nwitness b {}\nwitness c\u{e9} {} http://c.example\n\
             group g 2 a b c\u{e9}\nquorum g\n",
            vkey(1),
            vkey(2),
            vkey(3),
        );
        for text in [text.clone(), format!("log {}\n{text}", log(9))] {
            let made = made(&text).unwrap().unwrap();
            assert_eq!(made.policy().logs()[0].key(), &log(9));
            let remote = made.remote();
            let named: Vec<_> =
                remote.iter().map(|one| (one.name.as_str(), one.position)).collect();
            assert_eq!(named, [("a", 0), ("c\\xc3\\xa9", 2)]);
            assert_eq!(remote[1].witness.key().to_string(), vkey(3));
        }
        assert!(matches!(
            made(&format!("log {}\n{text}", log(8))),
            Err(SetupError::OtherLog { .. })
        ));
        let all = text.replace("group g 2", "group g all");
        let unreachable = made(&all).unwrap_err();
        assert!(matches!(
            unreachable,
            SetupError::Unreachable { with_address: 2, witnesses: 3, .. }
        ));
    }

    #[test]
    fn policies_that_could_not_work_are_refused() {
        assert!(matches!(made("quorum none\n"), Err(SetupError::NoQuorum { .. })));
        assert!(matches!(made("nonsense\n"), Err(SetupError::Policy { .. })));
        let address = format!("witness a {} mailto:a\nquorum a\n", vkey(1));
        assert!(matches!(made(&address), Err(SetupError::Address { .. })));
        let config = WitnessingConfig { policy: "/nowhere".into(), ..Default::default() };
        assert!(matches!(witnesses(&config, &log(9)), Err(SetupError::File { .. })));
    }
}
