//! The trust policy Π with what it names: roots, logs and the rules they are used by.
//!
//! What it is: [`PolicyContext::load`] reads a policy and finds its roots and its log policy text in the
//! trust directory. Everything that is missing or can't be read makes less count, never more.
//! [`judge`] holds the finished record against the members of the policy that are about the record
//! itself. What it isn't: the judgement of anchors and attestations; those have modules of their own.

mod facts;
#[cfg(test)]
mod tests;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::names::ObservationLayer;
use anchorlog_proto::gad::policy::{Policy, ReplayPolicy, TsaEntry, TsaRevocation, policy_hash};
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{self, ReadLimits};
use anchorlog_proto::timestamp::GenTime;
use anchorlog_proto::tlog_policy::TlogPolicy;

use crate::codes::gad::Affect;
use crate::codes::gad::trust_policy::{HASH, NO_ROOTS, PARSE, REPLAY_UNSUPPORTED, UNNAMED};
use crate::finding::Finding;
use crate::timestamp::path::Root;
use crate::timestamp::revocation::{
    Evidence, RevocationMode, RevocationRules, RevocationScope, UnexplainedRevocation,
};
use crate::timestamp::{Certificate, Rules, Supplied, TrustEntry};

use super::finding::{Findings, GadFinding, Where};
use super::trust::TrustMaterial;

pub use facts::{PolicyFacts, judge};

/// The member name of the policy in findings.
pub const POLICY_INPUT: &str = "<policy>";
/// The member name of the log policy text in findings.
pub const LOG_POLICY_INPUT: &str = "<log policy>";

/// What the caller says about the policy.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct PolicyInput<'a> {
    /// The policy's bytes; `None`: none was given.
    pub bytes: Option<&'a [u8]>,
    /// The hash the policy has to have, if the caller knows it from elsewhere.
    pub expected_hash: Option<Digest>,
    /// Whether the caller asks for DEFENSIBLE, or for the level that includes it.
    pub defensible_asked: bool,
    /// Whether there is a runner for replays.
    pub replay_runner: bool,
    /// The time of evaluation, in seconds since 1970.
    pub at: i64,
    /// The limits in force.
    pub limits: Limits,
}

/// A policy, and what of the trust directory it makes count.
#[derive(Clone, Debug)]
pub struct PolicyContext {
    policy: Policy,
    hash: Digest,
    given: bool,
    readable: bool,
    sound: bool,
    at: i64,
    limits: Limits,
    tsa: Vec<TrustEntry>,
    supplied: Supplied,
    rules: Rules,
    logs: Option<TlogPolicy>,
    missing: Vec<Digest>,
}

impl PolicyContext {
    /// Reads a policy and finds what it names.
    ///
    /// - No policy, and DEFENSIBLE is asked for: `POL.UNNAMED`. The context is then that of
    ///   `gad.policy.none/1`, as it is when nothing is asked for.
    /// - Bytes that are no policy in canonical form: `POL.PARSE`. The context is that of
    ///   `gad.policy.none/1`, and nothing is defensible under it.
    /// - Another hash than the caller expects: `POL.HASH`.
    /// - Replay is asked for and there is no runner: `POL.REPLAY_UNSUPPORTED`.
    /// - Anchors are required, and no root and no log of the policy is at hand: `POL.NO_ROOTS`.
    /// - A log policy text that can't be read is not used: its own code, `LOG.WITNESS_DUP` among them.
    #[must_use]
    pub fn load(input: &PolicyInput<'_>, trust: &TrustMaterial, findings: &mut Findings) -> Self {
        let mut found = Findings::new();
        let mut context = Self::read(input, trust, &mut found);
        context.sound = !found.affects(Affect::Defensible);
        findings.append(found);
        context
    }

    fn read(input: &PolicyInput<'_>, trust: &TrustMaterial, findings: &mut Findings) -> Self {
        let read = match input.bytes {
            None => {
                if input.defensible_asked {
                    findings.push(
                        GadFinding::new(UNNAMED, Where::member(POLICY_INPUT))
                            .expected("a policy")
                            .actual("none was given"),
                    );
                }
                None
            }
            Some(bytes) => match read_policy(bytes, &input.limits) {
                Ok(policy) => Some((policy, policy_hash(bytes))),
                Err(list) => {
                    for finding in list {
                        findings.push(finding);
                    }
                    None
                }
            },
        };
        let given = input.bytes.is_some();
        let readable = read.is_some() || !given;
        let (policy, hash) = read.unwrap_or_else(|| {
            let none = Policy::none();
            let hash = none.hash();
            (none, hash)
        });
        if let Some(expected) = input.expected_hash.filter(|expected| readable && *expected != hash)
        {
            findings.push(
                GadFinding::new(HASH, Where::member(POLICY_INPUT)).expected(expected).actual(hash),
            );
        }
        if policy.replay != ReplayPolicy::None && !input.replay_runner {
            let place = Where::member(POLICY_INPUT).at("/replay");
            findings.push(
                GadFinding::new(REPLAY_UNSUPPORTED, place)
                    .expected("a replay runner")
                    .actual("none was given"),
            );
        }
        let mut context = Self::equip(policy, input.at, trust, findings);
        (context.hash, context.given, context.readable) = (hash, given, readable);
        context.limits = input.limits;
        context
    }

    /// Finds what a policy names.
    fn equip(policy: Policy, at: i64, trust: &TrustMaterial, findings: &mut Findings) -> Self {
        let mut missing = Vec::new();
        let tsa = policy.tsa.iter().filter_map(|entry| trust_entry(entry, trust, &mut missing));
        let tsa: Vec<_> = tsa.collect();
        let mut other_roots = Vec::new();
        for digest in policy.credential_authorities.iter().flat_map(|authority| &authority.roots) {
            match trust.certificate(digest) {
                Some(certificate) => other_roots.push(Root::new(certificate.clone())),
                None => missing.push(*digest),
            }
        }
        let logs = policy.logs.and_then(|digest| {
            let Some(text) = trust.text(&digest) else {
                missing.push(digest);
                return None;
            };
            let read = TlogPolicy::parse(text);
            if let Err(error) = &read {
                let refusal = Finding::of_format(error.code(), error);
                findings.push(
                    GadFinding::new(refusal.code, Where::member(LOG_POLICY_INPUT))
                        .affecting(&[Affect::Defensible])
                        .actual(refusal.detail),
                );
            }
            read.ok()
        });
        missing.sort_unstable();
        missing.dedup();
        if !policy.required_anchors.is_empty() && tsa.is_empty() && logs.is_none() {
            let absent: Vec<_> = missing.iter().map(ToString::to_string).collect();
            let absent =
                if absent.is_empty() { "none named".to_owned() } else { absent.join(", ") };
            findings.push(
                GadFinding::new(NO_ROOTS, Where::member(POLICY_INPUT))
                    .expected("a root of an authority, or a log policy text, that the policy names")
                    .actual(format_args!("not in the trust directory: {absent}")),
            );
        }
        let supplied = Supplied {
            certificates: trust.certificates().cloned().collect(),
            revocation: Evidence { crls: trust.crls().cloned().collect(), ocsp: Vec::new() },
        };
        let rules = rules(&policy, at, other_roots);
        let hash = policy.hash();
        let (given, readable, sound, limits) = (false, true, true, Limits::DEFAULT);
        Self {
            policy,
            hash,
            given,
            readable,
            sound,
            at,
            limits,
            tsa,
            supplied,
            rules,
            logs,
            missing,
        }
    }

    /// The policy: the one that was given, or `gad.policy.none/1`.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Its hash.
    #[must_use]
    pub const fn hash(&self) -> Digest {
        self.hash
    }

    /// Whether one was given, be it readable or not: DEFENSIBLE is then answered.
    #[must_use]
    pub const fn given(&self) -> bool {
        self.given
    }

    /// Whether what was given is a policy. True where none was given.
    #[must_use]
    pub const fn readable(&self) -> bool {
        self.readable
    }

    /// Whether nothing that was found in loading it fails DEFENSIBLE.
    #[must_use]
    pub const fn sound(&self) -> bool {
        self.sound
    }

    /// The time of evaluation, in seconds since 1970.
    #[must_use]
    pub const fn at(&self) -> i64 {
        self.at
    }

    /// The limits in force.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The time-stamping authorities, as far as their roots are at hand.
    #[must_use]
    pub fn tsa(&self) -> &[TrustEntry] {
        &self.tsa
    }

    /// What helps with tokens: certificates that aren't trusted, CRLs.
    #[must_use]
    pub const fn supplied(&self) -> &Supplied {
        &self.supplied
    }

    /// The rules for tokens.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The logs and their witnesses, if the policy has any and their text is at hand and readable.
    #[must_use]
    pub const fn logs(&self) -> Option<&TlogPolicy> {
        self.logs.as_ref()
    }

    /// What the policy names and the trust directory doesn't hold, ascending.
    #[must_use]
    pub fn missing(&self) -> &[Digest] {
        &self.missing
    }

    /// The layers that have to be replayed where a record has any evidence whose replay is asked for.
    #[must_use]
    pub fn replay_layers(&self) -> &'static [ObservationLayer] {
        match self.policy.replay {
            ReplayPolicy::None => &[],
            _ => &[ObservationLayer::IndependentlyReplayable],
        }
    }
}

/// Reads a policy file: canonical JSON of `gad.policy/1`, nothing else.
fn read_policy(bytes: &[u8], limits: &Limits) -> Result<Policy, Vec<GadFinding>> {
    let depth = usize::try_from(limits.depth).unwrap_or(usize::MAX);
    let form = ReadLimits::DEFAULT.with_depth(depth);
    let refused = |pointer: &str, actual: &str| {
        let place = Where::member(POLICY_INPUT).at(pointer);
        GadFinding::new(PARSE, place).expected("gad.policy/1 in canonical form").actual(actual)
    };
    let value = json::parse_canonical(bytes, &form)
        .map_err(|error| vec![refused(&error.pointer, &error.to_string())])?;
    let mut defects = Defects::new();
    let policy = Policy::read(&value, &mut defects);
    match policy {
        Some(policy) if defects.is_empty() => Ok(policy),
        _ if defects.is_empty() => Err(vec![refused("", "not a policy")]),
        _ => {
            let list = defects.list().iter();
            Err(list.map(|defect| refused(&defect.pointer, defect.code.as_str())).collect())
        }
    }
}

/// An authority with those of its roots that are at hand; `None` without any.
fn trust_entry(
    entry: &TsaEntry,
    trust: &TrustMaterial,
    missing: &mut Vec<Digest>,
) -> Option<TrustEntry> {
    let mut roots: Vec<Certificate> = Vec::new();
    for digest in &entry.roots {
        match trust.certificate(digest) {
            Some(certificate) => roots.push(certificate.clone()),
            None => missing.push(*digest),
        }
    }
    if roots.is_empty() {
        return None;
    }
    let made = TrustEntry::new(&*entry.operator, roots)
        .within(Some(GenTime::from_unix(entry.start)), entry.end.map(GenTime::from_unix))
        .under_policies(entry.policies.clone());
    Some(match entry.require_accuracy_s {
        Some(seconds) => made.with_accuracy_s(seconds),
        None => made,
    })
}

/// The rules for tokens: the letter of RFC 3161, revocation of the signer by CRL, and dates decide.
fn rules(policy: &Policy, at: i64, other_roots: Vec<Root>) -> Rules {
    let mode = match policy.tsa_revocation {
        TsaRevocation::None => RevocationMode::None,
        TsaRevocation::Supplied => RevocationMode::Supplied,
        TsaRevocation::Required => RevocationMode::Required,
    };
    Rules {
        skew_s: policy.skew_s,
        revocation: RevocationRules {
            mode,
            scope: RevocationScope::Signer,
            unexplained: UnexplainedRevocation::ByDate,
            ..RevocationRules::default()
        },
        other_roots,
        ..Rules::at(GenTime::from_unix(at))
    }
}
