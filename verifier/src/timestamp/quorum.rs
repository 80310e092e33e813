//! Several tokens over one thing: how many authorities say so.

use std::collections::BTreeSet;

use anchorlog_proto::receipt::MAX_TIMESTAMPS;
use anchorlog_proto::timestamp::TimestampError;

use super::failure::TokenFailure;
use super::trust::{Expected, Rules, Supplied, TrustEntry};
use super::verified::VerifiedToken;
use super::verify_token;

/// The most tokens over one thing that are looked at.
pub const MAX_TOKENS: usize = MAX_TIMESTAMPS;

/// What became of each of several tokens.
#[derive(Clone, Debug)]
pub struct Quorum {
    outcomes: Vec<Result<VerifiedToken, TokenFailure>>,
}

impl Quorum {
    /// The quorum of tokens that were judged one by one.
    #[must_use]
    pub const fn of(outcomes: Vec<Result<VerifiedToken, TokenFailure>>) -> Self {
        Self { outcomes }
    }

    /// What became of each token, in the order given.
    pub fn outcomes(&self) -> &[Result<VerifiedToken, TokenFailure>] {
        &self.outcomes
    }

    /// The same, handed over.
    #[must_use]
    pub fn into_outcomes(self) -> Vec<Result<VerifiedToken, TokenFailure>> {
        self.outcomes
    }

    /// The tokens that hold.
    pub fn verified(&self) -> impl Iterator<Item = &VerifiedToken> {
        self.outcomes.iter().filter_map(|outcome| outcome.as_ref().ok())
    }

    /// The distinct operators whose tokens hold: two tokens of one operator count once.
    #[must_use]
    pub fn operators(&self) -> BTreeSet<&str> {
        self.verified().map(VerifiedToken::operator).collect()
    }

    /// Whether the tokens of this many distinct operators hold. Others that don't hold spoil nothing.
    #[must_use]
    pub fn reaches(&self, threshold: usize) -> bool {
        self.operators().len() >= threshold
    }
}

/// Verifies each of `tokens`, which may be at most [`MAX_TOKENS`].
pub fn verify_quorum<T: AsRef<[u8]>>(
    tokens: &[T],
    expected: &Expected,
    trust: &[TrustEntry],
    supplied: &Supplied,
    rules: &Rules,
) -> Result<Quorum, TokenFailure> {
    if tokens.len() > MAX_TOKENS {
        return Err(TimestampError::Count { what: "tokens", limit: MAX_TOKENS }.into());
    }
    let verify = |token: &T| verify_token(token.as_ref(), expected, trust, supplied, rules);
    Ok(Quorum::of(tokens.iter().map(verify).collect()))
}
