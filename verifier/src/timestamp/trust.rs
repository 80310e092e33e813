//! What a token is judged by: whom the caller trusts, what was asked for, and the rules.

use anchorlog_proto::timestamp::{GenTime, Imprint, Nonce, ObjectIdentifier, TimestampRequest};

use super::certificate::Certificate;
use super::path::Root;
use super::revocation::{Evidence, RevocationRules};
use super::signature::Sha1;
use super::signer_profile::NoncriticalEku;

/// One authority that the caller trusts: who runs it, its roots, and within which bounds they count.
///
/// It is one unit and stays one: a token holds under an entry if it holds under the roots, the
/// window, the policies and the accuracy of that same entry. What one entry allows never helps a
/// token of another.
#[derive(Clone, Debug)]
pub struct TrustEntry {
    operator: String,
    roots: Vec<Root>,
    start: Option<GenTime>,
    end: Option<GenTime>,
    policies: Vec<ObjectIdentifier>,
    accuracy_s: Option<u32>,
}

impl TrustEntry {
    /// An entry with these roots, for every time, policy and accuracy.
    #[must_use]
    pub fn new(operator: impl Into<String>, roots: Vec<Certificate>) -> Self {
        let roots = roots.into_iter().map(Root::new).collect();
        let operator = operator.into();
        Self { operator, roots, start: None, end: None, policies: Vec::new(), accuracy_s: None }
    }

    /// The same, for times from `start` to `end`, both included; `None` is no bound.
    #[must_use]
    pub fn within(mut self, start: Option<GenTime>, end: Option<GenTime>) -> Self {
        (self.start, self.end) = (start, end);
        self
    }

    /// The same, for tokens made under one of these policies; none at all is every policy.
    #[must_use]
    pub fn under_policies(mut self, policies: Vec<ObjectIdentifier>) -> Self {
        self.policies = policies;
        self
    }

    /// The same, for tokens that state an accuracy of this many seconds or better.
    #[must_use]
    pub const fn with_accuracy_s(mut self, seconds: u32) -> Self {
        self.accuracy_s = Some(seconds);
        self
    }

    /// Who runs the authority. Entries with one operator are one authority to a quorum.
    #[must_use]
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// Its roots.
    #[must_use]
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Whether the window includes this instant.
    pub(super) fn includes(&self, time: GenTime) -> bool {
        self.start.is_none_or(|start| start <= time) && self.end.is_none_or(|end| time <= end)
    }

    pub(super) fn accepts_policy(&self, policy: &ObjectIdentifier) -> bool {
        self.policies.is_empty() || self.policies.contains(policy)
    }

    pub(super) const fn accuracy_s(&self) -> Option<u32> {
        self.accuracy_s
    }
}

/// What a token has to say.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Expected {
    /// What it has to be over: algorithm and digest.
    pub imprint: Imprint,
    /// The nonce it has to repeat, if the request had one.
    pub nonce: Option<Nonce>,
    /// The policy it has to be made under, if the request named one.
    pub policy: Option<ObjectIdentifier>,
}

impl Expected {
    /// A token over this, whatever nonce and policy.
    #[must_use]
    pub const fn over(imprint: Imprint) -> Self {
        Self { imprint, nonce: None, policy: None }
    }

    /// A token that says what `request` asks for.
    #[must_use]
    pub fn answering(request: &TimestampRequest) -> Self {
        let TimestampRequest { imprint, nonce, policy, .. } = request.clone();
        Self { imprint, nonce, policy }
    }
}

/// What the caller has beside the token. None of it is trusted.
#[derive(Clone, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in, with `..Default::default()`")]
pub struct Supplied {
    /// Certificates: a signer's that the token leaves out, and intermediate ones.
    pub certificates: Vec<Certificate>,
    /// CRLs and OCSP responses.
    pub revocation: Evidence,
}

/// What is allowed beyond RFC 3161's letter or today's floor; nothing by default.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in, with `..Default::default()`")]
pub struct Allow {
    /// SHA-1 in imprint, digest, signatures and `ESSCertIDv2`: for tokens from before it was broken.
    pub sha1: bool,
    /// BER around what is signed.
    pub ber: bool,
    /// A signer whose extended key usage isn't marked critical.
    pub noncritical_eku: bool,
}

impl Allow {
    /// The same as the rule of signatures.
    #[must_use]
    pub const fn sha1(self) -> Sha1 {
        if self.sha1 { Sha1::Allowed } else { Sha1::Refused }
    }

    pub(super) const fn eku(self) -> NoncriticalEku {
        if self.noncritical_eku { NoncriticalEku::Allowed } else { NoncriticalEku::Refused }
    }
}

/// The rules of one evaluation.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in, with `..Rules::default()`")]
pub struct Rules {
    /// The time of evaluation; there is no clock here. Without one, a genTime that lies ahead can't
    /// be seen, and the result has a note of it.
    pub at: Option<GenTime>,
    /// Seconds by which genTime may lie ahead of the time of evaluation.
    pub skew_s: u32,
    /// What is allowed beyond the rules.
    pub allow: Allow,
    /// What to make of CRLs and OCSP responses. Whether SHA-1 counts in them is `allow`'s to say.
    pub revocation: RevocationRules,
    /// Roots that the caller trusts for something else: a token of theirs is told apart from one of
    /// nobody known.
    pub other_roots: Vec<Root>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            at: None,
            skew_s: DEFAULT_SKEW_S,
            allow: Allow::default(),
            revocation: RevocationRules::default(),
            other_roots: Vec::new(),
        }
    }
}

impl Rules {
    /// The default rules at this time of evaluation.
    #[must_use]
    pub fn at(time: GenTime) -> Self {
        Self { at: Some(time), ..Self::default() }
    }

    /// The latest time that a clock may show at the time of evaluation.
    pub(super) fn latest(&self) -> Option<GenTime> {
        self.at.map(|at| at.shifted(i64::from(self.skew_s) * 1_000_000))
    }
}

/// Seconds by which genTime may lie ahead of the time of evaluation, unless told otherwise.
pub const DEFAULT_SKEW_S: u32 = 300;
