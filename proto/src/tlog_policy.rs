//! C2SP policies: which logs to believe, and how many witnesses must have seen the same tree.
//!
//! What it is: the whole language of [c2sp.org/tlog-policy] with limits, and its judgement of one
//! checkpoint. What it is not: it says nothing about what the log holds, needs no network, and judges no
//! time ([`PolicyVerdict::quorum_time`] reports it).
//!
//! ```text
//! # a comment
//! log <vkey> [<url>]
//! witness <name> <vkey> [<url>]
//! group <name> all|any|<k> <member>...
//! quorum <name>|none
//! ```
//!
//! A public key counts once: no two logs and no two witnesses have the same, and no name is a member of two
//! groups. So the members form a forest, and a witness reaches the quorum in one way only.
//!
//! A witness' key given as type 0x01, as some publish it, stands for the type 0x04 key of the same name and
//! public key; a signature line of type 0x01 never counts as a cosignature.
//!
//! [c2sp.org/tlog-policy]: https://c2sp.org/tlog-policy

mod error;
mod parse;

use core::fmt;

pub use error::{PolicyError, PolicyLineError};

use crate::checkpoint::{Origin, SignedCheckpoint, VerifiedCheckpoint};
use crate::note::{NoteError, VerifiedSignature, VerifierKey};

/// The longest policy, in bytes.
pub const MAX_POLICY_BYTES: usize = 256 << 10;

/// The largest number of logs. C2SP recommends to support 32.
pub const MAX_LOGS: usize = 256;

/// The largest number of witnesses. C2SP recommends to support 32.
pub const MAX_WITNESSES: usize = 256;

/// The largest number of groups. C2SP recommends to support 32.
pub const MAX_GROUPS: usize = 256;

/// The longest name of a witness or a group, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// A policy that obeys every rule of the language.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlogPolicy {
    logs: Vec<PolicyLog>,
    witnesses: Vec<PolicyWitness>,
    groups: Vec<Group>,
    quorum: Quorum,
}

impl TlogPolicy {
    /// Reads a policy.
    pub fn parse(text: &[u8]) -> Result<Self, PolicyError> {
        parse::parse(text)
    }

    /// The logs, in the order of the text.
    #[must_use]
    pub fn logs(&self) -> &[PolicyLog] {
        &self.logs
    }

    /// The witnesses, in the order of the text.
    #[must_use]
    pub fn witnesses(&self) -> &[PolicyWitness] {
        &self.witnesses
    }

    /// The groups, in the order of the text: members always come before the groups they are in.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// What is demanded of the witnesses.
    #[must_use]
    pub const fn quorum(&self) -> Quorum {
        self.quorum
    }

    /// Judges a checkpoint; that the quorum is not met is part of the verdict and no error.
    ///
    /// An error is: no log of this origin, no valid signature of it, or a line of a known log or witness
    /// that fails.
    pub fn check(&self, signed: &SignedCheckpoint) -> Result<PolicyVerdict, PolicyError> {
        let (checkpoint, logs) = self.check_log(signed)?;
        let witnesses = self.check_witnesses(signed)?;
        let quorum = self.quorum_outcome(&witnesses);
        Ok(PolicyVerdict { checkpoint, logs, witnesses, quorum })
    }

    /// Judges a checkpoint and demands that the quorum is met.
    pub fn verify(&self, signed: &SignedCheckpoint) -> Result<VerifiedByPolicy, PolicyError> {
        self.check(signed)?.require_quorum()
    }

    /// Whether the witnesses for which `has_cosigned` holds, by their position in
    /// [`TlogPolicy::witnesses`], are enough. Always, where none are demanded.
    ///
    /// For whoever has verified cosignatures before and only counts them; a checkpoint is judged by
    /// [`TlogPolicy::check`].
    pub fn is_quorum(&self, has_cosigned: impl Fn(usize) -> bool) -> bool {
        let Quorum::Of(quorum) = self.quorum else { return true };
        // Members are defined before their groups.
        let mut groups: Vec<bool> = Vec::with_capacity(self.groups.len());
        let has = |groups: &[bool], member| match member {
            Member::Witness(index) => has_cosigned(index),
            Member::Group(index) => groups.get(index).copied().unwrap_or_default(),
        };
        for group in &self.groups {
            let members = group.members.iter().filter(|&&member| has(&groups, member)).count();
            groups.push(members >= group.threshold);
        }
        has(&groups, quorum)
    }

    fn check_log(
        &self,
        signed: &SignedCheckpoint,
    ) -> Result<(VerifiedCheckpoint, Vec<VerifierKey>), PolicyError> {
        let origin = &signed.checkpoint().origin;
        let refuse = |source| PolicyError::LogSignature { origin: origin.clone(), source };
        // The name of a log's key is its origin: a key speaks for no other log.
        let keys: Vec<VerifierKey> = self
            .logs
            .iter()
            .filter(|log| log.origin() == *origin)
            .map(|log| log.key.clone())
            .collect();
        if keys.is_empty() {
            return Err(PolicyError::UnknownLog { origin: origin.clone() });
        }
        let note = signed.note().verify(&keys).map_err(refuse)?;
        let keys: Vec<VerifierKey> =
            keys.into_iter().filter(|key| note.is_signed_by(key)).collect();
        let unsigned = || refuse(NoteError::UnknownKeys { near: None });
        let first = keys.first().ok_or_else(unsigned)?;
        let checkpoint = VerifiedCheckpoint::of_verified_note(signed, &note, first);
        Ok((checkpoint.ok_or_else(unsigned)?, keys))
    }

    fn check_witnesses(
        &self,
        signed: &SignedCheckpoint,
    ) -> Result<Vec<WitnessCosignature>, PolicyError> {
        let keys: Vec<VerifierKey> =
            self.witnesses.iter().map(|witness| witness.key.clone()).collect();
        let note = match signed.note().verify(&keys) {
            Ok(note) => note,
            Err(NoteError::UnknownKeys { .. }) => return Ok(Vec::new()),
            Err(source) => return Err(PolicyError::WitnessSignature { source }),
        };
        let cosignature = |(index, witness): (usize, &PolicyWitness)| {
            let lines = note.signatures().iter().filter(|line| line.key() == &witness.key);
            // Several lines of one witness are all true; it had cosigned by the earliest.
            let unix_seconds = lines.filter_map(VerifiedSignature::unix_seconds).min()?;
            Some(WitnessCosignature { index, witness: witness.clone(), unix_seconds })
        };
        Ok(self.witnesses.iter().enumerate().filter_map(cosignature).collect())
    }

    /// When each witness and each group had cosigned, from the leaves up: a group of threshold k had when
    /// the k-th of its members had. No recursion: members are defined before their groups.
    fn quorum_outcome(&self, cosignatures: &[WitnessCosignature]) -> QuorumOutcome {
        let Quorum::Of(quorum) = self.quorum else { return QuorumOutcome::NotRequired };
        let witness_time =
            |index| cosignatures.iter().find(|c| c.index == index).map(|c| c.unix_seconds);
        let mut group_times: Vec<Option<u64>> = Vec::with_capacity(self.groups.len());
        let time = |group_times: &[Option<u64>], member| match member {
            Member::Witness(index) => witness_time(index),
            Member::Group(index) => group_times.get(index).copied().flatten(),
        };
        for group in &self.groups {
            let mut times: Vec<u64> =
                group.members.iter().filter_map(|&member| time(&group_times, member)).collect();
            times.sort_unstable();
            // A threshold is at least 1; the last of the first k is the k-th.
            group_times.push(group.threshold.checked_sub(1).and_then(|k| times.get(k)).copied());
        }
        match time(&group_times, quorum) {
            Some(unix_seconds) => QuorumOutcome::Met { unix_seconds },
            None => QuorumOutcome::NotMet,
        }
    }
}

/// A log of a policy.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PolicyLog {
    key: VerifierKey,
    url: Option<Box<[u8]>>,
}

impl PolicyLog {
    /// The log's key, of type 0x01; its name is the log's origin.
    #[must_use]
    pub const fn key(&self) -> &VerifierKey {
        &self.key
    }

    /// The log's origin: the name of its key.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin::from(self.key.name())
    }

    /// Where the log is, if the policy says so: opaque bytes, mostly a URL.
    #[must_use]
    pub fn url(&self) -> Option<&[u8]> {
        self.url.as_deref()
    }
}

/// A witness of a policy.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PolicyWitness {
    name: PolicyName,
    key: VerifierKey,
    url: Option<Box<[u8]>>,
}

impl PolicyWitness {
    /// The name within the policy, which need not be that of the key.
    #[must_use]
    pub const fn name(&self) -> &PolicyName {
        &self.name
    }

    /// The witness' key, of type 0x04 (or 0x06, in builds that know it).
    #[must_use]
    pub const fn key(&self) -> &VerifierKey {
        &self.key
    }

    /// Where the witness is, if the policy says so: opaque bytes, mostly a URL.
    #[must_use]
    pub fn url(&self) -> Option<&[u8]> {
        self.url.as_deref()
    }
}

/// A group: it has cosigned when at least `threshold` of its members have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Group {
    name: PolicyName,
    threshold: usize,
    members: Vec<Member>,
}

impl Group {
    /// The name within the policy.
    #[must_use]
    pub const fn name(&self) -> &PolicyName {
        &self.name
    }

    /// How many members must have cosigned: 1 to the number of members.
    #[must_use]
    pub const fn threshold(&self) -> usize {
        self.threshold
    }

    /// The members, one at least.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }
}

/// A witness or a group, by its position in [`TlogPolicy::witnesses`] or [`TlogPolicy::groups`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Member {
    /// A witness.
    Witness(usize),
    /// A group.
    Group(usize),
}

/// What a policy demands of the witnesses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Quorum {
    /// Nothing: `quorum none`.
    None,
    /// That this witness or group has cosigned.
    Of(Member),
}

/// The name of a witness or a group within a policy: bytes that are compared and never interpreted.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct PolicyName(Box<[u8]>);

impl PolicyName {
    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for PolicyName {
    /// For people; what is not printable ASCII is shown escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.escape_ascii().fmt(f)
    }
}

impl fmt::Debug for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicyName({self})")
    }
}

/// What a policy says about a checkpoint whose log has signed it and in which no known key's line failed.
///
/// The quorum may be missed: ask, or go through [`PolicyVerdict::require_quorum`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct PolicyVerdict {
    checkpoint: VerifiedCheckpoint,
    logs: Vec<VerifierKey>,
    witnesses: Vec<WitnessCosignature>,
    quorum: QuorumOutcome,
}

impl PolicyVerdict {
    /// The checkpoint, verified under the first of [`PolicyVerdict::log_keys`].
    #[must_use]
    pub const fn checkpoint(&self) -> &VerifiedCheckpoint {
        &self.checkpoint
    }

    /// The keys of the log that signed, in the order of the policy: one, unless its key is being changed.
    #[must_use]
    pub fn log_keys(&self) -> &[VerifierKey] {
        &self.logs
    }

    /// The witnesses of the policy that cosigned, each once, in the order of the policy.
    #[must_use]
    pub fn witnesses(&self) -> &[WitnessCosignature] {
        &self.witnesses
    }

    /// Whether the quorum is met.
    #[must_use]
    pub const fn quorum(&self) -> QuorumOutcome {
        self.quorum
    }

    /// The earliest time by which the quorum had cosigned, in seconds since 1970: none when the quorum is
    /// not met, and none when the policy demands no witnesses, because then nobody stated a time.
    #[must_use]
    pub const fn quorum_time(&self) -> Option<u64> {
        match self.quorum {
            QuorumOutcome::Met { unix_seconds } => Some(unix_seconds),
            QuorumOutcome::NotRequired | QuorumOutcome::NotMet => None,
        }
    }

    /// The verdict as a marker that the quorum is met, or [`PolicyError::QuorumNotMet`].
    pub fn require_quorum(self) -> Result<VerifiedByPolicy, PolicyError> {
        match self.quorum {
            QuorumOutcome::NotRequired | QuorumOutcome::Met { .. } => Ok(VerifiedByPolicy(self)),
            QuorumOutcome::NotMet => {
                Err(PolicyError::QuorumNotMet { cosigned: self.witnesses.len() })
            }
        }
    }
}

/// How the quorum of a policy fared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QuorumOutcome {
    /// The policy demands none.
    NotRequired,
    /// It is met.
    Met {
        /// The earliest time by which it was, in seconds since 1970.
        unix_seconds: u64,
    },
    /// It is not met.
    NotMet,
}

/// A witness of the policy whose cosignature verified.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WitnessCosignature {
    index: usize,
    witness: PolicyWitness,
    unix_seconds: u64,
}

impl WitnessCosignature {
    /// The witness.
    #[must_use]
    pub const fn witness(&self) -> &PolicyWitness {
        &self.witness
    }

    /// The time it states, in seconds since 1970; the earliest if it cosigned several times.
    #[must_use]
    pub const fn unix_seconds(&self) -> u64 {
        self.unix_seconds
    }
}

/// A checkpoint that satisfies a policy wholly. Comes into being by verification and in no other way.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifiedByPolicy(PolicyVerdict);

impl VerifiedByPolicy {
    /// Everything the policy says about it.
    pub const fn verdict(&self) -> &PolicyVerdict {
        &self.0
    }

    /// The checkpoint.
    #[must_use]
    pub const fn checkpoint(&self) -> &VerifiedCheckpoint {
        self.0.checkpoint()
    }
}

#[cfg(test)]
mod tests;
