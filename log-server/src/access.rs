//! Who may submit, and how much.
//!
//! What it is: the log's admission policy over statements that are already well-formed. Keys come from the
//! configuration alone; a key found in a statement proves nothing. A signature is checked in every mode:
//! the log never stores one it couldn't verify. Rates are counted per key after its signature verified, so
//! that nobody can use up somebody else's. What it isn't: protection of the network. Limits per address
//! belong to the proxy in front, which knows the addresses.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::time::Duration;

use anchorlog_proto::encoding;
use anchorlog_proto::signed_object::{KeyError, PublicKey, SignerId};
use anchorlog_proto::statement::LogEntry;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota};

use crate::bearer::{Bearer, Bearers};
use crate::config::{AccessConfig, AccessMode, MAX_BATCH};

/// The admission policy of one log.
#[derive(Debug)]
pub struct Access {
    mode: AccessMode,
    open: Bucket,
    submitters: HashMap<SignerId, Submitter>,
    bearers: Bearers,
}

impl Access {
    /// Reads the keys of the configuration and sets up a bucket for each.
    pub fn new(config: &AccessConfig) -> Result<Self, AccessConfigError> {
        let mut submitters = HashMap::with_capacity(config.keys.len());
        for (position, submitter) in config.keys.iter().enumerate() {
            let name = submitter.name.clone();
            let key = read_key(&submitter.key).map_err(|fault| AccessConfigError::Key {
                position,
                name: name.clone(),
                fault,
            })?;
            let bucket = Bucket::new(submitter.rate, submitter.burst);
            if submitters.insert(key.id(), Submitter { name: name.clone(), key, bucket }).is_some()
            {
                return Err(AccessConfigError::Repeated { position, name });
            }
        }
        let open = Bucket::new(config.open_rate, config.open_burst);
        Ok(Self { mode: config.mode, open, submitters, bearers: Bearers::default() })
    }

    /// Knows these bearer tokens as well.
    #[must_use]
    pub fn with_bearers(mut self, bearers: Bearers) -> Self {
        self.bearers = bearers;
        self
    }

    /// The bearer tokens it knows.
    #[must_use]
    pub const fn bearers(&self) -> &Bearers {
        &self.bearers
    }

    /// Decides on the statements of one request, all or none.
    ///
    /// Two passes: first every statement's signature, then the rates. A refused request therefore costs its
    /// submitter nothing, unless it carries statements of several keys and only a later key's rate is used
    /// up; then the earlier keys' share stays counted.
    pub fn admit(&self, entries: &[LogEntry]) -> Result<(), Refusal> {
        let of = entries.len();
        for (position, entry) in entries.iter().enumerate() {
            let position = Some(position);
            self.authenticate(entry).map_err(|reason| Refusal { of, position, reason })?;
        }
        self.count(entries).map_err(|reason| Refusal { of, position: None, reason })
    }

    /// Decides on so many statements without signatures, for which a token may stand.
    pub fn admit_lines(&self, bearer: Option<&Bearer>, count: u32) -> Result<(), Reason> {
        match (bearer, self.mode) {
            (Some(bearer), _) => bearer.take(count),
            (None, AccessMode::Open) => self.open.take(count),
            (None, AccessMode::Keys) => Err(Reason::TokenRequired),
        }
    }

    /// Takes every statement's share of its submitter's rate.
    fn count(&self, entries: &[LogEntry]) -> Result<(), Reason> {
        if let [entry] = entries {
            return self.bucket(entry).take(1);
        }
        let mut shares: Vec<(Option<SignerId>, &Bucket, u32)> = Vec::new();
        for entry in entries {
            let signer = entry.signer();
            match shares.iter_mut().find(|(known, ..)| *known == signer) {
                Some((.., count)) => *count = count.saturating_add(1),
                None => shares.push((signer, self.bucket(entry), 1)),
            }
        }
        shares.into_iter().try_for_each(|(_, bucket, count)| bucket.take(count))
    }

    fn authenticate(&self, entry: &LogEntry) -> Result<(), Reason> {
        let Some(signer) = entry.signer() else {
            return match self.mode {
                AccessMode::Keys => Err(Reason::SignatureRequired),
                AccessMode::Open => Ok(()),
            };
        };
        let submitter = self.submitters.get(&signer).ok_or(Reason::UnknownKey { signer })?;
        entry
            .verify_signature(&submitter.key)
            .map_err(|_| Reason::BadSignature { signer, name: submitter.name.clone() })
    }

    fn bucket(&self, entry: &LogEntry) -> &Bucket {
        let submitter = entry.signer().and_then(|signer| self.submitters.get(&signer));
        submitter.map_or(&self.open, |submitter| &submitter.bucket)
    }
}

/// A request that isn't admitted.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// How many statements the request has.
    pub of: usize,
    /// The statement that is refused, counted from 0; `None` when it is the number of them all.
    pub position: Option<usize>,
    /// Why.
    pub reason: Reason,
}

/// Why a request isn't admitted.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The signature doesn't verify under the key it names.
    #[error("the signature does not verify under the key {signer} (\"{name}\")")]
    BadSignature {
        /// The key's id.
        signer: SignerId,
        /// The key's name in the configuration.
        name: String,
    },
    /// More statements than the submitter may ever send at once.
    #[error(
        "{count} statements are more than the {burst} this submitter may send at once; send smaller batches"
    )]
    OverBurst {
        /// Statements in the request.
        count: u32,
        /// Statements the submitter may send at once.
        burst: u32,
    },
    /// The submitter's rate is used up for now.
    #[error("the submitter's rate of statements is used up")]
    RateLimited {
        /// How long until the same request can be admitted.
        wait: Duration,
    },
    /// The log takes signed statements only.
    #[error("this log takes only statements signed by a key it knows; sign the statement")]
    SignatureRequired,
    /// The log takes statements without signatures only from the holder of a token.
    #[error(
        "this log takes such lines only with a token it knows; send one as `Authorization: Bearer <token>`"
    )]
    TokenRequired,
    /// The key isn't in the configuration.
    #[error(
        "the key {signer} is not one this log takes signed statements from; ask its operator to add the public key"
    )]
    UnknownKey {
        /// The key's id.
        signer: SignerId,
    },
}

/// Why the configured keys can't be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccessConfigError {
    /// The text isn't a public key.
    #[error("access.keys, block {} (\"{name}\"): {fault}", position + 1)]
    Key {
        /// Which block, counted from 0.
        position: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        fault: PublicKeyFault,
    },
    /// The same key stands there twice.
    #[error("access.keys, block {} (\"{name}\"): the same key stands in an earlier block", position + 1)]
    Repeated {
        /// Which block, counted from 0.
        position: usize,
        /// Its name.
        name: String,
    },
}

/// What is wrong with a public key's text.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PublicKeyFault {
    /// Neither 32 bytes in base64 nor a PEM block.
    #[error(
        "the key must be an Ed25519 public key: 32 bytes in padded base64, or an SPKI PEM block"
    )]
    Form,
    /// The bytes are not a key to trust.
    #[error("{0}")]
    Key(#[from] KeyError),
}

#[derive(Debug)]
struct Submitter {
    name: String,
    key: PublicKey,
    bucket: Bucket,
}

/// A rate and a burst; without a rate everything passes.
#[derive(Debug)]
pub(crate) struct Bucket(Option<DefaultDirectRateLimiter>);

impl Bucket {
    pub(crate) fn new(rate: u32, burst: u32) -> Self {
        let Some(rate) = NonZeroU32::new(rate) else { return Self(None) };
        let one_batch = u32::try_from(MAX_BATCH).unwrap_or(u32::MAX);
        let burst = NonZeroU32::new(burst)
            .or_else(|| NonZeroU32::new(rate.get().max(one_batch)))
            .unwrap_or(rate);
        Self(Some(DefaultDirectRateLimiter::direct(Quota::per_second(rate).allow_burst(burst))))
    }

    pub(crate) fn take(&self, count: u32) -> Result<(), Reason> {
        let (Some(limiter), Some(count)) = (&self.0, NonZeroU32::new(count)) else { return Ok(()) };
        match limiter.check_n(count) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(not_yet)) => Err(Reason::RateLimited {
                wait: not_yet.wait_time_from(DefaultClock::default().now()),
            }),
            Err(capacity) => Err(Reason::OverBurst { count: count.get(), burst: capacity.0 }),
        }
    }
}

/// Reads an Ed25519 public key: 32 bytes in base64, or RFC 8410 SPKI in PEM.
fn read_key(text: &str) -> Result<PublicKey, PublicKeyFault> {
    let text = text.trim();
    let Some(body) = text.strip_prefix(PEM_HEAD) else {
        let bytes = encoding::base64_decode_array(text).map_err(|_| PublicKeyFault::Form)?;
        return Ok(PublicKey::from_bytes(&bytes)?);
    };
    let body = body.strip_suffix(PEM_TAIL).ok_or(PublicKeyFault::Form)?;
    let joined: String = body.split_ascii_whitespace().collect();
    let der = encoding::base64_decode(&joined).map_err(|_| PublicKeyFault::Form)?;
    let bytes = der.strip_prefix(&SPKI_HEAD).and_then(|rest| <&[u8; 32]>::try_from(rest).ok());
    Ok(PublicKey::from_bytes(bytes.ok_or(PublicKeyFault::Form)?)?)
}

const PEM_HEAD: &str = "-----BEGIN PUBLIC KEY-----";
const PEM_TAIL: &str = "-----END PUBLIC KEY-----";

/// RFC 8410 section 4: everything of the DER before the 32 bytes of the key; it is always the same.
const SPKI_HEAD: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use anchorlog_proto::Digest;
    use anchorlog_proto::signed_object::SigningKey;
    use anchorlog_proto::statement::{Statement, StatementKind};

    use super::*;
    use crate::config::SubmitterConfig;

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_seed(&[seed; 32])
    }

    fn statement(number: u64) -> Statement {
        Statement {
            kind: StatementKind::Digest,
            digest: Digest::of(&number.to_be_bytes()),
            trail: None,
            sequence: None,
        }
    }

    fn unsigned(number: u64) -> LogEntry {
        LogEntry::unsigned(statement(number)).unwrap()
    }

    fn signed(number: u64, seed: u8) -> LogEntry {
        LogEntry::signed(statement(number), &key(seed)).unwrap()
    }

    fn submitter(seed: u8, rate: u32, burst: u32) -> SubmitterConfig {
        let key = key(seed).public_key().to_base64();
        SubmitterConfig { name: format!("key {seed}"), key, rate, burst }
    }

    fn access(mode: AccessMode, keys: Vec<SubmitterConfig>) -> Access {
        Access::new(&AccessConfig { mode, keys, ..AccessConfig::default() }).unwrap()
    }

    fn reason(access: &Access, entries: &[LogEntry]) -> Reason {
        access.admit(entries).unwrap_err().reason
    }

    #[test]
    fn an_open_log_takes_unsigned_statements_and_known_signatures() {
        let access = access(AccessMode::Open, vec![submitter(1, 0, 0)]);
        access.admit(&[unsigned(1), signed(2, 1)]).unwrap();
        assert_eq!(reason(&access, &[signed(3, 2)]), Reason::UnknownKey { signer: key(2).id() });
    }

    #[test]
    fn a_keyed_log_takes_known_signatures_only() {
        let access = access(AccessMode::Keys, vec![submitter(1, 0, 0), submitter(2, 0, 0)]);
        access.admit(&[signed(1, 1), signed(2, 2)]).unwrap();
        assert_eq!(reason(&access, &[unsigned(1)]), Reason::SignatureRequired);
        let refusal = access.admit(&[signed(1, 1), unsigned(2)]).unwrap_err();
        assert_eq!(refusal.position, Some(1));
        assert!(matches!(reason(&access, &[signed(1, 3)]), Reason::UnknownKey { .. }));
    }

    #[test]
    fn a_signature_by_another_key_is_refused() {
        let access = access(AccessMode::Open, vec![submitter(1, 0, 0)]);
        let text = String::from_utf8(signed(1, 1).leaf_bytes().to_vec()).unwrap();
        let other = Digest::of(&1_u64.to_be_bytes()).to_string();
        let forged = text.replace(&other, &Digest::of(b"something else").to_string());
        let forged = LogEntry::read(forged.as_bytes()).unwrap();
        assert!(matches!(reason(&access, &[forged]), Reason::BadSignature { .. }));
    }

    #[test]
    fn every_key_has_its_own_rate() {
        let access = access(AccessMode::Open, vec![submitter(1, 1, 2), submitter(2, 1, 2)]);
        access.admit(&[signed(1, 1)]).unwrap();
        access.admit(&[signed(2, 1)]).unwrap();
        let Reason::RateLimited { wait } = reason(&access, &[signed(3, 1)]) else {
            unreachable!("the burst of two is used up")
        };
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(1), "{wait:?}");
        access.admit(&[signed(3, 2)]).unwrap();
        access.admit(&[unsigned(1), unsigned(2), unsigned(3), unsigned(4)]).unwrap();
        assert_eq!(
            reason(&access, &[signed(4, 2), signed(5, 2), signed(6, 2)]),
            Reason::OverBurst { count: 3, burst: 2 }
        );
    }

    #[test]
    fn a_bad_signature_uses_up_nothing() {
        let access = access(AccessMode::Keys, vec![submitter(1, 1, 1)]);
        let text = String::from_utf8(signed(1, 1).leaf_bytes().to_vec()).unwrap();
        let digest = Digest::of(&1_u64.to_be_bytes()).to_string();
        let forged = text.replace(&digest, &Digest::of(b"x").to_string());
        for _ in 0..3 {
            let forged = LogEntry::read(forged.as_bytes()).unwrap();
            assert!(matches!(reason(&access, &[forged]), Reason::BadSignature { .. }));
        }
        access.admit(&[signed(1, 1)]).unwrap();
    }

    #[test]
    fn unsigned_statements_share_one_rate() {
        let config = AccessConfig { open_rate: 10, ..AccessConfig::default() };
        let access = Access::new(&config).unwrap();
        let full: Vec<_> = (0..1000).map(unsigned).collect();
        access.admit(&full).unwrap();
        assert!(matches!(reason(&access, &full), Reason::RateLimited { .. }));
    }

    #[test]
    fn keys_are_read_in_both_forms() {
        let base64 = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
        let pem = "-----BEGIN PUBLIC KEY-----\n\
            MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
            -----END PUBLIC KEY-----\n";
        assert_eq!(read_key(base64).unwrap(), read_key(pem).unwrap());
        for wrong in [
            "",
            "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE",
            "AAAA",
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2Vw",
            "MCowBQYDK2VuAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=",
        ] {
            assert_eq!(read_key(wrong), Err(PublicKeyFault::Form), "{wrong}");
        }
        let identity = format!("AQ{}=", "A".repeat(41));
        assert!(matches!(read_key(&identity), Err(PublicKeyFault::Key(_))));
    }

    #[test]
    fn a_key_given_twice_or_wrongly_is_named() {
        let twice = AccessConfig {
            keys: vec![submitter(1, 0, 0), submitter(2, 0, 0), submitter(1, 5, 5)],
            ..AccessConfig::default()
        };
        let error = Access::new(&twice).unwrap_err();
        assert!(error.to_string().contains("block 3"), "{error}");
        let mut wrong = submitter(1, 0, 0);
        wrong.key = "nonsense".to_owned();
        let wrong = AccessConfig { keys: vec![wrong], ..AccessConfig::default() };
        let error = Access::new(&wrong).unwrap_err();
        assert!(error.to_string().contains("key 1"), "{error}");
    }
}
