//! The keys of a log: those it signs with, and those it signed with before.
//!
//! A log has one name and, most of the time, one key. While it changes its key it has two, and every
//! checkpoint carries a line by each, the primary's first: whoever knows either can verify it. The *primary*
//! key's line is the one that time stamps cover. A *retired* key signs nothing any more; it is kept, its
//! public half alone, because what it has signed is still on disk and is still held against the log.

use std::sync::Arc;

use anchorlog_proto::checkpoint::{Checkpoint, CheckpointError, Origin, SignedCheckpoint};
use anchorlog_proto::note::{
    KeyName, NoteError, NoteSignature, NoteSigner, SignatureAlgorithm, VerifierKey,
};

/// Keys that a log may sign with beside its primary one. As many lines fit wherever a note is kept.
pub const MAX_ADDITIONAL_KEYS: usize = 7;

/// Keys that a log may have signed with before.
pub const MAX_RETIRED_KEYS: usize = 64;

/// The keys of one log, all of one name.
#[derive(Clone)]
pub struct LogKeys {
    /// Who signs; nobody in a log that signs nothing. Else as many as `current`, in the same order.
    signers: Arc<[NoteSigner]>,
    /// The keys it signs with, the primary one first. Never empty.
    current: Vec<VerifierKey>,
    /// The keys it has signed with.
    retired: Vec<VerifierKey>,
}

/// Why keys can't be those of one log.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LogKeysError {
    /// A key of a type that signs no checkpoints.
    #[error("{key} is no key of a log: it is not of type 0x01")]
    Algorithm {
        /// The key.
        key: Box<VerifierKey>,
    },
    /// A key of another name.
    #[error("{key} is named otherwise than the log, {name}")]
    Name {
        /// The key.
        key: Box<VerifierKey>,
        /// The log's name.
        name: KeyName,
    },
    /// A log without any key.
    #[error("a log has at least one key")]
    None,
    /// Two keys that a signature line couldn't tell apart, or one that stands there twice.
    #[error("the key {key} is given twice, or another one has its key ID")]
    Same {
        /// The key.
        key: Box<VerifierKey>,
    },
    /// More keys than are supported.
    #[error("more keys than {most}")]
    TooMany {
        /// The most there may be of that kind.
        most: usize,
    },
}

impl LogKeys {
    /// The keys of a log that signs with `primary`, then with each of `additional`, and has signed with
    /// `retired`.
    pub fn new(
        primary: NoteSigner,
        additional: Vec<NoteSigner>,
        retired: Vec<VerifierKey>,
    ) -> Result<Self, LogKeysError> {
        let mut signers = vec![primary];
        signers.extend(additional);
        let current = signers.iter().map(|signer| signer.verifier_key().clone()).collect();
        Self { signers: signers.into(), current, retired }.checked()
    }

    /// The keys of a log that signs nothing: their public halves.
    pub fn public(
        current: Vec<VerifierKey>,
        retired: Vec<VerifierKey>,
    ) -> Result<Self, LogKeysError> {
        Self { signers: Arc::new([]), current, retired }.checked()
    }

    /// Forgets the private halves: what has these keys signs nothing.
    #[must_use]
    pub fn without_signers(self) -> Self {
        Self { signers: Arc::new([]), ..self }
    }

    /// The log's name.
    #[must_use]
    pub fn origin(&self) -> Option<Origin> {
        self.primary().map(|key| Origin::from(key.name()))
    }

    /// The primary key.
    #[must_use]
    pub fn primary(&self) -> Option<&VerifierKey> {
        self.current.first()
    }

    /// The keys that the log signs with, the primary one first.
    #[must_use]
    pub fn current(&self) -> &[VerifierKey] {
        &self.current
    }

    /// The keys that it has signed with.
    #[must_use]
    pub fn retired(&self) -> &[VerifierKey] {
        &self.retired
    }

    /// All its keys: a checkpoint that is signed by any of them is the log's.
    #[must_use]
    pub fn known(&self) -> Vec<VerifierKey> {
        self.current.iter().chain(&self.retired).cloned().collect()
    }

    /// Whether it can sign.
    #[must_use]
    pub fn can_sign(&self) -> bool {
        !self.signers.is_empty()
    }

    /// Signs a checkpoint with every key, the primary's line first. The same checkpoint gets the same bytes
    /// each time.
    pub fn sign(&self, checkpoint: &Checkpoint) -> Result<SignedCheckpoint, CheckpointError> {
        let mut signers = self.signers.iter();
        let Some(primary) = signers.next() else {
            return Err(NoteError::NoSignatures.into());
        };
        let signed = SignedCheckpoint::sign(checkpoint, primary)?;
        signers.try_fold(signed, |signed, signer| {
            let line = signer.sign(signed.note().text());
            signed.with_signature(line)
        })
    }

    /// Adds the lines of the log's keys that a checkpoint of its own doesn't carry yet, after those it does.
    pub fn complete(&self, signed: SignedCheckpoint) -> Result<SignedCheckpoint, CheckpointError> {
        self.signers.iter().try_fold(signed, |signed, signer| {
            let key = signer.verifier_key();
            let has =
                |line: &NoteSignature| line.name() == key.name() && line.key_id() == key.key_id();
            if signed.note().signatures().iter().any(has) {
                return Ok(signed);
            }
            let line = signer.sign(signed.note().text());
            signed.with_signature(line)
        })
    }

    fn checked(self) -> Result<Self, LogKeysError> {
        let Some(primary) = self.current.first() else { return Err(LogKeysError::None) };
        if self.current.len() > 1 + MAX_ADDITIONAL_KEYS {
            return Err(LogKeysError::TooMany { most: 1 + MAX_ADDITIONAL_KEYS });
        }
        if self.retired.len() > MAX_RETIRED_KEYS {
            return Err(LogKeysError::TooMany { most: MAX_RETIRED_KEYS });
        }
        let known = self.known();
        for (position, key) in known.iter().enumerate() {
            if key.name() != primary.name() {
                let name = primary.name().clone();
                return Err(LogKeysError::Name { key: Box::new(key.clone()), name });
            }
            if key.algorithm() != SignatureAlgorithm::Ed25519 {
                return Err(LogKeysError::Algorithm { key: Box::new(key.clone()) });
            }
            if known.iter().take(position).any(|earlier| earlier.key_id() == key.key_id()) {
                return Err(LogKeysError::Same { key: Box::new(key.clone()) });
            }
        }
        Ok(self)
    }
}

impl From<NoteSigner> for LogKeys {
    /// The keys of a log that has one, and never had another.
    fn from(signer: NoteSigner) -> Self {
        let current = vec![signer.verifier_key().clone()];
        Self { signers: Arc::new([signer]), current, retired: Vec::new() }
    }
}

impl std::fmt::Debug for LogKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogKeys")
            .field("current", &self.current)
            .field("retired", &self.retired)
            .field("can_sign", &self.can_sign())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use anchorlog_proto::merkle::{TreeSize, empty_root};
    use anchorlog_proto::note::SignedNote;

    use super::*;

    fn signer(name: &str, seed: u8) -> NoteSigner {
        NoteSigner::from_seed(KeyName::new(name).unwrap(), [seed; 32])
    }

    fn vkey(seed: u8) -> VerifierKey {
        signer("log.example", seed).verifier_key().clone()
    }

    fn checkpoint() -> Checkpoint {
        Checkpoint::new("log.example".parse().unwrap(), TreeSize::ZERO, empty_root())
    }

    #[test]
    fn every_key_signs_the_primary_one_first() {
        let log = |seed| signer("log.example", seed);
        let keys = LogKeys::new(log(2), vec![log(1), log(3)], vec![vkey(9)]).unwrap();
        let signed = keys.sign(&checkpoint()).unwrap();
        let ids: Vec<_> = signed.note().signatures().iter().map(NoteSignature::key_id).collect();
        assert_eq!(ids, [2, 1, 3].map(|seed| vkey(seed).key_id()));
        for seed in [1, 2, 3] {
            signed.verify(&vkey(seed)).unwrap();
        }
        signed.verify(&vkey(9)).unwrap_err();
        assert_eq!(signed.verify_any(&keys.known()).unwrap().log_key(), &vkey(2));
        assert_eq!(keys.sign(&checkpoint()).unwrap(), signed);
        assert_eq!(keys.complete(signed.clone()).unwrap(), signed);
        // One that an older set has signed keeps its lines, in front.
        let old = LogKeys::from(log(9)).sign(&checkpoint()).unwrap();
        let completed = keys.complete(old).unwrap();
        let ids: Vec<_> = completed.note().signatures().iter().map(NoteSignature::key_id).collect();
        assert_eq!(ids, [9, 2, 1, 3].map(|seed| vkey(seed).key_id()));
        assert_eq!(completed.log_note_bytes(&vkey(2)), signed.log_note_bytes(&vkey(2)));
    }

    #[test]
    fn without_private_halves_nothing_is_signed() {
        let keys = LogKeys::from(signer("log.example", 1)).without_signers();
        assert_eq!(keys.primary(), Some(&vkey(1)));
        assert!(!keys.can_sign());
        keys.sign(&checkpoint()).unwrap_err();
        let public = LogKeys::public(vec![vkey(1)], Vec::new()).unwrap();
        let signed = LogKeys::from(signer("log.example", 2)).sign(&checkpoint()).unwrap();
        assert_eq!(public.complete(signed.clone()).unwrap(), signed);
    }

    #[test]
    fn keys_that_are_not_one_logs_are_refused() {
        let log = |seed| signer("log.example", seed);
        let refused = |additional: Vec<NoteSigner>, retired: Vec<VerifierKey>| {
            LogKeys::new(log(1), additional, retired).unwrap_err()
        };
        let other = signer("other.example", 2);
        assert!(matches!(refused(vec![other], vec![]), LogKeysError::Name { .. }));
        assert!(matches!(refused(vec![log(1)], vec![]), LogKeysError::Same { .. }));
        assert!(matches!(refused(vec![], vec![vkey(1)]), LogKeysError::Same { .. }));
        let cosigner = anchorlog_proto::cosignature::cosigner_from_note_key(&vkey(2));
        assert!(matches!(refused(vec![], vec![cosigner]), LogKeysError::Algorithm { .. }));
        assert!(matches!(
            refused((2..=9).map(log).collect(), vec![]),
            LogKeysError::TooMany { most: 8 }
        ));
        LogKeys::new(log(1), (2..=8).map(log).collect(), vec![]).unwrap();
        assert_eq!(LogKeys::public(vec![], vec![]).unwrap_err(), LogKeysError::None);
    }

    #[test]
    fn the_longest_name_and_all_lines_fit_where_notes_are_kept() {
        let name = "n".repeat(255);
        let all = (2..=8).map(|seed| signer(&name, seed)).collect();
        let keys = LogKeys::new(signer(&name, 1), all, vec![]).unwrap();
        let largest = TreeSize::MAX;
        let root = anchorlog_proto::Digest::from_bytes([1; 32]);
        let checkpoint = Checkpoint::new(name.parse().unwrap(), largest, root);
        let bytes = keys.sign(&checkpoint).unwrap().to_bytes();
        assert!(bytes.len() <= crate::checkpoints::MAX_NOTE_BYTES, "{}", bytes.len());
        SignedNote::parse(&bytes).unwrap();
    }
}
